//! Decodes what lanes and warps do together: shuffles, votes, barriers, fences.

use super::decode::Decoder;
use super::{Action, ConstantValue, SINK, ShuffleMode, VoteMode};
use crate::instructions::Kind;
use crate::module::LoadError;
use crate::ptx::ast::{Instruction, Operand};

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn warp_instruction(&mut self, instruction: &'m Instruction<'t>) -> Result<(), LoadError> {
        match instruction.opcode {
            "shfl.sync.idx.b32" => self.shuffle(instruction, ShuffleMode::Index),
            "shfl.sync.up.b32" => self.shuffle(instruction, ShuffleMode::Up),
            "shfl.sync.down.b32" => self.shuffle(instruction, ShuffleMode::Down),
            "shfl.sync.bfly.b32" => self.shuffle(instruction, ShuffleMode::Butterfly),
            "vote.sync.all.pred" => self.vote(instruction, VoteMode::All),
            "vote.sync.any.pred" => self.vote(instruction, VoteMode::Any),
            "vote.sync.uni.pred" => self.vote(instruction, VoteMode::Uniform),
            "vote.sync.ballot.b32" => self.vote(instruction, VoteMode::Ballot),
            "activemask.b32" => {
                let [destination] = instruction.operands.as_slice() else {
                    return Err(self.operands_of(instruction));
                };
                let destination = self.destination(destination, Kind::Word)?;
                self.emit(Action::ActiveMask { destination });
                Ok(())
            }
            "bar.sync"
            | "barrier.sync"
            | "barrier.sync.aligned"
            | "bar.cta.sync"
            | "barrier.cta.sync"
            | "barrier.cta.sync.aligned" => self.barrier(instruction, true),
            "bar.arrive"
            | "barrier.arrive"
            | "barrier.arrive.aligned"
            | "bar.cta.arrive"
            | "barrier.cta.arrive"
            | "barrier.cta.arrive.aligned" => self.barrier(instruction, false),
            // The lanes of a warp run in step here, so those that are to wait for each other have done so.
            "bar.warp.sync" => {
                self.emit(Action::Nothing);
                Ok(())
            }
            "membar.cta" | "membar.gl" | "membar.sys" => {
                self.emit(Action::Fence);
                Ok(())
            }
            opcode if is_fence(opcode) => {
                self.emit(Action::Fence);
                Ok(())
            }
            opcode => Err(self.unsupported(opcode)),
        }
    }

    /// `shfl.sync.mode.b32 d|p, a, b, c, members`
    fn shuffle(&mut self, instruction: &'m Instruction<'t>, mode: ShuffleMode) -> Result<(), LoadError> {
        let [destination, source, lane, clamp, _members] = instruction.operands.as_slice() else {
            return Err(self.operands_of(instruction));
        };
        let (destination, in_range) = match destination {
            Operand::Pair(destination, in_range) => {
                (self.register(destination, Kind::Word)?, self.register(in_range, Kind::Predicate)?)
            }
            destination => (self.destination(destination, Kind::Word)?, SINK),
        };
        let source = self.source(source, Kind::Word)?;
        let lane = self.source(lane, Kind::Word)?;
        let clamp = self.source(clamp, Kind::Word)?;
        self.emit(Action::Shuffle { mode, destination, in_range, source, lane, clamp });
        Ok(())
    }

    /// `vote.sync.mode.pred d, {!}a, members`
    fn vote(&mut self, instruction: &'m Instruction<'t>, mode: VoteMode) -> Result<(), LoadError> {
        let [destination, source, members] = instruction.operands.as_slice() else {
            return Err(self.operands_of(instruction));
        };
        let kind = if mode == VoteMode::Ballot { Kind::Word } else { Kind::Predicate };
        let destination = self.destination(destination, kind)?;
        let (source, negated) = match source {
            Operand::Not(name) => (self.register(name, Kind::Predicate)?, true),
            source => (self.source(source, Kind::Predicate)?, false),
        };
        let members = self.source(members, Kind::Word)?;
        self.emit(Action::Vote { mode, destination, source, negated, members });
        Ok(())
    }

    /// `bar.sync barrier{, threads}`
    fn barrier(&mut self, instruction: &'m Instruction<'t>, waits: bool) -> Result<(), LoadError> {
        let (barrier, threads) = match instruction.operands.as_slice() {
            [] => (self.constant(ConstantValue::Bits(0), Kind::Word), None),
            [barrier] => (self.source(barrier, Kind::Word)?, None),
            [barrier, threads] => (self.source(barrier, Kind::Word)?, Some(self.source(threads, Kind::Word)?)),
            _ => return Err(self.operands_of(instruction)),
        };
        if !waits && threads.is_none() {
            return Err(self.operands_of(instruction));
        }
        self.emit(Action::Barrier { barrier, threads, waits });
        Ok(())
    }
}

/// `fence{.sc,.acq_rel}.{cta,cluster,gpu,sys}`; the proxy fences of asynchronous copies are something else.
fn is_fence(opcode: &str) -> bool {
    let mut parts = opcode.split('.');
    parts.next() == Some("fence")
        && parts.all(|part| matches!(part, "sc" | "acq_rel" | "acquire" | "release" | "cta" | "cluster" | "gpu" | "sys"))
}
