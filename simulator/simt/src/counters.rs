//! What a launch did, counted: per kernel and per line of CUDA source.
//!
//! Memory counters are those of Nsight Compute and follow its rules (see [`crate::memory::rules`]); on GPUs that are older than it,
//! they mean the same and follow the rules of their time. Instruction counters count **PTX** instructions; the machine code that a
//! GPU executes has others, so they carry other names than Nsight Compute's.
//!
//! A request is what a warp's load or store asks of the memory. On compute capability 1.x each half of a warp asks for itself, and in
//! shared memory for one word after the other, so that wavefronts divided by requests is the conflict that the hardware sees.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::finding::{AccessOp, Location, SourceLine, Space};

/// Defines [`Counters`] with its field-wise sum, so that a counter is named once.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counts of one launch, or of one source line of it. Every count sums over all warps.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl AddAssign for Counters {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

counters! {
    /// PTX instructions executed, counted once per warp.
    ptx_instructions,
    /// PTX instructions executed, counted once per active lane.
    ptx_thread_instructions,
    /// f32 multiply-adds, per lane (`fma.f32`, `mad.f32`).
    f32_fma,
    /// Other f32 additions, subtractions and multiplications, per lane.
    f32_other,
    /// f64 arithmetic, per lane.
    f64_ops,
    /// f16 and bf16 arithmetic, per result: a lane has two of a pair.
    f16_ops,
    /// 32-bit integer multiply-adds and multiplications, per lane.
    int_mad,
    /// Those of them whose factors need no more than 24 bits, per lane: `mul24`, and what `__mul24` and `__umul24` are compiled to.
    /// Compute capability 1.x multiplies so as fast as it adds, and 32-bit factors in several steps.
    int_mul24,
    /// Other integer and logic operations, per lane.
    int_other,
    /// Four-way byte dot products, per lane (`dp4a`: 4 multiply-adds each).
    dp4a,
    /// Multiply-adds of tensor cores (`mma`, `wmma.mma`): m n k of each product, once per warp.
    tensor_multiply_adds,
    /// The same, each times the bytes of one of its factors: a tensor core does half as many of factors that are twice as wide.
    tensor_factor_bytes,
    /// Conversions between types, per lane.
    conversions,
    /// Special functions (division, square root, reciprocal, transcendental), per lane.
    special,
    /// Global loads: warp instructions with at least one active lane; on compute capability 1.x, half-warps with one.
    global_load_requests,
    /// Global loads: transactions with memory. On compute capability 1.x of 32, 64 or 128 bytes each, since then one per sector.
    global_load_transactions,
    /// Global loads: 32-byte sectors that move, summed over requests: the distinct ones of each request, and on compute capability 1.x
    /// all that its transactions carry.
    global_load_sectors,
    /// Global loads: sectors that the touched bytes would need if they were packed.
    global_load_sectors_ideal,
    /// Global loads: bytes that the lanes asked for.
    global_load_bytes,
    /// Global loads: passes through the banks of the L1 cache if it holds what they ask for. Like the wavefronts of shared memory,
    /// they come from the addresses alone; a GPU's own counter has more of them when lines have to be fetched first.
    global_load_wavefronts,
    /// Copies from global to shared memory that bypass the registers (`cp.async`): warp instructions with at least one active lane.
    /// Nsight Compute counts them as `smsp__inst_executed_op_ldgsts.sum`, apart from loads. Their reads of global memory are among
    /// the global loads here; their writes are no shared stores. Of a bulk copy (`cp.async.bulk`), which one thread begins, every one
    /// counts by itself; its sectors and bytes are among those of global loads, but it is no request of theirs.
    async_copy_requests,
    /// Global stores: warp instructions with at least one active lane; on compute capability 1.x, half-warps with one.
    global_store_requests,
    /// Global stores: transactions with memory. On compute capability 1.x of 32, 64 or 128 bytes each, since then one per sector.
    global_store_transactions,
    /// Global stores: 32-byte sectors that move, summed over requests: the distinct ones of each request, and on compute capability 1.x
    /// all that its transactions carry.
    global_store_sectors,
    /// Global stores: sectors that the touched bytes would need if they were packed.
    global_store_sectors_ideal,
    /// Global stores: bytes that the lanes asked for.
    global_store_bytes,
    /// Atomic operations on global memory: warp instructions.
    global_atomic_requests,
    /// Shared loads: warp instructions with at least one active lane; on compute capability 1.x, half-warps with one, once per word
    /// of a lane.
    shared_load_requests,
    /// Shared loads: wavefronts.
    shared_load_wavefronts,
    /// Shared loads: wavefronts if there were no bank conflicts.
    shared_load_wavefronts_ideal,
    /// Shared stores: warp instructions with at least one active lane; on compute capability 1.x, half-warps with one, once per word
    /// of a lane.
    shared_store_requests,
    /// Shared stores: wavefronts.
    shared_store_wavefronts,
    /// Shared stores: wavefronts if there were no bank conflicts.
    shared_store_wavefronts_ideal,
    /// Atomic operations on shared memory: warp instructions.
    shared_atomic_requests,
    /// Loads that the machine code merges with an earlier one of neighbouring words: warp instructions of PTX that make no request of
    /// their own. The request of the earlier one is as wide as all of them.
    merged_loads,
    /// As [`Self::merged_loads`], of stores.
    merged_stores,
    /// Loads from constant memory: warp instructions.
    const_load_requests,
    /// Loads from and stores to local memory: warp instructions.
    local_requests,
    /// Barriers, counted once per warp that arrives.
    barriers,
    /// Branch instructions, counted once per warp.
    branches,
    /// Branch instructions at which the lanes of a warp parted.
    divergent_branches,
    /// Warp shuffles and votes, counted once per warp.
    warp_exchanges,
}

impl Counters {
    /// Shared-memory bank conflicts: wavefronts beyond the ideal number, loads and stores together.
    pub fn bank_conflicts(&self) -> u64 {
        (self.shared_load_wavefronts + self.shared_store_wavefronts)
            - (self.shared_load_wavefronts_ideal + self.shared_store_wavefronts_ideal)
    }

    /// Sectors of a global load, on average; `None` if there is none.
    pub fn sectors_per_load(&self) -> Option<f64> {
        ratio(self.global_load_sectors, self.global_load_requests)
    }

    /// Those that it would need if the lanes' bytes stood side by side.
    pub fn ideal_sectors_per_load(&self) -> Option<f64> {
        ratio(self.global_load_sectors_ideal, self.global_load_requests)
    }

    /// Bytes of the sectors of all global loads and stores.
    pub fn bytes_moved(&self) -> u64 {
        (self.global_load_sectors + self.global_store_sectors) * SECTOR
    }
}

/// Bytes of a sector, the least that memory moves.
const SECTOR: u64 = 32;

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The counts of one line of CUDA source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCounters {
    /// The line; `None` collects what the compiler attributed to no line.
    pub source: Option<SourceLine>,
    /// Its counts.
    pub counters: Counters,
}

/// One request of a load or a store as it was made: the first of the first warp of the first block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessSample {
    /// The instruction.
    pub location: Location,
    /// Which memory.
    pub space: Space,
    /// In shared memory, the variable that the lanes access, by its name in CUDA C; that of the first active lane if there are several.
    pub variable: Option<String>,
    /// Load or store.
    pub op: AccessOp,
    /// Bytes of each lane.
    pub bytes: u32,
    /// A bit for each active lane.
    pub lanes: u32,
    /// First byte of each lane: an address of global memory or an offset in shared memory. Those of inactive lanes mean nothing.
    pub addresses: [u64; 32],
}

/// Neighbouring bytes of global memory that a thread read, wrote, or updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Touched {
    /// The thread's number in its block.
    pub thread: u32,
    /// What it did with them, once or often.
    pub op: AccessOp,
    /// Address of the first.
    pub address: u64,
    /// How many.
    pub bytes: u64,
}
