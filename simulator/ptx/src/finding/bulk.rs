//! The texts of findings about bulk copies and their barriers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{FindingKind, Location, Nearest};
use crate::geometry::Dim3;

/// The ways to ask for a bulk copy wrongly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "misuse", rename_all = "kebab-case")]
pub enum BulkCopyMisuse {
    /// Its size is not a multiple of 16 bytes.
    Size {
        /// The bytes.
        bytes: u32,
    },
    /// The tensor map is not a valid one.
    NotAMap {
        /// Its address.
        address: u64,
    },
    /// The tensor map has more or fewer dimensions than the instruction has coordinates.
    Rank {
        /// Dimensions of the map.
        of_map: u32,
        /// Coordinates given.
        given: u32,
    },
    /// The tensor map is of an interleaved tensor, which the simulator cannot copy.
    Interleaved,
    /// The box does not begin at a multiple of 16 bytes from the start of a row.
    Coordinate {
        /// The first coordinate.
        at: i32,
        /// Bytes of an element.
        width: u32,
    },
    /// A copy to global memory begins before the tensor.
    BeforeTensor {
        /// The dimension.
        dimension: u32,
        /// Its coordinate.
        at: i32,
    },
    /// The box does not begin at a multiple of 128 bytes in shared memory.
    BoxAlignment {
        /// The offset.
        offset: u32,
    },
    /// It goes past the end of shared memory.
    OutsideShared {
        /// Where it begins.
        offset: u32,
        /// Its bytes.
        bytes: u32,
        /// Bytes of the block's shared memory.
        there: u32,
    },
    /// Bytes of the tensor are outside every allocation.
    OutsideAllocation {
        /// Address of the bytes.
        address: u64,
        /// Their number.
        bytes: u32,
        /// The nearest allocation.
        nearest: Option<Nearest>,
        /// Address of the tensor.
        tensor: u64,
        /// Bytes from its first to its last element.
        extent: u64,
    },
    /// The reduction does not exist for the type of the tensor's elements.
    Reduction {
        /// The function.
        op: String,
    },
}

impl fmt::Display for BulkCopyMisuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { bytes } => write!(f, "of {bytes} bytes, which is no multiple of 16"),
            Self::NotAMap { address } => {
                write!(
                    f,
                    "with a tensor map at {address:#x} that is none: the 128 bytes there do not come from cuTensorMapEncodeTiled, "
                )?;
                write!(f, "or are not at a multiple of 64 in parameters, constant or global memory")
            }
            Self::Rank { of_map, given } => write!(f, "with {given} coordinates, and a tensor map of {of_map} dimensions"),
            Self::Interleaved => write!(f, "of an interleaved tensor, which the simulator does not support"),
            Self::Coordinate { at, width } => {
                write!(f, "of a box that begins at element {at} of its rows: {at} times {width} bytes is no multiple of 16")
            }
            Self::BeforeTensor { dimension, at } => {
                write!(f, "to global memory that begins at {at} in dimension {dimension}: only a load may begin before the tensor")
            }
            Self::BoxAlignment { offset } => {
                write!(f, "of a box at {offset:#x} in shared memory, which is no multiple of 128")
            }
            Self::OutsideShared { offset, bytes, there } => {
                write!(f, "of {bytes} bytes at {offset:#x} in shared memory, of which the block has {there} bytes")
            }
            Self::OutsideAllocation { address, bytes, nearest, tensor, extent } => {
                write!(f, "outside every allocation: {bytes} bytes at {address:#x}")?;
                if let Some(nearest) = nearest {
                    write!(f, ", {nearest}")?;
                }
                write!(f, "; the tensor map says that the tensor has {extent} bytes from {tensor:#x} on")
            }
            Self::Reduction { op } => write!(f, "with the reduction {op}, which the type of the tensor's elements does not have"),
        }
    }
}

/// The counts of a barrier's phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseReport {
    /// Its number, from 0.
    pub number: u64,
    /// Arrivals that end it.
    pub arrivals: u32,
    /// Bytes that were expected so far.
    pub bytes: u64,
    /// Bytes that came, or are on the way.
    pub came: u64,
}

impl PhaseReport {
    /// Says what came, when `missing` arrivals did not.
    pub(super) fn describe(&self, missing: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, arrivals, bytes, came } = self;
        let arrived = arrivals.saturating_sub(missing);
        write!(f, "; the wait is for phase {number} (parity {}), in which {arrived} of {arrivals} arrivals ", number % 2)?;
        write!(f, "and {came} of {bytes} expected bytes came")
    }
}

/// A warp that waits for a barrier in shared memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// The first of its threads that waits.
    pub thread: Dim3,
    /// Where the barrier is, an offset in shared memory.
    pub address: u64,
    /// The number of the phase that it waits for.
    pub phase: u64,
    /// The wait.
    pub location: Location,
}

impl fmt::Display for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, address, phase, location } = self;
        write!(f, "thread {thread} waits for phase {phase} (parity {}) of the mbarrier at {address:#x}, at {location}", phase % 2)
    }
}

impl FindingKind {
    /// Returns true if a deadlock is a wait for the phase after one that is over, with nothing counted yet.
    pub(super) fn is_for_the_next_phase(&self) -> bool {
        let FindingKind::MbarrierDeadlock { arrivals, phase: Some(phase), .. } = self else { return false };
        phase.number > 0 && *arrivals == phase.arrivals && phase.bytes == 0 && phase.came == 0
    }
}
