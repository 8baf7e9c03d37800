//! Decodes exchanges between lanes, barriers, and fences.

use super::code::{Action, ConstantValue, Exchange, Poll, Question, ShuffleMode, VoteMode};
use super::decode::Decoder;
use super::fixed::SINK;
use super::memory_ops::atomic_op;
use super::operands::Form::{Read, Write};
use super::operations::AtomicOp;
use crate::error::{LoadError, syntax};
use crate::finding::FindingKind;
use crate::syntax::ast::{Instruction, Operand};
use alu::registers::{Kind, Reg};

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn warp_instruction(&mut self, instruction: &Instruction<'t>) -> Result<Action, LoadError> {
        match in_usual_order(instruction).as_str() {
            "shfl.idx.b32" => self.shuffle(instruction, ShuffleMode::Index),
            "shfl.up.b32" => self.shuffle(instruction, ShuffleMode::Up),
            "shfl.down.b32" => self.shuffle(instruction, ShuffleMode::Down),
            "shfl.bfly.b32" => self.shuffle(instruction, ShuffleMode::Butterfly),
            "vote.all.pred" => self.vote(instruction, VoteMode::All),
            "vote.any.pred" => self.vote(instruction, VoteMode::Any),
            "vote.uni.pred" => self.vote(instruction, VoteMode::Uniform),
            "vote.ballot.b32" => self.vote(instruction, VoteMode::Ballot),
            opcode if opcode.starts_with("redux.sync.") && opcode.ends_with(".f32") => {
                Err(self.unsupported(&format!("{} (of f32, from .target sm_100a on)", instruction.opcode)))
            }
            opcode if opcode.starts_with("barrier.cluster.") => self.cluster_barrier(instruction),
            "activemask.b32" => {
                let [destination] = self.registers(&instruction.operands, [Write(Kind::Word)])?;
                Ok(Action::Exchange(Exchange::ActiveMask { destination }))
            }
            "elect.sync" => self.elect(instruction),
            "barrier.sync" => self.barrier(instruction, true),
            "barrier.arrive" => self.barrier(instruction, false),
            "barrier.red.popc.u32" => self.barrier_with_poll(instruction, Question::Count),
            "barrier.red.and.pred" => self.barrier_with_poll(instruction, Question::All),
            "barrier.red.or.pred" => self.barrier_with_poll(instruction, Question::Any),
            "match.sync.any.b32" => self.match_lanes(instruction, false, Kind::Word),
            "match.sync.any.b64" => self.match_lanes(instruction, false, Kind::Double),
            "match.sync.all.b32" => self.match_lanes(instruction, true, Kind::Word),
            "match.sync.all.b64" => self.match_lanes(instruction, true, Kind::Double),
            opcode if opcode.starts_with("redux.sync.") => {
                let op = match opcode.split('.').skip(2).collect::<Vec<_>>()[..] {
                    [op @ ("add" | "min" | "max"), ty @ ("u32" | "s32")] => atomic_op(op, ty, false),
                    [op @ ("and" | "or" | "xor"), "b32"] => atomic_op(op, "b32", false),
                    _ => None,
                };
                self.reduce(instruction, op.ok_or_else(|| self.unknown())?)
            }
            "barrier.warp.sync" => {
                let [members] = self.registers(&instruction.operands, [Read(Kind::Word)])?;
                Ok(Action::WarpSync { members })
            }
            "fence.proxy.alias" | "membar.proxy.alias" => {
                self.program.has_aliases = true;
                Ok(Action::Nothing)
            }
            // Bulk copies always see earlier writes here. The checks say where they might not.
            "fence.proxy.async" | "fence.proxy.async.shared::cta" | "fence.proxy.async.shared::cluster" => {
                self.requires((9, 0))?;
                Ok(Action::ProxyFence)
            }
            "fence.proxy.async.global" => {
                self.requires((9, 0))?;
                Ok(Action::Nothing)
            }
            "fence.mbarrier_init.release.cluster" => {
                self.requires((9, 0))?;
                self.program.has_fences = true;
                Ok(Action::InitFence)
            }
            opcode if is_fence(opcode) => {
                self.note_fence(opcode);
                Ok(Action::Fence { in_block: opcode.split('.').any(|part| part == "cta") })
            }
            _ => Err(self.unknown()),
        }
    }

    /// `shfl.sync.mode.b32 d|p, a, b, c, members`
    fn shuffle(&mut self, instruction: &Instruction<'t>, mode: ShuffleMode) -> Result<Action, LoadError> {
        let (operands, members) = self.with_members(instruction)?;
        let [destination, sources @ ..] = operands else { return Err(self.unfit()) };
        let (destination, in_range) = self.with_predicate(destination)?;
        let [source, lane, clamp] = self.registers(sources, [Read(Kind::Word); 3])?;
        Ok(Action::Exchange(Exchange::Shuffle { mode, destination, in_range, source, lane, clamp, members }))
    }

    /// Returns a result, and the predicate after it, if it has one: `d|p`.
    fn with_predicate(&mut self, destination: &Operand<'_>) -> Result<(Reg, Reg), LoadError> {
        match destination {
            Operand::Pair(destination, predicate) => {
                let destination = self.destination(&Operand::Name(destination), Kind::Word)?;
                Ok((destination, self.destination(&Operand::Name(predicate), Kind::Predicate)?))
            }
            destination => Ok((self.destination(destination, Kind::Word)?, SINK)),
        }
    }

    /// Returns the operands, and the lanes that take part: the last operand of an instruction with `.sync`. Before sm_70 it may have none,
    /// and then the lanes that execute it together take part.
    fn with_members<'o>(&mut self, instruction: &'o Instruction<'t>) -> Result<(&'o [Operand<'t>], Reg), LoadError> {
        let has_members = instruction.has("sync");
        if !has_members && self.module.target >= (7, 0) {
            return Err(self.unsupported(&format!("{} (without .sync, from .target sm_70 on)", instruction.opcode)));
        }
        match instruction.operands.split_last() {
            Some((members, operands)) if has_members => Ok((operands, self.source(members, Kind::Word)?)),
            _ => {
                let members = self.take_rows(Kind::Word);
                self.emit(Action::Exchange(Exchange::ActiveMask { destination: members }));
                Ok((&instruction.operands, members))
            }
        }
    }

    /// `vote.sync.mode.pred d, {!}a, members`
    fn vote(&mut self, instruction: &Instruction<'t>, mode: VoteMode) -> Result<Action, LoadError> {
        let (operands, members) = self.with_members(instruction)?;
        let [destination, source] = self.exactly(operands)?;
        let kind = if mode == VoteMode::Ballot { Kind::Word } else { Kind::Predicate };
        let destination = self.destination(destination, kind)?;
        let (source, negated) = self.voted(source)?;
        Ok(Action::Exchange(Exchange::Vote { mode, destination, source, negated, members }))
    }

    /// `bar.sync barrier{, threads}`
    fn barrier(&mut self, instruction: &Instruction<'t>, waits: bool) -> Result<Action, LoadError> {
        let (barrier, threads) = match instruction.operands.as_slice() {
            [] => (self.constant(ConstantValue::Bits(0), Kind::Word), None),
            [barrier] => self.barrier_number(barrier, None)?,
            [barrier, threads] => self.barrier_number(barrier, Some(threads))?,
            _ => return Err(self.unfit()),
        };
        if !waits && threads.is_none() {
            return Err(self.unfit());
        }
        Ok(Action::Barrier { barrier, threads, waits, aligned: is_aligned(instruction), poll: None })
    }

    /// `bar.red.op.type d, barrier{, threads}, {!}p`
    fn barrier_with_poll(&mut self, instruction: &Instruction<'t>, question: Question) -> Result<Action, LoadError> {
        let (destination, barrier, threads, vote) = match instruction.operands.as_slice() {
            [destination, barrier, vote] => (destination, barrier, None, vote),
            [destination, barrier, threads, vote] => (destination, barrier, Some(threads), vote),
            _ => return Err(self.unfit()),
        };
        let kind = if question == Question::Count { Kind::Word } else { Kind::Predicate };
        let destination = self.destination(destination, kind)?;
        let (barrier, threads) = self.barrier_number(barrier, threads)?;
        let (source, negated) = self.voted(vote)?;
        let poll = Some(Poll { question, destination, source, negated });
        Ok(Action::Barrier { barrier, threads, waits: true, aligned: is_aligned(instruction), poll })
    }

    /// `elect.sync d|p, members`
    fn elect(&mut self, instruction: &Instruction<'t>) -> Result<Action, LoadError> {
        self.requires((9, 0))?;
        let [results, members] = self.exactly(&instruction.operands)?;
        let (leader, elected) = self.with_predicate(results)?;
        let members = self.source(members, Kind::Word)?;
        Ok(Action::Exchange(Exchange::Elect { leader, elected, members }))
    }

    /// Returns the number of a barrier and of its threads. Numbers in the text are checked now, registers when the instruction is executed.
    fn barrier_number(&mut self, barrier: &Operand<'t>, threads: Option<&Operand<'t>>) -> Result<(Reg, Option<Reg>), LoadError> {
        let number = |operand: &Operand<'_>| match operand {
            Operand::Integer(number) => u32::try_from(*number).ok().or(Some(u32::MAX)),
            _ => None,
        };
        let numbers = (number(barrier).unwrap_or(0), threads.map(|threads| number(threads).unwrap_or(32)));
        if !is_barrier(numbers.0, numbers.1) {
            let kind = FindingKind::InvalidBarrier { barrier: numbers.0, threads: numbers.1 };
            return Err(syntax(self.origin.ptx_line, kind.to_string()));
        }
        let threads = threads.map(|threads| self.source(threads, Kind::Word)).transpose()?;
        Ok((self.source(barrier, Kind::Word)?, threads))
    }

    /// Returns a predicate to vote with, perhaps its complement.
    fn voted(&mut self, operand: &Operand<'_>) -> Result<(Reg, bool), LoadError> {
        match operand {
            Operand::Not(name) => Ok((self.register(name, Kind::Predicate)?, true)),
            operand => Ok((self.source(operand, Kind::Predicate)?, false)),
        }
    }

    /// `match.any.sync.type d, a, members` and `match.all.sync.type d|p, a, members`
    fn match_lanes(&mut self, instruction: &Instruction<'t>, all: bool, kind: Kind) -> Result<Action, LoadError> {
        let [destination, sources @ ..] = instruction.operands.as_slice() else { return Err(self.unfit()) };
        let (destination, agrees) =
            if all { self.with_predicate(destination)? } else { (self.destination(destination, Kind::Word)?, SINK) };
        let [source, members] = self.registers(sources, [Read(kind), Read(Kind::Word)])?;
        Ok(Action::Exchange(Exchange::Match { all, destination, agrees, source, kind, members }))
    }

    /// `redux.sync.op.type d, a, members`
    fn reduce(&mut self, instruction: &Instruction<'t>, op: AtomicOp) -> Result<Action, LoadError> {
        let forms = [Write(Kind::Word), Read(Kind::Word), Read(Kind::Word)];
        let [destination, source, members] = self.registers(&instruction.operands, forms)?;
        Ok(Action::Exchange(Exchange::Reduce { op, destination, source, members }))
    }
}

/// The opcode with `sync` first, where the instruction needs it; without, where it may have it; and with one name for a barrier of the
/// block: `bar`, `bar.cta` and `barrier.cta.….aligned` are all `barrier`.
fn in_usual_order(instruction: &Instruction<'_>) -> String {
    let parts = instruction.opcode.split('.').skip(1);
    match instruction.root() {
        root @ ("shfl" | "vote" | "match" | "redux") => {
            let (mut sync, rest): (Vec<_>, Vec<_>) = parts.partition(|part| *part == "sync");
            if matches!(root, "shfl" | "vote") {
                sync.clear();
            }
            [vec![root], sync, rest].concat().join(".")
        }
        "bar" | "barrier" => {
            let rest = parts.filter(|part| !matches!(*part, "cta" | "aligned"));
            std::iter::once("barrier").chain(rest).collect::<Vec<_>>().join(".")
        }
        _ => instruction.opcode.to_owned(),
    }
}

/// Returns true if a warp's lanes must execute this very barrier. PTX ISA, `bar`: it is short for `barrier.cta.….aligned`.
fn is_aligned(instruction: &Instruction<'_>) -> bool {
    instruction.root() == "bar" || instruction.opcode.split('.').any(|part| part == "aligned")
}

/// Returns true if this barrier exists and can take this many threads. They must be whole warps.
#[inline]
pub fn is_barrier(barrier: u32, threads: Option<u32>) -> bool {
    barrier < 16 && threads.is_none_or(|threads| threads != 0 && threads % 32 == 0)
}

/// `membar.level` and `fence{.sc,.acq_rel}.scope`; not the proxy fences of asynchronous copies. One that is restricted to some objects orders all.
fn is_fence(opcode: &str) -> bool {
    let mut parts = opcode.split('.');
    match parts.next() {
        Some("membar") => matches!(parts.collect::<Vec<_>>()[..], ["cta" | "gl" | "sys"]),
        Some("fence") => {
            let plain = |part| matches!(part, "sc" | "acq_rel" | "acquire" | "release" | "cta" | "cluster" | "gpu" | "sys");
            parts.all(|part| plain(part) || part.starts_with("sync_restrict::"))
        }
        _ => false,
    }
}
