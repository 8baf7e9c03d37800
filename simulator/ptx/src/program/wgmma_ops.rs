//! Decodes `wgmma`.

use super::code::Action;
use super::decode::Decoder;
use super::fixed::SINK;
use super::fragment::{Number, Shape};
use super::operands::Form::Write;
use super::operands::elements;
use super::tensor_ops::{Modifiers, tensor_modifiers};
use super::wgmma::{FactorA, ROWS_OF_WARP, Wgmma, WgmmaStep};
use crate::error::{LoadError, syntax};
use crate::syntax::ast::{Instruction, Operand};
use alu::registers::Kind;

/// Rows of a product.
const ROWS: usize = 64;
/// Bytes of a row of A, or of a column of B.
const K_BYTES: usize = 32;

/// Returns true if a product of integers has this many columns.
fn is_width_of_integers(n: usize) -> bool {
    matches!(n, 8 | 24) || n.is_multiple_of(16)
}

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn wgmma_instruction(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        if !self.module.is_specific || self.module.target != (9, 0) {
            let (major, minor) = self.module.target;
            let letter = if self.module.is_specific { "a" } else { "" };
            let message =
                format!("{} needs .target sm_90a, found sm_{major}{minor}{letter}; compile for compute_90a", instruction.opcode);
            return Err(syntax(instruction.line, message));
        }
        let step = match instruction.opcode.strip_prefix("wgmma.").unwrap_or_default() {
            "fence.sync.aligned" => WgmmaStep::Fence,
            "commit_group.sync.aligned" => WgmmaStep::Commit,
            "wait_group.sync.aligned" => match instruction.operands.as_slice() {
                [Operand::Integer(pending)] => WgmmaStep::Wait { pending: u32::try_from(*pending).unwrap_or(u32::MAX) },
                _ => return Err(self.unfit()),
            },
            opcode => match opcode.strip_prefix("mma_async.sync.aligned.") {
                Some(modifiers) => {
                    self.program.has_async_proxy = true;
                    self.wgmma(instruction, &modifiers.split('.').collect::<Vec<_>>())?
                }
                None => return Err(self.unknown()),
            },
        };
        self.emit(Action::Wgmma(step));
        Ok(())
    }

    /// Decodes `wgmma.mma_async`: `d, a or its descriptor, the descriptor of b, scale-d{, scale-a, scale-b{{, trans-a}, trans-b}}`.
    fn wgmma(&mut self, instruction: &Instruction<'t>, modifiers: &[&str]) -> Result<WgmmaStep, LoadError> {
        let unsupported = || self.unknown();
        let Modifiers { shape, numbers, by_rows, space, saturates, .. } = tensor_modifiers(modifiers).ok_or_else(unsupported)?;
        let (Some(shape), [sum, a_number, b_number]) = (shape, numbers.as_slice()) else { return Err(unsupported()) };
        let (sum, a_number, b_number) = (*sum, *a_number, *b_number);
        let types_fit = match (a_number, b_number) {
            (Number::Tf32, Number::Tf32) | (Number::Bf16, Number::Bf16) => sum == Number::F32,
            (Number::F16, Number::F16) => matches!(sum, Number::F16 | Number::F32),
            (Number::E4M3 | Number::E5M2, Number::E4M3 | Number::E5M2) => matches!(sum, Number::F16 | Number::F32),
            (Number::S8 | Number::U8, Number::S8 | Number::U8) => sum == Number::S32,
            _ => false,
        };
        let of_integers = sum == Number::S32;
        let Shape { m, n, k } = shape;
        let width_fits = n % 8 == 0 && (8..=256).contains(&n) && (!of_integers || is_width_of_integers(n));
        let shape_fits = m == ROWS && k * a_number.bytes() == K_BYTES && width_fits;
        if !types_fit || !shape_fits || !by_rows.is_empty() || space.is_some() || (saturates && !of_integers) {
            return Err(unsupported());
        }
        let [d, a, b, adds, immediates @ ..] = instruction.operands.as_slice() else {
            return Err(self.unfit());
        };
        let shape = Shape { m: ROWS_OF_WARP, ..shape };
        let mut registers = vec![SINK; ROWS_OF_WARP * n / 32 / sum.per_register()];
        self.elements(d, registers.len(), Write(Kind::Word), &mut registers)?;
        let a = match a {
            Operand::Vector(_) => {
                let mut registers = [SINK; 4];
                self.elements(a, 4, Write(Kind::Word), &mut registers)?;
                FactorA::Registers(registers)
            }
            descriptor => FactorA::Shared(self.source(descriptor, Kind::Double)?),
        };
        let b = self.source(b, Kind::Double)?;
        let adds = self.source(adds, Kind::Predicate)?;
        // The signs of A and B, where the types have any; then whether A, if it is in shared memory, and B are transposed.
        let (signs, flags) = match (a_number.bytes(), a) {
            (1, _) if of_integers => (0, 0),
            (1 | 4, _) => (2, 0),
            (_, FactorA::Registers(_)) => (2, 1),
            (_, FactorA::Shared(_)) => (2, 2),
        };
        let number = |operand: &Operand<'_>| if let Operand::Integer(bits) = operand { Some(*bits as i64) } else { None };
        let numbers: Vec<i64> = immediates.iter().map_while(number).collect();
        if numbers.len() != immediates.len() || numbers.len() != signs + flags {
            return Err(self.unfit());
        }
        let (signs, flags) = numbers.split_at(signs);
        if !signs.iter().all(|sign| matches!(sign, 1 | -1)) || !flags.iter().all(|flag| matches!(flag, 0 | 1)) {
            return Err(self.unfit());
        }
        let negates = signs.iter().product::<i64>() < 0;
        let (transposes_a, transposes_b) = (flags.len() == 2 && flags[0] == 1, flags.last() == Some(&1));
        self.program.wgmmas.push(Wgmma {
            shape,
            a_number,
            b_number,
            sum,
            d: registers,
            a,
            b,
            transposes_a,
            transposes_b,
            adds,
            negates,
            saturates,
        });
        Ok(WgmmaStep::Start(self.program.wgmmas.len() as u32 - 1))
    }

    /// Notes the registers that an instruction names, whose code starts at `first`.
    pub(super) fn note_mentions(&mut self, instruction: &Instruction<'t>, first: usize) {
        if instruction.root() == "wgmma" {
            return;
        }
        let range = (first as u32, self.program.code.len() as u32);
        for operand in &instruction.operands {
            let of_vector = elements(operand).iter().filter_map(|element| self.register_of(element));
            let named = operand.names().filter_map(|name| self.any_register(name));
            let words = of_vector.chain(named).filter(|(_, kind)| *kind == Kind::Word).map(|(register, _)| register);
            let mut words: Vec<_> = words.collect();
            words.sort_unstable();
            words.dedup();
            self.mentions.extend(words.into_iter().map(|register| (range.0, range.1, register)));
        }
    }
}
