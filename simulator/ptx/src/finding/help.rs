//! How severe each kind of defect is, and a suggested fix.

use super::{Access, AccessOp, Finding, FindingKind, Location, MissingOrder, OtherAccess, Severity, Space};

impl Finding {
    /// Suggests a fix, where there is one.
    pub fn help(&self) -> Option<&'static str> {
        let lost = "each thread reads the old value, changes it, and stores the result, so that changes by others are lost: use an atomic operation, \
                    such as atomicAdd()";
        if self.loses_an_update() { Some(lost) } else { self.kind.help() }
    }

    /// Returns true if two threads do `a[i] += 1` at once. Then a line loads from an address and stores there.
    fn loses_an_update(&self) -> bool {
        let FindingKind::Race { access, other, missing: None, .. } = &self.kind else { return false };
        let OtherAccess { op, location: theirs, .. } = &**other;
        let address = |location: &Location| Some(location.instruction.split_once('[')?.1.split(']').next()?.to_owned());
        let ours = &self.location;
        matches!((access.op, *op), (AccessOp::Load, AccessOp::Store) | (AccessOp::Store, AccessOp::Load))
            && ours.source.is_some()
            && ours.source == theirs.source
            && address(ours).is_some_and(|it| Some(it) == address(theirs))
    }
}

impl FindingKind {
    /// Returns its severity.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Race { same_warp: true, .. }
            | Self::MissingProxyFence { late: true, .. }
            | Self::Race { volatile: true, .. }
            | Self::LaterBlock { .. }
            | Self::Race { missing: Some(MissingOrder::FormalAcquire | MissingOrder::FormalRelease), .. }
            | Self::EndedBeforeBarrier { .. }
            | Self::DifferentBarriers { .. } => Severity::Warning,
            Self::Wgmma(misuse) => misuse.severity(),
            _ => Severity::Error,
        }
    }

    /// Suggests a fix, for the kinds that have one.
    pub fn help(&self) -> Option<&'static str> {
        let help = match self {
            Self::Race { same_block: false, access: Access { space: Space::Shared, .. }, .. } => {
                "put cluster.sync() between the two accesses, where every thread of the cluster reaches it"
            }
            Self::Race { missing: Some(missing), .. } => missing.help(),
            Self::Race { same_block: false, .. } => {
                "blocks run in any order and at the same time: let each write places of its own, use atomics, or launch a second kernel"
            }
            Self::Race { access: Access { op: AccessOp::Store, .. }, other, .. } if other.op == AccessOp::Store => {
                "two threads store at one place: should each have a place of its own, or only one of them store?"
            }
            Self::Race { same_warp: true, .. } => {
                "lanes of a warp need not run in step since compute capability 7.0: put __syncwarp() between the two accesses"
            }
            Self::Race { .. } => "put __syncthreads() between the two accesses, where every thread of the block reaches it",
            Self::OutsideArray { .. } => {
                "the index is too large, or the array too small: what is the largest index that this line can have?"
            }
            Self::WritesConstant { .. } => {
                "let the host write it before the launch (cudaMemcpyToSymbol), or declare it __device__ instead of __constant__"
            }
            Self::Uninitialized { access: Access { space: Space::Shared, .. }, .. } => {
                "shared memory holds anything when a block starts: write every element before it is read"
            }
            Self::Uninitialized { .. } => {
                "memory holds anything when it is allocated: copy or set it before the launch, or write it in an earlier one"
            }
            Self::UnfinishedCopy { access: Access { space: Space::Global, .. }, .. } => {
                "bulk copies are made in any order: let the thread that began the copy wait for its writes with cp.async.bulk.wait_group 0, \
                 without .read, and let the others meet it at a barrier after that"
            }
            Self::UnfinishedCopy { .. } => {
                "wait for the copy in the thread that began it (cp.async.wait_group), and let the others meet it at a barrier after that; of a \
                 bulk copy, let every thread wait for the phase of its mbarrier"
            }
            Self::DivergentBarrier { .. } | Self::EndedBeforeBarrier { .. } => {
                "let threads without work go on to the barrier instead of returning or branching around it"
            }
            Self::MissingProxyFence { .. } => {
                "let each thread that writes execute fence.proxy.async.shared::cta after its writes, then __syncthreads() (or an arrival), then \
                 start the copy"
            }
            Self::OverwritesStore { access: Access { space: Space::Global, .. }, .. } => {
                "let the thread that began the copy wait for it (cp.async.wait_group; of a bulk copy, the phase of its mbarrier), and let the others meet it \
                 at a barrier after that, before anything writes what the copy reads"
            }
            Self::OverwritesStore { .. } => {
                "let the thread that began the copy commit it and wait for cp.async.bulk.wait_group.read, and let the others meet it at a \
                 barrier after that"
            }
            Self::UnwaitedStore { .. } => {
                "put cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0 after the copy, in the thread that began it"
            }
            Self::StaleWait { .. } | Self::MbarrierDeadlock { stale: Some(_), .. } => {
                "change the parity each time that the same barrier is waited for: 0 for its first phase, 1 for its second, 0 for its third"
            }
            Self::MbarrierDeadlock { .. } if self.is_for_the_next_phase() => {
                "the phase before is over, and nothing came in this one: does the wait name the wrong parity? It is 0 for the first phase, 1 \
                 for the second"
            }
            Self::MbarrierDeadlock { .. } => {
                "a phase ends when as many threads have arrived as the barrier was initialized for, and as many bytes as were expected: \
                 expect_tx must name the bytes of all copies together"
            }
            Self::GridDeadlock { resident: Some(_), .. } => {
                "launch at most as many blocks as the GPU holds at once, and let each do more"
            }
            Self::GridDeadlock { .. } => "let every block of the grid reach each barrier of the grid, equally often",
            Self::EndedBlock { .. } => {
                "let all blocks of the cluster meet at cluster.sync() after the last access to each other's shared memory, before any of them ends"
            }
            Self::ClusterDeadlock { .. } => {
                "let every block of the cluster reach each barrier of the cluster, equally often, before it waits for anything else"
            }
            Self::OtherBlocksMemory { .. } => {
                "use ld.shared::cluster and its like, or a generic pointer: plain .shared means the block's own memory"
            }
            Self::NoSuchBlock { .. } => "compare the rank with cluster.num_blocks() before mapping an address to it",
            Self::RegisterDeadlock { .. } => {
                "the registers of a block are those of its launch: let other warpgroups execute setmaxnreg.dec before, with enough of them"
            }
            Self::CopySize { .. } => {
                "a copy reads at most as many bytes as it writes, and fills the rest with zeros: is the number of bytes negative?"
            }
            Self::AbsentLane { .. } => {
                "name only lanes that execute the exchange, and let each of them read one that is named; use the value nowhere else"
            }
            Self::LaterBlock { .. } => {
                "blocks may start in any order, and a later one perhaps only when an earlier one has ended: launch cooperatively, or let blocks \
                 number themselves with atomicAdd and wait only for smaller numbers"
            }
            Self::LaneMask { absent: None, .. } => "name every lane that gets here: 0xffffffff if the whole warp does",
            Self::LaneMask { .. } => {
                "let every lane that the mask names execute this: put it where the whole warp passes, or name only the lanes of this branch"
            }
            Self::DifferentBarriers { .. } => {
                "__syncthreads() in a branch is allowed only where all threads of the block take the same branch"
            }
            Self::Wgmma(misuse) => misuse.help(),
            _ => return None,
        };
        Some(help)
    }

    /// Returns true if a deadlock waits for a new phase. The phase before it is over, and nothing is counted yet.
    fn is_for_the_next_phase(&self) -> bool {
        let Self::MbarrierDeadlock { arrivals, phase: Some(phase), .. } = self else { return false };
        phase.number > 0 && *arrivals == phase.arrivals && phase.bytes == 0 && phase.came == 0
    }
}
