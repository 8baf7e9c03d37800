//! The outputs of single blocks of a grid that is too large to run as a whole.

use std::collections::BTreeMap;

use workloads::Problem;

use crate::device::Stored;

/// The defect of a block's outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the comments of the variants name the fields")]
pub enum InBlock {
    /// It stores so many outputs, of its share.
    Stores { outputs: usize, share: usize },
    /// It stores an output that this other block stores as well.
    Again { index: usize, other: u64 },
    /// It stores a wrong value.
    Wrong { index: usize, got: f32, expected: f64 },
}

/// Finds the first block whose outputs are wrong, and what is wrong. `blocks` is how many the grid has.
///
/// Where all blocks have equal shares of the outputs, none may store less than that. No two may store the same output, because then another one is
/// stored by nobody.
pub fn wrong_block<P: Problem>(problem: &P, blocks: u64, ran: &[Stored]) -> Option<(u64, InBlock)> {
    let all = problem.output_len() as u64;
    let share = if all.is_multiple_of(blocks) { (all / blocks) as usize } else { 1 };
    let mut stored_by = BTreeMap::new();
    ran.iter().find_map(|Stored { block, outputs }| {
        let (indices, values): (Vec<usize>, Vec<f32>) = outputs.iter().copied().unzip();
        let compared = indices.iter().zip(problem.expected_at(&indices)).zip(values);
        let wrong = compared
            .map(|((index, expected), got)| (*index, expected, got))
            .find(|(_, expected, got)| !expected.allows(*got, problem.allowance()));
        let again = indices.iter().find_map(|index| Some((*index, stored_by.insert(*index, *block)?)));
        let reason = match (wrong, again) {
            (Some((index, expected, got)), _) => InBlock::Wrong { index, got, expected: expected.value },
            (None, Some((index, other))) => InBlock::Again { index, other },
            (None, None) if indices.len() < share => InBlock::Stores { outputs: indices.len(), share },
            (None, None) => return None,
        };
        Some((*block, reason))
    })
}
