//! The limits of a context: the stack and the heap of kernels.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::{CUlimit, CUresult};

use crate::support::{self, cu, in_own_process, returns};

/// `deep` calls itself as often as its parameter says; `many` allocates blocks of 1000 bytes until there is no room, and counts them.
const KERNELS: &str = "
.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b64 result) malloc(.param .b64 bytes);
.func (.param .b32 result) descend(.param .b32 depth) {
    .reg .pred %p<2>; .reg .b32 %r<5>;
    ld.param.b32 %r1, [depth];
    mov.u32 %r3, 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra $end;
    sub.u32 %r2, %r1, 1;
    { .param .b32 given; .param .b32 taken; st.param.b32 [given], %r2; call (taken), descend, (given); ld.param.b32 %r3, [taken]; }
    add.u32 %r3, %r3, 1;
$end:
    st.param.b32 [result], %r3;
    ret;
}
.visible .entry deep(.param .u64 output, .param .u32 depth) {
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [output];
    ld.param.u32 %r1, [depth];
    { .param .b32 given; .param .b32 taken; st.param.b32 [given], %r1; call (taken), descend, (given); ld.param.b32 %r2, [taken]; }
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry many(.param .u64 output, .param .u32 unused) {
    .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [output];
    mov.u32 %r1, -1;
$next:
    add.u32 %r1, %r1, 1;
    { .param .b64 given; .param .b64 taken; mov.b64 %rd2, 1000; st.param.b64 [given], %rd2; call (taken), malloc, (given); ld.param.b64 %rd3, [taken]; }
    setp.ne.u64 %p1, %rd3, 0;
    @%p1 bra $next;
    st.global.u32 [%rd1], %r1;
    ret;
}";

/// Launches a kernel with one thread. Returns what the context says after it, and what the kernel stored.
fn run(name: &std::ffi::CStr, depth: u32) -> (CUresult, u32) {
    let (_, function) = support::raw_function(KERNELS, name);
    let (mut output, mut depth, mut stored) = (0, depth, 0_u32);
    returns! { cuMemAlloc_v2(&mut output, 4) => CUDA_SUCCESS; }
    let mut parameters: [*mut c_void; 2] = [(&raw mut output).cast(), (&raw mut depth).cast()];
    returns! { cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), parameters.as_mut_ptr(), null_mut()) => CUDA_SUCCESS; }
    let result = cu!(cuCtxSynchronize());
    cu!(cuMemcpyDtoH_v2((&raw mut stored).cast(), output, 4));
    (result, stored)
}

#[test]
fn the_stack_is_as_large_as_its_limit() {
    in_own_process(|| {
        support::raw_context();
        assert_eq!(run(c"deep", 10), (support::OK, 10));
        returns! { cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 64 << 10) => CUDA_SUCCESS; }
        assert_eq!(run(c"deep", 200), (support::OK, 200));
        returns! { cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 1024) => CUDA_SUCCESS; }
        // How deep a GPU gets with so little depends on what its compiler keeps there.
        if !support::on_gpu() {
            assert_eq!(run(c"deep", 200).0, CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR);
        }
    });
}

#[test]
fn the_heap_is_as_large_as_its_limit_until_a_kernel_uses_it() {
    in_own_process(|| {
        support::raw_context();
        returns! { cuCtxSetLimit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20) => CUDA_SUCCESS; }
        let (result, blocks) = run(c"many", 0);
        assert_eq!(result, support::OK);
        // An H200 has room for 7,556.
        assert!((7_000..18_000).contains(&blocks), "{blocks} blocks of 1000 bytes in 16 MiB");
        // The blocks stay, so that there is no room for more.
        assert_eq!(run(c"many", 0), (support::OK, 0));
        returns! { cuCtxSetLimit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20) => CUDA_ERROR_INVALID_VALUE; }
        if !support::on_gpu() {
            // A context has a heap of its own.
            support::raw_context();
            assert!(run(c"many", 0).1 > 5_000);
        }
    });
}
