//! Runs the products of bf16 numbers of chapter 06: `cargo run -p ch06-matmul-half`, with `--help` for what else it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(&matmul_half::CHAPTER)
}
