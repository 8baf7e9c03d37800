//! Lowers files of LLVM IR and prints the PTX.

use std::process::ExitCode;

fn main() -> ExitCode {
    for name in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&name) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
        };
        match lower::lower(&text, &lower::Options::default()) {
            Ok(ptx) => print!("{ptx}"),
            Err(error) => {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
