//! The C boundary: the caller's pointers, and the structures of the CUDA driver API that this driver reads.
//!
//! The pointer types carry the caller's promise. A C caller of a CUDA function promises that each pointer argument is null or points to
//! what the API says. Each pointer type here has a private field and no constructor, in a module of its own, so a value of it can only
//! come from such an argument, from a structure that one points to, or from another value of these types. That is why their methods may
//! rely on the promise: they check for null and are safe to call.
//!
//! Where the API lets the driver keep a pointer, for an operation that a graph contains, the promise holds for as long as the API says that
//! the memory must be there: until the last launch of the graph, in whichever thread. A node's parameters are not kept but copied.
//!
//! The type behind a pointer is the one thing that a caller of these methods must get right: the API sometimes makes it depend on the
//! number of an attribute, and `cast` follows the API there.

mod arguments;
mod callbacks;
mod graph;
mod structures;

use std::ffi::c_int;

pub use arguments::{DevicePtr, HostBytes, In, Out, Text, UnifiedPtr};
pub use callbacks::{HostCall, HostFn, SharedBytesOfBlock, StreamCallback};
pub use graph::{
    EdgeData, HostNode, InstantiateParams, KernelNode, KernelNodeV1, MemAllocNode, MemcpyNodeInContext, MemsetNode,
    MemsetNodeInContext, NodeOfType, UpdateResult,
};
pub use structures::{
    Array3DDescriptor, ArrayDescriptor, BatchNode, DeviceProperties, LaunchAttribute, LaunchConfigEx, MemAccess, MemLocation,
    Memcpy2D, Memcpy3D, MemcpyEnd3D, MemoryProperties, PoolProperties, Resource, ResourceDescriptor, ResourceViewDescriptor,
    TextureDescriptor, Uuid, ValueOperation,
};

/// A `CUdevice`: the ordinal of a device.
pub type DeviceId = c_int;
