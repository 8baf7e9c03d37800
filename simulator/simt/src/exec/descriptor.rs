//! The descriptors of matrices in shared memory that `wgmma` reads.
//!
//! A matrix is made of units of 16 bytes: 16 bytes of a row of A or of a column of B, or, if the matrix is transposed, 8 rows (or
//! columns) of one k. Eight units in a group differ in the row, or in k if the matrix is transposed. PTX explains the layouts with figures
//! (PTX ISA, "Strides" and "Matrix Descriptor Format" of wgmma). The formulas here gave the right element for every descriptor of
//! `tests/wgmma/layouts.txt` on an H200.
//!
//! | bits | |
//! |---|---|
//! | 0-13 | address of the first unit |
//! | 16-29 | leading byte offset |
//! | 32-45 | stride byte offset |
//! | 49-51 | base offset |
//! | 62-63 | swizzle: none, 128, 64, 32 bytes |
//!
//! Addresses and offsets are in units of 16 bytes. The other bits are zero.

/// Bytes of a unit.
pub const UNIT: u32 = 16;
/// Units of a row of A, or of a column of B: 32 bytes.
pub const UNITS_OF_K: usize = 2;
/// Rows of a group.
pub const GROUP: usize = 8;
/// Bits that must be zero.
const RESERVED: u64 = !(0x3fff | 0x3fff << 16 | 0x3fff << 32 | 7 << 49 | 3 << 62);

/// A matrix in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    pub start: u32,
    leading: u32,
    stride: u32,
    base_offset: u32,
    /// Bytes of a row of the pattern: 16 without swizzling, or 32, 64 or 128.
    width: u32,
}

impl Descriptor {
    pub fn of(bits: u64) -> Self {
        let field = |from: u32| (bits >> from & 0x3fff) as u32 * UNIT;
        let width = [16, 128, 64, 32][(bits >> 62) as usize];
        Self { start: field(0), leading: field(16), stride: field(32), base_offset: (bits >> 49) as u32 & 7, width }
    }

    /// Makes the start an offset in a block's shared memory. The descriptor has only the low bits of where that memory starts.
    pub fn in_block(self, base: u32) -> Self {
        Self { start: self.start.wrapping_sub(base) & (0x3fff * UNIT), ..self }
    }

    pub fn has_reserved_bits(bits: u64) -> bool {
        bits & RESERVED != 0
    }

    /// Returns the number of bytes after which the swizzle pattern repeats. The start must be a multiple of it. A start in the
    /// middle of the first row is right, too: the next k are there.
    pub fn period(&self) -> u32 {
        self.width * GROUP as u32
    }

    /// Returns true if the pattern starts where the descriptor says: at a multiple of its period, or as many rows after it as the base
    /// offset says.
    pub fn is_aligned(&self) -> bool {
        self.width == UNIT || (self.start >> 7 & self.mask()) == self.base_offset & self.mask()
    }

    /// Returns the pattern's number of 128-byte rows, less one.
    fn mask(&self) -> u32 {
        self.period() / 128 - 1
    }

    /// Returns the offsets of the units of these rows in shared memory. `first` and `rows` are multiples of 8. The units of a
    /// matrix that is not transposed come row by row, those of a transposed one k by k of each group of 8 rows.
    pub fn units(&self, first: usize, rows: usize, transposed: bool) -> Vec<u32> {
        let (stride, leading, width) = (self.stride, self.leading, self.width);
        let groups = first / GROUP..(first + rows) / GROUP;
        let of_group = |group: usize| {
            let group = group as u32;
            (0..GROUP * UNITS_OF_K).map(move |unit| {
                let offset = if transposed {
                    let (block, k) = ((unit / GROUP) as u32, (unit % GROUP) as u32);
                    let per_row = width / UNIT;
                    let far =
                        if width == UNIT { group * stride + block * leading } else { group / per_row * leading + block * stride };
                    far + group % per_row * UNIT + k * width
                } else {
                    let (row, unit) = ((unit / UNITS_OF_K) as u32, (unit % UNITS_OF_K) as u32);
                    let along = if width == UNIT { leading } else { UNIT };
                    group * stride + row * width + unit * along
                };
                self.swizzled(self.start + offset)
            })
        };
        groups.flat_map(of_group).collect()
    }

    /// Returns the swizzled address of a unit. Its place in its row of 128 bytes depends on the number of the row.
    fn swizzled(&self, address: u32) -> u32 {
        address ^ (((address >> 7).wrapping_sub(self.base_offset) & self.mask()) * UNIT)
    }
}
