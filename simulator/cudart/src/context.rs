//! The context that a call works in: what is current on the thread, or else the primary context of the thread's device.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::driver;
use crate::error::{Code, Result};
use crate::pointer::{Handle, Ptr};

thread_local! {
    /// The device of the thread, by its number.
    static DEVICE: Cell<i32> = const { Cell::new(0) };
}

/// The primary contexts that this library uses, by device.
static PRIMARY: Mutex<BTreeMap<i32, Handle>> = Mutex::new(BTreeMap::new());

/// Locks, even if another thread panicked meanwhile: what is guarded here is complete after every statement.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Initializes the driver, once.
pub fn init() -> Result {
    static INITIALIZED: OnceLock<Result> = OnceLock::new();
    *INITIALIZED.get_or_init(|| driver::cuInit(0))
}

/// Makes sure that the thread has a current context.
pub fn ensure() -> Result {
    init()?;
    let mut current = 0;
    driver::cuCtxGetCurrent(Ptr::to(&mut current))?;
    let mut primary = lock(&PRIMARY);
    let device = DEVICE.get();
    // A program that also uses the driver API may have made a context of its own current. After a reset, the primary context is gone, even
    // if it is still current on a thread.
    let is_own = current != 0 && !is_gone(device, &primary)?;
    if is_own {
        return Ok(());
    }
    let context = match primary.get(&device) {
        Some(&context) => context,
        None => {
            let mut context = 0;
            driver::cuDevicePrimaryCtxRetain(Ptr::to(&mut context), device)?;
            primary.insert(device, context);
            context
        }
    };
    driver::cuCtxSetCurrent(context)
}

/// Whether a device was reset and not used since.
fn is_gone(device: i32, primary: &BTreeMap<i32, Handle>) -> Result<bool> {
    if primary.contains_key(&device) {
        return Ok(false);
    }
    let (mut flags, mut active) = (0, 0);
    driver::cuDevicePrimaryCtxGetState(device, Ptr::to(&mut flags), Ptr::to(&mut active))?;
    Ok(active == 0)
}

/// Returns the number of the thread's device.
pub fn device() -> Result<i32> {
    init()?;
    let mut device = 0;
    let current = driver::cuCtxGetDevice(Ptr::to(&mut device));
    Ok(if current.is_ok() { device } else { DEVICE.get() })
}

/// Refuses a number that no device has.
pub fn check_device(device: i32) -> Result {
    init()?;
    driver::cuDeviceGet(Ptr::to(&mut 0), device).map_err(|_| Code::INVALID_DEVICE)
}

/// Makes a device the thread's own, and its primary context the current one.
pub fn set_device(device: i32) -> Result {
    check_device(device)?;
    DEVICE.set(device);
    driver::cuCtxSetCurrent(0)?;
    ensure()
}

/// Destroys the primary context of the thread's device. The next call makes a new one.
pub fn reset() -> Result {
    let device = device()?;
    lock(&PRIMARY).remove(&device);
    driver::cuDevicePrimaryCtxReset_v2(device)?;
    driver::cuCtxSetCurrent(0)
}
