//! Reconvergence points: the immediate post-dominator of every branch.
//!
//! A path that returns early never gets to the point where the others reconverge. It does not have to, because nothing waits for
//! lanes that have returned. So if a branch's paths have no common point before the end, the paths that return early are ignored.

use super::code::{Action, Inst};
use super::fixed::{NOWHERE, TRUE};

/// Fills in the reconvergence points of one function's branches. The function is `code[start..]`, with its targets resolved.
pub fn resolve_reconvergence(code: &mut [Inst], start: usize) {
    let blocks = basic_blocks(code, start);
    // The virtual exit is after the last block. A block that only returns is equivalent to the exit.
    let exit = blocks.len();
    let block_of = |at: u32| {
        let block = blocks.partition_point(|block| block.first <= at as usize) - 1;
        let first = code[at as usize];
        let only_returns = matches!(first.action, Action::Return | Action::Exit) && first.guard == TRUE;
        if only_returns { exit } else { block }
    };
    let after = |block: &Block| {
        let returns = matches!(code[block.last].action, Action::Return | Action::Exit).then_some(exit);
        // A trap ends the whole launch, so no lane waits for one that traps.
        let onward = successors(code, block.last as u32);
        returns.into_iter().chain(onward.map(|at| if at as usize == code.len() { exit } else { block_of(at) })).collect()
    };
    let successors: Vec<Vec<usize>> = blocks.iter().map(after).collect();
    let points = reconvergence_points(&successors);
    for (index, block) in blocks.iter().enumerate() {
        if let Action::Branch { reconverge, .. } = &mut code[block.last].action {
            *reconverge = points[index].map_or(NOWHERE, |point| blocks[point].first as u32);
        }
    }
}

/// Lists the instructions that may follow one in the same function: the target of a branch first.
pub fn successors(code: &[Inst], at: u32) -> impl Iterator<Item = u32> {
    let Inst { guard, action, .. } = code[at as usize];
    let (target, leaves) = match action {
        Action::Branch { target, .. } => (Some(target), true),
        Action::Return | Action::Exit | Action::Trap | Action::NoTarget { .. } => (None, true),
        _ => (None, false),
    };
    target.into_iter().chain((!leaves || guard != TRUE).then_some(at + 1))
}

/// Finds for each node where its paths reconverge before the exit. The exit is node `successors.len()`.
fn reconvergence_points(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let exit = successors.len();
    let before_exit = |dominators: Vec<Option<usize>>| dominators.into_iter().map(|node| node.filter(|node| *node != exit));
    let mut points: Vec<Option<usize>> = before_exit(immediate_post_dominators(successors)).collect();
    let mut returns: Vec<usize> = (0..exit).filter(|node| successors[*node].contains(&exit)).collect();
    if returns.len() < 2 || points.iter().zip(successors).all(|(point, targets)| point.is_some() || targets.len() < 2) {
        return points;
    }
    // The return that most of the function leads to (the last one, if there are several) is the regular end. The others are early.
    let predecessors = predecessors(successors);
    returns.sort_by_cached_key(|node| std::cmp::Reverse((post_order(&predecessors, *node).len(), *node)));
    for end in returns {
        let is_other_end = |node: usize, target: usize| target == exit && node != end;
        let only_to_end: Vec<Vec<usize>> = successors
            .iter()
            .enumerate()
            .map(|(node, targets)| targets.iter().copied().filter(|target| !is_other_end(node, *target)).collect())
            .collect();
        for (point, found) in points.iter_mut().zip(before_exit(immediate_post_dominators(&only_to_end))) {
            *point = point.or(found);
        }
    }
    points
}

/// Instructions that run in sequence, from the first to the last.
struct Block {
    first: usize,
    last: usize,
}

fn basic_blocks(code: &[Inst], start: usize) -> Vec<Block> {
    let leads = leads_block(code, start);
    let firsts: Vec<usize> = (start..code.len()).filter(|at| leads[*at]).collect();
    let ends = firsts.iter().copied().skip(1).chain([code.len()]);
    firsts.iter().zip(ends).map(|(first, end)| Block { first: *first, last: end - 1 }).collect()
}

/// Marks the first instruction of each basic block from `start` on. There is one more entry for the end of the code.
pub fn leads_block(code: &[Inst], start: usize) -> Vec<bool> {
    let mut leads = vec![false; code.len() + 1];
    leads[start] = true;
    for (at, inst) in code.iter().enumerate().skip(start) {
        match inst.action {
            Action::Branch { target, .. } => {
                leads[target as usize] = true;
                leads[at + 1] = true;
            }
            Action::Return | Action::Exit | Action::Trap | Action::NoTarget { .. } => leads[at + 1] = true,
            _ => {}
        }
    }
    leads
}

/// Finds each node's immediate post-dominator: the nearest node that every path from it to the exit passes. The exit is node
/// `successors.len()`. `None` for a node from which no path leads out.
///
/// The algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the reversed graph.
fn immediate_post_dominators(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let exit = successors.len();
    let predecessors = predecessors(successors);
    let order = post_order(&predecessors, exit);
    let mut rank = vec![usize::MAX; exit + 1];
    for (position, node) in order.iter().enumerate() {
        rank[*node] = position;
    }
    let mut dominator = vec![None; exit + 1];
    dominator[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for node in order.iter().rev().copied().filter(|node| *node != exit) {
            let known = successors[node].iter().copied().filter(|target| dominator[*target].is_some());
            let point = known.reduce(|a, b| common_dominator(a, b, &rank, &dominator));
            if point.is_some() && dominator[node] != point {
                dominator[node] = point;
                changed = true;
            }
        }
    }
    dominator.truncate(exit);
    dominator
}

/// Reverses the edges of a graph.
fn predecessors(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len() + 1];
    for (node, targets) in successors.iter().enumerate() {
        for target in targets {
            predecessors[*target].push(node);
        }
    }
    predecessors
}

/// Finds the nearest node that dominates both.
fn common_dominator(mut a: usize, mut b: usize, rank: &[usize], dominator: &[Option<usize>]) -> usize {
    // Each step goes to a node of higher rank, and the exit, which has the highest, dominates all.
    let up = |node: usize| dominator[node].unwrap_or(node);
    while a != b {
        while rank[a] < rank[b] {
            a = up(a);
        }
        while rank[b] < rank[a] {
            b = up(b);
        }
    }
    a
}

/// Lists the nodes that `root` reaches. Each comes after those that it leads to.
fn post_order(edges: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(edges.len());
    let mut visited = vec![false; edges.len()];
    let mut path = vec![(root, 0)];
    visited[root] = true;
    while let Some((node, next)) = path.last_mut() {
        match edges[*node].get(*next) {
            Some(target) => {
                *next += 1;
                if !visited[*target] {
                    visited[*target] = true;
                    path.push((*target, 0));
                }
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::{immediate_post_dominators, reconvergence_points};

    #[test]
    fn paths_reconverge_at_the_nearest_common_point() {
        // 0 branches to 1 or 2; both go to 3; 3 loops to 0 or leaves to 4; 4 ends.
        let graph = [vec![1, 2], vec![3], vec![3], vec![0, 4], vec![5]];
        assert_eq!(immediate_post_dominators(&graph), [Some(3), Some(3), Some(3), Some(4), Some(5)]);
    }

    #[test]
    fn an_early_return_leaves_the_exit_as_reconvergence_point() {
        // 0 returns or goes on to 1, which returns.
        let graph = [vec![2, 1], vec![2]];
        assert_eq!(immediate_post_dominators(&graph), [Some(2), Some(2)]);
    }

    #[test]
    fn a_path_that_returns_early_does_not_keep_the_others_from_reconverging() {
        // 0 goes to 1 or 3; 1 returns at 2 or goes on to 3; 3 ends.
        let graph = [vec![1, 3], vec![2, 3], vec![4], vec![4]];
        assert_eq!(immediate_post_dominators(&graph)[..2], [Some(4), Some(4)]);
        assert_eq!(reconvergence_points(&graph)[..2], [Some(3), Some(3)]);
    }

    #[test]
    fn a_loop_without_a_way_out_has_no_reconvergence_point() {
        // 0 goes to 1 or leaves; 1 loops forever.
        let graph = [vec![1, 2], vec![1]];
        assert_eq!(immediate_post_dominators(&graph), [Some(2), None]);
    }

    #[test]
    fn nested_branches_reconverge_inside_out() {
        // 0: 1 | 4; 1: 2 | 3; 2, 3 -> 5; 5 -> 6; 4 -> 6; 6 ends.
        let graph = [vec![1, 4], vec![2, 3], vec![5], vec![5], vec![6], vec![6], vec![7]];
        assert_eq!(immediate_post_dominators(&graph), [Some(6), Some(5), Some(5), Some(5), Some(6), Some(6), Some(7)]);
    }
}
