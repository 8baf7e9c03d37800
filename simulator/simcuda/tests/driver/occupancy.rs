//! Occupancy, which must be the same for a profile and for the GPU that it describes.

use std::fmt::Write;
use std::ptr::null_mut;

use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use simcuda::occupancy::{BlockNeeds, Occupancy, max_threads_by_registers};
use simt::Profile;

use crate::support::{SHARED, VECTORS, load, on_gpu, own_context, raw_context, raw_function, returns};

/// The numbers of values that a kernel keeps at once, and registers: those that ptxas 12.0 gives it for sm_90 (`ptxas -v`).
const KEEPS: [(u32, u32); 8] = [(8, 22), (24, 32), (40, 48), (60, 72), (90, 96), (120, 128), (180, 254), (230, 254)];

/// Makes the PTX of those kernels. They read all their values before they write the first, and all accesses are volatile. A GPU's driver
/// counts the registers itself and treats the first line as a comment.
fn keeps() -> String {
    let counts: Vec<String> = KEEPS.iter().map(|(values, registers)| format!("keeps_{values} {registers}")).collect();
    let mut ptx = format!("// registers sm_90: {}\n.version 7.0\n.target sm_70\n.address_size 64\n", counts.join(", "));
    for (values, _) in KEEPS {
        write!(ptx, ".visible .entry keeps_{values}(.param .u64 data) {{ .reg .f32 %f<{values}>; .reg .b64 %rd<2>;").unwrap();
        ptx += "ld.param.u64 %rd0, [data]; cvta.to.global.u64 %rd1, %rd0;\n";
        for value in 0..values {
            writeln!(ptx, "ld.volatile.global.f32 %f{value}, [%rd1+{}];", 4 * value).unwrap();
        }
        for value in 0..values {
            writeln!(ptx, "st.volatile.global.f32 [%rd1+{}], %f{value};", 4 * (values - 1 - value)).unwrap();
        }
        ptx += "ret; }\n";
    }
    ptx
}

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
fn the_shared_memory_available_to_each_block_is_found() {
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
fn senseless_questions_are_refused() {
    let context = raw_context();
    let (_, function) = raw_function(VECTORS, c"bounded");
    let mut blocks = 9;
    returns! {
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, 0, 0) => CUDA_ERROR_INVALID_VALUE;
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, -1, 0) => CUDA_ERROR_INVALID_VALUE;
        cuOccupancyMaxActiveBlocksPerMultiprocessor(std::ptr::null_mut(), function, 32, 0) => CUDA_ERROR_INVALID_VALUE;
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, 65, 0) => CUDA_SUCCESS;
    }
    assert_eq!(blocks, 21, "the kernel's own launch bound of 64 does not count");
    returns! { cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, 1025, 0) => CUDA_SUCCESS; }
    assert_eq!(blocks, 0, "no block can have this many threads");
    let (mut grid, mut block) = (9, 9);
    returns! {
        cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, None, 0, -1) => CUDA_ERROR_INVALID_VALUE;
        cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, None, 60_000, 0) => CUDA_SUCCESS;
    }
    assert_eq!((grid, block), (0, 0), "no block can have this much shared memory without opting in");
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn registers_limit_occupancy() {
    let context = own_context();
    let module = load(&context, &keeps());
    let h200 = Profile::named("h200").unwrap();
    for (values, registers) in KEEPS {
        let function = module.load_function(&format!("keeps_{values}")).unwrap();
        let registers_per_thread = function.num_regs().unwrap() as u32;
        // The compiler in a GPU's driver has another version and may use other numbers of registers. The arithmetic after that is the same.
        assert!(on_gpu() || registers_per_thread == registers);
        let most = max_threads_by_registers(h200, registers_per_thread).unwrap();
        assert_eq!(function.max_threads_per_block().unwrap() as u32, most, "{registers_per_thread} registers");
        for threads in [1, 32, 64, 96, 128, 160, 256, 320, 384, 512, 768, 1000, 1024] {
            for shared in [0, 1000, 8192, 40_000] {
                let needs = BlockNeeds { threads, registers_per_thread: Some(registers_per_thread), shared_bytes: shared };
                let expected = Occupancy::of(h200, needs).blocks_per_multiprocessor;
                let found = function.occupancy_max_active_blocks_per_multiprocessor(threads, shared as usize, None).unwrap();
                assert_eq!(found, expected, "{needs:?}");
            }
        }
    }
}

#[test]
fn a_launch_refuses_a_block_with_too_many_registers() {
    let context = raw_context();
    let (_, function) = raw_function(&keeps(), c"keeps_230");
    let mut data = 0u64;
    returns! { cuMemAlloc_v2(&mut data, 1024) => CUDA_SUCCESS; }
    let mut parameters = [(&raw mut data).cast()];
    returns! {
        cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, null_mut(), parameters.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
        cuLaunchKernel(function, 1, 1, 1, 512, 1, 1, 0, null_mut(), parameters.as_mut_ptr(), null_mut())
            => CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
        cuCtxSynchronize() => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}
