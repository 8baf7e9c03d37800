//! Tensor maps: how a kernel tells the Tensor Memory Accelerator what to copy.
//!
//! A map is 128 bytes that only the driver and the device understand. [`simt::tensor_map`] lays them out and has the rules.

use simt::tensor_map::{BYTES, Element, Interleave, Swizzle, TensorMap};

use super::prelude::*;

/// `CU_TENSOR_MAP_L2_PROMOTION_L2_256B`, the last of them. They say how much the L2 cache fetches, which is not modeled.
const LAST_PROMOTION: u32 = 3;

/// The lowest compute capability that has tensor maps.
const SINCE: (u32, u32) = (9, 0);

type Bytes = [u8; BYTES];

/// Reads the first elements of the caller's array, with zeros after them.
fn array<T: Copy + Default, const N: usize>(from: In<T>, count: usize) -> Result<[T; N]> {
    let mut elements = [T::default(); N];
    refuse!(INVALID_VALUE if from.is_null());
    for (index, element) in elements.iter_mut().enumerate().take(count) {
        *element = from.read_nth(index)?;
    }
    Ok(elements)
}

/// Returns one of the kinds that a number stands for.
fn kind<T: Copy>(all: &[T], number: u32, what: &str) -> Result<T> {
    let kind = all.get(number as usize).copied();
    kind.ok_or_else(|| CuResult::INVALID_VALUE.because(format!("{number} is not {what} of a tensor map for this GPU")))
}

fn check(map: &TensorMap) -> Result<()> {
    map.check().map_err(|rule| CuResult::INVALID_VALUE.because(format!("tensor map: {rule}")))
}

/// Refuses on GPUs without the copies that read tensor maps.
fn check_gpu() -> Result<()> {
    let profile = driver()?.profile;
    refuse!(
        NOT_SUPPORTED if profile.compute_capability < SINCE,
        "{} has no tensor maps, which exist from compute capability 9.0 on", profile.name
    );
    Ok(())
}

exports! {
    fn cuTensorMapEncodeTiled(
        map: Out<Bytes>, element: u32, rank: u32, address: u64, extents: In<u64>, strides: In<u64>, box_extents: In<u32>,
        steps: In<u32>, interleave: u32, swizzle: u32, promotion: u32, fill: u32,
    ) {
        check_gpu()?;
        map.check()?;
        refuse!(INVALID_VALUE if !(1..=5).contains(&rank) || promotion > LAST_PROMOTION || fill > 1);
        let dimensions = rank as usize;
        let encoded = TensorMap {
            element: kind(&Element::ALL, element, "a data type")?,
            rank,
            address,
            extents: array(extents, dimensions)?,
            strides: array(strides, dimensions - 1)?,
            box_extents: array(box_extents, dimensions)?,
            steps: array(steps, dimensions)?,
            interleave: kind(&Interleave::ALL, interleave, "an interleave")?,
            swizzle: kind(&Swizzle::ALL, swizzle, "a swizzle")?,
            fills_with_nan: fill == 1,
        };
        check(&encoded)?;
        map.put(encoded.encode())
    }

    fn cuTensorMapReplaceAddress(map: Out<Bytes>, address: u64) {
        check_gpu()?;
        let encoded = TensorMap::decode(&map.as_in().read()?).ok_or(CuResult::INVALID_VALUE)?;
        let encoded = TensorMap { address, ..encoded };
        check(&encoded)?;
        map.put(encoded.encode())
    }
}
