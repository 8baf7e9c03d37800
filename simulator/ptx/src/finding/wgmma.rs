//! The ways to misuse `wgmma`. The rules are in the PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"; what breaks them has an
//! undefined result.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Access, Location, Nearest, OtherAccess, Severity};

/// A misuse of `wgmma`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(tag = "misuse", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the comment and the text of each kind name its fields")]
pub enum WgmmaMisuse {
    /// A register of a product was used before the `wgmma.wait_group` that covers it. The finding names the instruction that used it.
    #[error("unfinished wgmma: {usage} of the product started at {product}, which the warp has not waited for")]
    RegisterInUse { usage: RegisterUse, product: Box<Location> },
    /// No `wgmma.fence` orders the accesses to registers before a product, which the finding names.
    #[error("wgmma without a fence: {}", match .access {
        None => "the warp has executed no wgmma.fence yet".to_owned(),
        Some(access) => format!("no wgmma.fence since one of its registers was accessed at {access}"),
    })]
    Unfenced {
        /// The last instruction that accessed one of its registers; `None` if the warp had executed no fence at all.
        access: Option<Box<Location>>,
        /// That instruction only moves a value. A compiler may have put it after the fence.
        moves: bool,
    },
    /// A thread wrote shared memory that a product still reads. `place` is the variable that holds those bytes.
    #[error("unfinished wgmma: {access}{}, which a product still reads", Nearest::also(.place))]
    SharedInUse { access: Access, place: Option<Nearest>, product: Box<OtherAccess> },
    /// A descriptor that describes no matrix in the block's shared memory.
    #[error("matrix descriptor {descriptor:#018x}: {defect}")]
    Descriptor { descriptor: u64, defect: DescriptorDefect },
    /// A warp ended with a product that it had not waited for. `committed`: the product was committed to a group.
    #[error("the warp ended with{}", match .committed {
        true => "out waiting for this product",
        false => " this product neither committed nor waited for",
    })]
    Abandoned { committed: bool },
    /// The warp belongs to no four warps of 32 threads each, the first of which has a number that is a multiple of 4.
    /// The block has `threads`.
    #[error("wgmma by a warp that is in no warpgroup: of {threads} threads, the last {} make none", .threads % 128)]
    NoWarpgroup { threads: u64 },
    /// The four warps of a warpgroup did not execute the same product.
    #[error("{}", match .other {
        Some(_) => "the warps of a warpgroup execute different products",
        None => "a warp of the warpgroup ended without executing this product",
    })]
    Disagreement {
        /// The instruction that another warp executed instead: another product, or the same with other descriptors; `None` if it executed
        /// none.
        other: Option<Box<OtherAccess>>,
    },
}

/// The use of a product's register by an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "kebab-case")]
pub enum RegisterUse {
    /// It read a register of D.
    #[error("read of an accumulator")]
    ReadsSum,
    /// It wrote a register of D.
    #[error("write of an accumulator")]
    WritesSum,
    /// It wrote a register of A.
    #[error("write of a register of A")]
    WritesFactor,
    /// It is a product of other registers or another shape, and accesses a register of D.
    #[error("product of other registers with an accumulator")]
    OtherProduct,
}

/// The defect of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(tag = "defect", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the comment and the text of each kind name its fields")]
pub enum DescriptorDefect {
    /// The matrix leaves the block's shared memory. `address` is that of the first 16 bytes outside, an offset there, and `bytes` its size.
    #[error("the matrix has bytes at {address:#x} in shared memory, and the block has {bytes} bytes")]
    OutOfBounds { address: u32, bytes: u32 },
    /// The pattern of swizzling does not start where the descriptor says. `unit` is the required divisor of the address of the matrix.
    #[error(
        "the swizzled matrix at {address:#x} in shared memory starts at no multiple of {unit}, and its base offset says otherwise"
    )]
    Misaligned { address: u32, unit: u32 },
    /// Bits that must be zero are set.
    #[error("bits that must be zero are set")]
    ReservedBits,
    /// The lanes of the warp have different ones.
    #[error("other lanes of the warp have another one")]
    NotUniform,
}

impl WgmmaMisuse {
    /// Returns its severity.
    pub(super) fn severity(&self) -> Severity {
        match self {
            // ptxas orders what it sees, and says so.
            Self::Unfenced { moves: true, .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Suggests a fix.
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::RegisterInUse { .. } => {
                "put wgmma.wait_group before the access, and bind the registers to it, as in asm volatile(\"\" : \"+f\"(d[i]) :: \"memory\"), \
                 so that the compiler does not move the access; ptxas may insert a wait by itself (it says C7517), and nothing overlaps then"
            }
            Self::Unfenced { access: None, .. } => "every warp of the warpgroup must execute wgmma.fence before its first product",
            Self::Unfenced { moves: true, .. } => {
                "the compiler may have moved this: bind the registers before the fence, as in asm volatile(\"\" : \"+f\"(d[i]) :: \"memory\")"
            }
            Self::Unfenced { .. } => "put wgmma.fence between the access and the product",
            Self::SharedInUse { .. } => {
                "wait for the product (wgmma.wait_group) before its operands are overwritten, and let other warps wait for that at a barrier"
            }
            Self::Descriptor { defect: DescriptorDefect::NotUniform, .. } => {
                "all threads of the warpgroup need the same descriptor: compute it from no thread's index"
            }
            Self::Descriptor { defect: DescriptorDefect::OutOfBounds { .. }, .. } => {
                "the address and both offsets count units of 16 bytes: which of the three is too large?"
            }
            Self::Descriptor { .. } => {
                "align the matrix to 1024, 512 or 256 bytes for swizzles of 128, 64 and 32 bytes, or set the base offset"
            }
            Self::Abandoned { committed: false } => {
                "put wgmma.commit_group after the last product, and wgmma.wait_group after that"
            }
            Self::Abandoned { committed: true } => "put wgmma.wait_group.sync.aligned 0 before the results are used",
            Self::NoWarpgroup { .. } => "launch a multiple of 128 threads",
            Self::Disagreement { .. } => "let no condition that differs between the warps of a warpgroup decide about its products",
        }
    }

    /// Returns the other side, if a thread of the block is there.
    pub(super) fn other(&self) -> Option<&OtherAccess> {
        match self {
            Self::SharedInUse { product, .. } => Some(product),
            Self::Disagreement { other } => other.as_deref(),
            _ => None,
        }
    }

    /// Returns the other instruction, if there is one.
    pub fn other_location(&self) -> Option<&Location> {
        match self {
            Self::RegisterInUse { product, .. } => Some(product),
            Self::Unfenced { access, .. } => access.as_deref(),
            _ => self.other().map(|other| &other.location),
        }
    }
}
