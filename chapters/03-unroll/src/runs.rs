//! Launches of the kernels whose threads have runs of outputs.

use common::Result;
use common::gpu::Gpu;
use common::stage::Prepared;
use common::workload::Convolution;
use common::workload::convolution::Buffers;
use cudarc::driver::{CudaSlice, CudaViewMut, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::unroll::{ADD_SLICES, BLOCK, C_FILTER, CONSTANT_TAPS, RUN, RUN_THREADS, SLOTS, SOURCE};

use crate::slices::{Room, Slices};

/// A grid with so many outputs per thread, and the filter in slices.
fn grid(outputs: u32, run: u32, slices: Slices) -> LaunchConfig {
    let tiles = outputs.div_ceil(run * RUN_THREADS);
    LaunchConfig { grid_dim: (tiles, slices.count, 1), block_dim: (RUN_THREADS, 1, 1), shared_mem_bytes: 0 }
}

/// How the filter is cut for a kernel, with what this GPU can hold of it.
fn cut(gpu: &Gpu, kernel: Kernel, run: u32, outputs: u32, taps: u32) -> Result<Slices> {
    let room = Room::of(gpu, &gpu.kernel(kernel)?, RUN_THREADS)?;
    Ok(Slices::choose(outputs.div_ceil(run * RUN_THREADS), taps, room))
}

/// Memory that kernels write before any reads it.
fn scratch(gpu: &Gpu, len: usize) -> Result<CudaSlice<f32>> {
    // SAFETY: any bits are an f32, and each launch writes the partial sums before the next one reads them.
    Ok(unsafe { gpu.stream.alloc(len) }?)
}

// ANCHOR: register_tile
/// The whole filter as one slice: a block computes its outputs to the end.
pub fn register_tile(gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(kernels::unroll::REGISTER_TILE)?;
    let (outputs, taps, slices) = (conv.outputs(), conv.taps(), Slices::whole(conv.taps()));
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&slices.taps).arg(&mut output);
    // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values and writes `outputs` results for each slice, of
    // which there is one; the workload made the buffers with those lengths.
    unsafe { launch.launch(grid(outputs, RUN, slices)) }?;
    Ok(())
}
// ANCHOR_END: register_tile

// ANCHOR: split_filter
/// The same kernel on slices of the filter, and a second one for the partial sums.
pub struct SplitFilter {
    slices: Slices,
    partial: CudaSlice<f32>,
}

impl SplitFilter {
    /// Cuts the filter for this GPU, and takes memory for the partial sums.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    pub fn prepare(gpu: &Gpu, conv: &Convolution) -> Result<Self> {
        let slices = cut(gpu, kernels::unroll::REGISTER_TILE, RUN, conv.outputs(), conv.taps())?;
        Ok(Self { slices, partial: scratch(gpu, slices.count as usize * conv.outputs() as usize)? })
    }
}

impl Prepared<Convolution> for SplitFilter {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let kernel = gpu.kernel(kernels::unroll::REGISTER_TILE)?;
        let (outputs, taps, slices) = (conv.outputs(), conv.taps(), self.slices);
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&slices.taps).arg(&mut self.partial);
        // SAFETY: as above, with a row of `outputs` partial sums for each slice; `partial` has room for as many.
        unsafe { launch.launch(grid(outputs, RUN, slices)) }?;
        add_slices(gpu, &self.partial, outputs, slices.count, &mut buffers.output.view_mut())
    }
}

/// Adds up rows of partial sums.
pub(crate) fn add_slices(
    gpu: &Gpu,
    partial: &CudaSlice<f32>,
    outputs: u32,
    rows: u32,
    output: &mut CudaViewMut<'_, f32>,
) -> Result<()> {
    let kernel = gpu.kernel(ADD_SLICES)?;
    let config = LaunchConfig { grid_dim: (outputs.div_ceil(BLOCK), 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 };
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(partial).arg(&outputs).arg(&rows).arg(output);
    // SAFETY: the kernel reads `rows` rows of `outputs` partial sums, which were written before, and writes `outputs` results.
    unsafe { launch.launch(config) }?;
    Ok(())
}
// ANCHOR_END: split_filter

// ANCHOR: constant_filter
/// Parts of the filter, each as long as constant memory has room for: it is copied there, and then convolved, in slices, with the
/// samples from its first one on.
pub struct ConstantFilter {
    kernel: Kernel,
    run: u32,
    part: u32,
    slices: Slices,
    partial: CudaSlice<f32>,
}

impl ConstantFilter {
    /// Plans the parts for a kernel with `run` outputs per thread, and takes memory for the partial sums.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    pub fn prepare(gpu: &Gpu, conv: &Convolution, kernel: Kernel, run: u32) -> Result<Self> {
        let (outputs, taps) = (conv.outputs(), conv.taps());
        let part = taps.div_ceil(taps.div_ceil(CONSTANT_TAPS)).next_multiple_of(SLOTS);
        let slices = cut(gpu, kernel, run, outputs, part)?;
        let rows = taps.div_ceil(part) * slices.count;
        Ok(Self { kernel, run, part, slices, partial: scratch(gpu, rows as usize * outputs as usize)? })
    }
}

impl Prepared<Convolution> for ConstantFilter {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let kernel = gpu.kernel(self.kernel)?;
        let outputs = conv.outputs();
        let mut rows = 0;
        for start in (0..conv.taps()).step_by(self.part as usize) {
            let taps = self.part.min(conv.taps() - start);
            copy_to_constant_memory(gpu, buffers, start, taps)?;
            let slices = Slices { count: taps.div_ceil(self.slices.taps), taps: self.slices.taps };
            let signal = buffers.signal.slice(start as usize..);
            let mut partial = self.partial.slice_mut(rows as usize * outputs as usize..);
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&signal).arg(&outputs).arg(&taps).arg(&slices.taps).arg(&mut partial);
            // SAFETY: behind `start` there are the `outputs + taps - 1` samples that the kernel reads, in `c_filter` `taps` values and
            // zeros up to the next multiple of `SLOTS`, and in `partial` a row for each slice of this part.
            unsafe { launch.launch(grid(outputs, self.run, slices)) }?;
            rows += slices.count;
        }
        add_slices(gpu, &self.partial, outputs, rows, &mut buffers.output.view_mut())
    }
}

/// Copies `taps` filter values from `start` on to where the kernel looks for them, and zeros behind them.
fn copy_to_constant_memory(gpu: &Gpu, buffers: &Buffers, start: u32, taps: u32) -> Result<()> {
    let (start, taps) = (start as usize, taps as usize);
    let module = gpu.module(&SOURCE)?;
    let mut bytes = module.get_global(C_FILTER, &gpu.stream)?;
    // SAFETY: the array consists of `CONSTANT_TAPS` floats.
    let mut c_filter = unsafe { bytes.transmute_mut::<f32>(CONSTANT_TAPS as usize) }.expect("the array has room for them");
    gpu.stream.memcpy_dtod(&buffers.filter.slice(start..start + taps), &mut c_filter.slice_mut(..taps))?;
    let whole_turns = taps.next_multiple_of(SLOTS as usize);
    if whole_turns > taps {
        gpu.stream.memset_zeros(&mut c_filter.slice_mut(taps..whole_turns))?;
    }
    Ok(())
}
// ANCHOR_END: constant_filter
