//! Runs chapter 05: `cargo run -p ch05-window-sums`, with `--help` for what else it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(&window_sums::CHAPTER)
}
