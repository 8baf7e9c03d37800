//! Arithmetic of every width, special registers, grids of every shape.

use bytemuck::{Pod, Zeroable};

use crate::common::{Numbers, Params, every_way};

const NUMBERS: &str = include_str!("numbers.ptx");

#[test]
fn division_of_32_bits_truncates() {
    let values = [1, -1, 7, -7, 100, i32::MAX, i32::MIN, 12345, -98765, 3, 65536, -65537];
    let pairs: Vec<(i32, i32)> = values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
    let (a, b): (Vec<i32>, Vec<i32>) = pairs.iter().copied().unzip();
    let expected: Vec<[i32; 6]> = pairs
        .iter()
        .map(|(x, y)| {
            let (u, v) = (*x as u32, *y as u32);
            [x.wrapping_div(*y), x.wrapping_rem(*y), (u / v) as i32, (u % v) as i32, x / 7, (u % 10) as i32]
        })
        .collect();
    every_way(NUMBERS, |gpu| {
        let n = pairs.len();
        let (a, b, output) = (gpu.buffer(&a), gpu.buffer(&b), gpu.poisoned::<[i32; 6]>(n));
        gpu.launch("division", 3, 64, 0, &Params::new().with(a).with(b).with(output).with(n as i32));
        assert_eq!(gpu.read::<[i32; 6]>(output, n), expected);
    });
}

#[test]
fn arithmetic_of_64_bits() {
    let values = [1, -1, 7, i64::MAX, i64::MIN, 1 << 32, -(1 << 40), 0x1234_5678_9abc_def0, 1_000_000_007, -3];
    let pairs: Vec<(i64, i64)> = values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).collect();
    let (a, b): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
    let expected: Vec<[i64; 9]> = pairs
        .iter()
        .map(|(x, y)| {
            let (u, v, by) = (*x as u64, *y as u64, *y as u32 & 63);
            let orders = i64::from(x < y) + 2 * i64::from(u < v) + 4 * i64::from(x == y);
            [
                x.wrapping_add(*y),
                x.wrapping_mul(*y),
                x.wrapping_div(*y),
                x.wrapping_rem(*y),
                (u / v) as i64,
                x >> by,
                (u << by) as i64,
                ((i128::from(*x) * i128::from(*y)) >> 64) as i64,
                orders,
            ]
        })
        .collect();
    every_way(NUMBERS, |gpu| {
        let n = pairs.len();
        let (a, b, output) = (gpu.buffer(&a), gpu.buffer(&b), gpu.poisoned::<[i64; 9]>(n));
        gpu.launch("wide", 2, 64, 0, &Params::new().with(a).with(b).with(output).with(n as i32));
        assert_eq!(gpu.read::<[i64; 9]>(output, n), expected);
    });
}

#[test]
fn functions_on_bits_agree_with_rust() {
    let mut numbers = Numbers(3);
    let inputs: Vec<u32> = [0, 1, u32::MAX, 1 << 31].into_iter().chain((0..28).map(|_| numbers.next() as u32)).collect();
    let dot = |v: u32| {
        let other = [127_i32, 2, -1, 1];
        v.to_le_bytes().iter().zip(other).fold(9, |sum, (byte, other)| sum + i32::from(*byte as i8) * other)
    };
    let expected: Vec<[u32; 10]> = inputs
        .iter()
        .map(|&v| {
            let [b0, b1, ..] = v.to_le_bytes();
            let [n0, n1, ..] = (!v).to_le_bytes();
            let funnel = (u64::from(v.wrapping_mul(3)) << 32 | u64::from(v)) << 11 >> 32;
            [
                v.count_ones(),
                v.leading_zeros(),
                v.reverse_bits(),
                if v == 0 { 0 } else { v.trailing_zeros() + 1 },
                u32::from_le_bytes([b0, n0, b1, n1]),
                funnel as u32,
                ((u64::from(v) * 0x9e37_79b9) >> 32) as u32,
                v.abs_diff(1_000_000).wrapping_add(5),
                dot(v) as u32,
                2 * v.count_ones() + u64::from(v).leading_zeros(),
            ]
        })
        .collect();
    every_way(NUMBERS, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<[u32; 10]>(32));
        gpu.launch("bits", 1, 32, 0, &Params::new().with(input).with(output));
        assert_eq!(gpu.read::<[u32; 10]>(output, 32), expected);
    });
}

#[test]
fn every_thread_knows_its_place_in_three_dimensions() {
    for (grid, block) in [((1, 1, 1), (1, 1, 1)), ((5, 1, 1), (40, 1, 1)), ((2, 3, 1), (8, 5, 1)), ((2, 3, 4), (3, 5, 7))] {
        let volume = |(x, y, z): (u32, u32, u32)| x * y * z;
        let mut expected = Vec::new();
        for b in 0..volume(grid) {
            for t in 0..volume(block) {
                let at = |(x, y, _): (u32, u32, u32), i: u32| [i % x, i / x % y, i / x / y];
                let [thread, place] = [at(block, t), at(grid, b)];
                let extents = [block.0, block.1, block.2, grid.0, grid.1, grid.2];
                expected.push([&thread[..], &place, &extents, &[t % 32, t / 32]].concat());
            }
        }
        every_way(NUMBERS, |gpu| {
            let output = gpu.poisoned::<[u32; 14]>(expected.len());
            gpu.launch("places", grid, block, 0, &Params::new().with(output));
            assert!(gpu.read::<u32>(output, 14 * expected.len()) == expected.concat(), "grid {grid:?}, block {block:?}");
        });
    }
}

#[test]
fn lane_masks_follow_their_names() {
    every_way(NUMBERS, |gpu| {
        let output = gpu.poisoned::<[u32; 5]>(32);
        gpu.launch("lane_masks", 1, 32, 0, &Params::new().with(output));
        for (lane, masks) in gpu.read::<[u32; 5]>(output, 32).into_iter().enumerate() {
            let of = |compare: fn(&usize, &usize) -> bool| {
                (0..32_usize).filter(|other| compare(other, &lane)).fold(0, |mask, other| mask | 1_u32 << other)
            };
            assert_eq!(masks, [of(usize::lt), of(usize::le), of(usize::eq), of(usize::ge), of(usize::gt)], "lane {lane}");
        }
    });
}

/// The CUDA struct, with explicit padding.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Settings {
    flag: i8,
    padding: u8,
    offset: i16,
    scale: f32,
    bias: f64,
    table: [i32; 5],
    rest: u32,
    output: u64,
}

#[test]
fn structs_come_as_parameters_by_value() {
    every_way(NUMBERS, |gpu| {
        let output = gpu.poisoned::<f32>(40);
        let first =
            Settings { flag: 1, padding: 0, offset: -3, scale: 1.5, bias: 0.0, table: [10, 20, 30, 40, 50], rest: 0, output };
        let second = Settings { bias: 0.25, table: [-4, 4, 8, 12, 16], ..first };
        let params = Params::new().with(200_u8).aligned(first, 8).with(-7_i16).aligned(second, 8);
        gpu.launch("settings", 1, 40, 0, &params);
        let expected: Vec<f32> = (0..40)
            .map(|i| {
                let value = 1.5 * (i as f32 - 3.0);
                value + first.table[i % 5] as f32 + 200.0 - 7.0 + second.table[(i + 1) % 5] as f32 * 0.25
            })
            .collect();
        assert_eq!(gpu.read::<f32>(output, 40), expected);
    });
}

#[test]
fn clocks_run_forward() {
    every_way(NUMBERS, |gpu| {
        let (elapsed, low) = (gpu.poisoned::<i64>(64), gpu.poisoned::<u32>(64));
        gpu.launch("clocks", 1, 64, 0, &Params::new().with(elapsed).with(low));
        for (wide, narrow) in gpu.read::<i64>(elapsed, 64).into_iter().zip(gpu.read::<u32>(low, 64)) {
            assert!((10..1000).contains(&wide), "{wide}");
            assert!((10..1000).contains(&narrow), "{narrow}");
        }
    });
}
