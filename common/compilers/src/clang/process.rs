//! A program that runs for a limited time.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use wait_timeout::ChildExt;

/// The longest that a compiler may take. It takes a tenth of a second for a kernel of this repository.
const LIMIT: Duration = Duration::from_secs(60);

/// A started program. It ends with its owner, so a panic or an early return leaves nothing running.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail when it has ended, which is what we want.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program in a folder until it ends. Fails if it does not start or does not end in time.
///
/// Everything that it prints goes to `log`, a file: a pipe that is not read fills up.
pub fn run(command: &mut Command, folder: &Path, log: &File) -> io::Result<ExitStatus> {
    run_within(LIMIT, command, folder, log)
}

fn run_within(limit: Duration, command: &mut Command, folder: &Path, log: &File) -> io::Result<ExitStatus> {
    let (out, errors) = (log.try_clone()?, log.try_clone()?);
    let mut running = Running(command.current_dir(folder).stdin(Stdio::null()).stdout(out).stderr(errors).spawn()?);
    let late = || io::Error::new(io::ErrorKind::TimedOut, format!("it has not ended after {} s", limit.as_secs_f64()));
    running.0.wait_timeout(limit)?.ok_or_else(late)
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::variables::TEST_WAITS;

    /// Returns a program that waits and exists on every machine: this one, told to run one test.
    fn waiting() -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        command.args(["--exact", "clang::process::tests::wait_when_asked_to", "--nocapture"]).env(TEST_WAITS, "1");
        command
    }

    #[test]
    fn wait_when_asked_to() {
        if TEST_WAITS.path().is_some() {
            println!("waiting");
            thread::sleep(Duration::from_secs(20));
        }
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = File::create(folder.path().join("log")).expect("a file");
        let start = Instant::now();
        let error = run_within(Duration::from_millis(300), &mut waiting(), folder.path(), &log).expect_err("it waits for longer");
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::TimedOut, "it has not ended after 0.3 s"));
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }

    #[test]
    fn what_it_says_is_kept() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = File::create(folder.path().join("log")).expect("a file");
        let mut command = waiting();
        let status = run(command.env_remove(TEST_WAITS), folder.path(), &log).expect("it ends at once");
        assert!(status.success());
        let said = std::fs::read_to_string(folder.path().join("log")).expect("text");
        assert!(said.contains("1 passed"), "{said}");
    }
}
