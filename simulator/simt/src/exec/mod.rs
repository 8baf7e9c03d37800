//! The machine that executes programs: warps of 32 lanes, blocks of warps, a grid of blocks.
//!
//! - [`warp`]: one warp from its start to its next pause; divergence and reconvergence.
//! - [`request`]: one warp's access to memory, as the next four see it.
//! - [`access`]: loads and stores, the bytes.
//! - [`bounds`]: whether a request may happen.
//! - [`cost`]: what it costs, counted.
//! - [`atomics`]: `atom` and `red`, which read and write in one step.
//! - [`async_copy`]: copies that the threads do not wait for.
//! - [`mbarrier`]: barriers in shared memory, and the bulk copies that they count.
//! - [`matrix`]: matrices between memory and registers.
//! - [`tensor`]: their products.
//! - [`print`]: `printf` and `assert`.
//! - [`exchange`]: shuffles and votes.
//! - [`watch`]: races, and reads of what nobody wrote.
//! - [`trace`]: what one block touches of global memory.
//! - [`block`]: the warps of a block and their barriers.
//! - [`warp_order`]: in which order the warps of a block get their turns.
//! - [`grid`]: blocks over the cores of the host.
//! - [`stats`]: what was counted, instruction by instruction.

mod access;
mod async_copy;
mod atomics;
mod block;
mod bounds;
mod copies;
mod core;
mod cost;
mod exchange;
pub mod grid;
pub mod machine;
mod matrix;
mod mbarrier;
mod memo;
mod print;
mod request;
mod stats;
mod tensor;
mod trace;
mod warp;
pub mod warp_order;
pub mod watch;
