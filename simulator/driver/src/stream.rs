//! Streams. Every operation is complete when the call that enqueues it returns, so a stream is always idle.
//!
//! CUDA lets operations of one stream run as late as the next point where the program waits, and as early as it likes once the ones
//! before are done. "At once" is within that, for any number of streams.

use std::ffi::c_void;
use std::sync::Arc;

use crate::context::{self, Context};
use crate::error::{CuResult, Result};
use crate::event::Event;
use crate::ffi::{DeviceId, Handle, HostFn, Out, StreamCallback};
use crate::state::{DEVICE, driver};

/// The stream that is always there.
pub const DEFAULT: Handle = Handle::NULL;
/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`: other names for streams that are always there.
const LEGACY: Handle = Handle(1);
const PER_THREAD: Handle = Handle(2);

/// Priorities, of which the lower number is the more urgent. They order nothing where nothing waits.
pub const LEAST_PRIORITY: i32 = 0;
pub const GREATEST_PRIORITY: i32 = -5;

/// `CU_EVENT_WAIT_EXTERNAL`, which only means something during a capture.
const WAIT_EXTERNAL: u32 = 1;
/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: u32 = 1;

/// A stream that a program made.
#[derive(Debug)]
pub struct Stream {
    pub handle: Handle,
    pub context: Arc<Context>,
    flags: u32,
    priority: i32,
}

/// The stream of that handle, of any context; `None` for those that are always there.
pub fn any(handle: Handle) -> Result<Option<Arc<Stream>>> {
    match handle {
        DEFAULT | LEGACY | PER_THREAD => Ok(None),
        handle => driver()?.handles.get(handle).map(Some),
    }
}

/// Whether a handle means the stream that waits for all others, which no driver captures.
pub fn is_legacy(handle: Handle) -> bool {
    matches!(handle, DEFAULT | LEGACY)
}

/// The context that a stream belongs to: the current one for those that are always there.
pub fn context_of(handle: Handle) -> Result<Arc<Context>> {
    match any(handle)? {
        Some(stream) => Ok(stream.context.clone()),
        None => Ok(context::current_even_if_faulted()?.1),
    }
}

/// Refuses a stream of a context that is not current: a kernel can only be launched into the current one.
pub fn check_current(handle: Handle, current: &Context) -> Result<()> {
    if context_of(handle)?.handle == current.handle { Ok(()) } else { CuResult::INVALID_HANDLE.err() }
}

/// The context of a stream that is to be used.
fn usable(handle: Handle) -> Result<Arc<Context>> {
    driver()?;
    let context = context_of(handle)?;
    context.check()?;
    Ok(context)
}

fn create(out: Out<Handle>, flags: u32, priority: i32) -> Result<()> {
    let (driver, context) = context::current()?;
    out.check()?;
    if flags & !NON_BLOCKING != 0 {
        return CuResult::INVALID_VALUE.err();
    }
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    let stream = driver.handles.insert(|handle| Stream { handle, context, flags, priority });
    out.put(stream.handle)
}

crate::exports! {
    fn cuStreamCreate(stream: Out<Handle>, flags: u32) {
        create(stream, flags, LEAST_PRIORITY)
    }

    fn cuStreamCreateWithPriority(stream: Out<Handle>, flags: u32, priority: i32) {
        create(stream, flags, priority)
    }

    /// Destroyed even where a fault is returned.
    fn cuStreamDestroy_v2(stream: Handle) {
        driver()?.handles.remove::<Stream>(stream)?.context.check()
    }

    fn cuStreamSynchronize(stream: Handle) {
        usable(stream).map(drop)
    }

    /// Never "not ready".
    fn cuStreamQuery(stream: Handle) {
        usable(stream).map(drop)
    }

    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) {
        usable(stream)?;
        if flags & !WAIT_EXTERNAL != 0 {
            return CuResult::INVALID_VALUE.err();
        }
        driver()?.handles.get::<Event>(event).map(drop)
    }

    fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) {
        context.put(usable(stream)?.handle)
    }

    fn cuStreamGetDevice(stream: Handle, device: Out<DeviceId>) {
        usable(stream)?;
        device.put(DEVICE)
    }

    fn cuStreamGetId(stream: Handle, id: Out<u64>) {
        usable(stream)?;
        id.put(stream.0 as u64)
    }

    fn cuStreamGetFlags(stream: Handle, flags: Out<u32>) {
        usable(stream)?;
        flags.put(any(stream)?.map_or(0, |stream| stream.flags))
    }

    fn cuStreamGetPriority(stream: Handle, priority: Out<i32>) {
        usable(stream)?;
        priority.put(any(stream)?.map_or(LEAST_PRIORITY, |stream| stream.priority))
    }

    fn cuStreamCopyAttributes(target: Handle, source: Handle) {
        usable(target)?;
        usable(source).map(drop)
    }

    /// All work before it is done, so the function runs now, on this thread. It may not call CUDA, by CUDA's own rule.
    fn cuLaunchHostFunc(stream: Handle, function: Option<HostFn>, data: *mut c_void) {
        usable(stream)?;
        let function = function.ok_or(CuResult::INVALID_VALUE)?;
        // SAFETY: the C caller asks for exactly this call, and promises that `data` is what its function takes.
        unsafe { function(data) };
        Ok(())
    }

    fn cuStreamAddCallback(stream: Handle, callback: Option<StreamCallback>, data: *mut c_void, flags: u32) {
        usable(stream)?;
        let callback = callback.filter(|_| flags == 0).ok_or(CuResult::INVALID_VALUE)?;
        // SAFETY: the C caller asks for exactly this call, and promises that `data` is what its function takes.
        unsafe { callback(stream, CuResult::SUCCESS, data) };
        Ok(())
    }
}
