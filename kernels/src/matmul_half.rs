//! Chapter 06, half precision: products of bf16 numbers on tensor cores.

source! {
    "06-matmul-half", "compute_80", ["06-matmul-tiled.cuh", "06-matmul-half.cuh"];

    kernels {
        MMA = "mma": "Each warp multiplies with `mma.sync`.",
    }
    constants {
        ROWS = 128: "Output rows of a block, of these and most other kernels of this chapter.",
        COLUMNS = 256: "Output columns of a block.",
        DEPTH = 64: "Columns of A, and rows of B, in a tile.",
        THREADS = 256: "Threads of a block.",
        SHARED_BYTES = 147_456: "Bytes of dynamic shared memory of a block.",
    }
}

source! {
    /// Hopper's TMA and tensor cores: compute capability 9.0 and no other.
    mod hopper: "06-matmul-half-hopper", "compute_90a",
        ["hopper.cuh", "06-matmul-half.cuh", "06-matmul-half-hopper.cuh", "06-matmul-half-tiles.cuh"];

    kernels {
        WGMMA = "wgmma": "Waits for each pair of tiles.",
        RING = "ring": "Copies [`STAGES`] pairs of tiles in the background.",
        PRODUCER = "producer": "One warp copies, two warpgroups multiply.",
        STORES = "stores": "TMA stores the outputs. Blocks may take several tiles of the output.",
        MULTICAST = "multicast": "[`STORES`], with tiles of B for two blocks.",
        FUSED = "fused": "[`STORES`], with a bias and ReLU.",
        ADD_BIAS = "add_bias": "Bias and ReLU alone.",
        SMALL = "small": "[`SMALL_ROWS`] x [`SMALL_COLUMNS`] outputs per block.",
        SLICES = "slices": "[`SMALL_ROWS`] x [`SLICE_COLUMNS`] outputs for two blocks, each with half of the sums.",
    }
    constants {
        ROWS = 128: "Output rows of a block.",
        COLUMNS = 256: "Output columns of a block.",
        BOX = 64: "Columns of a box of B or C, and of A.",
        CONSUMERS = 256: "Threads of a block that multiply.",
        THREADS = 384: "Threads of a block with a warpgroup that copies.",
        STAGES = 4: "Pairs of tiles in shared memory.",
        STAGE_BYTES = 49_152: "Bytes of a pair of tiles.",
        BARRIER_BYTES = 64: "Bytes of the barriers after them.",
        OUTPUT_BYTES = 32_768: "Bytes of the outputs on their way.",
        COLUMN_BYTES = 2048: "Bytes of a number for each column.",
        PAIR = 2: "Blocks of a cluster.",
        SMALL_ROWS = 64: "Output rows of a block of [`SMALL`] and [`SLICES`].",
        SMALL_COLUMNS = 128: "Output columns of a block of [`SMALL`].",
        SLICE_COLUMNS = 64: "Output columns of two blocks of [`SLICES`].",
        SMALL_THREADS = 160: "Threads of a block of [`SMALL`] and [`SLICES`].",
        SMALL_BYTES = 196_736: "Bytes of dynamic shared memory of a block of [`SMALL`].",
        SLICE_BYTES = 196_800: "Bytes of dynamic shared memory of a block of [`SLICES`].",
    }
}

source! {
    /// Numbers of 8 bits.
    mod eighths: "06-matmul-half-fp8", "compute_90a",
        ["hopper.cuh", "06-matmul-half.cuh", "06-matmul-half-hopper.cuh", "06-matmul-half-tiles.cuh"];

    kernels {
        FP8 = "fp8": "e4m3 factors, with a scale for each row of A and each column of B.",
    }
}
