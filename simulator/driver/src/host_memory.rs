//! What the operating system knows about the program's own memory.

use std::ffi::{c_int, c_ulong, c_void};
use std::io;

/// Most pieces that Linux reads in one call.
const MOST_PIECES: usize = 1024;

/// Reads pieces of this process's own memory, each from an address into a slice, of which some may not be there. Returns how many were read
/// before the first one that could not be read, or `None` on a system that does not say.
pub fn read(pieces: &mut [(u64, &mut [u8])]) -> Option<usize> {
    let mut complete = 0;
    for pieces in pieces.chunks_mut(MOST_PIECES) {
        let read = read_at_once(pieces)?;
        complete += read;
        if read < pieces.len() {
            break;
        }
    }
    Some(complete)
}

#[cfg(target_os = "linux")]
fn read_at_once(pieces: &mut [(u64, &mut [u8])]) -> Option<usize> {
    /// `struct iovec`
    #[repr(C)]
    struct Piece {
        start: *mut c_void,
        bytes: usize,
    }
    // SAFETY: the declaration has the types of Linux's C library.
    unsafe extern "C" {
        fn process_vm_readv(
            process: c_int,
            local: *const Piece,
            locals: c_ulong,
            remote: *const Piece,
            remotes: c_ulong,
            flags: c_ulong,
        ) -> isize;
    }
    /// `EFAULT`, the same on every architecture.
    const NOT_THERE: c_int = 14;

    let remote: Vec<Piece> = pieces
        .iter()
        .map(|(address, target)| Piece { start: std::ptr::without_provenance_mut(*address as usize), bytes: target.len() })
        .collect();
    let local: Vec<Piece> =
        pieces.iter_mut().map(|(_, target)| Piece { start: target.as_mut_ptr().cast(), bytes: target.len() }).collect();
    let count = pieces.len() as c_ulong;
    // SAFETY: both arrays have `count` elements, and the local ones are slices that nobody else uses meanwhile. The remote ones may be
    // anything: the kernel checks them before it reads.
    let read = unsafe { process_vm_readv(std::process::id() as c_int, local.as_ptr(), count, remote.as_ptr(), count, 0) };
    let Ok(mut read) = usize::try_from(read) else {
        return (io::Error::last_os_error().raw_os_error() == Some(NOT_THERE)).then_some(0);
    };
    let is_complete = |(_, target): &&(u64, &mut [u8])| {
        let rest = read.checked_sub(target.len());
        read = rest.unwrap_or(0);
        rest.is_some()
    };
    Some(pieces.iter().take_while(is_complete).count())
}

#[cfg(not(target_os = "linux"))]
fn read_at_once(_: &mut [(u64, &mut [u8])]) -> Option<usize> {
    None
}

/// Whether this process may read and write every byte of a range. Assumes so on a system that does not say.
pub fn is_writable(address: u64, bytes: u64) -> bool {
    let Some(end) = address.checked_add(bytes) else { return false };
    match std::fs::read_to_string("/proc/self/maps") {
        Ok(maps) => covers(&maps, address, end),
        Err(_) => true,
    }
}

/// Whether the writable ranges of `maps`, which are sorted, cover `address..end` without a gap.
fn covers(maps: &str, address: u64, end: u64) -> bool {
    let mut covered = address;
    for (first, last) in maps.lines().filter_map(writable_range) {
        if first <= covered && covered < last {
            covered = last;
        }
    }
    covered >= end
}

/// Reads the first address and the one after the last from a line such as `7f00-8f00 rw-p …`, if the range is readable and writable.
fn writable_range(line: &str) -> Option<(u64, u64)> {
    let (range, rest) = line.split_once(' ')?;
    let (first, last) = range.split_once('-')?;
    let parse = |text| u64::from_str_radix(text, 16).ok();
    rest.starts_with("rw").then(|| parse(first).zip(parse(last))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_ranges_cover_a_range_but_not_across_a_gap() {
        let maps = "1000-2000 rw-p 0\n2000-3000 rw-s 0 heap\n3000-4000 r--p 0\n5000-6000 rw-p 0\nnonsense\n";
        for (first, last, expected) in [
            (0x1000, 0x3000, true),
            (0x1800, 0x2800, true),
            (0x1000, 0x3001, false),
            (0x3000, 0x3010, false),
            (0x800, 0x1800, false),
            (0x5000, 0x6000, true),
            (0x2800, 0x5800, false),
        ] {
            assert_eq!(covers(maps, first, last), expected, "{first:#x}..{last:#x}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pieces_are_read_up_to_the_first_that_is_not_there() {
        let own: Vec<u8> = (0..=255).collect();
        let address = own.as_ptr() as u64;
        let (mut first, mut second, mut third) = ([0; 3], [0; 200], [7; 2]);
        let mut read = |second_at| super::read(&mut [(address + 1, &mut first), (second_at, &mut second), (address, &mut third)]);
        assert_eq!(read(8), Some(1));
        assert_eq!(read(u64::MAX - 8), Some(1));
        assert_eq!(read(address + 50), Some(3));
        assert_eq!((first, &second[..], third), ([1, 2, 3], &own[50..250], [0, 1]));
        assert_eq!((super::read(&mut []), super::read(&mut [(0, &mut [])])), (Some(0), Some(1)));
        let mut many = vec![[0u8; 1]; 3000];
        let mut pieces: Vec<(u64, &mut [u8])> = many.iter_mut().map(|target| (address + 9, target.as_mut_slice())).collect();
        assert_eq!(super::read(&mut pieces), Some(3000));
        assert!(many.iter().all(|byte| *byte == [9]));
    }

    #[test]
    fn the_memory_of_this_process_is_writable() {
        let own = vec![0u8; 10_000];
        let address = own.as_ptr() as u64;
        assert!(is_writable(address, 10_000));
        assert!(!is_writable(address, u64::MAX));
        assert!(!cfg!(target_os = "linux") || !is_writable(8, 16));
    }
}
