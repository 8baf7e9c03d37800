//! Rows of double precision.

use crate::exact;
use crate::float::{max64, min64, pass_nan};
use crate::format::Rounding;
use crate::row::{Entry, rows};

/// Rows with the rounding directions other than to nearest.
macro_rules! directed {
    ($name:literal ($($a:ident),+) |$rounding:ident| $meaning:expr) => {
        rows! {
            ($name ".rz.f64") F64 ($($a: f64),+) -> f64 { { let $rounding = Rounding::Zero; $meaning } }
            ($name ".rm.f64") F64 ($($a: f64),+) -> f64 { { let $rounding = Rounding::Down; $meaning } }
            ($name ".rp.f64") F64 ($($a: f64),+) -> f64 { { let $rounding = Rounding::Up; $meaning } }
        }
    };
}

#[rustfmt::skip]
pub const ROWS: &[&[Entry]] = &[
    rows! {
        // Rounded to nearest even. A NaN operand passes through.
        "add{,.rn}.f64" F64 (a: f64, b: f64) -> f64 { pass_nan(a + b, [b, a]) }
        "sub{,.rn}.f64" F64 (a: f64, b: f64) -> f64 { pass_nan(a - b, [b, a]) }
        "mul{,.rn}.f64" F64 (a: f64, b: f64) -> f64 { pass_nan(a * b, [b, a]) }
        "{fma,mad}.rn.f64" F64 (a: f64, b: f64, c: f64) -> f64 { pass_nan(a.mul_add(b, c), [b, c, a]) }
        "neg.f64" Move (a: f64) -> f64 { pass_nan(-a, [a]) }
        "abs.f64" Move (a: f64) -> f64 { pass_nan(a.abs(), [a]) }
        "min.f64" F64 (a: f64, b: f64) -> f64 { min64(a, b) }
        "max.f64" F64 (a: f64, b: f64) -> f64 { max64(a, b) }
        "copysign.f64" F64 (a: f64, b: f64) -> f64 { b.copysign(a) }
        "div.rn.f64" F64 (a: f64, b: f64) -> f64 { pass_nan(a / b, [a, b]) }
        "rcp.rn.f64" F64 (a: f64) -> f64 { pass_nan(1.0 / a, [a]) }
        "sqrt.rn.f64" F64 (a: f64) -> f64 { pass_nan(a.sqrt(), [a]) }
    },
    directed!("add" (a, b) |rounding| pass_nan(exact::sum(a, b, rounding), [b, a])),
    directed!("sub" (a, b) |rounding| pass_nan(exact::sum(a, -b, rounding), [b, a])),
    directed!("mul" (a, b) |rounding| pass_nan(exact::product(a, b, rounding), [b, a])),
    directed!("{fma,mad}" (a, b, c) |rounding| pass_nan(exact::multiply_add(a, b, c, rounding), [b, c, a])),
    directed!("div" (a, b) |rounding| pass_nan(exact::quotient(a, b, rounding), [a, b])),
    directed!("rcp" (a) |rounding| pass_nan(exact::quotient(1.0, a, rounding), [a])),
    directed!("sqrt" (a) |rounding| pass_nan(exact::root(a, rounding), [a])),
];
