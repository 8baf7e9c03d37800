//! The nodes of graphs, whatever their type: adding them, and reading and changing what they do.

use super::check_edge_data;
use super::parameters;
use crate::api::operation::{Block, Graph, Node, NodeRef, Operation};
use crate::api::pool;
use crate::api::prelude::*;
use crate::ffi::{EdgeData, MemAllocNode, NodeOfType};

/// Where a new node goes: the graph, and the array of the nodes that it runs after.
pub struct Place {
    pub graph: Handle,
    pub dependencies: In<Handle>,
    pub count: usize,
}

impl Place {
    pub fn add(&self, out: Out<Handle>, make: impl FnOnce() -> Result<Operation>) -> Result<()> {
        let driver = driver()?;
        out.check()?;
        let graph = find::<Graph>(self.graph)?;
        let dependencies = graph.ids(&self.dependencies.read_all(self.count)?)?;
        let (_, node) = graph.add(driver, make()?, &dependencies)?;
        out.put(node)
    }

    /// Adds a node that allocates memory. Returns the address.
    pub fn add_allocation(&self, out: Out<Handle>, node: &MemAllocNode) -> Result<DevicePtr> {
        let (driver, context) = context::current()?;
        out.check()?;
        pool::check_properties(driver, &node.pool)?;
        let block = Block::new(driver, node.bytes, context.handle, self.graph)?;
        self.add(out, || Ok(Operation::Allocate(block.clone())))?;
        Ok(block.address)
    }
}

/// Replaces what a node does by something of the same type.
pub fn set(node: Handle, make: impl FnOnce() -> Result<Operation>) -> Result<()> {
    let node = find::<NodeRef>(node)?;
    let new = make()?;
    node.with(|node| replace(&mut node.operation, new))
}

/// Replaces an operation by another one of the same type. A launch keeps what is not among the parameters of its node.
pub fn replace(old: &mut Operation, mut new: Operation) -> Result<()> {
    refuse!(INVALID_VALUE if old.node_type() != new.node_type() || matches!(new, Operation::Allocate(_) | Operation::Free(_)));
    if let (Operation::Kernel(old), Operation::Kernel(new)) = (&*old, &mut new) {
        new.set_groups(driver()?, old.shape.is_cooperative, old.shape.cluster)?;
        new.attributes.clone_from(&old.attributes);
    }
    *old = new;
    Ok(())
}

/// Reads a node of the type that `look` expects.
pub fn get<T>(node: Handle, look: impl FnOnce(&mut Operation) -> Option<T>) -> Result<T> {
    find::<NodeRef>(node)?.with(|Node { operation, .. }| Ok(look(operation).ok_or(CuResult::INVALID_VALUE)?))
}

/// Adds a node of any type. For an allocation, this writes its address.
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
    fn cuGraphAddNode(node: Out<Handle>, graph: Handle, dependencies: In<Handle>, count: usize, parameters: Out<NodeOfType<u8>>) =>
        add_any(&Place { graph, dependencies, count }, node, parameters);

    fn cuGraphAddNode_v2(
        node: Out<Handle>, graph: Handle, dependencies: In<Handle>, data: In<EdgeData>, count: usize,
        parameters: Out<NodeOfType<u8>>,
    ) => check_edge_data(data, count).and_then(|()| add_any(&Place { graph, dependencies, count }, node, parameters));

    fn cuGraphNodeSetParams(node: Handle, parameters: Out<NodeOfType<u8>>) {
        refuse!(
            NOT_SUPPORTED if parameters::child_of(parameters)?.is_some(),
            "a node keeps its graph; change the graph of the node"
        );
        set(node, || parameters::any(parameters))
    }
}
