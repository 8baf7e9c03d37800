//! The parts of an address: a base, scaled indices, and a constant.

use crate::error::{Error, Result};
use crate::ir::{Binary, Cast, Const, Constant, Flags, Local, Op, Type, Value};
use crate::layout;
use crate::uses::Uses;

/// The way that an index becomes 64 bits wide.
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

/// Steps into a type by indices. Returns the bytes in front of the fields on the way, and visits all other indices with their scales.
fn step<'i, I>(
    source: &Type,
    indices: &'i [I],
    known: impl Fn(&I) -> Option<i64>,
    mut visit: impl FnMut(&'i I, i64) -> Result<()>,
) -> Result<i64> {
    let (mut ty, mut offset) = (source, 0_i64);
    for (at, index) in indices.iter().enumerate() {
        match ty {
            _ if at == 0 => {}
            Type::Struct { .. } => {
                let field = known(index).ok_or_else(|| Error::at(0, "the index of a field is not constant"))?;
                let (start, field) = layout::field(ty, field as u64)?;
                offset = offset.wrapping_add(start as i64);
                ty = field;
                continue;
            }
            Type::Array(_, element) | Type::Vector(_, element) => ty = element,
            _ => return Err(Error::at(0, "an index into a type that has no elements")),
        }
        visit(index, layout::size(ty)? as i64)?;
    }
    Ok(offset)
}

/// Returns the steps of one `getelementptr`: its terms and its constant.
pub fn steps(uses: &Uses, source: &Type, indices: &[Value]) -> Result<(Vec<Term>, i64)> {
    let mut walker = Walker { uses, terms: Vec::new(), offset: 0 };
    let known = |index: &Value| if let Value::Const(constant) = index { signed(constant) } else { None };
    let fields = step(source, indices, known, |index, scale| match uses.function.ty(index) {
        Type::Int(_) => {
            walker.walk(index, scale, Widen::No, 0);
            Ok(())
        }
        _ => Err(Error::at(0, "vectors of addresses are not supported")),
    })?;
    Ok((walker.terms, walker.offset.wrapping_add(fields)))
}

/// Takes indices apart.
struct Walker<'f> {
    uses: &'f Uses<'f>,
    terms: Vec<Term>,
    offset: i64,
}

impl<'f> Walker<'f> {
    /// Returns what defines a value, unless that is too deep.
    fn def(&self, value: &Value, depth: u32) -> Option<&'f Op> {
        self.uses.def(value).filter(|_| depth < 16)
    }

    /// Takes an index apart. Constants and scales leave it as long as no bit is lost.
    fn walk(&mut self, value: &Value, scale: i64, widen: Widen, depth: u32) {
        let ty = self.uses.function.ty(value);
        let local = match value {
            Value::Const(value) => {
                let constant = if widen == Widen::Zero { unsigned(value) } else { signed(value) };
                self.offset = self.offset.wrapping_add(constant.unwrap_or(0).wrapping_mul(scale));
                return;
            }
            Value::Local(local) => *local,
        };
        let deeper = depth + 1;
        match self.def(value, depth) {
            // Below 64 bits, an overflow would be lost in the wider sum.
            Some(Op::Binary { op: Binary::Add, flags, a, b })
                if keeps(widen, *flags, ty) && [a, b].into_iter().any(|value| self.has_constant(value, widen, depth)) =>
            {
                [a, b].into_iter().for_each(|value| self.walk(value, scale, widen, deeper));
            }
            Some(Op::Binary { op: Binary::Or, flags, a, b }) if flags.disjoint && has_constant_operand(a, b) => {
                [a, b].into_iter().for_each(|value| self.walk(value, scale, widen, deeper));
            }
            Some(Op::Binary { op: Binary::Shl, flags, a, b: Value::Const(by) })
                if keeps(widen, *flags, ty) && shift(by, scale).is_some() =>
            {
                self.walk(a, shift(by, scale).unwrap_or(scale), widen, deeper);
            }
            Some(Op::Cast { op: op @ (Cast::Zext | Cast::Sext), flags, value })
                if (self.uses.function.ty(value), ty) == (&Type::Int(32), &Type::Int(64)) =>
            {
                let is_signed = *op == Cast::Sext || flags.nneg && is_signed_sum(self.def(value, 0));
                self.walk(value, scale, if is_signed { Widen::Sign } else { Widen::Zero }, deeper);
            }
            _ => {
                // Indices of other widths are signed.
                let widen = if (ty, widen) == (&Type::Int(32), Widen::No) { Widen::Sign } else { widen };
                self.terms.push(Term { index: local, widen, scale });
            }
        }
    }

    /// Returns true if a constant can be taken out of an operand. Other sums stay, since apart they would only take more instructions.
    fn has_constant(&self, value: &Value, widen: Widen, depth: u32) -> bool {
        match self.def(value, depth) {
            Some(Op::Binary { op: Binary::Add, flags, a, b }) if keeps(widen, *flags, self.uses.function.ty(value)) => {
                [a, b].into_iter().any(|value| self.has_constant(value, widen, depth + 4))
            }
            Some(Op::Binary { op: Binary::Or, flags, a, b }) if flags.disjoint => has_constant_operand(a, b),
            _ => matches!(value, Value::Const(_)),
        }
    }
}

fn has_constant_operand(a: &Value, b: &Value) -> bool {
    matches!(a, Value::Const(_)) || matches!(b, Value::Const(_))
}

/// Returns the scale of a shifted index, if it stays small.
fn shift(by: &Constant, scale: i64) -> Option<i64> {
    unsigned(by).filter(|by| (0..32).contains(by) && scale.unsigned_abs() < 1 << 24).map(|by| scale << by)
}

/// Returns true for a sum with `nsw` but without `nuw`. It is only known not to overflow as a signed number.
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
pub fn signed(constant: &Constant) -> Option<i64> {
    match (&constant.value, &constant.ty) {
        (Const::Int(bits), Type::Int(width @ 1..=64)) => {
            let above = 64 - width;
            Some(((*bits as u64) << above) as i64 >> above)
        }
        (Const::Zero | Const::Undef, _) => Some(0),
        _ => None,
    }
}

fn unsigned(constant: &Constant) -> Option<i64> {
    match &constant.value {
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
pub fn address(uses: &Uses, ptr: &Value) -> Address {
    let mut found = Address { origin: Origin::Unknown, terms: Vec::new(), offset: 0 };
    let mut at = ptr;
    for _ in 0..64 {
        let local = match at {
            Value::Const(value) => {
                found.origin = Origin::Unknown;
                if let Some((name, offset)) = constant_address(value) {
                    found.origin = Origin::Symbol(name.to_owned());
                    found.offset = found.offset.wrapping_add(offset);
                }
                break;
            }
            Value::Local(local) => *local,
        };
        found.origin = Origin::Local(local);
        at = match uses.def(at) {
            Some(Op::Gep { source, base, indices }) => {
                let Ok((terms, offset)) = steps(uses, source, indices) else { break };
                found.terms.extend(terms);
                found.offset = found.offset.wrapping_add(offset);
                base
            }
            Some(Op::Cast { op: Cast::AddrSpace | Cast::Bitcast, value, .. })
                if matches!(uses.function.ty(value), Type::Ptr(_)) =>
            {
                value
            }
            _ => break,
        };
    }
    found.terms.sort_by_key(|term| (term.index, term.scale));
    found
}

/// Returns the variable and the offset of a constant address.
pub fn constant_address(constant: &Constant) -> Option<(&str, i64)> {
    match &constant.value {
        Const::Global(name) => Some((name, 0)),
        Const::Cast { op: Cast::AddrSpace | Cast::Bitcast, value } => constant_address(value),
        Const::Gep { source, base, indices } => {
            let (name, offset) = constant_address(base)?;
            Some((name, offset.wrapping_add(constant_offset(source, indices)?)))
        }
        _ => None,
    }
}

/// Returns the bytes that constant indices make.
pub fn constant_offset(source: &Type, indices: &[Constant]) -> Option<i64> {
    let mut sum = 0_i64;
    let fields = step(source, indices, signed, |index, scale| {
        let index = signed(index).ok_or_else(|| Error::at(0, "an index is not constant"))?;
        sum = sum.wrapping_add(index.wrapping_mul(scale));
        Ok(())
    });
    fields.ok().map(|fields| sum.wrapping_add(fields))
}
