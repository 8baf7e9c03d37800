//! The CUDA driver API over `simt`: a CUDA driver in software.
//!
// The example carries the driver, which works on Linux only.
#![cfg_attr(any(target_os = "linux", not(doctest)), doc = include_str!("../README.md"))]
//!
//! # Two halves
//!
//! As a shared library it takes the place of NVIDIA's `libcuda`, so that a CUDA program runs unchanged on a machine without a GPU, and its
//! kernels are counted and checked. The `lib` half is for programs in Rust: it finds that library, or carries it ([`linked`]), opens it before
//! the CUDA bindings look for theirs, and reads what the simulator saw ([`client`]).
//!
//! A program can rely on what CUDA promises, and on nothing more. By default, an operation of a stream is complete when the call that
//! enqueues it returns, unless the stream is being captured into a graph, or waits for a value in memory. CUDA allows that order for any
//! program, although a GPU would not show it. `SIMCUDA_SCHEDULE` chooses other orders that CUDA allows. Events record the host's clock, so
//! the time between two events says how long *the simulator* took.
//!
//! # Layout
//!
//! Imports run one way: a module uses modules of its own group and of the groups before it, and there are no cycles.
//!
//! Shared by the library and its users:
//!
//! - `interface`: the version of what crosses between client and library.
//! - `error`: what can go wrong for a user of the Rust half. `result`: what a C function returns.
//! - `messages`: lines on standard error.
//! - [`variables`]: the environment variables. [`settings`]: what can be set, by them or by a client.
//! - [`files`]: files that others read while the process runs.
//! - [`mod@occupancy`]: how a launch fills a multiprocessor.
//! - [`records`]: what is remembered of the launches: totals over all, details of the latest.
//! - [`coverage`]: which lines and branches of the kernels were executed, over processes.
//! - [`report`]: what the whole process did, for programs that do not know about the simulator. `defect`: which findings are the same.
//!   `name`: what a kernel is called in its source.
//! - [`mutants`]: deliberate mistakes in the kernels that the process runs. [`scores`]: how often they were noticed.
//!
//! The Rust half:
//!
//! - [`client`]: finds and opens the library, sets it up, takes its records.
//! - [`install`]: installs the library under the names that programs ask the loader for.
//!
//! The C boundary:
//!
//! - `handles`: tokens for the objects that a program holds.
//! - `ffi`: the caller's pointers and structures.
//!
//! The state of the driver:
//!
//! - `attributes`, `host_memory`: facts about the device, and about the program's own memory.
//! - `shared_memory`: memory that processes share, and that can be mapped at several addresses.
//! - `allocations`, `advice`, `pools`: who owns which memory; what was said about it; memory pools.
//! - `position`: where work is in the order of all work. `schedule`: which of the allowed orders it takes. `timeline`: what orders it, and
//!   races between streams. `veil`: what the host must not look at yet.
//! - `queues`: what streams have yet to do, because of a schedule, or because one of them waits for a value in memory.
//! - `topology`, `captures`: the nodes and edges of a graph; which streams are captured into which graph.
//! - `graph_memory`: memory that graphs allocate. `graph_order`: which of their nodes come after which others.
//! - `driver`: the driver as a whole, from `cuInit` on. It has all global state.
//! - `export`: the macro that defines an exported function, and how each one returns.
//! - [`launch_files`]: writes launches to files. [`stepping`]: records what one warp of one launch does, for `simcuda debug`.
//! - `observer`: following launches. `reporter`: reporting while the process runs.
//! - `fatbin`: finds the PTX in what `nvcc` builds.
//! - `link`: makes one PTX module of several.
//! - `at_exit`: writes the report when the process ends (on Linux).
//!
//! The functions that a program calls:
//!
//! - [`linked`]: the exported functions inside the program itself, for one that is installed without the library.
//! - `api`: the exported functions. [`functions`]: which functions of CUDA's headers are among them.

pub mod client;
pub mod coverage;
pub mod files;
pub mod functions;
pub mod host_memory;
pub mod install;
pub mod launch_files;
pub mod linked;
pub mod mutants;
pub mod records;
pub mod report;
pub mod scores;
pub mod settings;
pub mod stepping;
pub mod variables;

pub use simt::occupancy;

mod advice;
mod allocations;
mod api;
#[cfg(target_os = "linux")]
mod at_exit;
mod attributes;
mod captures;
mod defect;
mod driver;
mod error;
mod export;
mod fatbin;
mod ffi;
mod graph_memory;
mod graph_order;
mod handles;
mod interface;
mod link;
mod messages;
mod name;
mod observer;
mod pools;
mod position;
mod queues;
mod reporter;
mod result;
mod schedule;
mod shared_memory;
#[cfg(test)]
mod tests;
mod timeline;
mod topology;
mod veil;
mod virtual_memory;
