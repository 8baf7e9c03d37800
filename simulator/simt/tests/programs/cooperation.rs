//! Cooperation of threads: barriers, shuffles, votes, polls, atomic operations.

use crate::common::{Numbers, Params, every_way};

const COOPERATION: &str = include_str!("cooperation.ptx");
const POLLS: &str = include_str!("polls.ptx");

#[test]
fn a_tree_sum_works_for_blocks_of_any_size() {
    for threads in [1_u32, 2, 31, 32, 33, 96, 100, 257, 1024] {
        let inputs: Vec<i32> = (0..4 * threads as i32).map(|i| i * 31 % 1009).collect();
        let expected: Vec<i32> = inputs.chunks(threads as usize).map(|block| block.iter().sum()).collect();
        every_way(COOPERATION, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(4));
            gpu.launch("tree_sum", 4, threads, 4 * threads, &Params::new().with(input).with(output));
            assert_eq!(gpu.read::<i32>(output, 4), expected, "{threads} threads");
        });
    }
}

#[test]
fn a_barrier_tells_all_threads_how_its_poll_went() {
    for (threads, limit) in [(96_u32, 40), (96, 100), (70, 1000), (33, -1), (1, 1)] {
        let inputs: Vec<i32> = (0..threads as i32).map(|i| i * 7 % 101).collect();
        let yes = inputs.iter().filter(|input| **input < limit).count() as i32;
        let all = yes == threads as i32;
        let expected = [yes, i32::from(all), i32::from(!all)].repeat(threads as usize);
        every_way(POLLS, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(3 * threads as usize));
            gpu.launch("barrier_polls", 1, threads, 0, &Params::new().with(input).with(limit).with(output));
            assert_eq!(gpu.read::<i32>(output, 3 * threads as usize), expected, "{threads} threads below {limit}");
        });
    }
}

#[test]
fn lanes_find_their_likes_and_sum_up() {
    // The values of the lower half are all in 8..16, those of the upper half are mixed.
    let inputs: Vec<i32> = (0..32).map(|i| if i < 16 { 8 + i % 5 } else { i % 7 * 3 }).collect();
    let mask = |same: &dyn Fn(usize) -> bool| (0..32).filter(|i| same(*i)).fold(0, |mask, i| mask | 1 << i);
    let halves = |lane: usize| if lane < 16 { 0..16 } else { 16..32 };
    let mut expected = vec![0; 192];
    for lane in 0..32 {
        let agree = halves(lane).all(|i| inputs[i] / 8 == inputs[lane] / 8);
        expected[lane] = mask(&|i| inputs[i] == inputs[lane]);
        expected[32 + lane] = if agree { mask(&|i| halves(lane).contains(&i)) } else { 0 };
        expected[64 + lane] = i32::from(agree);
        expected[96 + lane] = inputs[halves(lane)].iter().sum();
        expected[128 + lane] = inputs.iter().max().unwrap() - 20;
        expected[160 + lane] = inputs.iter().fold(0, |a, b| a ^ b);
    }
    assert_eq!((expected[64], expected[95]), (1, 0), "the inputs show both answers");
    every_way(POLLS, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(192));
        gpu.launch("warp_polls", 1, 32, 0, &Params::new().with(input).with(output));
        assert_eq!(gpu.read::<i32>(output, 192), expected);
    });
}

#[test]
fn producers_arrive_and_consumers_wait() {
    let inputs: Vec<i32> = (0..32 * 10).map(|i| i * i % 331).collect();
    every_way(COOPERATION, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(96));
        gpu.launch("producer_consumer", 1, 96, 0, &Params::new().with(input).with(output).with(10_i32));
        let expected: Vec<i32> = (0..96)
            .map(|i| {
                let (warp, lane) = (i / 32, i % 32);
                (0..10).map(|round| inputs[round * 32 + (lane + warp) % 32] * warp as i32).sum()
            })
            .collect();
        assert_eq!(gpu.read::<i32>(output, 96), expected);
    });
}

#[test]
fn named_barriers_hold_their_own_threads_only() {
    every_way(COOPERATION, |gpu| {
        let output = gpu.poisoned::<i32>(128);
        gpu.launch("two_barriers", 1, 128, 0, &Params::new().with(output));
        let expected: Vec<i32> = (0..128).map(|i| 3 * (i / 64 * 64 + 63 - i % 64)).collect();
        assert_eq!(gpu.read::<i32>(output, 128), expected);
    });
}

#[test]
fn shuffles_of_every_mode_and_width() {
    let inputs: Vec<i32> = (0..32).map(|i| 1000 + i * i).collect();
    for width in [2, 4, 8, 16, 32] {
        // From the CUDA guide: a segment acts as a warp of its own, a lane whose source is out of range reads itself, and an index
        // wraps.
        let value = |lane: i32, from: i32| {
            let first = lane / width * width;
            inputs[if (first..first + width).contains(&from) { from } else { lane } as usize]
        };
        let expected: Vec<[i32; 6]> = (0..32)
            .map(|lane| {
                let first = lane / width * width;
                [
                    inputs[(first + (lane * 5 + 3) % width) as usize],
                    value(lane, lane - 3),
                    value(lane, lane + 2),
                    // With xor, a lane may read a lower segment, but not a higher one.
                    if lane ^ 5 < first + width { inputs[(lane ^ 5) as usize] } else { inputs[lane as usize] },
                    inputs[(first + width - 1) as usize],
                    i32::from(lane >= 4),
                ]
            })
            .collect();
        every_way(COOPERATION, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<[i32; 6]>(32));
            let report = gpu.launch("shuffles", 1, 32, 0, &Params::new().with(input).with(output).with(width));
            assert_eq!(gpu.read::<[i32; 6]>(output, 32), expected, "width {width}");
            assert_eq!(report.counters.warp_exchanges, 6);
        });
    }
}

#[test]
fn a_warp_sums_doubles_by_shuffles() {
    let inputs: Vec<f64> = (0..96).map(|i| f64::from(i) * 0.5 + 1e10).collect();
    every_way(COOPERATION, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<f64>(3));
        gpu.launch("warp_sum", 3, 32, 0, &Params::new().with(input).with(output));
        let expected: Vec<f64> = inputs.chunks(32).map(|warp| warp.iter().sum()).collect();
        assert_eq!(gpu.read::<f64>(output, 3), expected);
    });
}

#[test]
fn votes_count_the_lanes_that_are_asked() {
    for seed in 1..6 {
        let mut numbers = Numbers(seed);
        let inputs: Vec<i32> = (0..32).map(|_| numbers.below(600) as i32 - if seed == 2 { 300 } else { 0 }).collect();
        let ballot = |yes: &dyn Fn(usize) -> bool| (0..32).filter(|lane| yes(*lane)).fold(0_u32, |mask, lane| mask | 1 << lane);
        let odd = ballot(&|lane| inputs[lane] & 1 != 0);
        let all = u32::from(inputs.iter().all(|value| *value >= 0));
        let any = u32::from(inputs.contains(&17));
        let high = ballot(&|lane| inputs[lane] & 256 != 0);
        let uniform = u32::from(high == 0 || high == u32::MAX);
        let second = ballot(&|lane| lane & 2 != 0 && inputs[lane] & 2 != 0) | 1;
        let fours = ballot(&|lane| inputs[lane] & 4 != 0);
        let eights = u32::from(inputs[16..].iter().all(|value| value & 8 != 0));
        let expected: Vec<[u32; 7]> = (0..32)
            .map(|lane| {
                let (members, last) = if lane < 16 { (0xffff, 1) } else { (0xffff_0000, eights) };
                [odd, all, any, uniform, if lane & 2 != 0 { second } else { 0 }, fours & members, last]
            })
            .collect();
        every_way(COOPERATION, |gpu| {
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<[u32; 7]>(32));
            gpu.launch("votes", 1, 32, 0, &Params::new().with(input).with(output));
            assert_eq!(gpu.read::<[u32; 7]>(output, 32), expected, "seed {seed}");
        });
    }
}

#[test]
fn atomics_of_every_kind_give_the_result_of_any_order() {
    let mut numbers = Numbers(77);
    let inputs: Vec<u32> = (0..503).map(|_| numbers.below(1000) as u32).collect();
    every_way(COOPERATION, |gpu| {
        let mut start = [0_u32; 11];
        (start[2], start[4], start[10]) = (u32::MAX, u32::MAX, 5);
        let input = gpu.buffer(&inputs);
        let unsigned = gpu.buffer(&start);
        let signed = gpu.buffer(&[0_i32; 3]);
        let wide = gpu.buffer(&[0, u64::MAX, 0, u64::MAX, 0, 0, 0, i64::MIN as u64]);
        let (float, double) = (gpu.buffer(&[0.0_f32]), gpu.buffer(&[0.0_f64]));
        let params = [input, unsigned, signed, wide, float, double].into_iter().fold(Params::new(), Params::with);
        let report = gpu.launch("atomics", 4, 128, 0, &params.with(503_i32));

        let sum: u32 = inputs.iter().sum();
        let (least, most) = (*inputs.iter().min().unwrap(), *inputs.iter().max().unwrap());
        let each =
            |combine: fn(u32, u32) -> u32, start, change: fn(u32) -> u32| inputs.iter().map(|v| change(*v)).fold(start, combine);
        let expected = [
            sum,
            sum.wrapping_neg(),
            least,
            most,
            each(|a, b| a & b, u32::MAX, |v| v | 0xffff_0000),
            each(|a, b| a | b, 0, |v| v & 0xff00),
            each(|a, b| a ^ b, 0, |v| v),
            // 503 steps from 0: up to 9 and again from 0, and down from 9 to 0 and again from 9.
            3,
            7,
            77,
            6,
        ];
        assert_eq!(gpu.read::<u32>(unsigned, 11), expected);
        let expected = [sum as i32 - 503 * 500, least as i32 - 500, most as i32 - 500];
        assert_eq!(gpu.read::<i32>(signed, 3), [expected[0], expected[1].min(0), expected[2].max(0)]);
        let bits = inputs.iter().fold(0_u64, |bits, v| bits | 1 << (v & 63));
        let expected = [
            u64::from(sum) << 30,
            u64::from(least) << 33,
            u64::from(most) << 33,
            !bits,
            bits,
            inputs.iter().fold(0, |bits, v| bits ^ (u64::from(*v) * 0x1_0000_0001)),
            (i64::from(least) - 500).min(0) as u64,
            (i64::from(most) - 5000) as u64,
        ];
        assert_eq!(gpu.read::<u64>(wide, 8), expected);
        assert_eq!(gpu.read::<f32>(float, 1), [sum as f32]);
        assert_eq!(gpu.read::<f64>(double, 1), [f64::from(sum) + 251.5]);
        // 24 atomic operations, 16 warps.
        assert_eq!(report.counters.global_atomic_requests, 24 * 16);
    });
}

#[test]
fn shared_atomics_give_the_result_of_any_order() {
    let mut numbers = Numbers(5);
    let inputs: Vec<u32> = (0..96).map(|_| numbers.below(1000) as u32).collect();
    every_way(COOPERATION, |gpu| {
        let input = gpu.buffer(&inputs);
        let (unsigned, signed, wide) = (gpu.poisoned::<u32>(8), gpu.poisoned::<i32>(2), gpu.poisoned::<u64>(2));
        let (float, double) = (gpu.poisoned::<f32>(1), gpu.poisoned::<f64>(1));
        let params = [input, unsigned, signed, wide, float, double].into_iter().fold(Params::new(), Params::with);
        let report = gpu.launch("shared_atomics", 1, 96, 0, &params);
        let sum: u32 = inputs.iter().sum();
        let (least, most) = (*inputs.iter().min().unwrap(), *inputs.iter().max().unwrap());
        let expected = [
            sum,
            // 96 steps from 0 modulo 7, up here and down below.
            5,
            least,
            most,
            inputs.iter().fold(u32::MAX, |a, v| a & (v | 0xffff_0000)),
            inputs.iter().fold(0, |a, v| a | v),
            inputs.iter().fold(0, |a, v| a ^ v),
            2,
        ];
        assert_eq!(gpu.read::<u32>(unsigned, 8), expected);
        assert_eq!(gpu.read::<i32>(signed, 2), [(least as i32 - 500).min(0), (most as i32 - 500).max(0)]);
        assert_eq!(gpu.read::<u64>(wide, 2), [u64::from(sum) << 31, u64::from(most) << 31]);
        assert_eq!(gpu.read::<f32>(float, 1), [sum as f32]);
        assert_eq!(gpu.read::<f64>(double, 1), [f64::from(sum) + 24.0]);
        assert_eq!(report.counters.shared_atomic_requests, 14 * 3);
    });
}

/// Sums on an H200, as bits: start, addend, the sum in global memory, the sum in shared memory.
#[rustfmt::skip]
const FLOAT_SUMS: &[[u32; 4]] = &[
    [0x3f80_0000, 0x3f80_0000, 0x4000_0000, 0x4000_0000],
    // In global memory, denormal inputs and results become zero; shared memory keeps them.
    [0x0000_0001, 0x0000_0001, 0x0000_0000, 0x0000_0002],
    [0x0040_0000, 0x0040_0000, 0x0000_0000, 0x0080_0000],
    [0x0080_0000, 0x8000_0001, 0x0080_0000, 0x007f_ffff],
    [0x8000_0001, 0x8000_0000, 0x8000_0000, 0x8000_0001],
    [0x7f7f_ffff, 0x7f7f_ffff, 0x7f80_0000, 0x7f80_0000],
    // Every NaN becomes the canonical one.
    [0xffc1_2345, 0x3f80_0000, 0x7fff_ffff, 0x7fff_ffff],
    [0x7f80_0000, 0xff80_0000, 0x7fff_ffff, 0x7fff_ffff],
];

#[test]
fn float_sums_by_atomics_treat_denormals_by_memory() {
    let ptx = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 global, .param .u64 added, .param .u64 output)
{
.reg .b32 %r<4>; .reg .b64 %rd<5>; .reg .f32 %f<5>;
.shared .f32 s_sum[32];
ld.param.u64 %rd1, [global]; ld.param.u64 %rd2, [added]; ld.param.u64 %rd3, [output];
mov.u32 %r1, %tid.x;
mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 4, %rd2; mad.wide.u32 %rd3, %r1, 4, %rd3;
ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2];
mov.u32 %r2, s_sum; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;
st.shared.f32 [%r2], %f1;
red.global.add.f32 [%rd1], %f2;
red.shared.add.f32 [%r2], %f2;
ld.shared.f32 %f3, [%r2];
st.global.f32 [%rd3], %f3;
ret;
}
";
    let column = |at: usize| FLOAT_SUMS.iter().map(|row| row[at]).collect::<Vec<_>>();
    every_way(ptx, |gpu| {
        let n = FLOAT_SUMS.len();
        let (global, added, shared) = (gpu.buffer(&column(0)), gpu.buffer(&column(1)), gpu.poisoned::<u32>(n));
        gpu.launch("sum", 1, n as u32, 0, &Params::new().with(global).with(added).with(shared));
        assert_eq!(gpu.read::<u32>(global, n), column(2), "in global memory");
        assert_eq!(gpu.read::<u32>(shared, n), column(3), "in shared memory");
    });
}

#[test]
fn an_atomic_operation_returns_what_was_there() {
    every_way(COOPERATION, |gpu| {
        let (next, seen, product) = (gpu.buffer(&[0_u32]), gpu.buffer(&[0_u32; 300]), gpu.buffer(&[1_u32]));
        let params = Params::new().with(next).with(seen).with(product).with(300_u32);
        // The number of iterations depends on the order of the blocks, so the counts are only the same with one worker.
        gpu.launch("old_values", 1, 320, 0, &params);
        assert_eq!(gpu.read::<u32>(seen, 300), [1; 300], "every place is taken once");
        assert_eq!(gpu.read::<u32>(product, 1), [3_u32.wrapping_pow(300)]);
    });
}

#[test]
fn many_blocks_take_every_place_once() {
    let gpu = crate::common::Gpu::with_options(COOPERATION, simt::LaunchOptions { workers: Some(2), ..Default::default() });
    let (next, seen, product) = (gpu.buffer(&[0_u32]), gpu.buffer(&[0_u32; 5000]), gpu.buffer(&[1_u32]));
    gpu.launch("old_values", 100, 50, 0, &Params::new().with(next).with(seen).with(product).with(5000_u32));
    assert!(gpu.read::<u32>(seen, 5000) == [1; 5000]);
    assert_eq!(gpu.read::<u32>(product, 1), [3_u32.wrapping_pow(5000)]);
}

#[test]
fn a_warp_that_spins_lets_the_others_run() {
    every_way(COOPERATION, |gpu| {
        let output = gpu.poisoned::<i32>(32);
        gpu.launch("spin", 1, 64, 0, &Params::new().with(output));
        assert_eq!(gpu.read::<i32>(output, 32), (42..74).collect::<Vec<_>>());
    });
}
