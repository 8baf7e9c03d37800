//! Decodes barriers in shared memory: `mbarrier`.

use super::code::{Action, ConstantValue};
use super::decode::Decoder;
use super::fixed::SINK;
use super::operands::Form::{Read, Write};
use super::operations::{Address, Mbarrier, MbarrierOp, Phase};
use crate::error::LoadError;
use crate::finding::Space;
use crate::syntax::ast::{Instruction, Operand};
use alu::Alu;
use alu::registers::Kind;

impl<'m, 't> Decoder<'m, 't> {
    pub(super) fn mbarrier_instruction(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let rest = instruction.opcode.strip_prefix("mbarrier.").and_then(|rest| rest.strip_suffix(".b64"));
        let rest = rest.ok_or_else(|| self.unknown())?;
        let (name, modifiers) = rest.split_once('.').unwrap_or((rest, ""));
        let modifiers: Vec<&str> = modifiers.split('.').filter(|part| !part.is_empty()).collect();
        // A thread waits for barriers of its own block, and initializes those.
        let fits = |modifier: &&str| {
            matches!(
                (*modifier, name),
                ("shared" | "shared::cta" | "cta" | "cluster", _)
                    | ("shared::cluster", "arrive" | "arrive_drop" | "expect_tx" | "complete_tx")
                    | ("expect_tx" | "noComplete" | "release", "arrive" | "arrive_drop")
                    | ("parity" | "acquire", "test_wait" | "try_wait")
                    | ("relaxed", "arrive" | "arrive_drop" | "test_wait" | "try_wait" | "expect_tx" | "complete_tx")
            )
        };
        if !modifiers.iter().all(fits) {
            return Err(self.unknown());
        }
        let has = |modifier| modifiers.contains(&modifier);
        let orders = !has("relaxed");
        let (expects, ends_none, of_parity, of_cluster) =
            (has("expect_tx"), has("noComplete"), has("parity"), has("shared::cluster"));
        let space = (has("shared") || has("shared::cta") || of_cluster).then_some(Space::Shared);
        let of_hopper = expects || has("relaxed") || of_cluster || matches!(name, "try_wait" | "expect_tx" | "complete_tx");
        self.requires(if of_hopper { (9, 0) } else { (8, 0) })?;
        let (place, op) = match (name, instruction.operands.as_slice()) {
            // The token has the bits of the barrier.
            ("pending_count", operands) => {
                let [count, state] = self.registers(operands, [Write(Kind::Word), Read(Kind::Double)])?;
                let [first, bits] = [22, 20].map(|number| self.constant(ConstantValue::Bits(number), Kind::Word));
                let field = self.take_rows(Kind::Double);
                self.alu(Alu::BfeU64, field, &[state, first, bits]);
                self.alu(Alu::CvtB32FromU64, count, &[field]);
                return Ok(());
            }
            ("init", [place, count]) => (place, MbarrierOp::Init { count: self.source(count, Kind::Word)? }),
            ("inval", [place]) => (place, MbarrierOp::Invalidate),
            ("expect_tx" | "complete_tx", [place, bytes]) => {
                let bytes = self.source(bytes, Kind::Word)?;
                (place, MbarrierOp::Expect { bytes, arrived: name == "complete_tx" })
            }
            ("arrive" | "arrive_drop", [state, place, operands @ ..]) => {
                let state = match state {
                    Operand::Name("_") => SINK,
                    // Another block's barrier tells nothing.
                    _ if of_cluster => return Err(self.unfit()),
                    state => self.destination(state, Kind::Double)?,
                };
                let operand = match operands {
                    [] if !expects && !ends_none => None,
                    [operand] => Some(self.source(operand, Kind::Word)?),
                    _ => return Err(self.unfit()),
                };
                let (count, bytes) = if expects { (None, operand) } else { (operand, None) };
                (place, MbarrierOp::Arrive { state, count, bytes, drops: name == "arrive_drop", ends_none, releases: orders })
            }
            // A time limit may follow, after which the wait returns false.
            ("test_wait", [done, place, phase]) | ("try_wait", [done, place, phase] | [done, place, phase, _]) => {
                let done = self.destination(done, Kind::Predicate)?;
                let phase = if of_parity {
                    Phase::Parity(self.source(phase, Kind::Word)?)
                } else {
                    Phase::State(self.source(phase, Kind::Double)?)
                };
                (place, MbarrierOp::Test { done, phase, acquires: orders })
            }
            ("init" | "inval" | "expect_tx" | "complete_tx" | "arrive" | "arrive_drop" | "test_wait" | "try_wait", _) => {
                return Err(self.unfit());
            }
            _ => return Err(self.unknown()),
        };
        let address = self.in_shared(place, space)?;
        self.program.orders_cluster |= of_cluster;
        self.mbarrier(address, op);
        Ok(())
    }

    fn mbarrier(&mut self, address: Address, op: MbarrierOp) {
        self.program.mbarriers.push(Mbarrier { address, op });
        // Arrivals and waits order accesses of the block's threads.
        self.program.has_fences = true;
        self.emit(Action::Mbarrier(self.program.mbarriers.len() as u32 - 1));
    }

    /// `cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [barrier]`: arrives when the thread's copies are finished. Without `.noinc` the phase first expects one arrival more, so that nothing is left to count.
    pub(super) fn arrive_after_copies(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let (mut counts, mut space) = (false, None);
        for part in instruction.opcode.split('.').skip(4) {
            match part {
                "noinc" => counts = true,
                "shared" | "shared::cta" => space = Some(Space::Shared),
                "b64" => {}
                _ => return Err(self.unknown()),
            }
        }
        self.requires((8, 0))?;
        let [place] = self.exactly(&instruction.operands)?;
        let address = self.in_shared(place, space)?;
        self.mbarrier(address, MbarrierOp::AfterCopies { counts });
        Ok(())
    }

    /// Decodes an address in shared memory. The modifier that says so may be missing.
    pub(super) fn in_shared(&mut self, place: &Operand<'t>, space: Option<Space>) -> Result<Address, LoadError> {
        Ok(self.address(place, space)?.1)
    }
}
