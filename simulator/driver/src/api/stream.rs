//! Streams. Every operation is complete when the call that enqueues it returns, so a stream is always idle.
//!
//! CUDA may run an operation of a stream at any time between the end of the previous operation and the next point where the program
//! waits. Running it at once is allowed, for any number of streams.

use std::ffi::c_void;
use std::sync::Arc;

use super::context::{self, Context};
use crate::driver::{DEVICE, driver};
use crate::export::exports;
use crate::ffi::{DeviceId, HostFn, Out, StreamCallback};
use crate::handles::{Handle, Kind};
use crate::result::{CuResult, Result};

/// The default stream, which always exists. [`Handle::LEGACY_STREAM`] and [`Handle::PER_THREAD_STREAM`] always exist as well.
pub const DEFAULT: Handle = Handle::NULL;

/// Priorities. A lower number is more urgent. They have no effect here, because no stream ever waits.
const LEAST_PRIORITY: i32 = 0;
const GREATEST_PRIORITY: i32 = -5;

/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: u32 = 1;

/// A stream that the program made.
#[derive(Debug)]
pub struct Stream {
    pub handle: Handle,
    pub context: Arc<Context>,
    flags: u32,
    priority: i32,
}

impl Kind for Stream {
    const BAD_HANDLE: CuResult = CuResult::INVALID_HANDLE;

    fn context(&self) -> Option<Handle> {
        Some(self.context.handle)
    }
}

/// Returns the stream with this handle, in any context; `None` for the streams that always exist.
pub fn any(handle: Handle) -> Result<Option<Arc<Stream>>> {
    match handle {
        DEFAULT | Handle::LEGACY_STREAM | Handle::PER_THREAD_STREAM => Ok(None),
        handle => driver()?.handles.get(handle).map(Some),
    }
}

/// Whether a handle means the legacy stream, which waits for all others and which no driver captures.
pub fn is_legacy(handle: Handle) -> bool {
    matches!(handle, DEFAULT | Handle::LEGACY_STREAM)
}

/// Returns the context of a stream. A stream that always exists belongs to the current context.
pub fn context_of(handle: Handle) -> Result<Arc<Context>> {
    match any(handle)? {
        Some(stream) => Ok(stream.context.clone()),
        None => Ok(context::current_even_if_faulted()?.1),
    }
}

/// Refuses a stream of another context, because a kernel can only be launched in the current one.
pub fn check_current(handle: Handle, current: &Context) -> Result<()> {
    if context_of(handle)?.handle == current.handle { Ok(()) } else { CuResult::INVALID_HANDLE.err() }
}

/// Returns the context of a stream that is about to be used.
pub fn usable(handle: Handle) -> Result<Arc<Context>> {
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

exports! {
    fn cuStreamCreate(stream: Out<Handle>, flags: u32) {
        create(stream, flags, LEAST_PRIORITY)
    }

    fn cuStreamCreateWithPriority(stream: Out<Handle>, flags: u32, priority: i32) {
        create(stream, flags, priority)
    }

    /// Destroys the stream even if this returns a fault.
    fn cuStreamDestroy_v2(stream: Handle) {
        driver()?.handles.remove::<Stream>(stream)?.context.check()
    }

    fn cuStreamSynchronize(stream: Handle) {
        usable(stream).map(drop)
    }

    /// Never returns "not ready".
    fn cuStreamQuery(stream: Handle) {
        usable(stream).map(drop)
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
        id.put(stream.number())
    }

    fn cuStreamGetFlags(stream: Handle, flags: Out<u32>) {
        usable(stream)?;
        flags.put(any(stream)?.map_or(0, |stream| stream.flags))
    }

    fn cuStreamGetPriority(stream: Handle, priority: Out<i32>) {
        usable(stream)?;
        priority.put(any(stream)?.map_or(LEAST_PRIORITY, |stream| stream.priority))
    }

    fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        context::current()?;
        least.put_if_asked(LEAST_PRIORITY);
        greatest.put_if_asked(GREATEST_PRIORITY);
        Ok(())
    }

    fn cuStreamCopyAttributes(target: Handle, source: Handle) {
        usable(target)?;
        usable(source).map(drop)
    }

    /// All earlier work is done, so the function runs now, on this thread. CUDA forbids it to call CUDA functions.
    fn cuLaunchHostFunc(stream: Handle, function: Option<HostFn>, data: *mut c_void) {
        usable(stream)?;
        let function = function.ok_or(CuResult::INVALID_VALUE)?;
        // SAFETY: the C caller asks for exactly this call and promises that its function accepts these arguments.
        unsafe { function(data) };
        Ok(())
    }

    fn cuStreamAddCallback(stream: Handle, callback: Option<StreamCallback>, data: *mut c_void, flags: u32) {
        usable(stream)?;
        let callback = callback.filter(|_| flags == 0).ok_or(CuResult::INVALID_VALUE)?;
        // SAFETY: the C caller asks for exactly this call and promises that its function accepts these arguments.
        unsafe { callback(stream, CuResult::SUCCESS, data) };
        Ok(())
    }
}
