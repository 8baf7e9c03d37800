//! Runs the program again and again: to see what is found, and to record a warp.

use std::fs;
use std::process::{Command, Stdio};

use driver::stepping::{self, Launched, Request, Wanted};
use driver::variables::{DEBUG, REPORT};
use simt::Dim3;

use super::trace::{LANES, Trace};
use crate::ending::{Result, bail};
use crate::program::{Program, temporary_folder};

/// Runs the program and lists its launches: the first one of each kernel, and those with defects. The user sees what the program prints.
pub fn launches(program: &Program<'_>) -> Result<Vec<Launched>> {
    run(program, None, program.command())
}

/// Runs the program and records a warp. What the program prints is known, so that it is not shown.
pub fn record(program: &Program<'_>, wanted: &Wanted) -> Result<Trace> {
    let mut silent = program.command();
    silent.stdout(Stdio::null()).stderr(Stdio::null()).env(REPORT, "off");
    let launches = run(program, Some(wanted), silent)?;
    let recorded = launches.into_iter().find_map(|mut launched| launched.warp.take().map(|warp| (launched, warp)));
    let Some((launched, warp)) = recorded else {
        let of_kernel = wanted.kernel.as_ref().map(|kernel| format!(" of kernel {kernel}")).unwrap_or_default();
        bail!(
            "there was no launch {}{of_kernel} in this run; are there so many, and does the program depend on time or chance?",
            wanted.launch
        );
    };
    let (grid, block) = (launched.config.grid, launched.config.block);
    let warps = block.volume().div_ceil(LANES);
    if wanted.block.x >= grid.x || wanted.block.y >= grid.y || wanted.block.z >= grid.z {
        bail!("the grid has {grid} blocks, so there is no block {}", wanted.block);
    }
    if u64::from(wanted.warp) >= warps {
        let warps = if warps == 1 { "1 warp".to_owned() } else { format!("{warps} warps") };
        bail!("a block of {block} threads has {warps}, counted from 0");
    }
    if warp.executed == 0 {
        bail!("warp {} of block {} executed nothing before the kernel failed", wanted.warp, wanted.block);
    }
    Ok(Trace::new(wanted, launched, warp))
}

/// Records a warp, including its first defect (or its end, if the warp never ends). If the first record ends before that, it records a
/// later part.
pub fn record_to_the_defect(program: &Program<'_>, wanted: &Wanted) -> Result<Trace> {
    let trace = record(program, wanted)?;
    let limit = wanted.limit as u64;
    let last = trace.first_found.or(trace.is_endless().then_some(trace.executed));
    match last.filter(|last| *last > limit) {
        None => Ok(trace),
        Some(last) => record(program, &Wanted { first: last - limit.div_ceil(2), ..wanted.clone() }),
    }
}

fn run(program: &Program<'_>, wanted: Option<&Wanted>, mut command: Command) -> Result<Vec<Launched>> {
    let folder = temporary_folder()?;
    let request = folder.path().join("request.json");
    let asked = Request { folder: folder.path().to_owned(), wanted: wanted.cloned() };
    fs::write(&request, serde_json::to_vec(&asked)?)?;
    program.run(command.env(DEBUG, &request).stdin(Stdio::null()))?;
    Ok(stepping::read(folder.path())?)
}

/// Returns the number of a thread's warp and the thread's lane.
pub fn warp_and_lane(block: Dim3, thread: Dim3) -> (u32, u32) {
    let number = block.number_of(thread).unwrap_or(0);
    ((number / LANES) as u32, (number % LANES) as u32)
}

/// Reads a block's index: up to three numbers.
pub fn parse_block(text: &str) -> Result<Dim3, String> {
    let numbers: Result<Vec<u32>, _> = text.trim_matches(['(', ')']).split(',').map(|number| number.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([x]) => Ok(Dim3::new(*x, 0, 0)),
        Ok([x, y]) => Ok(Dim3::new(*x, *y, 0)),
        Ok([x, y, z]) => Ok(Dim3::new(*x, *y, *z)),
        _ => Err(format!("`{text}` is not the index of a block, such as 3 or 3,0,0")),
    }
}
