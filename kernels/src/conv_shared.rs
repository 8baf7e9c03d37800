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

source! {
    /// Outputs that many threads add up together.
    mod reduction: "02-conv-shared-reduction", "compute_50", [];

    kernels {
        /// [`BLOCK`] threads per output, which add up their sums in shared memory.
        BLOCK_PER_OUTPUT = "block_per_output",
        /// [`WARP`] threads per output, which add up their sums with shuffles.
        WARP_PER_OUTPUT = "warp_per_output",
        /// [`WIDE_BLOCK`] threads per output, which do both.
        BLOCK_SHUFFLE = "block_shuffle",
    }
    constants {
        /// Threads per block of [`BLOCK_PER_OUTPUT`] and [`WARP_PER_OUTPUT`].
        BLOCK = 256,
        /// Threads per block of [`BLOCK_SHUFFLE`].
        WIDE_BLOCK = 1024,
        /// Lanes of a warp.
        WARP = 32,
    }
}
