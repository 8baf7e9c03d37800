//! When two findings show the same defect.

use std::mem::discriminant;

use simt::{Finding, FindingKind};

/// Whether two findings show the same defect: the same kind of defect in the same instruction of kernels with the same name.
pub fn is_same(first: &Finding, second: &Finding) -> bool {
    first.kernel == second.kernel
        && first.location == second.location
        && match (&first.kind, &second.kind) {
            (FindingKind::Race { other: first, .. }, FindingKind::Race { other: second, .. }) => first.location == second.location,
            (first, second) => discriminant(first) == discriminant(second),
        }
}
