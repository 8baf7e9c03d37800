//! Runs chapter 04: `cargo run -p ch04-correlation-sm-aware`, with `--help` for what else it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(&correlation_sm_aware::CHAPTER)
}
