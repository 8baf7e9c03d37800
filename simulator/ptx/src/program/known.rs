//! Facts about registers before the kernel runs: how many low bits are zero, and how many bits the value needs.
//!
//! A compiler uses such facts: it loads four words at once if it knows that an address is a multiple of 16, and multiplies in 24
//! bits if it knows that the factors fit. Here each register has one fact, which holds for everything written to it. This loses
//! little, because compilers write most registers in one place only.

use super::code::{Action, ConstantValue, Exchange, Inst, Program, Question, VoteMode};
use super::operations::{FragmentAccess, Matrices, MbarrierOp, MultiplyAdd, TensorOp, TextureOp};
use super::wgmma::WgmmaStep;
use crate::finding::Space;
use alu::registers::{Kind, Reg};
use alu::Alu;

/// Passes over the program before facts that still change are dropped. A loop counter settles sooner.
const PATIENCE: usize = 8;

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

    /// A value that was loaded or truncated.
    fn narrow(bits: u32, signed: bool) -> Self {
        match signed {
            true => Self { signed_bits: bits, ..Self::NOTHING },
            false => Self { low_zeros: 0, unsigned_bits: bits, signed_bits: bits + 1 },
        }
    }

    fn multiple(low_zeros: u32) -> Self {
        Self { low_zeros: low_zeros.min(64), ..Self::NOTHING }
    }

    /// The facts that hold for both of two values.
    fn or(self, other: Self) -> Self {
        Self {
            low_zeros: self.low_zeros.min(other.low_zeros),
            unsigned_bits: self.unsigned_bits.max(other.unsigned_bits),
            signed_bits: self.signed_bits.max(other.signed_bits),
        }
    }

    /// Drops the facts that have changed.
    fn widened(self, before: Self) -> Self {
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
    /// By [`products_for_sums`].
    products: Vec<bool>,
}

impl Facts {
    pub fn of(program: &Program, rows: usize) -> Self {
        let mut facts = Self { known: vec![Known::ZERO; rows], products: products_for_sums(program, rows) };
        for constant in &program.constants {
            facts.known[constant.register as usize] = match constant.value {
                // Each block's part of the shared memory of its cluster starts at a multiple of what an access may need.
                ConstantValue::Bits(bits) | ConstantValue::Shared(bits) => Known::constant(bits, constant.kind),
                ConstantValue::Address { .. } | ConstantValue::Param { .. } => Known::NOTHING,
            };
        }
        for (_, _, register) in &program.specials {
            facts.known[*register as usize] = Known::NOTHING;
        }
        if let Some(stack) = &program.stack {
            // Frames start at multiples of 16.
            facts.known[stack.frame as usize] = Known::multiple(4);
        }
        for pass in 0.. {
            let mut changed = false;
            for inst in &program.code {
                written(program, inst, |register, kind| {
                    let Some(before) = facts.known.get(register as usize).copied().filter(|_| kind != Kind::Predicate) else {
                        return;
                    };
                    let mut after = before.or(facts.result(program, &inst.action));
                    if pass >= PATIENCE {
                        after = after.widened(before);
                    }
                    changed |= after != before;
                    facts.known[register as usize] = after;
                });
            }
            if !changed {
                break;
            }
        }
        facts
    }

    pub fn known(&self, register: Reg) -> Known {
        self.known.get(register as usize).copied().unwrap_or(Known::NOTHING)
    }

    /// Returns true for each multiplication whose factors need no more than 24 bits: that is what `__mul24` and `__umul24`
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

    /// The facts about an action's result.
    fn result(&self, program: &Program, action: &Action) -> Known {
        match *action {
            Action::Alu { alu, sources, .. } => self.computed(program, alu, sources),
            Action::Load(index) => {
                let access = &program.accesses[index as usize];
                if access.width < 4 && access.space != Some(Space::Param) {
                    Known::narrow(8 * access.width, access.signed)
                } else {
                    Known::NOTHING
                }
            }
            _ => Known::NOTHING,
        }
    }

    fn computed(&self, program: &Program, alu: Alu, sources: [Reg; 4]) -> Known {
        let [a, b, c, _] = sources.map(|source| self.known(source));
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
            Alu::Selp32 | Alu::Selp64 => a.or(b),
            Alu::Add32 | Alu::Add64 => Known::multiple(a.low_zeros.min(b.low_zeros)),
            // ptxas adds the negated second operand, about which it knows nothing. If that is a product that nothing else needs, it
            // negates a factor instead, and multiplies and adds in one instruction. (In 64 bits it sometimes does the same.)
            Alu::Sub32 if constant(1).is_some() || self.products[sources[1] as usize] => {
                Known::multiple(a.low_zeros.min(b.low_zeros))
            }
            Alu::MulLo32 | Alu::MulLo64 | Alu::MulWideU32 | Alu::MulWideS32 => Known::multiple(a.low_zeros + b.low_zeros),
            Alu::MadLo32 | Alu::MadLo64 | Alu::MadWideU32 | Alu::MadWideS32 => {
                Known::multiple((a.low_zeros + b.low_zeros).min(c.low_zeros))
            }
            Alu::And32 | Alu::And64 => Known {
                low_zeros: a.low_zeros.max(b.low_zeros),
                unsigned_bits: a.unsigned_bits.min(b.unsigned_bits),
                signed_bits: a.unsigned_bits.min(b.unsigned_bits) + 1,
            },
            Alu::Or32 | Alu::Or64 | Alu::Xor32 | Alu::Xor64 => a.or(b),
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
}

/// Returns true for each register that holds only 32-bit products, read only by sums and shifts. A shift by a number is a product.
///
/// Reads by instructions that seldom compute an index, such as shuffles, are ignored.
fn products_for_sums(program: &Program, rows: usize) -> Vec<bool> {
    let mut products = vec![true; rows];
    for inst in &program.code {
        let mut exclude = |register: Reg, kind: Kind| {
            if let Some(product) = products.get_mut(register as usize).filter(|_| kind == Kind::Word) {
                *product = false;
            }
        };
        match inst.action {
            Action::Alu { alu: Alu::Add32 | Alu::Sub32 | Alu::Shl32, .. } => {}
            Action::Alu { alu, sources, .. } => {
                alu.row().sources.iter().zip(sources).for_each(|(kind, register)| exclude(register, *kind));
            }
            Action::Store(index) => {
                let access = &program.accesses[index as usize];
                access.registers.iter().take(access.count as usize).for_each(|register| exclude(*register, access.kind));
            }
            Action::Atomic(index) => {
                let atomic = &program.atomics[index as usize];
                let kind = if atomic.width == 8 { Kind::Double } else { Kind::Word };
                atomic.operands.into_iter().for_each(|register| exclude(register, kind));
            }
            _ => {}
        }
        let is_product = match inst.action {
            Action::Alu { alu: Alu::MulLo32, .. } => true,
            Action::Alu { alu: Alu::Shl32, sources, .. } => constant(program, sources[1]).is_some(),
            _ => false,
        };
        if !is_product {
            written(program, inst, exclude);
        }
    }
    products
}

/// The value of a register that holds a number.
pub fn constant(program: &Program, register: Reg) -> Option<u64> {
    // Constants come after all registers that are written, in the order in which they were made.
    let place = program.constants.partition_point(|constant| constant.register < register);
    match program.constants.get(place) {
        Some(constant) if constant.register == register => match constant.value {
            // All addresses in shared memory have the same part in front.
            ConstantValue::Bits(bits) | ConstantValue::Shared(bits) => Some(bits),
            ConstantValue::Address { .. } | ConstantValue::Param { .. } => None,
        },
        _ => None,
    }
}

/// Calls `each` for every register that an instruction may write to, with its kind.
pub fn written(program: &Program, inst: &Inst, mut each: impl FnMut(Reg, Kind)) {
    match inst.action {
        Action::Alu { alu, destination, .. } => each(destination, alu.row().destination),
        Action::Load(index) => {
            let access = &program.accesses[index as usize];
            access.registers.iter().take(access.count as usize).for_each(|register| each(*register, access.kind));
        }
        Action::Atomic(index) => {
            let atomic = &program.atomics[index as usize];
            let kind = if atomic.width == 8 { Kind::Double } else { Kind::Word };
            atomic.destinations.iter().take(atomic.count as usize).for_each(|register| each(*register, kind));
        }
        Action::Barrier { poll: Some(poll), .. } => {
            each(poll.destination, if poll.question == Question::Count { Kind::Word } else { Kind::Predicate });
        }
        Action::Exchange(Exchange::Match { destination, agrees, .. }) => {
            each(destination, Kind::Word);
            each(agrees, Kind::Predicate);
        }
        Action::Mbarrier(index) => match program.mbarriers[index as usize].op {
            MbarrierOp::Arrive { state, .. } => each(state, Kind::Double),
            MbarrierOp::Test { done, .. } => each(done, Kind::Predicate),
            MbarrierOp::Init { .. } | MbarrierOp::Invalidate | MbarrierOp::Expect { .. } => {}
        },
        Action::Exchange(Exchange::Shuffle { destination, in_range, .. }) => {
            each(destination, Kind::Word);
            each(in_range, Kind::Predicate);
        }
        Action::Exchange(Exchange::Elect { leader, elected, .. }) => {
            each(leader, Kind::Word);
            each(elected, Kind::Predicate);
        }
        Action::Exchange(Exchange::Vote { mode, destination, .. }) => {
            each(destination, if mode == VoteMode::Ballot { Kind::Word } else { Kind::Predicate });
        }
        Action::Exchange(Exchange::Reduce { destination, .. } | Exchange::ActiveMask { destination }) => {
            each(destination, Kind::Word)
        }
        Action::Clock { destination, kind } => each(destination, kind),
        Action::Tensor(index) => match &program.tensor_ops[index as usize] {
            TensorOp::MultiplyAdd(MultiplyAdd { d: fragment, .. }) | TensorOp::LoadFragment(FragmentAccess { fragment, .. }) => {
                let registers = fragment.registers.iter().take(fragment.count_of_wmma());
                registers.for_each(|register| each(*register, fragment.number.kind()));
            }
            TensorOp::LoadMatrices(Matrices { access, .. }) => {
                program.accesses[*access as usize].registers.iter().for_each(|register| each(*register, Kind::Word));
            }
            TensorOp::Transpose { destination, .. } => each(*destination, Kind::Word),
            TensorOp::StoreFragment(_) | TensorOp::StoreMatrices(_) => {}
        },
        Action::Wgmma(WgmmaStep::Start(index)) => {
            program.wgmmas[index as usize].d.iter().for_each(|register| each(*register, Kind::Word));
        }
        Action::Texture(index) => match program.textures[index as usize] {
            TextureOp::Fetch { results, .. } => results.iter().for_each(|register| each(*register, Kind::Word)),
            TextureOp::Query { result, .. } => each(result, Kind::Word),
            TextureOp::Surface { loads: true, width, registers, .. } => {
                let kind = if width == 8 { Kind::Double } else { Kind::Word };
                registers.iter().for_each(|register| each(*register, kind));
            }
            TextureOp::Surface { loads: false, .. } => {}
        },
        Action::Store(_)
        | Action::Copy(_)
        | Action::BulkCopy(_)
        | Action::ClusterCopy(_)
        | Action::Wgmma(_)
        | Action::CommitCopies
        | Action::CommitBulk
        | Action::WaitForBulk { .. }
        | Action::ProxyFence
        | Action::WaitForCopies { .. }
        | Action::Branch { .. }
        | Action::Call { .. }
        | Action::Return
        | Action::Exit
        | Action::Trap
        | Action::NoTarget { .. }
        | Action::Print { .. }
        | Action::AssertFail { .. }
        | Action::Allocate { .. }
        | Action::Free { .. }
        | Action::Barrier { poll: None, .. }
        | Action::ClusterArrive { .. }
        | Action::ClusterWait { .. }
        | Action::SetRegisters { .. }
        | Action::Fence { .. }
        | Action::WarpSync { .. }
        | Action::CopyLocal { .. }
        | Action::CopyFrame { .. }
        // What is taken back was written before.
        | Action::Save { .. }
        | Action::Restore { .. }
        | Action::Nothing => {}
    }
}
