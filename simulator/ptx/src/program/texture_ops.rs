//! Decodes reads of textures, and reads and writes of surfaces: `tex`, `tld4`, `txq`, `suld`, `sust`, `suq`.

use super::code::Action;
use super::decode::Decoder;
use super::fixed::SINK;
use super::operands::{Form, elements};
use super::operations::{OutsideSurface, TextureHandle, TextureLevel, TextureOp, TexturePlace, TextureQuery};
use crate::error::LoadError;
use crate::syntax::ast::{Base, Instruction, Operand};
use alu::registers::{Kind, Reg};

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn texture_instruction(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let mut parts = instruction.opcode.split('.');
        let root = parts.next().unwrap_or_default();
        let modifiers: Vec<&str> = parts.collect();
        let op = match root {
            "tex" => self.fetch(instruction, &modifiers, None)?,
            "tld4" => {
                let [channel, modifiers @ ..] = modifiers.as_slice() else { return Err(self.unknown()) };
                let channel = ["r", "g", "b", "a"].iter().position(|name| name == channel);
                let channel = channel.ok_or_else(|| self.unknown())?;
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
            return Err(self.unknown());
        };
        let [results, Operand::Texture(name, place), ..] = instruction.operands.as_slice() else {
            return Err(self.unfit());
        };
        let (handle, place) = (self.texture_handle(name)?, self.place(geometry, place, true)?);
        let level = match (how, &instruction.operands[2..]) {
            ("level", [level]) => TextureLevel::At(self.source(level, Kind::Word)?),
            ("grad", [first, second]) => {
                let dimensions = place.coordinates.iter().flatten().count();
                TextureLevel::Changes([
                    self.first_words(elements(first), dimensions)?,
                    self.first_words(elements(second), dimensions)?,
                ])
            }
            ("base", _) => TextureLevel::Base,
            _ => return Err(self.unfit()),
        };
        let mut registers = [SINK; 4];
        let results = elements(results);
        if results.len() != 4 {
            return Err(self.unfit());
        }
        for (register, result) in registers.iter_mut().zip(results) {
            *register = self.destination(result, Kind::Word)?;
        }
        Ok(TextureOp::Fetch { handle, place, by_index: *coordinate == "s32", gather, level, results: registers })
    }

    /// Returns the registers of the first `count` operands of a list. The list may be longer.
    fn first_words(&mut self, operands: &[Operand<'t>], count: usize) -> Result<[Option<Reg>; 3], LoadError> {
        let operands = operands.get(..count).ok_or_else(|| self.unfit())?;
        let mut registers = [None; 3];
        for (register, operand) in registers.iter_mut().zip(operands) {
            *register = Some(self.source(operand, Kind::Word)?);
        }
        Ok(registers)
    }

    fn query(&mut self, instruction: &Instruction<'t>, modifiers: &[&str]) -> Result<TextureOp, LoadError> {
        let what = match modifiers {
            ["width", "b32"] => TextureQuery::Extent(0),
            ["height", "b32"] => TextureQuery::Extent(1),
            ["depth", "b32"] => TextureQuery::Extent(2),
            ["array_size", "b32"] => TextureQuery::Layers,
            ["num_mipmap_levels", "b32"] => TextureQuery::Levels,
            ["normalized_coords", "b32"] => TextureQuery::NormalizedCoordinates,
            _ => return Err(self.unknown()),
        };
        let [result, Operand::Address(Base::Name(name), 0)] = instruction.operands.as_slice() else {
            return Err(self.unfit());
        };
        let (handle, result) = (self.texture_handle(name)?, self.destination(result, Kind::Word)?);
        Ok(TextureOp::Query { handle, what, result })
    }

    /// `suld.b.2d.v2.b32.trap {results}, [surface, {coordinates}]` and `sust.b.2d.v2.b32.trap [surface, {coordinates}], {values}`. The first
    /// coordinate counts bytes.
    fn surface(&mut self, instruction: &Instruction<'t>, modifiers: &[&str], loads: bool) -> Result<TextureOp, LoadError> {
        let unsupported = || self.unknown();
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
            _ => return Err(self.unfit()),
        };
        let (handle, place) = (self.texture_handle(name)?, self.place(geometry, place, false)?);
        let kind = if width == 8 { Kind::Double } else { Kind::Word };
        let mut registers = [SINK; 4];
        self.elements(values, count as usize, Form::new(kind, loads), &mut registers)?;
        Ok(TextureOp::Surface { loads, handle, place, width, count, outside, registers })
    }

    /// Decodes the coordinates in an image of this geometry. Surfaces have no cubes.
    fn place(&mut self, geometry: &str, operands: &[Operand<'t>], of_texture: bool) -> Result<TexturePlace, LoadError> {
        let is_cube = geometry.ends_with("cube");
        let (dimensions, layered) = match geometry {
            "1d" => (1, false),
            "2d" => (2, false),
            "3d" => (3, false),
            "a1d" => (1, true),
            "a2d" => (2, true),
            "cube" | "acube" if of_texture => (3, geometry == "acube"),
            _ => return Err(self.unknown()),
        };
        let [operand] = self.exactly(operands)?;
        let (layer, axes) = match elements(operand) {
            [layer, axes @ ..] if layered => (Some(self.source(layer, Kind::Word)?), axes),
            axes => (None, axes),
        };
        let coordinates = self.first_words(axes, dimensions)?;
        Ok(TexturePlace { coordinates, layer, is_cube })
    }

    /// Finds the register with a texture's handle, or its variable's address.
    fn texture_handle(&mut self, name: &'t str) -> Result<TextureHandle, LoadError> {
        match self.any_register(name) {
            Some((register, Kind::Double)) => Ok(TextureHandle::Register(register)),
            Some(_) => Err(self.unfit()),
            None => Ok(TextureHandle::Variable(self.source(&Operand::Name(name), Kind::Double)?)),
        }
    }
}
