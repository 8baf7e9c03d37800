//! `simcuda env FOLDER`

use std::io::{Write, stdout};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use driver::install::environment;

use crate::ending::{Ended, after_printing, bail};
use crate::libraries::install;
use crate::program::before_others;

/// Print the environment in which every program runs on the simulator, as with `simcuda run`
///
/// Installs the libraries into the folder first. The variables are those that `simcuda run` sets for one program; SIMCUDA_REPORT and
/// SIMCUDA_EXITCODE make each process report and fail by itself.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  eval \"$(simcuda env FOLDER)\"
  simcuda env FOLDER --for github >> \"$GITHUB_ENV\"
  simcuda env FOLDER --for cmake > simcuda.cmake")]
pub struct Options {
    /// Where the libraries are installed; made if it does not exist
    folder: PathBuf,
    /// Who reads it
    #[arg(long = "for", value_name = "READER", default_value = "shell")]
    reader: Reader,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Reader {
    /// A shell: lines for `eval`
    Shell,
    /// The file $GITHUB_ENV, for the later steps of a job
    Github,
    /// CMake: a file to include, which sets CUDA_ENVIRONMENT to a value for a test's property ENVIRONMENT_MODIFICATION
    Cmake,
}

/// Prints the environment.
pub fn execute(options: &Options) -> Ended {
    let folder = install(&options.folder)?;
    if let Some(mark) = folder.to_str().and_then(|path| path.chars().find(|mark| "'\"$;:\\\n".contains(*mark))) {
        bail!("{}: a folder with {mark:?} in its path has no place in these variables", folder.display());
    }
    let variables = environment(&folder);
    let text: String = match options.reader {
        Reader::Shell => (variables.iter())
            .map(|(name, ours)| format!("export {name}='{}'\"${{{name}:+:${name}}}\"\n", ours.display()))
            .collect(),
        Reader::Github => {
            let line = |(name, ours): &(&str, PathBuf)| format!("{name}={}\n", before_others(name, ours.clone()).display());
            variables.iter().map(line).collect()
        }
        Reader::Cmake => {
            let value = |(name, ours): &(&str, PathBuf)| format!("\n    \"{name}=path_list_prepend:{}\"", ours.display());
            format!("set(CUDA_ENVIRONMENT{})\n", variables.iter().map(value).collect::<String>())
        }
    };
    Ok(after_printing(write!(stdout(), "{text}")))
}
