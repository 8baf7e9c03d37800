//! The primary context: the one that all libraries of a process share, alive while someone retains it.

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use crate::context::{self, Context};
use crate::error::{CuResult, Result};
use crate::ffi::{DeviceId, Handle, Out};
use crate::handles::Handles;
use crate::state::{Driver, driver_of, lock};

/// The primary context of the device.
#[derive(Debug)]
pub struct Primary {
    /// The same for the life of the process, however often the context behind it is destroyed and made again.
    pub handle: Handle,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    retains: u32,
    /// What the next context starts with.
    flags: u32,
}

impl Primary {
    /// A primary context that nobody has retained yet.
    pub fn new(handles: &Handles) -> Self {
        Self { handle: handles.reserve(), state: Mutex::default() }
    }
}

fn is_active(driver: &Driver) -> bool {
    driver.handles.get::<Context>(driver.primary.handle).is_ok()
}

fn release(device: DeviceId) -> Result<()> {
    let driver = driver_of(device)?;
    let mut state = lock(&driver.primary.state);
    state.retains = state.retains.checked_sub(1).ok_or(CuResult::INVALID_CONTEXT)?;
    if state.retains == 0 {
        context::destroy(driver, driver.primary.handle);
    }
    Ok(())
}

fn reset(device: DeviceId) -> Result<()> {
    let driver = driver_of(device)?;
    // Those who retain it still hold their retains; the next one makes it anew, without what it held and without its fault.
    let _state = lock(&driver.primary.state);
    context::destroy(driver, driver.primary.handle);
    Ok(())
}

fn set_flags(device: DeviceId, flags: u32) -> Result<()> {
    let driver = driver_of(device)?;
    context::check_flags(flags)?;
    lock(&driver.primary.state).flags = flags;
    if let Ok(context) = driver.handles.get::<Context>(driver.primary.handle) {
        context.flags.store(flags, Relaxed);
    }
    Ok(())
}

crate::exports! {
    fn cuDevicePrimaryCtxRetain(context: Out<Handle>, device: DeviceId) {
        let driver = driver_of(device)?;
        context.check()?;
        let handle = driver.primary.handle;
        let mut state = lock(&driver.primary.state);
        state.retains += 1;
        if !is_active(driver) {
            driver.handles.insert_at(handle, Context::new(handle, state.flags));
        }
        context.put(handle)
    }

    fn cuDevicePrimaryCtxRelease(device: DeviceId) {
        release(device)
    }

    fn cuDevicePrimaryCtxRelease_v2(device: DeviceId) {
        release(device)
    }

    fn cuDevicePrimaryCtxReset(device: DeviceId) {
        reset(device)
    }

    fn cuDevicePrimaryCtxReset_v2(device: DeviceId) {
        reset(device)
    }

    fn cuDevicePrimaryCtxSetFlags(device: DeviceId, flags: u32) {
        set_flags(device, flags)
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: DeviceId, flags: u32) {
        set_flags(device, flags)
    }

    fn cuDevicePrimaryCtxGetState(device: DeviceId, flags: Out<u32>, active: Out<i32>) {
        let driver = driver_of(device)?;
        flags.check()?;
        active.put(i32::from(is_active(driver)))?;
        flags.put(lock(&driver.primary.state).flags)
    }
}
