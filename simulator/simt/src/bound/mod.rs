//! The least time that a launch needs on a GPU, and the bottleneck that sets it.
//!
//! From the counts and the rates of a chip, each unit of the chip gets the least time for its share of the work. The longest of
//! these times bounds the launch from below, whatever the order of the instructions and however well latency is hidden. It is a
//! bound, not an estimate: a kernel may take much longer because it waits.
//!
//! # What counts
//!
//! A GPU does not execute PTX. A compiler may fold address arithmetic into a load, remove a loop counter by unrolling, or merge a
//! comparison with a branch. It cannot remove a multiply-add or a load. So the bound includes only what stays:
//!
//! - f32 and f64 arithmetic, special functions, byte dot products, in lanes; products of tensor cores;
//! - wavefronts of loads and stores in L1 and shared memory, for the requests of the machine code;
//! - of the instructions that the schedulers issue, only those above, and barriers and exchanges between lanes;
//! - bytes through L2: the data that the computation must read and write, and everything that is stored, because stores are written
//!   through;
//! - bytes of memory: the data that the computation must read and write, minus what L2 can keep from one run to the next.
//!
//! Integer arithmetic and conversions are reported separately, as [`Bound::as_written`]: the time that they would need if each PTX
//! instruction became one machine instruction.

mod rates;

use std::fmt;

use crate::counters::{Counters, SECTOR_BYTES};
use crate::profile::Profile;

pub use rates::{GlobalPath, Rates};

/// Lanes of a warp.
const LANES: u64 = 32;

/// A unit of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The schedulers.
    Issue,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Reciprocals, roots, transcendental functions.
    Special,
    /// Dot products of bytes.
    Dp4a,
    /// Tensor cores.
    Tensor,
    /// The banks of the L1 cache and shared memory.
    L1Shared,
    /// The way to the L2 cache.
    L2,
    /// Device memory.
    Dram,
    /// Integer multiplications.
    IntMultiply,
    /// Other integer and logic operations.
    IntOther,
    /// Conversions between types.
    Conversions,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Unit::Issue => "issue",
            Unit::F32 => "f32",
            Unit::F64 => "f64",
            Unit::Special => "special",
            Unit::Dp4a => "dp4a",
            Unit::Tensor => "tensor",
            Unit::L1Shared => "L1/shared",
            Unit::L2 => "L2",
            Unit::Dram => "memory",
            Unit::IntMultiply => "int multiply",
            Unit::IntOther => "int other",
            Unit::Conversions => "conversions",
        })
    }
}

/// The work of one unit of the chip, and its least time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The unit.
    pub unit: Unit,
    /// The amount of work.
    pub amount: u64,
    /// The unit of the amount, for example `lanes` or `bytes`.
    pub of: &'static str,
    /// The rate per clock, or per second for memory.
    pub rate: f64,
    /// How many of them work in parallel: the multiprocessors, or one for a unit that the whole chip shares.
    pub copies: u32,
    /// The amount over the rate of all copies, in milliseconds at the profile's clock.
    pub least_ms: f64,
}

/// The least times of all units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bound {
    /// The units that have work to do, longest time first.
    pub parts: Vec<Part>,
    /// Work that a compiler may remove, as if it did not; longest first. Not included in the bound.
    pub as_written: Vec<Part>,
}

impl Bound {
    /// Returns the bottleneck; `None` when nothing was counted.
    pub fn binding(&self) -> Option<&Part> {
        self.parts.first()
    }

    /// Returns each unit with its time as a share of the bottleneck's.
    pub fn shares(&self) -> impl Iterator<Item = (Unit, f64)> + '_ {
        let longest = self.binding().map_or(1.0, |part| part.least_ms);
        self.parts.iter().map(move |part| (part.unit, part.least_ms / longest))
    }

    /// Returns the bound in milliseconds. It assumes that the work spreads evenly over the multiprocessors.
    pub fn least_ms(&self) -> f64 {
        self.binding().map_or(0.0, |part| part.least_ms)
    }
}

/// Computes the bound of these counts on a GPU. `least_bytes` is the data that any implementation must read and write at least
/// once.
pub fn bound(counters: &Counters, least_bytes: u64, profile: &Profile) -> Bound {
    let rates = Rates::of(profile.compute_capability);
    let clock_hz = f64::from(profile.clock_khz) * 1e3;
    let per_sm = |unit, of, amount: u64, rate: f64| {
        let copies = profile.multiprocessors;
        let least_ms = amount as f64 / (rate * f64::from(copies)) / clock_hz * 1e3;
        Part { unit, amount, of, rate, copies, least_ms }
    };
    let memory_rate = 2.0 * f64::from(profile.memory_clock_khz) * 1e3 * f64::from(profile.memory_bus_bits) / 8.0;
    let memory_bytes = memory_bytes(counters, least_bytes, profile, rates.global);
    let memory = Part {
        unit: Unit::Dram,
        amount: memory_bytes,
        of: "bytes",
        rate: memory_rate,
        copies: 1,
        least_ms: memory_bytes as f64 / memory_rate * 1e3,
    };

    let c = counters;
    let parts = [
        Some(per_sm(Unit::Issue, "warp instructions", issued(c, rates.global), rates.issue)),
        Some(per_sm(Unit::F32, "lanes", c.f32_fma + c.f32_other, rates.f32)),
        rates.f64.map(|rate| per_sm(Unit::F64, "lanes", c.f64_ops, rate)),
        Some(per_sm(Unit::Special, "lanes", c.special, rates.special)),
        rates.dp4a.map(|rate| per_sm(Unit::Dp4a, "lanes", c.dp4a, rate)),
        tensor_rate(c, &rates).map(|rate| per_sm(Unit::Tensor, "factor bytes", c.tensor_factor_bytes, rate)),
        Some(per_sm(Unit::L1Shared, "wavefronts", wavefronts(c, rates.global), rates.wavefronts)),
        rates.l2_bytes.map(|rate| per_sm(Unit::L2, "bytes", l2_bytes(c, least_bytes, rates.global), rate)),
        Some(memory),
    ];
    // The first GPUs multiply 24-bit factors as fast as they add, and wider ones in several steps.
    let as_fast = if rates.global == GlobalPath::Memory { c.int_mul24 } else { 0 };
    let as_written = [
        per_sm(Unit::IntMultiply, "lanes", c.int_mad - as_fast, rates.int_multiply),
        per_sm(Unit::IntOther, "lanes", c.int_other + as_fast, rates.int_other),
        per_sm(Unit::Conversions, "lanes", c.conversions, rates.conversions),
        per_sm(Unit::Issue, "PTX instructions", c.ptx_instructions, rates.issue),
    ];
    Bound { parts: longest_first(parts.into_iter().flatten()), as_written: longest_first(as_written) }
}

/// Returns the busiest multiprocessor's load divided by the average load. All blocks are assumed to do the same work, so this is
/// the number of blocks per multiprocessor, rounded up, over the average.
pub fn busiest(blocks: u64, profile: &Profile) -> f64 {
    let copies = u64::from(profile.multiprocessors);
    blocks.div_ceil(copies) as f64 * copies as f64 / blocks.max(1) as f64
}

fn longest_first(parts: impl IntoIterator<Item = Part>) -> Vec<Part> {
    let mut parts: Vec<Part> = parts.into_iter().filter(|part| part.amount > 0).collect();
    parts.sort_by(|a, b| b.least_ms.total_cmp(&a.least_ms));
    parts
}

/// Instructions that no compiler can remove. Lanes are packed into full warps, so that the count is never too high. On compute
/// capability 1.x one instruction makes several requests, so their number does not give the number of instructions.
fn issued(c: &Counters, path: GlobalPath) -> u64 {
    // An instruction on a pair counts as two 16-bit operations.
    let arithmetic = c.f32_fma + c.f32_other + c.f64_ops + c.f16_ops.div_ceil(2) + c.special + c.dp4a;
    let memory = match path {
        GlobalPath::Memory => 0,
        GlobalPath::L2 | GlobalPath::UnifiedL1 => requests(c) + c.shared_load_requests + c.shared_store_requests,
    };
    arithmetic.div_ceil(LANES) + memory + c.barriers + c.warp_exchanges
}

/// Returns the rate of a kernel's products on tensor cores. It combines the rates of one warp and of four together.
fn tensor_rate(c: &Counters, rates: &Rates) -> Option<f64> {
    let (all, of_four) = (c.tensor_factor_bytes as f64, c.warpgroup_factor_bytes as f64);
    let clocks = (all - of_four) / rates.mma_bytes? + of_four / rates.tensor_bytes?;
    if clocks == 0.0 { rates.tensor_bytes } else { Some(all / clocks) }
}

/// Counts the requests other than shared loads and stores. Each takes at least one wavefront. Local memory is not included, because
/// the compiler may keep it in registers.
fn requests(c: &Counters) -> u64 {
    c.global_load_requests + c.global_store_requests + c.global_atomic_requests + c.shared_atomic_requests
}

/// Wavefronts in L1 and shared memory. On compute capability 1.x no cache shares the banks, and requests are of half a warp.
fn wavefronts(c: &Counters, path: GlobalPath) -> u64 {
    // Older records have no wavefronts of global loads.
    let beyond_requests = c.global_load_wavefronts.saturating_sub(c.global_load_requests);
    let cached = match path {
        GlobalPath::UnifiedL1 => requests(c) + beyond_requests,
        GlobalPath::L2 => requests(c),
        GlobalPath::Memory => 0,
    };
    c.shared_load_wavefronts + c.shared_store_wavefronts + c.tensor_shared_wavefronts + cached
}

fn l2_bytes(c: &Counters, least_bytes: u64, path: GlobalPath) -> u64 {
    let loads = if path == GlobalPath::L2 { c.global_load_sectors } else { 0 };
    ((loads + c.global_store_sectors) * SECTOR_BYTES).max(least_bytes)
}

/// Counts the bytes of memory traffic. The next run need not fetch what L2 holds at the end of this one. Without an L2, every
/// sector comes from memory.
fn memory_bytes(c: &Counters, least_bytes: u64, profile: &Profile, path: GlobalPath) -> u64 {
    match path {
        GlobalPath::Memory => ((c.global_load_sectors + c.global_store_sectors) * SECTOR_BYTES).max(least_bytes),
        GlobalPath::L2 | GlobalPath::UnifiedL1 => least_bytes.saturating_sub(profile.l2_bytes),
    }
}
