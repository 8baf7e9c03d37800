//! Runs chapter 06: `cargo run -p ch06-matmul-tiled`, with `--help` for what else it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(&matmul_tiled::CHAPTER)
}
