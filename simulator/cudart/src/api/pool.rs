//! Memory pools. The structures and the attributes are the driver's.

use std::ffi::c_void;

use crate::context;
use crate::driver::Location;
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
    forward {
        cudaDeviceGetDefaultMemPool => check_device(device) cuDeviceGetDefaultMemPool(pool: Ptr<Handle>, device: i32);
        cudaDeviceGetMemPool => check_device(device) cuDeviceGetMemPool(pool: Ptr<Handle>, device: i32);
        cudaDeviceSetMemPool => check_device(device) cuDeviceSetMemPool(device: i32, pool: Handle);
        cudaMemPoolCreate => ensure() cuMemPoolCreate(pool: Ptr<Handle>, properties: Ptr<c_void>);
        cudaMemPoolDestroy => ensure() cuMemPoolDestroy(pool: Handle);
        cudaMemPoolTrimTo => ensure() cuMemPoolTrimTo(pool: Handle, bytes_to_keep: usize);
        cudaMemPoolGetAttribute => ensure() cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: Ptr<c_void>);
        cudaMemPoolSetAttribute => ensure() cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: Ptr<c_void>);
        cudaMemPoolGetAccess => ensure() cuMemPoolGetAccess(flags: Ptr<u32>, pool: Handle, location: Ptr<Location>);
        cudaMemPoolSetAccess => ensure() cuMemPoolSetAccess(pool: Handle, access: Ptr<c_void>, count: usize);
    }

    brief {
        cudaMemGetDefaultMemPool(pool: Ptr<Handle>, location: Ptr<Location>, _kind: u32) =>
            cuDeviceGetDefaultMemPool(pool, device_at(location)?);
        cudaMemGetMemPool(pool: Ptr<Handle>, location: Ptr<Location>, _kind: u32) => cuDeviceGetMemPool(pool, device_at(location)?);
        cudaMemSetMemPool(location: Ptr<Location>, _kind: u32, pool: Handle) => cuDeviceSetMemPool(device_at(location)?, pool);
    }
}
