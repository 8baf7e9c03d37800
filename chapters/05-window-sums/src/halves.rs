//! The original's experiment: leave out one of the two sums, and see how long the other takes by itself.

use cudarc::driver::PushKernelArg;
use kernels::window_sums;
use run::Result;
use run::gpu::Gpu;
use run::workload::WindowSums;
use run::workload::window_sums::Buffers;

use crate::launch::{Shape, one_each};

/// The sums, without the sums of squares.
pub(crate) fn sum_only(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(window_sums::SUM_ONLY)?;
    let shape = Shape::of(workload);
    let mut output = buffers.output.view_mut();
    let (mut sums, _) = output.split_at_mut(buffers.image.len());
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&mut sums);
    // SAFETY: with a row of blocks for each row of the image, the kernel reads its pixels, with positions beyond the
    // row moved to its edge, and writes a sum for each column from `begin` to `end`; the workload made the image and
    // each half of the output as long as `shape` and the rows of the grid say.
    unsafe { launch.launch(one_each(workload)) }?;
    Ok(())
}

/// The sums of squares, without the sums.
pub(crate) fn squares_only(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(window_sums::SQUARES_ONLY)?;
    let shape = Shape::of(workload);
    let mut output = buffers.output.view_mut();
    let (_, mut squares) = output.split_at_mut(buffers.image.len());
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&mut squares);
    // SAFETY: with a row of blocks for each row of the image, the kernel reads its pixels, with positions beyond the
    // row moved to its edge, and writes a sum of squares for each column from `begin` to `end`; the workload made the
    // image and each half of the output as long as `shape` and the rows of the grid say.
    unsafe { launch.launch(one_each(workload)) }?;
    Ok(())
}
