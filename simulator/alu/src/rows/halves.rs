//! Rows of f16 and bf16, alone and in pairs.

/// Adds the rows of this family to those so far and calls the next macro; see `table`.
#[rustfmt::skip]
macro_rules! halves {
    ($next:ident $($then:ident)* => $($rows:tt)*) => { $next! { $($then)* => $($rows)*

    // Rounded to nearest even, once.
    AddF16 "add{,.rn}.f16" Half (a: F16, b: F16) -> F16 { half::add(a, b) }
    AddSatF16 "add{,.rn}.sat.f16" Half (a: F16, b: F16) -> F16 { half::saturate(half::add(a, b)) }
    AddFtzF16 "add{,.rn}.ftz.f16" Half (a: F16, b: F16) -> F16 { half::flush(half::add(half::flush(a), half::flush(b))) }
    AddFtzSatF16 "add{,.rn}.ftz.sat.f16" Half (a: F16, b: F16) -> F16 { half::flush(half::saturate(half::add(half::flush(a), half::flush(b)))) }
    SubF16 "sub{,.rn}.f16" Half (a: F16, b: F16) -> F16 { half::sub(a, b) }
    SubSatF16 "sub{,.rn}.sat.f16" Half (a: F16, b: F16) -> F16 { half::saturate(half::sub(a, b)) }
    SubFtzF16 "sub{,.rn}.ftz.f16" Half (a: F16, b: F16) -> F16 { half::flush(half::sub(half::flush(a), half::flush(b))) }
    SubFtzSatF16 "sub{,.rn}.ftz.sat.f16" Half (a: F16, b: F16) -> F16 { half::flush(half::saturate(half::sub(half::flush(a), half::flush(b)))) }
    MulF16 "mul{,.rn}.f16" Half (a: F16, b: F16) -> F16 { half::mul(a, b) }
    MulSatF16 "mul{,.rn}.sat.f16" Half (a: F16, b: F16) -> F16 { half::saturate(half::mul(a, b)) }
    MulFtzF16 "mul{,.rn}.ftz.f16" Half (a: F16, b: F16) -> F16 { half::flush(half::mul(half::flush(a), half::flush(b))) }
    MulFtzSatF16 "mul{,.rn}.ftz.sat.f16" Half (a: F16, b: F16) -> F16 { half::flush(half::saturate(half::mul(half::flush(a), half::flush(b)))) }
    FmaF16 "fma.rn.f16" Half (a: F16, b: F16, c: F16) -> F16 { half::fma(a, b, c) }
    FmaSatF16 "fma.rn.sat.f16" Half (a: F16, b: F16, c: F16) -> F16 { half::saturate(half::fma(a, b, c)) }
    FmaReluF16 "fma.rn.relu.f16" Half (a: F16, b: F16, c: F16) -> F16 { half::relu(half::fma(a, b, c)) }
    FmaFtzF16 "fma.rn.ftz.f16" Half (a: F16, b: F16, c: F16) -> F16 { half::flush(half::fma(half::flush(a), half::flush(b), half::flush(c))) }
    FmaFtzSatF16 "fma.rn.ftz.sat.f16" Half (a: F16, b: F16, c: F16) -> F16 { half::flush(half::saturate(half::fma(half::flush(a), half::flush(b), half::flush(c)))) }
    FmaFtzReluF16 "fma.rn.ftz.relu.f16" Half (a: F16, b: F16, c: F16) -> F16 { half::flush(half::relu(half::fma(half::flush(a), half::flush(b), half::flush(c)))) }
    NegF16 "neg.f16" Move (a: F16) -> F16 { half::neg(a) }
    NegFtzF16 "neg.ftz.f16" Move (a: F16) -> F16 { half::neg(half::flush(a)) }
    AbsF16 "abs.f16" Move (a: F16) -> F16 { half::abs(a) }
    AbsFtzF16 "abs.ftz.f16" Move (a: F16) -> F16 { half::abs(half::flush(a)) }
    MinF16 "min.f16" Half (a: F16, b: F16) -> F16 { half::min(a, b) }
    MinXorSignAbsF16 "min.xorsign.abs.f16" Half (a: F16, b: F16) -> F16 { half::xor_sign(a, b, half::min(half::abs(a), half::abs(b))) }
    MinNanF16 "min.NaN.f16" Half (a: F16, b: F16) -> F16 { half::or_nan(a, b, half::min(a, b)) }
    MinNanXorSignAbsF16 "min.NaN.xorsign.abs.f16" Half (a: F16, b: F16) -> F16 { half::xor_sign(a, b, half::or_nan(a, b, half::min(half::abs(a), half::abs(b)))) }
    MinFtzF16 "min.ftz.f16" Half (a: F16, b: F16) -> F16 { half::min(half::flush(a), half::flush(b)) }
    MinFtzXorSignAbsF16 "min.ftz.xorsign.abs.f16" Half (a: F16, b: F16) -> F16 { half::xor_sign(a, b, half::min(half::abs(half::flush(a)), half::abs(half::flush(b)))) }
    MinFtzNanF16 "min.ftz.NaN.f16" Half (a: F16, b: F16) -> F16 { half::or_nan(a, b, half::min(half::flush(a), half::flush(b))) }
    MinFtzNanXorSignAbsF16 "min.ftz.NaN.xorsign.abs.f16" Half (a: F16, b: F16) -> F16 { half::xor_sign(a, b, half::or_nan(a, b, half::min(half::abs(half::flush(a)), half::abs(half::flush(b))))) }
    MaxF16 "max.f16" Half (a: F16, b: F16) -> F16 { half::max(a, b) }
    MaxXorSignAbsF16 "max.xorsign.abs.f16" Half (a: F16, b: F16) -> F16 { half::xor_sign(a, b, half::max(half::abs(a), half::abs(b))) }
    MaxNanF16 "max.NaN.f16" Half (a: F16, b: F16) -> F16 { half::or_nan(a, b, half::max(a, b)) }
    MaxNanXorSignAbsF16 "max.NaN.xorsign.abs.f16" Half (a: F16, b: F16) -> F16 { half::xor_sign(a, b, half::or_nan(a, b, half::max(half::abs(a), half::abs(b)))) }
    MaxFtzF16 "max.ftz.f16" Half (a: F16, b: F16) -> F16 { half::max(half::flush(a), half::flush(b)) }
    MaxFtzXorSignAbsF16 "max.ftz.xorsign.abs.f16" Half (a: F16, b: F16) -> F16 { half::xor_sign(a, b, half::max(half::abs(half::flush(a)), half::abs(half::flush(b)))) }
    MaxFtzNanF16 "max.ftz.NaN.f16" Half (a: F16, b: F16) -> F16 { half::or_nan(a, b, half::max(half::flush(a), half::flush(b))) }
    MaxFtzNanXorSignAbsF16 "max.ftz.NaN.xorsign.abs.f16" Half (a: F16, b: F16) -> F16 { half::xor_sign(a, b, half::or_nan(a, b, half::max(half::abs(half::flush(a)), half::abs(half::flush(b))))) }
    AddF16x2 "add{,.rn}.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, half::add) }
    AddSatF16x2 "add{,.rn}.sat.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::saturate(half::add(a, b))) }
    AddFtzF16x2 "add{,.rn}.ftz.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::flush(half::add(half::flush(a), half::flush(b)))) }
    AddFtzSatF16x2 "add{,.rn}.ftz.sat.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::flush(half::saturate(half::add(half::flush(a), half::flush(b))))) }
    SubF16x2 "sub{,.rn}.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, half::sub) }
    SubSatF16x2 "sub{,.rn}.sat.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::saturate(half::sub(a, b))) }
    SubFtzF16x2 "sub{,.rn}.ftz.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::flush(half::sub(half::flush(a), half::flush(b)))) }
    SubFtzSatF16x2 "sub{,.rn}.ftz.sat.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::flush(half::saturate(half::sub(half::flush(a), half::flush(b))))) }
    MulF16x2 "mul{,.rn}.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, half::mul) }
    MulSatF16x2 "mul{,.rn}.sat.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::saturate(half::mul(a, b))) }
    MulFtzF16x2 "mul{,.rn}.ftz.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::flush(half::mul(half::flush(a), half::flush(b)))) }
    MulFtzSatF16x2 "mul{,.rn}.ftz.sat.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::flush(half::saturate(half::mul(half::flush(a), half::flush(b))))) }
    FmaF16x2 "fma.rn.f16x2" HalfPair (a: Two<F16>, b: Two<F16>, c: Two<F16>) -> Two<F16> { a.zip3(b, c, half::fma) }
    FmaSatF16x2 "fma.rn.sat.f16x2" HalfPair (a: Two<F16>, b: Two<F16>, c: Two<F16>) -> Two<F16> { a.zip3(b, c, |a, b, c| half::saturate(half::fma(a, b, c))) }
    FmaReluF16x2 "fma.rn.relu.f16x2" HalfPair (a: Two<F16>, b: Two<F16>, c: Two<F16>) -> Two<F16> { a.zip3(b, c, |a, b, c| half::relu(half::fma(a, b, c))) }
    FmaFtzF16x2 "fma.rn.ftz.f16x2" HalfPair (a: Two<F16>, b: Two<F16>, c: Two<F16>) -> Two<F16> { a.zip3(b, c, |a, b, c| half::flush(half::fma(half::flush(a), half::flush(b), half::flush(c)))) }
    FmaFtzSatF16x2 "fma.rn.ftz.sat.f16x2" HalfPair (a: Two<F16>, b: Two<F16>, c: Two<F16>) -> Two<F16> { a.zip3(b, c, |a, b, c| half::flush(half::saturate(half::fma(half::flush(a), half::flush(b), half::flush(c))))) }
    FmaFtzReluF16x2 "fma.rn.ftz.relu.f16x2" HalfPair (a: Two<F16>, b: Two<F16>, c: Two<F16>) -> Two<F16> { a.zip3(b, c, |a, b, c| half::flush(half::relu(half::fma(half::flush(a), half::flush(b), half::flush(c))))) }
    NegF16x2 "neg.f16x2" Move (a: Two<F16>) -> Two<F16> { a.map(half::neg) }
    NegFtzF16x2 "neg.ftz.f16x2" Move (a: Two<F16>) -> Two<F16> { a.map(|a| half::neg(half::flush(a))) }
    AbsF16x2 "abs.f16x2" Move (a: Two<F16>) -> Two<F16> { a.map(half::abs) }
    AbsFtzF16x2 "abs.ftz.f16x2" Move (a: Two<F16>) -> Two<F16> { a.map(|a| half::abs(half::flush(a))) }
    MinF16x2 "min.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, half::min) }
    MinXorSignAbsF16x2 "min.xorsign.abs.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::xor_sign(a, b, half::min(half::abs(a), half::abs(b)))) }
    MinNanF16x2 "min.NaN.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::or_nan(a, b, half::min(a, b))) }
    MinNanXorSignAbsF16x2 "min.NaN.xorsign.abs.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::xor_sign(a, b, half::or_nan(a, b, half::min(half::abs(a), half::abs(b))))) }
    MinFtzF16x2 "min.ftz.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::min(half::flush(a), half::flush(b))) }
    MinFtzXorSignAbsF16x2 "min.ftz.xorsign.abs.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::xor_sign(a, b, half::min(half::abs(half::flush(a)), half::abs(half::flush(b))))) }
    MinFtzNanF16x2 "min.ftz.NaN.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::or_nan(a, b, half::min(half::flush(a), half::flush(b)))) }
    MinFtzNanXorSignAbsF16x2 "min.ftz.NaN.xorsign.abs.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::xor_sign(a, b, half::or_nan(a, b, half::min(half::abs(half::flush(a)), half::abs(half::flush(b)))))) }
    MaxF16x2 "max.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, half::max) }
    MaxXorSignAbsF16x2 "max.xorsign.abs.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::xor_sign(a, b, half::max(half::abs(a), half::abs(b)))) }
    MaxNanF16x2 "max.NaN.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::or_nan(a, b, half::max(a, b))) }
    MaxNanXorSignAbsF16x2 "max.NaN.xorsign.abs.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::xor_sign(a, b, half::or_nan(a, b, half::max(half::abs(a), half::abs(b))))) }
    MaxFtzF16x2 "max.ftz.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::max(half::flush(a), half::flush(b))) }
    MaxFtzXorSignAbsF16x2 "max.ftz.xorsign.abs.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::xor_sign(a, b, half::max(half::abs(half::flush(a)), half::abs(half::flush(b))))) }
    MaxFtzNanF16x2 "max.ftz.NaN.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::or_nan(a, b, half::max(half::flush(a), half::flush(b)))) }
    MaxFtzNanXorSignAbsF16x2 "max.ftz.NaN.xorsign.abs.f16x2" HalfPair (a: Two<F16>, b: Two<F16>) -> Two<F16> { a.zip(b, |a, b| half::xor_sign(a, b, half::or_nan(a, b, half::max(half::abs(half::flush(a)), half::abs(half::flush(b)))))) }
    AddBf16 "add{,.rn}.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::add(a, b) }
    SubBf16 "sub{,.rn}.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::sub(a, b) }
    MulBf16 "mul{,.rn}.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::mul(a, b) }
    FmaBf16 "fma.rn.bf16" Half (a: Bf16, b: Bf16, c: Bf16) -> Bf16 { half::fma(a, b, c) }
    FmaReluBf16 "fma.rn.relu.bf16" Half (a: Bf16, b: Bf16, c: Bf16) -> Bf16 { half::relu(half::fma(a, b, c)) }
    NegBf16 "neg.bf16" Move (a: Bf16) -> Bf16 { half::neg(a) }
    AbsBf16 "abs.bf16" Move (a: Bf16) -> Bf16 { half::abs(a) }
    MinBf16 "min.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::min(a, b) }
    MinXorSignAbsBf16 "min.xorsign.abs.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::xor_sign(a, b, half::min(half::abs(a), half::abs(b))) }
    MinNanBf16 "min.NaN.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::or_nan(a, b, half::min(a, b)) }
    MinNanXorSignAbsBf16 "min.NaN.xorsign.abs.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::xor_sign(a, b, half::or_nan(a, b, half::min(half::abs(a), half::abs(b)))) }
    MaxBf16 "max.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::max(a, b) }
    MaxXorSignAbsBf16 "max.xorsign.abs.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::xor_sign(a, b, half::max(half::abs(a), half::abs(b))) }
    MaxNanBf16 "max.NaN.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::or_nan(a, b, half::max(a, b)) }
    MaxNanXorSignAbsBf16 "max.NaN.xorsign.abs.bf16" Half (a: Bf16, b: Bf16) -> Bf16 { half::xor_sign(a, b, half::or_nan(a, b, half::max(half::abs(a), half::abs(b)))) }
    AddBf16x2 "add{,.rn}.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, half::add) }
    SubBf16x2 "sub{,.rn}.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, half::sub) }
    MulBf16x2 "mul{,.rn}.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, half::mul) }
    FmaBf16x2 "fma.rn.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>, c: Two<Bf16>) -> Two<Bf16> { a.zip3(b, c, half::fma) }
    FmaReluBf16x2 "fma.rn.relu.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>, c: Two<Bf16>) -> Two<Bf16> { a.zip3(b, c, |a, b, c| half::relu(half::fma(a, b, c))) }
    NegBf16x2 "neg.bf16x2" Move (a: Two<Bf16>) -> Two<Bf16> { a.map(half::neg) }
    AbsBf16x2 "abs.bf16x2" Move (a: Two<Bf16>) -> Two<Bf16> { a.map(half::abs) }
    MinBf16x2 "min.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, half::min) }
    MinXorSignAbsBf16x2 "min.xorsign.abs.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, |a, b| half::xor_sign(a, b, half::min(half::abs(a), half::abs(b)))) }
    MinNanBf16x2 "min.NaN.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, |a, b| half::or_nan(a, b, half::min(a, b))) }
    MinNanXorSignAbsBf16x2 "min.NaN.xorsign.abs.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, |a, b| half::xor_sign(a, b, half::or_nan(a, b, half::min(half::abs(a), half::abs(b))))) }
    MaxBf16x2 "max.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, half::max) }
    MaxXorSignAbsBf16x2 "max.xorsign.abs.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, |a, b| half::xor_sign(a, b, half::max(half::abs(a), half::abs(b)))) }
    MaxNanBf16x2 "max.NaN.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, |a, b| half::or_nan(a, b, half::max(a, b))) }
    MaxNanXorSignAbsBf16x2 "max.NaN.xorsign.abs.bf16x2" HalfPair (a: Two<Bf16>, b: Two<Bf16>) -> Two<Bf16> { a.zip(b, |a, b| half::xor_sign(a, b, half::or_nan(a, b, half::max(half::abs(a), half::abs(b))))) }

    } };
}

pub(crate) use halves;
