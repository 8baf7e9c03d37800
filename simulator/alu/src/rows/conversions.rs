//! Rows of conversions.

use crate::exact;
use crate::float::{self, canonical32, flush32, relu32, round32, saturate32, saturate64};
use crate::format::Rounding::{Down, Nearest, Up, Zero};
use crate::format::whole;
use crate::half::{Bf16, F16, Half, Two, finite, narrowed, relu, round, saturate};
use crate::row::{Entry, rows, seldom};
use crate::{integer, quarter};

/// Between integers: the source is extended by its own sign, then cut to the destination.
macro_rules! between_integers {
    ($($from:ident $of:literal $word:ident $double:ident;)*) => {
        rows! {$(
            ("cvt.u8." $of) Convert (a: $from) -> u8 { a as u8 }
            ("cvt.s8." $of) Convert (a: $from) -> i8 { a as i8 }
            ("cvt.u16." $of) Convert (a: $from) -> u16 { a as u16 }
            ("cvt.s16." $of) Convert (a: $from) -> i16 { a as i16 }
            ("cvt.{u32,s32}." $of) Convert (a: $from) -> $word { a as $word }
            ("cvt.{u64,s64}." $of) Convert (a: $from) -> $double { a as $double }
        )*}
    };
}

/// Between integers, clamped to the range of the destination.
macro_rules! clamped {
    ($to:ident $name:literal: $($from:ident $of:literal)*) => {
        seldom! {$(
            ("cvt.sat." $name "." $of) Convert (a: $from) -> $to {
                i128::from(a).clamp($to::MIN.into(), $to::MAX.into()) as $to
            }
        )*}
    };
}

/// The magnitude of an integer, and whether it is negative.
macro_rules! parts {
    ($ty:ident $a:ident) => {{
        let zero: $ty = 0;
        (if $a < zero { ($a as i64).unsigned_abs() } else { $a as u64 }, $a < zero)
    }};
}

/// Integers to floats that hold every one of them.
macro_rules! exactly {
    ($to:ident $name:literal: $($from:ident $of:literal)*) => {
        rows! {$( ("cvt.{rn,rz,rm,rp}" $name $of) Convert (a: $from) -> $to { a as $to } )*}
    };
}

/// Integers to f32, rounded.
macro_rules! to_single {
    ($($from:ident $of:literal)*) => {
        rows! {$(
            ("cvt.rn{,.ftz}.f32." $of) Convert (a: $from) -> f32 { a as f32 }
            ("cvt.rz{,.ftz}.f32." $of) Convert (a: $from) -> f32 { round32(whole(parts!($from a)), Zero) }
            ("cvt.rm{,.ftz}.f32." $of) Convert (a: $from) -> f32 { round32(whole(parts!($from a)), Down) }
            ("cvt.rp{,.ftz}.f32." $of) Convert (a: $from) -> f32 { round32(whole(parts!($from a)), Up) }
        )*}
    };
}

/// Integers to f64, rounded.
macro_rules! to_double {
    ($($from:ident $of:literal)*) => {
        seldom! {$(
            ("cvt.rn.f64." $of) Convert (a: $from) -> f64 { a as f64 }
            ("cvt.rz.f64." $of) Convert (a: $from) -> f64 { exact::whole(parts!($from a), Zero) }
            ("cvt.rm.f64." $of) Convert (a: $from) -> f64 { exact::whole(parts!($from a), Down) }
            ("cvt.rp.f64." $of) Convert (a: $from) -> f64 { exact::whole(parts!($from a), Up) }
        )*}
    };
}

/// Integers to floats of 16 bits; and with `.sat` to any float, where only 0 and 1 are left.
macro_rules! to_half {
    ($($from:ident $of:literal)*) => {
        seldom! {$(
            ("cvt.rn.f16." $of) Convert (a: $from) -> F16 { round(whole(parts!($from a)), Nearest) }
            ("cvt.rz.f16." $of) Convert (a: $from) -> F16 { round(whole(parts!($from a)), Zero) }
            ("cvt.rm.f16." $of) Convert (a: $from) -> F16 { round(whole(parts!($from a)), Down) }
            ("cvt.rp.f16." $of) Convert (a: $from) -> F16 { round(whole(parts!($from a)), Up) }
            ("cvt.rn.bf16." $of) Convert (a: $from) -> Bf16 { round(whole(parts!($from a)), Nearest) }
            ("cvt.rz.bf16." $of) Convert (a: $from) -> Bf16 { round(whole(parts!($from a)), Zero) }
            ("cvt.rm.bf16." $of) Convert (a: $from) -> Bf16 { round(whole(parts!($from a)), Down) }
            ("cvt.rp.bf16." $of) Convert (a: $from) -> Bf16 { round(whole(parts!($from a)), Up) }
            ("cvt.{rn,rz,rm,rp}{,.ftz}.sat.f32." $of) Convert (a: $from) -> f32 { if a > 0 { 1.0 } else { 0.0 } }
            ("cvt.{rn,rz,rm,rp}.sat.f64." $of) Convert (a: $from) -> f64 { if a > 0 { 1.0 } else { 0.0 } }
            ("cvt.{rn,rz,rm,rp}.sat.f16." $of) Convert (a: $from) -> F16 { F16(if a > 0 { 0x3c00 } else { 0 }) }
        )*}
    };
}

/// A rounded float to integers. Beyond the integer's range, it is clamped. NaN becomes zero between f32 and up to 32 bits, and otherwise only
/// the highest bit is set (PTX ISA, `cvt`).
macro_rules! to_integers {
    ($name:literal $suffix:literal ($a:ident: f64) $value:expr) => {
        to_integers! {
            $name $suffix ($a: f64) $value;
            zero:;
            highest: u8 "u8" i8 "s8" u16 "u16" i16 "s16" u32 "u32" i32 "s32" u64 "u64" i64 "s64"
        }
    };
    ($name:literal $suffix:literal ($a:ident: $from:ident) $value:expr) => {
        to_integers! {
            $name $suffix ($a: $from) $value;
            zero: u8 "u8" i8 "s8" u16 "u16" i16 "s16" u32 "u32" i32 "s32";
            highest: u64 "u64" i64 "s64"
        }
    };
    (
        $name:literal $suffix:literal ($a:ident: $from:ident) $value:expr;
        zero: $($to:ident $of:literal)*; highest: $($wide:ident $of_wide:literal)*
    ) => {
        seldom! {
            $( ($name $of $suffix) Convert ($a: $from) -> $to { $value as $to } )*
            $( ($name $of_wide $suffix) Convert ($a: $from) -> $wide {
                { let value = $value; if value.is_nan() { 1 << ($wide::BITS - 1) } else { value as $wide } }
            } )*
        }
    };
}

/// Rounding to whole numbers.
macro_rules! to_whole {
    ($name:literal $round:ident) => {
        seldom! {
            ($name ".f32.f32") Convert (a: f32) -> f32 { canonical32(a.$round()) }
            ($name ".ftz.f32.f32") Convert (a: f32) -> f32 { canonical32(flush32(a).$round()) }
            ($name ".sat.f32.f32") Convert (a: f32) -> f32 { saturate32(a.$round()) }
            ($name ".ftz.sat.f32.f32") Convert (a: f32) -> f32 { saturate32(flush32(a).$round()) }
            ($name ".f64.f64") Convert (a: f64) -> f64 { a.$round() }
            ($name ".sat.f64.f64") Convert (a: f64) -> f64 { saturate64(a.$round()) }
            ($name ".f16.f16") Convert (a: F16) -> F16 { round(a.widen().$round().into(), Nearest) }
            ($name ".sat.f16.f16") Convert (a: F16) -> F16 { saturate(round(a.widen().$round().into(), Nearest)) }
            ($name ".bf16.bf16") Convert (a: Bf16) -> Bf16 { round(a.widen().$round().into(), Nearest) }
        }
    };
}

/// From f64 to f32.
macro_rules! narrower {
    ($name:literal |$a:ident| $narrow:expr) => {
        seldom! {
            ($name ".f32.f64") Convert ($a: f64) -> f32 { $narrow }
            ($name ".sat.f32.f64") Convert ($a: f64) -> f32 { saturate32($narrow) }
            ($name ".ftz.f32.f64") Convert ($a: f64) -> f32 { flush32($narrow) }
            ($name ".ftz.sat.f32.f64") Convert ($a: f64) -> f32 { flush32(saturate32($narrow)) }
        }
    };
}

/// From floats to f16 and bf16. An H200 does not flush as `.ftz` says on the way to f16: a subnormal f32, rounded up, is the smallest f16.
macro_rules! halves {
    ($name:literal $between_halves:literal $rounding:ident) => {
        seldom! {
            ($name "{,.ftz}.f16.f32") Convert (a: f32) -> F16 { round(a.into(), $rounding) }
            ($name "{,.ftz}.sat.f16.f32") Convert (a: f32) -> F16 { saturate(round(a.into(), $rounding)) }
            ($name ".f16.f64") Convert (a: f64) -> F16 { narrowed(a, $rounding) }
            ($name ".sat.f16.f64") Convert (a: f64) -> F16 { saturate(round(a, $rounding)) }
            ($name ".bf16.f32") Convert (a: f32) -> Bf16 { round(a.into(), $rounding) }
            ($name ".ftz.bf16.f32") Convert (a: f32) -> Bf16 { round(flush32(a).into(), $rounding) }
            ($name ".bf16.f64") Convert (a: f64) -> Bf16 { narrowed(a, $rounding) }
            ($between_halves ".f16.bf16") Convert (a: Bf16) -> F16 { round(a.widen().into(), $rounding) }
            ($between_halves ".bf16.f16") Convert (a: F16) -> Bf16 { round(a.widen().into(), $rounding) }
        }
    };
}

/// From f32 to floats of 16 bits, with `.relu` and `.satfinite`: what is beyond the largest number becomes that number. In a pair,
/// the first operand is the upper half.
macro_rules! finite_halves {
    ($name:literal $rounding:ident $to:ident $type:literal) => {
        seldom! {
            ($name ".relu." $type ".f32") Convert (a: f32) -> $to { relu(round(a.into(), $rounding)) }
            ($name ".satfinite." $type ".f32") Convert (a: f32) -> $to { finite(round(a.into(), $rounding)) }
            ($name ".relu.satfinite." $type ".f32") Convert (a: f32) -> $to { finite(relu(round(a.into(), $rounding))) }
            ($name "." $type "x2.f32") Convert (high: f32, low: f32) -> Two<$to> {
                Two(low, high).map(|a| round(a.into(), $rounding))
            }
            ($name ".relu." $type "x2.f32") Convert (high: f32, low: f32) -> Two<$to> {
                Two(low, high).map(|a| relu(round(a.into(), $rounding)))
            }
            ($name ".satfinite." $type "x2.f32") Convert (high: f32, low: f32) -> Two<$to> {
                Two(low, high).map(|a| finite(round(a.into(), $rounding)))
            }
            ($name ".relu.satfinite." $type "x2.f32") Convert (high: f32, low: f32) -> Two<$to> {
                Two(low, high).map(|a| finite(relu(round(a.into(), $rounding))))
            }
        }
    };
}

/// To and from pairs of numbers of 8 bits.
macro_rules! quarters {
    ($pair:literal $to:path, $of:path) => {
        seldom! {
            ("cvt.rn.satfinite." $pair ".f32") Convert (high: f32, low: f32) -> u16 { quarter::pair(low.into(), high.into(), $to) }
            ("cvt.rn.relu.satfinite." $pair ".f32") Convert (high: f32, low: f32) -> u16 {
                quarter::pair(relu32(low).into(), relu32(high).into(), $to)
            }
            ("cvt.rn.satfinite." $pair ".f16x2") Convert (a: Two<F16>) -> u16 {
                quarter::pair(a.0.widen().into(), a.1.widen().into(), $to)
            }
            ("cvt.rn.relu.satfinite." $pair ".f16x2") Convert (a: Two<F16>) -> u16 {
                quarter::pair(relu(a.0).widen().into(), relu(a.1).widen().into(), $to)
            }
            ("cvt.rn.f16x2." $pair) Convert (a: u16) -> Two<F16> { Two($of(a as u8), $of((a >> 8) as u8)) }
            ("cvt.rn.relu.f16x2." $pair) Convert (a: u16) -> Two<F16> { Two(relu($of(a as u8)), relu($of((a >> 8) as u8))) }
        }
    };
}

#[rustfmt::skip]
pub const ROWS: &[&[Entry]] = &[
    between_integers! {
        u8 "u8" u32 u64; i8 "s8" i32 i64; u16 "u16" u32 u64; i16 "s16" i32 i64;
        u32 "u32" u32 u64; i32 "s32" i32 i64; u64 "u64" u32 u64; i64 "s64" i32 i64;
    },
    clamped!(u8 "u8": i8 "s8" u16 "u16" i16 "s16" u32 "u32" i32 "s32" u64 "u64" i64 "s64"),
    clamped!(i8 "s8": u8 "u8" u16 "u16" i16 "s16" u32 "u32" i32 "s32" u64 "u64" i64 "s64"),
    clamped!(u16 "u16": i8 "s8" i16 "s16" u32 "u32" i32 "s32" u64 "u64" i64 "s64"),
    clamped!(i16 "s16": u16 "u16" u32 "u32" i32 "s32" u64 "u64" i64 "s64"),
    clamped!(u32 "u32": i8 "s8" i16 "s16" i32 "s32" u64 "u64" i64 "s64"),
    clamped!(u64 "u64": i8 "s8" i16 "s16" i32 "s32" i64 "s64"),
    clamped!(i64 "s64": u64 "u64"),
    clamped!(i32 "s32": u32 "u32" u64 "u64" i64 "s64"),

    exactly!(f32 "{,.ftz}.f32.": u8 "u8" i8 "s8" u16 "u16" i16 "s16"),
    to_single!(u32 "u32" i32 "s32" u64 "u64" i64 "s64"),
    exactly!(f64 ".f64.": u8 "u8" i8 "s8" u16 "u16" i16 "s16" u32 "u32" i32 "s32"),
    to_double!(u64 "u64" i64 "s64"),
    to_half!(u8 "u8" i8 "s8" u16 "u16" i16 "s16" u32 "u32" i32 "s32" u64 "u64" i64 "s64"),

    // The compiler in NVIDIA's driver refuses `.sat` for bf16.
    to_integers!("cvt.rni{,.ftz}{,.sat}." ".f32" (a: f32) a.round_ties_even()),
    to_integers!("cvt.rzi{,.ftz}{,.sat}." ".f32" (a: f32) a),
    to_integers!("cvt.rmi{,.sat}." ".f32" (a: f32) a.floor()),
    to_integers!("cvt.rpi{,.sat}." ".f32" (a: f32) a.ceil()),
    to_integers!("cvt.rmi.ftz{,.sat}." ".f32" (a: f32) flush32(a).floor()),
    to_integers!("cvt.rpi.ftz{,.sat}." ".f32" (a: f32) flush32(a).ceil()),
    to_integers!("cvt.rni{,.sat}." ".f64" (a: f64) a.round_ties_even()),
    to_integers!("cvt.rzi{,.sat}." ".f64" (a: f64) a),
    to_integers!("cvt.rmi{,.sat}." ".f64" (a: f64) a.floor()),
    to_integers!("cvt.rpi{,.sat}." ".f64" (a: f64) a.ceil()),
    to_integers!("cvt.rni{,.sat}." ".f16" (a: F16) a.widen().round_ties_even()),
    to_integers!("cvt.rzi{,.sat}." ".f16" (a: F16) a.widen()),
    to_integers!("cvt.rmi{,.sat}." ".f16" (a: F16) a.widen().floor()),
    to_integers!("cvt.rpi{,.sat}." ".f16" (a: F16) a.widen().ceil()),
    to_integers!("cvt.rni." ".bf16" (a: Bf16) a.widen().round_ties_even()),
    to_integers!("cvt.rzi." ".bf16" (a: Bf16) a.widen()),
    to_integers!("cvt.rmi." ".bf16" (a: Bf16) a.widen().floor()),
    to_integers!("cvt.rpi." ".bf16" (a: Bf16) a.widen().ceil()),

    // Between floats. PTX does not specify the result for a NaN. An H200 copies a NaN that keeps its type, and keeps sign and payload between
    // f64 and other types, except with `.ftz`.
    to_whole!("cvt.rni" round_ties_even),
    to_whole!("cvt.rzi" trunc),
    to_whole!("cvt.rmi" floor),
    to_whole!("cvt.rpi" ceil),
    narrower!("cvt.rn" |a| a as f32),
    narrower!("cvt.rz" |a| float::cvt32(a, Zero)),
    narrower!("cvt.rm" |a| float::cvt32(a, Down)),
    narrower!("cvt.rp" |a| float::cvt32(a, Up)),
    rows! {
        "cvt.f64.f32" Convert (a: f32) -> f64 { f64::from(a) }
        "cvt.ftz.f64.f32" Convert (a: f32) -> f64 { f64::from(flush32(canonical32(a))) }
        "cvt.sat.f64.f32" Convert (a: f32) -> f64 { saturate64(f64::from(a)) }
        "cvt.ftz.sat.f64.f32" Convert (a: f32) -> f64 { saturate64(f64::from(flush32(a))) }
        "cvt.f32.f32" Convert (a: u32) -> u32 { a }
        "cvt.ftz.f32.f32" Convert (a: f32) -> f32 { flush32(canonical32(a)) }
        "cvt.sat.f32.f32" Convert (a: f32) -> f32 { saturate32(a) }
        "cvt.ftz.sat.f32.f32" Convert (a: f32) -> f32 { saturate32(flush32(a)) }
        "cvt.f64.f64" Convert (a: u64) -> u64 { a }
        "cvt.sat.f64.f64" Convert (a: f64) -> f64 { saturate64(a) }
        "cvt.f16.f16" Convert (a: F16) -> F16 { round(a.widen().into(), Nearest) }
        "cvt.sat.f16.f16" Convert (a: F16) -> F16 { saturate(a) }
        "cvt.bf16.bf16" Convert (a: Bf16) -> Bf16 { round(a.widen().into(), Nearest) }
        "cvt{,.ftz}.f32.f16" Convert (a: F16) -> f32 { canonical32(a.widen()) }
        "cvt{,.ftz}.sat.f32.f16" Convert (a: F16) -> f32 { saturate32(a.widen()) }
        "cvt.f64.f16" Convert (a: F16) -> f64 { f64::from(a.widen()) }
        "cvt.sat.f64.f16" Convert (a: F16) -> f64 { saturate64(f64::from(a.widen())) }
        "cvt{,.rn,.rz,.rm,.rp}.f32.bf16" Convert (a: Bf16) -> f32 { a.widen() }
        "cvt{,.rn,.rz,.rm,.rp}.ftz.f32.bf16" Convert (a: Bf16) -> f32 { flush32(canonical32(a.widen())) }
        "cvt{,.rn,.rz,.rm,.rp}.f64.bf16" Convert (a: Bf16) -> f64 { f64::from(a.widen()) }
    },
    halves!("cvt.rn" "cvt{,.rn}" Nearest),
    halves!("cvt.rz" "cvt.rz" Zero),
    halves!("cvt.rm" "cvt.rm" Down),
    halves!("cvt.rp" "cvt.rp" Up),
    finite_halves!("cvt.rn" Nearest F16 "f16"),
    finite_halves!("cvt.rn" Nearest Bf16 "bf16"),
    finite_halves!("cvt.rz" Zero F16 "f16"),
    finite_halves!("cvt.rz" Zero Bf16 "bf16"),
    rows! {
        "cvt.rna.tf32.f32" Convert (a: f32) -> f32 { float::tf32_away(a) }
        "cvt.rna.satfinite.tf32.f32" Convert (a: f32) -> f32 { float::finite_tf32(float::tf32_away(a)) }
        "cvt.rn.tf32.f32" Convert (a: f32) -> f32 { float::tf32(a, Nearest) }
        "cvt.rn.relu.tf32.f32" Convert (a: f32) -> f32 { float::tf32(relu32(a), Nearest) }
        "cvt.rz.tf32.f32" Convert (a: f32) -> f32 { float::tf32(a, Zero) }
        "cvt.rz.relu.tf32.f32" Convert (a: f32) -> f32 { float::tf32(relu32(a), Zero) }
    },
    quarters!("e4m3x2" quarter::to_e4m3, quarter::of_e4m3),
    quarters!("e5m2x2" quarter::to_e5m2, quarter::of_e5m2),

    // Integers, clamped and packed.
    rows! {
        "cvt.pack.sat.u16.s32" Convert (a: i32, b: i32) -> u32 { integer::pack(a, b, 0, 16, false) }
        "cvt.pack.sat.s16.s32" Convert (a: i32, b: i32) -> u32 { integer::pack(a, b, 0, 16, true) }
        "cvt.pack.sat.u8.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 8, false) }
        "cvt.pack.sat.s8.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 8, true) }
        "cvt.pack.sat.u4.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 4, false) }
        "cvt.pack.sat.s4.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 4, true) }
        "cvt.pack.sat.u2.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 2, false) }
        "cvt.pack.sat.s2.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 2, true) }
    },
];
