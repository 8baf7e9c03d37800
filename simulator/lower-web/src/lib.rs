//! `lower` as a WebAssembly module of its own, so that pages without an editor need not load it.
//!
//! `js/cuda.js` calls it: the text of a module of LLVM IR goes in, and PTX or the reason why there is none comes out.

use std::cell::RefCell;

use lower::{Options, lower};

/// The header that gives clang the names of CUDA; its lines count for the lines that use it.
const HEADER: &str = "cuda.h";

/// Makes PTX for a compute capability (times ten) from a module of LLVM IR.
///
/// # Errors
///
/// The IR has something that is not supported; the message has the line of CUDA as NVRTC writes it.
pub fn ptx_of(ir: &[u8], target: u32) -> Result<String, String> {
    let text = str::from_utf8(ir).map_err(|error| error.to_string())?;
    let options = Options { target, hidden: Some(HEADER.to_owned()), ..Options::default() };
    lower(text, &options).map_err(|error| match &error.source {
        Some(place) => format!("{}({}): error: {}", place.file, place.line, error.message),
        None => format!("error: {error}"),
    })
}

#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: String,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Makes room for this many bytes of input, and returns their address.
// SAFETY: no other symbol of the module has this name; the same holds for each function below.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input.clear();
        state.input.resize(bytes, 0);
        state.input.as_mut_ptr()
    })
}

/// Lowers the input for a compute capability, times ten. Returns 1 if the output is PTX, and 0 if it says why there is none.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn ptx(target: u32) -> u32 {
    STATE.with_borrow_mut(|state| {
        let outcome = ptx_of(&state.input, target);
        let is_done = outcome.is_ok();
        state.output = outcome.unwrap_or_else(|reason| reason);
        is_done.into()
    })
}

/// Returns the address of the output.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// Returns its length.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn output_bytes() -> usize {
    STATE.with_borrow(|state| state.output.len())
}
