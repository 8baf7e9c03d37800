//! Chapter 02: convolution with tiles in shared memory.

source! {
    "02-conv-shared", "compute_50", [];

    kernels {
        /// Tiles of [`TILE`] taps.
        SHARED = "shared",
        /// Tiles of [`WIDE_TILE`] taps.
        SHARED_WIDE = "shared_wide",
        /// [`SHARED`] without the barrier between reading a tile and overwriting it. Wrong.
        SHARED_MISSING_BARRIER = "shared_missing_barrier",
    }
    constants {
        /// Threads per block, one for each output.
        BLOCK = 256,
        /// Taps of a tile of [`SHARED`].
        TILE = 256,
        /// Taps of a tile of [`SHARED_WIDE`].
        WIDE_TILE = 1024,
    }
}
