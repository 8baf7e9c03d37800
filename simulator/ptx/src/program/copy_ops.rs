//! Decodes copies from global to shared memory that the threads do not wait for: `cp.async`.

use super::code::Action;
use super::decode::Decoder;
use super::fixed::SINK;
use super::memory_ops::without_policy;
use super::operations::{AsyncCopy, MOST_ELEMENTS};
use crate::error::LoadError;
use crate::finding::Space;
use crate::syntax::ast::{Instruction, Operand};
use alu::registers::Kind;

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn copy_instruction(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        match instruction.opcode {
            "cp.async.commit_group" => {
                self.requires(instruction, (8, 0))?;
                self.emit(Action::CommitCopies);
                Ok(())
            }
            "cp.async.wait_all" => {
                self.requires(instruction, (8, 0))?;
                self.emit(Action::WaitForCopies { pending: None });
                Ok(())
            }
            "cp.async.wait_group" => {
                self.requires(instruction, (8, 0))?;
                let [Operand::Integer(pending)] = instruction.operands.as_slice() else {
                    return Err(self.operands_of(instruction));
                };
                let pending = u32::try_from(*pending).map_err(|_| self.operands_of(instruction))?;
                self.emit(Action::WaitForCopies { pending: Some(pending) });
                Ok(())
            }
            opcode if opcode.starts_with("cp.async.mbarrier.arrive") => self.arrive_after_copies(instruction),
            opcode if opcode.starts_with("cp.async.bulk.") || opcode.starts_with("cp.reduce.") => {
                self.bulk_instruction(instruction)
            }
            opcode => match opcode.strip_prefix("cp.async.").and_then(policy) {
                Some(policy) => self.copy(instruction, policy),
                None => Err(self.unsupported(opcode)),
            },
        }
    }

    /// `cp.async.policy.shared.global [target], [source], bytes{, source bytes or predicate}{, cache policy}`
    fn copy(&mut self, instruction: &Instruction<'t>, policy: &str) -> Result<(), LoadError> {
        self.requires(instruction, (8, 0))?;
        let [Operand::Address(to, to_offset), Operand::Address(from, from_offset), Operand::Integer(bytes), rest @ ..] =
            without_policy(instruction)
        else {
            return Err(self.operands_of(instruction));
        };
        let bytes = match (*bytes, policy) {
            (4 | 8, "ca") | (16, _) => *bytes as u32,
            _ => return Err(self.operands_of(instruction)),
        };
        let (mut source_bytes, mut ignored) = (None, None);
        match rest {
            [] => {}
            [Operand::Not(name)] => ignored = Some((self.register(name, Kind::Predicate)?, true)),
            [Operand::Name(name)] if matches!(self.any_register(name), Some((_, Kind::Predicate))) => {
                ignored = Some((self.register(name, Kind::Predicate)?, false));
            }
            [size] => source_bytes = Some(self.source(size, Kind::Word)?),
            _ => return Err(self.operands_of(instruction)),
        }
        let (_, target) = self.address(*to, *to_offset, Some(Space::Shared), instruction)?;
        let source = self.shared_work(instruction, *from, *from_offset, Some(Space::Global), [SINK; MOST_ELEMENTS], bytes)?;
        self.program.copies.push(AsyncCopy { source, target, bytes, is_past_l1: policy == "cg", source_bytes, ignored });
        self.emit(Action::Copy(self.program.copies.len() as u32 - 1));
        Ok(())
    }
}

/// The cache policy, `ca` or `cg`, of `ca.shared.global` and the like.
fn policy(modifiers: &str) -> Option<&str> {
    let (policy, rest) = modifiers.split_once('.')?;
    let rest = rest.strip_prefix("shared::cta").or_else(|| rest.strip_prefix("shared"))?;
    let hints = rest.strip_prefix(".global")?;
    let fits = matches!(policy, "ca" | "cg") && hints.split('.').skip(1).all(|hint| hint.starts_with("L2::"));
    fits.then_some(policy)
}
