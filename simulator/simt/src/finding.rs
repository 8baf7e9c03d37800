//! Findings: defects of a kernel, reported so that its author can fix them.
//!
//! A finding is never a limitation of the simulator. PTX that the simulator cannot execute is a [`LoadError`](crate::LoadError), a
//! launch that the host asked for wrongly is [`LaunchError::Misuse`](crate::LaunchError::Misuse), and a kernel that does not end is
//! [`LaunchError::OutOfFuel`](crate::LaunchError::OutOfFuel).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::geometry::Dim3;

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
    },
    /// Every live block of a cooperative launch waits for a change of memory that none of them makes.
    GridDeadlock {
        /// Blocks that have ended.
        ended: u64,
        /// Blocks of the grid.
        blocks: u64,
    },
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
    /// A bulk copy whose size is not a multiple of 16 bytes.
    InvalidBulkCopy {
        /// The bytes.
        bytes: u32,
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
        /// What is there, or was.
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
    },
    /// An access outside the array in shared memory that its address was made from, and inside the block's shared memory. The kernel went on.
    OutsideArray {
        /// The access.
        access: Access,
        /// The array's name.
        array: String,
        /// Where the access begins, in bytes from the start of the array.
        array_offset: i64,
        /// The array's size.
        array_bytes: u32,
        /// What is there instead.
        place: Option<Nearest>,
    },
    /// A read of memory that was never written.
    Uninitialized {
        /// The access.
        access: Access,
        /// The allocation that holds those bytes.
        place: Option<Nearest>,
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
}

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
            MbarrierMisuse::EndsPhase => write!(f, "whose phase an arrival with .noComplete would end"),
        }
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
            | FindingKind::Race { volatile: true, .. }
            | FindingKind::EndedBeforeBarrier { .. }
            | FindingKind::DifferentBarriers { .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// A suggested fix, for the kinds that have one.
    pub fn help(&self) -> Option<&'static str> {
        match self {
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
            FindingKind::MbarrierDeadlock { .. } => Some(
                "a phase ends when as many threads have arrived as the barrier was initialized for, and as many bytes as were expected: \
                 expect_tx must name the bytes of all copies together",
            ),
            FindingKind::GridDeadlock { .. } => Some("let every block of the grid reach each barrier of the grid, equally often"),
            FindingKind::AbsentLane { .. } => Some(
                "name only lanes that execute the exchange, and let each of them read one that is named; use the value nowhere else",
            ),
            FindingKind::DifferentBarriers { .. } => {
                Some("__syncthreads() in a branch is allowed only where all threads of the block take the same branch")
            }
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

/// Whether an access reads, writes, or does both at once.
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

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Const => "constant",
            Space::Local => "local",
            Space::Param => "parameter",
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(source) = &self.source {
            write!(f, "{source}, ")?;
        }
        if let Some(caller) = &self.inlined_at {
            write!(f, "inlined at {caller}, ")?;
        }
        write!(f, "PTX line {}: {}", self.ptx_line, self.instruction)
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Display for AccessOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessOp::Load => "load",
            AccessOp::Store => "store",
            AccessOp::Atomic => "atomic operation",
        })
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { space, op, address, bytes } = self;
        let plural = if *bytes == 1 { "byte" } else { "bytes" };
        write!(f, "{op} of {bytes} {plural} at {address:#x} in {space} memory")
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allocation, bytes, offset, freed, .. } = self;
        let freed = if *freed { ", which was freed before" } else { "" };
        if *offset < 0 {
            write!(f, "{} bytes before {allocation}{freed}", offset.unsigned_abs())
        } else if *offset as u64 >= *bytes {
            write!(f, "{} bytes past the end of {allocation}{freed}", *offset as u64 - bytes)
        } else {
            write!(f, "at offset {offset} of {allocation}{freed}")
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FindingKind::OutOfBounds { access, nearest } => {
                write!(f, "out of bounds: {access}")?;
                match nearest {
                    Some(nearest) => write!(f, ", {nearest}"),
                    None => write!(f, ", which belongs to no allocation"),
                }
            }
            FindingKind::Misaligned { access } => {
                write!(f, "misaligned: {access}, which is no multiple of {}", access.bytes)
            }
            FindingKind::Null { access } => write!(f, "null pointer: {access}"),
            FindingKind::DivergentBarrier { barrier } => {
                write!(f, "barrier {barrier} reached by only part of a warp: every thread of the block must reach the same barrier")
            }
            FindingKind::Deadlock { barrier } => {
                write!(f, "deadlock: threads wait at barrier {barrier} for threads that will never arrive")
            }
            FindingKind::MbarrierDeadlock { address, arrivals, bytes } => {
                let (arrival, byte) =
                    (if *arrivals == 1 { "arrival" } else { "arrivals" }, if *bytes == 1 { "byte" } else { "bytes" });
                write!(f, "deadlock: threads wait for the mbarrier at {address:#x} in shared memory, ")?;
                write!(f, "whose phase lacks {arrivals} {arrival} and {bytes} {byte} that will never come")
            }
            FindingKind::GridDeadlock { ended, blocks } => {
                write!(f, "deadlock: the blocks wait for one another, and {ended} of the {blocks} have ended")
            }
            FindingKind::InvalidTexture { handle } => {
                write!(f, "{handle:#x} is not the handle of a texture or surface that this instruction can use")
            }
            FindingKind::OutsideSurface { at: [x, y, z], extent: [width, height, depth] } => {
                write!(f, "texel ({x},{y},{z}) is outside a surface of {width} x {height} x {depth}")
            }
            FindingKind::InvalidMbarrier { address, misuse } => {
                write!(f, "mbarrier at {address:#x} in shared memory, {misuse}")
            }
            FindingKind::InvalidBulkCopy { bytes } => write!(f, "bulk copy of {bytes} bytes, which is no multiple of 16"),
            FindingKind::PartialWarp => {
                write!(f, "reached by only part of a warp: all 32 threads must execute this instruction together")
            }
            FindingKind::UnfinishedCopy { access, copy } => {
                write!(f, "unfinished asynchronous copy: {access}, which is still to be written by the copy begun at {copy}")
            }
            FindingKind::InvalidBarrier { barrier, threads } => match threads {
                Some(threads) if *barrier < 16 => {
                    write!(f, "barrier {barrier} for {threads} threads: the number must be a multiple of 32 and not 0")
                }
                _ => write!(f, "barrier {barrier} does not exist: a block has barriers 0 to 15"),
            },
            FindingKind::NoTarget { value } => {
                write!(f, "a call or a jump to {value:#x}, which is none of the functions or places it can lead to")
            }
            FindingKind::InvalidFree { address, nearest } => {
                write!(f, "free({address:#x}): ")?;
                match nearest {
                    Some(nearest) if nearest.freed => write!(f, "freed before; it was {}", nearest.allocation),
                    Some(nearest) => write!(f, "malloc did not return this address, which is {nearest}"),
                    None => write!(f, "malloc did not return this address"),
                }
            }
            FindingKind::StackOverflow { limit } => {
                write!(f, "stack overflow: functions call each other deeper than {limit} bytes of stack per thread allow; ")?;
                write!(f, "`cudaDeviceSetLimit(cudaLimitStackSize, …)` changes that")
            }
            FindingKind::Assert { condition, file, line, function } => {
                write!(f, "assertion `{condition}` failed in {function} ({file}:{line})")
            }
            FindingKind::Trap => write!(f, "the kernel executed a trap"),
            FindingKind::Race { access, place, other, volatile, .. } => {
                let space = access.space;
                write!(f, "data race on {space} memory: {access}")?;
                if let Some(place) = place {
                    write!(f, ", {place}")?;
                }
                write!(f, ", and {} of the same bytes by another thread, with nothing between that orders them", other.op)?;
                if *volatile { write!(f, " (volatile orders nothing)") } else { Ok(()) }
            }
            FindingKind::OutsideArray { access, array, array_offset, array_bytes, place } => {
                let end = i64::from(*array_bytes);
                let (distance, side) = if *array_offset < 0 {
                    (-array_offset, "before the start")
                } else {
                    ((array_offset - end).max(0), "past the end")
                };
                write!(f, "outside its array: {access}, {distance} bytes {side} of {array} ({array_bytes} bytes)")?;
                match place {
                    Some(place) => write!(f, ", {place}"),
                    None => Ok(()),
                }
            }
            FindingKind::Uninitialized { access, place } => {
                write!(f, "uninitialized: {access}")?;
                if let Some(place) = place {
                    write!(f, ", {place}")?;
                }
                write!(f, ", where nothing was written before")
            }
            FindingKind::AbsentLane { source } => {
                write!(
                    f,
                    "undefined value: lane {source} of the warp has ended or takes no part in the exchange, and its value is stored"
                )
            }
            FindingKind::EndedBeforeBarrier { barrier, ended } => {
                let threads = if *ended == 1 { "1 thread has" } else { &format!("{ended} threads have") };
                write!(f, "barrier {barrier} reached by part of the block: {threads} ended before")
            }
            FindingKind::DifferentBarriers { barrier, other } => {
                write!(f, "barrier {barrier} reached at different instructions: other warps wait at {other}")
            }
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, kernel, block, thread, lanes, times, location } = self;
        let severity = if kind.severity() == Severity::Warning { "warning: " } else { "" };
        write!(f, "{severity}{kind}\n  in kernel {kernel}, block {block}, thread {thread}")?;
        if *lanes > 1 {
            write!(f, " and {} more of its warp", lanes - 1)?;
        }
        write!(f, "\n  at {location}")?;
        if let FindingKind::Race { other, .. } = kind {
            let OtherAccess { op, block: other_block, thread, location } = &**other;
            let of_block = if other_block == block { String::new() } else { format!("block {other_block}, ") };
            write!(f, "\n  and {op} by {of_block}thread {thread}\n  at {location}")?;
        }
        if *times > 1 {
            write!(f, "\n  ({times} times in this launch)")?;
        }
        if let Some(help) = kind.help() {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}
