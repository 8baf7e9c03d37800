//! A record of which lines of PTX a launch executed, for callers that ask what a test reaches.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The lines of PTX that were executed. A launch that has it in its [options](crate::LaunchOptions::executed) adds to it, also if the
/// kernel has a defect that ends it.
///
/// An instruction whose guard kept every thread from acting was executed. The decoder computes some instructions in advance, and they are
/// in no record: look for the lines of the code around them, which is executed together with them.
#[derive(Debug, Default)]
pub struct Executed {
    lines: Mutex<BTreeSet<u32>>,
}

impl Executed {
    /// The lines so far, from 1.
    pub fn lines(&self) -> BTreeSet<u32> {
        self.lock().clone()
    }

    /// Adds lines.
    pub(crate) fn add(&self, lines: impl IntoIterator<Item = u32>) {
        self.lock().extend(lines);
    }

    // Every change is a single call, so a panic while the lock is held leaves a consistent set.
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<u32>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
