//! Graphs: making them, changing their structure, and asking about it.

pub mod attributes;
pub mod by_type;
pub mod dot;
pub mod executable;
pub mod nodes;
pub mod parameters;

use super::operation::{self, CopyFor, Graph, NodeRef};
use super::prelude::*;
use super::user_object::{self, UserObject};
use crate::ffi::EdgeData;
use crate::topology::{Edge, NodeId, Topology};

/// `CU_GRAPH_USER_OBJECT_MOVE`
const MOVE: u32 = 1;

/// Returns handles in the way of most functions that list something: as many as the caller has space for, or else how many there are.
fn put_list<T: Copy>(out: Out<T>, count: Out<usize>, found: &[T], filler: T) -> Result<()> {
    count.check()?;
    if out.is_null() {
        return count.put(found.len());
    }
    let space = count.as_in().read()?;
    for index in 0..space {
        out.nth(index).put(found.get(index).copied().unwrap_or(filler))?;
    }
    count.put(found.len().min(space))
}

fn put_nodes(out: Out<Handle>, count: Out<usize>, graph: &Graph, ids: &[NodeId]) -> Result<()> {
    put_list(out, count, &graph.handles(ids), Handle::NULL)
}

/// Refuses edges that are more than an order, such as programmatic ones. Null stands for plain edges.
pub fn check_edge_data(data: In<EdgeData>, count: usize) -> Result<()> {
    refuse!(
        NOT_SUPPORTED if !data.is_null() && data.read_all(count)?.iter().any(|data| *data != EdgeData::default()),
        "edges with ports or of a type are not supported by the simulator; use edges without data"
    );
    Ok(())
}

/// Says that edges are plain, where the caller asks.
fn put_edge_data(out: Out<EdgeData>, count: usize) -> Result<()> {
    if !out.is_null() {
        for index in 0..count {
            out.nth(index).put(EdgeData::default())?;
        }
    }
    Ok(())
}

/// Refuses a removal from a graph that must stay as it is.
fn check_can_shrink(driver: &Driver, graph: &Graph) -> Result<()> {
    refuse!(INVALID_VALUE if graph.has_memory_nodes() || driver.captures.lock().is_target(graph.handle));
    Ok(())
}

fn read_edges(graph: &Graph, from: In<Handle>, to: In<Handle>, count: usize) -> Result<Vec<Edge>> {
    let [from, to] = [from, to].map(|ends| graph.ids(&ends.read_all(count)?));
    Ok(from?.into_iter().zip(to?).collect())
}

fn connect(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) -> Result<()> {
    let graph = find::<Graph>(graph)?;
    let edges = read_edges(&graph, from, to, count)?;
    graph.nodes.lock().connect(&edges).map_err(|_| CuResult::INVALID_VALUE.into())
}

fn disconnect(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) -> Result<()> {
    let graph = find::<Graph>(graph)?;
    check_can_shrink(driver()?, &graph)?;
    let edges = read_edges(&graph, from, to, count)?;
    graph.nodes.lock().disconnect(&edges).map_err(|_| CuResult::INVALID_VALUE.into())
}

fn put_edges(graph: Handle, from: Out<Handle>, to: Out<Handle>, data: Out<EdgeData>, count: Out<usize>) -> Result<()> {
    let graph = find::<Graph>(graph)?;
    let edges = graph.nodes.lock().edges();
    refuse!(INVALID_VALUE if from.is_null() != to.is_null());
    let ends = |which: fn(&Edge) -> NodeId| graph.handles(&edges.iter().map(which).collect::<Vec<_>>());
    count.check()?;
    let space = count.as_in().read()?;
    put_list(from, count, &ends(|edge| edge.0), Handle::NULL)?;
    if !to.is_null() {
        count.put(space)?;
        put_list(to, count, &ends(|edge| edge.1), Handle::NULL)?;
        put_edge_data(data, space)?;
    }
    Ok(())
}

fn put_neighbors(
    node: Handle,
    out: Out<Handle>,
    data: Out<EdgeData>,
    count: Out<usize>,
    side: impl FnOnce(&Topology<operation::Node>, NodeId) -> Vec<NodeId>,
) -> Result<()> {
    let node = find::<NodeRef>(node)?;
    let found = side(&node.graph.nodes.lock(), node.id);
    put_nodes(out, count, &node.graph, &found)?;
    if out.is_null() { Ok(()) } else { put_edge_data(data, count.as_in().read()?) }
}

exports! {
    fn cuGraphCreate(graph: Out<Handle>, flags: u32) {
        let driver = driver()?;
        graph.check()?;
        refuse!(INVALID_VALUE if flags != 0);
        graph.put(Graph::create(driver).handle)
    }

    /// Destroys a graph of the program: not one of a node or a capture.
    fn cuGraphDestroy(graph: Handle) {
        let driver = driver()?;
        let graph = find::<Graph>(graph)?;
        refuse!(INVALID_VALUE if graph.is_embedded || driver.captures.lock().is_target(graph.handle));
        graph.unregister(driver);
        Ok(())
    }

    fn cuGraphClone(clone: Out<Handle>, graph: Handle) {
        let driver = driver()?;
        clone.check()?;
        let graph = find::<Graph>(graph)?;
        refuse!(NOT_SUPPORTED if graph.has_memory_nodes(), "CUDA does not clone a graph that allocates or frees memory");
        clone.put(graph.copy(driver, CopyFor::Program).handle)
    }

    fn cuGraphNodeFindInClone(found: Out<Handle>, original: Handle, clone: Handle) {
        found.check()?;
        find::<NodeRef>(original)?;
        let clone = find::<Graph>(clone)?;
        refuse!(INVALID_VALUE if clone.original.is_none());
        found.put(clone.with_copy_of(original, &mut |node| node.handle).ok_or(CuResult::INVALID_VALUE)?)
    }

    fn cuGraphNodeGetType(node: Handle, node_type: Out<u32>) =>
        node_type.put(find::<NodeRef>(node)?.with(|node| Ok(node.operation.node_type().0))?);

    fn cuGraphGetNodes(graph: Handle, nodes: Out<Handle>, count: Out<usize>) {
        let graph = find::<Graph>(graph)?;
        let ids: Vec<NodeId> = graph.nodes.lock().nodes().map(|(id, _)| id).collect();
        put_nodes(nodes, count, &graph, &ids)
    }

    fn cuGraphGetRootNodes(graph: Handle, nodes: Out<Handle>, count: Out<usize>) {
        let graph = find::<Graph>(graph)?;
        let ids = graph.nodes.lock().roots();
        put_nodes(nodes, count, &graph, &ids)
    }

    fn cuGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>) =>
        put_edges(graph, from, to, Out::NULL, count);
    fn cuGraphGetEdges_v2(graph: Handle, from: Out<Handle>, to: Out<Handle>, data: Out<EdgeData>, count: Out<usize>) =>
        put_edges(graph, from, to, data, count);
    fn cuGraphNodeGetDependencies(node: Handle, nodes: Out<Handle>, count: Out<usize>) =>
        put_neighbors(node, nodes, Out::NULL, count, |graph, id| graph.dependencies(id).to_vec());
    fn cuGraphNodeGetDependencies_v2(node: Handle, nodes: Out<Handle>, data: Out<EdgeData>, count: Out<usize>) =>
        put_neighbors(node, nodes, data, count, |graph, id| graph.dependencies(id).to_vec());
    fn cuGraphNodeGetDependentNodes(node: Handle, nodes: Out<Handle>, count: Out<usize>) =>
        put_neighbors(node, nodes, Out::NULL, count, |graph, id| graph.dependents(id).to_vec());
    fn cuGraphNodeGetDependentNodes_v2(node: Handle, nodes: Out<Handle>, data: Out<EdgeData>, count: Out<usize>) =>
        put_neighbors(node, nodes, data, count, |graph, id| graph.dependents(id).to_vec());
    fn cuGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) => connect(graph, from, to, count);
    fn cuGraphAddDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, count: usize) =>
        check_edge_data(data, count).and_then(|()| connect(graph, from, to, count));
    fn cuGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) =>
        disconnect(graph, from, to, count);
    fn cuGraphRemoveDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, count: usize) =>
        check_edge_data(data, count).and_then(|()| disconnect(graph, from, to, count));

    fn cuGraphDestroyNode(node: Handle) {
        let driver = driver()?;
        let node = find::<NodeRef>(node)?;
        check_can_shrink(driver, &node.graph)?;
        let removed = node.graph.nodes.lock().remove(node.id).ok_or(CuResult::INVALID_VALUE)?;
        removed.unregister(driver);
        Ok(())
    }

    fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32) {
        let graph = find::<Graph>(graph)?;
        let object = find::<UserObject>(object)?;
        user_object::check_count(count)?;
        refuse!(INVALID_VALUE if flags & !MOVE != 0);
        graph.references.retain(object, count, flags == MOVE);
        Ok(())
    }

    fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32) {
        let graph = find::<Graph>(graph)?;
        let object = find::<UserObject>(object)?;
        user_object::check_count(count)?;
        graph.references.release(&object, count)
    }
}
