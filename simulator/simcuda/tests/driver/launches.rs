//! Launches: parameters, shapes, shared memory, several threads at once.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{LaunchConfig, PushKernelArg, sys};

use crate::support::{SHARED, VECTORS, garbage, load, on_gpu, own_context, raw_context, raw_function, returns};

#[test]
fn vectors_are_added() {
    let context = own_context();
    let stream = context.new_stream().unwrap();
    let add = load(&context, VECTORS).load_function("add").unwrap();
    // Around the size of a warp and of a block, so that the last block is partly unused.
    for n in [1u32, 31, 32, 33, 255, 256, 257, 1000] {
        let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..n).map(|i| 1000.0 - 3.0 * i as f32).collect();
        let (a_device, b_device) = (stream.clone_htod(&a).unwrap(), stream.clone_htod(&b).unwrap());
        let mut out = stream.clone_htod(&vec![f32::NAN; n as usize + 8]).unwrap();
        let mut launch = stream.launch_builder(&add);
        launch.arg(&mut out).arg(&a_device).arg(&b_device).arg(&n);
        let config = LaunchConfig { grid_dim: (n.div_ceil(256), 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel reads and writes `n` elements, which the buffers have.
        unsafe { launch.launch(config) }.unwrap();
        let out = stream.clone_dtoh(&out).unwrap();
        let wanted: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(out[..n as usize], wanted, "{n}");
        assert!(out[n as usize..].iter().all(|value| value.is_nan()), "{n}: nothing after the end is written");
    }
}

#[test]
fn variables_keep_what_launches_wrote() {
    let context = own_context();
    let stream = context.default_stream();
    let module = load(&context, VECTORS);
    let count = module.load_function("count").unwrap();
    for _ in 0..2 {
        let config = LaunchConfig { grid_dim: (3, 1, 1), block_dim: (5, 2, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel takes no parameters and writes its own variable.
        unsafe { stream.launch_builder(&count).launch(config) }.unwrap();
    }
    let counter = module.get_global("counter", &stream).unwrap();
    assert_eq!(stream.clone_dtoh(&counter).unwrap(), 67u32.to_le_bytes());
}

#[test]
fn parameters_of_different_sizes_are_where_the_kernel_expects_them() {
    let context = raw_context();
    let (_, function) = raw_function(VECTORS, c"mixed");
    let (mut out, mut result) = (0u64, 0u32);
    returns! { cuMemAlloc_v2(&mut out, 4) => CUDA_SUCCESS; }
    let (mut byte, mut short, mut word) = (7u8, 5u16, 3u32);
    let mut each: [*mut c_void; 4] =
        [(&raw mut byte).cast(), (&raw mut short).cast(), (&raw mut out).cast(), (&raw mut word).cast()];
    returns! {
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), each.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
        cuMemcpyDtoH_v2((&raw mut result).cast(), out, 4) => CUDA_SUCCESS;
    }
    assert_eq!(result, 7 + 256 * 5 + 65536 * 3);

    // The same in one buffer that the caller lays out: the byte at 0, the short at 2, the pointer at 8, the word at 16.
    let mut packed = [0u8; 20];
    (packed[0], packed[2], packed[16]) = (1, 2, 4);
    packed[8..16].copy_from_slice(&out.to_le_bytes());
    let mut bytes = packed.len();
    let [pointer, size] = [1, 2].map(std::ptr::without_provenance_mut);
    let mut extra: [*mut c_void; 5] = [pointer, packed.as_mut_ptr().cast(), size, (&raw mut bytes).cast(), null_mut()];
    returns! {
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), extra.as_mut_ptr()) => CUDA_SUCCESS;
        cuMemcpyDtoH_v2((&raw mut result).cast(), out, 4) => CUDA_SUCCESS;
    }
    assert_eq!(result, 1 + 256 * 2 + 65536 * 4);
    returns! {
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut()) => CUDA_ERROR_INVALID_VALUE;
    }
    bytes = 21;
    extra[3] = (&raw mut bytes).cast();
    returns! {
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), extra.as_mut_ptr()) => CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    // CUDA's reference forbids both ways at once, and a buffer that is too short. A GPU's driver launches anyway, with whatever it finds.
    if !on_gpu() {
        returns! {
            cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), each.as_mut_ptr(), extra.as_mut_ptr())
                => CUDA_ERROR_INVALID_VALUE;
        }
        bytes = 16;
        extra[3] = (&raw mut bytes).cast();
        returns! {
            cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), extra.as_mut_ptr()) => CUDA_ERROR_INVALID_VALUE;
        }
    }
    returns! {
        cuCtxSynchronize() => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn a_launch_refuses_impossible_shapes() {
    let context = raw_context();
    let (_, count) = raw_function(VECTORS, c"count");
    let (_, bounded) = raw_function(VECTORS, c"bounded");
    let no = null_mut();
    returns! {
        cuLaunchKernel(count, 0, 1, 1, 1, 1, 1, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuLaunchKernel(count, 1, 1, 1, 1, 0, 1, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuLaunchKernel(count, 1, 1, 1, 1025, 1, 1, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuLaunchKernel(count, 1, 1, 1, 1, 1, 65, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuLaunchKernel(count, 1, 1, 1, 64, 64, 1, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuLaunchKernel(count, 1, 65536, 1, 1, 1, 1, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuLaunchKernel(bounded, 1, 1, 1, 64, 1, 1, 0, no, null_mut(), null_mut()) => CUDA_SUCCESS;
        cuLaunchKernel(bounded, 1, 1, 1, 65, 1, 1, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuCtxSynchronize() => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn more_shared_memory_than_usual_needs_an_opt_in() {
    let context = own_context();
    let stream = context.default_stream();
    let reverse = load(&context, SHARED).load_function("reverse").unwrap();
    let numbers: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let input = stream.clone_htod(&numbers).unwrap();
    let mut output = stream.alloc_zeros::<f32>(100).unwrap();
    let mut launch = |shared_mem_bytes| {
        let mut launch = stream.launch_builder(&reverse);
        launch.arg(&mut output).arg(&input);
        // SAFETY: 100 threads read and write one element each.
        unsafe { launch.launch(LaunchConfig { grid_dim: (1, 1, 1), block_dim: (100, 1, 1), shared_mem_bytes }) }
    };
    launch(400).unwrap();
    launch(48 << 10).unwrap();
    assert_eq!(launch(60_000).unwrap_err().0, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
    reverse.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60_000).unwrap();
    launch(60_000).unwrap();
    assert!(reverse.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20).is_err());
    let reversed: Vec<f32> = numbers.iter().rev().copied().collect();
    assert_eq!(stream.clone_dtoh(&output).unwrap(), reversed);
}

#[test]
fn a_launch_may_have_attributes() {
    let context = raw_context();
    let (module, function) = raw_function(VECTORS, c"count");
    // SAFETY: all fields of these structures may be zero.
    let (mut config, mut priority): (sys::CUlaunchConfig, sys::CUlaunchAttribute) = unsafe { std::mem::zeroed() };
    priority.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    (config.gridDimX, config.gridDimY, config.gridDimZ) = (2, 1, 1);
    (config.blockDimX, config.blockDimY, config.blockDimZ) = (4, 1, 1);
    (config.attrs, config.numAttrs) = (&mut priority, 1);
    let (mut counter, mut bytes, mut value) = (0, 0, 0u32);
    returns! {
        cuLaunchKernelEx(&config, function, null_mut(), null_mut()) => CUDA_SUCCESS;
        cuModuleGetGlobal_v2(&mut counter, &mut bytes, module, c"counter".as_ptr()) => CUDA_SUCCESS;
        cuMemcpyDtoH_v2((&raw mut value).cast(), counter, 4) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
    assert_eq!(value, 7 + 8);
}

#[test]
fn threads_launch_at_once_in_contexts_of_their_own() {
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            scope.spawn(move || {
                let context = own_context();
                let stream = context.new_stream().unwrap();
                let module = load(&context, VECTORS);
                let count = module.load_function("count").unwrap();
                for _ in 0..10 {
                    let config = LaunchConfig { grid_dim: (thread + 1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
                    // SAFETY: the kernel takes no parameters and writes its own variable.
                    unsafe { stream.launch_builder(&count).launch(config) }.unwrap();
                }
                let counter = module.get_global("counter", &stream).unwrap();
                let wanted = 7 + 10 * 32 * (thread + 1);
                assert_eq!(stream.clone_dtoh(&counter).unwrap(), wanted.to_le_bytes());
            });
        }
    });
}

#[test]
fn handles_that_are_not_functions_are_refused() {
    let context = raw_context();
    let no = null_mut();
    returns! { cuLaunchKernel(null_mut(), 1, 1, 1, 1, 1, 1, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_HANDLE; }
    // A real driver follows these pointers and may crash.
    if !on_gpu() {
        let (module, function) = raw_function(VECTORS, c"count");
        let other = raw_context();
        returns! {
            cuLaunchKernel(garbage(), 1, 1, 1, 1, 1, 1, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_HANDLE;
            cuLaunchKernel(module.cast(), 1, 1, 1, 1, 1, 1, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_HANDLE;
            cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, no, null_mut(), null_mut()) => CUDA_ERROR_INVALID_HANDLE;
            cuCtxDestroy_v2(other) => CUDA_SUCCESS;
            cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, garbage(), null_mut(), null_mut()) => CUDA_ERROR_INVALID_HANDLE;
        }
    }
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}
