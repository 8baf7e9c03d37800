//! Contexts, the stack of current ones, and errors that stick.
//!
//! A kernel that faults leaves its context unusable, as on a GPU: the launch itself has returned success by then, and every later call
//! in that context returns the fault until the context is destroyed or the primary context reset. A GPU goes further: after most
//! faults all contexts of the process are unusable, new ones too. Here the others go on, so that a test of one kernel cannot fail the
//! next.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

use crate::error::{CuResult, Failure, Result};
use crate::ffi::{DeviceId, Handle, In, Out};
use crate::state::{DEVICE, Driver, driver, driver_of, lock};

/// Flags that a context can have: how the host waits, mapped memory, local memory, core dumps, synchronous copies.
const KNOWN_FLAGS: u32 = 0xff;
/// The highest of the values of `CUfunc_cache` and of `CUsharedconfig`.
const LAST_CACHE_CONFIG: u32 = 3;
const LAST_SHARED_CONFIG: u32 = 2;

/// The highest number of `CUlimit` in CUDA 12.
const LAST_LIMIT: u32 = 9;

/// The limits that a context has here, by their numbers in `CUlimit`, with the values that it starts with.
const LIMITS: [(u32, usize); 7] = [
    (0, 1024),    // stack of a thread
    (1, 1 << 20), // printf buffer
    (2, 8 << 20), // heap of malloc in kernels
    (3, 2),       // depth of synchronisation on the device
    (4, 2048),    // launches pending on the device
    (5, 64),      // L2 fetch granularity
    (6, 0),       // L2 set aside for persisting accesses
];

/// A context.
#[derive(Debug)]
pub struct Context {
    pub handle: Handle,
    pub flags: AtomicU32,
    /// The fault of a kernel, once there was one.
    fault: OnceLock<Failure>,
    limits: Mutex<BTreeMap<u32, usize>>,
    cache_config: AtomicU32,
    shared_config: AtomicU32,
}

impl Context {
    pub fn new(handle: Handle, flags: u32) -> Self {
        Self {
            handle,
            flags: AtomicU32::new(flags),
            fault: OnceLock::new(),
            limits: Mutex::new(LIMITS.into()),
            cache_config: AtomicU32::new(0),
            shared_config: AtomicU32::new(0),
        }
    }

    /// Makes the context unusable. The first fault stays: what comes after it may be its consequence.
    pub fn fail(&self, failure: Failure) {
        let _ = self.fault.set(failure);
    }

    /// Refuses a context that a kernel's fault left unusable.
    pub fn check(&self) -> Result<()> {
        self.fault.get().cloned().map_or(Ok(()), Err)
    }
}

thread_local! {
    /// This thread's contexts; the last is current.
    static STACK: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

/// Token of the current context, null when there is none. The context may have been destroyed.
pub fn current_handle() -> Handle {
    STACK.with_borrow(|stack| stack.last().copied().unwrap_or(Handle::NULL))
}

/// A context that a program names to work in it. The primary context can be named while nobody retains it, and then be used as little
/// as one that was destroyed.
fn check_nameable(driver: &Driver, handle: Handle) -> Result<()> {
    match handle {
        Handle::NULL => CuResult::INVALID_VALUE.err(),
        handle if handle == driver.primary.handle => Ok(()),
        handle => driver.handles.get::<Context>(handle).map(drop),
    }
}

/// The current context, whether or not a fault left it unusable.
pub fn current_even_if_faulted() -> Result<(&'static Driver, Arc<Context>)> {
    let driver = driver()?;
    match current_handle() {
        Handle::NULL => CuResult::INVALID_CONTEXT.err(),
        handle => {
            let context = driver.handles.get::<Context>(handle).map_err(|_| CuResult::CONTEXT_IS_DESTROYED)?;
            Ok((driver, context))
        }
    }
}

/// The current context, for a function that works in it.
pub fn current() -> Result<(&'static Driver, Arc<Context>)> {
    let (driver, context) = current_even_if_faulted()?;
    context.check()?;
    Ok((driver, context))
}

/// Destroys what belongs to a context, and the context.
pub fn destroy(driver: &Driver, context: Handle) {
    driver.handles.remove_context(context);
    driver.allocations.free_context(&driver.memory, context);
}

fn set_current(handle: Handle) {
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        if handle != Handle::NULL {
            stack.push(handle);
        }
    });
}

fn create(out: Out<Handle>, flags: u32, device: DeviceId) -> Result<()> {
    let driver = driver_of(device)?;
    out.check()?;
    check_flags(flags)?;
    let context = driver.handles.insert(|handle| Context::new(handle, flags));
    STACK.with_borrow_mut(|stack| stack.push(context.handle));
    out.put(context.handle)
}

/// Refuses flags that do not exist, and two ways to wait at once.
pub fn check_flags(flags: u32) -> Result<()> {
    let ways_to_wait = (flags & 7).count_ones();
    if flags & !KNOWN_FLAGS != 0 || ways_to_wait > 1 { CuResult::INVALID_VALUE.err() } else { Ok(()) }
}

/// Why a context has no such limit.
fn no_limit(limit: u32) -> CuResult {
    if limit > LAST_LIMIT { CuResult::INVALID_VALUE } else { CuResult::UNSUPPORTED_LIMIT }
}

fn put_setting(out: Out<u32>, setting: impl FnOnce(&Context) -> &AtomicU32) -> Result<()> {
    let (_, context) = current()?;
    out.put(setting(&context).load(Relaxed))
}

fn store_setting(value: u32, last: u32, setting: impl FnOnce(&Context) -> &AtomicU32) -> Result<()> {
    let (_, context) = current()?;
    if value > last {
        return CuResult::INVALID_VALUE.err();
    }
    setting(&context).store(value, Relaxed);
    Ok(())
}

/// A context argument of which null means the current one.
fn context_or_current(handle: Handle) -> Result<Arc<Context>> {
    match handle {
        Handle::NULL => Ok(current_even_if_faulted()?.1),
        handle => driver()?.handles.get(handle),
    }
}

crate::exports! {
    fn cuCtxCreate_v2(context: Out<Handle>, flags: u32, device: DeviceId) {
        create(context, flags, device)
    }

    /// Execution affinity, the right to a part of the multiprocessors, needs MPS; there is none here.
    fn cuCtxCreate_v3(context: Out<Handle>, affinity: In<u64>, affinity_count: i32, flags: u32, device: DeviceId) {
        driver_of(device)?;
        if affinity_count != 0 || !affinity.is_null() {
            return CuResult::UNSUPPORTED_EXEC_AFFINITY.err();
        }
        create(context, flags, device)
    }

    /// `parameters` asks for execution affinity or for sharing with a graphics API, neither of which is here.
    fn cuCtxCreate_v4(context: Out<Handle>, parameters: In<[usize; 3]>, flags: u32, device: DeviceId) {
        driver_of(device)?;
        if !parameters.is_null() && parameters.read()? != [0; 3] {
            return CuResult::NOT_SUPPORTED.err();
        }
        create(context, flags, device)
    }

    fn cuCtxDestroy_v2(handle: Handle) {
        let driver = driver()?;
        check_nameable(driver, handle)?;
        if handle == driver.primary.handle {
            return Err(CuResult::INVALID_CONTEXT.because("the primary context is released, not destroyed"));
        }
        destroy(driver, handle);
        if current_handle() == handle {
            STACK.with_borrow_mut(Vec::pop);
        }
        Ok(())
    }

    fn cuCtxPushCurrent_v2(handle: Handle) {
        check_nameable(driver()?, handle)?;
        STACK.with_borrow_mut(|stack| stack.push(handle));
        Ok(())
    }

    fn cuCtxPopCurrent_v2(popped: Out<Handle>) {
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
        set_current(handle);
        Ok(())
    }

    fn cuCtxGetCurrent(handle: Out<Handle>) {
        driver()?;
        handle.put(current_handle())
    }

    /// The device is known of a primary context that nobody retains, too.
    fn cuCtxGetDevice(device: Out<DeviceId>) {
        if current_handle() != driver()?.primary.handle {
            current_even_if_faulted()?;
        }
        device.put(DEVICE)
    }

    fn cuCtxGetDevice_v2(device: Out<DeviceId>, context: Handle) {
        context_or_current(context)?;
        device.put(DEVICE)
    }

    fn cuCtxGetFlags(flags: Out<u32>) {
        let (_, context) = current_even_if_faulted()?;
        flags.put(context.flags.load(Relaxed))
    }

    fn cuCtxSetFlags(flags: u32) {
        check_flags(flags)?;
        store_setting(flags, KNOWN_FLAGS, |context| &context.flags)
    }

    fn cuCtxGetId(context: Handle, id: Out<u64>) {
        let context = context_or_current(context)?;
        id.put(context.handle.0 as u64)
    }

    fn cuCtxGetApiVersion(context: Handle, version: Out<u32>) {
        context_or_current(context)?;
        // The version of the context interface, which is not that of the driver.
        version.put(3020)
    }

    fn cuCtxSynchronize() {
        current().map(drop)
    }

    fn cuCtxSynchronize_v2(context: Handle) {
        context_or_current(context)?.check()
    }

    fn cuCtxGetCacheConfig(config: Out<u32>) {
        put_setting(config, |context| &context.cache_config)
    }

    /// A preference, which a driver may leave unheeded, as this one does.
    fn cuCtxSetCacheConfig(config: u32) {
        store_setting(config, LAST_CACHE_CONFIG, |context| &context.cache_config)
    }

    fn cuCtxGetSharedMemConfig(config: Out<u32>) {
        put_setting(config, |context| &context.shared_config)
    }

    /// Only Kepler could change the width of its banks; elsewhere the setting is taken and has no effect.
    fn cuCtxSetSharedMemConfig(config: u32) {
        store_setting(config, LAST_SHARED_CONFIG, |context| &context.shared_config)
    }

    fn cuCtxGetLimit(value: Out<usize>, limit: u32) {
        let (_, context) = current()?;
        value.check()?;
        let found = lock(&context.limits).get(&limit).copied();
        value.put(found.ok_or(no_limit(limit))?)
    }

    /// Limits are kept and given back; the simulator's own memory does not depend on them.
    fn cuCtxSetLimit(limit: u32, value: usize) {
        let (_, context) = current()?;
        *lock(&context.limits).get_mut(&limit).ok_or(no_limit(limit))? = value;
        Ok(())
    }

    fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        current()?;
        least.put_if_asked(crate::stream::LEAST_PRIORITY);
        greatest.put_if_asked(crate::stream::GREATEST_PRIORITY);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        current().map(drop)
    }

    fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) {
        let (driver, _) = current()?;
        driver.handles.get::<Context>(peer)?;
        if flags != 0 { CuResult::INVALID_VALUE.err() } else { CuResult::PEER_ACCESS_UNSUPPORTED.err() }
    }

    fn cuCtxDisablePeerAccess(peer: Handle) {
        let (driver, _) = current()?;
        driver.handles.get::<Context>(peer)?;
        CuResult::PEER_ACCESS_NOT_ENABLED.err()
    }
}
