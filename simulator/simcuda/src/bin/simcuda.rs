//! `cargo simcuda install FOLDER`: the simulator for programs that do not know about it.

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
    let Command::Install { folder } = Arguments::parse().command;
    match install(&folder) {
        Ok(folder) => {
            println!("{LOADER_VARIABLE}={}", folder.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
