//! Measures from the simulator's counts. They are the same on every machine, and each is a reason why a kernel is fast or slow.
//!
//! Lessons compare stages by these, and the targets and predictions of exercises name them. The formula for each is here and nowhere else.

use serde::{Deserialize, Serialize};
use simt::Counters;

use crate::problem::{Arithmetic, Work};
use crate::units::{count, percent, significant};

/// Lanes of a warp.
const LANES: u64 = 32;

/// Multiply-adds of one `dp4a`.
const PER_DP4A: u64 = 4;

/// A quantity that the simulator counts. An `exercise.toml` uses the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// 32-byte sectors that a warp's load from global memory touches, on average.
    #[serde(rename = "sectors per load")]
    SectorsPerLoad,
    /// 32-byte sectors that a warp's store to global memory touches, on average.
    #[serde(rename = "sectors per store")]
    SectorsPerStore,
    /// Sectors that all stores to global memory touch.
    #[serde(rename = "sectors stored")]
    SectorsStored,
    /// Sectors that all loads from global memory touch.
    #[serde(rename = "sectors loaded")]
    SectorsLoaded,
    /// Bytes of all sectors that loads and stores touch, for each multiply-add.
    #[serde(rename = "bytes moved per multiply-add")]
    BytesPerMultiplyAdd,
    /// Loads of a lane from global memory, for each multiply-add; a vector counts as one.
    #[serde(rename = "global loads per multiply-add")]
    GlobalLoadsPerMultiplyAdd,
    /// Loads and stores of warps in global memory.
    #[serde(rename = "global requests")]
    GlobalRequests,
    /// Loads of a lane from shared memory, for each multiply-add; a vector counts as one.
    #[serde(rename = "shared loads per multiply-add")]
    SharedLoadsPerMultiplyAdd,
    /// Loads and stores of warps in shared memory.
    #[serde(rename = "shared requests")]
    SharedRequests,
    /// Wavefronts of a warp's load from shared memory, on average.
    #[serde(rename = "wavefronts per shared load")]
    WavefrontsPerSharedLoad,
    /// Wavefronts of all loads and stores in shared memory, for each multiply-add of a whole warp.
    #[serde(rename = "shared wavefronts per warp multiply-add")]
    SharedWavefrontsPerWarpMultiplyAdd,
    /// Wavefronts in the banks that the L1 cache and shared memory have in common: of loads from global memory, and of loads and stores in
    /// shared memory. GPUs without an L1 cache have no such banks.
    #[serde(rename = "L1 and shared wavefronts")]
    BankWavefronts,
    /// Additional wavefronts in shared memory because of conflicts, of loads and stores together.
    #[serde(rename = "bank conflicts")]
    BankConflicts,
    /// The share of the wavefronts in shared memory that are bank conflicts.
    #[serde(rename = "share of bank conflicts")]
    BankConflictShare,
    /// PTX instructions of a lane, for each multiply-add.
    #[serde(rename = "PTX instructions per multiply-add")]
    InstructionsPerMultiplyAdd,
    /// PTX instructions of warps, for each multiply-add of a whole warp: a warp with one active lane spends as many as one with 32.
    #[serde(rename = "warp instructions per warp multiply-add")]
    WarpInstructionsPerWarpMultiplyAdd,
    /// Branches of warps, for each multiply-add of a whole warp.
    #[serde(rename = "branches per warp multiply-add")]
    BranchesPerWarpMultiplyAdd,
    /// `dp4a` instructions of a lane, for each multiply-add.
    #[serde(rename = "dp4a per multiply-add")]
    Dp4aPerMultiplyAdd,
    /// Multiply-adds that the kernels execute, on f32 and `dp4a` units and on tensor cores, for each one that the result needs.
    #[serde(rename = "executed multiply-adds per multiply-add")]
    ExecutedPerMultiplyAdd,
    /// Branches at which the lanes of a warp diverge.
    #[serde(rename = "divergent branches")]
    DivergentBranches,
    /// `__syncthreads()`, counted once per warp.
    #[serde(rename = "barriers")]
    Barriers,
    /// Loads from and stores to local memory, of warps.
    #[serde(rename = "local memory accesses")]
    LocalAccesses,
    /// Atomic operations of warps, on global and on shared memory.
    #[serde(rename = "atomic operations")]
    AtomicOperations,
    /// Atomic operations of warps on global memory, for which all blocks compete.
    #[serde(rename = "atomic operations in global memory")]
    GlobalAtomicOperations,
}

impl Measure {
    /// The number; `None` where there is nothing to divide by, or where the GPU has no such thing.
    pub fn of(self, counters: &Counters, work: Work) -> Option<f64> {
        let c = counters;
        let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let per_multiply_add = |part: u64| ratio(part, work.multiply_adds);
        let shared_wavefronts = c.shared_load_wavefronts + c.shared_store_wavefronts;
        match self {
            Measure::SectorsPerLoad => c.sectors_per_load(),
            Measure::SectorsPerStore => ratio(c.global_store_sectors, c.global_store_requests),
            Measure::SectorsStored => Some(c.global_store_sectors as f64),
            Measure::SectorsLoaded => Some(c.global_load_sectors as f64),
            Measure::BytesPerMultiplyAdd => per_multiply_add(c.bytes_moved()),
            Measure::GlobalLoadsPerMultiplyAdd => per_multiply_add(LANES * c.global_load_requests),
            Measure::GlobalRequests => Some((c.global_load_requests + c.global_store_requests) as f64),
            Measure::SharedLoadsPerMultiplyAdd => per_multiply_add(LANES * c.shared_load_requests),
            Measure::SharedRequests => Some((c.shared_load_requests + c.shared_store_requests) as f64),
            Measure::WavefrontsPerSharedLoad => ratio(c.shared_load_wavefronts, c.shared_load_requests),
            Measure::SharedWavefrontsPerWarpMultiplyAdd => per_multiply_add(LANES * shared_wavefronts),
            Measure::BankWavefronts => {
                let has_l1 = c.global_load_requests == 0 || c.global_load_wavefronts > 0;
                has_l1.then_some((c.global_load_wavefronts + shared_wavefronts) as f64)
            }
            Measure::BankConflicts => Some(c.bank_conflicts() as f64),
            Measure::BankConflictShare => ratio(c.bank_conflicts(), shared_wavefronts),
            Measure::InstructionsPerMultiplyAdd => per_multiply_add(c.ptx_thread_instructions),
            Measure::WarpInstructionsPerWarpMultiplyAdd => per_multiply_add(LANES * c.ptx_instructions),
            Measure::BranchesPerWarpMultiplyAdd => per_multiply_add(LANES * c.branches),
            Measure::Dp4aPerMultiplyAdd => per_multiply_add(c.dp4a),
            Measure::ExecutedPerMultiplyAdd => per_multiply_add(c.f32_fma + PER_DP4A * c.dp4a + c.tensor_multiply_adds),
            Measure::DivergentBranches => Some(c.divergent_branches as f64),
            Measure::Barriers => Some(c.barriers as f64),
            Measure::LocalAccesses => Some(c.local_requests as f64),
            Measure::AtomicOperations => Some((c.global_atomic_requests + c.shared_atomic_requests) as f64),
            Measure::GlobalAtomicOperations => Some(c.global_atomic_requests as f64),
        }
    }

    /// Whether less of it is always better: it is no average, which a kernel can lower by more of what it divides by.
    pub fn is_cost(self) -> bool {
        !matches!(
            self,
            Measure::SectorsPerLoad | Measure::SectorsPerStore | Measure::WavefrontsPerSharedLoad | Measure::BankConflictShare
        )
    }

    /// The number by itself, for example `4.50`, `1.05 M`, `72.7 %`.
    pub fn number(self, value: f64) -> String {
        match self {
            Measure::BankConflictShare => percent(value),
            _ if value.fract() == 0.0 => count(value as u64),
            _ => significant(value),
        }
    }

    /// What is counted, as a phrase goes on after the number; `piece` is what some counts are divided by, see [`Arithmetic::piece`].
    pub fn unit(self, arithmetic: Arithmetic) -> String {
        let piece = arithmetic.piece();
        match self {
            Measure::SectorsPerLoad => "sectors per load".to_owned(),
            Measure::SectorsPerStore => "sectors per store".to_owned(),
            Measure::SectorsStored => "sectors stored to global memory".to_owned(),
            Measure::SectorsLoaded => "sectors loaded from global memory".to_owned(),
            Measure::BytesPerMultiplyAdd => format!("bytes moved per {piece}"),
            Measure::GlobalLoadsPerMultiplyAdd => format!("loads from global memory per {piece}"),
            Measure::GlobalRequests => "requests to global memory".to_owned(),
            Measure::SharedLoadsPerMultiplyAdd => format!("loads from shared memory per {piece}"),
            Measure::SharedRequests => "requests to shared memory".to_owned(),
            Measure::WavefrontsPerSharedLoad => "wavefronts per load from shared memory".to_owned(),
            Measure::SharedWavefrontsPerWarpMultiplyAdd => format!("shared-memory wavefronts per {piece} of a warp"),
            Measure::BankWavefronts => "wavefronts in L1 and shared memory".to_owned(),
            Measure::BankConflicts => "bank conflicts".to_owned(),
            Measure::BankConflictShare => "bank conflicts among its shared-memory wavefronts".to_owned(),
            Measure::InstructionsPerMultiplyAdd => format!("PTX instructions per {piece}"),
            Measure::WarpInstructionsPerWarpMultiplyAdd => format!("PTX instructions of a warp per {piece} of a warp"),
            Measure::BranchesPerWarpMultiplyAdd => format!("branches of a warp per {piece} of a warp"),
            Measure::Dp4aPerMultiplyAdd => format!("dp4a instructions per {piece}"),
            Measure::ExecutedPerMultiplyAdd => format!("executed multiply-adds per {piece} of the result"),
            Measure::DivergentBranches => "divergent branches".to_owned(),
            Measure::Barriers => "barriers".to_owned(),
            Measure::LocalAccesses => "accesses to local memory".to_owned(),
            Measure::AtomicOperations => "atomic operations".to_owned(),
            Measure::GlobalAtomicOperations => "atomic operations in global memory".to_owned(),
        }
    }

    /// The number with its unit, for example `4.50 sectors per load`, as a sentence goes on after "it has".
    pub fn words(self, value: f64, arithmetic: Arithmetic) -> String {
        format!("{} {}", self.number(value), self.unit(arithmetic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Work = Work { multiply_adds: 160, bytes: 0, arithmetic: Arithmetic::F32 };

    #[test]
    fn a_measure_is_a_ratio_of_counts() {
        let counters = Counters {
            global_load_requests: 10,
            global_load_sectors: 45,
            global_load_wavefronts: 20,
            global_store_sectors: 5,
            f32_fma: 200,
            dp4a: 10,
            tensor_multiply_adds: 160,
            ..Counters::default()
        };
        for (measure, words) in [
            (Measure::SectorsPerLoad, "4.50 sectors per load"),
            (Measure::SectorsLoaded, "45 sectors loaded from global memory"),
            (Measure::BytesPerMultiplyAdd, "10 bytes moved per multiply-add"),
            (Measure::GlobalLoadsPerMultiplyAdd, "2 loads from global memory per multiply-add"),
            (Measure::BankWavefronts, "20 wavefronts in L1 and shared memory"),
            (Measure::BankConflicts, "0 bank conflicts"),
            (Measure::ExecutedPerMultiplyAdd, "2.50 executed multiply-adds per multiply-add of the result"),
        ] {
            assert_eq!(measure.words(measure.of(&counters, WORK).unwrap(), WORK.arithmetic), words);
        }
        for measure in [Measure::WavefrontsPerSharedLoad, Measure::BankConflictShare] {
            assert_eq!(measure.of(&counters, WORK), None, "there is no load from shared memory");
        }
    }

    /// A kernel that needs more of something never has less of a cost. Of bank conflicts there are more, too, where the same wavefronts would
    /// have done without.
    #[test]
    fn no_count_lowers_a_cost() {
        let costs = [
            "sectors stored",
            "sectors loaded",
            "bytes moved per multiply-add",
            "global loads per multiply-add",
            "global requests",
            "shared loads per multiply-add",
            "shared requests",
            "shared wavefronts per warp multiply-add",
            "PTX instructions per multiply-add",
            "warp instructions per warp multiply-add",
            "branches per warp multiply-add",
            "executed multiply-adds per multiply-add",
            "barriers",
            "local memory accesses",
            "atomic operations",
            "atomic operations in global memory",
        ];
        let Ok(serde_json::Value::Object(counts)) = serde_json::to_value(Counters::default()) else {
            panic!("counters are an object")
        };
        for name in costs {
            let measure: Measure = serde_json::from_value(name.into()).unwrap();
            assert!(measure.is_cost(), "{name}");
            let base = measure.of(&Counters::default(), WORK).unwrap();
            let mut raised_it = false;
            for count in counts.keys() {
                let mut more = counts.clone();
                more.insert(count.clone(), 320.into());
                let more: Counters = serde_json::from_value(more.into()).unwrap();
                let raised = measure.of(&more, WORK).unwrap();
                assert!(raised >= base, "{name}: more of {count} lowers it");
                raised_it |= raised > base;
            }
            assert!(raised_it, "{name} counts nothing");
        }
    }

    #[test]
    fn shared_memory_is_measured_in_wavefronts_of_loads_and_stores() {
        let counters = Counters {
            shared_load_requests: 4,
            shared_load_wavefronts: 16,
            shared_load_wavefronts_ideal: 4,
            shared_store_requests: 1,
            shared_store_wavefronts: 4,
            shared_store_wavefronts_ideal: 1,
            ..Counters::default()
        };
        for (measure, words) in [
            (Measure::SharedRequests, "5 requests to shared memory"),
            (Measure::WavefrontsPerSharedLoad, "4 wavefronts per load from shared memory"),
            (Measure::SharedWavefrontsPerWarpMultiplyAdd, "4 shared-memory wavefronts per multiply-add of a warp"),
            (Measure::BankConflicts, "15 bank conflicts"),
            (Measure::BankConflictShare, "75.0 % bank conflicts among its shared-memory wavefronts"),
        ] {
            assert_eq!(measure.words(measure.of(&counters, WORK).unwrap(), WORK.arithmetic), words);
        }
    }

    #[test]
    fn a_gpu_without_an_l1_cache_has_no_wavefronts_there() {
        let without_l1 = Counters { global_load_requests: 10, shared_load_wavefronts: 5, ..Counters::default() };
        assert_eq!(Measure::BankWavefronts.of(&without_l1, WORK), None);
    }
}
