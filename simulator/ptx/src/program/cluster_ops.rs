//! Decodes what clusters of blocks need: addresses in the shared memory of other blocks, copies and stores to it, the barrier of the
//! cluster, and `setmaxnreg`.
//!
//! The shared memories of a cluster are parts of one memory. A block's part starts at its rank times a power of two, so that an address
//! says whose memory it is in. That is how a GPU does it as well, with other numbers.

use super::code::{Action, ConstantValue, Special};
use super::decode::Decoder;
use super::fixed::SINK;
use super::memory_ops::lanes;
use super::operands::Form::{Read, Write};
use super::operations::{ClusterCopy, ClusterSource};
use crate::error::{LoadError, syntax};
use crate::finding::Space;
use crate::syntax::ast::{Instruction, Operand};
use alu::Alu;
use alu::registers::{Kind, Reg};
use alu::windows::{SHARED_WINDOW, WINDOW_OFFSET};

impl<'t> Decoder<'_, 't> {
    /// `mapa{.shared::cluster}.type d, a, rank`: the place of `a` in the shared memory of another block.
    pub(super) fn map_to_block(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let (generic, kind) = self.cluster_address(instruction)?;
        let forms = [Write(kind), Read(kind), Read(Kind::Word)];
        let [destination, address, rank] = self.registers(&instruction.operands, forms)?;
        let address = self.as_double(address, kind);
        let rank = self.as_double(rank, Kind::Word);
        let shift = self.special(Special::SharedShift, Kind::Word);
        // The offset in a block's part: the low bits, by clearing the others.
        let [above, start, offset, mapped] = [(); 4].map(|()| self.take_rows(Kind::Double));
        self.alu(Alu::ShrU64, above, &[address, shift]);
        self.alu(Alu::Shl64, above, &[above, shift]);
        self.alu(Alu::Xor64, offset, &[address, above]);
        self.alu(Alu::Shl64, start, &[rank, shift]);
        self.alu(Alu::Or64, mapped, &[start, offset]);
        if generic {
            let window = self.constant(ConstantValue::Bits(SHARED_WINDOW), Kind::Double);
            self.alu(Alu::Or64, mapped, &[mapped, window]);
        }
        self.move_double(destination, kind, mapped);
        Ok(())
    }

    /// `getctarank{.shared::cluster}.type d, a`: the rank of the block whose shared memory holds an address.
    pub(super) fn rank_of_address(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let (_, kind) = self.cluster_address(instruction)?;
        let [destination, address] = self.registers(&instruction.operands, [Write(Kind::Word), Read(kind)])?;
        let address = self.as_double(address, kind);
        let shift = self.special(Special::SharedShift, Kind::Word);
        let in_window = self.constant(ConstantValue::Bits(WINDOW_OFFSET), Kind::Double);
        let rank = self.take_rows(Kind::Double);
        self.alu(Alu::And64, rank, &[address, in_window]);
        self.alu(Alu::ShrU64, rank, &[rank, shift]);
        self.alu(Alu::CvtB32FromU64, destination, &[rank]);
        Ok(())
    }

    /// `isspacep.shared{::cta} p, a`: whether a generic address is in the shared memory of the block itself.
    pub(super) fn is_own_shared(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let [destination, address] = self.registers(&instruction.operands, [Write(Kind::Predicate), Read(Kind::Double)])?;
        let own = self.special(Special::SharedBase, Kind::Double);
        let shift = self.special(Special::SharedShift, Kind::Word);
        let window = self.constant(ConstantValue::Bits(SHARED_WINDOW), Kind::Double);
        let [start, part] = [(); 2].map(|()| self.take_rows(Kind::Double));
        self.alu(Alu::Or64, start, &[own, window]);
        self.alu(Alu::ShrU64, part, &[address, shift]);
        self.alu(Alu::Shl64, part, &[part, shift]);
        self.alu(Alu::SetpEq64, destination, &[part, start]);
        Ok(())
    }

    /// Reads the opcode of a `mapa` or `getctarank`. Returns true if the address is generic, and its kind.
    fn cluster_address(&self, instruction: &Instruction<'t>) -> Result<(bool, Kind), LoadError> {
        self.requires((9, 0))?;
        let mut parts = instruction.opcode.split('.').skip(1);
        match (parts.next(), parts.next(), parts.next()) {
            (Some("u32"), None, None) => Ok((true, Kind::Word)),
            (Some("u64"), None, None) => Ok((true, Kind::Double)),
            (Some("shared::cluster"), Some("u32"), None) => Ok((false, Kind::Word)),
            (Some("shared::cluster"), Some("u64"), None) => Ok((false, Kind::Double)),
            _ => Err(self.unknown()),
        }
    }

    fn as_double(&mut self, source: Reg, kind: Kind) -> Reg {
        if kind == Kind::Double {
            return source;
        }
        let wide = self.take_rows(Kind::Double);
        self.alu(Alu::CvtB64FromU32, wide, &[source]);
        wide
    }

    fn move_double(&mut self, destination: Reg, kind: Kind, value: Reg) {
        self.alu(if kind == Kind::Double { Alu::Mov64 } else { Alu::CvtB32FromU64 }, destination, &[value]);
    }

    /// `barrier.cluster.arrive{.release,.relaxed}{.aligned}` and `barrier.cluster.wait{.acquire}{.aligned}`
    pub(super) fn cluster_barrier(&mut self, instruction: &Instruction<'t>) -> Result<Action, LoadError> {
        self.requires((9, 0))?;
        let [] = instruction.operands.as_slice() else { return Err(self.unfit()) };
        let aligned = instruction.has("aligned");
        let parts = instruction.opcode.split('.').skip(2).filter(|part| *part != "aligned");
        let action = match parts.collect::<Vec<_>>()[..] {
            ["arrive"] | ["arrive", "release"] => Action::ClusterArrive { releases: true, aligned },
            ["arrive", "relaxed"] => Action::ClusterArrive { releases: false, aligned },
            ["wait"] | ["wait", "acquire"] => Action::ClusterWait { acquires: true, aligned },
            _ => return Err(self.unknown()),
        };
        self.program.has_cluster_barrier = true;
        self.program.has_fences = true;
        self.program.orders_cluster = true;
        Ok(action)
    }

    /// `setmaxnreg.inc.sync.aligned.u32 count` and `.dec`
    pub(super) fn set_registers(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        self.requires((9, 0))?;
        let grows = match instruction.opcode {
            "setmaxnreg.inc.sync.aligned.u32" => true,
            "setmaxnreg.dec.sync.aligned.u32" => false,
            _ => return Err(self.unknown()),
        };
        let [Operand::Integer(count)] = instruction.operands.as_slice() else { return Err(self.unfit()) };
        if !(24..=256).contains(count) || !count.is_multiple_of(8) {
            let message = format!("{} {count}: the number of registers must be a multiple of 8 from 24 to 256", instruction.opcode);
            return Err(syntax(instruction.line, message));
        }
        self.program.moves_registers = true;
        self.emit(Action::SetRegisters { count: *count as u32, grows });
        Ok(())
    }

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
        self.elements(value, count as usize, Read(kind), &mut registers)?;
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
