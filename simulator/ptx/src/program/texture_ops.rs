//! Decodes reads of textures, and reads and writes of surfaces: `tex`, `tld4`, `txq`, `suld`, `sust`, `suq`.

use super::code::Action;
use super::decode::Decoder;
use super::fixed::SINK;
use super::memory_ops::elements;
use super::operations::{OutsideSurface, TextureHandle, TextureLevel, TextureOp, TexturePlace, TextureQuery};
use crate::error::LoadError;
use crate::syntax::ast::{Instruction, Operand};
use alu::registers::{Kind, Reg};

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn texture_instruction(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let mut parts = instruction.opcode.split('.');
        let root = parts.next().unwrap_or_default();
        let modifiers: Vec<&str> = parts.collect();
        let op = match root {
            "tex" => self.fetch(instruction, &modifiers, None)?,
            "tld4" => {
                let [channel, modifiers @ ..] = modifiers.as_slice() else { return Err(self.unsupported(instruction.opcode)) };
                let channel = ["r", "g", "b", "a"].iter().position(|name| name == channel);
                let channel = channel.ok_or_else(|| self.unsupported(instruction.opcode))?;
                self.fetch(instruction, modifiers, Some(channel))?
            }
            "txq" | "suq" => self.query(instruction, &modifiers)?,
            _ => self.surface(instruction, &modifiers, root == "suld")?,
        };
        self.program.textures.push(op);
        self.emit(Action::Texture(self.program.textures.len() as u32 - 1));
        Ok(())
    }

    /// `tex{.base,.level,.grad}.2d.v4.f32.f32 {results}, [texture, {coordinates}]{, level}{, {changes}, {changes}}`.
    fn fetch(&mut self, instruction: &Instruction<'t>, modifiers: &[&str], gather: Option<usize>) -> Result<TextureOp, LoadError> {
        let (how, modifiers) = match modifiers {
            [how @ ("level" | "grad" | "base"), rest @ ..] if gather.is_none() => (*how, rest),
            rest => ("base", rest),
        };
        let [geometry, "v4", "f32" | "s32" | "u32", coordinate @ ("f32" | "s32")] = modifiers else {
            return Err(self.unsupported(instruction.opcode));
        };
        let [results, Operand::Texture(name, place), ..] = instruction.operands.as_slice() else {
            return Err(self.operands_of(instruction));
        };
        let (handle, place) = (self.texture_handle(name, instruction)?, self.place(geometry, place, instruction)?);
        let level = match (how, &instruction.operands[2..]) {
            ("level", [level]) => TextureLevel::At(self.source(level, Kind::Word)?),
            ("grad", [first, second]) => {
                let dimensions = place.coordinates.iter().flatten().count();
                TextureLevel::Changes([
                    self.changes(first, dimensions, instruction)?,
                    self.changes(second, dimensions, instruction)?,
                ])
            }
            ("base", _) => TextureLevel::Base,
            _ => return Err(self.operands_of(instruction)),
        };
        let mut registers = [SINK; 4];
        let results = elements(results);
        if results.len() != 4 {
            return Err(self.operands_of(instruction));
        }
        for (register, result) in registers.iter_mut().zip(results) {
            if !matches!(result, Operand::Name("_")) {
                *register = self.destination(result, Kind::Word)?;
            }
        }
        Ok(TextureOp::Fetch { handle, place, by_index: *coordinate == "s32", gather, level, results: registers })
    }

    /// How much each coordinate changes.
    fn changes(
        &mut self,
        operand: &Operand<'t>,
        dimensions: usize,
        instruction: &Instruction<'t>,
    ) -> Result<[Option<Reg>; 3], LoadError> {
        let given = elements(operand);
        if given.len() < dimensions {
            return Err(self.operands_of(instruction));
        }
        let mut changes = [None; 3];
        for (change, operand) in changes.iter_mut().zip(&given[..dimensions]) {
            *change = Some(self.source(operand, Kind::Word)?);
        }
        Ok(changes)
    }

    fn query(&mut self, instruction: &Instruction<'t>, modifiers: &[&str]) -> Result<TextureOp, LoadError> {
        let what = match modifiers {
            ["width", "b32"] => TextureQuery::Extent(0),
            ["height", "b32"] => TextureQuery::Extent(1),
            ["depth", "b32"] => TextureQuery::Extent(2),
            ["array_size", "b32"] => TextureQuery::Layers,
            ["num_mipmap_levels", "b32"] => TextureQuery::Levels,
            ["normalized_coords", "b32"] => TextureQuery::NormalizedCoordinates,
            _ => return Err(self.unsupported(instruction.opcode)),
        };
        let [result, Operand::Address(crate::syntax::ast::Base::Name(name), 0)] = instruction.operands.as_slice() else {
            return Err(self.operands_of(instruction));
        };
        let (handle, result) = (self.texture_handle(name, instruction)?, self.destination(result, Kind::Word)?);
        Ok(TextureOp::Query { handle, what, result })
    }

    /// `suld.b.2d.v2.b32.trap {results}, [surface, {coordinates}]` and `sust.b.2d.v2.b32.trap [surface, {coordinates}], {values}`. The first
    /// coordinate counts bytes.
    fn surface(&mut self, instruction: &Instruction<'t>, modifiers: &[&str], loads: bool) -> Result<TextureOp, LoadError> {
        let unsupported = || self.unsupported(instruction.opcode);
        let modifiers: Vec<&str> =
            modifiers.iter().copied().filter(|part| !matches!(*part, "ca" | "cg" | "cs" | "cv" | "wb" | "wt")).collect();
        let ["b", geometry, rest @ ..] = modifiers.as_slice() else { return Err(unsupported()) };
        let (count, rest) = match rest {
            ["v2", rest @ ..] => (2, rest),
            ["v4", rest @ ..] => (4, rest),
            rest => (1, rest),
        };
        let [ty, outside] = rest else { return Err(unsupported()) };
        let width = match *ty {
            "b8" => 1,
            "b16" => 2,
            "b32" => 4,
            "b64" => 8,
            _ => return Err(unsupported()),
        };
        let outside = match *outside {
            "trap" => OutsideSurface::Trap,
            "clamp" => OutsideSurface::Clamp,
            "zero" => OutsideSurface::Zero,
            _ => return Err(unsupported()),
        };
        let (values, name, place) = match (loads, instruction.operands.as_slice()) {
            (true, [values, Operand::Texture(name, place)]) | (false, [Operand::Texture(name, place), values]) => {
                (values, name, place)
            }
            _ => return Err(self.operands_of(instruction)),
        };
        let (handle, place) = (self.texture_handle(name, instruction)?, self.place(geometry, place, instruction)?);
        let kind = if width == 8 { Kind::Double } else { Kind::Word };
        let values = elements(values);
        if values.len() != count {
            return Err(self.operands_of(instruction));
        }
        let mut registers = [SINK; 4];
        for (register, value) in registers.iter_mut().zip(values) {
            *register = if loads { self.destination(value, kind)? } else { self.source(value, kind)? };
        }
        Ok(TextureOp::Surface { loads, handle, place, width, count: count as u32, outside, registers })
    }

    /// The coordinates in an image of this geometry.
    fn place(
        &mut self,
        geometry: &str,
        operands: &[Operand<'t>],
        instruction: &Instruction<'t>,
    ) -> Result<TexturePlace, LoadError> {
        // Surfaces have no cubes.
        let is_read = instruction.opcode.starts_with('t');
        let (dimensions, layered) = match geometry {
            "1d" => (1, false),
            "2d" => (2, false),
            "3d" => (3, false),
            "a1d" => (1, true),
            "a2d" => (2, true),
            "cube" if is_read => (3, false),
            "acube" if is_read => (3, true),
            _ => return Err(self.unsupported(instruction.opcode)),
        };
        let [operand] = operands else { return Err(self.operands_of(instruction)) };
        let given = elements(operand);
        let needed = dimensions + usize::from(layered);
        if given.len() < needed {
            return Err(self.operands_of(instruction));
        }
        let mut registers = [SINK; 4];
        for (register, coordinate) in registers.iter_mut().zip(&given[..needed]) {
            *register = self.source(coordinate, Kind::Word)?;
        }
        let (layer, axes) =
            if layered { (Some(registers[0]), &registers[1..=dimensions]) } else { (None, &registers[..dimensions]) };
        let mut coordinates: [Option<Reg>; 3] = [None; 3];
        for (coordinate, register) in coordinates.iter_mut().zip(axes) {
            *coordinate = Some(*register);
        }
        Ok(TexturePlace { coordinates, layer, is_cube: geometry.ends_with("cube") })
    }

    /// The register with a texture's handle, or with the address of the variable that holds it.
    fn texture_handle(&mut self, name: &'t str, instruction: &Instruction<'t>) -> Result<TextureHandle, LoadError> {
        match self.any_register(name) {
            Some((register, Kind::Double)) => Ok(TextureHandle::Register(register)),
            Some(_) => Err(self.operands_of(instruction)),
            None => Ok(TextureHandle::Variable(self.source(&Operand::Name(name), Kind::Double)?)),
        }
    }
}
