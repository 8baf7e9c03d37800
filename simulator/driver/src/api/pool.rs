//! The part of the API that works on [memory pools](crate::pools), where `cuMemAllocAsync` takes its memory from.

use std::sync::atomic::Ordering::Relaxed;

use simt::{Accessed, Accesses};

use super::operation::{Block, Operation, free_graph_memory};
use super::prelude::*;
use super::stream;
use crate::allocations::{MemoryKind, Owned};
use crate::attributes;
use crate::ffi::{MemAccess, MemLocation, PoolProperties};
use crate::pools::Pool;
use crate::shared_memory::{Place, SharedMemory, Token};
use crate::timeline::Task;

/// `CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED`
const POOLS_SUPPORTED: u32 = 115;
/// `CU_MEM_ALLOCATION_TYPE_PINNED`, the only type of memory that can be asked for here.
pub const PINNED: u32 = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`
pub const ON_DEVICE: u32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`
const READ_WRITE: u32 = 3;
/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`
pub const FILE_DESCRIPTOR: u32 = 1;
/// The kind of data of an exported address.
const POOLED: u32 = 3;

fn supported(driver: &'static Driver) -> Result<&'static Driver> {
    let is_supported = attributes::attribute(driver.profile, POOLS_SUPPORTED) == Some(1);
    refuse!(NOT_SUPPORTED if !is_supported, "the profile {} has no memory pools; use cuMemAlloc", driver.profile.name);
    Ok(driver)
}

/// Makes a pool the current one of the device.
fn set(driver: &Driver, pool: Handle) -> Result<()> {
    refuse!(INVALID_VALUE if driver.handles.get::<Pool>(pool)?.is_imported);
    *driver.pools.current.lock() = pool;
    Ok(())
}

/// Returns the driver of a location. Its pools have pinned memory of the device only.
fn of_location(location: In<MemLocation>, kind: u32) -> Result<&'static Driver> {
    let MemLocation { kind: place, id } = location.read()?;
    driver()?;
    refuse!(NOT_SUPPORTED if (place, kind) != (ON_DEVICE, PINNED), "pools of other memory than the device's; use cuMemHostAlloc");
    supported(driver_of(id)?)
}

fn allocate(out: Out<DevicePtr>, bytes: usize, pool: Option<Handle>, stream: Handle) -> Result<()> {
    let (driver, context) = context::current()?;
    supported(driver)?;
    out.check()?;
    stream::any(stream)?;
    let pool = driver.handles.get::<Pool>(pool.unwrap_or(*driver.pools.current.lock()))?;
    refuse!(INVALID_VALUE if pool.is_imported, "a pool of another process allocates nothing here");
    // Unlike `cuMemAlloc`, this accepts a size of 0 and returns null, which can be freed.
    if bytes == 0 {
        return out.put(0);
    }
    let captured = driver.captures.lock().status(stream::key(stream)?);
    if let Some(status) = captured {
        let block = Block::new(driver, bytes, context.handle, status.graph)?;
        stream::submit(stream, Operation::Allocate(block.clone()))?;
        return out.put(block.address);
    }
    stream::admit(stream)?;
    let kind = MemoryKind::Pooled(pool.handle);
    let address = driver.allocations.lock().allocate(bytes, kind, context.handle)?;
    pool.note_allocated(bytes as u64);
    if driver.queues.timeline.is_some() {
        // Work of another stream may use it only after the allocation.
        stream::after(stream, Task::of("cuMemAllocAsync"), move |driver| {
            driver.note_accesses(|| whole(driver, address));
            Ok(())
        })?;
    }
    out.put(address)
}

/// Frees memory, and records that in its pool if it still exists.
pub fn free(driver: &Driver, address: u64, frees: impl Fn(MemoryKind) -> bool) -> Result<()> {
    let is_of_graph = |owned: &Owned| owned.kind == MemoryKind::Graph && owned.base == address;
    if driver.allocations.lock().containing(address).as_ref().is_some_and(is_of_graph) && frees(MemoryKind::Graph) {
        return free_graph_memory(driver, address);
    }
    let freed = driver.allocations.lock().free(address, frees)?;
    if let MemoryKind::Pooled(pool) = freed.kind
        && let Ok(pool) = driver.handles.get::<Pool>(pool)
    {
        pool.note_freed(freed.bytes);
    }
    Ok(())
}

/// Returns all bytes of an allocation, which nothing may use any more.
fn whole(driver: &Driver, address: u64) -> Vec<Accessed> {
    let owned = driver.allocations.lock().containing(address);
    owned.map(|owned| Accessed { address: owned.base, bytes: owned.bytes, accesses: Accesses::WRITTEN }).into_iter().collect()
}

/// Refuses a location that is not on the device. All pools are there.
fn check_location(location: MemLocation) -> Result<()> {
    refuse!(NOT_SUPPORTED if location.kind != ON_DEVICE, "the simulator has memory pools on the device only");
    if location.id == DEVICE { Ok(()) } else { CuResult::INVALID_DEVICE.err() }
}

/// Refuses memory of a kind that no pool can have here.
pub fn check_properties(driver: &'static Driver, properties: &PoolProperties) -> Result<()> {
    supported(driver)?;
    refuse!(INVALID_VALUE if properties.alloc_type != PINNED);
    refuse!(
        NOT_SUPPORTED if properties.handle_types & !FILE_DESCRIPTOR != 0,
        "memory pools can be shared by file descriptors only"
    );
    check_location(properties.location)
}

/// Returns the properties of every pool.
pub fn properties() -> PoolProperties {
    PoolProperties {
        alloc_type: PINNED,
        handle_types: 0,
        location: MemLocation { kind: ON_DEVICE, id: DEVICE },
        win32_security_attributes: 0,
        max_size: 0,
        reserved: [0; 56],
    }
}

exports! {
    fn cuMemAllocAsync(address: Out<DevicePtr>, bytes: usize, stream: Handle) also "_ptsz" =>
        allocate(address, bytes, None, stream);
    fn cuMemAllocFromPoolAsync(address: Out<DevicePtr>, bytes: usize, pool: Handle, stream: Handle) also "_ptsz" =>
        allocate(address, bytes, Some(pool), stream);

    fn cuMemFreeAsync(address: DevicePtr, stream: Handle) also "_ptsz" {
        let (driver, _) = context::current()?;
        supported(driver)?;
        stream::any(stream)?;
        if address == 0 {
            return Ok(());
        }
        if stream::is_capturing(stream)? {
            return stream::submit(stream, Operation::Free(address));
        }
        stream::admit(stream)?;
        if driver.queues.is_late && driver.allocations.lock().containing(address).is_none_or(|owned| owned.base != address) {
            refuse!(INVALID_VALUE);
        }
        // CUDA allows memory from cuMemAlloc here as well.
        let frees = |kind| matches!(kind, MemoryKind::Pooled(_) | MemoryKind::ImportedFromPool(_) | MemoryKind::Device | MemoryKind::Graph);
        stream::after(stream, Task::of("cuMemFreeAsync"), move |driver| {
            driver.note_accesses(|| whole(driver, address));
            free(driver, address, frees)
        })
    }

    fn cuMemPoolCreate(pool: Out<Handle>, properties: In<PoolProperties>) {
        let driver = driver()?;
        pool.check()?;
        let properties = properties.read()?;
        check_properties(driver, &properties)?;
        pool.put(driver.handles.insert(|handle| Pool { handle_types: properties.handle_types, ..Pool::new(handle) }).handle)
    }

    fn cuMemPoolExportToShareableHandle(shareable: Out<i32>, pool: Handle, handle_type: u32, flags: u64) {
        let pool = find::<Pool>(pool)?;
        shareable.check()?;
        refuse!(
            INVALID_VALUE if flags != 0 || handle_type != FILE_DESCRIPTOR || pool.handle_types & handle_type == 0,
            "the pool was not made to be shared in this way"
        );
        shareable.put(pool.export()?)
    }

    /// The program keeps the file descriptor, and closes it.
    fn cuMemPoolImportFromShareableHandle(pool: Out<Handle>, shareable: HostBytes, handle_type: u32, flags: u64) {
        let driver = supported(driver()?)?;
        pool.check()?;
        refuse!(INVALID_VALUE if flags != 0 || handle_type != FILE_DESCRIPTOR);
        let descriptor = shareable.descriptor()?;
        let shared = Mutex::new(Some(SharedMemory::import(descriptor)?));
        let imported = |handle| Pool { handle_types: FILE_DESCRIPTOR, is_imported: true, shared, ..Pool::new(handle) };
        pool.put(driver.handles.insert(imported).handle)
    }

    fn cuMemPoolExportPointer(data: Out<Token>, address: DevicePtr) {
        let (driver, _) = context::current()?;
        data.check()?;
        let shares = |kind| match kind {
            MemoryKind::Pooled(pool) => driver.handles.get::<Pool>(pool).is_ok_and(|pool| pool.handle_types != 0),
            _ => false,
        };
        data.put(driver.allocations.lock().export(address, POOLED, shares)?)
    }

    /// Opens memory of another process. It is freed as if it came from a pool of this process.
    fn cuMemPoolImportPointer(address: Out<DevicePtr>, pool: Handle, data: In<Token>) {
        let (driver, context) = context::current()?;
        address.check()?;
        refuse!(INVALID_VALUE if !driver.handles.get::<Pool>(pool)?.is_imported);
        let place = Place::from_token(&data.read()?).filter(|place| place.kind == POOLED).ok_or(CuResult::INVALID_VALUE)?;
        let kind = MemoryKind::ImportedFromPool(pool);
        address.put(driver.allocations.lock().map_imported(&place, kind, context.handle)?)
    }

    /// Makes the default pool current if this one was. Memory from the pool lives until it is freed.
    fn cuMemPoolDestroy(pool: Handle) {
        let driver = driver()?;
        refuse!(INVALID_VALUE if pool == driver.pools.default);
        driver.handles.remove::<Pool>(pool)?;
        let mut current = driver.pools.current.lock();
        if *current == pool {
            *current = driver.pools.default;
        }
        Ok(())
    }

    fn cuMemPoolTrimTo(pool: Handle, _bytes_to_keep: usize) => find::<Pool>(pool).map(drop);

    /// Attributes 1 to 3 are 32 bits wide, the others 64.
    fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: Out<u64>) {
        let pool = find::<Pool>(pool)?;
        match attribute {
            1..=3 => value.cast::<i32>().put(pool.settings[attribute as usize - 1].load(Relaxed) as i32),
            4 => value.put(pool.settings[3].load(Relaxed)),
            5 | 7 => value.put(pool.used.load(Relaxed)),
            6 | 8 => value.put(pool.used_high.load(Relaxed)),
            _ => CuResult::INVALID_VALUE.err(),
        }
    }

    fn cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: In<i32>) {
        let pool = find::<Pool>(pool)?;
        match attribute {
            1..=3 => pool.settings[attribute as usize - 1].store(value.read()? as u64, Relaxed),
            4 => pool.settings[3].store(value.cast::<u64>().read()?, Relaxed),
            // Setting a high-water mark to 0 resets it to what is used now.
            6 | 8 if value.cast::<u64>().read()? == 0 => pool.used_high.store(pool.used.load(Relaxed), Relaxed),
            _ => refuse!(INVALID_VALUE),
        }
        Ok(())
    }

    fn cuMemPoolSetAccess(pool: Handle, access: In<MemAccess>, count: usize) {
        find::<Pool>(pool)?;
        for access in access.read_all(count)? {
            check_location(access.location)?;
            // The device that has a pool can always read and write it.
            refuse!(INVALID_VALUE if access.flags != READ_WRITE);
        }
        Ok(())
    }

    fn cuMemPoolGetAccess(flags: Out<u32>, pool: Handle, location: In<MemLocation>) {
        find::<Pool>(pool)?;
        check_location(location.read()?)?;
        flags.put(READ_WRITE)
    }

    fn cuDeviceGetDefaultMemPool(pool: Out<Handle>, device: DeviceId) => pool.put(supported(driver_of(device)?)?.pools.default);
    fn cuDeviceGetMemPool(pool: Out<Handle>, device: DeviceId) => pool.put(*supported(driver_of(device)?)?.pools.current.lock());

    fn cuDeviceSetMemPool(device: DeviceId, pool: Handle) => set(supported(driver_of(device)?)?, pool);

    fn cuMemGetDefaultMemPool(pool: Out<Handle>, location: In<MemLocation>, kind: u32) => pool.put(of_location(location, kind)?.pools.default);
    fn cuMemGetMemPool(pool: Out<Handle>, location: In<MemLocation>, kind: u32) => pool.put(*of_location(location, kind)?.pools.current.lock());

    fn cuMemSetMemPool(location: In<MemLocation>, kind: u32, pool: Handle) => of_location(location, kind).and_then(|driver| set(driver, pool));

    fn cuDeviceGraphMemTrim(device: DeviceId) => driver_of(device).map(|driver| driver.graph_memory.lock().trim());

    /// Returns bytes in use or reserved, now or at most.
    fn cuDeviceGetGraphMemAttribute(device: DeviceId, attribute: u32, value: Out<u64>) {
        let levels = driver_of(device)?.graph_memory.lock().levels();
        value.put(*levels.get(attribute as usize).ok_or(CuResult::INVALID_VALUE)?)
    }

    /// Resets a high-water mark.
    fn cuDeviceSetGraphMemAttribute(device: DeviceId, attribute: u32, value: In<u64>) {
        let driver = driver_of(device)?;
        match attribute {
            1 | 3 if value.read()? == 0 => driver.graph_memory.lock().reset_high(attribute as usize / 2),
            _ => refuse!(INVALID_VALUE),
        }
        Ok(())
    }
}
