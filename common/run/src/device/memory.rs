//! The memory of this machine.

use crate::error::{Error, Result};

/// Refuses what does not fit in memory, before it is allocated.
pub fn require(needed: u64) -> Result<()> {
    match available() {
        Some(available) if needed > available => Err(Error::TooLarge { place: "this machine", needed, available }),
        _ => Ok(()),
    }
}

/// Returns the bytes that can be allocated without swapping, according to Linux; `None` on other systems.
fn available() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
