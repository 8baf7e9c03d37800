//! Rows of functions that a GPU approximates, with the accuracy that PTX guarantees.

use super::single::flushed;
use crate::approximate::{self, Accuracy::*, of_upper_half, through64};
use crate::float::{canonical32, flush32, pass_nan};
use crate::half::{self, Bf16, F16, Two};
use crate::row::{Entry, rows};

/// One number, and a pair.
macro_rules! halves {
    ($ty:ident $name:literal $suffix:literal ~ [$accuracy:expr] |$a:ident| $meaning:expr) => {
        rows! {
            ($name $suffix) Special ~ [$accuracy] ($a: $ty) -> $ty { $meaning }
            ($name $suffix "x2") Special ~ [$accuracy] (pair: Two<$ty>) -> Two<$ty> { pair.map(|$a| $meaning) }
        }
    };
}

#[rustfmt::skip]
pub const ROWS: &[&[Entry]] = &[
    flushed!(Special ~ [Ulps(2)] "ex2.approx" "" (a) through64(libm::exp2, a)),
    flushed!(Special ~ [Logarithm(-22.0)] "lg2.approx" "" (a) through64(libm::log2, a)),
    flushed!(Special ~ [Angle] "sin.approx" "" (a) through64(libm::sin, a)),
    flushed!(Special ~ [Angle] "cos.approx" "" (a) through64(libm::cos, a)),
    flushed!(Special ~ [Relative(-22.9)] "rsqrt.approx" "" (a) approximate::rsqrt(a)),
    rows! { "tanh.approx.f32" Special ~ [Relative(-11.0)] (a: f32) -> f32 { through64(libm::tanh, a) } },
    flushed!(Special ~ [Ulps(1)] "rcp.approx" "" (a) 1.0 / a),
    flushed!(Special ~ [Relative(-23.0)] "sqrt.approx" "" (a) a.sqrt()),
    flushed!(Special ~ [Quotient] "div.approx" "" (a, b) approximate::div(a, b)),
    flushed!(Special ~ [Ulps(2)] "div.full" "" (a, b) a / b),
    rows! {
        "rcp.approx.ftz.f64" Special ~ [UpperHalf] (a: f64) -> f64 { of_upper_half(a, |a| 1.0 / a) }
        "rsqrt.approx.ftz.f64" Special ~ [UpperHalf] (a: f64) -> f64 { of_upper_half(a, |a| 1.0 / a.sqrt()) }
        "rsqrt.approx.f64" Special ~ [Unstated] (a: f64) -> f64 { pass_nan(1.0 / a.sqrt(), [a]) }
    },
    halves!(F16 "ex2.approx" ".f16" ~ [RelativeOfNormal(-9.9)] |a| half::through64(a, libm::exp2)),
    halves!(F16 "tanh.approx" ".f16" ~ [Absolute(-10.987)] |a| half::through64(a, libm::tanh)),
    halves!(Bf16 "ex2.approx" ".ftz.bf16" ~ [Relative(-7.0)] |a| half::flush(half::through64(half::flush(a), libm::exp2))),
    halves!(Bf16 "tanh.approx" ".bf16" ~ [Absolute(-8.0)] |a| half::through64(a, libm::tanh)),
];
