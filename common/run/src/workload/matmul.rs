//! The product of two matrices on a device, and its command line.

use std::path::PathBuf;

use clap::Args;
use cudarc::driver::CudaSlice;
use serde_json::json;

use super::array::arrays;
use super::{Delivery, Plan, Workload, check_memory, size_for};
use crate::device::guard::Guarded;
use crate::files::atomic_file::AtomicFile;
use crate::files::input_file;
use crate::files::npy::{self, Matrix};
use crate::{Error, Gpu, Result};
use workloads::Problem;
use workloads::origin::Origin;

pub use workloads::matmul::{DEEPEST, HEADLINE_SIZE, LONGEST_SIDE, Matmul, SEED_SIZE, Size, TEACHING_SIZE};

/// The command-line options that only matrix products have.
#[derive(Clone, Debug, Default, Args)]
pub struct Options {
    /// Rows of A, columns of B, and what they have in common, for example 512,256,128; `seed` is 80,48,64
    #[arg(long, value_name = "M,N,K")]
    pub size: Option<Size>,
    /// Two matrices of f32 values to multiply, .npy files
    #[arg(long, value_name = "NPY", num_args = 2, conflicts_with = "size")]
    pub input: Option<Vec<PathBuf>>,
    /// Where to write the product, a .npy file
    #[arg(long, value_name = "NPY")]
    pub output: Option<PathBuf>,
}

impl Options {
    /// Plans a product: of the files' matrices, `of` which the workload is made, or of random ones.
    pub(super) fn plan<W: Problem>(
        &self,
        gpu: &Gpu,
        random: impl FnOnce(Size) -> workloads::error::Result<W>,
        of: impl FnOnce(Matmul) -> workloads::error::Result<W>,
        size_of: fn(&W) -> Size,
    ) -> Result<Plan<W>> {
        // Before the long run, so that the user does not wait for a result that cannot be written.
        let file = self.output.as_deref().map(AtomicFile::create).transpose()?;
        let product = match self.input.as_deref() {
            Some([a, b]) => {
                let (first, second) = (input_file::name(a), input_file::name(b));
                let words = format!("{first} times {second}");
                let origin = Origin::Files { words, names: vec![("a", json!(first)), ("b", json!(second))] };
                let (a, b) = (npy::open(a)?, npy::open(b)?);
                // Before gigabytes of values are read that do not fit.
                check_memory(Size::of_product((a.rows, a.columns), (b.rows, b.columns))?.footprint(), gpu)?;
                of(Matmul::new(a.read()?, b.read()?)?.with_origin(origin))?
            }
            _ => random(size_for(gpu, self.size, [TEACHING_SIZE, HEADLINE_SIZE], Size::footprint)?)?,
        };
        let delivery = file
            .map(|file| -> Delivery<W> { Box::new(move |parts, outputs| write_product(file, size_of(&parts[0]), &outputs[0])) });
        Plan::of(product, delivery, gpu)
    }
}

/// The matrices on a device, each row after row without gaps.
pub struct Buffers {
    /// `m * k` values.
    pub a: CudaSlice<f32>,
    /// `k * n` values.
    pub b: CudaSlice<f32>,
    /// Memory for `m * n` values.
    pub output: Guarded,
}

impl Workload for Matmul {
    type Options = Options;
    type Buffers = Buffers;
    arrays!(a, b);

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        options.plan(gpu, |size| Self::random(size, seed), Ok, Self::size)
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            a: gpu.stream.clone_htod(self.a())?,
            b: gpu.stream.clone_htod(self.b())?,
            output: Guarded::new(gpu, self.output_len())?,
        })
    }
}

fn write_product(mut file: AtomicFile, Size { m, n, .. }: Size, values: &[f32]) -> Result<String> {
    let product = Matrix { rows: m as usize, columns: n as usize, values: values.to_vec() };
    let path = file.path().to_owned();
    npy::write(&product, &mut file).map_err(|error| Error::Encode { what: "matrix", reason: error.to_string() })?;
    file.commit()?;
    Ok(format!("wrote {}", path.display()))
}
