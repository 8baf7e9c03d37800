//! Locking that survives a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex even after a holder panicked. The data is still consistent then, because nothing in this crate panics halfway through a
/// change under a lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
