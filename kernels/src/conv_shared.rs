//! Chapter 02: convolution with tiles in shared memory.

source! {
    "02-conv-shared", "compute_50", [];

    kernels {
        SHARED = "shared": "Tiles of [`TILE`] taps.",
        SHARED_WIDE = "shared_wide": "Tiles of [`WIDE_TILE`] taps.",
        SHARED_MISSING_BARRIER = "shared_missing_barrier":
            "[`SHARED`] without the barrier between reading a tile and overwriting it. Wrong.",
    }
    constants {
        BLOCK = 256: "Threads per block, one for each output.",
        TILE = 256: "Taps of a tile of [`SHARED`].",
        WIDE_TILE = 1024: "Taps of a tile of [`SHARED_WIDE`].",
    }
}

source! {
    /// Outputs that many threads add up together.
    mod reduction: "02-conv-shared-reduction", "compute_50", [];

    kernels {
        BLOCK_PER_OUTPUT = "block_per_output": "[`BLOCK`] threads per output, which add up their sums in shared memory.",
        WARP_PER_OUTPUT = "warp_per_output": "[`WARP`] threads per output, which add up their sums with shuffles.",
        BLOCK_SHUFFLE = "block_shuffle": "[`WIDE_BLOCK`] threads per output, which do both.",
    }
    constants {
        BLOCK = 256: "Threads per block of [`BLOCK_PER_OUTPUT`] and [`WARP_PER_OUTPUT`].",
        WIDE_BLOCK = 1024: "Threads per block of [`BLOCK_SHUFFLE`].",
        WARP = 32: "Lanes of a warp.",
    }
}
