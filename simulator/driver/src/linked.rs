//! The simulator inside the program itself, so that the program needs no shared library next to it.
//!
//! cargo installs programs and no libraries. So a program that calls [`link_in`] carries the driver's code, and gives the loader a small
//! library that is made on the spot: a file in memory whose functions jump to those of the program. It has the driver's name, so a CUDA
//! binding that asks the loader for the driver gets it, as it gets the shared library in other programs. A library of another version that
//! happens to be near the program does no harm.
//!
//! The other ways cost more. An embedded copy of the shared library has to be compiled by a cargo inside of cargo, because a build script
//! runs before the library exists, adds 7.6 MB to a program of 13.6 MB, and leaves files behind or takes time at each start. The small
//! library has 64 KB, and a program starts, runs a stage and ends in 20 ms, not 50 ms.
//!
//! This works on Linux with x86-64 and 64-bit Arm processors. Elsewhere a program needs the library next to it.

use std::path::PathBuf;

use crate::client;
use crate::error::Error;

/// Lets [`Simulator::open`](client::Simulator::open) use the simulator inside the program. Only a program that calls this carries it.
pub fn link_in() {
    client::carry(library);
}

/// Makes the library. Returns its path, which is valid for the life of the process.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn library() -> Result<PathBuf, Error> {
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::{AsRawFd, IntoRawFd};

    use rustix::fs::{MemfdFlags, memfd_create};

    let failed = |source| Error::File { path: PathBuf::from("a file in memory"), source };
    let mut file = memfd_create("simcuda", MemfdFlags::CLOEXEC).map(File::from).map_err(|error| failed(error.into()))?;
    file.write_all(&image::of(c"libcuda.so", &exports())).map_err(failed)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    // Never closed, so that the path stays that of this file.
    let _ = file.into_raw_fd();
    Ok(path)
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn library() -> Result<PathBuf, Error> {
    client::find_library()
}

/// Returns the driver's functions, by name: all that the shared library exports.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn exports() -> Vec<(&'static str, *const ())> {
    use crate::api;
    let mut exports = api::ours();
    for export in api::every_export() {
        exports.push((export.name, export.address));
        exports.extend(export.per_thread);
    }
    exports
}

/// A shared library as the loader reads it.
///
/// The format is that of the "System V Application Binary Interface", chapters 4 and 5. There are no sections, because only linkers and
/// debuggers read them.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod image {
    use std::ffi::CStr;

    const HEADER_BYTES: usize = 64;
    const SEGMENT_BYTES: usize = 56;
    const SEGMENTS: usize = 4;
    const SYMBOL_BYTES: usize = 24;
    /// Code of a function that jumps.
    const JUMP_BYTES: usize = 16;
    /// The largest page of these processors: the loader maps whole pages, and only the last segment is writable.
    const PAGE: usize = 0x1_0000;

    const READ: u32 = 4;
    const WRITE: u32 = 2;
    const EXECUTE: u32 = 1;

    /// Returns a library whose functions jump to addresses of this process.
    pub fn of(name: &CStr, functions: &[(&str, *const ())]) -> Vec<u8> {
        let mut names = vec![0u8];
        let mut offsets = Vec::new();
        for (function, _) in functions {
            offsets.push(names.len());
            names.extend(function.as_bytes());
            names.push(0);
        }
        let name_offset = names.len();
        names.extend(name.to_bytes_with_nul());
        let hashes = hash_table(functions);

        let symbols_at = HEADER_BYTES + SEGMENTS * SEGMENT_BYTES;
        let names_at = symbols_at + SYMBOL_BYTES * (functions.len() + 1);
        let hashes_at = (names_at + names.len()).next_multiple_of(8);
        let code_at = (hashes_at + 4 * hashes.len()).next_multiple_of(JUMP_BYTES);
        let code_end = code_at + JUMP_BYTES * functions.len();
        let dynamic_at = code_end.next_multiple_of(PAGE);

        // DT_SONAME, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT, DT_NULL
        let dynamic =
            [(14, name_offset), (4, hashes_at), (5, names_at), (6, symbols_at), (10, names.len()), (11, SYMBOL_BYTES), (0, 0)];
        let dynamic_bytes = 16 * dynamic.len();

        let mut image = Image(Vec::new());
        // 64 bits, little-endian, version 1; ET_DYN.
        image.0.extend(b"\x7fELF\x02\x01\x01");
        image.pad_to(16);
        image.u16(3);
        image.u16(if cfg!(target_arch = "x86_64") { 62 } else { 183 });
        image.u32(1);
        image.u64(0);
        image.u64(HEADER_BYTES);
        image.u64(0);
        image.u32(0);
        for value in [HEADER_BYTES, SEGMENT_BYTES, SEGMENTS, 64, 0, 0] {
            image.u16(value as u16);
        }
        // PT_LOAD twice, PT_DYNAMIC, and PT_GNU_STACK: without the last, the loader would make stacks executable.
        image.segment(1, READ | EXECUTE, 0, code_end, PAGE);
        image.segment(1, READ | WRITE, dynamic_at, dynamic_bytes, PAGE);
        image.segment(2, READ | WRITE, dynamic_at, dynamic_bytes, 8);
        image.segment(0x6474_e551, READ | WRITE, 0, 0, 16);
        // The first symbol is none.
        image.pad_to(symbols_at + SYMBOL_BYTES);
        for (index, offset) in offsets.iter().enumerate() {
            image.u32(*offset as u32);
            // A global function, in a section: any, because there are none.
            image.0.extend([0x12, 0]);
            image.u16(1);
            image.u64(code_at + JUMP_BYTES * index);
            image.u64(JUMP_BYTES);
        }
        image.0.extend(&names);
        image.pad_to(hashes_at);
        hashes.iter().for_each(|word| image.u32(*word));
        for (index, (_, address)) in functions.iter().enumerate() {
            image.pad_to(code_at + JUMP_BYTES * index);
            image.0.extend(jump(*address as u64));
        }
        image.pad_to(dynamic_at);
        for (tag, value) in dynamic {
            image.u64(tag);
            image.u64(value);
        }
        image.0
    }

    /// Jumps through a register that no argument is in: `movabs r11, address; jmp r11`, or `ldr x16, address; br x16`.
    fn jump(address: u64) -> Vec<u8> {
        let address = address.to_le_bytes();
        if cfg!(target_arch = "x86_64") {
            [&[0x49, 0xbb][..], &address, &[0x41, 0xff, 0xe3]].concat()
        } else {
            [&0x5800_0050u32.to_le_bytes()[..], &0xd61f_0200u32.to_le_bytes(), &address].concat()
        }
    }

    /// Returns the table by which the loader finds a name: buckets by hash, each the start of a chain of symbols.
    fn hash_table(functions: &[(&str, *const ())]) -> Vec<u32> {
        let count = functions.len();
        let (buckets, chains) = (count.max(1), count + 1);
        let mut table = vec![0; 2 + buckets + chains];
        (table[0], table[1]) = (buckets as u32, chains as u32);
        for (index, (name, _)) in functions.iter().enumerate() {
            let bucket = 2 + hash(name) as usize % buckets;
            // Each symbol goes before those that were there.
            table[2 + buckets + index + 1] = table[bucket];
            table[bucket] = index as u32 + 1;
        }
        table
    }

    fn hash(name: &str) -> u32 {
        name.bytes().fold(0, |hash: u32, byte| {
            let hash = (hash << 4).wrapping_add(byte.into());
            let high = hash & 0xf000_0000;
            (hash ^ (high >> 24)) & !high
        })
    }

    struct Image(Vec<u8>);

    impl Image {
        fn u16(&mut self, value: u16) {
            self.0.extend(value.to_le_bytes());
        }

        fn u32(&mut self, value: u32) {
            self.0.extend(value.to_le_bytes());
        }

        fn u64(&mut self, value: usize) {
            self.0.extend((value as u64).to_le_bytes());
        }

        fn pad_to(&mut self, length: usize) {
            self.0.resize(length, 0);
        }

        /// Writes a segment with the same place in file and memory.
        fn segment(&mut self, kind: u32, flags: u32, at: usize, bytes: usize, alignment: usize) {
            self.u32(kind);
            self.u32(flags);
            for value in [at, at, at, bytes, bytes, alignment] {
                self.u64(value);
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use libloading::Library;

        extern "C" fn twice(number: u64) -> u64 {
            2 * number
        }

        extern "C" fn sum(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: f64) -> f64 {
            (a + b + c + d + e + f) as f64 + g
        }

        #[test]
        fn the_loader_finds_functions_of_the_program_by_the_name_of_the_library() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("made.so");
            let functions = [("made_twice", twice as *const ()), ("made_sum", sum as *const ())];
            std::fs::write(&path, of(c"libmade.so", &functions)).unwrap();
            // SAFETY: the library has no initializers, and the functions have the types of those above.
            unsafe {
                let opened = Library::new(&path).unwrap();
                // Under its own name, which is no file, while it is open.
                let library = Library::new("libmade.so").unwrap();
                assert_eq!(library.get::<extern "C" fn(u64) -> u64>(b"made_twice").unwrap()(21), 42);
                let sum = library.get::<extern "C" fn(u64, u64, u64, u64, u64, u64, f64) -> f64>(b"made_sum").unwrap();
                assert_eq!(sum(1, 2, 3, 4, 5, 6, 0.5), 21.5);
                assert!(library.get::<extern "C" fn()>(b"made_nothing").is_err());
                drop(opened);
            }
        }

        #[test]
        fn the_driver_has_every_name_that_the_client_calls() {
            let exports = super::super::exports();
            for name in ["cuInit", "cuMemAlloc_v2", "simcuda_configure", "simcuda_take_records", "cuLaunchKernel_ptsz"] {
                assert_eq!(exports.iter().filter(|(known, _)| *known == name).count(), 1, "{name}");
            }
        }
    }
}
