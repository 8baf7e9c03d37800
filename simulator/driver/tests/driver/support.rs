//! What the tests share. With `SIMCUDA_TEST_GPU` set they leave the simulator alone and test the machine's own driver: what they demand
//! is what CUDA does, so both must pass.

use std::sync::Arc;

use cudarc::driver::sys::{CUcontext, CUresult};
use cudarc::driver::{CudaContext, CudaModule, sys};
use cudarc::nvrtc::Ptx;

pub const OK: CUresult = CUresult::CUDA_SUCCESS;

pub const VECTORS: &str = include_str!("../ptx/vectors.ptx");
pub const SHARED: &str = include_str!("../ptx/shared.ptx");
pub const FAULTS: &str = include_str!("../ptx/faults.ptx");

/// Calls a function of the driver API by its name.
macro_rules! cu {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: pointers are to live variables of the test, or null where the driver must refuse null; handles may be anything, since
        // it is the driver's part to look them up.
        unsafe { cudarc::driver::sys::$function($($argument),*) }
    };
}

/// Asserts what functions of the driver API return: `returns!(cuInit(1) => CUDA_ERROR_INVALID_VALUE)`.
macro_rules! returns {
    ($($function:ident($($argument:expr),* $(,)?) => $code:ident;)*) => {
        $(assert_eq!($crate::support::cu!($function($($argument),*)), cudarc::driver::sys::CUresult::$code, stringify!($function));)*
    };
}

#[allow(unused_imports, reason = "not every test uses both")]
pub(crate) use {cu, returns};

/// Whether the tests run on the machine's own driver.
pub fn on_gpu() -> bool {
    std::env::var_os("SIMCUDA_TEST_GPU").is_some()
}

/// Opens the simulator, where that is what is tested.
pub fn open() {
    if !on_gpu() {
        simcuda::client::Simulator::open().unwrap();
    }
}

/// A context of the test's own, current on this thread, so that what one test breaks is not another's.
pub fn own_context() -> Arc<CudaContext> {
    open();
    CudaContext::new_non_primary(0, 0).unwrap()
}

/// A context of the test's own without the safe layer, which would meet a fault again on every drop.
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

/// A module and a function of it, without the safe layer.
pub fn raw_function(ptx: &str, name: &std::ffi::CStr) -> (sys::CUmodule, sys::CUfunction) {
    let text = std::ffi::CString::new(ptx).unwrap();
    let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
    returns! {
        cuModuleLoadData(&mut module, text.as_ptr().cast()) => CUDA_SUCCESS;
        cuModuleGetFunction(&mut function, module, name.as_ptr()) => CUDA_SUCCESS;
    }
    (module, function)
}

/// A handle that was never given out.
pub fn garbage<T>() -> *mut T {
    0x0dea_dbee_fbad_f00d_usize as *mut T
}
