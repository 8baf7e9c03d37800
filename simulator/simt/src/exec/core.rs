//! The state of one worker.

use super::cluster_phase::ClusterBarrier;
use super::copies::Copies;
use super::fates::Fates;
use super::machine::Machine;
use super::memo::Slot;
use super::phases::Phases;
use super::printed::Printed;
use super::products::Products;
use super::recording::Recording;
use super::register_pool::RegisterPool;
use super::request::{Polled, Request};
use super::stats::Stats;
use super::stores::Stores;
use super::watch::Watch;
use super::watch::found::Defect;
use crate::memory::{element, set_element};
use alu::Executor;
use ptx::finding::Space;

/// The running block's own state. Each block of its cluster has one, which waits with the block while another one runs.
#[derive(Default)]
pub struct Own<'a> {
    /// The output.
    pub printed: Printed,
    /// Remaining fuel, in warp instructions.
    pub fuel: u64,
    /// The block is the one whose requests are kept as samples.
    pub keeps_samples: bool,
    /// The block is the traced one.
    pub traces: bool,
    /// The record of a warp, if it is one of the block.
    pub recording: Option<Box<Recording<'a>>>,
    /// The registers that the warpgroups pass on.
    pub register_pool: RegisterPool,
}

/// The state of one worker, besides the warps of its block; reused from block to block.
pub struct Core<'a> {
    pub machine: &'a Machine<'a>,
    pub stats: Stats,
    /// The shared memory of the cluster's blocks, in words, each at its [base](super::clusters::Clusters::base).
    pub shared: Vec<u32>,
    /// Where that of the block starts whose warp is running.
    pub shared_base: u32,
    /// The memo of each load and store.
    pub slots: Vec<Slot>,
    pub own: Own<'a>,
    /// Unfinished copies into shared memory.
    pub copies: Copies,
    /// Unfinished products of `wgmma`.
    pub products: Products,
    /// Unfinished bulk copies from shared memory.
    pub stores: Stores,
    /// The counts of the barriers in shared memory.
    pub phases: Phases,
    /// A barrier in shared memory has changed since this flag was last reset.
    pub mbarriers_moved: bool,
    /// The warp's first look for a change that others make. Reset before its turn.
    pub polled: Option<Polled>,
    /// The warp changed memory. Reset before its turn.
    pub changed: bool,
    /// A warp's turn is short, because waiting is most of what the blocks do.
    pub has_short_turns: bool,
    pub check_hint: u32,
    pub atomic_hint: u32,
    /// The warp that is running; the warps of a cluster's blocks are numbered one block after the other.
    pub warp: u32,
    /// The first warp of its block.
    pub first_warp: u32,
    /// The barrier of the cluster.
    pub cluster_barrier: ClusterBarrier,
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
            shared: vec![0; machine.clusters.bytes().div_ceil(4) as usize],
            shared_base: 0,
            slots: machine.program.accesses.iter().map(|_| Slot::default()).collect(),
            own: Own::default(),
            copies: Copies::new(machine),
            products: Products::new(machine),
            stores: Stores::new(machine),
            phases: Phases::default(),
            mbarriers_moved: false,
            polled: None,
            changed: false,
            has_short_turns: machine.options.cooperative,
            check_hint: 0,
            atomic_hint: 0,
            warp: 0,
            first_warp: 0,
            cluster_barrier: ClusterBarrier::default(),
            executor: Executor::new(machine.options.portable),
            fates: Fates::default(),
            watch: machine.options.checks.then(|| Box::new(Watch::new(machine))),
        }
    }

    /// Returns the element at an offset in shared memory. It has 1, 2, 4 or 8 bytes.
    #[inline(always)]
    pub fn shared_element(&self, offset: u32, width: u32) -> u64 {
        match width {
            4 => self.shared[offset as usize / 4].into(),
            _ => element(|word| self.shared[word as usize], offset.into(), width),
        }
    }

    /// Replaces such an element.
    #[inline(always)]
    pub fn set_shared_element(&mut self, offset: u32, width: u32, value: u64) {
        if width == 4 {
            self.shared[offset as usize / 4] = value as u32;
            return;
        }
        set_element(offset.into(), width, value, |word, field, bits| {
            let word = &mut self.shared[word as usize];
            *word = *word & !field | bits;
        });
    }

    /// Notes that the warp looks for a change that others make. The first look of a turn is kept.
    #[inline(always)]
    pub fn note_poll(&mut self, request: &Request<'_>, space: Option<Space>) {
        if self.polled.is_none_or(|first| first.is_only) {
            self.note_only_poll(request, space);
        }
    }

    #[inline(never)]
    fn note_only_poll(&mut self, request: &Request<'_>, space: Option<Space>) {
        let lane = request.first_lane();
        let access = match space.unwrap_or(request.space_of(lane)) {
            Space::Shared => request.in_shared(lane),
            space => request.access(space, request.addresses[lane]),
        };
        match &mut self.polled {
            Some(first) => first.is_only = first.access == access,
            None => self.polled = Some(Polled { access, pc: request.pc, warp: self.warp, is_only: true }),
        }
    }

    /// Returns true if the warp last looked at memory of the host.
    pub fn polls_host(&self) -> bool {
        let access = self.polled.map(|polled| polled.access).filter(|access| access.space == Space::Global);
        access.is_some_and(|access| self.machine.is_on_host(access.address))
    }

    /// Notes a warp that went on after a later cluster started.
    #[cold]
    pub fn note_wait_for_later(&mut self, Polled { access, pc, warp, .. }: Polled, cluster: u64) {
        let first = self.machine.clusters.block(cluster, 0);
        self.check(|watch, _| watch.report(Defect::LaterBlock { access, first }, pc, warp, 0));
    }

    /// Tells the checks, if they are on, something about the running warp.
    #[inline(always)]
    pub fn check(&mut self, note: impl FnOnce(&mut Watch, u32)) {
        if let Some(watch) = &mut self.watch {
            note(watch, self.warp);
        }
    }
}
