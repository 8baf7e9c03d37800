//! Memory pools. A pool here holds nothing back: freed memory is free at once. Its attributes are stored and returned.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::handles::{Handle, Handles, Kind};
use crate::lock::lock;
use crate::result::{CuResult, Result};

/// The pools of the device.
pub struct Pools {
    /// The pool that exists from the start and cannot be destroyed.
    pub default: Handle,
    /// The pool that `cuMemAllocAsync` uses.
    current: Mutex<Handle>,
}

/// A pool.
pub struct Pool {
    pub handle: Handle,
    /// Values of attributes 1 to 4: three reuse policies, and how many bytes to hold before releasing memory. They have no effect in a
    /// pool that holds nothing back.
    pub settings: [AtomicU64; 4],
    pub used: AtomicU64,
    pub used_high: AtomicU64,
}

impl Kind for Pool {
    const BAD_HANDLE: CuResult = CuResult::INVALID_VALUE;

    /// A pool belongs to the device and outlives every context.
    fn context(&self) -> Option<Handle> {
        None
    }
}

impl Pool {
    pub fn new(handle: Handle) -> Self {
        let settings = [1, 1, 1, 0].map(AtomicU64::new);
        Self { handle, settings, used: AtomicU64::new(0), used_high: AtomicU64::new(0) }
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
    /// Makes the default pool.
    pub fn new(handles: &Handles) -> Self {
        let default = handles.insert(Pool::new).handle;
        Self { default, current: Mutex::new(default) }
    }

    /// Returns the pool that `cuMemAllocAsync` uses.
    pub fn current(&self) -> Handle {
        *lock(&self.current)
    }

    /// Makes `cuMemAllocAsync` use this pool.
    pub fn set_current(&self, handles: &Handles, pool: Handle) -> Result<()> {
        handles.get::<Pool>(pool)?;
        *lock(&self.current) = pool;
        Ok(())
    }

    /// Destroys a pool. If it was the current pool, the default pool becomes current again. Memory from the pool lives until it is freed.
    pub fn destroy(&self, handles: &Handles, pool: Handle) -> Result<()> {
        if pool == self.default {
            return CuResult::INVALID_VALUE.err();
        }
        handles.remove::<Pool>(pool)?;
        let mut current = lock(&self.current);
        if *current == pool {
            *current = self.default;
        }
        Ok(())
    }
}
