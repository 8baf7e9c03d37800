//! Unsupported features are refused with an error code that programs understand, and never by a missing function.

use std::ptr::null_mut;

use crate::support::{VECTORS, load, on_gpu, own_context, raw_context, raw_function, returns};

#[test]
fn features_of_other_gpus_are_refused() {
    if on_gpu() {
        return;
    }
    let context = raw_context();
    let (_, function) = raw_function(VECTORS, c"count");
    let (mut memory, mut array, mut node) = (null_mut(), null_mut(), null_mut());
    returns! {
        cuImportExternalMemory(&mut memory, std::ptr::null()) => CUDA_ERROR_NOT_SUPPORTED;
        cuDestroyExternalMemory(null_mut()) => CUDA_ERROR_NOT_SUPPORTED;
        cuArrayCreate_v2(&mut array, std::ptr::null()) => CUDA_ERROR_NOT_SUPPORTED;
        cuGraphAddBatchMemOpNode(&mut node, null_mut(), std::ptr::null(), 0, std::ptr::null()) => CUDA_ERROR_NOT_SUPPORTED;
        cuLaunchCooperativeKernel(function, 2, 1, 1, 1, 1, 1, 0, null_mut(), null_mut()) => CUDA_ERROR_NOT_SUPPORTED;
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
    let config = cudarc::driver::LaunchConfig::for_num_elems(32);
    let two_blocks = cudarc::driver::LaunchConfig::for_num_elems(2048);
    assert!(count.occupancy_max_active_clusters(config, &stream).is_err());
    // SAFETY: the kernel takes no parameters and writes its own variable.
    assert!(unsafe { stream.launch_builder(&count).launch_cooperative(config) }.is_ok(), "one block is the whole grid");
    // SAFETY: the kernel takes no parameters and writes its own variable.
    assert!(unsafe { stream.launch_builder(&count).launch_cooperative(two_blocks) }.is_err());
}
