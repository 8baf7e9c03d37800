//! Where values are in memory, and the scalars that a value consists of.

use crate::error::{Error, Result};
use crate::ir::Type;

/// Most scalars of one value. Text that asks for more is damaged or not meant for registers.
const MOST_PARTS: u64 = 4096;
/// Most bytes that a type may have.
const MOST_BYTES: u64 = 1 << 40;

/// A scalar: what one register holds. Integers above 64 bits are two scalars of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Int(u32),
    Half,
    BFloat,
    Float,
    Double,
    Ptr,
}

impl Scalar {
    /// Its width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Int(bits) => bits,
            Scalar::Half | Scalar::BFloat => 16,
            Scalar::Float => 32,
            Scalar::Double | Scalar::Ptr => 64,
        }
    }

    /// Returns the bytes that it takes in memory.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits()).div_ceil(8).next_power_of_two()
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Half | Scalar::BFloat | Scalar::Float | Scalar::Double)
    }
}

/// A scalar and its offset in memory.
pub type Place = (Scalar, u64);

/// Returns the scalar of a type that is one.
pub fn scalar(ty: &Type) -> Option<Scalar> {
    Some(match ty {
        Type::Int(bits) => Scalar::Int(*bits),
        Type::Half => Scalar::Half,
        Type::BFloat => Scalar::BFloat,
        Type::Float => Scalar::Float,
        Type::Double => Scalar::Double,
        Type::Ptr(_) => Scalar::Ptr,
        _ => return None,
    })
}

/// Returns the distance in bytes between an array's elements of this type.
pub fn size(ty: &Type) -> Result<u64> {
    let bytes = match ty {
        Type::Vector(count, element) => {
            let bits = scalar(element).ok_or_else(|| no_size(ty))?.bits();
            (u64::from(*count) * u64::from(bits)).div_ceil(8).next_multiple_of(align(ty))
        }
        Type::Array(count, element) => count.checked_mul(size(element)?).unwrap_or(u64::MAX),
        Type::Struct { packed, fields } => {
            let (_, end) = offsets(fields, *packed)?;
            end.checked_next_multiple_of(align(ty)).unwrap_or(u64::MAX)
        }
        _ => scalar(ty).ok_or_else(|| no_size(ty))?.bytes(),
    };
    if bytes > MOST_BYTES { Err(Error::at(0, "a type is too large")) } else { Ok(bytes) }
}

/// Returns the alignment that the ABI gives it.
pub fn align(ty: &Type) -> u64 {
    match ty {
        Type::Vector(count, element) => {
            let bits = scalar(element).map_or(8, Scalar::bits);
            (u64::from(*count) * u64::from(bits)).div_ceil(8).next_power_of_two().min(1 << 16)
        }
        Type::Array(_, element) => align(element),
        Type::Struct { packed: true, .. } => 1,
        Type::Struct { fields, .. } => fields.iter().map(align).max().unwrap_or(1),
        _ => scalar(ty).map_or(1, Scalar::bytes),
    }
}

/// Returns the offsets of fields, and the end of the last one.
fn offsets(fields: &[Type], packed: bool) -> Result<(Vec<u64>, u64)> {
    let (mut offsets, mut end) = (Vec::with_capacity(fields.len()), 0_u64);
    for field in fields {
        let align = if packed { 1 } else { align(field) };
        let start = end.checked_next_multiple_of(align).ok_or_else(|| Error::at(0, "a type is too large"))?;
        offsets.push(start);
        end = start.saturating_add(size(field)?);
    }
    Ok((offsets, end))
}

/// Returns the offset of a field and its type.
pub fn field(ty: &Type, index: u64) -> Result<(u64, &Type)> {
    let Type::Struct { packed, fields } = ty else { return Err(Error::at(0, "expected a structure")) };
    let (offsets, _) = offsets(fields, *packed)?;
    let mut places = offsets.into_iter().zip(fields.iter());
    usize::try_from(index).ok().and_then(|index| places.nth(index)).ok_or_else(|| Error::at(0, "a structure has no such field"))
}

/// Returns an aggregate's member and the number of scalars before it.
pub fn member<'t>(ty: &'t Type, path: &[u32]) -> Result<(usize, &'t Type)> {
    path.iter().try_fold((0, ty), |(start, ty), index| {
        let (before, element) = element(ty, *index)?;
        Ok((start + before, element))
    })
}

/// Returns an aggregate's element and the number of scalars before it.
fn element(ty: &Type, index: u32) -> Result<(usize, &Type)> {
    match ty {
        Type::Struct { fields, .. } => {
            let before: Result<usize> = fields.iter().take(index as usize).map(|field| Ok(parts(field)?.len())).sum();
            let field = fields.get(index as usize).ok_or_else(|| Error::at(0, "a structure has no such field"))?;
            Ok((before?, field))
        }
        Type::Array(count, element) if u64::from(index) < *count => Ok((parts(element)?.len() * index as usize, element)),
        _ => Err(Error::at(0, "an aggregate has no such element")),
    }
}

/// Returns the scalars of a value, in order.
pub fn parts(ty: &Type) -> Result<Vec<Scalar>> {
    Ok(places(ty)?.into_iter().map(|(scalar, _)| scalar).collect())
}

/// Returns the scalars of a value, each with its offset in memory.
pub fn places(ty: &Type) -> Result<Vec<Place>> {
    let mut parts = Vec::new();
    collect(ty, 0, &mut parts)?;
    Ok(parts)
}

fn check_parts(count: u64) -> Result<()> {
    if count > MOST_PARTS { Err(Error::at(0, "a value is too large for registers")) } else { Ok(()) }
}

fn collect(ty: &Type, offset: u64, parts: &mut Vec<Place>) -> Result<()> {
    check_parts(parts.len() as u64)?;
    match ty {
        Type::Void => {}
        Type::Vector(count, element) => {
            let scalar = scalar(element).ok_or_else(|| no_size(ty))?;
            check_parts(u64::from(*count))?;
            // A vector of `i1` has no place in memory that bytes could name; its loads and stores are refused elsewhere.
            parts.extend((0..u64::from(*count)).map(|at| (scalar, offset + at * scalar.bytes())));
        }
        Type::Array(count, element) => {
            let step = size(element)?;
            check_parts(*count)?;
            for at in 0..if step == 0 { 0 } else { *count } {
                collect(element, offset + at * step, parts)?;
            }
        }
        Type::Struct { packed, fields } => {
            for (start, field) in offsets(fields, *packed)?.0.into_iter().zip(fields.iter()) {
                collect(field, offset + start, parts)?;
            }
        }
        // Two words, the low one first.
        Type::Int(65..) => parts.extend([(Scalar::Int(64), offset), (Scalar::Int(64), offset + 8)]),
        _ => parts.push((scalar(ty).ok_or_else(|| no_size(ty))?, offset)),
    }
    Ok(())
}

fn no_size(ty: &Type) -> Error {
    Error::at(0, format!("a value of type {ty:?} has no size"))
}
