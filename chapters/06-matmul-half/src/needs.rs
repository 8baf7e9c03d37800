//! The needs of the stages, and how far they may round.

use run::workload::MatmulHalf;
use run::workload::matmul_half::Size;
use run::{Gpu, Result, Unmet};

// ANCHOR: sums
/// Returns the rounding errors of sums on tensor cores. When a tensor core adds 16 products and a sum, it cuts off all digits more
/// than 23 below the largest of the 17 numbers: `17 * 2^-23` of the magnitudes for every 16 columns of A, which is below `2^-18`.
pub fn of_sums(product: &MatmulHalf) -> f64 {
    f64::from(product.size().k.div_ceil(16)) * 2.0_f64.powi(-18) * product.product().largest_magnitudes()
}
// ANCHOR_END: sums

/// Checks that rows are whole 16 bytes, as copies need.
pub(crate) fn requirement(gpu: &Gpu, product: &MatmulHalf, shared_bytes: u32) -> Result<Option<Unmet>> {
    if product.bias().is_some() {
        return Ok(Some(NO_BIAS));
    }
    aligned(gpu, product, 8, shared_bytes)
}

/// A stage that does not do what `--bias` asks for.
pub(crate) const NO_BIAS: Unmet = Unmet::Option { what: "adds no bias" };

/// Checks the alignment of rows, and the shared memory. `k` has to be a multiple of `of`.
pub(crate) fn aligned(gpu: &Gpu, product: &MatmulHalf, of: u32, shared_bytes: u32) -> Result<Option<Unmet>> {
    let Size { n, k, .. } = product.size();
    let unaligned = [("n", n, 8), ("k", k, of)].into_iter().find(|(_, size, of)| !size.is_multiple_of(*of));
    if let Some((what, size, of)) = unaligned {
        return Ok(Some(Unmet::Alignment { what, of, size }));
    }
    Ok(Unmet::shared_memory(shared_bytes, gpu.most_shared_bytes()?))
}
