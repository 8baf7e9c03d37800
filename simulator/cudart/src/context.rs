//! The context that a call works in: what is current on the thread, or else the primary context of the thread's device.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use parking_lot::Mutex;

use crate::driver;
use crate::error::{Code, Result};
use crate::pointer::{Handle, Ptr};

thread_local! {
    /// The device of the thread, by its number.
    static DEVICE: Cell<i32> = const { Cell::new(0) };
}

/// A primary context that this library uses, or used before a reset.
#[derive(Clone, Copy, Debug)]
struct Primary {
    handle: Handle,
    is_reset: bool,
}

/// The primary contexts, by device.
static PRIMARY: Mutex<BTreeMap<i32, Primary>> = Mutex::new(BTreeMap::new());

/// Initializes the driver, once.
pub fn init() -> Result {
    static INITIALIZED: OnceLock<Result> = OnceLock::new();
    *INITIALIZED.get_or_init(|| driver::cuInit(0))
}

/// Makes sure that the thread has a current context.
pub fn ensure() -> Result {
    init()?;
    let current = Ptr::written(driver::cuCtxGetCurrent)?;
    let mut primary = PRIMARY.lock();
    let device = DEVICE.get();
    let known = primary.get(&device).copied();
    // A program that also uses the driver API may have made a context of its own current. A primary context may still be current on a thread
    // although another thread has reset the device.
    let is_gone = known.is_some_and(|known| known.is_reset && known.handle == current);
    if current != 0 && !is_gone {
        return Ok(());
    }
    let handle = retained(&mut primary, device)?;
    driver::cuCtxSetCurrent(handle)
}

/// Returns a device's primary context.
pub fn primary(device: i32) -> Result<Handle> {
    check_device(device)?;
    retained(&mut PRIMARY.lock(), device)
}

fn retained(primary: &mut BTreeMap<i32, Primary>, device: i32) -> Result<Handle> {
    if let Some(&Primary { handle, is_reset: false }) = primary.get(&device) {
        return Ok(handle);
    }
    let handle = Ptr::written(|handle| driver::cuDevicePrimaryCtxRetain(handle, device))?;
    primary.insert(device, Primary { handle, is_reset: false });
    Ok(handle)
}

/// Returns the number of the thread's device.
pub fn device() -> Result<i32> {
    init()?;
    Ok(Ptr::written(driver::cuCtxGetDevice).unwrap_or_else(|_| DEVICE.get()))
}

/// Refuses a number that no device has.
pub fn check_device(device: i32) -> Result {
    init()?;
    driver::cuDeviceGet(Ptr::to(&mut 0), device).map_err(|_| Code::INVALID_DEVICE)
}

/// Refuses a pair of numbers unless there are devices for both.
pub fn check_devices(one: i32, other: i32) -> Result {
    check_device(one)?;
    check_device(other)
}

/// Selects the thread's device, and makes its primary context current.
pub fn set_device(device: i32) -> Result {
    check_device(device)?;
    DEVICE.set(device);
    driver::cuCtxSetCurrent(0)?;
    ensure()
}

/// Destroys the primary context of the thread's device. The next call makes a new one.
pub fn reset() -> Result {
    let device = device()?;
    if let Some(primary) = PRIMARY.lock().get_mut(&device) {
        primary.is_reset = true;
    }
    driver::cuDevicePrimaryCtxReset_v2(device)?;
    driver::cuCtxSetCurrent(0)
}
