//! What lanes of a warp tell each other: shuffles and votes. Pure functions over the lanes.

use crate::program::{ShuffleMode, VoteMode};
use crate::registers::LANES;

/// `shfl.sync`: the lane that each lane reads, and the lanes whose choice was in range; the others read themselves.
///
/// `clamp` holds the segment's mask in bits 8 to 12 and the limit in bits 0 to 4 (PTX ISA, `shfl.sync`).
pub fn shuffle_sources(mode: ShuffleMode, lane: &[u32; LANES], clamp: &[u32; LANES]) -> ([usize; LANES], u32) {
    let mut sources = [0; LANES];
    let mut in_range = 0;
    for (own, source) in sources.iter_mut().enumerate() {
        let own = own as u32;
        let by = lane[own as usize] & 0x1f;
        let limit = clamp[own as usize] & 0x1f;
        let segment = clamp[own as usize] >> 8 & 0x1f;
        let last = (own & segment) | (limit & !segment);
        let first = own & segment;
        let (from, fits) = match mode {
            ShuffleMode::Up => (own.wrapping_sub(by), own as i32 - by as i32 >= last as i32),
            ShuffleMode::Down => (own + by, own + by <= last),
            ShuffleMode::Butterfly => (own ^ by, own ^ by <= last),
            ShuffleMode::Index => {
                let from = first | (by & !segment);
                (from, from <= last)
            }
        };
        *source = if fits { from as usize } else { own as usize };
        in_range |= u32::from(fits) << own;
    }
    (sources, in_range)
}

/// `vote.sync` among the lanes of `voters`: the bits of the result, the same for every lane (a predicate's are all or none).
pub fn vote(mode: VoteMode, yes: u32, voters: u32) -> u32 {
    let yes = yes & voters;
    let all = |condition: bool| if condition { u32::MAX } else { 0 };
    match mode {
        VoteMode::All => all(yes == voters),
        VoteMode::Any => all(yes != 0),
        VoteMode::Uniform => all(yes == 0 || yes == voters),
        VoteMode::Ballot => yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `__shfl_*_sync` of CUDA passes as the clamp for a width.
    fn clamp(mode: ShuffleMode, width: u32) -> [u32; LANES] {
        let segment = (32 - width) << 8;
        [segment | if mode == ShuffleMode::Up { 0 } else { 31 }; LANES]
    }

    #[test]
    fn shuffles_stay_in_their_segment() {
        for (mode, by, width, own, expected) in [
            (ShuffleMode::Up, 1, 32, 0, 0),
            (ShuffleMode::Up, 1, 32, 5, 4),
            (ShuffleMode::Up, 3, 8, 9, 9),
            (ShuffleMode::Up, 3, 8, 12, 9),
            (ShuffleMode::Down, 1, 32, 31, 31),
            (ShuffleMode::Down, 4, 16, 11, 15),
            (ShuffleMode::Down, 4, 16, 13, 13),
            (ShuffleMode::Butterfly, 16, 32, 3, 19),
            (ShuffleMode::Butterfly, 1, 2, 31, 30),
            (ShuffleMode::Index, 7, 32, 20, 7),
            (ShuffleMode::Index, 9, 8, 20, 17),
        ] {
            let (sources, in_range) = shuffle_sources(mode, &[by; LANES], &clamp(mode, width));
            assert_eq!(sources[own], expected, "{mode:?} by {by} in segments of {width}, lane {own}");
            assert_eq!(in_range >> own & 1 != 0, expected != own || by == 0, "{mode:?} by {by}, lane {own}");
        }
    }

    #[test]
    fn votes_ask_only_the_voters() {
        assert_eq!(vote(VoteMode::All, 0b0110, 0b0110), u32::MAX);
        assert_eq!(vote(VoteMode::All, 0b0100, 0b0110), 0);
        assert_eq!(vote(VoteMode::Any, 0b1001, 0b0110), 0);
        assert_eq!(vote(VoteMode::Uniform, 0b1001, 0b0110), u32::MAX);
        assert_eq!(vote(VoteMode::Ballot, 0b1101, 0b0111), 0b0101);
    }
}
