//! Rows of comparisons.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "what the lint offers instead is something else where an operand is NaN")]

use std::convert::identity;

use crate::float::flush32;
use crate::half::{self, Bf16, F16, Half};
use crate::row::{Entry, rows};

/// Comparisons of integers of one width.
macro_rules! integers {
    ($unsigned:ident $signed:ident $width:literal) => {
        rows! {
            ("setp.eq.{b" $width ",u" $width ",s" $width "}") Predicate (a: $unsigned, b: $unsigned) -> bool { a == b }
            ("setp.ne.{b" $width ",u" $width ",s" $width "}") Predicate (a: $unsigned, b: $unsigned) -> bool { a != b }
            ("setp.{lt,lo}.u" $width) Predicate (a: $unsigned, b: $unsigned) -> bool { a < b }
            ("setp.lt.s" $width) Predicate (a: $signed, b: $signed) -> bool { a < b }
            ("setp.{le,ls}.u" $width) Predicate (a: $unsigned, b: $unsigned) -> bool { a <= b }
            ("setp.le.s" $width) Predicate (a: $signed, b: $signed) -> bool { a <= b }
            ("setp.{gt,hi}.u" $width) Predicate (a: $unsigned, b: $unsigned) -> bool { a > b }
            ("setp.gt.s" $width) Predicate (a: $signed, b: $signed) -> bool { a > b }
            ("setp.{ge,hs}.u" $width) Predicate (a: $unsigned, b: $unsigned) -> bool { a >= b }
            ("setp.ge.s" $width) Predicate (a: $signed, b: $signed) -> bool { a >= b }
        }
    };
}

/// Comparisons of floats, whose numbers `value` returns. The plain ones are false for NaN, and the ones that end in `u` are true.
macro_rules! floats {
    ($ty:ident $suffix:literal $value:path) => {
        rows! {
            ("setp.eq" $suffix) Predicate (a: $ty, b: $ty) -> bool { $value(a) == $value(b) }
            ("setp.ne" $suffix) Predicate (a: $ty, b: $ty) -> bool { $value(a) < $value(b) || $value(a) > $value(b) }
            ("setp.lt" $suffix) Predicate (a: $ty, b: $ty) -> bool { $value(a) < $value(b) }
            ("setp.le" $suffix) Predicate (a: $ty, b: $ty) -> bool { $value(a) <= $value(b) }
            ("setp.gt" $suffix) Predicate (a: $ty, b: $ty) -> bool { $value(a) > $value(b) }
            ("setp.ge" $suffix) Predicate (a: $ty, b: $ty) -> bool { $value(a) >= $value(b) }
            ("setp.equ" $suffix) Predicate (a: $ty, b: $ty) -> bool { !($value(a) < $value(b) || $value(a) > $value(b)) }
            ("setp.neu" $suffix) Predicate (a: $ty, b: $ty) -> bool { $value(a) != $value(b) }
            ("setp.ltu" $suffix) Predicate (a: $ty, b: $ty) -> bool { !($value(a) >= $value(b)) }
            ("setp.leu" $suffix) Predicate (a: $ty, b: $ty) -> bool { !($value(a) > $value(b)) }
            ("setp.gtu" $suffix) Predicate (a: $ty, b: $ty) -> bool { !($value(a) <= $value(b)) }
            ("setp.geu" $suffix) Predicate (a: $ty, b: $ty) -> bool { !($value(a) < $value(b)) }
        }
    };
}

/// Comparisons with NaN.
macro_rules! numbers {
    ($ty:ident $suffix:literal $value:path) => {
        rows! {
            ("setp.num" $suffix) Predicate (a: $ty, b: $ty) -> bool { !$value(a).is_nan() && !$value(b).is_nan() }
            ("setp.nan" $suffix) Predicate (a: $ty, b: $ty) -> bool { $value(a).is_nan() || $value(b).is_nan() }
        }
    };
}

/// Tests of the kind of a number.
macro_rules! kinds {
    ($ty:ident $suffix:literal) => {
        rows! {
            ("testp.finite" $suffix) Predicate (a: $ty) -> bool { a.is_finite() }
            ("testp.infinite" $suffix) Predicate (a: $ty) -> bool { a.is_infinite() }
            ("testp.number" $suffix) Predicate (a: $ty) -> bool { !a.is_nan() }
            ("testp.notanumber" $suffix) Predicate (a: $ty) -> bool { a.is_nan() }
            ("testp.normal" $suffix) Predicate (a: $ty) -> bool { a.is_normal() || a == 0.0 }
            ("testp.subnormal" $suffix) Predicate (a: $ty) -> bool { a.is_subnormal() }
        }
    };
}

pub const ROWS: &[&[Entry]] = &[
    integers!(u16 i16 "16"),
    integers!(u32 i32 "32"),
    integers!(u64 i64 "64"),
    floats!(f32 ".f32" identity),
    numbers!(f32 "{,.ftz}.f32" identity),
    floats!(f64 ".f64" identity),
    numbers!(f64 ".f64" identity),
    floats!(f32 ".ftz.f32" flush32),
    floats!(F16 ".f16" Half::widen),
    numbers!(F16 "{,.ftz}.f16" Half::widen),
    floats!(F16 ".ftz.f16" half::widen_flushed),
    floats!(Bf16 ".bf16" Half::widen),
    numbers!(Bf16 ".bf16" Half::widen),
    kinds!(f32 ".f32"),
    kinds!(f64 ".f64"),
];
