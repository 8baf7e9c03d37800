//! Findings: defects of a kernel, reported so that its author can fix them.
//!
//! A finding is never a limitation of the simulator. PTX that the simulator cannot execute is a [`LoadError`](crate::LoadError), a
//! launch that the host asked for wrongly is `LaunchError::Misuse`, and a kernel that executes too much is
//! `LaunchError::OutOfFuel`.

mod barriers;
mod bulk;
mod help;
mod kind;
mod missing_order;
pub mod wgmma;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::barriers::{BarrierCount, ClusterBarrierMisuse, ClusterWait, MbarrierMisuse, PhaseReport, Waiter};
pub use self::bulk::BulkCopyMisuse;
pub use self::kind::FindingKind;
pub use self::missing_order::MissingOrder;
pub use self::wgmma::WgmmaMisuse;
use crate::geometry::Dim3;

/// A defect found in a kernel, with the instruction and thread.
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

impl Nearest {
    /// Says where an access is after a comma, if that is known.
    fn also(place: &Option<Self>) -> String {
        place.as_ref().map_or(String::new(), |place| format!(", {place}"))
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

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, kernel, block, thread, lanes, times, location } = self;
        let severity = if kind.severity() == Severity::Warning { "warning: " } else { "" };
        write!(f, "{severity}{kind}\n  in kernel {kernel}, block {block}, thread {thread}")?;
        if *lanes > 1 {
            write!(f, " and {} more of its warp", lanes - 1)?;
        }
        write!(f, "\n  at {location}")?;
        if let FindingKind::MbarrierDeadlock { others, stale, .. } = kind {
            others.iter().try_for_each(|waiter| write!(f, "\n  {waiter}"))?;
            if let Some(wait) = stale {
                write!(
                    f,
                    "\n  before that, a wait returned at once, because its thread had already seen that phase end, at {wait}"
                )?;
            }
        }
        let other = match kind {
            FindingKind::Race { other, .. } => Some(&**other),
            FindingKind::MissingProxyFence { writer, .. } => Some(&**writer),
            FindingKind::Wgmma(misuse) => misuse.other(),
            _ => None,
        };
        if let Some(OtherAccess { op, block: other_block, thread, location }) = other {
            let of_block = if other_block == block { String::new() } else { format!("block {other_block}, ") };
            write!(f, "\n  and {op} by {of_block}thread {thread}\n  at {location}")?;
        }
        if *times > 1 {
            write!(f, "\n  ({times} times in this launch)")?;
        }
        if let Some(help) = self.help() {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}
