//! What an address is made of: a base, scaled indices, and a constant.

use crate::error::{Error, Result};
use crate::ir::{Binary, Cast, Const, Flags, Function, Local, Op, Type, Value};
use crate::layout;
use crate::uses::Uses;

/// How an index becomes 64 bits wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Widen {
    /// It is.
    No,
    /// From 32 bits.
    Zero,
    /// From 32 bits.
    Sign,
}

/// An index and the bytes that a step of it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    pub index: Local,
    pub widen: Widen,
    pub scale: i64,
}

/// The steps of one `getelementptr`: its terms and its constant.
pub fn steps(function: &Function, uses: &Uses, source: &Type, indices: &[(Type, Value)]) -> Result<(Vec<Term>, i64)> {
    let (mut terms, mut offset) = (Vec::new(), 0_i64);
    let mut ty = source;
    for (at, (index_type, index)) in indices.iter().enumerate() {
        if at > 0
            && let Type::Struct { .. } = ty
        {
            let Value::Const(value) = index else {
                return Err(Error::at(0, "the index of a field is not constant"));
            };
            let (start, field) = layout::field(ty, signed(value, index_type).unwrap_or(0) as u64)?;
            offset = offset.wrapping_add(start as i64);
            ty = field;
            continue;
        }
        if at > 0 {
            ty = match ty {
                Type::Array(_, element) | Type::Vector(_, element) => element,
                _ => return Err(Error::at(0, "an index into a type that has no elements")),
            };
        }
        let scale = layout::size(ty)? as i64;
        if !matches!(index_type, Type::Int(_)) {
            return Err(Error::at(0, "vectors of addresses are not supported"));
        }
        walk(function, uses, index, index_type, scale, Widen::No, &mut terms, &mut offset, 0);
    }
    Ok((terms, offset))
}

/// Takes an index apart: constants and scales leave it as long as no bit is lost.
#[expect(clippy::too_many_arguments, reason = "the state of a recursion")]
fn walk(
    function: &Function,
    uses: &Uses,
    value: &Value,
    ty: &Type,
    scale: i64,
    widen: Widen,
    terms: &mut Vec<Term>,
    offset: &mut i64,
    depth: u32,
) {
    let local = match value {
        Value::Const(value) => {
            let constant = match widen {
                Widen::Zero => unsigned(value),
                _ => signed(value, ty),
            };
            *offset = offset.wrapping_add(constant.unwrap_or(0).wrapping_mul(scale));
            return;
        }
        Value::Local(local) => *local,
    };
    let term = Term { index: local, widen: if *ty == Type::Int(64) { widen } else { widen_of(ty, widen) }, scale };
    let Some(inst) = uses.def(function, value).filter(|_| depth < 16) else {
        return terms.push(term);
    };
    let deeper = depth + 1;
    match &inst.op {
        // Below 64 bits, an overflow would be lost in the wider sum.
        Op::Binary { op: Binary::Add, flags, a, b }
            if keeps(widen, *flags, ty)
                && [a, b].into_iter().any(|value| has_constant(function, uses, value, widen, ty, depth)) =>
        {
            walk(function, uses, a, ty, scale, widen, terms, offset, deeper);
            walk(function, uses, b, ty, scale, widen, terms, offset, deeper);
        }
        Op::Binary { op: Binary::Or, flags, a, b }
            if flags.disjoint && [a, b].into_iter().any(|value| matches!(value, Value::Const(_))) =>
        {
            walk(function, uses, a, ty, scale, widen, terms, offset, deeper);
            walk(function, uses, b, ty, scale, widen, terms, offset, deeper);
        }
        Op::Binary { op: Binary::Shl, flags, a, b: Value::Const(by) } if keeps(widen, *flags, ty) => match unsigned(by) {
            Some(by @ 0..32) if scale.unsigned_abs() < 1 << 24 => {
                walk(function, uses, a, ty, scale << by, widen, terms, offset, deeper);
            }
            _ => terms.push(term),
        },
        Op::Cast { op: Cast::Zext, flags, from: from @ Type::Int(32), value } if *ty == Type::Int(64) => {
            let widen = if flags.nneg && is_signed_sum(function, uses, value) { Widen::Sign } else { Widen::Zero };
            walk(function, uses, value, from, scale, widen, terms, offset, deeper);
        }
        Op::Cast { op: Cast::Sext, from: from @ Type::Int(32), value, .. } if *ty == Type::Int(64) => {
            walk(function, uses, value, from, scale, Widen::Sign, terms, offset, deeper);
        }
        _ => terms.push(term),
    }
}

/// Whether a constant can be taken out of an operand. Other sums stay, since apart they would only take more instructions.
fn has_constant(function: &Function, uses: &Uses, value: &Value, widen: Widen, ty: &Type, depth: u32) -> bool {
    if matches!(value, Value::Const(_)) {
        return true;
    }
    let Some(inst) = uses.def(function, value).filter(|_| depth < 16) else {
        return false;
    };
    match &inst.op {
        Op::Binary { op: Binary::Add, flags, a, b } if keeps(widen, *flags, ty) => {
            [a, b].into_iter().any(|value| has_constant(function, uses, value, widen, ty, depth + 4))
        }
        Op::Binary { op: Binary::Or, flags, a, b } if flags.disjoint => {
            [a, b].into_iter().any(|value| matches!(value, Value::Const(_)))
        }
        _ => false,
    }
}

/// Whether a value that is not negative is a sum that is known not to overflow as a signed one only.
fn is_signed_sum(function: &Function, uses: &Uses, value: &Value) -> bool {
    match uses.def(function, value).map(|inst| &inst.op) {
        Some(Op::Binary { op: Binary::Add | Binary::Shl, flags, .. }) => flags.nsw && !flags.nuw,
        _ => false,
    }
}

fn keeps(widen: Widen, flags: Flags, ty: &Type) -> bool {
    match widen {
        Widen::No => *ty == Type::Int(64),
        Widen::Zero => flags.nuw,
        Widen::Sign => flags.nsw,
    }
}

/// Indices of other widths are signed.
fn widen_of(ty: &Type, widen: Widen) -> Widen {
    match (ty, widen) {
        (Type::Int(32), Widen::No) => Widen::Sign,
        _ => widen,
    }
}

/// A constant integer as a signed number of its type.
pub fn signed(value: &Const, ty: &Type) -> Option<i64> {
    match (value, ty) {
        (Const::Int(bits), Type::Int(width @ 1..=64)) => {
            let above = 64 - width;
            Some(((*bits as u64) << above) as i64 >> above)
        }
        (Const::Zero | Const::Undef, _) => Some(0),
        _ => None,
    }
}

fn unsigned(value: &Const) -> Option<i64> {
    match value {
        Const::Int(bits) => i64::try_from(*bits).ok(),
        Const::Zero | Const::Undef => Some(0),
        _ => None,
    }
}

/// The origin of an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    Local(Local),
    Symbol(String),
    Unknown,
}

/// An address in full: through all `getelementptr` down to what they start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub origin: Origin,
    pub terms: Vec<Term>,
    pub offset: i64,
}

/// Takes a pointer apart.
pub fn address(function: &Function, uses: &Uses, ptr: &Value) -> Address {
    let mut found = Address { origin: Origin::Unknown, terms: Vec::new(), offset: 0 };
    let mut at = ptr;
    for _ in 0..64 {
        match at {
            Value::Const(value) => {
                constant(value, &mut found, 0);
                break;
            }
            Value::Local(local) => {
                found.origin = Origin::Local(*local);
                match uses.def(function, at).map(|inst| &inst.op) {
                    Some(Op::Gep { source, base, indices, .. }) => {
                        let Ok((terms, offset)) = steps(function, uses, source, indices) else { break };
                        found.terms.extend(terms);
                        found.offset = found.offset.wrapping_add(offset);
                        at = base;
                    }
                    Some(Op::Cast { op: Cast::AddrSpace | Cast::Bitcast, from: Type::Ptr(_), value, .. }) => at = value,
                    _ => break,
                }
            }
        }
    }
    found.terms.sort_by_key(|term| (term.index, term.scale));
    found
}

fn constant(value: &Const, found: &mut Address, depth: usize) {
    found.origin = Origin::Unknown;
    if depth > 16 {
        return;
    }
    match value {
        Const::Global(name) => found.origin = Origin::Symbol(name.clone()),
        Const::Cast { op: Cast::AddrSpace | Cast::Bitcast, value, .. } => constant(value, found, depth + 1),
        Const::Gep { source, base, indices, .. } => {
            if let Some(offset) = constant_offset(source, indices) {
                found.offset = found.offset.wrapping_add(offset);
                constant(base, found, depth + 1);
            }
        }
        _ => {}
    }
}

/// The bytes that constant indices make.
pub fn constant_offset(source: &Type, indices: &[(Type, Const)]) -> Option<i64> {
    let mut ty = source;
    let mut offset = 0_i64;
    for (at, (index_type, index)) in indices.iter().enumerate() {
        let index = signed(index, index_type)?;
        if at > 0
            && let Type::Struct { .. } = ty
        {
            let (start, field) = layout::field(ty, index as u64).ok()?;
            offset = offset.wrapping_add(start as i64);
            ty = field;
            continue;
        }
        if at > 0 {
            ty = match ty {
                Type::Array(_, element) | Type::Vector(_, element) => element,
                _ => return None,
            };
        }
        offset = offset.wrapping_add(index.wrapping_mul(layout::size(ty).ok()? as i64));
    }
    Some(offset)
}
