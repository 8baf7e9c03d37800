//! Findings: defects of a kernel, reported so that its author can fix them.
//!
//! A finding is never a limitation of the simulator. PTX that the simulator cannot execute is a [`LoadError`](crate::LoadError), a
//! launch that the host asked for wrongly is `LaunchError::Misuse`, and a kernel that does not end is
//! `LaunchError::OutOfFuel`.

pub mod wgmma;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::missing_order::MissingOrder;
pub use self::wgmma::WgmmaMisuse;
use crate::geometry::Dim3;

mod bulk;
mod missing_order;
mod text;

/// A defect of a kernel, with the instruction and the thread where it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The defect.
    pub kind: FindingKind,
    /// Name of the kernel.
    pub kernel: String,
    /// Index of the block in the grid.
    pub block: Dim3,
    /// Index of the thread in the block; the first of the warp's threads to which this happened.
    pub thread: Dim3,
    /// How many threads of the warp did the same in the same instruction.
    pub lanes: u32,
    /// How often it happened in the launch; a defect that ends the kernel happens once.
    pub times: u64,
    /// Where in the program.
    pub location: Location,
}

/// A place in a program: the line of PTX, and the line of CUDA C that it was compiled from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Line in the PTX text, from 1.
    pub ptx_line: u32,
    /// The text of the instruction.
    pub instruction: String,
    /// File and line of the CUDA source, when the PTX carries `.loc` lines.
    pub source: Option<SourceLine>,
    /// For code of a function that the compiler inlined: the line of the kernel that called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inlined_at: Option<SourceLine>,
}

/// A line of CUDA source, as named by `.file` and `.loc`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceLine {
    /// The file's name as the compiler recorded it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// The severity of a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// It may work on today's GPUs, but nothing guarantees it.
    Warning,
    /// The kernel is wrong.
    Error,
}

/// The kinds of defect that the checks can find.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FindingKind {
    /// An access outside every live allocation (or outside the block's shared, the thread's local, or the parameter memory).
    OutOfBounds {
        /// The access.
        access: Access,
        /// The nearest allocation, and where the access is relative to it.
        nearest: Option<Nearest>,
    },
    /// An address that is not a multiple of the access's width.
    Misaligned {
        /// The access.
        access: Access,
    },
    /// An access to address 0 or to the first bytes after it.
    Null {
        /// The access.
        access: Access,
    },
    /// A barrier that only some of a warp's live threads reached.
    DivergentBarrier {
        /// Number of the barrier.
        barrier: u32,
    },
    /// Every live warp of the block waits at a barrier that cannot open.
    Deadlock {
        /// Number of the barrier at which the first of them waits.
        barrier: u32,
    },
    /// Every live warp of the block waits, and some for a phase of a barrier in shared memory (`mbarrier`) that does not end.
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
    /// Every live block of a cooperative launch waits for a change of memory that none of them makes.
    GridDeadlock {
        /// Blocks that have ended.
        ended: u64,
        /// Blocks of the grid.
        blocks: u64,
    },
    /// Every live block of a cluster waits for others.
    ClusterDeadlock {
        /// The blocks that wait, in order of their ranks, and where.
        waiting: Vec<ClusterWait>,
        /// Blocks that have ended.
        ended: u32,
    },
    /// The barrier of the cluster used wrongly.
    InvalidClusterBarrier {
        /// The defect.
        misuse: ClusterBarrierMisuse,
    },
    /// An access to the shared memory of a block that the cluster does not have.
    NoSuchBlock {
        /// The access, with the offset in that memory.
        access: Access,
        /// The rank that the address names.
        rank: u64,
        /// Blocks of the cluster.
        blocks: u32,
    },
    /// An access to the shared memory of another block of the cluster by an instruction that can only access the block's own.
    OtherBlocksMemory {
        /// The access, with the offset in that memory.
        access: Access,
        /// The rank of that block.
        rank: u64,
    },
    /// An access to the shared memory of a block that has ended, or that nothing keeps from ending before. The kernel went on.
    EndedBlock {
        /// The access, with the offset in that memory.
        access: Access,
        /// Index of that block in the grid.
        owner: Dim3,
    },
    /// `setmaxnreg` with a count on the wrong side of what the threads have.
    InvalidRegisterCount {
        /// Registers that each thread has.
        held: u32,
        /// Registers that it would have.
        count: u32,
        /// The instruction is `setmaxnreg.inc`.
        grows: bool,
    },
    /// Every live warp of the block waits, and some for registers that no warp gives back.
    RegisterDeadlock {
        /// Registers that each thread would have.
        count: u32,
        /// Registers of the block that no warp holds.
        free: u32,
    },
    /// An instruction that all four warps of a warpgroup must execute, and that only some of them did. The kernel went on.
    PartialWarpgroup,
    /// A handle that stands for no texture or surface, or for one of the other kind.
    InvalidTexture {
        /// The handle.
        handle: u64,
    },
    /// An access outside a surface that is to end the kernel.
    OutsideSurface {
        /// The texel.
        at: [i64; 3],
        /// Texels in each dimension.
        extent: [u32; 3],
    },
    /// A barrier in shared memory that is used wrongly.
    InvalidMbarrier {
        /// Where it is, an offset in shared memory.
        address: u64,
        /// The defect.
        misuse: MbarrierMisuse,
    },
    /// A bulk copy that is asked for wrongly.
    InvalidBulkCopy {
        /// The defect.
        misuse: BulkCopyMisuse,
    },
    /// The async proxy reads shared memory that a thread wrote, with no proxy fence between. The kernel went on.
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
    /// A write to shared memory that a bulk copy to global memory has yet to read.
    OverwritesStore {
        /// The write.
        access: Access,
        /// The variable that holds those bytes.
        place: Option<Nearest>,
        /// The copy.
        store: Box<Location>,
    },
    /// A block ended before its bulk copy had read shared memory, as far as its threads could know.
    UnwaitedStore {
        /// The copy is in a group that was committed.
        committed: bool,
    },
    /// A thread waited for a phase whose end it had already seen, and then accessed bytes that a copy may be writing or another thread
    /// using.
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
    PartialWarp,
    /// An access to shared memory that an asynchronous copy has yet to write, because the copying thread has not waited for it.
    UnfinishedCopy {
        /// The access.
        access: Access,
        /// The copy.
        copy: Box<Location>,
    },
    /// A barrier that does not exist, or a number of threads that is not a multiple of the warp size.
    InvalidBarrier {
        /// Number of the barrier.
        barrier: u32,
        /// Number of threads, if the instruction gives one.
        threads: Option<u32>,
    },
    /// A call through a pointer that is not the address of a function with these parameters, or a jump to an index that its table
    /// does not have.
    NoTarget {
        /// The value in the register.
        value: u64,
    },
    /// `free` of an address that `malloc` did not return, or that was freed before.
    InvalidFree {
        /// The address.
        address: u64,
        /// The allocation that is there, or was.
        nearest: Option<Nearest>,
    },
    /// Functions called each other so deep that a thread's stack is full.
    StackOverflow {
        /// Bytes that it may have.
        limit: u32,
    },
    /// An `assert` failed.
    Assert {
        /// The condition, as written in the source.
        condition: String,
        /// The file, as the compiler recorded it.
        file: String,
        /// Line, from 1.
        line: u32,
        /// The function.
        function: String,
    },
    /// The kernel executed `trap`.
    Trap,
    /// Two threads accessed the same bytes, at least one of them wrote, and nothing orders the two accesses. The kernel went on,
    /// and its result depends on chance.
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
    /// A read of memory that was never written.
    Uninitialized {
        /// The access.
        access: Access,
        /// The allocation that holds those bytes.
        place: Option<Nearest>,
    },
    /// An asynchronous copy was asked to read more bytes than it writes. The kernel went on, and the copy read as many as it writes.
    CopySize {
        /// The bytes that it was to read.
        asked: u32,
        /// The bytes that it writes.
        bytes: u32,
    },
    /// A thread stored a value that it read from the register of a lane that had ended, or that took no part in the exchange.
    AbsentLane {
        /// The lane that it read.
        source: u32,
    },
    /// The block waited at a barrier, and some of its threads had ended without reaching it.
    EndedBeforeBarrier {
        /// Number of the barrier.
        barrier: u32,
        /// Threads that had ended.
        ended: u32,
    },
    /// Warps of the block waited for each other at different barrier instructions.
    DifferentBarriers {
        /// Number of the barrier.
        barrier: u32,
        /// The other instruction.
        other: Box<Location>,
    },
    /// A product of `wgmma` that is used wrongly.
    Wgmma(WgmmaMisuse),
}

pub use bulk::{BulkCopyMisuse, PhaseReport, Waiter};

/// The ways to misuse a barrier in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "misuse", rename_all = "kebab-case")]
pub enum MbarrierMisuse {
    /// It was not initialized, or it was overwritten.
    NotInitialized,
    /// It was initialized for more arrivals than it can count, or for none.
    Count {
        /// The arrivals.
        count: u32,
    },
    /// More threads arrive than the phase is missing, or none.
    TooManyArrivals {
        /// Threads that arrive.
        count: u32,
        /// Arrivals that the phase is missing.
        lacking: u32,
    },
    /// More bytes are expected, or arrived early, than it can count.
    TooManyBytes,
    /// An arrival that must not end the phase would end it.
    EndsPhase,
    /// More bytes came than were expected, so that the phase cannot end.
    MoreBytes {
        /// Bytes that were expected.
        expected: u64,
        /// Bytes that came.
        came: u64,
    },
}

impl fmt::Display for MbarrierMisuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MbarrierMisuse::NotInitialized => write!(f, "which nobody initialized, or which was written over"),
            MbarrierMisuse::Count { count } => write!(f, "initialized for {count} arrivals: there must be 1 to 1048575"),
            MbarrierMisuse::TooManyArrivals { count, lacking } => {
                write!(f, "where {count} arrive and the phase lacks {lacking}")
            }
            MbarrierMisuse::TooManyBytes => write!(f, "which cannot count so many bytes: at most 1048575 may be lacking"),
            MbarrierMisuse::MoreBytes { expected, came } => {
                write!(f, "whose phase cannot end: {came} bytes came and {expected} were expected")
            }
            MbarrierMisuse::EndsPhase => write!(f, "whose phase an arrival with .noComplete would end"),
        }
    }
}

/// The ways to misuse the barrier of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "misuse", rename_all = "kebab-case")]
pub enum ClusterBarrierMisuse {
    /// Only some of a warp's threads reached an instruction with `.aligned`.
    Divergent,
    /// A thread arrived and did not wait before it arrived again.
    ArrivedTwice,
    /// A thread waits that has not arrived.
    NotArrived,
}

/// A block that waits for others of its cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterWait {
    /// Index of the block in the grid.
    pub block: Dim3,
    /// Where its first waiting warp is.
    pub location: Location,
}

impl fmt::Display for ClusterBarrierMisuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClusterBarrierMisuse::Divergent => {
                "reached by only part of a warp: with .aligned, all threads of the warp must execute the same instruction"
            }
            ClusterBarrierMisuse::ArrivedTwice => "where a thread arrives a second time without having waited",
            ClusterBarrierMisuse::NotArrived => "where a thread waits without having arrived",
        })
    }
}

/// The other side of a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherAccess {
    /// The kind of its access.
    pub op: AccessOp,
    /// Index of its block in the grid.
    pub block: Dim3,
    /// Index of its thread in the block.
    pub thread: Dim3,
    /// Where in the program.
    pub location: Location,
}

impl FindingKind {
    /// Its severity.
    pub fn severity(&self) -> Severity {
        match self {
            FindingKind::Race { same_warp: true, .. }
            | FindingKind::MissingProxyFence { late: true, .. }
            | FindingKind::Race { volatile: true, .. }
            | FindingKind::EndedBeforeBarrier { .. }
            | FindingKind::DifferentBarriers { .. } => Severity::Warning,
            FindingKind::Wgmma(misuse) => misuse.severity(),
            _ => Severity::Error,
        }
    }

    /// A suggested fix, for the kinds that have one.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            FindingKind::Race { same_block: false, access: Access { space: Space::Shared, .. }, .. } => {
                Some("put cluster.sync() between the two accesses, where every thread of the cluster reaches it")
            }
            FindingKind::Race { missing: Some(missing), .. } => Some(missing.help()),
            FindingKind::Race { same_block: false, .. } => Some(
                "blocks run in any order and at the same time: let each write places of its own, use atomics, or launch a second kernel",
            ),
            FindingKind::Race { access: Access { op: AccessOp::Store, .. }, other, .. } if other.op == AccessOp::Store => {
                Some("two threads store at one place: should each have a place of its own, or only one of them store?")
            }
            FindingKind::Race { same_warp: true, .. } => {
                Some("lanes of a warp need not run in step since compute capability 7.0: put __syncwarp() between the two accesses")
            }
            FindingKind::Race { .. } => {
                Some("put __syncthreads() between the two accesses, where every thread of the block reaches it")
            }
            FindingKind::OutsideArray { .. } => {
                Some("the index is too large, or the array too small: what is the largest index that this line can have?")
            }
            FindingKind::Uninitialized { access: Access { space: Space::Shared, .. }, .. } => {
                Some("shared memory holds anything when a block starts: write every element before it is read")
            }
            FindingKind::Uninitialized { .. } => {
                Some("memory holds anything when it is allocated: copy or set it before the launch, or write it in an earlier one")
            }
            FindingKind::UnfinishedCopy { .. } => Some(
                "wait for the copy in the thread that began it (cp.async.wait_group), and let the others meet it at a barrier after that; of a \
                 bulk copy, let every thread wait for the phase of its mbarrier",
            ),
            FindingKind::DivergentBarrier { .. } | FindingKind::EndedBeforeBarrier { .. } => {
                Some("let threads without work go on to the barrier instead of returning or branching around it")
            }
            FindingKind::MissingProxyFence { .. } => Some(
                "let each thread that writes execute fence.proxy.async.shared::cta after its writes, then __syncthreads() (or an arrival), then \
                 start the copy",
            ),
            FindingKind::OverwritesStore { .. } => Some(
                "let the thread that began the copy commit it and wait for cp.async.bulk.wait_group.read, and let the others meet it at a \
                 barrier after that",
            ),
            FindingKind::UnwaitedStore { .. } => Some(
                "put cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0 after the copy, in the thread that began it",
            ),
            FindingKind::StaleWait { .. } | FindingKind::MbarrierDeadlock { stale: Some(_), .. } => Some(
                "change the parity each time that the same barrier is waited for: 0 for its first phase, 1 for its second, 0 for its third",
            ),
            FindingKind::MbarrierDeadlock { .. } if self.is_for_the_next_phase() => Some(
                "the phase before is over, and nothing came in this one: does the wait name the wrong parity? It is 0 for the first phase, 1 \
                 for the second",
            ),
            FindingKind::MbarrierDeadlock { .. } => Some(
                "a phase ends when as many threads have arrived as the barrier was initialized for, and as many bytes as were expected: \
                 expect_tx must name the bytes of all copies together",
            ),
            FindingKind::GridDeadlock { .. } => Some("let every block of the grid reach each barrier of the grid, equally often"),
            FindingKind::EndedBlock { .. } => Some(
                "let all blocks of the cluster meet at cluster.sync() after the last access to each other's shared memory, before any of them ends",
            ),
            FindingKind::ClusterDeadlock { .. } => Some(
                "let every block of the cluster reach each barrier of the cluster, equally often, before it waits for anything else",
            ),
            FindingKind::OtherBlocksMemory { .. } => {
                Some("use ld.shared::cluster and its like, or a generic pointer: plain .shared means the block's own memory")
            }
            FindingKind::NoSuchBlock { .. } => Some("compare the rank with cluster.num_blocks() before mapping an address to it"),
            FindingKind::RegisterDeadlock { .. } => Some(
                "the registers of a block are those of its launch: let other warpgroups execute setmaxnreg.dec before, with enough of them",
            ),
            FindingKind::CopySize { .. } => Some(
                "a copy reads at most as many bytes as it writes, and fills the rest with zeros: is the number of bytes negative?",
            ),
            FindingKind::AbsentLane { .. } => Some(
                "name only lanes that execute the exchange, and let each of them read one that is named; use the value nowhere else",
            ),
            FindingKind::DifferentBarriers { .. } => {
                Some("__syncthreads() in a branch is allowed only where all threads of the block take the same branch")
            }
            FindingKind::Wgmma(misuse) => Some(misuse.help()),
            _ => None,
        }
    }
}

/// One thread's access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The memory.
    pub space: Space,
    /// Read, write or both.
    pub op: AccessOp,
    /// First byte; an offset for shared, local and parameter memory.
    pub address: u64,
    /// Width in bytes, of all elements of a vector access together.
    pub bytes: u32,
}

/// The kind of access: a read, a write, or both at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessOp {
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `atom` and `red`
    Atomic,
}

/// The memories that PTX distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    /// Device memory, seen by every thread.
    Global,
    /// One block's on-chip memory.
    Shared,
    /// Read-only memory, 64 KiB.
    Const,
    /// One thread's own memory.
    Local,
    /// Kernel and function parameters.
    Param,
}

/// Where an address is relative to the nearest allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nearest {
    /// Name or size of the allocation, for example `a 4096-byte allocation` or `variable counter`.
    pub allocation: String,
    /// First byte of the allocation.
    pub base: u64,
    /// Length of the allocation in bytes.
    pub bytes: u64,
    /// Offset of the access from the start of the allocation; negative before it.
    pub offset: i64,
    /// The allocation had been freed before the access.
    pub freed: bool,
}
