//! Launching kernels.
//!
//! What is wrong with the launch itself is returned by the launch. What the kernel then does wrong is not: the launch has succeeded,
//! and the fault sticks to the context (see [`crate::context`]).

use std::ffi::c_void;
use std::io::Write;

use simt::{Dim3, FindingKind, LaunchConfig, LaunchError, LaunchMisuse, LaunchOptions, Profile};

use crate::context::{self, Context};
use crate::error::{CuResult, Failure, Result};
use crate::ffi::{Handle, HostBytes, In, LaunchAttribute, LaunchConfigEx, Out};
use crate::function::{self, Function};
use crate::records::{LaunchRecord, Outcome};
use crate::settings::Trace;
use crate::state::{self, Driver};
use crate::stream;

/// Marks in the array `extra` of a launch: what the next element is.
const PARAM_BUFFER: usize = 1;
const PARAM_BUFFER_SIZE: usize = 2;
const PARAM_END: usize = 0;

/// `CU_LAUNCH_ATTRIBUTE_…`
const COOPERATIVE: u32 = 2;
const SYNCHRONIZATION_POLICY: u32 = 3;
const CLUSTER_DIMENSION: u32 = 4;
const PROGRAMMATIC_EVENT: u32 = 7;
const COMPLETION_EVENT: u32 = 12;
const DEVICE_UPDATABLE: u32 = 13;
const LAST_ATTRIBUTE: u32 = 14;

/// Whether kernels synchronise across the whole grid, which needs all its blocks to run at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grid {
    Independent,
    Cooperative,
}

/// Launches a kernel. `pack` gives its parameters, laid out as the kernel has them.
fn launch(
    handle: Handle,
    config: LaunchConfig,
    on: Handle,
    grid: Grid,
    pack: impl FnOnce(&Function) -> Result<Vec<u8>>,
) -> Result<()> {
    let (driver, context) = context::current()?;
    let (_, function) = function::get(handle)?;
    stream::check_current(on, &context)?;
    if function.context.handle != context.handle {
        return CuResult::INVALID_HANDLE.err();
    }
    check_shape(&function, config, driver.profile).inspect_err(state::note_refusal)?;
    if grid == Grid::Cooperative {
        return Err(CuResult::NOT_SUPPORTED.because("the blocks of a simulated grid do not all run at once"));
    }
    let params = pack(&function)?;
    run(driver, &context, &function, config, &params)
}

/// Refuses a shape that no launch of this kernel can have.
fn check_shape(function: &Function, config: LaunchConfig, profile: &Profile) -> Result<()> {
    let refuse = |what: &str, extent: u64, limit: u64| {
        Err(CuResult::INVALID_VALUE.because(format!("kernel {}: {what} {extent} is outside 1..={limit}", function.name())))
    };
    let extents = |extents: Dim3| [extents.x, extents.y, extents.z];
    for (what, given, limits) in [("grid", config.grid, profile.max_grid), ("block", config.block, profile.max_block)] {
        for ((axis, extent), limit) in ["x", "y", "z"].into_iter().zip(extents(given)).zip(limits) {
            if extent == 0 || extent > limit {
                return refuse(&format!("{what}.{axis}"), extent.into(), limit.into());
            }
        }
    }
    let (threads, limit) = (config.block.volume(), u64::from(function.max_threads_by_bounds(profile)));
    if threads > limit {
        return refuse("threads per block", threads, limit);
    }
    if let Some(limit) = function.max_threads_by_registers(profile).filter(|&limit| threads > limit.into()) {
        let (kernel, registers) = (function.name(), function.registers_per_thread().unwrap_or_default());
        let message = format!("kernel {kernel}: {threads} threads of {registers} registers each, there are registers for {limit}");
        return Err(CuResult::LAUNCH_OUT_OF_RESOURCES.because(message));
    }
    let (asked, limit) = (config.dynamic_shared_bytes, function.max_dynamic_shared(profile));
    if asked > limit {
        let optin = profile.shared_bytes_per_block_optin;
        let advice = match asked <= optin.saturating_sub(function.kernel().static_shared_bytes()) {
            true => "; cuFuncSetAttribute with CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES raises it",
            false => "",
        };
        let message = format!("kernel {}: {asked} bytes of dynamic shared memory, {limit} allowed{advice}", function.name());
        return Err(CuResult::INVALID_VALUE.because(message));
    }
    Ok(())
}

/// How to execute, by the settings in force.
fn options() -> Result<LaunchOptions> {
    let settings = state::settings()?;
    let defaults = LaunchOptions::default();
    Ok(LaunchOptions {
        fuel: settings.fuel.unwrap_or(defaults.fuel),
        workers: settings.workers.filter(|&workers| workers > 0),
        checks: settings.checks.unwrap_or(defaults.checks),
        trace: settings.trace.and_then(|trace| if let Trace::Block(block) = trace { Some(block) } else { None }),
        ..defaults
    })
}

/// Executes a launch that is in order, and records it. No lock is held meanwhile, so other threads launch and copy.
fn run(driver: &Driver, context: &Context, function: &Function, config: LaunchConfig, params: &[u8]) -> Result<()> {
    let (kernel, options) = (function.name(), options()?);
    let result = simt::launch(&driver.memory, function.image.image(), kernel, config, params, driver.profile, &options);
    // A launch is complete when its call returns, so what it printed is due. That standard output is closed is no fault of it.
    let printed = result.as_ref().map_or_else(LaunchError::printed, |report| &report.printed);
    let mut output = std::io::stdout();
    let _ = output.write_all(printed.as_bytes()).and_then(|()| output.flush());
    let (outcome, returned) = match result {
        Ok(report) => (Outcome::Finished(Box::new(report)), Ok(())),
        Err(error) => {
            let message = error.to_string();
            let failure = code_of(&error).because(message.clone());
            let returned = match error {
                LaunchError::Misuse(_) => Err(failure),
                _ => {
                    context.fail(failure);
                    Ok(())
                }
            };
            let finding = if let LaunchError::Fault { finding, .. } = error { Some(finding) } else { None };
            (Outcome::Failed { message, finding }, returned)
        }
    };
    let occupancy = function.occupancy(driver.profile, config.block.volume() as u32, config.dynamic_shared_bytes.into());
    state::note_launch(LaunchRecord { kernel: kernel.to_owned(), config, occupancy, outcome });
    returned
}

/// What a GPU's driver returns for what happened.
fn code_of(error: &LaunchError) -> CuResult {
    match error {
        LaunchError::Fault { finding, .. } => match finding.kind {
            FindingKind::OutOfBounds { .. } | FindingKind::Null { .. } => CuResult::ILLEGAL_ADDRESS,
            FindingKind::Misaligned { .. } => CuResult::MISALIGNED_ADDRESS,
            FindingKind::Assert { .. } => CuResult::ASSERT,
            // A GPU hangs here until the watchdog, where there is one, ends the kernel.
            FindingKind::DivergentBarrier { .. } | FindingKind::Deadlock { .. } | FindingKind::MbarrierDeadlock { .. } => {
                CuResult::LAUNCH_TIMEOUT
            }
            // A trap, and what no kernel can do and go on. Findings that hardware does not notice come with a launch that succeeds.
            _ => CuResult::LAUNCH_FAILED,
        },
        LaunchError::OutOfFuel { .. } => CuResult::LAUNCH_TIMEOUT,
        LaunchError::Misuse(LaunchMisuse::NoSuchKernel(_)) => CuResult::NOT_FOUND,
        LaunchError::Misuse(_) => CuResult::INVALID_VALUE,
    }
}

/// Lays out parameters that the caller gave one by one, each as a pointer to its value.
fn pack_each(function: &Function, values: In<HostBytes>) -> Result<Vec<u8>> {
    let kernel = function.kernel();
    let mut packed = vec![0; kernel.param_bytes()];
    for (index, param) in kernel.params().iter().enumerate() {
        values.read_nth(index)?.with(param.bytes, |value| packed[param.offset..][..param.bytes].copy_from_slice(value))?;
    }
    Ok(packed)
}

/// Takes parameters that the caller laid out itself: marks and values, in pairs, up to an end mark.
fn pack_whole(function: &Function, extra: In<HostBytes>) -> Result<Vec<u8>> {
    let (mut buffer, mut given) = (None, None);
    for pair in 0.. {
        let value = || extra.read_nth(2 * pair + 1);
        match extra.read_nth(2 * pair)?.0 as usize {
            PARAM_END => break,
            PARAM_BUFFER => buffer = Some(value()?),
            PARAM_BUFFER_SIZE => {
                let bytes = value()?.with(size_of::<usize>(), |bytes| bytes.try_into().map(usize::from_ne_bytes))?;
                given = bytes.ok();
            }
            _ => return CuResult::INVALID_VALUE.err(),
        }
    }
    let (Some(buffer), Some(given)) = (buffer, given) else { return CuResult::INVALID_VALUE.err() };
    let expected = function.kernel().param_bytes();
    if given < expected {
        let message = format!("kernel {} takes {expected} bytes of parameters, got {given}", function.name());
        return Err(CuResult::INVALID_VALUE.because(message));
    }
    buffer.read(expected)
}

fn pack(function: &Function, values: In<HostBytes>, extra: In<HostBytes>) -> Result<Vec<u8>> {
    match (values.is_null(), extra.is_null()) {
        (false, false) => CuResult::INVALID_VALUE.err(),
        (_, true) => pack_each(function, values),
        (true, false) => pack_whole(function, extra),
    }
}

/// Reads the attributes of a launch. Many only say how fast or in which order, and need not be heeded.
fn read_attributes(config: &LaunchConfigEx) -> Result<Grid> {
    let mut grid = Grid::Independent;
    for index in 0..config.attribute_count as usize {
        let LaunchAttribute { id, value, .. } = config.attributes.read_nth(index)?;
        let unsupported =
            |what: &str| Err(Failure { code: CuResult::NOT_SUPPORTED, reason: Some(format!("{what} not supported")) });
        match id {
            COOPERATIVE if value[0] != 0 => grid = Grid::Cooperative,
            CLUSTER_DIMENSION if value[..3] != [1, 1, 1] => return unsupported("clusters of blocks are"),
            PROGRAMMATIC_EVENT | COMPLETION_EVENT => return unsupported("events inside a launch are"),
            DEVICE_UPDATABLE => return unsupported("graph nodes are"),
            // A policy of streams, and no attribute of a launch.
            SYNCHRONIZATION_POLICY => return CuResult::INVALID_VALUE.err(),
            0..=LAST_ATTRIBUTE => {}
            _ => return CuResult::INVALID_VALUE.err(),
        }
    }
    Ok(grid)
}

fn dim([x, y, z]: [u32; 3]) -> Dim3 {
    Dim3::new(x, y, z)
}

crate::exports! {
    fn cuLaunchKernel(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        dynamic_shared_bytes: u32,
        on: Handle,
        values: In<HostBytes>,
        extra: In<HostBytes>,
    ) {
        let config =
            LaunchConfig { grid: dim([grid_x, grid_y, grid_z]), block: dim([block_x, block_y, block_z]), dynamic_shared_bytes };
        launch(function, config, on, Grid::Independent, |function| pack(function, values, extra))
    }

    fn cuLaunchKernelEx(config: In<LaunchConfigEx>, function: Handle, values: In<HostBytes>, extra: In<HostBytes>) {
        context::current()?;
        let given = config.read()?;
        let cooperative = read_attributes(&given)?;
        let config =
            LaunchConfig { grid: dim(given.grid), block: dim(given.block), dynamic_shared_bytes: given.shared_mem_bytes };
        launch(function, config, given.stream, cooperative, |function| pack(function, values, extra))
    }

    fn cuLaunchCooperativeKernel(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        dynamic_shared_bytes: u32,
        on: Handle,
        values: In<HostBytes>,
    ) {
        let config =
            LaunchConfig { grid: dim([grid_x, grid_y, grid_z]), block: dim([block_x, block_y, block_z]), dynamic_shared_bytes };
        launch(function, config, on, Grid::Cooperative, |function| pack_each(function, values))
    }

    fn cuLaunchCooperativeKernelMultiDevice(_launches: Out<c_void>, _count: u32, _flags: u32) {
        context::current()?;
        CuResult::NOT_SUPPORTED.err()
    }
}
