//! Attributes of launches (`CU_LAUNCH_ATTRIBUTE_…`). Nodes and streams have some of them, too.

use super::prelude::*;

pub const ACCESS_POLICY_WINDOW: u32 = 1;
pub const COOPERATIVE: u32 = 2;
pub const SYNCHRONIZATION_POLICY: u32 = 3;
pub const CLUSTER_DIMENSION: u32 = 4;
pub const CLUSTER_POLICY: u32 = 5;
pub const PROGRAMMATIC_STREAM: u32 = 6;
pub const PROGRAMMATIC_EVENT: u32 = 7;
pub const PRIORITY: u32 = 8;
pub const MEMORY_DOMAIN_MAP: u32 = 9;
pub const MEMORY_DOMAIN: u32 = 10;
pub const PREFERRED_CLUSTER_DIMENSION: u32 = 11;
pub const COMPLETION_EVENT: u32 = 12;
pub const DEVICE_UPDATABLE: u32 = 13;
pub const LAST: u32 = 14;

/// The value of an attribute, in the first of these bytes.
pub type Value = [u8; 64];

/// Returns the size in bytes of an attribute of nodes or streams.
fn bytes_of(attribute: u32) -> Result<usize> {
    match attribute {
        ACCESS_POLICY_WINDOW => Ok(32),
        CLUSTER_DIMENSION => Ok(12),
        COOPERATIVE | SYNCHRONIZATION_POLICY | CLUSTER_POLICY | PRIORITY | MEMORY_DOMAIN => Ok(4),
        MEMORY_DOMAIN_MAP => Ok(2),
        _ => CuResult::INVALID_VALUE.err(),
    }
}

/// Reads the program's value.
pub fn read(attribute: u32, value: HostBytes) -> Result<Value> {
    let (bytes, mut given) = (bytes_of(attribute)?, [0; 64]);
    value.with(bytes, |value| given[..bytes].copy_from_slice(value))?;
    Ok(given)
}

/// Writes a value for the program.
pub fn write(attribute: u32, value: HostBytes, found: &Value) -> Result<()> {
    let bytes = bytes_of(attribute)?;
    value.with_mut(bytes, |value| value.copy_from_slice(&found[..bytes]))
}

/// Returns the value of a number.
pub fn of_number(number: i32) -> Value {
    let mut value = [0; 64];
    value[..4].copy_from_slice(&number.to_ne_bytes());
    value
}
