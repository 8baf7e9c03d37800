//! Faults of kernels: the launch succeeds, and the fault sticks to the context.
//!
//! On a GPU, a fault ends all of the process's work there, so each test has a process of its own.

use std::ffi::CStr;
use std::ptr::null_mut;

use cudarc::driver::sys::CUresult;

use crate::support::{FAULTS, OK, cu, in_own_process, raw_context, raw_function, returns, with_simulator};

/// Runs a faulty kernel in a context of its own. Returns the code that every later call returns.
fn fault(kernel: &CStr) -> CUresult {
    let context = raw_context();
    let (module, function) = raw_function(FAULTS, kernel);
    let (mut out, mut stream, mut event) = (0u64, null_mut(), null_mut());
    returns! {
        cuMemAlloc_v2(&mut out, 64) => CUDA_SUCCESS;
        cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
        cuEventCreate(&mut event, 0) => CUDA_SUCCESS;
    }
    let mut parameters = [(&raw mut out).cast()];
    returns! {
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
    }
    let code = cu!(cuCtxSynchronize());
    let mut host = [0u8; 4];
    let later = [
        ("synchronize", cu!(cuStreamSynchronize(stream))),
        ("query", cu!(cuStreamQuery(stream))),
        ("allocate", cu!(cuMemAlloc_v2(&mut 0, 64))),
        ("copy", cu!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), out, 4))),
        ("fill", cu!(cuMemsetD8_v2(out, 0, 4))),
        ("launch", cu!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters.as_mut_ptr(), null_mut()))),
        ("record", cu!(cuEventRecord(event, stream))),
        ("destroy an event", cu!(cuEventDestroy_v2(event))),
        ("create a stream", cu!(cuStreamCreate(&mut null_mut(), 0))),
        ("free", cu!(cuMemFree_v2(out))),
        ("unload", cu!(cuModuleUnload(module))),
        ("synchronize again", cu!(cuCtxSynchronize())),
    ];
    for (call, returned) in later {
        assert_eq!(returned, code, "{call} after {kernel:?}");
    }
    assert_eq!(cu!(cuCtxGetDevice(&mut 0)), OK, "questions that need no device still work");
    // A real driver destroys the context and still returns the fault.
    let destroyed = cu!(cuCtxDestroy_v2(context));
    assert!(destroyed == OK || destroyed == code, "{destroyed:?}");
    code
}

#[test]
fn another_context_still_works_after_a_fault() {
    // On a GPU, it does not.
    with_simulator(|_| {
        let bystander = raw_context();
        assert_eq!(fault(c"out_of_bounds"), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        returns! {
            cuCtxSetCurrent(bystander) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
            cuMemAlloc_v2(&mut 0, 64) => CUDA_SUCCESS;
            cuCtxDestroy_v2(bystander) => CUDA_SUCCESS;
        }
    });
}

#[test]
fn an_access_out_of_bounds_is_an_illegal_address() {
    in_own_process(|| assert_eq!(fault(c"out_of_bounds"), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
}

#[test]
fn an_access_to_null_is_an_illegal_address() {
    in_own_process(|| assert_eq!(fault(c"null"), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
}

#[test]
fn an_access_outside_shared_memory_is_an_illegal_address() {
    in_own_process(|| assert_eq!(fault(c"shared_out_of_bounds"), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
}

#[test]
fn a_misaligned_access_is_a_misaligned_address() {
    in_own_process(|| assert_eq!(fault(c"misaligned"), CUresult::CUDA_ERROR_MISALIGNED_ADDRESS));
}

#[test]
fn a_trap_is_a_failed_launch() {
    in_own_process(|| assert_eq!(fault(c"gives_up"), CUresult::CUDA_ERROR_LAUNCH_FAILED));
}

#[test]
fn a_failed_assertion_is_an_assert() {
    in_own_process(|| assert_eq!(fault(c"fails_an_assertion"), CUresult::CUDA_ERROR_ASSERT));
}

#[test]
fn an_endless_kernel_is_stopped() {
    // A GPU without a display waits for it forever.
    with_simulator(|simulator| {
        simulator.set_fuel(100_000).unwrap();
        assert_eq!(fault(c"endless"), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
    });
}
