//! How a function leaves the library: the macro that defines exports, and what every export does before it returns.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::driver;
use crate::result::{CuResult, Failure, Result};

pub struct Export {
    pub name: &'static str,
    pub address: *const (),
    /// The form for programs whose default stream is each thread's: name, address.
    pub per_thread: Option<(&'static str, *const ())>,
}

thread_local! {
    /// The reason of this thread's last failure. Each thread has its own, because a program asks for the reason on the thread that
    /// made the call.
    static LAST_REASON: RefCell<Option<String>> = const { RefCell::new(None) };
    /// True if this call's default stream is that of this thread.
    static DEFAULT_IS_PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call whose default stream is that of this thread.
pub fn with_per_thread_default(call: impl FnOnce() -> CuResult) -> CuResult {
    DEFAULT_IS_PER_THREAD.set(true);
    let result = call();
    DEFAULT_IS_PER_THREAD.set(false);
    result
}

pub fn default_is_per_thread() -> bool {
    DEFAULT_IS_PER_THREAD.get()
}

/// Runs the body of a function of CUDA. If the simulator does not have what the caller wants, the function is named in the report.
pub fn call(function: &str, body: impl FnOnce() -> Result<()>) -> CuResult {
    named(function, &mut once(body))
}

/// Turns the body into one that any caller can take by reference. The code of the callers is compiled once, not for each function.
fn once(body: impl FnOnce() -> Result<()>) -> impl FnMut() -> Result<()> {
    let mut body = Some(body);
    move || body.take().map_or(Ok(()), |body| body())
}

fn named(function: &str, body: &mut dyn FnMut() -> Result<()>) -> CuResult {
    guarded(&mut || {
        body().map_err(|failure| if failure.code == CuResult::NOT_SUPPORTED { refused(function, failure) } else { failure })
    })
}

/// Adds the function's name to the reason. A program that sees only 801 cannot tell which of its calls failed.
fn refused(function: &str, failure: Failure) -> Failure {
    let reason = failure.reason.as_deref().unwrap_or("not supported by the simulator");
    let failure = failure.code.because(format!("{function}: {reason}"));
    if let Ok(driver) = driver::driver() {
        driver.reporter.note_missing(&failure);
    }
    failure
}

/// Runs the body of an export. A panic must not reach the C caller, because Rust must not unwind the caller's stack.
pub fn guard(body: impl FnOnce() -> Result<()>) -> CuResult {
    guarded(&mut once(body))
}

fn guarded(body: &mut dyn FnMut() -> Result<()>) -> CuResult {
    // While a process ends, its global objects may still call, after what belongs to the thread is gone.
    if LAST_REASON.try_with(|_| ()).is_err() {
        return CuResult::DEINITIALIZED;
    }
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return CuResult::SUCCESS,
        Ok(Err(failure)) => failure,
        Err(panic) => CuResult::UNKNOWN.because(format!("internal error in the simulated driver: {}", panic_text(&*panic))),
    };
    if let Some(reason) = failure.reason {
        LAST_REASON.set(Some(reason));
    }
    failure.code
}

/// Takes the reason of this thread's last failure that had one.
pub fn take_last_reason() -> Option<String> {
    LAST_REASON.take()
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

/// Defines exported functions, some of which have several names. The body is an expression of type [`Result`]`<()>`: a block, or a single
/// expression after `=>`. The macro gives it the C interface, keeps panics from crossing it, and lists the function for `cuGetProcAddress`.
/// A function with a suffix after `also` has a second form under that suffix, for which the default stream is that of each thread.
///
/// Each function is `unsafe` for one reason: it is called from C. The caller promises that its pointers are null or point to what the
/// CUDA driver API says. The argument types in [`crate::ffi`] rely on that promise.
macro_rules! exports {
    ($(
        $(#[$meta:meta])* fn $($name:ident)|+($($arguments:tt)*) $(also $suffix:literal)? $($body:block)? $(=> $value:expr;)?
    )*) => {
        $($crate::export::functions! { { $(#[$meta])* } [$($name)+] ($($arguments)*) ($($body)? $($value)?) })*

        /// The functions that this module exports.
        pub const EXPORTS: &[&[$crate::export::Export]] =
            &[$($crate::export::entries!([$($name)+] ($($arguments)*) [$($suffix)?])),*];
    };
}

macro_rules! functions {
    ($meta:tt [$($name:ident)+] $arguments:tt $body:tt) => {
        $($crate::export::function! { $meta $name $arguments $body })+
    };
}

macro_rules! function {
    ({ $($meta:tt)* } $name:ident($($argument:ident: $type:ty),* $(,)?) ($body:expr)) => {
        $($meta)*
        #[allow(non_snake_case, reason = "the name is the C API's")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $crate::result::CuResult {
            $crate::export::call(stringify!($name), move || $body)
        }
    };
}

macro_rules! entries {
    ([$($name:ident)+] $arguments:tt $suffix:tt) => {
        &[$($crate::export::Export {
            name: stringify!($name),
            address: $name as *const (),
            per_thread: $crate::export::per_thread!($name $arguments $suffix),
        }),+]
    };
}

/// Defines the form of a function for threads' default streams, if any.
macro_rules! per_thread {
    ($name:ident $arguments:tt []) => { None };
    ($name:ident($($argument:ident: $type:ty),* $(,)?) [$suffix:literal]) => {{
        #[unsafe(export_name = concat!(stringify!($name), $suffix))]
        unsafe extern "C" fn form($($argument: $type),*) -> $crate::result::CuResult {
            // SAFETY: the caller promises for this form what the other one demands, because the arguments are the same.
            $crate::export::with_per_thread_default(|| unsafe { $name($($argument),*) })
        }
        Some((concat!(stringify!($name), $suffix), form as *const ()))
    }};
}

pub(crate) use {entries, exports, function, functions, per_thread};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_unknown_error_with_its_message() {
        assert_eq!(guard(|| panic!("boom {}", 7)), CuResult::UNKNOWN);
        assert_eq!(take_last_reason().unwrap(), "internal error in the simulated driver: boom 7");
        assert_eq!(take_last_reason(), None);
    }

    #[test]
    fn a_failure_without_a_reason_keeps_the_last_reason() {
        guard(|| Err(CuResult::INVALID_PTX.because("line 3")));
        assert_eq!(guard(|| CuResult::INVALID_VALUE.err()), CuResult::INVALID_VALUE);
        assert_eq!(take_last_reason().unwrap(), "line 3");
    }
}
