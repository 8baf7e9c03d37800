//! The checks that look at accesses together: races, and reads of what nobody wrote.
//!
//! - [`mark`]: who accessed a place last.
//! - [`order`]: what happened before what in a block.
//! - [`shared`]: the shadow of a block's shared memory.
//! - [`global_shadow`]: the shadow of global memory, which the blocks share.
//! - [`watcher`]: all of these, for one worker.
//! - [`shared_notes`], [`global`]: what a core tells them of its accesses.
//! - [`found`]: what was found, each defect once.
//!
//! None of them stops a kernel, because none stops a GPU. What must stop it is checked in [`super::bounds`].

pub mod found;
mod global;
pub mod global_shadow;
mod mark;
mod order;
mod shared;
mod shared_notes;
mod watcher;

pub use watcher::Watch;
