//! The product of two matrices of bf16 numbers on a device, and its command line: that of a product of f32 matrices, and more.

use clap::Args;
use cudarc::driver::CudaSlice;

use super::array::arrays;
use super::{Plan, Workload, matmul};
use crate::device::guard::Guarded;
use crate::{Gpu, Result};
use workloads::Problem;

pub use super::matmul::Size;
pub use workloads::matmul_half::{Demand, MatmulHalf, UNIT_ROUNDOFF};

/// The command-line options that only these products have.
#[derive(Clone, Debug, Default, Args)]
#[group(skip)]
pub struct Options {
    #[command(flatten)]
    matrices: matmul::Options,
    /// Round the matrices to 8-bit floats (e4m3), with a scale for each row of A and each column of B
    #[arg(long)]
    fp8: bool,
    /// Add a bias to each column, and replace negative results by 0
    #[arg(long)]
    bias: bool,
}

/// The matrices on a device, each row after row without gaps. Their numbers are bf16, as bits.
pub struct Buffers {
    /// `m * k` numbers.
    pub a: CudaSlice<u16>,
    /// `k * n` numbers.
    pub b: CudaSlice<u16>,
    /// `A`, and the transpose of `B`, in 8 bits, if their numbers are.
    pub quantized: Option<[Quantized; 2]>,
    /// A bias for each of the `n` columns, if there is one.
    pub bias: Option<CudaSlice<f32>>,
    /// Memory for `m * n` numbers.
    pub output: Guarded,
}

/// A matrix of 8-bit numbers on a device.
pub struct Quantized {
    /// The numbers, line after line without gaps.
    pub numbers: CudaSlice<u8>,
    /// A scale for each line.
    pub scales: CudaSlice<f32>,
}

impl Workload for MatmulHalf {
    type Options = Options;
    type Buffers = Buffers;
    arrays!(a, b);

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        let demand = Demand { fp8: options.fp8, bias: options.bias };
        let random = |size| Self::random(size, demand, seed);
        options.matrices.plan(gpu, random, |product| Self::of(product, demand, seed), Self::size)
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        let stream = &gpu.stream;
        let quantized = match self.quantized() {
            Some([a, b]) => {
                let upload = |matrix: &workloads::matmul_half::fp8::Quantized| -> Result<Quantized> {
                    Ok(Quantized { numbers: stream.clone_htod(&matrix.numbers)?, scales: stream.clone_htod(&matrix.scales)? })
                };
                Some([upload(a)?, upload(b)?])
            }
            None => None,
        };
        Ok(Buffers {
            a: stream.clone_htod(self.a())?,
            b: stream.clone_htod(self.b())?,
            quantized,
            bias: self.bias().map(|bias| stream.clone_htod(bias)).transpose()?,
            output: Guarded::of_bf16(gpu, self.output_len())?,
        })
    }
}
