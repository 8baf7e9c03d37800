//! Parameters of nodes of graphs: operations from the program's structures, and structures from operations.

use simt::Dim3;

use crate::api::event::Event;
use crate::api::kernel::{self, Launch, Shape};
use crate::api::operation::{CopyFor, Graph, Operation, Values};
use crate::api::prelude::*;
use crate::api::transfer::{Copy, Fill};
use crate::api::{library, value_op};
use crate::ffi::{
    BatchNode, HostCall, HostNode, KernelNode, KernelNodeV1, Memcpy3D, MemcpyNodeInContext, MemsetNode, MemsetNodeInContext,
    NodeOfType,
};

/// `CU_GRAPH_NODE_TYPE_GRAPH` and `_MEM_ALLOC`
const GRAPH: u32 = 4;
pub const MEM_ALLOC: u32 = 10;

/// Makes a launch. The kernel's parameters are copied.
pub fn kernel(node: &KernelNode) -> Result<Operation> {
    let driver = driver()?;
    let KernelNodeV1 { function, grid, block, shared_mem_bytes, values, extra } = node.base;
    let named = if function == Handle::NULL { node.kernel } else { function };
    let is_elsewhere = node.context != Handle::NULL && node.context != context::current_handle();
    refuse!(
        NOT_SUPPORTED if function == Handle::NULL && is_elsewhere,
        "a kernel of a library runs in the current context; make its context current"
    );
    let function = library::function(named)?;
    let shape = Shape::of(grid, block, shared_mem_bytes);
    let launch = Launch::new(driver, named, function, shape, |function| kernel::pack(function, values, extra))?;
    Ok(Operation::Kernel(launch))
}

/// Describes a launch. The parameters stay where the structure says until the node is changed.
pub fn describe_kernel(launch: &mut Launch) -> KernelNode<*const usize> {
    let extents = |Dim3 { x, y, z }: Dim3| [x, y, z];
    let is_function = launch.handle == launch.function.handle;
    let base = KernelNodeV1 {
        function: if is_function { launch.handle } else { Handle::NULL },
        grid: extents(launch.shape.config.grid),
        block: extents(launch.shape.config.block),
        shared_mem_bytes: launch.shape.config.dynamic_shared_bytes,
        values: launch.list_parameters(),
        extra: std::ptr::null(),
    };
    let kernel = if is_function { Handle::NULL } else { launch.handle };
    KernelNode { base, kernel, context: launch.context().handle }
}

/// Returns the same for `CUgraphNodeParams`, where null means the current context.
fn context_or_current(handle: Handle) -> Result<Arc<Context>> {
    if handle == Handle::NULL { Ok(context::current()?.1) } else { find(handle) }
}

pub fn memcpy(copy: In<Memcpy3D>, context: Handle) -> Result<Operation> {
    Ok(Operation::Copy(Copy::from_parameters(&copy.read()?)?, find(context)?))
}

pub fn memset(node: In<MemsetNode>, context: Handle) -> Result<Operation> {
    Ok(Operation::Fill(Fill::from_parameters(&node.read()?)?, find(context)?))
}

pub fn host(node: &HostNode) -> Result<Operation> {
    Ok(Operation::Host(HostCall::new(node.function, node.data)?))
}

/// Makes a copy of a graph, for a node that owns it.
pub fn child(graph: Handle) -> Result<Operation> {
    let graph = find::<Graph>(graph)?;
    refuse!(NOT_SUPPORTED if graph.has_memory_nodes(), "a graph that allocates or frees memory cannot be part of another graph");
    Ok(Operation::Graph(graph.copy(driver()?, CopyFor::Node)))
}

/// Finds the event of a node. The functions that add a node document no other error.
fn event(event: Handle) -> Result<Arc<Event>> {
    find(event).map_err(|_| CuResult::INVALID_VALUE.into())
}

pub fn wait(handle: Handle) -> Result<Operation> {
    Ok(Operation::Wait(event(handle)?))
}

pub fn record(handle: Handle) -> Result<Operation> {
    Ok(Operation::Record(event(handle)?))
}

/// Makes operations on values in memory.
pub fn values(node: &BatchNode) -> Result<Operation> {
    let operations = value_op::batch(node.count, node.operations, node.flags)?;
    Ok(Operation::Values(Values::new(operations, find(node.context)?)))
}

/// Returns the graph that `CUgraphNodeParams` has for a node that executes one.
pub fn child_of(parameters: Out<NodeOfType<u8>>) -> Result<Option<Handle>> {
    let is_graph = parameters.as_in().read()?.node_type == GRAPH;
    if is_graph { member(parameters).map(Some) } else { Ok(None) }
}

/// Makes an operation of `CUgraphNodeParams`, except for an allocation.
pub fn any(parameters: Out<NodeOfType<u8>>) -> Result<Operation> {
    // `CU_GRAPH_NODE_TYPE_…`, as in `Operation::node_type`.
    match parameters.as_in().read()?.node_type {
        0 => kernel(&member(parameters)?),
        1 => {
            let MemcpyNodeInContext { context, copy, .. } = member(parameters)?;
            Ok(Operation::Copy(Copy::from_parameters(&copy)?, context_or_current(context)?))
        }
        2 => {
            let MemsetNodeInContext { memset, context } = member(parameters)?;
            Ok(Operation::Fill(Fill::from_parameters(&memset)?, context_or_current(context)?))
        }
        3 => host(&member(parameters)?),
        GRAPH => child(member(parameters)?),
        5 => Ok(Operation::Empty),
        6 => wait(member(parameters)?),
        7 => record(member(parameters)?),
        8 | 9 | 13 => Err(CuResult::NOT_SUPPORTED
            .because("nodes with semaphores or conditions are not supported by the simulator; use other nodes")),
        11 => Ok(Operation::Free(member(parameters)?)),
        12 => values(&member(parameters)?),
        _ => CuResult::INVALID_VALUE.err(),
    }
}

/// Reads the member of the union that a type of node has.
fn member<T: std::marker::Copy>(parameters: Out<NodeOfType<u8>>) -> Result<T> {
    Ok(parameters.cast::<NodeOfType<T>>().as_in().read()?.node.value)
}
