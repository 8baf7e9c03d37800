//! Decodes what a thread sends to other blocks of its cluster: `cp.async.bulk` between their shared memories, and `st.async`.

use super::code::Action;
use super::decode::Decoder;
use super::fixed::SINK;
use super::memory_ops::lanes;
use super::operations::{ClusterCopy, ClusterSource};
use crate::error::LoadError;
use crate::finding::Space;
use crate::syntax::ast::Instruction;
use alu::registers::Kind;

impl<'t> Decoder<'_, 't> {
    /// `cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [target], [source], bytes, [barrier]`
    pub(super) fn copy_between_blocks(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        if instruction.opcode != "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" {
            return Err(self.unknown());
        }
        let [target, source, bytes, barrier] = self.exactly(&instruction.operands)?;
        let [target, address, barrier] = [target, source, barrier].map(|place| self.in_shared(place, Some(Space::Shared)));
        let source = ClusterSource::Memory { address: address?, bytes: self.source(bytes, Kind::Word)? };
        self.cluster_copy(ClusterCopy { target: target?, barrier: barrier?, source });
        Ok(())
    }

    /// `st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.v2,.v4}.type [target], value, [barrier]`
    pub(super) fn store_async(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        self.requires((9, 0))?;
        let unsupported = || self.unknown();
        let rest = instruction.opcode.strip_prefix("st.async.").ok_or_else(unsupported)?;
        let rest = rest.strip_prefix("weak.").unwrap_or(rest);
        let ty = rest.strip_prefix("shared::cluster.mbarrier::complete_tx::bytes.").ok_or_else(unsupported)?;
        let (count, ty) = match ty.split_once('.') {
            None => (1, ty),
            Some((vector, ty)) => (lanes(vector).filter(|lanes| *lanes <= 4).ok_or_else(unsupported)?, ty),
        };
        let kind = match ty {
            "b32" | "u32" | "s32" | "f32" => Kind::Word,
            "b64" | "u64" | "s64" | "f64" if count < 4 => Kind::Double,
            _ => return Err(unsupported()),
        };
        let [target, value, barrier] = self.exactly(&instruction.operands)?;
        let mut registers = [SINK; 4];
        self.elements(value, (count as usize, kind), false, &mut registers)?;
        let [target, barrier] = [target, barrier].map(|place| self.in_shared(place, Some(Space::Shared)));
        let source = ClusterSource::Registers { registers, kind, count };
        self.cluster_copy(ClusterCopy { target: target?, barrier: barrier?, source });
        Ok(())
    }

    fn cluster_copy(&mut self, copy: ClusterCopy) {
        self.program.cluster_copies.push(copy);
        self.program.has_fences = true;
        self.program.orders_cluster = true;
        self.emit(Action::ClusterCopy(self.program.cluster_copies.len() as u32 - 1));
    }
}
