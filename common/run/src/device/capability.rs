//! The compute capability: the number by which NVIDIA names what a generation of GPUs can do.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A compute capability. It orders as generations do, and reads and writes as `9.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    /// The generation.
    pub major: u32,
    /// The revision within it.
    pub minor: u32,
}

impl ComputeCapability {
    /// Returns the capability `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for ComputeCapability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('.').and_then(|(major, minor)| Some(Self::new(major.parse().ok()?, minor.parse().ok()?)));
        parsed.ok_or_else(|| format!("`{text}` is not a compute capability: expected two numbers, for example 9.0"))
    }
}

impl Serialize for ComputeCapability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ComputeCapability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_order_by_number_and_not_by_letter() {
        let capability = |text: &str| text.parse::<ComputeCapability>().unwrap();
        assert!(capability("9.0") < capability("10.0") && capability("8.6") < capability("8.9"));
        assert_eq!(capability("12.1").to_string(), "12.1");
    }

    #[test]
    fn json_has_the_text_and_refuses_any_other() {
        let capability: ComputeCapability = serde_json::from_str("\"9.0\"").unwrap();
        assert_eq!(serde_json::to_string(&capability).unwrap(), "\"9.0\"");
        for text in ["\"9\"", "\"sm_90\"", "\"9.x\"", "9.0"] {
            assert!(serde_json::from_str::<ComputeCapability>(text).is_err(), "{text}");
        }
    }
}
