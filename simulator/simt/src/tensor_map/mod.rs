//! Tensor maps: how a tensor lies in global memory, and which box of it a copy moves. The Tensor Memory Accelerator of compute capability
//! 9.0 reads them.
//!
//! NVIDIA does not document the bits of a map. Here a map begins with a mark and ends with a check sum, so that a kernel that passes
//! anything else as a map is told so.

mod bits;
mod rules;

pub use bits::BYTES;

/// A tensor in global memory, and the box that one copy moves. Dimension 0 is the one whose elements are neighbors in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// The type of the elements.
    pub element: Element,
    /// Number of dimensions, 1 to 5. What the arrays hold for dimensions after these does not matter.
    pub rank: u32,
    /// Address of the first element.
    pub address: u64,
    /// Elements in each dimension.
    pub extents: [u64; 5],
    /// Bytes from one element to the next in each dimension but the first.
    pub strides: [u64; 4],
    /// Elements of the box in each dimension.
    pub box_extents: [u32; 5],
    /// A copy moves every first, second, … element of the box.
    pub steps: [u32; 5],
    /// How the channels of an image are stored in slices.
    pub interleave: Interleave,
    /// The order of 16-byte pieces in shared memory.
    pub swizzle: Swizzle,
    /// Elements outside the tensor load as NaN instead of zero.
    pub fills_with_nan: bool,
}

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u32`
    U32,
    /// `s32`
    S32,
    /// `u64`
    U64,
    /// `s64`
    S64,
    /// `f16`
    F16,
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// `bf16`
    Bf16,
    /// `f32` with denormals flushed, which an H200 does not do when it loads or stores them.
    F32Ftz,
    /// `f32` that is rounded to `tf32` when it is loaded.
    Tf32,
    /// The same with denormals flushed, which an H200 does not do either.
    Tf32Ftz,
}

impl Element {
    /// All types, in the order of `CUtensorMapDataType`.
    pub const ALL: [Self; 13] = {
        use Element::*;
        [U8, U16, U32, S32, U64, S64, F16, F32, F64, Bf16, F32Ftz, Tf32, Tf32Ftz]
    };

    /// Returns the number of bytes of an element.
    pub fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    /// Returns true if it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64 | Self::Bf16 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz)
    }
}

/// How the channels of an image are stored: neighbors, or in slices of 16 or 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interleave {
    /// All channels of a pixel are neighbors.
    None,
    /// Slices of 16 bytes.
    Bytes16,
    /// Slices of 32 bytes.
    Bytes32,
}

impl Interleave {
    /// All of them, in the order of `CUtensorMapInterleave`.
    pub const ALL: [Self; 3] = [Self::None, Self::Bytes16, Self::Bytes32];
}

/// The order of 16-byte pieces in shared memory. It keeps columns of a tile in different banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swizzle {
    /// Row after row.
    None,
    /// Pieces change places within 32 bytes.
    Bytes32,
    /// Pieces change places within 64 bytes.
    Bytes64,
    /// Pieces change places within 128 bytes.
    Bytes128,
}

impl Swizzle {
    /// All of them, in the order of `CUtensorMapSwizzle`.
    pub const ALL: [Self; 4] = [Self::None, Self::Bytes32, Self::Bytes64, Self::Bytes128];

    /// Returns the number of bytes within which pieces change places.
    pub fn span(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Bytes32 => Some(32),
            Self::Bytes64 => Some(64),
            Self::Bytes128 => Some(128),
        }
    }

    /// Returns where the byte for an address in shared memory is stored. Bits 4 to 6 of the address choose the piece, and some of
    /// them are combined with the bits above, which count rows of 128 bytes.
    #[inline(always)]
    pub fn place(self, address: u32) -> u32 {
        let pieces = self.span().map_or(0, |span| span / 16 - 1);
        address ^ (address >> 7 & pieces) << 4
    }
}

impl TensorMap {
    /// Returns the number of elements that a copy moves in a dimension. In dimension 0 it moves all of them.
    pub fn moved(&self, dimension: usize) -> u32 {
        match dimension {
            0 => self.box_extents[0],
            _ => self.box_extents[dimension].div_ceil(self.steps[dimension]),
        }
    }

    /// Returns the bytes of a row of the box in shared memory.
    pub fn row_bytes(&self) -> u32 {
        self.box_extents[0] * self.element.bytes()
    }

    /// Returns the pitch of the box's rows in shared memory, in bytes. A swizzle has its own pitch, even if the rows are shorter.
    pub fn row_pitch(&self) -> u32 {
        self.swizzle.span().unwrap_or(self.row_bytes())
    }

    /// Returns the number of rows of the box.
    pub fn rows(&self) -> u32 {
        (1..self.rank as usize).map(|dimension| self.moved(dimension)).product()
    }

    /// Returns the bytes of the box's rows. The barrier counts these, wherever the tensor ends.
    pub fn box_bytes(&self) -> u64 {
        u64::from(self.row_bytes()) * u64::from(self.rows())
    }

    /// Returns the bytes that all rows span in shared memory. They end with the last row, not with its pitch.
    pub fn span_bytes(&self) -> u64 {
        u64::from(self.row_pitch()) * u64::from(self.rows() - 1) + u64::from(self.row_bytes())
    }

    /// Returns the bytes from the tensor's first to its last element.
    pub fn extent_bytes(&self) -> u64 {
        let last = |dimension: usize| (self.extents[dimension] - 1).saturating_mul(self.strides[dimension - 1]);
        let outer = (1..self.rank as usize).map(last).fold(0_u64, u64::saturating_add);
        outer.saturating_add(self.extents[0] * u64::from(self.element.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swizzle_is_its_own_inverse_and_keeps_bytes_in_their_span() {
        for swizzle in Swizzle::ALL {
            for address in 0..4096 {
                let place = swizzle.place(address);
                assert_eq!(swizzle.place(place), address);
                let span = swizzle.span().unwrap_or(16);
                assert_eq!((place / span, place % 16), (address / span, address % 16));
            }
        }
        // The second row of 128 bytes begins with what would be its second piece; with 32 bytes, too; the third row differs.
        assert_eq!([128, 256, 1024].map(|address| Swizzle::Bytes128.place(address)), [144, 288, 1024]);
        assert_eq!([128, 256, 384].map(|address| Swizzle::Bytes32.place(address)), [144, 256, 400]);
    }
}
