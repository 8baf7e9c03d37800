//! Finds the shared library, opens it before anyone else looks for a CUDA driver, and talks to it.
//!
//! A Rust program that depends on this package holds a copy of its code, with statics of its own; the driver that the CUDA bindings use
//! is the one in the shared library. Everything here goes through that library's C functions for this reason.
//!
//! ```no_run
//! let simulator = simcuda::client::Simulator::open()?;
//! simulator.set_profile("t4")?;
//! // From here on, any CUDA binding that asks the loader for the driver gets the simulator.
//! # Ok::<(), simcuda::client::Error>(())
//! ```

use std::collections::BTreeSet;
use std::env;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libloading::Library;
use serde::de::DeserializeOwned;
use simt::Dim3;
use thiserror::Error;

use crate::error::CuResult;
use crate::extras::INTERFACE_VERSION;
use crate::records::Records;
use crate::settings::{self, Settings, Trace};

/// The environment variable that names the library's file.
pub const LIBRARY_VARIABLE: &str = "SIMCUDA_LIBRARY";

/// The library's file name where cargo leaves it.
const FILE_NAME: &str = if cfg!(windows) {
    "simcuda.dll"
} else if cfg!(target_os = "macos") {
    "libsimcuda.dylib"
} else {
    "libsimcuda.so"
};

/// Why the simulator cannot be used.
#[derive(Debug, Error)]
pub enum Error {
    /// The library is in none of the places where it is looked for.
    #[error(
        "the simulator's library {FILE_NAME} was not found in {}; build it with `cargo build -p simcuda` or name its file in {LIBRARY_VARIABLE}",
        .searched.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NotFound {
        /// The folders.
        searched: Vec<PathBuf>,
    },
    /// The library is there and cannot be opened.
    #[error("cannot open the simulator's library {}: {source}", .path.display())]
    Open {
        /// Its file.
        path: PathBuf,
        /// What the loader says.
        source: libloading::Error,
    },
    /// The library was built from another version of this package.
    #[error("{} has interface {found}, this program needs {INTERFACE_VERSION}; build both again", .path.display())]
    Version {
        /// Its file.
        path: PathBuf,
        /// The version that it has.
        found: u32,
    },
    /// A value that the simulator does not take.
    #[error("{0}")]
    Refused(String),
    /// The library's answer is not what this program understands.
    #[error("the simulator's answer is not understood: {0}")]
    Answer(#[from] serde_json::Error),
}

type Configure = unsafe extern "C" fn(*const u8, usize) -> u32;
type Take = unsafe extern "C" fn(*mut c_void, usize, *mut usize) -> u32;

/// The simulator, opened. It stays open for the life of the process: the CUDA bindings keep pointers into it.
#[derive(Debug)]
pub struct Simulator {
    path: PathBuf,
    configure: Configure,
    take_records: Take,
    take_error: Take,
}

/// Opened once; a failure may be mended and tried again.
static OPENED: Mutex<Option<&'static Simulator>> = Mutex::new(None);

impl Simulator {
    /// Opens the library, or returns it when it is open already.
    ///
    /// Call this before the first call of a CUDA binding: a binding keeps the first driver that it finds.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Open`], [`Error::Version`]
    pub fn open() -> Result<&'static Self, Error> {
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(simulator) = *opened {
            return Ok(simulator);
        }
        let simulator = &*Box::leak(Box::new(Self::load(find_library()?)?));
        // Makes this program the one who reads the records, before there are any.
        simulator.configure(&Settings::default())?;
        *opened = Some(simulator);
        Ok(simulator)
    }

    fn load(path: PathBuf) -> Result<Self, Error> {
        let library = match open_globally(&path) {
            Ok(library) => library,
            Err(source) => return Err(Error::Open { path, source }),
        };
        let failed = |source| Error::Open { path: path.clone(), source };
        // SAFETY: the type is that of the export in `extras`.
        let version = unsafe { library.get::<unsafe extern "C" fn() -> u32>(b"simcuda_interface_version\0") }.map_err(failed)?;
        // SAFETY: the function takes nothing and only returns a number.
        let found = unsafe { version() };
        if found != INTERFACE_VERSION {
            return Err(Error::Version { path, found });
        }
        // SAFETY: in this version of the interface the exports have these types.
        let (configure, take_records, take_error) = unsafe {
            (
                *library.get::<Configure>(b"simcuda_configure\0").map_err(failed)?,
                *library.get::<Take>(b"simcuda_take_records\0").map_err(failed)?,
                *library.get::<Take>(b"simcuda_take_error\0").map_err(failed)?,
            )
        };
        // Never closed, so the functions stay where they are.
        std::mem::forget(library);
        Ok(Self { path, configure, take_records, take_error })
    }

    /// The library's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Chooses the GPU to simulate, by the name of its profile.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`], naming all the profiles, when there is no such one; or when CUDA is initialised already with another.
    pub fn set_profile(&self, name: &str) -> Result<(), Error> {
        self.configure(&Settings { profile: Some(name.to_owned()), ..Settings::default() })
    }

    /// Switches the checks of kernels on or off, for launches from now on.
    ///
    /// # Errors
    ///
    /// None is expected.
    pub fn set_checks(&self, checks: bool) -> Result<(), Error> {
        self.configure(&Settings { checks: Some(checks), ..Settings::default() })
    }

    /// Sets how many warp instructions one block may execute before its kernel is called endless.
    ///
    /// # Errors
    ///
    /// None is expected.
    pub fn set_fuel(&self, fuel: u64) -> Result<(), Error> {
        self.configure(&Settings { fuel: Some(fuel), ..Settings::default() })
    }

    /// Sets how many threads of the host execute blocks; `None` takes one per core.
    ///
    /// # Errors
    ///
    /// None is expected.
    pub fn set_workers(&self, workers: Option<usize>) -> Result<(), Error> {
        self.configure(&Settings { workers: Some(workers.unwrap_or(0)), ..Settings::default() })
    }

    /// Keeps what the threads of a block touch of global memory, for launches from now on; `None` keeps nothing. The checks have to be on.
    ///
    /// # Errors
    ///
    /// None is expected.
    pub fn set_trace(&self, block: Option<Dim3>) -> Result<(), Error> {
        let trace = block.map_or(Trace::Off, Trace::Block);
        self.configure(&Settings { trace: Some(trace), ..Settings::default() })
    }

    /// Changes settings; what is `None` stays as it is.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]
    pub fn configure(&self, settings: &Settings) -> Result<(), Error> {
        let text = serde_json::to_string(settings)?;
        // SAFETY: the pointer and the length are those of `text`.
        let code = unsafe { (self.configure)(text.as_ptr(), text.len()) };
        if code == CuResult::SUCCESS.0 {
            return Ok(());
        }
        let reason = self.take_error()?.unwrap_or_else(|| format!("settings refused with error {code}"));
        Err(Error::Refused(reason))
    }

    /// Takes what is known of the launches since this was last called, by any thread.
    ///
    /// # Errors
    ///
    /// [`Error::Answer`]
    pub fn take_records(&self) -> Result<Records, Error> {
        self.take(self.take_records)
    }

    /// Takes the reason of the last failure of a CUDA function **on this thread** that had more to say than its number: why a module
    /// did not load, what was wrong with a launch, what a kernel did.
    ///
    /// # Errors
    ///
    /// [`Error::Answer`]
    pub fn take_error(&self) -> Result<Option<String>, Error> {
        self.take(self.take_error)
    }

    fn take<T: DeserializeOwned>(&self, take: Take) -> Result<T, Error> {
        let mut length = 0;
        // SAFETY: a null buffer asks for the length alone.
        let asked = unsafe { take(std::ptr::null_mut(), 0, &mut length) };
        let mut buffer = vec![0u8; length];
        // SAFETY: the buffer has the capacity that is given.
        let taken = unsafe { take(buffer.as_mut_ptr().cast(), buffer.len(), &mut length) };
        if (asked, taken) != (CuResult::SUCCESS.0, CuResult::SUCCESS.0) {
            return Err(Error::Refused(format!("the simulator did not answer: errors {asked} and {taken}")));
        }
        Ok(serde_json::from_slice(&buffer)?)
    }
}

/// The profiles that can be simulated, newest first: name and product.
pub fn profiles() -> impl Iterator<Item = (&'static str, &'static str)> {
    simt::Profile::all().iter().map(|profile| (profile.name, profile.product))
}

/// Checks a profile's name without opening anything.
///
/// # Errors
///
/// [`Error::Refused`], naming all the profiles.
pub fn check_profile(name: &str) -> Result<(), Error> {
    settings::profile_named(name).map(drop).map_err(Error::Refused)
}

/// Finds the library's file: where [`LIBRARY_VARIABLE`] says, or near the executable, where cargo leaves it.
///
/// # Errors
///
/// [`Error::NotFound`]
pub fn find_library() -> Result<PathBuf, Error> {
    if let Some(path) = env::var_os(LIBRARY_VARIABLE) {
        let path = PathBuf::from(path);
        return if path.is_file() { Ok(path) } else { Err(Error::NotFound { searched: vec![path] }) };
    }
    let executable = env::current_exe().ok();
    let folder = executable.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
    let searched = folders_near(folder);
    let found = searched.iter().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file());
    found.ok_or(Error::NotFound { searched })
}

/// The executable's folder, its parent, and the `deps/` of both. `cargo run` starts programs from `target/<profile>`, `cargo test` from
/// `deps/` in it, and examples from `examples/`; the library is in `deps/`, and beside that folder too when it was built by name. The
/// copies in `deps/` go first: cargo renews them with every build of a program that needs them, and the others only by name.
fn folders_near(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.join("deps"), folder.to_owned()];
    if let Some(parent) = folder.parent() {
        folders.extend([parent.join("deps"), parent.to_owned()]);
    }
    if folder.ends_with("deps") {
        folders.swap(0, 1);
    }
    let mut seen = BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

/// Opens a library so that the loader hands it to whoever asks for the same name later.
#[cfg(unix)]
fn open_globally(path: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix::{Library as UnixLibrary, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: the library's only initialisers are those of Rust's standard library.
    unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map(Library::from)
}

/// Opens a library so that the loader hands it to whoever asks for the same name later.
#[cfg(not(unix))]
fn open_globally(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the library's only initialisers are those of Rust's standard library.
    unsafe { Library::new(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_looked_for_where_cargo_leaves_it() {
        let from = |folder: &str| folders_near(Path::new(folder)).iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(from("/t/debug"), ["/t/debug/deps", "/t/debug", "/t/deps", "/t"]);
        assert_eq!(from("/t/debug/deps")[0], "/t/debug/deps");
        assert!(from("/t/debug/deps").contains(&"/t/debug".to_owned()));
    }

    #[test]
    fn an_unknown_profile_is_answered_with_those_there_are() {
        let message = check_profile("voodoo2").unwrap_err().to_string();
        assert!(profiles().all(|(name, _)| message.contains(name)), "{message}");
    }
}
