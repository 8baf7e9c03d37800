//! Arithmetic of 16 bits, against f64, which holds every sum and product of the inputs.

use crate::common::{Numbers, Params, every_way};

const HALVES: &str = include_str!("halves.ptx");
const COUNT: usize = 500;

/// A format of 16 bits: bits of the fraction, bias of the exponent.
type Format = (i32, i32);

const F16: Format = (10, 15);
const BF16: Format = (7, 127);

fn value(bits: u16, (fraction, bias): Format) -> f64 {
    let exponent = i32::from((bits & 0x7fff) >> fraction) - bias;
    let significand = 1.0 + f64::from(bits & ((1 << fraction) - 1)) / f64::from(1 << fraction);
    let magnitude = if bits & 0x7fff == 0 { 0.0 } else { significand * 2_f64.powi(exponent) };
    if bits & 0x8000 != 0 { -magnitude } else { magnitude }
}

/// Rounds to nearest, ties to even.
fn nearest(value: f64, (fraction, bias): Format) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    if value == 0.0 {
        return sign;
    }
    let exponent = (value.abs().log2().floor() as i32).max(1 - bias);
    let steps = (value.abs() / 2_f64.powi(exponent - fraction)).round_ties_even() as u16;
    // The leading bit of a normal number adds one to the exponent.
    sign | ((((exponent + bias - 1) as u16) << fraction) + steps)
}

/// Numbers between 1/16 and 8, and their negatives.
fn inputs(seed: u64, (fraction, bias): Format) -> Vec<u16> {
    let mut numbers = Numbers(seed);
    let mut number = || {
        let exponent = (bias - 4 + numbers.below(7) as i32) as u16;
        (numbers.below(2) as u16) << 15 | exponent << fraction | numbers.below(1 << fraction) as u16
    };
    (0..COUNT).map(|_| number()).collect()
}

/// Runs a kernel that makes `N` results of three operands.
fn run<const N: usize>(kernel: &str, operands: [&[u16]; 3], threads: usize, expected: &[u16]) {
    every_way(HALVES, |gpu| {
        let out = gpu.poisoned::<u16>(expected.len());
        let params = operands.iter().fold(Params::new(), |params, operand| params.with(gpu.buffer(operand)));
        let report = gpu.launch(kernel, 4, 128, 0, &params.with(out).with(threads as i32));
        let results = gpu.read::<u16>(out, expected.len());
        for (i, (result, expected)) in results.iter().zip(expected).enumerate() {
            assert_eq!(result, expected, "{kernel}: result {} of thread {}", i % N, i / N);
        }
        assert!(report.counters.f16_ops > 0);
    });
}

#[test]
fn f16_is_rounded_once() {
    let [a, b, c] = [1, 2, 3].map(|seed| inputs(seed, F16));
    let expected: Vec<u16> = (0..COUNT)
        .flat_map(|i| {
            let [x, y, z] = [a[i], b[i], c[i]].map(|bits| value(bits, F16));
            let sum = x * y + z;
            let whole = f64::from((x * 64.0) as i32);
            [x + y, x - y, x * y, sum, sum.max(0.0), x.min(y), x.min(y), whole].map(|result| nearest(result, F16))
        })
        .collect();
    run::<8>("f16", [&a, &b, &c], COUNT, &expected);
}

#[test]
fn pairs_of_f16_are_two_f16() {
    let [a, b, c] = [4, 5, 6].map(|seed| inputs(seed, F16));
    let expected: Vec<u16> = (0..COUNT / 2)
        .flat_map(|pair| {
            let halves = [2 * pair, 2 * pair + 1].map(|i| {
                let [x, y, z] = [a[i], b[i], c[i]].map(|bits| value(bits, F16));
                let scaled = if i % 2 == 0 { f64::from((x * 3.0) as f32) } else { f64::from(y as f32 / 3.0) };
                [x + y, x * y, x * y + z, f64::from(x > y), scaled].map(|result| nearest(result, F16))
            });
            (0..5).flat_map(move |result| [halves[0][result], halves[1][result]])
        })
        .collect();
    run::<10>("f16x2", [&a, &b, &c], COUNT / 2, &expected);
}

#[test]
fn bf16_is_rounded_once() {
    let [a, b, c] = [7, 8, 9].map(|seed| inputs(seed, BF16));
    let expected: Vec<u16> = (0..COUNT)
        .flat_map(|i| {
            let [x, y, z] = [a[i], b[i], c[i]].map(|bits| value(bits, BF16));
            [x + y, x * y, x * y + z, x.max(y), f64::from(x as f32 / 3.0)].map(|result| nearest(result, BF16))
        })
        .collect();
    run::<5>("bf16", [&a, &b, &c], COUNT, &expected);
}
