//! The structures of the CUDA driver API that describe nodes of graphs.

use std::ffi::{c_int, c_longlong, c_uint};

use super::arguments::{DevicePtr, HostBytes, In};
use super::callbacks::HostFn;
use super::structures::{MemAccess, Memcpy3D, PoolProperties};
use crate::handles::Handle;

/// `CUDA_KERNEL_NODE_PARAMS` as it was before CUDA 12, without the last two fields. The arrays are plain addresses where the driver
/// describes a launch to the program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNodeV1<Array = In<HostBytes>> {
    pub function: Handle,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_mem_bytes: c_uint,
    pub values: Array,
    pub extra: Array,
}

/// `CUDA_KERNEL_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNode<Array = In<HostBytes>> {
    pub base: KernelNodeV1<Array>,
    /// A kernel of a library, if `base.function` is null.
    pub kernel: Handle,
    pub context: Handle,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemsetNode {
    pub target: DevicePtr,
    pub pitch: usize,
    pub value: c_uint,
    pub element_bytes: c_uint,
    pub width: usize,
    pub height: usize,
}

/// `CUDA_MEMSET_NODE_PARAMS_v2`, which `cuGraphAddNode` takes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemsetNodeInContext {
    pub memset: MemsetNode,
    pub context: Handle,
}

/// `CUDA_MEMCPY_NODE_PARAMS`, which `cuGraphAddNode` takes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemcpyNodeInContext {
    pub flags: c_int,
    pub reserved: c_int,
    pub context: Handle,
    pub copy: Memcpy3D,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostNode {
    pub function: Option<HostFn>,
    pub data: HostBytes,
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemAllocNode<Array = In<MemAccess>> {
    pub pool: PoolProperties,
    pub access: Array,
    pub access_count: usize,
    pub bytes: usize,
    /// Where the driver writes the address.
    pub address: DevicePtr,
}

/// `CUgraphNodeParams` as far as a node of one type uses it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NodeOfType<T> {
    pub node_type: c_uint,
    pub reserved: [c_int; 3],
    pub node: Aligned<T>,
}

/// A member of the union in `CUgraphNodeParams`, with the union's alignment.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Aligned<T> {
    pub alignment: [c_longlong; 0],
    pub value: T,
}

/// `CUgraphEdgeData`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeData {
    pub from_port: u8,
    pub to_port: u8,
    pub edge_type: u8,
    pub reserved: [u8; 5],
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct InstantiateParams {
    pub flags: u64,
    pub upload_stream: Handle,
    pub error_node: Handle,
    pub result: c_uint,
}

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct UpdateResult {
    pub result: c_uint,
    pub error_node: Handle,
    pub error_from_node: Handle,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn structures_have_the_sizes_of_the_c_api() {
        use cudarc::driver::sys;
        assert_eq!(size_of::<KernelNode>(), size_of::<sys::CUDA_KERNEL_NODE_PARAMS>());
        assert_eq!(size_of::<KernelNodeV1>(), size_of::<sys::CUDA_KERNEL_NODE_PARAMS_v1>());
        assert_eq!(offset_of!(KernelNodeV1, extra), offset_of!(sys::CUDA_KERNEL_NODE_PARAMS, extra));
        assert_eq!(size_of::<MemsetNode>(), size_of::<sys::CUDA_MEMSET_NODE_PARAMS>());
        assert_eq!(size_of::<HostNode>(), size_of::<sys::CUDA_HOST_NODE_PARAMS>());
        assert_eq!(size_of::<MemAllocNode>(), size_of::<sys::CUDA_MEM_ALLOC_NODE_PARAMS>());
        assert_eq!(size_of::<InstantiateParams>(), size_of::<sys::CUDA_GRAPH_INSTANTIATE_PARAMS>());
        assert_eq!(size_of::<UpdateResult>(), size_of::<sys::CUgraphExecUpdateResultInfo>());
        // What the bindings for CUDA 12.0 do not have yet is compared with cuda.h of CUDA 12.3.
        assert_eq!(offset_of!(NodeOfType<Handle>, node), 16);
        assert_eq!((size_of::<MemcpyNodeInContext>(), size_of::<MemsetNodeInContext>(), size_of::<EdgeData>()), (216, 48, 8));
    }
}
