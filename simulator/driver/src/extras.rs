//! The exports that CUDA does not have: the other side of [`crate::client`].
//!
//! What crosses is JSON, so that client and library agree on names and not on the layout of structures. An answer goes into a buffer of
//! the caller's: asked with a null buffer, a function makes the answer and says how long it is; asked again with a buffer that is long
//! enough, it hands the answer over and forgets it.

use std::cell::RefCell;

use serde::Serialize;

use crate::error::{self, CuResult, Result, guard};
use crate::ffi::{HostBytes, Out};
use crate::settings::Settings;
use crate::state;

/// Changes with every change of what crosses, so that a client never misreads a library of another build.
pub const INTERFACE_VERSION: u32 = 3;

thread_local! {
    /// The answer that this thread has been told the length of.
    static ANSWER: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Hands over an answer in two steps; see the module's documentation.
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
        return CuResult::INVALID_VALUE.err();
    }
    length.put(answer.len())?;
    buffer.with_mut(answer.len(), |target| target.copy_from_slice(answer.as_bytes()))
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| CuResult::UNKNOWN.because(error.to_string()))
}

/// The version of these functions.
#[unsafe(no_mangle)]
pub extern "C" fn simcuda_interface_version() -> u32 {
    INTERFACE_VERSION
}

/// Changes settings: `text` holds [`Settings`] as JSON.
///
/// # Safety
///
/// `text` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simcuda_configure(text: HostBytes, length: usize) -> CuResult {
    guard(|| {
        let settings = text.with(length, |text| serde_json::from_slice::<Settings>(text))?;
        state::configure(settings.map_err(|error| CuResult::INVALID_VALUE.because(error.to_string()))?)?;
        state::attach();
        Ok(())
    })
}

/// Takes [`crate::records::Records`]: what was launched since they were last taken.
///
/// # Safety
///
/// `buffer` is null or has room for `capacity` bytes; `length` is valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simcuda_take_records(buffer: HostBytes, capacity: usize, length: Out<usize>) -> CuResult {
    guard(|| answer(buffer, capacity, length, || json(&std::mem::take(&mut *state::records()))))
}

/// Takes the reason of this thread's last failure that had one, as a JSON text or `null`.
///
/// # Safety
///
/// `buffer` is null or has room for `capacity` bytes; `length` is valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn simcuda_take_error(buffer: HostBytes, capacity: usize, length: Out<usize>) -> CuResult {
    guard(|| answer(buffer, capacity, length, || json(&error::take_last_reason())))
}
