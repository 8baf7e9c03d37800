//! Filling memory with copies of an element.

use super::operation::Operation;
use super::prelude::*;
use super::stream::{self, DEFAULT};
use super::transfer::Fill;

fn fill<T: Into<u32>>(target: DevicePtr, pitch: usize, value: T, width: usize, rows: usize, stream: Handle) -> Result<()> {
    let (_, context) = context::current()?;
    stream::any(stream)?;
    let fill = Fill { target, pitch, value: value.into(), element_bytes: size_of::<T>(), width, rows };
    fill.check()?;
    stream::submit(stream, Operation::Fill(fill, context))
}

/// Exports the functions for a type of element: they fill a row or many, in the default stream or in any.
macro_rules! fills {
    ($($element:ident: $row:ident $row_later:ident $rows:ident $rows_later:ident;)*) => {
        exports! {
            $(
                fn $row(target: DevicePtr, value: $element, count: usize) also "_ptds" {
                    fill(target, 0, value, count, 1, DEFAULT)
                }

                fn $row_later(target: DevicePtr, value: $element, count: usize, stream: Handle) also "_ptsz" {
                    fill(target, 0, value, count, 1, stream)
                }

                fn $rows(target: DevicePtr, pitch: usize, value: $element, width: usize, height: usize) also "_ptds" {
                    fill(target, pitch, value, width, height, DEFAULT)
                }

                fn $rows_later(
                    target: DevicePtr,
                    pitch: usize,
                    value: $element,
                    width: usize,
                    height: usize,
                    stream: Handle,
                ) also "_ptsz" {
                    fill(target, pitch, value, width, height, stream)
                }
            )*
        }
    };
}

fills! {
    u8: cuMemsetD8_v2 cuMemsetD8Async cuMemsetD2D8_v2 cuMemsetD2D8Async;
    u16: cuMemsetD16_v2 cuMemsetD16Async cuMemsetD2D16_v2 cuMemsetD2D16Async;
    u32: cuMemsetD32_v2 cuMemsetD32Async cuMemsetD2D32_v2 cuMemsetD2D32Async;
}
