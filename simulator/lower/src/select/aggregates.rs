//! Vectors and structures: parts change their places.

use super::prelude::*;

impl Selector<'_> {
    /// Returns the first part of a member and the number of its parts.
    fn member(&self, ty: &Type, path: &[u32]) -> Result<(usize, usize)> {
        let mut start = 0;
        let mut at = ty;
        for index in path {
            let (before, inner) = layout::element(at, *index)?;
            start += before;
            at = inner;
        }
        Ok((start, self.scalars(at)?.len()))
    }

    pub fn extract_value(&mut self, from: &Type, value: &Value, path: &[u32]) -> Result<Vec<Part>> {
        let (start, count) = self.member(from, path)?;
        let parts = self.parts(value, from)?;
        match parts.get(start..start + count) {
            Some(parts) => Ok(parts.to_vec()),
            None => self.fail("a structure has no such member"),
        }
    }

    pub fn insert_value(&mut self, ty: &Type, into: &Value, from: &Type, value: &Value, path: &[u32]) -> Result<Vec<Part>> {
        let (start, count) = self.member(ty, path)?;
        let mut parts = self.parts(into, ty)?;
        let new = self.data_parts(value, from)?;
        match parts.get_mut(start..start + count) {
            Some(place) if new.len() == count => place.clone_from_slice(&new),
            _ => return self.fail("a structure has no such member"),
        }
        Ok(parts)
    }

    pub fn extract_element(&mut self, from: &Type, vector: &Value, index: &Value) -> Result<Vec<Part>> {
        let parts = self.parts(vector, from)?;
        if let Some(index) = self.known(index, &Type::Int(64)) {
            return Ok(vec![usize::try_from(index).ok().and_then(|index| parts.get(index)).cloned().unwrap_or(Part::Undef)]);
        }
        // An index that is only known when the kernel runs: one selection for each element.
        let index = self.index(index)?;
        let scalar = self.scalar(from.scalar())?;
        let Some((first, rest)) = parts.split_first() else {
            return self.fail("an empty vector");
        };
        let mut found = first.clone();
        for (at, part) in (1_i64..).zip(rest) {
            let is_it = self.is_index(index, at);
            found = self.select_part(&is_it, scalar, part, &found)?;
        }
        Ok(vec![found])
    }

    pub fn insert_element(&mut self, ty: &Type, vector: &Value, element: &Value, index: &Value) -> Result<Vec<Part>> {
        let mut parts = self.parts(vector, ty)?;
        let new = self.data_part(element, ty.scalar())?;
        if let Some(known) = self.known(index, &Type::Int(64)) {
            if let Some(place) = usize::try_from(known).ok().and_then(|index| parts.get_mut(index)) {
                *place = new;
            }
            return Ok(parts);
        }
        let index = self.index(index)?;
        let scalar = self.scalar(ty.scalar())?;
        for (at, part) in (0_i64..).zip(&mut parts) {
            let is_it = self.is_index(index, at);
            *part = self.select_part(&is_it, scalar, &new, part)?;
        }
        Ok(parts)
    }

    fn index(&mut self, index: &Value) -> Result<(Reg, bool)> {
        let ty = match index {
            Value::Local(local) => self.function.locals[*local as usize].clone(),
            Value::Const(_) => Type::Int(64),
        };
        let Type::Int(width @ 2..=64) = ty else {
            return self.fail("an index of this type is not supported");
        };
        let part = self.part(index, &ty)?;
        Ok((self.extended_reg(&part, width, Ext::Zero)?, width > 32))
    }

    fn is_index(&mut self, (index, is_long): (Reg, bool), at: i64) -> Part {
        let opcode = if is_long { "setp.eq.s64" } else { "setp.eq.s32" };
        self.made(opcode, Class::Pred, vec![Op::Reg(index), int(at)])
    }

    pub fn shuffle(&mut self, from: &Type, a: &Value, b: &Value, mask: &[Option<u32>]) -> Result<Vec<Part>> {
        let mut parts = self.parts(a, from)?;
        parts.extend(self.parts(b, from)?);
        Ok(mask.iter().map(|index| index.and_then(|index| parts.get(index as usize)).cloned().unwrap_or(Part::Undef)).collect())
    }
}
