//! Events: the time between them, events without a time, misuse.

use std::ptr::null_mut;

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;

use crate::support::{garbage, on_gpu, own_context, raw_context, returns};

#[test]
fn time_passes_between_events() {
    let context = own_context();
    let stream = context.new_stream().unwrap();
    let start = stream.record_event(Some(CU_EVENT_DEFAULT)).unwrap();
    let mut data = stream.alloc_zeros::<u8>(8 << 20).unwrap();
    stream.memset_zeros(&mut data).unwrap();
    let end = stream.record_event(Some(CU_EVENT_DEFAULT)).unwrap();
    let forward = start.elapsed_ms(&end).unwrap();
    let backward = end.elapsed_ms(&start).unwrap();
    assert!(forward > 0.0 && forward < 60_000.0, "{forward}");
    assert!((forward + backward).abs() < 1e-3, "{forward} {backward}");
    assert!(end.is_complete());
    stream.wait(&end).unwrap();
}

#[test]
fn events_without_a_time_cannot_be_compared() {
    let context = raw_context();
    let (mut timed, mut other, mut untimed) = (null_mut(), null_mut(), null_mut());
    returns! {
        cuEventCreate(&mut timed, 0) => CUDA_SUCCESS;
        cuEventCreate(&mut other, 0) => CUDA_SUCCESS;
        cuEventCreate(&mut untimed, 2) => CUDA_SUCCESS;
        cuEventQuery(timed) => CUDA_SUCCESS;
        cuEventSynchronize(timed) => CUDA_SUCCESS;
        cuEventRecord(timed, null_mut()) => CUDA_SUCCESS;
        cuEventRecord(untimed, null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
        cuEventElapsedTime(&mut 0.0, timed, other) => CUDA_ERROR_INVALID_HANDLE;
        cuEventElapsedTime(&mut 0.0, timed, untimed) => CUDA_ERROR_INVALID_HANDLE;
        cuEventElapsedTime(&mut 0.0, timed, timed) => CUDA_SUCCESS;
        cuEventCreate(&mut other, 64) => CUDA_ERROR_INVALID_VALUE;
        cuEventCreate(&mut other, 4) => CUDA_ERROR_INVALID_VALUE;
        cuStreamWaitEvent(null_mut(), timed, 4) => CUDA_ERROR_INVALID_VALUE;
        cuEventCreate(null_mut(), 0) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn events_and_streams_of_different_contexts_do_not_mix() {
    let first = raw_context();
    let (mut event, mut stream) = (null_mut(), null_mut());
    returns! { cuEventCreate(&mut event, 0) => CUDA_SUCCESS; }
    let second = raw_context();
    returns! {
        cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
        cuEventRecord(event, stream) => CUDA_ERROR_INVALID_HANDLE;
        cuCtxDestroy_v2(second) => CUDA_SUCCESS;
        cuCtxDestroy_v2(first) => CUDA_SUCCESS;
    }
}

#[test]
fn handles_that_are_not_events_are_refused() {
    // A real driver follows these pointers and may crash.
    if on_gpu() {
        return;
    }
    let context = raw_context();
    let (mut event, mut stream) = (null_mut(), null_mut());
    returns! {
        cuEventCreate(&mut event, 0) => CUDA_SUCCESS;
        cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
        cuEventDestroy_v2(event) => CUDA_SUCCESS;
        cuEventDestroy_v2(event) => CUDA_ERROR_INVALID_HANDLE;
        cuEventDestroy_v2(null_mut()) => CUDA_ERROR_INVALID_HANDLE;
        cuEventRecord(event, stream) => CUDA_ERROR_INVALID_HANDLE;
        cuEventQuery(garbage()) => CUDA_ERROR_INVALID_HANDLE;
        cuEventSynchronize(stream.cast()) => CUDA_ERROR_INVALID_HANDLE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}
