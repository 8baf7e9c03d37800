//! Checks of a map: the limits that `cuTensorMapEncodeTiled` documents.

use super::{Interleave, TensorMap};

/// The most elements of a dimension.
const MOST_ELEMENTS: u64 = 1 << 32;
/// Strides are below this.
const STRIDE_LIMIT: u64 = 1 << 40;
/// The most elements of a box in a dimension.
const MOST_OF_BOX: u32 = 256;
/// The most bytes of a box: the most shared memory that a block has. The driver for an H200 refuses 256 KiB; its limit is not documented.
const MOST_BYTES: u64 = 227 << 10;
/// The largest step.
const MOST_STEP: u32 = 8;

impl TensorMap {
    /// Checks that a GPU could use the map.
    ///
    /// # Errors
    ///
    /// The rule that it breaks.
    pub fn check(&self) -> Result<(), String> {
        let Self { element, rank, address, interleave, swizzle, .. } = *self;
        let refuse_unless = |holds: bool, rule: &dyn Fn() -> String| if holds { Ok(()) } else { Err(rule()) };
        let align = if interleave == Interleave::Bytes32 { 32 } else { 16 };
        refuse_unless((1..=5).contains(&rank), &|| format!("a tensor has 1 to 5 dimensions, not {rank}"))?;
        refuse_unless(address.is_multiple_of(align), &|| format!("the tensor's address {address:#x} is no multiple of {align}"))?;
        let least = if interleave == Interleave::None { 1 } else { 3 };
        refuse_unless(rank >= least, &|| format!("an interleaved tensor has {least} dimensions or more, not {rank}"))?;
        for dimension in 0..rank as usize {
            let (extent, of_box, step) = (self.extents[dimension], self.box_extents[dimension], self.steps[dimension]);
            refuse_unless((1..=MOST_ELEMENTS).contains(&extent), &|| {
                format!("dimension {dimension} has {extent} elements: there must be 1 to 2^32")
            })?;
            refuse_unless((1..=MOST_OF_BOX).contains(&of_box), &|| {
                format!("the box has {of_box} elements in dimension {dimension}: there must be 1 to {MOST_OF_BOX}")
            })?;
            refuse_unless((1..=MOST_STEP).contains(&step), &|| {
                format!("the element stride of dimension {dimension} is {step}: it must be 1 to {MOST_STEP}")
            })?;
        }
        for (index, stride) in self.strides.iter().enumerate().take(rank as usize - 1) {
            refuse_unless(stride.is_multiple_of(align) && *stride < STRIDE_LIMIT, &|| {
                format!("the stride of dimension {} is {stride} bytes: it must be a multiple of {align} below 2^40", index + 1)
            })?;
        }
        let row = self.row_bytes();
        refuse_unless(row.is_multiple_of(16), &|| format!("a row of the box has {row} bytes, which is no multiple of 16"))?;
        // The documentation also wants 32-byte swizzle with 32-byte interleave, and the driver for an H200 does not.
        if let (Interleave::None, Some(span)) = (interleave, swizzle.span()) {
            refuse_unless(row <= span, &|| format!("a row of the box has {row} bytes, and the swizzle takes {span} at most"))?;
        }
        let bytes = self.box_bytes();
        refuse_unless(bytes <= MOST_BYTES, &|| format!("the box has {bytes} bytes, more than the shared memory of a block"))?;
        refuse_unless(!self.fills_with_nan || element.is_float(), &|| "only floats can be filled with NaN".to_owned())
    }
}
