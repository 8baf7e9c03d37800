//! Launches whose blocks all run at once and meet at barriers of the grid.

use cudarc::driver::sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::sys::CUresult::{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_LAUNCH_TIMEOUT};
use cudarc::driver::{LaunchConfig, PushKernelArg};

use crate::support::{load, on_gpu, own_context};

/// Its CUDA C is next to it.
const GRID: &str = include_str!("../../../simt/tests/programs/grid.ptx");

fn shape(blocks: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

#[test]
fn blocks_meet_at_barriers_of_the_grid() {
    let context = own_context();
    let stream = context.default_stream();
    let rotate = load(&context, GRID).load_function("rotate").unwrap();
    let (blocks, threads, rounds) = (24, 64, 6_u32);
    let numbers: Vec<u32> = (0..blocks * threads).collect();
    let (mut from, mut to) = (stream.clone_htod(&numbers).unwrap(), stream.clone_htod(&numbers).unwrap());
    // The counter of the barrier starts anew with each launch.
    for launches in 1..=2 {
        let mut launch = stream.launch_builder(&rotate);
        launch.arg(&mut from).arg(&mut to).arg(&rounds);
        // SAFETY: the kernel reads and writes as many numbers as the grid has threads, which both buffers have.
        unsafe { launch.launch_cooperative(shape(blocks, threads)) }.unwrap();
        let mut expected: Vec<u32> = numbers.iter().map(|number| number + launches * rounds).collect();
        expected.rotate_right((launches * rounds * threads % (blocks * threads)) as usize);
        assert_eq!(stream.clone_dtoh(&from).unwrap(), expected);
    }
}

#[test]
fn a_grid_that_the_device_cannot_hold_at_once_is_refused() {
    let context = own_context();
    let stream = context.default_stream();
    let has_barrier = load(&context, GRID).load_function("has_barrier").unwrap();
    let each = has_barrier.occupancy_max_active_blocks_per_multiprocessor(128, 0, None).unwrap();
    let most = each * context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap() as u32;
    let mut yes = stream.clone_htod(&[7_u32]).unwrap();
    for (blocks, refused) in [(most, false), (most + 1, true)] {
        let mut launch = stream.launch_builder(&has_barrier);
        launch.arg(&mut yes);
        // SAFETY: the kernel writes one number, which the buffer has.
        let result = unsafe { launch.launch_cooperative(shape(blocks, 128)) };
        assert_eq!(result.err().map(|error| error.0), refused.then_some(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE), "{blocks}");
    }
    assert_eq!(stream.clone_dtoh(&yes).unwrap(), [1]);
    // Every launch has memory for a barrier on an H200, where a grid that does not fit would wait forever.
    if on_gpu() {
        return;
    }
    let mut launch = stream.launch_builder(&has_barrier);
    launch.arg(&mut yes);
    // SAFETY: as above.
    unsafe { launch.launch(shape(1, 1)) }.unwrap();
    assert_eq!(stream.clone_dtoh(&yes).unwrap(), [0], "an ordinary launch has no barrier of the grid");
}

#[test]
fn a_block_that_leaves_before_the_barrier_is_reported() {
    // A GPU waits forever.
    if on_gpu() {
        return;
    }
    let context = own_context();
    let stream = context.default_stream();
    let one_leaves = load(&context, GRID).load_function("one_leaves").unwrap();
    let mut passed = stream.clone_htod(&[0_u32; 4]).unwrap();
    let mut launch = stream.launch_builder(&one_leaves);
    launch.arg(&mut passed);
    // SAFETY: the kernel writes one number for each block, which the buffer has.
    unsafe { launch.launch_cooperative(shape(4, 32)) }.unwrap();
    assert_eq!(stream.synchronize().unwrap_err().0, CUDA_ERROR_LAUNCH_TIMEOUT);
}
