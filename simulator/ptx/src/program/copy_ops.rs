//! Decodes copies that the threads do not wait for: `cp.async`, and in bulk `cp.async.bulk` and `cp.reduce.async.bulk`.

use super::code::Action;
use super::decode::Decoder;
use super::fixed::SINK;
use super::memory_ops::{atomic_op, without_policy};
use super::operands::Form::Read;
use super::operations::{AsyncCopy, AtomicOp, BulkCopy, BulkDirection, BulkExtent, Reduction};
use super::scope::Symbol;
use crate::error::LoadError;
use crate::finding::Space;
use crate::syntax::ast::{Base, Instruction, Operand};
use alu::registers::{Kind, Reg};

/// The functions of reductions.
const REDUCTIONS: [&str; 8] = ["add", "min", "max", "inc", "dec", "and", "or", "xor"];

/// The modifiers of a bulk copy.
#[derive(Default)]
struct Modifiers<'t> {
    is_tensor: bool,
    rank: Option<u32>,
    /// The spaces, in order: where it goes, and where it comes from.
    spaces: Vec<&'t str>,
    completion: Option<&'t str>,
    op: Option<&'static str>,
    ty: Option<&'t str>,
    is_multicast: bool,
}

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

    /// Returns the number of groups that may be unfinished after a wait.
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

    pub(super) fn bulk_instruction(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        self.requires((9, 0))?;
        match instruction.opcode {
            "cp.async.bulk.commit_group" => self.emit(Action::CommitBulk),
            "cp.async.bulk.wait_group" | "cp.async.bulk.wait_group.read" => {
                let pending = self.pending(instruction)?;
                self.emit(Action::WaitForBulk { pending, reads: instruction.has("read") });
            }
            // A hint, which changes nothing here.
            opcode if opcode.starts_with("cp.async.bulk.prefetch.") => self.emit(Action::Nothing),
            opcode if opcode.starts_with("cp.async.bulk.shared::cluster.shared::cta.") => {
                self.program.has_async_proxy = true;
                return self.copy_between_blocks(instruction);
            }
            _ => {
                let modifiers = self.bulk_modifiers(instruction).ok_or_else(|| self.unknown())?;
                let copy = self.bulk_copy(instruction, &modifiers)?;
                self.program.bulk_copies.push(copy);
                self.program.has_fences = true;
                self.program.has_async_proxy = true;
                self.emit(Action::BulkCopy(self.program.bulk_copies.len() as u32 - 1));
            }
        }
        Ok(())
    }

    fn bulk_modifiers(&self, instruction: &Instruction<'t>) -> Option<Modifiers<'t>> {
        let (is_reduction, parts) = match instruction.opcode.strip_prefix("cp.reduce.async.bulk.") {
            Some(parts) => (true, parts),
            None => (false, instruction.opcode.strip_prefix("cp.async.bulk.")?),
        };
        let mut modifiers = Modifiers::default();
        for part in parts.split('.') {
            match part {
                "tensor" => modifiers.is_tensor = true,
                "1d" | "2d" | "3d" | "4d" | "5d" => modifiers.rank = part[..1].parse().ok(),
                "global" | "shared::cta" | "shared::cluster" => modifiers.spaces.push(part),
                "mbarrier::complete_tx::bytes" | "bulk_group" => modifiers.completion = Some(part),
                "multicast::cluster" => modifiers.is_multicast = true,
                "tile" | "L2::cache_hint" | "noftz" => {}
                "u32" | "s32" | "u64" | "s64" | "b32" | "b64" | "f16" | "bf16" | "f32" | "f64" => modifiers.ty = Some(part),
                _ => modifiers.op = Some(REDUCTIONS.into_iter().find(|op| *op == part)?),
            }
        }
        let fits = modifiers.op.is_some() == is_reduction
            && modifiers.rank.is_some() == modifiers.is_tensor
            && modifiers.ty.is_some() == (is_reduction && !modifiers.is_tensor);
        fits.then_some(modifiers)
    }

    fn bulk_copy(&mut self, instruction: &Instruction<'t>, modifiers: &Modifiers<'t>) -> Result<BulkCopy, LoadError> {
        let operands = without_policy(instruction);
        match (modifiers.spaces.as_slice(), modifiers.completion, operands) {
            (["shared::cluster" | "shared::cta", "global"], Some("mbarrier::complete_tx::bytes"), [shared, global, rest @ ..])
                if modifiers.op.is_none() =>
            {
                let (rest, receivers) = match rest {
                    [rest @ .., receivers] if modifiers.is_multicast => (rest, Some(self.source(receivers, Kind::Word)?)),
                    rest => (rest, None),
                };
                self.program.orders_cluster |= modifiers.is_multicast;
                let (bytes, barrier) = match rest {
                    [barrier] if modifiers.is_tensor => (None, barrier),
                    [bytes, barrier] if !modifiers.is_tensor => (Some(bytes), barrier),
                    _ => return Err(self.unfit()),
                };
                let shared = self.in_shared(shared, Some(Space::Shared))?;
                let barrier = self.in_shared(barrier, Some(Space::Shared))?;
                let (access, extent) = self.bulk_extent(modifiers.rank, global, bytes)?;
                Ok(BulkCopy { access, shared, extent, direction: BulkDirection::Load { barrier, receivers } })
            }
            (["global", "shared::cta"], Some("bulk_group"), [global, shared, rest @ ..]) if !modifiers.is_multicast => {
                let bytes = match rest {
                    [] if modifiers.is_tensor => None,
                    [bytes] if !modifiers.is_tensor => Some(bytes),
                    _ => return Err(self.unfit()),
                };
                let shared = self.in_shared(shared, Some(Space::Shared))?;
                let reduction = self.reduction(modifiers)?;
                let (access, extent) = self.bulk_extent(modifiers.rank, global, bytes)?;
                Ok(BulkCopy { access, shared, extent, direction: BulkDirection::Store { reduction } })
            }
            _ => Err(self.unknown()),
        }
    }

    /// Returns the function of a reduction, if the copy is one.
    fn reduction(&self, modifiers: &Modifiers<'t>) -> Result<Option<Reduction>, LoadError> {
        let Some(op) = modifiers.op else { return Ok(None) };
        let Some(ty) = modifiers.ty else { return Ok(Some(Reduction::OfMap(op))) };
        let (op, width) = typed_reduction(op, ty).ok_or_else(|| self.unknown())?;
        Ok(Some(Reduction::Typed(op, width)))
    }

    /// Decodes the bytes in global memory: an address and a size, or a map and coordinates.
    fn bulk_extent(
        &mut self,
        rank: Option<u32>,
        global: &Operand<'t>,
        bytes: Option<&Operand<'t>>,
    ) -> Result<(u32, BulkExtent), LoadError> {
        match (global, rank, bytes) {
            (Operand::Address(..), None, Some(bytes)) => {
                let access = self.shared_work(global, Some(Space::Global), 16)?;
                Ok((access, BulkExtent::Bytes(self.source(bytes, Kind::Word)?)))
            }
            (Operand::Texture(map, named), Some(rank), None) => {
                let [named] = self.exactly(named)?;
                let mut coordinates: [Reg; 5] = [SINK; 5];
                self.elements(named, rank as usize, Read(Kind::Word), &mut coordinates)?;
                let base = Base::Name(map);
                let is_param = matches!(self.symbol_of(base), Some(Symbol::Param(_)));
                let access = self.shared_work(&Operand::Address(base, 0), is_param.then_some(Space::Param), 16)?;
                Ok((access, BulkExtent::Box { coordinates, rank }))
            }
            _ => Err(self.unfit()),
        }
    }
}

/// Returns the cache policy, `ca` or `cg`, of `ca.shared.global` and the like.
fn policy(modifiers: &str) -> Option<&str> {
    let (policy, rest) = modifiers.split_once('.')?;
    let rest = rest.strip_prefix("shared::cta").or_else(|| rest.strip_prefix("shared"))?;
    let hints = rest.strip_prefix(".global")?;
    let fits = matches!(policy, "ca" | "cg") && hints.split('.').skip(1).all(|hint| hint.starts_with("L2::"));
    fits.then_some(policy)
}

/// Returns the operation of a reduction, and the bytes of an element.
pub fn typed_reduction(op: &str, ty: &str) -> Option<(AtomicOp, u32)> {
    let width = match ty {
        "f16" | "bf16" => 2,
        ty if ty.ends_with("32") => 4,
        _ => 8,
    };
    Some((atomic_op(op, ty, true)?, width))
}
