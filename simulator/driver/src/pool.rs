//! Memory pools: where `cuMemAllocAsync` takes its memory from.
//!
//! A pool here keeps nothing back: what is freed is free at once. Its attributes are kept and given back.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::allocations::MemoryKind;
use crate::attributes;
use crate::context;
use crate::error::{CuResult, Result};
use crate::ffi::{DevicePtr, Handle, In, MemAccess, MemLocation, Out, PoolProperties};
use crate::handles::Handles;
use crate::state::{DEVICE, Driver, driver};
use crate::stream;

/// `CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED`
const POOLS_SUPPORTED: u32 = 115;
/// `CU_MEM_ALLOCATION_TYPE_PINNED`, the only type of memory that a pool can hold here.
const PINNED: u32 = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`
const ON_DEVICE: u32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
const READ_WRITE: u32 = 3;

/// The pools of the device.
#[derive(Debug)]
pub struct Pools {
    /// The pool that is there from the start and cannot be destroyed.
    pub default: Handle,
    /// Token of the pool that `cuMemAllocAsync` uses.
    current: AtomicUsize,
}

/// A pool.
#[derive(Debug)]
pub struct Pool {
    handle: Handle,
    /// Values of attributes 1 to 4, whose meaning does not matter where nothing is kept back: three rules of reuse, and the bytes to
    /// hold before giving memory back.
    settings: [AtomicU64; 4],
    used: AtomicU64,
    used_high: AtomicU64,
}

impl Pool {
    fn new(handle: Handle) -> Self {
        let settings = [1, 1, 1, 0].map(AtomicU64::new);
        Self { handle, settings, used: AtomicU64::new(0), used_high: AtomicU64::new(0) }
    }

    fn note_allocated(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        self.used_high.fetch_max(used, Relaxed);
    }
}

impl Pools {
    /// The default pool alone.
    pub fn new(handles: &Handles) -> Self {
        let default = handles.insert(Pool::new).handle;
        Self { default, current: AtomicUsize::new(default.0) }
    }

    /// The pool that `cuMemAllocAsync` uses.
    pub fn current(&self) -> Handle {
        Handle(self.current.load(Relaxed))
    }

    /// Makes `cuMemAllocAsync` use a pool.
    pub fn set_current(&self, handles: &Handles, pool: Handle) -> Result<()> {
        handles.get::<Pool>(pool)?;
        self.current.store(pool.0, Relaxed);
        Ok(())
    }
}

/// Refuses a device that has no memory pools.
pub fn check_supported(driver: &Driver) -> Result<()> {
    match attributes::attribute(driver.profile, POOLS_SUPPORTED) {
        Some(1) => Ok(()),
        _ => CuResult::NOT_SUPPORTED.err(),
    }
}

fn allocate(out: Out<DevicePtr>, bytes: usize, pool: Option<Handle>, on: Handle) -> Result<()> {
    let (driver, context) = context::current()?;
    check_supported(driver)?;
    out.check()?;
    stream::any(on)?;
    let pool = driver.handles.get::<Pool>(pool.unwrap_or(driver.pools.current()))?;
    // Unlike `cuMemAlloc`, this takes nothing for a size, and gives null for it, which can be freed.
    if bytes == 0 {
        return out.put(0);
    }
    let kind = MemoryKind::Pooled(pool.handle);
    let address = driver.allocations.allocate(&driver.memory, driver.profile.memory_bytes, bytes, kind, context.handle)?;
    pool.note_allocated(bytes as u64);
    out.put(address)
}

/// Whether an access or a pool is on the device; the only place where one can be.
fn check_location(location: MemLocation) -> Result<()> {
    if location.kind != ON_DEVICE {
        return CuResult::NOT_SUPPORTED.err();
    }
    if location.id == DEVICE { Ok(()) } else { CuResult::INVALID_DEVICE.err() }
}

crate::exports! {
    fn cuMemAllocAsync(address: Out<DevicePtr>, bytes: usize, on: Handle) {
        allocate(address, bytes, None, on)
    }

    fn cuMemAllocFromPoolAsync(address: Out<DevicePtr>, bytes: usize, pool: Handle, on: Handle) {
        allocate(address, bytes, Some(pool), on)
    }

    fn cuMemFreeAsync(address: DevicePtr, on: Handle) {
        let (driver, _) = context::current()?;
        check_supported(driver)?;
        stream::any(on)?;
        if address == 0 {
            return Ok(());
        }
        // Memory of cuMemAlloc may be freed in the order of a stream as well.
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

    /// Memory from the pool stays until it is freed.
    fn cuMemPoolDestroy(pool: Handle) {
        let driver = driver()?;
        if pool == driver.pools.default {
            return CuResult::INVALID_VALUE.err();
        }
        driver.handles.remove::<Pool>(pool)?;
        // The device goes back to the pool that it had at first.
        let _ = driver.pools.current.compare_exchange(pool.0, driver.pools.default.0, Relaxed, Relaxed);
        Ok(())
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
            // A high-water mark can be put back to what is used now, which is asked for by 0.
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
            // The device that holds a pool always reads and writes it.
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
}

/// Notes in the pool, if it is still there, that memory came back to it.
pub fn note_freed(driver: &Driver, kind: MemoryKind, bytes: u64) {
    if let MemoryKind::Pooled(pool) = kind
        && let Ok(pool) = driver.handles.get::<Pool>(pool)
    {
        pool.used.fetch_sub(bytes, Relaxed);
    }
}
