//! The functions that exist once for each type of node: adding one, reading it, and changing it in a graph or in an executable graph.

use super::executable;
use super::nodes::{Place, get, set};
use super::parameters;
use crate::api::event::Event;
use crate::api::operation::Operation;
use crate::api::pool;
use crate::api::prelude::*;
use crate::ffi::{BatchNode, HostNode, KernelNode, KernelNodeV1, MemAccess, MemAllocNode, Memcpy3D, MemsetNode, ValueOperation};

/// Returns a node's context, which a change of its parameters keeps.
fn context_of(node: Handle) -> Result<Handle> {
    get(node, |operation| operation.context().map(|context| context.handle))
}

/// Exports functions in four groups: for types whose parameters are given in the same way to add a node and to change it, the three
/// functions for that; for other types, the one that adds a node; those that read a node; and the rest.
macro_rules! by_type {
    (
        all { $($add_one:ident $set:ident $update:ident($parameters:ident: $type:ty) => $made:expr;)* }
        add { $($add:ident($($argument:ident: $argument_type:ty),*) => $operation:expr;)* }
        get { $($get:ident($out:ident: $out_type:ty) of $pattern:pat => $found:expr;)* }
        $($rest:tt)*
    ) => {
        exports! {
            $(
                fn $add_one(node: Out<Handle>, graph: Handle, dependencies: In<Handle>, count: usize, $parameters: $type) {
                    Place { graph, dependencies, count }.add(node, || $made)
                }

                fn $set(node: Handle, $parameters: $type) => set(node, || $made);
                fn $update(executable: Handle, node: Handle, $parameters: $type) => executable::set(executable, node, || $made);
            )*

            $(fn $add(node: Out<Handle>, graph: Handle, dependencies: In<Handle>, count: usize, $($argument: $argument_type),*) {
                Place { graph, dependencies, count }.add(node, || $operation)
            })*

            $(fn $get(node: Handle, $out: $out_type) {
                $out.put(get(node, |operation| if let $pattern = operation { Some($found) } else { None })?)
            })*

            $($rest)*
        }
    };
}

by_type! {
    all {
        // The structure of CUDA 11 lacks the last two fields.
        cuGraphAddKernelNode cuGraphKernelNodeSetParams cuGraphExecKernelNodeSetParams(kernel: In<KernelNodeV1>) =>
            parameters::kernel(&KernelNode { base: kernel.read()?, kernel: Handle::NULL, context: Handle::NULL });
        cuGraphAddKernelNode_v2 cuGraphKernelNodeSetParams_v2 cuGraphExecKernelNodeSetParams_v2(kernel: In<KernelNode>) =>
            parameters::kernel(&kernel.read()?);
        cuGraphAddHostNode cuGraphHostNodeSetParams cuGraphExecHostNodeSetParams(host: In<HostNode>) =>
            parameters::host(&host.read()?);
        cuGraphAddBatchMemOpNode cuGraphBatchMemOpNodeSetParams cuGraphExecBatchMemOpNodeSetParams(values: In<BatchNode>) =>
            parameters::values(&values.read()?);
    }

    add {
        cuGraphAddMemcpyNode(copy: In<Memcpy3D>, context: Handle) => parameters::memcpy(copy, context);
        cuGraphAddMemsetNode(memset: In<MemsetNode>, context: Handle) => parameters::memset(memset, context);
        cuGraphAddChildGraphNode(child: Handle) => parameters::child(child);
        cuGraphAddEmptyNode() => Ok(Operation::Empty);
        cuGraphAddEventRecordNode(event: Handle) => parameters::record(event);
        cuGraphAddEventWaitNode(event: Handle) => parameters::wait(event);
        cuGraphAddMemFreeNode(address: DevicePtr) => Ok(Operation::Free(address));
    }

    get {
        cuGraphKernelNodeGetParams(kernel: Out<KernelNodeV1<*const usize>>) of Operation::Kernel(launch) =>
            parameters::describe_kernel(launch).base;
        cuGraphKernelNodeGetParams_v2(kernel: Out<KernelNode<*const usize>>) of Operation::Kernel(launch) =>
            parameters::describe_kernel(launch);
        cuGraphMemcpyNodeGetParams(copy: Out<Memcpy3D<u64>>) of Operation::Copy(copy, _) => copy.to_parameters();
        cuGraphMemsetNodeGetParams(memset: Out<MemsetNode>) of Operation::Fill(fill, _) => fill.to_parameters();
        cuGraphHostNodeGetParams(host: Out<HostNode>) of Operation::Host(call) =>
            HostNode { function: Some(call.function), data: call.data };
        cuGraphBatchMemOpNodeGetParams(values: Out<BatchNode<*const ValueOperation>>) of Operation::Values(found) => {
            let (context, listed) = (found.context.handle, &found.listed);
            BatchNode { context, count: listed.len() as u32, operations: listed.as_ptr(), flags: 0 }
        };
        cuGraphEventRecordNodeGetEvent(event: Out<Handle>) of Operation::Record(found) => found.handle;
        cuGraphEventWaitNodeGetEvent(event: Out<Handle>) of Operation::Wait(found) => found.handle;
        // The properties of the pool are those of memory on the device.
        cuGraphMemAllocNodeGetParams(allocation: Out<MemAllocNode<*const MemAccess>>) of Operation::Allocate(block) => {
            let (bytes, address) = (block.bytes as usize, block.address);
            MemAllocNode { pool: pool::properties(), access: std::ptr::null(), access_count: 0, bytes, address }
        };
        cuGraphMemFreeNodeGetParams(address: Out<DevicePtr>) of Operation::Free(found) => *found;
        cuGraphChildGraphNodeGetGraph(graph: Out<Handle>) of Operation::Graph(inside) => inside.handle;
    }

    fn cuGraphMemcpyNodeSetParams(node: Handle, copy: In<Memcpy3D>) =>
        context_of(node).and_then(|context| set(node, || parameters::memcpy(copy, context)));
    fn cuGraphExecMemcpyNodeSetParams(executable: Handle, node: Handle, copy: In<Memcpy3D>, context: Handle) =>
        executable::set(executable, node, || parameters::memcpy(copy, context));
    fn cuGraphMemsetNodeSetParams(node: Handle, memset: In<MemsetNode>) =>
        context_of(node).and_then(|context| set(node, || parameters::memset(memset, context)));
    fn cuGraphExecMemsetNodeSetParams(executable: Handle, node: Handle, memset: In<MemsetNode>, context: Handle) =>
        executable::set(executable, node, || parameters::memset(memset, context));
    fn cuGraphExecChildGraphNodeSetParams(executable: Handle, node: Handle, child: Handle) =>
        executable::set_child(executable, node, child);
    fn cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle) =>
        find::<Event>(event).and_then(|_| set(node, || parameters::record(event)));
    fn cuGraphExecEventRecordNodeSetEvent(executable: Handle, node: Handle, event: Handle) =>
        find::<Event>(event).and_then(|_| executable::set(executable, node, || parameters::record(event)));
    fn cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle) =>
        find::<Event>(event).and_then(|_| set(node, || parameters::wait(event)));
    fn cuGraphExecEventWaitNodeSetEvent(executable: Handle, node: Handle, event: Handle) =>
        find::<Event>(event).and_then(|_| executable::set(executable, node, || parameters::wait(event)));

    fn cuGraphAddMemAllocNode(
        node: Out<Handle>, graph: Handle, dependencies: In<Handle>, count: usize, allocation: Out<MemAllocNode>,
    ) {
        let mut given = allocation.as_in().read()?;
        given.address = Place { graph, dependencies, count }.add_allocation(node, &given)?;
        allocation.put(given)
    }
}
