//! A record of one warp's instructions with the values they write, for callers that step through a kernel.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use alu::registers::LANES;
use ptx::finding::{Finding, Location};
use ptx::geometry::Dim3;

/// Some instructions of one warp. A launch that has it in its [options](crate::LaunchOptions::steps) fills it, and leaves there what it
/// recorded when the kernel has a defect, too.
#[derive(Debug)]
pub struct StepRecord {
    /// The block; a launch without that block records nothing.
    pub block: Dim3,
    /// Number of the warp in the block.
    pub warp: u32,
    /// How many instructions of the warp come before the first one that is recorded.
    pub first: u64,
    /// The most instructions to record.
    pub limit: usize,
    recorded: Mutex<Recorded>,
}

/// The contents of a [`StepRecord`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The registers before the first recorded instruction.
    pub start: Vec<Write>,
    /// The instructions, in the order of their execution.
    pub steps: Vec<Step>,
    /// How many instructions the warp executed, recorded or not.
    pub executed: u64,
    /// The defects that the checks found in this warp, each with the number of the instruction, counted from 0 whatever was recorded. Of
    /// defects of one kind at one place, the first. A defect that ends the kernel is the last one.
    pub found: Vec<(u64, Finding)>,
}

impl StepRecord {
    /// Makes an empty record.
    pub fn new(block: Dim3, warp: u32, first: u64, limit: usize) -> Self {
        Self { block, warp, first, limit, recorded: Mutex::default() }
    }

    /// Takes what was recorded.
    pub fn take(&self) -> Recorded {
        std::mem::take(&mut *self.lock())
    }

    /// Adds the defect that ended the kernel. Ignores defects of other warps.
    pub(crate) fn note_fault(&self, block: Dim3, warp: u32, finding: &Finding) {
        let mut recorded = self.lock();
        if (self.block, self.warp) == (block, warp) {
            let last = recorded.executed.saturating_sub(1);
            recorded.found.push((last, finding.clone()));
        }
    }

    // Every change is a single call, so a panic while the lock is held leaves consistent lists.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One instruction of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its place in the program.
    pub location: Location,
    /// A bit for each lane that executed it. A guard may leave none.
    pub lanes: u32,
    /// How many instructions all warps of the block had executed before it, with each `printf` of a thread counted as hundreds.
    pub clock: u64,
    /// The registers whose values it changed. A register that is written with the value it had is not listed.
    pub writes: Vec<Write>,
}

/// The new values of a register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// The register's name in PTX. In a function that is no kernel, its name and two colons come first: `area::%r1`.
    pub register: String,
    /// Its values in all lanes, also in those that did not execute the instruction.
    pub values: Values,
}

/// The values of a register in the lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// A bit for each lane.
    Predicate(u32),
    /// A register of 8, 16 or 32 bits.
    Words([u32; LANES]),
    /// A register of 64 bits.
    Doubles([u64; LANES]),
}
