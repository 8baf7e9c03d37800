//! Events. An event records **the host's clock**: the time between two events is how long the simulator took, which says nothing about a
//! GPU. A program that does not know about the simulator may still print it as a GPU's time. Programs of this workspace never show it.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::context::{self, Context};
use crate::captures::Captured;
use crate::driver::driver;
use crate::export::exports;
use crate::ffi::Out;
use crate::handles::{Handle, Kind};
use crate::lock::lock;
use crate::result::{CuResult, Result};

/// `CU_EVENT_BLOCKING_SYNC`, `_DISABLE_TIMING`, `_INTERPROCESS`
const BLOCKING_SYNC: u32 = 1;
const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;

/// An event.
#[derive(Debug)]
pub struct Event {
    pub handle: Handle,
    pub context: Arc<Context>,
    flags: u32,
    recorded: Mutex<Recorded>,
}

/// What an event was last recorded as.
#[derive(Clone, Debug, Default)]
enum Recorded {
    #[default]
    Never,
    At(Instant),
    /// In a stream that was being captured, so that it stands for nodes of a graph.
    In(Captured),
}

impl Kind for Event {
    const BAD_HANDLE: CuResult = CuResult::INVALID_HANDLE;

    fn context(&self) -> Option<Handle> {
        Some(self.context.handle)
    }
}

impl Event {
    /// Records the event in a stream whose work is all done.
    pub fn record_now(&self) {
        *lock(&self.recorded) = Recorded::At(Instant::now());
    }

    /// Records the event in a stream that is being captured.
    pub fn record_captured(&self, captured: Captured) {
        *lock(&self.recorded) = Recorded::In(captured);
    }

    /// Returns what the event captured, if it was last recorded in a capturing stream.
    pub fn captured(&self) -> Option<Captured> {
        match &*lock(&self.recorded) {
            Recorded::In(captured) => Some(captured.clone()),
            _ => None,
        }
    }

    /// Refuses to look at an event that stands for nodes of a graph, and invalidates the capture.
    fn check_not_captured(&self) -> Result<()> {
        match self.captured() {
            None => Ok(()),
            Some(captured) => {
                driver()?.captures.invalidate_sequence(captured.sequence);
                CuResult::CAPTURED_EVENT.err()
            }
        }
    }
}

/// Returns the event with this handle.
pub fn get(handle: Handle) -> Result<Arc<Event>> {
    driver()?.handles.get(handle)
}

/// Waits for an event, or asks whether it is complete, which it is.
fn wait(event: Handle) -> Result<()> {
    let event = get(event)?;
    event.context.check()?;
    event.check_not_captured()?;
    driver()?.captures.check_safe()
}

fn elapsed(milliseconds: Out<f32>, start: Handle, end: Handle) -> Result<()> {
    let (start, end) = (get(start)?, get(end)?);
    milliseconds.check()?;
    start.context.check()?;
    start.check_not_captured()?;
    end.check_not_captured()?;
    let time = |event: &Event| match (event.flags & DISABLE_TIMING, &*lock(&event.recorded)) {
        (0, Recorded::At(time)) => Ok(*time),
        _ => Err(CuResult::INVALID_HANDLE),
    };
    let (start, end) = (time(&start)?, time(&end)?);
    let seconds = if end >= start { (end - start).as_secs_f64() } else { -(start - end).as_secs_f64() };
    milliseconds.put((seconds * 1e3) as f32)
}

exports! {
    fn cuEventCreate(event: Out<Handle>, flags: u32) {
        let (driver, context) = context::current()?;
        event.check()?;
        if flags & !(BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS) != 0 {
            return CuResult::INVALID_VALUE.err();
        }
        if flags & INTERPROCESS != 0 {
            if flags & DISABLE_TIMING == 0 {
                return CuResult::INVALID_VALUE.err();
            }
            return Err(CuResult::NOT_SUPPORTED.because("events cannot be shared between processes"));
        }
        let made = driver.handles.insert(|handle| Event { handle, context, flags, recorded: Mutex::default() });
        event.put(made.handle)
    }

    /// Destroys the event even if this returns a fault.
    fn cuEventDestroy_v2(event: Handle) {
        driver()?.handles.remove::<Event>(event)?.context.check()
    }

    fn cuEventQuery(event: Handle) {
        wait(event)
    }

    fn cuEventSynchronize(event: Handle) {
        wait(event)
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }

    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
}
