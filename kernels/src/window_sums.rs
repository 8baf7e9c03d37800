//! Chapter 05: sums over a window, from accumulators in global memory to the speed of a copy.

source! {
    "05-window-sums", "compute_50", ["05-window-sums.cuh"];

    kernels {
        /// Both accumulators in global memory, in one loop.
        FUSED_GLOBAL = "fused_global",
        /// Only the sums of [`FUSED_GLOBAL`].
        SUM_ONLY = "sum_only",
        /// Only the sums of squares of [`FUSED_GLOBAL`].
        SQUARES_ONLY = "squares_only",
        /// One loop for the sum and one for the squares.
        SPLIT_GLOBAL = "split_global",
        /// A slice of shared memory for each thread.
        SHARED_SLICES = "shared_slices",
        /// [`FUSED_GLOBAL`] with a multiplication instead of `pow`.
        MULTIPLY = "multiply",
        /// The accumulators in registers.
        REGISTERS = "registers",
    }
    constants {
        /// Threads of a block of the kernels with one output per thread.
        BLOCK = 256,
    }
}

source! {
    /// Tiles of a row in shared memory.
    mod tiles: "05-window-sums-tiles", "compute_50", ["05-window-sums.cuh"];

    kernels {
        /// One output per thread.
        SHARED_TILE = "shared_tile",
        /// [`RUN`] outputs per thread.
        SLIDING = "sliding",
        /// [`VECTOR`] outputs per thread.
        VECTORS = "vector",
        /// Prefix sums along a whole row.
        ROW_SCAN = "row_scan",
        /// Prefix sums of a tile.
        TILE_SCAN = "tile_scan",
    }
    constants {
        /// Lanes of a warp. The first block of [`VECTORS`], [`ROW_SCAN`] and [`TILE_SCAN`] begins at a multiple of it.
        WARP = 32,
        /// Words of a vector.
        VECTOR = 4,
        /// Window pixels that most kernels handle per iteration.
        PART = 256,
        /// Threads of a block of [`SLIDING`] and [`VECTORS`].
        RUN_THREADS = 64,
        /// Neighboring outputs of a thread of [`SLIDING`].
        RUN = 9,
        /// Threads of a block of [`ROW_SCAN`].
        ROW_THREADS = 256,
        /// Threads of a block of [`TILE_SCAN`].
        TILE_THREADS = 128,
        /// Pixels of a block of [`TILE_SCAN`].
        TILE = 1024,
    }
}

source! {
    /// Prefix sums of whole rows.
    mod scan: "05-window-sums-scan", "compute_70", ["05-window-sums.cuh"];

    kernels {
        /// The prefix sums of all rows, by decoupled look-back.
        PREFIX_ROWS = "prefix_rows",
        /// The sum of each window as the difference of two prefix sums.
        DIFFERENCES = "differences",
    }
    constants {
        /// Threads of a block of [`PREFIX_ROWS`].
        SCAN_THREADS = 256,
        /// Pixels of a block of [`PREFIX_ROWS`].
        SCAN_TILE = 1024,
    }
}
