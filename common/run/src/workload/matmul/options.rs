//! The command-line options that only matrix products have, and the run that they ask for.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::atomic_file::AtomicFile;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::input_file;
use crate::npy::{self, Matrix};
use crate::workload::{Delivery, Plan, check_memory};
use workloads::Problem;
use workloads::matmul::{HEADLINE_SIZE, Matmul, Size, TEACHING_SIZE};
use workloads::origin::Origin;

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

/// The run that the command line asks for.
pub(super) fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Matmul>> {
    // Before the long run, so that nobody waits for a result that cannot be written.
    let file = options.output.as_deref().map(AtomicFile::create).transpose()?;
    let product = match options.input.as_deref() {
        Some([a, b]) => {
            let (first, second) = (input_file::name(a), input_file::name(b));
            let origin =
                Origin::Files { words: format!("{first} times {second}"), names: vec![("a", json!(first)), ("b", json!(second))] };
            let (a, b) = (npy::open(a)?, npy::open(b)?);
            // Before gigabytes of values are read that do not fit.
            check_memory(Size::of_product((a.rows, a.columns), (b.rows, b.columns))?.footprint(), gpu)?;
            Matmul::new(a.read()?, b.read()?)?.with_origin(origin)
        }
        _ => {
            let size = options.size.unwrap_or(if gpu.is_simulated() { TEACHING_SIZE } else { HEADLINE_SIZE });
            check_memory(size.footprint(), gpu)?;
            Matmul::random(size, seed)?
        }
    };
    check_memory(product.footprint(), gpu)?;
    let delivery = file.map(|file| Box::new(Product { file }) as Box<dyn Delivery<Matmul>>);
    Ok(Plan { parts: vec![product], delivery })
}

/// Writes the product.
struct Product {
    file: AtomicFile,
}

impl Delivery<Matmul> for Product {
    fn deliver(self: Box<Self>, parts: &[Matmul], outputs: &[Vec<f32>]) -> Result<String> {
        let mut file = self.file;
        let Size { m, n, .. } = parts[0].size();
        let product = Matrix { rows: m as usize, columns: n as usize, values: outputs[0].clone() };
        let path = file.path().to_owned();
        npy::write(&product, &mut file).map_err(|error| Error::Encode { what: "matrix", reason: error.to_string() })?;
        file.commit()?;
        Ok(format!("wrote {}", path.display()))
    }
}
