//! The nodes of graphs: adding them, reading them, and changing them in a graph or in an executable graph.
//!
//! The runtime's structures for a kernel and a copy are its own, and all others are the driver's. Whatever a node does, the driver's functions
//! for nodes of any type add and change it.

use std::ffi::c_void;

use super::copy::{DEVICE_TO_HOST, HOST_TO_DEVICE, Parameters};
use crate::compat::Version;
use crate::driver::{self, Copy3D};
use crate::error::{Code, Result};
use crate::export::exports;
use crate::pointer::{Address, Handle, Ptr};
use crate::{context, registry};

/// `cudaGraphNodeType…`
const KERNEL: u32 = 0;
const MEMCPY: u32 = 1;
const MEMSET: u32 = 2;
const HOST: u32 = 3;

/// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`, which every function has.
const MAX_THREADS: u32 = 0;

/// `cudaKernelNodeParams`. The driver's structure begins with the same fields.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Kernel {
    /// The runtime's address of a stub, or the driver's function.
    function: Address,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    arguments: Address,
    extra: Address,
}

/// `CUDA_KERNEL_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct DriverKernel {
    base: Kernel,
    /// A kernel of a library, if `base.function` is 0.
    kernel: Handle,
    context: Handle,
}

/// `cudaMemcpyNodeParams` and `CUDA_MEMCPY_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
struct CopyNode<T> {
    flags: [u32; 2],
    context: Handle,
    copy: T,
}

/// `cudaMemsetParams` and `cudaHostNodeParams`, which the driver has as well.
type Fill = [u64; 5];
type HostCall = [u64; 2];

/// `cudaGraphNodeParams` and `CUgraphNodeParams`: a type, and a union that the type decides.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Node {
    node_type: u32,
    reserved: [u32; 3],
    union: [u64; 29],
    end: u64,
}

impl Node {
    fn new<T: Copy>(node_type: u32, parameters: T) -> Result<Self> {
        let mut node = Self { node_type, reserved: [0; 3], union: [0; 29], end: 0 };
        Ptr::to(&mut node.union).cast().put(parameters)?;
        Ok(node)
    }

    fn kernel(given: Kernel) -> Result<Self> {
        let kernel = registry::kernel_at(given.function)?;
        if driver::cuKernelGetFunction(Ptr::to(&mut 0), kernel).is_ok() {
            let base = Kernel { function: 0, ..given };
            return Self::new(KERNEL, DriverKernel { base, kernel, context: 0 });
        }
        // It is a function of the driver API, or nothing at all.
        driver::cuFuncGetAttribute(Ptr::to(&mut 0), MAX_THREADS, kernel).map_err(|_| Code::INVALID_DEVICE_FUNCTION)?;
        Self::new(KERNEL, DriverKernel { base: given, kernel: 0, context: 0 })
    }

    fn copy(given: Parameters) -> Result<Self> {
        Self::new(MEMCPY, CopyNode { flags: [0; 2], context: 0, copy: given.of_driver()? })
    }

    /// Translates the program's structure.
    fn of_any(given: Ptr<Self>) -> Result<Self> {
        let node = given.read()?;
        let parameters = given.offset_bytes::<c_void>(std::mem::offset_of!(Self, union));
        match node.node_type {
            KERNEL => Self::kernel(parameters.cast::<Kernel>().read()?),
            MEMCPY => Self::copy(parameters.cast::<CopyNode<Parameters>>().read()?.copy),
            _ => Ok(node),
        }
    }
}

/// Exports functions by type, in threes, and the rest. The three take the same parameters to add a node, to change it in a graph, and to
/// change it in an executable graph.
macro_rules! nodes {
    (
        given { $($add:ident $set:ident $update:ident($($argument:ident: $type:ty),*) => $made:expr;)* }
        $($rest:tt)*
    ) => {
        exports! {
            $($rest)*
            $(
                fn $add(node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, count: usize, $($argument: $type),*) {
                    context::ensure()?;
                    cuGraphAddNode(node, graph, dependencies, count, Ptr::to(&mut $made?))
                }
                fn $set(node: Handle, $($argument: $type),*) {
                    context::ensure()?;
                    cuGraphNodeSetParams(node, Ptr::to(&mut $made?))
                }
                fn $update(executable: Handle, node: Handle, $($argument: $type),*) {
                    context::ensure()?;
                    cuGraphExecNodeSetParams(executable, node, Ptr::to(&mut $made?))
                }
            )*
        }
    };
}

nodes! {
    given {
        cudaGraphAddKernelNode cudaGraphKernelNodeSetParams cudaGraphExecKernelNodeSetParams(kernel: Ptr<Kernel>) =>
            Node::kernel(kernel.read()?);
        cudaGraphAddMemcpyNode cudaGraphMemcpyNodeSetParams cudaGraphExecMemcpyNodeSetParams(copy: Ptr<Parameters>) =>
            Node::copy(copy.read()?);
        cudaGraphAddMemcpyNode1D cudaGraphMemcpyNodeSetParams1D cudaGraphExecMemcpyNodeSetParams1D(
            target: Address, source: Address, bytes: usize, kind: u32
        ) => Node::copy(Parameters::of_row(target, source, bytes, kind));
        cudaGraphAddMemcpyNodeToSymbol cudaGraphMemcpyNodeSetParamsToSymbol cudaGraphExecMemcpyNodeSetParamsToSymbol(
            symbol: Ptr<c_void>, source: Address, bytes: usize, offset: usize, kind: u32
        ) => Node::copy(Parameters::of_variable(symbol, source, [bytes, offset], kind, HOST_TO_DEVICE)?);
        cudaGraphAddMemcpyNodeFromSymbol cudaGraphMemcpyNodeSetParamsFromSymbol cudaGraphExecMemcpyNodeSetParamsFromSymbol(
            target: Address, symbol: Ptr<c_void>, bytes: usize, offset: usize, kind: u32
        ) => Node::copy(Parameters::of_variable(symbol, target, [bytes, offset], kind, DEVICE_TO_HOST)?);
        cudaGraphAddMemsetNode cudaGraphMemsetNodeSetParams cudaGraphExecMemsetNodeSetParams(fill: Ptr<Fill>) =>
            Node::new(MEMSET, fill.read()?);
        cudaGraphAddHostNode cudaGraphHostNodeSetParams cudaGraphExecHostNodeSetParams(host: Ptr<HostCall>) =>
            Node::new(HOST, host.read()?);
    }

    forward {
        cudaGraphAddChildGraphNode => ensure()
            cuGraphAddChildGraphNode(node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, count: usize, child: Handle);
        cudaGraphAddEmptyNode => ensure()
            cuGraphAddEmptyNode(node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, count: usize);
        cudaGraphAddEventRecordNode => ensure()
            cuGraphAddEventRecordNode(node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, count: usize, event: Handle);
        cudaGraphAddEventWaitNode => ensure()
            cuGraphAddEventWaitNode(node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, count: usize, event: Handle);
        cudaGraphAddMemAllocNode => ensure() cuGraphAddMemAllocNode(
            node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, count: usize, allocation: Ptr<c_void>,
        );
        cudaGraphAddMemFreeNode => ensure()
            cuGraphAddMemFreeNode(node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, count: usize, address: Address);
        cudaGraphDestroyNode => ensure() cuGraphDestroyNode(node: Handle);

        cudaGraphNodeGetType => ensure() cuGraphNodeGetType(node: Handle, node_type: Ptr<u32>);
        cudaGraphMemsetNodeGetParams => ensure() cuGraphMemsetNodeGetParams(node: Handle, fill: Ptr<Fill>);
        cudaGraphHostNodeGetParams => ensure() cuGraphHostNodeGetParams(node: Handle, host: Ptr<HostCall>);
        cudaGraphChildGraphNodeGetGraph => ensure() cuGraphChildGraphNodeGetGraph(node: Handle, graph: Ptr<Handle>);
        cudaGraphEventRecordNodeGetEvent => ensure() cuGraphEventRecordNodeGetEvent(node: Handle, event: Ptr<Handle>);
        cudaGraphEventWaitNodeGetEvent => ensure() cuGraphEventWaitNodeGetEvent(node: Handle, event: Ptr<Handle>);
        cudaGraphMemAllocNodeGetParams => ensure() cuGraphMemAllocNodeGetParams(node: Handle, allocation: Ptr<c_void>);
        cudaGraphMemFreeNodeGetParams => ensure() cuGraphMemFreeNodeGetParams(node: Handle, address: Ptr<Address>);
        cudaGraphKernelNodeGetAttribute => ensure()
            cuGraphKernelNodeGetAttribute(node: Handle, attribute: u32, value: Ptr<c_void>);

        // The headers of CUDA 12 give the two nodes each other's names. In both versions, the first is the target.
        cudaGraphKernelNodeCopyAttributes => ensure() cuGraphKernelNodeCopyAttributes(target: Handle, source: Handle);
        cudaGraphKernelNodeSetAttribute => ensure()
            cuGraphKernelNodeSetAttribute(node: Handle, attribute: u32, value: Ptr<c_void>);
        cudaGraphEventRecordNodeSetEvent => ensure() cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle);
        cudaGraphEventWaitNodeSetEvent => ensure() cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle);

        cudaGraphExecChildGraphNodeSetParams => ensure()
            cuGraphExecChildGraphNodeSetParams(executable: Handle, node: Handle, child: Handle);
        cudaGraphExecEventRecordNodeSetEvent => ensure()
            cuGraphExecEventRecordNodeSetEvent(executable: Handle, node: Handle, event: Handle);
        cudaGraphExecEventWaitNodeSetEvent => ensure()
            cuGraphExecEventWaitNodeSetEvent(executable: Handle, node: Handle, event: Handle);
    }

    after {
        cudaGraphKernelNodeGetParams(node: Handle, kernel: Ptr<Kernel>) => ensure(), kernel.fill(|| {
            let DriverKernel { base, kernel, .. } = Ptr::written(|found| cuGraphKernelNodeGetParams_v2(node, found))?;
            let handle = if kernel == 0 { base.function as Handle } else { kernel };
            Ok(Kernel { function: registry::stub(handle), ..base })
        });
        cudaGraphMemcpyNodeGetParams(node: Handle, copy: Ptr<Parameters>) => ensure(), copy.fill(|| {
            Parameters::from_driver(Ptr::written(|found| cuGraphMemcpyNodeGetParams(node, found))?)
        });
        cudaGraphNodeSetParams(node: Handle, parameters: Ptr<Node>) => ensure(),
            cuGraphNodeSetParams(node, Ptr::to(&mut Node::of_any(parameters)?));
        cudaGraphExecNodeSetParams(executable: Handle, node: Handle, parameters: Ptr<Node>) => ensure(),
            cuGraphExecNodeSetParams(executable, node, Ptr::to(&mut Node::of_any(parameters)?));
        cudaGraphAddNode_v2(
            node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, data: Ptr<c_void>, count: usize, parameters: Ptr<Node>,
        ) => ensure(), add_any(node, graph, dependencies, data, count, parameters);
        // CUDA 12 passes no data of edges.
        cudaGraphAddNode(
            node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, data: Ptr<c_void>, count: Ptr<c_void>, parameters: Ptr<Node>,
        ) => ensure(), match Version::current() {
            Version::Cuda12 => add_any(node, graph, dependencies, Ptr::NULL, data.address() as usize, count.cast()),
            Version::Cuda13 => add_any(node, graph, dependencies, data, count.address() as usize, parameters),
        };
    }
}

/// Adds a node of any type. For an allocation, the driver writes its address.
fn add_any(
    node: Ptr<Handle>,
    graph: Handle,
    dependencies: Ptr<Handle>,
    data: Ptr<c_void>,
    count: usize,
    parameters: Ptr<Node>,
) -> Result {
    let mut given = Node::of_any(parameters)?;
    cuGraphAddNode_v2(node, graph, dependencies, data, count, Ptr::to(&mut given))?;
    if matches!(given.node_type, KERNEL | MEMCPY) { Ok(()) } else { parameters.put(given) }
}

driver::functions! {
    fn cuGraphAddNode(node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, count: usize, parameters: Ptr<Node>);
    fn cuGraphAddNode_v2(
        node: Ptr<Handle>, graph: Handle, dependencies: Ptr<Handle>, data: Ptr<c_void>, count: usize, parameters: Ptr<Node>,
    );
    fn cuGraphNodeSetParams(node: Handle, parameters: Ptr<Node>);
    fn cuGraphExecNodeSetParams(executable: Handle, node: Handle, parameters: Ptr<Node>);
    fn cuGraphKernelNodeGetParams_v2(node: Handle, kernel: Ptr<DriverKernel>);
    fn cuGraphMemcpyNodeGetParams(node: Handle, copy: Ptr<Copy3D>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_nvidias_headers() {
        assert_eq!((size_of::<Kernel>(), size_of::<DriverKernel>(), size_of::<Node>()), (56, 72, 256));
        assert_eq!((size_of::<CopyNode<Parameters>>(), size_of::<CopyNode<Copy3D>>()), (176, 216));
    }
}
