//! Streams. CUDA may run an operation of a stream at any time between the end of the previous operation and the next point where the program
//! waits. Without a schedule, an operation runs at once, and is complete when its call returns. The exceptions wait in [`crate::queues`]:
//! operations behind a wait for a value in memory, and all operations of a late [schedule](crate::schedule).
//!
//! Every function that enqueues an operation does so through [`submit`], which executes the operation, or makes a node of it while the stream
//! is being captured.

use std::thread;

use super::attribute::{self, *};
use super::event::Event;
use super::operation::{Graph, Operation};
use super::prelude::*;
use super::run::Run;
use crate::captures::StreamKey;
use crate::driver;
use crate::export::default_is_per_thread;
use crate::ffi::{HostCall, HostFn, StreamCallback};
use crate::position::{Awaited, Position};
use crate::queues::Progress;
use crate::timeline::{Moment, Task};

/// The default stream, which always exists. [`Handle::LEGACY_STREAM`] and [`Handle::PER_THREAD_STREAM`] always exist as well.
pub const DEFAULT: Handle = Handle::NULL;

/// Priorities. A lower number is more urgent. They have no effect here: the order of the calls, or a schedule, decides.
const LEAST_PRIORITY: i32 = 0;
const GREATEST_PRIORITY: i32 = -5;

/// `CU_EVENT_RECORD_EXTERNAL` and `CU_EVENT_WAIT_EXTERNAL`, which make a node during a capture.
const EXTERNAL: u32 = 1;

/// `CU_STREAM_NON_BLOCKING`
pub const NON_BLOCKING: u32 = 1;

/// The last `CUsynchronizationPolicy`.
const LAST_SYNCHRONIZATION_POLICY: i32 = 4;

/// A stream that the program made.
#[derive(Debug)]
pub struct Stream {
    pub context: Arc<Context>,
    /// The handle of the context by which the stream was made.
    made_in: Handle,
    flags: u32,
    priority: i32,
}

kind!(Stream: INVALID_HANDLE, of its context);

/// Returns the stream with this handle, in any context; `None` for the streams that always exist.
pub fn any(handle: Handle) -> Result<Option<Arc<Stream>>> {
    match handle {
        DEFAULT | Handle::LEGACY_STREAM | Handle::PER_THREAD_STREAM => Ok(None),
        handle => find(handle).map(Some),
    }
}

/// Returns the meaning of the default stream in the current call.
fn meant(handle: Handle) -> Handle {
    if handle == DEFAULT && default_is_per_thread() { Handle::PER_THREAD_STREAM } else { handle }
}

/// Returns true for the legacy stream, which is never captured.
pub fn is_legacy(handle: Handle) -> bool {
    matches!(meant(handle), DEFAULT | Handle::LEGACY_STREAM)
}

/// Returns the context of a stream. A stream that always exists belongs to the current context.
pub fn context_of(handle: Handle) -> Result<Arc<Context>> {
    match any(handle)? {
        Some(stream) => Ok(stream.context.clone()),
        None => Ok(context::current_even_if_faulted()?.1),
    }
}

/// Returns the context of a stream that is about to be used.
pub fn usable(handle: Handle) -> Result<Arc<Context>> {
    driver()?;
    let context = context_of(handle)?;
    context.check()?;
    Ok(context)
}

/// Returns what tells a stream from all others. The stream that each thread has is another one on each thread. The legacy stream has two
/// handles.
pub fn key(handle: Handle) -> Result<StreamKey> {
    let handle = if is_legacy(handle) { Handle::LEGACY_STREAM } else { meant(handle) };
    let thread = (handle == Handle::PER_THREAD_STREAM).then(|| thread::current().id());
    Ok(StreamKey { handle, context: context_of(handle)?.handle, thread })
}

/// Returns true if the legacy stream waits for this stream.
pub fn is_blocking(handle: Handle) -> Result<bool> {
    Ok(any(handle)?.is_none_or(|stream| stream.flags & NON_BLOCKING == 0))
}

/// Returns true if a stream is being captured, even without success.
pub fn is_capturing(handle: Handle) -> Result<bool> {
    Ok(driver()?.captures.lock().status(key(handle)?).is_some())
}

/// Gives a stream something to do. It is done when this returns, unless the stream is being captured, or waits for a value in memory.
pub fn submit(stream: Handle, operation: Operation) -> Result<()> {
    submit_then(stream, operation, || ())
}

/// Gives a stream something to do, and does `then` right after it. No one can know before `then` that it is done. A capture does not do
/// `then`.
pub fn submit_then(stream: Handle, operation: Operation, then: impl FnOnce() + Send + 'static) -> Result<()> {
    let (driver, key) = admit(stream)?;
    let record = |graph, dependencies: &[_]| find::<Graph>(graph)?.add(driver, operation.clone(), dependencies);
    let recorded = driver.captures.lock().add(key, record);
    if let Some(recorded) = recorded {
        return recorded.map(drop);
    }
    if let Operation::Record(event) = &operation {
        event.note_submitted();
    }
    if driver.queues.is_late {
        operation.check(driver)?;
    }
    let is_timed = driver.queues.timeline.is_some();
    let (task, events) = if is_timed { (operation.task(), operation.recorded()) } else { Default::default() };
    let mut run = Run::new(operation)?;
    let mut then = Some(then);
    // Another thread may execute it.
    let records = driver::own_records();
    let mut work = move || {
        let progress = driver::recording_in(records.clone(), || run.advance(driver));
        if progress == Ok(Progress::Done) {
            then.take().into_iter().for_each(|then| then());
        }
        progress
    };
    // The queue would do the same, holding its lock.
    if !is_timed && driver.queues.is_empty() && work()? == Progress::Done {
        return Ok(());
    }
    let moment = driver.queues.push(position(stream, key)?, task, Box::new(work))?;
    events.iter().for_each(|event| event.last.lock().moment.clone_from(&moment));
    Ok(())
}

fn position(stream: Handle, key: StreamKey) -> Result<Position> {
    Ok(Position { stream: key, is_legacy: is_legacy(stream), is_blocking: is_blocking(stream)?, is_of_context: false })
}

/// Does something when all earlier work of a stream is done.
pub fn after(stream: Handle, task: Task, act: impl FnOnce(&Driver) -> Result<()> + Send + 'static) -> Result<()> {
    let (driver, key) = admit(stream)?;
    let position = position(stream, key)?;
    if driver.queues.timeline.is_none() && !driver.queues.is_busy(&position) {
        return act(driver);
    }
    let mut act = Some(act);
    let work = Box::new(move || act.take().map_or(Ok(()), |act| act(driver)).map(|()| Progress::Done));
    driver.queues.push(position, task, work).map(drop)
}

/// Waits for all work of a stream, before a call returns.
pub fn finish(stream: Handle) -> Result<()> {
    let driver = driver()?;
    if driver.queues.is_empty() && driver.queues.timeline.is_none() {
        return Ok(());
    }
    let awaited = Awaited::Before(position(stream, key(stream)?)?);
    context::wait(driver, &*context_of(stream)?, awaited)
}

/// Refuses the legacy stream while it would wait for a capturing stream.
pub fn admit(stream: Handle) -> Result<(&'static Driver, StreamKey)> {
    let (driver, key) = (driver()?, key(stream)?);
    if is_legacy(stream) {
        driver.captures.lock().use_legacy(key.context)?;
    }
    Ok((driver, key))
}

/// Refuses what no graph can contain, and invalidates the capture.
pub fn check_not_capturing(stream: Handle) -> Result<()> {
    let (driver, key) = admit(stream)?;
    if driver.captures.lock().invalidate(key) { CuResult::STREAM_CAPTURE_UNSUPPORTED.err() } else { Ok(()) }
}

/// Records an event: at once, or as what the stream's next captured node will depend on.
fn record(event: Handle, stream: Handle, is_external: bool) -> Result<()> {
    let event = find::<Event>(event)?;
    let context = context_of(stream)?;
    context.check()?;
    refuse!(INVALID_HANDLE if context.handle != event.context.handle);
    let (driver, key) = admit(stream)?;
    let captured = driver.captures.lock().record(key)?;
    match captured {
        Some(captured) if !is_external => {
            event.record_captured(captured);
            Ok(())
        }
        None if is_external => CuResult::INVALID_VALUE.err(),
        _ => submit(stream, Operation::Record(event)),
    }
}

/// Waits for an event. A stream that waits for an event of a capture becomes part of the capture.
fn wait(stream: Handle, event: Handle, is_external: bool) -> Result<()> {
    let event = find::<Event>(event)?;
    let (driver, key) = admit(stream)?;
    refuse!(INVALID_VALUE if is_external && !is_capturing(stream)?);
    match event.captured() {
        Some(_) if is_legacy(stream) => CuResult::STREAM_CAPTURE_UNSUPPORTED.err(),
        Some(captured) if !is_external => driver.captures.lock().wait(key, is_blocking(stream)?, &captured),
        // Only the order inside the stream may cross the boundary of a capture.
        None if !is_external && driver.captures.lock().invalidate(key) => Err(CuResult::STREAM_CAPTURE_ISOLATION.because(
            "the event was not recorded in this capture; record it in a stream of the capture, or wait with CU_EVENT_WAIT_EXTERNAL",
        )),
        _ => submit(stream, Operation::Wait(event)),
    }
}

fn create(out: Out<Handle>, flags: u32, priority: i32) -> Result<()> {
    let (driver, context) = context::current()?;
    out.check()?;
    refuse!(INVALID_VALUE if flags & !NON_BLOCKING != 0);
    out.put(make(driver, context, context::current_handle(), flags, priority))
}

/// Makes a stream in a context that the program calls `made_in`.
pub fn make(driver: &Driver, context: Arc<Context>, made_in: Handle, flags: u32, priority: i32) -> Handle {
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    driver.handles.add(Stream { context, made_in, flags, priority })
}

/// Returns what the program calls the context of a stream.
pub fn made_in(stream: Handle) -> Result<Handle> {
    Ok(any(stream)?.map_or_else(context::current_handle, |stream| stream.made_in))
}

/// Records an event after all earlier work of a context.
pub fn record_context(context: Handle, event: Handle) -> Result<()> {
    let driver = driver()?;
    let context = driver.handles.get::<Context>(context)?;
    let event = find::<Event>(event)?;
    context.check()?;
    refuse!(INVALID_HANDLE if context.handle != event.context.handle);
    driver.captures.lock().use_context(context.handle)?;
    event.note_submitted();
    let moment = submit_in_context(driver, &context, Operation::Record(event.clone()))?;
    event.last.lock().moment = moment;
    Ok(())
}

/// Lets all later work of a context wait for an event.
pub fn wait_in_context(context: Handle, event: Handle) -> Result<()> {
    let driver = driver()?;
    let context = driver.handles.get::<Context>(context)?;
    let event = find::<Event>(event)?;
    context.check()?;
    refuse!(STREAM_CAPTURE_ISOLATION if event.captured().is_some());
    driver.captures.lock().use_context(context.handle)?;
    submit_in_context(driver, &context, Operation::Wait(event)).map(drop)
}

/// Submits an operation between all earlier and later work of a context.
fn submit_in_context(driver: &'static Driver, context: &Context, operation: Operation) -> Result<Option<Arc<Moment>>> {
    let stream = StreamKey { handle: DEFAULT, context: context.handle, thread: None };
    let position = Position { stream, is_legacy: true, is_blocking: true, is_of_context: true };
    let task = operation.task();
    let mut run = Run::new(operation)?;
    driver.queues.push(position, task, Box::new(move || run.advance(driver)))
}

pub fn priority(stream: Handle) -> Result<i32> {
    Ok(any(stream)?.map_or(LEAST_PRIORITY, |stream| stream.priority))
}

/// Refuses an attribute of launches that streams do not have.
fn check_attribute(attribute: u32) -> Result<()> {
    refuse!(INVALID_VALUE if matches!(attribute, COOPERATIVE | CLUSTER_DIMENSION | CLUSTER_POLICY));
    Ok(())
}

/// Returns an attribute's initial value. It is that of CUDA 13.0 on an H100.
fn initial(stream: Handle, attribute: u32) -> Result<Value> {
    Ok(attribute::of_number(match attribute {
        SYNCHRONIZATION_POLICY => -1,
        PRIORITY => priority(stream)?,
        MEMORY_DOMAIN_MAP => 0x100,
        _ => 0,
    }))
}

exports! {
    fn cuStreamGetAttribute(stream: Handle, attribute: u32, value: HostBytes) also "_ptsz" {
        let context = usable(stream)?;
        check_attribute(attribute)?;
        let set = context.stream_attributes.lock().get(&(stream.number(), attribute)).copied();
        attribute::write(attribute, value, &set.map_or_else(|| initial(stream, attribute), Ok)?)
    }

    /// Attributes are stored and returned. They only affect speed, and how the host waits, so they have no effect here.
    fn cuStreamSetAttribute(stream: Handle, attribute: u32, value: HostBytes) also "_ptsz" {
        let context = usable(stream)?;
        check_attribute(attribute)?;
        let given = attribute::read(attribute, value)?;
        let is_policy = (1..=LAST_SYNCHRONIZATION_POLICY).any(|policy| given == attribute::of_number(policy));
        refuse!(INVALID_VALUE if attribute == SYNCHRONIZATION_POLICY && !is_policy);
        context.stream_attributes.lock().insert((stream.number(), attribute), given);
        Ok(())
    }

    fn cuStreamCreate(stream: Out<Handle>, flags: u32) => create(stream, flags, LEAST_PRIORITY);
    fn cuStreamCreateWithPriority(stream: Out<Handle>, flags: u32, priority: i32) => create(stream, flags, priority);

    /// Destroys the stream even if this returns a fault.
    fn cuStreamDestroy_v2 | cuStreamDestroy(stream: Handle) {
        let driver = driver()?;
        let removed = driver.handles.remove::<Stream>(stream)?;
        let key = StreamKey { handle: stream, context: removed.context.handle, thread: None };
        let captured_to = driver.captures.lock().forget_stream(key);
        if let Some(graph) = captured_to {
            find::<Graph>(graph)?.unregister(driver);
        }
        removed.context.check()
    }

    /// There is nothing to wait for while the stream is being captured.
    fn cuStreamSynchronize(stream: Handle) also "_ptsz" {
        usable(stream)?;
        check_not_capturing(stream)?;
        finish(stream)
    }

    /// Returns "not ready" only while something waits for a value in memory.
    fn cuStreamQuery(stream: Handle) also "_ptsz" {
        usable(stream)?;
        check_not_capturing(stream)?;
        let driver = driver()?;
        driver.queues.before_answer()?;
        let position = position(stream, key(stream)?)?;
        refuse!(NOT_READY if driver.queues.is_busy(&position));
        if let Some(timeline) = &driver.queues.timeline {
            timeline.lock().waited(Awaited::Before(position));
        }
        usable(stream).map(drop)
    }

    fn cuEventRecord(event: Handle, stream: Handle) also "_ptsz" => record(event, stream, false);

    fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: u32) also "_ptsz" {
        driver()?;
        refuse!(INVALID_VALUE if flags & !EXTERNAL != 0);
        record(event, stream, flags == EXTERNAL)
    }

    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) also "_ptsz" {
        usable(stream)?;
        refuse!(INVALID_VALUE if flags & !EXTERNAL != 0);
        wait(stream, event, flags == EXTERNAL)
    }

    fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) also "_ptsz" => context.put(usable(stream)?.handle);
    fn cuStreamGetDevice(stream: Handle, device: Out<DeviceId>) also "_ptsz" => usable(stream).and_then(|_| device.put(DEVICE));
    fn cuStreamGetId(stream: Handle, id: Out<u64>) also "_ptsz" => usable(stream).and_then(|_| id.put(stream.number()));
    fn cuStreamGetFlags(stream: Handle, flags: Out<u32>) also "_ptsz" =>
        usable(stream).and_then(|_| flags.put(any(stream)?.map_or(0, |stream| stream.flags)));
    fn cuStreamGetPriority(stream: Handle, priority: Out<i32>) also "_ptsz" =>
        usable(stream).and_then(|_| priority.put(self::priority(stream)?));

    fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        context::current()?;
        least.put_if_asked(LEAST_PRIORITY);
        greatest.put_if_asked(GREATEST_PRIORITY);
        Ok(())
    }

    fn cuStreamCopyAttributes(target: Handle, source: Handle) also "_ptsz" {
        let (to, from) = (usable(target)?, usable(source)?);
        let copied: Vec<_> = {
            let attributes = from.stream_attributes.lock();
            attributes.iter().filter(|((stream, _), _)| *stream == source.number()).map(|(key, value)| (key.1, *value)).collect()
        };
        to.stream_attributes.lock().extend(copied.into_iter().map(|(attribute, value)| ((target.number(), attribute), value)));
        Ok(())
    }

    /// Runs a function of the host when all earlier work is done. CUDA forbids it to call CUDA functions.
    fn cuLaunchHostFunc(stream: Handle, function: Option<HostFn>, data: HostBytes) also "_ptsz" =>
        usable(stream).and_then(|_| submit(stream, Operation::Host(HostCall::new(function, data)?)));

    /// How the stream waits for the function is a hint.
    fn cuLaunchHostFunc_v2(stream: Handle, function: Option<HostFn>, data: HostBytes, waiting: u32) also "_ptsz" {
        refuse!(INVALID_VALUE if waiting > 1);
        usable(stream).and_then(|_| submit(stream, Operation::Host(HostCall::new(function, data)?)))
    }

    fn cuStreamAddCallback(stream: Handle, callback: Option<StreamCallback>, data: HostBytes, flags: u32) also "_ptsz" {
        usable(stream)?;
        let callback = callback.filter(|_| flags == 0).ok_or(CuResult::INVALID_VALUE)?;
        check_not_capturing(stream)?;
        // The host may learn from it that the work before it is done.
        after(stream, Task { tells: true, ..Task::of("a callback of the host") }, move |_| {
            // SAFETY: the C caller asks for exactly this call and promises that its function accepts these arguments.
            unsafe { callback(stream, CuResult::SUCCESS, data.as_ptr()) };
            Ok(())
        })
    }
}
