//! Which nodes of a graph come after which others, for those who look for races between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::topology::NodeId;

/// The nodes of a graph, each with all nodes before it.
#[derive(Debug)]
pub struct GraphOrder {
    places: BTreeMap<NodeId, usize>,
    /// One bit for each node, by its place.
    before: Vec<Vec<u64>>,
}

impl GraphOrder {
    /// Takes the nodes with their dependencies. Their order must respect every edge.
    pub fn new<'n>(nodes: impl IntoIterator<Item = (NodeId, &'n [NodeId])>) -> Self {
        let (mut places, mut before): (BTreeMap<NodeId, usize>, Vec<Vec<u64>>) = Default::default();
        for (place, (id, dependencies)) in nodes.into_iter().enumerate() {
            let mut bits = vec![0; place.div_ceil(64)];
            for earlier in dependencies.iter().filter_map(|id| places.get(id).copied()) {
                bits[earlier / 64] |= 1 << (earlier % 64);
                bits.iter_mut().zip(&before[earlier]).for_each(|(bits, more)| *bits |= more);
            }
            places.insert(id, place);
            before.push(bits);
        }
        Self { places, before }
    }

    /// Returns true if a path of edges orders the two nodes.
    fn orders(&self, one: NodeId, other: NodeId) -> bool {
        let Some((one, other)) = self.places.get(&one).zip(self.places.get(&other)) else { return true };
        let (earlier, later) = (one.min(other), one.max(other));
        earlier == later || self.before[*later][earlier / 64] >> (earlier % 64) & 1 != 0
    }
}

#[derive(Clone, Debug)]
pub struct GraphNode {
    pub id: NodeId,
    pub order: Arc<GraphOrder>,
    /// In a few words, for people.
    pub what: String,
    /// The kernel, if it is one.
    pub kernel: Option<String>,
}

/// Returns true if edges order two nodes of a graph's launch. Each is given with the nodes that it is inside of, the outermost first.
pub fn are_ordered(one: &[GraphNode], other: &[GraphNode]) -> bool {
    one.iter().zip(other).find(|(one, other)| one.id != other.id).is_none_or(|(one, other)| one.order.orders(one.id, other.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    #[test]
    fn two_nodes_are_ordered_if_a_path_leads_from_one_to_the_other() {
        // A chain of 70 nodes, and a node beside it that comes after the first one only.
        let mut graph = Topology::default();
        let first = graph.add((), &[]).unwrap();
        let beside = graph.add((), &[first]).unwrap();
        let mut chain = vec![first];
        for _ in 1..70 {
            let last = *chain.last().unwrap();
            chain.push(graph.add((), &[last]).unwrap());
        }
        let order = Arc::new(GraphOrder::new(graph.order().unwrap().into_iter().map(|id| (id, graph.dependencies(id)))));
        let node = |id| GraphNode { id, order: order.clone(), what: String::new(), kernel: None };
        let ordered = |one, other| are_ordered(&[node(one)], &[node(other)]);
        assert!(ordered(chain[0], chain[69]) && ordered(chain[69], chain[3]) && ordered(beside, first));
        assert!(!ordered(beside, chain[1]) && !ordered(chain[69], beside));
        // Nodes inside of two nodes are as these are, and nodes inside of one node as they are there.
        assert!(!are_ordered(&[node(beside), node(chain[0])], &[node(chain[1]), node(chain[1])]));
        assert!(are_ordered(&[node(beside), node(chain[0])], &[node(beside), node(chain[1])]));
        assert!(!are_ordered(&[node(first), node(beside)], &[node(first), node(chain[1])]));
    }
}
