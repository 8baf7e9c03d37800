//! Before `cuInit`: a process of its own, because nothing undoes `cuInit`.

use std::ptr::null_mut;

use crate::support::{self, in_own_process, returns};

#[test]
fn only_a_few_questions_work_before_initialization() {
    in_own_process(|| {
        support::open();
        let (mut version, mut count) = (0, 0);
        let mut name = std::ptr::null();
        returns! {
            cuDriverGetVersion(&mut version) => CUDA_SUCCESS;
            cuGetErrorName(support::OK, &mut name) => CUDA_SUCCESS;
            cuDeviceGetCount(&mut count) => CUDA_ERROR_NOT_INITIALIZED;
            cuDeviceGet(&mut 0, 0) => CUDA_ERROR_NOT_INITIALIZED;
            cuCtxGetCurrent(&mut null_mut()) => CUDA_ERROR_NOT_INITIALIZED;
            cuCtxSynchronize() => CUDA_ERROR_NOT_INITIALIZED;
            cuMemAlloc_v2(&mut 0, 16) => CUDA_ERROR_NOT_INITIALIZED;
            cuMemFree_v2(0) => CUDA_ERROR_NOT_INITIALIZED;
            cuStreamCreate(&mut null_mut(), 0) => CUDA_ERROR_NOT_INITIALIZED;
            cuEventCreate(&mut null_mut(), 0) => CUDA_ERROR_NOT_INITIALIZED;
            cuDevicePrimaryCtxRetain(&mut null_mut(), 0) => CUDA_ERROR_NOT_INITIALIZED;
            cuInit(0) => CUDA_SUCCESS;
            cuInit(0) => CUDA_SUCCESS;
            cuDeviceGetCount(&mut count) => CUDA_SUCCESS;
        }
        assert!(version >= 12000 && count >= 1, "{version} {count}");
    });
}
