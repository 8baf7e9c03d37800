//! Rows of functions that a GPU approximates, with the accuracy that PTX guarantees.

/// Adds the rows of this family to those so far and calls the next macro; see `table`.
#[rustfmt::skip]
macro_rules! approximations {
    ($next:ident $($then:ident)* => $($rows:tt)*) => { $next! { $($then)* => $($rows)*

    // Division, roots and transcendental functions.
    Exp2F32 "ex2.approx.f32" Special ~ [Ulps(2)] (a: f32) -> f32 { approximate::exp2(a) }
    Exp2FtzF32 "ex2.approx.ftz.f32" Special ~ [Ulps(2)] (a: f32) -> f32 { float::flush32(approximate::exp2(float::flush32(a))) }
    Log2F32 "lg2.approx.f32" Special ~ [Logarithm(-22.0)] (a: f32) -> f32 { approximate::log2(a) }
    Log2FtzF32 "lg2.approx.ftz.f32" Special ~ [Logarithm(-22.0)] (a: f32) -> f32 { float::flush32(approximate::log2(float::flush32(a))) }
    SinF32 "sin.approx.f32" Special ~ [Angle] (a: f32) -> f32 { approximate::sin(a) }
    SinFtzF32 "sin.approx.ftz.f32" Special ~ [Angle] (a: f32) -> f32 { float::flush32(approximate::sin(float::flush32(a))) }
    CosF32 "cos.approx.f32" Special ~ [Angle] (a: f32) -> f32 { approximate::cos(a) }
    CosFtzF32 "cos.approx.ftz.f32" Special ~ [Angle] (a: f32) -> f32 { float::flush32(approximate::cos(float::flush32(a))) }
    RsqrtF32 "rsqrt.approx.f32" Special ~ [Relative(-22.9)] (a: f32) -> f32 { approximate::rsqrt(a) }
    RsqrtFtzF32 "rsqrt.approx.ftz.f32" Special ~ [Relative(-22.9)] (a: f32) -> f32 { float::flush32(approximate::rsqrt(float::flush32(a))) }
    TanhF32 "tanh.approx.f32" Special ~ [Relative(-11.0)] (a: f32) -> f32 { approximate::tanh(a) }
    RcpApproxF32 "rcp.approx.f32" Special ~ [Ulps(1)] (a: f32) -> f32 { canonical32(1.0 / a) }
    RcpApproxFtzF32 "rcp.approx.ftz.f32" Special ~ [Ulps(1)] (a: f32) -> f32 { float::flush32(canonical32(1.0 / float::flush32(a))) }
    SqrtApproxF32 "sqrt.approx.f32" Special ~ [Relative(-23.0)] (a: f32) -> f32 { canonical32(a.sqrt()) }
    SqrtApproxFtzF32 "sqrt.approx.ftz.f32" Special ~ [Relative(-23.0)] (a: f32) -> f32 { canonical32(float::flush32(a).sqrt()) }
    DivApproxF32 "div.approx.f32" Special ~ [Quotient] (a: f32, b: f32) -> f32 { approximate::div(a, b) }
    DivApproxFtzF32 "div.approx.ftz.f32" Special ~ [Quotient] (a: f32, b: f32) -> f32 { float::flush32(approximate::div(float::flush32(a), float::flush32(b))) }
    DivFullF32 "div.full.f32" Special ~ [Ulps(2)] (a: f32, b: f32) -> f32 { canonical32(a / b) }
    DivFullFtzF32 "div.full.ftz.f32" Special ~ [Ulps(2)] (a: f32, b: f32) -> f32 { float::flush32(canonical32(float::flush32(a) / float::flush32(b))) }
    RcpApproxF64 "rcp.approx.ftz.f64" Special ~ [UpperHalf] (a: f64) -> f64 { approximate::rcp_upper(a) }
    RsqrtApproxFtzF64 "rsqrt.approx.ftz.f64" Special ~ [UpperHalf] (a: f64) -> f64 { approximate::rsqrt_upper(a) }
    RsqrtApproxF64 "rsqrt.approx.f64" Special ~ [Unstated] (a: f64) -> f64 { approximate::rsqrt64(a) }
    Exp2F16 "ex2.approx.f16" Special ~ [RelativeOfNormal(-9.9)] (a: F16) -> F16 { half::through64(a, libm::exp2) }
    TanhF16 "tanh.approx.f16" Special ~ [Absolute(-10.987)] (a: F16) -> F16 { half::through64(a, libm::tanh) }
    Exp2F16x2 "ex2.approx.f16x2" Special ~ [RelativeOfNormal(-9.9)] (a: Two<F16>) -> Two<F16> { a.map(|a| half::through64(a, libm::exp2)) }
    TanhF16x2 "tanh.approx.f16x2" Special ~ [Absolute(-10.987)] (a: Two<F16>) -> Two<F16> { a.map(|a| half::through64(a, libm::tanh)) }
    Exp2Bf16 "ex2.approx.ftz.bf16" Special ~ [Relative(-7.0)] (a: Bf16) -> Bf16 { half::flush_bf16(half::through64(half::flush_bf16(a), libm::exp2)) }
    TanhBf16 "tanh.approx.bf16" Special ~ [Absolute(-8.0)] (a: Bf16) -> Bf16 { half::through64(a, libm::tanh) }
    Exp2Bf16x2 "ex2.approx.ftz.bf16x2" Special ~ [Relative(-7.0)] (a: Two<Bf16>) -> Two<Bf16> { a.map(|a| half::flush_bf16(half::through64(half::flush_bf16(a), libm::exp2))) }
    TanhBf16x2 "tanh.approx.bf16x2" Special ~ [Absolute(-8.0)] (a: Two<Bf16>) -> Two<Bf16> { a.map(|a| half::through64(a, libm::tanh)) }

    } };
}

pub(crate) use approximations;
