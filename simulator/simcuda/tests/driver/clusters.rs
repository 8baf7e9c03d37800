//! Clusters of blocks: launches with them, what functions require and allow, and what is refused. Every answer is that of an H200.

use std::ptr::null_mut;

use cudarc::driver::sys;

use crate::support::{raw_context, raw_function, returns};

/// Two kernels: `ranks` stores the rank of each block in its cluster, and `ranks_of_four` has clusters of 2 x 2 blocks.
const RANKS: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry ranks(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %cluster_ctarank;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry ranks_of_four(.param .u64 out)
.explicitcluster
.reqnctapercluster 2, 2, 1
{
    ret;
}
";

fn attribute(id: sys::CUlaunchAttributeID, value: [u32; 3]) -> sys::CUlaunchAttribute {
    // SAFETY: zeros are a value of every member of the union.
    let mut attribute: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
    attribute.id = id;
    attribute.value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x: value[0], y: value[1], z: value[2] };
    attribute
}

fn config(grid: [u32; 2], attributes: &mut [sys::CUlaunchAttribute]) -> sys::CUlaunchConfig {
    sys::CUlaunchConfig {
        gridDimX: grid[0],
        gridDimY: grid[1],
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: null_mut(),
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    }
}

const CLUSTER: sys::CUlaunchAttributeID = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;

/// Launches a kernel in clusters of these extents, or without any.
fn launch(function: sys::CUfunction, grid: [u32; 2], cluster: Option<[u32; 3]>, out: u64) -> sys::CUresult {
    let mut attributes: Vec<_> = cluster.map(|cluster| attribute(CLUSTER, cluster)).into_iter().collect();
    let config = config(grid, &mut attributes);
    let mut out = out;
    let mut parameters = [(&raw mut out).cast()];
    // SAFETY: the configuration, its attributes and the parameter live longer than the call, and the kernel has one parameter.
    unsafe { sys::cuLaunchKernelEx(&config, function, parameters.as_mut_ptr(), null_mut()) }
}

#[test]
fn launches_have_the_clusters_that_they_ask_for_or_must_have() {
    use sys::CUresult::{CUDA_ERROR_INVALID_CLUSTER_SIZE as REFUSED, CUDA_SUCCESS as DONE};
    let context = raw_context();
    let (_, ranks) = raw_function(RANKS, c"ranks");
    let (_, of_four) = raw_function(RANKS, c"ranks_of_four");
    let mut out = 0;
    returns! { cuMemAlloc_v2(&mut out, 1024) => CUDA_SUCCESS; }
    for (function, grid, cluster, result) in [
        (ranks, [6, 1], Some([3, 1, 1]), DONE),
        (ranks, [5, 1], Some([2, 1, 1]), REFUSED),
        (ranks, [16, 1], Some([16, 1, 1]), REFUSED),
        (ranks, [9, 1], Some([9, 1, 1]), REFUSED),
        (ranks, [4, 1], Some([1, 0, 1]), REFUSED),
        (ranks, [8, 1], Some([8, 1, 1]), DONE),
        (of_four, [4, 2], None, DONE),
        (of_four, [3, 2], None, REFUSED),
        (of_four, [4, 2], Some([2, 2, 1]), DONE),
        (of_four, [4, 2], Some([4, 1, 1]), REFUSED),
        (of_four, [4, 2], Some([1, 1, 1]), REFUSED),
    ] {
        assert_eq!(launch(function, grid, cluster, out), result, "{grid:?} in {cluster:?}");
    }
    let mut found = [9_u32; 8];
    returns! { cuMemcpyDtoH_v2(found.as_mut_ptr().cast(), out, 32) => CUDA_SUCCESS; }
    assert_eq!(found, [0, 1, 2, 3, 4, 5, 6, 7]);

    let large = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    returns! { cuFuncSetAttribute(ranks, large, 1) => CUDA_SUCCESS; }
    for (blocks, result) in [(16, DONE), (9, DONE), (17, REFUSED), (32, REFUSED)] {
        assert_eq!(launch(ranks, [blocks, 1], Some([blocks, 1, 1]), out), result, "{blocks}");
    }
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn a_function_requires_clusters_by_its_text_or_by_its_attributes() {
    use sys::CUfunction_attribute::{
        CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET as MUST_BE_SET, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH as DEPTH,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT as HEIGHT, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH as WIDTH,
    };
    use sys::CUresult::{CUDA_ERROR_INVALID_CLUSTER_SIZE as REFUSED, CUDA_SUCCESS as DONE};
    let context = raw_context();
    let (_, ranks) = raw_function(RANKS, c"ranks");
    let (_, of_four) = raw_function(RANKS, c"ranks_of_four");
    let mut out = 0;
    returns! { cuMemAlloc_v2(&mut out, 1024) => CUDA_SUCCESS; }
    let attributes = |function| {
        [MUST_BE_SET, WIDTH, HEIGHT, DEPTH].map(|attribute| {
            let mut value = -1;
            returns! { cuFuncGetAttribute(&mut value, attribute, function) => CUDA_SUCCESS; }
            value
        })
    };
    assert_eq!((attributes(ranks), attributes(of_four)), ([0; 4], [1, 2, 2, 1]));
    returns! {
        cuFuncSetAttribute(of_four, WIDTH, 4) => CUDA_ERROR_INVALID_VALUE;
        cuFuncSetAttribute(ranks, MUST_BE_SET, 1) => CUDA_ERROR_INVALID_VALUE;
        cuFuncSetAttribute(ranks, WIDTH, 4) => CUDA_SUCCESS;
        cuFuncSetAttribute(ranks, HEIGHT, 1) => CUDA_SUCCESS;
        cuFuncSetAttribute(ranks, DEPTH, 1) => CUDA_SUCCESS;
    }
    assert_eq!(attributes(ranks), [0, 4, 1, 1]);
    assert_eq!(launch(ranks, [4, 1], None, out), DONE);
    assert_eq!(launch(ranks, [4, 1], Some([2, 1, 1]), out), REFUSED);
    let mut found = [9_u32; 4];
    returns! { cuMemcpyDtoH_v2(found.as_mut_ptr().cast(), out, 16) => CUDA_SUCCESS; }
    assert_eq!(found, [0, 1, 2, 3]);
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn the_clusters_that_run_at_once_are_counted() {
    let context = raw_context();
    let (_, ranks) = raw_function(RANKS, c"ranks");
    let (_, of_four) = raw_function(RANKS, c"ranks_of_four");
    let mut count = -1;
    for (threads, blocks, expected) in [(64, 1, 1056), (64, 2, 528), (512, 1, 528), (512, 2, 264), (1024, 1, 264), (1024, 2, 132)] {
        let mut attributes = [attribute(CLUSTER, [blocks, 1, 1])];
        let config = sys::CUlaunchConfig { blockDimX: threads, ..config([blocks * 100, 1], &mut attributes) };
        returns! { cuOccupancyMaxActiveClusters(&mut count, ranks, &config) => CUDA_SUCCESS; }
        assert_eq!(count, expected, "{blocks} blocks of {threads} threads");
    }
    let mut sixteen = [attribute(CLUSTER, [16, 1, 1])];
    let large = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    let (with_sixteen, without) = (config([1600, 1], &mut sixteen), config([64, 1], &mut []));
    returns! {
        cuOccupancyMaxActiveClusters(&mut count, ranks, &with_sixteen) => CUDA_ERROR_INVALID_CLUSTER_SIZE;
        cuOccupancyMaxActiveClusters(&mut count, of_four, &without) => CUDA_ERROR_INVALID_CLUSTER_SIZE;
        cuOccupancyMaxActiveClusters(&mut count, ranks, &without) => CUDA_SUCCESS;
    }
    assert_eq!(count, 0);
    let mut size = -1;
    returns! { cuOccupancyMaxPotentialClusterSize(&mut size, ranks, &without) => CUDA_SUCCESS; }
    assert_eq!(size, 8);
    returns! {
        cuFuncSetAttribute(ranks, large, 1) => CUDA_SUCCESS;
        cuOccupancyMaxPotentialClusterSize(&mut size, ranks, &without) => CUDA_SUCCESS;
        cuOccupancyMaxActiveClusters(&mut count, ranks, &with_sixteen) => CUDA_SUCCESS;
    }
    assert_eq!(size, 16);
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}
