//! Finds the shared library, opens it before anyone else looks for a CUDA driver, and talks to it.
//!
//! A Rust program that depends on this package has a copy of its code, with its own statics. The CUDA bindings use the driver in the shared
//! library instead. That is why everything here calls the C functions of that library.
//!
//! ```no_run
//! let simulator = driver::client::Simulator::open()?;
//! simulator.set_profile("t4")?;
//! // From here on, any CUDA binding that asks the loader for the driver gets the simulator.
//! # Ok::<(), driver::client::Error>(())
//! ```

use std::collections::BTreeSet;
use std::env;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use libloading::Library;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use simt::{Dim3, WarpOrder};

pub use crate::error::Error;
use crate::interface::{self, FILE_NAME};
use crate::records::Records;
use crate::result::CuResult;
use crate::settings::{self, Settings, Trace};
use crate::variables;

/// The file in which cargo lists what the library was built from. It stays while the library is linked again.
const DEPENDENCIES: &str = "simcuda.d";

/// The longest time that cargo takes to link the library.
const LINK_TIME: Duration = Duration::from_secs(4);

type Configure = unsafe extern "C" fn(*const u8, usize) -> u32;
type Call = unsafe extern "C" fn() -> u32;
type Take = unsafe extern "C" fn(*mut c_void, usize, *mut usize) -> u32;

/// The simulator, opened. It stays open for the life of the process: the CUDA bindings keep pointers into it.
#[derive(Debug)]
pub struct Simulator {
    path: PathBuf,
    configure: Configure,
    record_apart: Call,
    take_records: Take,
    take_error: Take,
}

/// The library, once opened. It is static because the loader gives the whole process one driver. After a failure, a program may try again.
static OPENED: Mutex<Option<&'static Simulator>> = Mutex::new(None);

/// The function that makes the library of a program that carries it.
static CARRIED: OnceLock<fn() -> Result<PathBuf, Error>> = OnceLock::new();

/// Sets what [`Simulator::open`] opens, unless [`variables::LIBRARY`] names a library; the first call counts.
pub(crate) fn carry(make: fn() -> Result<PathBuf, Error>) {
    let _ = CARRIED.set(make);
}

/// Defines functions that change one setting each.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($argument:ident: $type:ty) $setting:ident = $value:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// Fails with [`Error::Refused`].
            pub fn $name(&self, $argument: $type) -> Result<(), Error> {
                self.configure(&Settings { $setting: Some($value), ..Settings::default() })
            }
        )*
    };
}

impl Simulator {
    /// Opens the library, or returns it if it is already open.
    ///
    /// Call this before a CUDA binding makes its first call: a binding keeps the first driver that it finds. Fails with
    /// [`Error::NotFound`], [`Error::Open`], or [`Error::Version`].
    pub fn open() -> Result<&'static Self, Error> {
        let mut opened = OPENED.lock();
        if let Some(simulator) = *opened {
            return Ok(simulator);
        }
        let path = match CARRIED.get() {
            // Who names a library wants that one. Where files may not grow (`ulimit -f`), not even one in memory, there may be a library near.
            Some(make) if variables::LIBRARY.path().is_none() => make().or_else(|error| find_library().map_err(|_| error))?,
            _ => find_library()?,
        };
        let load = || match Self::load(path.clone()) {
            Err(Error::Open { .. }) if is_new(&path) => None,
            loaded => Some(loaded),
        };
        let loaded = patiently(load).unwrap_or_else(|| Self::load(path.clone()))?;
        let simulator = &*Box::leak(Box::new(loaded));
        // Tells the library, before anything is launched, that this program reads the records.
        simulator.configure(&Settings::default())?;
        *opened = Some(simulator);
        Ok(simulator)
    }

    fn load(path: PathBuf) -> Result<Self, Error> {
        #[cfg(windows)]
        let path = windows::under_the_driver_s_name(path)?;
        let library = match open_globally(&path) {
            Ok(library) => library,
            Err(source) => return Err(Error::Open { path, source }),
        };
        let failed = |source| Error::Open { path: path.clone(), source };
        // SAFETY: only our library exports this name, and every version of it has exported it with this type.
        let version = unsafe { library.get::<unsafe extern "C" fn() -> u32>(interface::VERSION_EXPORT) }.map_err(failed)?;
        // SAFETY: the function only returns a number, and the library is still open.
        let found = unsafe { version() };
        if found != interface::VERSION {
            return Err(Error::Version { path, found });
        }
        // SAFETY: the check above found the version of the interface in which the exports have these types.
        let (configure, record_apart, take_records, take_error) = unsafe {
            (
                *library.get::<Configure>(b"simcuda_configure\0").map_err(failed)?,
                *library.get::<Call>(b"simcuda_record_apart\0").map_err(failed)?,
                *library.get::<Take>(b"simcuda_take_records\0").map_err(failed)?,
                *library.get::<Take>(b"simcuda_take_error\0").map_err(failed)?,
            )
        };
        // Keeps the library open, so that the functions stay valid.
        std::mem::forget(library);
        Ok(Self { path, configure, record_apart, take_records, take_error })
    }

    /// Returns the path of the library.
    pub fn path(&self) -> &Path {
        &self.path
    }

    setters! {
        /// Chooses the GPU to simulate, by the name of its profile. Refused if there is no such profile, or if CUDA is already initialized
        /// with another one.
        set_profile(name: &str) profile = name.to_owned();
        /// Turns the checks of kernels on or off from the next launch on.
        set_checks(checks: bool) checks = checks;
        /// Stops kernels when a defect is found, from the next launch on. Their results are incomplete then.
        set_until_defect(until_defect: bool) until_defect = until_defect;
        /// Sets how many warp instructions one block may execute. A kernel that needs more is stopped, because it may be endless.
        set_fuel(fuel: u64) fuel = fuel;
        /// Sets how many seconds a program waits for a value in memory.
        set_patience(seconds: u64) patience_s = seconds;
        /// Sets how many threads of the host execute blocks; `None` means one per core.
        set_workers(workers: Option<usize>) workers = workers.unwrap_or(0);
        /// Sets the order of a block's warps, from the next launch on.
        set_warp_order(order: WarpOrder) warp_order = order;
        /// Sets the word in registers and local memory that no thread has written. A GPU has anything there.
        set_garbage(word: u32) garbage = word;
        /// Records the global memory that the threads of this block access; `None` stops it. The checks must be on.
        set_trace(block: Option<Dim3>) trace = block.map_or(Trace::Off, Trace::Block);
    }

    /// Changes settings. A field that is `None` stays as it is. Fails with [`Error::Refused`].
    pub fn configure(&self, settings: &Settings) -> Result<(), Error> {
        let text = serde_json::to_string(settings).map_err(|error| Error::Refused(error.to_string()))?;
        // SAFETY: the pointer and the length are those of `text`.
        let code = unsafe { (self.configure)(text.as_ptr(), text.len()) };
        if code == CuResult::SUCCESS.0 {
            return Ok(());
        }
        let reason = self.take_error()?.unwrap_or_else(|| format!("the simulator refused the settings with error {code}"));
        Err(Error::Refused(reason))
    }

    /// Records the calling thread's launches apart from now on. [`take_records`](Self::take_records) returns them on this thread only, so
    /// that threads can work side by side and each read what its own launches did.
    pub fn record_apart(&self) -> Result<(), Error> {
        // SAFETY: the function takes nothing and may be called on any thread.
        let code = unsafe { (self.record_apart)() };
        if code == CuResult::SUCCESS.0 {
            Ok(())
        } else {
            Err(Error::Refused(format!("the simulator did not answer: error {code}")))
        }
    }

    /// Takes the records of the launches since the last call. They are of all threads that do not
    /// [record them apart](Self::record_apart). Fails with [`Error::Answer`].
    pub fn take_records(&self) -> Result<Records, Error> {
        self.take(self.take_records)
    }

    /// Takes the last reason of a failure **on this thread**: why a module did not load, what was wrong with a launch, what
    /// a kernel did. Fails with [`Error::Answer`].
    pub fn take_error(&self) -> Result<Option<String>, Error> {
        self.take(self.take_error)
    }

    fn take<T: DeserializeOwned>(&self, take: Take) -> Result<T, Error> {
        let mut length = 0;
        // SAFETY: the function accepts a null buffer, which asks for the length, and `length` is a live variable.
        let asked = unsafe { take(std::ptr::null_mut(), 0, &mut length) };
        let mut buffer = vec![0u8; length];
        // SAFETY: the buffer has the capacity that is passed, and `length` is a live variable.
        let taken = unsafe { take(buffer.as_mut_ptr().cast(), buffer.len(), &mut length) };
        if (asked, taken) != (CuResult::SUCCESS.0, CuResult::SUCCESS.0) {
            return Err(Error::Refused(format!("the simulator did not answer: errors {asked} and {taken}")));
        }
        serde_json::from_slice(&buffer).map_err(Error::Answer)
    }
}

/// Returns the names and products of all profiles, newest first.
pub fn profiles() -> impl Iterator<Item = (&'static str, &'static str)> {
    simt::Profile::all().iter().map(|profile| (profile.name, profile.product))
}

/// Checks a profile's name without opening the library. Fails with [`Error::UnknownProfile`], which lists all profiles.
pub fn check_profile(name: &str) -> Result<(), Error> {
    settings::profile_named(name).map(drop)
}

/// Finds the library: where [`variables::LIBRARY`] says, or near the executable, where cargo or `simcuda` leaves it. Fails with
/// [`Error::NotFound`].
pub fn find_library() -> Result<PathBuf, Error> {
    if let Some(path) = variables::LIBRARY.path() {
        return if path.is_file() { Ok(path) } else { Err(Error::NotFound { searched: vec![path] }) };
    }
    let executable = env::current_exe().ok();
    find_near(executable.as_deref().and_then(Path::parent).unwrap_or(Path::new(".")))
}

/// Finds the library near an executable in this folder. Where cargo has built one, it may be missing while cargo links it again.
fn find_near(folder: &Path) -> Result<PathBuf, Error> {
    let searched = folders_near(folder);
    let find = |name: &str| searched.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    let found = find(FILE_NAME).or_else(|| find(DEPENDENCIES).and_then(|_| patiently(|| find(FILE_NAME))));
    found.ok_or(Error::NotFound { searched })
}

/// Tries something until it succeeds or cargo would have linked a library.
fn patiently<T>(attempt: impl Fn() -> Option<T>) -> Option<T> {
    let started = Instant::now();
    loop {
        match attempt() {
            None if started.elapsed() < LINK_TIME => thread::sleep(Duration::from_millis(20)),
            done => return done,
        }
    }
}

/// Returns true if a file is new and may be incomplete.
fn is_new(path: &Path) -> bool {
    let written = path.metadata().and_then(|data| data.modified());
    written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < LINK_TIME))
}

/// Returns the libraries' folder of a command in the folder `bin`: `lib/simcuda` next to it.
pub fn installed_libraries(bin: &Path) -> PathBuf {
    bin.with_file_name("lib").join("simcuda")
}

/// Returns the executable's folder, its parent, and the `deps/` of both. `cargo run` starts programs in `target/<profile>`, `cargo test` in
/// its `deps/`, and examples are in its `examples/`. The library is in `deps/`, and also next to that folder if it was built by name. The
/// copies in `deps/` come first: cargo updates them whenever it builds a program that needs them, but updates the others only by name. For a
/// program in a folder `bin`, the last one is the folder of [`installed_libraries`].
fn folders_near(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.join("deps"), folder.to_owned()];
    if let Some(parent) = folder.parent() {
        folders.extend([parent.join("deps"), parent.to_owned()]);
    }
    if folder.ends_with("deps") {
        folders.swap(0, 1);
    }
    if folder.ends_with("bin") {
        folders.push(installed_libraries(folder));
    }
    let mut seen = BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

/// Opens a library for everyone who later asks for its name.
#[cfg(unix)]
fn open_globally(path: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix::{Library as UnixLibrary, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: the library's only initializers are those of Rust's standard library, and its destructor may run at any exit.
    unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map(Library::from)
}

/// Opens a library for everyone who later asks for its name.
#[cfg(not(unix))]
fn open_globally(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the library's only initializers are those of Rust's standard library, and its destructor may run at any exit.
    unsafe { Library::new(path) }
}

#[cfg(windows)]
mod windows {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::time::UNIX_EPOCH;

    use crate::error::Error;

    /// Copies the library to a file with the driver's name. Windows knows a loaded library by the name of its file, whatever its folder.
    /// cargo names it otherwise. The copy is in the user's folder for temporary files, under a name that changes with the library.
    pub fn under_the_driver_s_name(path: PathBuf) -> Result<PathBuf, Error> {
        const NAME: &str = "nvcuda.dll";
        if path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(NAME)) {
            return Ok(path);
        }
        let data = fs::metadata(&path).map_err(Error::at(&path))?;
        let age = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let folder = std::env::temp_dir().join(format!("simcuda-{:x}-{:x}", data.len(), age.as_nanos()));
        let copy = folder.join(NAME);
        if fs::metadata(&copy).is_ok_and(|copied| copied.len() == data.len()) {
            return Ok(copy);
        }
        fs::create_dir_all(&folder).map_err(Error::at(&folder))?;
        // Another program may do the same now: the last one to rename wins, and none sees half of a copy.
        let unfinished = folder.join(format!("unfinished-{}", std::process::id()));
        fs::copy(&path, &unfinished).map_err(Error::at(&unfinished))?;
        match fs::rename(&unfinished, &copy) {
            // A copy that is in use cannot be replaced, and need not be.
            Err(_) if copy.is_file() => drop(fs::remove_file(&unfinished)),
            renamed => renamed.map_err(Error::at(&copy))?,
        }
        Ok(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_searched_where_cargo_leaves_it() {
        let from = |folder: &str| folders_near(Path::new(folder)).iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(from("/t/debug"), ["/t/debug/deps", "/t/debug", "/t/deps", "/t"]);
        assert_eq!(from("/t/debug/deps")[0], "/t/debug/deps");
        assert!(from("/t/debug/deps").contains(&"/t/debug".to_owned()));
    }

    #[test]
    fn a_library_that_cargo_links_again_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let deps = folder.path().join("deps");
        std::fs::create_dir(&deps).unwrap();
        let started = Instant::now();
        assert!(matches!(find_near(&deps), Err(Error::NotFound { .. })));
        assert!(started.elapsed() < LINK_TIME, "nothing was built there");
        std::fs::write(deps.join(DEPENDENCIES), "").unwrap();
        let library = deps.join(FILE_NAME);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(50));
                std::fs::write(&library, "").unwrap();
            });
            assert_eq!(find_near(&deps).unwrap(), library);
        });
    }

    #[test]
    fn an_unknown_profile_is_answered_with_the_known_ones() {
        let message = check_profile("voodoo2").unwrap_err().to_string();
        assert!(profiles().all(|(name, _)| message.contains(name)), "{message}");
    }
}
