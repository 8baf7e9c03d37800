//! The part of the API that works on [memory pools](crate::pools), where `cuMemAllocAsync` takes its memory from.

use std::sync::atomic::Ordering::Relaxed;

use super::context;
use super::stream;
use crate::allocations::MemoryKind;
use crate::attributes;
use crate::driver::{DEVICE, Driver, driver, driver_of};
use crate::export::exports;
use crate::ffi::{DeviceId, DevicePtr, In, MemAccess, MemLocation, Out, PoolProperties};
use crate::handles::Handle;
use crate::pools::Pool;
use crate::result::{CuResult, Result};

/// `CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED`
const POOLS_SUPPORTED: u32 = 115;
/// `CU_MEM_ALLOCATION_TYPE_PINNED`, the only type of memory that a pool can have here.
const PINNED: u32 = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`
const ON_DEVICE: u32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
const READ_WRITE: u32 = 3;

/// Refuses a device that has no memory pools.
fn check_supported(driver: &Driver) -> Result<()> {
    match attributes::attribute(driver.profile, POOLS_SUPPORTED) {
        Some(1) => Ok(()),
        _ => {
            Err(CuResult::NOT_SUPPORTED.because(format!("the profile {} has no memory pools; use cuMemAlloc", driver.profile.name)))
        }
    }
}

fn allocate(out: Out<DevicePtr>, bytes: usize, pool: Option<Handle>, stream: Handle) -> Result<()> {
    let (driver, context) = context::current()?;
    check_supported(driver)?;
    out.check()?;
    stream::any(stream)?;
    let pool = driver.handles.get::<Pool>(pool.unwrap_or(driver.pools.current()))?;
    // Unlike `cuMemAlloc`, this accepts a size of 0 and returns null, which can be freed.
    if bytes == 0 {
        return out.put(0);
    }
    let kind = MemoryKind::Pooled(pool.handle);
    let address = driver.allocations.allocate(&driver.memory, driver.profile.memory_bytes, bytes, kind, context.handle)?;
    pool.note_allocated(bytes as u64);
    out.put(address)
}

/// Records in the pool, if it still exists, that memory was freed.
pub fn note_freed(driver: &Driver, kind: MemoryKind, bytes: u64) {
    if let MemoryKind::Pooled(pool) = kind
        && let Ok(pool) = driver.handles.get::<Pool>(pool)
    {
        pool.note_freed(bytes);
    }
}

/// Refuses a location that is not on the device, the only place where a pool can be.
fn check_location(location: MemLocation) -> Result<()> {
    if location.kind != ON_DEVICE {
        return Err(CuResult::NOT_SUPPORTED.because("the simulator has memory pools on the device only"));
    }
    if location.id == DEVICE { Ok(()) } else { CuResult::INVALID_DEVICE.err() }
}

exports! {
    fn cuMemAllocAsync(address: Out<DevicePtr>, bytes: usize, stream: Handle) {
        allocate(address, bytes, None, stream)
    }

    fn cuMemAllocFromPoolAsync(address: Out<DevicePtr>, bytes: usize, pool: Handle, stream: Handle) {
        allocate(address, bytes, Some(pool), stream)
    }

    fn cuMemFreeAsync(address: DevicePtr, stream: Handle) {
        let (driver, _) = context::current()?;
        check_supported(driver)?;
        stream::any(stream)?;
        if address == 0 {
            return Ok(());
        }
        // CUDA allows memory from cuMemAlloc here as well.
        let frees = |kind| matches!(kind, MemoryKind::Pooled(_) | MemoryKind::Device);
        let freed = driver.allocations.free(&driver.memory, address, frees)?;
        note_freed(driver, freed.kind, freed.bytes);
        Ok(())
    }

    fn cuMemPoolCreate(pool: Out<Handle>, properties: In<PoolProperties>) {
        let driver = driver()?;
        check_supported(driver)?;
        pool.check()?;
        let properties = properties.read()?;
        if properties.alloc_type != PINNED {
            return CuResult::INVALID_VALUE.err();
        }
        if properties.handle_types != 0 {
            return Err(CuResult::NOT_SUPPORTED.because("memory pools cannot be shared between processes"));
        }
        check_location(properties.location)?;
        pool.put(driver.handles.insert(Pool::new).handle)
    }

    fn cuMemPoolDestroy(pool: Handle) {
        let driver = driver()?;
        driver.pools.destroy(&driver.handles, pool)
    }

    fn cuMemPoolTrimTo(pool: Handle, _bytes_to_keep: usize) {
        driver()?.handles.get::<Pool>(pool).map(drop)
    }

    /// Attributes 1 to 3 are 32 bits wide, the others 64.
    fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: Out<u64>) {
        let pool = driver()?.handles.get::<Pool>(pool)?;
        match attribute {
            1..=3 => value.cast::<i32>().put(pool.settings[attribute as usize - 1].load(Relaxed) as i32),
            4 => value.put(pool.settings[3].load(Relaxed)),
            5 | 7 => value.put(pool.used.load(Relaxed)),
            6 | 8 => value.put(pool.used_high.load(Relaxed)),
            _ => CuResult::INVALID_VALUE.err(),
        }
    }

    fn cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: In<i32>) {
        let pool = driver()?.handles.get::<Pool>(pool)?;
        match attribute {
            1..=3 => pool.settings[attribute as usize - 1].store(value.read()? as u64, Relaxed),
            4 => pool.settings[3].store(value.cast::<u64>().read()?, Relaxed),
            // Setting a high-water mark to 0 resets it to what is used now.
            6 | 8 if value.cast::<u64>().read()? == 0 => pool.used_high.store(pool.used.load(Relaxed), Relaxed),
            _ => return CuResult::INVALID_VALUE.err(),
        }
        Ok(())
    }

    fn cuMemPoolSetAccess(pool: Handle, access: In<MemAccess>, count: usize) {
        driver()?.handles.get::<Pool>(pool)?;
        for index in 0..count {
            let access = access.read_nth(index)?;
            check_location(access.location)?;
            // The device that has a pool can always read and write it.
            if access.flags != READ_WRITE {
                return CuResult::INVALID_VALUE.err();
            }
        }
        Ok(())
    }

    fn cuMemPoolGetAccess(flags: Out<u32>, pool: Handle, location: In<MemLocation>) {
        driver()?.handles.get::<Pool>(pool)?;
        check_location(location.read()?)?;
        flags.put(READ_WRITE)
    }

    fn cuDeviceGetDefaultMemPool(pool: Out<Handle>, device: DeviceId) {
        let driver = driver_of(device)?;
        check_supported(driver)?;
        pool.put(driver.pools.default)
    }

    fn cuDeviceGetMemPool(pool: Out<Handle>, device: DeviceId) {
        let driver = driver_of(device)?;
        check_supported(driver)?;
        pool.put(driver.pools.current())
    }

    fn cuDeviceSetMemPool(device: DeviceId, pool: Handle) {
        let driver = driver_of(device)?;
        check_supported(driver)?;
        driver.pools.set_current(&driver.handles, pool)
    }
}
