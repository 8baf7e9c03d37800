//! The oracle of a convolution: every output of a small one; see [`sampled`] for a large one.
//!
//! `output[i] = sum over j < taps of signal[i + j] * filter[j]`

mod sampled;

use crate::check::Oracle;
use crate::expected::Expected;
use crate::parallel;
use crate::progress;
use crate::rounding::{TREE_DEPTH, UNIT_ROUNDOFF, flushed};
use crate::sampled::MOST_PRODUCTS_OF_A_WHOLE_ORACLE;

pub use sampled::sampled;

/// Returns the expected convolution of these samples: every output, or a sample and sums of all if there are too many products.
/// Panics when the filter is longer than the signal.
pub fn oracle(signal: &[f32], filter: &[f32]) -> Oracle {
    let products = (signal.len() - filter.len() + 1) as u64 * filter.len() as u64;
    if products <= MOST_PRODUCTS_OF_A_WHOLE_ORACLE {
        Oracle::Whole(whole(signal, filter))
    } else {
        Oracle::Sampled(sampled(signal, filter))
    }
}

/// Outputs computed together, so that the compiler can vectorize.
const SIDE_BY_SIDE: usize = 8;

/// Outputs of one task.
const TASK: usize = 128 * SIDE_BY_SIDE;

/// Returns the expected value and the tolerance of each output: plain sums in f64, in the order of the taps.
pub fn whole(signal: &[f32], filter: &[f32]) -> Vec<Expected> {
    let outputs = signal.len() - filter.len() + 1;
    let bar = progress::bar("oracle", outputs as u64);
    let tasks = parallel::map(outputs.div_ceil(TASK), |task| {
        let (mut next, end) = (task * TASK, outputs.min((task + 1) * TASK));
        let mut expected = Vec::with_capacity(end - next);
        while next + SIDE_BY_SIDE <= end {
            expected.extend(sums::<SIDE_BY_SIDE>(&signal[next..], filter));
            next += SIDE_BY_SIDE;
        }
        expected.extend((next..end).flat_map(|index| sums::<1>(&signal[index..], filter)));
        bar.inc(expected.len());
        expected
    });
    tasks.concat()
}

/// Returns the first `N` outputs of a signal.
fn sums<const N: usize>(signal: &[f32], filter: &[f32]) -> [Expected; N] {
    let mut sum = [0.0_f64; N];
    let mut partial_sums = [0.0_f64; N];
    let mut magnitudes = [0.0_f64; N];
    for (j, &weight) in filter.iter().enumerate() {
        let window = &signal[j..j + N];
        for lane in 0..N {
            let term = f64::from(window[lane]) * f64::from(weight);
            sum[lane] += term;
            partial_sums[lane] += sum[lane].abs();
            magnitudes[lane] += term.abs();
        }
    }
    let taps = filter.len() as f64;
    // (1 + u)^taps, from above.
    let growth = (taps * UNIT_ROUNDOFF).exp();
    std::array::from_fn(|lane| Expected {
        value: sum[lane],
        tolerance: growth * UNIT_ROUNDOFF * (partial_sums[lane] + TREE_DEPTH * magnitudes[lane]) + flushed(filter.len()),
    })
}
