//! The driver as a whole: what `cuInit` brings to life and what stays until the process ends.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use simt::{Memory, Profile};

use crate::allocations::Allocations;
use crate::error::{CuResult, Failure, Result};
use crate::ffi::{DeviceId, Out};
use crate::handles::Handles;
use crate::pool::Pools;
use crate::primary::Primary;
use crate::records::{LaunchRecord, Records};
use crate::report::Report;
use crate::settings::{self, Reporting, Settings};

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
    /// The process that initialised it. A child that was forked off has a copy of everything, and is not the one to report it.
    process: u32,
}

/// The one device that there is.
pub const DEVICE: DeviceId = 0;

static DRIVER: OnceLock<Driver> = OnceLock::new();
static SETTINGS: Mutex<Current> = Mutex::new(Current { settings: None, attached: false });
static REPORTING: OnceLock<Reporting> = OnceLock::new();
static RECORDS: Mutex<Records> = Mutex::new(Records { launches: std::collections::VecDeque::new(), forgotten: 0 });
static REPORT: Mutex<Report> = Mutex::new(Report::new());

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
        settings.trace = change.trace.or(settings.trace);
    })
}

/// Notes that a client takes the records from now on.
pub fn attach() {
    lock(&SETTINGS).attached = true;
}

/// Notes a launch that is over, and tells what is new about it.
pub fn note_launch(record: LaunchRecord) {
    let new = lock(&REPORT).note(&record);
    lock(&RECORDS).push(record);
    new.iter().for_each(|message| tell(message));
}

/// Notes a module or a launch that is refused, and tells the reason, where there is one and it is new.
pub fn note_refusal(failure: &Failure) {
    if let Some(reason) = &failure.reason
        && lock(&REPORT).note_refusal(reason)
    {
        tell(reason);
    }
}

/// Tells a program that knows nothing of the simulator what it would otherwise only see a number of; a client reads it elsewhere.
fn tell(message: &str) {
    let quiet = REPORTING.get().is_some_and(|reporting| reporting.quiet);
    if !quiet && !lock(&SETTINGS).attached {
        eprintln!("simcuda: {message}");
    }
}

/// What the end of this process must report, if it has initialised the driver.
pub fn reporting_of_this_process() -> Option<&'static Reporting> {
    DRIVER.get().filter(|driver| driver.process == std::process::id()).and_then(|_| REPORTING.get())
}

/// The report of this process, unless another thread is at it.
pub fn try_report() -> Option<MutexGuard<'static, Report>> {
    match REPORT.try_lock() {
        Ok(report) => Some(report),
        Err(TryLockError::Poisoned(report)) => Some(report.into_inner()),
        Err(TryLockError::WouldBlock) => None,
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
        let variable = |name: &str| std::env::var(name).ok();
        current.settings = Some(Settings::from_environment(variable).map_err(complain(CuResult::INVALID_VALUE))?);
    }
    Ok(look(&mut current))
}

/// Refuses what the environment asks for. A program that was not made for the simulator has no other way to hear of it than its
/// standard error.
fn complain(code: CuResult) -> impl Fn(String) -> Failure {
    move |message| {
        eprintln!("simcuda: {message}");
        code.because(message)
    }
}

fn initialise() -> Result<()> {
    if DRIVER.get().is_some() {
        return Ok(());
    }
    let name = settings()?.profile;
    let name = name.as_deref().unwrap_or(settings::DEFAULT_PROFILE);
    let profile = settings::profile_named(name).map_err(complain(CuResult::NO_DEVICE))?;
    let reporting = Reporting::from_environment(|name| std::env::var(name).ok()).map_err(complain(CuResult::INVALID_VALUE))?;
    REPORTING.get_or_init(|| reporting);
    DRIVER.get_or_init(|| {
        lock(&REPORT).profile = profile.name.to_owned();
        let handles = Handles::default();
        Driver {
            profile,
            // The device's own size is kept by `Allocations`; memory of the host that the device can reach has no such bound.
            memory: Arc::new(Memory::new(u64::MAX)),
            allocations: Allocations::default(),
            primary: Primary::new(&handles),
            pools: Pools::new(&handles),
            handles,
            process: std::process::id(),
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
