//! Chapter 06: the product of two matrices, up to the speed of the vendor's library.

source! {
    "06-matmul-tiled", "compute_50", [];

    kernels {
        NAIVE = "naive": "One output per thread.",
        TILED = "tiled": "Tiles of [`TILE`] x [`TILE`] in shared memory.",
        REGISTER_TILE_1D = "register_tile_1d": "A column of outputs per thread.",
        REGISTER_TILE = "register_tile": "8 x 8 outputs per thread.",
        VECTOR = "vector": "[`REGISTER_TILE`] with loads of four numbers.",
        WARP_TILE = "warp_tile": "[`VECTOR`] with a rectangle of outputs for each warp.",
        ADD_SLICES = "add_slices": "Adds the partial sums of slices.",
    }
    constants {
        TILE = 16: "Rows and columns of the tiles of [`NAIVE`] and [`TILED`], which have a thread for each output.",
        COLUMN_TILE = 64: "Rows and columns of the outputs of a block of [`REGISTER_TILE_1D`].",
        COLUMN_THREADS = 512: "Threads of such a block.",
        BLOCK_ROWS = 128: "Output rows of a block of [`REGISTER_TILE`], [`VECTOR`] and [`WARP_TILE`].",
        BLOCK_COLUMNS = 128: "Output columns of such a block.",
        THREADS = 256: "Threads of such a block.",
    }
}

source! {
    /// Asynchronous copies, from compute capability 8.0 on.
    mod asynchronous: "06-matmul-tiled-async", "compute_80", ["06-matmul-tiled.cuh"];

    kernels {
        DOUBLE_BUFFERED = "double_buffered":
            "[`LARGE_ROWS`] x [`LARGE_COLUMNS`] outputs per block; rows of B start at multiples of 16 bytes.",
        DOUBLE_BUFFERED_ANY = "double_buffered_any": "[`DOUBLE_BUFFERED`] for any size.",
        SMALL_TILE = "small_tile":
            "[`SMALL_ROWS`] x [`SMALL_COLUMNS`] outputs per block; rows of B start at multiples of 16 bytes.",
        SMALL_TILE_ANY = "small_tile_any": "[`SMALL_TILE`] for any size.",
    }
    constants {
        LARGE_ROWS = 128: "Output rows of a block of [`DOUBLE_BUFFERED`].",
        LARGE_COLUMNS = 256: "Output columns of such a block.",
        LARGE_THREADS = 256: "Threads of such a block.",
        SMALL_ROWS = 64: "Output rows of a block of [`SMALL_TILE`].",
        SMALL_COLUMNS = 64: "Output columns of such a block.",
        SMALL_THREADS = 64: "Threads of such a block.",
    }
}

source! {
    /// Tensor cores, from compute capability 8.0 on.
    mod tensor: "06-matmul-tiled-tensor", "compute_80", ["06-matmul-tiled.cuh"];

    kernels {
        TENSOR_TF32 = "tensor_tf32": "Factors rounded to tf32; rows of all matrices start at multiples of 16 bytes.",
        TENSOR_TF32_ANY = "tensor_tf32_any": "[`TENSOR_TF32`] for any size.",
    }
    constants {
        ROWS = 128: "Output rows of a block.",
        COLUMNS = 256: "Output columns of a block.",
        DEPTH = 32: "Columns of A, and rows of B, in shared memory at a time.",
        BUFFERS = 3: "Pairs of tiles in shared memory.",
        THREADS = 256: "Threads of a block.",
        SHARED_BYTES = 156_672: "Bytes of dynamic shared memory of a block.",
    }
}

source! {
    /// Hopper's TMA and tensor cores: compute capability 9.0 and no other.
    mod hopper: "06-matmul-tiled-hopper", "compute_90a", ["hopper.cuh", "06-matmul-tiled-hopper.cuh"];

    kernels {
        WGMMA_TF32 = "wgmma_tf32": "One warpgroup copies, two multiply. Blocks may take several tiles of the output.",
    }
    constants {
        ROWS = 256: "Output rows of a block.",
        COLUMNS = 128: "Output columns of a block.",
        DEPTH = 32: "Columns of A, and rows of B, in a tile.",
        BOX = 32: "Columns of B that are copied at a time.",
        STAGE_BYTES = 49_152: "Bytes of a pair of tiles.",
        STAGES = 4: "Pairs of tiles in shared memory.",
        BARRIER_BYTES = 64: "Bytes of the barriers after them.",
        THREADS = 384: "Threads of a block.",
    }
}

source! {
    /// Tiles and slices for every size, on Hopper's tensor cores.
    mod sizes: "06-matmul-tiled-sizes", "compute_90a", ["hopper.cuh", "06-matmul-tiled-hopper.cuh"];

    kernels {
        WGMMA_256 = "wgmma_256": "Tiles of 256 x 128 outputs, with 4 stages.",
        WGMMA_192 = "wgmma_192": "Tiles of 192 x 128 outputs, with 5 stages.",
        WGMMA_128 = "wgmma_128": "Tiles of 128 x 128 outputs, with 6 stages; takes slices.",
        WGMMA_64 = "wgmma_64": "Tiles of 64 x 64 outputs, with 6 stages; takes slices.",
    }
}

source! {
    /// Factors in two parts, on Hopper's tensor cores.
    mod split: "06-matmul-tiled-split", "compute_90a", ["hopper.cuh", "06-matmul-tiled-hopper.cuh"];

    kernels {
        SPLIT_OFF_LOW = "split_off_low": "The low parts of a matrix.",
        TENSOR_3XTF32 = "tensor_3xtf32": "Three products of high and low parts.",
    }
    constants {
        ROWS = 128: "Output rows of a block.",
        COLUMNS = 128: "Output columns of a block.",
        DEPTH = 32: "Columns of A, and rows of B, in a tile.",
        BOX = 32: "Columns of B that are copied at a time.",
        STAGE_BYTES = 49_152: "Bytes of a tile of A, one of its low part, and one of B.",
        STAGES = 4: "Such triples in shared memory.",
        BARRIER_BYTES = 64: "Bytes of the barriers after them.",
        THREADS = 384: "Threads of a block.",
    }
}
