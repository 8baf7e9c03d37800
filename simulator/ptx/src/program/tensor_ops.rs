//! Decodes the instructions of tensor cores: `mma`, `wmma`, and the loads and stores of matrices.

use super::code::Action;
use super::decode::Decoder;
use super::fixed::SINK;
use super::fragment::{Fragment, MOST_REGISTERS, Number, Part, Shape};
use super::memory_ops::elements;
use super::operations::{Access, FragmentAccess, MOST_ELEMENTS, Matrices, MultiplyAdd, Semantics, TensorOp};
use crate::error::LoadError;
use crate::finding::Space;
use crate::syntax::ast::{Base, Instruction, Operand};
use alu::registers::{Kind, Reg};

/// A shape, the types that A and B may have, those of C and D, and the first compute capability that has it.
type Product = (&'static str, &'static [Number], &'static [Number], (u32, u32));

/// The products of `mma`.
const PRODUCTS: &[Product] = &[
    ("m16n8k8", &[Number::F16], &[Number::F16, Number::F32], (7, 5)),
    ("m16n8k16", &[Number::F16], &[Number::F16, Number::F32], (8, 0)),
    ("m16n8k8", &[Number::Bf16], &[Number::F32], (8, 0)),
    ("m16n8k16", &[Number::Bf16], &[Number::F32], (8, 0)),
    ("m16n8k4", &[Number::Tf32], &[Number::F32], (8, 0)),
    ("m16n8k8", &[Number::Tf32], &[Number::F32], (8, 0)),
    ("m8n8k16", &[Number::S8, Number::U8], &[Number::S32], (7, 5)),
    ("m16n8k16", &[Number::S8, Number::U8], &[Number::S32], (8, 0)),
    ("m16n8k32", &[Number::S8, Number::U8], &[Number::S32], (8, 0)),
    ("m16n8k16", &[Number::E4M3, Number::E5M2], &[Number::F16, Number::F32], (8, 9)),
    ("m16n8k32", &[Number::E4M3, Number::E5M2], &[Number::F16, Number::F32], (8, 9)),
    ("m8n8k4", &[Number::F64], &[Number::F64], (8, 0)),
    ("m16n8k4", &[Number::F64], &[Number::F64], (9, 0)),
    ("m16n8k8", &[Number::F64], &[Number::F64], (9, 0)),
    ("m16n8k16", &[Number::F64], &[Number::F64], (9, 0)),
];

/// The products of `wmma.mma`.
const WIDE_PRODUCTS: &[Product] = &[
    ("m16n16k16", &[Number::F16], &[Number::F16, Number::F32], (7, 0)),
    ("m32n8k16", &[Number::F16], &[Number::F16, Number::F32], (7, 0)),
    ("m8n32k16", &[Number::F16], &[Number::F16, Number::F32], (7, 0)),
    ("m16n16k16", &[Number::Bf16], &[Number::F32], (8, 0)),
    ("m32n8k16", &[Number::Bf16], &[Number::F32], (8, 0)),
    ("m8n32k16", &[Number::Bf16], &[Number::F32], (8, 0)),
    ("m16n16k16", &[Number::S8, Number::U8], &[Number::S32], (7, 2)),
    ("m32n8k16", &[Number::S8, Number::U8], &[Number::S32], (7, 2)),
    ("m8n32k16", &[Number::S8, Number::U8], &[Number::S32], (7, 2)),
    ("m16n16k8", &[Number::Tf32], &[Number::F32], (8, 0)),
    ("m8n8k4", &[Number::F64], &[Number::F64], (8, 0)),
];

/// The modifiers of a tensor instruction.
#[derive(Default)]
pub(super) struct Modifiers {
    pub shape: Option<Shape>,
    /// Types, in order.
    pub numbers: Vec<Number>,
    /// `row` and `col`, in order; true for rows.
    pub by_rows: Vec<bool>,
    pub space: Option<Space>,
    pub saturates: bool,
}

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn tensor_instruction(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let parts: Vec<&str> = instruction.opcode.split('.').collect();
        match parts.as_slice() {
            ["mma", rest @ ..] => self.product(instruction, rest, PRODUCTS),
            ["wmma", "mma", rest @ ..] => self.product(instruction, rest, WIDE_PRODUCTS),
            ["wmma", "load", part @ ("a" | "b" | "c"), rest @ ..] => {
                let part = match *part {
                    "a" => Part::A,
                    "b" => Part::B,
                    _ => Part::Accumulator,
                };
                let (operation, access) = match instruction.operands.as_slice() {
                    [fragment, Operand::Address(base, offset)] => ((fragment, None), (*base, *offset)),
                    [fragment, Operand::Address(base, offset), stride] => ((fragment, Some(stride)), (*base, *offset)),
                    _ => return Err(self.operands_of(instruction)),
                };
                let operation = self.fragment_access(instruction, rest, part, operation, access)?;
                self.tensor(TensorOp::LoadFragment(operation));
                Ok(())
            }
            ["wmma", "store", "d", rest @ ..] => {
                let (operation, access) = match instruction.operands.as_slice() {
                    [Operand::Address(base, offset), fragment] => ((fragment, None), (*base, *offset)),
                    [Operand::Address(base, offset), fragment, stride] => ((fragment, Some(stride)), (*base, *offset)),
                    _ => return Err(self.operands_of(instruction)),
                };
                let operation = self.fragment_access(instruction, rest, Part::Accumulator, operation, access)?;
                self.tensor(TensorOp::StoreFragment(operation));
                Ok(())
            }
            ["ldmatrix", "sync", "aligned", "m8n8", count, rest @ ..] => {
                self.requires(instruction, (7, 5))?;
                let [registers, Operand::Address(base, offset)] = instruction.operands.as_slice() else {
                    return Err(self.operands_of(instruction));
                };
                let matrices = self.matrices(instruction, count, rest, registers, *base, *offset)?;
                self.tensor(TensorOp::LoadMatrices(matrices));
                Ok(())
            }
            ["stmatrix", "sync", "aligned", "m8n8", count, rest @ ..] => {
                self.requires(instruction, (9, 0))?;
                let [Operand::Address(base, offset), registers] = instruction.operands.as_slice() else {
                    return Err(self.operands_of(instruction));
                };
                let matrices = self.matrices(instruction, count, rest, registers, *base, *offset)?;
                self.tensor(TensorOp::StoreMatrices(matrices));
                Ok(())
            }
            ["movmatrix", "sync", "aligned", "m8n8", "trans", "b16"] => {
                self.requires(instruction, (7, 5))?;
                let [destination, source] = instruction.operands.as_slice() else {
                    return Err(self.operands_of(instruction));
                };
                let destination = self.destination(destination, Kind::Word)?;
                let source = self.source(source, Kind::Word)?;
                self.tensor(TensorOp::Transpose { destination, source });
                Ok(())
            }
            _ => Err(self.unsupported(instruction.opcode)),
        }
    }

    fn tensor(&mut self, operation: TensorOp) {
        self.program.tensor_ops.push(operation);
        self.emit(Action::Tensor(self.program.tensor_ops.len() as u32 - 1));
    }

    /// `mma… d, a, b, c`
    fn product(&mut self, instruction: &Instruction<'t>, modifiers: &[&str], products: &[Product]) -> Result<(), LoadError> {
        let unsupported = || self.unsupported(instruction.opcode);
        let Modifiers { shape, numbers, by_rows, space, saturates } = tensor_modifiers(modifiers).ok_or_else(unsupported)?;
        let is_wmma = std::ptr::eq(products, WIDE_PRODUCTS);
        // The types are those of D, A, B and C; `wmma` omits those of A and B when they are f16.
        let [d_number, a_number, b_number, c_number] = match numbers.as_slice() {
            [d, c] if is_wmma => [*d, Number::F16, Number::F16, *c],
            [d, a, b, c] => [*d, *a, *b, *c],
            _ => return Err(unsupported()),
        };
        let shape = shape.filter(|_| space.is_none()).ok_or_else(unsupported)?;
        let row = products.iter().find(|(name, inputs, outputs, _)| {
            Shape::parse(name) == Some(shape)
                && [a_number, b_number].iter().all(|number| inputs.contains(number))
                && [c_number, d_number].iter().all(|number| outputs.contains(number))
        });
        let Some((.., since)) = row else { return Err(unsupported()) };
        let layouts_fit = if is_wmma { by_rows.len() == 2 } else { by_rows == [true, false] };
        // Only integers, and floats of 8 bits, may be of two types.
        let types_fit = a_number == b_number || a_number.bytes() == 1;
        let sums_fit = d_number == c_number || !a_number.is_quarter();
        if !layouts_fit || !types_fit || !sums_fit || (saturates && d_number != Number::S32) {
            return Err(unsupported());
        }
        self.requires(instruction, *since)?;
        let [d, a, b, c] = instruction.operands.as_slice() else {
            return Err(self.operands_of(instruction));
        };
        let a = self.fragment(instruction, Fragment::new(Part::A, shape, a_number), a, is_wmma, false)?;
        let b = self.fragment(instruction, Fragment::new(Part::B, shape, b_number), b, is_wmma, false)?;
        let c = self.fragment(instruction, Fragment::new(Part::Accumulator, shape, c_number), c, is_wmma, false)?;
        let d = self.fragment(instruction, Fragment::new(Part::Accumulator, shape, d_number), d, is_wmma, true)?;
        self.tensor(TensorOp::MultiplyAdd(MultiplyAdd { d, a, b, c, saturates }));
        Ok(())
    }

    /// `wmma.load.part… fragment, [base], stride`
    fn fragment_access(
        &mut self,
        instruction: &Instruction<'t>,
        modifiers: &[&str],
        part: Part,
        (registers, stride): (&Operand<'t>, Option<&Operand<'t>>),
        (base, offset): (Base<'t>, i64),
    ) -> Result<FragmentAccess, LoadError> {
        let unsupported = || self.unsupported(instruction.opcode);
        let Modifiers { shape, numbers, by_rows, space, .. } = tensor_modifiers(modifiers).ok_or_else(unsupported)?;
        let (Some(shape), [number], [by_rows]) = (shape, numbers.as_slice(), by_rows.as_slice()) else {
            return Err(unsupported());
        };
        let row = WIDE_PRODUCTS.iter().find(|(name, inputs, outputs, _)| {
            let numbers = if part == Part::Accumulator { outputs } else { inputs };
            Shape::parse(name) == Some(shape) && numbers.contains(number)
        });
        let Some((.., since)) = row else { return Err(unsupported()) };
        self.requires(instruction, *since)?;
        let is_load = matches!(instruction.operands.first(), Some(Operand::Vector(_)));
        let fragment = self.fragment(instruction, Fragment::new(part, shape, *number), registers, true, is_load)?;
        let stride = stride.map(|stride| self.source(stride, Kind::Word)).transpose()?;
        let access = self.shared_work(instruction, base, offset, space, [SINK; MOST_ELEMENTS], number.bytes() as u32)?;
        Ok(FragmentAccess { access, fragment, by_rows: *by_rows, stride })
    }

    /// `ldmatrix… {registers}, [base]`
    fn matrices(
        &mut self,
        instruction: &Instruction<'t>,
        count: &str,
        modifiers: &[&str],
        registers: &Operand<'t>,
        base: Base<'t>,
        offset: i64,
    ) -> Result<Matrices, LoadError> {
        let (transposed, space) = match modifiers {
            ["trans", space @ ..] => (true, space),
            space => (false, space),
        };
        let space = match space {
            ["shared" | "shared::cta", "b16"] => Some(Space::Shared),
            ["b16"] => None,
            _ => return Err(self.unsupported(instruction.opcode)),
        };
        let count = match count {
            "x1" => 1,
            "x2" => 2,
            "x4" => 4,
            _ => return Err(self.unsupported(instruction.opcode)),
        };
        let operands = elements(registers);
        if operands.len() != count {
            return Err(self.operands_of(instruction));
        }
        let loads = instruction.opcode.starts_with("ld");
        let mut named = [SINK; MOST_ELEMENTS];
        for (register, operand) in named.iter_mut().zip(operands) {
            *register = if loads { self.destination(operand, Kind::Word)? } else { self.source(operand, Kind::Word)? };
        }
        let access = self.shared_work(instruction, base, offset, space, named, 16)?;
        Ok(Matrices { access, count: count as u32, transposed })
    }

    /// The access of an instruction whose lanes share the work; it holds the address and the counts.
    pub(super) fn shared_work(
        &mut self,
        instruction: &Instruction<'_>,
        base: Base<'t>,
        offset: i64,
        space: Option<Space>,
        registers: [Reg; MOST_ELEMENTS],
        width: u32,
    ) -> Result<u32, LoadError> {
        let (space, address) = self.address(base, offset, space, instruction)?;
        let access = Access {
            of_function: false,
            space,
            address,
            width,
            count: 1,
            signed: false,
            registers,
            kind: Kind::Word,
            semantics: Semantics::default(),
            array: None,
        };
        self.program.accesses.push(access);
        Ok(self.program.accesses.len() as u32 - 1)
    }

    /// Gives a fragment the registers that the instruction names.
    fn fragment(
        &mut self,
        instruction: &Instruction<'_>,
        mut fragment: Fragment,
        operand: &Operand<'t>,
        of_wmma: bool,
        is_destination: bool,
    ) -> Result<Fragment, LoadError> {
        let count = if of_wmma { fragment.count_of_wmma() } else { fragment.count() };
        let operands = elements(operand);
        if operands.len() != count || count > MOST_REGISTERS {
            return Err(self.operands_of(instruction));
        }
        let kind = fragment.number.kind();
        for (register, operand) in fragment.registers.iter_mut().zip(operands) {
            *register = if is_destination { self.destination(operand, kind)? } else { self.source(operand, kind)? };
        }
        Ok(fragment)
    }
}

/// The modifiers after the name of a tensor instruction; `None` if one is unknown.
pub(super) fn tensor_modifiers(parts: &[&str]) -> Option<Modifiers> {
    let mut modifiers = Modifiers::default();
    for part in parts {
        match *part {
            "sync" | "aligned" | "rn" => {}
            "row" => modifiers.by_rows.push(true),
            "col" => modifiers.by_rows.push(false),
            "global" => modifiers.space = Some(Space::Global),
            "shared" | "shared::cta" => modifiers.space = Some(Space::Shared),
            "satfinite" => modifiers.saturates = true,
            part => match Number::parse(part) {
                Some(number) => modifiers.numbers.push(number),
                None => modifiers.shape = Some(Shape::parse(part)?),
            },
        }
    }
    Some(modifiers)
}
