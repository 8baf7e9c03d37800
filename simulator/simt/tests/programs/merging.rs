//! Loads and stores that the machine code merges: they count as one request, and execute as before.

use simt::{Counters, LaunchOptions};

use crate::common::{Extent, Gpu, Params};

const PTX: &str = include_str!("merging.ptx");

/// Returns a kernel's counters with and without merging. Its outputs must be the same.
fn counted_both_ways(kernel: &str, grid: impl Into<Extent> + Copy, block: impl Into<Extent> + Copy) -> [Counters; 2] {
    let mut outputs = Vec::new();
    let counters = [true, false].map(|merge_requests| {
        let gpu = Gpu::with_options(PTX, LaunchOptions { merge_requests, ..LaunchOptions::default() });
        let input: Vec<f32> = (0..1 << 16).map(|i| (i * 7919 % 2001) as f32 / 1000.0 - 1.0).collect();
        let (input, output) = (gpu.buffer(&input), gpu.buffer(&vec![0.0_f32; 1 << 16]));
        let report = gpu.launch(kernel, grid, block, 0, &Params::new().with(input).with(output).with(64_i32));
        let mut sum = Counters::default();
        report.lines.iter().for_each(|line| sum += line.counters);
        assert_eq!(sum, report.counters, "{kernel}: the sum of its lines");
        outputs.push(gpu.read::<u32>(output, 1 << 16));
        report.counters
    });
    assert!(outputs[0] == outputs[1], "{kernel}: another output");
    counters
}

#[test]
fn a_step_of_a_tiled_product_makes_20_requests_of_32() {
    let [merged, raw] = counted_both_ways("matmul_tiles", (4, 4), (16, 16));
    // Four tiles, eight warps in each of 16 blocks. A row of A in runs of four: four requests for sixteen words.
    let steps = 4 * 8 * 16;
    assert_eq!((raw.shared_load_requests, raw.merged_loads), (32 * steps, 0));
    assert_eq!((merged.shared_load_requests, merged.merged_loads), (20 * steps, 12 * steps));
    // A warp holds two rows of the block: the words of A take one wavefront each, or two wavefronts for four of them.
    assert_eq!(raw.shared_load_wavefronts, 32 * steps);
    assert_eq!(merged.shared_load_wavefronts, (16 + 4 * 2) * steps);
    assert_eq!(
        Counters { merged_loads: 0, shared_load_requests: 0, shared_load_wavefronts: 0, shared_load_wavefronts_ideal: 0, ..merged },
        Counters { shared_load_requests: 0, shared_load_wavefronts: 0, shared_load_wavefronts_ideal: 0, ..raw },
        "all else is the same"
    );
}

#[test]
fn four_stores_side_by_side_are_one_request() {
    let [merged, raw] = counted_both_ways("stores", 1, 256);
    assert_eq!((raw.shared_store_requests, raw.shared_store_wavefronts, raw.merged_stores), (4 * 8, 4 * 4 * 8, 0));
    assert_eq!((merged.shared_store_requests, merged.shared_store_wavefronts, merged.merged_stores), (8, 4 * 8, 3 * 8));
}

#[test]
fn only_lanes_that_take_part_count() {
    // Sixteen lanes of each warp read four words each: two wavefronts of eight lanes.
    let [merged, raw] = counted_both_ways("guarded", 1, 256);
    assert_eq!((raw.shared_load_requests, merged.shared_load_requests), (4 * 8, 8));
    assert_eq!(merged.shared_load_wavefronts, 2 * 8);
}

#[test]
fn what_does_not_merge_is_counted_as_it_is_written() {
    for kernel in ["matmul_padded", "bytes", "misaligned", "vectors_of_three"] {
        let block = if kernel == "matmul_padded" { (16, 16) } else { (256, 1) };
        let [merged, raw] = counted_both_ways(kernel, 1, block);
        assert_eq!(merged, raw, "{kernel}");
    }
}

/// Nothing is known about the compiler for the oldest GPUs.
#[test]
fn nothing_merges_before_compute_capability_5() {
    for (profile, merged) in [("t4", 24), ("gtx680", 0), ("gtx280", 0), ("9800gt", 0)] {
        let gpu = Gpu::load(PTX).of_profile(profile);
        let (input, output) = (gpu.buffer(&[1.0_f32; 1 << 10]), gpu.buffer(&[0.0_f32; 1 << 10]));
        let report = gpu.launch("stores", 1, 256, 0, &Params::new().with(input).with(output).with(64_i32));
        assert_eq!(report.counters.merged_stores, merged, "{profile}");
    }
}
