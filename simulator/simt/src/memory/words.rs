//! The words of a buffer: its own, or a part of the program's memory that it was lent.

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// A run of words.
#[derive(Debug)]
pub struct Words {
    words: NonNull<[AtomicU32]>,
    owned: bool,
}

impl Words {
    /// Words that belong to the program, for as long as this exists.
    ///
    /// # Safety
    ///
    /// `address` is a multiple of 4, and so many words from there on can be read and written while this exists.
    pub unsafe fn lent(address: u64, count: usize) -> Self {
        let first = std::ptr::with_exposed_provenance_mut::<AtomicU32>(address as usize);
        let words =
            NonNull::new(std::ptr::slice_from_raw_parts_mut(first, count)).expect("the program's memory is not at address 0");
        Self { words, owned: false }
    }

    /// Whether the words belong to the program.
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
        // SAFETY: own words live until `drop`, and lent ones as long by the promise of `lent`. All access is atomic.
        unsafe { self.words.as_ref() }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: the pointer came out of a box, in `from`, and goes back into one only here.
            drop(unsafe { Box::from_raw(self.words.as_ptr()) });
        }
    }
}

// SAFETY: it is a box of atomics, or a reference to atomics.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}
