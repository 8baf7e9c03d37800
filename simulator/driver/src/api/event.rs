//! Events. An event records **the host's clock**: the time between two events is how long the simulator took, which says nothing about a
//! GPU. A program that does not know about the simulator may still print it as a GPU's time. Programs of this workspace never show it.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::context::{self, Context};
use super::stream;
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
/// `CU_EVENT_RECORD_EXTERNAL` and `CU_EVENT_WAIT_EXTERNAL`, which only have a meaning during a capture.
const RECORD_EXTERNAL: u32 = 1;
const WAIT_EXTERNAL: u32 = 1;

/// An event.
#[derive(Debug)]
pub struct Event {
    pub handle: Handle,
    pub context: Arc<Context>,
    flags: u32,
    /// When it was last recorded.
    recorded: Mutex<Option<Instant>>,
}

impl Kind for Event {
    const BAD_HANDLE: CuResult = CuResult::INVALID_HANDLE;

    fn context(&self) -> Option<Handle> {
        Some(self.context.handle)
    }
}

fn get(handle: Handle) -> Result<Arc<Event>> {
    driver()?.handles.get(handle)
}

fn record(event: Handle, stream: Handle) -> Result<()> {
    let event = get(event)?;
    let context = stream::context_of(stream)?;
    context.check()?;
    if context.handle != event.context.handle {
        return CuResult::INVALID_HANDLE.err();
    }
    *lock(&event.recorded) = Some(Instant::now());
    Ok(())
}

fn elapsed(milliseconds: Out<f32>, start: Handle, end: Handle) -> Result<()> {
    let (start, end) = (get(start)?, get(end)?);
    milliseconds.check()?;
    start.context.check()?;
    let time = |event: &Event| match event.flags & DISABLE_TIMING {
        0 => lock(&event.recorded).ok_or(CuResult::INVALID_HANDLE),
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
        let made = driver.handles.insert(|handle| Event { handle, context, flags, recorded: Mutex::new(None) });
        event.put(made.handle)
    }

    /// Destroys the event even if this returns a fault.
    fn cuEventDestroy_v2(event: Handle) {
        driver()?.handles.remove::<Event>(event)?.context.check()
    }

    fn cuEventRecord(event: Handle, stream: Handle) {
        record(event, stream)
    }

    fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: u32) {
        if flags & !RECORD_EXTERNAL != 0 {
            driver()?;
            return CuResult::INVALID_VALUE.err();
        }
        record(event, stream)
    }

    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) {
        stream::usable(stream)?;
        if flags & !WAIT_EXTERNAL != 0 {
            return CuResult::INVALID_VALUE.err();
        }
        get(event).map(drop)
    }

    fn cuEventQuery(event: Handle) {
        get(event)?.context.check()
    }

    fn cuEventSynchronize(event: Handle) {
        get(event)?.context.check()
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }

    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
}
