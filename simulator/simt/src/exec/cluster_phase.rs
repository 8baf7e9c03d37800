//! The counts of a cluster's barrier.

/// The barrier of the cluster that is running. The vectors hold a mask of lanes for each of its warps.
#[derive(Debug, Default)]
pub struct ClusterBarrier {
    /// Threads that have not ended.
    pub live: Vec<u32>,
    /// Threads that have arrived in this phase.
    pub arrived: Vec<u32>,
    /// Threads that have arrived, in this phase or the one before, and have not waited since.
    pub due: Vec<u32>,
    /// Phases that are over.
    pub phase: u32,
}

impl ClusterBarrier {
    /// Starts a cluster with these threads in its warps.
    pub fn start(&mut self, live: impl Iterator<Item = u32>) {
        self.live.clear();
        self.live.extend(live);
        self.arrived = vec![0; self.live.len()];
        self.due = vec![0; self.live.len()];
        self.phase = 0;
    }

    /// Ends the phase if everyone has arrived who has not ended.
    pub fn complete(&mut self) -> bool {
        let all = self.live.iter().zip(&self.arrived).all(|(live, arrived)| live & !arrived == 0);
        let complete = all && self.arrived.iter().any(|arrived| *arrived != 0);
        if complete {
            self.arrived.fill(0);
            self.phase += 1;
        }
        complete
    }
}
