//! Requirements of a stage that a device or a size does not meet.

use thiserror::Error;

use crate::capability::ComputeCapability;

/// A requirement that is not met, so that the stage is skipped. Its text completes "skipped: …".
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unmet {
    /// The device is too old.
    #[error("needs compute capability {needed}, the device has {available}")]
    ComputeCapability {
        /// The lowest that has what the stage uses.
        needed: ComputeCapability,
        /// That of the device.
        available: ComputeCapability,
    },
    /// The stage uses instructions of one generation, and the device is of another.
    #[error("needs compute capability {needed} and no other, the device has {available}")]
    OtherGeneration {
        /// The only one that has what the stage uses.
        needed: ComputeCapability,
        /// That of the device.
        available: ComputeCapability,
    },
    /// The copy engine needs rows that start at multiples of 16 bytes.
    #[error("needs rows that start at multiples of 16 bytes, so {what} has to be a multiple of 4: it is {size}")]
    Alignment {
        /// The name of the size.
        what: &'static str,
        /// What it is.
        size: u32,
    },
    /// A block needs more shared memory than it can have.
    #[error("needs {needed} bytes of shared memory per block, the device has {available}")]
    SharedMemory {
        /// Bytes that a block needs.
        needed: u32,
        /// Bytes that a block can have.
        available: u32,
    },
    /// The size is beyond what the stage was written for.
    #[error("needs {needed} {what}, the limit is {limit}")]
    Limit {
        /// The name of what is counted, in the plural.
        what: &'static str,
        /// How many the size needs.
        needed: u64,
        /// How many there can be.
        limit: u64,
    },
    /// The library runs only on a GPU.
    #[error("{library} needs a GPU: the simulator does not execute its machine code")]
    Gpu {
        /// The library.
        library: &'static str,
    },
    /// The library cannot be used on this machine.
    #[error("{reason}")]
    Library {
        /// What was looked for, and what was found.
        reason: String,
    },
}

impl Unmet {
    /// Compares the shared memory that a block needs with what it can have.
    pub fn shared_memory(needed: u32, available: u32) -> Option<Self> {
        (needed > available).then_some(Self::SharedMemory { needed, available })
    }

    /// Compares what a size needs with what there can be.
    pub fn limit(what: &'static str, needed: impl Into<u64>, limit: impl Into<u64>) -> Option<Self> {
        let (needed, limit) = (needed.into(), limit.into());
        (needed > limit).then_some(Self::Limit { what, needed, limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_met_up_to_the_limit_itself() {
        assert_eq!(Unmet::shared_memory(49_152, 49_152), None);
        assert_eq!(Unmet::limit("columns", 7_u32, 7_u32), None);
        assert!(Unmet::shared_memory(49_153, 49_152).is_some() && Unmet::limit("columns", 8_u32, 7_u32).is_some());
    }

    #[test]
    fn each_says_what_is_needed_and_what_there_is() {
        let old = Unmet::ComputeCapability { needed: ComputeCapability::new(8, 0), available: ComputeCapability::new(7, 5) };
        for (unmet, text) in [
            (old, "needs compute capability 8.0, the device has 7.5"),
            (
                Unmet::SharedMemory { needed: 65_528, available: 49_152 },
                "needs 65528 bytes of shared memory per block, the device has 49152",
            ),
            (Unmet::Limit { what: "pixels per window", needed: 991, limit: 989 }, "needs 991 pixels per window, the limit is 989"),
            (
                Unmet::OtherGeneration { needed: ComputeCapability::new(9, 0), available: ComputeCapability::new(10, 0) },
                "needs compute capability 9.0 and no other, the device has 10.0",
            ),
            (
                Unmet::Alignment { what: "k", size: 5 },
                "needs rows that start at multiples of 16 bytes, so k has to be a multiple of 4: it is 5",
            ),
            (Unmet::Gpu { library: "cuFFT" }, "cuFFT needs a GPU: the simulator does not execute its machine code"),
        ] {
            assert_eq!(unmet.to_string(), text);
        }
    }
}
