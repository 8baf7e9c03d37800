//! The original's experiment: leave out one of the two sums, and see what the other takes by itself.

use common::Result;
use common::gpu::Gpu;
use common::stage::Experiment;
use common::workload::WindowSums;
use common::workload::window_sums::Buffers;
use cudarc::driver::PushKernelArg;
use kernels::window_sums;

use crate::{FUSED_GLOBAL, Shape, one_each};

/// The two halves of [`FUSED_GLOBAL`].
pub const EXPERIMENTS: [Experiment<WindowSums>; 2] = [
    Experiment { stage: FUSED_GLOBAL.name, name: "sum-only", left: "the sums, without the squares", run: sum_only },
    Experiment { stage: FUSED_GLOBAL.name, name: "squares-only", left: "the sums of squares alone", run: squares_only },
];

// ANCHOR: halves
fn sum_only(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(window_sums::SUM_ONLY)?;
    let shape = Shape::of(workload);
    let mut output = buffers.output.view_mut();
    let (mut sums, _) = output.split_at_mut(buffers.image.len());
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&mut sums);
    // SAFETY: as for the whole, of whose two arrays it writes the first.
    unsafe { launch.launch(one_each(workload)) }?;
    Ok(())
}

fn squares_only(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(window_sums::SQUARES_ONLY)?;
    let shape = Shape::of(workload);
    let mut output = buffers.output.view_mut();
    let (_, mut squares) = output.split_at_mut(buffers.image.len());
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&mut squares);
    // SAFETY: as for the whole, of whose two arrays it writes the second.
    unsafe { launch.launch(one_each(workload)) }?;
    Ok(())
}
// ANCHOR_END: halves
