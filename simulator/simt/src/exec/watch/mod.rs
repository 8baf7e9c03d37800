//! The checks that compare accesses: data races, and reads of uninitialized memory.
//!
//! - [`clock`]: vector clocks.
//! - [`far`]: what a warp knows of other blocks, and the flags with which blocks tell each other.
//! - [`knowledge`]: the knowledge that a warp hands on to others.
//! - [`mark`]: the last access to a place.
//! - [`order`]: the happens-before order of a block's accesses.
//! - [`shared`]: the shadow of a block's shared memory.
//! - [`global_shadow`]: the shadow of global memory, which all blocks share.
//! - [`visits`]: accesses of a cluster's blocks to each other's shared memory.
//! - [`proxy`], [`proxy_notes`]: what bulk copies and tensor cores access past the threads.
//! - [`watcher`]: all of these, for one worker.
//! - [`shared_notes`], [`global`]: the calls that a core makes for each access.
//! - [`lane_waits`]: the masks of lanes that meet.
//! - [`products`]: the use of `wgmma`.
//! - [`found`]: the defects found, each once.
//!
//! None of these defects stops a kernel, because none stops a GPU. The ones that do are checked in [`super::bounds`].

pub mod clock;
pub mod far;
pub mod found;
mod global;
pub mod global_shadow;
mod knowledge;
pub mod lane_waits;
pub mod mark;
mod order;
mod products;
mod proxy;
mod proxy_notes;
mod shared;
mod shared_notes;
mod visits;
mod watcher;

pub use watcher::Watch;
