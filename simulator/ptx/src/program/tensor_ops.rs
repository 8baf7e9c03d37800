//! Decodes the instructions of tensor cores: `mma`, `wmma`, and the loads and stores of matrices.

use super::code::Action;
use super::decode::Decoder;
use super::fixed::SINK;
use super::fragment::{Fragment, Number, Part, Shape};
use super::operands::Form;
use super::operands::Form::{Read, Write};
use super::operations::{Access, FragmentAccess, MOST_ELEMENTS, Matrices, MultiplyAdd, TensorOp};
use crate::error::LoadError;
use crate::finding::Space;
use crate::syntax::ast::{Instruction, Operand};
use alu::format::Rounding;
use alu::registers::Kind;

/// A group of products: shapes, types of A and B, types of C and D, and the first compute capability that has them.
struct Products(&'static [&'static str], &'static [Number], &'static [Number], (u32, u32));

impl Products {
    /// Finds a product in a list by its shape and types.
    fn find(list: &'static [Self], shape: Shape, fits: impl Fn(&Self) -> bool) -> Option<&'static Self> {
        list.iter().find(|products| products.0.iter().any(|name| Shape::parse(name) == Some(shape)) && fits(products))
    }
}

/// The products of `mma`.
const PRODUCTS: &[Products] = &[
    Products(&["m16n8k8"], &[Number::F16], &[Number::F16, Number::F32], (7, 5)),
    Products(&["m16n8k16"], &[Number::F16], &[Number::F16, Number::F32], (8, 0)),
    Products(&["m16n8k8", "m16n8k16"], &[Number::Bf16], &[Number::F32], (8, 0)),
    Products(&["m16n8k4", "m16n8k8"], &[Number::Tf32], &[Number::F32], (8, 0)),
    Products(&["m8n8k4"], &[Number::F16], &[Number::F16, Number::F32], (7, 0)),
    Products(&["m8n8k16"], &[Number::S8, Number::U8], &[Number::S32], (7, 5)),
    Products(&["m16n8k16", "m16n8k32"], &[Number::S8, Number::U8], &[Number::S32], (8, 0)),
    Products(&["m8n8k32"], &[Number::S4, Number::U4], &[Number::S32], (7, 5)),
    Products(&["m16n8k32", "m16n8k64"], &[Number::S4, Number::U4], &[Number::S32], (8, 0)),
    Products(&["m8n8k128"], &[Number::B1], &[Number::S32], (7, 5)),
    Products(&["m16n8k128", "m16n8k256"], &[Number::B1], &[Number::S32], (8, 0)),
    Products(&["m16n8k16", "m16n8k32"], &[Number::E4M3, Number::E5M2], &[Number::F16, Number::F32], (8, 9)),
    Products(&["m8n8k4"], &[Number::F64], &[Number::F64], (8, 0)),
    Products(&["m16n8k4", "m16n8k8", "m16n8k16"], &[Number::F64], &[Number::F64], (9, 0)),
];

/// The products of `mma.sp`.
const SPARSE_PRODUCTS: &[Products] = &[
    Products(&["m16n8k16", "m16n8k32"], &[Number::F16], &[Number::F16, Number::F32], (8, 0)),
    Products(&["m16n8k16", "m16n8k32"], &[Number::Bf16], &[Number::F32], (8, 0)),
    Products(&["m16n8k8", "m16n8k16"], &[Number::Tf32], &[Number::F32], (8, 0)),
    Products(&["m16n8k32", "m16n8k64"], &[Number::S8, Number::U8], &[Number::S32], (8, 0)),
    Products(&["m16n8k64", "m16n8k128"], &[Number::S4, Number::U4], &[Number::S32], (8, 0)),
    Products(&["m16n8k64"], &[Number::E4M3, Number::E5M2], &[Number::F32], (8, 9)),
];

/// The shapes of most products of `wmma.mma`.
const WIDE_SHAPES: &[&str] = &["m16n16k16", "m32n8k16", "m8n32k16"];

/// The products of `wmma.mma`.
const WIDE_PRODUCTS: &[Products] = &[
    Products(WIDE_SHAPES, &[Number::F16], &[Number::F16, Number::F32], (7, 0)),
    Products(WIDE_SHAPES, &[Number::Bf16], &[Number::F32], (8, 0)),
    Products(WIDE_SHAPES, &[Number::S8, Number::U8], &[Number::S32], (7, 2)),
    Products(&["m8n8k32"], &[Number::S4, Number::U4], &[Number::S32], (7, 5)),
    Products(&["m8n8k128"], &[Number::B1], &[Number::S32], (7, 5)),
    Products(&["m16n16k8"], &[Number::Tf32], &[Number::F32], (8, 0)),
    Products(&["m8n8k4"], &[Number::F64], &[Number::F64], (8, 0)),
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
    pub rounding: Option<Rounding>,
    /// `xor` or `and`, before `popc`.
    pub of_bits: Option<&'static str>,
}

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn tensor_instruction(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let operation = self.tensor_operation(instruction)?;
        self.program.tensor_ops.push(operation);
        self.emit(Action::Tensor(self.program.tensor_ops.len() as u32 - 1));
        Ok(())
    }

    fn tensor_operation(&mut self, instruction: &Instruction<'t>) -> Result<TensorOp, LoadError> {
        let parts: Vec<&str> = instruction.opcode.split('.').collect();
        match parts.as_slice() {
            ["mma", "sp" | "sp::ordered_metadata", rest @ ..] => self.product(instruction, rest, SPARSE_PRODUCTS),
            ["mma", rest @ ..] => self.product(instruction, rest, PRODUCTS),
            ["wmma", "mma", rest @ ..] => self.product(instruction, rest, WIDE_PRODUCTS),
            ["wmma", how @ ("load" | "store"), part, rest @ ..] => {
                let part = match (*how, *part) {
                    ("load", "a") => Part::A,
                    ("load", "b") => Part::B,
                    ("load", "c") | ("store", "d") => Part::Accumulator,
                    _ => return Err(self.unknown()),
                };
                self.fragment_access(instruction, rest, part, *how == "load")
            }
            ["ldmatrix", "sync", "aligned", rest @ ..] => {
                self.requires((7, 5))?;
                let [registers, place] = self.exactly(&instruction.operands)?;
                Ok(TensorOp::LoadMatrices(self.matrices(rest, registers, place, true)?))
            }
            ["stmatrix", "sync", "aligned", rest @ ..] => {
                self.requires((9, 0))?;
                let [place, registers] = self.exactly(&instruction.operands)?;
                Ok(TensorOp::StoreMatrices(self.matrices(rest, registers, place, false)?))
            }
            ["movmatrix", "sync", "aligned", "m8n8", "trans", "b16"] => {
                self.requires((7, 5))?;
                let [destination, source] = self.registers(&instruction.operands, [Write(Kind::Word), Read(Kind::Word)])?;
                Ok(TensorOp::Transpose { destination, source })
            }
            _ => Err(self.unknown()),
        }
    }

    /// `mma… d, a, b, c{, metadata, selector}`
    fn product(
        &mut self,
        instruction: &Instruction<'t>,
        modifiers: &[&str],
        products: &'static [Products],
    ) -> Result<TensorOp, LoadError> {
        let unsupported = || self.unknown();
        let Modifiers { shape, numbers, by_rows, space, saturates, rounding, of_bits } =
            tensor_modifiers(modifiers).ok_or_else(unsupported)?;
        let (is_wmma, is_sparse) = (std::ptr::eq(products, WIDE_PRODUCTS), std::ptr::eq(products, SPARSE_PRODUCTS));
        // The types are those of D, A, B and C; `wmma` omits those of A and B when they are f16.
        let [d_number, a_number, b_number, c_number] = match numbers.as_slice() {
            [d, c] if is_wmma => [*d, Number::F16, Number::F16, *c],
            [d, a, b, c] => [*d, *a, *b, *c],
            _ => return Err(unsupported()),
        };
        let shape = shape.filter(|_| space.is_none()).ok_or_else(unsupported)?;
        let fits = |Products(_, inputs, outputs, _): &Products| {
            [a_number, b_number].iter().all(|number| inputs.contains(number))
                && [c_number, d_number].iter().all(|number| outputs.contains(number))
        };
        let Products(.., since) = Products::find(products, shape, fits).ok_or_else(unsupported)?;
        let is_of_quads = Fragment::new(Part::A, shape, a_number).is_of_quads();
        let layouts_fit = if is_wmma || is_of_quads { by_rows.len() == 2 } else { by_rows == [true, false] };
        // Only integers, and floats of 8 bits, may be of two types.
        let types_fit = a_number == b_number || a_number.bytes() == 1;
        let sums_fit = d_number == c_number || !a_number.is_quarter();
        let modifiers_fit = (!saturates || d_number == Number::S32)
            && (rounding.is_none() || d_number == Number::F64)
            && of_bits.is_some() == (a_number == Number::B1);
        if !layouts_fit || !types_fit || !sums_fit || !modifiers_fit {
            return Err(unsupported());
        }
        self.requires(*since)?;
        let (fragments, rest) = instruction.operands.split_at_checked(4).ok_or_else(|| self.unfit())?;
        let [d, a, b, c] = self.exactly(fragments)?;
        let sparse = match rest {
            [] if !is_sparse => None,
            [metadata, Operand::Integer(selector @ 0..4)] if is_sparse => {
                Some((self.source(metadata, Kind::Word)?, *selector as u8))
            }
            _ => return Err(self.unfit()),
        };
        let mut fragment = |part, number, operand, is_destination| {
            let k = if is_sparse && part == Part::A { shape.k / 2 } else { shape.k };
            let by_rows = by_rows[usize::from(part == Part::B)];
            let fragment = Fragment { by_rows, ..Fragment::new(part, Shape { k, ..shape }, number) };
            self.fragment(fragment, operand, is_wmma, is_destination)
        };
        let a = fragment(Part::A, a_number, a, false)?;
        let b = fragment(Part::B, b_number, b, false)?;
        let c = fragment(Part::Accumulator, c_number, c, false)?;
        let d = fragment(Part::Accumulator, d_number, d, true)?;
        let (rounding, xor) = (rounding.unwrap_or(Rounding::Nearest), of_bits == Some("xor"));
        Ok(TensorOp::MultiplyAdd(MultiplyAdd { d, a, b, c, saturates, rounding, xor, sparse }))
    }

    /// `wmma.load.part… fragment, [base]{, stride}` and `wmma.store.d… [base], fragment{, stride}`
    fn fragment_access(
        &mut self,
        instruction: &Instruction<'t>,
        modifiers: &[&str],
        part: Part,
        loads: bool,
    ) -> Result<TensorOp, LoadError> {
        let (registers, place, stride) = match instruction.operands.as_slice() {
            [registers, place, stride @ ..] if loads && stride.len() < 2 => (registers, place, stride.first()),
            [place, registers, stride @ ..] if stride.len() < 2 => (registers, place, stride.first()),
            _ => return Err(self.unfit()),
        };
        let unsupported = || self.unknown();
        let Modifiers { shape, numbers, by_rows, space, .. } = tensor_modifiers(modifiers).ok_or_else(unsupported)?;
        let (Some(shape), [number], [by_rows]) = (shape, numbers.as_slice(), by_rows.as_slice()) else {
            return Err(unsupported());
        };
        let fits = |Products(_, inputs, outputs, _): &Products| match part {
            Part::Accumulator => outputs.contains(number),
            Part::A | Part::B => inputs.contains(number),
        };
        let Products(.., since) = Products::find(WIDE_PRODUCTS, shape, fits).ok_or_else(unsupported)?;
        self.requires(*since)?;
        let fragment = self.fragment(Fragment::new(part, shape, *number), registers, true, loads)?;
        let stride = stride.map(|stride| self.source(stride, Kind::Word)).transpose()?;
        let access = self.shared_work(place, space, number.bytes() as u32)?;
        let operation = FragmentAccess { access, fragment, by_rows: *by_rows, stride };
        Ok(if loads { TensorOp::LoadFragment(operation) } else { TensorOp::StoreFragment(operation) })
    }

    /// `ldmatrix… {registers}, [base]` and `stmatrix… [base], {registers}`. CUTLASS writes the count before the shape, which ptxas takes.
    fn matrices(
        &mut self,
        modifiers: &[&str],
        registers: &Operand<'t>,
        place: &Operand<'t>,
        loads: bool,
    ) -> Result<Matrices, LoadError> {
        let (mut shape, mut count, mut transposed, mut space, mut number) = (None, None, false, None, None);
        for modifier in modifiers {
            match *modifier {
                "m8n8" => shape = Some(()),
                "x1" => count = Some(1),
                "x2" => count = Some(2),
                "x4" => count = Some(4),
                "trans" => transposed = true,
                "shared" | "shared::cta" => space = Some(Space::Shared),
                "b16" => number = Some(()),
                _ => return Err(self.unknown()),
            }
        }
        let Some((count, _)) = count.zip(shape.zip(number)) else { return Err(self.unknown()) };
        let mut named = [SINK; MOST_ELEMENTS];
        self.elements(registers, count, Form::new(Kind::Word, loads), &mut named)?;
        let access = self.shared_work(place, space, 16)?;
        self.program.accesses[access as usize].registers = named;
        Ok(Matrices { access, count: count as u32, transposed })
    }

    /// Adds the access of an instruction whose lanes share the work; it holds the address and the counts.
    pub(super) fn shared_work(&mut self, place: &Operand<'t>, space: Option<Space>, width: u32) -> Result<u32, LoadError> {
        let (space, address) = self.address(place, space)?;
        Ok(self.access(Access::plain(space, address, width)))
    }

    /// Gives a fragment the registers that the instruction names.
    fn fragment(
        &mut self,
        mut fragment: Fragment,
        operand: &Operand<'t>,
        of_wmma: bool,
        is_destination: bool,
    ) -> Result<Fragment, LoadError> {
        let count = if of_wmma { fragment.count_of_wmma() } else { fragment.count() };
        self.elements(operand, count, Form::new(fragment.number.kind(), is_destination), &mut fragment.registers)?;
        Ok(fragment)
    }
}

/// Reads the modifiers after the name of a tensor instruction; `None` if one is unknown.
pub(super) fn tensor_modifiers(parts: &[&str]) -> Option<Modifiers> {
    let mut modifiers = Modifiers::default();
    for part in parts {
        match *part {
            "sync" | "aligned" | "rn" | "popc" => {}
            "rz" => modifiers.rounding = Some(Rounding::Zero),
            "rm" => modifiers.rounding = Some(Rounding::Down),
            "rp" => modifiers.rounding = Some(Rounding::Up),
            "xor" => modifiers.of_bits = Some("xor"),
            "and" => modifiers.of_bits = Some("and"),
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
