//! The counts that targets and predictions use, by name. They are the same on every machine, and each explains a kernel's speed.

use common::units::significant;
use common::workload::{Arithmetic, Work};
use serde::Deserialize;
use simt::Counters;

/// Lanes of a warp.
const LANES: u64 = 32;

/// Something that the simulator counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Measure {
    /// 32-byte sectors that a warp's load from global memory touches, on average.
    #[serde(rename = "sectors per load")]
    SectorsPerLoad,
    /// The same for stores.
    #[serde(rename = "sectors per store")]
    SectorsPerStore,
    /// Bytes in all sectors that loads and stores touch, per multiply-add.
    #[serde(rename = "bytes moved per multiply-add")]
    BytesPerMultiplyAdd,
    /// A lane's loads from global memory per multiply-add. A vector load counts once.
    #[serde(rename = "global loads per multiply-add")]
    GlobalLoadsPerMultiplyAdd,
    /// A lane's loads from shared memory per multiply-add. A vector load counts once.
    #[serde(rename = "shared loads per multiply-add")]
    SharedLoadsPerMultiplyAdd,
    /// Wavefronts that a warp's load from shared memory takes, on average.
    #[serde(rename = "passes per shared load")]
    WavefrontsPerSharedLoad,
    /// Wavefronts beyond the conflict-free minimum, loads and stores together.
    #[serde(rename = "bank conflicts")]
    BankConflicts,
    /// A lane's PTX instructions per multiply-add.
    #[serde(rename = "PTX instructions per multiply-add")]
    InstructionsPerMultiplyAdd,
    /// Branches at which the lanes of a warp diverge.
    #[serde(rename = "divergent branches")]
    DivergentBranches,
    /// Executions of `__syncthreads()` by warps.
    #[serde(rename = "barriers")]
    Barriers,
    /// Loads from and stores to local memory by warps.
    #[serde(rename = "local memory accesses")]
    LocalAccesses,
}

impl Measure {
    /// The count; `None` if there is nothing to divide by.
    pub fn of(self, counters: &Counters, work: Work) -> Option<f64> {
        let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let per_multiply_add = |part: u64| ratio(part, work.multiply_adds);
        match self {
            Measure::SectorsPerLoad => counters.sectors_per_load(),
            Measure::SectorsPerStore => ratio(counters.global_store_sectors, counters.global_store_requests),
            Measure::BytesPerMultiplyAdd => per_multiply_add(counters.bytes_moved()),
            Measure::GlobalLoadsPerMultiplyAdd => per_multiply_add(LANES * counters.global_load_requests),
            Measure::SharedLoadsPerMultiplyAdd => per_multiply_add(LANES * counters.shared_load_requests),
            Measure::WavefrontsPerSharedLoad => ratio(counters.shared_load_wavefronts, counters.shared_load_requests),
            Measure::BankConflicts => Some(counters.bank_conflicts() as f64),
            Measure::InstructionsPerMultiplyAdd => per_multiply_add(counters.ptx_thread_instructions),
            Measure::DivergentBranches => Some(counters.divergent_branches as f64),
            Measure::Barriers => Some(counters.barriers as f64),
            Measure::LocalAccesses => Some(counters.local_requests as f64),
        }
    }

    /// The count in words that complete "it has …". Some are per multiply-add, or per pixel.
    pub fn words(self, value: f64, arithmetic: Arithmetic) -> String {
        let piece = arithmetic.piece();
        let number = if value.fract() == 0.0 { format!("{value:.0}") } else { significant(value) };
        match self {
            Measure::SectorsPerLoad => format!("{number} sectors per load"),
            Measure::SectorsPerStore => format!("{number} sectors per store"),
            Measure::BytesPerMultiplyAdd => format!("{number} bytes moved per {piece}"),
            Measure::GlobalLoadsPerMultiplyAdd => format!("{number} loads from global memory per {piece}"),
            Measure::SharedLoadsPerMultiplyAdd => format!("{number} loads from shared memory per {piece}"),
            Measure::WavefrontsPerSharedLoad => format!("{number} wavefronts per load from shared memory"),
            Measure::BankConflicts => format!("{number} bank conflicts"),
            Measure::InstructionsPerMultiplyAdd => format!("{number} PTX instructions per {piece}"),
            Measure::DivergentBranches => format!("{number} divergent branches"),
            Measure::Barriers => format!("{number} barriers"),
            Measure::LocalAccesses => format!("{number} accesses to local memory"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_a_ratio_of_counts() {
        let counters =
            Counters { global_load_requests: 10, global_load_sectors: 45, global_store_sectors: 5, ..Counters::default() };
        let work = Work { multiply_adds: 160, bytes: 0, arithmetic: Arithmetic::F32 };
        for (measure, words) in [
            (Measure::SectorsPerLoad, "4.50 sectors per load"),
            (Measure::BytesPerMultiplyAdd, "10 bytes moved per multiply-add"),
            (Measure::GlobalLoadsPerMultiplyAdd, "2 loads from global memory per multiply-add"),
            (Measure::BankConflicts, "0 bank conflicts"),
        ] {
            assert_eq!(measure.words(measure.of(&counters, work).unwrap(), work.arithmetic), words);
        }
        assert_eq!(Measure::WavefrontsPerSharedLoad.of(&counters, work), None, "nothing loads from shared memory");
    }
}
