//! Runs chapter 06: `cargo run -p ch06-matmul-tiled`, with `--help` for what else it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    common::cli::main(&matmul_tiled::CHAPTER)
}
