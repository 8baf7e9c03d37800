//! Counters of a launch: per kernel and per line of CUDA source.
//!
//! Memory counters mean the same as those of Nsight Compute and follow its rules (see [`crate::memory::rules`]). For GPUs that
//! Nsight Compute does not support, they follow the rules of the GPU's generation. Instruction counters count **PTX** instructions.
//! The machine code that a GPU executes differs, so these counters have names of their own.
//!
//! A request is one load or store of a warp, as the memory sees it. On compute capability 1.x each half of a warp makes its own
//! request, and in shared memory one for each word, so that wavefronts divided by requests is the bank conflict that the hardware
//! sees.

use serde::{Deserialize, Serialize, Serializer};

use ptx::finding::{AccessOp, Location, SourceLine, Space};

/// Defines counts with their field-wise sum, so that each is listed once.
macro_rules! counts {
    ($(#[$attribute:meta])* pub struct $counts:ident { $($(#[$doc:meta])* $name:ident,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $counts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl std::ops::AddAssign for $counts {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

pub(crate) use counts;

/// Defines [`Counters`].
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        counts! {
            /// Counts of one launch, or of one source line in it. Every count is a sum over all warps.
            #[derive(PartialEq, Eq, Serialize, Deserialize)]
            #[serde(default)]
            pub struct Counters {
                $($(#[$doc])* $name,)*
            }
        }

        impl Counters {
            /// Returns the counters that are not zero, by name.
            fn nonzero(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name)),*].into_iter().filter(|(_, count)| *count != 0)
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
    /// f16 and bf16 arithmetic, per result: a pair has two results per lane.
    f16_ops,
    /// 32-bit integer multiply-adds and multiplications, per lane.
    int_mad,
    /// The part of [`Self::int_mad`] whose factors need no more than 24 bits, per lane: `mul24`, and what `__mul24` and `__umul24`
    /// compile to. Compute capability 1.x multiplies 24 bits as fast as it adds, and 32 bits in several steps.
    int_mul24,
    /// Other integer and logic operations, per lane.
    int_other,
    /// Four-way byte dot products, per lane (`dp4a`: 4 multiply-adds each).
    dp4a,
    /// Multiply-adds of tensor cores (`mma`, `wmma.mma`, `wgmma`): m n k of each product, once per warp, which has a quarter of the rows of
    /// `wgmma`.
    tensor_multiply_adds,
    /// The same, each weighted by the bytes of one factor, because a tensor core does half as many per clock when factors are twice
    /// as wide.
    tensor_factor_bytes,
    /// Those of products of four warps (`wgmma`), which are faster.
    warpgroup_factor_bytes,
    /// Wavefronts of the operands that tensor cores read from shared memory by themselves (`wgmma`): 128 bytes each. Those of B are
    /// read once for four warps. Nsight Compute has them in `l1tex__data_pipe_lsu_wavefronts_mem_shared.sum`, but not in its parts for
    /// loads and stores.
    tensor_shared_wavefronts,
    /// Conversions between types, per lane.
    conversions,
    /// Special functions (division, square root, reciprocal, transcendental), per lane.
    special,
    /// Global loads: warp instructions with at least one active lane; on compute capability 1.x, half-warps with one.
    global_load_requests,
    /// Global loads: transactions with memory. On compute capability 1.x of 32, 64 or 128 bytes each, since then one per sector.
    global_load_transactions,
    /// Global loads: 32-byte sectors that move, summed over requests: the distinct ones of each request, and on compute capability
    /// 1.x all that its transactions carry.
    global_load_sectors,
    /// Global loads: sectors that the touched bytes would need if they were packed.
    global_load_sectors_ideal,
    /// Global loads: bytes that the lanes requested.
    global_load_bytes,
    /// Global loads: wavefronts in the L1 cache if it holds the data. Like the wavefronts of shared memory, they follow from the
    /// addresses alone. A GPU's own counter is higher when lines must be fetched first. A copy to shared memory (`cp.async`) has one for
    /// each request here, because those that move its words count as wavefronts of shared stores.
    global_load_wavefronts,
    /// Copies from global to shared memory that bypass the registers (`cp.async`): warp instructions with at least one active lane.
    /// Nsight Compute counts them as `smsp__inst_executed_op_ldgsts.sum`, apart from loads and stores. Their reads of global memory are
    /// counted as global loads here, and the wavefronts of their writes as those of shared stores. Each bulk copy (`cp.async.bulk`), which
    /// one thread starts, counts once. Its sectors and bytes are included in those of global loads, but it is not one of their
    /// requests, and it takes no wavefronts.
    async_copy_requests,
    /// Global stores: warp instructions with at least one active lane; on compute capability 1.x, half-warps with one.
    global_store_requests,
    /// Global stores: transactions with memory. On compute capability 1.x of 32, 64 or 128 bytes each, since then one per sector.
    global_store_transactions,
    /// Global stores: 32-byte sectors that move, summed over requests: the distinct ones of each request, and on compute capability
    /// 1.x all that its transactions carry.
    global_store_sectors,
    /// Global stores: sectors that the touched bytes would need if they were packed.
    global_store_sectors_ideal,
    /// Global stores: bytes that the lanes requested.
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
    /// Shared stores: warp instructions with at least one active lane; on compute capability 1.x, half-warps with one, once per
    /// word of a lane.
    shared_store_requests,
    /// Shared stores, and copies to shared memory that bypass the registers: wavefronts.
    shared_store_wavefronts,
    /// Shared stores, and these copies: wavefronts if there were no bank conflicts.
    shared_store_wavefronts_ideal,
    /// Atomic operations on shared memory: warp instructions.
    shared_atomic_requests,
    /// Loads, stores and atomic operations on the shared memory of other blocks of the cluster: warp instructions. They are no requests to
    /// shared memory.
    cluster_requests,
    /// The 32-byte sectors that these move.
    cluster_sectors,
    /// Loads that the machine code merges with an earlier load of neighboring words: warp instructions of PTX that make no request
    /// of their own. The request of the earlier load covers all of them.
    merged_loads,
    /// The same for stores.
    merged_stores,
    /// Loads from constant memory: warp instructions.
    const_load_requests,
    /// Loads from and stores to local memory: warp instructions.
    local_requests,
    /// Barriers, counted once per warp that arrives.
    barriers,
    /// Branch instructions, counted once per warp.
    branches,
    /// Branch instructions at which the lanes of a warp diverged.
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

    /// Sectors per global load on average; `None` if there are no global loads.
    pub fn sectors_per_load(&self) -> Option<f64> {
        ratio(self.global_load_sectors, self.global_load_requests)
    }

    /// Sectors per global load if the lanes' bytes were contiguous.
    pub fn ideal_sectors_per_load(&self) -> Option<f64> {
        ratio(self.global_load_sectors_ideal, self.global_load_requests)
    }

    /// Returns the bytes of the sectors of all global loads and stores.
    pub fn bytes_moved(&self) -> u64 {
        (self.global_load_sectors + self.global_store_sectors) * SECTOR_BYTES
    }
}

/// Bytes of a sector, the smallest unit of memory traffic.
pub(crate) const SECTOR_BYTES: u64 = 32;

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The counts of one line of CUDA source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCounters {
    /// The line; `None` collects the counts that the compiler attributed to no line.
    pub source: Option<SourceLine>,
    /// Its counts.
    #[serde(serialize_with = "nonzero")]
    pub counters: Counters,
}

/// Writes only the counters that are not zero. A line has a few of them, and a missing one is read as zero.
fn nonzero<S: Serializer>(counters: &Counters, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counters.nonzero())
}

/// The first request of a load or a store. The first warp of the first block makes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessSample {
    /// The instruction.
    pub location: Location,
    /// Which memory.
    pub space: Space,
    /// In shared memory, the name in CUDA C of the variable that the first active lane accesses.
    pub variable: Option<String>,
    /// Load or store.
    pub op: AccessOp,
    /// Bytes of each lane.
    pub bytes: u32,
    /// A bit for each active lane.
    pub lanes: u32,
    /// First byte of each lane: an address of global memory or an offset in shared memory. Those of inactive lanes are undefined.
    pub addresses: [u64; 32],
}

/// A range of global memory that a thread read, wrote, or updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Touched {
    /// The thread's number in its block.
    pub thread: u32,
    /// The kind of access.
    pub op: AccessOp,
    /// Address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
}
