//! Executable graphs: made of a graph, launched in a stream, changed without being made again.

use std::sync::Weak;

use super::nodes::replace;
use super::parameters;
use crate::api::operation::{self, CopyFor, Graph, Node, NodeRef, Operation};
use crate::api::prelude::*;
use crate::api::stream;
use crate::ffi::{InstantiateParams, NodeOfType, UpdateResult};

/// `CUDA_GRAPH_INSTANTIATE_FLAG_…`
const AUTO_FREE: u64 = 1;
const UPLOAD: u64 = 2;
const DEVICE_LAUNCH: u64 = 4;
const NODE_PRIORITY: u64 = 8;

/// `CUDA_GRAPH_INSTANTIATE_…`
const INSTANTIATED: u32 = 0;
const INSTANTIATE_ERROR: u32 = 1;
const INVALID_STRUCTURE: u32 = 2;

/// `CU_GRAPH_EXEC_UPDATE_…`
const UPDATED: u32 = 0;
const TOPOLOGY_CHANGED: u32 = 2;
const NODE_TYPE_CHANGED: u32 = 3;
const PARAMETERS_CHANGED: u32 = 5;
const FUNCTION_CHANGED: u32 = 7;
const ATTRIBUTES_CHANGED: u32 = 8;

#[derive(Debug)]
struct Executable {
    flags: u64,
    nodes: Arc<Graph>,
    /// Counted by the graph that this was made of.
    _counted: Weak<()>,
}

kind!(Executable: INVALID_VALUE);

/// Finds a cycle in a graph or inside its nodes. Returns one node of it.
fn node_of_cycle(graph: &Graph) -> Option<Handle> {
    let nodes = graph.nodes.lock();
    if let Err(cycle) = nodes.order() {
        return nodes.get(cycle.0).map(|node| node.handle);
    }
    nodes.nodes().filter_map(|(_, node)| node.operation.graph()).find_map(|graph| node_of_cycle(graph))
}

/// Makes an executable graph. `error` learns which node keeps it from being made.
fn instantiate(graph: Handle, flags: u64, error: &mut Handle) -> Result<Handle> {
    let driver = driver()?;
    let graph = find::<Graph>(graph)?;
    if flags & !(AUTO_FREE | UPLOAD | DEVICE_LAUNCH | NODE_PRIORITY) != 0 || flags & AUTO_FREE != 0 && flags & DEVICE_LAUNCH != 0 {
        refuse!(INVALID_VALUE);
    }
    refuse!(
        NOT_SUPPORTED if flags & DEVICE_LAUNCH != 0,
        "kernels cannot launch graphs in the simulator; launch the graph in a stream"
    );
    if let Some(node) = node_of_cycle(&graph) {
        *error = node;
        refuse!(INVALID_VALUE, "the graph has a cycle");
    }
    refuse!(
        NOT_SUPPORTED if graph.has_memory_nodes() && Arc::weak_count(&graph.executables) > 0,
        "a graph that allocates or frees memory has one executable graph at a time; destroy the other one first"
    );
    let nodes = graph.copy(driver, CopyFor::Executable);
    let _counted = Arc::downgrade(&graph.executables);
    Ok(driver.handles.add(Executable { flags: flags & !(UPLOAD | NODE_PRIORITY), nodes, _counted }))
}

/// Calls `look` with the executable form of a node.
fn with_node<T>(executable: Handle, node: Handle, mut look: impl FnMut(&mut Node) -> Result<T>) -> Result<T> {
    let executable = find::<Executable>(executable)?;
    find::<NodeRef>(node)?;
    executable.nodes.with_copy_of(node, &mut look).unwrap_or(CuResult::INVALID_VALUE.err())
}

/// Changes what the executable form of a node does.
pub fn set(executable: Handle, node: Handle, make: impl FnOnce() -> Result<Operation>) -> Result<()> {
    find::<Executable>(executable)?;
    let mut new = Some(make()?);
    with_node(executable, node, |node| {
        let new = new.take().ok_or(CuResult::INVALID_VALUE)?;
        let mut changed = node.operation.clone();
        replace(&mut changed, new)?;
        Ok(update_operation(driver()?, &mut node.operation, changed, Handle::NULL).map_err(|_| CuResult::INVALID_VALUE)?)
    })
}

/// Changes what the nodes of the graph in a node do.
pub fn set_child(executable: Handle, node: Handle, child: Handle) -> Result<()> {
    let child = find::<Graph>(child)?;
    let inside = with_node(executable, node, |node| Ok(node.operation.graph().cloned().ok_or(CuResult::INVALID_VALUE)?))?;
    Ok(update(driver()?, &inside, &child).map_err(|_| CuResult::INVALID_VALUE)?)
}

/// Why an executable graph cannot be updated.
struct BadUpdate {
    result: u32,
    /// The node of the new graph that does not fit.
    node: Handle,
}

/// Replaces an operation, as far as that needs no new executable graph. `node` is the node that the new one is from.
fn update_operation(driver: &Driver, old: &mut Operation, new: Operation, node: Handle) -> Result<(), BadUpdate> {
    let result = match (&*old, &new) {
        (Operation::Graph(old), Operation::Graph(new)) => return update_in_place(driver, old, new),
        (Operation::Kernel(old), Operation::Kernel(new)) if old.context().handle != new.context().handle => FUNCTION_CHANGED,
        (Operation::Kernel(old), Operation::Kernel(new)) if old.shape.is_cooperative != new.shape.is_cooperative => {
            ATTRIBUTES_CHANGED
        }
        (Operation::Copy(before, _), Operation::Copy(after, _)) => {
            let can_change = before.is_row() && after.is_row() && before.directions(driver) == after.directions(driver);
            if can_change || before == after { UPDATED } else { PARAMETERS_CHANGED }
        }
        (Operation::Fill(before, _), Operation::Fill(after, _)) if before != after && !(before.is_row() && after.is_row()) => {
            PARAMETERS_CHANGED
        }
        (Operation::Values(before), Operation::Values(after)) if !before.are_like(after) => PARAMETERS_CHANGED,
        (Operation::Allocate(_) | Operation::Free(_), _) => PARAMETERS_CHANGED,
        _ => UPDATED,
    };
    let moves = old.context().map(|context| context.handle) != new.context().map(|context| context.handle);
    let result = if result == UPDATED && moves { PARAMETERS_CHANGED } else { result };
    if result != UPDATED {
        return Err(BadUpdate { result, node });
    }
    *old = new;
    Ok(())
}

/// Gives an executable graph the parameters of another graph. Its nodes must be the same in the same order of adding. Nothing changes
/// unless everything can.
fn update(driver: &Driver, executable: &Graph, graph: &Graph) -> Result<(), BadUpdate> {
    let copy = executable.copy(driver, CopyFor::Executable);
    update_in_place(driver, &copy, graph)?;
    std::mem::swap(&mut *executable.nodes.lock(), &mut *copy.nodes.lock());
    Ok(())
}

fn update_in_place(driver: &Driver, executable: &Graph, graph: &Graph) -> Result<(), BadUpdate> {
    let new: Vec<(Node, Vec<usize>)> = in_order(graph);
    let old: Vec<(Node, Vec<usize>)> = in_order(executable);
    if old.len() != new.len() {
        return Err(BadUpdate { result: TOPOLOGY_CHANGED, node: Handle::NULL });
    }
    let mut updated = Vec::with_capacity(old.len());
    for ((old, before), (new, after)) in old.into_iter().zip(&new) {
        if before != *after {
            return Err(BadUpdate { result: TOPOLOGY_CHANGED, node: new.handle });
        }
        if old.operation.node_type() != new.operation.node_type() {
            return Err(BadUpdate { result: NODE_TYPE_CHANGED, node: new.handle });
        }
        let mut operation = old.operation;
        update_operation(driver, &mut operation, new.operation.clone(), new.handle)?;
        updated.push(operation);
    }
    for ((_, node), operation) in executable.nodes.lock().nodes_mut().zip(updated) {
        node.operation = operation;
    }
    Ok(())
}

/// Lists the nodes in the order of adding. Each comes with the places of its dependencies.
fn in_order(graph: &Graph) -> Vec<(Node, Vec<usize>)> {
    let nodes = graph.nodes.lock();
    let ids: Vec<_> = nodes.nodes().map(|(id, _)| id).collect();
    let place = |id| ids.binary_search(id).unwrap_or(usize::MAX);
    let places = |id| {
        let mut places: Vec<usize> = nodes.dependencies(id).iter().map(place).collect();
        places.sort_unstable();
        places
    };
    nodes.nodes().map(|(id, node)| (node.clone(), places(id))).collect()
}

/// Updates an executable graph and returns what keeps it from being updated.
fn update_all(executable: Handle, graph: Handle, put: impl FnOnce(UpdateResult) -> Result<()>) -> Result<()> {
    let executable = find::<Executable>(executable)?;
    let graph = find::<Graph>(graph)?;
    let (result, bad) = match update(driver()?, &executable.nodes, &graph) {
        Ok(()) => (Ok(()), BadUpdate { result: UPDATED, node: Handle::NULL }),
        Err(bad) => (CuResult::GRAPH_EXEC_UPDATE_FAILURE.err(), bad),
    };
    put(UpdateResult { result: bad.result, error_node: bad.node, error_from_node: Handle::NULL })?;
    result
}

/// Only these nodes can be disabled.
fn check_can_disable(node: &Node) -> Result<()> {
    match node.operation {
        Operation::Kernel(_) | Operation::Copy(..) | Operation::Fill(..) => Ok(()),
        _ => CuResult::INVALID_VALUE.err(),
    }
}

exports! {
    /// Instantiates as in CUDA 11, where a text says what is wrong.
    fn cuGraphInstantiate_v2 | cuGraphInstantiate(
        executable: Out<Handle>, graph: Handle, error_node: Out<Handle>, log: Out<c_char>, capacity: usize,
    ) {
        driver()?;
        executable.check()?;
        let mut error = Handle::NULL;
        let made = instantiate(graph, 0, &mut error);
        error_node.put_if_asked(error);
        if !log.is_null() && capacity > 0 {
            log.put_text(made.as_ref().err().and_then(|failure| failure.reason.as_deref()).unwrap_or_default(), capacity)?;
        }
        executable.put(made?)
    }

    fn cuGraphInstantiateWithFlags(executable: Out<Handle>, graph: Handle, flags: u64) =>
        driver().and_then(|_| executable.put_made(|| instantiate(graph, flags, &mut Handle::default())));

    fn cuGraphInstantiateWithParams(executable: Out<Handle>, graph: Handle, parameters: Out<InstantiateParams>) also "_ptsz" {
        driver()?;
        executable.check()?;
        let mut given = parameters.as_in().read()?;
        if given.flags & UPLOAD != 0 {
            stream::usable(given.upload_stream)?;
        }
        let made = instantiate(graph, given.flags, &mut given.error_node);
        given.result = match &made {
            Ok(_) => INSTANTIATED,
            Err(_) if given.error_node != Handle::NULL => INVALID_STRUCTURE,
            Err(_) => INSTANTIATE_ERROR,
        };
        parameters.put(given)?;
        executable.put(made?)
    }

    fn cuGraphExecGetFlags(executable: Handle, flags: Out<u64>) => flags.put(find::<Executable>(executable)?.flags);
    fn cuGraphExecDestroy(executable: Handle) => driver()?.handles.remove::<Executable>(executable).map(drop);

    /// There is nothing to upload to.
    fn cuGraphUpload(executable: Handle, stream: Handle) also "_ptsz" =>
        find::<Executable>(executable).and(stream::usable(stream)).and_then(|_| stream::check_not_capturing(stream));

    /// Launches the graph. If an earlier launch left memory, this frees it or refuses, as the program asked.
    fn cuGraphLaunch(executable: Handle, stream: Handle) also "_ptsz" {
        let executable = find::<Executable>(executable)?;
        stream::usable(stream)?;
        let driver = driver()?;
        // The driver of an H200 (580.159) refuses it, too.
        stream::check_not_capturing(stream)?;
        if driver.queues.is_late {
            // Whether memory of the graph is free shows when earlier work has run.
            stream::finish(stream)?;
        }
        for block in executable.nodes.blocks().iter().filter(|block| driver.graph_memory.lock().is_live(block.address)) {
            refuse!(
                INVALID_VALUE if executable.flags & AUTO_FREE == 0,
                "memory at {:#x}, which this graph allocates, is not free yet", block.address
            );
            operation::free_graph_memory(driver, block.address)?;
        }
        stream::submit(stream, Operation::Graph(executable.nodes.clone()))
    }

    fn cuGraphExecUpdate(executable: Handle, graph: Handle, error_node: Out<Handle>, result: Out<u32>) {
        update_all(executable, graph, |update| {
            error_node.put_if_asked(update.error_node);
            result.put(update.result)
        })
    }

    fn cuGraphExecUpdate_v2(executable: Handle, graph: Handle, result: Out<UpdateResult>) =>
        update_all(executable, graph, |update| result.put(update));

    fn cuGraphNodeSetEnabled(executable: Handle, node: Handle, is_enabled: u32) => with_node(executable, node, |node| {
        check_can_disable(node)?;
        node.is_enabled = is_enabled != 0;
        Ok(())
    });

    fn cuGraphNodeGetEnabled(executable: Handle, node: Handle, is_enabled: Out<u32>) {
        is_enabled.put(with_node(executable, node, |node| {
            check_can_disable(node)?;
            Ok(u32::from(node.is_enabled))
        })?)
    }

    fn cuGraphExecNodeSetParams(executable: Handle, node: Handle, parameters: Out<NodeOfType<u8>>) {
        match parameters::child_of(parameters)? {
            Some(child) => set_child(executable, node, child),
            None => set(executable, node, || parameters::any(parameters)),
        }
    }
}
