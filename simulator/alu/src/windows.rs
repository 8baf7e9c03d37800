//! Generic addresses: each state space has a window of its own, and the offset in the space is in the low bits.

/// The first generic address of shared memory. Global addresses are below it.
pub const SHARED_WINDOW: u64 = 1 << 56;

/// The first generic address of local memory.
pub const LOCAL_WINDOW: u64 = 2 << 56;

/// The first generic address of the kernel's parameters.
pub const PARAM_WINDOW: u64 = 3 << 56;

/// The bits of a generic address with the offset in its space.
pub const WINDOW_OFFSET: u64 = SHARED_WINDOW - 1;
