//! Chapter 06: the product of two matrices, up to the speed of the vendor's library.

source! {
    "06-matmul-tiled", "compute_50", [];

    kernels {
        /// One output per thread.
        NAIVE = "naive",
        /// Tiles of [`TILE`] x [`TILE`] in shared memory.
        TILED = "tiled",
        /// A column of outputs per thread.
        REGISTER_TILE_1D = "register_tile_1d",
        /// 8 x 8 outputs per thread.
        REGISTER_TILE = "register_tile",
        /// [`REGISTER_TILE`] with loads of four numbers.
        VECTOR = "vector",
        /// [`VECTOR`] with a rectangle of outputs for each warp.
        WARP_TILE = "warp_tile",
        /// Adds the partial sums of slices.
        ADD_SLICES = "add_slices",
    }
    constants {
        /// Rows and columns of the tiles of [`NAIVE`] and [`TILED`], which have a thread for each output.
        TILE = 16,
        /// Rows and columns of the outputs of a block of [`REGISTER_TILE_1D`].
        COLUMN_TILE = 64,
        /// Threads of such a block.
        COLUMN_THREADS = 512,
        /// Output rows of a block of [`REGISTER_TILE`], [`VECTOR`] and [`WARP_TILE`].
        BLOCK_ROWS = 128,
        /// Output columns of such a block.
        BLOCK_COLUMNS = 128,
        /// Threads of such a block.
        THREADS = 256,
    }
}

source! {
    /// Asynchronous copies, from compute capability 8.0 on.
    mod asynchronous: "06-matmul-tiled-async", "compute_80", ["06-matmul-tiled.cuh"];

    kernels {
        /// [`LARGE_ROWS`] x [`LARGE_COLUMNS`] outputs per block; rows of B start at multiples of 16 bytes.
        DOUBLE_BUFFERED = "double_buffered",
        /// [`DOUBLE_BUFFERED`] for any size.
        DOUBLE_BUFFERED_ANY = "double_buffered_any",
        /// [`SMALL_ROWS`] x [`SMALL_COLUMNS`] outputs per block; rows of B start at multiples of 16 bytes.
        SMALL_TILE = "small_tile",
        /// [`SMALL_TILE`] for any size.
        SMALL_TILE_ANY = "small_tile_any",
    }
    constants {
        /// Output rows of a block of [`DOUBLE_BUFFERED`].
        LARGE_ROWS = 128,
        /// Output columns of such a block.
        LARGE_COLUMNS = 256,
        /// Threads of such a block.
        LARGE_THREADS = 256,
        /// Output rows of a block of [`SMALL_TILE`].
        SMALL_ROWS = 64,
        /// Output columns of such a block.
        SMALL_COLUMNS = 64,
        /// Threads of such a block.
        SMALL_THREADS = 64,
    }
}

source! {
    /// Tensor cores, from compute capability 8.0 on.
    mod tensor: "06-matmul-tiled-tensor", "compute_80", ["06-matmul-tiled.cuh"];

    kernels {
        /// Factors rounded to tf32; rows of all matrices start at multiples of 16 bytes.
        TENSOR_TF32 = "tensor_tf32",
        /// [`TENSOR_TF32`] for any size.
        TENSOR_TF32_ANY = "tensor_tf32_any",
    }
    constants {
        /// Output rows of a block.
        ROWS = 128,
        /// Output columns of a block.
        COLUMNS = 256,
        /// Columns of A, and rows of B, in shared memory at a time.
        DEPTH = 32,
        /// Pairs of tiles in shared memory.
        BUFFERS = 3,
        /// Threads of a block.
        THREADS = 256,
        /// Bytes of dynamic shared memory of a block.
        SHARED_BYTES = 156_672,
    }
}

source! {
    /// Hopper's copy engine and tensor cores: compute capability 9.0 and no other.
    mod hopper: "06-matmul-tiled-hopper", "compute_90a", ["hopper.cuh", "06-matmul-tiled-hopper.cuh"];

    kernels {
        /// Waits for each pair of tiles.
        WGMMA = "wgmma",
        /// Copies [`STAGES`] pairs of tiles in the background.
        WGMMA_RING = "wgmma_ring",
        /// One warpgroup copies, two multiply. Blocks may take several tiles of the output.
        WGMMA_TF32 = "wgmma_tf32",
    }
    constants {
        /// Output rows of a block.
        ROWS = 256,
        /// Output columns of a block.
        COLUMNS = 128,
        /// Columns of A, and rows of B, in a tile.
        DEPTH = 32,
        /// Columns of B that are copied at a time.
        BOX = 32,
        /// Threads of a block that multiply.
        CONSUMERS = 256,
        /// Bytes of a pair of tiles.
        STAGE_BYTES = 49_152,
        /// Pairs of tiles in shared memory.
        STAGES = 4,
        /// Bytes of the barriers after them.
        BARRIER_BYTES = 64,
        /// Threads of a block with a warpgroup that copies.
        THREADS = 384,
    }
}

source! {
    /// Factors in two parts, on Hopper's tensor cores.
    mod split: "06-matmul-tiled-split", "compute_90a", ["hopper.cuh", "06-matmul-tiled-hopper.cuh"];

    kernels {
        /// The low parts of a matrix.
        SPLIT_OFF_LOW = "split_off_low",
        /// Three products of high and low parts.
        TENSOR_3XTF32 = "tensor_3xtf32",
    }
    constants {
        /// Output rows of a block.
        ROWS = 128,
        /// Output columns of a block.
        COLUMNS = 128,
        /// Columns of A, and rows of B, in a tile.
        DEPTH = 32,
        /// Columns of B that are copied at a time.
        BOX = 32,
        /// Bytes of a tile of A, one of its low part, and one of B.
        STAGE_BYTES = 49_152,
        /// Such triples in shared memory.
        STAGES = 4,
        /// Bytes of the barriers after them.
        BARRIER_BYTES = 64,
        /// Threads of a block.
        THREADS = 384,
    }
}
