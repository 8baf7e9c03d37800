//! The barrier of a cluster: `barrier.cluster.arrive` and `barrier.cluster.wait`.
//!
//! A phase ends when every thread of the cluster has arrived or ended (PTX ISA, "Parallel Synchronization and Communication Instructions:
//! barrier.cluster": the wait is for all threads that have not exited). Between its arrival and its wait, a thread may do other work.

use super::core::Core;
use super::machine::Stop;
use ptx::finding::{ClusterBarrierMisuse, FindingKind};

/// Notes that lanes of a warp arrive. `live` are those that have not ended.
pub fn arrive(core: &mut Core<'_>, active: u32, live: u32, (releases, aligned): (bool, bool), pc: u32) -> Result<(), Stop> {
    let warp = core.warp as usize;
    refuse(core, ClusterBarrierMisuse::Divergent, if aligned && active != live { active } else { 0 }, pc)?;
    refuse(core, ClusterBarrierMisuse::ArrivedTwice, core.cluster_barrier.due[warp] & active, pc)?;
    core.check(|watch, warp| watch.order.arrive_at_cluster(warp, releases));
    let barrier = &mut core.cluster_barrier;
    barrier.live[warp] = live;
    barrier.arrived[warp] |= active;
    barrier.due[warp] |= active;
    complete(core);
    Ok(())
}

/// Notes that lanes of a warp wait. Returns whether the phase of their arrival is over.
pub fn wait(core: &mut Core<'_>, active: u32, live: u32, (acquires, aligned): (bool, bool), pc: u32) -> Result<bool, Stop> {
    let warp = core.warp as usize;
    refuse(core, ClusterBarrierMisuse::Divergent, if aligned && active != live { active } else { 0 }, pc)?;
    refuse(core, ClusterBarrierMisuse::NotArrived, active & !core.cluster_barrier.due[warp], pc)?;
    if core.cluster_barrier.arrived[warp] & active != 0 {
        return Ok(false);
    }
    core.cluster_barrier.due[warp] &= !active;
    core.check(|watch, warp| watch.order.leave_cluster_barrier(warp, acquires));
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
    if core.cluster_barrier.complete() {
        core.check(|watch, _| watch.order.complete_cluster_barrier());
    }
}

/// Fails if there are lanes that misuse the barrier.
fn refuse(core: &Core<'_>, misuse: ClusterBarrierMisuse, lanes: u32, pc: u32) -> Result<(), Stop> {
    if lanes == 0 { Ok(()) } else { Err(core.stop(FindingKind::InvalidClusterBarrier { misuse }, lanes, pc)) }
}
