//! The original's experiment: leave out one of the two sums, and see how long the other takes by itself.

use cudarc::driver::PushKernelArg;
use kernels::Kernel;
use run::workload::window_sums::{Buffers, WindowSums};
use run::{Gpu, Result};

use crate::launch::{Shape, one_each};

/// A half of the output.
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
