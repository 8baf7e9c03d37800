//! A product of matrices on a CPU.

use rayon::prelude::*;
use workloads::Matmul;
use workloads::matmul::Size;

/// Computes rows on all cores: each as a sum of rows of `b`.
pub fn rows(product: &Matmul, output: &mut [f32]) {
    let Size { n, k, .. } = product.size();
    output.par_chunks_mut(n as usize).zip(product.a().par_chunks(k as usize)).for_each(|(output, a)| {
        output.fill(0.0);
        for (&factor, b) in a.iter().zip(product.b().chunks(n as usize)) {
            for (output, &b) in output.iter_mut().zip(b) {
                *output += factor * b;
            }
        }
    });
}
