//! Every access pattern measured with Nsight Compute 2025.3 on an H200 (compute capability 9.0): one warp, one request, lane `i` at
//! byte offset `f(i)`. The rules in `memory::rules` must give the measured counts.

use Direction::{Load, Store};
use simt::memory::rules::{Direction, copied_past_l1, copied_through_l1, global, l1_wavefronts, shared};

const ALL: u32 = u32::MAX;

/// The direction, bytes per lane, pattern, and active lanes. The pattern is there as text and as a function.
type Pattern = (Direction, u32, &'static str, fn(u32) -> u32, u32);

/// A row of a table: its pattern, and both its text and its function from one expression.
macro_rules! pattern {
    ($direction:expr, $bytes:expr, $mask:expr, |$i:ident| $offset:expr) => {
        ($direction, $bytes, stringify!($offset), |$i| $offset, $mask)
    };
}

/// Measured: wavefronts, ideal wavefronts.
#[rustfmt::skip]
const SHARED: &[(Pattern, u32, u32)] = &[
    (pattern!(Load, 1, ALL, |i| i), 1, 1),
    (pattern!(Load, 1, ALL, |i| i * 4), 1, 1),
    (pattern!(Load, 1, ALL, |i| i * 128), 32, 1),
    (pattern!(Load, 2, ALL, |i| i * 2), 1, 1),
    (pattern!(Load, 4, ALL, |i| i * 4), 1, 1),
    (pattern!(Load, 4, ALL, |i| i * 8), 2, 1),
    (pattern!(Load, 4, ALL, |i| i * 16), 4, 1),
    (pattern!(Load, 4, ALL, |i| i * 128), 32, 1),
    (pattern!(Load, 4, ALL, |i| i * 132), 1, 1),
    (pattern!(Load, 4, ALL, |_i| 64), 1, 1),
    (pattern!(Load, 4, ALL, |i| (i & 1) * 128), 2, 1),
    (pattern!(Load, 4, 0xffff, |i| i * 4), 1, 1),
    (pattern!(Load, 4, 0xffff, |i| i * 128), 16, 1),
    (pattern!(Load, 8, ALL, |i| i * 8), 2, 2),
    (pattern!(Load, 8, ALL, |_i| 0), 1, 1),
    (pattern!(Load, 8, ALL, |i| (i / 2) * 8), 1, 1),
    (pattern!(Load, 8, ALL, |i| (i / 4) * 8), 1, 1),
    (pattern!(Load, 8, ALL, |i| i * 16), 4, 2),
    (pattern!(Load, 8, ALL, |i| (i % 16) * 8), 2, 2),
    (pattern!(Load, 8, 0xffff, |i| i * 8), 1, 1),
    (pattern!(Load, 8, 0x55555555, |i| i * 8), 2, 1),
    (pattern!(Load, 16, ALL, |i| i * 16), 4, 4),
    (pattern!(Load, 16, ALL, |_i| 0), 2, 2),
    (pattern!(Load, 16, ALL, |i| (i / 2) * 16), 2, 2),
    (pattern!(Load, 16, ALL, |i| ((i & 1) | ((i >> 2) << 1)) * 16), 2, 2),
    (pattern!(Load, 16, ALL, |i| (i / 4) * 16), 2, 2),
    (pattern!(Load, 16, ALL, |i| (i / 8) * 16), 2, 2),
    (pattern!(Load, 16, ALL, |i| (i / 16) * 64), 2, 2),
    (pattern!(Load, 16, ALL, |i| (i % 16) * 16), 4, 4),
    (pattern!(Load, 16, ALL, |i| (i % 8) * 16), 4, 4),
    (pattern!(Load, 16, ALL, |i| (i % 4) * 16), 4, 4),
    (pattern!(Load, 16, ALL, |i| (i % 2) * 16), 2, 2),
    (pattern!(Load, 16, ALL, |i| i * 32), 8, 4),
    (pattern!(Load, 16, ALL, |i| i * 64), 16, 4),
    (pattern!(Load, 16, ALL, |i| i * 80), 4, 4),
    (pattern!(Load, 16, 0xffff, |i| i * 16), 2, 2),
    (pattern!(Load, 16, 0xff, |i| i * 16), 1, 1),
    (pattern!(Load, 16, 1, |i| i * 16), 1, 1),
    (pattern!(Load, 16, 0x55555555, |i| i * 16), 4, 2),
    (pattern!(Load, 16, ALL, |i| (i / 4) * 32), 2, 2),
    (pattern!(Load, 16, ALL, |i| (i / 8) * 64), 2, 2),
    (pattern!(Store, 4, ALL, |i| i * 4), 1, 1),
    (pattern!(Store, 4, ALL, |i| i * 128), 32, 1),
    (pattern!(Store, 4, ALL, |_i| 0), 1, 1),
    (pattern!(Store, 1, ALL, |i| i), 1, 1),
    (pattern!(Store, 8, ALL, |i| i * 8), 2, 2),
    (pattern!(Store, 16, ALL, |i| i * 16), 4, 4),
    (pattern!(Store, 16, ALL, |_i| 0), 4, 4),
    (pattern!(Store, 16, ALL, |i| i * 32), 8, 4),
    (pattern!(Store, 16, ALL, |i| (i % 8) * 16), 4, 4),
];

/// Measured: sectors, ideal sectors.
#[rustfmt::skip]
const GLOBAL: &[(Pattern, u32, u32)] = &[
    (pattern!(Load, 1, ALL, |i| i), 1, 1),
    (pattern!(Load, 2, ALL, |i| i * 2), 2, 2),
    (pattern!(Load, 4, ALL, |i| i * 4), 4, 4),
    (pattern!(Load, 4, ALL, |i| i * 4 + 4), 5, 4),
    (pattern!(Load, 4, ALL, |i| i * 4 + 16), 5, 4),
    (pattern!(Load, 4, ALL, |i| i * 8), 8, 4),
    (pattern!(Load, 4, ALL, |i| i * 32), 32, 4),
    (pattern!(Load, 4, ALL, |i| i * 128), 32, 4),
    (pattern!(Load, 4, ALL, |_i| 0), 1, 1),
    (pattern!(Load, 4, 0xffff, |i| i * 4), 2, 2),
    (pattern!(Load, 8, ALL, |i| i * 8), 8, 8),
    (pattern!(Load, 16, ALL, |i| i * 16), 16, 16),
    (pattern!(Load, 16, ALL, |i| i * 16 + 16), 17, 16),
    (pattern!(Load, 16, ALL, |i| i * 64), 32, 16),
    (pattern!(Load, 16, ALL, |i| (i / 2) * 16), 8, 8),
    (pattern!(Load, 4, ALL, |i| (i / 16) * 4096 + (i % 16) * 4), 4, 4),
    (pattern!(Store, 4, ALL, |i| i * 4), 4, 4),
    (pattern!(Store, 4, ALL, |i| i * 4 + 4), 5, 4),
    (pattern!(Store, 4, ALL, |i| i * 32), 32, 4),
    (pattern!(Store, 16, ALL, |i| i * 16), 16, 16),
    (pattern!(Store, 16, ALL, |i| i * 64), 32, 16),
];

/// Global loads that hit in the L1 cache, timed on an H200: a block of 32 warps repeats eight of them, each in lines of
/// its own. Measured: cycles per request, which include some overhead of the loop.
#[rustfmt::skip]
const CACHED: &[(Pattern, f64)] = &[
    (pattern!(Load, 4, ALL, |i| i * 4), 1.01),
    (pattern!(Load, 4, ALL, |i| i * 4 + 4), 1.01),
    (pattern!(Load, 4, ALL, |i| i * 8), 2.00),
    (pattern!(Load, 4, ALL, |i| i * 16), 4.00),
    (pattern!(Load, 4, ALL, |i| i * 16 + 16), 4.00),
    (pattern!(Load, 4, ALL, |i| i * 32), 8.00),
    (pattern!(Load, 4, ALL, |i| i * 64), 15.99),
    (pattern!(Load, 4, ALL, |i| i * 128), 32.00),
    (pattern!(Load, 4, ALL, |i| i * 132), 8.38),
    (pattern!(Load, 4, ALL, |_i| 0), 1.01),
    (pattern!(Load, 4, ALL, |i| i / 2 * 16), 2.00),
    (pattern!(Load, 4, ALL, |i| i / 16 * 4096 + i % 16 * 4), 2.00),
    (pattern!(Load, 4, ALL, |i| i / 16 * 4160 + i % 16 * 4), 1.13),
    (pattern!(Load, 4, ALL, |i| i / 8 * 4096 + i % 8 * 4), 4.00),
    (pattern!(Load, 4, ALL, |i| i / 8 * 4128 + i % 8 * 4), 1.63),
    (pattern!(Load, 4, ALL, |i| i / 4 * 4112 + i % 4 * 4), 2.75),
    (pattern!(Load, 16, ALL, |_i| 0), 2.01),
    (pattern!(Load, 16, ALL, |i| i / 4 * 16), 2.01),
    (pattern!(Load, 16, ALL, |i| i / 2 * 16), 2.01),
    (pattern!(Load, 16, ALL, |i| i * 16), 4.00),
    (pattern!(Load, 16, ALL, |i| i * 16 + 16), 4.00),
    (pattern!(Load, 16, ALL, |i| i * 32), 8.00),
    (pattern!(Load, 16, ALL, |i| i * 64), 16.00),
    (pattern!(Load, 16, ALL, |i| i * 128), 31.98),
    (pattern!(Load, 16, ALL, |i| i / 4 * 4112), 2.75),
];

fn offsets(f: fn(u32) -> u32) -> [u32; 32] {
    std::array::from_fn(|lane| f(lane as u32))
}

#[test]
fn shared_wavefronts_equal_the_measured_ones() {
    for &((direction, bytes, text, f, mask), wavefronts, ideal) in SHARED {
        let cost = shared(direction, mask, bytes, &offsets(f));
        assert_eq!((cost.units, cost.ideal), (wavefronts, ideal), "{direction:?} of {bytes} bytes at {text}, lanes {mask:#x}");
    }
}

#[test]
fn shared_wavefronts_do_not_depend_on_the_row_of_the_banks() {
    for &((direction, bytes, text, f, mask), wavefronts, ideal) in SHARED {
        let moved = offsets(f).map(|offset| offset + 128 * 5);
        let cost = shared(direction, mask, bytes, &moved);
        assert_eq!((cost.units, cost.ideal), (wavefronts, ideal), "{direction:?} of {bytes} at {text}");
    }
}

#[test]
fn global_sectors_equal_the_measured_ones() {
    for &((direction, bytes, text, f, mask), sectors, ideal) in GLOBAL {
        let addresses = offsets(f).map(|offset| (1 << 49) + u64::from(offset));
        let cost = global(mask, bytes, &addresses);
        assert_eq!((cost.units, cost.ideal), (sectors, ideal), "{direction:?} of {bytes} bytes at {text}");
    }
}

#[test]
fn a_cached_load_takes_as_many_cycles_as_it_has_wavefronts() {
    for &((_, bytes, text, f, mask), cycles) in CACHED {
        for base in [0, 1 << 49, 64] {
            let addresses = offsets(f).map(|offset| base + u64::from(offset));
            let wavefronts = f64::from(l1_wavefronts(mask, bytes, &addresses));
            // A bound from below: never above the measured value, and less than one below it.
            let is_near = wavefronts <= cycles + 0.05 && cycles < wavefronts + 0.8;
            assert!(is_near, "{bytes} bytes at {text}: {wavefronts} wavefronts, {cycles} cycles");
        }
    }
}

#[test]
fn the_tables_hold_all_measured_rows() {
    assert_eq!((SHARED.len(), GLOBAL.len(), CACHED.len()), (50, 21, 25));
}

/// A row: bytes per lane, whether the copy goes past the L1, active lanes, the target and the source of lane `i`; measured: wavefronts, ideal
/// wavefronts, sectors.
type CopyPattern = (u32, bool, u32, fn(u32) -> u32, fn(u32) -> u32, (u32, u32, u32));

/// `cp.async`.
#[rustfmt::skip]
const COPIES: &[CopyPattern] = &[
    (4, false, ALL, |i| 4 * i, |i| 4 * i, (1, 1, 4)),
    (4, false, ALL, |_i| 0, |i| 4 * i, (32, 1, 4)),
    (4, false, ALL, |i| 8 * i, |i| 4 * i, (2, 1, 4)),
    (4, false, ALL, |i| 16 * i, |i| 4 * i, (4, 1, 4)),
    (4, false, ALL, |i| 32 * i, |i| 4 * i, (8, 1, 4)),
    (4, false, ALL, |i| 128 * i, |i| 4 * i, (32, 1, 4)),
    (4, false, ALL, |i| 4 * (31-i), |i| 4 * i, (1, 1, 4)),
    (4, false, ALL, |i| 4 * i, |i| 8 * i, (2, 1, 8)),
    (4, false, ALL, |i| 4 * i, |i| 16 * i, (4, 1, 16)),
    (4, false, ALL, |i| 4 * i, |i| 32 * i, (8, 1, 32)),
    (4, false, ALL, |i| 4 * i, |i| 128 * i, (32, 1, 32)),
    (4, false, ALL, |i| 4 * i, |_i| 0, (32, 1, 1)),
    (4, false, 0xffff, |i| 4 * i, |i| 4 * i, (1, 1, 2)),
    (4, false, 1, |i| 4 * i, |i| 4 * i, (1, 1, 1)),
    (4, false, 0x5555_5555, |i| 4 * i, |i| 4 * i, (1, 1, 4)),
    (4, false, ALL, |i| 4 * i + 4, |i| 4 * i + 4, (1, 1, 5)),
    (4, false, ALL, |i| 4 * i, |i| 4 * i + 4, (1, 1, 5)),
    (4, false, ALL, |i| 4 * i + 4, |i| 4 * i, (1, 1, 4)),
    (8, false, ALL, |i| 8 * i, |i| 8 * i, (2, 2, 8)),
    (8, false, ALL, |_i| 0, |i| 8 * i, (32, 2, 8)),
    (8, false, ALL, |i| 16 * i, |i| 8 * i, (4, 2, 8)),
    (8, false, ALL, |i| 32 * i, |i| 8 * i, (8, 2, 8)),
    (8, false, ALL, |i| 64 * i, |i| 8 * i, (16, 2, 8)),
    (8, false, ALL, |i| 256 * i, |i| 8 * i, (32, 2, 8)),
    (8, false, ALL, |i| 8 * (31-i), |i| 8 * i, (2, 2, 8)),
    (8, false, ALL, |i| 8 * i, |i| 16 * i, (4, 2, 16)),
    (8, false, ALL, |i| 8 * i, |i| 32 * i, (8, 2, 32)),
    (8, false, ALL, |i| 8 * i, |i| 64 * i, (16, 2, 32)),
    (8, false, ALL, |i| 8 * i, |i| 256 * i, (32, 2, 32)),
    (8, false, ALL, |i| 8 * i, |_i| 0, (32, 2, 1)),
    (8, false, 0xffff, |i| 8 * i, |i| 8 * i, (1, 1, 4)),
    (8, false, 1, |i| 8 * i, |i| 8 * i, (1, 1, 1)),
    (8, false, 0x5555_5555, |i| 8 * i, |i| 8 * i, (2, 1, 8)),
    (8, false, ALL, |i| 8 * i + 8, |i| 8 * i + 8, (2, 2, 9)),
    (8, false, ALL, |i| 8 * i, |i| 8 * i + 8, (2, 2, 9)),
    (8, false, ALL, |i| 8 * i + 8, |i| 8 * i, (2, 2, 8)),
    (16, false, ALL, |i| 16 * i, |i| 16 * i, (4, 4, 16)),
    (16, false, ALL, |_i| 0, |i| 16 * i, (32, 4, 16)),
    (16, false, ALL, |i| 32 * i, |i| 16 * i, (8, 4, 16)),
    (16, false, ALL, |i| 64 * i, |i| 16 * i, (16, 4, 16)),
    (16, false, ALL, |i| 128 * i, |i| 16 * i, (32, 4, 16)),
    (16, false, ALL, |i| 512 * i, |i| 16 * i, (32, 4, 16)),
    (16, false, ALL, |i| 16 * (31-i), |i| 16 * i, (4, 4, 16)),
    (16, false, ALL, |i| 16 * i, |i| 32 * i, (8, 4, 32)),
    (16, false, ALL, |i| 16 * i, |i| 64 * i, (16, 4, 32)),
    (16, false, ALL, |i| 16 * i, |i| 128 * i, (32, 4, 32)),
    (16, false, ALL, |i| 16 * i, |i| 512 * i, (32, 4, 32)),
    (16, false, ALL, |i| 16 * i, |_i| 0, (32, 4, 1)),
    (16, false, 0xffff, |i| 16 * i, |i| 16 * i, (2, 2, 8)),
    (16, false, 1, |i| 16 * i, |i| 16 * i, (1, 1, 1)),
    (16, false, 0x5555_5555, |i| 16 * i, |i| 16 * i, (4, 2, 16)),
    (16, false, ALL, |i| 16 * i + 16, |i| 16 * i + 16, (4, 4, 17)),
    (16, false, ALL, |i| 16 * i, |i| 16 * i + 16, (4, 4, 17)),
    (16, false, ALL, |i| 16 * i + 16, |i| 16 * i, (4, 4, 16)),
    (16, true, ALL, |i| 16 * i, |i| 16 * i, (4, 4, 16)),
    (16, true, ALL, |_i| 0, |i| 16 * i, (1, 1, 1)),
    (16, true, ALL, |i| 32 * i, |i| 16 * i, (32, 4, 32)),
    (16, true, ALL, |i| 64 * i, |i| 16 * i, (32, 4, 32)),
    (16, true, ALL, |i| 128 * i, |i| 16 * i, (32, 4, 32)),
    (16, true, ALL, |i| 512 * i, |i| 16 * i, (32, 4, 32)),
    (16, true, ALL, |i| 16 * (31-i), |i| 16 * i, (4, 4, 16)),
    (16, true, ALL, |i| 16 * i, |i| 32 * i, (32, 4, 16)),
    (16, true, ALL, |i| 16 * i, |i| 64 * i, (32, 4, 16)),
    (16, true, ALL, |i| 16 * i, |i| 128 * i, (32, 4, 32)),
    (16, true, ALL, |i| 16 * i, |i| 512 * i, (32, 4, 32)),
    (16, true, ALL, |i| 16 * i, |_i| 0, (32, 4, 16)),
    (16, true, 0xffff, |i| 16 * i, |i| 16 * i, (2, 2, 8)),
    (16, true, 1, |i| 16 * i, |i| 16 * i, (1, 1, 1)),
    (16, true, 0x5555_5555, |i| 16 * i, |i| 16 * i, (4, 2, 16)),
    (16, true, ALL, |i| 16 * i + 16, |i| 16 * i + 16, (6, 4, 17)),
    (16, true, ALL, |i| 16 * i, |i| 16 * i + 16, (12, 4, 20)),
    (16, true, ALL, |i| 16 * i + 16, |i| 16 * i, (12, 4, 20)),
    (16, true, ALL, |i| (i / 2) * 32 + (i % 2) * 16, |i| (i / 2) * 4096 + (i % 2) * 16, (16, 4, 16)),
    (16, true, ALL, |i| (i / 2) * 48 + (i % 2) * 16, |i| (i / 2) * 4096 + (i % 2) * 16, (24, 4, 24)),
    (16, true, ALL, |i| (i / 2) * 128 + (i % 2) * 16, |i| (i / 2) * 4096 + (i % 2) * 16, (16, 4, 16)),
    (16, true, ALL, |i| (i / 2) * 32 + (((i % 2) ^ ((i / 2) % 2)) * 16), |i| (i / 2) * 4096 + (i % 2) * 16, (16, 4, 16)),
    (4, false, ALL, |i| (i / 8) * 32 + (i % 8) * 4, |i| (i / 8) * 4096 + (i % 8) * 4, (4, 1, 4)),
    (4, false, ALL, |i| (i / 8) * 36 + (i % 8) * 4, |i| (i / 8) * 4096 + (i % 8) * 4, (5, 1, 4)),
    (4, false, ALL, |i| (i / 8) * 48 + (i % 8) * 4, |i| (i / 8) * 4096 + (i % 8) * 4, (5, 1, 4)),
    (16, true, ALL, |i| (i / 4) * 64 + (i % 4) * 16, |i| (i / 4) * 4096 + (i % 4) * 16, (8, 4, 16)),
    (16, true, ALL, |i| (i / 4) * 80 + (i % 4) * 16, |i| (i / 4) * 4096 + (i % 4) * 16, (15, 4, 20)),
    (16, true, ALL, |i| (i / 4) * 128 + (i % 4) * 16, |i| (i / 4) * 4096 + (i % 4) * 16, (8, 4, 16)),
    (16, true, ALL, |i| (i / 4) * 64 + (((i % 4) ^ ((i / 4) % 4)) * 16), |i| (i / 4) * 4096 + (i % 4) * 16, (8, 4, 16)),
    (4, false, ALL, |i| (i / 16) * 64 + (i % 16) * 4, |i| (i / 16) * 4096 + (i % 16) * 4, (2, 1, 4)),
    (4, false, ALL, |i| (i / 16) * 68 + (i % 16) * 4, |i| (i / 16) * 4096 + (i % 16) * 4, (3, 1, 4)),
    (4, false, ALL, |i| (i / 16) * 80 + (i % 16) * 4, |i| (i / 16) * 4096 + (i % 16) * 4, (3, 1, 4)),
    (16, true, ALL, |i| (i / 8) * 128 + (i % 8) * 16, |i| (i / 8) * 4096 + (i % 8) * 16, (4, 4, 16)),
    (16, true, ALL, |i| (i / 8) * 144 + (i % 8) * 16, |i| (i / 8) * 4096 + (i % 8) * 16, (10, 4, 18)),
    (16, true, ALL, |i| (i / 8) * 128 + (((i % 8) ^ ((i / 8) % 8)) * 16), |i| (i / 8) * 4096 + (i % 8) * 16, (4, 4, 16)),
    (4, false, ALL, |i| (i / 32) * 128 + (i % 32) * 4, |i| (i / 32) * 4096 + (i % 32) * 4, (1, 1, 4)),
    (4, false, ALL, |i| (i / 32) * 132 + (i % 32) * 4, |i| (i / 32) * 4096 + (i % 32) * 4, (1, 1, 4)),
    (4, false, ALL, |i| (i / 32) * 144 + (i % 32) * 4, |i| (i / 32) * 4096 + (i % 32) * 4, (1, 1, 4)),
    (16, true, ALL, |i| (i / 16) * 256 + (i % 16) * 16, |i| (i / 16) * 4096 + (i % 16) * 16, (4, 4, 16)),
    (16, true, ALL, |i| (i / 16) * 272 + (i % 16) * 16, |i| (i / 16) * 4096 + (i % 16) * 16, (8, 4, 18)),
    (16, true, ALL, |i| (i / 16) * 256 + (((i % 16) ^ ((i / 16) % 16)) * 16), |i| (i / 16) * 4096 + (i % 16) * 16, (4, 4, 16)),
];

#[test]
fn copies_to_shared_memory_cost_what_nsight_compute_counted() {
    for (row, &(bytes, past_l1, mask, target, source, expected)) in COPIES.iter().enumerate() {
        let targets = std::array::from_fn(|lane| target(lane as u32));
        // Where an array starts on a GPU: at a multiple of 512.
        let sources = std::array::from_fn(|lane| 0x1000 + u64::from(source(lane as u32)));
        let found = if past_l1 {
            let cost = copied_past_l1(mask, &sources, &targets);
            (cost.wavefronts, cost.ideal, cost.sectors)
        } else {
            let (wavefronts, ideal) = copied_through_l1(mask, bytes, &sources, &targets);
            (wavefronts, ideal, global(mask, bytes, &sources).units)
        };
        assert_eq!(found, expected, "row {row}: {bytes} bytes per lane, past the L1: {past_l1}");
    }
}
