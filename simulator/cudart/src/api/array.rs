//! Arrays, of which this library has only the description of an element: a pure function, which returns no error that could refuse it.

use std::ffi::c_int;

use crate::export::plain_exports;

/// `cudaChannelFormatDesc`: the bits of each component, and whether they are signed, unsigned or floating-point numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ChannelFormat {
    bits: [c_int; 4],
    kind: c_int,
}

plain_exports! {
    /// Returns the description of an element.
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
}
