//! The memory of this machine.

use driver::host_memory::available;

use crate::error::{Error, Result};

/// Refuses what does not fit in memory, before it is allocated.
pub fn require(needed: u64) -> Result<()> {
    match available() {
        Some(available) if needed > available => Err(Error::TooLarge { place: "this machine", needed, available }),
        _ => Ok(()),
    }
}
