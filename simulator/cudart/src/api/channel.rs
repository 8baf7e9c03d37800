//! The description of an element of an array or a texture.

use std::ffi::c_int;

use crate::driver::{self, ArrayDescriptor};
use crate::error::{Code, Result};
use crate::export::plain_exports;
use crate::pointer::{Handle, Ptr};

/// The sizes of components, and `CU_AD_FORMAT_…` for each of them: signed, unsigned and floating-point numbers. 0 is none.
const BITS: [c_int; 3] = [8, 16, 32];
const FORMATS: [[u32; 3]; 3] = [[8, 9, 10], [1, 2, 3], [0, 0x10, 0x20]];

/// `cudaChannelFormatDesc`: the bits of each component, and whether they are signed, unsigned or floating-point numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelFormat {
    bits: [c_int; 4],
    kind: c_int,
}

impl ChannelFormat {
    /// Returns the driver's format and the number of components.
    pub fn of_driver(self) -> Result<(u32, u32)> {
        let of_kind = |first: u32, kind: c_int| Ok((first + (self.kind - kind) as u32, 4));
        match self.kind {
            // The driver refuses these by name: `CU_AD_FORMAT_NV12`, normalized integers, compressed blocks, and 10 bits.
            4 => return of_kind(0xb0, 4),
            5..=16 => return of_kind(0xc0, 5),
            17..=30 => return of_kind(0x91, 17),
            31 => return of_kind(0x50, 31),
            _ => {}
        }
        let channels = self.bits.iter().take_while(|&&bits| bits != 0).count();
        let is_even = self.bits[..channels].iter().all(|&bits| bits == self.bits[0]) && self.bits[channels..] == [0; 4][channels..];
        let size = BITS.iter().position(|&bits| bits == self.bits[0]);
        let format = FORMATS.get(self.kind as usize).zip(size).map_or(0, |(formats, size)| formats[size]);
        if !is_even || !matches!(channels, 1 | 2 | 4) || format == 0 {
            return Err(Code::INVALID_CHANNEL_DESCRIPTOR);
        }
        Ok((format, channels as u32))
    }

    /// Returns the description for what the driver says.
    pub fn of(format: u32, channels: u32) -> Self {
        let mut found = Self::default();
        for (kind, formats) in FORMATS.iter().enumerate() {
            if let Some(size) = formats.iter().position(|&other| other == format && format != 0) {
                found.kind = kind as c_int;
                found.bits[..channels as usize].fill(BITS[size]);
            }
        }
        found
    }

    /// Returns an array's elements, and what the driver says about it.
    pub fn of_array(array: Handle) -> Result<(Self, ArrayDescriptor)> {
        let descriptor: ArrayDescriptor = Ptr::written(|found| driver::cuArray3DGetDescriptor_v2(found, array))?;
        Ok((Self::of(descriptor.format, descriptor.channels), descriptor))
    }

    pub fn is_integer(self) -> bool {
        self.kind < 2
    }

    pub fn bytes(self) -> usize {
        self.bits.iter().sum::<c_int>() as usize / 8
    }
}

plain_exports! {
    /// Returns the description of an element. It cannot fail.
    fn cudaCreateChannelDesc(x: c_int, y: c_int, z: c_int, w: c_int, kind: c_int) -> ChannelFormat {
        ChannelFormat { bits: [x, y, z, w], kind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_nvidias_headers() {
        assert_eq!(size_of::<ChannelFormat>(), 20);
    }

    #[test]
    fn the_driver_has_a_format_for_one_two_or_four_equal_components() {
        for (bits, kind, expected) in [
            ([32, 0, 0, 0], 2, Ok((0x20, 1))),
            ([16, 16, 0, 0], 2, Ok((0x10, 2))),
            ([8, 8, 8, 8], 1, Ok((1, 4))),
            ([8, 0, 0, 0], 2, Err(Code::INVALID_CHANNEL_DESCRIPTOR)),
            ([32, 32, 32, 0], 2, Err(Code::INVALID_CHANNEL_DESCRIPTOR)),
            ([32, 0, 32, 0], 0, Err(Code::INVALID_CHANNEL_DESCRIPTOR)),
            ([0; 4], 0, Err(Code::INVALID_CHANNEL_DESCRIPTOR)),
            ([32, 0, 0, 0], 3, Err(Code::INVALID_CHANNEL_DESCRIPTOR)),
        ] {
            let format = ChannelFormat { bits, kind };
            assert_eq!(format.of_driver(), expected, "{format:?}");
            if let Ok((of_driver, channels)) = expected {
                assert_eq!(ChannelFormat::of(of_driver, channels), format);
            }
        }
    }
}
