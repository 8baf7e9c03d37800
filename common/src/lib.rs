//! What every chapter needs around its lesson: a device, honest times, inputs with their expected results, and a table.
//!
//! # Layout
//!
//! - [`error`]: everything that can go wrong, and the exit status that it means.
//! - [`device`]: which device a run gets: a GPU that works, or the simulator.
//! - [`probe`]: what the NVIDIA driver of this machine is good for.
//! - [`gpu`]: the open device: cudarc's context and stream, and kernels loaded on it.
//! - [`timing`]: how long enqueued work takes, by CUDA events.
//! - [`ceilings`]: what the device can do at best.
//! - [`workload`]: what is computed, with the oracle: inputs, sizes, expected results; [`audio`], [`picture`], [`npy`] and [`atomic_file`] for the user's own.
//! - [`stage`]: one way to compute a workload; [`requirement`]: what it needs and a device does not have; [`capability`]: the generation.
//! - [`chapter`]: its stages in order, and its lesson; [`lesson`]: comparisons of stages; [`measure`]: what is compared.
//! - [`planner`]: into how many slices a sum is cut, so that its blocks fill the chip.
//! - [`guard`], [`verify`]: outputs that show what was not written or written beside them, and their comparison with the oracle.
//! - [`runner`]: runs stages: poison, run, verify, time, verify again; [`observer`] asks the simulator what it saw.
//! - [`report`]: what a run found out, where no time stands without a verified result.
//! - [`table`], [`record`], [`units`]: a report for people, for programs, and its numbers; [`derived`], what follows from a record.
//! - [`progress`]: shows signs of life during long runs.
//! - [`pinned`]: host memory that a device copies without the driver's help.
//! - [`cublas`], [`cufft`]: NVIDIA's libraries of dense linear algebra and of Fourier transforms, for the rows that call them.

pub mod atomic_file;
pub mod audio;
pub mod capability;
pub mod ceilings;
pub mod chapter;
pub mod cublas;
pub mod cufft;
pub mod derived;
pub mod device;
pub mod error;
pub mod gpu;
pub mod guard;
pub mod lesson;
pub mod measure;
pub mod npy;
pub mod observer;
pub mod picture;
pub mod pinned;
pub mod planner;
pub mod probe;
pub mod progress;
pub mod record;
pub mod report;
pub mod requirement;
pub mod runner;
pub mod stage;
pub mod table;
pub mod timing;
pub mod units;
pub mod verify;
pub mod workload;

pub use chapter::Chapter;
pub use error::{Error, Result};
