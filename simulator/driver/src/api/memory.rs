//! Allocating and freeing device memory, and host memory that the device can access.

use super::pool;
use super::prelude::*;
use super::stream;
use crate::advice::{Advice, HOST, NOWHERE};
use crate::allocations::{MemoryKind, Owned};
use crate::ffi::MemLocation;
use crate::host_memory;
use crate::position::Awaited;

/// The alignment of rows in pitched memory, as of every allocation.
const PITCH_ALIGNMENT: usize = 512;
/// `CU_MEM_ATTACH_GLOBAL`, `_HOST` and `_SINGLE`
const ATTACH_GLOBAL: u32 = 1;
const ATTACH_HOST: u32 = 2;
const ATTACH_SINGLE: u32 = 4;
/// `CU_MEMHOSTALLOC_PORTABLE`, `_DEVICEMAP` and `_WRITECOMBINED`
const HOST_ALLOC_FLAGS: u32 = 1 | DEVICE_MAP | 4;
/// Accessible to the device, as all such memory is in any case.
const DEVICE_MAP: u32 = 2;
/// `CU_MEMHOSTREGISTER_PORTABLE`, `_DEVICEMAP`, `_IOMEMORY` and `_READ_ONLY`
const REGISTER_FLAGS: u32 = 1 | DEVICE_MAP | 4 | 8;
/// The flags that need no feature that this device lacks.
const REGISTER_SUPPORTED: u32 = 1 | DEVICE_MAP;

fn allocate(bytes: usize, kind: MemoryKind) -> Result<u64> {
    let (driver, context) = context::current()?;
    driver.captures.lock().check_safe()?;
    driver.allocations.lock().allocate(bytes, kind, context.handle)
}

fn free(address: u64, frees: impl Fn(MemoryKind) -> bool) -> Result<()> {
    let (driver, context) = context::current()?;
    driver.captures.lock().check_safe()?;
    context::wait(driver, &context, Awaited::Context(context.handle))?;
    pool::free(driver, address, frees)
}

fn allocate_host(out: Out<*mut c_void>, bytes: usize, flags: u32) -> Result<()> {
    context::current()?;
    out.check()?;
    refuse!(INVALID_VALUE if flags & !HOST_ALLOC_FLAGS != 0);
    if bytes == 0 {
        return out.put(std::ptr::null_mut());
    }
    let address = allocate(bytes, MemoryKind::Pinned(flags | DEVICE_MAP))?;
    out.put(std::ptr::with_exposed_provenance_mut(address as usize))
}

/// Refuses a range that is not in managed memory. Nothing ever needs to move, because there is only one copy of the bytes.
fn check_managed(driver: &Driver, address: DevicePtr, bytes: usize) -> Result<()> {
    match driver.allocations.lock().containing(address).filter(|owned| owned.kind == MemoryKind::Managed) {
        Some(owned) if bytes as u64 <= owned.base + owned.bytes - address && bytes > 0 => Ok(()),
        _ => CuResult::INVALID_VALUE.err(),
    }
}

/// Refuses a location that managed memory cannot move to. It can move to the device (1), or to the host as a whole or in part (2 to 4).
fn check_location(location: MemLocation) -> Result<()> {
    match location {
        MemLocation { kind: 1, id } => driver_of(id).map(drop),
        MemLocation { kind: 2..=4, .. } => Ok(()),
        _ => CuResult::INVALID_VALUE.err(),
    }
}

/// Returns the location that a device number means; -1 is the host.
fn location_of(device: DeviceId) -> MemLocation {
    if device == -1 { MemLocation { kind: 2, id: 0 } } else { MemLocation { kind: 1, id: device } }
}

fn advise(address: DevicePtr, bytes: usize, advice: u32, location: MemLocation) -> Result<()> {
    let (driver, _) = context::current()?;
    check_managed(driver, address, bytes)?;
    // Mostly read or not, and no preferred location: the location does not matter.
    if matches!(advice, 3 | 5 | 6) {
        check_location(location)?;
    }
    let place = place_of(location);
    let change = |page: &mut Advice| match advice {
        1 | 2 => page.read_mostly = advice == 1,
        3 => page.preferred = place,
        4 => page.preferred = NOWHERE,
        5 => _ = page.accessed_by.insert(place),
        _ => _ = page.accessed_by.remove(&place),
    };
    refuse!(INVALID_VALUE if !matches!(advice, 1..=6));
    driver.advice.lock().change(address, bytes as u64, change);
    Ok(())
}

/// Returns a location as a number: a device, or the host.
fn place_of(location: MemLocation) -> i32 {
    if location.kind == 1 { location.id } else { HOST }
}

/// Says what holds for a range of managed memory: `CU_MEM_RANGE_ATTRIBUTE_…`
fn range_attribute(data: Out<i32>, data_bytes: usize, attribute: u32, address: DevicePtr, bytes: usize) -> Result<()> {
    let (driver, _) = context::current()?;
    data.check()?;
    check_managed(driver, address, bytes)?;
    let advice = driver.advice.lock().of(address, bytes as u64);
    let kind_of = |place| match place {
        NOWHERE => 0,
        HOST => 2,
        _ => 1,
    };
    let values = match attribute {
        1 => vec![i32::from(advice.read_mostly)],
        2 | 6 => vec![advice.preferred],
        3 => {
            // The devices, then the host, and nothing in the rest.
            let (host, devices): (Vec<i32>, Vec<i32>) = advice.accessed_by.into_iter().partition(|place| *place == HOST);
            devices.into_iter().chain(host).chain(std::iter::repeat(NOWHERE)).take(data_bytes / 4).collect()
        }
        4 | 8 => vec![advice.prefetched],
        5 => vec![kind_of(advice.preferred)],
        7 => vec![kind_of(advice.prefetched)],
        _ => refuse!(INVALID_VALUE),
    };
    refuse!(INVALID_VALUE if data_bytes == 0 || !data_bytes.is_multiple_of(4) || (attribute != 3 && data_bytes != 4));
    values.into_iter().enumerate().try_for_each(|(index, value)| data.nth(index).put(value))
}

fn prefetch(address: DevicePtr, bytes: usize, location: MemLocation, stream: Handle) -> Result<()> {
    let (driver, _) = context::current()?;
    stream::any(stream)?;
    check_managed(driver, address, bytes)?;
    check_location(location)?;
    stream::check_not_capturing(stream)?;
    driver.advice.lock().change(address, bytes as u64, |advice| advice.prefetched = place_of(location));
    Ok(())
}

exports! {
    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let (driver, _) = context::current()?;
        free.check()?;
        total.put(driver.profile.memory_bytes as usize)?;
        free.put(driver.usable_bytes.saturating_sub(driver.allocations.lock().all_bytes()) as usize)
    }

    fn cuMemAlloc_v2(address: Out<DevicePtr>, bytes: usize) =>
        context::current().and_then(|_| address.put_made(|| allocate(bytes, MemoryKind::Device)));

    fn cuMemAllocPitch_v2(address: Out<DevicePtr>, pitch: Out<usize>, width: usize, height: usize, element_bytes: u32) {
        context::current()?;
        address.check()?;
        pitch.check()?;
        refuse!(INVALID_VALUE if !matches!(element_bytes, 4 | 8 | 16));
        let row = width.checked_next_multiple_of(PITCH_ALIGNMENT).ok_or(CuResult::OUT_OF_MEMORY)?;
        let bytes = row.checked_mul(height).ok_or(CuResult::OUT_OF_MEMORY)?;
        address.put(allocate(bytes, MemoryKind::Device)?)?;
        pitch.put(row)
    }

    /// Freeing null does nothing.
    fn cuMemFree_v2(address: DevicePtr) {
        if address == 0 {
            return context::current().map(drop);
        }
        free(address, |kind| matches!(kind, MemoryKind::Device | MemoryKind::Pooled(_) | MemoryKind::ImportedFromPool(_) | MemoryKind::Graph | MemoryKind::Managed))
    }

    fn cuMemAllocHost_v2(address: Out<*mut c_void>, bytes: usize) => allocate_host(address, bytes, 0);
    fn cuMemHostAlloc(address: Out<*mut c_void>, bytes: usize, flags: u32) => allocate_host(address, bytes, flags);

    /// Freeing null does nothing.
    fn cuMemFreeHost(address: HostBytes) {
        if address.is_null() {
            return context::current().map(drop);
        }
        free(address.address(), |kind| matches!(kind, MemoryKind::Pinned(_)))
    }

    /// Returns the same address: host memory that the device can access has one address for both.
    fn cuMemHostGetDevicePointer_v2(device: Out<DevicePtr>, host: HostBytes, flags: u32) {
        let (driver, _) = context::current()?;
        device.check()?;
        let accessible = driver.allocations.lock().containing(host.address()).filter(|owned| matches!(owned.kind, MemoryKind::Pinned(_) | MemoryKind::Registered(_)));
        refuse!(INVALID_VALUE if flags != 0 || accessible.is_none());
        device.put(host.address())
    }

    fn cuMemHostGetFlags(flags: Out<u32>, host: HostBytes) {
        let (driver, _) = context::current()?;
        match driver.allocations.lock().containing(host.address()).map(|owned| owned.kind) {
            Some(MemoryKind::Pinned(given) | MemoryKind::Registered(given)) => flags.put(given),
            _ => CuResult::INVALID_VALUE.err(),
        }
    }

    /// Lets kernels access the memory at the program's own address. CUDA demands that it stay allocated until it is unregistered. If it
    /// does not, a GPU keeps using the old pages; here the kernel's access is an access of this process to freed memory.
    fn cuMemHostRegister_v2 | cuMemHostRegister(host: HostBytes, bytes: usize, flags: u32) {
        let (driver, context) = context::current()?;
        refuse!(INVALID_VALUE if host.is_null() || bytes == 0 || flags & !REGISTER_FLAGS != 0);
        refuse!(
            NOT_SUPPORTED if flags & !REGISTER_SUPPORTED != 0,
            "memory of other devices and read-only memory cannot be registered"
        );
        let address = host.address();
        refuse!(
            NOT_SUPPORTED if !address.is_multiple_of(4),
            "memory at {address:#x} cannot be registered: the simulated device needs an address that is a multiple of 4"
        );
        refuse!(
            INVALID_VALUE if !host_memory::is_writable(address, bytes as u64),
            "not all of the {bytes} bytes at {address:#x} are memory that this process can write"
        );
        driver.captures.lock().check_safe()?;
        // SAFETY: the range starts at a multiple of 4, as checked above. The C caller promises, because CUDA demands it, that the range is
        // its own memory, that the memory stays allocated until it is unregistered, and that nobody else writes it while a kernel uses it.
        unsafe { driver.allocations.lock().register(address, bytes, flags, context.handle) }
    }

    fn cuMemHostUnregister(host: HostBytes) {
        let (driver, _) = context::current()?;
        driver.captures.lock().check_safe()?;
        let unregisters = |kind| matches!(kind, MemoryKind::Registered(_));
        let freed = driver.allocations.lock().free(host.address(), unregisters);
        freed.map(drop).map_err(|failure| match driver.allocations.lock().containing(host.address()) {
            // Inside of registered memory, but not at its start.
            Some(Owned { kind: MemoryKind::Registered(_), .. }) => failure,
            _ => CuResult::HOST_MEMORY_NOT_REGISTERED.into(),
        })
    }

    fn cuMemAllocManaged(address: Out<DevicePtr>, bytes: usize, flags: u32) {
        let (driver, _) = context::current()?;
        address.check()?;
        refuse!(INVALID_VALUE if !matches!(flags, ATTACH_GLOBAL | ATTACH_HOST));
        refuse!(
            NOT_SUPPORTED if driver.profile.compute_capability < (3, 0),
            "the profile {} has no managed memory; use cuMemAlloc and copy", driver.profile.name
        );
        let place = allocate(bytes, MemoryKind::Managed)?;
        driver.advice.lock().forget(place, bytes as u64);
        address.put(place)
    }

    /// Says which stream uses managed memory. It has no effect here, because every operation is done before its call returns.
    fn cuStreamAttachMemAsync(handle: Handle, address: DevicePtr, bytes: usize, flags: u32) also "_ptsz" {
        let (driver, _) = context::current()?;
        let stream = stream::any(handle)?;
        if !matches!(flags, ATTACH_GLOBAL | ATTACH_HOST | ATTACH_SINGLE) || (flags == ATTACH_SINGLE && stream.is_none()) {
            refuse!(INVALID_VALUE);
        }
        match driver.allocations.lock().containing(address) {
            Some(owned) if owned.kind == MemoryKind::Managed && owned.base == address && [0, owned.bytes].contains(&(bytes as u64)) => {
                stream::check_not_capturing(handle)
            }
            _ => CuResult::INVALID_VALUE.err(),
        }
    }

    fn cuMemAdvise(address: DevicePtr, bytes: usize, advice: u32, device: DeviceId) =>
        advise(address, bytes, advice, location_of(device));
    fn cuMemAdvise_v2(address: DevicePtr, bytes: usize, advice: u32, location: MemLocation) =>
        advise(address, bytes, advice, location);
    fn cuMemRangeGetAttribute(data: Out<i32>, data_bytes: usize, attribute: u32, address: DevicePtr, bytes: usize) =>
        range_attribute(data, data_bytes, attribute, address, bytes);

    fn cuMemRangeGetAttributes(
        data: In<Out<i32>>, data_bytes: In<usize>, attributes: In<u32>, count: usize, address: DevicePtr, bytes: usize,
    ) {
        refuse!(INVALID_VALUE if count == 0);
        for index in 0..count {
            let (data, data_bytes) = (data.read_nth(index)?, data_bytes.read_nth(index)?);
            range_attribute(data, data_bytes, attributes.read_nth(index)?, address, bytes)?;
        }
        Ok(())
    }

    fn cuMemPrefetchAsync(address: DevicePtr, bytes: usize, device: DeviceId, stream: Handle) also "_ptsz" =>
        prefetch(address, bytes, location_of(device), stream);

    fn cuMemPrefetchAsync_v2(address: DevicePtr, bytes: usize, location: MemLocation, flags: u32, stream: Handle) also "_ptsz" {
        driver()?;
        refuse!(INVALID_VALUE if flags != 0);
        prefetch(address, bytes, location, stream)
    }

    /// Each place holds from its start in the list of ranges.
    fn cuMemPrefetchBatchAsync(
        addresses: In<DevicePtr>, sizes: In<usize>, count: usize, places: In<MemLocation>, starts: In<usize>, place_count: usize, flags: u64,
        stream: Handle,
    ) also "_ptsz" {
        driver()?;
        refuse!(INVALID_VALUE if flags != 0 || count == 0 || place_count == 0 || place_count > count);
        let starts = starts.read_all(place_count)?;
        refuse!(INVALID_VALUE if starts[0] != 0 || !starts.is_sorted_by(|before, after| before < after) || starts[place_count - 1] >= count);
        for index in 0..count {
            let place = starts.partition_point(|&start| start <= index) - 1;
            prefetch(addresses.read_nth(index)?, sizes.read_nth(index)?, places.read_nth(place)?, stream)?;
        }
        Ok(())
    }
}
