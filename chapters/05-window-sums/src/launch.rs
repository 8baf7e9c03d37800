//! The parts that the launches of this chapter share: the image's sizes, the grid, and the launch of every kernel that takes no more.

use cudarc::driver::{DeviceRepr, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::window_sums::BLOCK;
use run::workload::window_sums::{Buffers, WindowSums};
use run::{Gpu, Result};

/// The argument of every kernel: `Shape` of `kernels/cuda/05-window-sums.cuh`, field by field.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    width: i32,
    window: i32,
    begin: i32,
    end: i32,
}

// SAFETY: `repr(C)` lays out the fields as the C++ compiler lays out the kernels' `Shape`, and none of them is a pointer.
unsafe impl DeviceRepr for Shape {}

impl Shape {
    pub(crate) fn of(sums: &WindowSums) -> Self {
        let columns = sums.columns();
        Self {
            width: sums.image().width as i32,
            window: sums.window() as i32,
            begin: columns.start as i32,
            end: columns.end as i32,
        }
    }
}

/// Returns a grid with one output per thread. Each row of the image has a row of blocks.
pub(crate) fn one_each(sums: &WindowSums) -> LaunchConfig {
    let grid_dim = ((sums.columns().len() as u32).div_ceil(BLOCK), sums.image().height, 1);
    LaunchConfig { grid_dim, block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 }
}

/// Launches a kernel with the image, shape, and both output halves. Most of this chapter's kernels take these.
pub(crate) fn launch(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers, kernel: Kernel, config: LaunchConfig) -> Result<()> {
    let kernel = gpu.kernel(kernel)?;
    let shape = Shape::of(workload);
    let mut output = buffers.output.view_mut();
    let (mut sums, mut squares) = output.split_at_mut(buffers.image.len());
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&mut sums).arg(&mut squares);
    // SAFETY: with a row of blocks for each row of the image, the kernels read its pixels, with positions beyond the
    // row moved to its edge, and write a sum and a sum of squares for each column from `begin` to `end`; the workload
    // made the image and each half of the output as long as `shape` and the rows of the grid say.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// A half of the output. The original leaves out one of the two sums, to see how long the other takes by itself.
#[derive(PartialEq, Eq)]
pub(crate) enum Half {
    Sums,
    Squares,
}

/// Launches a kernel that computes one half of the output.
pub(crate) fn only(half: Half, gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers, kernel: Kernel) -> Result<()> {
    let kernel = gpu.kernel(kernel)?;
    let shape = Shape::of(workload);
    let mut output = buffers.output.view_mut();
    let (sums, squares) = output.split_at_mut(buffers.image.len());
    let mut results = if half == Half::Sums { sums } else { squares };
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&mut results);
    // SAFETY: with a row of blocks for each row of the image, the kernel reads its pixels, with positions beyond the
    // row moved to its edge, and writes a result for each column from `begin` to `end`; the workload made the image and
    // each half of the output as long as `shape` and the rows of the grid say.
    unsafe { launch.launch(one_each(workload)) }?;
    Ok(())
}

/// Returns the rounding errors of stages that add results of `powf`. CUDA promises it to 4 units in the last place
/// (CUDA C++ Programming Guide, "Mathematical Functions").
pub fn squares_by_powf(workload: &WindowSums) -> f64 {
    workload.rounding_of_f32_sums(4)
}
