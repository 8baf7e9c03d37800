//! Runs chapter 02: `cargo run -p ch02-conv-shared`, with `--help` for what else it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    common::cli::main(&conv_shared::CHAPTER)
}
