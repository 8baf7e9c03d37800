//! The blocks of a cluster, run side by side by one worker. Each lets its warps have a turn before the next block goes on.

use super::block::{Block, Progress};
use super::core::{Core, Own};
use super::machine::Stop;
use super::warp::{Pause, Warp};
use alu::registers::LANES;
use ptx::finding::{ClusterWait, FindingKind};

/// A cluster that is being executed; reused from cluster to cluster. A block without a cluster is a cluster of one.
pub struct Cluster<'a> {
    members: Vec<Member<'a>>,
    /// Its number in the grid.
    number: u64,
}

/// A block of the cluster, and its warps.
struct Member<'a> {
    /// Its number in the grid.
    number: u64,
    block: Block,
    warps: Vec<Warp>,
    progress: Progress,
    /// What the core has of it when it runs.
    own: Own<'a>,
}

/// A block that cannot go on: its place among the blocks in the order in which they run, and why.
pub type Halt = (u64, Stop);

impl<'a> Cluster<'a> {
    pub fn new(core: &Core<'a>) -> Self {
        let members = (0..core.machine.clusters.blocks).map(|rank| Member {
            number: 0,
            block: Block::default(),
            warps: (0..core.machine.warps()).map(|_| Warp::new(core, rank)).collect(),
            progress: Progress::Done,
            own: Own::default(),
        });
        Self { members: members.collect(), number: 0 }
    }

    /// Puts the blocks of the cluster of that number at their start.
    pub fn start(&mut self, core: &mut Core<'a>, number: u64, fuel: u64) {
        self.number = number;
        let clusters = core.machine.clusters;
        core.shared.fill(0);
        core.copies.clear();
        core.products.clear();
        core.stores.clear();
        core.phases.clear();
        if let Some(watch) = &mut core.watch {
            watch.start((0..clusters.blocks).map(|rank| clusters.block(number, rank)));
        }
        for rank in 0..self.members.len() {
            self.enter(core, rank);
            let member = &mut self.members[rank];
            member.number = clusters.block(number, rank as u32);
            member.block = Block::start(core, &mut member.warps, member.number, rank as u32, fuel);
            member.progress = Progress::Moved;
            self.leave(core, rank);
        }
        if core.machine.program.has_cluster_barrier {
            let warps = self.members.iter().flat_map(|member| &member.warps);
            core.cluster_barrier.start(warps.map(Warp::live));
        }
    }

    /// Lets the core hold what belongs to a block.
    fn enter(&mut self, core: &mut Core<'a>, rank: usize) {
        if self.members.len() > 1 {
            let member = &mut self.members[rank];
            std::mem::swap(&mut member.own, &mut core.own);
            core.first_warp = (rank * member.warps.len()) as u32;
            core.shared_base = core.machine.clusters.base(rank as u32);
            if let Some(watch) = &mut core.watch {
                watch.order.first_warp = core.first_warp;
            }
        }
    }

    fn leave(&mut self, core: &mut Core<'a>, rank: usize) {
        if self.members.len() > 1 {
            std::mem::swap(&mut self.members[rank].own, &mut core.own);
        }
    }

    /// Lets each block have its turn.
    pub fn round(&mut self, core: &mut Core<'a>) -> Result<Progress, Halt> {
        let mut sum = Progress::Done;
        for rank in 0..self.members.len() {
            if self.members[rank].progress == Progress::Done {
                continue;
            }
            self.enter(core, rank);
            let member = &mut self.members[rank];
            let outcome = member.block.round(core, &mut member.warps);
            self.leave(core, rank);
            let progress = outcome.map_err(|stop| self.halt(rank, stop))?;
            self.members[rank].progress = progress;
            if progress == Progress::Done
                && let Some(watch) = &mut core.watch
            {
                watch.end_block(rank as u32);
            }
            // An end may be what others wait for.
            let others_run = progress == Progress::Done && self.members.iter().any(|member| member.progress != Progress::Done);
            sum = sum.max(if others_run { Progress::Moved } else { progress });
        }
        if sum == Progress::Stuck { Err(self.deadlock(core)) } else { Ok(sum) }
    }

    /// Hands the output of its blocks over.
    pub fn finish(&mut self, core: &mut Core<'a>) {
        let alone = self.members.len() == 1;
        for (rank, member) in self.members.iter_mut().enumerate() {
            let printed = std::mem::take(if alone { &mut core.own.printed } else { &mut member.own.printed });
            if !printed.is_empty() {
                let place = self.number * core.machine.clusters.blocks as u64 + rank as u64;
                core.stats.printed.push(place, printed, core.machine.options.printed_bytes);
            }
        }
    }

    /// Returns a block's fault, with its warps numbered in the cluster.
    fn halt(&self, rank: usize, stop: Stop) -> Halt {
        let warps = self.members[rank].warps.len() as u32;
        let stop = match stop {
            Stop::Fault { kind, pc, warp, lane, lanes } => Stop::Fault { kind, pc, warp: warp % warps, lane, lanes },
            stop => stop,
        };
        (self.number * self.members.len() as u64 + rank as u64, stop)
    }

    /// Returns the fault of a cluster whose blocks are deadlocked.
    fn deadlock(&self, core: &Core<'a>) -> Halt {
        let stuck = self.members.iter().enumerate().filter(|(_, member)| member.progress == Progress::Stuck);
        let stuck: Vec<_> = stuck.map(|(rank, member)| (rank, member, member.block.waits())).collect();
        let (rank, first, wait) = &stuck[0];
        // A wait for threads of the block itself is its own affair.
        if self.members.len() == 1 && !matches!(wait.event, Pause::AtCluster { .. }) {
            return self.halt(*rank, first.block.deadlock(core));
        }
        let machine = core.machine;
        let waiting = stuck.iter().map(|(_, member, wait)| ClusterWait {
            block: machine.config.grid.index_of(member.number),
            location: machine.location(wait.pc),
        });
        let ended = self.members.len() - stuck.len();
        let kind = FindingKind::ClusterDeadlock { waiting: waiting.collect(), ended: ended as u32 };
        let stop = Stop::Fault { kind: Box::new(kind), pc: wait.pc, warp: wait.warp, lane: 0, lanes: LANES as u32 };
        self.halt(*rank, stop)
    }

    /// Finds a warp that neither ended nor waits at a barrier: the place of its block, the next instruction, and its number there.
    pub fn running(&self) -> Option<(u64, u32, u32)> {
        self.members.iter().enumerate().find_map(|(rank, member)| {
            let warp = member.block.running()?;
            Some((self.number * self.members.len() as u64 + rank as u64, member.warps[warp].pc(), warp as u32))
        })
    }

    /// Blocks that have ended.
    pub fn ended(&self) -> u64 {
        self.members.iter().filter(|member| member.progress == Progress::Done).count() as u64
    }
}
