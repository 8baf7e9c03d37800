//! Functions of CUDA's mathematical library, against the host's functions of twice the precision.
//!
//! The allowed error is that of the CUDA C++ Programming Guide 12.0 for the function, in units of the last place.

use crate::common::{Numbers, Params, every_way};

const MATHEMATICS: &str = include_str!("mathematics.ptx");
const COUNT: usize = 500;

/// Between 0.1 and 3, or the negative of that.
fn inputs(seed: u64) -> Vec<f64> {
    let mut numbers = Numbers(seed);
    let mut magnitude = || 0.1 + 2.9 * (numbers.next() >> 11) as f64 / (1_u64 << 53) as f64;
    (0..COUNT).map(|i| if i % 3 == 0 { -magnitude() } else { magnitude() }).collect()
}

/// Returns the error in units of the last place. The format has `bits` bits in its significand.
fn ulps(result: f64, exact: f64, bits: i32) -> f64 {
    (result - exact).abs() / (exact.abs().log2().floor() - f64::from(bits - 1)).exp2()
}

#[test]
fn single_precision_is_as_accurate_as_the_guide_says() {
    const LIMITS: [f64; 10] = [2.0, 2.0, 2.0, 1.0, 4.0, 2.0, 2.0, 2.0, 1.0, 0.0];
    let [a, b] = [1, 2].map(|seed| inputs(seed).into_iter().map(|x| x as f32).collect::<Vec<_>>());
    every_way(MATHEMATICS, |gpu| {
        let out = gpu.poisoned::<[f32; 10]>(COUNT);
        gpu.launch("single", 4, 128, 0, &Params::new().with(gpu.buffer(&a)).with(gpu.buffer(&b)).with(out).with(COUNT as i32));
        for (i, results) in gpu.read::<[f32; 10]>(out, COUNT).into_iter().enumerate() {
            let (x, y) = (f64::from(a[i]), f64::from(b[i]));
            let far = f64::from(a[i] * 1000.0 * b[i]);
            let exact = [
                far.sin(),
                x.cos(),
                x.exp(),
                x.abs().ln(),
                x.abs().powf(y),
                x.tanh(),
                libm::erf(x),
                1.0 / x.abs().sqrt(),
                x.cbrt(),
                x / y,
            ];
            for (which, (result, exact)) in results.into_iter().zip(exact).enumerate() {
                // The guide counts from the correctly rounded result, which is at most half a unit from the exact one.
                let off = ulps(result.into(), exact, 24);
                assert!(off <= LIMITS[which] + 0.5, "function {which} of {x} and {y}: {result}, not {exact}: {off} ulp");
            }
        }
    });
}

#[test]
fn fast_functions_are_as_accurate_as_the_guide_says() {
    let [a, b] = [3, 4].map(|seed| inputs(seed).into_iter().map(|x| x as f32).collect::<Vec<_>>());
    every_way(MATHEMATICS, |gpu| {
        let out = gpu.poisoned::<[f32; 6]>(COUNT);
        gpu.launch("fast", 4, 128, 0, &Params::new().with(gpu.buffer(&a)).with(gpu.buffer(&b)).with(out).with(COUNT as i32));
        for (i, [sine, exponential, logarithm, quotient, saturated, power]) in
            gpu.read::<[f32; 6]>(out, COUNT).into_iter().enumerate()
        {
            let (x, y) = (f64::from(a[i]), f64::from(b[i]));
            assert!((f64::from(sine) - x.sin()).abs() <= 2_f64.powf(-21.41), "sine of {x}: {sine}");
            assert!(ulps(exponential.into(), x.exp(), 24) <= 2.5 + (1.173 * x.abs()).floor(), "exponential of {x}: {exponential}");
            let near = (0.5..=2.0).contains(&x.abs());
            let off = (f64::from(logarithm) - x.abs().ln()).abs();
            assert!(
                if near { off <= 2_f64.powf(-21.41) } else { ulps(logarithm.into(), x.abs().ln(), 24) <= 3.5 },
                "logarithm of {x}"
            );
            assert!(ulps(quotient.into(), x / y, 24) <= 2.5, "{x} / {y}: {quotient}");
            assert_eq!(saturated, a[i].clamp(0.0, 1.0));
            // For powers it says only that they are computed with the two functions above.
            assert!((f64::from(power) / x.abs().powf(1.5) - 1.0).abs() < 1e-5, "power of {x}: {power}");
        }
    });
}

#[test]
fn double_precision_is_as_accurate_as_the_guide_says() {
    const LIMITS: [f64; 8] = [2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 0.0];
    let [a, b] = [inputs(5), inputs(6)];
    every_way(MATHEMATICS, |gpu| {
        let out = gpu.poisoned::<[f64; 8]>(COUNT);
        gpu.launch("dbl", 4, 128, 0, &Params::new().with(gpu.buffer(&a)).with(gpu.buffer(&b)).with(out).with(COUNT as i32));
        for (i, results) in gpu.read::<[f64; 8]>(out, COUNT).into_iter().enumerate() {
            let (x, y) = (a[i], b[i]);
            let exact = [
                libm::sin(x * 1e6),
                libm::exp(x),
                libm::log(x.abs()),
                libm::pow(x.abs(), y),
                libm::erf(x),
                1.0 / x.abs().sqrt(),
                libm::tanh(x),
                x / y,
            ];
            for (which, (result, exact)) in results.into_iter().zip(exact).enumerate() {
                // The host's functions are off by a unit themselves; division is exactly rounded in both.
                let limit = if LIMITS[which] == 0.0 { 0.0 } else { LIMITS[which] + 1.0 };
                let off = ulps(result, exact, 53);
                assert!(off <= limit, "function {which} of {x} and {y}: {result:e}, not {exact:e}: {off} ulp");
            }
        }
    });
}

#[test]
fn directed_roundings_enclose_the_exact_result() {
    // Operands have 16 bits, so that f64 holds sums and products exactly, and distinguishes quotients and roots from adjacent f32
    // numbers.
    let [a, b, c] =
        [7, 8, 9].map(|seed| inputs(seed).into_iter().map(|x| f32::from_bits((x as f32).to_bits() & !0xff)).collect::<Vec<_>>());
    every_way(MATHEMATICS, |gpu| {
        let out = gpu.poisoned::<[[f32; 3]; 5]>(COUNT);
        let params = Params::new().with(gpu.buffer(&a)).with(gpu.buffer(&b)).with(gpu.buffer(&c)).with(out).with(COUNT as i32);
        gpu.launch("directed", 4, 128, 0, &params);
        for (i, results) in gpu.read::<[[f32; 3]; 5]>(out, COUNT).into_iter().enumerate() {
            let [x, y, z] = [a[i], b[i], c[i]].map(f64::from);
            for (which, exact) in [x + y, x * y, x * y + z, x / y, x.abs().sqrt()].into_iter().enumerate() {
                let near = exact as f32;
                let down = if f64::from(near) > exact { near.next_down() } else { near };
                let up = if f64::from(near) < exact { near.next_up() } else { near };
                let zero = if exact > 0.0 { down } else { up };
                assert_eq!(results[which], [zero, down, up], "operation {which} of {x}, {y} and {z}");
            }
        }
    });
}

#[test]
fn words_of_128_bits_carry() {
    let mut numbers = Numbers(10);
    let mut words = || -> Vec<u64> {
        let special = [0, 1, u64::MAX, 1 << 63, u64::MAX >> 1, u64::from(u32::MAX)];
        (0..COUNT).map(|i| if i % 2 == 0 { numbers.next() } else { special[numbers.below(6) as usize] }).collect()
    };
    let (a, b) = (words(), words());
    let expected: Vec<[u64; 6]> = a
        .iter()
        .zip(&b)
        .map(|(a, b)| {
            let (x, y) = (u128::from(*a) << 64 | u128::from(*b), u128::from(*b) << 64 | u128::from(*a));
            let results = [x.wrapping_add(y), x.wrapping_sub(y), x.wrapping_mul(y).wrapping_add(x)];
            let [sum, difference, product] = results.map(|result| [result as u64, (result >> 64) as u64]);
            [sum[0], sum[1], difference[0], difference[1], product[0], product[1]]
        })
        .collect();
    every_way(MATHEMATICS, |gpu| {
        let out = gpu.poisoned::<[u64; 6]>(COUNT);
        gpu.launch("wide", 4, 128, 0, &Params::new().with(gpu.buffer(&a)).with(gpu.buffer(&b)).with(out).with(COUNT as i32));
        assert_eq!(gpu.read::<[u64; 6]>(out, COUNT), expected);
    });
}
