//! Convolution on a CPU.

use rayon::prelude::*;
use workloads::Convolution;

// ANCHOR: cpu
/// Computes one output after another, one multiply-add after another.
pub fn plain(conv: &Convolution, output: &mut [f32]) {
    for (window, output) in conv.signal().windows(conv.filter().len()).zip(output) {
        let mut sum = 0.0;
        for (sample, weight) in window.iter().zip(conv.filter()) {
            sum += sample * weight;
        }
        *output = sum;
    }
}
// ANCHOR_END: cpu

/// Outputs of one run: their sums fill enough vector registers to keep the adders busy, and leave some for the samples.
const RUN: usize = 32;

/// Computes runs of neighboring outputs on all cores.
pub fn parallel(conv: &Convolution, output: &mut [f32]) {
    output.par_chunks_mut(RUN).enumerate().for_each(|(run, output)| {
        let samples = &conv.signal()[run * RUN..];
        if output.len() < RUN {
            // The last run is too short for the registers; its outputs are summed one by one.
            for (window, output) in samples.windows(conv.filter().len()).zip(output) {
                *output = window.iter().zip(conv.filter()).map(|(sample, weight)| sample * weight).sum();
            }
            return;
        }
        let mut sums = [0.0; RUN];
        for (window, weight) in samples.windows(RUN).zip(conv.filter()) {
            // An array has a known length, so the sums stay in registers.
            let Some(window) = window.first_chunk::<RUN>() else { return };
            for (sum, sample) in sums.iter_mut().zip(window) {
                *sum += sample * weight;
            }
        }
        output.copy_from_slice(&sums);
    });
}
