//! How fast the simulator is: warp instructions per second of three kinds of loop, and bytes of PTX parsed per second.
//!
//! `cargo bench -p benches --bench simulator`. The kernels are those of `simulator/simt/tests/programs/convolution.cu`.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use simt::{Call, Dim3, Image, LaunchConfig, LaunchOptions, LaunchReport, Memory, Module, Profile, launch};

const CONVOLUTION: &str = include_str!("../../simulator/simt/tests/programs/convolution.ptx");

const TAPS: u32 = 1024;
const OUTPUTS: u32 = 4096;
const BLOCK: u32 = 256;

/// A kernel with its parameters, ready to be launched again and again.
struct Prepared {
    memory: Memory,
    image: Image,
    kernel: &'static str,
    params: Vec<u8>,
}

impl Prepared {
    fn convolution(kernel: &'static str) -> Self {
        let (memory, image) = load();
        let buffer = |elements: u32| {
            let values: Vec<u8> = (0..elements).flat_map(|i| ((i * 7919 % 1000) as f32 / 500.0 - 1.0).to_le_bytes()).collect();
            let address = memory.allocate(values.len() as u64, None).expect("the buffer fits");
            memory.write(address, &values).expect("the buffer was just allocated");
            address
        };
        let (signal, filter, output) = (buffer(OUTPUTS + TAPS - 1), buffer(TAPS), buffer(OUTPUTS));
        let mut params: Vec<u8> = [signal, filter, output].into_iter().flat_map(u64::to_le_bytes).collect();
        params.extend([OUTPUTS, TAPS].into_iter().flat_map(u32::to_le_bytes));
        Self { memory, image, kernel, params }
    }

    fn arithmetic() -> Self {
        let (memory, image) = load();
        let output = memory.allocate(4 * u64::from(OUTPUTS), None).expect("the buffer fits");
        let mut params = output.to_le_bytes().to_vec();
        params.extend(TAPS.to_le_bytes());
        params.extend([0.75_f32, -0.3].into_iter().flat_map(f32::to_le_bytes));
        Self { memory, image, kernel: "arithmetic", params }
    }

    fn run(&self, Host { workers, portable, checks }: Host) -> LaunchReport {
        let config =
            LaunchConfig { grid: Dim3::new(OUTPUTS / BLOCK, 1, 1), block: Dim3::new(BLOCK, 1, 1), dynamic_shared_bytes: 0 };
        let profile = Profile::named("h200").expect("a profile of the table");
        let options = LaunchOptions { workers: Some(workers), portable, checks, ..LaunchOptions::default() };
        let call = Call { kernel: self.kernel, config, params: &self.params };
        launch(&self.memory, &self.image, call, profile, &options).expect("the kernel ends well")
    }
}

/// The way to run it.
#[derive(Clone, Copy)]
struct Host {
    workers: usize,
    portable: bool,
    checks: bool,
}

/// One worker, counters only.
const PLAIN: Host = Host { workers: 1, portable: false, checks: false };

fn load() -> (Memory, Image) {
    let module = Arc::new(Module::parse(CONVOLUTION).expect("the module loads"));
    let memory = Memory::new(1 << 28);
    let image = Image::new(module, &memory).expect("the module's variables fit");
    (memory, image)
}

fn execution(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("warp instructions");
    group.sample_size(10);
    let naive = Prepared::convolution("naive");
    let tiled = Prepared::convolution("tiled");
    let arithmetic = Prepared::arithmetic();
    let checked = Host { checks: true, ..PLAIN };
    for (name, prepared, host) in [
        ("naive convolution", &naive, PLAIN),
        ("naive convolution, 2 workers", &naive, Host { workers: 2, ..PLAIN }),
        ("naive convolution, all checks", &naive, checked),
        ("shared-memory convolution", &tiled, PLAIN),
        ("shared-memory convolution, 2 workers", &tiled, Host { workers: 2, ..PLAIN }),
        ("shared-memory convolution, all checks", &tiled, checked),
        ("shared-memory convolution, all checks, 2 workers", &tiled, Host { workers: 2, ..checked }),
        ("arithmetic", &arithmetic, PLAIN),
        ("arithmetic, portable", &arithmetic, Host { portable: true, ..PLAIN }),
    ] {
        group.throughput(Throughput::Elements(prepared.run(host).counters.ptx_instructions));
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| black_box(prepared.run(host)));
        });
    }
    group.finish();
}

/// Makes about a megabyte of PTX: one header, and the kernels again and again under other names.
fn large_text() -> String {
    let (header, kernels) = CONVOLUTION.split_once(".visible .entry").expect("kernels");
    let mut text = header.to_owned();
    for copy in 0.. {
        if text.len() > 1 << 20 {
            break;
        }
        for kernel in kernels.split(".visible .entry") {
            // Labels and parameters belong to their kernel; the name alone must be another.
            let (name, rest) = kernel.split_once('(').expect("a list of parameters");
            let rest = rest.split("\t.file").next().unwrap_or(rest);
            text.push_str(&format!(".visible .entry {}_{copy}({rest}", name.trim()));
        }
    }
    text.push_str("\n\t.file 1 \"convolution.cu\"\n");
    text
}

fn parsing(criterion: &mut Criterion) {
    let text = large_text();
    let mut group = criterion.benchmark_group("parsing");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("a megabyte of kernels", |bencher| {
        bencher.iter(|| Module::parse(black_box(&text)).expect("the text loads"));
    });
    group.finish();
}

criterion_group!(benches, execution, parsing);
criterion_main!(benches);
