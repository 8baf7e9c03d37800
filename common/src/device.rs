//! Which device a run gets: what was asked for, what this machine has, and the driver that stands for it.
//!
//! cudarc loads one CUDA driver per process and keeps it. Whether that is NVIDIA's or the simulator is decided here, once, before
//! its first call: NVIDIA's is found by cudarc itself; the simulator has to be there already, under the driver's name.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys::culib;
use simcuda::client::{self, Simulator};
use simcuda::settings::DEFAULT_PROFILE;

use crate::error::{Error, Result};
use crate::probe::{self, Found, Unusable};

/// What `--device` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Request {
    /// A GPU where there is one that works, otherwise the simulator.
    #[default]
    Auto,
    /// A GPU or nothing.
    Gpu,
    /// The simulator with the profile of that name; `None` takes the default profile.
    Sim(Option<String>),
}

impl FromStr for Request {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = |reason: String| Error::UnknownDevice { asked: text.to_owned(), reason };
        match (text, text.split_once(':')) {
            ("auto", _) => Ok(Request::Auto),
            ("gpu", _) => Ok(Request::Gpu),
            ("sim", _) => Ok(Request::Sim(None)),
            (_, Some(("sim", profile))) => {
                client::check_profile(profile).map_err(|error| unknown(error.to_string()))?;
                Ok(Request::Sim(Some(profile.to_owned())))
            }
            _ => Err(unknown("choose one of auto, gpu, sim, sim:PROFILE".to_owned())),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Auto => f.write_str("auto"),
            Request::Gpu => f.write_str("gpu"),
            Request::Sim(None) => f.write_str("sim"),
            Request::Sim(Some(profile)) => write!(f, "sim:{profile}"),
        }
    }
}

/// The device that this process runs on.
#[derive(Clone)]
pub enum Device {
    /// A GPU.
    Gpu(Found),
    /// The simulator.
    Sim {
        /// Its own interface.
        simulator: &'static Simulator,
        /// Name of the profile.
        profile: String,
    },
}

impl Device {
    /// The simulator's own interface; `None` on a GPU.
    pub fn simulator(&self) -> Option<&'static Simulator> {
        match self {
            Device::Gpu(_) => None,
            Device::Sim { simulator, .. } => Some(simulator),
        }
    }

    /// Name of the simulator's profile; `None` on a GPU.
    pub fn profile(&self) -> Option<&str> {
        match self {
            Device::Gpu(_) => None,
            Device::Sim { profile, .. } => Some(profile),
        }
    }

    /// Name and version of the driver.
    pub fn driver(&self) -> String {
        match self {
            Device::Gpu(Found { cuda, release: Some(release), .. }) => format!("{release} (CUDA {cuda})"),
            Device::Gpu(Found { cuda, release: None, .. }) => format!("CUDA {cuda}"),
            Device::Sim { .. } => format!("simcuda {}", env!("CARGO_PKG_VERSION")),
        }
    }

    /// Whether this is what was asked for.
    fn answers(&self, request: &Request) -> bool {
        match (self, request) {
            (_, Request::Auto) | (Device::Gpu(_), Request::Gpu) | (Device::Sim { .. }, Request::Sim(None)) => true,
            (Device::Sim { profile, .. }, Request::Sim(Some(asked))) => profile == asked,
            (Device::Gpu(_), Request::Sim(_)) | (Device::Sim { .. }, Request::Gpu) => false,
        }
    }
}

/// The device of this process, once there is one.
static CHOSEN: Mutex<Option<Device>> = Mutex::new(None);

/// Chooses the device of this process, and loads the driver for it. The first call that succeeds decides; `auto` then takes
/// what there is.
///
/// # Errors
///
/// When there is no such device on this machine, or the process runs on another one already.
pub fn choose(request: &Request) -> Result<Device> {
    let mut chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = &*chosen {
        if device.answers(request) {
            return Ok(device.clone());
        }
        if *request == Request::Gpu {
            probe::probe().map_err(Error::NoGpu)?;
        }
        let open = match device.profile() {
            None => Request::Gpu,
            Some(profile) => Request::Sim(Some(profile.to_owned())),
        };
        return Err(Error::DeviceTaken { asked: request.clone(), open });
    }
    let device = match request {
        Request::Gpu => Device::Gpu(probe::probe().map_err(Error::NoGpu)?),
        // Not even a look at NVIDIA's driver: it would stay loaded.
        Request::Sim(profile) => simulator(profile.as_deref())?,
        Request::Auto => match probe::probe() {
            Ok(found) => Device::Gpu(found),
            Err(why) => {
                let device = simulator(None)?;
                report_fallback(&why);
                device
            }
        },
    };
    Ok(chosen.insert(device).clone())
}

/// Says once why the run is not on a GPU: someone who has one must not wonder.
fn report_fallback(why: &Unusable) {
    let advice = if *why == Unusable::NoLibrary { "" } else { " (`cargo doctor` tells more)" };
    eprintln!("note: {why}: running on the simulated GPU{advice}");
}

/// Puts the simulator where cudarc will find it.
fn simulator(profile: Option<&str>) -> Result<Device> {
    let profile = profile.unwrap_or(DEFAULT_PROFILE);
    let simulator = Simulator::open()?;
    simulator.set_profile(profile)?;
    // SAFETY: cudarc opens the driver that the loader has for it; there is one, since the simulator is open.
    let driver = unsafe { culib() };
    // SAFETY: only the symbol's presence is asked for, so its type does not matter.
    if unsafe { driver.get::<unsafe extern "C" fn()>(b"simcuda_interface_version\0") }.is_err() {
        return Err(Error::OtherDriver { simulator: simulator.path().to_owned() });
    }
    Ok(Device::Sim { simulator, profile: profile.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_as_it_is_read() {
        for text in ["auto", "gpu", "sim", "sim:h200"] {
            assert_eq!(text.parse::<Request>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_answered_with_those_that_are() {
        for (text, hint) in [("cuda", "sim:PROFILE"), ("sim:voodoo2", "h200"), ("sim:", "h200"), ("", "auto"), ("GPU", "gpu")] {
            let message = text.parse::<Request>().unwrap_err().to_string();
            assert!(message.contains(hint) && message.contains(&format!("`{text}`")), "{message}");
        }
    }
}
