//! The rows: name, spelling, class, sources, destination, meaning of one lane.

#![expect(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::double_comparisons,
    reason = "what the lints offer instead is something else where an operand is NaN"
)]

use super::float::{self, canonical32};
use super::integer;
use super::{Class, Row};
use crate::exec::registers::{LANES, Lane, Reg, Registers};

/// Makes the enum, the table and the functions from the rows, so that they cannot disagree.
macro_rules! instructions {
    ($($name:ident $spelling:literal $class:ident ($($source:ident: $ty:ty),*) -> $result:ty { $meaning:expr })*) => {
        /// An arithmetic instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Alu {
            $(#[doc = concat!("`", $spelling, "`")] $name,)*
        }

        /// All arithmetic instructions.
        pub const TABLE: &[super::Row] = &[
            $(Row {
                alu: Alu::$name,
                spelling: $spelling,
                class: Class::$class,
                sources: &[$(<$ty as Lane>::KIND),*],
                destination: <$result as Lane>::KIND,
            },)*
        ];

        /// The instructions' functions, for any processor.
        #[allow(non_snake_case, reason = "named as the rows")]
        mod portable {
            use super::*;

            $(pub fn $name(registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
                lanes!(registers, destination, sources, mask, ($($source: $ty),*) -> $result, $meaning);
            })*
        }

        /// The same functions, for processors with wide vectors and fused multiply-add.
        #[cfg(target_arch = "x86_64")]
        #[allow(non_snake_case, reason = "named as the rows")]
        mod vector {
            use super::*;

            $(#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            pub fn $name(registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
                lanes!(registers, destination, sources, mask, ($($source: $ty),*) -> $result, $meaning);
            })*
        }

        const PORTABLE: &[Execute] = &[$(portable::$name),*];

        #[cfg(target_arch = "x86_64")]
        const VECTOR: &[Execute] = &[$(vector::$name),*];
    };
}

/// One instruction's function: destination, sources, active lanes.
type Execute = unsafe fn(&mut Registers, Reg, &[Reg; 4], u32);

/// The functions of all instructions, for the host's processor.
///
/// Each is a function of its own and compiled twice, so that the compiler sees many small ones and not one of enormous size.
#[derive(Clone, Copy, Debug)]
pub struct Executor {
    functions: &'static [Execute],
    /// The functions, and all else that is compiled twice, may use vector instructions.
    vectors: bool,
}

impl Executor {
    /// The fastest functions for this processor, or those that run on any.
    pub fn new(portable: bool) -> Self {
        #[cfg(target_arch = "x86_64")]
        if !portable && has_vectors() {
            return Self { functions: VECTOR, vectors: true };
        }
        let _ = portable;
        Self { functions: PORTABLE, vectors: false }
    }

    /// Whether code that is compiled for vector instructions may run.
    pub fn has_vectors(self) -> bool {
        self.vectors
    }

    /// Executes one instruction for the lanes in `mask`.
    #[inline(always)]
    pub fn execute(self, alu: Alu, registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
        let function = self.functions[alu as usize];
        // SAFETY: the functions need the processor's vector instructions at most, and `new` took those that do only after it had found
        // these instructions.
        unsafe { function(registers, destination, sources, mask) }
    }
}

/// Whether the processor has what the vector functions are compiled for.
#[cfg(target_arch = "x86_64")]
fn has_vectors() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Applies the meaning of one lane to all lanes.
///
/// Plain loops over arrays of a known length become vector instructions; an iterator or a closure might be left as a call, which is
/// compiled without them.
macro_rules! lanes {
    (@read $r:ident, $s:ident, $n:expr, $a:ident: $ta:ty) => {
        let $a = <$ta as Lane>::read($r, $s[$n]);
    };
    (@result $r:ident, $d:ident, $m:ident, $out:ty, |$lane:ident| $value:expr) => {
        let mut result = [<$out as Lane>::ZERO; LANES];
        for $lane in 0..LANES {
            result[$lane] = $value;
        }
        <$out as Lane>::write($r, $d, $m, &result);
    };
    ($r:ident, $d:ident, $s:ident, $m:ident, ($a:ident: $ta:ty) -> $out:ty, $meaning:expr) => {{
        lanes!(@read $r, $s, 0, $a: $ta);
        lanes!(@result $r, $d, $m, $out, |lane| { let $a = $a[lane]; $meaning });
    }};
    ($r:ident, $d:ident, $s:ident, $m:ident, ($a:ident: $ta:ty, $b:ident: $tb:ty) -> $out:ty, $meaning:expr) => {{
        lanes!(@read $r, $s, 0, $a: $ta);
        lanes!(@read $r, $s, 1, $b: $tb);
        lanes!(@result $r, $d, $m, $out, |lane| { let ($a, $b) = ($a[lane], $b[lane]); $meaning });
    }};
    ($r:ident, $d:ident, $s:ident, $m:ident, ($a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty) -> $out:ty, $meaning:expr) => {{
        lanes!(@read $r, $s, 0, $a: $ta);
        lanes!(@read $r, $s, 1, $b: $tb);
        lanes!(@read $r, $s, 2, $c: $tc);
        lanes!(@result $r, $d, $m, $out, |lane| { let ($a, $b, $c) = ($a[lane], $b[lane], $c[lane]); $meaning });
    }};
    (
        $r:ident, $d:ident, $s:ident, $m:ident,
        ($a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty, $e:ident: $te:ty) -> $out:ty, $meaning:expr
    ) => {{
        lanes!(@read $r, $s, 0, $a: $ta);
        lanes!(@read $r, $s, 1, $b: $tb);
        lanes!(@read $r, $s, 2, $c: $tc);
        lanes!(@read $r, $s, 3, $e: $te);
        lanes!(@result $r, $d, $m, $out, |lane| { let ($a, $b, $c, $e) = ($a[lane], $b[lane], $c[lane], $e[lane]); $meaning });
    }};
}

#[rustfmt::skip]
instructions! {
    // Moves. Variables, special registers and numbers are registers to the executor, so a move is always between two of them.
    Mov32 "mov.{b32,u32,s32,f32,b16,u16,s16}" Move (a: u32) -> u32 { a }
    Mov64 "mov.{b64,u64,s64,f64}" Move (a: u64) -> u64 { a }
    MovPred "mov.pred" Predicate (a: bool) -> bool { a }
    Pack32 "mov.b32 from 2 x b16" Move (low: u16, high: u16) -> u32 { u32::from(low) | u32::from(high) << 16 }
    Pack64 "mov.b64 from 2 x b32" Move (low: u32, high: u32) -> u64 { u64::from(low) | u64::from(high) << 32 }
    Pack64From16 "mov.b64 from 4 x b16" Move (a: u16, b: u16, c: u16, d: u16) -> u64 { u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48 }
    Unpack16 "mov.b32 to 2 x b16" Move (a: u32, shift: u32) -> u16 { (a >> (shift & 31)) as u16 }
    Unpack16From64 "mov.b64 to 4 x b16" Move (a: u64, shift: u32) -> u16 { (a >> (shift & 63)) as u16 }
    Unpack32 "mov.b64 to 2 x b32" Move (a: u64, shift: u32) -> u32 { (a >> (shift & 63)) as u32 }
    Selp32 "selp.{b32,u32,s32,f32,b16,u16,s16}" Move (a: u32, b: u32, p: bool) -> u32 { if p { a } else { b } }
    Selp64 "selp.{b64,u64,s64,f64}" Move (a: u64, b: u64, p: bool) -> u64 { if p { a } else { b } }

    // Integer addition and subtraction, modulo 2^n.
    Add16 "add.{u16,s16}" Int (a: u16, b: u16) -> u16 { a.wrapping_add(b) }
    Sub16 "sub.{u16,s16}" Int (a: u16, b: u16) -> u16 { a.wrapping_sub(b) }
    Add32 "add.{u32,s32}" Int (a: u32, b: u32) -> u32 { a.wrapping_add(b) }
    Sub32 "sub.{u32,s32}" Int (a: u32, b: u32) -> u32 { a.wrapping_sub(b) }
    Add64 "add.{u64,s64}" Int (a: u64, b: u64) -> u64 { a.wrapping_add(b) }
    Sub64 "sub.{u64,s64}" Int (a: u64, b: u64) -> u64 { a.wrapping_sub(b) }
    AddSatS32 "add.sat.s32" Int (a: i32, b: i32) -> i32 { a.saturating_add(b) }
    SubSatS32 "sub.sat.s32" Int (a: i32, b: i32) -> i32 { a.saturating_sub(b) }

    // Integer multiplication: the low half, the high half, or all of the product.
    MulLo16 "mul.lo.{u16,s16}" IntMad (a: u16, b: u16) -> u16 { a.wrapping_mul(b) }
    MadLo16 "mad.lo.{u16,s16}" IntMad (a: u16, b: u16, c: u16) -> u16 { a.wrapping_mul(b).wrapping_add(c) }
    MulLo32 "mul.lo.{u32,s32}" IntMad (a: u32, b: u32) -> u32 { a.wrapping_mul(b) }
    MadLo32 "mad.lo.{u32,s32}" IntMad (a: u32, b: u32, c: u32) -> u32 { a.wrapping_mul(b).wrapping_add(c) }
    MulLo64 "mul.lo.{u64,s64}" IntMad (a: u64, b: u64) -> u64 { a.wrapping_mul(b) }
    MadLo64 "mad.lo.{u64,s64}" IntMad (a: u64, b: u64, c: u64) -> u64 { a.wrapping_mul(b).wrapping_add(c) }
    MulHiU16 "mul.hi.u16" IntMad (a: u16, b: u16) -> u16 { ((u32::from(a) * u32::from(b)) >> 16) as u16 }
    MadHiU16 "mad.hi.u16" IntMad (a: u16, b: u16, c: u16) -> u16 { (((u32::from(a) * u32::from(b)) >> 16) as u16).wrapping_add(c) }
    MulWideU16 "mul.wide.u16" IntMad (a: u16, b: u16) -> u32 { u32::from(a) * u32::from(b) }
    MadWideU16 "mad.wide.u16" IntMad (a: u16, b: u16, c: u32) -> u32 { (u32::from(a) * u32::from(b)).wrapping_add(c) }
    MulHiS16 "mul.hi.s16" IntMad (a: i16, b: i16) -> i16 { ((i32::from(a) * i32::from(b)) >> 16) as i16 }
    MadHiS16 "mad.hi.s16" IntMad (a: i16, b: i16, c: i16) -> i16 { (((i32::from(a) * i32::from(b)) >> 16) as i16).wrapping_add(c) }
    MulWideS16 "mul.wide.s16" IntMad (a: i16, b: i16) -> i32 { i32::from(a) * i32::from(b) }
    MadWideS16 "mad.wide.s16" IntMad (a: i16, b: i16, c: i32) -> i32 { (i32::from(a) * i32::from(b)).wrapping_add(c) }
    MulHiU32 "mul.hi.u32" IntMad (a: u32, b: u32) -> u32 { ((u64::from(a) * u64::from(b)) >> 32) as u32 }
    MadHiU32 "mad.hi.u32" IntMad (a: u32, b: u32, c: u32) -> u32 { (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c) }
    MulWideU32 "mul.wide.u32" IntMad (a: u32, b: u32) -> u64 { u64::from(a) * u64::from(b) }
    MadWideU32 "mad.wide.u32" IntMad (a: u32, b: u32, c: u64) -> u64 { (u64::from(a) * u64::from(b)).wrapping_add(c) }
    MulHiS32 "mul.hi.s32" IntMad (a: i32, b: i32) -> i32 { ((i64::from(a) * i64::from(b)) >> 32) as i32 }
    MadHiS32 "mad.hi.s32" IntMad (a: i32, b: i32, c: i32) -> i32 { (((i64::from(a) * i64::from(b)) >> 32) as i32).wrapping_add(c) }
    MulWideS32 "mul.wide.s32" IntMad (a: i32, b: i32) -> i64 { i64::from(a) * i64::from(b) }
    MadWideS32 "mad.wide.s32" IntMad (a: i32, b: i32, c: i64) -> i64 { (i64::from(a) * i64::from(b)).wrapping_add(c) }
    MulHiU64 "mul.hi.u64" IntMad (a: u64, b: u64) -> u64 { ((u128::from(a) * u128::from(b)) >> 64) as u64 }
    MulHiS64 "mul.hi.s64" IntMad (a: i64, b: i64) -> i64 { ((i128::from(a) * i128::from(b)) >> 64) as i64 }
    Mul24LoU32 "mul24.lo.u32" IntMad (a: u32, b: u32) -> u32 { (integer::low24(a) * integer::low24(b)) as u32 }
    Mul24LoS32 "mul24.lo.s32" IntMad (a: i32, b: i32) -> i32 { (integer::low24_signed(a) * integer::low24_signed(b)) as i32 }
    Mad24LoU32 "mad24.lo.u32" IntMad (a: u32, b: u32, c: u32) -> u32 { ((integer::low24(a) * integer::low24(b)) as u32).wrapping_add(c) }
    Mad24LoS32 "mad24.lo.s32" IntMad (a: i32, b: i32, c: i32) -> i32 { ((integer::low24_signed(a) * integer::low24_signed(b)) as i32).wrapping_add(c) }

    // Integer division. PTX leaves division by zero open; an H200 gives all ones as the quotient and as the remainder.
    DivU16 "div.u16" Special (a: u16, b: u16) -> u16 { if b == 0 { u16::MAX } else { a.wrapping_div(b) } }
    RemU16 "rem.u16" Special (a: u16, b: u16) -> u16 { if b == 0 { u16::MAX } else { a.wrapping_rem(b) } }
    DivS16 "div.s16" Special (a: i16, b: i16) -> i16 { if b == 0 { -1 } else { a.wrapping_div(b) } }
    RemS16 "rem.s16" Special (a: i16, b: i16) -> i16 { if b == 0 { -1 } else { a.wrapping_rem(b) } }
    DivU32 "div.u32" Special (a: u32, b: u32) -> u32 { if b == 0 { u32::MAX } else { a.wrapping_div(b) } }
    RemU32 "rem.u32" Special (a: u32, b: u32) -> u32 { if b == 0 { u32::MAX } else { a.wrapping_rem(b) } }
    DivS32 "div.s32" Special (a: i32, b: i32) -> i32 { if b == 0 { -1 } else { a.wrapping_div(b) } }
    RemS32 "rem.s32" Special (a: i32, b: i32) -> i32 { if b == 0 { -1 } else { a.wrapping_rem(b) } }
    DivU64 "div.u64" Special (a: u64, b: u64) -> u64 { if b == 0 { u64::MAX } else { a.wrapping_div(b) } }
    RemU64 "rem.u64" Special (a: u64, b: u64) -> u64 { if b == 0 { u64::MAX } else { a.wrapping_rem(b) } }
    DivS64 "div.s64" Special (a: i64, b: i64) -> i64 { if b == 0 { -1 } else { a.wrapping_div(b) } }
    RemS64 "rem.s64" Special (a: i64, b: i64) -> i64 { if b == 0 { -1 } else { a.wrapping_rem(b) } }

    // Integer comparison and magnitude.
    MinU16 "min.u16" Int (a: u16, b: u16) -> u16 { a.min(b) }
    MaxU16 "max.u16" Int (a: u16, b: u16) -> u16 { a.max(b) }
    MinS16 "min.s16" Int (a: i16, b: i16) -> i16 { a.min(b) }
    MaxS16 "max.s16" Int (a: i16, b: i16) -> i16 { a.max(b) }
    AbsS16 "abs.s16" Int (a: i16) -> i16 { a.wrapping_abs() }
    NegS16 "neg.s16" Int (a: i16) -> i16 { a.wrapping_neg() }
    MinU32 "min.u32" Int (a: u32, b: u32) -> u32 { a.min(b) }
    MaxU32 "max.u32" Int (a: u32, b: u32) -> u32 { a.max(b) }
    SadU32 "sad.u32" Int (a: u32, b: u32, c: u32) -> u32 { a.abs_diff(b).wrapping_add(c) }
    MinS32 "min.s32" Int (a: i32, b: i32) -> i32 { a.min(b) }
    MaxS32 "max.s32" Int (a: i32, b: i32) -> i32 { a.max(b) }
    SadS32 "sad.s32" Int (a: i32, b: i32, c: i32) -> i32 { (a.abs_diff(b) as i32).wrapping_add(c) }
    AbsS32 "abs.s32" Int (a: i32) -> i32 { a.wrapping_abs() }
    NegS32 "neg.s32" Int (a: i32) -> i32 { a.wrapping_neg() }
    MinU64 "min.u64" Int (a: u64, b: u64) -> u64 { a.min(b) }
    MaxU64 "max.u64" Int (a: u64, b: u64) -> u64 { a.max(b) }
    SadU64 "sad.u64" Int (a: u64, b: u64, c: u64) -> u64 { a.abs_diff(b).wrapping_add(c) }
    MinS64 "min.s64" Int (a: i64, b: i64) -> i64 { a.min(b) }
    MaxS64 "max.s64" Int (a: i64, b: i64) -> i64 { a.max(b) }
    SadS64 "sad.s64" Int (a: i64, b: i64, c: i64) -> i64 { (a.abs_diff(b) as i64).wrapping_add(c) }
    AbsS64 "abs.s64" Int (a: i64) -> i64 { a.wrapping_abs() }
    NegS64 "neg.s64" Int (a: i64) -> i64 { a.wrapping_neg() }

    // Logic and shifts. A shift by the width or more gives zero, or the sign.
    And16 "and.b16" Int (a: u16, b: u16) -> u16 { a & b }
    And32 "and.b32" Int (a: u32, b: u32) -> u32 { a & b }
    And64 "and.b64" Int (a: u64, b: u64) -> u64 { a & b }
    AndPred "and.pred" Predicate (a: bool, b: bool) -> bool { a & b }
    Or16 "or.b16" Int (a: u16, b: u16) -> u16 { a | b }
    Or32 "or.b32" Int (a: u32, b: u32) -> u32 { a | b }
    Or64 "or.b64" Int (a: u64, b: u64) -> u64 { a | b }
    OrPred "or.pred" Predicate (a: bool, b: bool) -> bool { a | b }
    Xor16 "xor.b16" Int (a: u16, b: u16) -> u16 { a ^ b }
    Xor32 "xor.b32" Int (a: u32, b: u32) -> u32 { a ^ b }
    Xor64 "xor.b64" Int (a: u64, b: u64) -> u64 { a ^ b }
    XorPred "xor.pred" Predicate (a: bool, b: bool) -> bool { a ^ b }
    Not16 "not.b16" Int (a: u16) -> u16 { !a }
    Not32 "not.b32" Int (a: u32) -> u32 { !a }
    Not64 "not.b64" Int (a: u64) -> u64 { !a }
    NotPred "not.pred" Predicate (a: bool) -> bool { !a }
    Shl16 "shl.b16" Int (a: u16, n: u32) -> u16 { a.checked_shl(n).unwrap_or(0) }
    ShrU16 "shr.{u16,b16}" Int (a: u16, n: u32) -> u16 { a.checked_shr(n).unwrap_or(0) }
    ShrS16 "shr.s16" Int (a: i16, n: u32) -> i16 { a >> n.min(15) }
    Shl32 "shl.b32" Int (a: u32, n: u32) -> u32 { if n < 32 { a << (n & 31) } else { 0 } }
    ShrU32 "shr.{u32,b32}" Int (a: u32, n: u32) -> u32 { if n < 32 { a >> (n & 31) } else { 0 } }
    ShrS32 "shr.s32" Int (a: i32, n: u32) -> i32 { a >> n.min(31) }
    Shl64 "shl.b64" Int (a: u64, n: u32) -> u64 { if n < 64 { a << (n & 63) } else { 0 } }
    ShrU64 "shr.{u64,b64}" Int (a: u64, n: u32) -> u64 { if n < 64 { a >> (n & 63) } else { 0 } }
    ShrS64 "shr.s64" Int (a: i64, n: u32) -> i64 { a >> n.min(63) }
    FunnelLeftWrap "shf.l.wrap.b32" Int (low: u32, high: u32, n: u32) -> u32 { ((u64::from(high) << 32 | u64::from(low)) << (n & 31) >> 32) as u32 }
    FunnelLeftClamp "shf.l.clamp.b32" Int (low: u32, high: u32, n: u32) -> u32 { ((u64::from(high) << 32 | u64::from(low)) << (n.min(32)) >> 32) as u32 }
    FunnelRightWrap "shf.r.wrap.b32" Int (low: u32, high: u32, n: u32) -> u32 { ((u64::from(high) << 32 | u64::from(low)) >> (n & 31)) as u32 }
    FunnelRightClamp "shf.r.clamp.b32" Int (low: u32, high: u32, n: u32) -> u32 { ((u64::from(high) << 32 | u64::from(low)) >> (n.min(32))) as u32 }
    Lop3 "lop3.b32" Int (a: u32, b: u32, c: u32, table: u32) -> u32 { integer::lookup3(a, b, c, table) }

    // Bits, fields and bytes.
    Popc32 "popc.b32" Int (a: u32) -> u32 { a.count_ones() }
    Clz32 "clz.b32" Int (a: u32) -> u32 { a.leading_zeros() }
    Brev32 "brev.b32" Int (a: u32) -> u32 { a.reverse_bits() }
    BfeU32 "bfe.u32" Int (a: u32, start: u32, length: u32) -> u32 { integer::extract_u32(a, start, length) }
    BfeS32 "bfe.s32" Int (a: i32, start: u32, length: u32) -> i32 { integer::extract_s32(a, start, length) }
    Bfi32 "bfi.b32" Int (field: u32, into: u32, start: u32, length: u32) -> u32 { integer::insert_b32(field, into, start, length) }
    BfindU32 "bfind.u32" Int (a: u32) -> u32 { integer::highest_bit(a.into()) }
    BfindS32 "bfind.s32" Int (a: i32) -> u32 { integer::highest_bit(integer::magnitude_bits(a.into())) }
    BfindShiftU32 "bfind.shiftamt.u32" Int (a: u32) -> u32 { integer::shift_to_top(a.into(), 32) }
    BfindShiftS32 "bfind.shiftamt.s32" Int (a: i32) -> u32 { integer::shift_to_top(integer::magnitude_bits(a.into()), 32) }
    Popc64 "popc.b64" Int (a: u64) -> u32 { a.count_ones() }
    Clz64 "clz.b64" Int (a: u64) -> u32 { a.leading_zeros() }
    Brev64 "brev.b64" Int (a: u64) -> u64 { a.reverse_bits() }
    BfeU64 "bfe.u64" Int (a: u64, start: u32, length: u32) -> u64 { integer::extract_u64(a, start, length) }
    BfeS64 "bfe.s64" Int (a: i64, start: u32, length: u32) -> i64 { integer::extract_s64(a, start, length) }
    Bfi64 "bfi.b64" Int (field: u64, into: u64, start: u32, length: u32) -> u64 { integer::insert_b64(field, into, start, length) }
    BfindU64 "bfind.u64" Int (a: u64) -> u32 { integer::highest_bit(a) }
    BfindS64 "bfind.s64" Int (a: i64) -> u32 { integer::highest_bit(integer::magnitude_bits(a)) }
    BfindShiftU64 "bfind.shiftamt.u64" Int (a: u64) -> u32 { integer::shift_to_top(a, 64) }
    BfindShiftS64 "bfind.shiftamt.s64" Int (a: i64) -> u32 { integer::shift_to_top(integer::magnitude_bits(a), 64) }
    Prmt "prmt.b32" Int (low: u32, high: u32, selectors: u32) -> u32 { integer::permute(low, high, selectors) }
    Dp4aUU "dp4a.u32.u32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot_uu(a, b, c) }
    Dp4aSS "dp4a.s32.s32" Dp4a (a: u32, b: u32, c: i32) -> i32 { integer::dot_ss(a, b, c) }
    Dp4aUS "dp4a.u32.s32" Dp4a (a: u32, b: u32, c: i32) -> i32 { integer::dot_us(a, b, c) }
    Dp4aSU "dp4a.s32.u32" Dp4a (a: u32, b: u32, c: i32) -> i32 { integer::dot_us(b, a, c) }
    Vabsdiff4 "vabsdiff4.u32.u32.u32" Int (a: u32, b: u32, c: u32) -> u32 { { let _ = c; integer::absolute_differences(a, b) } }

    // Single precision, rounded to nearest even. Every NaN that is computed is the canonical one.
    AddF32 "add{,.rn}.f32" F32 (a: f32, b: f32) -> f32 { canonical32(a + b) }
    SubF32 "sub{,.rn}.f32" F32 (a: f32, b: f32) -> f32 { canonical32(a - b) }
    MulF32 "mul{,.rn}.f32" F32 (a: f32, b: f32) -> f32 { canonical32(a * b) }
    FmaF32 "{fma.rn,mad.rn}.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { canonical32(a.mul_add(b, c)) }
    AddSatF32 "add{,.rn}.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(a + b) }
    MulSatF32 "mul{,.rn}.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(a * b) }
    FmaSatF32 "fma.rn.sat.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::saturate32(a.mul_add(b, c)) }
    NegF32 "neg.f32" Move (a: f32) -> f32 { canonical32(-a) }
    AbsF32 "abs.f32" Move (a: f32) -> f32 { canonical32(a.abs()) }
    MinF32 "min.f32" F32 (a: f32, b: f32) -> f32 { float::min32(a, b) }
    MaxF32 "max.f32" F32 (a: f32, b: f32) -> f32 { float::max32(a, b) }
    CopysignF32 "copysign.f32" F32 (a: f32, b: f32) -> f32 { b.copysign(a) }
    DivF32 "div.rn.f32" Special (a: f32, b: f32) -> f32 { canonical32(a / b) }
    RcpF32 "rcp.rn.f32" Special (a: f32) -> f32 { canonical32(1.0 / a) }
    SqrtF32 "sqrt.rn.f32" Special (a: f32) -> f32 { canonical32(a.sqrt()) }

    // Double precision, rounded to nearest even. A NaN among the operands passes through.
    AddF64 "add{,.rn}.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(a + b, [b, a]) }
    SubF64 "sub{,.rn}.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(a - b, [b, a]) }
    MulF64 "mul{,.rn}.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(a * b, [b, a]) }
    FmaF64 "{fma.rn,mad.rn}.f64" F64 (a: f64, b: f64, c: f64) -> f64 { float::pass_nan(a.mul_add(b, c), [b, c, a]) }
    NegF64 "neg.f64" Move (a: f64) -> f64 { float::pass_nan(-a, [a]) }
    AbsF64 "abs.f64" Move (a: f64) -> f64 { float::pass_nan(a.abs(), [a]) }
    MinF64 "min.f64" F64 (a: f64, b: f64) -> f64 { float::min64(a, b) }
    MaxF64 "max.f64" F64 (a: f64, b: f64) -> f64 { float::max64(a, b) }
    CopysignF64 "copysign.f64" F64 (a: f64, b: f64) -> f64 { b.copysign(a) }
    DivF64 "div.rn.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(a / b, [a, b]) }
    RcpF64 "rcp.rn.f64" F64 (a: f64) -> f64 { float::pass_nan(1.0 / a, [a]) }
    SqrtF64 "sqrt.rn.f64" F64 (a: f64) -> f64 { float::pass_nan(a.sqrt(), [a]) }

    // Comparisons. Of floats, the plain ones are false for NaN and those that end in u are true.
    SetpEq16 "setp.eq.{b16,u16,s16}" Predicate (a: u16, b: u16) -> bool { a == b }
    SetpNe16 "setp.ne.{b16,u16,s16}" Predicate (a: u16, b: u16) -> bool { a != b }
    SetpLtU16 "setp.{lt,lo}.u16" Predicate (a: u16, b: u16) -> bool { a < b }
    SetpLtS16 "setp.lt.s16" Predicate (a: i16, b: i16) -> bool { a < b }
    SetpLeU16 "setp.{le,ls}.u16" Predicate (a: u16, b: u16) -> bool { a <= b }
    SetpLeS16 "setp.le.s16" Predicate (a: i16, b: i16) -> bool { a <= b }
    SetpGtU16 "setp.{gt,hi}.u16" Predicate (a: u16, b: u16) -> bool { a > b }
    SetpGtS16 "setp.gt.s16" Predicate (a: i16, b: i16) -> bool { a > b }
    SetpGeU16 "setp.{ge,hs}.u16" Predicate (a: u16, b: u16) -> bool { a >= b }
    SetpGeS16 "setp.ge.s16" Predicate (a: i16, b: i16) -> bool { a >= b }
    SetpEq32 "setp.eq.{b32,u32,s32}" Predicate (a: u32, b: u32) -> bool { a == b }
    SetpNe32 "setp.ne.{b32,u32,s32}" Predicate (a: u32, b: u32) -> bool { a != b }
    SetpLtU32 "setp.{lt,lo}.u32" Predicate (a: u32, b: u32) -> bool { a < b }
    SetpLtS32 "setp.lt.s32" Predicate (a: i32, b: i32) -> bool { a < b }
    SetpLeU32 "setp.{le,ls}.u32" Predicate (a: u32, b: u32) -> bool { a <= b }
    SetpLeS32 "setp.le.s32" Predicate (a: i32, b: i32) -> bool { a <= b }
    SetpGtU32 "setp.{gt,hi}.u32" Predicate (a: u32, b: u32) -> bool { a > b }
    SetpGtS32 "setp.gt.s32" Predicate (a: i32, b: i32) -> bool { a > b }
    SetpGeU32 "setp.{ge,hs}.u32" Predicate (a: u32, b: u32) -> bool { a >= b }
    SetpGeS32 "setp.ge.s32" Predicate (a: i32, b: i32) -> bool { a >= b }
    SetpEq64 "setp.eq.{b64,u64,s64}" Predicate (a: u64, b: u64) -> bool { a == b }
    SetpNe64 "setp.ne.{b64,u64,s64}" Predicate (a: u64, b: u64) -> bool { a != b }
    SetpLtU64 "setp.{lt,lo}.u64" Predicate (a: u64, b: u64) -> bool { a < b }
    SetpLtS64 "setp.lt.s64" Predicate (a: i64, b: i64) -> bool { a < b }
    SetpLeU64 "setp.{le,ls}.u64" Predicate (a: u64, b: u64) -> bool { a <= b }
    SetpLeS64 "setp.le.s64" Predicate (a: i64, b: i64) -> bool { a <= b }
    SetpGtU64 "setp.{gt,hi}.u64" Predicate (a: u64, b: u64) -> bool { a > b }
    SetpGtS64 "setp.gt.s64" Predicate (a: i64, b: i64) -> bool { a > b }
    SetpGeU64 "setp.{ge,hs}.u64" Predicate (a: u64, b: u64) -> bool { a >= b }
    SetpGeS64 "setp.ge.s64" Predicate (a: i64, b: i64) -> bool { a >= b }
    SetpEqF32 "setp.eq.f32" Predicate (a: f32, b: f32) -> bool { a == b }
    SetpNeF32 "setp.ne.f32" Predicate (a: f32, b: f32) -> bool { a < b || a > b }
    SetpLtF32 "setp.lt.f32" Predicate (a: f32, b: f32) -> bool { a < b }
    SetpLeF32 "setp.le.f32" Predicate (a: f32, b: f32) -> bool { a <= b }
    SetpGtF32 "setp.gt.f32" Predicate (a: f32, b: f32) -> bool { a > b }
    SetpGeF32 "setp.ge.f32" Predicate (a: f32, b: f32) -> bool { a >= b }
    SetpEquF32 "setp.equ.f32" Predicate (a: f32, b: f32) -> bool { !(a < b || a > b) }
    SetpNeuF32 "setp.neu.f32" Predicate (a: f32, b: f32) -> bool { a != b }
    SetpLtuF32 "setp.ltu.f32" Predicate (a: f32, b: f32) -> bool { !(a >= b) }
    SetpLeuF32 "setp.leu.f32" Predicate (a: f32, b: f32) -> bool { !(a > b) }
    SetpGtuF32 "setp.gtu.f32" Predicate (a: f32, b: f32) -> bool { !(a <= b) }
    SetpGeuF32 "setp.geu.f32" Predicate (a: f32, b: f32) -> bool { !(a < b) }
    SetpNumF32 "setp.num.f32" Predicate (a: f32, b: f32) -> bool { !a.is_nan() && !b.is_nan() }
    SetpNanF32 "setp.nan.f32" Predicate (a: f32, b: f32) -> bool { a.is_nan() || b.is_nan() }
    SetpEqF64 "setp.eq.f64" Predicate (a: f64, b: f64) -> bool { a == b }
    SetpNeF64 "setp.ne.f64" Predicate (a: f64, b: f64) -> bool { a < b || a > b }
    SetpLtF64 "setp.lt.f64" Predicate (a: f64, b: f64) -> bool { a < b }
    SetpLeF64 "setp.le.f64" Predicate (a: f64, b: f64) -> bool { a <= b }
    SetpGtF64 "setp.gt.f64" Predicate (a: f64, b: f64) -> bool { a > b }
    SetpGeF64 "setp.ge.f64" Predicate (a: f64, b: f64) -> bool { a >= b }
    SetpEquF64 "setp.equ.f64" Predicate (a: f64, b: f64) -> bool { !(a < b || a > b) }
    SetpNeuF64 "setp.neu.f64" Predicate (a: f64, b: f64) -> bool { a != b }
    SetpLtuF64 "setp.ltu.f64" Predicate (a: f64, b: f64) -> bool { !(a >= b) }
    SetpLeuF64 "setp.leu.f64" Predicate (a: f64, b: f64) -> bool { !(a > b) }
    SetpGtuF64 "setp.gtu.f64" Predicate (a: f64, b: f64) -> bool { !(a <= b) }
    SetpGeuF64 "setp.geu.f64" Predicate (a: f64, b: f64) -> bool { !(a < b) }
    SetpNumF64 "setp.num.f64" Predicate (a: f64, b: f64) -> bool { !a.is_nan() && !b.is_nan() }
    SetpNanF64 "setp.nan.f64" Predicate (a: f64, b: f64) -> bool { a.is_nan() || b.is_nan() }

    // Conversions between integers: the source is extended by its own sign, then cut to the destination.
    CvtU8FromU8 "cvt.u8.u8" Convert (a: u8) -> u8 { a }
    CvtS8FromU8 "cvt.s8.u8" Convert (a: u8) -> i8 { a as i8 }
    CvtU16FromU8 "cvt.u16.u8" Convert (a: u8) -> u16 { a as u16 }
    CvtS16FromU8 "cvt.s16.u8" Convert (a: u8) -> i16 { a as i16 }
    CvtB32FromU8 "cvt.{u32,s32}.u8" Convert (a: u8) -> u32 { a as u32 }
    CvtB64FromU8 "cvt.{u64,s64}.u8" Convert (a: u8) -> u64 { a as u64 }
    CvtU8FromS8 "cvt.u8.s8" Convert (a: i8) -> u8 { a as u8 }
    CvtS8FromS8 "cvt.s8.s8" Convert (a: i8) -> i8 { a }
    CvtU16FromS8 "cvt.u16.s8" Convert (a: i8) -> u16 { a as u16 }
    CvtS16FromS8 "cvt.s16.s8" Convert (a: i8) -> i16 { a as i16 }
    CvtB32FromS8 "cvt.{u32,s32}.s8" Convert (a: i8) -> i32 { a as i32 }
    CvtB64FromS8 "cvt.{u64,s64}.s8" Convert (a: i8) -> i64 { a as i64 }
    CvtU8FromU16 "cvt.u8.u16" Convert (a: u16) -> u8 { a as u8 }
    CvtS8FromU16 "cvt.s8.u16" Convert (a: u16) -> i8 { a as i8 }
    CvtU16FromU16 "cvt.u16.u16" Convert (a: u16) -> u16 { a }
    CvtS16FromU16 "cvt.s16.u16" Convert (a: u16) -> i16 { a as i16 }
    CvtB32FromU16 "cvt.{u32,s32}.u16" Convert (a: u16) -> u32 { a as u32 }
    CvtB64FromU16 "cvt.{u64,s64}.u16" Convert (a: u16) -> u64 { a as u64 }
    CvtU8FromS16 "cvt.u8.s16" Convert (a: i16) -> u8 { a as u8 }
    CvtS8FromS16 "cvt.s8.s16" Convert (a: i16) -> i8 { a as i8 }
    CvtU16FromS16 "cvt.u16.s16" Convert (a: i16) -> u16 { a as u16 }
    CvtS16FromS16 "cvt.s16.s16" Convert (a: i16) -> i16 { a }
    CvtB32FromS16 "cvt.{u32,s32}.s16" Convert (a: i16) -> i32 { a as i32 }
    CvtB64FromS16 "cvt.{u64,s64}.s16" Convert (a: i16) -> i64 { a as i64 }
    CvtU8FromU32 "cvt.u8.u32" Convert (a: u32) -> u8 { a as u8 }
    CvtS8FromU32 "cvt.s8.u32" Convert (a: u32) -> i8 { a as i8 }
    CvtU16FromU32 "cvt.u16.u32" Convert (a: u32) -> u16 { a as u16 }
    CvtS16FromU32 "cvt.s16.u32" Convert (a: u32) -> i16 { a as i16 }
    CvtB32FromU32 "cvt.{u32,s32}.u32" Convert (a: u32) -> u32 { a }
    CvtB64FromU32 "cvt.{u64,s64}.u32" Convert (a: u32) -> u64 { a as u64 }
    CvtU8FromS32 "cvt.u8.s32" Convert (a: i32) -> u8 { a as u8 }
    CvtS8FromS32 "cvt.s8.s32" Convert (a: i32) -> i8 { a as i8 }
    CvtU16FromS32 "cvt.u16.s32" Convert (a: i32) -> u16 { a as u16 }
    CvtS16FromS32 "cvt.s16.s32" Convert (a: i32) -> i16 { a as i16 }
    CvtB32FromS32 "cvt.{u32,s32}.s32" Convert (a: i32) -> i32 { a }
    CvtB64FromS32 "cvt.{u64,s64}.s32" Convert (a: i32) -> i64 { a as i64 }
    CvtU8FromU64 "cvt.u8.u64" Convert (a: u64) -> u8 { a as u8 }
    CvtS8FromU64 "cvt.s8.u64" Convert (a: u64) -> i8 { a as i8 }
    CvtU16FromU64 "cvt.u16.u64" Convert (a: u64) -> u16 { a as u16 }
    CvtS16FromU64 "cvt.s16.u64" Convert (a: u64) -> i16 { a as i16 }
    CvtB32FromU64 "cvt.{u32,s32}.u64" Convert (a: u64) -> u32 { a as u32 }
    CvtB64FromU64 "cvt.{u64,s64}.u64" Convert (a: u64) -> u64 { a }
    CvtU8FromS64 "cvt.u8.s64" Convert (a: i64) -> u8 { a as u8 }
    CvtS8FromS64 "cvt.s8.s64" Convert (a: i64) -> i8 { a as i8 }
    CvtU16FromS64 "cvt.u16.s64" Convert (a: i64) -> u16 { a as u16 }
    CvtS16FromS64 "cvt.s16.s64" Convert (a: i64) -> i16 { a as i16 }
    CvtB32FromS64 "cvt.{u32,s32}.s64" Convert (a: i64) -> i32 { a as i32 }
    CvtB64FromS64 "cvt.{u64,s64}.s64" Convert (a: i64) -> i64 { a }

    // Conversions between integers that clamp to the range of the destination.
    CvtSatU8FromU16 "cvt.sat.u8.u16" Convert (a: u16) -> u8 { i128::from(a).clamp(i128::from(u8::MIN), i128::from(u8::MAX)) as u8 }
    CvtSatU8FromS16 "cvt.sat.u8.s16" Convert (a: i16) -> u8 { i128::from(a).clamp(i128::from(u8::MIN), i128::from(u8::MAX)) as u8 }
    CvtSatU8FromU32 "cvt.sat.u8.u32" Convert (a: u32) -> u8 { i128::from(a).clamp(i128::from(u8::MIN), i128::from(u8::MAX)) as u8 }
    CvtSatU8FromS32 "cvt.sat.u8.s32" Convert (a: i32) -> u8 { i128::from(a).clamp(i128::from(u8::MIN), i128::from(u8::MAX)) as u8 }
    CvtSatU8FromU64 "cvt.sat.u8.u64" Convert (a: u64) -> u8 { i128::from(a).clamp(i128::from(u8::MIN), i128::from(u8::MAX)) as u8 }
    CvtSatU8FromS64 "cvt.sat.u8.s64" Convert (a: i64) -> u8 { i128::from(a).clamp(i128::from(u8::MIN), i128::from(u8::MAX)) as u8 }
    CvtSatS8FromU16 "cvt.sat.s8.u16" Convert (a: u16) -> i8 { i128::from(a).clamp(i128::from(i8::MIN), i128::from(i8::MAX)) as i8 }
    CvtSatS8FromS16 "cvt.sat.s8.s16" Convert (a: i16) -> i8 { i128::from(a).clamp(i128::from(i8::MIN), i128::from(i8::MAX)) as i8 }
    CvtSatS8FromU32 "cvt.sat.s8.u32" Convert (a: u32) -> i8 { i128::from(a).clamp(i128::from(i8::MIN), i128::from(i8::MAX)) as i8 }
    CvtSatS8FromS32 "cvt.sat.s8.s32" Convert (a: i32) -> i8 { i128::from(a).clamp(i128::from(i8::MIN), i128::from(i8::MAX)) as i8 }
    CvtSatS8FromU64 "cvt.sat.s8.u64" Convert (a: u64) -> i8 { i128::from(a).clamp(i128::from(i8::MIN), i128::from(i8::MAX)) as i8 }
    CvtSatS8FromS64 "cvt.sat.s8.s64" Convert (a: i64) -> i8 { i128::from(a).clamp(i128::from(i8::MIN), i128::from(i8::MAX)) as i8 }
    CvtSatU16FromS16 "cvt.sat.u16.s16" Convert (a: i16) -> u16 { i128::from(a).clamp(i128::from(u16::MIN), i128::from(u16::MAX)) as u16 }
    CvtSatU16FromU32 "cvt.sat.u16.u32" Convert (a: u32) -> u16 { i128::from(a).clamp(i128::from(u16::MIN), i128::from(u16::MAX)) as u16 }
    CvtSatU16FromS32 "cvt.sat.u16.s32" Convert (a: i32) -> u16 { i128::from(a).clamp(i128::from(u16::MIN), i128::from(u16::MAX)) as u16 }
    CvtSatU16FromU64 "cvt.sat.u16.u64" Convert (a: u64) -> u16 { i128::from(a).clamp(i128::from(u16::MIN), i128::from(u16::MAX)) as u16 }
    CvtSatU16FromS64 "cvt.sat.u16.s64" Convert (a: i64) -> u16 { i128::from(a).clamp(i128::from(u16::MIN), i128::from(u16::MAX)) as u16 }
    CvtSatS16FromU16 "cvt.sat.s16.u16" Convert (a: u16) -> i16 { i128::from(a).clamp(i128::from(i16::MIN), i128::from(i16::MAX)) as i16 }
    CvtSatS16FromU32 "cvt.sat.s16.u32" Convert (a: u32) -> i16 { i128::from(a).clamp(i128::from(i16::MIN), i128::from(i16::MAX)) as i16 }
    CvtSatS16FromS32 "cvt.sat.s16.s32" Convert (a: i32) -> i16 { i128::from(a).clamp(i128::from(i16::MIN), i128::from(i16::MAX)) as i16 }
    CvtSatS16FromU64 "cvt.sat.s16.u64" Convert (a: u64) -> i16 { i128::from(a).clamp(i128::from(i16::MIN), i128::from(i16::MAX)) as i16 }
    CvtSatS16FromS64 "cvt.sat.s16.s64" Convert (a: i64) -> i16 { i128::from(a).clamp(i128::from(i16::MIN), i128::from(i16::MAX)) as i16 }
    CvtSatU32FromS32 "cvt.sat.u32.s32" Convert (a: i32) -> u32 { i128::from(a).clamp(i128::from(u32::MIN), i128::from(u32::MAX)) as u32 }
    CvtSatU32FromU64 "cvt.sat.u32.u64" Convert (a: u64) -> u32 { i128::from(a).clamp(i128::from(u32::MIN), i128::from(u32::MAX)) as u32 }
    CvtSatU32FromS64 "cvt.sat.u32.s64" Convert (a: i64) -> u32 { i128::from(a).clamp(i128::from(u32::MIN), i128::from(u32::MAX)) as u32 }
    CvtSatS32FromU32 "cvt.sat.s32.u32" Convert (a: u32) -> i32 { i128::from(a).clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as i32 }
    CvtSatS32FromU64 "cvt.sat.s32.u64" Convert (a: u64) -> i32 { i128::from(a).clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as i32 }
    CvtSatS32FromS64 "cvt.sat.s32.s64" Convert (a: i64) -> i32 { i128::from(a).clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as i32 }

    // Conversions between integers and floats. A float beyond the integer's range gives the nearest end of it. NaN gives zero between
    // f32 and up to 32 bits, otherwise the highest bit alone (PTX ISA, `cvt`).
    CvtF32FromU8 "cvt.rn.f32.u8" Convert (a: u8) -> f32 { a as f32 }
    CvtF32FromS8 "cvt.rn.f32.s8" Convert (a: i8) -> f32 { a as f32 }
    CvtF32FromU16 "cvt.rn.f32.u16" Convert (a: u16) -> f32 { a as f32 }
    CvtF32FromS16 "cvt.rn.f32.s16" Convert (a: i16) -> f32 { a as f32 }
    CvtF32FromU32 "cvt.rn.f32.u32" Convert (a: u32) -> f32 { a as f32 }
    CvtF32FromS32 "cvt.rn.f32.s32" Convert (a: i32) -> f32 { a as f32 }
    CvtF32FromU64 "cvt.rn.f32.u64" Convert (a: u64) -> f32 { a as f32 }
    CvtF32FromS64 "cvt.rn.f32.s64" Convert (a: i64) -> f32 { a as f32 }
    CvtRniU8FromF32 "cvt.rni{,.sat}.u8.f32" Convert (a: f32) -> u8 { a.round_ties_even() as u8 }
    CvtRniS8FromF32 "cvt.rni{,.sat}.s8.f32" Convert (a: f32) -> i8 { a.round_ties_even() as i8 }
    CvtRniU16FromF32 "cvt.rni{,.sat}.u16.f32" Convert (a: f32) -> u16 { a.round_ties_even() as u16 }
    CvtRniS16FromF32 "cvt.rni{,.sat}.s16.f32" Convert (a: f32) -> i16 { a.round_ties_even() as i16 }
    CvtRniU32FromF32 "cvt.rni{,.sat}.u32.f32" Convert (a: f32) -> u32 { a.round_ties_even() as u32 }
    CvtRniS32FromF32 "cvt.rni{,.sat}.s32.f32" Convert (a: f32) -> i32 { a.round_ties_even() as i32 }
    CvtRniU64FromF32 "cvt.rni{,.sat}.u64.f32" Convert (a: f32) -> u64 { if a.is_nan() { 1 << 63 } else { a.round_ties_even() as u64 } }
    CvtRniS64FromF32 "cvt.rni{,.sat}.s64.f32" Convert (a: f32) -> i64 { if a.is_nan() { i64::MIN } else { a.round_ties_even() as i64 } }
    CvtRziU8FromF32 "cvt.rzi{,.sat}.u8.f32" Convert (a: f32) -> u8 { a as u8 }
    CvtRziS8FromF32 "cvt.rzi{,.sat}.s8.f32" Convert (a: f32) -> i8 { a as i8 }
    CvtRziU16FromF32 "cvt.rzi{,.sat}.u16.f32" Convert (a: f32) -> u16 { a as u16 }
    CvtRziS16FromF32 "cvt.rzi{,.sat}.s16.f32" Convert (a: f32) -> i16 { a as i16 }
    CvtRziU32FromF32 "cvt.rzi{,.sat}.u32.f32" Convert (a: f32) -> u32 { a as u32 }
    CvtRziS32FromF32 "cvt.rzi{,.sat}.s32.f32" Convert (a: f32) -> i32 { a as i32 }
    CvtRziU64FromF32 "cvt.rzi{,.sat}.u64.f32" Convert (a: f32) -> u64 { if a.is_nan() { 1 << 63 } else { a as u64 } }
    CvtRziS64FromF32 "cvt.rzi{,.sat}.s64.f32" Convert (a: f32) -> i64 { if a.is_nan() { i64::MIN } else { a as i64 } }
    CvtRmiU8FromF32 "cvt.rmi{,.sat}.u8.f32" Convert (a: f32) -> u8 { a.floor() as u8 }
    CvtRmiS8FromF32 "cvt.rmi{,.sat}.s8.f32" Convert (a: f32) -> i8 { a.floor() as i8 }
    CvtRmiU16FromF32 "cvt.rmi{,.sat}.u16.f32" Convert (a: f32) -> u16 { a.floor() as u16 }
    CvtRmiS16FromF32 "cvt.rmi{,.sat}.s16.f32" Convert (a: f32) -> i16 { a.floor() as i16 }
    CvtRmiU32FromF32 "cvt.rmi{,.sat}.u32.f32" Convert (a: f32) -> u32 { a.floor() as u32 }
    CvtRmiS32FromF32 "cvt.rmi{,.sat}.s32.f32" Convert (a: f32) -> i32 { a.floor() as i32 }
    CvtRmiU64FromF32 "cvt.rmi{,.sat}.u64.f32" Convert (a: f32) -> u64 { if a.is_nan() { 1 << 63 } else { a.floor() as u64 } }
    CvtRmiS64FromF32 "cvt.rmi{,.sat}.s64.f32" Convert (a: f32) -> i64 { if a.is_nan() { i64::MIN } else { a.floor() as i64 } }
    CvtRpiU8FromF32 "cvt.rpi{,.sat}.u8.f32" Convert (a: f32) -> u8 { a.ceil() as u8 }
    CvtRpiS8FromF32 "cvt.rpi{,.sat}.s8.f32" Convert (a: f32) -> i8 { a.ceil() as i8 }
    CvtRpiU16FromF32 "cvt.rpi{,.sat}.u16.f32" Convert (a: f32) -> u16 { a.ceil() as u16 }
    CvtRpiS16FromF32 "cvt.rpi{,.sat}.s16.f32" Convert (a: f32) -> i16 { a.ceil() as i16 }
    CvtRpiU32FromF32 "cvt.rpi{,.sat}.u32.f32" Convert (a: f32) -> u32 { a.ceil() as u32 }
    CvtRpiS32FromF32 "cvt.rpi{,.sat}.s32.f32" Convert (a: f32) -> i32 { a.ceil() as i32 }
    CvtRpiU64FromF32 "cvt.rpi{,.sat}.u64.f32" Convert (a: f32) -> u64 { if a.is_nan() { 1 << 63 } else { a.ceil() as u64 } }
    CvtRpiS64FromF32 "cvt.rpi{,.sat}.s64.f32" Convert (a: f32) -> i64 { if a.is_nan() { i64::MIN } else { a.ceil() as i64 } }
    CvtF64FromU8 "cvt.rn.f64.u8" Convert (a: u8) -> f64 { a as f64 }
    CvtF64FromS8 "cvt.rn.f64.s8" Convert (a: i8) -> f64 { a as f64 }
    CvtF64FromU16 "cvt.rn.f64.u16" Convert (a: u16) -> f64 { a as f64 }
    CvtF64FromS16 "cvt.rn.f64.s16" Convert (a: i16) -> f64 { a as f64 }
    CvtF64FromU32 "cvt.rn.f64.u32" Convert (a: u32) -> f64 { a as f64 }
    CvtF64FromS32 "cvt.rn.f64.s32" Convert (a: i32) -> f64 { a as f64 }
    CvtF64FromU64 "cvt.rn.f64.u64" Convert (a: u64) -> f64 { a as f64 }
    CvtF64FromS64 "cvt.rn.f64.s64" Convert (a: i64) -> f64 { a as f64 }
    CvtRniU8FromF64 "cvt.rni{,.sat}.u8.f64" Convert (a: f64) -> u8 { if a.is_nan() { 1 << 7 } else { a.round_ties_even() as u8 } }
    CvtRniS8FromF64 "cvt.rni{,.sat}.s8.f64" Convert (a: f64) -> i8 { if a.is_nan() { i8::MIN } else { a.round_ties_even() as i8 } }
    CvtRniU16FromF64 "cvt.rni{,.sat}.u16.f64" Convert (a: f64) -> u16 { if a.is_nan() { 1 << 15 } else { a.round_ties_even() as u16 } }
    CvtRniS16FromF64 "cvt.rni{,.sat}.s16.f64" Convert (a: f64) -> i16 { if a.is_nan() { i16::MIN } else { a.round_ties_even() as i16 } }
    CvtRniU32FromF64 "cvt.rni{,.sat}.u32.f64" Convert (a: f64) -> u32 { if a.is_nan() { 1 << 31 } else { a.round_ties_even() as u32 } }
    CvtRniS32FromF64 "cvt.rni{,.sat}.s32.f64" Convert (a: f64) -> i32 { if a.is_nan() { i32::MIN } else { a.round_ties_even() as i32 } }
    CvtRniU64FromF64 "cvt.rni{,.sat}.u64.f64" Convert (a: f64) -> u64 { if a.is_nan() { 1 << 63 } else { a.round_ties_even() as u64 } }
    CvtRniS64FromF64 "cvt.rni{,.sat}.s64.f64" Convert (a: f64) -> i64 { if a.is_nan() { i64::MIN } else { a.round_ties_even() as i64 } }
    CvtRziU8FromF64 "cvt.rzi{,.sat}.u8.f64" Convert (a: f64) -> u8 { if a.is_nan() { 1 << 7 } else { a as u8 } }
    CvtRziS8FromF64 "cvt.rzi{,.sat}.s8.f64" Convert (a: f64) -> i8 { if a.is_nan() { i8::MIN } else { a as i8 } }
    CvtRziU16FromF64 "cvt.rzi{,.sat}.u16.f64" Convert (a: f64) -> u16 { if a.is_nan() { 1 << 15 } else { a as u16 } }
    CvtRziS16FromF64 "cvt.rzi{,.sat}.s16.f64" Convert (a: f64) -> i16 { if a.is_nan() { i16::MIN } else { a as i16 } }
    CvtRziU32FromF64 "cvt.rzi{,.sat}.u32.f64" Convert (a: f64) -> u32 { if a.is_nan() { 1 << 31 } else { a as u32 } }
    CvtRziS32FromF64 "cvt.rzi{,.sat}.s32.f64" Convert (a: f64) -> i32 { if a.is_nan() { i32::MIN } else { a as i32 } }
    CvtRziU64FromF64 "cvt.rzi{,.sat}.u64.f64" Convert (a: f64) -> u64 { if a.is_nan() { 1 << 63 } else { a as u64 } }
    CvtRziS64FromF64 "cvt.rzi{,.sat}.s64.f64" Convert (a: f64) -> i64 { if a.is_nan() { i64::MIN } else { a as i64 } }
    CvtRmiU8FromF64 "cvt.rmi{,.sat}.u8.f64" Convert (a: f64) -> u8 { if a.is_nan() { 1 << 7 } else { a.floor() as u8 } }
    CvtRmiS8FromF64 "cvt.rmi{,.sat}.s8.f64" Convert (a: f64) -> i8 { if a.is_nan() { i8::MIN } else { a.floor() as i8 } }
    CvtRmiU16FromF64 "cvt.rmi{,.sat}.u16.f64" Convert (a: f64) -> u16 { if a.is_nan() { 1 << 15 } else { a.floor() as u16 } }
    CvtRmiS16FromF64 "cvt.rmi{,.sat}.s16.f64" Convert (a: f64) -> i16 { if a.is_nan() { i16::MIN } else { a.floor() as i16 } }
    CvtRmiU32FromF64 "cvt.rmi{,.sat}.u32.f64" Convert (a: f64) -> u32 { if a.is_nan() { 1 << 31 } else { a.floor() as u32 } }
    CvtRmiS32FromF64 "cvt.rmi{,.sat}.s32.f64" Convert (a: f64) -> i32 { if a.is_nan() { i32::MIN } else { a.floor() as i32 } }
    CvtRmiU64FromF64 "cvt.rmi{,.sat}.u64.f64" Convert (a: f64) -> u64 { if a.is_nan() { 1 << 63 } else { a.floor() as u64 } }
    CvtRmiS64FromF64 "cvt.rmi{,.sat}.s64.f64" Convert (a: f64) -> i64 { if a.is_nan() { i64::MIN } else { a.floor() as i64 } }
    CvtRpiU8FromF64 "cvt.rpi{,.sat}.u8.f64" Convert (a: f64) -> u8 { if a.is_nan() { 1 << 7 } else { a.ceil() as u8 } }
    CvtRpiS8FromF64 "cvt.rpi{,.sat}.s8.f64" Convert (a: f64) -> i8 { if a.is_nan() { i8::MIN } else { a.ceil() as i8 } }
    CvtRpiU16FromF64 "cvt.rpi{,.sat}.u16.f64" Convert (a: f64) -> u16 { if a.is_nan() { 1 << 15 } else { a.ceil() as u16 } }
    CvtRpiS16FromF64 "cvt.rpi{,.sat}.s16.f64" Convert (a: f64) -> i16 { if a.is_nan() { i16::MIN } else { a.ceil() as i16 } }
    CvtRpiU32FromF64 "cvt.rpi{,.sat}.u32.f64" Convert (a: f64) -> u32 { if a.is_nan() { 1 << 31 } else { a.ceil() as u32 } }
    CvtRpiS32FromF64 "cvt.rpi{,.sat}.s32.f64" Convert (a: f64) -> i32 { if a.is_nan() { i32::MIN } else { a.ceil() as i32 } }
    CvtRpiU64FromF64 "cvt.rpi{,.sat}.u64.f64" Convert (a: f64) -> u64 { if a.is_nan() { 1 << 63 } else { a.ceil() as u64 } }
    CvtRpiS64FromF64 "cvt.rpi{,.sat}.s64.f64" Convert (a: f64) -> i64 { if a.is_nan() { i64::MIN } else { a.ceil() as i64 } }

    // Conversions between floats, and rounding to whole numbers.
    RoundRniF32 "cvt.rni.f32.f32" Convert (a: f32) -> f32 { canonical32(a.round_ties_even()) }
    RoundRziF32 "cvt.rzi.f32.f32" Convert (a: f32) -> f32 { canonical32(a.trunc()) }
    RoundRmiF32 "cvt.rmi.f32.f32" Convert (a: f32) -> f32 { canonical32(a.floor()) }
    RoundRpiF32 "cvt.rpi.f32.f32" Convert (a: f32) -> f32 { canonical32(a.ceil()) }
    RoundRniF64 "cvt.rni.f64.f64" Convert (a: f64) -> f64 { a.round_ties_even() }
    RoundRziF64 "cvt.rzi.f64.f64" Convert (a: f64) -> f64 { a.trunc() }
    RoundRmiF64 "cvt.rmi.f64.f64" Convert (a: f64) -> f64 { a.floor() }
    RoundRpiF64 "cvt.rpi.f64.f64" Convert (a: f64) -> f64 { a.ceil() }
    CvtF32FromF64 "cvt.rn.f32.f64" Convert (a: f64) -> f32 { a as f32 }
    CvtF64FromF32 "cvt.f64.f32" Convert (a: f32) -> f64 { f64::from(a) }
    SatF32 "cvt.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(a) }
}
