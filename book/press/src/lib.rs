//! The press: renders the book. Pages carry directives; an mdBook preprocessor replaces them by numbers, tables, charts and drawings made
//! from saved runs and from runs of the simulator, so that no page holds a number that can go wrong.
//!
//! # Layout
//!
//! - `directive`: the syntax. `page`: what each directive is replaced by. `preprocess`: mdBook's protocol.
//! - `include` checks what mdBook includes itself. `chapters`: all chapters, and visits to one of them.
//! - `archive`: the saved runs. `facts`: numbers from elsewhere, with their sources.
//! - `values`: numbers of a run, by `expression` and `quantity`; `number` writes them.
//! - `tables`, `counts`, `instructions`, `functions`, `mutants`, `exercises`, `predict`, `diff`, `ptx`: text and tables. `sources`: where the numbers of a
//!   page come from. `exercise_data`: what a page needs to check exercises.
//! - `callouts`: block quotes with a name. `claim`: sentences that records must bear out. `claims` lists those that no claim covers.
//! - `charts`: charts of records. `drawing`: SVG for charts and for drawings of memory accesses.
//! - `lab`: what moves in pages.
//! - `simulation`: what comes from a run of the simulator.
//! - `web`: the simulator as WebAssembly modules, and the files that move pages.
//! - `readme`: the tables of the README.
//! - `manifest`: the list of all records, `book/records.toml`. `check` compares it with the records, `rerun` makes records again, `digests` says which
//!   kernels have changed, and `stale` which rows no longer hold. `counts` and `listings` are records that are not runs of chapters.

pub mod archive;
mod callouts;
pub mod chapters;
mod charts;
pub mod check;
mod claim;
pub mod claims;
pub mod counts;
mod diff;
pub mod digests;
pub mod directive;
mod drawing;
pub mod exercise_data;
mod exercises;
mod expression;
mod facts;
mod functions;
mod include;
mod instructions;
mod lab;
pub mod listings;
pub mod manifest;
mod mutants;
mod number;
pub mod page;
mod planted;
mod predict;
pub mod preprocess;
mod ptx;
mod quantity;
pub mod readme;
pub mod rerun;
pub mod simulation;
mod sources;
pub mod stale;
mod suites;
mod tables;
mod values;
pub mod web;

use std::path::Path;

pub use drawing::svg::width_of;

pub use page::pictures;

/// Returns the root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
