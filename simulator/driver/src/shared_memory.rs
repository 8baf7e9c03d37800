//! Memory that several processes can share, or that has several addresses in one process: files that exist in memory only.
//!
//! The allocations of a program are ordinary memory, and cost nothing more because some could be shared. What is shared moves into such a
//! file when it is exported. Memory that was made with `cuMemCreate` is one from the start, because it may be mapped more than once.

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Range, SharedMemory};
#[cfg(target_os = "linux")]
pub use linux::{Range, SharedMemory};

use crate::result::Result;

/// The bytes of a handle that one process gives to another (`CU_IPC_HANDLE_SIZE`).
pub const TOKEN_BYTES: usize = 64;

/// A name of shared memory for other processes (`CUipcMemHandle`, `CUipcEventHandle`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token([u8; TOKEN_BYTES]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The kind of what is shared: a number that the caller chose.
    pub kind: u32,
    /// The process that shares it.
    pub process: u32,
    /// Its file descriptor there.
    pub descriptor: i32,
    /// The number of the file, unlike that of a later one with this descriptor.
    pub inode: u64,
    /// Length in bytes, as the program asked for it.
    pub bytes: u64,
}

const MAGIC: [u8; 8] = *b"simcuda\x01";

impl Place {
    pub fn to_token(self) -> Token {
        let mut token = [0; TOKEN_BYTES];
        token[..8].copy_from_slice(&MAGIC);
        token[8..12].copy_from_slice(&self.kind.to_le_bytes());
        token[12..16].copy_from_slice(&self.process.to_le_bytes());
        token[16..20].copy_from_slice(&self.descriptor.to_le_bytes());
        token[24..32].copy_from_slice(&self.inode.to_le_bytes());
        token[32..40].copy_from_slice(&self.bytes.to_le_bytes());
        Token(token)
    }

    /// Reads a token; `None` if no simulator made it.
    pub fn from_token(Token(token): &Token) -> Option<Self> {
        let number = |at: usize| u32::from_le_bytes([token[at], token[at + 1], token[at + 2], token[at + 3]]);
        let long = |at: usize| u64::from(number(at)) | u64::from(number(at + 4)) << 32;
        let place = Self { kind: number(8), process: number(12), descriptor: number(16) as i32, inode: long(24), bytes: long(32) };
        (place.to_token().0 == *token).then_some(place)
    }
}

/// Addresses of this process where shared memory is.
#[derive(Debug)]
pub struct Mapping(Range);

impl Mapping {
    pub fn new(memory: &SharedMemory) -> Result<Self> {
        let range = Range::reserve(memory.bytes)?;
        range.map(0, memory)?;
        Ok(Self(range))
    }

    /// Returns the first address, a multiple of 4096.
    pub fn address(&self) -> u64 {
        self.0.address()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::c_void;
    use std::fs::File;
    use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::MemfdFlags;
    use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

    use super::{Place, Token};
    use crate::result::{CuResult, Failure, Result};

    /// The name of the files, by which one is recognized.
    const NAME: &str = "simcuda-memory";

    fn failed(what: &str, error: impl Into<std::io::Error>) -> Failure {
        let error = error.into();
        let code =
            if error.kind() == std::io::ErrorKind::OutOfMemory { CuResult::OUT_OF_MEMORY } else { CuResult::OPERATING_SYSTEM };
        code.because(format!("cannot {what}: {error}"))
    }

    #[derive(Debug)]
    pub struct SharedMemory {
        file: File,
        /// Length in bytes, as the program asked for it.
        pub bytes: u64,
    }

    impl SharedMemory {
        /// Makes memory whose bytes are 0. It takes no more of the host's memory than what is written to it.
        pub fn create(bytes: u64) -> Result<Self> {
            let file = rustix::fs::memfd_create(NAME, MemfdFlags::CLOEXEC).map_err(|error| failed("make shared memory", error))?;
            let file = File::from(file);
            file.set_len(bytes).map_err(|error| failed("make shared memory", error))?;
            Ok(Self { file, bytes })
        }

        /// Takes memory that some process shares, by a file descriptor. The program keeps its descriptor.
        pub fn import(descriptor: i32) -> Result<Self> {
            Self::open(&format!("/proc/self/fd/{descriptor}")).ok_or_else(|| {
                CuResult::UNKNOWN.because(format!("the file descriptor {descriptor} is not of memory that the simulator exported"))
            })
        }

        /// Takes memory that another process shares, by a token.
        pub fn of_token(place: &Place) -> Result<Self> {
            let path = format!("/proc/{}/fd/{}", place.process, place.descriptor);
            let found = Self::open(&path).filter(|found| found.inode().is_ok_and(|inode| inode == place.inode));
            let found = found.ok_or_else(|| {
                CuResult::MAP_FAILED.because(format!("process {} does not share this memory (any more)", place.process))
            })?;
            Ok(Self { bytes: place.bytes, ..found })
        }

        fn open(path: &str) -> Option<Self> {
            let target = std::fs::read_link(path).ok()?;
            if !target.to_string_lossy().starts_with(&format!("/memfd:{NAME}")) {
                return None;
            }
            let file = File::options().read(true).write(true).open(path).ok()?;
            let bytes = file.metadata().ok()?.len();
            Some(Self { file, bytes })
        }

        /// Returns a new file descriptor, which the program closes.
        pub fn export(&self) -> Result<i32> {
            let copy = self.file.try_clone().map_err(|error| failed("share memory", error))?;
            Ok(OwnedFd::from(copy).into_raw_fd())
        }

        /// Returns a token for other processes, valid while this value exists.
        pub fn token(&self, kind: u32) -> Result<Token> {
            let (process, descriptor) = (std::process::id(), self.file.as_raw_fd());
            Ok(Place { kind, process, descriptor, inode: self.inode()?, bytes: self.bytes }.to_token())
        }

        /// Returns what tells this memory from all other memory that exists.
        pub fn inode(&self) -> Result<u64> {
            Ok(self.file.metadata().map_err(|error| failed("look at shared memory", error))?.ino())
        }
    }

    /// A reserved range of addresses of this process.
    #[derive(Debug)]
    pub struct Range {
        start: *mut c_void,
        bytes: usize,
    }

    // SAFETY: the range is a number and a length. Nothing here reads or writes what is there, and the operating system serves the calls of
    // any thread.
    unsafe impl Send for Range {}
    // SAFETY: a shared reference can only change what is mapped, and the caller sees to it that nothing uses what goes.
    unsafe impl Sync for Range {}

    impl Range {
        /// Reserves addresses. An access there ends the process until something is mapped.
        pub fn reserve(bytes: u64) -> Result<Self> {
            let bytes = usize::try_from(bytes).map_err(|_| CuResult::OUT_OF_MEMORY)?;
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
            // SAFETY: the operating system chooses addresses that nothing uses.
            let start = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::empty(), flags) };
            Ok(Self { start: start.map_err(|error| failed("reserve addresses", error))?, bytes })
        }

        /// Returns the first address, a multiple of 4096.
        pub fn address(&self) -> u64 {
            self.start.expose_provenance() as u64
        }

        fn at(&self, offset: u64, bytes: u64) -> Result<*mut c_void> {
            let end = offset.checked_add(bytes).ok_or(CuResult::INVALID_VALUE)?;
            if end > self.bytes as u64 { CuResult::INVALID_VALUE.err() } else { Ok(self.start.wrapping_byte_add(offset as usize)) }
        }

        /// Maps memory into the range. Nothing may use what was mapped there.
        pub fn map(&self, offset: u64, memory: &SharedMemory) -> Result<()> {
            let bytes = memory.bytes;
            let (start, flags) = (self.at(offset, bytes)?, MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE);
            // SAFETY: the addresses belong to this range, as `at` checked, and the caller sees to it that nothing uses them.
            let mapped = unsafe { mmap(start, bytes as usize, ProtFlags::READ | ProtFlags::WRITE, flags, &memory.file, 0) };
            mapped.map(drop).map_err(|error| failed("map shared memory", error))
        }

        /// Makes a part of the range what it was at first. Nothing may use what was mapped there.
        pub fn unmap(&self, offset: u64, bytes: u64) -> Result<()> {
            let (start, flags) = (self.at(offset, bytes)?, MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE);
            // SAFETY: the addresses belong to this range, as `at` checked, and the caller sees to it that nothing uses them.
            let mapped = unsafe { mmap_anonymous(start, bytes as usize, ProtFlags::empty(), flags) };
            mapped.map(drop).map_err(|error| failed("unmap shared memory", error))
        }
    }

    impl Drop for Range {
        fn drop(&mut self) {
            // SAFETY: the addresses belong to this range, and whoever drops it sees to it that nothing uses them.
            let _ = unsafe { munmap(self.start, self.bytes) };
        }
    }
}

/// Systems where nothing can be shared yet.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{Place, Token};
    use crate::result::{Result, refuse};

    /// Memory that can be shared. There is none.
    #[derive(Debug)]
    pub struct SharedMemory {
        pub bytes: u64,
    }

    /// A reserved range of addresses of this process.
    #[derive(Debug)]
    pub struct Range;

    /// Defines the functions that these types have on Linux. Here all refuse.
    macro_rules! refused {
        ($($kind:ident { $(fn $name:ident($($argument:tt)*) -> $result:ty;)* })*) => {
            $(impl $kind {
                $(pub fn $name($($argument)*) -> Result<$result> {
                    refuse!(NOT_SUPPORTED, "the simulator shares and maps memory on Linux only; allocate with cuMemAlloc")
                })*
            })*
        };
    }

    refused! {
        SharedMemory {
            fn create(_bytes: u64) -> Self;
            fn import(_descriptor: i32) -> Self;
            fn of_token(_place: &Place) -> Self;
            fn export(&self) -> i32;
            fn token(&self, _kind: u32) -> Token;
            fn inode(&self) -> u64;
        }

        Range {
            fn reserve(_bytes: u64) -> Self;
            fn map(&self, _offset: u64, _memory: &SharedMemory) -> ();
            fn unmap(&self, _offset: u64, _bytes: u64) -> ();
        }
    }

    impl Range {
        pub fn address(&self) -> u64 {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_where_shared_memory_is_and_nothing_else_is_one() {
        let place = Place { kind: 2, process: 77, descriptor: 5, inode: 1 << 40, bytes: 4097 };
        let mut token = place.to_token();
        assert_eq!(Place::from_token(&token), Some(place));
        token.0[0] ^= 1;
        assert_eq!(Place::from_token(&token), None);
        assert_eq!(Place::from_token(&Token([0; TOKEN_BYTES])), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn shared_memory_is_found_by_its_token_and_by_its_descriptor() {
        let memory = SharedMemory::create(5000).unwrap();
        let token = memory.token(1).unwrap();
        let found = SharedMemory::of_token(&Place::from_token(&token).unwrap()).unwrap();
        assert_eq!((found.bytes, found.inode().unwrap()), (5000, memory.inode().unwrap()));
        let descriptor = memory.export().unwrap();
        assert_eq!(SharedMemory::import(descriptor).unwrap().inode().unwrap(), memory.inode().unwrap());
        assert!(SharedMemory::import(0).is_err(), "some other file");
        drop((memory, found));
        assert!(SharedMemory::of_token(&Place::from_token(&token).unwrap()).is_err());
    }
}
