//! Rows of single precision.

/// Adds the rows of this family to those so far and calls the next macro; see `table`.
#[rustfmt::skip]
macro_rules! single {
    ($next:ident $($then:ident)* => $($rows:tt)*) => { $next! { $($then)* => $($rows)*

    // Single precision, rounded to nearest even. Every computed NaN is the canonical one.
    AddF32 "add{,.rn}.f32" F32 (a: f32, b: f32) -> f32 { canonical32(a + b) }
    SubF32 "sub{,.rn}.f32" F32 (a: f32, b: f32) -> f32 { canonical32(a - b) }
    MulF32 "mul{,.rn}.f32" F32 (a: f32, b: f32) -> f32 { canonical32(a * b) }
    FmaF32 "{fma,mad}.rn.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { canonical32(float::fused32(a, b, c)) }
    AddSatF32 "add{,.rn}.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(a + b) }
    MulSatF32 "mul{,.rn}.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(a * b) }
    NegF32 "neg.f32" Move (a: f32) -> f32 { canonical32(-a) }
    AbsF32 "abs.f32" Move (a: f32) -> f32 { canonical32(a.abs()) }
    MinF32 "min.f32" F32 (a: f32, b: f32) -> f32 { float::min32(a, b) }
    MaxF32 "max.f32" F32 (a: f32, b: f32) -> f32 { float::max32(a, b) }
    CopysignF32 "copysign.f32" F32 (a: f32, b: f32) -> f32 { b.copysign(a) }
    DivF32 "div.rn.f32" Special (a: f32, b: f32) -> f32 { canonical32(a / b) }
    RcpF32 "rcp.rn.f32" Special (a: f32) -> f32 { canonical32(1.0 / a) }
    SqrtF32 "sqrt.rn.f32" Special (a: f32) -> f32 { canonical32(a.sqrt()) }

    // With other rounding directions, with subnormal numbers flushed (`.ftz`), clamped to [0, 1] (`.sat`), and combinations of
    // these.
    AddFtzF32 "add{,.rn}.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(canonical32(float::flush32(a) + float::flush32(b))) }
    AddFtzSatF32 "add{,.rn}.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::flush32(a) + float::flush32(b))) }
    AddRzF32 "add.rz.f32" F32 (a: f32, b: f32) -> f32 { float::add32(a, b, Rounding::Zero) }
    AddRzSatF32 "add.rz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(float::add32(a, b, Rounding::Zero)) }
    AddRzFtzF32 "add.rz.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::add32(float::flush32(a), float::flush32(b), Rounding::Zero)) }
    AddRzFtzSatF32 "add.rz.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::add32(float::flush32(a), float::flush32(b), Rounding::Zero))) }
    AddRmF32 "add.rm.f32" F32 (a: f32, b: f32) -> f32 { float::add32(a, b, Rounding::Down) }
    AddRmSatF32 "add.rm.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(float::add32(a, b, Rounding::Down)) }
    AddRmFtzF32 "add.rm.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::add32(float::flush32(a), float::flush32(b), Rounding::Down)) }
    AddRmFtzSatF32 "add.rm.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::add32(float::flush32(a), float::flush32(b), Rounding::Down))) }
    AddRpF32 "add.rp.f32" F32 (a: f32, b: f32) -> f32 { float::add32(a, b, Rounding::Up) }
    AddRpSatF32 "add.rp.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(float::add32(a, b, Rounding::Up)) }
    AddRpFtzF32 "add.rp.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::add32(float::flush32(a), float::flush32(b), Rounding::Up)) }
    AddRpFtzSatF32 "add.rp.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::add32(float::flush32(a), float::flush32(b), Rounding::Up))) }
    SubSatF32 "sub{,.rn}.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(a - b) }
    SubFtzF32 "sub{,.rn}.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(canonical32(float::flush32(a) - float::flush32(b))) }
    SubFtzSatF32 "sub{,.rn}.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::flush32(a) - float::flush32(b))) }
    SubRzF32 "sub.rz.f32" F32 (a: f32, b: f32) -> f32 { float::add32(a, -b, Rounding::Zero) }
    SubRzSatF32 "sub.rz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(float::add32(a, -b, Rounding::Zero)) }
    SubRzFtzF32 "sub.rz.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::add32(float::flush32(a), -float::flush32(b), Rounding::Zero)) }
    SubRzFtzSatF32 "sub.rz.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::add32(float::flush32(a), -float::flush32(b), Rounding::Zero))) }
    SubRmF32 "sub.rm.f32" F32 (a: f32, b: f32) -> f32 { float::add32(a, -b, Rounding::Down) }
    SubRmSatF32 "sub.rm.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(float::add32(a, -b, Rounding::Down)) }
    SubRmFtzF32 "sub.rm.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::add32(float::flush32(a), -float::flush32(b), Rounding::Down)) }
    SubRmFtzSatF32 "sub.rm.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::add32(float::flush32(a), -float::flush32(b), Rounding::Down))) }
    SubRpF32 "sub.rp.f32" F32 (a: f32, b: f32) -> f32 { float::add32(a, -b, Rounding::Up) }
    SubRpSatF32 "sub.rp.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(float::add32(a, -b, Rounding::Up)) }
    SubRpFtzF32 "sub.rp.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::add32(float::flush32(a), -float::flush32(b), Rounding::Up)) }
    SubRpFtzSatF32 "sub.rp.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::add32(float::flush32(a), -float::flush32(b), Rounding::Up))) }
    MulFtzF32 "mul{,.rn}.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(canonical32(float::flush32(a) * float::flush32(b))) }
    MulFtzSatF32 "mul{,.rn}.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::flush32(a) * float::flush32(b))) }
    MulRzF32 "mul.rz.f32" F32 (a: f32, b: f32) -> f32 { float::mul32(a, b, Rounding::Zero) }
    MulRzSatF32 "mul.rz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(float::mul32(a, b, Rounding::Zero)) }
    MulRzFtzF32 "mul.rz.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::mul32(float::flush32(a), float::flush32(b), Rounding::Zero)) }
    MulRzFtzSatF32 "mul.rz.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::mul32(float::flush32(a), float::flush32(b), Rounding::Zero))) }
    MulRmF32 "mul.rm.f32" F32 (a: f32, b: f32) -> f32 { float::mul32(a, b, Rounding::Down) }
    MulRmSatF32 "mul.rm.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(float::mul32(a, b, Rounding::Down)) }
    MulRmFtzF32 "mul.rm.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::mul32(float::flush32(a), float::flush32(b), Rounding::Down)) }
    MulRmFtzSatF32 "mul.rm.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::mul32(float::flush32(a), float::flush32(b), Rounding::Down))) }
    MulRpF32 "mul.rp.f32" F32 (a: f32, b: f32) -> f32 { float::mul32(a, b, Rounding::Up) }
    MulRpSatF32 "mul.rp.sat.f32" F32 (a: f32, b: f32) -> f32 { float::saturate32(float::mul32(a, b, Rounding::Up)) }
    MulRpFtzF32 "mul.rp.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::mul32(float::flush32(a), float::flush32(b), Rounding::Up)) }
    MulRpFtzSatF32 "mul.rp.ftz.sat.f32" F32 (a: f32, b: f32) -> f32 { float::flush32(float::saturate32(float::mul32(float::flush32(a), float::flush32(b), Rounding::Up))) }
    FmaSatF32 "{fma,mad}.rn.sat.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::saturate32(float::fused32(a, b, c)) }
    FmaFtzF32 "{fma,mad}.rn.ftz.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::flush32(canonical32(float::fused32(float::flush32(a), float::flush32(b), float::flush32(c)))) }
    FmaFtzSatF32 "{fma,mad}.rn.ftz.sat.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::flush32(float::saturate32(float::fused32(float::flush32(a), float::flush32(b), float::flush32(c)))) }
    FmaRzF32 "{fma,mad}.rz.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::fma32(a, b, c, Rounding::Zero) }
    FmaRzSatF32 "{fma,mad}.rz.sat.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::saturate32(float::fma32(a, b, c, Rounding::Zero)) }
    FmaRzFtzF32 "{fma,mad}.rz.ftz.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::flush32(float::fma32(float::flush32(a), float::flush32(b), float::flush32(c), Rounding::Zero)) }
    FmaRzFtzSatF32 "{fma,mad}.rz.ftz.sat.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::flush32(float::saturate32(float::fma32(float::flush32(a), float::flush32(b), float::flush32(c), Rounding::Zero))) }
    FmaRmF32 "{fma,mad}.rm.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::fma32(a, b, c, Rounding::Down) }
    FmaRmSatF32 "{fma,mad}.rm.sat.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::saturate32(float::fma32(a, b, c, Rounding::Down)) }
    FmaRmFtzF32 "{fma,mad}.rm.ftz.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::flush32(float::fma32(float::flush32(a), float::flush32(b), float::flush32(c), Rounding::Down)) }
    FmaRmFtzSatF32 "{fma,mad}.rm.ftz.sat.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::flush32(float::saturate32(float::fma32(float::flush32(a), float::flush32(b), float::flush32(c), Rounding::Down))) }
    FmaRpF32 "{fma,mad}.rp.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::fma32(a, b, c, Rounding::Up) }
    FmaRpSatF32 "{fma,mad}.rp.sat.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::saturate32(float::fma32(a, b, c, Rounding::Up)) }
    FmaRpFtzF32 "{fma,mad}.rp.ftz.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::flush32(float::fma32(float::flush32(a), float::flush32(b), float::flush32(c), Rounding::Up)) }
    FmaRpFtzSatF32 "{fma,mad}.rp.ftz.sat.f32" F32Fma (a: f32, b: f32, c: f32) -> f32 { float::flush32(float::saturate32(float::fma32(float::flush32(a), float::flush32(b), float::flush32(c), Rounding::Up))) }
    DivFtzF32 "div.rn.ftz.f32" Special (a: f32, b: f32) -> f32 { float::flush32(canonical32(float::flush32(a) / float::flush32(b))) }
    DivRzF32 "div.rz.f32" Special (a: f32, b: f32) -> f32 { float::div32(a, b, Rounding::Zero) }
    DivRzFtzF32 "div.rz.ftz.f32" Special (a: f32, b: f32) -> f32 { float::flush32(float::div32(float::flush32(a), float::flush32(b), Rounding::Zero)) }
    DivRmF32 "div.rm.f32" Special (a: f32, b: f32) -> f32 { float::div32(a, b, Rounding::Down) }
    DivRmFtzF32 "div.rm.ftz.f32" Special (a: f32, b: f32) -> f32 { float::flush32(float::div32(float::flush32(a), float::flush32(b), Rounding::Down)) }
    DivRpF32 "div.rp.f32" Special (a: f32, b: f32) -> f32 { float::div32(a, b, Rounding::Up) }
    DivRpFtzF32 "div.rp.ftz.f32" Special (a: f32, b: f32) -> f32 { float::flush32(float::div32(float::flush32(a), float::flush32(b), Rounding::Up)) }
    RcpFtzF32 "rcp.rn.ftz.f32" Special (a: f32) -> f32 { float::flush32(canonical32(1.0 / float::flush32(a))) }
    RcpRzF32 "rcp.rz.f32" Special (a: f32) -> f32 { float::div32(1.0, a, Rounding::Zero) }
    RcpRzFtzF32 "rcp.rz.ftz.f32" Special (a: f32) -> f32 { float::flush32(float::div32(1.0, float::flush32(a), Rounding::Zero)) }
    RcpRmF32 "rcp.rm.f32" Special (a: f32) -> f32 { float::div32(1.0, a, Rounding::Down) }
    RcpRmFtzF32 "rcp.rm.ftz.f32" Special (a: f32) -> f32 { float::flush32(float::div32(1.0, float::flush32(a), Rounding::Down)) }
    RcpRpF32 "rcp.rp.f32" Special (a: f32) -> f32 { float::div32(1.0, a, Rounding::Up) }
    RcpRpFtzF32 "rcp.rp.ftz.f32" Special (a: f32) -> f32 { float::flush32(float::div32(1.0, float::flush32(a), Rounding::Up)) }
    SqrtFtzF32 "sqrt.rn.ftz.f32" Special (a: f32) -> f32 { float::flush32(canonical32(float::flush32(a).sqrt())) }
    SqrtRzF32 "sqrt.rz.f32" Special (a: f32) -> f32 { float::sqrt32(a, Rounding::Zero) }
    SqrtRzFtzF32 "sqrt.rz.ftz.f32" Special (a: f32) -> f32 { float::flush32(float::sqrt32(float::flush32(a), Rounding::Zero)) }
    SqrtRmF32 "sqrt.rm.f32" Special (a: f32) -> f32 { float::sqrt32(a, Rounding::Down) }
    SqrtRmFtzF32 "sqrt.rm.ftz.f32" Special (a: f32) -> f32 { float::flush32(float::sqrt32(float::flush32(a), Rounding::Down)) }
    SqrtRpF32 "sqrt.rp.f32" Special (a: f32) -> f32 { float::sqrt32(a, Rounding::Up) }
    SqrtRpFtzF32 "sqrt.rp.ftz.f32" Special (a: f32) -> f32 { float::flush32(float::sqrt32(float::flush32(a), Rounding::Up)) }
    NegFtzF32 "neg.ftz.f32" Move (a: f32) -> f32 { canonical32(-float::flush32(a)) }
    AbsFtzF32 "abs.ftz.f32" Move (a: f32) -> f32 { canonical32(float::flush32(a).abs()) }
    MinXorSignAbsF32 "min.xorsign.abs.f32" F32 (a: f32, b: f32) -> f32 { float::xor_sign32(a, b, float::min32(a.abs(), b.abs())) }
    MinNanF32 "min.NaN.f32" F32 (a: f32, b: f32) -> f32 { float::or_nan32(a, b, float::min32(a, b)) }
    MinNanXorSignAbsF32 "min.NaN.xorsign.abs.f32" F32 (a: f32, b: f32) -> f32 { float::xor_sign32(a, b, float::or_nan32(a, b, float::min32(a.abs(), b.abs()))) }
    MinFtzF32 "min.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::min32(float::flush32(a), float::flush32(b)) }
    MinFtzXorSignAbsF32 "min.ftz.xorsign.abs.f32" F32 (a: f32, b: f32) -> f32 { float::xor_sign32(a, b, float::min32(float::flush32(a).abs(), float::flush32(b).abs())) }
    MinFtzNanF32 "min.ftz.NaN.f32" F32 (a: f32, b: f32) -> f32 { float::or_nan32(a, b, float::min32(float::flush32(a), float::flush32(b))) }
    MinFtzNanXorSignAbsF32 "min.ftz.NaN.xorsign.abs.f32" F32 (a: f32, b: f32) -> f32 { float::xor_sign32(a, b, float::or_nan32(a, b, float::min32(float::flush32(a).abs(), float::flush32(b).abs()))) }
    MaxXorSignAbsF32 "max.xorsign.abs.f32" F32 (a: f32, b: f32) -> f32 { float::xor_sign32(a, b, float::max32(a.abs(), b.abs())) }
    MaxNanF32 "max.NaN.f32" F32 (a: f32, b: f32) -> f32 { float::or_nan32(a, b, float::max32(a, b)) }
    MaxNanXorSignAbsF32 "max.NaN.xorsign.abs.f32" F32 (a: f32, b: f32) -> f32 { float::xor_sign32(a, b, float::or_nan32(a, b, float::max32(a.abs(), b.abs()))) }
    MaxFtzF32 "max.ftz.f32" F32 (a: f32, b: f32) -> f32 { float::max32(float::flush32(a), float::flush32(b)) }
    MaxFtzXorSignAbsF32 "max.ftz.xorsign.abs.f32" F32 (a: f32, b: f32) -> f32 { float::xor_sign32(a, b, float::max32(float::flush32(a).abs(), float::flush32(b).abs())) }
    MaxFtzNanF32 "max.ftz.NaN.f32" F32 (a: f32, b: f32) -> f32 { float::or_nan32(a, b, float::max32(float::flush32(a), float::flush32(b))) }
    MaxFtzNanXorSignAbsF32 "max.ftz.NaN.xorsign.abs.f32" F32 (a: f32, b: f32) -> f32 { float::xor_sign32(a, b, float::or_nan32(a, b, float::max32(float::flush32(a).abs(), float::flush32(b).abs()))) }
    TestpFiniteF32 "testp.finite.f32" Predicate (a: f32) -> bool { a.is_finite() }
    TestpInfiniteF32 "testp.infinite.f32" Predicate (a: f32) -> bool { a.is_infinite() }
    TestpNumberF32 "testp.number.f32" Predicate (a: f32) -> bool { !a.is_nan() }
    TestpNotANumberF32 "testp.notanumber.f32" Predicate (a: f32) -> bool { a.is_nan() }
    TestpNormalF32 "testp.normal.f32" Predicate (a: f32) -> bool { a.is_normal() || a == 0.0 }
    TestpSubnormalF32 "testp.subnormal.f32" Predicate (a: f32) -> bool { a.is_subnormal() }

    } };
}

pub(crate) use single;
