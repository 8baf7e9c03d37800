//! Whether a GPU counts as the simulator does: `cargo run -p tests --bin requests`.
//!
//! The kernels of `simulator/simt/tests/programs/merging.cu` hold what a compiler merges into wider loads and stores and what it does
//! not. Nsight Compute counts the requests of its machine code, the simulator those of a model of it.
//!
//! ```console
//! $ requests launch                   # each kernel once, on the GPU; this is what Nsight Compute runs
//! $ requests expect                   # what the simulator counts, by Nsight Compute's names
//! $ requests compare counts.csv       # the two side by side; status 1 if any differ
//! ```
//!
//! `requests launch --help-ncu` prints the command for Nsight Compute.

use std::collections::HashMap;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use common::device::Request;
use common::gpu::Gpu;
use cudarc::driver::{LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use simt::{Counters, Dim3, Image, LaunchOptions, Memory, Module, Profile};

const PTX: &str = include_str!("../../../simulator/simt/tests/programs/merging.ptx");

/// Floats of the input, and of the output.
const FLOATS: usize = 1 << 16;
/// The number that the kernels' compiler does not know.
const N: i32 = 64;

/// A kernel, its grid, its block, its bytes of dynamic shared memory.
type Launch = (&'static str, [u32; 3], [u32; 3], u32);

const LAUNCHES: &[Launch] = &[
    ("matmul_tiles", [4, 4, 1], [16, 16, 1], 0),
    ("matmul_padded", [4, 4, 1], [16, 16, 1], 0),
    ("matmul_register_tile", [1, 1, 1], [16, 16, 1], 0),
    ("convolution", [8, 1, 1], [256, 1, 1], 0),
    ("convolution_4", [8, 1, 1], [256, 1, 1], 0),
    ("convolution_8", [8, 1, 1], [256, 1, 1], 0),
    ("convolution_16", [8, 1, 1], [256, 1, 1], 0),
    ("convolution_unknown", [8, 1, 1], [256, 1, 1], 0),
    ("convolution_register_tile", [8, 1, 1], [128, 1, 1], 0),
    ("misaligned", [1, 1, 1], [256, 1, 1], 0),
    ("strided", [1, 1, 1], [256, 1, 1], 0),
    ("bytes", [1, 1, 1], [256, 1, 1], 0),
    ("members", [1, 1, 1], [256, 1, 1], 0),
    ("dynamic", [1, 1, 1], [256, 1, 1], 1024),
    ("stores", [1, 1, 1], [256, 1, 1], 0),
    ("triples", [1, 1, 1], [256, 1, 1], 0),
    ("vectors_of_three", [1, 1, 1], [256, 1, 1], 0),
    ("doubles", [1, 1, 1], [256, 1, 1], 0),
    ("guarded", [1, 1, 1], [256, 1, 1], 0),
    ("global_runs", [4, 1, 1], [256, 1, 1], 0),
    ("global_vectors", [4, 1, 1], [256, 1, 1], 0),
];

/// A metric of Nsight Compute, and what the simulator has for it.
type Metric = (&'static str, fn(&Counters) -> u64);

const METRICS: &[Metric] = &[
    ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", |c| c.global_load_requests),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", |c| c.global_load_sectors),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", |c| c.global_store_requests),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", |c| c.global_store_sectors),
    ("smsp__inst_executed_op_shared_ld.sum", |c| c.shared_load_requests),
    ("smsp__inst_executed_op_shared_st.sum", |c| c.shared_store_requests),
    ("memory_l1_wavefronts_shared", |c| c.shared_load_wavefronts + c.shared_store_wavefronts),
    ("memory_l1_wavefronts_shared_ideal", |c| c.shared_load_wavefronts_ideal + c.shared_store_wavefronts_ideal),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["launch"] => launch().map(|()| true),
        ["launch", "--help-ncu"] => {
            println!("{}", command());
            Ok(true)
        }
        ["expect"] => expect().map(|()| true),
        ["compare", file] => compare(file),
        _ => Err(anyhow::anyhow!("expected launch, expect, or compare with the CSV file of Nsight Compute")),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// What counts these launches with Nsight Compute.
fn command() -> String {
    let metrics = METRICS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",");
    format!("ncu --csv --page raw --metrics {metrics} target/debug/requests launch > counts.csv")
}

/// Launches each kernel once on the GPU, in machine code that its driver makes of the PTX.
fn launch() -> Result<()> {
    let gpu = Gpu::open(&Request::Gpu)?;
    let module = gpu.context.load_module(Ptx::from_src(PTX)).context("the kernels do not load")?;
    let input = gpu.stream.clone_htod(&input())?;
    let mut output = gpu.stream.alloc_zeros::<f32>(FLOATS)?;
    for &(name, [x, y, z], [block_x, block_y, block_z], shared_mem_bytes) in LAUNCHES {
        let kernel = module.load_function(name)?;
        let config = LaunchConfig { grid_dim: (x, y, z), block_dim: (block_x, block_y, block_z), shared_mem_bytes };
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&input).arg(&mut output).arg(&N);
        // SAFETY: no kernel reads or writes beyond the 65536 floats that both buffers have: the simulator has checked these very launches.
        unsafe { launch.launch(config) }.with_context(|| format!("kernel {name}"))?;
    }
    gpu.stream.synchronize()?;
    println!("{} kernels launched on {}", LAUNCHES.len(), gpu.info().name);
    Ok(())
}

fn input() -> Vec<f32> {
    (0..FLOATS).map(|i| (i * 7919 % 2001) as f32 / 1000.0 - 1.0).collect()
}

/// What the simulator counts of each launch.
fn expected() -> Result<Vec<(&'static str, Counters)>> {
    let memory = Memory::new(1 << 24);
    let image = Image::new(Arc::new(Module::parse(PTX)?), &memory)?;
    let bytes: Vec<u8> = input().iter().flat_map(|value| value.to_le_bytes()).collect();
    let buffers = [memory.allocate(bytes.len() as u64, Some("input"))?, memory.allocate(bytes.len() as u64, Some("output"))?];
    memory.write(buffers[0], &bytes)?;
    let mut params: Vec<u8> = buffers.into_iter().flat_map(u64::to_le_bytes).collect();
    params.extend(N.to_le_bytes());
    let profile = Profile::named("h200").context("no profile h200")?;
    LAUNCHES
        .iter()
        .map(|&(name, grid, block, dynamic_shared_bytes)| {
            let extent = |[x, y, z]: [u32; 3]| Dim3::new(x, y, z);
            let config = simt::LaunchConfig { grid: extent(grid), block: extent(block), dynamic_shared_bytes };
            let report = simt::launch(&memory, &image, name, config, &params, profile, &LaunchOptions::default())?;
            Ok((name, report.counters))
        })
        .collect()
}

fn expect() -> Result<()> {
    println!("kernel,{}", METRICS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(","));
    for (kernel, counters) in expected()? {
        let values = METRICS.iter().map(|(_, value)| value(&counters).to_string()).collect::<Vec<_>>();
        println!("{kernel},{}", values.join(","));
    }
    Ok(())
}

/// Prints what differs; whether nothing does.
fn compare(file: &str) -> Result<bool> {
    let text = fs::read_to_string(file).with_context(|| file.to_owned())?;
    let mut lines = text.lines().skip_while(|line| !line.starts_with("\"ID\""));
    let Some(header) = lines.next() else {
        bail!("{file} has no line that starts with \"ID\": is it made by this?\n{}", command())
    };
    let names = fields(header);
    let mut measured: HashMap<String, HashMap<&str, String>> = HashMap::new();
    for line in lines.filter(|line| line.starts_with('"')) {
        let row: HashMap<&str, String> = names.iter().map(String::as_str).zip(fields(line)).collect();
        // The row of units has no name.
        if let Some(kernel) = row.get("Kernel Name").filter(|name| !name.is_empty()) {
            let kernel = kernel.split('(').next().unwrap_or(kernel).to_owned();
            measured.insert(kernel, row);
        }
    }
    let (mut compared, mut different) = (0, 0);
    for (kernel, counters) in expected()? {
        for (metric, value) in METRICS {
            let text = measured.get(kernel).and_then(|row| row.get(metric));
            let found = text.and_then(|text| text.replace(',', "").parse::<f64>().ok());
            let expected = value(&counters);
            match found {
                Some(found) if found == expected as f64 => compared += 1,
                Some(found) => {
                    (compared, different) = (compared + 1, different + 1);
                    println!("{kernel}: {metric} is {found}, the simulator counts {expected}");
                }
                None => println!("{kernel}: {metric} is not in the file"),
            }
        }
    }
    println!("{} of {compared} values are equal", compared - different);
    Ok(different == 0 && compared > 0)
}

/// The fields of a line of CSV, all of which may stand in quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            character => fields.last_mut().expect("one field at least").push(character),
        }
    }
    fields
}
