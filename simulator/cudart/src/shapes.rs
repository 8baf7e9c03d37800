//! The structures with which programs describe boxes of memory.

use crate::pointer::Address;

/// `cudaPitchedPtr`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Pitched {
    pub address: Address,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `cudaExtent`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

impl From<Extent> for [usize; 3] {
    fn from(Extent { width, height, depth }: Extent) -> Self {
        [width, height, depth]
    }
}
