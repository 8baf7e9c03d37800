//! Streams: their attributes, callbacks, misuse.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys;

use crate::support::{garbage, on_gpu, raw_context, returns};

const LEGACY: sys::CUstream = 1 as sys::CUstream;
const PER_THREAD: sys::CUstream = 2 as sys::CUstream;

#[test]
fn streams_keep_their_flags_and_priority() {
    let context = raw_context();
    let (mut stream, mut of) = (null_mut(), null_mut());
    let (mut flags, mut priority) = (9, 9);
    returns! {
        cuStreamCreateWithPriority(&mut stream, 1, -1) => CUDA_SUCCESS;
        cuStreamGetFlags(stream, &mut flags) => CUDA_SUCCESS;
        cuStreamGetPriority(stream, &mut priority) => CUDA_SUCCESS;
        cuStreamGetCtx(stream, &mut of) => CUDA_SUCCESS;
        cuStreamQuery(stream) => CUDA_SUCCESS;
        cuStreamSynchronize(stream) => CUDA_SUCCESS;
    }
    assert_eq!((flags, priority, of), (1, -1, context));
    returns! {
        cuStreamCreateWithPriority(&mut stream, 0, 1000) => CUDA_SUCCESS;
        cuStreamGetPriority(stream, &mut priority) => CUDA_SUCCESS;
        cuStreamCreate(&mut stream, 2) => CUDA_ERROR_INVALID_VALUE;
        cuStreamCreate(null_mut(), 0) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
    assert_eq!(priority, 0, "priorities are clamped to their range");
}

#[test]
fn the_streams_that_always_exist_have_three_names() {
    let context = raw_context();
    for stream in [null_mut(), LEGACY, PER_THREAD] {
        let mut of = null_mut();
        let mut address = 0;
        returns! {
            cuMemAlloc_v2(&mut address, 64) => CUDA_SUCCESS;
            cuMemsetD8Async(address, 1, 64, stream) => CUDA_SUCCESS;
            cuStreamSynchronize(stream) => CUDA_SUCCESS;
            cuStreamQuery(stream) => CUDA_SUCCESS;
            cuStreamGetCtx(stream, &mut of) => CUDA_SUCCESS;
        }
        assert_eq!(of, context);
    }
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

unsafe extern "C" fn note(data: *mut c_void) {
    // SAFETY: the tests pass a pointer to a counter that lives until they have waited for the stream.
    unsafe { *data.cast::<u32>() += 1 };
}

unsafe extern "C" fn note_status(_stream: sys::CUstream, status: sys::CUresult, data: *mut c_void) {
    if status == sys::CUresult::CUDA_SUCCESS {
        // SAFETY: `note` demands a pointer to a live counter, and that is what the tests pass to this callback.
        unsafe { note(data) }
    }
}

#[test]
fn host_functions_run_in_stream_order() {
    let context = raw_context();
    let mut stream = null_mut();
    let mut calls = 0u32;
    let data: *mut c_void = (&raw mut calls).cast();
    returns! {
        cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
        cuLaunchHostFunc(stream, Some(note), data) => CUDA_SUCCESS;
        cuStreamAddCallback(stream, Some(note_status), data, 0) => CUDA_SUCCESS;
        cuStreamSynchronize(stream) => CUDA_SUCCESS;
        cuLaunchHostFunc(stream, None, data) => CUDA_ERROR_INVALID_VALUE;
        cuStreamAddCallback(stream, Some(note_status), data, 1) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
    assert_eq!(calls, 2);
}

#[test]
fn handles_that_are_not_streams_are_refused() {
    // A real driver follows these pointers and may crash.
    if on_gpu() {
        return;
    }
    let context = raw_context();
    let (mut stream, mut event, mut address) = (null_mut(), null_mut(), 0);
    returns! {
        cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
        cuEventCreate(&mut event, 0) => CUDA_SUCCESS;
        cuMemAlloc_v2(&mut address, 64) => CUDA_SUCCESS;
        cuStreamDestroy_v2(stream) => CUDA_SUCCESS;
        cuStreamDestroy_v2(stream) => CUDA_ERROR_INVALID_HANDLE;
        cuStreamDestroy_v2(null_mut()) => CUDA_ERROR_INVALID_HANDLE;
        cuStreamSynchronize(stream) => CUDA_ERROR_INVALID_HANDLE;
        cuStreamSynchronize(garbage()) => CUDA_ERROR_INVALID_HANDLE;
        cuStreamSynchronize(event.cast()) => CUDA_ERROR_INVALID_HANDLE;
        cuMemsetD8Async(address, 1, 64, stream) => CUDA_ERROR_INVALID_HANDLE;
        cuEventRecord(event, stream) => CUDA_ERROR_INVALID_HANDLE;
        cuStreamWaitEvent(stream, event, 0) => CUDA_ERROR_INVALID_HANDLE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn attributes_of_a_stream_read_back_as_they_were_set() {
    use sys::CUlaunchAttributeID_enum::*;
    let context = raw_context();
    let (mut stream, mut other) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: a union of plain numbers may be zero.
    let mut value: sys::CUlaunchAttributeValue = unsafe { std::mem::zeroed() };
    returns! {
        cuStreamCreateWithPriority(&mut stream, 0, -2) => CUDA_SUCCESS;
        cuStreamCreate(&mut other, 0) => CUDA_SUCCESS;
        cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value) => CUDA_ERROR_INVALID_VALUE;
        cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &mut value) => CUDA_ERROR_INVALID_VALUE;
        cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &mut value) => CUDA_SUCCESS;
    }
    // SAFETY: the driver wrote this member of the union.
    assert_eq!(unsafe { value.priority }, -2);
    value.syncPolicy = sys::CUsynchronizationPolicy::CU_SYNC_POLICY_YIELD;
    returns! {
        cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value) => CUDA_SUCCESS;
        cuStreamCopyAttributes(other, stream) => CUDA_SUCCESS;
    }
    value.priority = 0;
    returns! { cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &mut value) => CUDA_SUCCESS; }
    // SAFETY: the driver wrote this member of the union.
    assert_eq!(unsafe { value.syncPolicy }, sys::CUsynchronizationPolicy::CU_SYNC_POLICY_YIELD);
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}
