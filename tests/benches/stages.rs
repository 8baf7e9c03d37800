//! All rows of every chapter, one group for each chapter, timed by criterion: `cargo bench -p benches --bench stages`.
//!
//! The host's clock measures runs that are enqueued together. On the simulator, the times say how fast the simulator is, and nothing about
//! a GPU. `UNROLLED_TEST_DEVICE=sim` or `gpu` chooses the device; by default, a GPU is used if there is one.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use run::Chapter;
use run::device::Request;
use run::gpu::Gpu;
use run::stage::{Run, Stage};
use run::workload::convolution::TEACHING_SIZE;
use run::workload::matmul_half::Demand;
use run::workload::{
    Border, Convolution, Correlation, Histogram, Matmul, MatmulHalf, WindowSums, Workload, correlation, matmul, window_sums,
};

fn chapters(criterion: &mut Criterion) {
    let request = match std::env::var("UNROLLED_TEST_DEVICE").as_deref() {
        Ok("gpu") => Request::Gpu,
        Ok("sim") => Request::Sim(None),
        _ => Request::Auto,
    };
    let gpu = Gpu::open(&request).unwrap_or_else(|error| panic!("{error}"));
    let conv = Convolution::random(TEACHING_SIZE, 13);
    rows(criterion, &gpu, &conv_naive::CHAPTER, &conv);
    rows(criterion, &gpu, &conv_shared::CHAPTER, &conv);
    rows(criterion, &gpu, &unroll::CHAPTER, &conv);
    let correlation = Correlation::random(correlation::TEACHING_SIZE, Border::Valid, 13);
    rows(criterion, &gpu, &correlation_sm_aware::CHAPTER, &correlation);
    let sums = WindowSums::random(window_sums::TEACHING_SIZE, 15, Border::Valid, 13).expect("a window that fits");
    rows(criterion, &gpu, &::window_sums::CHAPTER, &sums);
    let counted = Histogram::random(window_sums::TEACHING_SIZE, 13).expect("an image that can be");
    rows(criterion, &gpu, &histogram::CHAPTER, &counted);
    let product = Matmul::random(matmul::TEACHING_SIZE, 13).expect("sizes that can be");
    rows(criterion, &gpu, &matmul_tiled::CHAPTER, &product);
    let halves = MatmulHalf::random(matmul::TEACHING_SIZE, Demand::default(), 13).expect("sizes that can be");
    rows(criterion, &gpu, &matmul_half::CHAPTER, &halves);
}

/// Measures a chapter's rows, except those that cannot run here. The device or the size rules them out.
fn rows<W: Workload>(criterion: &mut Criterion, gpu: &Gpu, chapter: &Chapter<W>, workload: &W) {
    let mut buffers = workload.upload(gpu).expect("the workload fits the device");
    let device = if gpu.is_simulated() { "simulator" } else { "gpu" };
    let mut group = criterion.benchmark_group(format!("{} on {device}", chapter.name));
    group.throughput(Throughput::Elements(workload.work().multiply_adds));
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for stage in chapter.stages.iter().filter(|stage| stage.unmet(gpu, workload).is_ok_and(|unmet| unmet.is_none())) {
        row(&mut group, gpu, stage, workload, &mut buffers);
    }
    group.finish();
}

fn row<W: Workload>(group: &mut BenchmarkGroup<'_, WallTime>, gpu: &Gpu, stage: &Stage<W>, workload: &W, buffers: &mut W::Buffers) {
    let id = BenchmarkId::from_parameter(stage.name);
    match stage.run {
        Run::Launches(enqueue) => group.bench_function(id, |bencher| {
            bencher.iter_custom(|runs| elapsed(gpu, runs, || enqueue(gpu, workload, buffers).expect("the stage runs")));
        }),
        Run::Prepared(prepare) => {
            let mut prepared = prepare(gpu, workload).expect("the stage finds what it needs");
            group.bench_function(id, |bencher| {
                bencher
                    .iter_custom(|runs| elapsed(gpu, runs, || prepared.enqueue(gpu, workload, buffers).expect("the stage runs")));
            })
        }
        Run::Copies(prepare) => {
            let mut copies = prepare(gpu, workload).expect("the host has memory");
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|runs| elapsed(gpu, runs, || copies.enqueue(gpu, workload, buffers).expect("the copies run")));
            })
        }
        Run::Cpu(compute) => group.bench_function(id, |bencher| {
            let mut output = vec![0.0; workload.output_len()];
            bencher.iter(|| compute(black_box(workload), black_box(&mut output)));
        }),
    };
}

/// Waits until everything enqueued is done.
fn elapsed(gpu: &Gpu, runs: u64, mut enqueue: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..runs).for_each(|_| enqueue());
    gpu.stream.synchronize().expect("the device works");
    start.elapsed()
}

criterion_group!(benches, chapters);
criterion_main!(benches);
