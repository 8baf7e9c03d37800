//! Finds out whether the NVIDIA driver of this machine works, with a few driver calls of our own.
//!
//! These calls never go through cudarc. It keeps the first library that it opens for the life of the process, so the simulator could not
//! replace the driver anymore, and it panics if there is no library.
//!
//! A child process makes these calls first, so that a driver that crashes or hangs takes nothing down but the child.

mod child;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::OnceLock;
use std::time::Duration;

use compilers::libraries::root_cause;
use compilers::variables::DRIVER_SECONDS;
use libloading::Library;
use thiserror::Error;

use child::Fate;

/// The oldest CUDA version whose driver we can use, as `cuDriverGetVersion` counts. The bindings are made for it.
pub const OLDEST_CUDA: u32 = 12_000;

/// The driver library's own file names, not cudarc's first choice, `libcuda.so`. Once the loader knows a library by that name, it hands
/// it to cudarc, and the simulator may still need the name.
const DRIVER_NAMES: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"] };
/// The name that cudarc finds the driver by, if it exists. The file is next to [`DRIVER_NAMES`].
const NAME_FOR_CUDARC: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so" };

const SUCCESS: c_int = 0;
const STUB_LIBRARY: c_int = 34;
const NO_DEVICE: c_int = 100;

/// A GPU that works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Name of the first device.
    pub name: String,
    /// How many devices there are.
    pub devices: u32,
    /// The CUDA version of the driver.
    pub cuda: CudaVersion,
    /// The driver's own release, for example `580.65.06`, if the system reports it.
    pub release: Option<String>,
}

/// A version as CUDA's libraries count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CudaVersion(pub u32);

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

/// The reason why the NVIDIA driver of this machine cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say what each variant and field is")]
pub enum Unusable {
    #[error("there is no NVIDIA driver on this machine")]
    NoLibrary,
    #[error("the NVIDIA driver sees no device")]
    NoDevice,
    #[error("the NVIDIA driver is for CUDA {found}, and 12.0 (driver 525) is the oldest that works")]
    TooOld { found: CudaVersion },
    #[error("the libcuda.so on the loader's path is a CUDA toolkit's stub: take its folder off LD_LIBRARY_PATH")]
    Stub,
    #[error("the NVIDIA driver crashes when it starts ({status})")]
    Crashes { status: String },
    #[error(
        "the NVIDIA driver has not answered for {seconds} s (`--device sim` does not ask it; {DRIVER_SECONDS} sets how long to wait)"
    )]
    Hangs { seconds: u64 },
    #[error("{what} fails: {reason}")]
    Broken { what: String, reason: String },
}

/// Seconds to wait for the driver. One with eight GPUs that are idle takes about ten seconds.
const SECONDS: u64 = 30;

/// Lets [`probe`] start this program again as a child. `main` calls this first, before it reads its arguments; in the child, it does not
/// return.
pub fn serve_child() {
    child::serve(|| drop(probe_here()));
}

/// Asks the driver of this machine for a device that works: in a child process first, if `main` called [`serve_child`].
///
/// The device keeps its primary context, because creating one takes long and cudarc needs it next.
pub fn probe() -> Result<Found, Unusable> {
    static IS_SAFE: OnceLock<Result<(), Unusable>> = OnceLock::new();
    let try_in_a_child = || {
        let seconds = DRIVER_SECONDS.text().and_then(|text| text.trim().parse().ok()).unwrap_or(SECONDS);
        match child::try_first(Duration::from_secs(seconds)) {
            Fate::Survived => Ok(()),
            Fate::Died(status) => Err(Unusable::Crashes { status }),
            Fate::Hung => Err(Unusable::Hangs { seconds }),
        }
    };
    IS_SAFE.get_or_init(try_in_a_child).clone()?;
    probe_here()
}

fn probe_here() -> Result<Found, Unusable> {
    let driver = Driver::open()?;
    // SAFETY: the pointer is to a live integer.
    let version = driver.number("cuDriverGetVersion", |version| unsafe { (driver.get_version)(version) })?;
    let cuda = CudaVersion(version.unsigned_abs());
    if cuda < CudaVersion(OLDEST_CUDA) {
        return Err(Unusable::TooOld { found: cuda });
    }
    // SAFETY: takes no pointers; zero is the only flag there is.
    driver.check("cuInit", unsafe { (driver.init)(0) })?;
    // SAFETY: the pointer is to a live integer.
    let devices = driver.number("cuDeviceGetCount", |count| unsafe { (driver.device_count)(count) })?;
    let devices = u32::try_from(devices).unwrap_or(0);
    if devices == 0 {
        return Err(Unusable::NoDevice);
    }
    // SAFETY: the pointer is to a live integer.
    let device = driver.number("cuDeviceGet", |device| unsafe { (driver.device_get)(device, 0) })?;
    let name = driver.device_name(device)?;
    driver.retain_context(device, &name)?;
    driver.check_what_cudarc_finds()?;
    Ok(Found { name, devices, cuda, release: driver_release() })
}

/// The driver functions that probing needs, with their types from `cuda.h`.
struct Driver {
    get_version: unsafe extern "C" fn(*mut c_int) -> c_int,
    init: unsafe extern "C" fn(c_uint) -> c_int,
    error_name: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int,
    device_count: unsafe extern "C" fn(*mut c_int) -> c_int,
    device_get: unsafe extern "C" fn(*mut c_int, c_int) -> c_int,
    device_name: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int,
    context_retain: unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int,
    /// Keeps the functions loaded for the life of the process, because an initialized driver has threads.
    _library: ManuallyDrop<Library>,
}

impl Driver {
    fn open() -> Result<Driver, Unusable> {
        let mut reason = None;
        for name in DRIVER_NAMES {
            // SAFETY: loading runs the driver's initializers, which every CUDA program runs.
            match unsafe { Library::new(*name) } {
                Ok(library) => {
                    return Driver::with(library).map_err(|error| broken("the NVIDIA driver library", root_cause(&error)));
                }
                Err(error) => reason = reason.or(Some(root_cause(&error))),
            }
        }
        match reason {
            // A library that exists but does not load is not a missing one: it may need another library.
            Some(reason) if !is_missing(&reason) => Err(broken("loading the NVIDIA driver library", reason)),
            _ => Err(Unusable::NoLibrary),
        }
    }

    fn with(library: Library) -> Result<Driver, libloading::Error> {
        // SAFETY: each type is that of the function's declaration in cuda.h, unchanged since CUDA 7.
        unsafe {
            Ok(Driver {
                get_version: *library.get("cuDriverGetVersion")?,
                init: *library.get("cuInit")?,
                error_name: *library.get("cuGetErrorName")?,
                device_count: *library.get("cuDeviceGetCount")?,
                device_get: *library.get("cuDeviceGet")?,
                device_name: *library.get("cuDeviceGetName")?,
                context_retain: *library.get("cuDevicePrimaryCtxRetain")?,
                _library: ManuallyDrop::new(library),
            })
        }
    }

    /// Returns the integer that a call stores.
    fn number(&self, what: &str, call: impl FnOnce(&mut c_int) -> c_int) -> Result<c_int, Unusable> {
        let mut number = 0;
        self.check(what, call(&mut number)).map(|()| number)
    }

    fn device_name(&self, device: c_int) -> Result<String, Unusable> {
        let mut name: [c_char; 256] = [0; 256];
        // SAFETY: the driver writes at most 255 bytes, and the buffer has 256.
        self.check("cuDeviceGetName", unsafe { (self.device_name)(name.as_mut_ptr(), 255, device) })?;
        // SAFETY: the driver left the last byte zero, so the string ends inside the buffer.
        Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }

    fn retain_context(&self, device: c_int, name: &str) -> Result<(), Unusable> {
        let mut context = std::ptr::null_mut();
        // SAFETY: the pointer is to a live pointer, and the device comes from `cuDeviceGet`.
        self.check(&format!("making a context on {name}"), unsafe { (self.context_retain)(&mut context, device) })
    }

    /// Checks that cudarc finds no stub of a CUDA toolkit. cudarc asks the loader for another name than we do.
    fn check_what_cudarc_finds(&self) -> Result<(), Unusable> {
        // SAFETY: loading runs the library's initializers, which cudarc will run as well when it loads the same name.
        let Ok(library) = (unsafe { Library::new(NAME_FOR_CUDARC) }) else { return Ok(()) };
        type Init = unsafe extern "C" fn(c_uint) -> c_int;
        // SAFETY: the type is that of the function's declaration in cuda.h; only its address is used.
        let init = unsafe { library.get::<Init>("cuInit") }.map(|init| *init as *const c_void);
        if init.is_ok_and(|init| init == self.init as *const c_void) { Ok(()) } else { Err(Unusable::Stub) }
    }

    fn check(&self, what: &str, status: c_int) -> Result<(), Unusable> {
        match status {
            SUCCESS => Ok(()),
            NO_DEVICE => Err(Unusable::NoDevice),
            STUB_LIBRARY => Err(Unusable::Stub),
            _ => Err(broken(what, self.describe(status))),
        }
    }

    fn describe(&self, status: c_int) -> String {
        let mut name = std::ptr::null();
        // SAFETY: the pointer is to a live pointer, which the driver sets to a static string or to null.
        let found = unsafe { (self.error_name)(status, &mut name) };
        if found != SUCCESS || name.is_null() {
            return format!("CUDA error {status}");
        }
        // SAFETY: it is not null, so it is the NUL-terminated static string that the driver documents.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
}

fn broken(what: &str, reason: String) -> Unusable {
    Unusable::Broken { what: what.to_owned(), reason }
}

/// Returns true if the loader cannot find the library itself (not a dependency of it).
fn is_missing(reason: &str) -> bool {
    let asked =
        DRIVER_NAMES.iter().any(|name| reason.starts_with(&format!("{name}: cannot open shared object file: No such file")));
    asked || !cfg!(target_os = "linux")
}

/// Returns the driver's own release, which its kernel module reports on Linux.
fn driver_release() -> Option<String> {
    release_in(&std::fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

/// Returns the first release number in the kernel module's line about itself.
fn release_in(text: &str) -> Option<String> {
    let is_release = |word: &&str| {
        let numbers: Vec<&str> = word.split('.').collect();
        numbers.len() >= 2 && numbers.iter().all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    text.lines().next()?.split_whitespace().find(is_release).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_written_as_people_do() {
        assert_eq!(CudaVersion(12_000).to_string(), "12.0");
        assert_eq!(CudaVersion(11_080).to_string(), "11.8");
        assert_eq!(CudaVersion(13_010).to_string(), "13.1");
    }

    #[test]
    fn the_release_is_found_in_both_kinds_of_kernel_module() {
        let proprietary =
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  525.60.13  Wed Nov 30 06:39:21 UTC 2022\nGCC version: 12";
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n";
        assert_eq!(release_in(proprietary).as_deref(), Some("525.60.13"));
        assert_eq!(release_in(open).as_deref(), Some("580.65.06"));
        assert_eq!(release_in(""), None);
    }
}
