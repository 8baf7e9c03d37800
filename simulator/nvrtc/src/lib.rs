//! NVRTC for programs that compile to machine code and load that: every call goes to NVIDIA's library, but `nvrtcGetCUBIN` returns the PTX of
//! the same compilation. Drivers load both by the same calls, and the simulator executes PTX only.
//!
//! - `compat`: the names that differ from one version to the next.
//! - `real`: finds NVIDIA's library.

mod compat;
mod real;

use std::ffi::{c_char, c_int, c_void};

use compat::nvrtc_functions;
pub use real::find;

/// `NVRTC_ERROR_INTERNAL_ERROR`, which every call returns without an NVRTC, after a message.
const NO_COMPILER: c_int = 11;
/// `NVRTC_SUCCESS`
const SUCCESS: c_int = 0;

type Program = *mut c_void;
type Texts = *const *const c_char;
/// The type of `nvrtcGetCUBINSize`.
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
/// The type of `nvrtcGetCUBIN`.
type Code = unsafe extern "C" fn(Program, *mut c_char) -> c_int;

/// Tells this library from NVIDIA's, by its name: the installer replaces no file without it.
#[unsafe(no_mangle)]
pub extern "C" fn simcuda_nvrtc_mark() {}

/// Defines functions that call NVIDIA's function of the same name.
macro_rules! forwarded {
    ($(fn $name:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            /// Calls NVIDIA's function of this name.
            ///
            /// # Safety
            ///
            /// The caller keeps what NVIDIA's function demands.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "the name is NVRTC's")]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
                // SAFETY: NVRTC's function of this name has this type, in every version that has it.
                let function = unsafe { real::function::<unsafe extern "C" fn($($type),*) -> c_int>(stringify!($name)) };
                // SAFETY: the caller keeps what NVIDIA's function demands.
                function.map_or(NO_COMPILER, |function| unsafe { function($($argument),*) })
            }
        )*
    };
}

nvrtc_functions!(forwarded);

/// Returns the text for an error.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is NVRTC's")]
pub extern "C" fn nvrtcGetErrorString(code: c_int) -> *const c_char {
    // SAFETY: the function of this name has this type in every version of NVRTC.
    let function = unsafe { real::function::<extern "C" fn(c_int) -> *const c_char>("nvrtcGetErrorString") };
    function.map_or(c"NVRTC_ERROR_INTERNAL_ERROR: there is no NVRTC".as_ptr(), |function| function(code))
}

/// Writes the PTX's size if NVIDIA's function would give machine code's size. It does so if the program was compiled for a real GPU.
///
/// # Safety
///
/// The caller keeps what NVIDIA's function demands.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is NVRTC's")]
pub unsafe extern "C" fn nvrtcGetCUBINSize(program: Program, size: *mut usize) -> c_int {
    // SAFETY: the function of this name has this type in every version of NVRTC.
    let Some(function) = (unsafe { real::function::<Size>("nvrtcGetCUBINSize") }) else { return NO_COMPILER };
    // SAFETY: the caller keeps what NVIDIA's function demands.
    let code = unsafe { function(program, size) };
    // SAFETY: the function succeeded, so it has written the size.
    if code != SUCCESS || unsafe { size.read() } == 0 {
        return code;
    }
    // SAFETY: the caller's promises for one size are those for the other.
    unsafe { nvrtcGetPTXSize(program, size) }
}

/// Writes the PTX, if NVIDIA's function would write machine code. A program that was compiled for `compute_80`, say, has none, and its caller
/// has no room for PTX.
///
/// # Safety
///
/// The caller keeps what NVIDIA's function demands, with the size that [`nvrtcGetCUBINSize`] gives.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is NVRTC's")]
pub unsafe extern "C" fn nvrtcGetCUBIN(program: Program, code: *mut c_char) -> c_int {
    // SAFETY: the functions of these names have these types in every version of NVRTC.
    let functions = unsafe { (real::function::<Size>("nvrtcGetCUBINSize"), real::function::<Code>("nvrtcGetCUBIN")) };
    let (Some(size_of), Some(write)) = functions else { return NO_COMPILER };
    let mut size = 0;
    // SAFETY: the program is the caller's, and the size has a place.
    let has_machine_code = unsafe { size_of(program, &mut size) } == SUCCESS && size > 0;
    // SAFETY: the caller has room for what `nvrtcGetCUBINSize` said: the PTX where there is machine code, and else what NVIDIA's function writes.
    unsafe { if has_machine_code { nvrtcGetPTX(program, code) } else { write(program, code) } }
}
