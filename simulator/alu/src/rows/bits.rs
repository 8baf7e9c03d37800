//! Rows of logic, shifts, bits and bytes.

/// Adds the rows of this family to those so far and calls the next macro; see `table`.
#[rustfmt::skip]
macro_rules! bits {
    ($next:ident $($then:ident)* => $($rows:tt)*) => { $next! { $($then)* => $($rows)*

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
    Dp2aLoUU "dp2a.lo.u32.u32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 0, (false, false)) }
    Dp2aLoUS "dp2a.lo.u32.s32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 0, (false, true)) }
    Dp2aLoSU "dp2a.lo.s32.u32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 0, (true, false)) }
    Dp2aLoSS "dp2a.lo.s32.s32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 0, (true, true)) }
    Dp2aHiUU "dp2a.hi.u32.u32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 2, (false, false)) }
    Dp2aHiUS "dp2a.hi.u32.s32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 2, (false, true)) }
    Dp2aHiSU "dp2a.hi.s32.u32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 2, (true, false)) }
    Dp2aHiSS "dp2a.hi.s32.s32" Dp4a (a: u32, b: u32, c: u32) -> u32 { integer::dot2(a, b, c, 2, (true, true)) }
    BmskClamp "bmsk.clamp.b32" Int (start: u32, width: u32) -> u32 { integer::bit_mask(start, width, true) }
    SzextClampU32 "szext.clamp.u32" Int (a: u32, width: u32) -> u32 { integer::zero_extend(a, width, true) }
    SzextClampS32 "szext.clamp.s32" Int (a: i32, width: u32) -> i32 { integer::sign_extend(a, width, true) }
    BmskWrap "bmsk.wrap.b32" Int (start: u32, width: u32) -> u32 { integer::bit_mask(start, width, false) }
    SzextWrapU32 "szext.wrap.u32" Int (a: u32, width: u32) -> u32 { integer::zero_extend(a, width, false) }
    SzextWrapS32 "szext.wrap.s32" Int (a: i32, width: u32) -> i32 { integer::sign_extend(a, width, false) }
    Fns "fns.b32" Int (mask: u32, base: u32, offset: i32) -> u32 { integer::nth_set(mask, base, offset) }
    Vabsdiff4Add "vabsdiff4.u32.u32.u32.add" Int (a: u32, b: u32, c: u32) -> u32 { integer::sum_of_absolute_differences(a, b, c) }

    // The modes of `prmt`, as the PTX ISA lists their selectors.
    PrmtF4e "prmt.b32.f4e" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x3210, 0x4321, 0x5432, 0x6543]) }
    PrmtB4e "prmt.b32.b4e" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x5670, 0x6701, 0x7012, 0x0123]) }
    PrmtRc8 "prmt.b32.rc8" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x0000, 0x1111, 0x2222, 0x3333]) }
    PrmtEcl "prmt.b32.ecl" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x3210, 0x3211, 0x3222, 0x3333]) }
    PrmtEcr "prmt.b32.ecr" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x0000, 0x1110, 0x2210, 0x3210]) }
    PrmtRc16 "prmt.b32.rc16" Int (low: u32, high: u32, n: u32) -> u32 { integer::permute_by_mode(low, high, n, [0x1010, 0x3232, 0x1010, 0x3232]) }

    // What `video_ops` decodes into a number.
    VideoScalar "{vadd,vsub,vabsdiff,vmin,vmax,vshl,vshr,vmad,vset} in all forms" Int (a: u32, b: u32, c: u32, control: u64) -> u32 { video::scalar(a, b, c, control) }
    VideoVector "{vadd,vsub,vavrg,vabsdiff,vmin,vmax,vset}{2,4} in all forms" Int (a: u32, b: u32, c: u32, control: u64) -> u32 { video::vector(a, b, c, control) }

    // The window of a generic address.
    IsGlobal "isspacep.global" Predicate (a: u64) -> bool { a < SHARED_WINDOW }
    IsShared "isspacep.shared{,::cta,::cluster}" Predicate (a: u64) -> bool { a & !WINDOW_OFFSET == SHARED_WINDOW }
    IsLocal "isspacep.local" Predicate (a: u64) -> bool { a & !WINDOW_OFFSET == LOCAL_WINDOW }
    IsParam "isspacep.param{,::entry}" Predicate (a: u64) -> bool { a & !WINDOW_OFFSET == PARAM_WINDOW }

    } };
}

pub(crate) use bits;
