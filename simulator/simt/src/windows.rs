//! Generic addresses: each state space has a window of its own, and the offset in the space is in the low bits.

/// Generic addresses at and above this one lie in shared memory, the offset in the low bits. Global addresses are below.
pub const SHARED_WINDOW: u64 = 1 << 56;

/// As [`SHARED_WINDOW`], of local memory.
pub const LOCAL_WINDOW: u64 = 2 << 56;

/// As [`SHARED_WINDOW`], of the kernel's parameters.
pub const PARAM_WINDOW: u64 = 3 << 56;

/// The part of a generic address below the window.
pub const WINDOW_OFFSET: u64 = SHARED_WINDOW - 1;
