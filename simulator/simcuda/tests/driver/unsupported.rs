//! Unsupported features are refused with an error code that programs understand, and never by a missing function.

use std::ptr::null_mut;

use crate::support::{VECTORS, load, on_gpu, own_context, raw_context, returns};

#[test]
fn features_of_other_gpus_are_refused() {
    if on_gpu() {
        return;
    }
    let context = raw_context();
    let mut memory = null_mut();
    returns! {
        cuImportExternalMemory(&mut memory, std::ptr::null()) => CUDA_ERROR_NOT_SUPPORTED;
        cuDestroyExternalMemory(null_mut()) => CUDA_ERROR_NOT_SUPPORTED;
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
    let count = load(&context, VECTORS).load_function("count").unwrap();
    assert!(count.occupancy_max_active_clusters(cudarc::driver::LaunchConfig::for_num_elems(32), &stream).is_err());
}
