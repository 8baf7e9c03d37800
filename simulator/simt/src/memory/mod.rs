//! Device memory: allocations with bounds, at addresses that are never valid on the host.

mod buffer;
mod elements;
mod heap;
mod reserved;
pub mod rules;
mod words;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use thiserror::Error;

pub(crate) use buffer::Buffer;
pub(crate) use elements::{element, set_element};
pub use heap::Heap;
pub use reserved::{Mapped, Rights};
use reserved::{Reservation, merged};

use ptx::finding::Nearest;

/// The first address that is allocated. It is above every address of a host process, so that a host that dereferences a device
/// pointer by mistake faults at once, as with a GPU.
const FIRST_ADDRESS: u64 = 1 << 49;

/// Alignment of every allocation, the same as the CUDA driver's.
const ALIGNMENT: u64 = 512;

/// Addresses that stay unused after every allocation. An access slightly out of bounds then does not hit the next allocation.
const GAP: u64 = 1 << 24;

/// Bytes that are written at once.
const PIECE: u64 = 1 << 16;

/// The number of freed allocations to remember. A use after free can then name its allocation.
const REMEMBERED: usize = 256;

/// The global memory of one device context.
///
/// Every access is made of relaxed atomic 32-bit words. A data race of a simulated kernel is therefore never a data race of the
/// simulator, and blocks may run in parallel.
#[derive(Debug)]
pub struct Memory {
    capacity: u64,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    live: BTreeMap<u64, Arc<Region>>,
    freed: VecDeque<Arc<Region>>,
    /// Ranges of addresses for memory of the host program, by first address.
    reserved: BTreeMap<u64, Reservation>,
    next_address: u64,
    used: u64,
}

/// An allocation with its bytes.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) base: u64,
    pub(crate) label: Option<String>,
    pub(crate) buffer: Buffer,
    /// True if a kernel may only read it.
    pub(crate) read_only: bool,
    /// True if it is constant memory. A kernel that writes it has a defect, but the write happens, as on a GPU.
    pub(crate) is_constant: bool,
}

impl Region {
    pub(crate) fn new(base: u64, label: Option<&str>, buffer: Buffer) -> Self {
        Self { base, label: label.map(str::to_owned), buffer, read_only: false, is_constant: false }
    }

    /// Returns one past the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.base + self.buffer.bytes()
    }

    /// Returns where `address` is relative to this allocation.
    fn nearest(&self, address: u64, freed: bool) -> Nearest {
        let bytes = self.buffer.bytes();
        Nearest {
            allocation: match &self.label {
                Some(label) => format!("{label} ({bytes} bytes)"),
                None => format!("an allocation of {bytes} bytes"),
            },
            base: self.base,
            bytes,
            offset: address.wrapping_sub(self.base) as i64,
            freed,
        }
    }

    /// Returns how far `address` is from this allocation, in bytes.
    fn distance(&self, address: u64) -> u64 {
        self.base.saturating_sub(address).max(address.saturating_sub(self.end()))
    }
}

/// A live allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// First byte.
    pub base: u64,
    /// Length in bytes, as asked for.
    pub bytes: u64,
}

/// A wrong request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    /// The capacity is used up.
    #[error("out of memory: {asked} bytes asked, {free} bytes free")]
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes free.
        free: u64,
    },
    /// An address that starts no live allocation.
    #[error("{0:#x} is not the start of a live allocation")]
    NotAnAllocation(u64),
    /// A range that is not inside one live allocation.
    #[error("{bytes} bytes at {address:#x} do not lie in one live allocation")]
    OutOfBounds {
        /// First byte.
        address: u64,
        /// Length in bytes.
        bytes: u64,
    },
}

impl Memory {
    /// Makes an empty memory that can hold `capacity` bytes.
    pub fn new(capacity: u64) -> Self {
        Self { capacity, state: RwLock::new(State { next_address: FIRST_ADDRESS, ..State::default() }) }
    }

    /// Allocates `bytes` bytes, aligned to 512. `label` is what findings call it, such as `the variable counter`. The bytes are zero, but a kernel
    /// that reads them before they are written has a defect, because on a GPU they may be anything.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfMemory`]
    pub fn allocate(&self, bytes: u64, label: Option<&str>) -> Result<u64, MemoryError> {
        self.insert(bytes, label, (false, false), State::next_address)
    }

    /// Allocates bytes that are guaranteed to be zero, like a module's variables. Otherwise the same as [`allocate`](Self::allocate).
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfMemory`]
    pub fn allocate_zeroed(&self, bytes: u64, label: Option<&str>) -> Result<u64, MemoryError> {
        self.insert(bytes, label, (true, false), State::next_address)
    }

    /// Allocates constant memory. Otherwise the same as [`allocate_zeroed`](Self::allocate_zeroed).
    pub(crate) fn allocate_constant(&self, bytes: u64, label: Option<&str>) -> Result<u64, MemoryError> {
        self.insert(bytes, label, (true, true), State::next_address)
    }

    /// Allocates memory that the host can also reach: its address *is* a host pointer to `bytes` bytes (pinned and managed memory).
    /// The memory stays valid until [`free`](Self::free). Writes by the host are not visible to the simulator, so all bytes count
    /// as written.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfMemory`]
    pub fn allocate_host_visible(&self, bytes: u64, label: Option<&str>) -> Result<u64, MemoryError> {
        self.insert(bytes, label, (true, false), |_, buffer| buffer.host_address())
    }

    fn insert(
        &self,
        bytes: u64,
        label: Option<&str>,
        (written, is_constant): (bool, bool),
        place: impl FnOnce(&mut State, &Buffer) -> u64,
    ) -> Result<u64, MemoryError> {
        let mut state = self.write_state();
        let free = self.capacity.saturating_sub(state.used);
        let out_of_memory = MemoryError::OutOfMemory { asked: bytes, free };
        if bytes > free {
            return Err(out_of_memory);
        }
        let buffer = Buffer::zeroed(bytes, written).ok_or(out_of_memory)?;
        let base = place(&mut state, &buffer);
        Ok(state.add(Region { is_constant, ..Region::new(base, label, buffer) }))
    }

    /// Makes memory of the host program accessible to kernels. It keeps its host address, and stays accessible until [`free`](Self::free).
    ///
    /// # Safety
    ///
    /// `address` is a multiple of 4 and starts no allocation, and the words that hold `bytes` bytes from there on can be read and
    /// written until `free` has returned. While a kernel runs that accesses some of these words, nothing else writes them.
    pub unsafe fn adopt(&self, address: u64, bytes: u64, label: Option<&str>) {
        // SAFETY: the caller promises that these words can be read and written until `free` has returned, and `free` waits until no
        // launch holds the buffer.
        let buffer = unsafe { Buffer::lent(address, bytes) };
        self.write_state().add(Region::new(address, label, buffer));
    }

    /// Makes memory of the host program accessible to kernels. Works like [`adopt`](Self::adopt), but at an address of the device,
    /// which is returned.
    ///
    /// # Safety
    ///
    /// The same as for [`adopt`](Self::adopt), with `host` for its address.
    pub unsafe fn lend(&self, host: u64, bytes: u64, label: Option<&str>) -> u64 {
        // SAFETY: the caller promises that these words can be read and written until `free` has returned, and `free` waits until no
        // launch holds the buffer.
        let buffer = unsafe { Buffer::lent(host, bytes) };
        let mut state = self.write_state();
        let base = state.next_address(&buffer);
        state.add(Region::new(base, label, buffer))
    }

    /// Moves the bytes of an allocation to memory of the host program. The allocation starts at `address`, which stays. From then
    /// on, all of its bytes count as written. Waits until no launch uses the allocation.
    ///
    /// # Safety
    ///
    /// The same as for [`adopt`](Self::adopt), with `host` for its address and the bytes of the allocation.
    ///
    /// # Errors
    ///
    /// [`MemoryError::NotAnAllocation`]
    pub unsafe fn relocate(&self, address: u64, host: u64) -> Result<(), MemoryError> {
        loop {
            let mut state = self.write_state();
            let region = state.live.get(&address).ok_or(MemoryError::NotAnAllocation(address))?;
            if Arc::strong_count(region) > 1 {
                drop(state);
                wait_a_little();
                continue;
            }
            let bytes = region.buffer.bytes();
            // SAFETY: the caller promises that these words can be read and written until `free` has returned, and `free` waits until no
            // launch holds the buffer.
            let buffer = unsafe { Buffer::lent(host, bytes) };
            buffer.copy(0, &region.buffer, 0, bytes, false);
            let Region { read_only, is_constant, .. } = **region;
            let region = Region { base: address, label: region.label.clone(), buffer, read_only, is_constant };
            state.live.insert(address, Arc::new(region));
            return Ok(());
        }
    }

    /// Frees the allocation that starts at `address`. If the memory was [adopted](Self::adopt), this waits until no launch uses it.
    ///
    /// # Errors
    ///
    /// [`MemoryError::NotAnAllocation`]
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        let mut state = self.write_state();
        let region = state.live.remove(&address).ok_or(MemoryError::NotAnAllocation(address))?;
        state.used -= region.buffer.bytes();
        if state.freed.len() == REMEMBERED {
            state.freed.pop_front();
        }
        // Keep the range and the name, but not the bytes.
        let buffer = Buffer::tombstone(region.buffer.bytes());
        state.freed.push_back(Arc::new(Region::new(region.base, region.label.as_deref(), buffer)));
        drop(state);
        if region.buffer.is_lent() {
            Replaced(vec![region]).wait();
        }
        Ok(())
    }

    /// Returns the live allocation that holds `address`.
    pub fn allocation_at(&self, address: u64) -> Option<Allocation> {
        let state = self.read_state();
        let region = state.holding(address)?;
        Some(Allocation { base: region.base, bytes: region.buffer.bytes() })
    }

    /// Returns the number of bytes allocated now.
    pub fn used(&self) -> u64 {
        self.read_state().used
    }

    /// Returns the number of bytes that all allocations together may have.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Copies `source` into device memory.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfBounds`]; then nothing is written.
    pub fn write(&self, address: u64, source: &[u8]) -> Result<(), MemoryError> {
        let (region, offset) = self.writable(address, source.len() as u64)?;
        region.buffer.write(offset, source);
        region.buffer.note_written(offset, source.len() as u64);
        Ok(())
    }

    /// Copies device memory into `target`.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfBounds`]; then nothing is copied.
    pub fn read(&self, address: u64, target: &mut [u8]) -> Result<(), MemoryError> {
        let (region, offset) = self.range(address, target.len() as u64)?;
        region.buffer.read(offset, target);
        Ok(())
    }

    /// Copies within device memory; the ranges may overlap.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfBounds`]; then nothing is copied.
    pub fn copy(&self, target: u64, source: u64, bytes: u64) -> Result<(), MemoryError> {
        let (from, from_offset) = self.range(source, bytes)?;
        let (to, to_offset) = self.writable(target, bytes)?;
        to.buffer.copy(to_offset, &from.buffer, from_offset, bytes, target > source);
        to.buffer.note_copied(to_offset, &from.buffer, from_offset, bytes);
        Ok(())
    }

    /// Repeats `pattern` (1, 2 or 4 bytes) over `bytes` bytes.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfBounds`]; then nothing is written.
    pub fn fill(&self, address: u64, bytes: u64, pattern: &[u8]) -> Result<(), MemoryError> {
        let (region, offset) = self.writable(address, bytes)?;
        let piece: Vec<u8> = pattern.iter().copied().cycle().take(bytes.min(PIECE) as usize).collect();
        for start in (0..bytes).step_by(PIECE as usize) {
            region.buffer.write(offset + start, &piece[..PIECE.min(bytes - start) as usize]);
        }
        region.buffer.note_written(offset, bytes);
        Ok(())
    }

    /// Returns an address for a buffer that is not an allocation. The host cannot reach it.
    fn address_for(&self, buffer: &Buffer) -> u64 {
        self.write_state().next_address(buffer)
    }

    /// Returns the live allocations in order of address. A launch sees these from its start to its end.
    pub(crate) fn snapshot(&self) -> Vec<Arc<Region>> {
        self.read_state().live.values().cloned().collect()
    }

    /// Returns the allocation nearest to an address outside every allocation. A freed allocation at that address is preferred to a
    /// live one nearby.
    pub fn nearest(&self, address: u64) -> Option<Nearest> {
        let state = self.read_state();
        if let Some(nearest) = state.reservation(address).and_then(|(base, reservation)| reservation.nearest(base, address)) {
            return Some(nearest);
        }
        let freed = state.freed.iter().rev().map(|region| (region, true));
        let live = state.live.values().map(|region| (region, false));
        let (region, freed) = freed
            .chain(live)
            .filter(|(region, _)| region.distance(address) < GAP)
            .min_by_key(|(region, _)| region.distance(address))?;
        Some(region.nearest(address, freed))
    }

    /// Finds the allocation that holds a range, and the range's offset.
    fn range(&self, address: u64, bytes: u64) -> Result<(Arc<Region>, u64), MemoryError> {
        let state = self.read_state();
        let out_of_bounds = MemoryError::OutOfBounds { address, bytes };
        let region = state.holding(address).ok_or(out_of_bounds)?;
        let offset = address - region.base;
        if bytes > region.buffer.bytes() - offset {
            return Err(out_of_bounds);
        }
        Ok((region.clone(), offset))
    }

    /// Does the same for a range that is written.
    fn writable(&self, address: u64, bytes: u64) -> Result<(Arc<Region>, u64), MemoryError> {
        let (region, offset) = self.range(address, bytes)?;
        if region.read_only { Err(MemoryError::OutOfBounds { address, bytes }) } else { Ok((region, offset)) }
    }

    // Every change is a single insertion or removal, so a panic while the lock is held leaves a consistent state.
    fn read_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_state(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait_a_little() {
    std::thread::sleep(std::time::Duration::from_micros(50));
}

/// Memory that was unmapped or got other rights. Launches may still use it.
#[derive(Debug)]
#[must_use = "memory may only go once no launch uses it"]
pub struct Replaced(Vec<Arc<Region>>);

impl Replaced {
    /// Waits until no launch uses it.
    pub fn wait(self) {
        for region in self.0 {
            while Arc::strong_count(&region) > 1 {
                wait_a_little();
            }
        }
    }
}

impl Memory {
    /// Reserves `bytes` bytes of addresses, aligned to `alignment`, a power of two. An access there is a fault until something is
    /// [mapped](Self::map).
    pub fn reserve(&self, bytes: u64, alignment: u64) -> u64 {
        let mut state = self.write_state();
        let base = state.next_address.next_multiple_of(alignment);
        state.next_address = base + bytes + GAP;
        state.reserved.insert(base, Reservation { bytes, mapped: BTreeMap::new() });
        base
    }

    /// Forgets a reserved range with all that is mapped into it.
    pub fn forget_reserved(&self, base: u64) -> Replaced {
        // SAFETY: nothing is mapped.
        let replaced = unsafe { self.map(base, &[]) };
        self.write_state().reserved.remove(&base);
        replaced
    }

    /// Replaces everything mapped into the reserved range at `base`. Neighbors with the same rights, on the device as on the host,
    /// are one piece of memory for a kernel. A launch that runs keeps what it had; [`Replaced`] waits for it.
    ///
    /// # Safety
    ///
    /// The host's addresses are multiples of 4, and the words there can be read and written until they have been replaced and the
    /// [`Replaced`] has been waited for.
    pub unsafe fn map(&self, base: u64, mapped: &[Mapped]) -> Replaced {
        let mut state = self.write_state();
        let State { live, reserved, .. } = &mut *state;
        let Some(reservation) = reserved.get_mut(&base) else { return Replaced(Vec::new()) };
        let pieces = merged(mapped);
        let is_kept = |region: &Region| {
            let rights = if region.read_only { Rights::Read } else { Rights::ReadWrite };
            let (bytes, host) = (region.buffer.bytes(), region.buffer.host_address());
            pieces.contains(&Mapped { address: region.base, bytes, host, rights })
        };
        let range = base..base + reservation.bytes;
        let gone: Vec<u64> = live.range(range).filter(|(_, region)| !is_kept(region)).map(|(base, _)| *base).collect();
        let gone: Vec<Arc<Region>> = gone.into_iter().filter_map(|base| live.remove(&base)).collect();
        for piece in pieces.iter().filter(|piece| piece.rights != Rights::None) {
            // SAFETY: the caller promises that these words can be read and written until no launch uses them.
            let buffer = unsafe { Buffer::lent(piece.host, piece.bytes) };
            let region = Region::new(piece.address, Some("a mapped range"), buffer);
            live.entry(piece.address).or_insert_with(|| Arc::new(Region { read_only: piece.rights == Rights::Read, ..region }));
        }
        reservation.mapped = mapped.iter().map(|mapped| (mapped.address, *mapped)).collect();
        Replaced(gone)
    }
}

impl State {
    /// Returns the reserved range that holds an address, with its first address.
    fn reservation(&self, address: u64) -> Option<(u64, &Reservation)> {
        let (base, reservation) = self.reserved.range(..=address).next_back()?;
        (address - base < reservation.bytes).then_some((*base, reservation))
    }

    /// Adds an allocation, and returns its address.
    fn add(&mut self, region: Region) -> u64 {
        let base = region.base;
        self.used += region.buffer.bytes();
        self.live.insert(base, Arc::new(region));
        base
    }

    /// Address of the next allocation.
    fn next_address(&mut self, buffer: &Buffer) -> u64 {
        let address = self.next_address;
        self.next_address = (address + buffer.bytes() + GAP).next_multiple_of(ALIGNMENT);
        address
    }

    fn holding(&self, address: u64) -> Option<&Arc<Region>> {
        let (_, region) = self.live.range(..=address).next_back()?;
        (address < region.end()).then_some(region)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_any_offset() {
        let memory = Memory::new(1 << 20);
        let base = memory.allocate(64, None).unwrap();
        for offset in 0..8 {
            for length in 0..20 {
                let source: Vec<u8> = (0..length).map(|i| i * 7 + 1).collect();
                memory.fill(base, 64, &[0xee]).unwrap();
                memory.write(base + offset, &source).unwrap();
                let mut all = [0; 64];
                memory.read(base, &mut all).unwrap();
                let end = offset as usize + source.len();
                assert_eq!(all[offset as usize..end], source);
                assert!(all[..offset as usize].iter().chain(&all[end..]).all(|byte| *byte == 0xee));
            }
        }
    }

    #[test]
    fn a_range_that_leaves_its_allocation_is_refused() {
        let memory = Memory::new(1 << 20);
        let base = memory.allocate(64, None).unwrap();
        assert!(memory.write(base + 60, &[0; 4]).is_ok());
        for (address, bytes) in [(base + 60, 5), (base - 1, 2), (base + 64, 1), (0, 1)] {
            assert_eq!(memory.fill(address, bytes, &[0]), Err(MemoryError::OutOfBounds { address, bytes }));
        }
    }

    #[test]
    fn overlapping_copies_move_the_bytes_as_they_were() {
        let memory = Memory::new(1 << 24);
        let bytes = 3 * (1 << 16) + 17;
        let base = memory.allocate(bytes + 100, None).unwrap();
        let source: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
        for (from, to) in [(0, 100), (100, 0)] {
            memory.write(base + from, &source).unwrap();
            memory.copy(base + to, base + from, bytes).unwrap();
            let mut moved = vec![0; source.len()];
            memory.read(base + to, &mut moved).unwrap();
            assert!(moved == source, "from {from} to {to}");
        }
    }

    #[test]
    fn capacity_comes_back_when_memory_is_freed() {
        let memory = Memory::new(1000);
        let base = memory.allocate(900, None).unwrap();
        assert_eq!(memory.allocate(101, None), Err(MemoryError::OutOfMemory { asked: 101, free: 100 }));
        memory.free(base).unwrap();
        assert_eq!(memory.free(base), Err(MemoryError::NotAnAllocation(base)));
        assert!(memory.allocate(1000, None).is_ok());
    }

    #[test]
    fn the_nearest_allocation_is_named_also_after_it_was_freed() {
        let memory = Memory::new(1 << 20);
        let base = memory.allocate(64, Some("the variable counter")).unwrap();
        let past = memory.nearest(base + 64).unwrap();
        assert_eq!((past.offset, past.freed), (64, false));
        assert!(past.to_string().contains("0 bytes past the end of the variable counter"), "{past}");
        memory.free(base).unwrap();
        assert!(memory.nearest(base + 4).unwrap().freed);
    }

    #[test]
    fn adopted_memory_is_the_programs_own_and_goes_back_to_it() {
        let memory = Memory::new(1 << 20);
        let mut own = vec![0u32; 3];
        let address = own.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: the vector lives to the end of the test, and nothing accesses it while it is adopted.
        unsafe { memory.adopt(address, 10, None) };
        memory.write(address, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).unwrap();
        assert!(memory.write(address + 9, &[0; 2]).is_err(), "the last word is not whole");
        let in_use = memory.snapshot();
        std::thread::scope(|scope| {
            let freed = scope.spawn(|| memory.free(address));
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!freed.is_finished(), "a launch still uses it");
            drop(in_use);
            freed.join().unwrap().unwrap();
        });
        assert_eq!((own, memory.used()), (vec![0x0403_0201, 0x0807_0605, 0x0a09], 0));
    }

    #[test]
    fn host_visible_memory_lies_at_its_own_host_address() {
        let memory = Memory::new(1 << 20);
        let base = memory.allocate_host_visible(16, None).unwrap();
        memory.write(base, &[1, 2, 3, 4]).unwrap();
        assert_eq!(memory.snapshot()[0].buffer.host_address(), base);
        assert!(base < FIRST_ADDRESS && base.is_multiple_of(ALIGNMENT));
    }
}
