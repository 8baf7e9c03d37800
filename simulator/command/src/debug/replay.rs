//! Runs the program again and again: to see what is found, and to record a warp.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::process::{Command, Stdio};

use simcuda::stepping::{self, Launched, Request, Wanted, Warp};
use simcuda::variables::{DEBUG, REPORT};
use simt::Dim3;

use crate::program::{Simulator, not_started};

/// Threads of a warp.
const LANES: u64 = 32;

/// A program that can be run again.
#[derive(Debug)]
pub struct Program<'a> {
    words: &'a [OsString],
    simulator: Simulator,
    /// The most instructions to record.
    pub limit: usize,
}

/// A recorded warp of a launch.
#[derive(Debug)]
pub struct Reached {
    pub wanted: Wanted,
    pub launched: Launched,
    pub warp: Warp,
}

impl Reached {
    /// Returns true if the kernel was stopped in this warp because it did not end.
    pub fn is_endless(&self) -> bool {
        let Wanted { block, warp, .. } = &self.wanted;
        self.launched.failure.as_ref().is_some_and(|failure| failure.block == *block && failure.warp == Some(*warp))
    }

    /// Counts the threads of the warp.
    pub fn threads(&self) -> u32 {
        let before = u64::from(self.wanted.warp) * LANES;
        self.launched.config.block.volume().saturating_sub(before).min(LANES) as u32
    }
}

impl<'a> Program<'a> {
    /// Prepares the simulator.
    ///
    /// # Errors
    ///
    /// If its libraries cannot be installed for the program.
    pub fn new(words: &'a [OsString], limit: usize) -> Result<Self, Box<dyn Error>> {
        Ok(Self { words, simulator: Simulator::install()?, limit })
    }

    /// Runs the program and lists its launches: the first one of each kernel, and those with defects. The user sees what the program prints.
    pub fn launches(&self) -> Result<Vec<Launched>, Box<dyn Error>> {
        self.run(None, |_| ())
    }

    /// Runs the program and records a warp. What the program prints is known, so that it is not shown.
    ///
    /// # Errors
    ///
    /// If there is no such launch or no such warp.
    pub fn record(&self, wanted: &Wanted) -> Result<Reached, Box<dyn Error>> {
        let silent = |command: &mut Command| {
            command.stdout(Stdio::null()).stderr(Stdio::null()).env(REPORT, "off");
        };
        let launches = self.run(Some(wanted), silent)?;
        let recorded = launches.into_iter().find_map(|mut launched| launched.warp.take().map(|warp| (launched, warp)));
        let Some((launched, warp)) = recorded else {
            let of_kernel = wanted.kernel.as_ref().map(|kernel| format!(" of kernel {kernel}")).unwrap_or_default();
            return Err(format!(
                "there was no launch {}{of_kernel} in this run; are there so many, and does the program depend on time or chance?",
                wanted.launch
            )
            .into());
        };
        let (grid, block) = (launched.config.grid, launched.config.block);
        let warps = block.volume().div_ceil(LANES);
        if wanted.block.x >= grid.x || wanted.block.y >= grid.y || wanted.block.z >= grid.z {
            return Err(format!("the grid has {grid} blocks, so there is no block {}", wanted.block).into());
        }
        if u64::from(wanted.warp) >= warps {
            let warps = if warps == 1 { "1 warp".to_owned() } else { format!("{warps} warps") };
            return Err(format!("a block of {block} threads has {warps}, counted from 0").into());
        }
        if warp.executed == 0 {
            return Err(format!("warp {} of block {} executed nothing before the kernel failed", wanted.warp, wanted.block).into());
        }
        let wanted = Wanted { kernel: Some(launched.kernel.clone()), ..wanted.clone() };
        Ok(Reached { wanted, launched, warp })
    }

    /// Records a warp, with the first defect that is found in it, or with its end if it never ends. If that is too late in the record, there is
    /// another run.
    pub fn record_to_the_defect(&self, wanted: &Wanted) -> Result<Reached, Box<dyn Error>> {
        let reached = self.record(wanted)?;
        let found = reached.warp.found.first().map(|(found, _)| *found);
        let Some(last) = found.or(reached.is_endless().then_some(reached.warp.executed)) else { return Ok(reached) };
        match last.checked_sub(self.limit as u64) {
            None | Some(0) => Ok(reached),
            Some(_) => self.record(&Wanted { first: last - (self.limit as u64).div_ceil(2), ..wanted.clone() }),
        }
    }

    fn run(&self, wanted: Option<&Wanted>, prepare: impl FnOnce(&mut Command)) -> Result<Vec<Launched>, Box<dyn Error>> {
        let folder = tempfile::Builder::new().prefix("simcuda-debug-").tempdir()?;
        let request = folder.path().join("request.json");
        let asked = Request { folder: folder.path().to_owned(), wanted: wanted.cloned() };
        fs::write(&request, serde_json::to_vec(&asked)?)?;
        let mut command = self.simulator.command(self.words);
        command.env(DEBUG, &request).stdin(Stdio::null());
        prepare(&mut command);
        command.status().map_err(|error| not_started(self.words, &error))?;
        Ok(stepping::read(folder.path())?)
    }
}

/// Returns the number of a thread's warp.
pub fn warp_of(block: Dim3, thread: Dim3) -> u32 {
    (number_of(block, thread) / LANES) as u32
}

/// Returns the lane of a thread in its warp.
pub fn lane_of(block: Dim3, thread: Dim3) -> u32 {
    (number_of(block, thread) % LANES) as u32
}

fn number_of(block: Dim3, thread: Dim3) -> u64 {
    block.number_of(thread).unwrap_or(0)
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
