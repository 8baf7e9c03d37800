//! Chooses the device of the process, and the driver for it.
//!
//! cudarc loads one CUDA driver per process and keeps it. This module decides once, before cudarc's first call, whether that driver is
//! NVIDIA's or the simulator. cudarc finds NVIDIA's by itself. The simulator must already be loaded under the driver's name.

pub mod capability;
pub mod ceilings;
pub mod gpu;
pub mod guard;
pub mod memory;
pub mod pinned;
pub mod planner;
pub mod probe;
pub mod request;
pub mod sensors;
pub mod tensor_map;
pub mod timing;

use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys::culib;
use driver::client::Simulator;
use driver::settings::DEFAULT_PROFILE;

use self::probe::{Found, Unusable};
use crate::console::note;
use crate::error::{Error, Result};

pub use crate::device::request::Request;

/// The device that this process runs on.
#[derive(Clone)]
pub struct Device {
    /// The name and version of the driver.
    pub driver: String,
    /// The simulator's own interface, and the name of its profile; `None` on a GPU.
    pub simulator: Option<(&'static Simulator, String)>,
}

impl Device {
    fn gpu(Found { cuda, release, .. }: Found) -> Self {
        let driver = release.map_or_else(|| format!("CUDA {cuda}"), |release| format!("{release} (CUDA {cuda})"));
        Self { driver, simulator: None }
    }

    fn satisfies(&self, request: &Request) -> bool {
        match (&self.simulator, request) {
            (_, Request::Auto) | (None, Request::Gpu) | (Some(_), Request::Sim(None)) => true,
            (Some((_, profile)), Request::Sim(Some(asked))) => profile == asked,
            (None, Request::Sim(_)) | (Some(_), Request::Gpu) => false,
        }
    }
}

static CHOSEN: Mutex<Option<Device>> = Mutex::new(None);

/// Chooses the device of this process and loads its driver. The first call that succeeds decides; after it, `auto` means that device.
/// Fails when this machine has no such device, or when the process already runs on another one.
pub fn choose(request: &Request) -> Result<Device> {
    let mut chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = &*chosen {
        if device.satisfies(request) {
            return Ok(device.clone());
        }
        if *request == Request::Gpu {
            probe::probe().map_err(Error::NoGpu)?;
        }
        let open = device.simulator.clone().map_or(Request::Gpu, |(_, profile)| Request::Sim(Some(profile)));
        return Err(Error::DeviceTaken { asked: request.clone(), open });
    }
    let device = match request {
        Request::Gpu => Device::gpu(probe::probe().map_err(Error::NoGpu)?),
        // NVIDIA's driver is not even probed: it would stay loaded.
        Request::Sim(profile) => simulator(profile.as_deref())?,
        Request::Auto => match probe::probe() {
            Ok(found) => Device::gpu(found),
            Err(why) => {
                let device = simulator(None)?;
                report_fallback(&why);
                device
            }
        },
    };
    Ok(chosen.insert(device).clone())
}

/// Reports why the run is not on a GPU. The owner of one would wonder.
fn report_fallback(why: &Unusable) {
    let advice = if *why == Unusable::NoLibrary { "" } else { " (`cargo doctor` says more)" };
    note(format_args!("note: {why}: running on the simulated GPU{advice}"));
}

/// Loads the simulator where cudarc will find it.
fn simulator(profile: Option<&str>) -> Result<Device> {
    let profile = profile.unwrap_or(DEFAULT_PROFILE);
    let simulator = Simulator::open()?;
    simulator.set_profile(profile)?;
    // SAFETY: `culib` loads the library named libcuda, or panics without one. `simulator` keeps one open under that name.
    let driver = unsafe { culib() };
    // SAFETY: the symbol is looked up and never called, so its type does not matter.
    if unsafe { driver.get::<unsafe extern "C" fn()>(b"simcuda_interface_version\0") }.is_err() {
        return Err(Error::OtherDriver { simulator: simulator.path().to_owned() });
    }
    let driver = format!("simcuda {}", env!("CARGO_PKG_VERSION"));
    Ok(Device { driver, simulator: Some((simulator, profile.to_owned())) })
}
