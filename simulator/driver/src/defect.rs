//! When two findings show the same defect.

use std::mem::discriminant;

use simt::{Finding, FindingKind, Location};

/// Returns true if two findings show one defect: of one kind, in one line of kernels with one name.
///
/// A race on shared memory and one on global memory are two defects, also in one line.
pub fn is_same(first: &Finding, second: &Finding) -> bool {
    first.kernel == second.kernel
        && same_line(&first.location, &second.location)
        && match (&first.kind, &second.kind) {
            (FindingKind::Race { access: one, other: first, .. }, FindingKind::Race { access: two, other: second, .. }) => {
                one.space == two.space && same_line(&first.location, &second.location)
            }
            (FindingKind::Wgmma(first), FindingKind::Wgmma(second)) => discriminant(first) == discriminant(second),
            (first, second) => discriminant(first) == discriminant(second),
        }
}

/// Returns true for instructions of one line of CUDA C. An unrolled loop has many, some for each iteration.
/// Without lines of CUDA C, each instruction is a place of its own.
fn same_line(first: &Location, second: &Location) -> bool {
    match (&first.source, &second.source) {
        (Some(_), Some(_)) => first.source == second.source && first.inlined_at == second.inlined_at,
        _ => first == second,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::finding;
    use ptx::finding::{Access, AccessOp, OtherAccess};
    use simt::Space;

    #[test]
    fn instructions_of_one_line_of_cuda_show_one_defect() {
        let first = finding(12);
        let mut unrolled = first.clone();
        unrolled.location.ptx_line += 5;
        assert!(is_same(&first, &unrolled));
        unrolled.location.inlined_at = finding(80).location.source;
        assert!(!is_same(&first, &unrolled), "the function was inlined in two places");
        let race = |space| {
            let access = Access { space, op: AccessOp::Store, address: 0, bytes: 4 };
            let Finding { block, thread, location, .. } = first.clone();
            let other = OtherAccess { op: AccessOp::Store, block, thread, location };
            let kind = FindingKind::Race {
                access,
                place: None,
                other: other.into(),
                same_block: true,
                same_warp: false,
                volatile: false,
                missing: None,
            };
            Finding { kind, ..first.clone() }
        };
        assert!(is_same(&race(Space::Shared), &race(Space::Shared)) && !is_same(&race(Space::Shared), &race(Space::Global)));
        let without_lines = |ptx_line| {
            let mut finding = finding(ptx_line);
            finding.location.source = None;
            finding
        };
        assert!(is_same(&without_lines(3), &without_lines(3)) && !is_same(&without_lines(3), &without_lines(4)));
    }
}
