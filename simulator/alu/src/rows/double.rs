//! Rows of double precision.

/// Adds the rows of this family to those so far and calls the next macro; see `table`.
#[rustfmt::skip]
macro_rules! double {
    ($next:ident $($then:ident)* => $($rows:tt)*) => { $next! { $($then)* => $($rows)*

    // Double precision, rounded to nearest even. A NaN operand passes through.
    AddF64 "add{,.rn}.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(a + b, [b, a]) }
    SubF64 "sub{,.rn}.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(a - b, [b, a]) }
    MulF64 "mul{,.rn}.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(a * b, [b, a]) }
    FmaF64 "{fma,mad}.rn.f64" F64 (a: f64, b: f64, c: f64) -> f64 { float::pass_nan(a.mul_add(b, c), [b, c, a]) }
    NegF64 "neg.f64" Move (a: f64) -> f64 { float::pass_nan(-a, [a]) }
    AbsF64 "abs.f64" Move (a: f64) -> f64 { float::pass_nan(a.abs(), [a]) }
    MinF64 "min.f64" F64 (a: f64, b: f64) -> f64 { float::min64(a, b) }
    MaxF64 "max.f64" F64 (a: f64, b: f64) -> f64 { float::max64(a, b) }
    CopysignF64 "copysign.f64" F64 (a: f64, b: f64) -> f64 { b.copysign(a) }
    DivF64 "div.rn.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(a / b, [a, b]) }
    RcpF64 "rcp.rn.f64" F64 (a: f64) -> f64 { float::pass_nan(1.0 / a, [a]) }
    SqrtF64 "sqrt.rn.f64" F64 (a: f64) -> f64 { float::pass_nan(a.sqrt(), [a]) }

    // With other rounding directions.
    AddRzF64 "add.rz.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::sum(a, b, Rounding::Zero), [b, a]) }
    AddRmF64 "add.rm.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::sum(a, b, Rounding::Down), [b, a]) }
    AddRpF64 "add.rp.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::sum(a, b, Rounding::Up), [b, a]) }
    SubRzF64 "sub.rz.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::sum(a, -b, Rounding::Zero), [b, a]) }
    SubRmF64 "sub.rm.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::sum(a, -b, Rounding::Down), [b, a]) }
    SubRpF64 "sub.rp.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::sum(a, -b, Rounding::Up), [b, a]) }
    MulRzF64 "mul.rz.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::product(a, b, Rounding::Zero), [b, a]) }
    MulRmF64 "mul.rm.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::product(a, b, Rounding::Down), [b, a]) }
    MulRpF64 "mul.rp.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::product(a, b, Rounding::Up), [b, a]) }
    FmaRzF64 "{fma,mad}.rz.f64" F64 (a: f64, b: f64, c: f64) -> f64 { float::pass_nan(exact::multiply_add(a, b, c, Rounding::Zero), [b, c, a]) }
    FmaRmF64 "{fma,mad}.rm.f64" F64 (a: f64, b: f64, c: f64) -> f64 { float::pass_nan(exact::multiply_add(a, b, c, Rounding::Down), [b, c, a]) }
    FmaRpF64 "{fma,mad}.rp.f64" F64 (a: f64, b: f64, c: f64) -> f64 { float::pass_nan(exact::multiply_add(a, b, c, Rounding::Up), [b, c, a]) }
    DivRzF64 "div.rz.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::quotient(a, b, Rounding::Zero), [a, b]) }
    DivRmF64 "div.rm.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::quotient(a, b, Rounding::Down), [a, b]) }
    DivRpF64 "div.rp.f64" F64 (a: f64, b: f64) -> f64 { float::pass_nan(exact::quotient(a, b, Rounding::Up), [a, b]) }
    RcpRzF64 "rcp.rz.f64" F64 (a: f64) -> f64 { float::pass_nan(exact::quotient(1.0, a, Rounding::Zero), [a]) }
    RcpRmF64 "rcp.rm.f64" F64 (a: f64) -> f64 { float::pass_nan(exact::quotient(1.0, a, Rounding::Down), [a]) }
    RcpRpF64 "rcp.rp.f64" F64 (a: f64) -> f64 { float::pass_nan(exact::quotient(1.0, a, Rounding::Up), [a]) }
    SqrtRzF64 "sqrt.rz.f64" F64 (a: f64) -> f64 { float::pass_nan(exact::root(a, Rounding::Zero), [a]) }
    SqrtRmF64 "sqrt.rm.f64" F64 (a: f64) -> f64 { float::pass_nan(exact::root(a, Rounding::Down), [a]) }
    SqrtRpF64 "sqrt.rp.f64" F64 (a: f64) -> f64 { float::pass_nan(exact::root(a, Rounding::Up), [a]) }
    TestpFiniteF64 "testp.finite.f64" Predicate (a: f64) -> bool { a.is_finite() }
    TestpInfiniteF64 "testp.infinite.f64" Predicate (a: f64) -> bool { a.is_infinite() }
    TestpNumberF64 "testp.number.f64" Predicate (a: f64) -> bool { !a.is_nan() }
    TestpNotANumberF64 "testp.notanumber.f64" Predicate (a: f64) -> bool { a.is_nan() }
    TestpNormalF64 "testp.normal.f64" Predicate (a: f64) -> bool { a.is_normal() || a == 0.0 }
    TestpSubnormalF64 "testp.subnormal.f64" Predicate (a: f64) -> bool { a.is_subnormal() }

    } };
}

pub(crate) use double;
