//! The caller's pointers. The fields are private and there is no constructor: see the documentation of [`super`].

use std::ffi::{CStr, c_char, c_void};

use crate::result::{CuResult, Result, refuse};

/// A `CUdeviceptr` of device memory: a number, looked up among the allocations before anything is read there.
pub type DevicePtr = u64;

/// Where the caller wants one result.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// Null: the caller does not want this result.
    pub const NULL: Self = Self(std::ptr::null_mut());

    #[cfg(test)]
    pub fn to(target: &mut T) -> Self {
        Self(target)
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Refuses null. For functions that would otherwise have an effect before they notice.
    pub fn check(self) -> Result<()> {
        if self.0.is_null() { CuResult::INVALID_VALUE.err() } else { Ok(()) }
    }

    /// Writes a result and refuses null.
    pub fn put(self, value: T) -> Result<()> {
        self.check()?;
        self.put_if_asked(value);
        Ok(())
    }

    /// Refuses null, and then makes and writes a result. Making it may have an effect.
    pub fn put_made(self, make: impl FnOnce() -> Result<T>) -> Result<()> {
        self.check()?;
        self.put(make()?)
    }

    /// Writes a result that the caller may leave out by passing null.
    pub fn put_if_asked(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the C caller promises that a pointer that is not null is valid for writing what the API says, and only the C
            // caller's pointers get here, because the field is private.
            unsafe { self.0.write_unaligned(value) }
        }
    }

    pub fn nth(self, index: usize) -> Self {
        // Null stays null, so that it is still recognized.
        if self.0.is_null() { self } else { Self(self.0.wrapping_add(index)) }
    }

    /// Changes the type, for attributes whose type depends on their number.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// Reads from the same place, for arguments that are input and output.
    pub fn as_in(self) -> In<T> {
        In(self.0)
    }
}

impl Out<c_char> {
    /// Writes `text` and a NUL, truncated to `capacity` bytes.
    pub fn put_text(self, text: &str, capacity: usize) -> Result<()> {
        self.check()?;
        let Some(longest) = capacity.checked_sub(1) else { return CuResult::INVALID_VALUE.err() };
        for (index, byte) in text.bytes().take(longest).chain([0]).enumerate() {
            self.nth(index).put(byte as c_char)?;
        }
        Ok(())
    }
}

/// The place of the caller's value, or array of values.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    #[cfg(test)]
    pub fn from(source: &[T]) -> Self {
        Self(source.as_ptr())
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    /// Changes the type, for attributes whose type depends on their number.
    pub fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    pub fn read(self) -> Result<T> {
        self.read_nth(0)
    }

    pub fn read_nth(self, index: usize) -> Result<T> {
        refuse!(INVALID_VALUE if self.0.is_null());
        // SAFETY: the C caller promises that a pointer that is not null points to as many values as the API says, and only the C
        // caller's pointers get here, because the field is private.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    /// Reads the elements of an array.
    pub fn read_all(self, count: usize) -> Result<Vec<T>> {
        (0..count).map(|index| self.read_nth(index)).collect()
    }
}

/// The caller's NUL-terminated text.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn read(self) -> Result<String> {
        refuse!(INVALID_VALUE if self.0.is_null());
        // SAFETY: the C caller promises a NUL-terminated text, and only the C caller's pointers get here, because the field is private.
        let text = unsafe { CStr::from_ptr(self.0) };
        Ok(text.to_string_lossy().into_owned())
    }
}

/// The caller's bytes on the host. Another argument says how many there are.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostBytes(*mut c_void);

// SAFETY: a `HostBytes` is an address. What is there may be used in any thread, because the C caller promises for the memory, not for a
// thread: CUDA lets any thread launch a graph that another thread made.
unsafe impl Send for HostBytes {}
// SAFETY: a shared reference gives no more than a copy of the address.
unsafe impl Sync for HostBytes {}

impl HostBytes {
    pub const NULL: Self = Self(std::ptr::null_mut());

    pub fn as_ptr(self) -> *mut c_void {
        self.0
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> u64 {
        self.0 as u64
    }

    /// Returns the file descriptor that a handle of shared memory is.
    pub fn descriptor(self) -> Result<i32> {
        match i32::try_from(self.address()) {
            Ok(0) => {
                Err(CuResult::INVALID_VALUE.because("a null handle is not taken for file descriptor 0; duplicate the descriptor"))
            }
            Ok(descriptor) => Ok(descriptor),
            Err(_) => CuResult::INVALID_VALUE.err(),
        }
    }

    pub fn offset(self, bytes: usize) -> Self {
        Self(self.0.wrapping_byte_add(bytes))
    }

    pub fn read(self, bytes: usize) -> Result<Vec<u8>> {
        self.with(bytes, <[u8]>::to_vec)
    }

    /// Calls `look` with the bytes, without copying them.
    pub fn with<T>(self, bytes: usize, look: impl FnOnce(&[u8]) -> T) -> Result<T> {
        if bytes == 0 {
            return Ok(look(&[]));
        }
        refuse!(INVALID_VALUE if self.is_null());
        // SAFETY: the C caller promises that this many bytes can be read here until the call returns, and only the C caller's pointers
        // get here, because the field is private.
        Ok(look(unsafe { std::slice::from_raw_parts(self.0.cast(), bytes) }))
    }

    /// Calls `fill` to write the bytes in place.
    pub fn with_mut<T>(self, bytes: usize, fill: impl FnOnce(&mut [u8]) -> T) -> Result<T> {
        if bytes == 0 {
            return Ok(fill(&mut []));
        }
        refuse!(INVALID_VALUE if self.is_null());
        // SAFETY: the C caller promises that this many bytes can be written here until the call returns and that nobody else uses them
        // meanwhile; only the C caller's pointers get here, because the field is private.
        Ok(fill(unsafe { std::slice::from_raw_parts_mut(self.0.cast(), bytes) }))
    }

    /// Reads the address at an offset of the caller's structure.
    pub fn pointer_at(self, offset: usize) -> Result<Self> {
        let address = In::<*mut c_void>(self.0.wrapping_byte_add(offset).cast_const().cast());
        if self.is_null() { CuResult::INVALID_VALUE.err() } else { address.read().map(Self) }
    }

    /// Reads the bytes before the first NUL, but no more than `limit`.
    pub fn until_nul(self, limit: usize) -> Result<Vec<u8>> {
        refuse!(INVALID_VALUE if self.is_null());
        // SAFETY: the C caller promises that the bytes up to the first NUL can be read, and `strnlen` stops at that NUL. Only the C caller's
        // pointers get here, because the field is private.
        let length = unsafe { libc::strnlen(self.0.cast(), limit) };
        self.read(length)
    }
}

/// A `CUdeviceptr` that may be an address on the host. The C caller promises that an address outside the device's memory is one of its own.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnifiedPtr(u64);

impl UnifiedPtr {
    /// Returns the address as one of the device.
    pub fn device(self) -> DevicePtr {
        self.0
    }

    /// Returns the same address as bytes of the host.
    pub fn host(self) -> HostBytes {
        HostBytes(std::ptr::with_exposed_provenance_mut(self.0 as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_truncated_to_its_buffer_and_always_terminated() {
        let mut buffer = [1 as c_char; 4];
        Out::to(&mut buffer).cast::<c_char>().put_text("NVIDIA", 4).unwrap();
        assert_eq!(buffer.map(|c| c as u8), *b"NVI\0");
        assert!(Out::to(&mut buffer).cast::<c_char>().put_text("NVIDIA", 0).is_err());
    }

    #[test]
    fn text_is_read_up_to_its_nul_or_the_limit() {
        let text = HostBytes(b"abc\0def".as_ptr() as *mut c_void);
        assert_eq!(text.until_nul(100).unwrap(), b"abc");
        assert_eq!(text.until_nul(2).unwrap(), b"ab");
        assert!(HostBytes(std::ptr::null_mut()).until_nul(2).is_err());
    }
}
