//! The errors of the runtime, and which one each thread saw last.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::OnceLock;

/// A `cudaError_t`. The runtime shares most numbers with the driver, so what the driver returns is passed on.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub u32);

pub type Result<T = ()> = std::result::Result<T, Code>;

impl Code {
    pub const SUCCESS: Self = Self(0);
    pub const INVALID_VALUE: Self = Self(1);
    pub const UNLOADING: Self = Self(4);
    pub const INVALID_CONFIGURATION: Self = Self(9);
    pub const INVALID_PITCH: Self = Self(12);
    pub const INVALID_SYMBOL: Self = Self(13);
    pub const INVALID_CHANNEL_DESCRIPTOR: Self = Self(20);
    pub const INVALID_MEMCPY_DIRECTION: Self = Self(21);
    pub const INVALID_FILTER_SETTING: Self = Self(26);
    pub const INSUFFICIENT_DRIVER: Self = Self(35);
    pub const CALL_REQUIRES_NEWER_DRIVER: Self = Self(36);
    pub const MISSING_CONFIGURATION: Self = Self(52);
    pub const INVALID_DEVICE_FUNCTION: Self = Self(98);
    pub const INVALID_DEVICE: Self = Self(101);
    pub const PEER_ACCESS_UNSUPPORTED: Self = Self(217);
    pub const INVALID_RESOURCE_HANDLE: Self = Self(400);
    pub const SYMBOL_NOT_FOUND: Self = Self(500);
    pub const NOT_READY: Self = Self(600);
    pub const NOT_SUPPORTED: Self = Self(801);
    pub const UNKNOWN: Self = Self(999);

    /// Returns the error's name and NVIDIA's description of it.
    pub fn texts(self) -> Option<&'static (CString, CString)> {
        static TEXTS: OnceLock<BTreeMap<u32, (CString, CString)>> = OnceLock::new();
        TEXTS.get_or_init(|| include_str!("nvidia_errors.txt").lines().filter_map(read_line).collect()).get(&self.0)
    }

    /// Returns true if the error sticks: every later call returns it until the device is reset.
    fn is_sticky(self) -> bool {
        matches!(self.0, 700 | 702 | 710 | 714..=719 | 721)
    }
}

/// Reads a line such as `1|cudaErrorInvalidValue|invalid argument`.
fn read_line(line: &str) -> Option<(u32, (CString, CString))> {
    let (code, rest) = line.split_once('|')?;
    let (name, text) = rest.split_once('|')?;
    Some((code.parse().ok()?, (CString::new(name).ok()?, CString::new(text).ok()?)))
}

thread_local! {
    static LAST: Cell<Code> = const { Cell::new(Code::SUCCESS) };
}

/// Remembers a failure as this thread's last, and returns its code.
pub fn record(result: Result) -> Code {
    match result {
        Ok(()) => Code::SUCCESS,
        // What is merely not done yet is no failure.
        Err(Code::NOT_READY) => Code::NOT_READY,
        Err(code) => {
            LAST.set(code);
            code
        }
    }
}

/// Returns this thread's last failure.
pub fn last() -> Code {
    LAST.get()
}

/// Returns this thread's last failure and forgets it, unless it sticks.
pub fn take_last() -> Code {
    let code = LAST.get();
    if !code.is_sticky() {
        LAST.set(Code::SUCCESS);
    }
    code
}

/// Forgets this thread's last failure, because the device was reset.
pub fn forget() {
    LAST.set(Code::SUCCESS);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_names_and_the_texts_of_nvidia() {
        let of = |code| Code(code).texts().map(|(name, text)| (name.to_str().unwrap(), text.to_str().unwrap()));
        assert_eq!(of(0), Some(("cudaSuccess", "no error")));
        assert_eq!(of(700), Some(("cudaErrorIllegalAddress", "an illegal memory access was encountered")));
        assert_eq!(of(10), None);
    }

    #[test]
    fn the_last_failure_is_taken_once_unless_it_sticks() {
        assert_eq!(record(Err(Code::INVALID_VALUE)), Code::INVALID_VALUE);
        record(Ok(()));
        assert_eq!((last(), take_last(), take_last()), (Code::INVALID_VALUE, Code::INVALID_VALUE, Code::SUCCESS));
        record(Err(Code(700)));
        assert_eq!((take_last(), take_last()), (Code(700), Code(700)));
        forget();
        assert_eq!(last(), Code::SUCCESS);
    }
}
