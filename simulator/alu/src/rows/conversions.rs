//! Rows of conversions.

/// Adds the rows of this family to those so far and calls the next macro; see `table`.
#[rustfmt::skip]
macro_rules! conversions {
    ($next:ident $($then:ident)* => $($rows:tt)*) => { $next! { $($then)* => $($rows)*

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

    // Conversions between integers and floats. A float beyond the integer's range is clamped. NaN becomes zero between f32 and up
    // to 32 bits, and otherwise only the highest bit is set (PTX ISA, `cvt`).
    CvtF32FromU8 "cvt.{rn,rz,rm,rp}{,.ftz}.f32.u8" Convert (a: u8) -> f32 { a as f32 }
    CvtF32FromS8 "cvt.{rn,rz,rm,rp}{,.ftz}.f32.s8" Convert (a: i8) -> f32 { a as f32 }
    CvtF32FromU16 "cvt.{rn,rz,rm,rp}{,.ftz}.f32.u16" Convert (a: u16) -> f32 { a as f32 }
    CvtF32FromS16 "cvt.{rn,rz,rm,rp}{,.ftz}.f32.s16" Convert (a: i16) -> f32 { a as f32 }
    CvtF32FromU32 "cvt.rn{,.ftz}.f32.u32" Convert (a: u32) -> f32 { a as f32 }
    CvtF32FromS32 "cvt.rn{,.ftz}.f32.s32" Convert (a: i32) -> f32 { a as f32 }
    CvtF32FromU64 "cvt.rn{,.ftz}.f32.u64" Convert (a: u64) -> f32 { a as f32 }
    CvtF32FromS64 "cvt.rn{,.ftz}.f32.s64" Convert (a: i64) -> f32 { a as f32 }
    CvtRniU8FromF32 "cvt.rni{,.ftz}{,.sat}.u8.f32" Convert (a: f32) -> u8 { a.round_ties_even() as u8 }
    CvtRniS8FromF32 "cvt.rni{,.ftz}{,.sat}.s8.f32" Convert (a: f32) -> i8 { a.round_ties_even() as i8 }
    CvtRniU16FromF32 "cvt.rni{,.ftz}{,.sat}.u16.f32" Convert (a: f32) -> u16 { a.round_ties_even() as u16 }
    CvtRniS16FromF32 "cvt.rni{,.ftz}{,.sat}.s16.f32" Convert (a: f32) -> i16 { a.round_ties_even() as i16 }
    CvtRniU32FromF32 "cvt.rni{,.ftz}{,.sat}.u32.f32" Convert (a: f32) -> u32 { a.round_ties_even() as u32 }
    CvtRniS32FromF32 "cvt.rni{,.ftz}{,.sat}.s32.f32" Convert (a: f32) -> i32 { a.round_ties_even() as i32 }
    CvtRniU64FromF32 "cvt.rni{,.ftz}{,.sat}.u64.f32" Convert (a: f32) -> u64 { if a.is_nan() { 1 << 63 } else { a.round_ties_even() as u64 } }
    CvtRniS64FromF32 "cvt.rni{,.ftz}{,.sat}.s64.f32" Convert (a: f32) -> i64 { if a.is_nan() { i64::MIN } else { a.round_ties_even() as i64 } }
    CvtRziU8FromF32 "cvt.rzi{,.ftz}{,.sat}.u8.f32" Convert (a: f32) -> u8 { a as u8 }
    CvtRziS8FromF32 "cvt.rzi{,.ftz}{,.sat}.s8.f32" Convert (a: f32) -> i8 { a as i8 }
    CvtRziU16FromF32 "cvt.rzi{,.ftz}{,.sat}.u16.f32" Convert (a: f32) -> u16 { a as u16 }
    CvtRziS16FromF32 "cvt.rzi{,.ftz}{,.sat}.s16.f32" Convert (a: f32) -> i16 { a as i16 }
    CvtRziU32FromF32 "cvt.rzi{,.ftz}{,.sat}.u32.f32" Convert (a: f32) -> u32 { a as u32 }
    CvtRziS32FromF32 "cvt.rzi{,.ftz}{,.sat}.s32.f32" Convert (a: f32) -> i32 { a as i32 }
    CvtRziU64FromF32 "cvt.rzi{,.ftz}{,.sat}.u64.f32" Convert (a: f32) -> u64 { if a.is_nan() { 1 << 63 } else { a as u64 } }
    CvtRziS64FromF32 "cvt.rzi{,.ftz}{,.sat}.s64.f32" Convert (a: f32) -> i64 { if a.is_nan() { i64::MIN } else { a as i64 } }
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
    CvtF64FromU8 "cvt.{rn,rz,rm,rp}.f64.u8" Convert (a: u8) -> f64 { a as f64 }
    CvtF64FromS8 "cvt.{rn,rz,rm,rp}.f64.s8" Convert (a: i8) -> f64 { a as f64 }
    CvtF64FromU16 "cvt.{rn,rz,rm,rp}.f64.u16" Convert (a: u16) -> f64 { a as f64 }
    CvtF64FromS16 "cvt.{rn,rz,rm,rp}.f64.s16" Convert (a: i16) -> f64 { a as f64 }
    CvtF64FromU32 "cvt.{rn,rz,rm,rp}.f64.u32" Convert (a: u32) -> f64 { a as f64 }
    CvtF64FromS32 "cvt.{rn,rz,rm,rp}.f64.s32" Convert (a: i32) -> f64 { a as f64 }
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

    // The same with subnormal numbers flushed, with other rounding directions, and for 16 bits. There are no conversions between
    // bf16 and integers of 8 or 16 bits, and no `.sat` for bf16: the compiler in NVIDIA's driver refuses them.
    CvtRmiU8FromFtzF32 "cvt.rmi.ftz{,.sat}.u8.f32" Convert (a: f32) -> u8 { float::flush32(a).floor() as u8 }
    CvtRmiS8FromFtzF32 "cvt.rmi.ftz{,.sat}.s8.f32" Convert (a: f32) -> i8 { float::flush32(a).floor() as i8 }
    CvtRmiU16FromFtzF32 "cvt.rmi.ftz{,.sat}.u16.f32" Convert (a: f32) -> u16 { float::flush32(a).floor() as u16 }
    CvtRmiS16FromFtzF32 "cvt.rmi.ftz{,.sat}.s16.f32" Convert (a: f32) -> i16 { float::flush32(a).floor() as i16 }
    CvtRmiU32FromFtzF32 "cvt.rmi.ftz{,.sat}.u32.f32" Convert (a: f32) -> u32 { float::flush32(a).floor() as u32 }
    CvtRmiS32FromFtzF32 "cvt.rmi.ftz{,.sat}.s32.f32" Convert (a: f32) -> i32 { float::flush32(a).floor() as i32 }
    CvtRmiU64FromFtzF32 "cvt.rmi.ftz{,.sat}.u64.f32" Convert (a: f32) -> u64 { if a.is_nan() { 1 << 63 } else { float::flush32(a).floor() as u64 } }
    CvtRmiS64FromFtzF32 "cvt.rmi.ftz{,.sat}.s64.f32" Convert (a: f32) -> i64 { if a.is_nan() { i64::MIN } else { float::flush32(a).floor() as i64 } }
    CvtRpiU8FromFtzF32 "cvt.rpi.ftz{,.sat}.u8.f32" Convert (a: f32) -> u8 { float::flush32(a).ceil() as u8 }
    CvtRpiS8FromFtzF32 "cvt.rpi.ftz{,.sat}.s8.f32" Convert (a: f32) -> i8 { float::flush32(a).ceil() as i8 }
    CvtRpiU16FromFtzF32 "cvt.rpi.ftz{,.sat}.u16.f32" Convert (a: f32) -> u16 { float::flush32(a).ceil() as u16 }
    CvtRpiS16FromFtzF32 "cvt.rpi.ftz{,.sat}.s16.f32" Convert (a: f32) -> i16 { float::flush32(a).ceil() as i16 }
    CvtRpiU32FromFtzF32 "cvt.rpi.ftz{,.sat}.u32.f32" Convert (a: f32) -> u32 { float::flush32(a).ceil() as u32 }
    CvtRpiS32FromFtzF32 "cvt.rpi.ftz{,.sat}.s32.f32" Convert (a: f32) -> i32 { float::flush32(a).ceil() as i32 }
    CvtRpiU64FromFtzF32 "cvt.rpi.ftz{,.sat}.u64.f32" Convert (a: f32) -> u64 { if a.is_nan() { 1 << 63 } else { float::flush32(a).ceil() as u64 } }
    CvtRpiS64FromFtzF32 "cvt.rpi.ftz{,.sat}.s64.f32" Convert (a: f32) -> i64 { if a.is_nan() { i64::MIN } else { float::flush32(a).ceil() as i64 } }
    CvtRniU8FromF16 "cvt.rni{,.sat}.u8.f16" Convert (a: F16) -> u8 { { let a = a.widen(); a.round_ties_even() as u8 } }
    CvtRniS8FromF16 "cvt.rni{,.sat}.s8.f16" Convert (a: F16) -> i8 { { let a = a.widen(); a.round_ties_even() as i8 } }
    CvtRniU16FromF16 "cvt.rni{,.sat}.u16.f16" Convert (a: F16) -> u16 { { let a = a.widen(); a.round_ties_even() as u16 } }
    CvtRniS16FromF16 "cvt.rni{,.sat}.s16.f16" Convert (a: F16) -> i16 { { let a = a.widen(); a.round_ties_even() as i16 } }
    CvtRniU32FromF16 "cvt.rni{,.sat}.u32.f16" Convert (a: F16) -> u32 { { let a = a.widen(); a.round_ties_even() as u32 } }
    CvtRniS32FromF16 "cvt.rni{,.sat}.s32.f16" Convert (a: F16) -> i32 { { let a = a.widen(); a.round_ties_even() as i32 } }
    CvtRniU64FromF16 "cvt.rni{,.sat}.u64.f16" Convert (a: F16) -> u64 { { let a = a.widen(); if a.is_nan() { 1 << 63 } else { a.round_ties_even() as u64 } } }
    CvtRniS64FromF16 "cvt.rni{,.sat}.s64.f16" Convert (a: F16) -> i64 { { let a = a.widen(); if a.is_nan() { i64::MIN } else { a.round_ties_even() as i64 } } }
    CvtRziU8FromF16 "cvt.rzi{,.sat}.u8.f16" Convert (a: F16) -> u8 { { let a = a.widen(); a.trunc() as u8 } }
    CvtRziS8FromF16 "cvt.rzi{,.sat}.s8.f16" Convert (a: F16) -> i8 { { let a = a.widen(); a.trunc() as i8 } }
    CvtRziU16FromF16 "cvt.rzi{,.sat}.u16.f16" Convert (a: F16) -> u16 { { let a = a.widen(); a.trunc() as u16 } }
    CvtRziS16FromF16 "cvt.rzi{,.sat}.s16.f16" Convert (a: F16) -> i16 { { let a = a.widen(); a.trunc() as i16 } }
    CvtRziU32FromF16 "cvt.rzi{,.sat}.u32.f16" Convert (a: F16) -> u32 { { let a = a.widen(); a.trunc() as u32 } }
    CvtRziS32FromF16 "cvt.rzi{,.sat}.s32.f16" Convert (a: F16) -> i32 { { let a = a.widen(); a.trunc() as i32 } }
    CvtRziU64FromF16 "cvt.rzi{,.sat}.u64.f16" Convert (a: F16) -> u64 { { let a = a.widen(); if a.is_nan() { 1 << 63 } else { a.trunc() as u64 } } }
    CvtRziS64FromF16 "cvt.rzi{,.sat}.s64.f16" Convert (a: F16) -> i64 { { let a = a.widen(); if a.is_nan() { i64::MIN } else { a.trunc() as i64 } } }
    CvtRmiU8FromF16 "cvt.rmi{,.sat}.u8.f16" Convert (a: F16) -> u8 { { let a = a.widen(); a.floor() as u8 } }
    CvtRmiS8FromF16 "cvt.rmi{,.sat}.s8.f16" Convert (a: F16) -> i8 { { let a = a.widen(); a.floor() as i8 } }
    CvtRmiU16FromF16 "cvt.rmi{,.sat}.u16.f16" Convert (a: F16) -> u16 { { let a = a.widen(); a.floor() as u16 } }
    CvtRmiS16FromF16 "cvt.rmi{,.sat}.s16.f16" Convert (a: F16) -> i16 { { let a = a.widen(); a.floor() as i16 } }
    CvtRmiU32FromF16 "cvt.rmi{,.sat}.u32.f16" Convert (a: F16) -> u32 { { let a = a.widen(); a.floor() as u32 } }
    CvtRmiS32FromF16 "cvt.rmi{,.sat}.s32.f16" Convert (a: F16) -> i32 { { let a = a.widen(); a.floor() as i32 } }
    CvtRmiU64FromF16 "cvt.rmi{,.sat}.u64.f16" Convert (a: F16) -> u64 { { let a = a.widen(); if a.is_nan() { 1 << 63 } else { a.floor() as u64 } } }
    CvtRmiS64FromF16 "cvt.rmi{,.sat}.s64.f16" Convert (a: F16) -> i64 { { let a = a.widen(); if a.is_nan() { i64::MIN } else { a.floor() as i64 } } }
    CvtRpiU8FromF16 "cvt.rpi{,.sat}.u8.f16" Convert (a: F16) -> u8 { { let a = a.widen(); a.ceil() as u8 } }
    CvtRpiS8FromF16 "cvt.rpi{,.sat}.s8.f16" Convert (a: F16) -> i8 { { let a = a.widen(); a.ceil() as i8 } }
    CvtRpiU16FromF16 "cvt.rpi{,.sat}.u16.f16" Convert (a: F16) -> u16 { { let a = a.widen(); a.ceil() as u16 } }
    CvtRpiS16FromF16 "cvt.rpi{,.sat}.s16.f16" Convert (a: F16) -> i16 { { let a = a.widen(); a.ceil() as i16 } }
    CvtRpiU32FromF16 "cvt.rpi{,.sat}.u32.f16" Convert (a: F16) -> u32 { { let a = a.widen(); a.ceil() as u32 } }
    CvtRpiS32FromF16 "cvt.rpi{,.sat}.s32.f16" Convert (a: F16) -> i32 { { let a = a.widen(); a.ceil() as i32 } }
    CvtRpiU64FromF16 "cvt.rpi{,.sat}.u64.f16" Convert (a: F16) -> u64 { { let a = a.widen(); if a.is_nan() { 1 << 63 } else { a.ceil() as u64 } } }
    CvtRpiS64FromF16 "cvt.rpi{,.sat}.s64.f16" Convert (a: F16) -> i64 { { let a = a.widen(); if a.is_nan() { i64::MIN } else { a.ceil() as i64 } } }
    CvtRniU32FromBf16 "cvt.rni.u32.bf16" Convert (a: Bf16) -> u32 { { let a = a.widen(); a.round_ties_even() as u32 } }
    CvtRniS32FromBf16 "cvt.rni.s32.bf16" Convert (a: Bf16) -> i32 { { let a = a.widen(); a.round_ties_even() as i32 } }
    CvtRniU64FromBf16 "cvt.rni.u64.bf16" Convert (a: Bf16) -> u64 { { let a = a.widen(); if a.is_nan() { 1 << 63 } else { a.round_ties_even() as u64 } } }
    CvtRniS64FromBf16 "cvt.rni.s64.bf16" Convert (a: Bf16) -> i64 { { let a = a.widen(); if a.is_nan() { i64::MIN } else { a.round_ties_even() as i64 } } }
    CvtRziU32FromBf16 "cvt.rzi.u32.bf16" Convert (a: Bf16) -> u32 { { let a = a.widen(); a.trunc() as u32 } }
    CvtRziS32FromBf16 "cvt.rzi.s32.bf16" Convert (a: Bf16) -> i32 { { let a = a.widen(); a.trunc() as i32 } }
    CvtRziU64FromBf16 "cvt.rzi.u64.bf16" Convert (a: Bf16) -> u64 { { let a = a.widen(); if a.is_nan() { 1 << 63 } else { a.trunc() as u64 } } }
    CvtRziS64FromBf16 "cvt.rzi.s64.bf16" Convert (a: Bf16) -> i64 { { let a = a.widen(); if a.is_nan() { i64::MIN } else { a.trunc() as i64 } } }
    CvtRmiU32FromBf16 "cvt.rmi.u32.bf16" Convert (a: Bf16) -> u32 { { let a = a.widen(); a.floor() as u32 } }
    CvtRmiS32FromBf16 "cvt.rmi.s32.bf16" Convert (a: Bf16) -> i32 { { let a = a.widen(); a.floor() as i32 } }
    CvtRmiU64FromBf16 "cvt.rmi.u64.bf16" Convert (a: Bf16) -> u64 { { let a = a.widen(); if a.is_nan() { 1 << 63 } else { a.floor() as u64 } } }
    CvtRmiS64FromBf16 "cvt.rmi.s64.bf16" Convert (a: Bf16) -> i64 { { let a = a.widen(); if a.is_nan() { i64::MIN } else { a.floor() as i64 } } }
    CvtRpiU32FromBf16 "cvt.rpi.u32.bf16" Convert (a: Bf16) -> u32 { { let a = a.widen(); a.ceil() as u32 } }
    CvtRpiS32FromBf16 "cvt.rpi.s32.bf16" Convert (a: Bf16) -> i32 { { let a = a.widen(); a.ceil() as i32 } }
    CvtRpiU64FromBf16 "cvt.rpi.u64.bf16" Convert (a: Bf16) -> u64 { { let a = a.widen(); if a.is_nan() { 1 << 63 } else { a.ceil() as u64 } } }
    CvtRpiS64FromBf16 "cvt.rpi.s64.bf16" Convert (a: Bf16) -> i64 { { let a = a.widen(); if a.is_nan() { i64::MIN } else { a.ceil() as i64 } } }
    CvtF16FromU8 "cvt.rn.f16.u8" Convert (a: u8) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Nearest) }
    CvtRzF16FromU8 "cvt.rz.f16.u8" Convert (a: u8) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Zero) }
    CvtRmF16FromU8 "cvt.rm.f16.u8" Convert (a: u8) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Down) }
    CvtRpF16FromU8 "cvt.rp.f16.u8" Convert (a: u8) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Up) }
    CvtF16FromS8 "cvt.rn.f16.s8" Convert (a: i8) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Nearest) }
    CvtRzF16FromS8 "cvt.rz.f16.s8" Convert (a: i8) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Zero) }
    CvtRmF16FromS8 "cvt.rm.f16.s8" Convert (a: i8) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Down) }
    CvtRpF16FromS8 "cvt.rp.f16.s8" Convert (a: i8) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Up) }
    CvtF16FromU16 "cvt.rn.f16.u16" Convert (a: u16) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Nearest) }
    CvtRzF16FromU16 "cvt.rz.f16.u16" Convert (a: u16) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Zero) }
    CvtRmF16FromU16 "cvt.rm.f16.u16" Convert (a: u16) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Down) }
    CvtRpF16FromU16 "cvt.rp.f16.u16" Convert (a: u16) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Up) }
    CvtF16FromS16 "cvt.rn.f16.s16" Convert (a: i16) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Nearest) }
    CvtRzF16FromS16 "cvt.rz.f16.s16" Convert (a: i16) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Zero) }
    CvtRmF16FromS16 "cvt.rm.f16.s16" Convert (a: i16) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Down) }
    CvtRpF16FromS16 "cvt.rp.f16.s16" Convert (a: i16) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Up) }
    CvtRzF32FromU32 "cvt.rz{,.ftz}.f32.u32" Convert (a: u32) -> f32 { float::round32(format::whole(u64::from(a), false), Rounding::Zero) }
    CvtRmF32FromU32 "cvt.rm{,.ftz}.f32.u32" Convert (a: u32) -> f32 { float::round32(format::whole(u64::from(a), false), Rounding::Down) }
    CvtRpF32FromU32 "cvt.rp{,.ftz}.f32.u32" Convert (a: u32) -> f32 { float::round32(format::whole(u64::from(a), false), Rounding::Up) }
    CvtF16FromU32 "cvt.rn.f16.u32" Convert (a: u32) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Nearest) }
    CvtRzF16FromU32 "cvt.rz.f16.u32" Convert (a: u32) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Zero) }
    CvtRmF16FromU32 "cvt.rm.f16.u32" Convert (a: u32) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Down) }
    CvtRpF16FromU32 "cvt.rp.f16.u32" Convert (a: u32) -> F16 { half::round(format::whole(u64::from(a), false), Rounding::Up) }
    CvtBf16FromU32 "cvt.rn.bf16.u32" Convert (a: u32) -> Bf16 { half::round(format::whole(u64::from(a), false), Rounding::Nearest) }
    CvtRzBf16FromU32 "cvt.rz.bf16.u32" Convert (a: u32) -> Bf16 { half::round(format::whole(u64::from(a), false), Rounding::Zero) }
    CvtRmBf16FromU32 "cvt.rm.bf16.u32" Convert (a: u32) -> Bf16 { half::round(format::whole(u64::from(a), false), Rounding::Down) }
    CvtRpBf16FromU32 "cvt.rp.bf16.u32" Convert (a: u32) -> Bf16 { half::round(format::whole(u64::from(a), false), Rounding::Up) }
    CvtRzF32FromS32 "cvt.rz{,.ftz}.f32.s32" Convert (a: i32) -> f32 { float::round32(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Zero) }
    CvtRmF32FromS32 "cvt.rm{,.ftz}.f32.s32" Convert (a: i32) -> f32 { float::round32(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Down) }
    CvtRpF32FromS32 "cvt.rp{,.ftz}.f32.s32" Convert (a: i32) -> f32 { float::round32(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Up) }
    CvtF16FromS32 "cvt.rn.f16.s32" Convert (a: i32) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Nearest) }
    CvtRzF16FromS32 "cvt.rz.f16.s32" Convert (a: i32) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Zero) }
    CvtRmF16FromS32 "cvt.rm.f16.s32" Convert (a: i32) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Down) }
    CvtRpF16FromS32 "cvt.rp.f16.s32" Convert (a: i32) -> F16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Up) }
    CvtBf16FromS32 "cvt.rn.bf16.s32" Convert (a: i32) -> Bf16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Nearest) }
    CvtRzBf16FromS32 "cvt.rz.bf16.s32" Convert (a: i32) -> Bf16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Zero) }
    CvtRmBf16FromS32 "cvt.rm.bf16.s32" Convert (a: i32) -> Bf16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Down) }
    CvtRpBf16FromS32 "cvt.rp.bf16.s32" Convert (a: i32) -> Bf16 { half::round(format::whole(i64::from(a).unsigned_abs(), a < 0), Rounding::Up) }
    CvtRzF32FromU64 "cvt.rz{,.ftz}.f32.u64" Convert (a: u64) -> f32 { float::round32(format::whole(a, false), Rounding::Zero) }
    CvtRzF64FromU64 "cvt.rz.f64.u64" Convert (a: u64) -> f64 { exact::whole(a, false, Rounding::Zero) }
    CvtRmF32FromU64 "cvt.rm{,.ftz}.f32.u64" Convert (a: u64) -> f32 { float::round32(format::whole(a, false), Rounding::Down) }
    CvtRmF64FromU64 "cvt.rm.f64.u64" Convert (a: u64) -> f64 { exact::whole(a, false, Rounding::Down) }
    CvtRpF32FromU64 "cvt.rp{,.ftz}.f32.u64" Convert (a: u64) -> f32 { float::round32(format::whole(a, false), Rounding::Up) }
    CvtRpF64FromU64 "cvt.rp.f64.u64" Convert (a: u64) -> f64 { exact::whole(a, false, Rounding::Up) }
    CvtF16FromU64 "cvt.rn.f16.u64" Convert (a: u64) -> F16 { half::round(format::whole(a, false), Rounding::Nearest) }
    CvtRzF16FromU64 "cvt.rz.f16.u64" Convert (a: u64) -> F16 { half::round(format::whole(a, false), Rounding::Zero) }
    CvtRmF16FromU64 "cvt.rm.f16.u64" Convert (a: u64) -> F16 { half::round(format::whole(a, false), Rounding::Down) }
    CvtRpF16FromU64 "cvt.rp.f16.u64" Convert (a: u64) -> F16 { half::round(format::whole(a, false), Rounding::Up) }
    CvtBf16FromU64 "cvt.rn.bf16.u64" Convert (a: u64) -> Bf16 { half::round(format::whole(a, false), Rounding::Nearest) }
    CvtRzBf16FromU64 "cvt.rz.bf16.u64" Convert (a: u64) -> Bf16 { half::round(format::whole(a, false), Rounding::Zero) }
    CvtRmBf16FromU64 "cvt.rm.bf16.u64" Convert (a: u64) -> Bf16 { half::round(format::whole(a, false), Rounding::Down) }
    CvtRpBf16FromU64 "cvt.rp.bf16.u64" Convert (a: u64) -> Bf16 { half::round(format::whole(a, false), Rounding::Up) }
    CvtRzF32FromS64 "cvt.rz{,.ftz}.f32.s64" Convert (a: i64) -> f32 { float::round32(format::whole(a.unsigned_abs(), a < 0), Rounding::Zero) }
    CvtRzF64FromS64 "cvt.rz.f64.s64" Convert (a: i64) -> f64 { exact::whole(a.unsigned_abs(), a < 0, Rounding::Zero) }
    CvtRmF32FromS64 "cvt.rm{,.ftz}.f32.s64" Convert (a: i64) -> f32 { float::round32(format::whole(a.unsigned_abs(), a < 0), Rounding::Down) }
    CvtRmF64FromS64 "cvt.rm.f64.s64" Convert (a: i64) -> f64 { exact::whole(a.unsigned_abs(), a < 0, Rounding::Down) }
    CvtRpF32FromS64 "cvt.rp{,.ftz}.f32.s64" Convert (a: i64) -> f32 { float::round32(format::whole(a.unsigned_abs(), a < 0), Rounding::Up) }
    CvtRpF64FromS64 "cvt.rp.f64.s64" Convert (a: i64) -> f64 { exact::whole(a.unsigned_abs(), a < 0, Rounding::Up) }
    CvtF16FromS64 "cvt.rn.f16.s64" Convert (a: i64) -> F16 { half::round(format::whole(a.unsigned_abs(), a < 0), Rounding::Nearest) }
    CvtRzF16FromS64 "cvt.rz.f16.s64" Convert (a: i64) -> F16 { half::round(format::whole(a.unsigned_abs(), a < 0), Rounding::Zero) }
    CvtRmF16FromS64 "cvt.rm.f16.s64" Convert (a: i64) -> F16 { half::round(format::whole(a.unsigned_abs(), a < 0), Rounding::Down) }
    CvtRpF16FromS64 "cvt.rp.f16.s64" Convert (a: i64) -> F16 { half::round(format::whole(a.unsigned_abs(), a < 0), Rounding::Up) }
    CvtBf16FromS64 "cvt.rn.bf16.s64" Convert (a: i64) -> Bf16 { half::round(format::whole(a.unsigned_abs(), a < 0), Rounding::Nearest) }
    CvtRzBf16FromS64 "cvt.rz.bf16.s64" Convert (a: i64) -> Bf16 { half::round(format::whole(a.unsigned_abs(), a < 0), Rounding::Zero) }
    CvtRmBf16FromS64 "cvt.rm.bf16.s64" Convert (a: i64) -> Bf16 { half::round(format::whole(a.unsigned_abs(), a < 0), Rounding::Down) }
    CvtRpBf16FromS64 "cvt.rp.bf16.s64" Convert (a: i64) -> Bf16 { half::round(format::whole(a.unsigned_abs(), a < 0), Rounding::Up) }

    // Conversions between floats, and rounding to whole numbers. PTX does not specify the result for a NaN. An H200 copies a NaN
    // that keeps its type, and keeps sign and payload between f64 and other types, except with `.ftz`.
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
    CopyF32 "cvt.f32.f32" Convert (a: u32) -> u32 { a }
    FtzF32 "cvt.ftz.f32.f32" Convert (a: f32) -> f32 { float::flush32(canonical32(a)) }
    SatF32 "cvt.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(a) }
    FtzSatF32 "cvt.ftz.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(float::flush32(a)) }
    CopyF64 "cvt.f64.f64" Convert (a: u64) -> u64 { a }
    SatF64 "cvt.sat.f64.f64" Convert (a: f64) -> f64 { float::saturate64(a) }
    RoundRniFtzF32 "cvt.rni.ftz.f32.f32" Convert (a: f32) -> f32 { canonical32(float::flush32(a).round_ties_even()) }
    RoundRniSatF32 "cvt.rni.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(a.round_ties_even()) }
    RoundRniFtzSatF32 "cvt.rni.ftz.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(float::flush32(a).round_ties_even()) }
    RoundRniSatF64 "cvt.rni.sat.f64.f64" Convert (a: f64) -> f64 { float::saturate64(a.round_ties_even()) }
    RoundRniF16 "cvt.rni.f16.f16" Convert (a: F16) -> F16 { half::round(f64::from(a.widen().round_ties_even()), Rounding::Nearest) }
    RoundRniBf16 "cvt.rni.bf16.bf16" Convert (a: Bf16) -> Bf16 { half::round(f64::from(a.widen().round_ties_even()), Rounding::Nearest) }
    RoundRziFtzF32 "cvt.rzi.ftz.f32.f32" Convert (a: f32) -> f32 { canonical32(float::flush32(a).trunc()) }
    RoundRziSatF32 "cvt.rzi.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(a.trunc()) }
    RoundRziFtzSatF32 "cvt.rzi.ftz.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(float::flush32(a).trunc()) }
    RoundRziSatF64 "cvt.rzi.sat.f64.f64" Convert (a: f64) -> f64 { float::saturate64(a.trunc()) }
    RoundRziF16 "cvt.rzi.f16.f16" Convert (a: F16) -> F16 { half::round(f64::from(a.widen().trunc()), Rounding::Nearest) }
    RoundRziBf16 "cvt.rzi.bf16.bf16" Convert (a: Bf16) -> Bf16 { half::round(f64::from(a.widen().trunc()), Rounding::Nearest) }
    RoundRmiFtzF32 "cvt.rmi.ftz.f32.f32" Convert (a: f32) -> f32 { canonical32(float::flush32(a).floor()) }
    RoundRmiSatF32 "cvt.rmi.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(a.floor()) }
    RoundRmiFtzSatF32 "cvt.rmi.ftz.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(float::flush32(a).floor()) }
    RoundRmiSatF64 "cvt.rmi.sat.f64.f64" Convert (a: f64) -> f64 { float::saturate64(a.floor()) }
    RoundRmiF16 "cvt.rmi.f16.f16" Convert (a: F16) -> F16 { half::round(f64::from(a.widen().floor()), Rounding::Nearest) }
    RoundRmiBf16 "cvt.rmi.bf16.bf16" Convert (a: Bf16) -> Bf16 { half::round(f64::from(a.widen().floor()), Rounding::Nearest) }
    RoundRpiFtzF32 "cvt.rpi.ftz.f32.f32" Convert (a: f32) -> f32 { canonical32(float::flush32(a).ceil()) }
    RoundRpiSatF32 "cvt.rpi.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(a.ceil()) }
    RoundRpiFtzSatF32 "cvt.rpi.ftz.sat.f32.f32" Convert (a: f32) -> f32 { float::saturate32(float::flush32(a).ceil()) }
    RoundRpiSatF64 "cvt.rpi.sat.f64.f64" Convert (a: f64) -> f64 { float::saturate64(a.ceil()) }
    RoundRpiF16 "cvt.rpi.f16.f16" Convert (a: F16) -> F16 { half::round(f64::from(a.widen().ceil()), Rounding::Nearest) }
    RoundRpiBf16 "cvt.rpi.bf16.bf16" Convert (a: Bf16) -> Bf16 { half::round(f64::from(a.widen().ceil()), Rounding::Nearest) }
    CvtSatF32FromF64 "cvt.rn.sat.f32.f64" Convert (a: f64) -> f32 { float::saturate32(a as f32) }
    CvtFtzF32FromF64 "cvt.rn.ftz.f32.f64" Convert (a: f64) -> f32 { float::flush32(a as f32) }
    CvtFtzSatF32FromF64 "cvt.rn.ftz.sat.f32.f64" Convert (a: f64) -> f32 { float::flush32(float::saturate32(a as f32)) }
    CvtRzF32FromF64 "cvt.rz.f32.f64" Convert (a: f64) -> f32 { float::cvt32(a, Rounding::Zero) }
    CvtRzSatF32FromF64 "cvt.rz.sat.f32.f64" Convert (a: f64) -> f32 { float::saturate32(float::cvt32(a, Rounding::Zero)) }
    CvtRzFtzF32FromF64 "cvt.rz.ftz.f32.f64" Convert (a: f64) -> f32 { float::flush32(float::cvt32(a, Rounding::Zero)) }
    CvtRzFtzSatF32FromF64 "cvt.rz.ftz.sat.f32.f64" Convert (a: f64) -> f32 { float::flush32(float::saturate32(float::cvt32(a, Rounding::Zero))) }
    CvtRmF32FromF64 "cvt.rm.f32.f64" Convert (a: f64) -> f32 { float::cvt32(a, Rounding::Down) }
    CvtRmSatF32FromF64 "cvt.rm.sat.f32.f64" Convert (a: f64) -> f32 { float::saturate32(float::cvt32(a, Rounding::Down)) }
    CvtRmFtzF32FromF64 "cvt.rm.ftz.f32.f64" Convert (a: f64) -> f32 { float::flush32(float::cvt32(a, Rounding::Down)) }
    CvtRmFtzSatF32FromF64 "cvt.rm.ftz.sat.f32.f64" Convert (a: f64) -> f32 { float::flush32(float::saturate32(float::cvt32(a, Rounding::Down))) }
    CvtRpF32FromF64 "cvt.rp.f32.f64" Convert (a: f64) -> f32 { float::cvt32(a, Rounding::Up) }
    CvtRpSatF32FromF64 "cvt.rp.sat.f32.f64" Convert (a: f64) -> f32 { float::saturate32(float::cvt32(a, Rounding::Up)) }
    CvtRpFtzF32FromF64 "cvt.rp.ftz.f32.f64" Convert (a: f64) -> f32 { float::flush32(float::cvt32(a, Rounding::Up)) }
    CvtRpFtzSatF32FromF64 "cvt.rp.ftz.sat.f32.f64" Convert (a: f64) -> f32 { float::flush32(float::saturate32(float::cvt32(a, Rounding::Up))) }
    CvtFtzF64FromF32 "cvt.ftz.f64.f32" Convert (a: f32) -> f64 { f64::from(float::flush32(canonical32(a))) }
    CvtSatF64FromF32 "cvt.sat.f64.f32" Convert (a: f32) -> f64 { float::saturate64(f64::from(a)) }
    CvtFtzSatF64FromF32 "cvt.ftz.sat.f64.f32" Convert (a: f32) -> f64 { float::saturate64(f64::from(float::flush32(a))) }

    // To and from floats of 16 bits, and TF32. In a pair, the first operand is the upper half. On the way to f16, an H200 does not
    // flush as `.ftz` says: a subnormal f32, rounded up, is the smallest f16.
    CvtF32FromF16 "cvt{,.ftz}.f32.f16" Convert (a: F16) -> f32 { canonical32(a.widen()) }
    CvtSatF32FromF16 "cvt{,.ftz}.sat.f32.f16" Convert (a: F16) -> f32 { float::saturate32(a.widen()) }
    CvtF64FromF16 "cvt.f64.f16" Convert (a: F16) -> f64 { f64::from(a.widen()) }
    CvtF16FromF32 "cvt.rn{,.ftz}.f16.f32" Convert (a: f32) -> F16 { half::round(a.into(), Rounding::Nearest) }
    CvtSatF16FromF32 "cvt.rn{,.ftz}.sat.f16.f32" Convert (a: f32) -> F16 { half::saturate(half::round(a.into(), Rounding::Nearest)) }
    CvtF16FromF64 "cvt.rn.f16.f64" Convert (a: f64) -> F16 { half::narrowed(a, Rounding::Nearest) }
    CvtReluF16FromF32 "cvt.rn.relu.f16.f32" Convert (a: f32) -> F16 { half::relu(half::round(a.into(), Rounding::Nearest)) }
    CvtF16x2FromF32 "cvt.rn.f16x2.f32" Convert (high: f32, low: f32) -> Two<F16> { Two(low, high).map(|a| half::round(a.into(), Rounding::Nearest)) }
    CvtReluF16x2FromF32 "cvt.rn.relu.f16x2.f32" Convert (high: f32, low: f32) -> Two<F16> { Two(low, high).map(|a| half::relu(half::round(a.into(), Rounding::Nearest))) }
    CvtRzF16FromF32 "cvt.rz{,.ftz}.f16.f32" Convert (a: f32) -> F16 { half::round(a.into(), Rounding::Zero) }
    CvtRzSatF16FromF32 "cvt.rz{,.ftz}.sat.f16.f32" Convert (a: f32) -> F16 { half::saturate(half::round(a.into(), Rounding::Zero)) }
    CvtRzF16FromF64 "cvt.rz.f16.f64" Convert (a: f64) -> F16 { half::narrowed(a, Rounding::Zero) }
    CvtRzReluF16FromF32 "cvt.rz.relu.f16.f32" Convert (a: f32) -> F16 { half::relu(half::round(a.into(), Rounding::Zero)) }
    CvtRzF16x2FromF32 "cvt.rz.f16x2.f32" Convert (high: f32, low: f32) -> Two<F16> { Two(low, high).map(|a| half::round(a.into(), Rounding::Zero)) }
    CvtRzReluF16x2FromF32 "cvt.rz.relu.f16x2.f32" Convert (high: f32, low: f32) -> Two<F16> { Two(low, high).map(|a| half::relu(half::round(a.into(), Rounding::Zero))) }
    CvtRmF16FromF32 "cvt.rm{,.ftz}.f16.f32" Convert (a: f32) -> F16 { half::round(a.into(), Rounding::Down) }
    CvtRmSatF16FromF32 "cvt.rm{,.ftz}.sat.f16.f32" Convert (a: f32) -> F16 { half::saturate(half::round(a.into(), Rounding::Down)) }
    CvtRmF16FromF64 "cvt.rm.f16.f64" Convert (a: f64) -> F16 { half::narrowed(a, Rounding::Down) }
    CvtRpF16FromF32 "cvt.rp{,.ftz}.f16.f32" Convert (a: f32) -> F16 { half::round(a.into(), Rounding::Up) }
    CvtRpSatF16FromF32 "cvt.rp{,.ftz}.sat.f16.f32" Convert (a: f32) -> F16 { half::saturate(half::round(a.into(), Rounding::Up)) }
    CvtRpF16FromF64 "cvt.rp.f16.f64" Convert (a: f64) -> F16 { half::narrowed(a, Rounding::Up) }
    CvtF32FromBf16 "cvt.f32.bf16" Convert (a: Bf16) -> f32 { a.widen() }
    CvtF64FromBf16 "cvt.f64.bf16" Convert (a: Bf16) -> f64 { f64::from(a.widen()) }
    CvtBf16FromF32 "cvt.rn.bf16.f32" Convert (a: f32) -> Bf16 { half::round(a.into(), Rounding::Nearest) }
    CvtBf16FromF64 "cvt.rn.bf16.f64" Convert (a: f64) -> Bf16 { half::narrowed(a, Rounding::Nearest) }
    CvtReluBf16FromF32 "cvt.rn.relu.bf16.f32" Convert (a: f32) -> Bf16 { half::relu(half::round(a.into(), Rounding::Nearest)) }
    CvtBf16x2FromF32 "cvt.rn.bf16x2.f32" Convert (high: f32, low: f32) -> Two<Bf16> { Two(low, high).map(|a| half::round(a.into(), Rounding::Nearest)) }
    CvtReluBf16x2FromF32 "cvt.rn.relu.bf16x2.f32" Convert (high: f32, low: f32) -> Two<Bf16> { Two(low, high).map(|a| half::relu(half::round(a.into(), Rounding::Nearest))) }
    CvtRzBf16FromF32 "cvt.rz.bf16.f32" Convert (a: f32) -> Bf16 { half::round(a.into(), Rounding::Zero) }
    CvtRzBf16FromF64 "cvt.rz.bf16.f64" Convert (a: f64) -> Bf16 { half::narrowed(a, Rounding::Zero) }
    CvtRzReluBf16FromF32 "cvt.rz.relu.bf16.f32" Convert (a: f32) -> Bf16 { half::relu(half::round(a.into(), Rounding::Zero)) }
    CvtRzBf16x2FromF32 "cvt.rz.bf16x2.f32" Convert (high: f32, low: f32) -> Two<Bf16> { Two(low, high).map(|a| half::round(a.into(), Rounding::Zero)) }
    CvtRzReluBf16x2FromF32 "cvt.rz.relu.bf16x2.f32" Convert (high: f32, low: f32) -> Two<Bf16> { Two(low, high).map(|a| half::relu(half::round(a.into(), Rounding::Zero))) }
    CvtRmBf16FromF32 "cvt.rm.bf16.f32" Convert (a: f32) -> Bf16 { half::round(a.into(), Rounding::Down) }
    CvtRmBf16FromF64 "cvt.rm.bf16.f64" Convert (a: f64) -> Bf16 { half::narrowed(a, Rounding::Down) }
    CvtRpBf16FromF32 "cvt.rp.bf16.f32" Convert (a: f32) -> Bf16 { half::round(a.into(), Rounding::Up) }
    CvtRpBf16FromF64 "cvt.rp.bf16.f64" Convert (a: f64) -> Bf16 { half::narrowed(a, Rounding::Up) }
    CvtRnaTf32 "cvt.rna.tf32.f32" Convert (a: f32) -> f32 { float::tf32_away(a) }
    CvtRnTf32 "cvt.rn.tf32.f32" Convert (a: f32) -> f32 { float::tf32(a, Rounding::Nearest) }
    CvtRnReluTf32 "cvt.rn.relu.tf32.f32" Convert (a: f32) -> f32 { float::tf32(float::relu32(a), Rounding::Nearest) }
    CvtRzTf32 "cvt.rz.tf32.f32" Convert (a: f32) -> f32 { float::tf32(a, Rounding::Zero) }
    CvtRzReluTf32 "cvt.rz.relu.tf32.f32" Convert (a: f32) -> f32 { float::tf32(float::relu32(a), Rounding::Zero) }

    // Integers to floats with `.sat`: only 0 and 1 are left.
    CvtSatF32FromU8 "cvt.{rn,rz,rm,rp}{,.ftz}.sat.f32.u8" Convert (a: u8) -> f32 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF64FromU8 "cvt.{rn,rz,rm,rp}.sat.f64.u8" Convert (a: u8) -> f64 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF16FromU8 "cvt.{rn,rz,rm,rp}.sat.f16.u8" Convert (a: u8) -> F16 { F16(if a > 0 { 0x3c00 } else { 0 }) }
    CvtSatF32FromS8 "cvt.{rn,rz,rm,rp}{,.ftz}.sat.f32.s8" Convert (a: i8) -> f32 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF64FromS8 "cvt.{rn,rz,rm,rp}.sat.f64.s8" Convert (a: i8) -> f64 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF16FromS8 "cvt.{rn,rz,rm,rp}.sat.f16.s8" Convert (a: i8) -> F16 { F16(if a > 0 { 0x3c00 } else { 0 }) }
    CvtSatF32FromU16 "cvt.{rn,rz,rm,rp}{,.ftz}.sat.f32.u16" Convert (a: u16) -> f32 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF64FromU16 "cvt.{rn,rz,rm,rp}.sat.f64.u16" Convert (a: u16) -> f64 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF16FromU16 "cvt.{rn,rz,rm,rp}.sat.f16.u16" Convert (a: u16) -> F16 { F16(if a > 0 { 0x3c00 } else { 0 }) }
    CvtSatF32FromS16 "cvt.{rn,rz,rm,rp}{,.ftz}.sat.f32.s16" Convert (a: i16) -> f32 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF64FromS16 "cvt.{rn,rz,rm,rp}.sat.f64.s16" Convert (a: i16) -> f64 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF16FromS16 "cvt.{rn,rz,rm,rp}.sat.f16.s16" Convert (a: i16) -> F16 { F16(if a > 0 { 0x3c00 } else { 0 }) }
    CvtSatF32FromU32 "cvt.{rn,rz,rm,rp}{,.ftz}.sat.f32.u32" Convert (a: u32) -> f32 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF64FromU32 "cvt.{rn,rz,rm,rp}.sat.f64.u32" Convert (a: u32) -> f64 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF16FromU32 "cvt.{rn,rz,rm,rp}.sat.f16.u32" Convert (a: u32) -> F16 { F16(if a > 0 { 0x3c00 } else { 0 }) }
    CvtSatF32FromS32 "cvt.{rn,rz,rm,rp}{,.ftz}.sat.f32.s32" Convert (a: i32) -> f32 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF64FromS32 "cvt.{rn,rz,rm,rp}.sat.f64.s32" Convert (a: i32) -> f64 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF16FromS32 "cvt.{rn,rz,rm,rp}.sat.f16.s32" Convert (a: i32) -> F16 { F16(if a > 0 { 0x3c00 } else { 0 }) }
    CvtSatF32FromU64 "cvt.{rn,rz,rm,rp}{,.ftz}.sat.f32.u64" Convert (a: u64) -> f32 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF64FromU64 "cvt.{rn,rz,rm,rp}.sat.f64.u64" Convert (a: u64) -> f64 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF16FromU64 "cvt.{rn,rz,rm,rp}.sat.f16.u64" Convert (a: u64) -> F16 { F16(if a > 0 { 0x3c00 } else { 0 }) }
    CvtSatF32FromS64 "cvt.{rn,rz,rm,rp}{,.ftz}.sat.f32.s64" Convert (a: i64) -> f32 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF64FromS64 "cvt.{rn,rz,rm,rp}.sat.f64.s64" Convert (a: i64) -> f64 { if a > 0 { 1.0 } else { 0.0 } }
    CvtSatF16FromS64 "cvt.{rn,rz,rm,rp}.sat.f16.s64" Convert (a: i64) -> F16 { F16(if a > 0 { 0x3c00 } else { 0 }) }

    // Between bf16 and narrow integers.
    CvtBf16FromU8 "cvt.rn.bf16.u8" Convert (a: u8) -> Bf16 { half::round(f64::from(a), Rounding::Nearest) }
    CvtRzBf16FromU8 "cvt.rz.bf16.u8" Convert (a: u8) -> Bf16 { half::round(f64::from(a), Rounding::Zero) }
    CvtRmBf16FromU8 "cvt.rm.bf16.u8" Convert (a: u8) -> Bf16 { half::round(f64::from(a), Rounding::Down) }
    CvtRpBf16FromU8 "cvt.rp.bf16.u8" Convert (a: u8) -> Bf16 { half::round(f64::from(a), Rounding::Up) }
    CvtBf16FromS8 "cvt.rn.bf16.s8" Convert (a: i8) -> Bf16 { half::round(f64::from(a), Rounding::Nearest) }
    CvtRzBf16FromS8 "cvt.rz.bf16.s8" Convert (a: i8) -> Bf16 { half::round(f64::from(a), Rounding::Zero) }
    CvtRmBf16FromS8 "cvt.rm.bf16.s8" Convert (a: i8) -> Bf16 { half::round(f64::from(a), Rounding::Down) }
    CvtRpBf16FromS8 "cvt.rp.bf16.s8" Convert (a: i8) -> Bf16 { half::round(f64::from(a), Rounding::Up) }
    CvtBf16FromU16 "cvt.rn.bf16.u16" Convert (a: u16) -> Bf16 { half::round(f64::from(a), Rounding::Nearest) }
    CvtRzBf16FromU16 "cvt.rz.bf16.u16" Convert (a: u16) -> Bf16 { half::round(f64::from(a), Rounding::Zero) }
    CvtRmBf16FromU16 "cvt.rm.bf16.u16" Convert (a: u16) -> Bf16 { half::round(f64::from(a), Rounding::Down) }
    CvtRpBf16FromU16 "cvt.rp.bf16.u16" Convert (a: u16) -> Bf16 { half::round(f64::from(a), Rounding::Up) }
    CvtBf16FromS16 "cvt.rn.bf16.s16" Convert (a: i16) -> Bf16 { half::round(f64::from(a), Rounding::Nearest) }
    CvtRzBf16FromS16 "cvt.rz.bf16.s16" Convert (a: i16) -> Bf16 { half::round(f64::from(a), Rounding::Zero) }
    CvtRmBf16FromS16 "cvt.rm.bf16.s16" Convert (a: i16) -> Bf16 { half::round(f64::from(a), Rounding::Down) }
    CvtRpBf16FromS16 "cvt.rp.bf16.s16" Convert (a: i16) -> Bf16 { half::round(f64::from(a), Rounding::Up) }
    CvtRniU8FromBf16 "cvt.rni.u8.bf16" Convert (a: Bf16) -> u8 { a.widen().round_ties_even() as u8 }
    CvtRniS8FromBf16 "cvt.rni.s8.bf16" Convert (a: Bf16) -> i8 { a.widen().round_ties_even() as i8 }
    CvtRniU16FromBf16 "cvt.rni.u16.bf16" Convert (a: Bf16) -> u16 { a.widen().round_ties_even() as u16 }
    CvtRniS16FromBf16 "cvt.rni.s16.bf16" Convert (a: Bf16) -> i16 { a.widen().round_ties_even() as i16 }
    CvtRziU8FromBf16 "cvt.rzi.u8.bf16" Convert (a: Bf16) -> u8 { a.widen().trunc() as u8 }
    CvtRziS8FromBf16 "cvt.rzi.s8.bf16" Convert (a: Bf16) -> i8 { a.widen().trunc() as i8 }
    CvtRziU16FromBf16 "cvt.rzi.u16.bf16" Convert (a: Bf16) -> u16 { a.widen().trunc() as u16 }
    CvtRziS16FromBf16 "cvt.rzi.s16.bf16" Convert (a: Bf16) -> i16 { a.widen().trunc() as i16 }
    CvtRmiU8FromBf16 "cvt.rmi.u8.bf16" Convert (a: Bf16) -> u8 { a.widen().floor() as u8 }
    CvtRmiS8FromBf16 "cvt.rmi.s8.bf16" Convert (a: Bf16) -> i8 { a.widen().floor() as i8 }
    CvtRmiU16FromBf16 "cvt.rmi.u16.bf16" Convert (a: Bf16) -> u16 { a.widen().floor() as u16 }
    CvtRmiS16FromBf16 "cvt.rmi.s16.bf16" Convert (a: Bf16) -> i16 { a.widen().floor() as i16 }
    CvtRpiU8FromBf16 "cvt.rpi.u8.bf16" Convert (a: Bf16) -> u8 { a.widen().ceil() as u8 }
    CvtRpiS8FromBf16 "cvt.rpi.s8.bf16" Convert (a: Bf16) -> i8 { a.widen().ceil() as i8 }
    CvtRpiU16FromBf16 "cvt.rpi.u16.bf16" Convert (a: Bf16) -> u16 { a.widen().ceil() as u16 }
    CvtRpiS16FromBf16 "cvt.rpi.s16.bf16" Convert (a: Bf16) -> i16 { a.widen().ceil() as i16 }

    // Between f16 and bf16.
    CvtF16FromBf16 "cvt{,.rn}.f16.bf16" Convert (a: Bf16) -> F16 { half::round(a.widen().into(), Rounding::Nearest) }
    CvtBf16FromF16 "cvt{,.rn}.bf16.f16" Convert (a: F16) -> Bf16 { half::round(a.widen().into(), Rounding::Nearest) }
    CvtSatF16FromF64 "cvt.rn.sat.f16.f64" Convert (a: f64) -> F16 { half::saturate(half::round(a, Rounding::Nearest)) }
    CvtRzF16FromBf16 "cvt.rz.f16.bf16" Convert (a: Bf16) -> F16 { half::round(a.widen().into(), Rounding::Zero) }
    CvtRzBf16FromF16 "cvt.rz.bf16.f16" Convert (a: F16) -> Bf16 { half::round(a.widen().into(), Rounding::Zero) }
    CvtRzSatF16FromF64 "cvt.rz.sat.f16.f64" Convert (a: f64) -> F16 { half::saturate(half::round(a, Rounding::Zero)) }
    CvtRmF16FromBf16 "cvt.rm.f16.bf16" Convert (a: Bf16) -> F16 { half::round(a.widen().into(), Rounding::Down) }
    CvtRmBf16FromF16 "cvt.rm.bf16.f16" Convert (a: F16) -> Bf16 { half::round(a.widen().into(), Rounding::Down) }
    CvtRmSatF16FromF64 "cvt.rm.sat.f16.f64" Convert (a: f64) -> F16 { half::saturate(half::round(a, Rounding::Down)) }
    CvtRpF16FromBf16 "cvt.rp.f16.bf16" Convert (a: Bf16) -> F16 { half::round(a.widen().into(), Rounding::Up) }
    CvtRpBf16FromF16 "cvt.rp.bf16.f16" Convert (a: F16) -> Bf16 { half::round(a.widen().into(), Rounding::Up) }
    CvtRpSatF16FromF64 "cvt.rp.sat.f16.f64" Convert (a: f64) -> F16 { half::saturate(half::round(a, Rounding::Up)) }
    CopyF16 "cvt.f16.f16" Convert (a: F16) -> F16 { half::round(a.widen().into(), Rounding::Nearest) }
    CopyBf16 "cvt.bf16.bf16" Convert (a: Bf16) -> Bf16 { half::round(a.widen().into(), Rounding::Nearest) }
    SatF16 "cvt.sat.f16.f16" Convert (a: F16) -> F16 { half::saturate(a) }
    RoundRniSatF16 "cvt.rni.sat.f16.f16" Convert (a: F16) -> F16 { half::saturate(half::round(f64::from(a.widen().round_ties_even()), Rounding::Nearest)) }
    RoundRziSatF16 "cvt.rzi.sat.f16.f16" Convert (a: F16) -> F16 { half::saturate(half::round(f64::from(a.widen().trunc()), Rounding::Nearest)) }
    RoundRmiSatF16 "cvt.rmi.sat.f16.f16" Convert (a: F16) -> F16 { half::saturate(half::round(f64::from(a.widen().floor()), Rounding::Nearest)) }
    RoundRpiSatF16 "cvt.rpi.sat.f16.f16" Convert (a: F16) -> F16 { half::saturate(half::round(f64::from(a.widen().ceil()), Rounding::Nearest)) }
    CvtFtzF32FromBf16 "cvt.ftz.f32.bf16" Convert (a: Bf16) -> f32 { float::flush32(canonical32(a.widen())) }

    // What is beyond the largest number becomes that number (`.satfinite`).
    CvtFiniteF16FromF32 "cvt.rn.satfinite.f16.f32" Convert (a: f32) -> F16 { half::finite(half::round(a.into(), Rounding::Nearest)) }
    CvtFiniteReluF16FromF32 "cvt.rn.relu.satfinite.f16.f32" Convert (a: f32) -> F16 { half::finite(half::relu(half::round(a.into(), Rounding::Nearest))) }
    CvtFiniteF16x2FromF32 "cvt.rn.satfinite.f16x2.f32" Convert (high: f32, low: f32) -> Two<F16> { Two(low, high).map(|a| half::finite(half::round(a.into(), Rounding::Nearest))) }
    CvtFiniteReluF16x2FromF32 "cvt.rn.relu.satfinite.f16x2.f32" Convert (high: f32, low: f32) -> Two<F16> { Two(low, high).map(|a| half::finite(half::relu(half::round(a.into(), Rounding::Nearest)))) }
    CvtFiniteBf16FromF32 "cvt.rn.satfinite.bf16.f32" Convert (a: f32) -> Bf16 { half::finite(half::round(a.into(), Rounding::Nearest)) }
    CvtFiniteReluBf16FromF32 "cvt.rn.relu.satfinite.bf16.f32" Convert (a: f32) -> Bf16 { half::finite(half::relu(half::round(a.into(), Rounding::Nearest))) }
    CvtFiniteBf16x2FromF32 "cvt.rn.satfinite.bf16x2.f32" Convert (high: f32, low: f32) -> Two<Bf16> { Two(low, high).map(|a| half::finite(half::round(a.into(), Rounding::Nearest))) }
    CvtFiniteReluBf16x2FromF32 "cvt.rn.relu.satfinite.bf16x2.f32" Convert (high: f32, low: f32) -> Two<Bf16> { Two(low, high).map(|a| half::finite(half::relu(half::round(a.into(), Rounding::Nearest)))) }
    CvtRzFiniteF16FromF32 "cvt.rz.satfinite.f16.f32" Convert (a: f32) -> F16 { half::finite(half::round(a.into(), Rounding::Zero)) }
    CvtRzFiniteReluF16FromF32 "cvt.rz.relu.satfinite.f16.f32" Convert (a: f32) -> F16 { half::finite(half::relu(half::round(a.into(), Rounding::Zero))) }
    CvtRzFiniteF16x2FromF32 "cvt.rz.satfinite.f16x2.f32" Convert (high: f32, low: f32) -> Two<F16> { Two(low, high).map(|a| half::finite(half::round(a.into(), Rounding::Zero))) }
    CvtRzFiniteReluF16x2FromF32 "cvt.rz.relu.satfinite.f16x2.f32" Convert (high: f32, low: f32) -> Two<F16> { Two(low, high).map(|a| half::finite(half::relu(half::round(a.into(), Rounding::Zero)))) }
    CvtRzFiniteBf16FromF32 "cvt.rz.satfinite.bf16.f32" Convert (a: f32) -> Bf16 { half::finite(half::round(a.into(), Rounding::Zero)) }
    CvtRzFiniteReluBf16FromF32 "cvt.rz.relu.satfinite.bf16.f32" Convert (a: f32) -> Bf16 { half::finite(half::relu(half::round(a.into(), Rounding::Zero))) }
    CvtRzFiniteBf16x2FromF32 "cvt.rz.satfinite.bf16x2.f32" Convert (high: f32, low: f32) -> Two<Bf16> { Two(low, high).map(|a| half::finite(half::round(a.into(), Rounding::Zero))) }
    CvtRzFiniteReluBf16x2FromF32 "cvt.rz.relu.satfinite.bf16x2.f32" Convert (high: f32, low: f32) -> Two<Bf16> { Two(low, high).map(|a| half::finite(half::relu(half::round(a.into(), Rounding::Zero)))) }
    CvtRnaFiniteTf32 "cvt.rna.satfinite.tf32.f32" Convert (a: f32) -> f32 { float::finite_tf32(float::tf32_away(a)) }

    // Pairs of numbers of 8 bits.
    CvtE4M3x2FromF32 "cvt.rn.satfinite.e4m3x2.f32" Convert (high: f32, low: f32) -> u16 { quarter::pair(low.into(), high.into(), quarter::to_e4m3) }
    CvtReluE4M3x2FromF32 "cvt.rn.relu.satfinite.e4m3x2.f32" Convert (high: f32, low: f32) -> u16 { quarter::pair(float::relu32(low).into(), float::relu32(high).into(), quarter::to_e4m3) }
    CvtE4M3x2FromF16x2 "cvt.rn.satfinite.e4m3x2.f16x2" Convert (a: Two<F16>) -> u16 { quarter::pair(a.0.widen().into(), a.1.widen().into(), quarter::to_e4m3) }
    CvtReluE4M3x2FromF16x2 "cvt.rn.relu.satfinite.e4m3x2.f16x2" Convert (a: Two<F16>) -> u16 { { let a = a.map(half::relu); quarter::pair(a.0.widen().into(), a.1.widen().into(), quarter::to_e4m3) } }
    CvtF16x2FromE4M3x2 "cvt.rn.f16x2.e4m3x2" Convert (a: u16) -> Two<F16> { Two(quarter::of_e4m3(a as u8), quarter::of_e4m3((a >> 8) as u8)) }
    CvtReluF16x2FromE4M3x2 "cvt.rn.relu.f16x2.e4m3x2" Convert (a: u16) -> Two<F16> { Two(quarter::of_e4m3(a as u8), quarter::of_e4m3((a >> 8) as u8)).map(half::relu) }
    CvtE5M2x2FromF32 "cvt.rn.satfinite.e5m2x2.f32" Convert (high: f32, low: f32) -> u16 { quarter::pair(low.into(), high.into(), quarter::to_e5m2) }
    CvtReluE5M2x2FromF32 "cvt.rn.relu.satfinite.e5m2x2.f32" Convert (high: f32, low: f32) -> u16 { quarter::pair(float::relu32(low).into(), float::relu32(high).into(), quarter::to_e5m2) }
    CvtE5M2x2FromF16x2 "cvt.rn.satfinite.e5m2x2.f16x2" Convert (a: Two<F16>) -> u16 { quarter::pair(a.0.widen().into(), a.1.widen().into(), quarter::to_e5m2) }
    CvtReluE5M2x2FromF16x2 "cvt.rn.relu.satfinite.e5m2x2.f16x2" Convert (a: Two<F16>) -> u16 { { let a = a.map(half::relu); quarter::pair(a.0.widen().into(), a.1.widen().into(), quarter::to_e5m2) } }
    CvtF16x2FromE5M2x2 "cvt.rn.f16x2.e5m2x2" Convert (a: u16) -> Two<F16> { Two(quarter::of_e5m2(a as u8), quarter::of_e5m2((a >> 8) as u8)) }
    CvtReluF16x2FromE5M2x2 "cvt.rn.relu.f16x2.e5m2x2" Convert (a: u16) -> Two<F16> { Two(quarter::of_e5m2(a as u8), quarter::of_e5m2((a >> 8) as u8)).map(half::relu) }

    // Integers, clamped and packed.
    CvtPackU16 "cvt.pack.sat.u16.s32" Convert (a: i32, b: i32) -> u32 { integer::pack(a, b, 0, 16, false) }
    CvtPackS16 "cvt.pack.sat.s16.s32" Convert (a: i32, b: i32) -> u32 { integer::pack(a, b, 0, 16, true) }
    CvtPackU8 "cvt.pack.sat.u8.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 8, false) }
    CvtPackS8 "cvt.pack.sat.s8.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 8, true) }
    CvtPackU4 "cvt.pack.sat.u4.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 4, false) }
    CvtPackS4 "cvt.pack.sat.s4.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 4, true) }
    CvtPackU2 "cvt.pack.sat.u2.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 2, false) }
    CvtPackS2 "cvt.pack.sat.s2.s32.b32" Convert (a: i32, b: i32, c: u32) -> u32 { integer::pack(a, b, c, 2, true) }

    } };
}

pub(crate) use conversions;
