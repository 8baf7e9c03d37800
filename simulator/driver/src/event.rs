//! Events. An event records **the clock of the host**: what passes between two of them is how long the simulator took, which says
//! nothing about a GPU. A program may print it as a GPU's time all the same, and cannot be told otherwise; so nothing in this workspace
//! that knows it runs on the simulator shows it.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::context::{self, Context};
use crate::error::{CuResult, Result};
use crate::ffi::{Handle, Out};
use crate::state::{driver, lock};
use crate::stream;

/// `CU_EVENT_BLOCKING_SYNC`, `_DISABLE_TIMING`, `_INTERPROCESS`
const BLOCKING_SYNC: u32 = 1;
const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
/// `CU_EVENT_RECORD_EXTERNAL`, which only means something during a capture.
const RECORD_EXTERNAL: u32 = 1;

/// An event.
#[derive(Debug)]
pub struct Event {
    pub handle: Handle,
    pub context: Arc<Context>,
    flags: u32,
    /// When it was last recorded.
    recorded: Mutex<Option<Instant>>,
}

fn get(handle: Handle) -> Result<Arc<Event>> {
    driver()?.handles.get(handle)
}

fn record(event: Handle, on: Handle) -> Result<()> {
    let event = get(event)?;
    let context = stream::context_of(on)?;
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

crate::exports! {
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

    /// Destroyed even where a fault is returned.
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
