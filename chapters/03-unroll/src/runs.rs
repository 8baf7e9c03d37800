//! The launches of the kernels whose threads have runs of outputs.

use cudarc::driver::{CudaSlice, CudaViewMut, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::unroll::{ADD_SLICES, BLOCK, C_FILTER, CONSTANT_TAPS, RUN, RUN_THREADS, SLOTS, SOURCE};
use run::planner::{Slices, partial_sums};
use run::workload::convolution::{Buffers, Convolution};
use run::{Gpu, Prepared, Result};

use crate::slices::{cut, filter};

/// Returns a grid for `run` outputs per thread and `slices` slices.
fn grid(outputs: u32, run: u32, slices: u32) -> LaunchConfig {
    let tiles = outputs.div_ceil(run * RUN_THREADS);
    LaunchConfig { grid_dim: (tiles, slices, 1), block_dim: (RUN_THREADS, 1, 1), shared_mem_bytes: 0 }
}

/// Launches a kernel with `register_tile`'s parameters, the filter as one slice: a block computes its outputs to the end.
pub fn whole_filter(kernel: Kernel, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(kernel)?;
    let (outputs, taps, whole) = (conv.outputs(), conv.taps(), filter(conv.taps()).whole());
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&whole.length).arg(&mut output);
    // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values, and writes `outputs` results for
    // each slice, of which there is one; the workload made the buffers with those lengths.
    unsafe { launch.launch(grid(outputs, RUN, whole.count)) }?;
    Ok(())
}

// ANCHOR: split_filter
/// The same kernel on slices of the filter. A second kernel adds up the partial sums.
pub struct SplitFilter {
    slices: Slices,
    partial: CudaSlice<f32>,
}

impl SplitFilter {
    /// Cuts the filter for this GPU and allocates the partial sums.
    pub fn prepare(gpu: &Gpu, conv: &Convolution) -> Result<Self> {
        let kernel = gpu.kernel(kernels::unroll::REGISTER_TILE)?;
        let slices = cut(gpu, &kernel, RUN, conv.outputs(), conv.taps())?;
        Ok(Self { slices, partial: partial_sums(gpu, slices.count, conv.outputs() as usize)? })
    }
}

impl Prepared<Convolution> for SplitFilter {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let kernel = gpu.kernel(kernels::unroll::REGISTER_TILE)?;
        let (outputs, taps, slices) = (conv.outputs(), conv.taps(), self.slices);
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&slices.length).arg(&mut self.partial);
        // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values, and writes `outputs` partial
        // sums for each slice; the workload made the buffers with those lengths, and `prepare` made `partial` for all
        // slices.
        unsafe { launch.launch(grid(outputs, RUN, slices.count)) }?;
        add_slices(gpu, &self.partial, outputs, slices.count, &mut buffers.output.view_mut())
    }
}

/// Adds up the partial sums of all slices. Each slice has a row of `outputs`.
pub(crate) fn add_slices(
    gpu: &Gpu,
    partial: &CudaSlice<f32>,
    outputs: u32,
    slices: u32,
    output: &mut CudaViewMut<'_, f32>,
) -> Result<()> {
    let kernel = gpu.kernel(ADD_SLICES)?;
    let config = LaunchConfig { grid_dim: (outputs.div_ceil(BLOCK), 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 };
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(partial).arg(&outputs).arg(&slices).arg(output);
    // SAFETY: the kernel reads `slices` rows of `outputs` partial sums and writes `outputs` results; the stage made
    // `partial` with that many rows, and its first kernel has written them; `output` has `outputs` values.
    unsafe { launch.launch(config) }?;
    Ok(())
}
// ANCHOR_END: split_filter

// ANCHOR: constant_filter
/// The filter in pieces that fit constant memory. Each piece is copied there and then convolved, in slices, with the
/// samples from its first tap on.
pub struct ConstantFilter {
    kernel: Kernel,
    run: u32,
    piece: u32,
    slices: Slices,
    partial: CudaSlice<f32>,
}

impl ConstantFilter {
    /// Plans a kernel's pieces and allocates the partial sums. Each thread has `run` outputs.
    pub fn prepare(gpu: &Gpu, conv: &Convolution, kernel: Kernel, run: u32) -> Result<Self> {
        let (outputs, taps) = (conv.outputs(), conv.taps());
        let piece = taps.div_ceil(taps.div_ceil(CONSTANT_TAPS)).next_multiple_of(SLOTS);
        let slices = cut(gpu, &gpu.kernel(kernel)?, run, outputs, piece)?;
        let rows = taps.div_ceil(piece) * slices.count;
        Ok(Self { kernel, run, piece, slices, partial: partial_sums(gpu, rows, outputs as usize)? })
    }
}

impl Prepared<Convolution> for ConstantFilter {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let kernel = gpu.kernel(self.kernel)?;
        let outputs = conv.outputs();
        let mut rows = 0;
        for start in (0..conv.taps()).step_by(self.piece as usize) {
            let taps = self.piece.min(conv.taps() - start);
            copy_to_constant_memory(gpu, buffers, start, taps)?;
            let slices = taps.div_ceil(self.slices.length);
            let signal = buffers.signal.slice(start as usize..);
            let mut partial = self.partial.slice_mut(rows as usize * outputs as usize..);
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&signal).arg(&outputs).arg(&taps).arg(&self.slices.length).arg(&mut partial);
            // SAFETY: the kernel reads `outputs + taps - 1` samples, which the workload's signal has from `start` on;
            // it reads `taps` values of `c_filter` and zeros after them up to a multiple of `SLOTS`, which were just
            // copied there; and it writes a row of `outputs` partial sums for each slice, for which `prepare` made
            // `partial`.
            unsafe { launch.launch(grid(outputs, self.run, slices)) }?;
            rows += slices;
        }
        add_slices(gpu, &self.partial, outputs, rows, &mut buffers.output.view_mut())
    }
}

/// Copies `taps` filter values from `start` to the kernel's constant memory. Adds zeros after them up to a multiple of
/// [`SLOTS`].
fn copy_to_constant_memory(gpu: &Gpu, buffers: &Buffers, start: u32, taps: u32) -> Result<()> {
    let (start, taps) = (start as usize, taps as usize);
    let module = gpu.module(&SOURCE)?;
    let mut bytes = module.get_global(C_FILTER, &gpu.stream)?;
    // SAFETY: `c_filter` is an array of `CONSTANT_TAPS` floats, a constant that a test compares with the `.cu`; every
    // bit pattern is an f32.
    let mut c_filter = unsafe { bytes.transmute_mut::<f32>(CONSTANT_TAPS as usize) }.expect("the array has that length");
    gpu.stream.memcpy_dtod(&buffers.filter.slice(start..start + taps), &mut c_filter.slice_mut(..taps))?;
    let padded = taps.next_multiple_of(SLOTS as usize);
    if padded > taps {
        gpu.stream.memset_zeros(&mut c_filter.slice_mut(taps..padded))?;
    }
    Ok(())
}
// ANCHOR_END: constant_filter
