//! Rows of integer arithmetic.

use crate::half::Two;
use crate::integer;
use crate::row::{Entry, rows};

/// Arithmetic that is the same with and without sign, modulo 2^n.
macro_rules! modular {
    ($ty:ident $width:literal) => {
        rows! {
            ("add.{u" $width ",s" $width "}") Int (a: $ty, b: $ty) -> $ty { a.wrapping_add(b) }
            ("sub.{u" $width ",s" $width "}") Int (a: $ty, b: $ty) -> $ty { a.wrapping_sub(b) }
            ("mul.lo.{u" $width ",s" $width "}") IntMad (a: $ty, b: $ty) -> $ty { a.wrapping_mul(b) }
            ("mad.lo.{u" $width ",s" $width "}") IntMad (a: $ty, b: $ty, c: $ty) -> $ty { a.wrapping_mul(b).wrapping_add(c) }
            ("cnot.b" $width) Int (a: $ty) -> $ty { $ty::from(a == 0) }
        }
    };
}

/// Arithmetic with the carry flag, which the decoder passes as a predicate. A subtraction adds the complement, so the absence of a borrow is
/// a carry; an H200 and an H100 show it where `addc` follows `sub.cc`, or `subc` follows `add.cc`.
macro_rules! carrying {
    ($ty:ident $bits:literal $width:literal) => {
        rows! {
            ("{add.cc,addc,addc.cc}.{u" $width ",s" $width "}") Int (a: $ty, b: $ty, carry: bool) -> $ty {
                a.wrapping_add(b).wrapping_add($ty::from(carry))
            }
            ("carry of {add.cc,addc.cc}.{u" $width ",s" $width "}") Int (a: $ty, b: $ty, carry: bool) -> bool {
                integer::carry(a.into(), b.into(), carry, $bits)
            }
            ("{sub.cc,subc,subc.cc}.{u" $width ",s" $width "}") Int (a: $ty, b: $ty, carry: bool) -> $ty {
                a.wrapping_add(!b).wrapping_add($ty::from(carry))
            }
            ("carry of {sub.cc,subc.cc}.{u" $width ",s" $width "}") Int (a: $ty, b: $ty, carry: bool) -> bool {
                integer::carry(a.into(), (!b).into(), carry, $bits)
            }
            ("{mad.lo.cc,madc.lo,madc.lo.cc}.{u" $width ",s" $width "}") IntMad (a: $ty, b: $ty, c: $ty, carry: bool) -> $ty {
                a.wrapping_mul(b).wrapping_add(c).wrapping_add($ty::from(carry))
            }
            ("carry of {mad.lo.cc,madc.lo.cc}.{u" $width ",s" $width "}") IntMad (a: $ty, b: $ty, c: $ty, carry: bool) -> bool {
                integer::carry(a.wrapping_mul(b).into(), c.into(), carry, $bits)
            }
        }
    };
}

/// The same with the high half of a product.
macro_rules! carrying_high {
    ($ty:ident $wide:ident $sum:ident $bits:literal $suffix:literal) => {
        rows! {
            ("{mad.hi.cc,madc.hi,madc.hi.cc}" $suffix) IntMad (a: $ty, b: $ty, c: $sum, carry: bool) -> $sum {
                (((a as $wide * b as $wide) >> $bits) as $sum).wrapping_add(c).wrapping_add($sum::from(carry))
            }
            ("carry of {mad.hi.cc,madc.hi.cc}" $suffix) IntMad (a: $ty, b: $ty, c: $sum, carry: bool) -> bool {
                integer::carry((((a as $wide * b as $wide) >> $bits) as $sum).into(), c.into(), carry, $bits)
            }
        }
    };
}

/// Arithmetic that depends on the sign. PTX does not specify division by zero; an H200 returns all ones as the quotient and as the
/// remainder.
macro_rules! ordered {
    ($ty:ident $wide:ident $suffix:literal) => {
        rows! {
            ("mul.hi" $suffix) IntMad (a: $ty, b: $ty) -> $ty { ((a as $wide * b as $wide) >> $ty::BITS) as $ty }
            ("mad.hi" $suffix) IntMad (a: $ty, b: $ty, c: $ty) -> $ty {
                (((a as $wide * b as $wide) >> $ty::BITS) as $ty).wrapping_add(c)
            }
            ("div" $suffix) Special (a: $ty, b: $ty) -> $ty { if b == 0 { !0 } else { a.wrapping_div(b) } }
            ("rem" $suffix) Special (a: $ty, b: $ty) -> $ty { if b == 0 { !0 } else { a.wrapping_rem(b) } }
            ("min" $suffix) Int (a: $ty, b: $ty) -> $ty { a.min(b) }
            ("max" $suffix) Int (a: $ty, b: $ty) -> $ty { a.max(b) }
            ("sad" $suffix) Int (a: $ty, b: $ty, c: $ty) -> $ty { (a.abs_diff(b) as $ty).wrapping_add(c) }
        }
    };
}

/// All of a product.
macro_rules! widening {
    ($ty:ident $wide:ident $suffix:literal) => {
        rows! {
            ("mul.wide" $suffix) IntMad (a: $ty, b: $ty) -> $wide { $wide::from(a) * $wide::from(b) }
            ("mad.wide" $suffix) IntMad (a: $ty, b: $ty, c: $wide) -> $wide { ($wide::from(a) * $wide::from(b)).wrapping_add(c) }
        }
    };
}

/// Changes of the sign.
macro_rules! signs {
    ($ty:ident $suffix:literal) => {
        rows! {
            ("abs" $suffix) Int (a: $ty) -> $ty { a.wrapping_abs() }
            ("neg" $suffix) Int (a: $ty) -> $ty { a.wrapping_neg() }
        }
    };
}

#[rustfmt::skip]
pub const ROWS: &[&[Entry]] = &[
    modular!(u16 "16"),
    modular!(u32 "32"),
    modular!(u64 "64"),
    carrying!(u32 32 "32"),
    carrying_high!(u32 u64 u32 32 ".u32"),
    carrying_high!(i32 i64 u32 32 ".s32"),
    carrying!(u64 64 "64"),
    carrying_high!(u64 u128 u64 64 ".u64"),
    carrying_high!(i64 i128 u64 64 ".s64"),
    ordered!(u16 u32 ".u16"),
    ordered!(i16 i32 ".s16"),
    ordered!(u32 u64 ".u32"),
    ordered!(i32 i64 ".s32"),
    ordered!(u64 u128 ".u64"),
    ordered!(i64 i128 ".s64"),
    widening!(u16 u32 ".u16"),
    widening!(i16 i32 ".s16"),
    widening!(u32 u64 ".u32"),
    widening!(i32 i64 ".s32"),
    signs!(i16 ".s16"),
    signs!(i32 ".s32"),
    signs!(i64 ".s64"),
    rows! {
        "add.sat.s32" Int (a: i32, b: i32) -> i32 { a.saturating_add(b) }
        "sub.sat.s32" Int (a: i32, b: i32) -> i32 { a.saturating_sub(b) }
        "mad.hi.sat.s32" IntMad (a: i32, b: i32, c: i32) -> i32 { (((i64::from(a) * i64::from(b)) >> 32) as i32).saturating_add(c) }
        "mul24.lo.u32" IntMad (a: u32, b: u32) -> u32 { (integer::low24(a) * integer::low24(b)) as u32 }
        "mul24.lo.s32" IntMad (a: i32, b: i32) -> i32 { (integer::low24_signed(a) * integer::low24_signed(b)) as i32 }
        "mad24.lo.u32" IntMad (a: u32, b: u32, c: u32) -> u32 { ((integer::low24(a) * integer::low24(b)) as u32).wrapping_add(c) }
        "mad24.lo.s32" IntMad (a: i32, b: i32, c: i32) -> i32 { ((integer::low24_signed(a) * integer::low24_signed(b)) as i32).wrapping_add(c) }
        "mul24.hi.u32" IntMad (a: u32, b: u32) -> u32 { integer::mul24_high(a, b) }
        "mul24.hi.s32" IntMad (a: i32, b: i32) -> i32 { integer::mul24_high_signed(a, b) }
        "mad24.hi.u32" IntMad (a: u32, b: u32, c: u32) -> u32 { integer::mul24_high(a, b).wrapping_add(c) }
        "mad24.hi.s32" IntMad (a: i32, b: i32, c: i32) -> i32 { integer::mul24_high_signed(a, b).wrapping_add(c) }
        "mad24.hi.sat.s32" IntMad (a: i32, b: i32, c: i32) -> i32 { integer::mul24_high_signed(a, b).saturating_add(c) }
        "min.{relu.s32,s32.relu}" Int (a: i32, b: i32) -> i32 { a.min(b).max(0) }
        "max.{relu.s32,s32.relu}" Int (a: i32, b: i32) -> i32 { a.max(b).max(0) }
        "add.{u16x2,s16x2}" Int (a: Two<u16>, b: Two<u16>) -> Two<u16> { a.zip(b, u16::wrapping_add) }
        "min.u16x2" Int (a: Two<u16>, b: Two<u16>) -> Two<u16> { a.zip(b, u16::min) }
        "max.u16x2" Int (a: Two<u16>, b: Two<u16>) -> Two<u16> { a.zip(b, u16::max) }
        "min.s16x2" Int (a: Two<i16>, b: Two<i16>) -> Two<i16> { a.zip(b, i16::min) }
        "max.s16x2" Int (a: Two<i16>, b: Two<i16>) -> Two<i16> { a.zip(b, i16::max) }
        "min.{relu.s16x2,s16x2.relu}" Int (a: Two<i16>, b: Two<i16>) -> Two<i16> { a.zip(b, |a, b| a.min(b).max(0)) }
        "max.{relu.s16x2,s16x2.relu}" Int (a: Two<i16>, b: Two<i16>) -> Two<i16> { a.zip(b, |a, b| a.max(b).max(0)) }
    },
];
