//! The knowledge that warps hand on: what happened before now, and what takes effect with the next fence.

use super::clock::VClock;
use super::far::{Far, FarWarp, LastRelease};

/// Everything that happened before now, in the cluster and elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub near: VClock,
    pub far: Far,
    /// The time of each warp's last `fence.mbarrier_init`. The barriers that its threads initialized before are known, but nothing else is.
    pub inits: VClock,
    /// The time up to which each warp's parts of products have read shared memory. Nothing else that the warp did by then is known.
    pub products: VClock,
}

/// The knowledge that a warp hands on. It does so when it synchronizes with another warp.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    pub known: Known,
    /// The effects of its fences and strong reads; `None` for none, as in most programs.
    pub fences: Option<Box<Fences>>,
}

/// The effects of fences and strong reads.
///
/// A fence acts with the accesses on either side of it, and those may be another thread's: a thread that stores a value, a fence, a barrier, and
/// a flag that another thread sets after the barrier is the usual way to publish what a whole block computed. So this is handed on, too.
/// (PTX ISA 8.5, section 8.9.4: a barrier synchronizes, and so does one `fence.sc` with the next.)
#[derive(Clone, Debug, Default)]
pub struct Fences {
    /// The knowledge at the last fence, which a strong write tells the block.
    pub fenced: Known,
    /// The knowledge at the last fence with a scope of more than the block, which a strong write tells other blocks.
    pub fenced_far: Known,
    /// The knowledge from strong reads, which takes effect at the next fence.
    pub seen: Known,
    /// Their knowledge of other blocks, which takes effect at the next fence with a scope of more than the block.
    pub seen_far: Far,
    /// The part of it from reads that were over before whatever follows: a branch depends on their value, or a barrier came after them.
    pub ended_far: Far,
    /// The part of it from reads that a barrier came after.
    pub met_far: Far,
    /// What other blocks had done before a barrier when they set a flag without a release, from strong reads of it. No fence makes it more.
    pub heard_far: Far,
    /// The part of it from reads that were over before whatever follows.
    pub ended_heard: Far,
}

/// The end of the read of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing did, as far as is known.
    Unordered,
    /// A branch that depends on the value.
    BeforeBranch,
    /// A barrier of the block, or of lanes.
    BeforeBarrier,
}

impl Known {
    pub fn join(&mut self, other: &Self) {
        self.near.join(&other.near);
        self.far.join(&other.far);
        self.inits.join(&other.inits);
        self.products.join(&other.products);
    }
}

impl Clock {
    pub fn join(&mut self, other: &Self) {
        self.known.join(&other.known);
        self.join_fences(other);
    }

    #[inline]
    pub fn join_fences(&mut self, other: &Self) {
        let Some(others) = &other.fences else { return };
        let own = self.fences.get_or_insert_default();
        own.fenced.join(&others.fenced);
        own.fenced_far.join(&others.fenced_far);
        own.seen.join(&others.seen);
        own.seen_far.join(&others.seen_far);
        own.ended_far.join(&others.ended_far);
        own.met_far.join(&others.met_far);
        own.heard_far.join(&others.heard_far);
        own.ended_heard.join(&others.ended_heard);
    }

    /// Notes that a barrier ends the strong reads so far.
    pub fn end_reads(&mut self) {
        if let Some(fences) = &mut self.fences {
            fences.ended_far.join(&fences.seen_far);
            fences.met_far.join(&fences.seen_far);
            fences.ended_heard.join(&fences.heard_far);
        }
    }
}

impl Fences {
    pub fn has_seen(&self, earlier: FarWarp, time: u32) -> Option<Seen> {
        let knows = |far: &Far| far.knows(earlier, time);
        knows(&self.seen_far).then(|| match (knows(&self.met_far), knows(&self.ended_far)) {
            (true, _) => Seen::BeforeBarrier,
            (false, true) => Seen::BeforeBranch,
            (false, false) => Seen::Unordered,
        })
    }
}

/// The clocks of one warp.
#[derive(Debug, Default)]
pub struct WarpClock {
    pub now: u32,
    pub clock: Clock,
    /// Synchronizations of some of the lanes since the last one of all lanes: the lanes, and the time.
    pub lanes: Vec<(u32, u32)>,
    /// The lanes and the time of each `fence.mbarrier_init`.
    pub init_fences: Vec<(u32, u32)>,
    /// When the products that it waited for last had read shared memory.
    pub products_read: u32,
    /// The last knowledge that it told other blocks.
    pub told: LastRelease,
    /// The last that they heard without a release.
    pub heard: LastRelease,
}

impl WarpClock {
    /// Starts a block. Memory is kept.
    pub fn start(&mut self) {
        self.now = 1;
        self.clock.known.near.clear();
        self.clock.known.far = Far::default();
        self.clock.known.inits.clear();
        self.clock.known.products.clear();
        self.products_read = 0;
        self.clock.fences = None;
        self.lanes.clear();
        self.init_fences.clear();
        self.told = LastRelease::default();
        self.heard = LastRelease::default();
    }

    /// Takes over what was released to it: at once, or for its next fence.
    pub fn learn(&mut self, released: &Clock, acquires: bool) {
        self.clock.join_fences(released);
        let Clock { known, fences } = &mut self.clock;
        let learned = if acquires { known } else { &mut fences.get_or_insert_default().seen };
        learned.join(&released.known);
    }
}
