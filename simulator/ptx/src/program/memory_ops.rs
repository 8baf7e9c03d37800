//! Decodes loads, stores and atomic operations: opcodes that are lists of modifiers.

use super::code::{Action, ConstantValue};
use super::decode::Decoder;
use super::fixed::SINK;
use super::operands::Form::{Read, Write};
use super::operands::elements;
use super::operations::{Access, Address, Atomic, AtomicOp, MOST_ELEMENTS, Semantics};
use super::scope::{Local, Symbol};
use crate::error::LoadError;
use crate::finding::Space;
use crate::syntax::ast::{Base, Instruction, Operand};
use alu::registers::Kind;

/// An element's type: bytes and whether it is signed.
#[derive(Clone, Copy)]
struct Element {
    width: u32,
    signed: bool,
}

/// The modifiers that matter. Cache hints change nothing here.
struct Modifiers {
    space: Option<Space>,
    count: u32,
    element: Element,
    semantics: Semantics,
}

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn load(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let Modifiers { space, count, element: Element { width, signed }, semantics } = self.modifiers(instruction)?;
        let [destination, source] = self.exactly(without_policy(instruction))?;
        let (base, offset) = self.addressed(source)?;
        let destinations = elements(destination);
        if destinations.len() != count as usize {
            return Err(self.unfit());
        }
        let mut registers = [SINK; MOST_ELEMENTS];
        let mut kind = if width == 8 { Kind::Double } else { Kind::Word };
        let mut chosen = false;
        for (register, destination) in registers.iter_mut().zip(destinations) {
            if matches!(destination, Operand::Name("_")) {
                continue;
            }
            // A register may be wider than the element, and then all of them are.
            let fits = |found: Kind| found == kind || (!chosen && (kind, found) == (Kind::Word, Kind::Double));
            let found = self.register_of(destination).filter(|(_, found)| fits(*found));
            (*register, kind) = found.ok_or_else(|| self.unfit())?;
            chosen = true;
        }
        // A kernel parameter has one value for the whole launch.
        if let (Some(Space::Param), Some(Symbol::Param(at))) = (space, self.symbol_of(base)) {
            let first = i64::from(at).wrapping_add(offset);
            for (position, register) in registers.iter().take(count as usize).enumerate() {
                let offset = u32::try_from(first + i64::from(width) * position as i64).map_err(|_| self.unfit())?;
                if *register != SINK {
                    self.move_constant(*register, kind, ConstantValue::Param { offset, width, signed });
                }
            }
            return Ok(());
        }
        let of_function = space == Some(Space::Param);
        let (space, address) = self.address(&Operand::Address(base, offset), space)?;
        // How often a relaxed load polls what other blocks write depends on when they run.
        let polls_blocks = semantics.strong && !semantics.volatile && !semantics.acquires && !instruction.opcode.contains(".cta");
        self.program.order_matters |= polls_blocks && space != Some(Space::Shared);
        let access =
            self.access(Access { of_function, space, address, width, count, signed, registers, kind, semantics, array: None });
        self.emit(Action::Load(access));
        Ok(())
    }

    pub(super) fn store(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let Modifiers { space, count, element: Element { width, signed }, semantics } = self.modifiers(instruction)?;
        let [target, source] = self.exactly(without_policy(instruction))?;
        let (base, offset) = self.addressed(target)?;
        let is_wide = |source: &Operand<'_>| matches!(self.register_of(source), Some((_, Kind::Double)));
        let kind = if width == 8 || elements(source).iter().any(is_wide) { Kind::Double } else { Kind::Word };
        let mut registers = [SINK; MOST_ELEMENTS];
        self.elements(source, count as usize, Read(kind), &mut registers)?;
        let of_function = space == Some(Space::Param);
        let (space, address) = self.address(&Operand::Address(base, offset), space)?;
        let access =
            self.access(Access { of_function, space, address, width, count, signed, registers, kind, semantics, array: None });
        self.emit(Action::Store(access));
        Ok(())
    }

    /// Adds an access to the program's table.
    pub(super) fn access(&mut self, access: Access) -> u32 {
        self.program.accesses.push(access);
        self.program.accesses.len() as u32 - 1
    }

    pub(super) fn atomic(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let (mut space, mut op, mut ty, mut vector) = (None, None, None, None);
        let mut semantics = Semantics { strong: true, ..Semantics::default() };
        for part in instruction.opcode.split('.').skip(1) {
            match part {
                "f16" | "f16x2" | "bf16" | "bf16x2" | "b16" | "u32" | "s32" | "b32" | "f32" | "u64" | "s64" | "b64" | "f64"
                | "b128" => ty = Some(part),
                "add" | "min" | "max" | "and" | "or" | "xor" | "exch" | "cas" | "inc" | "dec" => op = Some(part),
                "v2" | "v4" | "v8" => vector = lanes(part),
                "L2::cache_hint" | "noftz" => {}
                part => match access_space(part).filter(|space| matches!(space, Space::Global | Space::Shared)) {
                    Some(found) => space = Some(found),
                    None => semantics = semantics.with(part).ok_or_else(|| self.unknown())?,
                },
            }
        }
        let found = op.zip(ty).and_then(|(name, ty)| Some((atomic_op(name, ty, vector.is_some())?, ty)));
        let (op, ty) = found.ok_or_else(|| self.unknown())?;
        // An operation on 16 bits must state that it keeps denormals.
        if ty.contains("f16") && !instruction.opcode.contains(".noftz") {
            return Err(self.unknown());
        }
        self.requires(match ty {
            "bf16" | "bf16x2" | "b128" => (9, 0),
            _ if vector.is_some() => (9, 0),
            "f16" | "b16" => (7, 0),
            "f16x2" | "f64" => (6, 0),
            _ => (0, 0),
        })?;
        self.program.order_matters |= ty.contains('f');
        let width = match ty {
            "b16" | "f16" | "bf16" => 2,
            "b128" => 8,
            ty if ty.ends_with("64") => 8,
            _ => 4,
        };
        // Vectors are of floats and in global memory, at most 16 bytes of it.
        let is_wide = ty == "b128";
        let count = if is_wide { 2 } else { vector.unwrap_or(1) };
        let fits = matches!(ty, "f32" | "f16" | "bf16" | "f16x2" | "bf16x2") && width * count <= 16;
        if vector.is_some() && !(fits && matches!(space, None | Some(Space::Global))) {
            return Err(self.unknown());
        }
        let kind = if width == 8 { Kind::Double } else { Kind::Word };
        let mut destinations = [SINK; MOST_ELEMENTS];
        let rest = match (instruction.root(), without_policy(instruction)) {
            ("red", rest) | ("atom", [Operand::Name("_"), rest @ ..]) => rest,
            (_, [destination, rest @ ..]) => {
                self.elements(destination, count as usize, Write(kind), &mut destinations)?;
                rest
            }
            _ => return Err(self.unfit()),
        };
        let [place, sources @ ..] = rest else { return Err(self.unfit()) };
        let needed = if op == AtomicOp::CompareAndSwap { 2 } else { 1 };
        if sources.len() != needed || sources.iter().any(|source| elements(source).len() != count as usize) {
            return Err(self.unfit());
        }
        let sources = sources.iter().flat_map(elements);
        let sources = sources.map(|source| self.source(source, kind)).collect::<Result<Vec<_>, _>>()?;
        let operands = std::array::from_fn(|element| *sources.get(element).unwrap_or(&sources[0]));
        let (space, address) = self.address(place, space)?;
        self.note_order(semantics, instruction.opcode);
        self.program.atomics.push(Atomic { space, address, op, width, count, is_wide, destinations, operands, semantics });
        self.emit(Action::Atomic(self.program.atomics.len() as u32 - 1));
        Ok(())
    }

    fn modifiers(&mut self, instruction: &Instruction<'_>) -> Result<Modifiers, LoadError> {
        let (mut space, mut count, mut element) = (None, 1, None);
        let mut semantics = Semantics::default();
        for part in instruction.opcode.split('.').skip(1) {
            // A register of 128 bits is a vector of two.
            if part == "b128" {
                (count, element) = (2, element_type("b64"));
            } else if let Some(found) = access_space(part) {
                space = Some(found);
            } else if let Some(lanes) = lanes(part) {
                count = lanes;
            } else if let Some(more) = semantics.with(part) {
                semantics = more;
            } else if !is_cache_hint(part) {
                element = Some(element_type(part).ok_or_else(|| self.unknown())?);
            }
        }
        let element = element.ok_or_else(|| self.unknown())?;
        match element.width * count {
            ..=16 if count <= 4 => {}
            32 if space == Some(Space::Global) && self.module.target < (10, 0) => {
                return Err(self.unsupported(&format!("{} (32 bytes at once, from .target sm_100 on)", instruction.opcode)));
            }
            32 if space == Some(Space::Global) => {}
            _ => return Err(self.unknown()),
        }
        self.note_order(semantics, instruction.opcode);
        Ok(Modifiers { space, count, element, semantics })
    }

    /// Returns the base and the offset of an operand in memory: `[%rd1+8]`, or `name[2]` without brackets.
    fn addressed(&self, operand: &Operand<'t>) -> Result<(Base<'t>, i64), LoadError> {
        let place = match operand {
            Operand::Address(base, offset) => Some((*base, *offset)),
            Operand::Element(name, index) => self.element_offset(name, *index).map(|offset| (Base::Name(name), offset)),
            _ => None,
        };
        place.ok_or_else(|| self.unfit())
    }

    /// Notes that threads may order their accesses without a barrier.
    fn note_order(&mut self, semantics: Semantics, opcode: &str) {
        if semantics.orders() {
            self.note_fence(opcode);
        } else if opcode.starts_with("st.relaxed.gpu") || opcode.starts_with("st.relaxed.sys") {
            self.program.has_fences = true;
            self.program.tells_grid = true;
        }
    }

    /// Notes that the program has an instruction that orders accesses. The opcode names its scope.
    pub(super) fn note_fence(&mut self, opcode: &str) {
        let has = |scope| opcode.split('.').any(|part| part == scope);
        self.program.has_fences = true;
        self.program.orders_cluster |= has("cluster");
        self.program.orders_grid |= !has("cluster") && !has("cta");
    }

    /// Returns the space and the address of an access. The parameters of functions are in local memory.
    pub(super) fn address(&mut self, place: &Operand<'t>, space: Option<Space>) -> Result<(Option<Space>, Address), LoadError> {
        let Operand::Address(base, offset) = *place else { return Err(self.unfit()) };
        let symbol = self.symbol_of(base);
        let space = match (space, symbol) {
            (Some(Space::Param), Some(Symbol::Local(_))) => Some(Space::Local),
            // `mov` of a function's parameter gives its address among the local variables, and clang then loads with `ld.param`.
            (Some(Space::Param), Some(Symbol::Register(..))) if !self.module.functions[self.current].is_kernel => {
                Some(Space::Local)
            }
            _ => space,
        };
        let fits = match symbol {
            Some(Symbol::Shared(_)) => space == Some(Space::Shared),
            Some(Symbol::Local(_)) => space == Some(Space::Local),
            Some(Symbol::Param(_)) => space == Some(Space::Param),
            Some(Symbol::Variable(_)) => matches!(space, Some(Space::Global | Space::Const) | None),
            Some(Symbol::Register(..) | Symbol::Vector(..)) | None => true,
        };
        if !fits {
            return Err(self.unfit());
        }
        if let Some(Symbol::Local(Local { at, in_frame: true, .. })) = symbol {
            let offset = i64::from(at).wrapping_add(offset);
            return Ok((space, Address { base: self.frame_register(), kind: Kind::Double, offset }));
        }
        let (base, kind, offset) = match base {
            Base::Absolute => (self.constant(ConstantValue::Bits(offset as u64), Kind::Double), Kind::Double, 0),
            Base::Name(name) => match self.any_register(name) {
                Some((_, Kind::Predicate)) => return Err(self.unfit()),
                Some((register, kind)) => (register, kind, offset),
                None => (self.source(&Operand::Offset(name, offset), Kind::Double)?, Kind::Double, 0),
            },
        };
        Ok((space, Address { base, kind, offset }))
    }
}

/// Returns the operation of an `atom` or `red` on that type. Some are only for vectors.
pub(super) fn atomic_op(name: &str, ty: &str, is_vector: bool) -> Option<AtomicOp> {
    Some(match (name, ty) {
        ("add", "f32") => AtomicOp::AddF32,
        ("add", "f64") => AtomicOp::AddF64,
        ("add", "f16") => AtomicOp::AddF16,
        ("add", "f16x2") => AtomicOp::AddF16x2,
        ("add", "bf16") => AtomicOp::AddBf16,
        ("add", "bf16x2") => AtomicOp::AddBf16x2,
        ("min", "f16") if is_vector => AtomicOp::MinF16,
        ("max", "f16") if is_vector => AtomicOp::MaxF16,
        ("min", "bf16") if is_vector => AtomicOp::MinBf16,
        ("max", "bf16") if is_vector => AtomicOp::MaxBf16,
        ("min", "f16x2") if is_vector => AtomicOp::MinF16x2,
        ("max", "f16x2") if is_vector => AtomicOp::MaxF16x2,
        ("min", "bf16x2") if is_vector => AtomicOp::MinBf16x2,
        ("max", "bf16x2") if is_vector => AtomicOp::MaxBf16x2,
        ("add", "u32" | "s32" | "u64" | "s64") => AtomicOp::Add,
        ("min", "u32" | "u64") => AtomicOp::MinUnsigned,
        ("max", "u32" | "u64") => AtomicOp::MaxUnsigned,
        ("min", "s32" | "s64") => AtomicOp::MinSigned,
        ("max", "s32" | "s64") => AtomicOp::MaxSigned,
        ("and", "b32" | "b64") => AtomicOp::And,
        ("or", "b32" | "b64") => AtomicOp::Or,
        ("xor", "b32" | "b64") => AtomicOp::Xor,
        ("exch", "b32" | "b64" | "b128") => AtomicOp::Exchange,
        ("cas", "b16" | "b32" | "b64" | "b128") => AtomicOp::CompareAndSwap,
        ("inc", "u32") => AtomicOp::Increment,
        ("dec", "u32") => AtomicOp::Decrement,
        _ => return None,
    })
}

/// Returns the operands without the cache policy. It is the last operand of an instruction with that hint, and changes no value.
pub(super) fn without_policy<'o, 't>(instruction: &'o Instruction<'t>) -> &'o [Operand<'t>] {
    match instruction.operands.split_last() {
        Some((_, rest)) if instruction.opcode.contains(".L2::cache_hint") => rest,
        _ => &instruction.operands,
    }
}

/// Returns the space that a modifier of an access names. An access is a load, a store, or an atomic operation.
fn access_space(modifier: &str) -> Option<Space> {
    Some(match modifier {
        "global" => Space::Global,
        "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
        "const" => Space::Const,
        "local" => Space::Local,
        "param" | "param::entry" | "param::func" => Space::Param,
        _ => return None,
    })
}

/// Returns the elements of a vector of this kind: `v4` has four.
pub(super) fn lanes(modifier: &str) -> Option<u32> {
    [("v2", 2), ("v4", 4), ("v8", 8)].into_iter().find(|(name, _)| *name == modifier).map(|(_, lanes)| lanes)
}

fn is_cache_hint(modifier: &str) -> bool {
    matches!(modifier, "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt")
        || modifier.starts_with("L1::")
        || modifier.starts_with("L2::")
}

fn element_type(ty: &str) -> Option<Element> {
    let signed = ty.starts_with('s');
    let width = match ty.get(1..)? {
        "8" => 1,
        "16" => 2,
        "32" => 4,
        "64" => 8,
        _ => return None,
    };
    matches!(ty.as_bytes()[0], b'b' | b'u' | b's' | b'f').then_some(Element { width, signed })
}
