//! Shows that a run is alive if it takes longer than a second.
//!
//! Progress goes to stderr, and only if that is a terminal: a file or another program gets only results and messages.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work shows no progress, because a line that only flashes is worse than none.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that shows how much of `total` is done.
pub fn bar(what: impl Into<String>, total: u64) -> Progress {
    Progress::new(Some(total), "{msg} {wide_bar} {percent}% {eta}", what.into())
}

/// A clock next to the name of the work, if nobody knows how much is left.
pub fn spinner(what: impl Into<String>) -> Progress {
    Progress::new(None, "{spinner} {msg} {elapsed}", what.into())
}

/// Progress that is drawn until it is dropped.
pub struct Progress {
    bar: ProgressBar,
    /// Closes when the work is done, so that short work is never drawn.
    _done: Option<Sender<()>>,
}

impl Progress {
    fn new(total: Option<u64>, template: &str, what: String) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden()).with_message(what);
        if !stderr().is_terminal() {
            return Self { bar, _done: None };
        }
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let (done, hung_up) = channel::<()>();
        let late = bar.clone();
        thread::spawn(move || {
            if hung_up.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) && !late.is_finished() {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(Duration::from_millis(250));
            }
        });
        Self { bar, _done: Some(done) }
    }

    /// Adds to what is done.
    pub fn inc(&self, amount: usize) {
        self.bar.inc(amount as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
