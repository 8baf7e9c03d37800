//! The part of the API that works on the [primary context](crate::primary).

use std::sync::atomic::Ordering::Relaxed;

use super::prelude::*;

fn is_active(driver: &Driver) -> bool {
    driver.handles.get::<Context>(driver.primary.handle).is_ok()
}

/// Releases the primary context once.
pub fn release(device: DeviceId) -> Result<()> {
    let driver = driver_of(device)?;
    let mut state = driver.primary.state.lock();
    state.retains = state.retains.checked_sub(1).ok_or(CuResult::INVALID_CONTEXT)?;
    if state.retains == 0 {
        context::destroy(driver, driver.primary.handle);
    }
    Ok(())
}

/// Retains the primary context, and makes it if it does not exist.
pub fn retain(driver: &Driver) -> Result<Arc<Context>> {
    let handle = driver.primary.handle;
    let mut state = driver.primary.state.lock();
    state.retains += 1;
    if !is_active(driver) {
        driver.handles.insert_at(handle, Context::new(handle, state.flags));
    }
    driver.handles.get(handle)
}

exports! {
    fn cuDevicePrimaryCtxRetain(context: Out<Handle>, device: DeviceId) {
        let driver = driver_of(device)?;
        context.check()?;
        context.put(retain(driver)?.handle)
    }

    fn cuDevicePrimaryCtxRelease_v2 | cuDevicePrimaryCtxRelease(device: DeviceId) => release(device);

    /// The number of retains stays as it is. The next retain makes a new context, without the old one's objects and without its fault.
    fn cuDevicePrimaryCtxReset_v2 | cuDevicePrimaryCtxReset(device: DeviceId) {
        let driver = driver_of(device)?;
        let _state = driver.primary.state.lock();
        context::destroy(driver, driver.primary.handle);
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags_v2 | cuDevicePrimaryCtxSetFlags(device: DeviceId, flags: u32) {
        let driver = driver_of(device)?;
        context::check_flags(flags)?;
        driver.primary.state.lock().flags = flags;
        if let Ok(context) = driver.handles.get::<Context>(driver.primary.handle) {
            context.flags.store(flags, Relaxed);
        }
        Ok(())
    }

    fn cuDevicePrimaryCtxGetState(device: DeviceId, flags: Out<u32>, active: Out<i32>) {
        let driver = driver_of(device)?;
        flags.check()?;
        active.put(i32::from(is_active(driver)))?;
        flags.put(driver.primary.state.lock().flags)
    }
}
