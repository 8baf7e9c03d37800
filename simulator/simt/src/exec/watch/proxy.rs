//! Which bytes of shared memory threads wrote without making the writes visible to the async proxy, through which bulk copies and tensor
//! cores access it.
//!
//! PTX ISA, "Async proxy": accesses of one place through different proxies need a proxy fence between them. The thread that writes
//! executes it, before the synchronization that others wait for (CUDA C++ Programming Guide, "Using TMA to transfer multi-dimensional
//! arrays"). By the memory model, a fence in a thread that has waited for the write might be enough, so that is a warning.
//!
//! Only reads of the async proxy are judged. Before a load overwrites what threads wrote or read, it is enough that they synchronize:
//! NVIDIA's own libraries have no fence there.

use std::collections::BTreeMap;

use super::clock::VClock;
use super::mark::{Mark, Strength};
use super::order::Order;
use crate::exec::machine::Machine;
use crate::exec::phases::Wait;
use ptx::finding::Space;
use ptx::program::Action;

/// The writes that the async proxy may not see.
#[derive(Debug)]
pub struct Proxy {
    /// The last write to each place by a thread, since the async proxy last wrote there.
    writes: Vec<Mark>,
    /// Bytes of a place, as an exponent of two.
    shift: u32,
    /// Proxy fences by warp: the time, and the lanes.
    fences: Vec<Vec<(u32, u32)>>,
    /// The clock of each warp at its last proxy fence, and the time of that fence.
    seen: Vec<Option<(VClock, u32)>>,
    /// True for each instruction that is a bulk copy.
    is_bulk: Vec<bool>,
    /// The last waits of threads, if these were for phases that the threads had seen end.
    stale: BTreeMap<u32, Wait>,
}

/// A write that the async proxy may not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unseen {
    pub write: Mark,
    /// Only a thread that waited for the write executed a fence.
    pub late: bool,
}

impl Proxy {
    /// Makes an empty record of writes. `None` if the async proxy does not access shared memory in this program.
    pub fn new(machine: &Machine<'_>) -> Option<Box<Self>> {
        let program = machine.program;
        if !program.has_async_proxy {
            return None;
        }
        let shift = program.narrowest_access(Space::Shared).clamp(1, 4).ilog2();
        Some(Box::new(Self {
            writes: vec![Mark::default(); machine.clusters.bytes().next_multiple_of(16) as usize >> shift],
            shift,
            fences: Vec::new(),
            seen: Vec::new(),
            is_bulk: program.code.iter().map(|inst| matches!(inst.action, Action::BulkCopy(_))).collect(),
            stale: BTreeMap::new(),
        }))
    }

    pub fn start(&mut self, warps: usize) {
        self.writes.fill(Mark::default());
        self.fences.clear();
        self.fences.resize(warps, Vec::new());
        self.seen.clear();
        self.seen.resize(warps, None);
        self.stale.clear();
    }

    fn places(&self, offset: u32, bytes: u32) -> std::ops::Range<usize> {
        offset as usize >> self.shift..(offset + bytes).div_ceil(1 << self.shift) as usize
    }

    /// Notes that a thread writes. The async proxy, which has no mark, sees its own writes.
    pub fn write(&mut self, mark: Mark, offset: u32, bytes: u32) {
        let places = self.places(offset, bytes);
        self.writes[places].fill(mark);
    }

    /// Notes that lanes of a warp execute a proxy fence. They do so at `time`, knowing `known`.
    pub fn fence(&mut self, warp: u32, lanes: u32, time: u32, known: VClock) {
        self.fences[warp as usize].push((time, lanes));
        self.seen[warp as usize] = Some((known, time));
    }

    /// Finds a write that the async proxy's read may not see. A thread starts the read of these bytes now.
    pub fn read(&self, order: &Order, reader: (u32, u32), offset: u32, bytes: u32) -> Option<Unseen> {
        let writes = self.writes[self.places(offset, bytes)].iter().filter(|write| !write.is_none());
        let mut unseen = writes.filter(|write| !self.is_fenced(order, reader, **write));
        unseen.next().map(|write| Unseen { write: *write, late: self.is_fenced_late(order, reader, *write) })
    }

    /// Returns true if the writing thread executed a fence in time. It is between the write and the reader's synchronization.
    fn is_fenced(&self, order: &Order, (warp, lane): (u32, u32), write: Mark) -> bool {
        let fences = &self.fences[write.warp() as usize];
        let after = fences.partition_point(|(time, _)| *time < write.clock());
        let own = fences[after..].iter().find(|(_, lanes)| lanes >> write.lane() & 1 != 0);
        own.is_some_and(|(time, _)| order.is_behind(Mark::new(0, write.warp(), write.lane(), *time, Strength::Plain), warp, lane))
    }

    /// Returns true if another thread's fence was between write and read.
    fn is_fenced_late(&self, order: &Order, (warp, lane): (u32, u32), write: Mark) -> bool {
        self.seen.iter().zip(0..).any(|(seen, other)| {
            seen.as_ref().is_some_and(|(known, time)| {
                write.clock() <= known.at(write.warp())
                    && (other == warp || order.is_behind(Mark::new(0, other, lane, *time, Strength::Plain), warp, lane))
            })
        })
    }

    /// Notes that a thread's wait is over.
    pub fn waited(&mut self, thread: u32, wait: Wait) {
        if wait.repeats {
            self.stale.insert(thread, wait);
        } else {
            self.stale.remove(&thread);
        }
    }

    /// Returns a thread's last wait, if it was stale. The thread had then already seen that phase end.
    pub fn stale_wait(&self, thread: u32) -> Option<Wait> {
        self.stale.get(&thread).copied()
    }

    /// Returns true if the instruction is a bulk copy.
    pub fn is_bulk(&self, pc: u32) -> bool {
        self.is_bulk.get(pc as usize).copied().unwrap_or(false)
    }
}
