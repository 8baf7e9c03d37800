//! Launching kernels.
//!
//! A launch returns what is wrong with the launch itself. It does not return what the kernel does wrong: by then the launch has succeeded,
//! and the fault sticks to the [context](super::context).

use std::ffi::c_void;
use std::io::Write;

use simt::{Dim3, FindingKind, LaunchConfig, LaunchError, LaunchMisuse, LaunchOptions, Profile};

use super::context::{self, Context};
use super::function::Function;
use super::{library, stream};
use crate::driver::{self, Driver};
use crate::export::exports;
use crate::ffi::{HostBytes, In, LaunchAttribute, LaunchConfigEx, Out};
use crate::handles::Handle;
use crate::records::{Failed, LaunchRecord, Outcome};
use crate::result::{CuResult, Failure, Result};
use crate::settings::Trace;

/// Tags in the array `extra` of a launch, which say what the next element is.
const PARAM_BUFFER: u64 = 1;
const PARAM_BUFFER_SIZE: u64 = 2;
const PARAM_END: u64 = 0;

/// `CU_LAUNCH_ATTRIBUTE_…`
const COOPERATIVE: u32 = 2;
const SYNCHRONIZATION_POLICY: u32 = 3;
const CLUSTER_DIMENSION: u32 = 4;
const PROGRAMMATIC_EVENT: u32 = 7;
const COMPLETION_EVENT: u32 = 12;
const DEVICE_UPDATABLE: u32 = 13;
const LAST_ATTRIBUTE: u32 = 14;

/// Whether a kernel synchronizes across the whole grid, which requires all its blocks to run at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    Independent,
    Cooperative,
}

/// Launches a kernel. `pack` returns its parameters, laid out as the kernel expects them.
pub fn launch(
    handle: Handle,
    config: LaunchConfig,
    stream: Handle,
    grid: Grid,
    pack: impl FnOnce(&Function) -> Result<Vec<u8>>,
) -> Result<()> {
    let (driver, context) = context::current()?;
    let function = library::function(handle)?;
    stream::check_current(stream, &context)?;
    if function.context.handle != context.handle {
        return CuResult::INVALID_HANDLE.err();
    }
    let refused = |failure: &Failure| driver.note_refusal(failure);
    check_resources(&function, config, driver.profile).inspect_err(refused)?;
    if grid == Grid::Cooperative {
        check_fits_at_once(&function, config, driver.profile).inspect_err(refused)?;
    }
    let params = pack(&function)?;
    run(driver, &context, &function, config, grid, &params).inspect_err(refused)
}

/// Refuses a cooperative launch of more blocks than the device can hold.
fn check_fits_at_once(function: &Function, config: LaunchConfig, profile: &Profile) -> Result<()> {
    let kernel = function.name();
    if profile.compute_capability < (6, 0) {
        return Err(CuResult::NOT_SUPPORTED.because(format!("kernel {kernel}: {} has no cooperative launches", profile.name)));
    }
    let threads = u32::try_from(config.block.volume()).unwrap_or(u32::MAX);
    let each = function.occupancy(profile, threads, config.dynamic_shared_bytes.into()).blocks_per_multiprocessor;
    let (blocks, most) = (config.grid.volume(), u64::from(each) * u64::from(profile.multiprocessors));
    if blocks <= most {
        return Ok(());
    }
    let message = format!("kernel {kernel}: {blocks} blocks must all run at once, but {} holds {most}", profile.name);
    Err(CuResult::COOPERATIVE_LAUNCH_TOO_LARGE.because(message))
}

/// Refuses a launch for what only this driver knows: registers, and shared memory that the program must opt in to. [`simt::launch`] refuses
/// shapes that the profile or the kernel does not allow.
fn check_resources(function: &Function, config: LaunchConfig, profile: &Profile) -> Result<()> {
    let kernel = function.name();
    let threads = config.block.volume();
    // A block that is too large in any case is refused for its shape.
    let allowed = u64::from(function.max_threads_by_bounds(profile));
    if let Some(limit) = function.max_threads_by_registers(profile)
        && (u64::from(limit) + 1..=allowed).contains(&threads)
    {
        let registers = function.registers_per_thread().unwrap_or_default();
        let message =
            format!("kernel {kernel}: {threads} threads with {registers} registers each, but there are registers for only {limit}");
        return Err(CuResult::LAUNCH_OUT_OF_RESOURCES.because(message));
    }
    let (requested, limit) = (config.dynamic_shared_bytes, function.max_dynamic_shared(profile));
    if requested > limit {
        let most = profile.shared_bytes_per_block_optin.saturating_sub(function.kernel().static_shared_bytes());
        let advice = if requested <= most {
            "; set CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES with cuFuncSetAttribute to raise the limit"
        } else {
            ""
        };
        let message = format!("kernel {kernel}: {requested} bytes of dynamic shared memory requested, {limit} allowed{advice}");
        return Err(CuResult::INVALID_VALUE.because(message));
    }
    Ok(())
}

/// Returns how to execute a launch, from the settings in force.
fn options(grid: Grid) -> Result<LaunchOptions> {
    let settings = driver::settings()?;
    let defaults = LaunchOptions::default();
    Ok(LaunchOptions {
        fuel: settings.fuel.unwrap_or(defaults.fuel),
        workers: settings.workers.filter(|&workers| workers > 0),
        checks: settings.checks.unwrap_or(defaults.checks),
        cooperative: grid == Grid::Cooperative,
        trace: settings.trace.and_then(|trace| if let Trace::Block(block) = trace { Some(block) } else { None }),
        ..defaults
    })
}

/// Executes a launch and records it, or refuses a launch that no device could execute. No lock is held meanwhile, so other threads can
/// launch and copy.
fn run(driver: &Driver, context: &Context, function: &Function, config: LaunchConfig, grid: Grid, params: &[u8]) -> Result<()> {
    let (kernel, options) = (function.name(), options(grid)?);
    let outcome = match simt::launch(&driver.memory, function.image.image(), kernel, config, params, driver.profile, &options) {
        Ok(report) => {
            print(&report.printed);
            Outcome::Finished(Box::new(report))
        }
        Err(misuse @ LaunchError::Misuse(_)) => return Err(code_of(&misuse).because(format!("kernel {kernel}: {misuse}"))),
        Err(fault) => {
            print(fault.printed());
            Outcome::Failed(fail(context, fault))
        }
    };
    let occupancy = function.occupancy(driver.profile, config.block.volume() as u32, config.dynamic_shared_bytes.into());
    driver.note_launch(LaunchRecord { kernel: kernel.to_owned(), config, occupancy, outcome });
    Ok(())
}

/// Prints what a kernel printed. The launch is complete when its call returns, so the output is due by then.
fn print(text: &str) {
    let mut output = std::io::stdout();
    // A closed standard output is not the launch's fault.
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}

/// Makes the context unusable and returns why.
fn fail(context: &Context, error: LaunchError) -> Failed {
    let message = error.to_string();
    context.fail(code_of(&error).because(message.clone()));
    let finding = if let LaunchError::Fault { finding, .. } = error { Some(finding) } else { None };
    Failed { message, finding }
}

/// Returns what a GPU's driver returns in this case.
fn code_of(error: &LaunchError) -> CuResult {
    match error {
        LaunchError::Fault { finding, .. } => match finding.kind {
            FindingKind::OutOfBounds { .. } | FindingKind::Null { .. } => CuResult::ILLEGAL_ADDRESS,
            FindingKind::Misaligned { .. } => CuResult::MISALIGNED_ADDRESS,
            FindingKind::Assert { .. } => CuResult::ASSERT,
            // A GPU hangs here until its watchdog, if it has one, stops the kernel.
            FindingKind::DivergentBarrier { .. }
            | FindingKind::Deadlock { .. }
            | FindingKind::MbarrierDeadlock { .. }
            | FindingKind::GridDeadlock { .. } => CuResult::LAUNCH_TIMEOUT,
            // A trap, or anything else that stops a kernel. What hardware does not notice is in the report of a launch that succeeds.
            _ => CuResult::LAUNCH_FAILED,
        },
        LaunchError::OutOfFuel { .. } => CuResult::LAUNCH_TIMEOUT,
        LaunchError::Misuse(LaunchMisuse::NoSuchKernel(_)) => CuResult::NOT_FOUND,
        LaunchError::Misuse(_) => CuResult::INVALID_VALUE,
    }
}

/// Lays out parameters that the caller passes one by one, each as a pointer to its value.
fn pack_each(function: &Function, values: In<HostBytes>) -> Result<Vec<u8>> {
    let kernel = function.kernel();
    let mut packed = vec![0; kernel.param_bytes()];
    for (index, param) in kernel.params().iter().enumerate() {
        values.read_nth(index)?.with(param.bytes, |value| packed[param.offset..][..param.bytes].copy_from_slice(value))?;
    }
    Ok(packed)
}

/// Reads parameters that the caller laid out itself: pairs of a tag and a value, up to an end tag.
fn pack_whole(function: &Function, extra: In<HostBytes>) -> Result<Vec<u8>> {
    let (mut buffer, mut given) = (None, None);
    for pair in 0.. {
        let value = || extra.read_nth(2 * pair + 1);
        match extra.read_nth(2 * pair)?.address() {
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

/// Reads the attributes of a launch. Most only affect speed or order, and can be ignored.
fn read_attributes(config: &LaunchConfigEx) -> Result<Grid> {
    let mut grid = Grid::Independent;
    for index in 0..config.attribute_count as usize {
        let LaunchAttribute { id, value, .. } = config.attributes.read_nth(index)?;
        let unsupported = |what: &str| {
            Err(CuResult::NOT_SUPPORTED.because(format!("{what} are not supported by the simulator; launch without them")))
        };
        match id {
            COOPERATIVE if value[0] != 0 => grid = Grid::Cooperative,
            CLUSTER_DIMENSION if value[..3] != [1, 1, 1] => return unsupported("clusters of blocks"),
            PROGRAMMATIC_EVENT | COMPLETION_EVENT => return unsupported("events inside a launch"),
            DEVICE_UPDATABLE => return unsupported("graph nodes"),
            // A policy of streams, not an attribute of launches.
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

exports! {
    fn cuLaunchKernel(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        dynamic_shared_bytes: u32,
        stream: Handle,
        values: In<HostBytes>,
        extra: In<HostBytes>,
    ) {
        let config =
            LaunchConfig { grid: dim([grid_x, grid_y, grid_z]), block: dim([block_x, block_y, block_z]), dynamic_shared_bytes };
        launch(function, config, stream, Grid::Independent, |function| pack(function, values, extra))
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
        stream: Handle,
        values: In<HostBytes>,
    ) {
        let config =
            LaunchConfig { grid: dim([grid_x, grid_y, grid_z]), block: dim([block_x, block_y, block_z]), dynamic_shared_bytes };
        launch(function, config, stream, Grid::Cooperative, |function| pack_each(function, values))
    }

    fn cuLaunchCooperativeKernelMultiDevice(_launches: Out<c_void>, _count: u32, _flags: u32) {
        context::current()?;
        Err(CuResult::NOT_SUPPORTED.because("the simulator has one device; launch on that one"))
    }
}
