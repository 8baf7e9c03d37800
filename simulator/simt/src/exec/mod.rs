//! The machine that executes programs: warps of 32 lanes, blocks of warps, a grid of blocks.
//!
//! - [`warp`]: one warp, from its start to its next pause; divergence and reconvergence.
//! - [`request`]: one warp's access to memory.
//! - [`access`]: loads and stores, the bytes.
//! - [`bounds`]: checks whether a request is allowed.
//! - [`cost`]: counts what a request costs, with [`memo`]s of the last costs.
//! - [`atomics`]: `atom` and `red`, which read and write in one step.
//! - [`async_copy`]: copies that the threads do not wait for, kept in [`copies`].
//! - [`mbarrier`]: barriers in shared memory, and the bulk copies that they count.
//! - [`matrix`]: loads and stores of matrices.
//! - [`tensor`]: products of matrices.
//! - [`texture`]: textures and surfaces.
//! - [`stack`]: the stack of recursive functions.
//! - [`heap`]: `malloc` and `free`.
//! - [`print`]: `printf` and `assert`. [`printed`] is what a launch keeps of it.
//! - [`exchange`]: shuffles, votes, matches, reductions and elections.
//! - [`watch`]: the checks for data races and reads of uninitialized memory.
//! - [`trace`]: records which bytes of global memory one block accesses.
//! - [`record`]: records the instructions of one warp, step by step, in its [`recording`].
//! - [`block`]: the warps of a block and their barriers.
//! - [`warp_order`]: the order in which the warps of a block take turns.
//! - [`grid`]: runs the blocks on the cores of the host. [`machine`] is what all workers share, [`core`] what each has.
//! - [`stats`]: the counts of each instruction.

mod access;
mod async_copy;
mod atomics;
mod block;
mod bounds;
mod copies;
mod core;
mod cost;
mod exchange;
mod fates;
pub mod grid;
mod heap;
pub mod machine;
mod matrix;
mod mbarrier;
mod memo;
mod print;
mod printed;
mod record;
mod recording;
mod request;
mod stack;
mod stats;
mod tensor;
mod texture;
mod trace;
mod warp;
pub mod warp_order;
pub mod watch;
