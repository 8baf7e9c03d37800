//! Rows of logic, shifts, bits and bytes.

use crate::integer;
use crate::row::{Entry, rows};
use crate::video;
use crate::windows::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_OFFSET};

/// Logic on every bit.
macro_rules! logic {
    ($ty:ident $class:ident $suffix:literal) => {
        rows! {
            ("and" $suffix) $class (a: $ty, b: $ty) -> $ty { a & b }
            ("or" $suffix) $class (a: $ty, b: $ty) -> $ty { a | b }
            ("xor" $suffix) $class (a: $ty, b: $ty) -> $ty { a ^ b }
            ("not" $suffix) $class (a: $ty) -> $ty { !a }
        }
    };
}

/// Bits and fields of them.
macro_rules! fields {
    ($unsigned:ident $signed:ident $bits:literal $width:literal) => {
        rows! {
            ("popc.b" $width) Int (a: $unsigned) -> u32 { a.count_ones() }
            ("clz.b" $width) Int (a: $unsigned) -> u32 { a.leading_zeros() }
            ("brev.b" $width) Int (a: $unsigned) -> $unsigned { a.reverse_bits() }
            ("bfe.u" $width) Int (a: $unsigned, start: u32, length: u32) -> $unsigned {
                integer::extract(a.into(), start, length) as $unsigned
            }
            ("bfe.s" $width) Int (a: $signed, start: u32, length: u32) -> $signed {
                integer::extract_signed(a.into(), start, length, $bits) as $signed
            }
            ("bfi.b" $width) Int (field: $unsigned, into: $unsigned, start: u32, length: u32) -> $unsigned {
                integer::insert(field.into(), into.into(), start, length) as $unsigned
            }
            ("bfind.u" $width) Int (a: $unsigned) -> u32 { integer::highest_bit(a.into()) }
            ("bfind.s" $width) Int (a: $signed) -> u32 { integer::highest_bit(integer::magnitude_bits(a.into())) }
            ("bfind.shiftamt.u" $width) Int (a: $unsigned) -> u32 { integer::shift_to_top(a.into(), $bits) }
            ("bfind.shiftamt.s" $width) Int (a: $signed) -> u32 { integer::shift_to_top(integer::magnitude_bits(a.into()), $bits) }
        }
    };
}

#[rustfmt::skip]
pub const ROWS: &[&[Entry]] = &[
    logic!(u16 Int ".b16"),
    logic!(u32 Int ".b32"),
    logic!(u64 Int ".b64"),
    logic!(bool Predicate ".pred"),
    fields!(u32 i32 32 "32"),
    fields!(u64 i64 64 "64"),
    rows! {
        // A shift by the width or more gives zero, or the sign.
        "shl.b16" Int (a: u16, n: u32) -> u16 { a.checked_shl(n).unwrap_or(0) }
        "shr.{u16,b16}" Int (a: u16, n: u32) -> u16 { a.checked_shr(n).unwrap_or(0) }
        "shr.s16" Int (a: i16, n: u32) -> i16 { a >> n.min(15) }
        "shl.b32" Int (a: u32, n: u32) -> u32 { if n < 32 { a << (n & 31) } else { 0 } }
        "shr.{u32,b32}" Int (a: u32, n: u32) -> u32 { if n < 32 { a >> (n & 31) } else { 0 } }
        "shr.s32" Int (a: i32, n: u32) -> i32 { a >> n.min(31) }
        "shl.b64" Int (a: u64, n: u32) -> u64 { if n < 64 { a << (n & 63) } else { 0 } }
        "shr.{u64,b64}" Int (a: u64, n: u32) -> u64 { if n < 64 { a >> (n & 63) } else { 0 } }
        "shr.s64" Int (a: i64, n: u32) -> i64 { a >> n.min(63) }
        "shf.l.wrap.b32" Int (low: u32, high: u32, n: u32) -> u32 { ((u64::from(high) << 32 | u64::from(low)) << (n & 31) >> 32) as u32 }
        "shf.l.clamp.b32" Int (low: u32, high: u32, n: u32) -> u32 { ((u64::from(high) << 32 | u64::from(low)) << (n.min(32)) >> 32) as u32 }
        "shf.r.wrap.b32" Int (low: u32, high: u32, n: u32) -> u32 { ((u64::from(high) << 32 | u64::from(low)) >> (n & 31)) as u32 }
        "shf.r.clamp.b32" Int (low: u32, high: u32, n: u32) -> u32 { ((u64::from(high) << 32 | u64::from(low)) >> (n.min(32))) as u32 }
        "lop3.b32" Int (a: u32, b: u32, c: u32, table: u32) -> u32 { integer::lookup3(a, b, c, table) }

        "prmt.b32" Int (low: u32, high: u32, selectors: u32) -> u32 { integer::permute(low, high, selectors) }
        "dp4a.u32.u32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot_uu(a, b, c) }
        "dp4a.s32.s32" Dp4a (a: u32, b: u32, c: i32) -> i32 { integer::dot_ss(a, b, c) }
        "dp4a.u32.s32" Dp4a (a: u32, b: u32, c: i32) -> i32 { integer::dot_us(a, b, c) }
        "dp4a.s32.u32" Dp4a (a: u32, b: u32, c: i32) -> i32 { integer::dot_us(b, a, c) }
        "vabsdiff4.u32.u32.u32" Int (a: u32, b: u32, c: u32) -> u32 { { let _ = c; integer::absolute_differences(a, b) } }
        "dp2a.lo.u32.u32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 0, (false, false)) }
        "dp2a.lo.u32.s32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 0, (false, true)) }
        "dp2a.lo.s32.u32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 0, (true, false)) }
        "dp2a.lo.s32.s32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 0, (true, true)) }
        "dp2a.hi.u32.u32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 2, (false, false)) }
        "dp2a.hi.u32.s32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 2, (false, true)) }
        "dp2a.hi.s32.u32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 2, (true, false)) }
        "dp2a.hi.s32.s32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 2, (true, true)) }
        "bmsk.clamp.b32" Int (start: u32, width: u32) -> u32 { integer::bit_mask(start, width, true) }
        "szext.clamp.u32" Int (a: u32, width: u32) -> u32 { integer::zero_extend(a, width, true) }
        "szext.clamp.s32" Int (a: i32, width: u32) -> i32 { integer::sign_extend(a, width, true) }
        "bmsk.wrap.b32" Int (start: u32, width: u32) -> u32 { integer::bit_mask(start, width, false) }
        "szext.wrap.u32" Int (a: u32, width: u32) -> u32 { integer::zero_extend(a, width, false) }
        "szext.wrap.s32" Int (a: i32, width: u32) -> i32 { integer::sign_extend(a, width, false) }
        "fns.b32" Int (mask: u32, base: u32, offset: i32) -> u32 { integer::nth_set(mask, base, offset) }
        "vabsdiff4.u32.u32.u32.add" Int (a: u32, b: u32, c: u32) -> u32 { integer::sum_of_absolute_differences(a, b, c) }

        // The modes of `prmt`, as the PTX ISA lists their selectors.
        "prmt.b32.f4e" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x3210, 0x4321, 0x5432, 0x6543]) }
        "prmt.b32.b4e" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x5670, 0x6701, 0x7012, 0x0123]) }
        "prmt.b32.rc8" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x0000, 0x1111, 0x2222, 0x3333]) }
        "prmt.b32.ecl" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x3210, 0x3211, 0x3222, 0x3333]) }
        "prmt.b32.ecr" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x0000, 0x1110, 0x2210, 0x3210]) }
        "prmt.b32.rc16" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x1010, 0x3232, 0x1010, 0x3232]) }

        // What `video_ops` decodes into a number.
        "{vadd,vsub,vabsdiff,vmin,vmax,vshl,vshr,vmad,vset} in all forms" Int (a: u32, b: u32, c: u32, control: u64) -> u32 { video::scalar(a, b, c, control) }
        "{vadd,vsub,vavrg,vabsdiff,vmin,vmax,vset}{2,4} in all forms" Int (a: u32, b: u32, c: u32, control: u64) -> u32 { video::vector(a, b, c, control) }

        // The window of a generic address.
        "isspacep.global" Predicate (a: u64) -> bool { a < SHARED_WINDOW }
        "isspacep.shared{,::cta,::cluster}" Predicate (a: u64) -> bool { a & !WINDOW_OFFSET == SHARED_WINDOW }
        "isspacep.local" Predicate (a: u64) -> bool { a & !WINDOW_OFFSET == LOCAL_WINDOW }
        "isspacep.param{,::entry}" Predicate (a: u64) -> bool { a & !WINDOW_OFFSET == PARAM_WINDOW }
    },
];
