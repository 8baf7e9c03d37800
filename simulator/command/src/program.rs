//! Programs that run on the simulator: the loader finds our driver for them, and for every process that they start.

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus};

use simcuda::install::LOADER_VARIABLE;
use tempfile::TempDir;

use crate::libraries::install;

/// The simulator's libraries in a folder that exists as long as this does.
#[derive(Debug)]
pub struct Simulator {
    folder: TempDir,
}

impl Simulator {
    /// Installs the libraries into a new folder.
    ///
    /// # Errors
    ///
    /// If a library is missing, or the file system refuses.
    pub fn install() -> Result<Self, Box<dyn std::error::Error>> {
        let folder = tempfile::Builder::new().prefix("simcuda-").tempdir()?;
        install(folder.path())?;
        Ok(Self { folder })
    }

    /// Makes the command that runs `words`, a program and its arguments, on the simulator.
    pub fn command(&self, words: &[OsString]) -> Command {
        let mut path = OsString::from(self.folder.path());
        if let Some(others) = env::var_os(LOADER_VARIABLE).filter(|others| !others.is_empty()) {
            path.push(if cfg!(windows) { ";" } else { ":" });
            path.push(others);
        }
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env(LOADER_VARIABLE, path);
        command
    }
}

/// Says which program could not be started.
pub fn not_started(words: &[OsString], error: &io::Error) -> String {
    format!("cannot run {}: {error}", words[0].display())
}

/// Returns the exit status that passes on how a program ended: its own, or as a shell has it, 128 and the number of the signal.
pub fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}
