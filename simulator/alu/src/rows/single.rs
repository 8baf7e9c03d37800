//! Rows of single precision. Every computed NaN is the canonical one.

use crate::float::{self, canonical32, flush32, or_nan32, saturate32, xor_sign32};
use crate::format::Rounding::{Down, Up, Zero};
use crate::row::{Entry, rows};

/// The meaning, and the same with `.ftz`: subnormal operands and results are flushed to zero.
macro_rules! flushed {
    ($class:ident $(~ [$accuracy:expr])? $name:literal $suffix:literal ($($a:ident),+) $meaning:expr) => {
        rows! {
            ($name $suffix ".f32") $class $(~ [$accuracy])? ($($a: f32),+) -> f32 { canonical32($meaning) }
            ($name ".ftz" $suffix ".f32") $class $(~ [$accuracy])? ($($a: f32),+) -> f32 {
                { $(let $a = flush32($a);)+ flush32(canonical32($meaning)) }
            }
        }
    };
}

/// The same, and both clamped to [0, 1], with `.sat`.
macro_rules! clamped {
    ($class:ident $name:literal ($($a:ident),+) $meaning:expr) => {
        rows! {
            ($name ".f32") $class ($($a: f32),+) -> f32 { canonical32($meaning) }
            ($name ".sat.f32") $class ($($a: f32),+) -> f32 { saturate32($meaning) }
            ($name ".ftz.f32") $class ($($a: f32),+) -> f32 { { $(let $a = flush32($a);)+ flush32(canonical32($meaning)) } }
            ($name ".ftz.sat.f32") $class ($($a: f32),+) -> f32 { { $(let $a = flush32($a);)+ flush32(saturate32($meaning)) } }
        }
    };
}

pub(super) use flushed;

#[rustfmt::skip]
pub const ROWS: &[&[Entry]] = &[
    clamped!(F32 "add{,.rn}" (a, b) a + b),
    clamped!(F32 "add.rz" (a, b) float::add32(a, b, Zero)),
    clamped!(F32 "add.rm" (a, b) float::add32(a, b, Down)),
    clamped!(F32 "add.rp" (a, b) float::add32(a, b, Up)),
    clamped!(F32 "sub{,.rn}" (a, b) a - b),
    clamped!(F32 "sub.rz" (a, b) float::add32(a, -b, Zero)),
    clamped!(F32 "sub.rm" (a, b) float::add32(a, -b, Down)),
    clamped!(F32 "sub.rp" (a, b) float::add32(a, -b, Up)),
    clamped!(F32 "mul{,.rn}" (a, b) a * b),
    clamped!(F32 "mul.rz" (a, b) float::mul32(a, b, Zero)),
    clamped!(F32 "mul.rm" (a, b) float::mul32(a, b, Down)),
    clamped!(F32 "mul.rp" (a, b) float::mul32(a, b, Up)),
    clamped!(F32Fma "{fma,mad}.rn" (a, b, c) float::fused32(a, b, c)),
    clamped!(F32Fma "{fma,mad}.rz" (a, b, c) float::fma32(a, b, c, Zero)),
    clamped!(F32Fma "{fma,mad}.rm" (a, b, c) float::fma32(a, b, c, Down)),
    clamped!(F32Fma "{fma,mad}.rp" (a, b, c) float::fma32(a, b, c, Up)),
    flushed!(Move "neg" "" (a) -a),
    flushed!(Move "abs" "" (a) a.abs()),
    flushed!(F32 "min" "" (a, b) float::min32(a, b)),
    flushed!(F32 "min" ".xorsign.abs" (a, b) xor_sign32(a, b, float::min32(a.abs(), b.abs()))),
    flushed!(F32 "min" ".NaN" (a, b) or_nan32(a, b, float::min32(a, b))),
    flushed!(F32 "min" ".NaN.xorsign.abs" (a, b) xor_sign32(a, b, or_nan32(a, b, float::min32(a.abs(), b.abs())))),
    flushed!(F32 "max" "" (a, b) float::max32(a, b)),
    flushed!(F32 "max" ".xorsign.abs" (a, b) xor_sign32(a, b, float::max32(a.abs(), b.abs()))),
    flushed!(F32 "max" ".NaN" (a, b) or_nan32(a, b, float::max32(a, b))),
    flushed!(F32 "max" ".NaN.xorsign.abs" (a, b) xor_sign32(a, b, or_nan32(a, b, float::max32(a.abs(), b.abs())))),
    rows! { "copysign.f32" F32 (a: f32, b: f32) -> f32 { b.copysign(a) } },
    flushed!(Special "div.rn" "" (a, b) a / b),
    flushed!(Special "div.rz" "" (a, b) float::div32(a, b, Zero)),
    flushed!(Special "div.rm" "" (a, b) float::div32(a, b, Down)),
    flushed!(Special "div.rp" "" (a, b) float::div32(a, b, Up)),
    flushed!(Special "rcp.rn" "" (a) 1.0 / a),
    flushed!(Special "rcp.rz" "" (a) float::div32(1.0, a, Zero)),
    flushed!(Special "rcp.rm" "" (a) float::div32(1.0, a, Down)),
    flushed!(Special "rcp.rp" "" (a) float::div32(1.0, a, Up)),
    flushed!(Special "sqrt.rn" "" (a) a.sqrt()),
    flushed!(Special "sqrt.rz" "" (a) float::sqrt32(a, Zero)),
    flushed!(Special "sqrt.rm" "" (a) float::sqrt32(a, Down)),
    flushed!(Special "sqrt.rp" "" (a) float::sqrt32(a, Up)),
];
