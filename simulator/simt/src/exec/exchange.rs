//! Exchanges between the lanes of a warp: shuffles, votes, matches, reductions and elections.
//!
//! Each is a pure function over the lanes. [`execute`] reads its registers and writes its results. Results of inactive lanes are
//! undefined.

use super::atomics::combine;
use super::request::{groups, lanes_of, lanes_where};
use alu::registers::{FULL, LANES, Lane, Reg, Registers};
use ptx::program::{Exchange, SINK, ShuffleMode, VoteMode};

/// Executes an exchange for the lanes in `active`.
#[inline(always)]
pub fn execute(exchange: Exchange, registers: &mut Registers, active: u32) {
    match exchange {
        Exchange::Shuffle { mode, destination, in_range, source, lane, clamp, members: _ } => {
            let (sources, fits) = shuffle_sources(mode, registers.words(lane), registers.words(clamp));
            let values = *registers.words(source);
            u32::write(registers, destination, active, &sources.map(|source| values[source]));
            set(registers, in_range, active, fits);
        }
        Exchange::Vote { mode, destination, source, negated, members } => {
            let yes = registers.predicate(source) ^ if negated { u32::MAX } else { 0 };
            let results = vote(mode, yes, active, registers.words(members));
            if mode == VoteMode::Ballot {
                u32::write(registers, destination, active, &results);
            } else {
                registers.set_predicate(destination, active, lanes_where(active, |lane| results[lane] != 0));
            }
        }
        Exchange::Match { all, destination, agrees, source, kind, members } => {
            let values = std::array::from_fn(|lane| registers.lane(kind, source, lane));
            let (same, agreed) = matches(all, &values, active, registers.words(members));
            u32::write(registers, destination, active, &same);
            set(registers, agrees, active, agreed);
        }
        Exchange::Reduce { op, destination, source, members } => {
            let add = |a: u32, b: u32| combine(op, 4, a.into(), b.into(), 0) as u32;
            let results = reduce(add, registers.words(source), active, registers.words(members));
            u32::write(registers, destination, active, &results);
        }
        Exchange::Elect { leader, elected, members } => {
            let (leaders, elections) = elect(active, registers.words(members));
            registers.set_predicate(elected, active, elections);
            if leader != SINK {
                u32::write(registers, leader, active, &leaders);
            }
        }
        Exchange::ActiveMask { destination } => u32::write(registers, destination, active, &[active; LANES]),
    }
}

/// Sets a predicate that an instruction may leave out.
#[inline(always)]
fn set(registers: &mut Registers, predicate: u32, active: u32, bits: u32) {
    if predicate != SINK {
        registers.set_predicate(predicate, active, bits);
    }
}

/// `shfl.sync`: the lane that each lane reads, and the lanes whose source was in range; the others read themselves.
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

/// Returns true if 32 lanes execute an exchange and name each other. Nothing can be wrong with its lanes then.
#[inline(always)]
pub fn is_whole(exchange: Exchange, registers: &Registers, active: u32) -> bool {
    let all = |members: Reg| registers.words(members).iter().fold(FULL, |all, members| all & members);
    active == FULL && exchange.members().is_none_or(|members| all(members) == FULL)
}

/// Finds the lanes whose `shfl.sync` reads an absent lane. Also returns the lane that each lane reads. An absent lane has ended or is not named as
/// a member.
pub fn readers_of_absent(exchange: Exchange, registers: &Registers, active: u32, live: u32) -> (u32, [usize; LANES]) {
    let Exchange::Shuffle { mode, lane, clamp, members, .. } = exchange else { return (0, [0; LANES]) };
    let members = registers.words(members);
    let (sources, fits) = shuffle_sources(mode, registers.words(lane), registers.words(clamp));
    (lanes_where(active & fits, |lane| (live & members[lane]) >> sources[lane] & 1 == 0), sources)
}

/// Replaces what lanes read from absent lanes. Nobody knows what a GPU gives them.
#[cold]
pub fn spoil(exchange: Exchange, registers: &mut Registers, readers: u32, garbage: u32) {
    if let Exchange::Shuffle { destination, .. } = exchange
        && destination != SINK
    {
        u32::write(registers, destination, readers, &[garbage; LANES]);
    }
}

/// `vote.sync`: the result for each lane: the lanes that voted yes (for a ballot), otherwise all ones or zero.
///
/// Several groups of lanes may vote in one instruction. A lane votes with the lanes that name the same members.
pub fn vote(mode: VoteMode, yes: u32, active: u32, members: &[u32; LANES]) -> [u32; LANES] {
    let mut results = [0; LANES];
    for (group, voters) in groups(members, active) {
        let result = poll(mode, yes, voters & group);
        lanes_of(voters).for_each(|lane| results[lane] = result);
    }
    results
}

/// Returns the outcome of a vote among the lanes of `voters`.
fn poll(mode: VoteMode, yes: u32, voters: u32) -> u32 {
    let yes = yes & voters;
    let all = |condition: bool| if condition { FULL } else { 0 };
    match mode {
        VoteMode::All => all(yes == voters),
        VoteMode::Any => all(yes != 0),
        VoteMode::Uniform => all(yes == 0 || yes == voters),
        VoteMode::Ballot => yes,
    }
}

/// `match.sync`: for each lane, the members with the same value; and a mask of the lanes that found any. With `all`, a lane finds
/// some only if every member has its value.
pub fn matches(all: bool, values: &[u64; LANES], active: u32, members: &[u32; LANES]) -> ([u32; LANES], u32) {
    let mut same = [0; LANES];
    let mut agreed = 0;
    for lane in lanes_of(active) {
        let members = active & members[lane];
        let equal = lanes_where(members, |other| values[other] == values[lane]);
        if !all || equal == members {
            same[lane] = equal;
            agreed |= 1 << lane;
        }
    }
    (same, agreed)
}

/// `redux.sync`: for each lane, the combined values of its members; 0 for a lane without members.
pub fn reduce(combine: impl Fn(u32, u32) -> u32, values: &[u32; LANES], active: u32, members: &[u32; LANES]) -> [u32; LANES] {
    let mut results = [0; LANES];
    for lane in lanes_of(active) {
        let values = lanes_of(active & members[lane]).map(|other| values[other]);
        results[lane] = values.reduce(&combine).unwrap_or(0);
    }
    results
}

/// `elect.sync`: for each lane, the lane that its members elect, and a mask of the elected lanes. PTX does not say which member is
/// elected; here it is always the lowest.
pub fn elect(active: u32, members: &[u32; LANES]) -> ([u32; LANES], u32) {
    let leaders = members.map(|members| (active & members).trailing_zeros());
    (leaders, lanes_where(active, |lane| leaders[lane] == lane as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the clamp that CUDA's `__shfl_*_sync` passes for a width.
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

    /// Returns masks with which every lane names the same members.
    fn everyone(members: u32) -> [u32; LANES] {
        [members; LANES]
    }

    /// Returns the masks of two halves. The low lanes name each other, and so do the high ones.
    fn halves() -> [u32; LANES] {
        std::array::from_fn(|lane| if lane < 16 { 0xffff } else { 0xffff_0000 })
    }

    #[test]
    fn votes_ask_the_members_that_are_active() {
        for (mode, yes, active, members, expected) in [
            (VoteMode::All, 0b0110, FULL, everyone(0b0110), [(1, FULL), (2, FULL)]),
            (VoteMode::All, 0b0100, FULL, everyone(0b0110), [(1, 0), (2, 0)]),
            (VoteMode::All, 0b0100, 0b0100, everyone(0b0110), [(2, FULL), (1, 0)]),
            (VoteMode::Any, 0b1001, FULL, everyone(0b0110), [(1, 0), (2, 0)]),
            (VoteMode::Any, 0b0010, FULL, everyone(0b0110), [(1, FULL), (2, FULL)]),
            (VoteMode::Uniform, 0b1001, FULL, everyone(0b0110), [(1, FULL), (2, FULL)]),
            (VoteMode::Uniform, 0b0010, FULL, everyone(0b0110), [(1, 0), (2, 0)]),
            (VoteMode::Ballot, 0b1101, FULL, everyone(0b0111), [(0, 0b0101), (2, 0b0101)]),
            (VoteMode::Ballot, FULL, FULL, halves(), [(3, 0xffff), (30, 0xffff_0000)]),
            (VoteMode::All, 0xffff, FULL, halves(), [(3, FULL), (30, 0)]),
        ] {
            let results = vote(mode, yes, active, &members);
            for (lane, expected) in expected {
                assert_eq!(results[lane], expected, "{mode:?} of {yes:#b} among {:#b}, lane {lane}", members[lane]);
            }
        }
    }

    #[test]
    fn matches_compare_members_only() {
        // 0, 0, 1, 1, 0, 0, ...
        let pairs: [u64; LANES] = std::array::from_fn(|lane| lane as u64 / 2 % 2);
        let wide: [u64; LANES] = std::array::from_fn(|lane| (lane as u64 % 2) << 40);
        for (all, values, active, members, lane, expected, agrees) in [
            (false, pairs, FULL, everyone(FULL), 0, 0x3333_3333, true),
            (false, pairs, FULL, everyone(FULL), 2, 0xcccc_cccc, true),
            (false, pairs, 0xff, everyone(FULL), 5, 0x33, true),
            (false, pairs, FULL, halves(), 18, 0xcccc_0000, true),
            (false, wide, FULL, everyone(FULL), 1, 0xaaaa_aaaa, true),
            (true, pairs, FULL, everyone(FULL), 0, 0, false),
            (true, pairs, FULL, everyone(0b11), 1, 0b11, true),
            (true, [7; LANES], FULL, halves(), 31, 0xffff_0000, true),
        ] {
            let (same, agreed) = matches(all, &values, active, &members);
            assert_eq!((same[lane], agreed >> lane & 1 != 0), (expected, agrees), "all: {all}, lane {lane} of {active:#x}");
        }
        assert_eq!(matches(false, &pairs, 0b101, &everyone(FULL)).1, 0b101, "lanes that are not active agree to nothing");
    }

    #[test]
    fn reductions_combine_the_members_that_are_active() {
        let values: [u32; LANES] = std::array::from_fn(|lane| lane as u32);
        for (active, members, lane, sum, most) in [
            (FULL, everyone(FULL), 7, 496, 31),
            (FULL, halves(), 3, 120, 15),
            (FULL, halves(), 20, 376, 31),
            (0b1111, everyone(FULL), 0, 6, 3),
            (FULL, everyone(0b100), 2, 2, 2),
            (FULL, everyone(0), 2, 0, 0),
        ] {
            assert_eq!(reduce(|a, b| a + b, &values, active, &members)[lane], sum, "the sum of lane {lane} of {active:#x}");
            assert_eq!(reduce(u32::max, &values, active, &members)[lane], most, "the most of lane {lane} of {active:#x}");
        }
    }

    #[test]
    fn the_lowest_active_member_is_elected() {
        for (active, members, lane, leader, elected) in [
            (FULL, everyone(FULL), 9, 0, 0b1),
            (0b1100, everyone(FULL), 3, 2, 0b100),
            (FULL, everyone(0b1010), 3, 1, 0b10),
            (FULL, halves(), 17, 16, 1 << 16 | 1),
        ] {
            let (leaders, elections) = elect(active, &members);
            assert_eq!((leaders[lane], elections), (leader, elected), "lane {lane} of {active:#x}");
        }
    }
}
