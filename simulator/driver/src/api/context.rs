//! Contexts, the stack of current contexts, and errors that stick.
//!
//! A kernel that faults leaves its context unusable, as on a GPU. The launch itself has already returned success. Every later call in
//! that context returns the fault until the context is destroyed or the primary context is reset. A GPU goes further: after most
//! faults, all contexts of the process are unusable, new ones too. Here the other contexts still work, so that one kernel's fault cannot
//! fail the test of the next kernel.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use simt::Heap;

use super::attribute::Value;
use super::prelude::*;
use crate::driver;
use crate::position::Awaited;

/// Flags of a context: how the host waits, mapped memory, local memory, core dumps, synchronous copies.
const KNOWN_FLAGS: u32 = 0xff;
/// The highest values of `CUfunc_cache` and of `CUsharedconfig`.
pub const LAST_CACHE_CONFIG: u32 = 3;
pub const LAST_SHARED_CONFIG: u32 = 2;

/// `CU_LIMIT_STACK_SIZE`, `CU_LIMIT_PRINTF_FIFO_SIZE`, and `CU_LIMIT_MALLOC_HEAP_SIZE`
const STACK_LIMIT: u32 = 0;
const PRINTED_LIMIT: u32 = 1;
const HEAP_LIMIT: u32 = 2;

/// The most local memory of a thread, and so the largest stack.
const MOST_STACK: usize = 512 << 10;

/// The most output that a launch keeps, whatever a program asks for.
const MOST_PRINTED: usize = 1 << 30;

/// The highest number in `CUlimit` in CUDA 12.
const LAST_LIMIT: u32 = 9;

/// The limits of contexts, by number in `CUlimit`, with initial values.
const LIMITS: [(u32, usize); 7] = [
    (0, 1024),    // stack of each thread
    (1, 1 << 20), // printf buffer
    (2, 8 << 20), // heap for malloc in kernels
    (3, 2),       // depth of synchronization on the device
    (4, 2048),    // pending launches on the device
    (5, 64),      // L2 fetch granularity
    (6, 0),       // L2 reserved for persisting accesses
];

#[derive(Debug, Default)]
pub struct Context {
    pub handle: Handle,
    pub flags: AtomicU32,
    /// The first fault of a kernel.
    fault: OnceLock<Failure>,
    limits: Mutex<BTreeMap<u32, usize>>,
    /// The memory that its kernels allocate.
    heap: Mutex<Arc<Heap>>,
    cache_config: AtomicU32,
    shared_config: AtomicU32,
    /// How often the program attached itself, which old programs do.
    attached: AtomicU32,
    /// The program's settings of core dumps of this context, by attribute number.
    pub core_dumps: Mutex<BTreeMap<u32, Vec<u8>>>,
    /// Attributes of streams, by the stream's handle and the attribute's number.
    pub stream_attributes: Mutex<BTreeMap<(u64, u32), Value>>,
}

kind!(Context: INVALID_CONTEXT);

impl Context {
    pub fn new(handle: Handle, flags: u32) -> Self {
        Self { handle, flags: flags.into(), limits: Mutex::new(LIMITS.into()), attached: 1.into(), ..Self::default() }
    }

    pub fn stack_bytes(&self) -> u32 {
        self.limit(STACK_LIMIT, MOST_STACK) as u32
    }

    pub fn printed_bytes(&self) -> usize {
        self.limit(PRINTED_LIMIT, MOST_PRINTED)
    }

    fn limit(&self, limit: u32, most: usize) -> usize {
        self.limits.lock().get(&limit).map_or(0, |bytes| *bytes.min(&most))
    }

    pub fn heap(&self) -> Arc<Heap> {
        self.heap.lock().clone()
    }

    /// Makes the context unusable. It keeps its first fault, because a later one may be a consequence.
    pub fn fail(&self, failure: Failure) {
        let _ = self.fault.set(failure);
    }

    /// Refuses a context that a fault left unusable.
    pub fn check(&self) -> Result<()> {
        self.fault.get().cloned().map_or(Ok(()), Err)
    }
}

thread_local! {
    /// This thread's contexts. The last one is current. CUDA defines the stack per thread.
    static STACK: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

/// Returns the handle of the current context, or null. The context may have been destroyed.
pub fn current_handle() -> Handle {
    STACK.with_borrow(|stack| stack.last().copied().unwrap_or(Handle::NULL))
}

/// Refuses a handle that a program may not make current. The primary context is accepted even while it is not retained; until then, it is
/// as unusable as a destroyed context.
fn check_nameable(driver: &Driver, handle: Handle) -> Result<()> {
    match handle {
        Handle::NULL => CuResult::INVALID_VALUE.err(),
        handle if handle == driver.primary => Ok(()),
        handle => driver.handles.get::<Context>(handle).map(drop),
    }
}

/// Returns the current context, even if a fault left it unusable.
pub fn current_even_if_faulted() -> Result<(&'static Driver, Arc<Context>)> {
    let (driver, handle) = (driver()?, current_handle());
    refuse!(INVALID_CONTEXT if handle == Handle::NULL);
    Ok((driver, driver.handles.get(handle).map_err(|_| CuResult::CONTEXT_IS_DESTROYED)?))
}

/// Returns the current context, for a function that works in it.
pub fn current() -> Result<(&'static Driver, Arc<Context>)> {
    let (driver, context) = current_even_if_faulted()?;
    context.check()?;
    Ok((driver, context))
}

/// Destroys a context and everything that belongs to it.
pub fn destroy(driver: &Driver, context: Handle) {
    driver.captures.lock().forget_context(context);
    driver.queues.forget_context(context);
    driver.handles.remove_context(context);
    driver.allocations.lock().free_context(context);
}

/// Waits for work of a context.
pub fn wait(driver: &Driver, context: &Context, awaited: Awaited) -> Result<()> {
    if driver.queues.is_empty() && driver.queues.timeline.is_none() {
        return Ok(());
    }
    let in_vain = driver.queues.wait(driver::patience(), awaited);
    in_vain.map_or(Ok(()), |what| give_up(driver, context, &what))?;
    if let Some(timeline) = &driver.queues.timeline {
        timeline.lock().waited(awaited);
    }
    context.check()?;
    driver.queues.take_failure(context.handle)
}

/// Makes a context unusable that waits in vain. A GPU would wait forever.
pub fn give_up(driver: &Driver, context: &Context, what: &str) -> Result<()> {
    let failure = CuResult::LAUNCH_TIMEOUT.because(format!("a stream waits for {what}, and nothing changes that"));
    driver.reporter.note_refusal(&failure);
    context.fail(failure.clone());
    driver.queues.forget_context(context.handle);
    Err(failure)
}

fn create(out: Out<Handle>, flags: u32, device: DeviceId) -> Result<()> {
    let driver = driver_of(device)?;
    out.check()?;
    check_flags(flags)?;
    let context = driver.handles.insert(|handle| Context::new(handle, flags));
    STACK.with_borrow_mut(|stack| stack.push(context.handle));
    out.put(context.handle)
}

/// Refuses unknown flags, and more than one way to wait.
pub fn check_flags(flags: u32) -> Result<()> {
    let ways_to_wait = (flags & 7).count_ones();
    if flags & !KNOWN_FLAGS != 0 || ways_to_wait > 1 { CuResult::INVALID_VALUE.err() } else { Ok(()) }
}

/// Explains why a context has no such limit.
fn no_limit(limit: u32) -> CuResult {
    if limit > LAST_LIMIT { CuResult::INVALID_VALUE } else { CuResult::UNSUPPORTED_LIMIT }
}

fn put_setting(out: Out<u32>, setting: impl FnOnce(&Context) -> &AtomicU32) -> Result<()> {
    out.put(setting(&current()?.1).load(Relaxed))
}

/// Refuses a value beyond the last one of an enumeration.
pub fn check_config(value: u32, last: u32) -> Result<()> {
    if value <= last { Ok(()) } else { CuResult::INVALID_VALUE.err() }
}

fn store_setting(value: u32, last: u32, setting: impl FnOnce(&Context) -> &AtomicU32) -> Result<()> {
    let (_, context) = current()?;
    check_config(value, last)?;
    setting(&context).store(value, Relaxed);
    Ok(())
}

/// Resolves a context argument for which null means the current context.
fn context_or_current(handle: Handle) -> Result<Arc<Context>> {
    if handle == Handle::NULL { Ok(current_even_if_faulted()?.1) } else { find(handle) }
}

fn synchronize(context: Handle) -> Result<()> {
    let (driver, context) = (driver()?, context_or_current(context)?);
    context.check()?;
    driver.captures.lock().use_context(context.handle)?;
    wait(driver, &context, Awaited::Context(context.handle))
}

exports! {
    fn cuCtxCreate_v2(context: Out<Handle>, flags: u32, device: DeviceId) => create(context, flags, device);

    /// Refuses execution affinity, a share of the multiprocessors, which needs MPS.
    fn cuCtxCreate_v3(context: Out<Handle>, affinity: In<u64>, affinity_count: i32, flags: u32, device: DeviceId) {
        driver_of(device)?;
        refuse!(UNSUPPORTED_EXEC_AFFINITY if affinity_count != 0 || !affinity.is_null());
        create(context, flags, device)
    }

    /// `parameters` asks for execution affinity or for sharing with a graphics API. This driver has neither.
    fn cuCtxCreate_v4(context: Out<Handle>, parameters: In<[usize; 3]>, flags: u32, device: DeviceId) {
        driver_of(device)?;
        refuse!(
            NOT_SUPPORTED if !parameters.is_null() && parameters.read()? != [0; 3],
            "execution affinity and sharing with graphics are not supported by the simulator; pass no parameters"
        );
        create(context, flags, device)
    }

    fn cuCtxDestroy_v2 | cuCtxDestroy(handle: Handle) {
        let driver = driver()?;
        check_nameable(driver, handle)?;
        refuse!(INVALID_CONTEXT if handle == driver.primary, "the primary context cannot be destroyed; release it instead");
        destroy(driver, handle);
        if current_handle() == handle {
            STACK.with_borrow_mut(Vec::pop);
        }
        Ok(())
    }

    /// An old way to keep the current context.
    fn cuCtxAttach(context: Out<Handle>, flags: u32) {
        let (_, found) = current()?;
        context.check()?;
        refuse!(INVALID_VALUE if flags != 0);
        found.attached.fetch_add(1, Relaxed);
        context.put(current_handle())
    }

    /// Destroys the context that was attached last. It must be current.
    fn cuCtxDetach(context: Handle) {
        let (driver, found) = current_even_if_faulted()?;
        refuse!(INVALID_CONTEXT if context != current_handle() || context == driver.primary);
        if found.attached.fetch_sub(1, Relaxed) == 1 {
            destroy(driver, context);
            STACK.with_borrow_mut(Vec::pop);
        }
        Ok(())
    }

    fn cuCtxPushCurrent_v2 | cuCtxPushCurrent(handle: Handle) =>
        check_nameable(driver()?, handle).map(|()| STACK.with_borrow_mut(|stack| stack.push(handle)));

    fn cuCtxPopCurrent_v2 | cuCtxPopCurrent(popped: Out<Handle>) {
        driver()?;
        let handle = STACK.with_borrow_mut(Vec::pop).ok_or(CuResult::INVALID_CONTEXT)?;
        popped.put_if_asked(handle);
        Ok(())
    }

    fn cuCtxSetCurrent(handle: Handle) {
        let driver = driver()?;
        if handle != Handle::NULL {
            check_nameable(driver, handle)?;
        }
        STACK.with_borrow_mut(|stack| {
            stack.pop();
            stack.extend(Some(handle).filter(|&handle| handle != Handle::NULL));
        });
        Ok(())
    }

    fn cuCtxGetCurrent(handle: Out<Handle>) => driver().and_then(|_| handle.put(current_handle()));

    /// Returns the device, even for a primary context that is not retained.
    fn cuCtxGetDevice(device: Out<DeviceId>) {
        if current_handle() != driver()?.primary {
            current_even_if_faulted()?;
        }
        device.put(DEVICE)
    }

    fn cuCtxGetDevice_v2(device: Out<DeviceId>, context: Handle) => context_or_current(context).and_then(|_| device.put(DEVICE));
    fn cuCtxGetFlags(flags: Out<u32>) => flags.put(current_even_if_faulted()?.1.flags.load(Relaxed));
    fn cuCtxSetFlags(flags: u32) => check_flags(flags).and_then(|()| store_setting(flags, KNOWN_FLAGS, |context| &context.flags));
    fn cuCtxGetId(context: Handle, id: Out<u64>) => id.put(context_or_current(context)?.handle.number());

    /// Returns the version of the context interface, which is not the driver's.
    fn cuCtxGetApiVersion(context: Handle, version: Out<u32>) => context_or_current(context).and_then(|_| version.put(3020));

    fn cuCtxSynchronize() => synchronize(Handle::NULL);
    fn cuCtxSynchronize_v2(context: Handle) => synchronize(context);
    fn cuCtxGetCacheConfig(config: Out<u32>) => put_setting(config, |context| &context.cache_config);

    /// A preference, which a driver may ignore. This one does.
    fn cuCtxSetCacheConfig(config: u32) => store_setting(config, LAST_CACHE_CONFIG, |context| &context.cache_config);
    fn cuCtxGetSharedMemConfig(config: Out<u32>) => put_setting(config, |context| &context.shared_config);

    /// Only Kepler could change the width of its banks. Elsewhere the setting is stored and has no effect.
    fn cuCtxSetSharedMemConfig(config: u32) => store_setting(config, LAST_SHARED_CONFIG, |context| &context.shared_config);

    fn cuCtxGetLimit(value: Out<usize>, limit: u32) {
        let (_, context) = current()?;
        value.check()?;
        let found = context.limits.lock().get(&limit).copied();
        value.put(found.ok_or(no_limit(limit))?)
    }

    /// The stack, the output, and the heap of kernels have these limits. The others are stored and returned.
    fn cuCtxSetLimit(limit: u32, value: usize) {
        let (driver, context) = current()?;
        if limit == HEAP_LIMIT {
            let mut heap = context.heap.lock();
            refuse!(INVALID_VALUE if heap.is_used(), "a kernel has used the heap already, so that its size is fixed");
            refuse!(OUT_OF_MEMORY if value as u64 > driver.profile.memory_bytes);
            *heap = Arc::new(Heap::new(value as u64));
        }
        *context.limits.lock().get_mut(&limit).ok_or(no_limit(limit))? = value;
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() => current().map(drop);

    fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) =>
        current().and_then(|_| find::<Context>(peer)).and_then(|_| match flags {
            0 => CuResult::PEER_ACCESS_UNSUPPORTED.err(),
            _ => CuResult::INVALID_VALUE.err(),
        });
    fn cuCtxDisablePeerAccess(peer: Handle) =>
        current().and_then(|_| find::<Context>(peer)).and(CuResult::PEER_ACCESS_NOT_ENABLED.err());
}
