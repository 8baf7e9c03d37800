//! Everything that a chapter needs to run: a device, honest times, inputs with their expected results, and a table.
//!
//! # Layout
//!
//! Each module uses only modules above it.
//!
//! - [`workloads`], a crate of its own, is what is computed: inputs, sizes, oracle, and the least work that it takes.
//! - [`whole_number`] reads numbers of a command line.
//! - [`probe`] finds out whether the NVIDIA driver of this machine works.
//! - [`request`] is what `--device` asks for.
//! - [`capability`] is the generation of a GPU, and [`requirement`] is what a stage needs and a device does not have.
//! - [`error`] is everything that can go wrong, with the exit status that it means.
//! - [`console`] prints results and messages, and knows the width of the terminal.
//! - [`atomic_file`] writes a file whole or not at all, [`input_file`] opens one to read, and [`memory`] is what this machine has free.
//! - [`audio`], [`picture`] and [`npy`] read and write the user's data.
//! - [`device`] chooses between a GPU and the simulator.
//! - [`gpu`] is the open device: cudarc's context and stream, and the kernels loaded on it.
//! - [`planner`] cuts a sum into slices, so that its blocks fill the chip.
//! - [`pinned`] allocates host memory that the device can copy directly.
//! - [`timing`] times enqueued work with CUDA events.
//! - [`guard`] is an output on the device that shows missing and stray writes; [`oracles`] compares it with what it should be.
//! - [`workload`] is what a device and a command line add to a workload: buffers, options, the user's files.
//! - [`ceilings`] measures the highest rates that the device reaches.
//! - [`observer`] collects what the simulator counted and found.
//! - [`report`] is the result of a run: a row per stage, where only a verified row can have a time.
//! - [`stage`] is one way to compute a workload.
//! - [`runner`] runs stages: poison, run, verify, time, verify again. [`estimate`] says before how long it will take.
//! - [`record`] is a run for programs, and [`derived`] is what follows from its numbers.
//! - [`lesson`] compares stages by a quantity that the simulator counts, or by time.
//! - [`table`] draws a record for people.
//! - [`chapter`] is a set of stages in order, with its lesson.

pub mod atomic_file;
pub mod audio;
pub mod capability;
pub mod ceilings;
pub mod chapter;
pub mod console;
pub mod derived;
pub mod device;
pub mod error;
pub mod estimate;
pub mod gpu;
pub mod guard;
pub mod input_file;
pub mod lesson;
pub mod memory;
pub mod npy;
pub mod observer;
pub mod picture;
pub mod pinned;
pub mod planner;
pub mod probe;
pub mod record;
pub mod report;
pub mod request;
pub mod requirement;
pub mod runner;
pub mod stage;
pub mod table;
pub mod timing;
pub mod whole_number;
pub mod workload;

pub use chapter::Chapter;
pub use error::{Error, Result};
pub use workloads::{measure, units};
