//! Everything that a chapter needs to run: a device, honest times, inputs with their expected results, and a table.
//!
//! # Layout
//!
//! Each folder and each file uses only those above it.
//!
//! - [`workloads`], a crate of its own, is what is computed: inputs, sizes, oracle, and the least work that it takes.
//! - [`whole_number`] reads numbers of a command line.
//! - [`requirement`] is what a stage needs and a device does not have.
//! - [`error`] is everything that can go wrong, with the exit status that it means.
//! - [`console`] prints results and messages, and knows the width of the terminal.
//! - [`files`] reads the user's sounds, pictures and matrices, and writes a file whole or not at all.
//! - [`device`] chooses between a GPU and the simulator. [`gpu`] is the open device, [`probe`] finds out whether the NVIDIA driver works,
//!   [`timing`] times enqueued work, [`guard`] is an output that shows missing and stray writes, [`planner`] cuts a sum into slices, and
//!   [`ceilings`] measures the highest rates. [`sensors`](device::sensors) reads clocks and power.
//! - [`workload`] is what a device and a command line add to a workload: buffers, options, the user's files.
//! - [`observer`] collects what the simulator counted and found.
//! - [`stage`] is one way to compute a workload.
//! - [`fourier`] is what stages share that call cuFFT. [`library`] knows the versions of such libraries.
//! - [`runner`] runs stages: poison, run, verify, time, verify again. [`estimate`] says before how long it will take.
//! - [`results`] has the rows of a run ([`report`], where only a verified row can have a time), the [`record`] of it for programs, what
//!   follows from its numbers, the [`table`] for people, and the [`lesson`] that compares stages.
//! - [`chapter`] is a set of stages in order, with its lesson.
//!
//! The types that every chapter names are here as well: `run::Stage` is [`stage::Stage`].

pub mod chapter;
pub mod console;
pub mod device;
pub mod error;
pub mod estimate;
pub mod files;
pub mod fourier;
pub mod library;
pub mod observer;
pub mod requirement;
pub mod results;
pub mod runner;
pub mod stage;
pub mod whole_number;
pub mod workload;

pub use chapter::Chapter;
pub use device::gpu::Gpu;
pub use device::request::Request;
pub use device::{capability, ceilings, gpu, guard, pinned, planner, probe, request, tensor_map, timing};
pub use error::{Error, Result};
pub use files::{atomic_file, audio, npy, picture};
pub use requirement::Unmet;
pub use results::lesson::Comparison;
pub use results::{derived, lesson, record, report, table};
pub use stage::{Experiment, Prepared, Stage};
pub use workload::Workload;
pub use workloads::measure::Measure;
pub use workloads::{measure, units};
