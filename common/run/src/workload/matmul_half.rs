//! The product of two matrices of bf16 numbers on a device, and its command line: that of a product of f32 matrices.

use cudarc::driver::CudaSlice;

use super::array::arrays;
use super::{Plan, Workload};
use crate::device::guard::Guarded;
use crate::{Gpu, Result};
use workloads::Problem;

pub use super::matmul::{Options, Size};
pub use workloads::matmul_half::MatmulHalf;

/// The matrices on a device, each row after row without gaps. Their numbers are bf16, as bits.
pub struct Buffers {
    /// `m * k` numbers.
    pub a: CudaSlice<u16>,
    /// `k * n` numbers.
    pub b: CudaSlice<u16>,
    /// Memory for `m * n` numbers, and for one more if that is odd.
    pub output: Guarded,
}

impl Workload for MatmulHalf {
    type Options = Options;
    type Buffers = Buffers;
    arrays!(a, b);

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        options.plan(gpu, |size| Self::random(size, seed), Self::of, Self::size)
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            a: gpu.stream.clone_htod(self.a())?,
            b: gpu.stream.clone_htod(self.b())?,
            output: Guarded::of_bf16(gpu, self.output_len())?,
        })
    }
}
