//! Memory pools. A pool here holds nothing back: freed memory is free at once. Its attributes are stored and returned.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

use crate::handles::{Handle, Handles, kind};
use crate::result::Result;
use crate::shared_memory::SharedMemory;

pub struct Pools {
    /// The pool that exists from the start and cannot be destroyed.
    pub default: Handle,
    /// The pool that `cuMemAllocAsync` uses.
    pub current: Mutex<Handle>,
}

pub struct Pool {
    pub handle: Handle,
    /// Values of attributes 1 to 4: three reuse policies, and how many bytes to hold before releasing memory. They have no effect in a
    /// pool that holds nothing back.
    pub settings: [AtomicU64; 4],
    pub used: AtomicU64,
    pub used_high: AtomicU64,
    /// The ways in which memory of the pool may be shared.
    pub handle_types: u32,
    /// True for a pool of another process, which allocates nothing here.
    pub is_imported: bool,
    /// The memory that a file descriptor of the pool refers to.
    pub shared: Mutex<Option<SharedMemory>>,
}

// A pool belongs to the device and outlives every context.
kind!(Pool: INVALID_VALUE);

impl Pool {
    pub fn new(handle: Handle) -> Self {
        Self {
            handle,
            settings: [1, 1, 1, 0].map(AtomicU64::new),
            used: AtomicU64::new(0),
            used_high: AtomicU64::new(0),
            handle_types: 0,
            is_imported: false,
            shared: Mutex::default(),
        }
    }

    /// Returns a file descriptor by which another process knows the pool.
    pub fn export(&self) -> Result<i32> {
        let mut shared = self.shared.lock();
        match &mut *shared {
            Some(shared) => shared.export(),
            empty => empty.insert(SharedMemory::create(1)?).export(),
        }
    }

    pub fn note_allocated(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        self.used_high.fetch_max(used, Relaxed);
    }

    pub fn note_freed(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Relaxed);
    }
}

impl Pools {
    pub fn new(handles: &Handles) -> Self {
        let default = handles.insert(Pool::new).handle;
        Self { default, current: Mutex::new(default) }
    }
}
