//! The caller's pointers.
//!
//! A function of CUDA relies on its caller: each pointer is null or points to what the API says. [`Ptr`] is such a pointer. Its field is
//! private, so it holds only what a C caller passed, or the address of a variable that outlives the call.

use std::ffi::{CStr, c_char};

use crate::error::{Code, Result};

/// A driver object's handle or a device address: a number that only the driver understands.
pub type Handle = usize;
pub type Address = u64;

/// A pointer that a C caller passed.
#[repr(transparent)]
#[derive(Debug)]
pub struct Ptr<T>(*mut T);

impl<T> Clone for Ptr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ptr<T> {}

impl<T> Ptr<T> {
    pub const NULL: Self = Self(std::ptr::null_mut());

    /// Points to a variable for a driver call. The call ends before the variable does.
    pub fn to(variable: &mut T) -> Self {
        Self(variable)
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    pub fn cast<U>(self) -> Ptr<U> {
        Ptr(self.0.cast())
    }

    /// Returns a pointer some bytes further on in the same structure.
    pub fn offset_bytes<U>(self, bytes: usize) -> Ptr<U> {
        Ptr(self.0.wrapping_byte_add(bytes).cast())
    }

    /// Refuses null.
    pub fn check(self) -> Result {
        if self.is_null() { Err(Code::INVALID_VALUE) } else { Ok(()) }
    }

    pub fn put(self, value: T) -> Result {
        self.check()?;
        // SAFETY: the C caller promises that a pointer that is not null is valid for writing what the API says. The field is private, so
        // there is no pointer from elsewhere.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Writes the result of a function. If the pointer is null, the function is not called.
    pub fn fill(self, value: impl FnOnce() -> Result<T>) -> Result {
        self.check()?;
        self.put(value()?)
    }

    /// Writes a result that the caller may leave out by passing null.
    pub fn put_if_asked(self, value: T) {
        let _ = self.put(value);
    }
}

impl<T: Default> Ptr<T> {
    /// Returns what a function of the driver writes.
    pub fn written(call: impl FnOnce(Self) -> Result) -> Result<T> {
        let mut value = T::default();
        call(Self::to(&mut value))?;
        Ok(value)
    }
}

impl<T: Copy> Ptr<T> {
    pub fn read(self) -> Result<T> {
        self.check()?;
        // SAFETY: the C caller promises that a pointer that is not null points to what the API says. The field is private, so there is no
        // pointer from elsewhere.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

impl Ptr<c_char> {
    /// Reads the caller's NUL-terminated text.
    pub fn text(self) -> Result<String> {
        self.check()?;
        // SAFETY: the C caller promises that the text ends with a NUL. The field is private, so there is no pointer from elsewhere.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }

    /// Points to text that a driver call only reads. The call ends before the text does.
    pub fn to_text(text: &CStr) -> Self {
        Self(text.as_ptr().cast_mut())
    }

    /// Points to text of the process's lifetime, for the caller to keep.
    pub fn to_static(text: &'static CStr) -> Self {
        Self(text.as_ptr().cast_mut())
    }
}
