//! The nodes of graphs: adding them, and reading and changing their parameters.

use super::parameters;
use super::{check_edge_data, read_handles};
use crate::api::event::Event;
use crate::api::operation::{Block, Graph, Node, NodeRef, Operation};
use crate::api::{context, pool};
use crate::driver::{driver, find};
use crate::export::exports;
use crate::ffi::{
    BatchNode, DevicePtr, EdgeData, HostNode, In, KernelNode, KernelNodeV1, MemAccess, MemAllocNode, Memcpy3D, MemsetNode,
    NodeOfType, Out, ValueOperation,
};
use crate::handles::Handle;
use crate::result::{CuResult, Result, refuse};

/// Where a new node goes: the graph, and the array of the nodes that it runs after.
struct Place {
    graph: Handle,
    dependencies: In<Handle>,
    count: usize,
}

impl Place {
    /// Adds a node.
    fn add(&self, out: Out<Handle>, make: impl FnOnce() -> Result<Operation>) -> Result<()> {
        let driver = driver()?;
        out.check()?;
        let graph = find::<Graph>(self.graph)?;
        let dependencies = graph.ids(&read_handles(self.dependencies, self.count)?)?;
        let (_, node) = graph.add(driver, make()?, &dependencies)?;
        out.put(node)
    }

    /// Adds a node that allocates memory. Returns the address.
    fn add_allocation(&self, out: Out<Handle>, node: &MemAllocNode) -> Result<DevicePtr> {
        let (driver, context) = context::current()?;
        out.check()?;
        pool::check_properties(driver, &node.pool)?;
        let block = Block::new(driver, node.bytes, context.handle, self.graph)?;
        self.add(out, || Ok(Operation::Allocate(block.clone())))?;
        Ok(block.address)
    }
}

/// Replaces what a node does by something of the same type.
fn set(node: Handle, make: impl FnOnce() -> Result<Operation>) -> Result<()> {
    let node = find::<NodeRef>(node)?;
    let new = make()?;
    node.with(|node| replace(&mut node.operation, new))
}

/// Replaces an operation by another one of the same type. A launch keeps what is not among the parameters of its node.
pub fn replace(old: &mut Operation, mut new: Operation) -> Result<()> {
    refuse!(INVALID_VALUE if old.node_type() != new.node_type() || matches!(new, Operation::Allocate(_) | Operation::Free(_)));
    if let (Operation::Kernel(old), Operation::Kernel(new)) = (&*old, &mut new) {
        new.set_grid(driver()?, old.grid)?;
        new.set_cluster(driver()?, old.cluster)?;
        new.attributes.clone_from(&old.attributes);
    }
    *old = new;
    Ok(())
}

/// Reads a node of the type that `look` expects.
fn get<T>(node: Handle, look: impl FnOnce(&mut Operation) -> Option<T>) -> Result<T> {
    find::<NodeRef>(node)?.with(|Node { operation, .. }| Ok(look(operation).ok_or(CuResult::INVALID_VALUE)?))
}

fn kernel_parameters(node: Handle) -> Result<KernelNode<*const usize>> {
    find::<NodeRef>(node)?.with(|node| parameters::describe_kernel(&mut node.operation))
}

/// Adds a node of any type, and writes the address of an allocation where the caller's structure has a place for it.
fn add_any(place: &Place, out: Out<Handle>, node: Out<NodeOfType<u8>>) -> Result<()> {
    if node.as_in().read()?.node_type != parameters::MEM_ALLOC {
        return place.add(out, || parameters::any(node));
    }
    let node = node.cast::<NodeOfType<MemAllocNode>>();
    let mut given = node.as_in().read()?;
    given.node.value.address = place.add_allocation(out, &given.node.value)?;
    node.put(given)
}

exports! {
    fn cuGraphAddKernelNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        kernel: In<KernelNodeV1>,
    ) {
        Place { graph, dependencies, count }.add(node, || parameters::kernel(&parameters::from_v1(kernel.read()?)))
    }

    fn cuGraphAddKernelNode_v2(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        kernel: In<KernelNode>,
    ) {
        Place { graph, dependencies, count }.add(node, || parameters::kernel(&kernel.read()?))
    }

    fn cuGraphAddMemcpyNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        copy: In<Memcpy3D>,
        context: Handle,
    ) {
        Place { graph, dependencies, count }.add(node, || parameters::memcpy(copy, context))
    }

    fn cuGraphAddMemsetNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        memset: In<MemsetNode>,
        context: Handle,
    ) {
        Place { graph, dependencies, count }.add(node, || parameters::memset(memset, context))
    }

    fn cuGraphAddHostNode(node: Out<Handle>, graph: Handle, dependencies: In<Handle>, count: usize, host: In<HostNode>) {
        Place { graph, dependencies, count }.add(node, || parameters::host(host))
    }

    fn cuGraphAddChildGraphNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        child: Handle,
    ) {
        Place { graph, dependencies, count }.add(node, || parameters::child(child))
    }

    fn cuGraphAddEmptyNode(node: Out<Handle>, graph: Handle, dependencies: In<Handle>, count: usize) {
        Place { graph, dependencies, count }.add(node, || Ok(Operation::Empty))
    }

    fn cuGraphAddEventRecordNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        event: Handle,
    ) {
        Place { graph, dependencies, count }.add(node, || parameters::record(event))
    }

    fn cuGraphAddEventWaitNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        event: Handle,
    ) {
        Place { graph, dependencies, count }.add(node, || parameters::wait(event))
    }

    fn cuGraphAddMemAllocNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        allocation: Out<MemAllocNode>,
    ) {
        let mut given = allocation.as_in().read()?;
        given.address = Place { graph, dependencies, count }.add_allocation(node, &given)?;
        allocation.put(given)
    }

    fn cuGraphAddMemFreeNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        address: DevicePtr,
    ) {
        Place { graph, dependencies, count }.add(node, || Ok(Operation::Free(address)))
    }

    fn cuGraphAddBatchMemOpNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        values: In<BatchNode>,
    ) {
        Place { graph, dependencies, count }.add(node, || parameters::values(&values.read()?))
    }

    fn cuGraphBatchMemOpNodeGetParams(node: Handle, values: Out<BatchNode<*const ValueOperation>>) {
        let found = get(node, |operation| if let Operation::Values(values) = operation { Some(values.clone()) } else { None })?;
        let count = found.listed.len() as u32;
        values.put(BatchNode { context: found.context.handle, count, operations: found.listed.as_ptr(), flags: 0 })
    }

    fn cuGraphBatchMemOpNodeSetParams(node: Handle, values: In<BatchNode>) {
        set(node, || parameters::values(&values.read()?))
    }

    fn cuGraphAddNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        parameters: Out<NodeOfType<u8>>,
    ) {
        add_any(&Place { graph, dependencies, count }, node, parameters)
    }

    fn cuGraphAddNode_v2(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        data: In<EdgeData>,
        count: usize,
        parameters: Out<NodeOfType<u8>>,
    ) {
        check_edge_data(data, count)?;
        add_any(&Place { graph, dependencies, count }, node, parameters)
    }

    fn cuGraphNodeSetParams(node: Handle, parameters: Out<NodeOfType<u8>>) {
        refuse!(
            NOT_SUPPORTED if parameters::child_of(parameters)?.is_some(),
            "a node keeps its graph; change the graph of the node"
        );
        set(node, || parameters::any(parameters))
    }

    fn cuGraphKernelNodeGetParams(node: Handle, kernel: Out<KernelNodeV1<*const usize>>) {
        kernel.put(kernel_parameters(node)?.base)
    }

    fn cuGraphKernelNodeGetParams_v2(node: Handle, kernel: Out<KernelNode<*const usize>>) {
        kernel.put(kernel_parameters(node)?)
    }

    fn cuGraphKernelNodeSetParams(node: Handle, kernel: In<KernelNodeV1>) {
        set(node, || parameters::kernel(&parameters::from_v1(kernel.read()?)))
    }

    fn cuGraphKernelNodeSetParams_v2(node: Handle, kernel: In<KernelNode>) {
        set(node, || parameters::kernel(&kernel.read()?))
    }

    fn cuGraphMemcpyNodeGetParams(node: Handle, copy: Out<Memcpy3D<u64>>) {
        copy.put(get(node, |operation| if let Operation::Copy(copy, _) = operation { Some(copy.to_parameters()) } else { None })?)
    }

    /// The node stays in its context.
    fn cuGraphMemcpyNodeSetParams(node: Handle, copy: In<Memcpy3D>) {
        let context = get(node, |operation| operation.context().map(|context| context.handle))?;
        set(node, || parameters::memcpy(copy, context))
    }

    fn cuGraphMemsetNodeGetParams(node: Handle, memset: Out<MemsetNode>) {
        memset.put(get(node, |operation| if let Operation::Fill(fill, _) = operation { Some(fill.to_parameters()) } else { None })?)
    }

    /// The node stays in its context.
    fn cuGraphMemsetNodeSetParams(node: Handle, memset: In<MemsetNode>) {
        let context = get(node, |operation| operation.context().map(|context| context.handle))?;
        set(node, || parameters::memset(memset, context))
    }

    fn cuGraphHostNodeGetParams(node: Handle, host: Out<HostNode>) {
        let call = get(node, |operation| if let Operation::Host(call) = operation { Some(*call) } else { None })?;
        host.put(HostNode { function: Some(call.function()), data: call.data() })
    }

    fn cuGraphHostNodeSetParams(node: Handle, host: In<HostNode>) {
        set(node, || parameters::host(host))
    }

    fn cuGraphEventRecordNodeGetEvent(node: Handle, event: Out<Handle>) {
        event.put(get(node, |operation| if let Operation::Record(event) = operation { Some(event.handle) } else { None })?)
    }

    fn cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle) {
        find::<Event>(event)?;
        set(node, || parameters::record(event))
    }

    fn cuGraphEventWaitNodeGetEvent(node: Handle, event: Out<Handle>) {
        event.put(get(node, |operation| if let Operation::Wait(event) = operation { Some(event.handle) } else { None })?)
    }

    fn cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle) {
        find::<Event>(event)?;
        set(node, || parameters::wait(event))
    }

    /// Says where the memory is and how much it is. The pool's properties are those of memory on the device.
    fn cuGraphMemAllocNodeGetParams(node: Handle, allocation: Out<MemAllocNode<*const MemAccess>>) {
        let block = get(node, |operation| if let Operation::Allocate(block) = operation { Some(block.clone()) } else { None })?;
        let parts = MemAllocNode { pool: pool::properties(), access: std::ptr::null(), access_count: 0, bytes: block.bytes as usize, address: block.address };
        allocation.put(parts)
    }

    fn cuGraphMemFreeNodeGetParams(node: Handle, address: Out<DevicePtr>) {
        address.put(get(node, |operation| if let Operation::Free(address) = operation { Some(*address) } else { None })?)
    }
}
