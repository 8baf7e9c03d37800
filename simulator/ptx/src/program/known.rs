//! Facts about registers before the kernel runs: how many low bits are zero, and how many bits the value needs.
//!
//! A compiler uses such facts: it loads four words at once if it knows that an address is a multiple of 16, and multiplies in 24
//! bits if it knows that the factors fit.

use super::code::{Action, ConstantValue, Inst, Program};
use super::operations::Access;
use super::registers::{Role, registers};
use super::settle::{Fact, settle};
use crate::finding::Space;
use alu::Alu;
use alu::registers::{Kind, Reg};

/// Facts about a value of up to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Number of low bits that are zero: the value is a multiple of 2 to this power.
    pub low_zeros: u32,
    /// The value is below 2 to this power.
    pub unsigned_bits: u32,
    /// The value is a signed number of this many bits, extended to the register's width.
    pub signed_bits: u32,
}

impl Known {
    /// Zero, which registers hold before they are written.
    const ZERO: Self = Self { low_zeros: 64, unsigned_bits: 0, signed_bits: 1 };
    /// A value that may be anything.
    const NOTHING: Self = Self { low_zeros: 0, unsigned_bits: 64, signed_bits: 64 };

    fn constant(bits: u64, kind: Kind) -> Self {
        let signed = if kind == Kind::Word { i64::from(bits as u32 as i32) } else { bits as i64 };
        let bits = if kind == Kind::Word { u64::from(bits as u32) } else { bits };
        let magnitude = if signed < 0 { !signed } else { signed };
        Self {
            low_zeros: bits.trailing_zeros(),
            unsigned_bits: 64 - bits.leading_zeros(),
            signed_bits: 65 - magnitude.leading_zeros(),
        }
    }

    /// Describes a value that was loaded or truncated.
    fn narrow(bits: u32, signed: bool) -> Self {
        match signed {
            true => Self { signed_bits: bits, ..Self::NOTHING },
            false => Self { low_zeros: 0, unsigned_bits: bits, signed_bits: bits + 1 },
        }
    }

    fn multiple(low_zeros: u32) -> Self {
        Self { low_zeros: low_zeros.min(64), ..Self::NOTHING }
    }
}

impl Fact for Known {
    // A loop counter settles sooner.
    const PATIENCE: usize = 8;

    fn or(&self, other: &Self) -> Self {
        Self {
            low_zeros: self.low_zeros.min(other.low_zeros),
            unsigned_bits: self.unsigned_bits.max(other.unsigned_bits),
            signed_bits: self.signed_bits.max(other.signed_bits),
        }
    }

    /// Drops the facts that have changed.
    fn widened(self, before: &Self) -> Self {
        Self {
            low_zeros: if self.low_zeros == before.low_zeros { self.low_zeros } else { 0 },
            unsigned_bits: if self.unsigned_bits == before.unsigned_bits { self.unsigned_bits } else { 64 },
            signed_bits: if self.signed_bits == before.signed_bits { self.signed_bits } else { 64 },
        }
    }
}

/// The facts about every register of a program, by its number.
#[derive(Debug)]
pub struct Facts {
    known: Vec<Known>,
}

impl Facts {
    pub fn of(program: &Program) -> Self {
        let mut known = vec![Known::ZERO; program.rows];
        for constant in &program.constants {
            known[constant.register as usize] = match constant.value {
                // Each block's part of the shared memory of its cluster starts at a multiple of what an access may need.
                ConstantValue::Bits(bits) | ConstantValue::Shared { offset: bits, .. } => Known::constant(bits, constant.kind),
                ConstantValue::Address { .. } | ConstantValue::Param { .. } => Known::NOTHING,
            };
        }
        for (_, _, register) in &program.specials {
            known[*register as usize] = Known::NOTHING;
        }
        if let Some(stack) = &program.stack {
            // Frames start at multiples of 16.
            known[stack.frame as usize] = Known::multiple(4);
        }
        let products = products_for_sums(program);
        settle(program, &mut known, |known, inst| result(program, known, &products, inst));
        Self { known }
    }

    pub fn known(&self, register: Reg) -> Known {
        self.known.get(register as usize).copied().unwrap_or(Known::NOTHING)
    }

    /// Marks each multiplication whose factors need no more than 24 bits: that is what `__mul24` and `__umul24`
    /// become, with a mask for each factor and an ordinary multiplication.
    pub fn multiplications_of_24_bits(&self, program: &Program) -> Vec<bool> {
        let is_one = |inst: &Inst| match inst.action {
            Action::Alu { alu: Alu::Mul24LoU32 | Alu::Mul24LoS32 | Alu::Mad24LoU32 | Alu::Mad24LoS32, .. } => true,
            Action::Alu { alu: Alu::MulLo32 | Alu::MadLo32, sources: [a, b, ..], .. } => {
                let (a, b) = (self.known(a), self.known(b));
                (a.unsigned_bits <= 24 && b.unsigned_bits <= 24) || (a.signed_bits <= 24 && b.signed_bits <= 24)
            }
            _ => false,
        };
        program.code.iter().map(is_one).collect()
    }
}

/// Returns the facts about the result of an instruction.
fn result(program: &Program, known: &[Known], products: &[bool], inst: &Inst) -> Known {
    let (alu, sources) = match inst.action {
        Action::Alu { alu, sources, .. } => (alu, sources),
        Action::Load(index) => match program.accesses[index as usize] {
            Access { width: width @ ..4, signed, space, .. } if space != Some(Space::Param) => {
                return Known::narrow(8 * width, signed);
            }
            _ => return Known::NOTHING,
        },
        _ => return Known::NOTHING,
    };
    let [a, b, c, _] = sources.map(|source| known.get(source as usize).copied().unwrap_or(Known::NOTHING));
    let constant = |position: usize| constant(program, sources[position]);
    match alu {
        Alu::Mov32 | Alu::Mov64 | Alu::CvtB32FromU32 | Alu::CvtB32FromS32 | Alu::CvtB64FromU64 | Alu::CvtB64FromS64 => a,
        Alu::CvtB64FromU32 => Known { signed_bits: a.unsigned_bits + 1, ..a },
        // A negative number gets ones above its 32 bits.
        Alu::CvtB64FromS32 => Known { unsigned_bits: 64, ..a },
        Alu::CvtB32FromU64 | Alu::CvtB32FromS64 => Known::multiple(a.low_zeros),
        Alu::CvtB32FromU8 | Alu::CvtB64FromU8 | Alu::CvtU16FromU8 => Known::narrow(8, false),
        Alu::CvtB32FromU16 | Alu::CvtB64FromU16 => Known::narrow(16, false),
        Alu::CvtB32FromS8 => Known::narrow(8, true),
        Alu::CvtB32FromS16 => Known::narrow(16, true),
        Alu::Selp32 | Alu::Selp64 => a.or(&b),
        Alu::Add32 | Alu::Add64 => Known::multiple(a.low_zeros.min(b.low_zeros)),
        // ptxas adds the negated second operand, about which it knows nothing. If that is a product that nothing else needs, it
        // negates a factor instead, and multiplies and adds in one instruction. (In 64 bits it sometimes does the same.)
        Alu::Sub32 if constant(1).is_some() || products[sources[1] as usize] => Known::multiple(a.low_zeros.min(b.low_zeros)),
        Alu::MulLo32 | Alu::MulLo64 | Alu::MulWideU32 | Alu::MulWideS32 => Known::multiple(a.low_zeros + b.low_zeros),
        Alu::MadLo32 | Alu::MadLo64 | Alu::MadWideU32 | Alu::MadWideS32 => {
            Known::multiple((a.low_zeros + b.low_zeros).min(c.low_zeros))
        }
        Alu::And32 | Alu::And64 => Known {
            low_zeros: a.low_zeros.max(b.low_zeros),
            unsigned_bits: a.unsigned_bits.min(b.unsigned_bits),
            signed_bits: a.unsigned_bits.min(b.unsigned_bits) + 1,
        },
        Alu::Or32 | Alu::Or64 | Alu::Xor32 | Alu::Xor64 => a.or(&b),
        Alu::Shl32 | Alu::Shl64 => Known::multiple(a.low_zeros + constant(1).map_or(0, |n| n.min(64) as u32)),
        Alu::ShrU32 => match constant(1) {
            Some(n @ 0..32) => Known::narrow(a.unsigned_bits.min(32) - (n as u32).min(a.unsigned_bits), false),
            _ => Known::NOTHING,
        },
        Alu::ShrS32 => match constant(1) {
            Some(n @ 0..32) => Known::narrow(a.signed_bits.min(32).saturating_sub(n as u32).max(1), true),
            _ => Known::NOTHING,
        },
        Alu::BfeU32 | Alu::BfeS32 => match (constant(1), constant(2)) {
            (Some(start), Some(length @ 1..=32)) if start + length <= 32 => Known::narrow(length as u32, alu == Alu::BfeS32),
            _ => Known::NOTHING,
        },
        _ => Known::NOTHING,
    }
}

/// Marks registers with only 32-bit products, read only by sums and shifts. A shift by a number is a product.
///
/// Reads by instructions that seldom compute an index, such as shuffles, are ignored.
fn products_for_sums(program: &Program) -> Vec<bool> {
    let mut products = vec![true; program.rows];
    for inst in &program.code {
        let is_product = match inst.action {
            Action::Alu { alu: Alu::MulLo32, .. } => true,
            Action::Alu { alu: Alu::Shl32, sources, .. } => constant(program, sources[1]).is_some(),
            _ => false,
        };
        let excludes_reads = match inst.action {
            Action::Alu { alu, .. } => !matches!(alu, Alu::Add32 | Alu::Sub32 | Alu::Shl32),
            Action::Store(_) | Action::Atomic(_) => true,
            _ => false,
        };
        registers(program, inst, &mut |role, register, kind| {
            let is_excluded = match role {
                Role::Read => excludes_reads,
                Role::Address => false,
                Role::Written => !is_product,
            };
            if let Some(product) = products.get_mut(register as usize).filter(|_| is_excluded && kind == Kind::Word) {
                *product = false;
            }
        });
    }
    products
}

/// Returns the value of a register that holds a number.
pub fn constant(program: &Program, register: Reg) -> Option<u64> {
    // Constants come after all registers that are written, in the order in which they were made.
    let place = program.constants.partition_point(|constant| constant.register < register);
    match program.constants.get(place) {
        Some(constant) if constant.register == register => match constant.value {
            // All addresses in shared memory have the same part in front.
            ConstantValue::Bits(bits) | ConstantValue::Shared { offset: bits, .. } => Some(bits),
            ConstantValue::Address { .. } | ConstantValue::Param { .. } => None,
        },
        _ => None,
    }
}
