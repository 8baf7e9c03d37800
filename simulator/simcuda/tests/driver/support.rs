//! Support that the tests share. With `SIMCUDA_TEST_GPU` set, they test the machine's own driver instead of the simulator: they demand what CUDA
//! does, so both must pass.

use std::process::Command;
use std::sync::Arc;

use cudarc::driver::sys::{CUcontext, CUresult};
use cudarc::driver::{CudaContext, CudaModule, sys};
use cudarc::nvrtc::Ptx;
use simcuda::client::Simulator;

pub const OK: CUresult = CUresult::CUDA_SUCCESS;

pub const VECTORS: &str = include_str!("../ptx/vectors.ptx");
pub const SHARED: &str = include_str!("../ptx/shared.ptx");
pub const INCREMENT: &str = include_str!("../ptx/increment.ptx");
pub const FAULTS: &str = include_str!("../ptx/faults.ptx");

/// Calls a function of the driver API by name.
macro_rules! cu {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: pointers are to live variables of the test, or null where the driver must refuse null. Handles may be anything, because
        // the driver looks them up.
        unsafe { cudarc::driver::sys::$function($($argument),*) }
    };
}

/// Asserts what functions of the driver API return: `returns! { cuInit(1) => CUDA_ERROR_INVALID_VALUE; }`.
macro_rules! returns {
    ($($function:ident($($argument:expr),* $(,)?) => $code:ident;)*) => {
        $(assert_eq!($crate::support::cu!($function($($argument),*)), cudarc::driver::sys::CUresult::$code, stringify!($function));)*
    };
}

pub(crate) use {cu, returns};

/// Returns true if the tests run on the machine's own driver.
pub fn on_gpu() -> bool {
    simcuda::variables::TEST_GPU.path().is_some()
}

/// Opens the simulator, if that is what is tested.
pub fn open() {
    if !on_gpu() {
        Simulator::open().unwrap();
    }
}

/// Returns the descriptor of the process's standard input as a memory handle. It is a copy, because a handle of zero is no handle for
/// NVIDIA's driver.
#[cfg(unix)]
pub fn inherited_handle() -> *mut std::ffi::c_void {
    use std::os::fd::{AsFd, IntoRawFd};

    let descriptor = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    descriptor.into_raw_fd() as usize as *mut std::ffi::c_void
}

/// Runs a test in a process of its own. It is for what a process can do only once, for what it has only one of, and for what is over after
/// a fault.
pub fn in_own_process(test: impl FnOnce()) {
    run_alone(std::any::type_name_of_val(&test), test);
}

/// Runs a test with the simulator, in a process of its own. Skips it on a GPU. Returns what that process has printed; nothing inside of it.
pub fn with_simulator(test: impl FnOnce(&'static Simulator)) -> String {
    if on_gpu() {
        eprintln!("skipped: this test needs the simulator");
        return String::new();
    }
    run_alone(std::any::type_name_of_val(&test), || test(Simulator::open().unwrap()))
}

/// Starts this executable again for just one test. The child process then runs the test. A closure's type is named after the function
/// that contains it, `driver::client::a_launch_is_recorded::{{closure}}`, which is the name of the test.
fn run_alone(closure: &str, test: impl FnOnce()) -> String {
    const CHILD: &str = "SIMCUDA_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        test();
        return String::new();
    }
    let name = closure.split_once("::").and_then(|(_, name)| name.strip_suffix("::{{closure}}"));
    let name = name.unwrap_or_else(|| panic!("{closure} is not a closure in a test function"));
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.args(["--exact", name, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    // Without the second condition, a name that matches no test would pass.
    assert!(output.status.success() && text.contains("test result: ok. 1 passed"), "{name} in a process of its own:\n{text}");
    text
}

/// Makes the test's own context and makes it current on this thread. So no test can break another's context.
pub fn own_context() -> Arc<CudaContext> {
    open();
    CudaContext::new_non_primary(0, 0).unwrap()
}

/// Makes the test's own context without cudarc's safe layer. That layer would run into a fault again on every drop.
pub fn raw_context() -> CUcontext {
    open();
    let mut context = std::ptr::null_mut();
    returns! {
        cuInit(0) => CUDA_SUCCESS;
        cuCtxCreate_v2(&mut context, 0, 0) => CUDA_SUCCESS;
    }
    context
}

pub fn load(context: &Arc<CudaContext>, ptx: &str) -> Arc<CudaModule> {
    context.load_module(Ptx::from_src(ptx)).unwrap()
}

/// Loads a module and finds its function, without cudarc's safe layer.
pub fn raw_function(ptx: &str, name: &std::ffi::CStr) -> (sys::CUmodule, sys::CUfunction) {
    let text = std::ffi::CString::new(ptx).unwrap();
    let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
    returns! {
        cuModuleLoadData(&mut module, text.as_ptr().cast()) => CUDA_SUCCESS;
        cuModuleGetFunction(&mut function, module, name.as_ptr()) => CUDA_SUCCESS;
    }
    (module, function)
}

/// Returns a handle that no driver ever made.
pub fn garbage<T>() -> *mut T {
    0x0dea_dbee_fbad_f00d_usize as *mut T
}
