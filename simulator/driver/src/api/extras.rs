//! The exports that CUDA does not have: the other side of [`crate::client`].
//!
//! Data crosses as JSON, so that client and library agree on names and not on the layout of structures. The caller provides the buffer for
//! an answer. With a null buffer, a function makes the answer and returns its length. With a buffer that is long enough, the next call
//! writes the answer and forgets it.

use std::cell::RefCell;

use serde::Serialize;

use super::prelude::*;
use crate::driver;
use crate::export::{guard, take_last_reason};
use crate::interface;
use crate::settings::Settings;

thread_local! {
    /// The answer whose length this thread knows. Each thread has its own, because two calls on one thread make one answer.
    static ANSWER: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Returns an answer in two steps. See the module's documentation.
fn answer(buffer: HostBytes, capacity: usize, length: Out<usize>, make: impl FnOnce() -> Result<String>) -> Result<()> {
    length.check()?;
    if buffer.is_null() {
        let answer = make()?;
        length.put(answer.len())?;
        ANSWER.set(Some(answer));
        return Ok(());
    }
    let answer = ANSWER.take().ok_or(CuResult::ILLEGAL_STATE)?;
    if capacity < answer.len() {
        ANSWER.set(Some(answer));
        refuse!(INVALID_VALUE);
    }
    length.put(answer.len())?;
    buffer.with_mut(answer.len(), |target| target.copy_from_slice(answer.as_bytes()))
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| CuResult::UNKNOWN.because(error.to_string()))
}

/// These functions, by name.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn ours() -> Vec<(&'static str, *const ())> {
    vec![
        (interface::VERSION_EXPORT, simcuda_interface_version as *const ()),
        ("simcuda_configure", simcuda_configure as *const ()),
        ("simcuda_record_apart", simcuda_record_apart as *const ()),
        ("simcuda_take_records", simcuda_take_records as *const ()),
        ("simcuda_take_error", simcuda_take_error as *const ()),
        ("simcuda_report", simcuda_report as *const ()),
    ]
}

/// Returns the version of these functions.
#[unsafe(no_mangle)]
pub extern "C" fn simcuda_interface_version() -> u32 {
    interface::VERSION
}

/// Changes settings: `text` holds [`Settings`] as JSON.
///
/// # Safety
///
/// The caller passes a `text` that points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simcuda_configure(text: HostBytes, length: usize) -> CuResult {
    guard(|| {
        let settings = text.with(length, |text| serde_json::from_slice::<Settings>(text))?;
        driver::configure(settings.map_err(|error| CuResult::INVALID_VALUE.because(error.to_string()))?)
    })
}

/// Records the launches of this thread apart from now on.
#[unsafe(no_mangle)]
pub extern "C" fn simcuda_record_apart() -> CuResult {
    guard(|| {
        driver::record_apart();
        Ok(())
    })
}

/// Defines the functions that return an [`answer`].
macro_rules! answers {
    ($($(#[$doc:meta])* $name:ident = $answer:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The caller passes a `buffer` that is null or has space for `capacity` bytes, and a `length` that is valid for writing.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(buffer: HostBytes, capacity: usize, length: Out<usize>) -> CuResult {
                guard(|| answer(buffer, capacity, length, || json(&$answer)))
            }
        )*
    };
}

answers! {
    /// Takes the [`Records`](crate::records::Records) of the launches since they were last taken: those of this thread if it records them
    /// apart.
    simcuda_take_records = driver::take_records();

    /// Takes the reason of this thread's last failure, as a JSON text or `null`.
    simcuda_take_error = take_last_reason();

    /// Returns the [`Report`](crate::report::Report) of the process so far, empty before `cuInit`. The plugin for pytest compares what it
    /// says before and after a test.
    simcuda_report = driver::report();
}
