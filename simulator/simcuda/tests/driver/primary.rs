//! The primary context, which a whole process shares, so it gets a process of its own.

use std::ptr::null_mut;

use crate::support::{self, in_own_process, returns};

#[test]
fn the_primary_context_lives_while_it_is_retained() {
    in_own_process(|| {
        support::open();
        let (mut first, mut again, mut flags, mut active) = (null_mut(), null_mut(), 0, -1);
        returns! {
            cuInit(0) => CUDA_SUCCESS;
            cuDevicePrimaryCtxGetState(0, &mut flags, &mut active) => CUDA_SUCCESS;
        }
        assert_eq!(active, 0);
        returns! {
            cuDevicePrimaryCtxRelease_v2(0) => CUDA_ERROR_INVALID_CONTEXT;
            cuDevicePrimaryCtxRetain(&mut first, 0) => CUDA_SUCCESS;
            cuDevicePrimaryCtxRetain(&mut again, 0) => CUDA_SUCCESS;
            cuCtxSetCurrent(first) => CUDA_SUCCESS;
            cuDevicePrimaryCtxGetState(0, &mut flags, &mut active) => CUDA_SUCCESS;
        }
        assert_eq!((first, active), (again, 1));

        let mut address = 0;
        returns! {
            cuMemAlloc_v2(&mut address, 64) => CUDA_SUCCESS;
            cuDevicePrimaryCtxRelease_v2(0) => CUDA_SUCCESS;
            cuMemsetD8_v2(address, 1, 64) => CUDA_SUCCESS;
            cuDevicePrimaryCtxRelease_v2(0) => CUDA_SUCCESS;
            cuMemsetD8_v2(address, 1, 64) => CUDA_ERROR_CONTEXT_IS_DESTROYED;
            cuCtxGetDevice(&mut 0) => CUDA_SUCCESS;
            cuCtxSetCurrent(first) => CUDA_SUCCESS;
            cuDevicePrimaryCtxRetain(&mut again, 0) => CUDA_SUCCESS;
        }
        assert_eq!(first, again, "the primary context keeps its handle");

        // A fault sticks to it until it is reset.
        let (_, function) = support::raw_function(support::FAULTS, c"null");
        let mut parameter = 0u64;
        let mut parameters = [(&raw mut parameter).cast()];
        returns! {
            cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), parameters.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_ERROR_ILLEGAL_ADDRESS;
            cuMemAlloc_v2(&mut address, 64) => CUDA_ERROR_ILLEGAL_ADDRESS;
        }
        // On a GPU, a fault ends the process's work there, whatever is reset.
        if support::on_gpu() {
            return;
        }
        returns! {
            cuDevicePrimaryCtxReset_v2(0) => CUDA_SUCCESS;
            cuDevicePrimaryCtxRetain(&mut again, 0) => CUDA_SUCCESS;
            cuCtxSetCurrent(again) => CUDA_SUCCESS;
            cuMemAlloc_v2(&mut address, 64) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
        }
    });
}
