//! Programs that run on the simulator: the loader finds our driver for them, and for every process that they start.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use driver::install::environment;
use tempfile::TempDir;

use crate::ending::Result;
use crate::libraries::install;

/// A program and its arguments, with a folder of the simulator's libraries. The folder exists as long as this does.
#[derive(Debug)]
pub struct Program<'a> {
    words: &'a [OsString],
    libraries: TempDir,
}

impl<'a> Program<'a> {
    /// Installs the libraries for a program.
    pub fn new(words: &'a [OsString]) -> Result<Self> {
        let libraries = temporary_folder()?;
        install(libraries.path())?;
        Ok(Self { words, libraries })
    }

    /// Makes the command that runs the program on the simulator.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        for (name, ours) in environment(self.libraries.path()) {
            command.env(name, before_others(name, ours));
        }
        command
    }

    /// Runs a command of this program to its end.
    pub fn run(&self, command: &mut Command) -> Result<ExitStatus> {
        self.started(command.status())
    }

    /// Adds the program's name to the error of a failed start.
    pub fn started<T>(&self, started: io::Result<T>) -> Result<T> {
        started.map_err(|error| format!("cannot run {}: {error}", self.words[0].display()).into())
    }
}

/// Puts a value before those that a variable of this process has.
pub fn before_others(name: &str, value: PathBuf) -> OsString {
    let others = env::var_os(name).filter(|others| !others.is_empty());
    let mut value = OsString::from(value);
    if let Some(others) = others {
        value.push(if cfg!(windows) { ";" } else { ":" });
        value.push(others);
    }
    value
}

/// Makes a folder for files that the command and its processes exchange.
pub fn temporary_folder() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("simcuda-").tempdir()
}

/// Returns the exit status that passes on how a program ended: its own, or as a shell has it, 128 and the number of the signal.
pub fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}
