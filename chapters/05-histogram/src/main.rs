//! Runs the histograms of chapter 05: `cargo run -p ch05-histogram`, with `--help` for what else it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(&histogram::CHAPTER)
}
