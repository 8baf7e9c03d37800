//! Virtual memory management: the part of the API that reserves addresses, makes memory, and maps the one to the other.

use simt::Rights;

use super::pool::{FILE_DESCRIPTOR, ON_DEVICE, PINNED};
use super::prelude::*;
use crate::ffi::{MemAccess, MemLocation, MemoryProperties};
use crate::shared_memory::SharedMemory;
use crate::virtual_memory::{GRANULARITY, Physical, Retained};

/// The page of the host, which reserved addresses are multiples of.
const HOST_PAGE: u64 = 4096;

fn check_supported(driver: &Driver) -> Result<()> {
    refuse!(
        NOT_SUPPORTED if crate::attributes::attribute(driver.profile, 102) != Some(1),
        "the profile {} has no virtual memory management here; allocate with cuMemAlloc", driver.profile.name
    );
    Ok(())
}

fn check_location(location: MemLocation) -> Result<()> {
    match location.kind {
        ON_DEVICE => driver_of(location.id).map(drop),
        // The host as a whole, or one of its nodes.
        2..=4 => Err(CuResult::NOT_SUPPORTED.because("the simulator maps memory of the device only; use cuMemHostAlloc")),
        _ => CuResult::INVALID_VALUE.err(),
    }
}

/// Refuses memory of a kind that does not exist here.
fn check_properties(properties: &MemoryProperties) -> Result<()> {
    refuse!(INVALID_VALUE if properties.kind != PINNED || properties.win32_meta_data != 0);
    check_location(properties.location)?;
    refuse!(NOT_SUPPORTED if properties.handle_types & !FILE_DESCRIPTOR != 0, "memory can be shared by file descriptors only");
    refuse!(
        NOT_SUPPORTED if properties.usage != 0,
        "there are no sparse arrays; make memory without CU_MEM_CREATE_USAGE_TILE_POOL"
    );
    Ok(())
}

/// Refuses flags, of which there are none yet.
fn check_flags(flags: u64) -> Result<&'static Driver> {
    let driver = driver()?;
    check_supported(driver)?;
    if flags == 0 { Ok(driver) } else { CuResult::INVALID_VALUE.err() }
}

fn memory(driver: &Driver, handle: u64) -> Result<std::sync::Arc<Physical>> {
    Ok(driver.handles.get::<Retained>(Handle::from_number(handle))?.0.clone())
}

exports! {
    /// The hint for the address is not taken: a driver may choose another one, and this one always does.
    fn cuMemAddressReserve(address: Out<DevicePtr>, bytes: usize, alignment: usize, hint: DevicePtr, flags: u64) {
        let driver = check_flags(flags)?;
        address.check()?;
        let (bytes, alignment) = (bytes as u64, alignment as u64);
        let is_aligned = bytes.is_multiple_of(HOST_PAGE) && hint.is_multiple_of(HOST_PAGE);
        if bytes == 0 || !is_aligned || (alignment != 0 && !alignment.is_power_of_two()) || alignment > 1 << 40 {
            refuse!(INVALID_VALUE);
        }
        address.put(driver.virtual_memory.lock().reserve(bytes, alignment)?)
    }

    fn cuMemAddressFree(address: DevicePtr, bytes: usize) => check_flags(0)?.virtual_memory.lock().free(address, bytes as u64);

    fn cuMemCreate(handle: Out<u64>, bytes: usize, properties: In<MemoryProperties>, flags: u64) {
        let driver = check_flags(flags)?;
        handle.check()?;
        let properties = properties.read()?;
        check_properties(&properties)?;
        refuse!(
            INVALID_VALUE if bytes == 0 || !(bytes as u64).is_multiple_of(GRANULARITY),
            "the length must be a multiple of {GRANULARITY}"
        );
        let lease = driver.allocations.lock().take_bytes(bytes as u64)?;
        let memory = SharedMemory::create(bytes as u64)?;
        handle.put(Physical::register(&driver.handles, memory, properties.handle_types, Some(lease)).number())
    }

    fn cuMemRelease(handle: u64) {
        let driver = check_flags(0)?;
        memory(driver, handle)?.release(&driver.handles)
    }

    fn cuMemMap(address: DevicePtr, bytes: usize, offset: usize, handle: u64, flags: u64) {
        let driver = check_flags(flags)?;
        refuse!(NOT_SUPPORTED if offset != 0, "memory is mapped as a whole");
        driver.virtual_memory.lock().map(address, bytes as u64, memory(driver, handle)?)
    }

    fn cuMemUnmap(address: DevicePtr, bytes: usize) => check_flags(0)?.virtual_memory.lock().unmap(address, bytes as u64);

    fn cuMemSetAccess(address: DevicePtr, bytes: usize, access: In<MemAccess>, count: usize) {
        let driver = check_flags(0)?;
        refuse!(INVALID_VALUE if count == 0);
        let mut rights = Rights::None;
        for MemAccess { location, flags } in access.read_all(count)? {
            check_location(location)?;
            rights = match flags {
                0 => Rights::None,
                1 => Rights::Read,
                3 => Rights::ReadWrite,
                _ => refuse!(INVALID_VALUE),
            };
        }
        driver.virtual_memory.lock().set_rights(address, bytes as u64, rights)
    }

    fn cuMemGetAccess(flags: Out<u64>, location: In<MemLocation>, address: DevicePtr) {
        let driver = check_flags(0)?;
        flags.check()?;
        check_location(location.read()?)?;
        let place = driver.virtual_memory.lock().at(address).filter(|place| place.mapping.is_some());
        flags.put(u64::from(number(place.ok_or(CuResult::INVALID_VALUE)?.rights)))
    }

    fn cuMemGetAllocationGranularity(granularity: Out<usize>, properties: In<MemoryProperties>, option: u32) {
        check_flags(0)?;
        granularity.check()?;
        check_properties(&properties.read()?)?;
        // The least one, and the recommended one.
        refuse!(INVALID_VALUE if option > 1);
        granularity.put(GRANULARITY as usize)
    }

    fn cuMemGetAllocationPropertiesFromHandle(properties: Out<MemoryProperties>, handle: u64) {
        let driver = check_flags(0)?;
        let handle_types = memory(driver, handle)?.handle_types;
        let location = MemLocation { kind: ON_DEVICE, id: DEVICE };
        properties.put(MemoryProperties { kind: PINNED, handle_types, location, ..MemoryProperties::default() })
    }

    fn cuMemRetainAllocationHandle(handle: Out<u64>, address: DevicePtr) {
        let driver = check_flags(0)?;
        handle.check()?;
        let place = driver.virtual_memory.lock().at(address).and_then(|place| place.mapping);
        let (memory, ..) = place.ok_or_else(|| CuResult::INVALID_VALUE.because(format!("nothing is mapped at {address:#x}")))?;
        memory.retain(&driver.handles);
        handle.put(memory.handle.number())
    }

    fn cuMemExportToShareableHandle(shareable: Out<i32>, handle: u64, handle_type: u32, flags: u64) {
        let driver = check_flags(flags)?;
        shareable.check()?;
        let memory = memory(driver, handle)?;
        refuse!(
            INVALID_VALUE if handle_type != FILE_DESCRIPTOR || memory.handle_types & handle_type == 0,
            "the memory was not made to be shared in this way"
        );
        shareable.put(memory.memory.export()?)
    }

    /// The program keeps the file descriptor, and closes it.
    fn cuMemImportFromShareableHandle(handle: Out<u64>, shareable: HostBytes, handle_type: u32) {
        let driver = check_flags(0)?;
        handle.check()?;
        refuse!(NOT_SUPPORTED if handle_type != FILE_DESCRIPTOR, "memory can be shared by file descriptors only");
        let memory = SharedMemory::import(shareable.descriptor()?)?;
        handle.put(Physical::register(&driver.handles, memory, FILE_DESCRIPTOR, None).number())
    }
}

/// `CUmemAccess_flags`
pub fn number(rights: Rights) -> u32 {
    match rights {
        Rights::None => 0,
        Rights::Read => 1,
        Rights::ReadWrite => 3,
    }
}
