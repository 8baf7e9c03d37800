//! What is remembered of each launch, until the client takes it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use simt::{Finding, LaunchConfig, LaunchReport};

use crate::occupancy::Occupancy;

/// Launches that are remembered. A program that never asks for its records must not grow by them.
pub const KEPT_LAUNCHES: usize = 1024;

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// Name of the kernel.
    pub kernel: String,
    /// Shape of the launch.
    pub config: LaunchConfig,
    /// How its blocks fill a multiprocessor. Registers count where the PTX tells them: in comments in front of its first directive,
    /// `// registers sm_90: naive 30, naive_strided 40`, one line per architecture, of which the profile's own counts, or else the latest
    /// before it in the same generation.
    pub occupancy: Occupancy,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The kernel ran to its end.
    Finished(Box<LaunchReport>),
    /// The kernel did not end, or could not be launched.
    Failed {
        /// Why, for a person.
        message: String,
        /// The defect, when the kernel has one.
        finding: Option<Box<Finding>>,
    },
}

/// The launches since records were last taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Records {
    /// In the order in which they ended; the latest [`KEPT_LAUNCHES`] of them.
    pub launches: VecDeque<LaunchRecord>,
    /// Launches before those, which are forgotten.
    pub forgotten: u64,
}

impl Records {
    /// Adds a launch and forgets the oldest when there are too many.
    pub(crate) fn push(&mut self, record: LaunchRecord) {
        if self.launches.len() == KEPT_LAUNCHES {
            self.launches.pop_front();
            self.forgotten += 1;
        }
        self.launches.push_back(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupancy::BlockNeeds;
    use simt::{Dim3, Profile};

    #[test]
    fn the_oldest_launches_are_forgotten_and_counted() {
        let mut records = Records::default();
        for index in 0..KEPT_LAUNCHES + 3 {
            let one = Dim3::new(1, 1, 1);
            let config = LaunchConfig { grid: one, block: one, dynamic_shared_bytes: 0 };
            let outcome = Outcome::Failed { message: String::new(), finding: None };
            let needs = BlockNeeds { threads: 1, registers_per_thread: None, shared_bytes: 0 };
            let occupancy = Occupancy::of(Profile::named("h200").unwrap(), needs);
            records.push(LaunchRecord { kernel: index.to_string(), config, occupancy, outcome });
        }
        assert_eq!((records.launches.len(), records.forgotten), (KEPT_LAUNCHES, 3));
        assert_eq!(records.launches[0].kernel, "3");
    }
}
