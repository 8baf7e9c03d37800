//! Allocations: who owns which memory, and of what kind it is. [`simt::Memory`] has the bytes; this module has what CUDA knows about them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use simt::Memory;

use crate::handles::Handle;
use crate::host_memory;
use crate::result::{CuResult, Result, refuse};
use crate::shared_memory::{Mapping, Place, SharedMemory, Token};

#[derive(Debug)]
pub struct Allocations {
    memory: Arc<Memory>,
    capacity: u64,
    /// By first address.
    owned: BTreeMap<u64, Owned>,
    /// The program's wish for synchronous copies, by an allocation's first address. A module's variables are not in `owned`, but may be in
    /// here.
    synchronous: BTreeMap<u64, bool>,
    /// The memory of allocations shared with other processes, by first address.
    shared: BTreeMap<u64, Shared>,
    /// Bytes that count against the device's memory.
    device_bytes: u64,
    /// The same for memory without an address.
    leased: Arc<AtomicU64>,
    /// Allocations made so far, freed ones included.
    made: u64,
}

/// Bytes of the device in use as long as this exists.
#[derive(Debug)]
pub struct Lease {
    bytes: u64,
    leased: Arc<AtomicU64>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leased.fetch_sub(self.bytes, Relaxed);
    }
}

/// The memory of an allocation that is shared with other processes.
#[derive(Debug)]
struct Shared {
    memory: SharedMemory,
    /// Where this process has it. It goes with the allocation, when no launch uses it any more.
    _mapping: Mapping,
    /// How often memory of another process was opened.
    opened: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Owned {
    pub base: u64,
    pub bytes: u64,
    pub kind: MemoryKind,
    /// The context that it is freed with.
    pub context: Handle,
    /// Different for every allocation of the process (`CU_POINTER_ATTRIBUTE_BUFFER_ID`).
    pub id: u64,
}

/// Where memory is and how it was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// On the device.
    Device,
    /// On the device, from a pool.
    Pooled(Handle),
    /// On the device, for an allocation node of a graph.
    Graph,
    /// On the host and accessible to the device, with flags of `cuMemHostAlloc`.
    Pinned(u32),
    /// Managed: on the device and on the host.
    Managed,
    /// The program's own memory on the host, registered with these flags.
    Registered(u32),
    /// On the device, allocated by another process with `cuMemAlloc`.
    Imported,
    /// On the device, allocated by another process from this imported pool.
    ImportedFromPool(Handle),
    /// On the device, mapped into a reserved range of addresses.
    Mapped,
}

impl MemoryKind {
    /// Returns true if the host can access it.
    pub fn is_on_host(self) -> bool {
        matches!(self, MemoryKind::Pinned(_) | MemoryKind::Registered(_) | MemoryKind::Managed)
    }

    fn is_on_device(self) -> bool {
        matches!(self, MemoryKind::Device | MemoryKind::Pooled(_) | MemoryKind::Graph | MemoryKind::Managed)
    }
}

impl Allocations {
    pub fn new(memory: Arc<Memory>, capacity: u64) -> Self {
        Self {
            memory,
            capacity,
            owned: BTreeMap::new(),
            synchronous: BTreeMap::new(),
            shared: BTreeMap::new(),
            device_bytes: 0,
            leased: Arc::default(),
            made: 0,
        }
    }

    pub fn allocate(&mut self, bytes: usize, kind: MemoryKind, context: Handle) -> Result<u64> {
        let bytes = bytes as u64;
        refuse!(INVALID_VALUE if bytes == 0);
        if kind.is_on_device() {
            self.check_free(bytes)?;
        } else if let Some(machine) = host_memory::physical_bytes()
            && bytes > machine
        {
            // A system that promises more memory than it has would agree.
            return Err(CuResult::OUT_OF_MEMORY.because(format!("{bytes} bytes requested, the machine has {machine}")));
        }
        let label = self.next_label(kind);
        let base = match kind {
            MemoryKind::Device | MemoryKind::Pooled(_) | MemoryKind::Graph => self.memory.allocate(bytes, Some(&label))?,
            MemoryKind::Pinned(_) | MemoryKind::Managed => self.memory.allocate_host_visible(bytes, Some(&label))?,
            MemoryKind::Registered(_) | MemoryKind::Imported | MemoryKind::ImportedFromPool(_) | MemoryKind::Mapped => {
                refuse!(INVALID_VALUE);
            }
        };
        self.insert(base, bytes, kind, context);
        Ok(base)
    }

    /// Lets the device access the program's own memory.
    ///
    /// # Safety
    ///
    /// The caller upholds what [`Memory::adopt`] demands of the range, except that no allocation may overlap it: this function checks that.
    pub unsafe fn register(&mut self, base: u64, bytes: usize, flags: u32, context: Handle) -> Result<()> {
        let before_end = self.owned.range(..base.saturating_add(bytes as u64)).next_back();
        match before_end.map(|(_, owned)| *owned).filter(|owned| owned.base + owned.bytes > base) {
            None => {}
            Some(Owned { kind: MemoryKind::Registered(_), .. }) => refuse!(HOST_MEMORY_ALREADY_REGISTERED),
            // Memory that CUDA allocated is already pinned.
            Some(_) => refuse!(INVALID_VALUE),
        }
        let label = self.next_label(MemoryKind::Registered(flags));
        // SAFETY: the caller upholds what `Memory::adopt` demands of the range, and the check above found no allocation that overlaps it.
        unsafe { self.memory.adopt(base, bytes as u64, Some(&label)) };
        self.insert(base, bytes as u64, MemoryKind::Registered(flags), context);
        Ok(())
    }

    /// Returns what another process needs to open the allocation that contains `address`. The first time, this moves its bytes to memory
    /// that can be shared. Its address stays.
    pub fn export(&mut self, address: u64, kind: u32, shares: impl FnOnce(MemoryKind) -> bool) -> Result<Token> {
        let Owned { base, bytes, .. } = self.containing(address).filter(|owned| shares(owned.kind)).ok_or_else(|| {
            CuResult::INVALID_VALUE.because(format!("{address:#x} is not in memory that this function can share"))
        })?;
        if let Some(shared) = self.shared.get(&base) {
            return shared.memory.token(kind);
        }
        let shared = SharedMemory::create(bytes)?;
        let (token, mapping) = (shared.token(kind)?, Mapping::new(&shared)?);
        // SAFETY: the mapping is in the table from now on, which drops it after it has freed the allocation. Another process may write the
        // words at the same time only as another GPU's kernel may: every access is atomic.
        unsafe { self.memory.relocate(base, mapping.address())? };
        self.shared.insert(base, Shared { memory: shared, _mapping: mapping, opened: 0 });
        Ok(token)
    }

    /// Opens memory of another process. Opened again in the same context, it has the same address.
    pub fn open(&mut self, place: &Place, context: Handle) -> Result<u64> {
        let Self { owned, shared, .. } = self;
        let is_open = |base: &u64, shared: &Shared| {
            shared.memory.inode().is_ok_and(|inode| inode == place.inode)
                && owned.get(base).is_some_and(|owned| owned.kind == MemoryKind::Imported && owned.context == context)
        };
        if let Some((base, shared)) = shared.iter_mut().find(|(base, shared)| is_open(base, shared)) {
            shared.opened += 1;
            return Ok(*base);
        }
        self.map_imported(place, MemoryKind::Imported, context)
    }

    /// Opens memory of another process at an address of its own.
    pub fn map_imported(&mut self, place: &Place, kind: MemoryKind, context: Handle) -> Result<u64> {
        let shared = SharedMemory::of_token(place)?;
        let mapping = Mapping::new(&shared)?;
        let label = self.next_label(kind);
        // SAFETY: the mapping is in the table from now on, which drops it after it has freed the allocation. Another process may write the
        // words at the same time only as another GPU's kernel may: every access is atomic.
        let base = unsafe { self.memory.lend(mapping.address(), shared.bytes, Some(&label)) };
        self.insert(base, shared.bytes, kind, context);
        self.shared.insert(base, Shared { memory: shared, _mapping: mapping, opened: 1 });
        Ok(base)
    }

    /// Closes memory of another process that was opened at this address. It goes if it was not opened more often.
    pub fn close(&mut self, base: u64) -> Result<()> {
        let owned = self.owned.get(&base).copied().filter(|owned| owned.kind == MemoryKind::Imported);
        let (Some(owned), Some(shared)) = (owned, self.shared.get_mut(&base)) else {
            refuse!(INVALID_VALUE, "{base:#x} was not returned by cuIpcOpenMemHandle");
        };
        shared.opened -= 1;
        if shared.opened == 0 {
            self.remove(owned);
        }
        Ok(())
    }

    /// Frees the allocation that starts at `base`, if `frees` accepts its kind.
    pub fn free(&mut self, base: u64, frees: impl FnOnce(MemoryKind) -> bool) -> Result<Owned> {
        let owned = *self.owned.get(&base).filter(|owned| frees(owned.kind)).ok_or_else(|| {
            CuResult::INVALID_VALUE.because(format!("{base:#x} is not the start of a live allocation that this function can free"))
        })?;
        self.remove(owned);
        Ok(owned)
    }

    pub fn free_context(&mut self, context: Handle) {
        let gone: Vec<Owned> = self.owned.values().copied().filter(|owned| owned.context == context).collect();
        for owned in gone {
            self.remove(owned);
        }
    }

    pub fn containing(&self, address: u64) -> Option<Owned> {
        let (_, owned) = self.owned.range(..=address).next_back()?;
        (address - owned.base < owned.bytes).then_some(*owned)
    }

    /// Returns `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS` of the allocation at `base`, as last set.
    pub fn synchronous(&self, base: u64) -> Option<bool> {
        self.synchronous.get(&base).copied()
    }

    pub fn set_synchronous(&mut self, base: u64, synchronous: bool) {
        self.synchronous.insert(base, synchronous);
    }

    /// Takes bytes of the device for memory that has no address yet.
    pub fn take_bytes(&self, bytes: u64) -> Result<Lease> {
        self.check_free(bytes)?;
        self.leased.fetch_add(bytes, Relaxed);
        Ok(Lease { bytes, leased: self.leased.clone() })
    }

    /// Returns the next allocation's name for findings: its number in the program, and the function that makes it.
    fn next_label(&self, kind: MemoryKind) -> String {
        let maker = match kind {
            MemoryKind::Device => "cuMemAlloc",
            MemoryKind::Pooled(_) => "cuMemAllocAsync",
            MemoryKind::Graph => "a graph's allocation node",
            MemoryKind::Pinned(_) => "cuMemHostAlloc",
            MemoryKind::Managed => "cuMemAllocManaged",
            MemoryKind::Registered(_) => "cuMemHostRegister",
            MemoryKind::Imported => "cuIpcOpenMemHandle",
            MemoryKind::ImportedFromPool(_) => "cuMemPoolImportPointer",
            MemoryKind::Mapped => "cuMemMap",
        };
        format!("buffer {} from {maker}", self.made + 1)
    }

    /// Refuses more bytes than the device has left.
    fn check_free(&self, bytes: u64) -> Result<()> {
        let free = self.capacity.saturating_sub(self.all_bytes());
        if bytes <= free {
            return Ok(());
        }
        Err(CuResult::OUT_OF_MEMORY
            .because(format!("{bytes} bytes requested, {free} of the device's {} bytes are free", self.capacity)))
    }

    /// Returns how many bytes of the device are in use.
    pub fn all_bytes(&self) -> u64 {
        self.device_bytes + self.leased.load(Relaxed)
    }

    fn insert(&mut self, base: u64, bytes: u64, kind: MemoryKind, context: Handle) {
        self.made += 1;
        // Whatever was here before.
        self.synchronous.remove(&base);
        if kind.is_on_device() {
            self.device_bytes += bytes;
        }
        self.owned.insert(base, Owned { base, bytes, kind, context, id: self.made });
    }

    fn remove(&mut self, owned: Owned) {
        self.owned.remove(&owned.base);
        if owned.kind.is_on_device() {
            self.device_bytes -= owned.bytes;
        }
        // This cannot fail: every allocation was made in that memory, and nobody else frees it there.
        let _ = self.memory.free(owned.base);
        self.shared.remove(&owned.base);
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;
    use crate::handles::Handles;

    fn context() -> Handle {
        Handles::default().reserve()
    }

    #[test]
    fn the_device_has_no_more_than_its_capacity() {
        let allocations = Mutex::new(Allocations::new(Arc::new(Memory::new(u64::MAX)), 1000));
        let allocate = |bytes, kind| allocations.lock().allocate(bytes, kind, context());
        let first = allocate(900, MemoryKind::Device).unwrap();
        assert_eq!(allocate(101, MemoryKind::Managed).unwrap_err().code, CuResult::OUT_OF_MEMORY);
        allocate(5000, MemoryKind::Pinned(0)).expect("host memory does not count against the device");
        allocations.lock().free(first, |kind| kind == MemoryKind::Device).unwrap();
        allocate(1000, MemoryKind::Device).unwrap();
    }

    #[test]
    fn memory_is_freed_once_by_its_start_and_the_right_function() {
        let allocations = Mutex::new(Allocations::new(Arc::new(Memory::new(u64::MAX)), 1000));
        let base = allocations.lock().allocate(100, MemoryKind::Device, context()).unwrap();
        let free = |address, kind| allocations.lock().free(address, |found| found == kind).map(drop);
        assert!(free(base + 4, MemoryKind::Device).is_err());
        assert!(free(base, MemoryKind::Managed).is_err());
        assert!(free(base, MemoryKind::Device).is_ok());
        assert!(free(base, MemoryKind::Device).is_err());
        assert_eq!(allocations.lock().all_bytes(), 0);
    }

    #[test]
    fn an_address_finds_the_allocation_that_contains_it() {
        let allocations = Mutex::new(Allocations::new(Arc::new(Memory::new(u64::MAX)), 1000));
        let base = allocations.lock().allocate(100, MemoryKind::Device, context()).unwrap();
        assert_eq!(allocations.lock().containing(base + 99).unwrap().base, base);
        assert!(allocations.lock().containing(base + 100).is_none());
        allocations.lock().free_context(context());
        assert!(allocations.lock().containing(base).is_none());
    }

    #[test]
    fn host_memory_is_registered_once() {
        let allocations = Mutex::new(Allocations::new(Arc::new(Memory::new(u64::MAX)), 1000));
        let mut own = vec![0u32; 48];
        let base = own.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: the vector outlives every use of the memory, its address is a multiple of 4, and no kernel runs.
        let register = |offset| unsafe { allocations.lock().register(base + offset, 64, 0, context()) };
        register(0).unwrap();
        assert_eq!(register(32).unwrap_err().code, CuResult::HOST_MEMORY_ALREADY_REGISTERED);
        register(64).unwrap();
        allocations.lock().free_context(context());
        register(32).expect("free again");
    }
}
