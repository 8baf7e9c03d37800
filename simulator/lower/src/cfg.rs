//! The control-flow graph of a function: reachable blocks, their order, and which blocks dominate which.

use crate::ir::{BlockId, Function};

/// The graph of the blocks that can be reached. There is a first one.
pub struct Graph {
    pub predecessors: Vec<Vec<BlockId>>,
    /// The reachable blocks, each after at least one of its predecessors (reverse postorder).
    pub order: Vec<BlockId>,
    /// The place of each block in `order`; `usize::MAX` if it cannot be reached.
    place: Vec<usize>,
    /// The closest block that each block cannot be reached without; the first block has itself.
    dominator: Vec<BlockId>,
}

impl Graph {
    pub fn new(function: &Function) -> Self {
        let blocks = &function.blocks;
        let successors: Vec<Vec<BlockId>> =
            blocks.iter().map(|block| block.last().map_or_else(Vec::new, |last| last.op.successors())).collect();
        let mut order = Vec::with_capacity(blocks.len());
        let mut seen = vec![false; blocks.len()];
        seen[0] = true;
        // Postorder without recursion: a block and how many of its successors were visited.
        let mut stack = vec![(0, 0)];
        while let Some((block, visited)) = stack.last_mut() {
            match successors[*block].get(*visited) {
                Some(&next) => {
                    *visited += 1;
                    if !seen[next] {
                        seen[next] = true;
                        stack.push((next, 0));
                    }
                }
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        let mut place = vec![usize::MAX; blocks.len()];
        for (at, block) in order.iter().enumerate() {
            place[*block] = at;
        }
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for block in &order {
            for next in &successors[*block] {
                if !predecessors[*next].contains(block) {
                    predecessors[*next].push(*block);
                }
            }
        }
        let mut graph = Self { predecessors, order, place, dominator: vec![usize::MAX; blocks.len()] };
        graph.find_dominators();
        graph
    }

    /// Finds dominators by iteration (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm).
    fn find_dominators(&mut self) {
        self.dominator[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &self.order[1..] {
                let known = self.predecessors[block].iter().copied().filter(|from| self.dominator[*from] != usize::MAX);
                let Some(closest) = known.reduce(|a, b| self.common(a, b)) else { continue };
                if self.dominator[block] != closest {
                    self.dominator[block] = closest;
                    changed = true;
                }
            }
        }
    }

    fn common(&self, mut a: BlockId, mut b: BlockId) -> BlockId {
        while a != b {
            while self.place[a] > self.place[b] {
                a = self.dominator[a];
            }
            while self.place[b] > self.place[a] {
                b = self.dominator[b];
            }
        }
        a
    }

    /// Returns the number of loops around each block.
    pub fn loop_depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.predecessors.len()];
        for &head in &self.order {
            let mut inside = vec![false; depths.len()];
            // From where the loop repeats, backward to its head.
            let mut work: Vec<BlockId> =
                self.predecessors[head].iter().copied().filter(|from| self.dominates(head, *from)).collect();
            if work.is_empty() {
                continue;
            }
            inside[head] = true;
            while let Some(block) = work.pop() {
                if !std::mem::replace(&mut inside[block], true) {
                    work.extend(self.predecessors[block].iter().copied());
                }
            }
            inside.iter().zip(&mut depths).for_each(|(inside, depth)| *depth += usize::from(*inside));
        }
        depths
    }

    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.place[block] != usize::MAX
    }

    /// Returns true if every way to `block` goes through `by`.
    pub fn dominates(&self, by: BlockId, block: BlockId) -> bool {
        let mut at = block;
        while self.place[at] > self.place[by] {
            at = self.dominator[at];
        }
        at == by
    }
}
