//! The ways to ask for a bulk copy wrongly.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Nearest;

/// The ways to ask for a bulk copy wrongly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(tag = "misuse", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the comment and the text of each kind name its fields")]
pub enum BulkCopyMisuse {
    /// Its size is not a multiple of 16 bytes.
    #[error("of {bytes} bytes, which is no multiple of 16")]
    Size { bytes: u32 },
    /// The tensor map is not a valid one.
    #[error(
        "with a tensor map at {address:#x} that is none: the 128 bytes there do not come from cuTensorMapEncodeTiled, or are not at a \
         multiple of 64 in parameters, constant or global memory"
    )]
    NotAMap { address: u64 },
    /// The tensor map has more or fewer dimensions than the instruction has coordinates.
    #[error("with {given} coordinates, and a tensor map of {of_map} dimensions")]
    Rank { of_map: u32, given: u32 },
    /// The tensor map is of an interleaved tensor, which the simulator cannot copy.
    #[error("of an interleaved tensor, which the simulator does not support")]
    Interleaved,
    /// The box does not begin at a multiple of 16 bytes from the start of a row.
    /// `at` is the first coordinate, and `width` the bytes of an element.
    #[error("of a box that begins at element {at} of its rows: {at} times {width} bytes is no multiple of 16")]
    Coordinate { at: i32, width: u32 },
    /// A copy to global memory begins before the tensor.
    #[error("to global memory that begins at {at} in dimension {dimension}: only a load may begin before the tensor")]
    BeforeTensor { dimension: u32, at: i32 },
    /// The box does not begin at a multiple of 128 bytes in shared memory.
    #[error("of a box at {offset:#x} in shared memory, which is no multiple of 128")]
    BoxAlignment { offset: u32 },
    /// It goes past the end of shared memory. It begins at `offset`, and `there` are the bytes of the block's shared memory.
    #[error("of {bytes} bytes at {offset:#x} in shared memory, of which the block has {there} bytes")]
    OutsideShared { offset: u32, bytes: u32, there: u32 },
    /// Bytes of the tensor are outside every allocation. The tensor has `extent` bytes from its first to its last element.
    #[error(
        "outside every allocation: {bytes} bytes at {address:#x}{}; the tensor map says that the tensor has {extent} bytes from \
         {tensor:#x} on", Nearest::also(.nearest)
    )]
    OutsideAllocation { address: u64, bytes: u32, nearest: Option<Nearest>, tensor: u64, extent: u64 },
    /// The reduction does not exist for the type of the tensor's elements.
    #[error("with the reduction {op}, which the type of the tensor's elements does not have")]
    Reduction { op: String },
}
