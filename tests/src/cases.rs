//! Sizes and values in which kernels go wrong: around the size of a block, prime, one; negative, tiny, large, all different.

use common::workload::Convolution;
use proptest::prelude::*;

/// Sizes at which a guard or a remainder is needed: one, `tile` and its neighbours, twice a tile, primes, anything.
pub fn length(tile: usize, most: usize) -> impl Strategy<Value = usize> {
    let near_tile = prop::sample::select(vec![1, 2, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1]);
    let primes = prop::sample::select(vec![3, 7, 31, 61, 127, 251, 257, 509, 521, 1021, 2053]);
    prop_oneof![3 => near_tile, 2 => primes, 3 => 1..=most].prop_map(move |length| length.min(most))
}

/// The values of a signal or a filter.
pub fn values(length: usize) -> impl Strategy<Value = Vec<f32>> {
    // Far apart in magnitude, but a product of two and a sum of thousands of such products stay within f32.
    let scale = prop::sample::select(vec![1.0_f32, 1e-18, 1e15, 1e-3]);
    let value = prop_oneof![4 => -1.0_f32..1.0, 1 => Just(0.0_f32), 1 => -1e-6_f32..1e-6];
    prop_oneof![
        (prop::collection::vec(value, length), scale).prop_map(|(values, scale)| values.into_iter().map(|v| v * scale).collect()),
        // Every index another value, so that a swapped index shows.
        (1..100_u32).prop_map(move |start| (0..length).map(|i| (start as f32) + i as f32 * 0.37).collect()),
        // One sign and hardly any change, so that rounding errors do not cancel.
        Just((0..length).map(|i| 1.1 + i as f32 * 1e-7).collect::<Vec<f32>>()),
    ]
}

/// Convolutions of so many outputs and taps, with anything as their values.
pub fn convolutions(
    outputs: impl Strategy<Value = usize>,
    taps: impl Strategy<Value = usize>,
) -> impl Strategy<Value = Convolution> {
    (outputs, taps)
        .prop_flat_map(|(outputs, taps)| (values(outputs + taps - 1), values(taps)))
        .prop_map(|(signal, filter)| Convolution::new(signal, filter).expect("a filter no longer than its signal"))
}
