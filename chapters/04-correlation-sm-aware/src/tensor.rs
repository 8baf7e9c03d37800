//! The stage that computes the sums of products as products of matrices, on tensor cores.

use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::correlation::tensor::{BAND_WORDS, CHUNK, FILL_BANDS, TALL, TENSOR, WIDE};
use kernels::correlation::{BLOCK_X, BLOCK_Y};
use run::workload::correlation::{Buffers, Correlation};
use run::{Gpu, Prepared, Result, Stage};

use crate::packed::BoxSums;
use crate::shape::Shape;

/// Rows of pixels times bands of the template: 4096 multiply-adds of bytes per instruction of a warp.
pub const TENSOR_CORES: Stage<Correlation> =
    Stage::prepared("tensor", "the sums of products as products of matrices, on tensor cores", |gpu, correlation| {
        let words = band_words(correlation) as usize;
        Ok(Box::new(Tensor { sums: BoxSums::new(gpu, correlation)?, bands: gpu.stream.alloc_zeros(words)? }))
    })
    .needs_compute_capability(8, 0);

/// Returns the words of all bands of the template.
fn band_words(correlation: &Correlation) -> u32 {
    let template = correlation.template();
    template.width.div_ceil(CHUNK) * template.height * BAND_WORDS
}

/// Sums independent of the template, and memory for the template's bands.
struct Tensor {
    sums: BoxSums,
    bands: CudaSlice<u32>,
}

impl Prepared<Correlation> for Tensor {
    fn enqueue(&mut self, gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
        const THREADS: u32 = 256;
        self.sums.sum(gpu, correlation, buffers)?;

        let fill_bands = gpu.kernel(FILL_BANDS)?;
        let (width, height) = (correlation.template().width as i32, correlation.template().height as i32);
        let mut launch = gpu.stream.launch_builder(&fill_bands);
        launch.arg(&buffers.template).arg(&width).arg(&height).arg(&mut self.bands);
        let blocks = band_words(correlation).div_ceil(THREADS);
        // SAFETY: the kernel reads `width * height` pixels, the length of the workload's template, and writes
        // `band_words` words, the length with which the stage made `bands`.
        unsafe { launch.launch(LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }) }?;

        let tensor = gpu.kernel(TENSOR)?;
        let shape = Shape::of(correlation);
        let (columns, rows) = correlation.outputs();
        let mut output = buffers.output.view_mut();
        let mut launch = gpu.stream.launch_builder(&tensor);
        launch.arg(&buffers.image).arg(&self.bands).arg(&self.sums.of_windows).arg(&shape).arg(&mut output);
        let config = LaunchConfig {
            grid_dim: (columns.div_ceil(WIDE), rows.div_ceil(TALL), 1),
            block_dim: (BLOCK_X, BLOCK_Y, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: the kernel reads the image, with positions outside moved to its edge, and writes a result for each
        // output; the workload made the buffers with those lengths, which `shape` gives. It reads the bands, which the
        // kernel before it wrote, and a pair of `of_windows` for each output, which `sum` has written.
        unsafe { launch.launch(config) }?;
        Ok(())
    }
}
