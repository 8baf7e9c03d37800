//! Locking that survives a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex even after a holder panicked. This is sound in this crate because no change under a lock takes more than one step, so
/// the data stays consistent.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
