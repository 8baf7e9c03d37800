//! `cargo simcuda install FOLDER`: the simulator for programs that do not know about it.

use std::fmt;
use std::io::{self, ErrorKind, Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use simcuda::install::{LOADER_VARIABLE, install};

/// The simulated CUDA driver, for programs that do not know about it
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo simcuda",
    after_help = "SIMCUDA_PROFILE, SIMCUDA_REPORT and other variables set what is simulated and reported: see simulator/README.md"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Install the driver and a CUDA runtime into a folder, under the names that programs ask the loader for
    ///
    /// Prints the environment variable that makes a program use them, as NAME=VALUE. Run your program with it:
    ///
    ///     export "$(cargo simcuda install FOLDER)"
    ///     cargo run
    ///
    /// A program that nvcc compiles needs `-cudart shared` and PTX: `-gencode arch=compute_80,code=compute_80`.
    #[command(verbatim_doc_comment)]
    Install {
        /// Made if it does not exist
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    let folder = match Arguments::try_parse() {
        Ok(Arguments { command: Command::Install { folder } }) => folder,
        Err(answer) => {
            let printed = answer.print();
            return if answer.use_stderr() { ExitCode::from(2) } else { after_printing(printed) };
        }
    };
    match install(&folder) {
        Ok(folder) => after_printing(writeln!(stdout(), "{LOADER_VARIABLE}={}", folder.display())),
        Err(error) => failed(format_args!("{error}")),
    }
}

/// The exit status of a program that has printed its results. A reader who has seen enough and left is no failure.
fn after_printing(printed: io::Result<()>) -> ExitCode {
    match printed.and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => failed(format_args!("cannot write to standard output: {error}")),
        _ => ExitCode::SUCCESS,
    }
}

/// Says what went wrong. Nobody is left to tell where standard error takes nothing, and `eprintln!` would panic there.
fn failed(message: fmt::Arguments<'_>) -> ExitCode {
    let _ = writeln!(stderr(), "error: {message}");
    ExitCode::from(2)
}
