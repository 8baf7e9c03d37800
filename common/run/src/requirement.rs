//! Requirements of a stage that a device or a size does not meet.

use thiserror::Error;

use crate::device::capability::ComputeCapability;

/// A requirement that is not met, so that the stage is skipped. Its text completes "skipped: …".
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say what each variant and field is")]
pub enum Unmet {
    #[error("needs compute capability {needed}, the device has {available}")]
    ComputeCapability { needed: ComputeCapability, available: ComputeCapability },
    #[error("needs compute capability {needed} and no other, the device has {available}")]
    OtherGeneration { needed: ComputeCapability, available: ComputeCapability },
    #[error("needs rows that start at multiples of 16 bytes, so {what} has to be a multiple of {of}: it is {size}")]
    Alignment { what: &'static str, of: u32, size: u32 },
    #[error("needs {needed} bytes of shared memory per block, the device has {available}")]
    SharedMemory { needed: u32, available: u32 },
    #[error("needs {needed} {what}, the limit is {limit}")]
    Limit { what: &'static str, needed: u64, limit: u64 },
    #[error("{library} needs a GPU: the simulator does not execute its machine code")]
    Gpu { library: &'static str },
    #[error("{what}")]
    Option { what: &'static str },
    #[error("{reason}")]
    Library { reason: String },
}

impl Unmet {
    /// Compares the shared memory a block needs with the available amount.
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
                Unmet::Alignment { what: "k", of: 4, size: 5 },
                "needs rows that start at multiples of 16 bytes, so k has to be a multiple of 4: it is 5",
            ),
            (Unmet::Gpu { library: "cuFFT" }, "cuFFT needs a GPU: the simulator does not execute its machine code"),
        ] {
            assert_eq!(unmet.to_string(), text);
        }
    }
}
