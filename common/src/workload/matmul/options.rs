//! The part of the command line that only matrix products have, and the run that it asks for.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::{DEEPEST, LONGEST_SIDE, Matmul, Origin};
use crate::atomic_file::AtomicFile;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::npy::Matrix;
use crate::workload::image::number;
use crate::workload::{Delivery, Footprint, Plan, Workload};

/// The size at which results are compared.
pub const HEADLINE_SIZE: Size = Size { m: 4096, n: 4096, k: 4096 };

/// The original's example: a result of 80 x 48. It does not tell `k`; 64 is four of its tiles.
pub const SEED_SIZE: Size = Size { m: 80, n: 48, k: 64 };

/// Shows every effect, and a simulated GPU ends all rows of the chapter within seconds on two cores.
pub const TEACHING_SIZE: Size = Size { m: 256, n: 256, k: 128 };

/// The part of the command line that only matrix products have.
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

/// The sizes of a product of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows of `A` and of the result.
    pub m: u32,
    /// Columns of `B` and of the result.
    pub n: u32,
    /// Columns of `A` and rows of `B`.
    pub k: u32,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { m, n, k } = self;
        write!(f, "{m} x {k} times {k} x {n}")
    }
}

impl FromStr for Size {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "seed" {
            return Ok(SEED_SIZE);
        }
        let numbers: Option<Vec<u32>> = text.split(',').map(number).collect();
        let Some(&[m, n, k]) = numbers.as_deref() else {
            return Err(Error::Size {
                asked: format!("size {text:?}"),
                reason: "expected M, N and K as in 512,256,128, or `seed`".to_owned(),
            });
        };
        let size = Size { m, n, k };
        size.check()?;
        Ok(size)
    }
}

impl Size {
    /// Refuses what cannot be computed.
    pub(super) fn check(self) -> Result<()> {
        let Self { m, n, k } = self;
        let wrong = |reason: String| Err(Error::Size { asked: format!("a product of {self}"), reason });
        if [m, n, k].contains(&0) {
            return wrong("every side has at least one number".to_owned());
        }
        if m.max(n) > LONGEST_SIDE {
            return wrong(format!("the result has {LONGEST_SIDE} rows and columns at most"));
        }
        if k > DEEPEST {
            return wrong(format!("the matrices have {DEEPEST} in common at most"));
        }
        Ok(())
    }

    /// How much memory a product of this size takes.
    pub(super) fn footprint(self) -> Footprint {
        let [m, n, k] = [self.m, self.n, self.k].map(u64::from);
        let device_bytes = 4 * (m * k + k * n + m * n);
        // On the host the same once more, and for each output the oracle's two f64 and the value that came back.
        Footprint { device_bytes, host_bytes: device_bytes + 20 * m * n }
    }
}

/// The run that the command line asks for.
pub(super) fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Matmul>> {
    // Before the long run: nobody should wait for a result that cannot be written.
    let file = options.output.as_deref().map(AtomicFile::create).transpose()?;
    let product = match options.input.as_deref() {
        Some([a, b]) => {
            let name = |path: &PathBuf| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            let origin = Origin::Files { a: name(a), b: name(b) };
            Matmul { origin, ..Matmul::new(Matrix::read(a)?, Matrix::read(b)?)? }
        }
        _ => {
            let size = options.size.unwrap_or(if gpu.is_simulated() { TEACHING_SIZE } else { HEADLINE_SIZE });
            size.footprint().check(gpu)?;
            Matmul::random(size, seed)?
        }
    };
    product.footprint().check(gpu)?;
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
        product.write(&mut file).map_err(|source| Error::Write { path: path.clone(), source })?;
        file.commit()?;
        Ok(format!("wrote {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_those_that_cannot_be_are_refused() {
        assert_eq!("seed".parse::<Size>().unwrap(), SEED_SIZE);
        assert_eq!("2,3,4".parse::<Size>().unwrap(), Size { m: 2, n: 3, k: 4 });
        for text in [
            "",
            "2",
            "2,3",
            "2,3,4,5",
            "0,1,1",
            "1,0,1",
            "1,1,0",
            "-1,1,1",
            "x,1,1",
            "1048561,1,1",
            "1,1048561,1",
            "1,1,1073741825",
        ] {
            let error = text.parse::<Size>().expect_err(text).to_string();
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
