//! Occupancy, as the profile and the GPU of the same name give it.

use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

use crate::support::{SHARED, VECTORS, load, own_context, raw_context, raw_function, returns};

extern "C" fn no_shared(_block: std::ffi::c_int) -> usize {
    0
}

extern "C" fn a_word_each(block: std::ffi::c_int) -> usize {
    block as usize * 4
}

#[test]
fn blocks_are_counted_by_threads_blocks_and_shared_memory() {
    let context = own_context();
    let (vectors, shared) = (load(&context, VECTORS), load(&context, SHARED));
    let count = vectors.load_function("count").unwrap();
    let static_4096 = shared.load_function("takes_4096").unwrap();
    let reverse = shared.load_function("reverse").unwrap();
    reverse.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200_000).unwrap();
    // On an H200: 2048 threads, 32 blocks, 228 KiB of shared memory with 1 KiB of it reserved for each block.
    for (function, block, dynamic, wanted) in [
        (&count, 1, 0, 32),
        (&count, 32, 0, 32),
        (&count, 64, 0, 32),
        (&count, 96, 0, 21),
        (&count, 256, 0, 8),
        (&count, 1000, 0, 2),
        (&count, 1024, 0, 2),
        (&static_4096, 32, 0, 32),
        (&static_4096, 32, 4096, 25),
        (&static_4096, 32, 40_000, 5),
        (&reverse, 128, 1, 16),
        (&reverse, 128, 100_000, 2),
        (&reverse, 128, 200_000, 1),
    ] {
        let blocks = function.occupancy_max_active_blocks_per_multiprocessor(block, dynamic, None).unwrap();
        assert_eq!(blocks, wanted, "{block} threads, {dynamic} bytes");
    }
}

#[test]
fn the_block_size_that_fills_a_multiprocessor_is_found() {
    let context = own_context();
    let (vectors, shared) = (load(&context, VECTORS), load(&context, SHARED));
    let count = vectors.load_function("count").unwrap();
    assert_eq!(count.occupancy_max_potential_block_size(no_shared, 0, 0, None).unwrap(), (132 * 2, 1024));
    assert_eq!(count.occupancy_max_potential_block_size(no_shared, 0, 300, None).unwrap(), (132 * 8, 256));
    let bounded = vectors.load_function("bounded").unwrap();
    assert_eq!(bounded.occupancy_max_potential_block_size(no_shared, 0, 0, None).unwrap(), (132 * 32, 64));
    let reverse = shared.load_function("reverse").unwrap();
    assert_eq!(reverse.occupancy_max_potential_block_size(a_word_each, 0, 0, None).unwrap(), (132 * 2, 1024));
}

#[test]
fn the_shared_memory_left_for_each_block_is_found() {
    let context = own_context();
    let shared = load(&context, SHARED);
    let reverse = shared.load_function("reverse").unwrap();
    let static_4096 = shared.load_function("takes_4096").unwrap();
    for (function, blocks, block, wanted) in [
        (&reverse, 1, 128, 48 << 10),
        (&reverse, 4, 128, 48 << 10),
        (&reverse, 8, 128, (228 << 10) / 8),
        (&reverse, 16, 128, (228 << 10) / 16),
        (&static_4096, 8, 128, (228 << 10) / 8 - 4096),
    ] {
        let bytes = function.occupancy_available_dynamic_smem_per_block(blocks, block).unwrap();
        assert_eq!(bytes, wanted, "{blocks} blocks of {block}");
    }
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let context = raw_context();
    let (_, function) = raw_function(VECTORS, c"bounded");
    let mut blocks = 9;
    returns! {
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, 0, 0) => CUDA_ERROR_INVALID_VALUE;
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, -1, 0) => CUDA_ERROR_INVALID_VALUE;
        cuOccupancyMaxActiveBlocksPerMultiprocessor(std::ptr::null_mut(), function, 32, 0) => CUDA_ERROR_INVALID_VALUE;
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, 65, 0) => CUDA_SUCCESS;
    }
    assert_eq!(blocks, 21, "the kernel's own bound of 64 does not count");
    returns! { cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, 1025, 0) => CUDA_SUCCESS; }
    assert_eq!(blocks, 0, "no block can have so many threads");
    let (mut grid, mut block) = (9, 9);
    returns! {
        cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, None, 0, -1) => CUDA_ERROR_INVALID_VALUE;
        cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, None, 60_000, 0) => CUDA_SUCCESS;
    }
    assert_eq!((grid, block), (0, 0), "no block can have so much shared memory without opting in");
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}
