//! Whole programs with `wgmma`, against plain loops: `programs.cu`, next to the PTX that NVRTC 12.0 makes of it (`compute_90a`,
//! `-lineinfo`).

use simt::{Dim3, FindingKind, LaunchOptions};

use crate::common::{Gpu, Numbers, Params, every_way};

const PROGRAMS: &str = include_str!("programs.ptx");

/// Returns A B, where B is column by column.
fn product(a: &[f64], b: &[f64], k: usize) -> Vec<f64> {
    let dot = |row: &[f64], column: &[f64]| row.iter().zip(column).map(|(a, b)| a * b).sum();
    a.chunks(k).flat_map(|row| b.chunks(k).map(move |column| dot(row, column))).collect()
}

fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut numbers = Numbers(seed);
    (0..count).map(|_| numbers.small_float().into()).collect()
}

/// Returns an f16 of a whole number between -8 and 8.
fn half(value: f64) -> u16 {
    let single = (value as f32).to_bits();
    if value == 0.0 { 0 } else { (single >> 16 & 0x8000) as u16 | ((single >> 13 & 0x3_ffff) - (112 << 10)) as u16 & 0x7fff }
}

#[test]
fn a_block_multiplies_one_stage_while_it_fills_the_other() {
    let k = 192;
    let (a, b) = (numbers(3, 128 * k), numbers(5, 16 * k));
    let expected: Vec<f32> = product(&a, &b, k).into_iter().map(|sum| sum as f32).collect();
    every_way(PROGRAMS, |gpu| {
        let [a, b] = [&a, &b].map(|matrix| gpu.buffer(&matrix.iter().copied().map(half).collect::<Vec<_>>()));
        let c = gpu.poisoned::<f32>(128 * 16);
        let report = gpu.launch("k_pipeline", 1, 256, 2 * 144 * 128, &Params::new().with(a).with(b).with(c).with(k as u32));
        assert_eq!(gpu.read::<f32>(c, 128 * 16), expected);
        assert_eq!(report.findings, []);
        let counters = report.counters;
        assert_eq!(counters.tensor_multiply_adds, (128 * 16 * k) as u64);
        assert_eq!(counters.tensor_factor_bytes, (128 * 16 * k * 2) as u64);
        // Each of the two warpgroups reads 64 rows of A and 16 columns of B, 128 bytes at a time.
        assert_eq!(counters.tensor_shared_wavefronts, (2 * (64 + 16) * k * 2 / 128) as u64);
    });
}

#[test]
fn a_factor_may_be_in_registers_and_negated() {
    let (a, b, c) = (numbers(7, 64 * 8), numbers(11, 8 * 8), numbers(13, 64 * 8));
    let expected: Vec<f32> = product(&a, &b, 8).iter().zip(&c).map(|(sum, c)| (c - sum) as f32).collect();
    every_way(PROGRAMS, |gpu| {
        let [a, b, c] = [&a, &b, &c].map(|matrix| gpu.buffer(&matrix.iter().map(|value| *value as f32).collect::<Vec<_>>()));
        let d = gpu.poisoned::<f32>(64 * 8);
        let report = gpu.launch("k_registers", 1, 128, 0, &Params::new().with(a).with(b).with(c).with(d));
        assert_eq!(gpu.read::<f32>(d, 64 * 8), expected);
        assert_eq!(report.findings, []);
        // B alone.
        assert_eq!(report.counters.tensor_shared_wavefronts, 2);
    });
}

#[test]
fn groups_are_waited_for_one_by_one() {
    let (a, b) = (numbers(17, 64 * 32), numbers(19, 8 * 32));
    let once: Vec<i32> = product(&a, &b, 32).into_iter().map(|sum| sum as i32).collect();
    let expected: Vec<i32> = once.iter().copied().chain(once.iter().map(|sum| 2 * sum)).collect();
    every_way(PROGRAMS, |gpu| {
        let [a, b] = [&a, &b].map(|matrix| gpu.buffer(&matrix.iter().map(|value| *value as i8).collect::<Vec<_>>()));
        let d = gpu.poisoned::<i32>(1024);
        let report = gpu.launch("k_bytes", 1, 128, 0, &Params::new().with(a).with(b).with(d));
        assert_eq!(gpu.read::<i32>(d, 1024), expected);
        assert_eq!(report.findings, []);
    });
}

#[test]
fn each_block_of_a_cluster_reads_its_own_shared_memory() {
    let (a, b) = (numbers(17, 64 * 32), numbers(19, 8 * 32));
    let once: Vec<i32> = product(&a, &b, 32).into_iter().map(|sum| sum as i32).collect();
    let options = LaunchOptions { cluster: Some(Dim3::new(2, 1, 1)), ..LaunchOptions::default() };
    let gpu = Gpu::with_options(PROGRAMS, options);
    let [a, b] = [&a, &b].map(|matrix| gpu.buffer(&matrix.iter().map(|value| *value as i8).collect::<Vec<_>>()));
    let d = gpu.poisoned::<i32>(1024);
    // Both blocks store the same.
    let report = gpu.launch("k_bytes", 2, 128, 0, &Params::new().with(a).with(b).with(d));
    assert_eq!(gpu.read::<i32>(d, 512), once);
    assert!(!report.findings.iter().any(|finding| matches!(finding.kind, FindingKind::Wgmma(_))), "{:?}", report.findings);
}
