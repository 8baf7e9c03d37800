//! Device memory: allocations with bounds, at addresses that cannot be mistaken for the host's.

pub mod rules;

use thiserror::Error;

/// The global memory of one device context.
///
/// Every access is made of relaxed atomic 32-bit words. A data race of a simulated kernel is therefore never a data race of the
/// simulator, and blocks may run in parallel.
#[derive(Debug, Default)]
pub struct Memory {}

/// A live allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// First byte.
    pub base: u64,
    /// Length in bytes, as asked for.
    pub bytes: u64,
}

/// What the host can do wrong with memory.
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
    /// A range that lies in no single live allocation.
    #[error("{bytes} bytes at {address:#x} do not lie in one live allocation")]
    OutOfBounds {
        /// First byte.
        address: u64,
        /// Length in bytes.
        bytes: u64,
    },
}

#[expect(unused_variables, clippy::todo, reason = "interface first")]
impl Memory {
    /// An empty memory that can hold `capacity` bytes.
    pub fn new(capacity: u64) -> Self {
        todo!()
    }

    /// Allocates `bytes` bytes, aligned to 512, zeroed but counted as unwritten. `label` names it in findings (a variable's name).
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfMemory`]
    pub fn allocate(&self, bytes: u64, label: Option<&str>) -> Result<u64, MemoryError> {
        todo!()
    }

    /// Allocates memory that the host can also reach: its address *is* a host pointer to `bytes` bytes (pinned and managed memory).
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfMemory`]
    pub fn allocate_host_visible(&self, bytes: u64, label: Option<&str>) -> Result<u64, MemoryError> {
        todo!()
    }

    /// Frees the allocation that starts at `address`.
    ///
    /// # Errors
    ///
    /// [`MemoryError::NotAnAllocation`]
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        todo!()
    }

    /// The live allocation that holds `address`.
    pub fn allocation_at(&self, address: u64) -> Option<Allocation> {
        todo!()
    }

    /// Bytes allocated now.
    pub fn used(&self) -> u64 {
        todo!()
    }

    /// Copies `source` into device memory.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfBounds`]; then nothing is written.
    pub fn write(&self, address: u64, source: &[u8]) -> Result<(), MemoryError> {
        todo!()
    }

    /// Copies device memory into `target`.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfBounds`]; then nothing is copied.
    pub fn read(&self, address: u64, target: &mut [u8]) -> Result<(), MemoryError> {
        todo!()
    }

    /// Copies within device memory; the ranges may overlap.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfBounds`]; then nothing is copied.
    pub fn copy(&self, target: u64, source: u64, bytes: u64) -> Result<(), MemoryError> {
        todo!()
    }

    /// Repeats `pattern` (1, 2 or 4 bytes) over `bytes` bytes.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfBounds`]; then nothing is written.
    pub fn fill(&self, address: u64, bytes: u64, pattern: &[u8]) -> Result<(), MemoryError> {
        todo!()
    }
}
