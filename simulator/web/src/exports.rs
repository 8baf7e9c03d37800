//! The functions that JavaScript calls. Bytes cross through one buffer for what comes in and one for what goes out.
//!
//! A panic or an allocation that fails ends the module with a trap, after which its memory can still be read: [`last_words`] says why. The page then
//! replaces the worker.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::Session;
use crate::answer::{Answer, Failure};

#[derive(Default)]
struct State {
    session: Session,
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    static LAST_WORDS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes room for this many bytes of input, and returns their address.
// SAFETY: no other symbol of the module has this name; the same holds for each function below.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input.clear();
        state.input.resize(bytes, 0);
        state.input.as_mut_ptr()
    })
}

/// Executes the request in the input. Its answer is in the output.
#[unsafe(no_mangle)]
pub extern "C" fn call() {
    note_panics();
    STATE.with_borrow_mut(|state| state.output = state.session.call(&state.input).into_bytes());
}

/// Passes the input to a function, and outputs what it returns. For modules that can do more than this one.
pub fn answer(work: fn(&[u8]) -> Vec<u8>) {
    note_panics();
    STATE.with_borrow_mut(|state| state.output = work(&state.input));
}

fn note_panics() {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| std::panic::set_hook(Box::new(|panic| LAST_WORDS.set(panic.to_string()))));
}

/// Writes the input into a buffer. The output is empty, or says what is wrong.
#[unsafe(no_mangle)]
pub extern "C" fn upload(buffer: usize, offset: f64) {
    STATE.with_borrow_mut(|state| {
        let outcome = state.session.upload(buffer, offset as u64, &state.input);
        state.output = outcome.map(|()| Vec::new()).unwrap_or_else(failed);
        state.input = Vec::new();
    });
}

/// Reads bytes of a buffer into the output, and returns 1. If it returns 0, the output says what is wrong.
#[unsafe(no_mangle)]
pub extern "C" fn download(buffer: usize, offset: f64, bytes: f64) -> u32 {
    STATE.with_borrow_mut(|state| {
        let outcome = state.session.download(buffer, offset as u64, bytes as u64);
        let is_ok = outcome.is_ok();
        state.output = outcome.unwrap_or_else(failed);
        is_ok.into()
    })
}

/// Returns the address of the output.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// Returns its length.
#[unsafe(no_mangle)]
pub extern "C" fn output_bytes() -> usize {
    STATE.with_borrow(|state| state.output.len())
}

/// Returns the address of the panic's message, after a trap.
#[unsafe(no_mangle)]
pub extern "C" fn last_words() -> *const u8 {
    LAST_WORDS.with_borrow(|words| words.as_ptr())
}

/// Returns its length.
#[unsafe(no_mangle)]
pub extern "C" fn last_words_bytes() -> usize {
    LAST_WORDS.with_borrow(|words| words.len())
}

/// Returns the size of the failed allocation after a trap, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn bytes_refused() -> usize {
    REFUSED.load(Relaxed)
}

fn failed(error: Failure) -> Vec<u8> {
    serde_json::to_vec(&Answer::Failed { error: Box::new(error) }).expect("errors hold nothing that JSON cannot")
}

/// The system's allocator, which also notes the size of a failed allocation: the trap that may follow says nothing.
struct Noting;

static REFUSED: AtomicUsize = AtomicUsize::new(0);

fn note(pointer: *mut u8, bytes: usize) -> *mut u8 {
    REFUSED.store(if pointer.is_null() { bytes } else { 0 }, Relaxed);
    pointer
}

// SAFETY: every call goes to the system's allocator as it is; what is noted beside it does not allocate.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is the same there.
        note(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same there.
        note(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`, which is the same there.
        note(unsafe { System.realloc(pointer, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, which is the same there.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Noting = Noting;
