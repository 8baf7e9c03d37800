//! Floating-point functions of one lane: what a GPU does where Rust's operators leave room.

/// The NaN that every f32 operation gives (PTX ISA, section on floating-point instructions): the payload of an operand does not
/// pass through.
#[inline(always)]
pub fn canonical32(value: f32) -> f32 {
    if value.is_nan() { f32::from_bits(0x7fff_ffff) } else { value }
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
        a
    } else if a.is_nan() {
        b
    } else {
        smaller
    }
}

/// The larger number, as [`max32`].
#[inline(always)]
pub fn max64(a: f64, b: f64) -> f64 {
    let larger = if a > b || (a == b && a.is_sign_positive()) { a } else { b };
    if b.is_nan() {
        a
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
