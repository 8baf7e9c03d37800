//! Memory that graphs allocate and free.

use std::ptr::{null, null_mut};

use cudarc::driver::sys;
use cudarc::driver::sys::CUgraphMem_attribute::*;
use cudarc::driver::sys::CUgraphNodeType::*;

use crate::graph_support::{Bench, empty_graph, fails, node_type};
use crate::support::{in_own_process, returns};

/// Describes an allocation on the device.
fn allocation(bytes: usize) -> sys::CUDA_MEM_ALLOC_NODE_PARAMS {
    // SAFETY: all fields of the structure may be zero: numbers, a null pointer, and enumerations with a name for zero.
    let mut allocation: sys::CUDA_MEM_ALLOC_NODE_PARAMS = unsafe { std::mem::zeroed() };
    allocation.poolProps.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    allocation.poolProps.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    allocation.bytesize = bytes;
    allocation
}

/// Adds nodes that allocate a word, set it, and copy it. The copy goes to word 0 of the bench.
fn add_use(bench: &Bench, graph: sys::CUgraph, value: u32) -> (sys::CUgraphNode, sys::CUdeviceptr) {
    let (mut allocate, mut fill, mut copy) = (null_mut(), null_mut(), null_mut());
    let mut allocated = allocation(4);
    returns! { cuGraphAddMemAllocNode(&mut allocate, graph, null(), 0, &mut allocated) => CUDA_SUCCESS; }
    assert!(allocated.dptr != 0);
    let mut memset = bench.memset(0, value);
    memset.dst = allocated.dptr;
    let mut memcpy = bench.memcpy(0, 0);
    memcpy.srcDevice = allocated.dptr;
    returns! {
        cuGraphAddMemsetNode(&mut fill, graph, &allocate, 1, &memset, bench.context) => CUDA_SUCCESS;
        cuGraphAddMemcpyNode(&mut copy, graph, &fill, 1, &memcpy, bench.context) => CUDA_SUCCESS;
    }
    let mut read = allocation(0);
    returns! { cuGraphMemAllocNodeGetParams(allocate, &mut read) => CUDA_SUCCESS; }
    assert_eq!((read.dptr, read.bytesize, node_type(allocate)), (allocated.dptr, 4, CU_GRAPH_NODE_TYPE_MEM_ALLOC));
    (copy, allocated.dptr)
}

#[test]
fn a_graph_that_frees_its_memory_can_be_launched_again() {
    let bench = Bench::new();
    let graph = empty_graph();
    let (last, address) = add_use(&bench, graph, 7);
    let (mut free, mut read) = (null_mut(), 0);
    returns! {
        cuGraphAddMemFreeNode(&mut free, graph, &last, 1, address) => CUDA_SUCCESS;
        cuGraphMemFreeNodeGetParams(free, &mut read) => CUDA_SUCCESS;
        cuGraphAddMemFreeNode(&mut null_mut(), graph, &free, 1, address) => CUDA_ERROR_INVALID_VALUE;
        cuGraphAddMemFreeNode(&mut null_mut(), graph, &free, 1, bench.words) => CUDA_ERROR_INVALID_VALUE;
    }
    assert_eq!((read, node_type(free)), (address, CU_GRAPH_NODE_TYPE_MEM_FREE));
    let executable = bench.instantiate(graph);
    for _ in 0..2 {
        bench.launch(executable);
        assert_eq!(bench.read(0), 7);
        returns! { cuMemsetD32_v2(bench.words, 0, 1) => CUDA_SUCCESS; }
    }
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn memory_that_a_graph_does_not_free_is_the_programs() {
    let bench = Bench::new();
    let graph = empty_graph();
    let (_, address) = add_use(&bench, graph, 7);
    let executable = bench.instantiate(graph);
    bench.launch(executable);
    let mut value = 0u32;
    returns! {
        cuMemcpyDtoH_v2((&raw mut value).cast(), address, 4) => CUDA_SUCCESS;
        cuGraphLaunch(executable, bench.stream) => CUDA_ERROR_INVALID_VALUE;
        cuMemFreeAsync(address, bench.stream) => CUDA_SUCCESS;
    }
    assert_eq!(value, 7);
    bench.launch(executable);
    returns! { cuMemFree_v2(address) => CUDA_SUCCESS; }
    bench.launch(executable);
    returns! {
        cuGraphExecDestroy(executable) => CUDA_SUCCESS;
        cuGraphInstantiateWithFlags(&mut null_mut(), graph, 1) => CUDA_SUCCESS;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn a_launch_can_free_what_the_launch_before_it_allocated() {
    let bench = Bench::new();
    let graph = empty_graph();
    add_use(&bench, graph, 7);
    let mut executable = null_mut();
    returns! { cuGraphInstantiateWithFlags(&mut executable, graph, 1) => CUDA_SUCCESS; }
    for _ in 0..3 {
        bench.launch(executable);
    }
    assert_eq!(bench.read(0), 7);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn one_graph_can_free_what_another_allocates() {
    let bench = Bench::new();
    let (first, second) = (empty_graph(), empty_graph());
    let (_, address) = add_use(&bench, first, 7);
    let mut free = null_mut();
    returns! { cuGraphAddMemFreeNode(&mut free, second, null(), 0, address) => CUDA_SUCCESS; }
    let [allocate, free] = [first, second].map(|graph| bench.instantiate(graph));
    for _ in 0..2 {
        bench.launch(allocate);
        bench.launch(free);
    }
    assert_eq!(bench.read(0), 7);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn a_graph_with_memory_of_its_own_is_not_copied_or_taken_apart() {
    let bench = Bench::new();
    let (graph, outer) = (empty_graph(), empty_graph());
    let (last, _) = add_use(&bench, graph, 7);
    let (mut made, mut node) = (null_mut(), null_mut());
    let executable = bench.instantiate(graph);
    fails! {
        cuGraphClone(&mut made, graph);
        cuGraphAddChildGraphNode(&mut node, outer, null(), 0, graph);
        cuGraphDestroyNode(last);
        cuGraphInstantiateWithFlags(&mut null_mut(), graph, 0);
    }
    returns! { cuGraphExecDestroy(executable) => CUDA_SUCCESS; }
    bench.launch(bench.instantiate(graph));
    assert_eq!(bench.read(0), 7);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn the_device_says_how_much_memory_graphs_use() {
    // Memory of graphs is counted for the whole process.
    in_own_process(|| {
        let bench = Bench::new();
        let graph = empty_graph();
        let (_, address) = add_use(&bench, graph, 7);
        let executable = bench.instantiate(graph);
        let level = |attribute| {
            let mut bytes = 0u64;
            returns! { cuDeviceGetGraphMemAttribute(0, attribute, (&raw mut bytes).cast()) => CUDA_SUCCESS; }
            bytes
        };
        assert_eq!(level(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
        bench.launch(executable);
        assert!(level(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) >= 4);
        assert!(level(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) >= 4);
        assert!(level(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) >= level(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
        let mut zero = 0u64;
        returns! {
            cuMemFree_v2(address) => CUDA_SUCCESS;
            cuGraphExecDestroy(executable) => CUDA_SUCCESS;
            cuGraphDestroy(graph) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
            cuDeviceGraphMemTrim(0) => CUDA_SUCCESS;
            cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, (&raw mut zero).cast()) => CUDA_SUCCESS;
        }
        assert_eq!(level(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), level(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
        returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
    });
}
