//! The counts of the barriers in shared memory (`mbarrier`), which the bits of a barrier do not say: for reports.

use std::collections::BTreeMap;

/// The history of the block's barriers.
#[derive(Debug, Default)]
pub struct Phases {
    barriers: BTreeMap<u32, History>,
    /// By barrier and thread, the phase that the thread last saw to be over, and the wait that saw it.
    seen: BTreeMap<(u32, u32), (i64, u32)>,
    /// The first wait in a loop that a thread passed twice for one phase.
    pub repeated: Option<u32>,
}

/// The counts of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The number of the phase in progress, from 0.
    pub phase: i64,
    /// Bytes that were expected in this phase.
    pub expected: i64,
    /// Bytes that came in this phase.
    pub came: i64,
}

/// A wait that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub barrier: u32,
    pub pc: u32,
    pub is_odd: bool,
    /// The thread had already seen that this phase was over.
    pub repeats: bool,
}

impl Phases {
    pub fn clear(&mut self) {
        self.barriers.clear();
        self.seen.clear();
        self.repeated = None;
    }

    pub fn of(&self, barrier: u32) -> History {
        self.barriers.get(&barrier).copied().unwrap_or_default()
    }

    /// Notes that a barrier is initialized.
    pub fn begin(&mut self, barrier: u32) {
        self.barriers.insert(barrier, History::default());
        self.seen.retain(|(other, _), _| *other != barrier);
    }

    pub fn expect(&mut self, barrier: u32, bytes: i64) {
        self.barriers.entry(barrier).or_default().expected += bytes;
    }

    pub fn come(&mut self, barrier: u32, bytes: i64) {
        self.barriers.entry(barrier).or_default().came += bytes;
    }

    /// Notes that a phase ends.
    pub fn complete(&mut self, barrier: u32) {
        let history = self.barriers.entry(barrier).or_default();
        *history = History { phase: history.phase + 1, ..History::default() };
    }

    /// Notes that a thread sees the end of the previous phase.
    pub fn see(&mut self, thread: u32, barrier: u32, pc: u32, is_odd: bool) -> Wait {
        let over = self.of(barrier).phase - 1;
        let before = self.seen.insert((barrier, thread), (over, pc));
        let repeats = before.is_some_and(|(phase, _)| phase == over);
        // Waits at different places may mean the same phase. In a loop that is a slip.
        if before == Some((over, pc)) {
            self.repeated.get_or_insert(pc);
        }
        Wait { barrier, pc, is_odd, repeats }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_a_phase_that_was_seen_is_told_from_one_for_the_next() {
        let mut phases = Phases::default();
        phases.begin(8);
        assert!(!phases.see(3, 8, 1, true).repeats, "before the first phase, the odd one counts as over");
        phases.complete(8);
        assert!(!phases.see(3, 8, 1, false).repeats);
        assert!(!phases.see(4, 8, 1, false).repeats, "each thread by itself");
        assert_eq!(phases.see(3, 8, 2, false), Wait { barrier: 8, pc: 2, is_odd: false, repeats: true });
        phases.complete(8);
        assert!(!phases.see(3, 8, 1, true).repeats);
        assert_eq!(phases.of(8).phase, 2);
        phases.begin(8);
        assert_eq!(phases.of(8), History::default());
    }
}
