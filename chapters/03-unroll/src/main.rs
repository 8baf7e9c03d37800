//! Runs chapter 03: `cargo run -p ch03-unroll`, with `--help` for what else it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(&unroll::CHAPTER)
}
