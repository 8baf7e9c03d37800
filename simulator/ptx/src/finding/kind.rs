//! The kinds of defect, each with the sentence about it.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::barriers::{BarrierCount, ClusterBarrierMisuse, ClusterWait, MbarrierMisuse, PhaseReport, Waiter};
use super::{Access, BulkCopyMisuse, Location, MissingOrder, Nearest, OtherAccess, WgmmaMisuse};
use crate::geometry::Dim3;

/// The kinds of defect that the checks can find.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the comment and the text of each kind name its fields")]
pub enum FindingKind {
    /// An access outside every live allocation (or outside the block's shared, the thread's local, or the parameter memory).
    #[error("out of bounds: {access}, {}", match .nearest {
        Some(nearest) => nearest.to_string(),
        None => "which belongs to no allocation".to_owned(),
    })]
    OutOfBounds { access: Access, nearest: Option<Nearest> },
    /// An address that is not a multiple of the access's width.
    #[error("misaligned: {access}, which is no multiple of {}", .access.bytes)]
    Misaligned { access: Access },
    /// An access to address 0 or to the first bytes after it.
    #[error("null pointer: {access}")]
    Null { access: Access },
    /// A barrier that only some of a warp's live threads reached.
    #[error("barrier {barrier} reached by only part of a warp: every thread of the block must reach the same barrier")]
    DivergentBarrier { barrier: u32 },
    /// Every live warp of the block waits at a barrier that cannot open. The barrier is the one where the first of them waits.
    /// `count` is there if the barrier counts threads.
    #[error("deadlock: {}", match .count {
        Some(count) => format!("barrier {barrier} waits for {count}"),
        None => format!("threads wait at barrier {barrier} for threads that will never arrive"),
    })]
    Deadlock {
        barrier: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<BarrierCount>,
    },
    /// Every live warp of the block waits, and some for a phase of a barrier in shared memory (`mbarrier`) that does not end.
    #[error(
        "deadlock: threads wait for the mbarrier at {address:#x} in shared memory, whose phase lacks {} and {} that will never \
         come{}",
        counted(*.arrivals, "arrival"), counted(*.bytes, "byte"), progress(.phase, *.arrivals)
    )]
    MbarrierDeadlock {
        /// Where the barrier is, an offset in shared memory.
        address: u64,
        /// Arrivals that the phase is still missing.
        arrivals: u32,
        /// Bytes that it is still missing; negative if more arrived than were expected.
        bytes: i32,
        /// The counts of the phase.
        #[serde(default)]
        phase: Option<PhaseReport>,
        /// The other warps that wait for a barrier in shared memory.
        #[serde(default)]
        others: Vec<Waiter>,
        /// A wait in a loop, in the same block, that a thread passed twice for one phase.
        #[serde(default)]
        stale: Option<Box<Location>>,
    },
    /// Every running block waits for a change of memory that none of them makes. `ended` of the launch's blocks have ended. If there are
    /// others, they cannot start, because the GPU holds only `resident` blocks at once.
    #[error(
        "deadlock: the blocks wait for one another, and {ended} of the {blocks} have ended{}",
        .resident.map_or(String::new(), |resident| format!(
            "; {} cannot start, because the GPU holds only {resident} of these blocks at once, and all of them wait", blocks - ended - resident
        ))
    )]
    GridDeadlock {
        ended: u64,
        blocks: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resident: Option<u64>,
    },
    /// Every live block of a cluster waits for others. The blocks are in order of their ranks, and `ended` more have ended.
    #[error(fmt = cluster_deadlock)]
    ClusterDeadlock { waiting: Vec<ClusterWait>, ended: u32 },
    /// The barrier of the cluster used wrongly.
    #[error("barrier of the cluster, {misuse}")]
    InvalidClusterBarrier { misuse: ClusterBarrierMisuse },
    /// An access to the shared memory of a block that the cluster does not have.
    /// The address of the access is an offset in that memory, and `rank` is the rank that the address names.
    #[error("no such block: {access} of the block with rank {rank}, in a cluster of {blocks}")]
    NoSuchBlock { access: Access, rank: u64, blocks: u32 },
    /// An access to the shared memory of another block of the cluster by an instruction that can only access the block's own.
    /// The access has the offset in that memory; `rank` is that block's.
    #[error("another block's memory: {access} of the block with rank {rank}, which this instruction cannot reach")]
    OtherBlocksMemory { access: Access, rank: u64 },
    /// An access to the shared memory of a block that has ended, or that nothing keeps from ending before. The kernel went on.
    /// The access has the offset in that memory; the owner is named by its index in the grid.
    #[error("memory of a block that may have ended: {access} of block {owner}, which does not wait for it")]
    EndedBlock { access: Access, owner: Dim3 },
    /// `setmaxnreg` with a count on the wrong side of what the threads have. `grows`: the instruction is `setmaxnreg.inc`.
    #[error(
        "{} to {count} registers, which is {} than the {held} that each thread has",
        if *.grows { "setmaxnreg.inc" } else { "setmaxnreg.dec" }, if *.grows { "less" } else { "more" }
    )]
    InvalidRegisterCount { held: u32, count: u32, grows: bool },
    /// Every live warp of the block waits, and some for registers that no warp gives back.
    /// Each thread would have `count`, and no warp holds `free` of the block's.
    #[error(
        "deadlock: a warpgroup waits for {count} registers per thread, but no warp gives any back, and the block has {free} left"
    )]
    RegisterDeadlock { count: u32, free: u32 },
    /// An instruction that all four warps of a warpgroup must execute, and that only some of them did. The kernel went on.
    #[error("executed by only part of a warpgroup: all four warps must execute the same instruction")]
    PartialWarpgroup,
    /// A handle that stands for no texture or surface, or for one of the other kind.
    #[error("{handle:#x} is not the handle of a texture or surface that this instruction can use")]
    InvalidTexture { handle: u64 },
    /// An access outside a surface that is to end the kernel. `extent` has the texels in each dimension.
    #[error(
        "texel ({},{},{}) is outside a surface of {} x {} x {}",
        .at[0], .at[1], .at[2], .extent[0], .extent[1], .extent[2]
    )]
    OutsideSurface { at: [i64; 3], extent: [u32; 3] },
    /// A barrier in shared memory that is used wrongly. The address is an offset in shared memory.
    #[error("mbarrier at {address:#x} in shared memory, {misuse}")]
    InvalidMbarrier { address: u64, misuse: MbarrierMisuse },
    /// A bulk copy that is asked for wrongly.
    #[error("bulk copy {misuse}")]
    InvalidBulkCopy { misuse: BulkCopyMisuse },
    /// The async proxy reads shared memory that a thread wrote, with no proxy fence between. The kernel went on.
    #[error(
        "no proxy fence: the async proxy reads {} bytes at {:#x} in shared memory{}, which a thread wrote before, and {}",
        .access.bytes, .access.address, Nearest::also(.place), if *.late {
            "only a thread that waited for it executed fence.proxy.async, not the one that wrote"
        } else {
            "nothing makes that write visible to the async proxy"
        }
    )]
    MissingProxyFence {
        /// The read.
        access: Access,
        /// The variable that holds those bytes.
        place: Option<Nearest>,
        /// The write.
        writer: Box<OtherAccess>,
        /// A thread executed a proxy fence after it had waited for the write, but the thread that wrote did not before the others waited
        /// for it.
        late: bool,
    },
    /// A write to bytes that an asynchronous copy has yet to read. `place` holds those bytes.
    #[error("overwritten too early: {access}{}, which is still to be read by the copy begun at {store}", Nearest::also(.place))]
    OverwritesStore { access: Access, place: Option<Nearest>, store: Box<Location> },
    /// A block ended before its bulk copy had read shared memory, as far as its threads could know.
    /// `committed`: the copy is in a group that was committed.
    #[error(
        "bulk copy to global memory that nothing waits for: the block ends, and with it the shared memory that it reads{}",
        if *.committed { "" } else { "; it is in no group, because no commit follows it" }
    )]
    UnwaitedStore { committed: bool },
    /// A thread waited for a phase whose end it had already seen, and then accessed bytes that a copy may be writing or another thread
    /// using.
    #[error(
        "stale wait: {access}, which races with {other}; the wait at {wait} for parity {parity} of the mbarrier at {barrier:#x} \
         returned at once, because this thread had already seen that phase end"
    )]
    StaleWait {
        /// The access.
        access: Access,
        /// Where the barrier is, an offset in shared memory.
        barrier: u64,
        /// The parity of the phase that the wait named.
        parity: u32,
        /// The wait.
        wait: Box<Location>,
        /// The other access, or the copy.
        other: Box<Location>,
    },
    /// An instruction that all 32 threads of a warp must execute together, and that only some of them reached.
    #[error("reached by only part of a warp: all 32 threads must execute this instruction together")]
    PartialWarp,
    /// An access to bytes that an asynchronous copy has yet to write, because the copying thread has not waited for it.
    #[error("unfinished asynchronous copy: {access}, which is still to be written by the copy begun at {copy}")]
    UnfinishedCopy { access: Access, copy: Box<Location> },
    /// A barrier that does not exist, or a number of threads that is not a multiple of the warp size.
    /// `threads` is there if the instruction gives their number.
    #[error(fmt = invalid_barrier)]
    InvalidBarrier { barrier: u32, threads: Option<u32> },
    /// A call through a pointer that is not the address of a function with these parameters, or a jump to an index that its table
    /// does not have.
    #[error("a call or a jump to {value:#x}, which is none of the functions or places it can lead to")]
    NoTarget { value: u64 },
    /// `free` of an address that `malloc` did not return, or that was freed before. `nearest` is the allocation that is there, or was.
    #[error(fmt = invalid_free)]
    InvalidFree { address: u64, nearest: Option<Nearest> },
    /// Functions called each other so deep that a thread's stack is full. It may have `limit` bytes.
    #[error(
        "stack overflow: functions call each other deeper than {limit} bytes of stack per thread allow; \
         `cudaDeviceSetLimit(cudaLimitStackSize, …)` changes that"
    )]
    StackOverflow { limit: u32 },
    /// An `assert` failed. The condition is as written in the source, and the file as the compiler recorded it.
    #[error("assertion `{condition}` failed in {function} ({file}:{line})")]
    Assert { condition: String, file: String, line: u32, function: String },
    /// The kernel executed `trap`.
    #[error("the kernel executed a trap")]
    Trap,
    /// Two threads accessed the same bytes, at least one of them wrote, and nothing orders the two accesses. The kernel went on,
    /// and its result depends on chance.
    #[error(
        "data race on {} memory: {access}{}, and {} of the same bytes by another thread, with nothing between that orders them{}",
        .access.space, Nearest::also(.place), .other.op, match .missing {
            Some(missing) => format!(": {}", missing.reason()),
            None if *.volatile => " (volatile orders nothing)".to_owned(),
            None => String::new(),
        }
    )]
    Race {
        /// The access of the thread that the finding names.
        access: Access,
        /// The allocation that holds those bytes.
        place: Option<Nearest>,
        /// The other access.
        other: Box<OtherAccess>,
        /// Both threads are in one block.
        #[serde(default)]
        same_block: bool,
        /// Both threads are in one warp, whose lanes run in lockstep on some GPUs but not on others.
        same_warp: bool,
        /// Both accesses are volatile.
        #[serde(default)]
        volatile: bool,
        /// The missing synchronization, if the threads are in two blocks of a program that tries to order them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<MissingOrder>,
    },
    /// An access outside the array in shared memory that its address was made from, and inside the block's shared memory. The kernel went
    /// on.
    #[error(
        "outside its array: {access}, {} of {array} ({array_bytes} bytes){}",
        outside(*.array_offset, *.array_bytes), Nearest::also(.place)
    )]
    OutsideArray {
        /// The access.
        access: Access,
        /// The array's name.
        array: String,
        /// Where the access begins, in bytes from the start of the array.
        array_offset: i64,
        /// The array's size.
        array_bytes: u32,
        /// The allocation there instead.
        place: Option<Nearest>,
    },
    /// A write to constant memory by a kernel that reads such memory. `place` holds those bytes. The kernel went on.
    #[error("write to constant memory: {access}{}, which a kernel may only read", Nearest::also(.place))]
    WritesConstant { access: Access, place: Option<Nearest> },
    /// A read of memory that was never written. `place` holds those bytes.
    #[error("uninitialized: {access}{}, where nothing was written before", Nearest::also(.place))]
    Uninitialized { access: Access, place: Option<Nearest> },
    /// An asynchronous copy was asked to read more bytes than it writes. The kernel went on, and the copy read as many as it writes.
    #[error("asynchronous copy of {bytes} bytes that is to read {asked} of them, which has no defined result")]
    CopySize { asked: u32, bytes: u32 },
    /// A thread stored a value that it read from the register of a lane that had ended, or that took no part in the exchange.
    #[error("undefined value: lane {lane} of the warp has ended or takes no part in the exchange, and its value is stored")]
    AbsentLane {
        /// The lane that it read.
        #[serde(rename = "source")]
        lane: u32,
    },
    /// An exchange of a warp's lanes, or `bar.warp.sync`, whose mask is wrong: it does not name the executing lane, or it names `absent`,
    /// which had not ended and went on without executing the instruction. The kernel went on.
    #[error("mask {mask:#x} {}", match .absent {
        None => "does not name the lane that executes this".to_owned(),
        Some(lane) => format!("names lane {lane}, which goes on without executing this"),
    })]
    LaneMask { mask: u32, absent: Option<u32> },
    /// A block waited for a change of memory until blocks ran that had not started: all blocks that had started waited. `first` is the first
    /// of the others. The kernel went on, because the GPU holds that many blocks at once.
    #[error(
        "block waits for a later one: the same {access}{} again and again, and no block that has started changes the value; block {first} and \
         those after it have not started",
        Nearest::also(.place)
    )]
    LaterBlock { access: Access, place: Option<Nearest>, first: Dim3 },
    /// The block waited at a barrier, and some of its threads had ended without reaching it. `ended` threads had.
    #[error(
        "barrier {barrier} reached by part of the block: {} ended before",
        if *.ended == 1 { "1 thread has".to_owned() } else { format!("{} threads have", .ended) }
    )]
    EndedBeforeBarrier { barrier: u32, ended: u32 },
    /// Warps of the block waited for each other at different barrier instructions. `other` is the other instruction.
    #[error("barrier {barrier} reached at different instructions: other warps wait at {other}")]
    DifferentBarriers { barrier: u32, other: Box<Location> },
    /// A product of `wgmma` that is used wrongly.
    #[error("{0}")]
    Wgmma(WgmmaMisuse),
}

fn counted(count: impl Into<i64>, what: &str) -> String {
    let count = count.into();
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Says what came in a phase, when `missing` arrivals did not.
fn progress(phase: &Option<PhaseReport>, missing: u32) -> String {
    let Some(PhaseReport { number, arrivals, bytes, came }) = phase else { return String::new() };
    let (parity, arrived) = (number % 2, arrivals.saturating_sub(missing));
    format!(
        "; the wait is for phase {number} (parity {parity}), in which {arrived} of {arrivals} arrivals and {came} of {bytes} expected \
         bytes came"
    )
}

fn cluster_deadlock(waiting: &[ClusterWait], ended: &u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "deadlock: the blocks of a cluster wait for one another")?;
    if *ended > 0 {
        write!(f, ", and {ended} of them ended before")?;
    }
    waiting.iter().try_for_each(|ClusterWait { block, location }| write!(f, "\n  block {block} waits at {location}"))
}

fn invalid_barrier(barrier: &u32, threads: &Option<u32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match threads {
        Some(threads) if *barrier < 16 => {
            write!(f, "barrier {barrier} for {threads} threads: the number must be a multiple of 32 and not 0")
        }
        _ => write!(f, "barrier {barrier} does not exist: a block has barriers 0 to 15"),
    }
}

fn invalid_free(address: &u64, nearest: &Option<Nearest>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "free({address:#x}): ")?;
    match nearest {
        Some(nearest) if nearest.freed => write!(f, "freed before; it was {}", nearest.allocation),
        Some(nearest) => write!(f, "malloc did not return this address, which is {nearest}"),
        None => write!(f, "malloc did not return this address"),
    }
}

/// Says how far from an array of `bytes` bytes an offset is.
fn outside(offset: i64, bytes: u32) -> String {
    match offset {
        ..0 => format!("{} bytes before the start", -offset),
        _ => format!("{} bytes past the end", (offset - i64::from(bytes)).max(0)),
    }
}
