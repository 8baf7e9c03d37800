//! Divergence and reconvergence.

use crate::common::{Params, every_way};

const DIVERGENCE: &str = include_str!("divergence.ptx");
const EARLY_RETURN: &str = include_str!("early_return.ptx");

#[test]
fn threads_that_are_left_after_an_early_return_meet_at_the_next_barrier() {
    let inputs: Vec<i32> = (0..64).map(|i| i * 5 % 8).collect();
    let stored = |t: usize| if (4..=5).contains(&inputs[t]) { 10 * inputs[t] } else { 0 };
    let expected: Vec<i32> = (0..64).map(|t| if inputs[t] > 5 { -1 } else { stored(t ^ 1) + 1 }).collect();
    every_way(EARLY_RETURN, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(64));
        gpu.launch("early_return", 1, 64, 0, &Params::new().with(input).with(output));
        assert_eq!(gpu.read::<i32>(output, 64), expected);
    });
}

#[test]
fn lanes_leave_a_loop_at_their_own_trip_count() {
    let starts: Vec<u32> = (1..=200).collect();
    let steps = |start: u32| {
        let (mut value, mut count) = (start, 0);
        while value != 1 && count < 100 {
            value = if value % 2 == 1 { 3 * value + 1 } else { value / 2 };
            count += 1;
        }
        count
    };
    let expected: Vec<u32> = starts.iter().map(|start| steps(*start)).collect();
    every_way(DIVERGENCE, |gpu| {
        let (input, output) = (gpu.buffer(&starts), gpu.poisoned::<u32>(200));
        let report = gpu.launch("trip_counts", 4, 64, 0, &Params::new().with(input).with(100_u32).with(output).with(200_u32));
        assert_eq!(gpu.read::<u32>(output, 200), expected);
        assert!(report.counters.divergent_branches > 0);
    });
}

#[test]
fn ifs_in_loops_in_ifs_meet_inside_out() {
    let inputs: Vec<i32> = (0..300).map(|i| i * 37 % 1024).collect();
    let compute = |seed: i32| {
        let mut sum = 0_i32;
        for outer in 0..(seed & 7) {
            if seed >> outer & 1 != 0 {
                for inner in outer..10 {
                    if inner == (seed & 3) + 4 {
                        break;
                    }
                    if (inner ^ seed) & 1 != 0 {
                        continue;
                    }
                    sum += inner * 3;
                }
            } else if outer == 5 {
                sum ^= 0x55;
                continue;
            } else {
                sum -= outer;
            }
            sum = sum * 2 + 1;
        }
        sum
    };
    let expected: Vec<i32> = inputs.iter().map(|seed| compute(*seed)).collect();
    every_way(DIVERGENCE, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(300));
        gpu.launch("nested", 3, 128, 0, &Params::new().with(input).with(output).with(300_i32));
        assert_eq!(gpu.read::<i32>(output, 300), expected);
    });
}

#[test]
fn every_case_of_a_switch_is_taken_by_its_lanes() {
    let inputs: Vec<i32> = (0..100).map(|i| i * i % 97).collect();
    let compute = |value: i32| match value % 9 {
        0 => value + 1,
        1 => value * 2 + 7,
        2 => 7,
        3 => -value,
        4 => 12345,
        5 => value << 3,
        6 => value ^ 0x0f0f,
        7 => (0..value % 5).map(|k| k * value).sum(),
        _ => -1,
    };
    let expected: Vec<i32> = inputs.iter().map(|value| compute(*value)).collect();
    every_way(DIVERGENCE, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(100));
        gpu.launch("switches", 2, 64, 0, &Params::new().with(input).with(output).with(100_i32));
        assert_eq!(gpu.read::<i32>(output, 100), expected);
    });
}

#[test]
fn lanes_are_alone_in_their_branch_and_together_behind_it() {
    every_way(DIVERGENCE, |gpu| {
        let (inside, after) = (gpu.poisoned::<u32>(20), gpu.poisoned::<u32>(20));
        gpu.launch("reconverge", 1, 20, 0, &Params::new().with(inside).with(after));
        let third = |rest: u32| (0..20).filter(|lane| lane % 3 == rest).fold(0, |mask, lane| mask | 1 << lane);
        let expected: Vec<u32> = (0..20).map(|lane| third(lane % 3) ^ 1 << (lane % 3)).collect();
        assert_eq!(gpu.read::<u32>(inside, 20), expected);
        assert_eq!(gpu.read::<u32>(after, 20), [0xf_ffff; 20]);
    });
}

#[test]
fn a_trap_that_is_not_taken_keeps_no_lane_from_the_barrier() {
    let inputs: Vec<i32> = (0..64).map(|i| i * 5 % 17).collect();
    let expected: i32 = (0..3).flat_map(|round| inputs.iter().map(move |v| if (v + round) % 2 == 1 { *v } else { 2 * v })).sum();
    every_way(DIVERGENCE, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<i32>(64));
        gpu.launch("checked", 1, 64, 0, &Params::new().with(input).with(output));
        assert_eq!(gpu.read::<i32>(output, 64), [expected; 64]);
    });
}
