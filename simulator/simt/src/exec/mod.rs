//! The machine that executes programs: warps of 32 lanes, blocks of warps, a grid of blocks.
//!
//! - [`warp`]: one warp, from its start to its next pause; divergence and reconvergence.
//! - [`request`]: one warp's access to memory.
//! - [`access`]: loads and stores, the bytes.
//! - [`bounds`]: checks whether a request is allowed.
//! - [`cost`]: counts what a request costs, with [`memo`]s of the last costs.
//! - [`atomics`]: `atom` and `red`, which read and write in one step.
//! - [`async_copy`]: copies that the threads do not wait for, kept in [`copies`].
//! - [`bulk`]: copies that one thread starts for the whole block, and boxes of tensors. [`cluster_copy`]: those to other blocks of the cluster.
//! - [`mbarrier`]: barriers in shared memory, and [`phases`], which is what they have counted.
//! - [`matrix`]: loads and stores of matrices.
//! - [`tensor`]: products of matrices; [`sparse`]: where the elements of a sparse one are.
//! - [`wgmma`]: asynchronous products of four warps, kept in [`products`]. [`descriptor`] says where their operands are.
//! - [`texture`]: textures and surfaces.
//! - [`stack`]: the stack of recursive functions.
//! - [`heap`]: `malloc` and `free`.
//! - [`print`]: `printf` and `assert`. [`printed`] is what a launch keeps of it.
//! - [`exchange`]: shuffles, votes, matches, reductions and elections.
//! - [`watch`]: the checks for data races and reads of uninitialized memory.
//! - [`record`]: records the instructions of one warp, step by step, in its [`recording`].
//! - [`block`]: the warps of a block and their barriers.
//! - [`cluster`]: the blocks of a cluster, which run side by side, and the [`cluster_barrier`]. [`clusters`] says which blocks these are.
//! - [`warpgroup`]: `setmaxnreg`, with which warpgroups pass registers to each other.
//! - [`grid`]: runs the blocks on the cores of the host. [`machine`] is what all workers share, [`core`] what each has.
//! - [`stats`]: the counts of each instruction.

mod access;
mod async_copy;
mod atomics;
mod block;
mod bounds;
mod bulk;
mod cluster;
mod cluster_barrier;
mod cluster_copy;
mod cluster_phase;
pub mod clusters;
mod copies;
mod core;
mod cost;
mod descriptor;
mod exchange;
mod fates;
pub mod grid;
mod heap;
pub mod machine;
mod matrix;
mod mbarrier;
mod memo;
mod phases;
mod print;
mod printed;
mod products;
mod record;
mod recording;
mod register_pool;
pub mod request;
mod sparse;
mod stack;
pub mod stats;
mod stores;
mod tensor;
mod texture;
mod warp;
mod warpgroup;
pub mod watch;
mod wgmma;
