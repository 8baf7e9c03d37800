//! Approximate functions: exact results where PTX specifies them, otherwise within the accuracy that it guarantees.

use alu::{Row, TABLE, spellings};

use crate::common::{Gpu, Numbers};
use crate::instructions::exact::{BF16, F16, F32, F64, Format};
use crate::instructions::{
    Case, Group, INF32, INF64, Kernel, MINUS_INF32, MINUS_INF64, MINUS_ZERO32, MINUS_ZERO64, NAN32, QUIET_BIT, QUIET32, QUIET64,
    SIGNAL32, SIGNAL64, d, f, module, reference, results,
};

/// The results that the PTX ISA's tables specify, in f32. They are for -inf, -0, +0, +inf and NaN.
#[rustfmt::skip]
const SPECIAL: &[(&str, [u64; 5])] = &[
    ("rcp", [MINUS_ZERO32, MINUS_INF32, INF32, 0, NAN32]),
    ("sqrt", [NAN32, MINUS_ZERO32, 0, INF32, NAN32]),
    ("rsqrt", [NAN32, MINUS_INF32, INF32, 0, NAN32]),
    ("sin", [NAN32, MINUS_ZERO32, 0, NAN32, NAN32]),
    ("cos", [NAN32, f(1.0), f(1.0), NAN32, NAN32]),
    ("lg2", [NAN32, MINUS_INF32, MINUS_INF32, INF32, NAN32]),
    ("ex2", [0, f(1.0), f(1.0), INF32, NAN32]),
    ("tanh", [f(-1.0), MINUS_ZERO32, 0, f(1.0), NAN32]),
];

/// Returns a result of that table in a format of 16 bits.
fn narrowed(bits: u64, format: Format) -> u64 {
    crate::instructions::exact::Value::of(bits, F32).round(format, crate::instructions::exact::Mode::Rn)
}

/// Returns the cases whose results are specified.
pub fn groups() -> Vec<Group> {
    let mut groups = Vec::new();
    for row in TABLE.iter().filter(|row| row.accuracy.is_some()) {
        for spelling in spellings(row.spelling) {
            let (root, ty) = (spelling.split('.').next().unwrap(), spelling.rsplit('.').next().unwrap());
            let special = SPECIAL.iter().find(|(name, _)| *name == root);
            let single = ty.strip_suffix("x2").unwrap_or(ty);
            let (operands, cases): (_, Vec<Case>) = match (single, special) {
                ("f32", Some((_, results))) => {
                    let inputs = [MINUS_INF32, MINUS_ZERO32, 0, INF32, QUIET32];
                    let mut cases: Vec<Case> =
                        inputs.into_iter().zip(results).map(|(input, result)| (vec![input], *result)).collect();
                    cases.push((vec![SIGNAL32], NAN32));
                    if spelling.contains(".ftz") {
                        // Subnormal numbers are zeros.
                        cases.extend([(vec![0x0040_0000], results[2]), (vec![0x8000_0001], results[1])]);
                    }
                    ("w>w", cases)
                }
                ("f16" | "bf16", Some((_, results))) => {
                    let format = if single == "f16" { F16 } else { BF16 };
                    let both = |bits: u64| if ty == single { bits } else { bits | bits << 16 };
                    let inputs = [MINUS_INF32, MINUS_ZERO32, 0, INF32, NAN32];
                    let case =
                        |(input, result): (u64, &u64)| (vec![both(narrowed(input, format))], both(narrowed(*result, format)));
                    (if ty == single { "h>h" } else { "w>w" }, inputs.into_iter().zip(results).map(case).collect())
                }
                ("f64", _) => ("d>d", upper_half(&spelling)),
                _ => ("ww>w", quotients(&spelling)),
            };
            groups.push(Group::new(spelling, operands, cases));
        }
    }
    groups
}

fn upper_half(spelling: &str) -> Vec<Case> {
    const NAN: u64 = 0x7fff_ffff_0000_0000;
    let cases: &[(u64, u64)] = match spelling {
        "rcp.approx.ftz.f64" => &[
            (MINUS_INF64, MINUS_ZERO64),
            (MINUS_ZERO64, MINUS_INF64),
            (0, INF64),
            (INF64, 0),
            (QUIET64, NAN),
            (1, INF64),
            (0x800f_ffff_ffff_ffff, MINUS_INF64),
            (d(4.0), d(0.25)),
            (d(-0.5) | 1, d(-2.0)),
        ],
        "rsqrt.approx.ftz.f64" => &[
            (MINUS_INF64, NAN),
            (MINUS_ZERO64, MINUS_INF64),
            (0, INF64),
            (INF64, 0),
            (QUIET64, NAN),
            (1, INF64),
            (0x800f_ffff_ffff_ffff, MINUS_INF64),
            (d(4.0), d(0.5)),
        ],
        _ => &[
            (MINUS_ZERO64, MINUS_INF64),
            (0, INF64),
            (INF64, 0),
            (QUIET64, QUIET64),
            (SIGNAL64, SIGNAL64 | QUIET_BIT),
            (d(4.0), d(0.5)),
        ],
    };
    cases.iter().map(|(input, result)| (vec![*input], *result)).collect()
}

fn quotients(spelling: &str) -> Vec<Case> {
    let mut cases = vec![
        (vec![f(6.0), f(2.0)], f(3.0)),
        (vec![f(1.0), 0], INF32),
        (vec![f(-1.0), 0], MINUS_INF32),
        (vec![0, 0], NAN32),
        (vec![f(1.0), INF32], 0),
        (vec![INF32, INF32], NAN32),
        (vec![QUIET32, f(1.0)], NAN32),
        (vec![INF32, f(2.0)], INF32),
    ];
    if spelling.contains("approx") {
        // A divisor between 2^126 and 2^128.
        cases.extend([
            (vec![f(1e38), 0x7f00_0000], 0),
            (vec![f(-1e38), 0x7f00_0000], MINUS_ZERO32),
            (vec![INF32, 0x7f00_0000], NAN32),
        ]);
    }
    cases
}

/// The mathematical function of the last operand and the one before it.
pub fn exact(root: &str, sources: &[f64]) -> f64 {
    let a = sources[0];
    match root {
        "rcp" => 1.0 / a,
        "sqrt" => a.sqrt(),
        "rsqrt" => 1.0 / a.sqrt(),
        "sin" => a.sin(),
        "cos" => a.cos(),
        "lg2" => a.log2(),
        "ex2" => a.exp2(),
        "tanh" => a.tanh(),
        "div" => a / sources[1],
        _ => panic!("no function {root}"),
    }
}

/// A row under test.
pub struct Approximate {
    pub row: &'static Row,
    pub format: Format,
    pub is_pair: bool,
    pub root: String,
    pub flushes: bool,
}

/// Operands for every approximate instruction, 960 of each, and what it is.
pub fn sampled_groups() -> Vec<(Group, Approximate)> {
    let mut numbers = Numbers(0xacc);
    let mut sampled = Vec::new();
    for row in TABLE.iter().filter(|row| row.accuracy.is_some()) {
        for spelling in spellings(row.spelling) {
            let (root, ty) = (spelling.split('.').next().unwrap(), spelling.rsplit('.').next().unwrap());
            let single = ty.strip_suffix("x2").unwrap_or(ty);
            let format = reference::format(single).expect("a float");
            let is_pair = ty != single;
            let mut value = |spread: i64| {
                let near = (numbers.below(2 * spread as u64) as i64 - spread) << format.fraction;
                let bits = (numbers.next() >> (64 - format.bits)) & (((1 << format.fraction) - 1) | format.sign());
                (bits as i64 + format.one() as i64 + near) as u64
            };
            let widest = (1 << (format.bits - 2 - format.fraction)) - 2;
            let cases: Vec<Case> = (0..960)
                .map(|index| {
                    // Half of them near 1, half over most of the range.
                    let spread = if index % 2 == 0 { 4 } else { widest };
                    let sources = row.sources.iter().map(|_| {
                        let bits = if is_pair { value(spread) | value(spread) << 16 } else { value(spread) };
                        if matches!(root, "lg2" | "sqrt" | "rsqrt") { bits & !format.sign() } else { bits }
                    });
                    (sources.collect(), 0)
                })
                .collect();
            let kinds = match (is_pair, format) {
                (false, F64) => ["d>d", "dd>d"],
                (false, F16 | BF16) => ["h>h", "hh>h"],
                _ => ["w>w", "ww>w"],
            };
            let group = Group::new(spelling.clone(), kinds[row.sources.len() - 1], cases);
            let what = Approximate { row, format, is_pair, root: root.to_owned(), flushes: spelling.contains(".ftz") };
            sampled.push((group, what));
        }
    }
    sampled
}

/// One module with all of them.
fn sampled() -> (String, Vec<(Kernel, Approximate)>) {
    let (groups, rows): (Vec<_>, Vec<_>) = sampled_groups().into_iter().unzip();
    let (ptx, kernels) = module(&groups);
    (ptx, kernels.into_iter().zip(rows).collect())
}

/// Finds the largest error, as a share of the guaranteed one. Also returns where it occurs. `None` if nothing is guaranteed.
pub fn worst(kernel: &Kernel, what: &Approximate, results: &[u64]) -> Option<(f64, String)> {
    let mut worst: Option<(f64, String)> = None;
    let halves = if what.is_pair { vec![0, 16] } else { vec![0] };
    let mask = u64::MAX >> (64 - what.format.bits);
    for ((sources, _), result) in kernel.cases.iter().zip(results) {
        for shift in &halves {
            let bits: Vec<u64> = sources.iter().map(|source| source >> shift & mask).collect();
            let inputs: Vec<f64> = bits.iter().map(|bits| value(*bits, what.format)).collect();
            let result = value(result >> shift & mask, what.format);
            let exact = exact(&what.root, &inputs);
            // A subnormal result may be flushed to zero, and an overflow be infinite.
            let smallest = value(1 << what.format.fraction, what.format);
            let largest = value(what.format.infinity() - 1, what.format);
            if (what.flushes && exact.abs() < smallest && result == 0.0) || (exact.abs() > largest && result.abs() >= largest) {
                continue;
            }
            let Some(bound) = what.row.accuracy?.bound(*inputs.last()?, exact, what.format.fraction as i32 + 1) else { continue };
            // Results are numbers of the format, so an error of half a step is always possible.
            let step = value(1, what.format) / 2.0;
            let share = (result - exact).abs() / bound.max(step);
            if worst.as_ref().is_none_or(|(most, _)| share.is_nan() || share > *most) {
                worst = Some((share, format!("{} of {inputs:?} is {exact:e}, not {result:e}", kernel.opcode)));
            }
        }
    }
    worst
}

fn value(bits: u64, format: Format) -> f64 {
    match format {
        F64 => f64::from_bits(bits),
        F32 => f32::from_bits(bits as u32).into(),
        BF16 => f32::from_bits((bits as u32) << 16).into(),
        // The fraction and the exponent of an f64, then the difference between the biases.
        _ => {
            let magnitude = f64::from_bits((bits & 0x7fff) << 42) * 1008_f64.exp2();
            if bits & 0x8000 != 0 { -magnitude } else { magnitude }
        }
    }
}

#[test]
fn approximate_functions_keep_what_ptx_promises() {
    let (ptx, kernels) = sampled();
    let gpu = Gpu::load(&ptx);
    for (kernel, what) in &kernels {
        let results = results(&gpu, kernel, kernel.cases.len());
        if let Some((share, place)) = worst(kernel, what, &results) {
            assert!(share <= 1.0, "{share} of what is promised: {place}");
        }
    }
}

#[test]
fn a_deviation_beyond_the_promise_is_seen() {
    let (ptx, kernels) = sampled();
    let gpu = Gpu::load(&ptx);
    let (kernel, what) = kernels.iter().find(|(kernel, _)| kernel.opcode == "ex2.approx.f32").unwrap();
    let mut results = results(&gpu, kernel, kernel.cases.len());
    results[0] += 4;
    assert!(worst(kernel, what, &results).unwrap().0 > 1.0);
}
