//! The state of one worker.

use super::copies::Copies;
use super::fates::Fates;
use super::machine::Machine;
use super::memo::Slot;
use super::printed::Printed;
use super::recording::Recording;
use super::stats::Stats;
use super::watch::Watch;
use crate::instructions::Executor;

/// The state of one worker, besides the warps of its block; reused from block to block.
pub struct Core<'a> {
    pub machine: &'a Machine<'a>,
    pub stats: Stats,
    /// The block's shared memory, in words.
    pub shared: Vec<u32>,
    /// The memo of each load and store.
    pub slots: Vec<Slot>,
    /// The output of the current block.
    pub printed: Printed,
    /// Unfinished copies into shared memory.
    pub copies: Copies,
    /// A barrier in shared memory has changed since this flag was last reset.
    pub mbarriers_moved: bool,
    /// The warp looked for a change that others make: a volatile, relaxed, or acquiring load, or an atomic operation. Reset before its turn.
    pub polled: bool,
    /// The warp changed memory. Reset before its turn.
    pub changed: bool,
    pub check_hint: u32,
    pub atomic_hint: u32,
    /// The current block is the one whose requests are kept as samples.
    pub keeps_samples: bool,
    /// The current block is the traced one.
    pub traces: bool,
    /// The record of a warp of the current block, until it is full.
    pub recording: Option<Box<Recording<'a>>>,
    /// The warp that is running.
    pub warp: u32,
    /// Remaining fuel of the block, in warp instructions.
    pub fuel: u64,
    /// The arithmetic, for the host's processor.
    pub executor: Executor,
    /// Which elements of a load matter, as far as it was asked.
    pub fates: Fates,
    /// The checks, if they are on.
    pub watch: Option<Box<Watch>>,
}

impl<'a> Core<'a> {
    pub fn new(machine: &'a Machine<'a>) -> Self {
        Self {
            machine,
            stats: Stats::new(machine.program),
            shared: vec![0; machine.shared_bytes.div_ceil(4) as usize],
            slots: machine.program.accesses.iter().map(|_| Slot::default()).collect(),
            printed: Printed::default(),
            copies: Copies::new(machine),
            mbarriers_moved: false,
            polled: false,
            changed: false,
            check_hint: 0,
            atomic_hint: 0,
            keeps_samples: false,
            traces: false,
            recording: None,
            warp: 0,
            executor: Executor::new(machine.portable),
            fuel: 0,
            fates: Fates::default(),
            watch: machine.checks.then(|| Box::new(Watch::new(machine))),
        }
    }
}
