//! Memory pools. The structures and the attributes are the driver's.

use std::ffi::c_void;

use crate::context;
use crate::driver::{self, Location};
use crate::error::{Code, Result};
use crate::export::exports;
use crate::pointer::{Handle, Ptr};

/// `cudaMemLocationTypeDevice`
const ON_DEVICE: u32 = 1;

/// Returns the device of a location. Pools of other locations do not exist here.
fn device_at(location: Ptr<Location>) -> Result<i32> {
    match location.read()? {
        Location { kind: ON_DEVICE, id } => context::check_device(id).map(|()| id),
        _ => Err(Code::NOT_SUPPORTED),
    }
}

exports! {
    fn cudaDeviceGetDefaultMemPool(pool: Ptr<Handle>, device: i32) {
        context::check_device(device)?;
        driver::cuDeviceGetDefaultMemPool(pool, device)
    }

    fn cudaDeviceGetMemPool(pool: Ptr<Handle>, device: i32) {
        context::check_device(device)?;
        driver::cuDeviceGetMemPool(pool, device)
    }

    fn cudaDeviceSetMemPool(device: i32, pool: Handle) {
        context::check_device(device)?;
        driver::cuDeviceSetMemPool(device, pool)
    }

    fn cudaMemGetDefaultMemPool(pool: Ptr<Handle>, location: Ptr<Location>, _kind: u32) {
        driver::cuDeviceGetDefaultMemPool(pool, device_at(location)?)
    }

    fn cudaMemGetMemPool(pool: Ptr<Handle>, location: Ptr<Location>, _kind: u32) {
        driver::cuDeviceGetMemPool(pool, device_at(location)?)
    }

    fn cudaMemSetMemPool(location: Ptr<Location>, _kind: u32, pool: Handle) {
        driver::cuDeviceSetMemPool(device_at(location)?, pool)
    }

    fn cudaMemPoolCreate(pool: Ptr<Handle>, properties: Ptr<c_void>) {
        context::ensure()?;
        driver::cuMemPoolCreate(pool, properties)
    }

    fn cudaMemPoolDestroy(pool: Handle) {
        context::ensure()?;
        driver::cuMemPoolDestroy(pool)
    }

    fn cudaMemPoolTrimTo(pool: Handle, bytes_to_keep: usize) {
        context::ensure()?;
        driver::cuMemPoolTrimTo(pool, bytes_to_keep)
    }

    fn cudaMemPoolGetAttribute(pool: Handle, attribute: u32, value: Ptr<c_void>) {
        context::ensure()?;
        driver::cuMemPoolGetAttribute(pool, attribute, value)
    }

    fn cudaMemPoolSetAttribute(pool: Handle, attribute: u32, value: Ptr<c_void>) {
        context::ensure()?;
        driver::cuMemPoolSetAttribute(pool, attribute, value)
    }

    fn cudaMemPoolGetAccess(flags: Ptr<u32>, pool: Handle, location: Ptr<Location>) {
        context::ensure()?;
        driver::cuMemPoolGetAccess(flags, pool, location)
    }

    fn cudaMemPoolSetAccess(pool: Handle, access: Ptr<c_void>, count: usize) {
        context::ensure()?;
        driver::cuMemPoolSetAccess(pool, access, count)
    }
}
