//! The driver as a whole: what `cuInit` creates and what lives until the process ends.
//!
//! Most of the library's global state is in the statics of this module. The rest is next to its only user: the function that makes a carried
//! library and the library that was opened (`client`), whether a client reads the records (`reporter`), the destructor (`at_exit`), and for
//! each thread the stack of current contexts, the capture mode, and what it has yet to read of its last failure and its last answer.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use simt::texture::Bindings;
use simt::{Accessed, Memory, Profile};

use crate::advice::Pages;
use crate::allocations::Allocations;
use crate::captures::Captures;
use crate::coverage::Collector;
use crate::error::Error;
use crate::ffi::DeviceId;
use crate::graph_memory::GraphMemory;
use crate::handles::{Handle, Handles, Kind};
use crate::host_memory;
use crate::launch_files::LaunchFiles;
use crate::messages::say;
use crate::mutants::Mutants;
use crate::pools::Pools;
use crate::queues::Queues;
use crate::records::{LaunchRecord, Records};
use crate::report::Report;
use crate::reporter::{self, Reporter};
use crate::result::{CuResult, Failure, Result};
use crate::settings::{self, Reporting, Settings};
use crate::stepping::Debugged;
use crate::timeline::StreamRace;
use crate::virtual_memory::VirtualMemory;

/// The default patience with a value in memory, in seconds.
const PATIENCE_S: u64 = 60;

/// The one device.
pub const DEVICE: DeviceId = 0;

pub type OwnRecords = Arc<Mutex<Records>>;

thread_local! {
    /// The records of this thread, unless it shares those of the process.
    static OWN_RECORDS: RefCell<Option<OwnRecords>> = const { RefCell::new(None) };
}

/// The driver. It is static because a C function has no other way to reach it, and it is set once because CUDA cannot be shut down.
static DRIVER: OnceLock<Driver> = OnceLock::new();

/// The settings in force, once needed; they start with what the environment says. They are not part of [`DRIVER`], because a client sets
/// them before `cuInit`.
static SETTINGS: Mutex<Option<Settings>> = Mutex::new(None);

pub struct Driver {
    pub profile: &'static Profile,
    /// The memory of the device. All contexts share it, so that an address means the same in each, as in unified addressing.
    pub memory: Arc<Memory>,
    /// Bytes that allocations can have in all: the device's, or what this machine can give. With checks on, each byte needs about another one.
    pub usable_bytes: u64,
    pub allocations: Mutex<Allocations>,
    pub virtual_memory: Mutex<VirtualMemory>,
    pub queues: Queues,
    pub handles: Handles,
    /// The handle of the primary context, the same for the life of the process, however often the context is destroyed and made again.
    pub primary: Handle,
    /// How often the program retains the primary context. Without that, it does not exist.
    pub primary_retains: Mutex<u32>,
    /// The flags that the next primary context starts with.
    pub primary_flags: AtomicU32,
    pub pools: Pools,
    pub captures: Mutex<Captures>,
    pub graph_memory: Mutex<GraphMemory>,
    pub reporter: Reporter,
    /// The mistakes that its kernels are to have, or could have.
    pub mutants: Mutants,
    pub debugged: Option<Debugged>,
    /// The folder that each launch is written to.
    pub launch_files: Option<LaunchFiles>,
    /// The other names of the primary context, each with its green context.
    pub green_contexts: Mutex<Vec<(Handle, Handle)>>,
    /// The program's settings of core dumps of all contexts, by attribute number.
    pub core_dumps: Mutex<BTreeMap<u32, Vec<u8>>>,
    pub advice: Mutex<Pages>,
    /// The texture and surface objects, for kernels.
    pub textures: Mutex<Arc<Bindings>>,
    /// The loaded kernels and executed instructions, if coverage is wanted.
    pub coverage: Option<Mutex<Collector>>,
    /// Launches that have begun.
    pub launches: AtomicU64,
    /// The launches since the client last took them, without those recorded apart.
    records: Mutex<Records>,
    /// The process that initialized the driver. A forked child has a copy of everything but can use none of it.
    process: u32,
}

/// Returns the driver, once this process has initialized it.
pub fn driver() -> Result<&'static Driver> {
    let driver = DRIVER.get().ok_or(CuResult::NOT_INITIALIZED)?;
    driver.check_process()?;
    Ok(driver)
}

/// Returns the live object with this handle.
pub fn find<T: Kind>(handle: Handle) -> Result<Arc<T>> {
    driver()?.handles.get(handle)
}

/// Returns the driver for a function that takes a device.
pub fn driver_of(device: DeviceId) -> Result<&'static Driver> {
    let driver = driver()?;
    if device == DEVICE { Ok(driver) } else { CuResult::INVALID_DEVICE.err() }
}

/// Returns the driver if this process has initialized it.
pub fn driver_of_this_process() -> Option<&'static Driver> {
    DRIVER.get().filter(|driver| driver.check_process().is_ok())
}

/// Returns true if the driver is initialized here, or before a fork.
pub fn is_initialized() -> bool {
    DRIVER.get().is_some()
}

/// Initializes the driver, once.
pub fn initialize() -> Result<()> {
    if let Some(driver) = DRIVER.get() {
        return driver.check_process();
    }
    let refuse = |error| print_and_refuse(CuResult::INVALID_VALUE, &error);
    let name = settings()?.profile;
    let profile = settings::profile_named(name.as_deref().unwrap_or(settings::DEFAULT_PROFILE));
    let profile = profile.map_err(|error| print_and_refuse(CuResult::NO_DEVICE, &error))?;
    let reporting = Reporting::from_environment(variable).map_err(refuse)?;
    let mutants = Mutants::from_environment(variable).map_err(refuse)?;
    version()?;
    let schedule = settings::schedule(variable).map_err(refuse)?;
    let debugged = Debugged::from_environment(variable).map_err(refuse)?;
    let launch_files = LaunchFiles::from_environment(variable);
    DRIVER.get_or_init(|| {
        let handles = Handles::default();
        // `Allocations` enforces the device's own size. Host memory that the device can access has no such limit.
        let memory = Arc::new(Memory::new(u64::MAX));
        Driver {
            profile,
            usable_bytes: host_memory::available().map_or(profile.memory_bytes, |bytes| profile.memory_bytes.min(bytes / 2)),
            allocations: Mutex::new(Allocations::new(memory.clone(), profile.memory_bytes)),
            virtual_memory: Mutex::new(VirtualMemory::new(memory.clone())),
            memory,
            queues: schedule.map(Queues::scheduled).unwrap_or_default(),
            primary: handles.reserve(),
            primary_retains: Mutex::default(),
            primary_flags: AtomicU32::default(),
            pools: Pools::new(&handles),
            captures: Mutex::default(),
            graph_memory: Mutex::default(),
            handles,
            coverage: reporting.coverage.clone().map(|folder| Mutex::new(Collector::new(folder))),
            reporter: Reporter::new(profile.name, reporting),
            mutants,
            debugged,
            launch_files,
            green_contexts: Mutex::default(),
            core_dumps: Mutex::default(),
            advice: Mutex::default(),
            textures: Mutex::default(),
            launches: AtomicU64::new(0),
            records: Mutex::default(),
            process: std::process::id(),
        }
    });
    Ok(())
}

/// Returns the version of CUDA that the driver says it has.
pub fn version() -> Result<i32> {
    settings::driver_version(variable).map_err(|error| print_and_refuse(CuResult::INVALID_VALUE, &error))
}

/// Returns how long a program waits for a value in memory.
pub fn patience() -> Duration {
    Duration::from_secs(settings().ok().and_then(|settings| settings.patience_s).unwrap_or(PATIENCE_S))
}

pub fn settings() -> Result<Settings> {
    with_settings(|settings| settings.clone())
}

/// Changes the settings for a client. The client reads the records from now on.
pub fn configure(change: Settings) -> Result<()> {
    DRIVER.get().map_or(Ok(()), Driver::check_process)?;
    if let Some(name) = &change.profile {
        let profile = settings::profile_named(name).map_err(|error| CuResult::INVALID_VALUE.because(error.to_string()))?;
        if let Some(driver) = DRIVER.get().filter(|driver| driver.profile.name != profile.name) {
            let message =
                format!("cannot change the profile to {name}: this process has already initialized {}", driver.profile.name);
            return Err(CuResult::ILLEGAL_STATE.because(message));
        }
    }
    with_settings(|settings| settings.apply(change))?;
    reporter::client_reads();
    Ok(())
}

/// Records the launches of this thread apart from now on. Threads that work side by side do not take each other's records then.
pub fn record_apart() {
    OWN_RECORDS.with_borrow_mut(|own| {
        own.get_or_insert_default();
    });
}

/// Takes what is known about the launches since this was last called: those of this thread if it records them apart, or else those of all
/// other threads.
pub fn take_records() -> Records {
    match own_records() {
        Some(own) => std::mem::take(&mut *own.lock()),
        None => driver_of_this_process().map(|driver| std::mem::take(&mut *driver.records.lock())).unwrap_or_default(),
    }
}

/// Returns the records of what this thread enqueues, if they are apart.
pub fn own_records() -> Option<OwnRecords> {
    OWN_RECORDS.with_borrow(Clone::clone)
}

/// Does the work of a thread that has these records.
pub fn recording_in<T>(records: Option<OwnRecords>, work: impl FnOnce() -> T) -> T {
    let mine = OWN_RECORDS.replace(records);
    let done = work();
    OWN_RECORDS.set(mine);
    done
}

pub fn report() -> Report {
    driver_of_this_process().map(|driver| driver.reporter.report.lock().clone()).unwrap_or_default()
}

impl Driver {
    /// Refuses a child of the process that initialized the driver. The child has none of the threads that execute blocks, and a lock that
    /// another thread held at the fork stays locked in it. A GPU's driver does not work there either.
    fn check_process(&self) -> Result<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        Err(CuResult::NOT_INITIALIZED
            .because("the parent of this forked process has initialized CUDA; initialize it after the fork"))
    }

    /// Keeps the record of a launch that its observers have seen.
    pub fn keep_record(&self, record: LaunchRecord, module: impl Fn() -> u64) {
        match own_records() {
            Some(own) => own.lock().push(record, module),
            None => self.records.lock().push(record, module),
        }
    }

    /// Notes accesses of this thread's work, and reports races with them.
    pub fn note_accesses(&self, accesses: impl FnOnce() -> Vec<Accessed>) {
        let Some(timeline) = &self.queues.timeline else { return };
        let accesses = accesses();
        let races = timeline.lock().access(accesses);
        for race in races {
            let StreamRace { kernel, work, message, address, bytes } = race;
            let place = match self.allocations.lock().containing(address) {
                Some(owned) => {
                    let first = address - owned.base;
                    format!("bytes {first} to {} of an allocation of {} bytes", first + bytes - 1, owned.bytes)
                }
                None => format!("{bytes} bytes at {address:#x}"),
            };
            self.reporter.note_stream_race(kernel.as_deref(), &work, format!("race between streams: {message}\n  at {place}"));
        }
    }

    /// Reports that the host has changed memory before a copy read it.
    pub fn note_changed_source(&self, address: u64, changed: u64, bytes: u64) {
        let message = format!(
            "race with the host: it changes pinned memory before a copy has read it, and does not wait for the copy\n  \
             at byte {changed} of the {bytes} that are copied, {address:#x}"
        );
        self.reporter.note_stream_race(None, "the host\na copy from pinned memory", message);
    }
}

fn with_settings<T>(look: impl FnOnce(&mut Settings) -> T) -> Result<T> {
    let mut in_force = SETTINGS.lock();
    let settings = match &mut *in_force {
        Some(settings) => settings,
        unset => {
            let settings = Settings::from_environment(variable);
            unset.insert(settings.map_err(|error| print_and_refuse(CuResult::INVALID_VALUE, &error))?)
        }
    };
    Ok(look(settings))
}

/// Returns the text of an environment variable.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Refuses what the environment asks for. A program that was not made for the simulator can only learn of it from standard error.
fn print_and_refuse(code: CuResult, error: &Error) -> Failure {
    say(format_args!("{error}"));
    code.because(error.to_string())
}
