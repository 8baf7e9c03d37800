//! Rows of integer arithmetic.

/// Adds the rows of this family to those so far and calls the next macro; see `table`.
#[rustfmt::skip]
macro_rules! integers {
    ($next:ident $($then:ident)* => $($rows:tt)*) => { $next! { $($then)* => $($rows)*

    // Integer addition and subtraction, modulo 2^n.
    Add16 "add.{u16,s16}" Int (a: u16, b: u16) -> u16 { a.wrapping_add(b) }
    Sub16 "sub.{u16,s16}" Int (a: u16, b: u16) -> u16 { a.wrapping_sub(b) }
    Add32 "add.{u32,s32}" Int (a: u32, b: u32) -> u32 { a.wrapping_add(b) }
    Sub32 "sub.{u32,s32}" Int (a: u32, b: u32) -> u32 { a.wrapping_sub(b) }
    Add64 "add.{u64,s64}" Int (a: u64, b: u64) -> u64 { a.wrapping_add(b) }
    Sub64 "sub.{u64,s64}" Int (a: u64, b: u64) -> u64 { a.wrapping_sub(b) }
    AddSatS32 "add.sat.s32" Int (a: i32, b: i32) -> i32 { a.saturating_add(b) }
    SubSatS32 "sub.sat.s32" Int (a: i32, b: i32) -> i32 { a.saturating_sub(b) }

    // The same with the carry flag, which the decoder passes as a predicate. A subtraction adds the complement, so the absence of a
    // borrow is a carry; an H200 and an H100 show it where `addc` follows `sub.cc`, or `subc` follows `add.cc`.
    AddCarry32 "{add.cc,addc,addc.cc}.{u32,s32}" Int (a: u32, b: u32, carry: bool) -> u32 { a.wrapping_add(b).wrapping_add(u32::from(carry)) }
    CarryOfAdd32 "carry of {add.cc,addc.cc}.{u32,s32}" Int (a: u32, b: u32, carry: bool) -> bool { integer::carry(a.into(), b.into(), carry, 32) }
    SubCarry32 "{sub.cc,subc,subc.cc}.{u32,s32}" Int (a: u32, b: u32, carry: bool) -> u32 { a.wrapping_add(!b).wrapping_add(u32::from(carry)) }
    CarryOfSub32 "carry of {sub.cc,subc.cc}.{u32,s32}" Int (a: u32, b: u32, carry: bool) -> bool { integer::carry(a.into(), (!b).into(), carry, 32) }
    MadLoCarry32 "{mad.lo.cc,madc.lo,madc.lo.cc}.{u32,s32}" IntMad (a: u32, b: u32, c: u32, carry: bool) -> u32 { a.wrapping_mul(b).wrapping_add(c).wrapping_add(u32::from(carry)) }
    CarryOfMadLo32 "carry of {mad.lo.cc,madc.lo.cc}.{u32,s32}" IntMad (a: u32, b: u32, c: u32, carry: bool) -> bool { integer::carry(a.wrapping_mul(b).into(), c.into(), carry, 32) }
    MadHiCarryU32 "{mad.hi.cc,madc.hi,madc.hi.cc}.u32" IntMad (a: u32, b: u32, c: u32, carry: bool) -> u32 { (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c).wrapping_add(u32::from(carry)) }
    CarryOfMadHiU32 "carry of {mad.hi.cc,madc.hi.cc}.u32" IntMad (a: u32, b: u32, c: u32, carry: bool) -> bool { integer::carry((((u64::from(a) * u64::from(b)) >> 32) as u32).into(), c.into(), carry, 32) }
    MadHiCarryS32 "{mad.hi.cc,madc.hi,madc.hi.cc}.s32" IntMad (a: i32, b: i32, c: u32, carry: bool) -> u32 { (((i64::from(a) * i64::from(b)) >> 32) as u32).wrapping_add(c).wrapping_add(u32::from(carry)) }
    CarryOfMadHiS32 "carry of {mad.hi.cc,madc.hi.cc}.s32" IntMad (a: i32, b: i32, c: u32, carry: bool) -> bool { integer::carry((((i64::from(a) * i64::from(b)) >> 32) as u32).into(), c.into(), carry, 32) }
    AddCarry64 "{add.cc,addc,addc.cc}.{u64,s64}" Int (a: u64, b: u64, carry: bool) -> u64 { a.wrapping_add(b).wrapping_add(u64::from(carry)) }
    CarryOfAdd64 "carry of {add.cc,addc.cc}.{u64,s64}" Int (a: u64, b: u64, carry: bool) -> bool { integer::carry(a.into(), b.into(), carry, 64) }
    SubCarry64 "{sub.cc,subc,subc.cc}.{u64,s64}" Int (a: u64, b: u64, carry: bool) -> u64 { a.wrapping_add(!b).wrapping_add(u64::from(carry)) }
    CarryOfSub64 "carry of {sub.cc,subc.cc}.{u64,s64}" Int (a: u64, b: u64, carry: bool) -> bool { integer::carry(a.into(), (!b).into(), carry, 64) }
    MadLoCarry64 "{mad.lo.cc,madc.lo,madc.lo.cc}.{u64,s64}" IntMad (a: u64, b: u64, c: u64, carry: bool) -> u64 { a.wrapping_mul(b).wrapping_add(c).wrapping_add(u64::from(carry)) }
    CarryOfMadLo64 "carry of {mad.lo.cc,madc.lo.cc}.{u64,s64}" IntMad (a: u64, b: u64, c: u64, carry: bool) -> bool { integer::carry(a.wrapping_mul(b).into(), c.into(), carry, 64) }
    MadHiCarryU64 "{mad.hi.cc,madc.hi,madc.hi.cc}.u64" IntMad (a: u64, b: u64, c: u64, carry: bool) -> u64 { (((u128::from(a) * u128::from(b)) >> 64) as u64).wrapping_add(c).wrapping_add(u64::from(carry)) }
    CarryOfMadHiU64 "carry of {mad.hi.cc,madc.hi.cc}.u64" IntMad (a: u64, b: u64, c: u64, carry: bool) -> bool { integer::carry((((u128::from(a) * u128::from(b)) >> 64) as u64).into(), c.into(), carry, 64) }
    MadHiCarryS64 "{mad.hi.cc,madc.hi,madc.hi.cc}.s64" IntMad (a: i64, b: i64, c: u64, carry: bool) -> u64 { (((i128::from(a) * i128::from(b)) >> 64) as u64).wrapping_add(c).wrapping_add(u64::from(carry)) }
    CarryOfMadHiS64 "carry of {mad.hi.cc,madc.hi.cc}.s64" IntMad (a: i64, b: i64, c: u64, carry: bool) -> bool { integer::carry((((i128::from(a) * i128::from(b)) >> 64) as u64).into(), c.into(), carry, 64) }

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

    // Integer division. PTX does not specify division by zero; an H200 returns all ones as the quotient and as the remainder.
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

    // Rarely used instructions.
    CNot16 "cnot.b16" Int (a: u16) -> u16 { u16::from(a == 0) }
    CNot32 "cnot.b32" Int (a: u32) -> u32 { u32::from(a == 0) }
    CNot64 "cnot.b64" Int (a: u64) -> u64 { u64::from(a == 0) }
    SadU16 "sad.u16" Int (a: u16, b: u16, c: u16) -> u16 { a.abs_diff(b).wrapping_add(c) }
    SadS16 "sad.s16" Int (a: i16, b: i16, c: i16) -> i16 { (a.abs_diff(b) as i16).wrapping_add(c) }
    MadHiU64 "mad.hi.u64" IntMad (a: u64, b: u64, c: u64) -> u64 { (((u128::from(a) * u128::from(b)) >> 64) as u64).wrapping_add(c) }
    MadHiS64 "mad.hi.s64" IntMad (a: i64, b: i64, c: i64) -> i64 { (((i128::from(a) * i128::from(b)) >> 64) as i64).wrapping_add(c) }
    MadHiSatS32 "mad.hi.sat.s32" IntMad (a: i32, b: i32, c: i32) -> i32 { (((i64::from(a) * i64::from(b)) >> 32) as i32).saturating_add(c) }
    Mul24HiU32 "mul24.hi.u32" IntMad (a: u32, b: u32) -> u32 { integer::mul24_high(a, b) }
    Mul24HiS32 "mul24.hi.s32" IntMad (a: i32, b: i32) -> i32 { integer::mul24_high_signed(a, b) }
    Mad24HiU32 "mad24.hi.u32" IntMad (a: u32, b: u32, c: u32) -> u32 { integer::mul24_high(a, b).wrapping_add(c) }
    Mad24HiS32 "mad24.hi.s32" IntMad (a: i32, b: i32, c: i32) -> i32 { integer::mul24_high_signed(a, b).wrapping_add(c) }
    Mad24HiSatS32 "mad24.hi.sat.s32" IntMad (a: i32, b: i32, c: i32) -> i32 { integer::mul24_high_signed(a, b).saturating_add(c) }
    MinReluS32 "min.{relu.s32,s32.relu}" Int (a: i32, b: i32) -> i32 { a.min(b).max(0) }
    MaxReluS32 "max.{relu.s32,s32.relu}" Int (a: i32, b: i32) -> i32 { a.max(b).max(0) }
    Add16x2 "add.{u16x2,s16x2}" Int (a: Two<u16>, b: Two<u16>) -> Two<u16> { a.zip(b, u16::wrapping_add) }
    MinU16x2 "min.u16x2" Int (a: Two<u16>, b: Two<u16>) -> Two<u16> { a.zip(b, u16::min) }
    MaxU16x2 "max.u16x2" Int (a: Two<u16>, b: Two<u16>) -> Two<u16> { a.zip(b, u16::max) }
    MinS16x2 "min.s16x2" Int (a: Two<i16>, b: Two<i16>) -> Two<i16> { a.zip(b, i16::min) }
    MaxS16x2 "max.s16x2" Int (a: Two<i16>, b: Two<i16>) -> Two<i16> { a.zip(b, i16::max) }
    MinReluS16x2 "min.{relu.s16x2,s16x2.relu}" Int (a: Two<i16>, b: Two<i16>) -> Two<i16> { a.zip(b, |a, b| a.min(b).max(0)) }
    MaxReluS16x2 "max.{relu.s16x2,s16x2.relu}" Int (a: Two<i16>, b: Two<i16>) -> Two<i16> { a.zip(b, |a, b| a.max(b).max(0)) }

    } };
}

pub(crate) use integers;
