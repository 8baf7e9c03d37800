//! Asking about an address: which allocation contains it, and what is known about that allocation.

use super::prelude::*;
use super::virtual_memory;
use crate::allocations::{MemoryKind, Owned};

/// `CU_MEMORYTYPE_HOST` and `_DEVICE`
const HOST: u32 = 1;
const ON_DEVICE: u32 = 2;
/// `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`, the only attribute that can be set.
const SYNC_MEMOPS: u32 = 6;

/// Finds the allocation that contains an address. A module's variable is one too, and so is what is mapped to a reserved range.
fn containing(driver: &Driver, address: u64) -> Option<Owned> {
    let mapped = || {
        let (memory, base, bytes) = driver.virtual_memory.lock().at(address)?.mapping?;
        Some(Owned { base, bytes, kind: MemoryKind::Mapped, context: Handle::NULL, id: memory.handle.number() })
    };
    driver.allocations.lock().containing(address).or_else(mapped).or_else(|| {
        let variable = driver.memory.allocation_at(address)?;
        let context = context::current_handle();
        Some(Owned { base: variable.base, bytes: variable.bytes, kind: MemoryKind::Device, context, id: variable.base })
    })
}

/// Writes one attribute of an allocation.
fn put(driver: &Driver, owned: Owned, attribute: u32, address: u64, out: Out<c_void>) -> Result<()> {
    let place = (owned.kind == MemoryKind::Mapped).then(|| driver.virtual_memory.lock().at(address)).flatten();
    match (attribute, &place) {
        // The reserved range, which may be longer than what is mapped.
        (11, Some(place)) => return out.cast::<u64>().put(place.base),
        (12, Some(place)) => return out.cast::<u64>().put(place.bytes),
        (14, Some(place)) => {
            return out.cast::<u64>().put(place.mapping.as_ref().map_or(0, |(memory, ..)| memory.handle_types.into()));
        }
        (16, Some(place)) => return out.cast::<u32>().put(virtual_memory::number(place.rights)),
        _ => {}
    }
    let Owned { base, bytes, kind, context, id } = owned;
    let is_on_host = matches!(kind, MemoryKind::Pinned(_) | MemoryKind::Registered(_));
    let flag = |value: bool| out.cast::<u32>().put(u32::from(value));
    match attribute {
        1 => out.cast::<Handle>().put(context),
        2 => out.cast::<u32>().put(if is_on_host { HOST } else { ON_DEVICE }),
        3 => out.cast::<u64>().put(address),
        4 if is_on_host || kind == MemoryKind::Managed => out.cast::<u64>().put(address),
        4 => {
            out.cast::<u64>().put(0)?;
            CuResult::INVALID_VALUE.err()
        }
        SYNC_MEMOPS => flag(driver.allocations.lock().synchronous(base).unwrap_or(kind == MemoryKind::Managed)),
        7 => out.cast::<u64>().put(id),
        8 => flag(kind == MemoryKind::Managed),
        9 => out.cast::<i32>().put(DEVICE),
        10 => flag(kind == MemoryKind::Device && cfg!(target_os = "linux")),
        11 => out.cast::<u64>().put(base),
        12 => out.cast::<u64>().put(bytes),
        13 => flag(true),
        14 => out.cast::<u64>().put(0),
        15 => flag(false),
        16 => out.cast::<u32>().put(3),
        17 => match kind {
            MemoryKind::Pooled(pool) | MemoryKind::ImportedFromPool(pool) => out.cast::<Handle>().put(pool),
            _ => out.cast::<Handle>().put(Handle::NULL),
        },
        // The mapping that backs the allocation, which is the allocation itself.
        18 => out.cast::<u64>().put(bytes),
        19 => out.cast::<u64>().put(base),
        20 => out.cast::<u64>().put(id),
        _ => CuResult::INVALID_VALUE.err(),
    }
}

/// Writes what `cuPointerGetAttributes` returns for an address that CUDA does not know: the address itself as its host address, -2 as its
/// device, nothing for the extent of the allocation, and 0 for the rest.
fn put_unknown(attribute: u32, address: u64, out: Out<c_void>) -> Result<()> {
    match attribute {
        4 => out.cast::<u64>().put(address),
        11 | 12 => Ok(()),
        1 | 3 | 7 | 14 | 17..=20 => out.cast::<u64>().put(0),
        9 => out.cast::<i32>().put(-2),
        2 | 6 | 8 | 10 | 13 | 15 | 16 => out.cast::<u32>().put(0),
        _ => CuResult::INVALID_VALUE.err(),
    }
}

exports! {
    fn cuPointerGetAttribute(data: Out<c_void>, attribute: u32, address: DevicePtr) {
        // A fault does not change what is known about an address.
        let (driver, _) = context::current_even_if_faulted()?;
        data.check()?;
        put(driver, containing(driver, address).ok_or(CuResult::INVALID_VALUE)?, attribute, address, data)
    }

    /// Returns several attributes, even of an address that CUDA does not know.
    fn cuPointerGetAttributes(count: u32, attributes: In<u32>, data: In<Out<c_void>>, address: DevicePtr) {
        let (driver, _) = context::current()?;
        let found = containing(driver, address);
        for index in 0..count as usize {
            let (attribute, data) = (attributes.read_nth(index)?, data.read_nth(index)?);
            data.check()?;
            match found {
                // An attribute that this kind of memory does not have is 0.
                Some(owned) => put(driver, owned, attribute, address, data).or_else(|_| put_unknown(attribute, 0, data))?,
                None => put_unknown(attribute, address, data)?,
            }
        }
        Ok(())
    }

    fn cuPointerSetAttribute(value: In<u32>, attribute: u32, address: DevicePtr) {
        let (driver, _) = context::current()?;
        let value = value.read()?;
        let Some(owned) = containing(driver, address).filter(|_| attribute == SYNC_MEMOPS) else {
            refuse!(INVALID_VALUE);
        };
        // Every copy is complete when its call returns, so the attribute has no effect but to be read again.
        driver.allocations.lock().set_synchronous(owned.base, value != 0);
        Ok(())
    }

    fn cuMemGetAddressRange_v2(base: Out<DevicePtr>, bytes: Out<usize>, address: DevicePtr) {
        let (driver, _) = context::current()?;
        let owned = containing(driver, address).filter(|owned| !matches!(owned.kind, MemoryKind::Registered(_)));
        let owned = owned.ok_or(CuResult::NOT_FOUND)?;
        base.put_if_asked(owned.base);
        bytes.put_if_asked(owned.bytes as usize);
        Ok(())
    }
}
