//! Unsupported features are refused with an error code that programs understand, and never by a missing function.

use std::ptr::null_mut;

use crate::support::{on_gpu, raw_context, returns};

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
