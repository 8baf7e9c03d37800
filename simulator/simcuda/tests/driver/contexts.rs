//! Contexts: the stack of current contexts, the primary context, misuse.

use std::ptr::null_mut;

use cudarc::driver::{CudaContext, sys};

use crate::support::{OK, cu, garbage, on_gpu, open, own_context, raw_context, returns};

fn current() -> sys::CUcontext {
    let mut current = null_mut();
    returns! { cuCtxGetCurrent(&mut current) => CUDA_SUCCESS; }
    current
}

#[test]
fn the_current_context_is_the_top_of_a_stack() {
    let first = raw_context();
    let second = raw_context();
    assert_ne!(first, second);
    assert_eq!(current(), second);
    let mut popped = null_mut();
    returns! { cuCtxPopCurrent_v2(&mut popped) => CUDA_SUCCESS; }
    assert_eq!((popped, current()), (second, first));
    returns! { cuCtxPushCurrent_v2(second) => CUDA_SUCCESS; }
    returns! { cuCtxSetCurrent(first) => CUDA_SUCCESS; }
    assert_eq!(current(), first, "the top was replaced");
    returns! { cuCtxSetCurrent(null_mut()) => CUDA_SUCCESS; }
    assert_eq!(current(), first, "the top was popped");
    returns! { cuCtxDestroy_v2(first) => CUDA_SUCCESS; }
    assert!(current().is_null(), "destroying the current context pops it");
    returns! {
        cuCtxDestroy_v2(second) => CUDA_SUCCESS;
        cuCtxPopCurrent_v2(null_mut()) => CUDA_ERROR_INVALID_CONTEXT;
        cuCtxSynchronize() => CUDA_ERROR_INVALID_CONTEXT;
    }
}

#[test]
fn a_context_is_current_on_one_thread_only() {
    let context = raw_context();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(current().is_null());
            returns! { cuMemAlloc_v2(&mut 0, 16) => CUDA_ERROR_INVALID_CONTEXT; }
        });
    });
    assert_eq!(current(), context);
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn a_context_answers_questions() {
    let context = raw_context();
    let (mut device, mut flags, mut version, mut limit, mut config) = (-1, 77, 0, 0, sys::CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL);
    let (mut least, mut greatest) = (9, 9);
    returns! {
        cuCtxGetDevice(&mut device) => CUDA_SUCCESS;
        cuCtxGetFlags(&mut flags) => CUDA_SUCCESS;
        cuCtxGetApiVersion(context, &mut version) => CUDA_SUCCESS;
        cuCtxGetStreamPriorityRange(&mut least, &mut greatest) => CUDA_SUCCESS;
        cuCtxGetCacheConfig(&mut config) => CUDA_SUCCESS;
        cuCtxSetCacheConfig(sys::CUfunc_cache::CU_FUNC_CACHE_PREFER_L1) => CUDA_SUCCESS;
        cuCtxSetLimit(sys::CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 22) => CUDA_SUCCESS;
        cuCtxGetLimit(&mut limit, sys::CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
    }
    assert_eq!((device, limit, least), (0, 1 << 22, 0));
    assert!(greatest < 0 && version >= 3020, "{greatest} {version}");
    returns! {
        cuCtxGetDevice(null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuCtxGetLimit(null_mut(), sys::CUlimit::CU_LIMIT_STACK_SIZE) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn handles_that_are_not_contexts_are_refused() {
    let context = raw_context();
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
    returns! { cuCtxPushCurrent_v2(null_mut()) => CUDA_ERROR_INVALID_VALUE; }
    // A real driver follows these pointers and may crash.
    if !on_gpu() {
        let mut stream = null_mut();
        let other = raw_context();
        returns! {
            cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
            cuCtxDestroy_v2(context) => CUDA_ERROR_INVALID_CONTEXT;
            cuCtxSetCurrent(context) => CUDA_ERROR_INVALID_CONTEXT;
            cuCtxSetCurrent(garbage()) => CUDA_ERROR_INVALID_CONTEXT;
            cuCtxPushCurrent_v2(stream.cast()) => CUDA_ERROR_INVALID_CONTEXT;
            cuCtxDestroy_v2(other) => CUDA_SUCCESS;
            cuStreamSynchronize(stream) => CUDA_ERROR_INVALID_HANDLE;
        }
    }
}

#[test]
fn a_context_that_another_thread_destroyed_stays_current_and_is_refused() {
    let context = raw_context();
    let token = context as usize;
    let destroyed = std::thread::spawn(move || cu!(cuCtxDestroy_v2(token as sys::CUcontext))).join();
    assert_eq!(destroyed.unwrap(), OK);
    returns! { cuMemAlloc_v2(&mut 0, 16) => CUDA_ERROR_CONTEXT_IS_DESTROYED; }
    returns! { cuCtxSetCurrent(null_mut()) => CUDA_SUCCESS; }
}

#[test]
fn context_flags_are_checked() {
    open();
    let mut context = null_mut();
    returns! {
        cuInit(0) => CUDA_SUCCESS;
        cuInit(1) => CUDA_ERROR_INVALID_VALUE;
        cuCtxCreate_v2(&mut context, 0x1000, 0) => CUDA_ERROR_INVALID_VALUE;
        cuCtxCreate_v2(&mut context, 3, 0) => CUDA_ERROR_INVALID_VALUE;
        cuCtxCreate_v2(&mut context, 0, 99) => CUDA_ERROR_INVALID_DEVICE;
        cuCtxCreate_v2(null_mut(), 0, 0) => CUDA_ERROR_INVALID_VALUE;
    }
}

#[test]
fn memory_is_freed_with_its_context() {
    let context = own_context();
    let stream = context.default_stream();
    let kept = stream.alloc_zeros::<u8>(4096).unwrap().leak();
    let other = raw_context();
    returns! { cuMemFree_v2(kept) => CUDA_SUCCESS; }
    drop((stream, context));
    returns! { cuCtxDestroy_v2(other) => CUDA_SUCCESS; }
}

#[test]
fn cudarc_works_in_contexts_that_it_makes() {
    let context = own_context();
    assert!(!context.is_primary());
    let stream = context.new_stream().unwrap();
    let data = stream.clone_htod(&[1u32, 2, 3]).unwrap();
    assert_eq!(stream.clone_dtoh(&data).unwrap(), [1, 2, 3]);
    context.synchronize().unwrap();
    let _primary = CudaContext::new(0).unwrap();
}
