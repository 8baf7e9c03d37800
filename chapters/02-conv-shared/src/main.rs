//! Runs chapter 02: `cargo run -p ch02-conv-shared`, with `--help` for what else it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(&conv_shared::CHAPTER)
}
