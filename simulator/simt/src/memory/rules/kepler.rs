//! Compute capability 3.x: 32 banks that deliver two words at a time.
//!
//! CUDA C Programming Guide 4.2, appendix F.5.3.2: the mode of 32-bit words, which is the default. The mode of 64-bit words
//! (F.5.3.1) must be requested with `cudaDeviceSetSharedMemConfig`.

use super::cost::{Cost, LANES, active_lanes, distinct, most_in_a_bank};

/// Bytes of a segment of 64 words. A bank delivers two words of a segment together, which are 32 words apart.
pub const SEGMENT_BYTES: u64 = 256;

/// Returns the cost of a shared load or store.
///
/// Two lanes do not conflict in one word, or in two words of one bank in the same segment of 64 words. Up to 8 bytes per lane, the
/// whole warp shares a wavefront. The Guide does not say how wider accesses are split. Here they are split into half-warps, whose
/// 256 bytes are what the banks deliver in one wavefront.
pub fn shared(mask: u32, bytes: u32, offsets: &[u32; LANES]) -> Cost {
    let group = if bytes == 16 { 0xffff } else { u32::MAX };
    let mut cost = Cost { requests: 1, ..Cost::default() };
    for lanes in [mask & group, mask & !group].into_iter().filter(|lanes| *lanes != 0) {
        let words = active_lanes(lanes).flat_map(|lane| (0..bytes.div_ceil(4)).map(move |word| offsets[lane] / 4 + word));
        let places = distinct(words.map(|word| (word as usize % 32, word / 64)));
        cost.units += most_in_a_bank(places.into_iter().map(|(bank, _)| bank));
        cost.ideal += 1;
    }
    cost
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the wavefronts, and their ideal number.
    fn cost(bytes: u32, offset: impl Fn(u32) -> u32) -> (u32, u32) {
        let cost = shared(u32::MAX, bytes, &std::array::from_fn(|lane| offset(lane as u32)));
        (cost.units, cost.ideal)
    }

    /// F.5.3.2: words 32 apart within a segment of 64 words do not conflict. A stride of two words stays in one
    /// segment, a stride of four words fills two.
    #[test]
    fn words_of_one_segment_do_not_conflict() {
        for (stride, wavefronts) in [(1, 1), (2, 1), (4, 2), (8, 4), (32, 16), (33, 1)] {
            assert_eq!(cost(4, |lane| lane * stride * 4), (wavefronts, 1), "stride of {stride} words");
        }
    }

    /// F.5.3.2: the same stride, started in the middle of a segment: words i and i + 32 are no longer of one segment.
    #[test]
    fn words_of_two_segments_conflict() {
        assert_eq!(cost(4, |lane| 128 + lane * 8), (2, 1));
    }

    /// F.5.3: each bank has a bandwidth of 64 bits per clock, so that 8 bytes per lane need one wavefront, and 16 bytes two.
    #[test]
    fn a_pass_gives_256_bytes() {
        assert_eq!(cost(8, |lane| lane * 8), (1, 1));
        assert_eq!(cost(16, |lane| lane * 16), (2, 2));
    }

    /// F.5.3.2: lanes in the same word, also in parts of it, do not conflict.
    #[test]
    fn lanes_share_a_word() {
        assert_eq!(cost(1, |lane| lane), (1, 1));
        assert_eq!(cost(4, |_| 64), (1, 1));
    }
}
