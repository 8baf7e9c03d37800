//! What crosses the C boundary: handles, pointers of the caller's, and the structures of the CUDA driver API that we read.
//!
//! The pointer types carry the caller's promise. A C caller of a CUDA function promises that each pointer argument is null or
//! points to what the API says; [`Out`], [`In`], [`Text`] and [`HostBytes`] can be made from nothing else than such an argument, so
//! the promise is stated once, here, and their methods check for null and are safe to call.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::error::{CuResult, Result};

/// An opaque handle (`CUcontext`, `CUstream`, …): a token that is looked up in a table and never followed as a pointer.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(pub usize);

impl Handle {
    pub const NULL: Self = Self(0);
}

/// A `CUdevice`: the ordinal of a device.
pub type DeviceId = c_int;

/// A `CUdeviceptr`.
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
    #[cfg(test)]
    pub fn to(target: &mut T) -> Self {
        Self(target)
    }

    /// The place that is none.
    pub const NULL: Self = Self(std::ptr::null_mut());

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Refuses null; for functions that would otherwise do something before they find out.
    pub fn check(self) -> Result<()> {
        if self.0.is_null() { CuResult::INVALID_VALUE.err() } else { Ok(()) }
    }

    pub fn put(self, value: T) -> Result<()> {
        self.check()?;
        self.put_if_asked(value);
        Ok(())
    }

    /// For results that the caller may leave out by passing null.
    pub fn put_if_asked(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the C caller promised that a pointer that is not null is valid for writing a `T`.
            unsafe { self.0.write_unaligned(value) }
        }
    }

    /// The place of the `index`-th element, where the caller gave an array.
    pub fn nth(self, index: usize) -> Self {
        // Never followed when the array is null, because null stays null.
        if self.0.is_null() { self } else { Self(self.0.wrapping_add(index)) }
    }

    /// The same place seen as another type, for attributes whose type depends on their number.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// The same place to read from, for arguments that go both ways.
    pub fn as_in(self) -> In<T> {
        In(self.0)
    }
}

impl Out<c_char> {
    /// Writes `text` and a NUL into a buffer of `capacity` bytes, cut where it does not fit.
    pub fn put_text(self, text: &str, capacity: usize) -> Result<()> {
        self.check()?;
        let Some(room) = capacity.checked_sub(1) else { return CuResult::INVALID_VALUE.err() };
        for (index, byte) in text.bytes().take(room).chain([0]).enumerate() {
            self.nth(index).put(byte as c_char)?;
        }
        Ok(())
    }
}

/// Where the caller keeps a value, or an array of values, that we read.
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

    /// The same place seen as another type, for attributes whose type depends on their number.
    pub fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    pub fn read(self) -> Result<T> {
        self.read_nth(0)
    }

    /// The `index`-th element, where the API says that the caller's array has so many.
    pub fn read_nth(self, index: usize) -> Result<T> {
        if self.0.is_null() {
            return CuResult::INVALID_VALUE.err();
        }
        // SAFETY: the C caller promised that a pointer that is not null points to as many `T` as the API says.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }
}

/// A NUL-terminated text of the caller's.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    pub fn read(self) -> Result<String> {
        if self.0.is_null() {
            return CuResult::INVALID_VALUE.err();
        }
        // SAFETY: the C caller promised a NUL-terminated text.
        let text = unsafe { CStr::from_ptr(self.0) };
        Ok(text.to_string_lossy().into_owned())
    }
}

/// Bytes of the caller's, of a length that another argument says.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostBytes(pub *mut c_void);

impl HostBytes {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> u64 {
        self.0 as u64
    }

    /// The place `bytes` further on.
    pub fn offset(self, bytes: usize) -> Self {
        Self(self.0.wrapping_byte_add(bytes))
    }

    pub fn read(self, bytes: usize) -> Result<Vec<u8>> {
        self.with(bytes, <[u8]>::to_vec)
    }

    /// Lets `look` see the bytes where they are.
    pub fn with<T>(self, bytes: usize, look: impl FnOnce(&[u8]) -> T) -> Result<T> {
        if bytes == 0 {
            return Ok(look(&[]));
        }
        if self.is_null() {
            return CuResult::INVALID_VALUE.err();
        }
        // SAFETY: the C caller promised that so many bytes can be read here for the length of the call.
        Ok(look(unsafe { std::slice::from_raw_parts(self.0.cast(), bytes) }))
    }

    /// Lets `fill` write the bytes where they are.
    pub fn with_mut<T>(self, bytes: usize, fill: impl FnOnce(&mut [u8]) -> T) -> Result<T> {
        if bytes == 0 {
            return Ok(fill(&mut []));
        }
        if self.is_null() {
            return CuResult::INVALID_VALUE.err();
        }
        // SAFETY: the C caller promised that so many bytes can be written here for the length of the call, by nobody else.
        Ok(fill(unsafe { std::slice::from_raw_parts_mut(self.0.cast(), bytes) }))
    }

    /// The bytes up to a NUL, or the first `limit` of them when there is none so soon.
    pub fn until_nul(self, limit: usize) -> Result<Vec<u8>> {
        if self.is_null() {
            return CuResult::INVALID_VALUE.err();
        }
        let start: *const u8 = self.0.cast();
        // SAFETY: the C caller promised that the bytes up to a NUL can be read, and no byte after the first NUL is looked at.
        let length = (0..limit).take_while(|&index| unsafe { *start.add(index) } != 0).count();
        self.read(length)
    }
}

/// A function of the caller's that runs on the host (`CUhostFn`).
pub type HostFn = unsafe extern "C" fn(*mut c_void);
/// A function of the caller's that runs after a stream's work (`CUstreamCallback`).
pub type StreamCallback = unsafe extern "C" fn(Handle, CuResult, *mut c_void);
/// Dynamic shared memory as a function of the block size (`CUoccupancyB2DSize`).
pub type SharedBytesOfBlock = unsafe extern "C" fn(c_int) -> usize;

/// `CUuuid`.
#[repr(transparent)]
pub struct Uuid(pub [u8; 16]);

/// `CUdevprop`.
#[repr(C)]
pub struct DeviceProperties {
    pub max_threads_per_block: c_int,
    pub max_threads_dim: [c_int; 3],
    pub max_grid_size: [c_int; 3],
    pub shared_mem_per_block: c_int,
    pub total_constant_memory: c_int,
    pub simd_width: c_int,
    pub mem_pitch: c_int,
    pub regs_per_block: c_int,
    pub clock_rate: c_int,
    pub texture_align: c_int,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Memcpy2D {
    pub src_x_in_bytes: usize,
    pub src_y: usize,
    pub src_memory_type: c_uint,
    pub src_host: HostBytes,
    pub src_device: DevicePtr,
    pub src_array: Handle,
    pub src_pitch: usize,
    pub dst_x_in_bytes: usize,
    pub dst_y: usize,
    pub dst_memory_type: c_uint,
    pub dst_host: HostBytes,
    pub dst_device: DevicePtr,
    pub dst_array: Handle,
    pub dst_pitch: usize,
    pub width_in_bytes: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Memcpy3D {
    pub src_x_in_bytes: usize,
    pub src_y: usize,
    pub src_z: usize,
    pub src_lod: usize,
    pub src_memory_type: c_uint,
    pub src_host: HostBytes,
    pub src_device: DevicePtr,
    pub src_array: Handle,
    pub reserved0: usize,
    pub src_pitch: usize,
    pub src_height: usize,
    pub dst_x_in_bytes: usize,
    pub dst_y: usize,
    pub dst_z: usize,
    pub dst_lod: usize,
    pub dst_memory_type: c_uint,
    pub dst_host: HostBytes,
    pub dst_device: DevicePtr,
    pub dst_array: Handle,
    pub reserved1: usize,
    pub dst_pitch: usize,
    pub dst_height: usize,
    pub width_in_bytes: usize,
    pub height: usize,
    pub depth: usize,
}

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemLocation {
    pub kind: c_uint,
    pub id: c_int,
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemAccess {
    pub location: MemLocation,
    pub flags: c_uint,
}

/// `CUmemPoolProps`, as far as it is read here; newer versions use some of the reserved bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolProperties {
    pub alloc_type: c_uint,
    pub handle_types: c_uint,
    pub location: MemLocation,
    pub win32_security_attributes: usize,
    pub max_size: usize,
    pub reserved: [u8; 56],
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchConfigEx {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_mem_bytes: c_uint,
    pub stream: Handle,
    pub attributes: In<LaunchAttribute>,
    pub attribute_count: c_uint,
}

/// `CUlaunchAttribute`: a number that says which member of the 64-byte union is meant.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct LaunchAttribute {
    pub id: c_uint,
    pub pad: [u8; 4],
    pub value: [c_uint; 16],
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;

    #[test]
    fn structures_have_the_sizes_of_the_c_api() {
        use cudarc::driver::sys;
        assert_eq!(size_of::<Memcpy2D>(), size_of::<sys::CUDA_MEMCPY2D>());
        assert_eq!(size_of::<Memcpy3D>(), size_of::<sys::CUDA_MEMCPY3D>());
        assert_eq!(size_of::<PoolProperties>(), size_of::<sys::CUmemPoolProps>());
        assert_eq!(size_of::<LaunchConfigEx>(), size_of::<sys::CUlaunchConfig>());
        assert_eq!(size_of::<LaunchAttribute>(), size_of::<sys::CUlaunchAttribute>());
        assert_eq!(size_of::<MemLocation>(), size_of::<sys::CUmemLocation>());
        assert_eq!(size_of::<MemAccess>(), size_of::<sys::CUmemAccessDesc>());
        assert_eq!(size_of::<DeviceProperties>(), size_of::<sys::CUdevprop>());
        assert_eq!(size_of::<Uuid>(), size_of::<sys::CUuuid>());
    }

    #[test]
    fn a_text_is_cut_to_its_buffer_and_always_ends() {
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
