//! The ways to misuse barriers other than those of a block, and the state of barriers that do not open.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Location;
use crate::geometry::Dim3;

/// The ways to misuse a barrier in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(tag = "misuse", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the comment and the text of each kind name its fields")]
pub enum MbarrierMisuse {
    /// It was not initialized, or it was overwritten.
    #[error("which nobody initialized, or which was written over")]
    NotInitialized,
    /// It was initialized for more arrivals than it can count, or for none.
    #[error("initialized for {count} arrivals: there must be 1 to 1048575")]
    Count { count: u32 },
    /// More threads arrive than the phase is missing, or none. `lacking` are missing.
    #[error("where {count} arrive and the phase lacks {lacking}")]
    TooManyArrivals { count: u32, lacking: u32 },
    /// More bytes are expected, or arrived early, than it can count.
    #[error("which cannot count so many bytes: at most 1048575 may be lacking")]
    TooManyBytes,
    /// An arrival that must not end the phase would end it.
    #[error("whose phase an arrival with .noComplete would end")]
    EndsPhase,
    /// More bytes came than were expected, so that the phase cannot end.
    #[error("whose phase cannot end: {came} bytes came and {expected} were expected")]
    MoreBytes { expected: u64, came: u64 },
}

/// The ways to misuse the barrier of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(tag = "misuse", rename_all = "kebab-case")]
pub enum ClusterBarrierMisuse {
    /// Only some of a warp's threads reached an instruction with `.aligned`.
    #[error("reached by only part of a warp: with .aligned, all threads of the warp must execute the same instruction")]
    Divergent,
    /// A thread arrived and did not wait before it arrived again.
    #[error("where a thread arrives a second time without having waited")]
    ArrivedTwice,
    /// A thread waits that has not arrived.
    #[error("where a thread waits without having arrived")]
    NotArrived,
}

/// The threads of a barrier that counts them. A warp counts as 32, even if some of its threads have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierCount {
    /// Threads that it waits for.
    pub expected: u32,
    /// Threads that arrived.
    pub arrived: u32,
    /// Threads of the block whose warps have ended.
    pub ended: u32,
}

impl fmt::Display for BarrierCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, arrived, ended } = self;
        write!(f, "{expected} threads, and only {arrived} arrive")?;
        match ended {
            0 => Ok(()),
            _ => write!(f, "; {ended} threads have ended, and count only if they arrived before"),
        }
    }
}

/// A block that waits for others of its cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterWait {
    /// Index of the block in the grid.
    pub block: Dim3,
    /// Where its first waiting warp is.
    pub location: Location,
}

/// The counts of a barrier's phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseReport {
    /// Its number, from 0.
    pub number: u64,
    /// Arrivals that end it.
    pub arrivals: u32,
    /// Bytes that were expected so far.
    pub bytes: u64,
    /// Bytes that came, or are on the way.
    pub came: u64,
}

/// A warp that waits for a barrier in shared memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// The first of its threads that waits.
    pub thread: Dim3,
    /// Where the barrier is, an offset in shared memory.
    pub address: u64,
    /// The number of the phase that it waits for.
    pub phase: u64,
    /// The wait.
    pub location: Location,
}

impl fmt::Display for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, address, phase, location } = self;
        write!(f, "thread {thread} waits for phase {phase} (parity {}) of the mbarrier at {address:#x}, at {location}", phase % 2)
    }
}
