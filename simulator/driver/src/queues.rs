//! Work that waits: what streams have yet to do, because of a schedule or because one of them waits for a value in memory.
//!
//! Without a [schedule](crate::schedule), an operation is complete when the call that enqueues it returns, with one exception: a stream can
//! wait for a value that something else writes later, another stream, a thread of the program, or another process. Such a wait, and
//! whatever has to come after it, stays here. It continues with the next call that makes a difference, and a thread looks at it in the
//! meantime, because a program may wait for the result without calling the driver. A wait that nothing ends becomes an error after a
//! minute of waiting for it, where a GPU waits forever.
//!
//! This module knows the order of work, not what the work is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::handles::Handle;
use crate::position::{Awaited, Position};
use crate::result::{Failure, Result};
use crate::schedule::Schedule;
use crate::timeline::{Moment, Task, Timeline};
use crate::veil::Veils;

/// How often a thread looks whether work can go on.
const INTERVAL: Duration = Duration::from_micros(200);

/// How far work has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    Done,
    /// It waits for this.
    Waits(String),
}

/// Goes on with work as far as it can.
pub type Work = Box<dyn FnMut() -> Result<Progress> + Send>;

/// The silence of a program after which late work goes on. The program may wait for something in memory.
const SILENCE: Duration = Duration::from_secs(1);

/// All work that waits, in the order in which it was enqueued.
#[derive(Default)]
pub struct Queues {
    count: AtomicUsize,
    jobs: Mutex<Vec<Job>>,
    /// True if a thread looks at the work.
    is_watched: AtomicBool,
    schedule: Mutex<Schedule>,
    /// True if work may wait although it could be done.
    pub is_late: bool,
    /// Held while all work is done that can be, before the call returns.
    at_once: Mutex<()>,
    /// The order of the work in time, where races are looked for.
    pub timeline: Option<Mutex<Timeline>>,
    /// The bytes that the host does not see while no work runs.
    pub veils: Veils,
    /// Calls that enqueued or waited.
    calls: AtomicU64,
    /// Questions whether work is done.
    questions: AtomicU64,
    /// The first error of work that no call has returned yet.
    failure: Mutex<Option<(Handle, Failure)>>,
}

struct Job {
    position: Position,
    /// `None` while a thread does it.
    work: Option<Work>,
    waits_for: String,
    number: u64,
}

impl Queues {
    /// Returns the error of a context's late work, to the first call.
    pub fn take_failure(&self, context: Handle) -> Result<()> {
        let taken = self.failure.lock().take_if(|(of, _)| *of == context);
        taken.map_or(Ok(()), |(_, failure)| Err(failure))
    }

    /// Returns true if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Returns true if work at this position would have to wait.
    pub fn is_busy(&self, position: &Position) -> bool {
        !self.is_empty() && self.jobs.lock().iter().any(|job| position.is_after(&job.position))
    }

    /// Makes queues in the order of a schedule, and looks for races.
    pub fn scheduled(number: u64) -> Self {
        let schedule = Schedule::new(number);
        let is_late = !schedule.is_as_called();
        Self { schedule: Mutex::new(schedule), is_late, timeline: Some(Mutex::default()), ..Self::default() }
    }

    /// Adds work behind all others, and goes on with what can. Returns its place in time, if races between streams are looked for.
    pub fn push(&'static self, position: Position, task: Task, mut work: Work) -> Result<Option<Arc<Moment>>> {
        let Some(timeline) = &self.timeline else { return self.push_work(position, work).map(|()| None) };
        let moment = timeline.lock().enqueue(position, task);
        let of_work = moment.clone();
        let in_time = move || {
            timeline.lock().begin(&of_work);
            let progress = work();
            timeline.lock().end(&of_work, !matches!(progress, Ok(Progress::Waits(_))));
            progress
        };
        self.push_work(position, Box::new(in_time))?;
        Ok(Some(moment))
    }

    fn push_work(&'static self, position: Position, work: Work) -> Result<()> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut jobs = self.jobs.lock();
        jobs.push(Job { position, work: Some(work), waits_for: String::new(), number });
        self.count.store(jobs.len(), Ordering::Release);
        drop(jobs);
        if self.is_late {
            while self.schedule.lock().runs_early() && self.step(None)? {}
        } else {
            self.advance()?;
        }
        if !self.is_empty() && !self.is_watched.swap(true, Ordering::AcqRel) {
            thread::spawn(|| self.watch());
        }
        Ok(())
    }

    /// Goes on with what can, or with one piece of late work. Returns true if anything did.
    pub fn advance(&self) -> Result<bool> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.is_late || self.is_empty() {
            return self.step(None);
        }
        let _turn = self.at_once.lock();
        let (mut moved, mut first_error) = (false, Ok(()));
        loop {
            match self.step(None) {
                Ok(true) => moved = true,
                Ok(false) => return first_error.map(|()| moved),
                Err(failure) => first_error = first_error.and(Err(failure)),
            }
        }
    }

    /// Advances work before a program is told if the work is done. With a schedule, this does nothing every other time: a program
    /// that asks once must expect that nothing is done, and one that keeps asking gets an answer.
    pub fn before_answer(&self) -> Result<()> {
        let is_first = self.questions.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        if self.is_late && is_first { Ok(()) } else { self.advance().map(drop) }
    }

    /// Waits for work. Returns what it waits for if that does not come.
    pub fn wait(&self, patience: Duration, awaited: Awaited) -> Option<String> {
        self.wait_until(patience, Some(awaited), || !self.jobs.lock().iter().any(|job| awaited.contains(&job.position)))
    }

    /// Waits for something that work does; `awaited` is where that work is, if it is known. Returns what the work waits for if that does
    /// not come.
    pub fn wait_until(&self, patience: Duration, awaited: Option<Awaited>, mut is_done: impl FnMut() -> bool) -> Option<String> {
        let mut deadline = Instant::now() + patience;
        while !self.is_empty() {
            if self.is_late && is_done() {
                break;
            }
            let advanced = if self.is_late { self.step(awaited) } else { self.advance() };
            // A failure is the context's by then.
            if advanced.unwrap_or(true) {
                deadline = Instant::now() + patience;
                if self.is_late {
                    continue;
                }
            }
            if is_done() {
                break;
            }
            if Instant::now() > deadline {
                return self.jobs.lock().first().map(|job| job.waits_for.clone());
            }
            thread::sleep(INTERVAL);
        }
        None
    }

    pub fn forget_context(&self, context: Handle) {
        if !self.is_empty() {
            let mut jobs = self.jobs.lock();
            jobs.retain(|job| job.position.stream.context != context);
            self.count.store(jobs.len(), Ordering::Release);
        }
    }

    /// Does one piece of work, as the schedule has it. Returns true if any could go on. Late work leaves its error to a later call.
    fn step(&self, awaited: Option<Awaited>) -> Result<bool> {
        if self.is_empty() {
            return Ok(false);
        }
        let order: Vec<u64> = {
            let jobs = self.jobs.lock();
            let is_awaited = relevant(&jobs, awaited);
            let is_ready = behind_none(&jobs).into_iter().zip(&*jobs).map(|(is_first, job)| is_first && job.work.is_some());
            let ready =
                (0..).zip(is_ready).filter(|(_, is_ready)| *is_ready).map(|(index, _)| (index, is_awaited[index])).collect();
            self.schedule.lock().order(ready).into_iter().map(|index| jobs[index].number).collect()
        };
        for number in order {
            // Work is done without the lock: a function of the host may wait for a thread that enqueues something.
            let taken = self.jobs.lock().iter_mut().find(|job| job.number == number).and_then(|job| job.work.take());
            let Some(mut work) = taken else { continue };
            let progress = self.veils.lifted(&mut work);
            let mut jobs = self.jobs.lock();
            let Some(index) = jobs.iter().position(|job| job.number == number) else { return Ok(true) };
            if let Ok(Progress::Waits(what)) = progress {
                (jobs[index].work, jobs[index].waits_for) = (Some(work), what);
                continue;
            }
            let job = jobs.remove(index);
            self.count.store(jobs.len(), Ordering::Release);
            return match progress {
                Err(failure) if self.is_late => {
                    self.failure.lock().get_or_insert((job.position.stream.context, failure));
                    Ok(true)
                }
                progress => progress.map(|_| true),
            };
        }
        Ok(false)
    }

    /// Goes on with work while there is any. A failure is the context's by then, or it is of a host function, which has no caller.
    fn watch(&self) {
        let (mut calls, mut since) = (0, Instant::now());
        loop {
            let now = self.calls.load(Ordering::Relaxed);
            if now != calls {
                (calls, since) = (now, Instant::now());
            }
            if !self.is_late {
                let _ = self.advance();
            } else if since.elapsed() > SILENCE {
                let _ = self.step(None);
            }
            if self.is_empty() {
                self.is_watched.store(false, Ordering::Release);
                // Work that came before the line above is watched by no other thread.
                if self.is_empty() || self.is_watched.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
            thread::sleep(INTERVAL);
        }
    }
}

/// Returns true for each job that waits for no earlier one. There are many jobs, but few positions.
fn behind_none(jobs: &[Job]) -> Vec<bool> {
    let mut earlier: Vec<Position> = Vec::new();
    let is_first = |job: &Job| {
        let is_first = !earlier.iter().any(|earlier| job.position.is_after(earlier));
        if !earlier.contains(&job.position) {
            earlier.push(job.position);
        }
        is_first
    };
    jobs.iter().map(is_first).collect()
}

/// Returns true for each job that is awaited, or comes before one.
fn relevant(jobs: &[Job], awaited: Option<Awaited>) -> Vec<bool> {
    let mut later: Vec<Position> = Vec::new();
    let is_relevant = |job: &Job| {
        let is_awaited = awaited.is_some_and(|awaited| awaited.contains(&job.position));
        let is_relevant = is_awaited || later.iter().any(|later| later.is_after(&job.position));
        if is_relevant && !later.contains(&job.position) {
            later.push(job.position);
        }
        is_relevant
    };
    let mut relevant: Vec<bool> = jobs.iter().rev().map(is_relevant).collect();
    relevant.reverse();
    relevant
}
