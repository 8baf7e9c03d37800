//! The oracle against an independent formula, and its tolerance against every correct way to sum.

use oracles::check;
use oracles::output::Downloaded;
use proptest::prelude::*;
use run::workload::convolution::Size;
use run::workload::{Convolution, Problem};

use crate::cases::{convolutions, length};

/// Computes the outputs by multiplying polynomials in exact integers. The sums over whole windows are the middle coefficients of
/// `signal(x) * reversed filter(x)`.
fn by_polynomials(signal: &[i32], filter: &[i32]) -> Vec<i128> {
    let mut product = vec![0_i128; signal.len() + filter.len() - 1];
    for (i, &sample) in signal.iter().enumerate() {
        for (j, &weight) in filter.iter().rev().enumerate() {
            product[i + j] += i128::from(sample) * i128::from(weight);
        }
    }
    product[filter.len() - 1..signal.len()].to_vec()
}

fn floats(integers: &[i32]) -> Vec<f32> {
    integers.iter().map(|&integer| integer as f32).collect()
}

/// Returns true if a result passes.
fn passes(conv: &Convolution, output: Vec<f32>) -> Result<(), String> {
    check(&Downloaded { values: output, breach: None }, conv.oracle(), 0.0).map(drop).map_err(|mismatch| mismatch.to_string())
}

/// Computes every output with another way to sum its products.
fn output(conv: &Convolution, sum: impl Fn(&[f32], &[f32]) -> f32) -> Vec<f32> {
    conv.signal().windows(conv.filter().len()).map(|window| sum(window, conv.filter())).collect()
}

/// Adds products as a tree, like a reduction over lanes.
fn pairwise(products: &[f32]) -> f32 {
    match products {
        [one] => *one,
        _ => {
            let (left, right) = products.split_at(products.len() / 2);
            pairwise(left) + pairwise(right)
        }
    }
}

fn products(window: &[f32], filter: &[f32]) -> Vec<f32> {
    window.iter().zip(filter).map(|(sample, weight)| sample * weight).collect()
}

fn in_order(window: &[f32], filter: &[f32]) -> f32 {
    products(window, filter).iter().sum()
}

fn fused(window: &[f32], filter: &[f32]) -> f32 {
    window.iter().zip(filter).fold(0.0, |sum, (sample, weight)| sample.mul_add(*weight, sum))
}

#[test]
fn a_value_worked_out_by_hand_comes_out() {
    // 1*4 + 2*5 + 3*6, 2*4 + 3*5 - 1*6, 3*4 - 1*5 + 0.5*6
    let conv = Convolution::new(vec![1.0, 2.0, 3.0, -1.0, 0.5], vec![4.0, 5.0, 6.0]).unwrap();
    let values: Vec<f64> = conv.expected().iter().map(|expected| expected.value).collect();
    assert_eq!(values, [32.0, 17.0, 10.0]);
}

proptest! {
    #[test]
    fn the_oracle_agrees_exactly_with_polynomials_in_integers(
        (signal, filter) in (1..60_usize, 1..90_usize).prop_flat_map(|(outputs, taps)| (
            prop::collection::vec(-9_999..=9_999, outputs + taps - 1),
            prop::collection::vec(-9_999..=9_999, taps),
        ))
    ) {
        let conv = Convolution::new(floats(&signal), floats(&filter)).unwrap();
        let expected: Vec<f64> = by_polynomials(&signal, &filter).into_iter().map(|value| value as f64).collect();
        let values: Vec<f64> = conv.expected().iter().map(|expected| expected.value).collect();
        prop_assert_eq!(values, expected);
    }

    #[test]
    fn honest_sums_in_other_orders_pass(conv in convolutions(length(64, 300), length(32, 2100))) {
        let ways: [(&str, Vec<f32>); 4] = [
            ("in order", output(&conv, in_order)),
            ("fused", output(&conv, fused)),
            ("pairwise", output(&conv, |window, filter| pairwise(&products(window, filter)))),
            ("flushed", output(&conv, |window, filter| {
                let flush = |value: f32| if value.is_normal() { value } else { 0.0 };
                products(window, filter).into_iter().fold(0.0, |sum, product| flush(sum + flush(product)))
            })),
        ];
        for (way, output) in ways {
            prop_assert_eq!(passes(&conv, output), Ok(()), "{}", way);
        }
    }

    #[test]
    fn a_missing_tap_is_seen_in_every_single_output(outputs in 1..200_u32, taps in 1..3000_u32, seed: u64, missing: prop::sample::Index) {
        let conv = Convolution::random(Size { outputs, taps }, seed);
        let missing = missing.index(taps as usize);
        for index in 0..outputs as usize {
            let window = &conv.signal()[index..index + taps as usize];
            let short = in_order(window, conv.filter()) - window[missing] * conv.filter()[missing];
            let expected = conv.expected()[index];
            prop_assert!((f64::from(short) - expected.value).abs() > expected.tolerance, "output {} without tap {}", index, missing);
        }
    }
}

#[test]
fn terms_of_one_sign_whose_errors_pile_up_still_pass() {
    // Adding the same number repeatedly rounds in the same direction each time, which is the worst case for a sum.
    for value in [0.1, 1.1, 1.0 / 3.0, 0.7] {
        let conv = Convolution::new(vec![value; 40_000], vec![1.0; 32_768]).unwrap();
        let sum = in_order(&conv.signal()[..32_768], conv.filter());
        assert_eq!(passes(&conv, vec![sum; conv.outputs() as usize]), Ok(()));
    }
}
