//! `simcuda install FOLDER`

use std::io::{Write, stdout};
use std::path::PathBuf;

use clap::Args;
use driver::install::LOADER_VARIABLE;

use crate::ending::{Ended, after_printing};
use crate::libraries::install;

/// Install the driver and a CUDA runtime into a folder, under the names that programs ask the loader for
///
/// Prints the environment variable that makes a program use them, as NAME=VALUE. Run your program with it.
///
/// Without `simcuda run`, a program that nvcc compiles needs `-cudart shared`, and always PTX: `-gencode arch=compute_80,code=compute_80`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  export \"$(simcuda install FOLDER)\"
  cargo run")]
pub struct Options {
    /// Made if it does not exist
    folder: PathBuf,
}

/// Installs the libraries.
pub fn execute(options: &Options) -> Ended {
    let folder = install(&options.folder)?;
    Ok(after_printing(writeln!(stdout(), "{LOADER_VARIABLE}={}", folder.display())))
}
