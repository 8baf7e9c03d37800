//! The structure of a graph: nodes, and the edges that say which node runs before which. It knows nothing about what a node does.

use std::collections::{BTreeMap, BTreeSet};

/// A node of one topology, and of all its copies. Nodes are numbered in the order in which they are added, and no number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// Nodes with a value each, and edges between them. It may contain a cycle, because CUDA only notices one when the graph is instantiated.
#[derive(Debug)]
pub struct Topology<T> {
    nodes: BTreeMap<NodeId, Node<T>>,
    next: u32,
}

/// Both lists are in the order in which the edges were added.
#[derive(Clone, Debug)]
struct Node<T> {
    value: T,
    dependencies: Vec<NodeId>,
    dependents: Vec<NodeId>,
}

/// A change with a missing node, missing edge, or existing edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadChange;

/// A node in or behind a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle(pub NodeId);

/// An edge: the first node runs before the second.
pub type Edge = (NodeId, NodeId);

impl<T> Default for Topology<T> {
    fn default() -> Self {
        Self { nodes: BTreeMap::new(), next: 0 }
    }
}

impl<T> Topology<T> {
    /// Adds a node that runs after all of `dependencies`, all different.
    pub fn add(&mut self, value: T, dependencies: &[NodeId]) -> Result<NodeId, BadChange> {
        self.check_dependencies(dependencies)?;
        let id = NodeId(self.next);
        self.next += 1;
        for dependency in dependencies {
            self.node_mut(*dependency).dependents.push(id);
        }
        self.nodes.insert(id, Node { value, dependencies: dependencies.to_vec(), dependents: Vec::new() });
        Ok(id)
    }

    /// Refuses dependencies that [`add`](Self::add) would refuse.
    pub fn check_dependencies(&self, dependencies: &[NodeId]) -> Result<(), BadChange> {
        let distinct: BTreeSet<&NodeId> = dependencies.iter().collect();
        let exist = dependencies.iter().all(|id| self.nodes.contains_key(id));
        if exist && distinct.len() == dependencies.len() { Ok(()) } else { Err(BadChange) }
    }

    /// Removes a node with all its edges.
    pub fn remove(&mut self, id: NodeId) -> Option<T> {
        let node = self.nodes.remove(&id)?;
        for dependency in node.dependencies {
            self.nodes.entry(dependency).and_modify(|node| node.dependents.retain(|&other| other != id));
        }
        for dependent in node.dependents {
            self.nodes.entry(dependent).and_modify(|node| node.dependencies.retain(|&other| other != id));
        }
        Some(node.value)
    }

    /// Adds all these edges, or none of them.
    pub fn connect(&mut self, edges: &[Edge]) -> Result<(), BadChange> {
        let mut new = BTreeSet::new();
        for &(from, to) in edges {
            let exist = self.nodes.contains_key(&from) && self.nodes.contains_key(&to);
            if !exist || from == to || self.has_edge(from, to) || !new.insert((from, to)) {
                return Err(BadChange);
            }
        }
        for &(from, to) in edges {
            self.node_mut(from).dependents.push(to);
            self.node_mut(to).dependencies.push(from);
        }
        Ok(())
    }

    /// Removes all these edges, or none of them.
    pub fn disconnect(&mut self, edges: &[Edge]) -> Result<(), BadChange> {
        let mut gone = BTreeSet::new();
        if !edges.iter().all(|&(from, to)| self.has_edge(from, to) && gone.insert((from, to))) {
            return Err(BadChange);
        }
        for &(from, to) in edges {
            self.node_mut(from).dependents.retain(|&other| other != to);
            self.node_mut(to).dependencies.retain(|&other| other != from);
        }
        Ok(())
    }

    pub fn get(&self, id: NodeId) -> Option<&T> {
        self.nodes.get(&id).map(|node| &node.value)
    }

    pub fn get_mut(&mut self, id: NodeId) -> Option<&mut T> {
        self.nodes.get_mut(&id).map(|node| &mut node.value)
    }

    /// Returns the nodes in the order in which they were added.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &T)> {
        self.nodes.iter().map(|(&id, node)| (id, &node.value))
    }

    pub fn nodes_mut(&mut self) -> impl Iterator<Item = (NodeId, &mut T)> {
        self.nodes.iter_mut().map(|(&id, node)| (id, &mut node.value))
    }

    pub fn roots(&self) -> Vec<NodeId> {
        self.nodes.iter().filter(|(_, node)| node.dependencies.is_empty()).map(|(&id, _)| id).collect()
    }

    /// Returns all edges, sorted by the first node.
    pub fn edges(&self) -> Vec<Edge> {
        self.nodes.iter().flat_map(|(&from, node)| node.dependents.iter().map(move |&to| (from, to))).collect()
    }

    /// Returns the nodes that run directly before this one.
    pub fn dependencies(&self, id: NodeId) -> &[NodeId] {
        self.nodes.get(&id).map_or(&[], |node| &node.dependencies)
    }

    /// Returns the nodes that run directly after this one.
    pub fn dependents(&self, id: NodeId) -> &[NodeId] {
        self.nodes.get(&id).map_or(&[], |node| &node.dependents)
    }

    /// Returns the nodes in an order that respects every edge. Of the nodes that could be next, the one that was added first is.
    pub fn order(&self) -> Result<Vec<NodeId>, Cycle> {
        let mut missing: BTreeMap<NodeId, usize> = self.nodes.iter().map(|(&id, node)| (id, node.dependencies.len())).collect();
        let mut ready: BTreeSet<NodeId> = self.roots().into_iter().collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(id) = ready.pop_first() {
            missing.remove(&id);
            order.push(id);
            for dependent in self.dependents(id) {
                let left = missing.get_mut(dependent).expect("a node cannot run before its dependencies");
                *left -= 1;
                if *left == 0 {
                    ready.insert(*dependent);
                }
            }
        }
        missing.keys().next().map_or(Ok(order), |&id| Err(Cycle(id)))
    }

    /// Returns these nodes and every node that runs before one of them.
    pub fn ancestors(&self, ends: &[NodeId]) -> BTreeSet<NodeId> {
        let mut found = BTreeSet::new();
        let mut open = ends.to_vec();
        while let Some(id) = open.pop() {
            if self.nodes.contains_key(&id) && found.insert(id) {
                open.extend(self.dependencies(id));
            }
        }
        found
    }

    /// Copies nodes with their numbers and edges, and the values through `copy`.
    pub fn map<U>(&self, mut copy: impl FnMut(NodeId, &T) -> U) -> Topology<U> {
        let copied = self.nodes.iter().map(|(&id, Node { value, dependencies, dependents })| {
            let (dependencies, dependents) = (dependencies.clone(), dependents.clone());
            (id, Node { value: copy(id, value), dependencies, dependents })
        });
        Topology { nodes: copied.collect(), next: self.next }
    }

    fn has_edge(&self, from: NodeId, to: NodeId) -> bool {
        self.dependents(from).contains(&to)
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node<T> {
        self.nodes.get_mut(&id).expect("the caller has checked that the node exists")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a diamond: 0 before 1 and 2, which are before 3.
    fn diamond() -> (Topology<char>, [NodeId; 4]) {
        let mut graph = Topology::default();
        let top = graph.add('a', &[]).unwrap();
        let left = graph.add('b', &[top]).unwrap();
        let right = graph.add('c', &[top]).unwrap();
        let bottom = graph.add('d', &[right, left]).unwrap();
        (graph, [top, left, right, bottom])
    }

    #[test]
    fn nodes_know_their_neighbors() {
        let (graph, [top, left, right, bottom]) = diamond();
        assert_eq!(graph.roots(), [top]);
        assert_eq!(graph.dependencies(bottom), [right, left]);
        assert_eq!(graph.dependents(top), [left, right]);
        assert_eq!(graph.edges(), [(top, left), (top, right), (left, bottom), (right, bottom)]);
        assert_eq!(graph.ancestors(&[left]).into_iter().collect::<Vec<_>>(), [top, left]);
    }

    #[test]
    fn the_order_respects_edges_and_then_the_order_of_adding() {
        let (mut graph, [top, left, right, bottom]) = diamond();
        assert_eq!(graph.order().unwrap(), [top, left, right, bottom]);
        graph.connect(&[(right, left)]).unwrap();
        assert_eq!(graph.order().unwrap(), [top, right, left, bottom]);
    }

    #[test]
    fn a_cycle_has_no_order() {
        let (mut graph, [top, left, _, bottom]) = diamond();
        graph.connect(&[(bottom, left)]).unwrap();
        assert_eq!(graph.order(), Err(Cycle(left)));
        graph.disconnect(&[(bottom, left)]).unwrap();
        assert!(graph.order().is_ok());
        assert_eq!(graph.connect(&[(top, top)]), Err(BadChange));
    }

    #[test]
    fn a_bad_change_changes_nothing() {
        let (mut graph, [top, left, right, bottom]) = diamond();
        let before = graph.edges();
        assert_eq!(graph.connect(&[(left, right), (top, left)]), Err(BadChange), "the second edge exists");
        assert_eq!(graph.connect(&[(left, right), (left, right)]), Err(BadChange), "the same edge twice");
        assert_eq!(graph.disconnect(&[(top, left), (left, right)]), Err(BadChange), "the second edge does not exist");
        assert_eq!(graph.add('x', &[top, top]), Err(BadChange), "the same dependency twice");
        assert_eq!(graph.edges(), before);
        graph.remove(bottom);
        assert_eq!(graph.add('x', &[bottom]), Err(BadChange), "a dependency that is gone");
    }

    #[test]
    fn a_node_takes_its_edges_along_and_its_number_is_not_used_again() {
        let (mut graph, [top, left, right, bottom]) = diamond();
        assert_eq!(graph.remove(left), Some('b'));
        assert_eq!(graph.remove(left), None);
        assert_eq!(graph.edges(), [(top, right), (right, bottom)]);
        assert_eq!(graph.dependencies(bottom), [right]);
        let new = graph.add('e', &[]).unwrap();
        assert!(![top, left, right, bottom].contains(&new));
    }

    #[test]
    fn a_copy_has_the_same_numbers_and_is_independent() {
        let (mut graph, [top, left, _, bottom]) = diamond();
        let copy = graph.map(|_, value| value.to_ascii_uppercase());
        graph.remove(left);
        assert_eq!(copy.get(left), Some(&'B'));
        assert_eq!(copy.edges().len(), 4);
        assert_eq!(copy.nodes().map(|(_, value)| *value).collect::<String>(), "ABCD");
        assert_eq!((copy.roots(), graph.dependents(bottom).len()), (vec![top], 0));
    }
}
