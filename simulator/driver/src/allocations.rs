//! Who owns which memory, and of what kind it is. The bytes are in [`simt::Memory`]; what CUDA knows of them besides is here.

use std::collections::BTreeMap;
use std::sync::Mutex;

use simt::Memory;

use crate::error::{CuResult, Result};
use crate::ffi::Handle;
use crate::state::lock;

/// All allocations that a program made.
#[derive(Debug, Default)]
pub struct Allocations {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// By first address.
    owned: BTreeMap<u64, Owned>,
    /// Bytes that count against the device's memory.
    device_bytes: u64,
    made: u64,
}

/// One allocation.
#[derive(Clone, Copy, Debug)]
pub struct Owned {
    pub base: u64,
    pub bytes: u64,
    pub kind: MemoryKind,
    /// The context that it goes with.
    pub context: Handle,
    /// Different for every allocation that the process ever made (`CU_POINTER_ATTRIBUTE_BUFFER_ID`).
    pub id: u64,
}

/// Where memory lies and how it came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// On the device.
    Device,
    /// On the device, from a pool.
    Pooled(Handle),
    /// On the host, allocated so that the device can reach it, with the flags of `cuMemHostAlloc`.
    Pinned(u32),
    /// Wherever it is used.
    Managed,
    /// On the host, the program's own, registered with these flags.
    Registered(u32),
}

impl MemoryKind {
    fn is_on_device(self) -> bool {
        matches!(self, MemoryKind::Device | MemoryKind::Pooled(_) | MemoryKind::Managed)
    }
}

impl Allocations {
    /// Allocates `bytes` bytes of a device that has `capacity` bytes in all.
    pub fn allocate(&self, memory: &Memory, capacity: u64, bytes: usize, kind: MemoryKind, context: Handle) -> Result<u64> {
        let bytes = bytes as u64;
        if bytes == 0 {
            return CuResult::INVALID_VALUE.err();
        }
        let mut table = lock(&self.table);
        let free = capacity.saturating_sub(table.device_bytes);
        if kind.is_on_device() && bytes > free {
            return Err(
                CuResult::OUT_OF_MEMORY.because(format!("{bytes} bytes asked, {free} of the device's {capacity} bytes free"))
            );
        }
        let base = match kind {
            MemoryKind::Device | MemoryKind::Pooled(_) => memory.allocate(bytes, None)?,
            MemoryKind::Pinned(_) | MemoryKind::Managed => memory.allocate_host_visible(bytes, None)?,
            MemoryKind::Registered(_) => return CuResult::INVALID_VALUE.err(),
        };
        table.insert(base, bytes, kind, context);
        Ok(base)
    }

    /// Lets the device reach memory of the program's own.
    ///
    /// # Safety
    ///
    /// As for [`Memory::adopt`]; that the range holds no allocation yet is found out here.
    pub unsafe fn register(&self, memory: &Memory, base: u64, bytes: usize, flags: u32, context: Handle) -> Result<()> {
        let mut table = lock(&self.table);
        let before_end = table.owned.range(..base.saturating_add(bytes as u64)).next_back();
        match before_end.map(|(_, owned)| *owned).filter(|owned| owned.base + owned.bytes > base) {
            None => {}
            Some(Owned { kind: MemoryKind::Registered(_), .. }) => return CuResult::HOST_MEMORY_ALREADY_REGISTERED.err(),
            // Memory that CUDA allocated is pinned as it is.
            Some(_) => return CuResult::INVALID_VALUE.err(),
        }
        // SAFETY: passed on to the caller, and no allocation lies in the range.
        unsafe { memory.adopt(base, bytes as u64) };
        table.insert(base, bytes as u64, MemoryKind::Registered(flags), context);
        Ok(())
    }

    /// Frees the allocation that starts at `base`, if it is of a kind that the caller frees.
    pub fn free(&self, memory: &Memory, base: u64, frees: impl FnOnce(MemoryKind) -> bool) -> Result<Owned> {
        let mut table = lock(&self.table);
        let owned = *table.owned.get(&base).filter(|owned| frees(owned.kind)).ok_or_else(|| {
            CuResult::INVALID_VALUE.because(format!("{base:#x} is not the start of a live allocation that this function frees"))
        })?;
        table.remove(memory, owned);
        Ok(owned)
    }

    /// Frees all that belongs to a context.
    pub fn free_context(&self, memory: &Memory, context: Handle) {
        self.free_all(memory, |owned| owned.context == context);
    }

    /// Frees every allocation for which `gone` holds.
    pub fn free_all(&self, memory: &Memory, mut gone: impl FnMut(&Owned) -> bool) {
        let mut table = lock(&self.table);
        let gone: Vec<Owned> = table.owned.values().copied().filter(|owned| gone(owned)).collect();
        for owned in gone {
            table.remove(memory, owned);
        }
    }

    /// The allocation that holds an address.
    pub fn holding(&self, address: u64) -> Option<Owned> {
        let table = lock(&self.table);
        let (_, owned) = table.owned.range(..=address).next_back()?;
        (address - owned.base < owned.bytes).then_some(*owned)
    }

    /// Bytes of the device that are allocated.
    pub fn device_bytes(&self) -> u64 {
        lock(&self.table).device_bytes
    }
}

impl Table {
    fn insert(&mut self, base: u64, bytes: u64, kind: MemoryKind, context: Handle) {
        self.made += 1;
        if kind.is_on_device() {
            self.device_bytes += bytes;
        }
        self.owned.insert(base, Owned { base, bytes, kind, context, id: self.made });
    }

    fn remove(&mut self, memory: &Memory, owned: Owned) {
        self.owned.remove(&owned.base);
        if owned.kind.is_on_device() {
            self.device_bytes -= owned.bytes;
        }
        // Every allocation was made in `memory` and is freed there by nobody else.
        let _ = memory.free(owned.base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Handle = Handle(16);

    #[test]
    fn the_device_has_no_more_than_its_capacity() {
        let (memory, allocations) = (Memory::new(u64::MAX), Allocations::default());
        let allocate = |bytes, kind| allocations.allocate(&memory, 1000, bytes, kind, CONTEXT);
        let first = allocate(900, MemoryKind::Device).unwrap();
        assert_eq!(allocate(101, MemoryKind::Managed).unwrap_err().code, CuResult::OUT_OF_MEMORY);
        allocate(5000, MemoryKind::Pinned(0)).expect("memory of the host is not the device's");
        allocations.free(&memory, first, |kind| kind == MemoryKind::Device).unwrap();
        allocate(1000, MemoryKind::Device).unwrap();
    }

    #[test]
    fn memory_is_freed_once_by_its_start_and_by_the_right_function() {
        let (memory, allocations) = (Memory::new(u64::MAX), Allocations::default());
        let base = allocations.allocate(&memory, 1000, 100, MemoryKind::Device, CONTEXT).unwrap();
        let free = |address, kind| allocations.free(&memory, address, |found| found == kind).map(drop);
        assert!(free(base + 4, MemoryKind::Device).is_err());
        assert!(free(base, MemoryKind::Managed).is_err());
        assert!(free(base, MemoryKind::Device).is_ok());
        assert!(free(base, MemoryKind::Device).is_err());
        assert_eq!(allocations.device_bytes(), 0);
    }

    #[test]
    fn an_address_finds_the_allocation_that_holds_it() {
        let (memory, allocations) = (Memory::new(u64::MAX), Allocations::default());
        let base = allocations.allocate(&memory, 1000, 100, MemoryKind::Device, CONTEXT).unwrap();
        assert_eq!(allocations.holding(base + 99).unwrap().base, base);
        assert!(allocations.holding(base + 100).is_none());
        allocations.free_context(&memory, CONTEXT);
        assert!(allocations.holding(base).is_none());
    }

    #[test]
    fn host_memory_is_registered_once() {
        let (memory, allocations) = (Memory::new(u64::MAX), Allocations::default());
        let mut own = vec![0u32; 48];
        let base = own.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: the vector lives longer than `memory` is used, and no kernel runs.
        let register = |offset| unsafe { allocations.register(&memory, base + offset, 64, 0, CONTEXT) };
        register(0).unwrap();
        assert_eq!(register(32).unwrap_err().code, CuResult::HOST_MEMORY_ALREADY_REGISTERED);
        register(64).unwrap();
        allocations.free_context(&memory, CONTEXT);
        register(32).expect("free again");
    }
}
