//! Chapter 05: sums over a window, from accumulators in global memory to the speed of a copy.

source! {
    "05-window-sums", "compute_50", ["05-window-sums.cuh"];

    kernels {
        FUSED_GLOBAL = "fused_global": "Both accumulators in global memory, in one loop.",
        SUM_ONLY = "sum_only": "Only the sums of [`FUSED_GLOBAL`].",
        SQUARES_ONLY = "squares_only": "Only the sums of squares of [`FUSED_GLOBAL`].",
        SPLIT_GLOBAL = "split_global": "One loop for the sum and one for the squares.",
        SHARED_SLICES = "shared_slices": "A slice of shared memory for each thread.",
        MULTIPLY = "multiply": "[`FUSED_GLOBAL`] with a multiplication instead of `pow`.",
        REGISTERS = "registers": "The accumulators in registers.",
    }
    constants {
        BLOCK = 256: "Threads of a block of the kernels with one output per thread.",
    }
}

source! {
    /// Tiles of a row in shared memory.
    mod tiles: "05-window-sums-tiles", "compute_50", ["05-window-sums.cuh"];

    kernels {
        SHARED_TILE = "shared_tile": "One output per thread.",
        SLIDING = "sliding": "[`RUN`] outputs per thread.",
        VECTORS = "vector": "[`VECTOR`] outputs per thread.",
        ROW_SCAN = "row_scan": "Prefix sums along a whole row.",
        TILE_SCAN = "tile_scan": "Prefix sums of a tile.",
    }
    constants {
        WARP = 32: "Lanes of a warp. The first block of [`VECTORS`], [`ROW_SCAN`] and [`TILE_SCAN`] begins at a multiple of it.",
        VECTOR = 4: "Words of a vector.",
        PART = 256: "Window pixels that most kernels handle per iteration.",
        RUN_THREADS = 64: "Threads of a block of [`SLIDING`] and [`VECTORS`].",
        RUN = 9: "Neighboring outputs of a thread of [`SLIDING`].",
        ROW_THREADS = 256: "Threads of a block of [`ROW_SCAN`].",
        TILE_THREADS = 128: "Threads of a block of [`TILE_SCAN`].",
        TILE = 1024: "Pixels of a block of [`TILE_SCAN`].",
    }
}

source! {
    /// Prefix sums of whole rows.
    mod scan: "05-window-sums-scan", "compute_70", ["05-window-sums.cuh", "05-window-sums-scan.cuh"];

    kernels {
        PREFIX_ROWS = "prefix_rows": "The prefix sums of all rows, by decoupled look-back.",
        DIFFERENCES = "differences": "The sum of each window as the difference of two prefix sums.",
    }
    constants {
        SCAN_THREADS = 256: "Threads of a block of [`PREFIX_ROWS`].",
        SCAN_TILE = 1024: "Pixels of a block of [`PREFIX_ROWS`].",
    }
}

source! {
    /// Prefix sums of whole rows that stay on the chip.
    mod once: "05-window-sums-once", "compute_70", ["05-window-sums.cuh", "05-window-sums-scan.cuh"];

    kernels {
        ONE_PASS = "one_pass": "Window sums of any width, from the prefix sums of tiles.",
    }
    constants {
        ONCE_THREADS = 512: "Threads of a block of [`ONE_PASS`].",
        ONCE_TILE = 8192: "Pixels of a block of [`ONE_PASS`], each with two words in shared memory.",
    }
}
