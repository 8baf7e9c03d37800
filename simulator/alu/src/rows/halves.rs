//! Rows of f16 and bf16, alone and in pairs. Results are rounded to nearest even, once.

use crate::half::{self, Bf16, F16, Two, abs, or_nan, relu, saturate, xor_sign};
use crate::row::{Entry, seldom};

/// The meaning for each number of a pair, as one function.
macro_rules! in_pairs {
    (($($a:ident),+) $meaning:expr) => {{
        let of_each = |$($a),+| $meaning;
        Two(of_each($($a.0),+), of_each($($a.1),+))
    }};
}

/// The meaning with `.ftz`: subnormal operands and results are flushed to zero.
macro_rules! flushed {
    (($($a:ident),+) $meaning:expr) => {{ $(let $a = half::flush($a);)+ half::flush($meaning) }};
}

/// One f16 and a pair of them, each also with `.ftz`.
macro_rules! f16 {
    ($class:ident $pair:ident $name:literal $suffix:literal ($($a:ident),+) $meaning:expr) => {
        seldom! {
            ($name $suffix ".f16") $class ($($a: F16),+) -> F16 { $meaning }
            ($name ".ftz" $suffix ".f16") $class ($($a: F16),+) -> F16 { flushed!(($($a),+) $meaning) }
            ($name $suffix ".f16x2") $pair ($($a: Two<F16>),+) -> Two<F16> { in_pairs!(($($a),+) $meaning) }
            ($name ".ftz" $suffix ".f16x2") $pair ($($a: Two<F16>),+) -> Two<F16> {
                in_pairs!(($($a),+) flushed!(($($a),+) $meaning))
            }
        }
    };
}

/// One bf16 and a pair of them.
macro_rules! bf16 {
    ($class:ident $pair:ident $name:literal $suffix:literal ($($a:ident),+) $meaning:expr) => {
        seldom! {
            ($name $suffix ".bf16") $class ($($a: Bf16),+) -> Bf16 { $meaning }
            ($name $suffix ".bf16x2") $pair ($($a: Two<Bf16>),+) -> Two<Bf16> { in_pairs!(($($a),+) $meaning) }
        }
    };
}

/// `fma` with `.oob`, of one number and of a pair.
macro_rules! out_of_bounds {
    ($($ty:ident $name:literal $suffix:literal |$result:ident| $meaning:expr;)*) => {
        seldom! {$(
            ($name $suffix) Half (a: $ty, b: $ty, c: $ty) -> $ty { { let $result = half::fma_in_bounds(a, b, c); $meaning } }
            ($name $suffix "x2") HalfPair (a: Two<$ty>, b: Two<$ty>, c: Two<$ty>) -> Two<$ty> {
                in_pairs!((a, b, c) { let $result = half::fma_in_bounds(a, b, c); $meaning })
            }
        )*}
    };
}

#[rustfmt::skip]
pub const ROWS: &[&[Entry]] = &[
    f16!(Half HalfPair "add{,.rn}" "" (a, b) half::add(a, b)),
    f16!(Half HalfPair "add{,.rn}" ".sat" (a, b) saturate(half::add(a, b))),
    f16!(Half HalfPair "sub{,.rn}" "" (a, b) half::sub(a, b)),
    f16!(Half HalfPair "sub{,.rn}" ".sat" (a, b) saturate(half::sub(a, b))),
    f16!(Half HalfPair "mul{,.rn}" "" (a, b) half::mul(a, b)),
    f16!(Half HalfPair "mul{,.rn}" ".sat" (a, b) saturate(half::mul(a, b))),
    f16!(Half HalfPair "fma.rn" "" (a, b, c) half::fma(a, b, c)),
    f16!(Half HalfPair "fma.rn" ".sat" (a, b, c) saturate(half::fma(a, b, c))),
    f16!(Half HalfPair "fma.rn" ".relu" (a, b, c) relu(half::fma(a, b, c))),
    out_of_bounds! {
        F16 "fma.rn.oob" ".f16" |sum| sum;
        F16 "fma.rn.oob.relu" ".f16" |sum| relu(sum);
        Bf16 "fma.rn.oob" ".bf16" |sum| sum;
        Bf16 "fma.rn.oob.relu" ".bf16" |sum| relu(sum);
    },
    f16!(Move Move "neg" "" (a) half::neg(a)),
    f16!(Move Move "abs" "" (a) abs(a)),
    f16!(Half HalfPair "min" "" (a, b) half::min(a, b)),
    f16!(Half HalfPair "min" ".xorsign.abs" (a, b) xor_sign(a, b, half::min(abs(a), abs(b)))),
    f16!(Half HalfPair "min" ".NaN" (a, b) or_nan(a, b, half::min(a, b))),
    f16!(Half HalfPair "min" ".NaN.xorsign.abs" (a, b) xor_sign(a, b, or_nan(a, b, half::min(abs(a), abs(b))))),
    f16!(Half HalfPair "max" "" (a, b) half::max(a, b)),
    f16!(Half HalfPair "max" ".xorsign.abs" (a, b) xor_sign(a, b, half::max(abs(a), abs(b)))),
    f16!(Half HalfPair "max" ".NaN" (a, b) or_nan(a, b, half::max(a, b))),
    f16!(Half HalfPair "max" ".NaN.xorsign.abs" (a, b) xor_sign(a, b, or_nan(a, b, half::max(abs(a), abs(b))))),
    bf16!(Half HalfPair "add{,.rn}" "" (a, b) half::add(a, b)),
    bf16!(Half HalfPair "sub{,.rn}" "" (a, b) half::sub(a, b)),
    bf16!(Half HalfPair "mul{,.rn}" "" (a, b) half::mul(a, b)),
    bf16!(Half HalfPair "fma.rn" "" (a, b, c) half::fma(a, b, c)),
    bf16!(Half HalfPair "fma.rn" ".relu" (a, b, c) relu(half::fma(a, b, c))),
    bf16!(Move Move "neg" "" (a) half::neg(a)),
    bf16!(Move Move "abs" "" (a) abs(a)),
    bf16!(Half HalfPair "min" "" (a, b) half::min(a, b)),
    bf16!(Half HalfPair "min" ".xorsign.abs" (a, b) xor_sign(a, b, half::min(abs(a), abs(b)))),
    bf16!(Half HalfPair "min" ".NaN" (a, b) or_nan(a, b, half::min(a, b))),
    bf16!(Half HalfPair "min" ".NaN.xorsign.abs" (a, b) xor_sign(a, b, or_nan(a, b, half::min(abs(a), abs(b))))),
    bf16!(Half HalfPair "max" "" (a, b) half::max(a, b)),
    bf16!(Half HalfPair "max" ".xorsign.abs" (a, b) xor_sign(a, b, half::max(abs(a), abs(b)))),
    bf16!(Half HalfPair "max" ".NaN" (a, b) or_nan(a, b, half::max(a, b))),
    bf16!(Half HalfPair "max" ".NaN.xorsign.abs" (a, b) xor_sign(a, b, or_nan(a, b, half::max(abs(a), abs(b))))),
];
