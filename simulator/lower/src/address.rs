//! The parts of an address: a base, scaled indices, and a constant.

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

/// Returns the steps of one `getelementptr`: its terms and its constant.
pub fn steps(function: &Function, uses: &Uses, source: &Type, indices: &[(Type, Value)]) -> Result<(Vec<Term>, i64)> {
    let mut walker = Walker { function, uses, terms: Vec::new(), offset: 0 };
    let mut ty = source;
    for (at, (index_type, index)) in indices.iter().enumerate() {
        match ty {
            _ if at == 0 => {}
            Type::Struct { .. } => {
                let Value::Const(value) = index else {
                    return Err(Error::at(0, "the index of a field is not constant"));
                };
                let (start, field) = layout::field(ty, signed(value, index_type).unwrap_or(0) as u64)?;
                walker.offset = walker.offset.wrapping_add(start as i64);
                ty = field;
                continue;
            }
            Type::Array(_, element) | Type::Vector(_, element) => ty = element,
            _ => return Err(Error::at(0, "an index into a type that has no elements")),
        }
        let scale = layout::size(ty)? as i64;
        if !matches!(index_type, Type::Int(_)) {
            return Err(Error::at(0, "vectors of addresses are not supported"));
        }
        walker.walk(index, index_type, scale, Widen::No, 0);
    }
    Ok((walker.terms, walker.offset))
}

/// Takes indices apart.
struct Walker<'f> {
    function: &'f Function,
    uses: &'f Uses,
    terms: Vec<Term>,
    offset: i64,
}

impl<'f> Walker<'f> {
    /// Returns what defines a value, unless that is too deep.
    fn def(&self, value: &Value, depth: u32) -> Option<&'f Op> {
        self.uses.def(self.function, value).filter(|_| depth < 16).map(|inst| &inst.op)
    }

    /// Takes an index apart. Constants and scales leave it as long as no bit is lost.
    fn walk(&mut self, value: &Value, ty: &Type, scale: i64, widen: Widen, depth: u32) {
        let local = match value {
            Value::Const(value) => {
                let constant = if widen == Widen::Zero { unsigned(value) } else { signed(value, ty) };
                self.offset = self.offset.wrapping_add(constant.unwrap_or(0).wrapping_mul(scale));
                return;
            }
            Value::Local(local) => *local,
        };
        let deeper = depth + 1;
        match self.def(value, depth) {
            // Below 64 bits, an overflow would be lost in the wider sum.
            Some(Op::Binary { op: Binary::Add, flags, a, b })
                if keeps(widen, *flags, ty) && [a, b].into_iter().any(|value| self.has_constant(value, widen, ty, depth)) =>
            {
                self.walk(a, ty, scale, widen, deeper);
                self.walk(b, ty, scale, widen, deeper);
            }
            Some(Op::Binary { op: Binary::Or, flags, a, b }) if flags.disjoint && has_constant_operand(a, b) => {
                self.walk(a, ty, scale, widen, deeper);
                self.walk(b, ty, scale, widen, deeper);
            }
            Some(Op::Binary { op: Binary::Shl, flags, a, b: Value::Const(by) })
                if keeps(widen, *flags, ty) && shift(by, scale).is_some() =>
            {
                self.walk(a, ty, shift(by, scale).unwrap_or(scale), widen, deeper);
            }
            Some(Op::Cast { op: Cast::Zext, flags, from: from @ Type::Int(32), value }) if *ty == Type::Int(64) => {
                let is_signed = flags.nneg && is_signed_sum(self.def(value, 0));
                self.walk(value, from, scale, if is_signed { Widen::Sign } else { Widen::Zero }, deeper);
            }
            Some(Op::Cast { op: Cast::Sext, from: from @ Type::Int(32), value, .. }) if *ty == Type::Int(64) => {
                self.walk(value, from, scale, Widen::Sign, deeper);
            }
            _ => {
                // Indices of other widths are signed.
                let widen = if (ty, widen) == (&Type::Int(32), Widen::No) { Widen::Sign } else { widen };
                self.terms.push(Term { index: local, widen, scale });
            }
        }
    }

    /// Returns true if a constant can be taken out of an operand. Other sums stay, since apart they would only take more instructions.
    fn has_constant(&self, value: &Value, widen: Widen, ty: &Type, depth: u32) -> bool {
        match self.def(value, depth) {
            Some(Op::Binary { op: Binary::Add, flags, a, b }) if keeps(widen, *flags, ty) => {
                [a, b].into_iter().any(|value| self.has_constant(value, widen, ty, depth + 4))
            }
            Some(Op::Binary { op: Binary::Or, flags, a, b }) if flags.disjoint => has_constant_operand(a, b),
            _ => matches!(value, Value::Const(_)),
        }
    }
}

fn has_constant_operand(a: &Value, b: &Value) -> bool {
    matches!(a, Value::Const(_)) || matches!(b, Value::Const(_))
}

/// Returns the scale of an index that is shifted, if it stays small.
fn shift(by: &Const, scale: i64) -> Option<i64> {
    unsigned(by).filter(|by| (0..32).contains(by) && scale.unsigned_abs() < 1 << 24).map(|by| scale << by)
}

/// Returns true for a sum that is only known not to overflow as a signed number.
fn is_signed_sum(op: Option<&Op>) -> bool {
    matches!(op, Some(Op::Binary { op: Binary::Add | Binary::Shl, flags, .. }) if flags.nsw && !flags.nuw)
}

fn keeps(widen: Widen, flags: Flags, ty: &Type) -> bool {
    match widen {
        Widen::No => *ty == Type::Int(64),
        Widen::Zero => flags.nuw,
        Widen::Sign => flags.nsw,
    }
}

/// Returns a constant integer as a signed number of its type.
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
                found.origin = Origin::Unknown;
                if let Some((name, offset)) = constant_address(value) {
                    found.origin = Origin::Symbol(name.to_owned());
                    found.offset = found.offset.wrapping_add(offset);
                }
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

/// Returns the variable and the offset of a constant address.
pub fn constant_address(value: &Const) -> Option<(&str, i64)> {
    match value {
        Const::Global(name) => Some((name, 0)),
        Const::Cast { op: Cast::AddrSpace | Cast::Bitcast, value, .. } => constant_address(value),
        Const::Gep { source, base, indices, .. } => {
            let (name, offset) = constant_address(base)?;
            Some((name, offset.wrapping_add(constant_offset(source, indices)?)))
        }
        _ => None,
    }
}

/// Returns the bytes that constant indices make.
pub fn constant_offset(source: &Type, indices: &[(Type, Const)]) -> Option<i64> {
    let mut ty = source;
    let mut offset = 0_i64;
    for (at, (index_type, index)) in indices.iter().enumerate() {
        let index = signed(index, index_type)?;
        match ty {
            _ if at == 0 => {}
            Type::Struct { .. } => {
                let (start, field) = layout::field(ty, index as u64).ok()?;
                offset = offset.wrapping_add(start as i64);
                ty = field;
                continue;
            }
            Type::Array(_, element) | Type::Vector(_, element) => ty = element,
            _ => return None,
        }
        offset = offset.wrapping_add(index.wrapping_mul(layout::size(ty).ok()? as i64));
    }
    Some(offset)
}
