//! Rows of comparisons.

/// Adds the rows of this family to those so far and calls the next macro; see `table`.
#[rustfmt::skip]
macro_rules! comparisons {
    ($next:ident $($then:ident)* => $($rows:tt)*) => { $next! { $($then)* => $($rows)*

    // Comparisons. For floats, the plain ones are false for NaN, and the ones that end in `u` are true.
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
    SetpNumF32 "setp.num{,.ftz}.f32" Predicate (a: f32, b: f32) -> bool { !a.is_nan() && !b.is_nan() }
    SetpNanF32 "setp.nan{,.ftz}.f32" Predicate (a: f32, b: f32) -> bool { a.is_nan() || b.is_nan() }
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

    // With subnormal numbers flushed, and for 16 bits.
    SetpEqFtzF32 "setp.eq.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); a == b } }
    SetpNeFtzF32 "setp.ne.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); a < b || a > b } }
    SetpLtFtzF32 "setp.lt.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); a < b } }
    SetpLeFtzF32 "setp.le.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); a <= b } }
    SetpGtFtzF32 "setp.gt.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); a > b } }
    SetpGeFtzF32 "setp.ge.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); a >= b } }
    SetpEquFtzF32 "setp.equ.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); !(a < b || a > b) } }
    SetpNeuFtzF32 "setp.neu.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); a != b } }
    SetpLtuFtzF32 "setp.ltu.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); !(a >= b) } }
    SetpLeuFtzF32 "setp.leu.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); !(a > b) } }
    SetpGtuFtzF32 "setp.gtu.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); !(a <= b) } }
    SetpGeuFtzF32 "setp.geu.ftz.f32" Predicate (a: f32, b: f32) -> bool { { let (a, b) = (float::flush32(a), float::flush32(b)); !(a < b) } }
    SetpEqF16 "setp.eq.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); a == b } }
    SetpNeF16 "setp.ne.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); a < b || a > b } }
    SetpLtF16 "setp.lt.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); a < b } }
    SetpLeF16 "setp.le.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); a <= b } }
    SetpGtF16 "setp.gt.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); a > b } }
    SetpGeF16 "setp.ge.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); a >= b } }
    SetpEquF16 "setp.equ.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); !(a < b || a > b) } }
    SetpNeuF16 "setp.neu.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); a != b } }
    SetpLtuF16 "setp.ltu.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); !(a >= b) } }
    SetpLeuF16 "setp.leu.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); !(a > b) } }
    SetpGtuF16 "setp.gtu.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); !(a <= b) } }
    SetpGeuF16 "setp.geu.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); !(a < b) } }
    SetpNumF16 "setp.num{,.ftz}.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); !a.is_nan() && !b.is_nan() } }
    SetpNanF16 "setp.nan{,.ftz}.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (a.widen(), b.widen()); a.is_nan() || b.is_nan() } }
    SetpEqFtzF16 "setp.eq.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); a == b } }
    SetpNeFtzF16 "setp.ne.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); a < b || a > b } }
    SetpLtFtzF16 "setp.lt.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); a < b } }
    SetpLeFtzF16 "setp.le.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); a <= b } }
    SetpGtFtzF16 "setp.gt.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); a > b } }
    SetpGeFtzF16 "setp.ge.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); a >= b } }
    SetpEquFtzF16 "setp.equ.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); !(a < b || a > b) } }
    SetpNeuFtzF16 "setp.neu.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); a != b } }
    SetpLtuFtzF16 "setp.ltu.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); !(a >= b) } }
    SetpLeuFtzF16 "setp.leu.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); !(a > b) } }
    SetpGtuFtzF16 "setp.gtu.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); !(a <= b) } }
    SetpGeuFtzF16 "setp.geu.ftz.f16" Predicate (a: F16, b: F16) -> bool { { let (a, b) = (half::flush(a).widen(), half::flush(b).widen()); !(a < b) } }
    SetpEqBf16 "setp.eq.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); a == b } }
    SetpNeBf16 "setp.ne.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); a < b || a > b } }
    SetpLtBf16 "setp.lt.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); a < b } }
    SetpLeBf16 "setp.le.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); a <= b } }
    SetpGtBf16 "setp.gt.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); a > b } }
    SetpGeBf16 "setp.ge.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); a >= b } }
    SetpEquBf16 "setp.equ.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); !(a < b || a > b) } }
    SetpNeuBf16 "setp.neu.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); a != b } }
    SetpLtuBf16 "setp.ltu.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); !(a >= b) } }
    SetpLeuBf16 "setp.leu.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); !(a > b) } }
    SetpGtuBf16 "setp.gtu.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); !(a <= b) } }
    SetpGeuBf16 "setp.geu.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); !(a < b) } }
    SetpNumBf16 "setp.num.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); !a.is_nan() && !b.is_nan() } }
    SetpNanBf16 "setp.nan.bf16" Predicate (a: Bf16, b: Bf16) -> bool { { let (a, b) = (a.widen(), b.widen()); a.is_nan() || b.is_nan() } }

    } };
}

pub(crate) use comparisons;
