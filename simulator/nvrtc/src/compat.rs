//! The lists that a new version of CUDA makes longer.
//!
//! CUDA 14: add the name of its library to [`NAMES`], and its new functions to [`nvrtc_functions`].

/// The names of NVIDIA's library. That of CUDA 12 comes first, which is the version of the simulated driver. CUDA 14: `libnvrtc.so.14`.
pub const NAMES: [&str; 3] = ["libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so"];

/// The folders of toolkits, and those in which distributions put them.
pub const FOLDERS: [&str; 4] = ["/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];

/// Passes NVRTC's functions to a macro, except those that this library implements. CUDA 14: its new functions. A program that calls a
/// function that is not here does not load.
macro_rules! nvrtc_functions {
    ($define:ident) => {
        $define! {
            fn nvrtcVersion(major: *mut c_int, minor: *mut c_int);
            fn nvrtcGetNumSupportedArchs(count: *mut c_int);
            fn nvrtcGetSupportedArchs(all: *mut c_int);
            fn nvrtcCreateProgram(
                program: *mut Program, source: *const c_char, name: *const c_char, count: c_int, headers: Texts, names: Texts
            );
            fn nvrtcDestroyProgram(program: *mut Program);
            fn nvrtcCompileProgram(program: Program, count: c_int, options: Texts);
            fn nvrtcGetPTXSize(program: Program, size: *mut usize);
            fn nvrtcGetPTX(program: Program, ptx: *mut c_char);
            fn nvrtcGetNVVMSize(program: Program, size: *mut usize);
            fn nvrtcGetNVVM(program: Program, code: *mut c_char);
            fn nvrtcGetLTOIRSize(program: Program, size: *mut usize);
            fn nvrtcGetLTOIR(program: Program, code: *mut c_char);
            fn nvrtcGetOptiXIRSize(program: Program, size: *mut usize);
            fn nvrtcGetOptiXIR(program: Program, code: *mut c_char);
            fn nvrtcGetProgramLogSize(program: Program, size: *mut usize);
            fn nvrtcGetProgramLog(program: Program, log: *mut c_char);
            fn nvrtcAddNameExpression(program: Program, expression: *const c_char);
            fn nvrtcGetLoweredName(program: Program, expression: *const c_char, name: *mut *const c_char);
            fn nvrtcGetPCHHeapSize(size: *mut usize);
            fn nvrtcSetPCHHeapSize(size: usize);
            fn nvrtcGetPCHCreateStatus(program: Program);
            fn nvrtcGetPCHHeapSizeRequired(program: Program, size: *mut usize);
            fn nvrtcSetFlowCallback(program: Program, callback: *const c_void, payload: *mut c_void);
        }
    };
}

pub(crate) use nvrtc_functions;
