//! Runs that succeed without having tested anything.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{KEPT, Refusal, Report, counted};

/// A process that loaded the driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The name of its program's file.
    pub program: String,
    /// Launches that started.
    pub launches: u64,
}

/// Names what is no failure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Kernels that did not run, because they or their launches were refused.
    pub refused: bool,
    /// No launch at all. One process of several may make none.
    pub no_launch: bool,
}

impl Default for Allowed {
    fn default() -> Self {
        Self { refused: false, no_launch: true }
    }
}

/// Names what a successful run did not test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untested {
    /// Kernels did not run, because their modules or launches were refused this often.
    Refused(u64),
    /// No process launched a kernel.
    NoLaunch,
}

impl fmt::Display for Untested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(times) => {
                let refused = counted(*times, "module or launch was", "modules and launches were");
                write!(f, "{refused} refused, so kernels did not run")
            }
            Self::NoLaunch => f.write_str("no process launched a kernel"),
        }
    }
}

impl Report {
    /// Adds a refusal and returns whether it is new.
    pub(crate) fn note_refusal(&mut self, reason: &str, stops_kernels: bool) -> bool {
        if let Some(refusal) = self.refusals.iter_mut().find(|refusal| refusal.reason == reason) {
            refusal.times += 1;
            refusal.stops_kernels |= stops_kernels;
            return false;
        }
        let is_kept = self.refusals.len() < KEPT;
        if is_kept {
            self.refusals.push(Refusal { times: 1, reason: reason.to_owned(), stops_kernels });
        }
        is_kept
    }

    /// Makes the report of a process that never initialized the driver.
    pub(crate) fn of_an_idle_process() -> Self {
        Self::new("", Vec::new())
    }

    /// Counts the launches that started.
    pub fn launches(&self) -> u64 {
        self.kernels.values().map(|kernel| kernel.launches).sum()
    }

    /// Says why a run that succeeded has tested less than it seems; `None` if it has not.
    pub fn untested(&self) -> Option<Untested> {
        let stopped = self.refusals.iter().filter(|refusal| refusal.stops_kernels).map(|refusal| refusal.times).sum();
        match (stopped, self.launches()) {
            (1.., _) if !self.allowed.refused => Some(Untested::Refused(stopped)),
            (_, 0) if !self.allowed.no_launch => Some(Untested::NoLaunch),
            _ => None,
        }
    }
}
