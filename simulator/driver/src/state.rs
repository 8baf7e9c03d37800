//! The driver as a whole: what `cuInit` brings to life and what stays until the process ends.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use simt::{Memory, Profile};

use crate::allocations::Allocations;
use crate::error::{CuResult, Failure, Result};
use crate::ffi::{DeviceId, Out};
use crate::handles::Handles;
use crate::pool::Pools;
use crate::primary::Primary;
use crate::records::Records;
use crate::settings::{self, Settings};

/// The version that the driver says it is: CUDA 12.0.
const DRIVER_VERSION: i32 = 12000;

/// The device with everything that exists on it.
#[derive(Debug)]
pub struct Driver {
    pub profile: &'static Profile,
    /// The memory of the device, for all contexts together: an address then means the same in each, as unified addressing has it.
    pub memory: Arc<Memory>,
    pub allocations: Allocations,
    pub handles: Handles,
    pub primary: Primary,
    pub pools: Pools,
}

/// The one device that there is.
pub const DEVICE: DeviceId = 0;

static DRIVER: OnceLock<Driver> = OnceLock::new();
static SETTINGS: Mutex<Current> = Mutex::new(Current { settings: None, attached: false });
static RECORDS: Mutex<Records> = Mutex::new(Records { launches: std::collections::VecDeque::new(), forgotten: 0 });

/// The settings in force.
struct Current {
    /// `None` until first asked for; then with what the environment says.
    settings: Option<Settings>,
    /// A client takes the records, so nothing need be printed for it.
    attached: bool,
}

/// The driver, once it is initialised.
pub fn driver() -> Result<&'static Driver> {
    DRIVER.get().ok_or(CuResult::NOT_INITIALIZED.into())
}

/// The driver, for a function that takes a device.
pub fn driver_of(device: DeviceId) -> Result<&'static Driver> {
    let driver = driver()?;
    if device == DEVICE { Ok(driver) } else { CuResult::INVALID_DEVICE.err() }
}

/// The settings in force.
pub fn settings() -> Result<Settings> {
    with_settings(|current| current.settings.clone().unwrap_or_default())
}

/// Changes the settings; what `change` leaves out stays.
pub fn configure(change: Settings) -> Result<()> {
    if let Some(name) = &change.profile {
        let profile = settings::profile_named(name).map_err(|message| CuResult::INVALID_VALUE.because(message))?;
        if let Some(driver) = DRIVER.get().filter(|driver| driver.profile.name != profile.name) {
            let message = format!("the profile cannot become {name}: this process has already initialised {}", driver.profile.name);
            return Err(CuResult::ILLEGAL_STATE.because(message));
        }
    }
    with_settings(|current| {
        let settings = current.settings.get_or_insert_default();
        settings.profile = change.profile.or(settings.profile.take());
        settings.checks = change.checks.or(settings.checks);
        settings.fuel = change.fuel.or(settings.fuel);
        settings.workers = change.workers.or(settings.workers);
    })
}

/// Notes that a client takes the records from now on.
pub fn attach() {
    lock(&SETTINGS).attached = true;
}

/// Tells a program that knows nothing of the simulator what it would otherwise only see a number of; a client reads it elsewhere.
pub fn tell(message: impl std::fmt::Display) {
    if !lock(&SETTINGS).attached && std::env::var(settings::FINDINGS_VARIABLE).as_deref() != Ok("off") {
        eprintln!("simcuda: {message}");
    }
}

/// Tells the reason of a failure, where there is one.
pub fn tell_reason(failure: &Failure) {
    if let Some(reason) = &failure.reason {
        tell(reason);
    }
}

/// The launches since records were last taken.
pub fn records() -> MutexGuard<'static, Records> {
    lock(&RECORDS)
}

/// Locks what stays whole when a holder panics, as everything in this crate does: no change to it takes more than one step.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_settings<T>(look: impl FnOnce(&mut Current) -> T) -> Result<T> {
    let mut current = lock(&SETTINGS);
    if current.settings.is_none() {
        let environment = Settings::from_environment(|name| std::env::var(name).ok());
        // A program that was not made for the simulator has no other way to hear of this than its standard error.
        let complain = |message: String| {
            eprintln!("simcuda: {message}");
            CuResult::INVALID_VALUE.because(message)
        };
        current.settings = Some(environment.map_err(complain)?);
    }
    Ok(look(&mut current))
}

fn initialise() -> Result<()> {
    if DRIVER.get().is_some() {
        return Ok(());
    }
    let name = settings()?.profile;
    let name = name.as_deref().unwrap_or(settings::DEFAULT_PROFILE);
    let profile = settings::profile_named(name).map_err(|message| {
        eprintln!("simcuda: {message}");
        CuResult::NO_DEVICE.because(message)
    })?;
    DRIVER.get_or_init(|| {
        let handles = Handles::default();
        Driver {
            profile,
            // The device's own size is kept by `Allocations`; memory of the host that the device can reach has no such bound.
            memory: Arc::new(Memory::new(u64::MAX)),
            allocations: Allocations::default(),
            primary: Primary::new(&handles),
            pools: Pools::new(&handles),
            handles,
        }
    });
    Ok(())
}

crate::exports! {
    fn cuInit(flags: u32) {
        if flags != 0 {
            return CuResult::INVALID_VALUE.err();
        }
        initialise()
    }

    /// Works before `cuInit` too.
    fn cuDriverGetVersion(version: Out<i32>) {
        version.put(DRIVER_VERSION)
    }

    fn cuProfilerStart() {
        crate::context::current().map(drop)
    }

    fn cuProfilerStop() {
        crate::context::current().map(drop)
    }
}
