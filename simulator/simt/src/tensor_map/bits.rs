//! The 128 bytes of a map, as this simulator lays them out.
//!
//! | words of 64 bits | |
//! |---|---|
//! | 0 | the mark |
//! | 1 | address |
//! | 2 | rank and kinds, a byte each |
//! | 3 to 7 | extents |
//! | 8 to 11 | strides |
//! | 12 to 14 | box and steps, 16 bits each |
//! | 15 | check sum of the words before |

use super::{Element, Interleave, Swizzle, TensorMap};

/// Bytes of a map.
pub const BYTES: usize = 128;

const MARK: u64 = u64::from_le_bytes(*b"unrolled");

impl TensorMap {
    /// Writes the map as a kernel receives it.
    pub fn encode(&self) -> [u8; BYTES] {
        let mut words = [0; 16];
        let kinds =
            [self.rank as u8, self.element as u8, self.interleave as u8, self.swizzle as u8, self.fills_with_nan.into(), 0, 0, 0];
        (words[0], words[1], words[2]) = (MARK, self.address, u64::from_le_bytes(kinds));
        words[3..8].copy_from_slice(&self.extents);
        words[8..12].copy_from_slice(&self.strides);
        for (at, narrow) in self.box_extents.iter().chain(&self.steps).enumerate() {
            words[12 + at / 4] |= u64::from(*narrow as u16) << (at % 4 * 16);
        }
        words[15] = check_sum(&words);
        bytemuck::cast(words.map(u64::to_le))
    }

    /// Reads a map back; `None` if the bytes are none.
    pub fn decode(bytes: &[u8; BYTES]) -> Option<Self> {
        let words: [u64; 16] = bytemuck::pod_read_unaligned(bytes);
        let words = words.map(u64::from_le);
        if words[0] != MARK || words[15] != check_sum(&words) {
            return None;
        }
        let [rank, element, interleave, swizzle, nan, ..] = words[2].to_le_bytes();
        let narrow = |at: usize| u32::from((words[12 + at / 4] >> (at % 4 * 16)) as u16);
        Some(Self {
            element: *Element::ALL.get(usize::from(element))?,
            rank: rank.into(),
            address: words[1],
            extents: std::array::from_fn(|at| words[3 + at]),
            strides: std::array::from_fn(|at| words[8 + at]),
            box_extents: std::array::from_fn(narrow),
            steps: std::array::from_fn(|at| narrow(5 + at)),
            interleave: *Interleave::ALL.get(usize::from(interleave))?,
            swizzle: *Swizzle::ALL.get(usize::from(swizzle))?,
            fills_with_nan: nan != 0,
        })
    }
}

/// Returns a number that changes with every word but the last.
fn check_sum(words: &[u64; 16]) -> u64 {
    words[..15].iter().fold(0, |sum: u64, word| (sum.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_comes_back_and_anything_else_does_not() {
        let map = TensorMap {
            element: Element::Bf16,
            rank: 5,
            address: 0x7f12_3450,
            extents: [1 << 32, 2, 3, 4, 5],
            strides: [16, 32, (1 << 40) - 16, 64],
            box_extents: [256, 1, 2, 3, 4],
            steps: [1, 8, 2, 3, 4],
            interleave: Interleave::None,
            swizzle: Swizzle::Bytes64,
            fills_with_nan: true,
        };
        let bytes = map.encode();
        assert_eq!(TensorMap::decode(&bytes), Some(map));
        for at in 0..BYTES {
            let mut damaged = bytes;
            damaged[at] ^= 4;
            assert_eq!(TensorMap::decode(&damaged), None, "byte {at}");
        }
        assert_eq!(TensorMap::decode(&[0; BYTES]), None);
    }
}
