//! The sizes of a convolution, and which of them can be computed.

use std::str::FromStr;

use crate::border::sides;
use crate::error::{NoSuchSize, Result};
use crate::problem::Footprint;

/// The original tutorial's size.
pub const SEED_SIZE: Size = Size { outputs: 294_912, taps: 32_768 };

/// Size that shows every effect and is quick to simulate. All rows of chapter 01 take seconds on two cores.
pub const TEACHING_SIZE: Size = Size { outputs: 16_384, taps: 1024 };

/// Most samples that kernels can count with 32 bits. An index must stay free for the end of the last block.
pub const MOST_SAMPLES: u64 = 1 << 31;

/// The number of outputs, and of taps for each output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of outputs.
    pub outputs: u32,
    /// Number of filter values.
    pub taps: u32,
}

impl Size {
    /// Returns the number of samples that the outputs need.
    pub fn samples(&self) -> u64 {
        u64::from(self.outputs) + u64::from(self.taps) - 1
    }

    /// Returns the memory that a convolution of this size takes.
    pub fn footprint(&self) -> Footprint {
        let inputs = 4 * (self.samples() + u64::from(self.taps));
        let outputs = u64::from(self.outputs);
        // On the host twice what is on the device (a copy to compare), and the oracle's two f64 per output.
        let device_bytes = inputs + 4 * outputs;
        Footprint { device_bytes, host_bytes: 2 * device_bytes + 16 * outputs }
    }
}

impl FromStr for Size {
    type Err = NoSuchSize;

    fn from_str(text: &str) -> Result<Self> {
        if text == "seed" {
            return Ok(SEED_SIZE);
        }
        let wrong = |reason: String| NoSuchSize::text(text, reason);
        let (outputs, taps) = sides(text, "expected OUTPUTSxTAPS as in 4096x512, or `seed`").map_err(wrong)?;
        match (Size { outputs, taps }) {
            _ if outputs == 0 || taps == 0 => Err(wrong("both numbers must be at least 1".to_owned())),
            size if size.samples() > MOST_SAMPLES => {
                Err(wrong("outputs + taps - 1 samples must be 2^31 at most, because kernels count them with 32 bits".to_owned()))
            }
            size => Ok(size),
        }
    }
}
