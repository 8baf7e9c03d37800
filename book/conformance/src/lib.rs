//! Other projects' test suites on the software driver: their list, their runs, and their scores.
//!
//! A suite is fetched at one version, built outside of this repository, and each of its tests runs in a process of its own, because a kernel
//! that faults leaves its process unusable, as on a GPU. A suite whose processes start slowly runs tests of a class in one process first;
//! those that did not pass there, and all of a process in which the driver found a defect, then run alone.
//!
//! The tests of a labeled suite have defects that others planted. They run in several orders of warps, and each kind of defect is counted.

pub mod cuda_path;
pub mod labels;
pub mod record;
pub mod run;
pub mod source;
pub mod suite;
