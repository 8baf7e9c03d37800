//! Measures from the simulator's counts. They are the same on every machine, and each is a reason why a kernel is fast or slow.
//!
//! Lessons compare stages by these, and the targets and predictions of exercises name them. The formula for each is here and nowhere else.

use serde::{Deserialize, Serialize};
use simt::Counters;

use crate::problem::{Arithmetic, Work};
use crate::units::{count, percent, significant};

const LANES: u64 = 32;

const PER_DP4A: u64 = 4;

/// Function that divides a count by the multiply-adds that the result needs.
type PerMultiplyAdd<'a> = &'a dyn Fn(u64) -> Option<f64>;

/// Defines all measures: the name in an `exercise.toml`, the unit for a reader, and the formula. `{piece}` in a unit is
/// [`Arithmetic::piece`].
macro_rules! measures {
    ($($(#[$doc:meta])* $measure:ident = $name:literal, $unit:literal, $formula:expr;)*) => {
        /// A quantity that the simulator counts. An `exercise.toml` uses the same names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Measure {
            $($(#[$doc])* #[serde(rename = $name)] $measure,)*
        }

        impl Measure {
            /// Returns the number; `None` where there is nothing to divide by, or where the GPU has no such thing.
            pub fn of(self, counters: &Counters, work: Work) -> Option<f64> {
                let formula: fn(&Counters, PerMultiplyAdd<'_>) -> Option<f64> = match self {
                    $(Measure::$measure => $formula,)*
                };
                formula(counters, &|part| ratio(part, work.multiply_adds))
            }

            /// Returns what is counted, as a phrase goes on after the number. Some counts are per piece of the work.
            pub fn unit(self, arithmetic: Arithmetic) -> String {
                let unit = match self {
                    $(Measure::$measure => $unit,)*
                };
                unit.replace("{piece}", arithmetic.piece())
            }
        }
    };
}

measures! {
    /// 32-byte sectors that a warp's load from global memory touches, on average.
    SectorsPerLoad = "sectors per load", "sectors per load", |c, _| c.sectors_per_load();
    /// 32-byte sectors that a warp's store to global memory touches, on average.
    SectorsPerStore = "sectors per store", "sectors per store", |c, _| ratio(c.global_store_sectors, c.global_store_requests);
    /// Sectors that all stores to global memory touch.
    SectorsStored = "sectors stored", "sectors stored to global memory", |c, _| total(c.global_store_sectors);
    /// Sectors that all loads from global memory touch.
    SectorsLoaded = "sectors loaded", "sectors loaded from global memory", |c, _| total(c.global_load_sectors);
    /// Bytes of all sectors that loads and stores touch, for each multiply-add.
    BytesPerMultiplyAdd = "bytes moved per multiply-add", "bytes moved per {piece}", |c, per| per(c.bytes_moved());
    /// Loads of a lane from global memory, for each multiply-add; a vector counts as one.
    GlobalLoadsPerMultiplyAdd = "global loads per multiply-add", "loads from global memory per {piece}",
        |c, per| per(LANES * c.global_load_requests);
    /// Loads and stores of warps in global memory.
    GlobalRequests = "global requests", "requests to global memory", |c, _| total(c.global_load_requests + c.global_store_requests);
    /// Loads of a lane from shared memory, for each multiply-add; a vector counts as one.
    SharedLoadsPerMultiplyAdd = "shared loads per multiply-add", "loads from shared memory per {piece}",
        |c, per| per(LANES * c.shared_load_requests);
    /// Loads and stores of warps in shared memory.
    SharedRequests = "shared requests", "requests to shared memory", |c, _| total(c.shared_load_requests + c.shared_store_requests);
    /// Wavefronts of a warp's load from shared memory, on average.
    WavefrontsPerSharedLoad = "wavefronts per shared load", "wavefronts per load from shared memory",
        |c, _| ratio(c.shared_load_wavefronts, c.shared_load_requests);
    /// Wavefronts of all loads and stores in shared memory, for each multiply-add of a whole warp.
    SharedWavefrontsPerWarpMultiplyAdd = "shared wavefronts per warp multiply-add", "shared-memory wavefronts per {piece} of a warp",
        |c, per| per(LANES * shared_wavefronts(c));
    /// Wavefronts in the banks that the L1 cache and shared memory have in common: of loads from global memory, and of loads and stores in
    /// shared memory. GPUs without an L1 cache have no such banks.
    BankWavefronts = "L1 and shared wavefronts", "wavefronts in L1 and shared memory", |c, _| {
        let has_l1 = c.global_load_requests == 0 || c.global_load_wavefronts > 0;
        has_l1.then_some((c.global_load_wavefronts + shared_wavefronts(c)) as f64)
    };
    /// Additional wavefronts in shared memory because of conflicts, of loads and stores together.
    BankConflicts = "bank conflicts", "bank conflicts", |c, _| total(c.bank_conflicts());
    /// Share of the wavefronts in shared memory that are bank conflicts.
    BankConflictShare = "share of bank conflicts", "bank conflicts among its shared-memory wavefronts",
        |c, _| ratio(c.bank_conflicts(), shared_wavefronts(c));
    /// PTX instructions of a lane, for each multiply-add.
    InstructionsPerMultiplyAdd = "PTX instructions per multiply-add", "PTX instructions per {piece}",
        |c, per| per(c.ptx_thread_instructions);
    /// PTX instructions of warps, for each multiply-add of a whole warp: a warp with one active lane spends as many as one with 32.
    WarpInstructionsPerWarpMultiplyAdd = "warp instructions per warp multiply-add", "PTX instructions of a warp per {piece} of a warp",
        |c, per| per(LANES * c.ptx_instructions);
    /// Branches of warps, for each multiply-add of a whole warp.
    BranchesPerWarpMultiplyAdd = "branches per warp multiply-add", "branches of a warp per {piece} of a warp",
        |c, per| per(LANES * c.branches);
    /// `dp4a` instructions of a lane, for each multiply-add.
    Dp4aPerMultiplyAdd = "dp4a per multiply-add", "dp4a instructions per {piece}", |c, per| per(c.dp4a);
    /// Multiply-adds that the kernels execute, on f32 and `dp4a` units and on tensor cores, for each one that the result needs.
    ExecutedPerMultiplyAdd = "executed multiply-adds per multiply-add", "executed multiply-adds per {piece} of the result",
        |c, per| per(c.f32_fma + PER_DP4A * c.dp4a + c.tensor_multiply_adds);
    /// Branches at which the lanes of a warp diverge.
    DivergentBranches = "divergent branches", "divergent branches", |c, _| total(c.divergent_branches);
    /// `__syncthreads()`, counted once per warp.
    Barriers = "barriers", "barriers", |c, _| total(c.barriers);
    /// Loads from and stores to local memory, of warps.
    LocalAccesses = "local memory accesses", "accesses to local memory", |c, _| total(c.local_requests);
    /// Atomic operations of warps, on global and on shared memory.
    AtomicOperations = "atomic operations", "atomic operations",
        |c, _| total(c.global_atomic_requests + c.shared_atomic_requests);
    /// Shuffles, votes and matches of warps.
    Exchanges = "exchanges", "exchanges between lanes", |c, _| total(c.warp_exchanges);
    /// Atomic operations of warps on global memory, for which all blocks compete.
    GlobalAtomicOperations = "atomic operations in global memory", "atomic operations in global memory",
        |c, _| total(c.global_atomic_requests);
}

fn total(count: u64) -> Option<f64> {
    Some(count as f64)
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn shared_wavefronts(counters: &Counters) -> u64 {
    counters.shared_load_wavefronts + counters.shared_store_wavefronts
}

impl Measure {
    /// Returns true if less of it is always better: it is no average, which a kernel can lower by more of what it divides by.
    pub fn is_cost(self) -> bool {
        !matches!(
            self,
            Measure::SectorsPerLoad | Measure::SectorsPerStore | Measure::WavefrontsPerSharedLoad | Measure::BankConflictShare
        )
    }

    /// Returns true for a count of all work, which grows with it.
    pub fn is_total(self) -> bool {
        matches!(
            self,
            Measure::SectorsStored
                | Measure::SectorsLoaded
                | Measure::GlobalRequests
                | Measure::SharedRequests
                | Measure::BankWavefronts
                | Measure::BankConflicts
                | Measure::DivergentBranches
                | Measure::Barriers
                | Measure::LocalAccesses
                | Measure::AtomicOperations
                | Measure::GlobalAtomicOperations
                | Measure::Exchanges
        )
    }

    /// Returns the number by itself, for example `4.50`, `1.05 M`, `72.7 %`.
    pub fn number(self, value: f64) -> String {
        match self {
            Measure::BankConflictShare => percent(value),
            _ if value.fract() == 0.0 => count(value as u64),
            _ => significant(value),
        }
    }

    /// Returns the number with its unit, for example `4.50 sectors per load`. It continues a sentence after "it has".
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

    /// Checks that no cost falls when a kernel needs more of something. Bank conflicts rise, too, where the same wavefronts would have
    /// done without.
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
