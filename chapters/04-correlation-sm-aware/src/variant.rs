//! SM-aware: which kernel a device gets, as a value that can be printed and tested.
//!
//! The choice is a function of a device's attributes, so every arm of it can be tried, on simulated GPUs that are hard to find today.

use std::fmt;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK;
use kernels::Kernel;
use kernels::correlation::{BLOCK_X, BLOCK_Y};
use run::capability::ComputeCapability;
use run::workload::Correlation;
use run::{Gpu, Result};

/// The properties of a device on which the choice depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Features of its generation.
    pub compute_capability: ComputeCapability,
    /// Bytes of shared memory that a block can have without asking for more.
    pub shared_bytes: u32,
}

/// The width of the inner loop's multiplications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiply {
    /// 24 bits: one instruction on compute capability 1.x, several on everything since.
    Bits24,
    /// 32 bits: several instructions on compute capability 1.x, one on everything since.
    Bits32,
}

/// A kernel with an image tile in shared memory, by its arguments.
#[derive(Clone, Copy, Debug)]
pub enum TileKernel {
    /// Image, shape, pitch of the tile, coefficients.
    Coefficients(Kernel),
    /// The same, and then the three sums of every output.
    CoefficientsAndSums(Kernel),
}

/// The kernel for a stage with an image tile in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the comments of the variants name the fields")]
pub enum Variant {
    /// One with the tile, and with multiplications of this width.
    Shared { multiply: Multiply, tile: Tile },
    /// The one without, because the bytes of the tile are more than the device's shared memory has.
    Constant { tile_bytes: u32 },
}

/// The part of the image that a block keeps in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// Rows.
    pub rows: u32,
}

impl Tile {
    /// Returns the tile of a block with one output per thread.
    pub fn of_block(template: (u32, u32)) -> Self {
        Self { pitch: BLOCK_X + template.0 - 1, rows: BLOCK_Y + template.1 - 1 }
    }

    /// Returns the bytes of shared memory.
    pub fn bytes(&self) -> u32 {
        self.pitch * self.rows
    }
}

impl Attributes {
    /// Returns the attributes of an open device.
    pub fn of(gpu: &Gpu) -> Result<Self> {
        let shared_bytes = gpu.context.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?.unsigned_abs();
        Ok(Self { compute_capability: gpu.info().compute_capability, shared_bytes })
    }
}

// ANCHOR: choose
impl Variant {
    /// Chooses the kernel for a device and a template's width and height.
    pub fn choose(device: Attributes, template: (u32, u32)) -> Self {
        let tile = Tile::of_block(template);
        if tile.bytes() > device.shared_bytes {
            return Variant::Constant { tile_bytes: tile.bytes() };
        }
        let multiply = if device.compute_capability < ComputeCapability::new(2, 0) { Multiply::Bits24 } else { Multiply::Bits32 };
        Variant::Shared { multiply, tile }
    }
}
// ANCHOR_END: choose

/// Returns the choice for a workload on an open device.
pub(crate) fn chosen(gpu: &Gpu, correlation: &Correlation) -> Result<Variant> {
    let template = correlation.template();
    Ok(Variant::choose(Attributes::of(gpu)?, (template.width, template.height)))
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Variant::Shared { multiply, tile } => {
                let bits = if *multiply == Multiply::Bits24 { 24 } else { 32 };
                write!(f, "tile of {} bytes in shared memory, multiplications of {bits} bits", tile.bytes())
            }
            Variant::Constant { tile_bytes } => {
                write!(f, "`constant`, because a tile of {tile_bytes} bytes does not fit a block's shared memory")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_of_the_choice_is_taken() {
        let device = |major, shared_bytes| Attributes { compute_capability: ComputeCapability::new(major, 0), shared_bytes };
        let tile = Tile { pitch: 83, rows: 59 };
        for (device, expected) in [
            (device(1, 16384), Variant::Shared { multiply: Multiply::Bits24, tile }),
            (device(2, 49152), Variant::Shared { multiply: Multiply::Bits32, tile }),
            (device(9, 49152), Variant::Shared { multiply: Multiply::Bits32, tile }),
            (device(9, 4896), Variant::Constant { tile_bytes: 4897 }),
        ] {
            assert_eq!(Variant::choose(device, (52, 52)), expected, "{device:?}");
        }
    }

    #[test]
    fn the_tile_of_the_largest_template_fits_no_device() {
        let most = Attributes { compute_capability: ComputeCapability::new(9, 0), shared_bytes: 49152 };
        assert!(matches!(Variant::choose(most, (256, 256)), Variant::Constant { .. }));
    }
}
