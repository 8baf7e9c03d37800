//! Lowers files of LLVM IR and prints the PTX.

use std::process::ExitCode;

fn main() -> ExitCode {
    for name in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&name).map_err(|error| error.to_string());
        let ptx = text.and_then(|text| lower::lower(&text, &lower::Options::default()).map_err(|error| error.to_string()));
        match ptx {
            Ok(ptx) => print!("{ptx}"),
            Err(error) => {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
