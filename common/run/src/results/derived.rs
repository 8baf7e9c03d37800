//! The numbers that follow from a record: rates, shares of a ceiling, counts per piece of work. The table, the lessons and the book show them.

use std::fmt;

use crate::device::gpu::DeviceKind;
use crate::results::record::{Record, StageRecord};
use crate::results::report::Place;
use crate::workload::{Arithmetic, Work};
use crate::{Stage, Workload, units};

/// Work per second, in the unit that fits the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Floating-point operations; a multiply-add counts as two.
    Flops(f64),
    /// Multiply-adds of other numbers.
    MultiplyAdds(f64),
    /// Bytes that are read or written.
    Bytes(f64),
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match *self {
            Rate::Flops(per_s) => units::flops(per_s),
            Rate::MultiplyAdds(per_s) => units::multiply_adds(per_s),
            Rate::Bytes(per_s) => units::bandwidth(per_s),
        })
    }
}

impl Record {
    /// Returns the row of a stage; `None` when it was not run.
    pub fn stage<W: Workload>(&self, stage: &Stage<W>) -> Option<&StageRecord> {
        self.stages.iter().find(|row| row.name == stage.name)
    }

    /// Returns how fast a stage does the least work of the computation. `None` without a time, and on the simulator, where only the
    /// CPU has times.
    pub fn rate(&self, stage: &StageRecord) -> Option<Rate> {
        if self.device.kind == DeviceKind::Sim {
            return None;
        }
        let seconds = stage.median_ms? / 1e3;
        let Work { multiply_adds, bytes, arithmetic } = self.work_of(stage);
        let (multiply_adds, bytes) = (multiply_adds as f64 / seconds, bytes as f64 / seconds);
        Some(match (stage.place, arithmetic) {
            (Place::Between, _) | (_, Arithmetic::Integers) => Rate::Bytes(bytes),
            (_, Arithmetic::F32 | Arithmetic::Bf16) => Rate::Flops(2.0 * multiply_adds),
            (_, Arithmetic::Bytes) => Rate::MultiplyAdds(multiply_adds),
        })
    }

    /// Returns the share of the nearer ceiling, and its name: arithmetic, or memory if every byte moved only once.
    pub fn share_of_ceiling(&self, stage: &StageRecord) -> Option<(f64, &'static str)> {
        let (seconds, ceilings) = (stage.median_ms? / 1e3, self.ceilings?);
        if stage.place != Place::Device {
            return None;
        }
        let Work { multiply_adds, bytes, arithmetic } = self.work_of(stage);
        let memory = bytes as f64 / seconds / ceilings.bytes_per_s;
        if arithmetic == Arithmetic::Bf16 {
            // The rate of tensor cores depends on the numbers, because power does: a rival in the same run says more.
            return None;
        }
        let of_arithmetic = ceilings.multiply_adds(arithmetic).map_or(0.0, |ceiling| multiply_adds as f64 / seconds / ceiling);
        Some(if of_arithmetic >= memory { (of_arithmetic, arithmetic.ceiling()) } else { (memory, "memory") })
    }

    /// Returns a count per multiply-add, or per other piece of the workload; see [`Arithmetic::piece`].
    pub fn per_multiply_add(&self, count: u64) -> f64 {
        count as f64 / self.work().multiply_adds as f64
    }
}
