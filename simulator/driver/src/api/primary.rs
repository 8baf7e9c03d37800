//! The primary context: the one that all libraries of a process share. It exists while someone retains it.

use std::sync::atomic::Ordering::Relaxed;

use super::prelude::*;

fn is_active(driver: &Driver) -> bool {
    driver.handles.get::<Context>(driver.primary).is_ok()
}

/// Releases the primary context once.
pub fn release(device: DeviceId) -> Result<()> {
    let driver = driver_of(device)?;
    let mut retains = driver.primary_retains.lock();
    *retains = retains.checked_sub(1).ok_or(CuResult::INVALID_CONTEXT)?;
    if *retains == 0 {
        context::destroy(driver, driver.primary);
    }
    Ok(())
}

/// Retains the primary context, and makes it if it does not exist.
pub fn retain(driver: &Driver) -> Result<Arc<Context>> {
    let handle = driver.primary;
    let mut retains = driver.primary_retains.lock();
    *retains += 1;
    if !is_active(driver) {
        driver.handles.insert_at(handle, Context::new(handle, driver.primary_flags.load(Relaxed)));
    }
    driver.handles.get(handle)
}

exports! {
    fn cuDevicePrimaryCtxRetain(context: Out<Handle>, device: DeviceId) {
        let driver = driver_of(device)?;
        context.put_made(|| Ok(retain(driver)?.handle))
    }

    fn cuDevicePrimaryCtxRelease_v2 | cuDevicePrimaryCtxRelease(device: DeviceId) => release(device);

    /// The number of retains stays as it is. The next retain makes a new context, without the old one's objects and without its fault.
    fn cuDevicePrimaryCtxReset_v2 | cuDevicePrimaryCtxReset(device: DeviceId) {
        let driver = driver_of(device)?;
        let _retains = driver.primary_retains.lock();
        context::destroy(driver, driver.primary);
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags_v2 | cuDevicePrimaryCtxSetFlags(device: DeviceId, flags: u32) {
        let driver = driver_of(device)?;
        context::check_flags(flags)?;
        driver.primary_flags.store(flags, Relaxed);
        if let Ok(context) = driver.handles.get::<Context>(driver.primary) {
            context.flags.store(flags, Relaxed);
        }
        Ok(())
    }

    fn cuDevicePrimaryCtxGetState(device: DeviceId, flags: Out<u32>, active: Out<i32>) {
        let driver = driver_of(device)?;
        flags.check()?;
        active.put(i32::from(is_active(driver)))?;
        flags.put(driver.primary_flags.load(Relaxed))
    }
}
