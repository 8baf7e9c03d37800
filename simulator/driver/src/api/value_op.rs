//! Operations on values in memory: writing one, or waiting until it meets a condition.

use std::fmt;

use simt::{Accessed, Accesses};

use super::prelude::*;
use crate::allocations::MemoryKind;
use crate::ffi::ValueOperation;
use crate::queues::Progress;

/// `CU_STREAM_WAIT_VALUE_FLUSH`
const FLUSH: u32 = 1 << 30;

/// `CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER`
const NO_MEMORY_BARRIER: u32 = 1;
/// `CU_STREAM_MEM_OP_…`
const WAIT_32: u32 = 1;
const WRITE_32: u32 = 2;
const FLUSH_REMOTE_WRITES: u32 = 3;
const WAIT_64: u32 = 4;
const WRITE_64: u32 = 5;
const BARRIER: u32 = 6;
/// The most operations of a batch, and one more.
const BATCH_END: u32 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOp {
    Write {
        address: u64,
        bytes: u32,
        value: u64,
    },
    Wait {
        address: u64,
        bytes: u32,
        value: u64,
        condition: Condition,
    },
    /// Orders memory accesses, which are in order already.
    Barrier,
}

/// A condition on a value in memory, compared with a given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Not less, where the numbers go round in a circle.
    NotLess,
    Equal,
    /// With a bit in common.
    And,
    /// With a bit that neither has.
    Nor,
}

impl Condition {
    pub fn from_flags(flags: u32) -> Result<Self> {
        match flags {
            0 => Ok(Condition::NotLess),
            1 => Ok(Condition::Equal),
            2 => Ok(Condition::And),
            3 => Ok(Condition::Nor),
            _ if flags & !FLUSH <= 3 => {
                Err(CuResult::NOT_SUPPORTED
                    .because("no simulated device flushes remote writes; leave out CU_STREAM_WAIT_VALUE_FLUSH"))
            }
            _ => CuResult::INVALID_VALUE.err(),
        }
    }

    /// Returns true if a value of this many bytes meets the condition.
    pub fn holds(self, found: u64, given: u64, bytes: u32) -> bool {
        let unused = 64 - 8 * bytes;
        match self {
            Condition::NotLess => (found.wrapping_sub(given) << unused) as i64 >= 0,
            Condition::Equal => found << unused == given << unused,
            Condition::And => (found & given) << unused != 0,
            Condition::Nor => !(found | given) << unused != 0,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::NotLess => "at least",
            Condition::Equal => "equal to",
            Condition::And => "one with a bit of",
            Condition::Nor => "one that lacks a bit, as does",
        })
    }
}

impl ValueOp {
    /// Describes the operation to the program.
    pub fn to_parameters(self) -> ValueOperation {
        let parameters =
            |operation, address, value, flags| ValueOperation { operation, address, value, flags, alias: 0, padding: 0 };
        match self {
            ValueOp::Barrier => parameters(BARRIER, 0, 0, 0),
            ValueOp::Write { address, bytes, value } => parameters(if bytes == 4 { WRITE_32 } else { WRITE_64 }, address, value, 0),
            ValueOp::Wait { address, bytes, value, condition } => {
                parameters(if bytes == 4 { WAIT_32 } else { WAIT_64 }, address, value, condition as u32)
            }
        }
    }

    /// Writes the value, or looks whether it meets the condition.
    pub fn run(self, driver: &Driver) -> Result<Progress> {
        let note =
            |address, bytes: u32, accesses| driver.note_accesses(|| vec![Accessed { address, bytes: bytes.into(), accesses }]);
        match self {
            ValueOp::Barrier => Ok(Progress::Done),
            ValueOp::Write { address, bytes, value } => {
                driver.memory.write(address, &value.to_le_bytes()[..bytes as usize])?;
                note(address, bytes, Accesses::WRITTEN_STRONG);
                Ok(Progress::Done)
            }
            ValueOp::Wait { address, bytes, value, condition } => {
                let mut found = [0; 8];
                driver.memory.read(address, &mut found[..bytes as usize])?;
                let found = u64::from_le_bytes(found);
                if condition.holds(found, value, bytes) {
                    note(address, bytes, Accesses::READ_STRONG);
                    return Ok(Progress::Done);
                }
                Ok(Progress::Waits(format!(
                    "a value of {bytes} bytes at {address:#x} that is {condition} {value:#x}; it is {found:#x}"
                )))
            }
        }
    }
}

/// Refuses an address that no value can be at.
fn check_address(driver: &Driver, address: u64, bytes: u32) -> Result<()> {
    let is_managed = driver.allocations.lock().containing(address).is_some_and(|owned| owned.kind == MemoryKind::Managed);
    let is_aligned = address.is_multiple_of(bytes.into());
    let can_be_read = || driver.memory.read(address, &mut [0; 8][..bytes as usize]).is_ok();
    refuse!(
        INVALID_VALUE if is_managed || !is_aligned || !can_be_read(),
        "a value of {bytes} bytes needs an aligned address in memory of the device that is not managed; {address:#x} is none"
    );
    Ok(())
}

pub fn write(driver: &Driver, address: u64, bytes: u32, value: u64, flags: u32) -> Result<ValueOp> {
    refuse!(INVALID_VALUE if flags & !NO_MEMORY_BARRIER != 0);
    check_address(driver, address, bytes)?;
    Ok(ValueOp::Write { address, bytes, value })
}

pub fn wait(driver: &Driver, address: u64, bytes: u32, value: u64, flags: u32) -> Result<ValueOp> {
    let condition = Condition::from_flags(flags)?;
    check_address(driver, address, bytes)?;
    Ok(ValueOp::Wait { address, bytes, value, condition })
}

pub fn batch(count: u32, operations: In<ValueOperation>, flags: u32) -> Result<Vec<ValueOp>> {
    let driver = driver()?;
    refuse!(INVALID_VALUE if flags != 0 || count >= BATCH_END);
    let operation = |ValueOperation { operation, address, value, flags, .. }| {
        match operation {
            WAIT_32 => wait(driver, address, 4, value & u64::from(u32::MAX), flags),
            WAIT_64 => wait(driver, address, 8, value, flags),
            WRITE_32 => write(driver, address, 4, value & u64::from(u32::MAX), flags),
            WRITE_64 => write(driver, address, 8, value, flags),
            // The flags are where the others have padding before their address.
            BARRIER => Ok(ValueOp::Barrier),
            FLUSH_REMOTE_WRITES => Err(CuResult::NOT_SUPPORTED.because("no simulated device flushes remote writes")),
            _ => CuResult::INVALID_VALUE.err(),
        }
    };
    operations.read_all(count as usize)?.into_iter().map(operation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_those_of_cuda() {
        use Condition::{And, Equal, Nor, NotLess};
        for (condition, found, given, bytes, expected) in [
            (NotLess, 5, 5, 4, true),
            (NotLess, 4, 5, 4, false),
            // Round the circle: 2 comes after -1.
            (NotLess, 2, 0xffff_ffff, 4, true),
            (NotLess, 2, 0xffff_ffff, 8, false),
            (NotLess, 0x8000_0000, 0, 4, false),
            (Equal, 7, 7, 8, true),
            (Equal, 1 << 32, 0, 8, false),
            (And, 6, 9, 4, false),
            (And, 6, 2, 4, true),
            (Nor, 0xffff_0000, 0xffff, 4, false),
            (Nor, 0xffff_0000, 0xfffe, 4, true),
        ] {
            assert_eq!(condition.holds(found, given, bytes), expected, "{condition:?} {found:#x} {given:#x} {bytes}");
        }
    }
}
