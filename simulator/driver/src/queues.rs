//! Work that waits: what streams have yet to do because one of them waits for a value in memory.
//!
//! An operation is complete when the call that enqueues it returns, with one exception: a stream can wait for a value that something else
//! writes later, another stream, a thread of the program, or another process. Such a wait, and whatever has to come after it, stays here. It
//! continues with the next call that makes a difference, and a thread looks at it in the meantime, because a program may wait for the
//! result without calling the driver. A wait that nothing ends becomes an error after a minute of waiting for it, where a GPU waits
//! forever.
//!
//! This module knows the order of work, not what the work is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::captures::StreamKey;
use crate::handles::Handle;
use crate::lock::lock;
use crate::result::Result;

/// How often a thread looks whether work can go on.
const INTERVAL: Duration = Duration::from_micros(200);

/// Where work is in the order of all work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub stream: StreamKey,
    /// Whether it is in the stream that waits for all blocking streams of its context.
    pub is_legacy: bool,
    pub is_blocking: bool,
    /// Whether it is in no stream, but between all earlier and all later work of its context.
    pub is_of_context: bool,
}

impl Position {
    /// Whether work here has to wait for earlier work there.
    fn is_after(&self, earlier: &Self) -> bool {
        let same_context = self.stream.context == earlier.stream.context;
        let with_legacy = (self.is_legacy && earlier.is_blocking) || (self.is_blocking && earlier.is_legacy);
        let with_all = self.is_of_context || earlier.is_of_context;
        self.stream == earlier.stream || (same_context && (with_legacy || with_all))
    }
}

/// How far work has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    Done,
    /// It waits for this.
    Waits(String),
}

/// Goes on with work as far as it can.
pub type Work = Box<dyn FnMut() -> Result<Progress> + Send>;

/// All work that waits, in the order in which it was enqueued.
#[derive(Default)]
pub struct Queues {
    count: AtomicUsize,
    jobs: Mutex<Vec<Job>>,
    /// Whether a thread looks at the work.
    is_watched: AtomicBool,
}

struct Job {
    position: Position,
    work: Work,
    waits_for: String,
}

/// Which work a program waits for.
#[derive(Clone, Copy, Debug)]
pub enum Awaited {
    /// That of a stream, and what has to come before it.
    Before(Position),
    /// That of a context.
    Context(Handle),
}

impl Awaited {
    fn contains(self, position: &Position) -> bool {
        match self {
            Awaited::Before(before) => before.is_after(position),
            Awaited::Context(context) => position.stream.context == context,
        }
    }
}

impl Queues {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Whether work at this position would have to wait for other work.
    pub fn is_busy(&self, position: &Position) -> bool {
        !self.is_empty() && lock(&self.jobs).iter().any(|job| position.is_after(&job.position))
    }

    /// Adds work behind all that is there, and goes on with what can.
    pub fn push(&'static self, position: Position, work: Work) -> Result<()> {
        let mut jobs = lock(&self.jobs);
        jobs.push(Job { position, work, waits_for: String::new() });
        self.advance_all(&mut jobs).map(drop)?;
        if !jobs.is_empty() && !self.is_watched.swap(true, Ordering::AcqRel) {
            thread::spawn(|| self.watch());
        }
        Ok(())
    }

    /// Goes on with what can. Returns whether anything did.
    pub fn advance(&self) -> Result<bool> {
        if self.is_empty() { Ok(false) } else { self.advance_all(&mut lock(&self.jobs)) }
    }

    /// Waits for work. Returns what it waits for if that does not come.
    pub fn wait(&self, patience: Duration, awaited: Awaited) -> Option<String> {
        self.wait_until(patience, || !lock(&self.jobs).iter().any(|job| awaited.contains(&job.position)))
    }

    /// Waits for something that work does. Returns what the work waits for if that does not come.
    pub fn wait_until(&self, patience: Duration, mut is_done: impl FnMut() -> bool) -> Option<String> {
        let mut deadline = Instant::now() + patience;
        while !self.is_empty() {
            // A failure is the context's by then.
            if self.advance().unwrap_or(true) {
                deadline = Instant::now() + patience;
            }
            if is_done() {
                break;
            }
            if Instant::now() > deadline {
                return lock(&self.jobs).first().map(|job| job.waits_for.clone());
            }
            thread::sleep(INTERVAL);
        }
        None
    }

    /// Forgets the work of a context.
    pub fn forget_context(&self, context: Handle) {
        if !self.is_empty() {
            let mut jobs = lock(&self.jobs);
            jobs.retain(|job| job.position.stream.context != context);
            self.count.store(jobs.len(), Ordering::Release);
        }
    }

    /// Goes on until nothing can. An error ends the work that it is of; the first one is returned.
    fn advance_all(&self, jobs: &mut Vec<Job>) -> Result<bool> {
        let (mut moved, mut first_error) = (false, Ok(()));
        loop {
            let mut again = false;
            let mut index = 0;
            while index < jobs.len() {
                let (earlier, rest) = jobs.split_at_mut(index);
                let job = &mut rest[0];
                if let Some(other) = earlier.iter().find(|other| job.position.is_after(&other.position)) {
                    job.waits_for.clone_from(&other.waits_for);
                    index += 1;
                    continue;
                }
                match (job.work)() {
                    Ok(Progress::Waits(what)) => {
                        job.waits_for = what;
                        index += 1;
                        continue;
                    }
                    Ok(Progress::Done) => {}
                    Err(failure) => first_error = first_error.and(Err(failure)),
                }
                jobs.remove(index);
                again = true;
            }
            moved |= again;
            if !again {
                break;
            }
        }
        self.count.store(jobs.len(), Ordering::Release);
        first_error.map(|()| moved)
    }

    /// Goes on with work while there is any. A failure is the context's by then, or it is of a host function, which has nobody to tell.
    fn watch(&self) {
        loop {
            let _ = self.advance();
            if self.is_empty() {
                self.is_watched.store(false, Ordering::Release);
                // Work that came before the line above is watched by nobody else.
                if self.is_empty() || self.is_watched.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
            thread::sleep(INTERVAL);
        }
    }
}
