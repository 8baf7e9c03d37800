//! Tries something in a child process first: this program, started again.
//!
//! A driver library may crash or hang, and then it takes its process along. A child costs a few milliseconds, and it can be given up.

use std::io::{BufRead, BufReader, Write, stderr, stdout};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{env, thread};

/// The argument with which the program starts itself.
const ARGUMENT: &str = "--try-the-driver-in-a-child-process";

/// The line that the child prints if it survives. A library may print lines of its own before it.
const SURVIVED: &str = "the driver answered";

/// Time that we wait for the child before we report it.
const SILENCE: Duration = Duration::from_secs(3);

/// Flag that [`serve`] was called, so the program can be started again.
static CAN_START_ITSELF: AtomicBool = AtomicBool::new(false);

/// The outcome of the child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It survived, or there can be none: a test program does not know the argument.
    Survived,
    /// It ended, with this exit status.
    Died(String),
    /// It was given up.
    Hung,
}

/// Runs `attempt` and exits, if the process is such a child. Otherwise remembers that the program can be started again.
pub fn serve(attempt: impl FnOnce()) {
    if env::args_os().nth(1).is_some_and(|argument| argument == ARGUMENT) {
        attempt();
        let _ = writeln!(stdout(), "\n{SURVIVED}");
        #[expect(
            clippy::disallowed_methods,
            reason = "the child has done its work; a driver that hangs at the end must not stop it"
        )]
        process::exit(0);
    }
    CAN_START_ITSELF.store(true, Relaxed);
}

/// Starts the program again to run its attempt, and waits for it.
pub fn try_first(limit: Duration) -> Fate {
    if !CAN_START_ITSELF.load(Relaxed) {
        return Fate::Survived;
    }
    let started = env::current_exe().and_then(|program| {
        Command::new(program).arg(ARGUMENT).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    });
    // The program's file may be gone by now.
    let Ok(mut child) = started else { return Fate::Survived };
    let (sender, answer) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        thread::spawn(move || {
            let survived = BufReader::new(output).split(b'\n').map_while(Result::ok).any(|line| line == SURVIVED.as_bytes());
            sender.send(survived)
        });
    }
    let mut answered = answer.recv_timeout(limit.min(SILENCE));
    if answered == Err(RecvTimeoutError::Timeout) && limit > SILENCE {
        let _ = writeln!(stderr(), "note: the NVIDIA driver takes long to start: waiting for {} s at most", limit.as_secs());
        answered = answer.recv_timeout(limit - SILENCE);
    }
    match answered {
        Ok(true) => {
            // Its end may take longer than its answer. It has to be over, because a GPU may serve one process only.
            let _ = child.kill();
            let _ = child.wait();
            Fate::Survived
        }
        Ok(false) | Err(RecvTimeoutError::Disconnected) => match child.wait() {
            Ok(status) => Fate::Died(status.to_string()),
            Err(error) => Fate::Died(error.to_string()),
        },
        // We do not wait for its end: a driver that hangs in the kernel cannot even be killed.
        Err(RecvTimeoutError::Timeout) => {
            let _ = child.kill();
            Fate::Hung
        }
    }
}
