//! Vectors and structures: parts change their places.

use super::prelude::*;

impl Selector<'_> {
    pub fn extract_value(&mut self, value: &Value, path: &[u32]) -> Result<Vec<Part>> {
        let (start, member) = layout::member(self.function.ty(value), path)?;
        let count = layout::parts(member)?.len();
        match self.parts(value)?.get(start..start + count) {
            Some(parts) => Ok(parts.to_vec()),
            None => self.fail("a structure has no such member"),
        }
    }

    pub fn insert_value(&mut self, into: &Value, value: &Value, path: &[u32]) -> Result<Vec<Part>> {
        let (start, member) = layout::member(self.function.ty(into), path)?;
        let count = layout::parts(member)?.len();
        let mut parts = self.parts(into)?;
        let new = self.data_parts(value)?;
        match parts.get_mut(start..start + count) {
            Some(place) if new.len() == count => place.clone_from_slice(&new),
            _ => return self.fail("a structure has no such member"),
        }
        Ok(parts)
    }

    pub fn extract_element(&mut self, vector: &Value, index: &Value) -> Result<Vec<Part>> {
        let parts = self.parts(vector)?;
        if let Some(index) = self.known(index) {
            return Ok(vec![usize::try_from(index).ok().and_then(|index| parts.get(index)).cloned().unwrap_or(Part::Undef)]);
        }
        // An index that is only known when the kernel runs: one selection for each element.
        let index = self.index(index)?;
        let scalar = self.scalar(self.function.ty(vector).scalar())?;
        let Some((first, rest)) = parts.split_first() else { return self.fail("an empty vector") };
        let mut found = first.clone();
        for (at, part) in (1_i64..).zip(rest) {
            let is_it = self.is_index(index, at);
            found = self.select_part(&is_it, scalar, part, &found)?;
        }
        Ok(vec![found])
    }

    pub fn insert_element(&mut self, vector: &Value, element: &Value, index: &Value) -> Result<Vec<Part>> {
        let mut parts = self.parts(vector)?;
        let new = self.data_part(element)?;
        if let Some(known) = self.known(index) {
            if let Some(place) = usize::try_from(known).ok().and_then(|index| parts.get_mut(index)) {
                *place = new;
            }
            return Ok(parts);
        }
        let index = self.index(index)?;
        let scalar = self.scalar(self.function.ty(vector).scalar())?;
        for (at, part) in (0_i64..).zip(&mut parts) {
            let is_it = self.is_index(index, at);
            *part = self.select_part(&is_it, scalar, &new, part)?;
        }
        Ok(parts)
    }

    fn index(&mut self, index: &Value) -> Result<Reg> {
        let Type::Int(width @ 2..=64) = *self.function.ty(index) else {
            return self.fail("an index of this type is not supported");
        };
        let part = self.part(index)?;
        self.extended_reg(&part, width, Ext::Zero)
    }

    fn is_index(&mut self, index: Reg, at: i64) -> Part {
        let opcode = if self.class(index) == Class::B64 { "setp.eq.s64" } else { "setp.eq.s32" };
        self.made(opcode, Class::Pred, ops![index, at])
    }

    pub fn shuffle(&mut self, a: &Value, b: &Value, mask: &[Option<u32>]) -> Result<Vec<Part>> {
        let mut parts = self.parts(a)?;
        parts.extend(self.parts(b)?);
        Ok(mask.iter().map(|index| index.and_then(|index| parts.get(index as usize)).cloned().unwrap_or(Part::Undef)).collect())
    }
}
