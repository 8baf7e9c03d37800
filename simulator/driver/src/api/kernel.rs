//! Launches of kernels: the function, the shape, and the parameters, which are copied when the launch is made. A stream executes a launch
//! at once, and a graph keeps it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;

use simt::cluster;
use simt::texture::Bindings;
use simt::{Call, Dim3, LaunchConfig, LaunchError, LaunchOptions, Profile, landmarks};

use super::argument;
use super::attribute;
use super::function::Function;
use super::prelude::*;
use crate::driver;
use crate::host_memory;
use crate::name::{made_readable, readable};
use crate::observer::{Begun, Ended, Observer};
use crate::records::{Failed, LaunchRecord, Outcome};
use crate::settings::Trace;
use crate::variables;

/// Tags in the array `extra` of a launch. Each describes the next element.
const PARAM_BUFFER: u64 = 1;
const PARAM_BUFFER_SIZE: u64 = 2;
const PARAM_END: u64 = 0;

#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub config: LaunchConfig,
    /// True if all blocks must run at once.
    pub is_cooperative: bool,
    /// The clusters that it asks for.
    pub cluster: Option<Dim3>,
    /// True if it may begin before the launch in front of it has ended (programmatic stream serialization).
    pub begins_early: bool,
}

impl Shape {
    /// Makes the shape of a launch of independent blocks.
    pub fn of(grid: [u32; 3], block: [u32; 3], dynamic_shared_bytes: u32) -> Self {
        let config = LaunchConfig { grid: dim(grid), block: dim(block), dynamic_shared_bytes };
        Self { config, is_cooperative: false, cluster: None, begins_early: false }
    }
}

/// Returns three extents as simt has them.
pub fn dim([x, y, z]: [u32; 3]) -> Dim3 {
    Dim3::new(x, y, z)
}

#[derive(Clone, Debug)]
pub struct Launch {
    /// The function or the kernel, as the program named it.
    pub handle: Handle,
    pub function: Arc<Function>,
    pub shape: Shape,
    parameters: Vec<u8>,
    /// Attributes that a program set on a node, by number.
    pub attributes: BTreeMap<u32, attribute::Value>,
    /// The addresses of the parameters, where the program reads them.
    listed: Vec<usize>,
    /// The texture and surface objects when a stream got the launch: the program may destroy them before the launch begins.
    pub textures: Option<Arc<Bindings>>,
}

impl Launch {
    /// Makes a launch that the device can execute. `pack` returns the parameters, laid out as the kernel expects them.
    pub fn new(
        driver: &Driver,
        handle: Handle,
        function: Arc<Function>,
        shape: Shape,
        pack: impl FnOnce(&Function) -> Result<Vec<u8>>,
    ) -> Result<Self> {
        let checked = || -> Result<Self> {
            check_resources(&function, shape.config, driver.profile)?;
            check_groups(driver.profile, &function, shape)?;
            let parameters = pack(&function)?;
            // The launch itself refuses other shapes as well, but it may be much later.
            let misuse = simt::check_shape(function.kernel(), shape.config, driver.profile);
            misuse.map_err(|misuse| refused(&function, &misuse.into()))?;
            Ok(Self { handle, function, shape, parameters, attributes: BTreeMap::new(), listed: Vec::new(), textures: None })
        };
        checked().inspect_err(|failure| driver.reporter.note_refusal(failure))
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.function.context
    }

    /// Changes whether the grid is cooperative, and which clusters it asks for.
    pub fn set_groups(&mut self, driver: &Driver, is_cooperative: bool, cluster: Option<Dim3>) -> Result<()> {
        let shape = Shape { is_cooperative, cluster, ..self.shape };
        check_groups(driver.profile, &self.function, shape).inspect_err(|failure| driver.reporter.note_refusal(failure))?;
        self.shape = shape;
        Ok(())
    }

    /// Keeps the priority of the stream that the launch was captured in.
    pub fn set_priority(&mut self, priority: i32) {
        self.attributes.insert(attribute::PRIORITY, attribute::of_number(priority));
    }

    /// Returns the addresses of the parameters, one by one. They are good until the launch is changed.
    pub fn list_parameters(&mut self) -> *const usize {
        let base = self.parameters.as_ptr().expose_provenance();
        self.listed = self.function.kernel().params().iter().map(|param| base + param.offset).collect();
        self.listed.as_ptr()
    }

    /// Executes and records the launch, or refuses what no device could execute. No lock is held meanwhile, so other threads can launch and
    /// copy.
    pub fn run(&self, driver: &Driver) -> Result<()> {
        self.execute(driver).inspect_err(|failure| driver.reporter.note_refusal(failure))
    }

    fn execute(&self, driver: &Driver) -> Result<()> {
        let (function, config, profile) = (&self.function, self.shape.config, driver.profile);
        let (image, kernel, mut options) = (function.image.image(), function.name(), options(driver, self)?);
        let (memory, parameters, number) = (&*driver.memory, &self.parameters, driver.launches.fetch_add(1, Relaxed) + 1);
        let begun = Begun { number, image, kernel, config, parameters, memory, profile };
        let observers: [&dyn Observer; 5] =
            [function.image.coverage(), &driver.mutants, &driver.debugged, &driver.launch_files, &driver.reporter];
        observers.iter().for_each(|observer| observer.begin(&begun, &mut options));
        let mut out_of_fuel = None;
        let call = Call { kernel, config, params: parameters };
        let mut launched = simt::launch(memory, image, call, profile, &options);
        made_readable(&mut launched);
        let (outcome, overwritten) = match launched {
            Ok(mut report) => {
                driver.note_accesses(|| std::mem::take(&mut report.footprint));
                print(&report.printed);
                let overwritten = report.overwritten;
                (Outcome::Finished(Box::new(report)), overwritten)
            }
            Err(misuse @ LaunchError::Misuse(_)) => return Err(refused(function, &misuse)),
            Err(fault) => {
                print(fault.printed());
                if let LaunchError::OutOfFuel { block, warp, .. } = fault {
                    out_of_fuel = Some((block, warp));
                }
                let overwritten = fault.overwritten();
                (Outcome::Failed(self.fail(driver, fault)), overwritten)
            }
        };
        let occupancy = function.occupancy(profile, config.block.volume() as u32, config.dynamic_shared_bytes.into());
        let record = LaunchRecord { kernel: kernel.to_owned(), config, occupancy, outcome };
        let ended = Ended { record, overwritten, out_of_fuel };
        observers.iter().for_each(|observer| observer.end(&begun, &options, &ended));
        driver.keep_record(ended.record, || image.module().fingerprint());
        Ok(())
    }

    /// Makes the context unusable and returns why.
    fn fail(&self, driver: &Driver, error: LaunchError) -> Failed {
        let code = code_of(&error);
        let mut message = error.to_string();
        if let LaunchError::OutOfFuel { waits: None, .. } = error {
            message += &format!("; if it is long, set {} to more", variables::FUEL.name);
        }
        let finding = if let LaunchError::Fault { finding, .. } = error { Some(finding) } else { None };
        if let Some(finding) = &finding {
            message.extend(argument::explain(driver, self.function.kernel(), &self.parameters, finding));
        }
        self.context().fail(code.because(message.clone()));
        Failed { message, finding }
    }
}

/// Returns what a GPU's driver returns in this case.
pub fn code_of(error: &LaunchError) -> CuResult {
    CuResult(error.cuda_result().0)
}

fn refused(function: &Function, misuse: &LaunchError) -> Failure {
    code_of(misuse).because(format!("kernel {}: {misuse}", readable(function.name())))
}

/// Refuses a cooperative launch of more blocks than the device can hold. Also refuses clusters that the device, kernel or grid forbids.
fn check_groups(profile: &Profile, function: &Function, Shape { config, is_cooperative, cluster: asked, .. }: Shape) -> Result<()> {
    if is_cooperative {
        let kernel = readable(function.name());
        refuse!(NOT_SUPPORTED if profile.compute_capability < (6, 0), "kernel {kernel}: {} has no cooperative launches", profile.name);
        let threads = u32::try_from(config.block.volume()).unwrap_or(u32::MAX);
        let each = function.occupancy(profile, threads, config.dynamic_shared_bytes.into()).blocks_per_multiprocessor;
        let (blocks, most) = (config.grid.volume(), u64::from(each) * u64::from(profile.multiprocessors));
        refuse!(
            COOPERATIVE_LAUNCH_TOO_LARGE if blocks > most,
            "kernel {kernel}: {blocks} blocks must all run at once, but {} holds {most}",
            profile.name
        );
    }
    let (bounds, large) = (function.cluster_bounds(), function.allows_large_clusters());
    let checked = cluster::check(bounds, config.grid, (asked, large), profile);
    checked.map(drop).map_err(|misuse| refused(function, &LaunchError::Misuse(misuse.into())))
}

/// Refuses a launch for what only this driver knows: registers, and shared memory that the program must opt in to. [`simt::launch`] refuses
/// shapes that the profile or the kernel does not allow.
fn check_resources(function: &Function, config: LaunchConfig, profile: &Profile) -> Result<()> {
    let kernel = readable(function.name());
    let threads = config.block.volume();
    // A block that is too large in any case is refused for its shape.
    let allowed = u64::from(function.max_threads_by_bounds(profile));
    if let Some(limit) = function.max_threads_by_registers(profile)
        && (u64::from(limit) + 1..=allowed).contains(&threads)
    {
        let registers = function.registers_per_thread().unwrap_or_default();
        refuse!(
            LAUNCH_OUT_OF_RESOURCES,
            "kernel {kernel}: {threads} threads with {registers} registers each, but there are registers for only {limit}"
        );
    }
    let (requested, limit) = (config.dynamic_shared_bytes, function.max_dynamic_shared(profile));
    if requested > limit {
        let most = profile.shared_bytes_per_block_optin.saturating_sub(function.kernel().static_shared_bytes());
        let advice = if requested <= most {
            "; set CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES with cuFuncSetAttribute to raise the limit"
        } else {
            ""
        };
        refuse!(INVALID_VALUE, "kernel {kernel}: {requested} bytes of dynamic shared memory requested, {limit} allowed{advice}");
    }
    Ok(())
}

/// Returns how to execute a launch, from the settings in force.
fn options(driver: &Driver, launch: &Launch) -> Result<LaunchOptions> {
    let (context, function) = (launch.context(), &launch.function);
    let settings = driver::settings()?;
    let defaults = LaunchOptions::default();
    let (cluster, grid) = (launch.shape.cluster.or(function.cluster_bounds().required), launch.shape.config.grid);
    let is_cut = cluster.is_none() && !launch.shape.is_cooperative && settings.blocks.is_some_and(|most| grid.volume() > most);
    Ok(LaunchOptions {
        blocks: is_cut.then(|| landmarks(grid).into()),
        fuel: settings.fuel.unwrap_or(defaults.fuel),
        workers: settings.workers.filter(|&workers| workers > 0),
        checks: settings.checks.unwrap_or(defaults.checks),
        until_defect: settings.until_defect.unwrap_or(defaults.until_defect),
        warp_order: settings.warp_order.unwrap_or(defaults.warp_order),
        garbage: settings.garbage.unwrap_or(defaults.garbage),
        cooperative: launch.shape.is_cooperative,
        cluster,
        large_clusters: function.allows_large_clusters(),
        registers_per_thread: function.registers_per_thread(),
        stack_bytes: context.stack_bytes(),
        printed_bytes: context.printed_bytes(),
        heap: context.heap(),
        textures: launch.textures.clone().unwrap_or_else(|| driver.textures.lock().clone()),
        footprint: driver.queues.timeline.is_some(),
        trace: settings.trace.and_then(|trace| if let Trace::Block(block) = trace { Some(block) } else { None }),
        ..defaults
    })
}

/// Prints what a kernel printed. The launch is complete when its call returns, so the output is due by then.
fn print(text: &str) {
    let mut output = std::io::stdout();
    // A closed standard output is not the launch's fault.
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}

/// Lays out parameters that the caller passes as pointers to their values. An array with too few pointers is refused where that shows: the
/// one behind its end is null, or points to nothing. A GPU's driver would crash.
pub fn pack_each(function: &Function, values: In<HostBytes>) -> Result<Vec<u8>> {
    let kernel = function.kernel();
    let (params, mut packed) = (kernel.params(), vec![0; kernel.param_bytes()]);
    let refuse = |what: String| {
        let (name, count) = (readable(function.name()), params.len());
        let arguments = if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") };
        CuResult::INVALID_VALUE.because(format!("kernel {name} takes {arguments}, but {what}"))
    };
    if values.is_null() && !params.is_empty() {
        return Err(refuse("the launch has none".to_owned()));
    }
    let is_missing = |address, bytes: usize| host_memory::is_readable(address, bytes as u64) == Some(false);
    for (index, param) in params.iter().enumerate() {
        let number = index + 1;
        if is_missing(values.address() + 8 * index as u64, 8) {
            return Err(refuse(format!("kernelParams ends before element {number}")));
        }
        let value = values.read_nth(index)?;
        if value.is_null() {
            return Err(refuse(format!("element {number} of kernelParams is null; are there as many elements?")));
        }
        if is_missing(value.address(), param.bytes) {
            let address = value.address();
            return Err(refuse(format!(
                "element {number} of kernelParams is {address:#x}, where nothing can be read; are there as many elements?"
            )));
        }
        value.with(param.bytes, |value| packed[param.offset..][..param.bytes].copy_from_slice(value))?;
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
            _ => refuse!(INVALID_VALUE),
        }
    }
    let (Some(buffer), Some(given)) = (buffer, given) else { return CuResult::INVALID_VALUE.err() };
    let expected = function.kernel().param_bytes();
    // An H200's driver (580.159) takes too few bytes, and the kernel reads anything for the rest. A single byte too many has this code there.
    let (code, hint) = match given.cmp(&expected) {
        Ordering::Equal => return buffer.read(expected),
        Ordering::Less => (CuResult::INVALID_VALUE, ""),
        Ordering::Greater => (CuResult::LAUNCH_OUT_OF_RESOURCES, "; the size of a structure in C counts the padding at its end"),
    };
    Err(code.because(format!("kernel {} takes {expected} bytes of parameters, got {given}{hint}", readable(function.name()))))
}

/// Lays out a launch's parameters, in whichever way the caller passes them.
pub fn pack(function: &Function, values: In<HostBytes>, extra: In<HostBytes>) -> Result<Vec<u8>> {
    match (values.is_null(), extra.is_null()) {
        (false, false) => CuResult::INVALID_VALUE.err(),
        (_, true) => pack_each(function, values),
        (true, false) => pack_whole(function, extra),
    }
}
