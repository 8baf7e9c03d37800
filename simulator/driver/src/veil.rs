//! Makes a host that reads pinned memory before a copy has filled it see neither the old bytes nor the new ones.
//!
//! Between the call that enqueues a copy and the wait for it, the host knows nothing of the bytes that the copy writes. While the copy waits, they
//! hold a pattern, so that a host that reads them all the same computes something else even if the copy would not change a byte. Only the host sees
//! the pattern: whenever work runs, which may be a kernel or a function of the host that reads these bytes before the copy, the old bytes are there.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use simt::Memory;

/// Each hidden byte. Four of them are a float that is no result of anything, and a negative integer.
const PATTERN: u8 = 0xa5;

/// The most bytes of a copy that are hidden. They are written again for each piece of work.
const MOST: usize = 1 << 16;

/// All bytes that are hidden while no work runs.
#[derive(Default)]
pub struct Veils {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Pieces of work that run.
    running: usize,
    veils: Vec<Weak<Veil>>,
}

/// Hides some bytes until it is dropped.
pub struct Veil {
    memory: &'static Memory,
    address: u64,
    bytes: usize,
    /// The bytes that are hidden, while they are.
    old: Mutex<Option<Vec<u8>>>,
}

impl Veils {
    /// Hides bytes that a copy will write.
    pub fn hide(&self, memory: &'static Memory, address: u64, bytes: usize) -> Arc<Veil> {
        let veil = Arc::new(Veil { memory, address, bytes: bytes.min(MOST), old: Mutex::default() });
        let mut state = self.state.lock();
        state.veils.push(Arc::downgrade(&veil));
        if state.running == 0 {
            veil.lay();
        }
        veil
    }

    /// Does work that may look at any bytes.
    pub fn lifted<T>(&self, work: impl FnOnce() -> T) -> T {
        self.change(1, |veils| veils.iter().rev().for_each(|veil| veil.lift()));
        let result = work();
        self.change(-1, |veils| veils.iter().for_each(|veil| veil.lay()));
        result
    }

    /// Counts the running work. Calls `act` with the veils at the first and last piece.
    fn change(&self, by: isize, act: impl FnOnce(&[Arc<Veil>])) {
        // Declared first, so that it outlives the guard: a veil may be the last one of its copy.
        let veils: Vec<Arc<Veil>>;
        let mut state = self.state.lock();
        let before = state.running;
        state.running = before.saturating_add_signed(by);
        if before == 0 || state.running == 0 {
            veils = state.veils.iter().filter_map(Weak::upgrade).collect();
            state.veils.retain(|veil| veil.strong_count() > 0);
            act(&veils);
        }
    }
}

impl Veil {
    /// Hides the bytes. Reading and writing fail only if the memory is gone, and then there is nothing to hide.
    fn lay(&self) {
        let mut old = vec![0; self.bytes];
        if self.memory.read(self.address, &mut old).is_ok() && self.memory.write(self.address, &vec![PATTERN; self.bytes]).is_ok() {
            *self.old.lock() = Some(old);
        }
    }

    /// Puts the old bytes back, except where something was written meanwhile.
    fn lift(&self) {
        let Some(old) = self.old.lock().take() else { return };
        let mut now = vec![0; self.bytes];
        if self.memory.read(self.address, &mut now).is_ok() {
            now.iter_mut().zip(old).filter(|(now, _)| **now == PATTERN).for_each(|(now, old)| *now = old);
            let _ = self.memory.write(self.address, &now);
        }
    }
}

impl Drop for Veil {
    fn drop(&mut self) {
        self.lift();
    }
}
