//! Facts that the operating system knows about the program's memory and the machine's.

use std::cell::RefCell;

/// Bytes that share one answer. No system that runs this has smaller pages.
const PAGE: u64 = 4096;

/// Pages that a thread remembers.
const REMEMBERED: usize = 256;

/// Returns the bytes that this machine can give without swapping. Linux tells them; elsewhere it is `None`.
pub fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

thread_local! {
    /// Pages that could be read last time, each at its number's place.
    static READABLE: RefCell<[u64; REMEMBERED]> = const { RefCell::new([0; REMEMBERED]) };
}

/// Returns true if this process may read every byte of a range. `None` on a system that does not say.
///
/// A page that could be read before is not asked for again, because a question takes 3 microseconds or more, and a small launch only 6.
/// So the answer may be out of date if the program has unmapped the page since.
pub(crate) fn is_readable(address: u64, bytes: u64) -> Option<bool> {
    let Some(last) = address.checked_add(bytes.saturating_sub(1)) else { return Some(false) };
    for page in address / PAGE..=last / PAGE {
        let known = |pages: &[u64; REMEMBERED]| pages[page as usize % REMEMBERED] == page && page != 0;
        if READABLE.with_borrow(known) {
            continue;
        }
        if !can_read_byte(address.max(page * PAGE))? {
            return Some(false);
        }
        READABLE.with_borrow_mut(|pages| pages[page as usize % REMEMBERED] = page);
    }
    Some(true)
}

/// Returns how many bytes of memory the machine has. `None` on a system that does not say.
pub(crate) fn physical_bytes() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the function takes a number, and may be called at any time.
        let [pages, page] = [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
        u64::try_from(pages).ok()?.checked_mul(u64::try_from(page).ok()?)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Asks the operating system to copy a byte from there.
#[cfg(target_os = "linux")]
fn can_read_byte(address: u64) -> Option<bool> {
    let mut byte = 0u8;
    let local = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(address as usize), iov_len: 1 };
    // SAFETY: the local piece is a variable of this function. The remote one may be anything: the kernel checks it before it reads.
    let read = unsafe { libc::process_vm_readv(std::process::id() as libc::pid_t, &local, 1, &remote, 1, 0) };
    match read {
        1 => Some(true),
        _ if std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT) => Some(false),
        // A container may forbid the call.
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn can_read_byte(_: u64) -> Option<bool> {
    None
}

/// Returns true if this process may write every byte of a range. Assumes so on a system that does not say.
pub(crate) fn is_writable(address: u64, bytes: u64) -> bool {
    let Some(end) = address.checked_add(bytes) else { return false };
    match std::fs::read_to_string("/proc/self/maps") {
        Ok(maps) => covers(&maps, address, end),
        Err(_) => true,
    }
}

/// Returns true if sorted writable ranges cover `address..end` without a gap.
fn covers(maps: &str, address: u64, end: u64) -> bool {
    let mut covered = address;
    for (first, last) in maps.lines().filter_map(writable_range) {
        if first <= covered && covered < last {
            covered = last;
        }
    }
    covered >= end
}

/// Reads a writable range from a line such as `7f00-8f00 rw-p …`.
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
    fn memory_is_readable_where_every_page_is_there() {
        let own = vec![7u8; 5 * PAGE as usize];
        let address = own.as_ptr() as u64;
        for _ in 0..2 {
            assert_eq!(is_readable(address, own.len() as u64), Some(true));
            assert_eq!(is_readable(address + 3, 1), Some(true));
            assert_eq!(is_readable(memory_is_readable_where_every_page_is_there as *const () as u64, 4), Some(true), "code");
            for nothing in [0, 8, 1000, u64::MAX, u64::MAX - 7, 1 << 60] {
                assert_eq!(is_readable(nothing, 8), Some(false), "{nothing:#x}");
            }
        }
        // Two pages, of which the second goes.
        let mapping = rustix::mm::MapFlags::PRIVATE;
        let (read, bytes) = (rustix::mm::ProtFlags::READ, 2 * PAGE as usize);
        // SAFETY: this maps new memory that nobody else knows.
        let pages = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), bytes, read, mapping) }.unwrap();
        let second = pages.wrapping_byte_add(PAGE as usize);
        // SAFETY: nobody uses that page.
        unsafe { rustix::mm::munmap(second, PAGE as usize) }.unwrap();
        assert_eq!(is_readable(pages as u64, PAGE), Some(true));
        assert_eq!(is_readable(pages as u64 + PAGE - 4, 8), Some(false));
        // SAFETY: nobody uses that page.
        unsafe { rustix::mm::munmap(pages, PAGE as usize) }.unwrap();
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
