//! The kernels that measure a device's ceilings do the work that the measurement counts.

use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::ceilings::dp4a::DP4A_CHAINS;
use kernels::ceilings::{CHAINS, COPY_VECTORS, FMA_CHAINS, STEPS};
use run::ceilings::Ceilings;
use run::device::Request;
use run::gpu::Gpu;
use run::timing;
use run::workload::Arithmetic;

fn simulator() -> Gpu {
    Gpu::open(&Request::Sim(None)).expect("the simulator is built with this test")
}

fn shape(blocks: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

#[test]
fn every_chain_takes_every_step() {
    const ROUNDS: u32 = 3;
    let gpu = simulator();
    let (blocks, threads) = (2, 40);
    // Not the values of the measurement, whose chains end at 1 whatever the number of steps.
    let (factor, addend) = (1.001f32, -0.125f32);
    let mut result = gpu.stream.alloc_zeros::<f32>(80).unwrap();
    let kernel = gpu.kernel(FMA_CHAINS).unwrap();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&ROUNDS).arg(&factor).arg(&addend).arg(&mut result);
    // SAFETY: the kernel writes one float per thread, and there are 80 of both.
    unsafe { launch.launch(shape(blocks, threads)) }.unwrap();
    let result = gpu.stream.clone_dtoh(&result).unwrap();
    for (index, &got) in result.iter().enumerate() {
        let chain = |c: u32| {
            let start = ((index as u32 % threads) + c) as f32;
            (0..ROUNDS * STEPS).fold(start, |value, _| value.mul_add(factor, addend))
        };
        let expected: f32 = (0..CHAINS).map(chain).fold(0.0, |sum, value| sum + value);
        assert_eq!(got, expected, "thread {index}");
    }
}

#[test]
fn every_vector_is_copied_in_any_grid() {
    let gpu = simulator();
    let source: Vec<f32> = (0..4 * 1003).map(|index| index as f32).collect();
    let vectors = 1003u64;
    for blocks in [1, 3, 8, 100] {
        let from = gpu.stream.clone_htod(&source).unwrap();
        let mut to = gpu.stream.clone_htod(&vec![f32::NAN; source.len()]).unwrap();
        let kernel = gpu.kernel(COPY_VECTORS).unwrap();
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&from).arg(&vectors).arg(&mut to);
        // SAFETY: both buffers hold the vectors, and the kernel reads and writes no more in any grid.
        unsafe { launch.launch(shape(blocks, 128)) }.unwrap();
        assert_eq!(gpu.stream.clone_dtoh(&to).unwrap(), source, "with {blocks} blocks");
    }
}

#[test]
fn a_simulator_has_no_ceilings() {
    assert_eq!(Ceilings::measure(&simulator(), Arithmetic::Bytes).unwrap(), None);
}

#[test]
fn as_many_samples_are_taken_as_are_asked_for() {
    let gpu = simulator();
    let mut runs = 0;
    let timing = timing::time(&gpu, 7, || {
        runs += 1;
        std::thread::sleep(std::time::Duration::from_millis(1));
        Ok(())
    })
    .unwrap();
    assert_eq!(timing.samples, 7);
    assert_eq!(timing.runs_per_sample, 1, "a run of a millisecond is long enough to be timed alone");
    assert!(runs >= 7 + 2, "7 samples and a warm-up of at least 2 runs, got {runs}");
    assert!(timing.p10_ms <= timing.median_ms && timing.median_ms <= timing.p90_ms);
}

#[test]
fn every_chain_of_bytes_takes_every_step() {
    const ROUNDS: u32 = 3;
    let gpu = simulator();
    let (blocks, threads) = (2, 40);
    let pixels = 0x0103_0507_u32;
    let mut result = gpu.stream.alloc_zeros::<u32>(80).unwrap();
    let kernel = gpu.kernel(DP4A_CHAINS).unwrap();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&ROUNDS).arg(&pixels).arg(&mut result);
    // SAFETY: the kernel writes one word per thread, and there are 80 of both.
    unsafe { launch.launch(shape(blocks, threads)) }.unwrap();
    let result = gpu.stream.clone_dtoh(&result).unwrap();
    let dot = |a: u32, b: u32| (0..4).map(|byte| (a >> (8 * byte) & 255) * (b >> (8 * byte) & 255)).sum::<u32>();
    for (index, &got) in result.iter().enumerate() {
        let chain = |c: u32| {
            let start = index as u32 % threads + c;
            (0..ROUNDS * STEPS).fold(start, |value, _| value.wrapping_add(dot(value, pixels)))
        };
        let expected = (0..CHAINS).map(chain).fold(0, u32::wrapping_add);
        assert_eq!(got, expected, "thread {index}");
    }
}
