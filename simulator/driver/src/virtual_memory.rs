//! Virtual memory: reserved ranges of addresses, memory without an address, and what of it is mapped where.
//!
//! A reserved range of the device has a range of the host's addresses as well. Memory that is mapped to a part of the one is mapped by the
//! operating system to the same part of the other, so that neighbors are one piece of memory, and memory that is mapped twice is the same
//! memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use simt::{Mapped, Memory, Rights};

use crate::allocations::Lease;
use crate::handles::{Handle, Handles, kind};
use crate::result::{CuResult, Result, refuse};
use crate::shared_memory::{Range, SharedMemory};

/// The unit of the lengths of memory and of mapped addresses.
pub const GRANULARITY: u64 = 2 << 20;

/// Memory without an address of its own (`CUmemGenericAllocationHandle`).
#[derive(Debug)]
pub struct Physical {
    pub handle: Handle,
    pub memory: SharedMemory,
    /// The ways in which the program may share it.
    pub handle_types: u32,
    /// The bytes of the device that it takes, if made here.
    _lease: Option<Lease>,
    /// How often the program may still release it.
    references: Mutex<u32>,
}

/// The object of a handle of memory until the program releases it.
pub struct Retained(pub Arc<Physical>);

// Memory belongs to the device and outlives every context.
kind!(Retained: INVALID_VALUE);

impl Physical {
    /// Makes memory known to the program.
    pub fn register(handles: &Handles, memory: SharedMemory, handle_types: u32, lease: Option<Lease>) -> Handle {
        let handle = handles.reserve();
        let physical = Self { handle, memory, handle_types, _lease: lease, references: Mutex::new(1) };
        handles.insert_at(handle, Retained(Arc::new(physical)));
        handle
    }

    /// Lets the program release the memory once more.
    pub fn retain(self: &Arc<Self>, handles: &Handles) {
        let mut references = self.references.lock();
        if *references == 0 {
            handles.insert_at(self.handle, Retained(self.clone()));
        }
        *references += 1;
    }

    /// Releases the memory. It goes when nothing is mapped to it.
    pub fn release(&self, handles: &Handles) -> Result<()> {
        let mut references = self.references.lock();
        // Another thread may have released it since this one looked it up.
        *references = references.checked_sub(1).ok_or_else(|| CuResult::INVALID_VALUE.because("the memory is released"))?;
        if *references == 0 {
            handles.remove::<Retained>(self.handle)?;
        }
        Ok(())
    }
}

/// All reserved ranges, by first address.
#[derive(Debug)]
pub struct VirtualMemory {
    memory: Arc<Memory>,
    ranges: BTreeMap<u64, Reserved>,
}

#[derive(Debug)]
struct Reserved {
    bytes: u64,
    host: Range,
    /// By first address.
    mappings: BTreeMap<u64, Mapping>,
}

#[derive(Clone, Debug)]
struct Mapping {
    bytes: u64,
    memory: Arc<Physical>,
    rights: Rights,
}

/// The facts about an address of a reserved range.
#[derive(Clone, Debug)]
pub struct Place {
    pub base: u64,
    pub bytes: u64,
    /// The mapping at the address: the memory, and where the mapping starts and how long it is.
    pub mapping: Option<(Arc<Physical>, u64, u64)>,
    pub rights: Rights,
}

impl VirtualMemory {
    pub fn new(memory: Arc<Memory>) -> Self {
        Self { memory, ranges: BTreeMap::new() }
    }

    pub fn reserve(&mut self, bytes: u64, alignment: u64) -> Result<u64> {
        let host = Range::reserve(bytes)?;
        let base = self.memory.reserve(bytes, alignment.max(GRANULARITY));
        self.ranges.insert(base, Reserved { bytes, host, mappings: BTreeMap::new() });
        Ok(base)
    }

    /// Gives addresses back. Nothing may be mapped there.
    pub fn free(&mut self, base: u64, bytes: u64) -> Result<()> {
        let range = self.ranges.get(&base).filter(|range| range.bytes == bytes).ok_or_else(|| {
            CuResult::INVALID_VALUE.because(format!("{bytes} bytes at {base:#x} are not a range that cuMemAddressReserve returned"))
        })?;
        refuse!(INVALID_VALUE if !range.mappings.is_empty(), "the range still has mappings; unmap them first");
        self.memory.forget_reserved(base).wait();
        self.ranges.remove(&base);
        Ok(())
    }

    /// Maps memory. Nothing else may be mapped there. No access is allowed yet.
    pub fn map(&mut self, address: u64, bytes: u64, physical: Arc<Physical>) -> Result<()> {
        refuse!(
            NOT_SUPPORTED if bytes != physical.memory.bytes,
            "memory is mapped as a whole, and this has {} bytes", physical.memory.bytes
        );
        refuse!(INVALID_VALUE if !address.is_multiple_of(GRANULARITY), "the address must be a multiple of {GRANULARITY}");
        let (base, range) = range_of(&mut self.ranges, address, bytes)?;
        refuse!(INVALID_VALUE if !range.is_free(address, bytes), "something is mapped there already; unmap it first");
        range.host.map(address - base, &physical.memory)?;
        range.mappings.insert(address, Mapping { bytes, memory: physical, rights: Rights::None });
        Ok(())
    }

    /// Unmaps whole mappings, if there are any.
    pub fn unmap(&mut self, address: u64, bytes: u64) -> Result<()> {
        let (base, range) = range_of(&mut self.ranges, address, bytes)?;
        if range.is_free(address, bytes) {
            return Ok(());
        }
        let gone = range.whole_mappings(address, bytes)?;
        let mappings: Vec<_> = gone.iter().filter_map(|address| range.mappings.remove(address)).collect();
        range.publish(&self.memory, base, true);
        range.host.unmap(address - base, bytes)?;
        drop(mappings);
        Ok(())
    }

    /// Says what kernels may do with whole mappings.
    pub fn set_rights(&mut self, address: u64, bytes: u64, rights: Rights) -> Result<()> {
        let (base, range) = range_of(&mut self.ranges, address, bytes)?;
        for address in range.whole_mappings(address, bytes)? {
            range.mappings.entry(address).and_modify(|mapping| mapping.rights = rights);
        }
        range.publish(&self.memory, base, false);
        Ok(())
    }

    pub fn at(&self, address: u64) -> Option<Place> {
        let (&base, range) = self.ranges.range(..=address).next_back().filter(|(base, range)| address - **base < range.bytes)?;
        let mapping = range.mappings.range(..=address).next_back().filter(|(start, mapping)| address - **start < mapping.bytes);
        Some(Place {
            base,
            bytes: range.bytes,
            mapping: mapping.map(|(start, mapping)| (mapping.memory.clone(), *start, mapping.bytes)),
            rights: mapping.map_or(Rights::None, |(_, mapping)| mapping.rights),
        })
    }
}

/// Finds the reserved range that contains these addresses.
fn range_of(ranges: &mut BTreeMap<u64, Reserved>, address: u64, bytes: u64) -> Result<(u64, &mut Reserved)> {
    let found = ranges.range_mut(..=address).next_back();
    let fits = |base: u64, range: &Reserved| {
        address.checked_add(bytes).is_some_and(|end| bytes > 0 && address - base < range.bytes && end - base <= range.bytes)
    };
    let found = found.filter(|(base, range)| fits(**base, range)).map(|(base, range)| (*base, range));
    found.ok_or_else(|| CuResult::INVALID_VALUE.because(format!("{bytes} bytes at {address:#x} are not in a reserved range")))
}

impl Reserved {
    /// Returns true if nothing is mapped to any of the bytes.
    fn is_free(&self, address: u64, bytes: u64) -> bool {
        let before_end = self.mappings.range(..address + bytes).next_back();
        before_end.is_none_or(|(start, mapping)| start + mapping.bytes <= address)
    }

    /// Returns the mappings at these addresses, if whole and without a gap.
    fn whole_mappings(&self, address: u64, bytes: u64) -> Result<Vec<u64>> {
        let (mut next, mut found) = (address, Vec::new());
        while next < address + bytes {
            let mapping = self.mappings.get(&next).ok_or_else(|| {
                CuResult::INVALID_VALUE.because(format!("no mapping begins at {next:#x}; only whole mappings can be named"))
            })?;
            found.push(next);
            next += mapping.bytes;
        }
        if next == address + bytes { Ok(found) } else { CuResult::INVALID_VALUE.err() }
    }

    /// Tells kernels what they may access from now on.
    fn publish(&self, memory: &Memory, base: u64, something_goes: bool) {
        let host = self.host.address();
        let mapped = self.mappings.iter().map(|(address, mapping)| Mapped {
            address: *address,
            bytes: mapping.bytes,
            host: host + (address - base),
            rights: mapping.rights,
        });
        let mapped: Vec<Mapped> = mapped.collect();
        // SAFETY: the operating system has mapped memory to all these addresses, which are multiples of 4096, and what is unmapped is
        // waited for. Another process may write the words at the same time only as another GPU's kernel may: every access is atomic.
        let replaced = unsafe { memory.map(base, &mapped) };
        if something_goes {
            replaced.wait();
        }
    }
}
