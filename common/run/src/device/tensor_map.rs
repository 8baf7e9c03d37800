//! Tensor maps: how a matrix lies in memory, for the engine that copies boxes of it to shared memory (TMA).
//!
//! cudarc has the driver's function and no more. A map is 128 bytes that only the driver and the engine understand.

use std::ffi::c_void;

use crate::Result;
use cudarc::driver::DeviceRepr;
use cudarc::driver::sys::CUtensorMapDataType::{CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_UINT8};
use cudarc::driver::sys::{
    CUdeviceptr, CUtensorMap, CUtensorMapDataType, CUtensorMapFloatOOBfill_enum, CUtensorMapInterleave_enum,
    CUtensorMapL2promotion, CUtensorMapSwizzle_enum, cuTensorMapEncodeTiled,
};

/// A map, which a kernel takes as a `__grid_constant__` parameter.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct TensorMap(CUtensorMap);

// SAFETY: a map is 128 bytes at a multiple of 64, as the kernels declare it, and any copy of it is as good.
unsafe impl DeviceRepr for TensorMap {}

/// A matrix in device memory, of which boxes are copied. Its rows are stored without gaps.
pub struct Boxes {
    /// Where the matrix starts: at a multiple of 16 bytes.
    pub matrix: CUdeviceptr,
    /// The rows of the matrix.
    pub rows: u32,
    /// The columns of the matrix. Its rows are multiples of 16 bytes.
    pub columns: u32,
    /// The rows of a box.
    pub box_rows: u32,
    /// The columns of a box.
    pub box_columns: u32,
    /// The type of its numbers: `TFLOAT32` rounds f32 numbers to 11 binary digits on the way, the others are copied as they are.
    pub numbers: CUtensorMapDataType,
    /// How many neighboring bytes come into the L2 cache together.
    pub promotion: CUtensorMapL2promotion,
}

impl Boxes {
    // ANCHOR: map
    /// Makes the map. In shared memory, the 16-byte chunks of each row of a box are permuted so that 8 rows of a column
    /// are in different banks. Fails for sizes that the engine cannot copy.
    pub fn map(&self) -> Result<TensorMap> {
        let mut map = CUtensorMap { opaque: [0; 16] };
        let sides = [u64::from(self.columns), u64::from(self.rows)];
        let bytes = match self.numbers {
            CU_TENSOR_MAP_DATA_TYPE_UINT8 => 1,
            CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 => 2,
            _ => 4,
        };
        let bytes_of_a_row = [u64::from(self.columns) * bytes];
        let sides_of_a_box = [self.box_columns, self.box_rows];
        let every_number = [1, 1];
        // SAFETY: the arrays have an entry for each of the two dimensions (the strides: for each but the first), and the
        // driver only writes the map.
        unsafe {
            cuTensorMapEncodeTiled(
                &mut map,
                self.numbers,
                2,
                self.matrix as *mut c_void,
                sides.as_ptr(),
                bytes_of_a_row.as_ptr(),
                sides_of_a_box.as_ptr(),
                every_number.as_ptr(),
                CUtensorMapInterleave_enum::CU_TENSOR_MAP_INTERLEAVE_NONE,
                CUtensorMapSwizzle_enum::CU_TENSOR_MAP_SWIZZLE_128B,
                self.promotion,
                CUtensorMapFloatOOBfill_enum::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        }
        .result()?;
        Ok(TensorMap(map))
    }
    // ANCHOR_END: map
}
