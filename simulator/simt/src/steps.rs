//! A record of one warp's instructions with the values they write, for callers that step through a kernel.

use std::sync::{Mutex, PoisonError};

use crate::finding::Location;
use crate::geometry::Dim3;
use crate::registers::LANES;

/// The first instructions of one warp. A launch that has it in its [options](crate::LaunchOptions::steps) appends to it, and leaves there what it
/// recorded when the kernel has a defect, too.
#[derive(Debug)]
pub struct StepRecord {
    /// The block; a launch without that block records nothing.
    pub block: Dim3,
    /// Number of the warp in the block.
    pub warp: u32,
    /// The most instructions to record.
    pub limit: usize,
    steps: Mutex<Vec<Step>>,
}

impl StepRecord {
    /// An empty record.
    pub fn new(block: Dim3, warp: u32, limit: usize) -> Self {
        Self { block, warp, limit, steps: Mutex::default() }
    }

    /// The instructions so far, in the order of their execution.
    pub fn steps(&self) -> Vec<Step> {
        self.lock().clone()
    }

    /// Appends an instruction, unless the record is full.
    pub(crate) fn begin(&self, location: Location, lanes: u32) -> bool {
        let mut steps = self.lock();
        let has_room = steps.len() < self.limit;
        if has_room {
            steps.push(Step { location, lanes, writes: Vec::new() });
        }
        has_room
    }

    /// Adds a register that the last instruction has changed. An instruction that the decoder splits changes some of them twice.
    pub(crate) fn note(&self, write: Write) {
        if let Some(step) = self.lock().last_mut() {
            step.writes.retain(|earlier| earlier.register != write.register);
            step.writes.push(write);
        }
    }

    // Every change is a single call, so a panic while the lock is held leaves a consistent list.
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One instruction of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its place in the program.
    pub location: Location,
    /// A bit for each lane that executed it. A guard may leave none.
    pub lanes: u32,
    /// The registers whose values it changed. A register that is written with the value it had is not listed.
    pub writes: Vec<Write>,
}

/// The new values of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The register's name in PTX.
    pub register: String,
    /// Its values in all lanes, also in those that did not execute the instruction.
    pub values: Values,
}

/// The values of a register in the lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// A bit for each lane.
    Predicate(u32),
    /// A register of 8, 16 or 32 bits.
    Words([u32; LANES]),
    /// A register of 64 bits.
    Doubles([u64; LANES]),
}
