//! One worker's part of the machine.

use super::copies::Copies;
use super::machine::Machine;
use super::memo::Slot;
use super::stats::Stats;
use super::watch::Watch;
use crate::instructions::Executor;

/// What a worker needs for the block that it runs, besides the block's warps; kept from block to block.
pub struct Core<'a> {
    pub machine: &'a Machine<'a>,
    pub stats: Stats,
    /// The block's shared memory, in words.
    pub shared: Vec<u32>,
    /// What each load and store remembers.
    pub slots: Vec<Slot>,
    /// What the block under way has printed.
    pub printed: Vec<u8>,
    /// Copies into shared memory that are not finished.
    pub copies: Copies,
    /// A barrier in shared memory has changed since this was last looked at.
    pub mbarriers_moved: bool,
    pub check_hint: u32,
    pub atomic_hint: u32,
    /// The block under way is the one whose requests are kept as samples.
    pub keeps_samples: bool,
    /// The block under way is the one that is traced.
    pub traces: bool,
    /// The warp that runs now.
    pub warp: u32,
    /// Instructions that this block may still execute.
    pub fuel: u64,
    /// The arithmetic, for the host's processor.
    pub executor: Executor,
    /// The checks, where they are asked for.
    pub watch: Option<Box<Watch>>,
}

impl<'a> Core<'a> {
    pub fn new(machine: &'a Machine<'a>) -> Self {
        Self {
            machine,
            stats: Stats::new(machine.program),
            shared: vec![0; machine.shared_bytes.div_ceil(4) as usize],
            slots: machine.program.accesses.iter().map(|_| Slot::default()).collect(),
            printed: Vec::new(),
            copies: Copies::new(machine),
            mbarriers_moved: false,
            check_hint: 0,
            atomic_hint: 0,
            keeps_samples: false,
            traces: false,
            warp: 0,
            executor: Executor::new(machine.portable),
            fuel: 0,
            watch: machine.checks.then(|| Box::new(Watch::new(machine))),
        }
    }
}
