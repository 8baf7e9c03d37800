//! A histogram on a CPU.

use rayon::prelude::*;
use workloads::Histogram;
use workloads::histogram::LEVELS;

/// Counts pieces of the image on all cores, then adds them.
pub fn pieces(workload: &Histogram, output: &mut [f32]) {
    let count = |pixels: &[i32]| {
        let mut counts = [0_u32; LEVELS];
        for &pixel in pixels {
            counts[pixel as usize] += 1;
        }
        counts
    };
    let add = |mut a: [u32; LEVELS], b: [u32; LEVELS]| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let counts = workload.image().pixels.par_chunks(1 << 16).map(count).reduce(|| [0; LEVELS], add);
    output.iter_mut().zip(counts).for_each(|(output, count)| *output = count as f32);
}
