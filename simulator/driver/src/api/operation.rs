//! Operations: what a program can ask a stream to do, and what the nodes of a graph are. A stream executes an operation at once, or records
//! it while it is being captured.

use std::collections::BTreeMap;

use super::event::Event;
use super::kernel::Launch;
use super::prelude::*;
use super::transfer::{Copy, Fill};
use super::user_object::References;
use super::value_op::ValueOp;
use crate::allocations::MemoryKind;
use crate::driver::driver_of_this_process;
use crate::ffi::{HostCall, ValueOperation};
use crate::graph_memory::Bytes;
use crate::name::readable;
use crate::timeline::{Task, Work};
use crate::topology::{NodeId, Topology};

/// Something that a stream or a graph can execute.
#[derive(Clone, Debug)]
pub enum Operation {
    Kernel(Launch),
    Copy(Copy, Arc<Context>),
    Fill(Fill, Arc<Context>),
    Host(HostCall),
    /// The nodes of a graph of its own.
    Graph(Arc<Graph>),
    /// Nothing, between what runs before it and what runs after it.
    Empty,
    Wait(Arc<Event>),
    Record(Arc<Event>),
    Allocate(Arc<Block>),
    Free(DevicePtr),
    Values(Values),
}

/// Operations on values in memory, in order.
#[derive(Clone, Debug)]
pub struct Values {
    pub operations: Arc<[ValueOp]>,
    pub context: Arc<Context>,
    /// The same, where the program reads them.
    pub listed: Arc<[ValueOperation]>,
}

impl Values {
    pub fn new(operations: Vec<ValueOp>, context: Arc<Context>) -> Self {
        let listed = operations.iter().map(|operation| operation.to_parameters()).collect();
        Self { operations: operations.into(), context, listed }
    }

    /// Returns true if the types of the operations are equal. An executable graph can change addresses and values only.
    pub fn are_like(&self, other: &Self) -> bool {
        let types = |values: &Self| values.operations.iter().map(std::mem::discriminant).collect::<Vec<_>>();
        types(self) == types(other)
    }
}

impl Operation {
    /// Returns the number and name of the node's type in `CUgraphNodeType`.
    pub fn node_type(&self) -> (u32, &'static str) {
        match self {
            Operation::Kernel(_) => (0, "KERNEL"),
            Operation::Copy(..) => (1, "MEMCPY"),
            Operation::Fill(..) => (2, "MEMSET"),
            Operation::Host(_) => (3, "HOST"),
            Operation::Graph(_) => (4, "GRAPH"),
            Operation::Empty => (5, "EMPTY"),
            Operation::Wait(_) => (6, "WAIT_EVENT"),
            Operation::Record(_) => (7, "EVENT_RECORD"),
            Operation::Allocate(_) => (10, "MEM_ALLOC"),
            Operation::Free(_) => (11, "MEM_FREE"),
            Operation::Values(_) => (12, "BATCH_MEM_OP"),
        }
    }

    /// Returns the context of an operation that runs on the device.
    pub fn context(&self) -> Option<&Arc<Context>> {
        match self {
            Operation::Kernel(launch) => Some(launch.context()),
            Operation::Copy(_, context) | Operation::Fill(_, context) => Some(context),
            Operation::Values(values) => Some(&values.context),
            _ => None,
        }
    }

    /// Returns the graph whose nodes this executes.
    pub fn graph(&self) -> Option<&Arc<Graph>> {
        if let Operation::Graph(graph) = self { Some(graph) } else { None }
    }

    /// Refuses what a call refuses at once although the work runs later: copies of memory that is not there.
    pub fn check(&self, driver: &Driver) -> Result<()> {
        match self {
            Operation::Copy(copy, _) => copy.check_memory(driver),
            Operation::Fill(fill, _) => fill.check_memory(driver),
            _ => Ok(()),
        }
    }

    /// Returns what this is for those who order work.
    pub fn task(&self) -> Task {
        let kernel = if let Operation::Kernel(launch) = self { Some(readable(launch.function.name()).into_owned()) } else { None };
        let (begins_early, lets_next_begin) = match self {
            Operation::Kernel(launch) => {
                let program = &launch.function.kernel().program;
                (launch.shape.begins_early && !program.waits_for_previous, program.lets_next_begin)
            }
            _ => (false, false),
        };
        let what = match self {
            Operation::Kernel(_) => format!("kernel {}", kernel.as_deref().unwrap_or_default()),
            Operation::Copy(copy, _) => copy.what(),
            Operation::Fill(..) => "memset".to_owned(),
            Operation::Host(_) => "a function of the host".to_owned(),
            Operation::Graph(_) => "a graph".to_owned(),
            Operation::Empty => "nothing".to_owned(),
            Operation::Wait(_) => "the wait for an event".to_owned(),
            Operation::Record(_) => "the record of an event".to_owned(),
            Operation::Allocate(_) => "an allocation".to_owned(),
            Operation::Free(_) => "a free".to_owned(),
            Operation::Values(_) => "an operation on values".to_owned(),
        };
        let (mut after, mut is_told, mut tells) = (Vec::new(), false, false);
        self.each(&mut |operation| match operation {
            Operation::Wait(event) => after.extend(event.last().moment),
            Operation::Values(_) => (is_told, tells) = (true, true),
            Operation::Host(_) => tells = true,
            _ => {}
        });
        Task { what, kernel, after, is_told, tells, begins_early, lets_next_begin, work: self.work() }
    }

    fn work(&self) -> Work {
        match self {
            Operation::Kernel(_) | Operation::Copy(..) => Work::ONE,
            Operation::Graph(graph) => graph.work(),
            _ => Work::default(),
        }
    }

    /// Looks at this, or at each node of a graph.
    fn each(&self, look: &mut dyn FnMut(&Operation)) {
        match self {
            Operation::Graph(graph) => graph.nodes.lock().nodes().for_each(|(_, node)| node.operation.each(look)),
            other => look(other),
        }
    }

    /// Returns the events that this records.
    pub fn recorded(&self) -> Vec<Arc<Event>> {
        let mut events = Vec::new();
        self.each(&mut |operation| {
            if let Operation::Record(event) = operation {
                events.push(event.clone());
            }
        });
        events
    }

    /// Returns true if this keeps a graph from being copied and changed.
    fn is_of_memory(&self) -> bool {
        matches!(self, Operation::Allocate(_) | Operation::Free(_))
    }
}

/// The memory of an allocation node. It exists as long as a graph has the node.
#[derive(Debug)]
pub struct Block {
    pub address: u64,
    pub bytes: u64,
}

impl Block {
    /// Makes memory that `graph` allocates.
    pub fn new(driver: &Driver, bytes: usize, context: Handle, graph: Handle) -> Result<Arc<Self>> {
        let address = driver.allocations.lock().allocate(bytes, MemoryKind::Graph, context)?;
        let bytes = bytes as u64;
        driver.graph_memory.lock().reserve(address, bytes, graph);
        Ok(Arc::new(Self { address, bytes }))
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(driver) = driver_of_this_process() {
            give_back(driver, self.address, driver.graph_memory.lock().forget_node(self.address));
        }
    }
}

/// Returns memory of a graph to the device, if it is unused.
pub fn give_back(driver: &Driver, address: u64, bytes: Bytes) {
    if bytes == Bytes::Unused {
        // Fails only if the context is gone, which took its memory along.
        let _ = driver.allocations.lock().free(address, |kind| kind == MemoryKind::Graph);
    }
}

/// Frees live memory of a graph for the program.
pub fn free_graph_memory(driver: &Driver, address: u64) -> Result<()> {
    let bytes = driver.graph_memory.lock().free_outside(address)?;
    give_back(driver, address, bytes);
    Ok(())
}

#[derive(Clone, Debug)]
pub struct Node {
    /// Null for a node of an executable graph, which has no handle.
    pub handle: Handle,
    /// The node that this is a copy of.
    pub original: Option<Handle>,
    pub operation: Operation,
    /// True if an executable graph executes the node.
    pub is_enabled: bool,
}

/// The object of a node's handle.
#[derive(Clone, Debug)]
pub struct NodeRef {
    pub graph: Arc<Graph>,
    pub id: NodeId,
}

/// A graph: a program's own, the graph of a node, or the nodes of an executable graph.
#[derive(Debug)]
pub struct Graph {
    /// Null for the nodes of an executable graph.
    pub handle: Handle,
    /// The graph that this was cloned from with `cuGraphClone`.
    pub original: Option<Handle>,
    /// True if a node of another graph owns this graph.
    pub is_embedded: bool,
    pub nodes: Mutex<Topology<Node>>,
    pub references: References,
    /// Each executable graph that was made of this graph has a clone.
    pub executables: Arc<()>,
}

kind!(Graph: INVALID_VALUE);
kind!(NodeRef: INVALID_VALUE);

/// Who a copy of a graph is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFor {
    /// The program, which gets handles for the graph and its nodes.
    Program,
    /// A node of another graph. The program gets handles as well, but the node owns the graph.
    Node,
    /// An executable graph.
    Executable,
}

impl NodeRef {
    pub fn with<T>(&self, look: impl FnOnce(&mut Node) -> Result<T>) -> Result<T> {
        look(self.graph.nodes.lock().get_mut(self.id).ok_or(CuResult::INVALID_VALUE)?)
    }
}

impl Graph {
    pub fn create(driver: &Driver) -> Arc<Self> {
        driver.handles.insert(|handle| Self {
            handle,
            original: None,
            is_embedded: false,
            nodes: Mutex::default(),
            references: References::default(),
            executables: Arc::default(),
        })
    }

    pub fn add(self: &Arc<Self>, driver: &Driver, operation: Operation, dependencies: &[NodeId]) -> Result<(NodeId, Handle)> {
        let mut nodes = self.nodes.lock();
        nodes.check_dependencies(dependencies).map_err(|_| CuResult::INVALID_VALUE)?;
        refuse!(
            NOT_SUPPORTED if self.is_embedded && operation.is_of_memory(),
            "the graph of a node cannot allocate or free memory"
        );
        if let Operation::Free(address) = operation {
            driver.graph_memory.lock().plan_free(address, self.handle)?;
        }
        let handle = driver.handles.reserve();
        let node = Node { handle, original: None, operation, is_enabled: true };
        let id = nodes.add(node, dependencies).map_err(|_| CuResult::INVALID_VALUE)?;
        driver.handles.insert_at(handle, NodeRef { graph: self.clone(), id });
        Ok((id, handle))
    }

    fn work(&self) -> Work {
        let nodes = self.nodes.lock();
        let (mut all, mut rows) = (Work::default(), BTreeMap::new());
        for id in nodes.order().unwrap_or_default() {
            let mut work = nodes.get(id).filter(|node| node.is_enabled).map(|node| node.operation.work()).unwrap_or_default();
            work.in_a_row += nodes.dependencies(id).iter().filter_map(|id| rows.get(id)).max().unwrap_or(&0);
            rows.insert(id, work.in_a_row);
            all.add_beside(work);
        }
        all
    }

    /// Returns the numbers of nodes. All of them must be of this graph.
    pub fn ids(&self, nodes: &[Handle]) -> Result<Vec<NodeId>> {
        let id = |&handle: &Handle| -> Result<NodeId> {
            let node = find::<NodeRef>(handle)?;
            if node.graph.handle == self.handle { Ok(node.id) } else { CuResult::INVALID_VALUE.err() }
        };
        nodes.iter().map(id).collect()
    }

    pub fn handles(&self, ids: &[NodeId]) -> Vec<Handle> {
        let nodes = self.nodes.lock();
        ids.iter().filter_map(|&id| nodes.get(id)).map(|node| node.handle).collect()
    }

    /// Returns true if the graph allocates or frees memory. CUDA does not copy such a graph, nor remove anything from it.
    pub fn has_memory_nodes(&self) -> bool {
        self.nodes.lock().nodes().any(|(_, node)| node.operation.is_of_memory())
    }

    /// Returns the memory that the graph allocates.
    pub fn blocks(&self) -> Vec<Arc<Block>> {
        let nodes = self.nodes.lock();
        let block =
            |(_, node): (NodeId, &Node)| if let Operation::Allocate(block) = &node.operation { Some(block.clone()) } else { None };
        nodes.nodes().filter_map(block).collect()
    }

    /// Copies the graph, its nodes, and the graphs inside them.
    pub fn copy(&self, driver: &Driver, copy_for: CopyFor) -> Arc<Self> {
        let is_registered = copy_for != CopyFor::Executable;
        let handle = if is_registered { driver.handles.reserve() } else { Handle::NULL };
        let inside = if is_registered { CopyFor::Node } else { CopyFor::Executable };
        let nodes = self.nodes.lock().map(|_, node| {
            let handle = if is_registered { driver.handles.reserve() } else { Handle::NULL };
            let operation = match &node.operation {
                Operation::Graph(graph) => Operation::Graph(graph.copy(driver, inside)),
                other => other.clone(),
            };
            // The nodes of an executable graph have no handles, so a copy of them is a copy of what they were made from.
            let original = if node.handle == Handle::NULL { node.original } else { Some(node.handle) };
            Node { handle, original, operation, is_enabled: node.is_enabled }
        });
        let graph = Self {
            handle,
            original: (copy_for == CopyFor::Program).then_some(self.handle),
            is_embedded: copy_for == CopyFor::Node,
            nodes: Mutex::new(nodes),
            references: self.references.clone(),
            executables: Arc::default(),
        };
        if !is_registered {
            return Arc::new(graph);
        }
        let graph = driver.handles.insert_at(handle, graph);
        for (id, node) in graph.nodes.lock().nodes() {
            driver.handles.insert_at(node.handle, NodeRef { graph: graph.clone(), id });
        }
        graph
    }

    /// Calls `look` with the copy of a node, if there is one. It may be inside of other nodes.
    pub fn with_copy_of<T>(&self, original: Handle, look: &mut dyn FnMut(&mut Node) -> T) -> Option<T> {
        let mut nodes = self.nodes.lock();
        if let Some((_, node)) = nodes.nodes_mut().find(|(_, node)| node.original == Some(original)) {
            return Some(look(node));
        }
        nodes.nodes().filter_map(|(_, node)| node.operation.graph()).find_map(|graph| graph.with_copy_of(original, look))
    }

    /// Removes the handles of the graph and of everything in it. What is executable of it stays.
    pub fn unregister(&self, driver: &Driver) {
        let _ = driver.handles.remove::<Graph>(self.handle);
        driver.graph_memory.lock().forget_frees(self.handle);
        let nodes: Vec<Node> = self.nodes.lock().nodes().map(|(_, node)| node.clone()).collect();
        for node in nodes {
            node.unregister(driver);
        }
    }
}

impl Node {
    /// Removes the handles of the node and of the graph in it.
    pub fn unregister(&self, driver: &Driver) {
        let _ = driver.handles.remove::<NodeRef>(self.handle);
        if let Some(graph) = self.operation.graph() {
            graph.unregister(driver);
        }
    }
}
