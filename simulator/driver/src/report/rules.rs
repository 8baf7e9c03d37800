//! The kinds of defect under stable names, each with the rule of CUDA or PTX that it breaks.
//!
//! A name is kebab-case and says what went wrong, not which part of the simulator noticed: `race-shared`. Suppressions and other people's
//! dashboards contain these names, so a name stays once it has been released. The variants of
//! [`FindingKind`] may be renamed or split.

use simt::{FindingKind, Severity, Space, WgmmaMisuse};

/// A kind of defect.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its stable name.
    pub name: &'static str,
    /// The severity of its worst defects.
    pub severity: Severity,
    /// The mistake, in a few words.
    pub summary: &'static str,
    /// The rule that this breaks, and where it is written.
    pub text: &'static str,
}

/// Defines the constants, [`RULES`] and [`Rule::of`] from one table: name, findings, summary, text.
macro_rules! rules {
    (@severity) => { Severity::Error };
    (@severity warning) => { Severity::Warning };
    ($(
        $constant:ident = $name:literal $(for $finding:pat $(if $condition:expr)?)?, $($level:ident)? $summary:literal $text:literal;
    )*) => {
        $(static $constant: Rule = Rule { name: $name, severity: rules!(@severity $($level)?), summary: $summary, text: $text };)*

        /// Every kind of defect.
        pub static RULES: &[&Rule] = &[$(&$constant),*];

        impl Rule {
            /// Finds the kind of a finding; `None` stands for a kernel that ran out of fuel.
            pub fn of(kind: Option<&FindingKind>) -> &'static Self {
                use FindingKind::*;
                let Some(kind) = kind else { return &ENDLESS };
                match kind {
                    $($($finding $(if $condition)? => &$constant,)?)*
                }
            }
        }
    };
}

rules! {
    OUT_OF_BOUNDS = "out-of-bounds" for OutOfBounds { .. }, "Access outside every allocation"
        "A thread may only access memory that is allocated, and not freed. CUDA C++ Programming Guide, \"Device Memory\"; PTX ISA, \"State Spaces\".";
    NULL_POINTER = "null-pointer" for Null { .. }, "Access through a null pointer"
        "Nothing is ever allocated at address 0. A GPU reports CUDA_ERROR_ILLEGAL_ADDRESS.";
    MISALIGNED = "misaligned" for Misaligned { .. }, "Address that is no multiple of the access's size"
        "An address must be a multiple of the size of the access. PTX ISA, `ld` and `st`; CUDA C++ Programming Guide, \"Size and Alignment Requirement\".";
    OUTSIDE_ARRAY = "outside-array" for OutsideArray { .. },
        "Access outside the array in shared memory that the address was made from"
        "C++, [expr.add]: adding to a pointer gives an element of its array, or the place behind the last; \"otherwise, the behavior is undefined.\"";
    WRITES_CONSTANT = "writes-constant" for WritesConstant { .. }, "Write to constant memory by a kernel"
        "\"The constant (.const) state space is a read-only memory initialized by the host.\" PTX ISA, \"Constant State Space\".";
    UNINITIALIZED_GLOBAL = "uninitialized-global" for Uninitialized { access, .. } if !matches!(access.space, Space::Shared | Space::Local),
        "Read of global memory that nothing has written"
        "cuMemAlloc does not clear memory. Copy or set it first, or write it in an earlier kernel. CUDA Driver API, \"Memory Management\".";
    UNINITIALIZED_SHARED = "uninitialized-shared" for Uninitialized { access, .. } if access.space == Space::Shared,
        "Read of shared memory that the block has not written"
        "Shared memory holds anything when a block starts, because it has no initial value. CUDA C++ Programming Guide, \"__shared__\".";
    UNINITIALIZED_LOCAL = "uninitialized-local" for Uninitialized { .. }, "Read of a thread's own memory that it has not written"
        "A local variable holds anything until it is written. C++, [basic.indet].";
    RACE_GLOBAL = "race-global" for Race { access, .. } if access.space != Space::Shared, "Data race in global memory"
        "Accesses of two threads to the same bytes, of which one is a write, must be ordered or both be atomic. PTX ISA, \"Memory Consistency Model\", \"Conflict and Data-races\".";
    RACE_SHARED = "race-shared" for Race { .. }, "Data race in shared memory"
        "Accesses of two threads to the same bytes, of which one is a write, must be ordered or both be atomic. PTX ISA, `bar`: a barrier \"guarantees that when the barrier completes, prior memory accesses requested by this thread are performed relative to all threads participating in the barrier.\"";
    RACE_STREAMS = "race-streams", "Work of two streams on the same bytes that nothing orders"
        "Operations in different streams may run in any order or at once, unless an event or a wait of the host orders them. CUDA C++ Programming Guide, \"Asynchronous Concurrent Execution\", \"Streams\".";
    DIVERGENT_BARRIER = "divergent-barrier" for DivergentBarrier { .. }, "Barrier that only part of a warp reaches"
        "__syncthreads() may be in conditional code only if the condition is the same for the whole block. CUDA C++ Programming Guide, \"Synchronization Functions\"; \"Independent Thread Scheduling\": it \"will not succeed until reached by all non-exited threads in the block.\"";
    ENDED_BEFORE_BARRIER = "ended-before-barrier" for EndedBeforeBarrier { .. },
        warning "Barrier after some threads of the block have ended"
        "Every thread of the block must reach __syncthreads(). Since compute capability 7.0, threads that ended do not count; before, the block may hang. CUDA C++ Programming Guide, \"Synchronization Functions\".";
    DIFFERENT_BARRIERS = "different-barriers" for DifferentBarriers { .. },
        warning "Warps that wait for each other at different barriers"
        "__syncthreads() may be in conditional code only if the condition is the same for the whole block. CUDA C++ Programming Guide, \"Synchronization Functions\".";
    INVALID_BARRIER = "invalid-barrier" for InvalidBarrier { .. },
        "Barrier that does not exist, or with an impossible number of threads"
        "A block has 16 barriers, and the number of threads at one is a multiple of the warp size. PTX ISA, `bar`.";
    DEADLOCK = "deadlock" for Deadlock { .. }, "Threads that wait for each other forever"
        "Every thread that a barrier counts must arrive at it. PTX ISA, `bar`.";
    MBARRIER_DEADLOCK = "mbarrier-deadlock" for MbarrierDeadlock { .. }, "Wait for a phase of an mbarrier that never ends"
        "A phase ends when all arrivals that the barrier was initialized for have come, and all bytes that were expected. PTX ISA, \"Phase of the mbarrier object\".";
    GRID_DEADLOCK = "grid-deadlock" for GridDeadlock { .. }, "Blocks that wait for each other forever"
        "Every block of the grid must reach each barrier of the grid. CUDA C++ Programming Guide, \"Cooperative Groups\", \"Grid Synchronization\". More blocks than the GPU holds cannot wait for each other.";
    LATER_BLOCK = "later-block" for LaterBlock { .. }, warning "Block that waits for one that starts later"
        "\"Thread blocks are required to execute independently: It must be possible to execute them in any order, in parallel or in series.\" CUDA C++ Programming Guide, \"Thread Hierarchy\".";
    CLUSTER_DEADLOCK = "cluster-deadlock" for ClusterDeadlock { .. }, "Blocks of a cluster that wait for each other forever"
        "Every thread of the cluster must arrive at each barrier of the cluster, unless it has ended. PTX ISA, `barrier.cluster`.";
    REGISTER_DEADLOCK = "register-deadlock" for RegisterDeadlock { .. }, "Wait for registers that no warp gives back"
        "`setmaxnreg.inc` waits until other warps have released enough registers. PTX ISA, `setmaxnreg`.";
    ENDLESS = "endless", "Kernel that was stopped because it executed too much"
        "A block executed more warp instructions than SIMCUDA_FUEL allows.";
    INVALID_CLUSTER_BARRIER = "invalid-cluster-barrier" for InvalidClusterBarrier { .. }, "Barrier of a cluster used wrongly"
        "Each thread arrives once and then waits. With `.aligned`, all threads of the warp execute the same instruction. PTX ISA, `barrier.cluster`.";
    NO_SUCH_BLOCK = "no-such-block" for NoSuchBlock { .. }, "Access to a block that the cluster does not have"
        "The rank must name a block of the cluster. PTX ISA, `mapa`.";
    OTHER_BLOCKS_MEMORY = "other-blocks-memory" for OtherBlocksMemory { .. },
        "Access to another block's shared memory by an instruction that cannot reach it"
        "`.shared` without `::cluster` is the window of the block itself. PTX ISA, \"State Spaces\", \"Shared\".";
    ENDED_BLOCK = "ended-block" for EndedBlock { .. }, "Access to the shared memory of a block that may have ended"
        "A block must not end while others access its shared memory. CUDA C++ Programming Guide, \"Distributed Shared Memory\".";
    PARTIAL_WARP = "partial-warp" for PartialWarp, "Instruction of a whole warp that only part of it reaches"
        "With `.aligned`, all threads of the warp must execute the same instruction. PTX ISA, `mma`, `ldmatrix` and others.";
    PARTIAL_WARPGROUP = "partial-warpgroup" for PartialWarpgroup, "Instruction of a whole warpgroup that only part of it reaches"
        "All four warps of a warpgroup must execute the same instruction. PTX ISA, `setmaxnreg` and `wgmma`.";
    INVALID_REGISTER_COUNT = "invalid-register-count" for InvalidRegisterCount { .. }, "setmaxnreg in the wrong direction"
        "The count of a decrease is at most what the thread has, and that of an increase at least. PTX ISA, `setmaxnreg`.";
    INVALID_TEXTURE = "invalid-texture" for InvalidTexture { .. }, "Handle of no texture or surface"
        "A texture or surface instruction needs a handle that cuTexObjectCreate or cuSurfObjectCreate returned, and that was not destroyed.";
    OUTSIDE_SURFACE = "outside-surface" for OutsideSurface { .. }, "Access outside a surface"
        "With `.trap`, an access outside the surface ends the kernel. PTX ISA, `suld` and `sust`.";
    INVALID_MBARRIER = "invalid-mbarrier" for InvalidMbarrier { .. }, "Barrier in shared memory used wrongly"
        "An mbarrier must be initialized, and no phase may get more arrivals or bytes than it expects. PTX ISA, \"mbarrier\".";
    INVALID_BULK_COPY = "invalid-bulk-copy" for InvalidBulkCopy { .. }, "Bulk copy that is asked for wrongly"
        "Sizes and addresses are multiples of 16 bytes, and a tensor map must fit the instruction. PTX ISA, `cp.async.bulk` and `cp.async.bulk.tensor`.";
    MISSING_PROXY_FENCE = "missing-proxy-fence" for MissingProxyFence { .. },
        "Read through the async proxy of what a thread wrote, without a proxy fence"
        "Accesses of one place through different proxies need a proxy fence between them. PTX ISA, \"Async proxy\".";
    OVERWRITES_STORE = "overwrites-store" for OverwritesStore { .. }, "Write to memory that an asynchronous copy has yet to read"
        "The source of a copy may be written again after the wait for it: `cp.async.wait_group`, `cp.async.bulk.wait_group.read`, or that for its mbarrier. PTX ISA, \"Completion Mechanisms for Asynchronous Copy Operations\".";
    UNWAITED_STORE = "unwaited-store" for UnwaitedStore { .. }, "Block that ends before its bulk copy has read shared memory"
        "The thread that started a copy from shared memory waits for it before the block ends. CUDA C++ Programming Guide, \"Tensor Memory Accelerator\".";
    STALE_WAIT = "stale-wait" for StaleWait { .. }, "Wait for a phase that had already ended"
        "A parity names the phase in progress or the one before, and changes with each phase. PTX ISA, `mbarrier.try_wait`.";
    UNFINISHED_COPY = "unfinished-copy" for UnfinishedCopy { .. },
        "Access to memory that an asynchronous copy has yet to write"
        "The result of an asynchronous copy is visible after a wait for it, and nothing orders two copies before that. PTX ISA, `cp.async.wait_group` and `cp.async.bulk.wait_group`.";
    COPY_SIZE = "copy-size" for CopySize { .. }, "Asynchronous copy that is to read more bytes than it writes"
        "PTX ISA, `cp.async`: \"Specifying src-size larger than cp-size results in undefined behavior.\"";
    NO_TARGET = "no-target" for NoTarget { .. }, "Call of what is no function"
        "An indirect call needs the address of a function with the same parameters, and an indirect jump an index that its table has. PTX ISA, `call` and `brx.idx`.";
    INVALID_FREE = "invalid-free" for InvalidFree { .. }, "free() of what malloc() did not return"
        "An address from malloc() in a kernel may be freed once, in a kernel. CUDA C++ Programming Guide, \"Dynamic Global Memory Allocation\".";
    STACK_OVERFLOW = "stack-overflow" for StackOverflow { .. }, "Stack of a thread that is full"
        "The stack has as many bytes as cuCtxSetLimit(CU_LIMIT_STACK_SIZE) says.";
    ASSERTION = "assertion" for Assert { .. }, "assert() that failed"
        "The kernel's own assertion does not hold.";
    TRAP = "trap" for Trap, "The kernel executed trap"
        "`trap` ends the kernel with an error. PTX ISA, `trap`.";
    ABSENT_LANE = "absent-lane" for AbsentLane { .. }, "Value from a lane that takes no part in the exchange"
        "PTX ISA, `shfl.sync`: \"results are undefined if a thread sources a register from an inactive thread or a thread that is not in membermask.\"";
    LANE_MASK = "lane-mask" for LaneMask { .. }, "Mask of lanes that are not those that execute the instruction"
        "Each calling thread must have its own bit set in the mask, and all non-exited threads named in it must execute the same intrinsic with the same mask. CUDA C++ Programming Guide, \"Warp Shuffle Functions\", \"Warp Vote Functions\", \"Synchronization Functions\"; PTX ISA, `shfl.sync`, `bar.warp.sync` and others.";
    WGMMA_REGISTER_IN_USE = "wgmma-register-in-use" for Wgmma(WgmmaMisuse::RegisterInUse { .. }),
        "Access to a register of a product that is not finished"
        "The registers of `wgmma.mma_async` must not be accessed before `wgmma.wait_group`. PTX ISA, \"Asynchronous Warpgroup Level Matrix Instructions\".";
    WGMMA_UNFENCED = "wgmma-unfenced" for Wgmma(WgmmaMisuse::Unfenced { .. }),
        "Product without wgmma.fence after an access to its registers"
        "`wgmma.fence` orders accesses to registers before the first `wgmma.mma_async`. PTX ISA, `wgmma.fence`.";
    WGMMA_SHARED_IN_USE = "wgmma-shared-in-use" for Wgmma(WgmmaMisuse::SharedInUse { .. }),
        "Write to shared memory that a product still reads"
        "The matrices in shared memory must not be written before `wgmma.wait_group`. PTX ISA, \"Asynchronous Warpgroup Level Matrix Instructions\".";
    WGMMA_DESCRIPTOR = "wgmma-descriptor" for Wgmma(WgmmaMisuse::Descriptor { .. }), "Descriptor of no matrix in shared memory"
        "A descriptor gives the start and the strides of a matrix in the block's shared memory, and is the same in all threads. PTX ISA, \"Matrix Descriptor Format\".";
    WGMMA_ABANDONED = "wgmma-abandoned" for Wgmma(WgmmaMisuse::Abandoned { .. }), "Warp that ends before its product"
        "A product must be committed to a group, and waited for. PTX ISA, `wgmma.commit_group` and `wgmma.wait_group`.";
    WGMMA_NO_WARPGROUP = "wgmma-no-warpgroup" for Wgmma(WgmmaMisuse::NoWarpgroup { .. }),
        "Product in a block without whole warpgroups"
        "A warpgroup is four warps, the first of which has a rank that is a multiple of 4. PTX ISA, \"Warpgroup\".";
    WGMMA_DISAGREEMENT = "wgmma-disagreement" for Wgmma(WgmmaMisuse::Disagreement { .. }),
        "Warps of a warpgroup that execute different products"
        "All threads of the warpgroup must execute the same `wgmma.mma_async`. PTX ISA, `wgmma.mma_async`.";
}

impl Rule {
    /// Returns the rule that a race between streams breaks.
    pub fn of_streams() -> &'static Self {
        &RACE_STREAMS
    }

    /// Finds a kind by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.name == name).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_kind_has_a_name_of_its_own_in_kebab_case() {
        let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), RULES.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')), "{names:?}");
        assert_eq!(Rule::named("race-shared").map(|rule| rule.summary), Some("Data race in shared memory"));
    }
}
