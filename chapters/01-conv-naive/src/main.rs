//! Runs chapter 01: `cargo run -p ch01-conv-naive`, with `--help` for what else it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(&conv_naive::CHAPTER)
}
