//! The words of a buffer: either owned, or lent by the host program.

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// A slice of words.
#[derive(Debug)]
pub struct Words {
    words: NonNull<[AtomicU32]>,
    owned: bool,
}

impl Words {
    /// Words that are lent by the host program while this exists.
    ///
    /// # Safety
    ///
    /// `address` is a multiple of 4, and `count` words from there on can be read and written while this exists.
    pub unsafe fn lent(address: u64, count: usize) -> Self {
        let first = std::ptr::with_exposed_provenance_mut::<AtomicU32>(address as usize);
        let words =
            NonNull::new(std::ptr::slice_from_raw_parts_mut(first, count)).expect("the program's memory is not at address 0");
        Self { words, owned: false }
    }

    /// Returns true if the words are lent.
    pub fn are_lent(&self) -> bool {
        !self.owned
    }
}

impl From<Box<[AtomicU32]>> for Words {
    fn from(words: Box<[AtomicU32]>) -> Self {
        Self { words: NonNull::from(Box::leak(words)), owned: true }
    }
}

impl Deref for Words {
    type Target = [AtomicU32];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU32] {
        // SAFETY: owned words live until `drop`, and the caller of `lent` promises that lent ones live as long as this. All access
        // through the slice is atomic.
        unsafe { self.words.as_ref() }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: owned words come from a box that `from` leaked, and only this drop, which runs once, turns them back into a
            // box.
            drop(unsafe { Box::from_raw(self.words.as_ptr()) });
        }
    }
}

// SAFETY: owned words are a box of atomics, which any thread may drop; lent ones are a reference to atomics. Both may move to
// another thread.
unsafe impl Send for Words {}
// SAFETY: a shared reference to `Words` gives access to atomics only, which any number of threads may use at the same time.
unsafe impl Sync for Words {}
