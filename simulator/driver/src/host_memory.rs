//! What the operating system knows about the program's own memory.

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

    #[test]
    fn the_memory_of_this_process_is_writable() {
        let own = vec![0u8; 10_000];
        let address = own.as_ptr() as u64;
        assert!(is_writable(address, 10_000));
        assert!(!is_writable(address, u64::MAX));
        assert!(!cfg!(target_os = "linux") || !is_writable(8, 16));
    }
}
