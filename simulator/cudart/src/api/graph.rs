//! Graphs: their structure, and executable graphs. The structures here are the driver's.

use std::ffi::{c_char, c_void};

use super::launch;
use crate::compat::Version;
use crate::export::exports;
use crate::pointer::{Handle, Ptr};

/// Returns the data of edges and the argument after it. CUDA 12 passes no data, so that argument is where CUDA 13 has the data.
fn after_data<T>(data: Ptr<c_void>, next: T, of_cuda_12: fn(Ptr<c_void>) -> T) -> (Ptr<c_void>, T) {
    match Version::current() {
        Version::Cuda12 => (Ptr::NULL, of_cuda_12(data)),
        Version::Cuda13 => (data, next),
    }
}

exports! {
    forward {
        cudaGraphCreate => ensure() cuGraphCreate(graph: Ptr<Handle>, flags: u32);
        cudaGraphDestroy => ensure() cuGraphDestroy(graph: Handle);
        cudaGraphClone => ensure() cuGraphClone(clone: Ptr<Handle>, graph: Handle);
        cudaGraphDebugDotPrint => ensure() cuGraphDebugDotPrint(graph: Handle, path: Ptr<c_char>, flags: u32);
        cudaGraphGetNodes => ensure() cuGraphGetNodes(graph: Handle, nodes: Ptr<Handle>, count: Ptr<usize>);
        cudaGraphGetRootNodes => ensure() cuGraphGetRootNodes(graph: Handle, nodes: Ptr<Handle>, count: Ptr<usize>);
        cudaGraphGetEdges_v2 => ensure()
            cuGraphGetEdges_v2(graph: Handle, from: Ptr<Handle>, to: Ptr<Handle>, data: Ptr<c_void>, count: Ptr<usize>);
        cudaGraphAddDependencies_v2 => ensure()
            cuGraphAddDependencies_v2(graph: Handle, from: Ptr<Handle>, to: Ptr<Handle>, data: Ptr<c_void>, count: usize);
        cudaGraphRemoveDependencies_v2 => ensure()
            cuGraphRemoveDependencies_v2(graph: Handle, from: Ptr<Handle>, to: Ptr<Handle>, data: Ptr<c_void>, count: usize);
        cudaGraphNodeFindInClone => ensure() cuGraphNodeFindInClone(found: Ptr<Handle>, original: Handle, clone: Handle);
        cudaGraphNodeGetDependencies_v2 => ensure()
            cuGraphNodeGetDependencies_v2(node: Handle, nodes: Ptr<Handle>, data: Ptr<c_void>, count: Ptr<usize>);
        cudaGraphNodeGetDependentNodes_v2 => ensure()
            cuGraphNodeGetDependentNodes_v2(node: Handle, nodes: Ptr<Handle>, data: Ptr<c_void>, count: Ptr<usize>);

        cudaGraphInstantiate cudaGraphInstantiateWithFlags => ensure()
            cuGraphInstantiateWithFlags(executable: Ptr<Handle>, graph: Handle, flags: u64);
        cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz => ensure()
            cuGraphInstantiateWithParams(executable: Ptr<Handle>, graph: Handle, parameters: Ptr<c_void>);
        cudaGraphUpload cudaGraphUpload_ptsz => ensure() cuGraphUpload(executable: Handle, stream: Handle);
        cudaGraphExecDestroy => ensure() cuGraphExecDestroy(executable: Handle);
        cudaGraphExecGetFlags => ensure() cuGraphExecGetFlags(executable: Handle, flags: Ptr<u64>);
        cudaGraphExecUpdate => ensure() cuGraphExecUpdate_v2(executable: Handle, graph: Handle, result: Ptr<c_void>);
        cudaGraphNodeGetEnabled => ensure() cuGraphNodeGetEnabled(executable: Handle, node: Handle, is_enabled: Ptr<u32>);
        cudaGraphNodeSetEnabled => ensure() cuGraphNodeSetEnabled(executable: Handle, node: Handle, is_enabled: u32);

        cudaDeviceGetGraphMemAttribute => check_device(device)
            cuDeviceGetGraphMemAttribute(device: i32, attribute: u32, value: Ptr<c_void>);
        cudaDeviceSetGraphMemAttribute => check_device(device)
            cuDeviceSetGraphMemAttribute(device: i32, attribute: u32, value: Ptr<c_void>);
        cudaDeviceGraphMemTrim => check_device(device) cuDeviceGraphMemTrim(device: i32);

        cudaUserObjectCreate => ensure() cuUserObjectCreate(
            object: Ptr<Handle>, data: Ptr<c_void>, destroy: Ptr<c_void>, references: u32, flags: u32,
        );
        cudaUserObjectRetain => ensure() cuUserObjectRetain(object: Handle, count: u32);
        cudaUserObjectRelease => ensure() cuUserObjectRelease(object: Handle, count: u32);
        cudaGraphRetainUserObject => ensure() cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32);
        cudaGraphReleaseUserObject => ensure() cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32);
    }

    after {
        cudaGraphGetEdges(graph: Handle, from: Ptr<Handle>, to: Ptr<Handle>, data: Ptr<c_void>, count: Ptr<usize>) => ensure(), {
            let (data, count) = after_data(data, count, Ptr::cast);
            cuGraphGetEdges_v2(graph, from, to, data, count)
        };
        cudaGraphAddDependencies(graph: Handle, from: Ptr<Handle>, to: Ptr<Handle>, data: Ptr<c_void>, count: usize) => ensure(), {
            let (data, count) = after_data(data, count, |count| count.address() as usize);
            cuGraphAddDependencies_v2(graph, from, to, data, count)
        };
        cudaGraphRemoveDependencies(graph: Handle, from: Ptr<Handle>, to: Ptr<Handle>, data: Ptr<c_void>, count: usize) => ensure(), {
            let (data, count) = after_data(data, count, |count| count.address() as usize);
            cuGraphRemoveDependencies_v2(graph, from, to, data, count)
        };
        cudaGraphNodeGetDependencies(node: Handle, nodes: Ptr<Handle>, data: Ptr<c_void>, count: Ptr<usize>) => ensure(), {
            let (data, count) = after_data(data, count, Ptr::cast);
            cuGraphNodeGetDependencies_v2(node, nodes, data, count)
        };
        cudaGraphNodeGetDependentNodes(node: Handle, nodes: Ptr<Handle>, data: Ptr<c_void>, count: Ptr<usize>) => ensure(), {
            let (data, count) = after_data(data, count, Ptr::cast);
            cuGraphNodeGetDependentNodes_v2(node, nodes, data, count)
        };
        [cudaGraphLaunch cudaGraphLaunch_ptsz](executable: Handle, stream: Handle) => ensure(), {
            launch::flush_output();
            cuGraphLaunch(executable, stream)
        };
    }
}

crate::driver::functions! {
    fn cuGraphLaunch(executable: Handle, stream: Handle);
}
