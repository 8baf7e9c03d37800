//! Counts what every kernel does, on a GPU with Nsight Compute and on the simulator.

use std::iter;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use compilers::recipe::PINNED_VERSION;
use cudarc::driver::{LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use kernels::{Source, ceilings};
use run::atomic_file::AtomicFile;
use run::gpu::Gpu;
use run::report::{Outcome, Place, Row};
use run::request::Request;
use run::stage::Stage;
use run::workload::{Convolution, Workload};
use run::{Chapter, Unmet, observer, runner};
use simt::LaunchReport;

use super::{CEILINGS_GROUP, KernelCounts, METRICS, PATTERNS_GROUP, PATTERNS_PTX, Record, counts_of, read_profile};
use crate::chapters::{chapters, with_chapter};
use crate::drawing::trace::Arrays;

/// Floats of the patterns' input, and of their output.
const FLOATS: usize = 1 << 16;
/// The number that the patterns' compiler does not know.
const N: i32 = 64;

/// A grid, a block, bytes of dynamic shared memory, and their patterns.
type Patterns = ([u32; 3], [u32; 3], u32, &'static [&'static str]);

const PATTERNS: [Patterns; 8] = [
    ([4, 4, 1], [16, 16, 1], 0, &["matmul_tiles", "matmul_padded"]),
    ([1, 1, 1], [16, 16, 1], 0, &["matmul_register_tile"]),
    ([8, 1, 1], [256, 1, 1], 0, &["convolution", "convolution_4", "convolution_8", "convolution_16", "convolution_unknown"]),
    ([8, 1, 1], [128, 1, 1], 0, &["convolution_register_tile"]),
    ([1, 1, 1], [256, 1, 1], 0, &["misaligned", "strided", "bytes", "members"]),
    ([1, 1, 1], [256, 1, 1], 1024, &["dynamic"]),
    ([1, 1, 1], [256, 1, 1], 0, &["stores", "triples", "vectors_of_three", "doubles", "guarded"]),
    ([4, 1, 1], [256, 1, 1], 0, &["global_runs", "global_vectors"]),
];

/// The device to count with.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Where to count: gpu, with Nsight Compute, or sim
    #[arg(long, value_name = "DEVICE", required_unless_present = "launch")]
    device: Option<Request>,
    /// Where to write the counts, a JSON file
    #[arg(long, value_name = "FILE", required_unless_present = "launch")]
    save: Option<PathBuf>,
    /// Launch the kernels of a group on the GPU and end: what Nsight Compute runs
    #[arg(long, value_name = "GROUP", hide = true, conflicts_with_all = ["device", "save"])]
    launch: Option<String>,
}

impl Arguments {
    /// Counts all kernels, and writes the record.
    pub fn run(self) -> Result<()> {
        if let Some(group) = self.launch {
            return launch(&with_stored_ptx()?, &group).map(drop);
        }
        let file = AtomicFile::create(&self.save.context("--save is missing")?)?;
        let record = if self.device == Some(Request::Gpu) { profile()? } else { simulate(&self.device.unwrap_or_default())? };
        eprintln!("{} kernels in {}", record.kernels.len(), file.path().display());
        Ok(file.finish(&(serde_json::to_string_pretty(&record)? + "\n"))?)
    }
}

/// Opens the GPU with the repository's PTX, which the simulator executes. A compiler on the GPU's machine might make other PTX.
fn with_stored_ptx() -> Result<Gpu> {
    let gpu = Gpu::open(&Request::Gpu)?;
    let capability = gpu.context.compute_capability()?;
    let needed = |source: &Source| source.architecture.trim_start_matches("compute_").trim_end_matches('a').parse().unwrap_or(0);
    for source in kernels::sources().iter().filter(|source| needed(source) <= 10 * capability.0 + capability.1) {
        gpu.replace_ptx(source, Some(source.ptx.to_owned()))?;
    }
    Ok(gpu)
}

/// Returns the groups of kernels, in order.
fn groups() -> Vec<&'static str> {
    let chapters = chapters().into_iter().map(|(name, _)| name);
    [CEILINGS_GROUP].into_iter().chain(chapters).chain([PATTERNS_GROUP]).collect()
}

/// Launches every kernel of a group. Returns the simulator's report of each launch, and nothing on a GPU.
fn launch(gpu: &Gpu, group: &str) -> Result<Vec<LaunchReport>> {
    match group {
        CEILINGS_GROUP => reports(gpu, launch_ceilings),
        PATTERNS_GROUP => reports(gpu, launch_patterns),
        chapter => {
            let mut launched = with_chapter!(chapter, chapter => launch_stages(gpu, chapter))?;
            if chapter == unroll::CHAPTER.name {
                launched.extend(reports(gpu, launch_around_fft)?);
            }
            Ok(launched)
        }
    }
}

/// Returns the reports of the simulator on some launches.
fn reports(gpu: &Gpu, launch: fn(&Gpu) -> Result<()>) -> Result<Vec<LaunchReport>> {
    observer::forget(gpu)?;
    launch(gpu)?;
    gpu.stream.synchronize()?;
    let seen = observer::take(gpu)?;
    if let Some(finding) = seen.findings.first() {
        bail!("{finding}");
    }
    Ok(seen.launches.into_iter().map(|launch| launch.report).collect())
}

/// Stages that launch another stage's kernel again. They only add its counts once more.
const REPEATING: [&Stage<Convolution>; 2] = [&conv_naive::ROUND_TRIP, &conv_naive::OVERLAPPED];

/// Runs each stage of a chapter once, with an option where needed. Left out are [`REPEATING`] stages, and stages that call a library: its
/// kernels are not ours, and the simulator does not have them.
fn launch_stages<W: Arrays>(gpu: &Gpu, chapter: &Chapter<W>) -> Result<Vec<LaunchReport>> {
    let repeats = |name: &str| REPEATING.iter().any(|stage| (conv_naive::CHAPTER.name, stage.name) == (chapter.name, name));
    let ours = chapter.stages.iter().filter(|stage| stage.place() == Place::Device && stage.library().is_none());
    let mut ours: Vec<_> = ours.filter(|stage| !repeats(stage.name)).copied().collect();
    let mut reports = Vec::new();
    for workload in iter::once(W::teaching()?).chain(W::with_options()?) {
        let rows = runner::run(gpu, &ours, &workload, 0)?.rows;
        for row in rows.iter().filter(|row| !needs_option(row)) {
            let measured = row.measured().with_context(|| format!("stage {} is not verified: {:?}", row.name, row.outcome))?;
            reports.extend(measured.launches.iter().map(|launch| launch.report.clone()));
        }
        ours.retain(|stage| rows.iter().any(|row| row.name == stage.name && needs_option(row)));
    }
    ensure!(ours.is_empty(), "no workload has the option that {} needs", ours[0].name);
    Ok(reports)
}

/// Returns true if a stage was skipped for want of an option.
fn needs_option(row: &Row) -> bool {
    matches!(row.outcome, Outcome::Skipped(Unmet::Option { .. }))
}

/// Launches the kernels before and after the transforms, without the transforms.
fn launch_around_fft(gpu: &Gpu) -> Result<()> {
    let conv = &Convolution::teaching()?;
    let blocks = unroll::fft::Blocks { length: 4096, hop: 3072, count: 6 };
    let mut buffers = conv.upload(gpu)?;
    let mut rings = gpu.stream.alloc_zeros::<f32>(4096 * 7)?;
    let mut spectra = gpu.stream.alloc_zeros(2049 * 7)?;
    unroll::fft::gather(gpu, conv, &buffers, blocks, &mut rings)?;
    unroll::fft::multiply(gpu, blocks, &mut spectra)?;
    Ok(unroll::fft::collect(gpu, conv, &mut buffers, blocks, &rings)?)
}

fn launch_ceilings(gpu: &Gpu) -> Result<()> {
    let (rounds, factor, addend) = (4_u32, -1.0_f32, 0.7_f32);
    let config = LaunchConfig { grid_dim: (20, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut result = gpu.stream.alloc_zeros::<f32>(20 * 256)?;
    let chains = gpu.kernel(ceilings::FMA_CHAINS)?;
    let mut launch = gpu.stream.launch_builder(&chains);
    launch.arg(&rounds).arg(&factor).arg(&addend).arg(&mut result);
    // SAFETY: the kernel writes one float per thread, and `result` has as many.
    unsafe { launch.launch(config) }?;
    let (words, vectors) = (100_004_u64, 25_001_u64);
    let mut noise = gpu.stream.alloc_zeros::<u32>(words as usize)?;
    let fill = gpu.kernel(ceilings::FILL_NOISE)?;
    let mut launch = gpu.stream.launch_builder(&fill);
    launch.arg(&mut noise).arg(&words);
    // SAFETY: the kernel writes `words` words in any grid, and the buffer holds them.
    unsafe { launch.launch(config) }?;
    let mut target = gpu.stream.alloc_zeros::<u32>(words as usize)?;
    let copy = gpu.kernel(ceilings::COPY_VECTORS)?;
    let mut launch = gpu.stream.launch_builder(&copy);
    launch.arg(&noise).arg(&vectors).arg(&mut target);
    // SAFETY: the kernel reads and writes `vectors` vectors of four words in any grid, and both buffers hold them.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Launches each pattern as the driver compiles it from the stored PTX.
fn launch_patterns(gpu: &Gpu) -> Result<()> {
    let module = gpu.context.load_module(Ptx::from_src(PATTERNS_PTX)).context("the patterns do not load")?;
    let input: Vec<f32> = (0..FLOATS).map(|i| (i * 7919 % 2001) as f32 / 1000.0 - 1.0).collect();
    let input = gpu.stream.clone_htod(&input)?;
    let mut output = gpu.stream.alloc_zeros::<f32>(FLOATS)?;
    for (grid, block, shared_mem_bytes, names) in PATTERNS {
        let config = LaunchConfig { grid_dim: grid.into(), block_dim: block.into(), shared_mem_bytes };
        for name in names {
            let kernel = module.load_function(name)?;
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&input).arg(&mut output).arg(&N);
            // SAFETY: no pattern reads or writes beyond the 65536 floats that both buffers have: the simulator has checked these very
            // launches.
            unsafe { launch.launch(config) }.with_context(|| format!("pattern {name}"))?;
        }
    }
    Ok(())
}

/// Counts with the simulator.
fn simulate(device: &Request) -> Result<Record> {
    let gpu = Gpu::open(device)?;
    ensure!(gpu.is_simulated(), "without Nsight Compute only the simulator counts: --device sim");
    let mut kernels: Vec<KernelCounts> = Vec::new();
    for group in groups() {
        for report in launch(&gpu, group)? {
            let kernel = counts_of(&mut kernels, group, &report.kernel);
            for (name, _, simulated) in METRICS {
                *kernel.values.entry(name.to_owned()).or_default() += simulated(&report.counters);
            }
        }
    }
    Ok(record(&gpu, "the simulator".to_owned(), kernels))
}

/// Counts with Nsight Compute: this program again, group by group, under the profiler.
fn profile() -> Result<Record> {
    let gpu = Gpu::open(&Request::Gpu)?;
    let metrics = METRICS.map(|(name, ..)| name).join(",");
    let mut kernels = Vec::new();
    for group in groups() {
        let output = Command::new("ncu")
            .args(["--csv", "--page", "raw", "--metrics", &metrics])
            .arg(std::env::current_exe()?)
            .args(["counts", "--launch", group])
            .output()
            .context("Nsight Compute does not start: `ncu` of the CUDA toolkit must be on the PATH")?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("ncu fails for {group}:\n{text}{}", String::from_utf8_lossy(&output.stderr));
        }
        kernels.append(&mut read_profile(group, &text)?);
    }
    let version = Command::new("ncu").arg("--version").output()?.stdout;
    let version = String::from_utf8_lossy(&version).lines().last().unwrap_or_default().trim().to_owned();
    let number = version.split_whitespace().nth(1).unwrap_or("of unknown version");
    Ok(record(&gpu, format!("Nsight Compute {number}"), kernels))
}

fn record(gpu: &Gpu, counted_by: String, kernels: Vec<KernelCounts>) -> Record {
    let info = gpu.info();
    let date = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    let simulated = if gpu.is_simulated() { "simulated " } else { "" };
    let (device, driver, compiler) =
        (format!("{simulated}{}", info.name), info.driver.clone(), format!("stored PTX (NVRTC {PINNED_VERSION})"));
    Record { device, driver, compiler, counted_by, date, kernels }
}
