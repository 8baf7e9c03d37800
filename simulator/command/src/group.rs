//! A program and every process that it starts, ended together.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::ending::Result;
use crate::program::Program;

/// The time between two looks at the program.
const INTERVAL: Duration = Duration::from_millis(5);

/// The exit status after Ctrl-C, as a shell has it.
pub const INTERRUPTED: u8 = 130;

/// The end of a program.
#[derive(Debug)]
pub enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It took too long.
    TimedOut,
    /// The user does not want to wait.
    Interrupted,
}

/// A program that runs several times, until the user interrupts the command.
#[derive(Debug)]
pub struct Runs<'a> {
    pub program: Program<'a>,
    interrupted: Arc<AtomicBool>,
}

impl<'a> Runs<'a> {
    /// Prepares a program and its arguments. From now on, an interruption is only noted.
    pub fn new(words: &'a [OsString]) -> Result<Self> {
        let program = Program::new(words)?;
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, interrupted.clone())?;
        }
        Ok(Self { program, interrupted })
    }

    /// Runs a command of the program. When it ends or takes too long, every process of its group ends: those that it started, unless they have
    /// left the group.
    pub fn run(&self, command: &mut Command, limit: Option<Duration>) -> Result<(End, Duration)> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let started = Instant::now();
        let mut child = self.program.started(command.spawn())?;
        let ended = loop {
            if has_ended(&mut child)? {
                break None;
            }
            if self.interrupted.load(Relaxed) {
                break Some(End::Interrupted);
            }
            if limit.is_some_and(|limit| started.elapsed() > limit) {
                break Some(End::TimedOut);
            }
            std::thread::sleep(INTERVAL);
        };
        let duration = started.elapsed();
        end_group(&mut child);
        let status = child.wait()?;
        Ok((ended.unwrap_or(End::Exited(status)), duration))
    }
}

/// Returns true if the program has ended. It stays a zombie, so that no other process gets its number, the group's.
#[cfg(unix)]
fn has_ended(child: &mut std::process::Child) -> io::Result<bool> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(rustix::process::Pid::from_child(child)), options)?.is_some())
}

#[cfg(unix)]
fn end_group(child: &mut std::process::Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // It fails if no process is left.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

#[cfg(not(unix))]
fn has_ended(child: &mut std::process::Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

#[cfg(not(unix))]
fn end_group(child: &mut std::process::Child) {
    // It fails if the program has ended.
    let _ = child.kill();
}
