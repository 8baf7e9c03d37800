//! Decodes copies from global to shared memory that the threads do not wait for: `cp.async`.

use super::code::Action;
use super::decode::Decoder;
use super::memory_ops::without_policy;
use super::operations::AsyncCopy;
use crate::error::LoadError;
use crate::finding::Space;
use crate::syntax::ast::{Instruction, Operand};
use alu::registers::Kind;

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn copy_instruction(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        match instruction.opcode {
            "cp.async.commit_group" | "cp.async.wait_all" | "cp.async.wait_group" => {
                self.requires((8, 0))?;
                let action = match instruction.opcode {
                    "cp.async.commit_group" => Action::CommitCopies,
                    "cp.async.wait_all" => Action::WaitForCopies { pending: None },
                    _ => Action::WaitForCopies { pending: Some(self.pending(instruction)?) },
                };
                self.emit(action);
                Ok(())
            }
            opcode if opcode.starts_with("cp.async.mbarrier.arrive") => self.arrive_after_copies(instruction),
            opcode if opcode.starts_with("cp.async.bulk.") || opcode.starts_with("cp.reduce.") => {
                self.bulk_instruction(instruction)
            }
            opcode => {
                let policy = opcode.strip_prefix("cp.async.").and_then(policy).ok_or_else(|| self.unknown())?;
                self.copy(instruction, policy)
            }
        }
    }

    /// The number of groups that may be unfinished after a wait.
    pub(super) fn pending(&self, instruction: &Instruction<'t>) -> Result<u32, LoadError> {
        match instruction.operands.as_slice() {
            [Operand::Integer(pending)] => u32::try_from(*pending).map_err(|_| self.unfit()),
            _ => Err(self.unfit()),
        }
    }

    /// `cp.async.policy.shared.global [target], [source], bytes{, source bytes or predicate}{, cache policy}`
    fn copy(&mut self, instruction: &Instruction<'t>, policy: &str) -> Result<(), LoadError> {
        self.requires((8, 0))?;
        let [target, source, Operand::Integer(bytes), rest @ ..] = without_policy(instruction) else {
            return Err(self.unfit());
        };
        let bytes = match (*bytes, policy) {
            (4 | 8, "ca") | (16, _) => *bytes as u32,
            _ => return Err(self.unfit()),
        };
        let (mut source_bytes, mut ignored) = (None, None);
        match rest {
            [] => {}
            [Operand::Not(name)] => ignored = Some((self.register(name, Kind::Predicate)?, true)),
            [Operand::Name(name)] if matches!(self.any_register(name), Some((_, Kind::Predicate))) => {
                ignored = Some((self.register(name, Kind::Predicate)?, false));
            }
            [size] => source_bytes = Some(self.source(size, Kind::Word)?),
            _ => return Err(self.unfit()),
        }
        let target = self.in_shared(target, Some(Space::Shared))?;
        let source = self.shared_work(source, Some(Space::Global), bytes)?;
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
