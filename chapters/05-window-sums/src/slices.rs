//! The stages in which every thread has slices of shared memory to itself, as in the original's last version.

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK;
use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::window_sums;
use run::planner::threads_that_fit;
use run::workload::window_sums::{Buffers, WindowSums};
use run::{Gpu, Result, Stage, Unmet};

use crate::launch::{Shape, squares_by_powf};

/// Threads of a block, if their slices fit.
pub const THREADS: u32 = 128;
/// Slices of [`PADDED_SLICES`] start at multiples of this many words.
pub const PADDING: u32 = 16;
/// Bytes of a block's shared memory for arguments on compute capability 1.x.
const ARGUMENTS: u32 = 256;

/// The original's last version: a slice of shared memory for each thread and sum.
pub const SHARED_SLICES: Stage<WindowSums> =
    Stage::launches("shared-slices", "each thread sums in its own slices of shared memory", |gpu, workload, buffers| {
        launch(gpu, workload, buffers, workload.window())
    })
    .with_allowance(squares_by_powf)
    .requires(|gpu, workload| requirement(gpu, workload.window()));

/// The same with a round number of words per slice. It looks tidier and is slower.
pub const PADDED_SLICES: Stage<WindowSums> =
    Stage::launches("padded-slices", "slower: slices that start at multiples of 16 words", |gpu, workload, buffers| {
        launch(gpu, workload, buffers, padded(workload.window()))
    })
    .with_allowance(squares_by_powf)
    .requires(|gpu, workload| requirement(gpu, padded(workload.window())));

/// Returns the words from slice to slice, a multiple of [`PADDING`].
fn padded(window: u32) -> u32 {
    window.next_multiple_of(PADDING)
}

/// Returns a block's threads if slices start `pitch` words apart: as many as fit the shared memory of a block.
pub fn threads(shared_bytes: u32, pitch: u32) -> u32 {
    threads_that_fit(shared_bytes - ARGUMENTS, bytes_per_thread(pitch), THREADS)
}

/// Returns the bytes of two slices of floats.
fn bytes_per_thread(pitch: u32) -> u32 {
    2 * pitch * size_of::<f32>() as u32
}

fn shared_bytes(gpu: &Gpu) -> Result<u32> {
    Ok(gpu.context.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?.unsigned_abs())
}

/// Checks that one thread's slices fit a block's shared memory.
fn requirement(gpu: &Gpu, pitch: u32) -> Result<Option<Unmet>> {
    let shared_bytes = shared_bytes(gpu)?;
    let fits = threads(shared_bytes, pitch) > 0;
    Ok((!fits).then_some(Unmet::SharedMemory { needed: bytes_per_thread(pitch) + ARGUMENTS, available: shared_bytes }))
}

fn launch(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers, pitch: u32) -> Result<()> {
    let kernel = gpu.kernel(window_sums::SHARED_SLICES)?;
    let threads = threads(shared_bytes(gpu)?, pitch);
    let grid_dim = ((workload.columns().len() as u32).div_ceil(threads), workload.image().height, 1);
    let config = LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes: threads * bytes_per_thread(pitch) };
    let (shape, pitch) = (Shape::of(workload), pitch as i32);
    let mut output = buffers.output.view_mut();
    let (mut sums, mut squares) = output.split_at_mut(buffers.image.len());
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&pitch).arg(&mut sums).arg(&mut squares);
    // SAFETY: with a row of blocks for each row of the image, the kernel reads its pixels, with positions beyond the
    // row moved to its edge, and writes a sum and a sum of squares for each column from `begin` to `end`; the workload
    // made the image and each half of the output as long as `shape` and the rows of the grid say. Each thread uses two
    // slices of `pitch` words, at least a window, and the launch gives the block shared memory for those of all its
    // threads.
    unsafe { launch.launch(config) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_as_many_threads_as_slices_fit() {
        for (bytes, pitch, expected) in
            [(49_152, 15, 128), (16_384, 15, 128), (16_384, 16, 96), (49_152, 127, 32), (49_152, 1023, 5), (49_152, 8191, 0)]
        {
            assert_eq!(threads(bytes, pitch), expected, "{bytes} bytes, {pitch} words");
        }
    }
}
