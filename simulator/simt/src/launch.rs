//! The public way in: one launch of one kernel, checked and counted.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::counters::{Counters, LineCounters};
use crate::finding::Finding;
use crate::geometry::Dim3;
use crate::image::Image;
use crate::memory::Memory;
use crate::profile::Profile;

/// Shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchConfig {
    /// Blocks in the grid.
    pub grid: Dim3,
    /// Threads in a block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared_bytes: u32,
}

/// How to execute a launch.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Warp instructions that one block may execute before the kernel is called endless.
    pub fuel: u64,
    /// Threads of the host to run blocks on; `None` takes one per core.
    pub workers: Option<usize>,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self { fuel: 1 << 29, workers: None }
    }
}

/// What a finished launch did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchReport {
    /// Name of the kernel.
    pub kernel: String,
    /// Its shape.
    pub config: LaunchConfig,
    /// Counts of the whole launch.
    pub counters: Counters,
    /// Counts per line of CUDA source, in order of file and line.
    pub lines: Vec<LineCounters>,
    /// Defects that did not stop the kernel.
    pub findings: Vec<Finding>,
}

/// Why a launch did not finish.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// The kernel did something that ends it: the kernel's fault.
    #[error("{0}")]
    Fault(Box<Finding>),
    /// The kernel did not end within its fuel.
    #[error("kernel {kernel} did not end: block {block} executed more than {fuel} warp instructions, last at PTX line {ptx_line}")]
    OutOfFuel {
        /// Name of the kernel.
        kernel: String,
        /// The block that used up its fuel.
        block: Dim3,
        /// What it was allowed.
        fuel: u64,
        /// Where it was when the fuel ended.
        ptx_line: u32,
    },
    /// The host asked for a launch that no device could execute.
    #[error("{0}")]
    Misuse(#[from] LaunchMisuse),
}

/// What the host can ask wrongly of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LaunchMisuse {
    /// No kernel of that name in the module.
    #[error("no kernel named {0} in this module")]
    NoSuchKernel(String),
    /// An extent of the grid or the block is zero or above the profile's limit.
    #[error("{what} {extent} is outside 1..={limit}")]
    Extent {
        /// Which extent, for example `block.x` or `threads per block`.
        what: &'static str,
        /// What was asked.
        extent: u64,
        /// What the profile (or the kernel's launch bounds) allows.
        limit: u64,
    },
    /// Static and dynamic shared memory together are more than a block may have.
    #[error("{asked} bytes of shared memory per block are more than the {limit} of {profile}")]
    SharedMemory {
        /// Static and dynamic bytes asked for.
        asked: u64,
        /// Bytes that a block may have.
        limit: u64,
        /// Name of the profile.
        profile: &'static str,
    },
    /// The parameter bytes are not as many as the kernel's parameters need.
    #[error("kernel {kernel} takes {expected} bytes of parameters, got {got}")]
    Parameters {
        /// Name of the kernel.
        kernel: String,
        /// Bytes of its parameter list.
        expected: usize,
        /// Bytes given.
        got: usize,
    },
}

/// Executes one kernel over its whole grid and returns when it is done.
///
/// `params` holds the kernel's parameters at the offsets of [`Kernel::params`](crate::Kernel::params).
///
/// # Errors
///
/// See [`LaunchError`]. After an error, global memory holds what was written until then.
pub fn launch(
    memory: &Memory,
    image: &Image,
    kernel: &str,
    config: LaunchConfig,
    params: &[u8],
    profile: &Profile,
    options: &LaunchOptions,
) -> Result<LaunchReport, LaunchError> {
    let _ = (memory, image, kernel, config, params, profile, options);
    todo!()
}
