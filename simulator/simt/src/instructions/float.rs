//! Floating-point functions of one lane: what a GPU does where Rust's operators leave room.

/// The NaN that every f32 operation gives (PTX ISA, section on floating-point instructions): the payload of an operand does not
/// pass through.
///
/// The choice is made between integers: between floats the compiler takes any NaN for as good as another, and drops it.
#[inline(always)]
pub fn canonical32(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { bits })
}

/// The result of an f64 operation. Where it is NaN, it is the first NaN among the operands, made quiet; an invalid operation on
/// numbers gives the negative quiet NaN. The order of operands is what an H200 gives, and without it the host's compiler, which
/// swaps operands freely, would decide.
#[inline(always)]
pub fn pass_nan<const N: usize>(value: f64, operands: [f64; N]) -> f64 {
    const QUIET: u64 = 1 << 51;
    let is_nan = |bits: u64| bits & (u64::MAX >> 1) > 0x7ff << 52;
    if !is_nan(value.to_bits()) {
        return value;
    }
    let operand = operands.into_iter().map(f64::to_bits).find(|bits| is_nan(*bits));
    f64::from_bits(operand.map_or(0xfff8 << 48, |bits| bits | QUIET))
}

/// The smaller number; a NaN only if both are, and -0 below +0.
#[inline(always)]
pub fn min32(a: f32, b: f32) -> f32 {
    let smaller = if a < b || (a == b && a.is_sign_negative()) { a } else { b };
    canonical32(if b.is_nan() {
        a
    } else if a.is_nan() {
        b
    } else {
        smaller
    })
}

/// The larger number; a NaN only if both are, and +0 above -0.
#[inline(always)]
pub fn max32(a: f32, b: f32) -> f32 {
    let larger = if a > b || (a == b && a.is_sign_positive()) { a } else { b };
    canonical32(if b.is_nan() {
        a
    } else if a.is_nan() {
        b
    } else {
        larger
    })
}

/// The smaller number, as [`min32`].
#[inline(always)]
pub fn min64(a: f64, b: f64) -> f64 {
    let smaller = if a < b || (a == b && a.is_sign_negative()) { a } else { b };
    if b.is_nan() {
        pass_nan(a, [b])
    } else if a.is_nan() {
        b
    } else {
        smaller
    }
}

/// The larger number, as [`min32`].
#[inline(always)]
pub fn max64(a: f64, b: f64) -> f64 {
    let larger = if a > b || (a == b && a.is_sign_positive()) { a } else { b };
    if b.is_nan() {
        pass_nan(a, [b])
    } else if a.is_nan() {
        b
    } else {
        larger
    }
}

/// Into [0, 1]; NaN becomes 0.
#[inline(always)]
pub fn saturate32(value: f32) -> f32 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}
