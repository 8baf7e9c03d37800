//! The device that a chapter runs on, as cudarc's context and stream, and the kernels loaded on it.
//!
//! Nothing here wraps a launch: a stage takes a kernel from [`Gpu::kernel`] and launches it on [`Gpu::stream`], as any program that uses
//! cudarc would.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use compilers::input::Input;
use compilers::nvrtc::Nvrtc;
use compilers::recipe::{OWN_INSTRUCTIONS, PINNED_VERSION, options};
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream, DriverError};
use cudarc::nvrtc::Ptx;
use driver::client::Simulator;
use kernels::{Kernel, Source};
use serde::{Deserialize, Serialize};
use simt::Profile;

use crate::device::capability::ComputeCapability;
use crate::device::{self, Device, Request};
use crate::error::{Error, Result, describe};

/// CUDA C that every compiler accepts. It shows whether a compiler's PTX loads on this device.
pub const TRIAL: Input<'_> = Input { name: "trial.cu", text: "extern \"C\" __global__ void trial() {}", headers: &[] };

/// The kind of a device: real or simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// An NVIDIA GPU.
    Gpu,
    /// The simulator.
    Sim,
}

/// The device that a record was made on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// GPU or simulator.
    pub kind: DeviceKind,
    /// The driver's name for the device, for example `NVIDIA H200`.
    pub name: String,
    /// The compute capability of its generation.
    pub compute_capability: ComputeCapability,
    /// The simulator's profile; `None` on a GPU.
    pub profile: Option<String>,
    /// Version of the driver.
    pub driver: String,
    /// The compiler of the kernels, for example `NVRTC 13.0 for compute_90`.
    pub compiler: String,
}

/// An open device.
pub struct Gpu {
    /// The device's primary context.
    pub context: Arc<CudaContext>,
    /// The stream that stages enqueue their work on.
    pub stream: Arc<CudaStream>,
    info: DeviceInfo,
    simulator: Option<&'static Simulator>,
    /// NVRTC, and the virtual architecture that it compiles for; `None` where we load the stored PTX.
    compiler: Option<(Nvrtc, String)>,
    loaded: Mutex<Loaded>,
    most_multiprocessors: AtomicU32,
}

type Modules = HashMap<&'static Source, Arc<CudaModule>>;

#[derive(Default)]
struct Loaded {
    modules: Modules,
    functions: HashMap<Kernel, CudaFunction>,
    /// The kernels that [`Gpu::kernel`] was called for since the last [`Gpu::take_requested`].
    requested: Vec<Kernel>,
}

impl Gpu {
    /// Opens the requested device. All devices of a process are the same one: the first call decides which.
    pub fn open(request: &Request) -> Result<Gpu> {
        let Device { driver, simulator } = device::choose(request)?;
        let (simulator, profile) = simulator.unzip();
        let context = CudaContext::new(0)?;
        let stream = context.default_stream();
        let (major, minor) = context.compute_capability()?;
        let (major, minor) = (major.unsigned_abs(), minor.unsigned_abs());
        let compiler = if simulator.is_none() { compiler_for(&context, major * 10 + minor) } else { None };
        let info = DeviceInfo {
            kind: if simulator.is_some() { DeviceKind::Sim } else { DeviceKind::Gpu },
            name: context.name()?,
            compute_capability: ComputeCapability::new(major, minor),
            profile,
            driver,
            compiler: describe_compiler(compiler.as_ref(), simulator.is_some()),
        };
        Ok(Gpu {
            context,
            stream,
            info,
            simulator,
            compiler,
            loaded: Mutex::default(),
            most_multiprocessors: AtomicU32::new(u32::MAX),
        })
    }

    /// Returns this device, as a record describes it.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Returns true for the simulator, whose times say nothing about a GPU.
    pub fn is_simulated(&self) -> bool {
        self.info.kind == DeviceKind::Sim
    }

    /// Returns the simulator's own interface, for its counters and findings; `None` on a GPU.
    pub fn simulator(&self) -> Option<&'static Simulator> {
        self.simulator
    }

    /// Returns the compiler for this device, and its virtual architecture; `None` where we load the stored PTX.
    pub fn compiler(&self) -> Option<(&Nvrtc, &str)> {
        self.compiler.as_ref().map(|(nvrtc, architecture)| (nvrtc, architecture.as_str()))
    }

    /// Returns the simulator's profile; `None` on a GPU.
    pub fn profile(&self) -> Option<&'static Profile> {
        self.info.profile.as_deref().and_then(Profile::named)
    }

    /// Returns a kernel, ready to launch. The first call compiles and loads its module, which stays loaded.
    /// Fails when its source does not compile or its module does not load.
    pub fn kernel(&self, kernel: Kernel) -> Result<CudaFunction> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let Loaded { modules, functions, requested } = &mut *loaded;
        if !requested.contains(&kernel) {
            requested.push(kernel);
        }
        let function = match functions.entry(kernel) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let module = self.loaded_module(modules, kernel.source)?;
                let function = module.load_function(kernel.name).map_err(|error| self.refused(kernel.source, error))?;
                new.insert(function)
            }
        };
        Ok(function.clone())
    }

    /// Returns the kernels requested from [`Gpu::kernel`] since the last call, each once. After a stage has run, these are the kernels that
    /// it launches.
    pub fn take_requested(&self) -> Vec<Kernel> {
        std::mem::take(&mut self.loaded.lock().unwrap_or_else(PoisonError::into_inner).requested)
    }

    /// Returns a source's module, for its arrays in constant memory.
    pub fn module(&self, source: &'static Source) -> Result<Arc<CudaModule>> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        self.loaded_module(&mut loaded.modules, source).cloned()
    }

    fn loaded_module<'a>(&self, modules: &'a mut Modules, source: &'static Source) -> Result<&'a Arc<CudaModule>> {
        match modules.entry(source) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => Ok(new.insert(self.load(source)?)),
        }
    }

    /// Returns the most shared memory, in bytes, that [`allow_shared_memory`] can allow.
    pub fn most_shared_bytes(&self) -> Result<u32> {
        Ok(self.context.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?.unsigned_abs())
    }

    /// Plans grids for at most this many multiprocessors. Blocks then get more work, and fewer of them are started.
    pub fn plan_for_multiprocessors(&self, most: u32) {
        self.most_multiprocessors.store(most.max(1), Ordering::Relaxed);
    }

    /// Returns the most multiprocessors that grids are planned for.
    pub(crate) fn most_multiprocessors(&self) -> u32 {
        self.most_multiprocessors.load(Ordering::Relaxed)
    }

    /// Replaces a source's PTX, so that stages run the changed kernels. `None` restores the source's own.
    /// Fails when the PTX does not load; then nothing changes.
    pub fn replace_ptx(&self, source: &'static Source, ptx: Option<String>) -> Result<()> {
        let module = match ptx {
            Some(ptx) => {
                let loaded = self.context.load_module(Ptx::from_src(ptx));
                Some(loaded.map_err(|error| self.refused(source, error))?)
            }
            None => None,
        };
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.functions.retain(|kernel, _| kernel.source != source);
        match module {
            Some(module) => loaded.modules.insert(source, module),
            None => loaded.modules.remove(source),
        };
        Ok(())
    }

    /// Returns the PTX from which this device loads a source's module: compiled for the device, or the stored one.
    /// Fails when the source does not compile or has no PTX.
    pub fn ptx(&self, source: &Source) -> Result<String> {
        match &self.compiler {
            Some((nvrtc, architecture)) => {
                // A kernel with a generation's own instructions is for that one and no other.
                let own = source.architecture.ends_with(OWN_INSTRUCTIONS);
                let architecture = if own { source.architecture } else { architecture };
                Ok(nvrtc.compile(Input::of(source), &options(architecture))?)
            }
            None if source.ptx.is_empty() => Err(Error::NoPtx { path: source.ptx_path.to_owned() }),
            None => Ok(source.ptx.to_owned()),
        }
    }

    fn load(&self, source: &Source) -> Result<Arc<CudaModule>> {
        let ptx = self.ptx(source)?;
        self.context.load_module(Ptx::from_src(ptx)).map_err(|error| self.refused(source, error))
    }

    fn refused(&self, source: &Source, error: DriverError) -> Error {
        // The simulator knows more about the error than its number.
        let message = self.simulator().and_then(|simulator| simulator.take_error().ok().flatten());
        let reason = message.unwrap_or_else(|| describe(error));
        Error::ModuleLoad { path: source.path.to_owned(), device: self.info.name.clone(), reason }
    }
}

/// Lets a kernel have more than 48 KB of dynamic shared memory. A block's limit is 48 KB by default.
pub fn allow_shared_memory(kernel: &CudaFunction, bytes: u32) -> Result<()> {
    Ok(kernel.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as i32)?)
}

/// Returns the machine's first NVRTC whose PTX loads on this device; `capability` is 90 for 9.0.
///
/// We have to try: an NVRTC that is newer than the driver writes PTX that the driver does not know.
fn compiler_for(context: &Arc<CudaContext>, capability: u32) -> Option<(Nvrtc, String)> {
    let mut chosen = None;
    let works = |nvrtc: &Nvrtc| {
        chosen = virtual_architecture(&nvrtc.architectures(), capability);
        let compiled = chosen.as_ref().and_then(|name| nvrtc.compile(TRIAL, &options(name)).ok());
        compiled.is_some_and(|ptx| context.load_module(Ptx::from_src(ptx)).is_ok())
    };
    let nvrtc = Nvrtc::find_where(works).ok()?;
    Some((nvrtc, chosen?))
}

fn describe_compiler(compiler: Option<&(Nvrtc, String)>, simulated: bool) -> String {
    if let Some((nvrtc, architecture)) = compiler {
        let (major, minor) = nvrtc.version();
        return format!("NVRTC {major}.{minor} for {architecture}");
    }
    let then = if simulated { "simulated" } else { "compiled by the driver" };
    format!("stored PTX (NVRTC {PINNED_VERSION}), {then}")
}

/// Returns the virtual architecture that is nearest to a device: its own, or the newest older one that the compiler knows.
fn virtual_architecture(known: &[u32], capability: u32) -> Option<String> {
    known.iter().filter(|&&known| known <= capability).max().map(|nearest| format!("compute_{nearest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_compiled_for_the_nearest_architecture_that_is_not_newer() {
        let known = [50, 60, 75, 80, 90];
        for (capability, expected) in [(90, Some("compute_90")), (89, Some("compute_80")), (120, Some("compute_90")), (35, None)] {
            assert_eq!(virtual_architecture(&known, capability).as_deref(), expected, "for {capability}");
        }
    }
}
