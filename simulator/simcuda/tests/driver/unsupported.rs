//! Unsupported features are refused with an error code that programs understand, and never by a missing function.

use std::ptr::null_mut;

use cudarc::driver::sys;
use cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

use crate::support::{VECTORS, load, on_gpu, own_context, raw_context, returns};

#[test]
fn streams_do_not_capture() {
    let context = raw_context();
    let (mut stream, mut graph) = (null_mut(), null_mut());
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE;
    returns! {
        cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
        cuStreamIsCapturing(stream, &mut status) => CUDA_SUCCESS;
        cuStreamEndCapture(stream, &mut graph) => CUDA_ERROR_ILLEGAL_STATE;
    }
    assert_eq!(status, sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE);
    returns! { cuStreamBeginCapture_v2(null_mut(), CU_STREAM_CAPTURE_MODE_RELAXED) => CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; }
    if !on_gpu() {
        returns! {
            cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED) => CUDA_ERROR_NOT_SUPPORTED;
            cuGraphCreate(&mut graph, 0) => CUDA_ERROR_NOT_SUPPORTED;
            cuGraphLaunch(null_mut(), stream) => CUDA_ERROR_INVALID_VALUE;
        }
    }
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn features_of_other_gpus_are_refused() {
    if on_gpu() {
        return;
    }
    let context = raw_context();
    let (mut memory, mut array) = (null_mut(), null_mut());
    returns! {
        cuImportExternalMemory(&mut memory, std::ptr::null()) => CUDA_ERROR_NOT_SUPPORTED;
        cuDestroyExternalMemory(null_mut()) => CUDA_ERROR_NOT_SUPPORTED;
        cuArrayCreate_v2(&mut array, std::ptr::null()) => CUDA_ERROR_NOT_SUPPORTED;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn cudarc_gets_an_error_and_does_not_panic() {
    if on_gpu() {
        return;
    }
    let context = own_context();
    let stream = context.new_stream().unwrap();
    assert!(stream.begin_capture(CU_STREAM_CAPTURE_MODE_RELAXED).is_err());
    let count = load(&context, VECTORS).load_function("count").unwrap();
    assert!(count.occupancy_max_active_clusters(cudarc::driver::LaunchConfig::for_num_elems(32), &stream).is_err());
}
