//! The barrier of a cluster: `barrier.cluster.arrive` and `barrier.cluster.wait`.
//!
//! A phase ends when every thread of the cluster has arrived or ended (PTX ISA, "Parallel Synchronization and Communication Instructions:
//! barrier.cluster": the wait is for all threads that have not exited). Between its arrival and its wait, a thread may do other work.

use super::core::Core;
use super::machine::Stop;
use ptx::finding::{ClusterBarrierMisuse, FindingKind};

/// Lanes of a warp arrive; `live` are those that have not ended.
pub fn arrive(core: &mut Core<'_>, active: u32, live: u32, (releases, aligned): (bool, bool), pc: u32) -> Result<(), Stop> {
    let warp = core.warp as usize;
    if aligned && active != live {
        return Err(misuse(core, ClusterBarrierMisuse::Divergent, active, pc));
    }
    let twice = core.cluster_barrier.due[warp] & active;
    if twice != 0 {
        return Err(misuse(core, ClusterBarrierMisuse::ArrivedTwice, twice, pc));
    }
    if let Some(watch) = &mut core.watch {
        watch.arrive_at_cluster(core.warp, releases);
    }
    let barrier = &mut core.cluster_barrier;
    barrier.live[warp] = live;
    barrier.arrived[warp] |= active;
    barrier.due[warp] |= active;
    complete(core);
    Ok(())
}

/// Lanes of a warp wait. Returns whether the phase of their arrival is over.
pub fn wait(core: &mut Core<'_>, active: u32, live: u32, (acquires, aligned): (bool, bool), pc: u32) -> Result<bool, Stop> {
    let warp = core.warp as usize;
    if aligned && active != live {
        return Err(misuse(core, ClusterBarrierMisuse::Divergent, active, pc));
    }
    let never = active & !core.cluster_barrier.due[warp];
    if never != 0 {
        return Err(misuse(core, ClusterBarrierMisuse::NotArrived, never, pc));
    }
    if core.cluster_barrier.arrived[warp] & active != 0 {
        return Ok(false);
    }
    core.cluster_barrier.due[warp] &= !active;
    if let Some(watch) = &mut core.watch {
        watch.leave_cluster_barrier(core.warp, acquires);
    }
    Ok(true)
}

/// Notes which threads of the running warp have not ended.
pub fn note_live(core: &mut Core<'_>, live: u32) {
    let barrier = &mut core.cluster_barrier;
    if barrier.live[core.warp as usize] != live {
        barrier.live[core.warp as usize] = live;
        complete(core);
    }
}

fn complete(core: &mut Core<'_>) {
    if core.cluster_barrier.complete()
        && let Some(watch) = &mut core.watch
    {
        watch.complete_cluster_barrier();
    }
}

fn misuse(core: &Core<'_>, misuse: ClusterBarrierMisuse, lanes: u32, pc: u32) -> Stop {
    core.stop(FindingKind::InvalidClusterBarrier { misuse }, lanes, pc)
}
