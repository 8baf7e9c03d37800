//! Events. An event records **the host's clock**: the time between two events is how long the simulator took, which says nothing about a
//! GPU. A program that does not know about the simulator may still print it as a GPU's time. Programs of this workspace never show it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use super::prelude::*;
use crate::captures::Captured;
use crate::driver;
use crate::position::Awaited;
use crate::shared_memory::{Place, SharedMemory, Token};
use crate::timeline::Moment;

/// `CU_EVENT_BLOCKING_SYNC`, `_DISABLE_TIMING`, `_INTERPROCESS`
const BLOCKING_SYNC: u32 = 1;
const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;

#[derive(Debug)]
pub struct Event {
    pub handle: Handle,
    pub context: Arc<Context>,
    flags: u32,
    recorded: Mutex<Recorded>,
    /// The last record that a stream will execute.
    pub last: Mutex<Record>,
    /// How many records were executed: not all while a stream waits.
    executed: AtomicU64,
    /// The memory by which other processes know the event.
    shared: Mutex<Option<SharedMemory>>,
}

/// One record of an event.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// How many records there were up to this one.
    number: u64,
    /// Its place in time, where races between streams are looked for.
    pub moment: Option<Arc<Moment>>,
}

/// The last record of an event.
#[derive(Clone, Debug, Default)]
enum Recorded {
    #[default]
    Never,
    At(Instant),
    /// In a captured stream, so that it stands for nodes of a graph.
    In(Captured),
}

kind!(Event: INVALID_HANDLE, of its context);

impl Event {
    fn new(handle: Handle, context: Arc<Context>, flags: u32) -> Self {
        let (recorded, last, executed, shared) = Default::default();
        Self { handle, context, flags, recorded, last, executed, shared }
    }

    /// Notes that a stream will record the event.
    pub fn note_submitted(&self) {
        self.last.lock().number += 1;
    }

    pub fn last(&self) -> Record {
        self.last.lock().clone()
    }

    pub fn has_recorded(&self, record: &Record) -> bool {
        match &record.moment {
            // With a schedule, a later record may be executed before an earlier one of another stream.
            Some(moment) => moment.is_over(),
            None => self.executed.load(Relaxed) >= record.number,
        }
    }

    /// Returns true if everything that the event stands for is complete.
    pub fn is_complete(&self) -> bool {
        self.has_recorded(&self.last())
    }

    /// Returns what another process needs to open the event.
    pub fn export(&self, kind: u32) -> Result<Token> {
        refuse!(INVALID_HANDLE if self.flags & INTERPROCESS == 0, "only an event made with CU_EVENT_INTERPROCESS can be shared");
        let mut shared = self.shared.lock();
        match &mut *shared {
            Some(shared) => shared.token(kind),
            empty => empty.insert(SharedMemory::create(1)?).token(kind),
        }
    }

    /// Records the event in a stream whose earlier work is all done.
    pub fn record_now(&self) {
        // A record of a graph's node was not announced.
        let executed = self.executed.fetch_add(1, Relaxed) + 1;
        let mut last = self.last.lock();
        last.number = last.number.max(executed);
        *self.recorded.lock() = Recorded::At(Instant::now());
    }

    pub fn record_captured(&self, captured: Captured) {
        *self.recorded.lock() = Recorded::In(captured);
    }

    pub fn captured(&self) -> Option<Captured> {
        match &*self.recorded.lock() {
            Recorded::In(captured) => Some(captured.clone()),
            _ => None,
        }
    }

    /// Refuses an event that stands for nodes of a graph. This invalidates the capture.
    fn check_not_captured(&self) -> Result<()> {
        match self.captured() {
            None => Ok(()),
            Some(captured) => {
                driver()?.captures.lock().invalidate_all([captured.sequence]);
                CuResult::CAPTURED_EVENT.err()
            }
        }
    }
}

/// Makes an event that stands for one of another process. Whatever the other process recorded is complete, because every operation there is
/// complete when its call returns.
pub fn open(driver: &Driver, context: Arc<Context>, place: &Place) -> Result<Handle> {
    let shared = SharedMemory::of_token(place)?;
    let event = driver.handles.insert(|handle| Event::new(handle, context, DISABLE_TIMING | INTERPROCESS));
    *event.shared.lock() = Some(shared);
    Ok(event.handle)
}

/// Waits for an event, or asks whether it is complete.
fn wait(event: Handle, may_block: bool) -> Result<()> {
    let driver = driver()?;
    let event = find::<Event>(event)?;
    event.context.check()?;
    event.check_not_captured()?;
    driver.captures.lock().check_safe()?;
    if driver.queues.is_empty() {
        learn(driver, &event);
        return Ok(());
    }
    if !may_block {
        driver.queues.before_answer()?;
    } else if !driver.queues.is_late {
        driver.queues.advance()?;
    }
    if event.is_complete() {
        learn(driver, &event);
        return event.context.check();
    }
    refuse!(NOT_READY if !may_block);
    let record = event.last();
    let awaited = record.moment.as_ref().map(|moment| Awaited::Before(moment.position));
    let in_vain = driver.queues.wait_until(driver::patience(), awaited, || event.has_recorded(&record));
    in_vain.map_or(Ok(()), |what| context::give_up(driver, &event.context, &what))?;
    learn(driver, &event);
    event.context.check()?;
    driver.queues.take_failure(event.context.handle)
}

/// The host knows now that the event was recorded.
fn learn(driver: &Driver, event: &Event) {
    if let Some((timeline, moment)) = driver.queues.timeline.as_ref().zip(event.last().moment) {
        timeline.lock().wait_for(&moment);
    }
}

exports! {
    fn cuEventCreate(event: Out<Handle>, flags: u32) {
        let (driver, context) = context::current()?;
        event.check()?;
        refuse!(INVALID_VALUE if flags & !(BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS) != 0);
        refuse!(INVALID_VALUE if flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS);
        let made = driver.handles.insert(|handle| Event::new(handle, context, flags));
        event.put(made.handle)
    }

    /// Destroys the event even if this returns a fault.
    fn cuEventDestroy_v2 | cuEventDestroy(event: Handle) => driver()?.handles.remove::<Event>(event)?.context.check();
    fn cuEventQuery(event: Handle) => wait(event, false);
    fn cuEventSynchronize(event: Handle) => wait(event, true);

    fn cuEventElapsedTime | cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) {
        let (start, end) = (find::<Event>(start)?, find::<Event>(end)?);
        milliseconds.check()?;
        start.context.check()?;
        start.check_not_captured()?;
        end.check_not_captured()?;
        refuse!(NOT_READY if !start.is_complete() || !end.is_complete());
        let time = |event: &Event| match (event.flags & DISABLE_TIMING, &*event.recorded.lock()) {
            (0, Recorded::At(time)) => Ok(*time),
            _ => Err(CuResult::INVALID_HANDLE),
        };
        let (start, end) = (time(&start)?, time(&end)?);
        let seconds = if end >= start { (end - start).as_secs_f64() } else { -(start - end).as_secs_f64() };
        milliseconds.put((seconds * 1e3) as f32)
    }
}
