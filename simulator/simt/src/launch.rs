//! The public way in: one launch of one kernel, checked and counted.

use std::fmt;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cluster::{self, ClusterMisuse};
use crate::counters::{AccessSample, Counters, LineCounters, Touched};
use crate::exec::clusters::Clusters;
use crate::exec::grid::{self, Stopped};
use crate::exec::machine::{Machine, Stop, thread_index};
use crate::exec::request::Polled;
use crate::exec::watch::found::{Defect, Entry, Site, WgmmaDefect};
use crate::exec::watch::global_shadow::GlobalShadow;
use crate::footprint::{Accessed, Footprint};
use crate::image::Image;
use crate::memory::Memory;
use crate::memory::rules::Rules;
use crate::occupancy::{BlockNeeds, Occupancy};
use crate::options::LaunchOptions;
use crate::profile::Profile;
use alu::registers::LANES;
use ptx::finding::{Access, AccessOp, BulkCopyMisuse, Finding, FindingKind, Location, Nearest, OtherAccess, Space, WgmmaMisuse};
use ptx::geometry::Dim3;
pub use ptx::geometry::LaunchConfig;
use ptx::module::Kernel;
use ptx::program::{Constant, ConstantValue, MachineRequest};

/// The report of a launch that finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchReport {
    /// Name of the kernel.
    pub kernel: String,
    /// Its shape.
    pub config: LaunchConfig,
    /// Counts over the whole launch.
    pub counters: Counters,
    /// Counts per line of CUDA source, in order of file and line.
    pub lines: Vec<LineCounters>,
    /// One request of each load and store that the first warp executed, in program order.
    pub samples: Vec<AccessSample>,
    /// The bytes that the threads of the block in [`LaunchOptions::trace`] accessed, sorted and without duplicates.
    #[serde(default)]
    pub touched: Vec<Touched>,
    /// Blocks that ran: all, unless [`LaunchOptions::blocks`] chooses some.
    pub blocks: u64,
    /// The bytes of global memory that all threads accessed, in the order of their addresses, if [`LaunchOptions::footprint`] asks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub footprint: Vec<Accessed>,
    /// The output of `printf`, block by block in the order of the grid.
    #[serde(default)]
    pub printed: String,
    /// Bytes of older output that were overwritten, because it is more than [`LaunchOptions::printed_bytes`].
    #[serde(default)]
    pub overwritten: u64,
    /// Defects that did not stop the kernel.
    pub findings: Vec<Finding>,
}

/// Why a launch did not finish.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// The kernel has a defect that ends it.
    #[error("{finding}")]
    Fault {
        /// The defect.
        finding: Box<Finding>,
        /// The output of that block and the blocks before it up to then.
        printed: String,
        /// Bytes of older output that were overwritten.
        overwritten: u64,
    },
    /// A block executed more than its fuel. It may wait for something, or only need longer.
    #[error(
        "kernel {kernel} was stopped: block {block} executed more than {fuel} warp instructions{}, last at {location}\n  {}",
        if printed.is_empty() { "" } else { ", with each printf of a thread counted as hundreds" },
        waits.as_ref().map_or("either a loop does not end, or the kernel is long".to_owned(), ToString::to_string)
    )]
    OutOfFuel {
        /// Name of the kernel.
        kernel: String,
        /// The block that used up its fuel.
        block: Dim3,
        /// The warp of the block that ran then.
        warp: u32,
        /// Its limit.
        fuel: u64,
        /// The instruction at which the fuel ran out.
        location: Box<Location>,
        /// What the block waits for, if it looked at nothing else in the end.
        waits: Option<Box<WaitsFor>>,
        /// The output of that block and the blocks before it up to then.
        printed: String,
        /// Bytes of older output that were overwritten.
        overwritten: u64,
    },
    /// The host asked for a launch that no device could execute.
    #[error("{0}")]
    Misuse(#[from] LaunchMisuse),
}

/// Memory that a block reads again and again, without a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitsFor {
    /// The access.
    pub access: Access,
    /// The allocation that holds those bytes.
    pub place: Option<Nearest>,
    /// The host can write there, too. Here, it goes on when the launch has ended.
    pub is_on_host: bool,
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { access, place, is_on_host } = self;
        let place = place.as_ref().map_or(String::new(), |place| format!(", {place}"));
        if *is_on_host {
            write!(
                f,
                "it waits for the host: the same {access}{place} again and again, but here a launch ends before the host goes on"
            )
        } else {
            write!(f, "it waits: the same {access}{place} again and again, and nothing changes the value")
        }
    }
}

impl LaunchError {
    /// Returns a GPU driver's `CUresult` for this, with NVIDIA's description. What the driver of a GPU without clusters returns for
    /// a launch of clusters was not tried.
    pub fn cuda_result(&self) -> (u32, &'static str) {
        match self {
            LaunchError::Fault { finding, .. } => match finding.kind {
                FindingKind::OutOfBounds { .. } | FindingKind::Null { .. } => (700, "an illegal memory access was encountered"),
                FindingKind::Misaligned { .. } => (716, "misaligned address"),
                FindingKind::OtherBlocksMemory { .. } => (715, "an illegal instruction was encountered"),
                FindingKind::InvalidBulkCopy { ref misuse } => of_bulk_copy(misuse),
                FindingKind::Assert { .. } => (710, "device-side assert triggered"),
                FindingKind::StackOverflow { .. } => (714, "hardware stack error"),
                // A GPU hangs here until its watchdog, if it has one, stops the kernel.
                FindingKind::DivergentBarrier { .. }
                | FindingKind::Deadlock { .. }
                | FindingKind::MbarrierDeadlock { .. }
                | FindingKind::ClusterDeadlock { .. }
                | FindingKind::RegisterDeadlock { .. }
                | FindingKind::GridDeadlock { .. } => (702, "the launch timed out and was terminated"),
                // A trap, or anything else that stops a kernel. What hardware does not notice is in the report of a launch that succeeds.
                _ => (719, "unspecified launch failure"),
            },
            LaunchError::OutOfFuel { .. } => (702, "the launch timed out and was terminated"),
            LaunchError::Misuse(LaunchMisuse::NoSuchKernel(_)) => (500, "named symbol not found"),
            LaunchError::Misuse(LaunchMisuse::Cluster(ClusterMisuse::Unsupported { .. })) => (801, "operation not supported"),
            LaunchError::Misuse(LaunchMisuse::Cluster(_)) => {
                (912, "a kernel launch error has occurred due to cluster misconfiguration")
            }
            LaunchError::Misuse(_) => (1, "invalid argument"),
        }
    }

    /// Returns the output of the kernel before it failed.
    pub fn printed(&self) -> &str {
        match self {
            LaunchError::Fault { printed, .. } | LaunchError::OutOfFuel { printed, .. } => printed,
            LaunchError::Misuse(_) => "",
        }
    }

    /// Returns the number of bytes of older output that were overwritten.
    pub fn overwritten(&self) -> u64 {
        match self {
            LaunchError::Fault { overwritten, .. } | LaunchError::OutOfFuel { overwritten, .. } => *overwritten,
            LaunchError::Misuse(_) => 0,
        }
    }
}

/// Returns the result for a misuse of a bulk copy. Those that were tried on an H100 have its codes, and the others are failed launches.
fn of_bulk_copy(misuse: &BulkCopyMisuse) -> (u32, &'static str) {
    match misuse {
        BulkCopyMisuse::OutsideShared { .. } | BulkCopyMisuse::OutsideAllocation { .. } => {
            (700, "an illegal memory access was encountered")
        }
        BulkCopyMisuse::BoxAlignment { .. } => (716, "misaligned address"),
        BulkCopyMisuse::NotAMap { .. }
        | BulkCopyMisuse::Rank { .. }
        | BulkCopyMisuse::Coordinate { .. }
        | BulkCopyMisuse::BeforeTensor { .. } => (715, "an illegal instruction was encountered"),
        BulkCopyMisuse::Size { .. } | BulkCopyMisuse::Interleaved | BulkCopyMisuse::Reduction { .. } => {
            (719, "unspecified launch failure")
        }
    }
}

/// A launch that the host asked for wrongly.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LaunchMisuse {
    /// The module has no kernel of that name.
    #[error("no kernel named {0} in this module")]
    NoSuchKernel(String),
    /// An extent of the grid or the block is zero or above the profile's limit.
    #[error("{what} {extent} is outside 1..={limit}")]
    Extent {
        /// Which extent, for example `block.x` or `threads per block`.
        what: &'static str,
        /// The extent that was asked for.
        extent: u64,
        /// The limit of the profile, or of the kernel's launch bounds.
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
    /// Clusters that the device, the kernel or the grid does not allow.
    #[error("{0}")]
    Cluster(#[from] ClusterMisuse),
    /// No memory is left for the barrier of the grid.
    #[error("no memory is left for the barrier of the grid")]
    NoWorkspace,
    /// The size of the parameters differs from the size of the kernel's parameter list.
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

/// A kernel with its shape and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// The shape of the launch.
    pub config: LaunchConfig,
    /// The parameters, at the offsets of [`Kernel::params`].
    pub params: &'a [u8],
}

/// Executes one kernel over its whole grid. Returns when it is done.
///
/// # Errors
///
/// See [`LaunchError`]. After an error, global memory holds what the kernel had written by then.
pub fn launch(
    memory: &Memory,
    image: &Image,
    Call { kernel, config, params }: Call<'_>,
    profile: &Profile,
    options: &LaunchOptions,
) -> Result<LaunchReport, LaunchError> {
    let kernel = image.kernel(kernel).ok_or_else(|| LaunchMisuse::NoSuchKernel(kernel.to_owned()))?;
    check_shape(kernel, config, profile)?;
    let cluster = cluster::check(kernel.cluster(), config.grid, (options.cluster, options.large_clusters), profile)
        .map_err(LaunchMisuse::from)?;
    if params.len() != kernel.param_bytes() {
        let (expected, got) = (kernel.param_bytes(), params.len());
        return Err(LaunchMisuse::Parameters { kernel: kernel.name().to_owned(), expected, got }.into());
    }
    let program = &kernel.program;
    let (shared_addresses, constants): (Vec<_>, Vec<_>) =
        program.constants.iter().partition(|constant| matches!(constant.value, ConstantValue::Shared { .. }));
    let values = |constant: &&Constant| {
        let value = match constant.value {
            ConstantValue::Bits(bits) | ConstantValue::Shared { offset: bits, .. } => bits,
            ConstantValue::Address { variable, offset } => image.address(variable).wrapping_add_signed(offset),
            ConstantValue::Param { offset, width, signed } => param(params, offset, width, signed),
        };
        (constant.register, constant.kind, value)
    };
    let map = &image.module().map;
    let shared_bytes = shared_bytes(kernel, config);
    let workspace = options.cooperative.then(|| Workspace::new(memory)).transpose()?;
    if program.uses_heap {
        options.heap.make(memory);
    }
    let regions = memory.snapshot();
    let rules = Rules::of(profile.compute_capability);
    let requests = if options.merge_requests && rules.merges_requests() {
        program.machine_requests.clone()
    } else {
        vec![MachineRequest::AsWritten; program.accesses.len()]
    };
    let clusters = Clusters::new(config.grid, cluster, shared_bytes);
    let needs = BlockNeeds {
        threads: config.block.volume() as u32,
        registers_per_thread: options.registers_per_thread,
        shared_bytes: shared_bytes.into(),
    };
    let resident = u64::from(Occupancy::of(profile, needs).blocks_per_multiprocessor) * u64::from(profile.multiprocessors);
    let machine = Machine {
        program,
        options,
        config,
        params,
        constants: constants.iter().map(values).collect(),
        shared_addresses: shared_addresses.iter().map(values).collect(),
        shared_bytes,
        clusters,
        multiprocessors: profile.multiprocessors,
        resident_clusters: (resident / u64::from(clusters.blocks)).max(1),
        independent_lanes: profile.compute_capability >= (7, 0),
        rules,
        requests,
        memory,
        // Races with blocks that do not run cannot be found.
        global_shadow: (options.checks && options.blocks.is_none())
            .then(|| GlobalShadow::new(program, clusters, (config.grid.volume(), config.block.volume()), regions.len()))
            .flatten(),
        footprint: (options.checks && options.footprint).then(|| Footprint::new(regions.len())),
        grid_workspace: workspace.as_ref().map_or(0, |workspace| workspace.address),
        traced: options.trace.and_then(|block| config.grid.number_of(block)),
        regions,
        map,
        wide_atomics: Mutex::new(()),
    };
    let ended = grid::run(&machine);
    let stats = ended.as_ref().map_or_else(|stopped| &*stopped.stats, |(stats, _)| stats);
    if let Some(coverage) = &options.coverage {
        coverage.add(&stats.instructions);
    }
    match ended {
        Ok((mut stats, mut found)) => {
            let (counters, lines) = stats.finish(program, map);
            let samples = stats.samples(program, map);
            let (printed, overwritten) = stats.printed.finish(options.printed_bytes);
            if let Some(record) = &options.steps {
                let followed = found.take_followed().into_iter();
                record.lock().found.extend(followed.map(|(number, entry)| (number, finding(entry, kernel, &machine))));
            }
            let findings = found.into_entries().into_iter().map(|entry| finding(entry, kernel, &machine)).collect();
            Ok(LaunchReport {
                kernel: kernel.name().to_owned(),
                config,
                counters,
                lines,
                samples,
                touched: stats.touched(),
                blocks: options.blocks.as_ref().map_or(config.grid.volume(), |blocks| blocks.len() as u64),
                footprint: machine.footprint.as_ref().map(|footprint| footprint.accessed(&machine.regions)).unwrap_or_default(),
                printed,
                overwritten,
                findings,
            })
        }
        Err(Stopped { block: number, stop, printed: (printed, overwritten), .. }) => {
            let (kernel, block) = (kernel.name().to_owned(), config.grid.index_of(number));
            Err(match stop {
                Stop::OutOfFuel { pc, warp, polled } => {
                    let location = Box::new(machine.location(pc));
                    let waits = polled.filter(|polled| polled.is_only).map(|Polled { access, .. }| {
                        let is_on_host = access.space == Space::Global && machine.is_on_host(access.address);
                        Box::new(WaitsFor { access: machine.in_block(access), place: machine.place(&access, number), is_on_host })
                    });
                    LaunchError::OutOfFuel { kernel, block, warp, fuel: options.fuel, location, waits, printed, overwritten }
                }
                Stop::Fault { kind, pc, warp, lane, lanes } => {
                    let (thread, location) = (thread_index(config.block, warp, lane), machine.location(pc));
                    let finding = Box::new(Finding { kind: *kind, kernel, block, thread, lanes, times: 1, location });
                    if let Some(record) = &options.steps {
                        record.note_fault(block, warp, &finding);
                    }
                    LaunchError::Fault { finding, printed, overwritten }
                }
            })
        }
    }
}

/// Memory in which the blocks of a cooperative launch synchronize. It is freed on drop.
struct Workspace<'a> {
    memory: &'a Memory,
    address: u64,
}

impl<'a> Workspace<'a> {
    /// The bytes of the workspace. It holds its size and a counter of arrivals, with room for what later compilers keep there.
    const BYTES: u64 = 64;

    fn new(memory: &'a Memory) -> Result<Self, LaunchMisuse> {
        let address =
            memory.allocate_zeroed(Self::BYTES, Some("the barrier of the grid")).map_err(|_| LaunchMisuse::NoWorkspace)?;
        Ok(Self { memory, address })
    }
}

impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        // It was allocated here and nobody else frees it.
        let _ = self.memory.free(self.address);
    }
}

/// Turns what the checks found into findings. A copy at each call would make the module for web pages larger.
#[inline(never)]
fn finding(entry: Entry, kernel: &Kernel, machine: &Machine<'_>) -> Finding {
    let Entry { site, defect, times } = entry;
    let config = machine.config;
    let location = |pc: u32| machine.location(pc);
    let in_block = |access: Access| machine.in_block(access);
    let place = |access: &Access| machine.place(access, site.block);
    let kind = match defect {
        Defect::Race { access, other, other_op, same_warp, volatile, missing } => FindingKind::Race {
            access: in_block(access),
            place: place(&access),
            other: other_access(other, other_op, machine),
            same_block: other.block == site.block,
            same_warp,
            volatile,
            missing,
        },
        Defect::OutsideArray { access, array } => {
            let variable = &machine.program.shared_variables[array as usize];
            FindingKind::OutsideArray {
                access: in_block(access),
                array: variable.name.clone(),
                array_offset: in_block(access).address as i64 - i64::from(variable.offset),
                array_bytes: variable.bytes.unwrap_or(0),
                place: place(&access),
            }
        }
        Defect::WritesConstant { access } => FindingKind::WritesConstant { access, place: place(&access) },
        Defect::Uninitialized { access } => FindingKind::Uninitialized { access: in_block(access), place: place(&access) },
        Defect::UnfinishedCopy { access, copy } => {
            FindingKind::UnfinishedCopy { access: in_block(access), copy: Box::new(location(copy.pc)) }
        }
        Defect::EndedBlock { access, owner } => {
            FindingKind::EndedBlock { access: in_block(access), owner: config.grid.index_of(owner) }
        }
        Defect::PartialWarpgroup => FindingKind::PartialWarpgroup,
        Defect::MissingProxyFence { access, writer, writer_op, late } => FindingKind::MissingProxyFence {
            access: in_block(access),
            place: place(&access),
            writer: other_access(writer, writer_op, machine),
            late,
        },
        Defect::OverwritesStore { access, store } => {
            let store = Box::new(location(store.pc));
            FindingKind::OverwritesStore { access: in_block(access), place: place(&access), store }
        }
        Defect::UnwaitedStore { committed } => FindingKind::UnwaitedStore { committed },
        Defect::StaleWait { access, wait, other } => FindingKind::StaleWait {
            access: in_block(access),
            barrier: wait.barrier.into(),
            parity: wait.is_odd.into(),
            wait: Box::new(location(wait.pc)),
            other: Box::new(location(other.pc)),
        },
        Defect::CopySize { asked, bytes } => FindingKind::CopySize { asked, bytes },
        Defect::AbsentLane { source } => FindingKind::AbsentLane { lane: source },
        Defect::LaneMask { mask, absent } => FindingKind::LaneMask { mask, absent },
        Defect::LaterBlock { access, first } => {
            FindingKind::LaterBlock { access: in_block(access), place: place(&access), first: config.grid.index_of(first) }
        }
        Defect::EndedBeforeBarrier { barrier, ended } => FindingKind::EndedBeforeBarrier { barrier, ended },
        Defect::DifferentBarriers { barrier, other } => {
            FindingKind::DifferentBarriers { barrier, other: Box::new(location(other.pc)) }
        }
        Defect::Wgmma(defect) => FindingKind::Wgmma(misuse_of_wgmma(defect, site, machine)),
    };
    Finding {
        kind,
        kernel: kernel.name().to_owned(),
        block: config.grid.index_of(site.block),
        thread: config.block.index_of(site.thread.into()),
        lanes: 1,
        times,
        location: location(site.pc),
    }
}

fn other_access(site: Site, op: AccessOp, machine: &Machine<'_>) -> Box<OtherAccess> {
    let Site { block, thread, pc } = site;
    let (block, thread) = (machine.config.grid.index_of(block), machine.config.block.index_of(thread.into()));
    Box::new(OtherAccess { op, block, thread, location: machine.location(pc) })
}

fn misuse_of_wgmma(defect: WgmmaDefect, site: Site, machine: &Machine<'_>) -> WgmmaMisuse {
    let location = |pc: u32| Box::new(machine.location(pc));
    // A product of a warp reads for all of its lanes.
    let product = |site: Site| other_access(site, AccessOp::Load, machine);
    match defect {
        WgmmaDefect::RegisterInUse { product, usage } => WgmmaMisuse::RegisterInUse { usage, product: location(product) },
        WgmmaDefect::Unfenced { access, moves } => WgmmaMisuse::Unfenced { access: access.map(location), moves },
        WgmmaDefect::SharedInUse { access, product: reader } => {
            let place = machine.place(&access, site.block);
            WgmmaMisuse::SharedInUse { access: machine.in_block(access), place, product: product(reader) }
        }
        WgmmaDefect::Descriptor { descriptor, defect } => WgmmaMisuse::Descriptor { descriptor, defect },
        WgmmaDefect::Abandoned { committed } => WgmmaMisuse::Abandoned { committed },
        WgmmaDefect::Disagreement { other } => {
            let of_warp = |(pc, warp)| product(Site { block: site.block, thread: warp * LANES as u32, pc });
            WgmmaMisuse::Disagreement { other: other.map(of_warp) }
        }
    }
}

/// Returns a parameter's value. Beyond the list it is zero, which only a kernel can see that reads parameters it did not declare.
fn param(params: &[u8], offset: u32, width: u32, signed: bool) -> u64 {
    let bytes = params.iter().skip(offset as usize).take(width as usize);
    let value = bytes.rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    let above = 64 - 8 * width;
    if signed { ((value << above) as i64 >> above) as u64 } else { value }
}

/// Returns the shared memory of a block, static and dynamic together.
fn shared_bytes(kernel: &Kernel, config: LaunchConfig) -> u32 {
    let dynamic = config.dynamic_shared_bytes;
    if dynamic == 0 { kernel.program.static_shared_bytes } else { kernel.program.dynamic_shared_offset.saturating_add(dynamic) }
}

/// Refuses a shape that the profile or the kernel does not allow. [`launch`] does the same; this is for callers that launch later.
///
/// # Errors
///
/// [`LaunchMisuse`]
pub fn check_shape(kernel: &Kernel, config: LaunchConfig, profile: &Profile) -> Result<(), LaunchMisuse> {
    let LaunchConfig { grid, block, .. } = config;
    let [block_x, block_y, block_z] = profile.max_block.map(u64::from);
    let [grid_x, grid_y, grid_z] = profile.max_grid.map(u64::from);
    let bounds = kernel.max_threads().unwrap_or(u32::MAX).min(profile.max_threads_per_block);
    let threads = u64::from(block.x).saturating_mul(u64::from(block.y)).saturating_mul(u64::from(block.z));
    for (what, extent, limit) in [
        ("grid.x", grid.x.into(), grid_x),
        ("grid.y", grid.y.into(), grid_y),
        ("grid.z", grid.z.into(), grid_z),
        ("block.x", block.x.into(), block_x),
        ("block.y", block.y.into(), block_y),
        ("block.z", block.z.into(), block_z),
        ("threads per block", threads, bounds.into()),
    ] {
        if !(1..=limit).contains(&extent) {
            return Err(LaunchMisuse::Extent { what, extent, limit });
        }
    }
    let asked = u64::from(shared_bytes(kernel, config));
    let limit = u64::from(profile.shared_bytes_per_block_optin);
    if asked > limit {
        return Err(LaunchMisuse::SharedMemory { asked, limit, profile: profile.name });
    }
    Ok(())
}
