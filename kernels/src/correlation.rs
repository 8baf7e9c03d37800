//! Chapter 04: template matching, first one multiplication per pixel, then four in one instruction.

source! {
    "04-correlation-sm-aware", "compute_50", ["04-correlation.cuh"];

    kernels {
        /// Image and template in global memory.
        GLOBAL = "global",
        /// The template in constant memory.
        CONSTANT = "constant",
        /// A tile of the image in shared memory.
        SHARED = "shared",
        /// [`SHARED`] with 24-bit multiplications.
        SHARED_MULTIPLY_24 = "shared_multiply_24",
        /// Four template pixels per iteration.
        UNROLL_4 = "unroll_4",
        /// [`UNROLL_4`] with 24-bit multiplications.
        UNROLL_4_MULTIPLY_24 = "unroll_4_multiply_24",
        /// [`UNROLL_4`] that also stores the three sums.
        SUMS = "sums",
        /// [`SUMS`] with 24-bit multiplications.
        SUMS_MULTIPLY_24 = "sums_multiply_24",
    }
    constants {
        /// Threads of a block in x, in every kernel of the chapter.
        BLOCK_X = 32,
        /// Threads of a block in y.
        BLOCK_Y = 8,
        /// Template pixels per iteration of [`UNROLL_4`].
        UNROLL = 4,
        /// The most pixels that fit in [`TEMPLATE`].
        MOST_TEMPLATE_PIXELS = 65_536,
    }
    arrays {
        /// The template in constant memory, one byte per pixel.
        TEMPLATE = "c_template",
    }
}

source! {
    /// Four pixels per instruction, from compute capability 6.1 on.
    mod dp4a: "04-correlation-sm-aware-dp4a", "compute_61", ["04-correlation.cuh"];

    kernels {
        /// Packs the template into words.
        FILL_WORDS = "fill_words",
        /// One output per thread.
        DP4A = "dp4a",
        /// [`VECTOR`] outputs per thread.
        DP4A_TILE = "dp4a_tile",
        /// Sums over the windows of every row, [`VECTOR`] per thread.
        ROW_SUMS = "row_sums",
        /// Sums over the windows, from the sums of their rows; [`RUN`] outputs per thread.
        COLUMN_SUMS = "column_sums",
        /// Only the products, [`VECTOR`] x [`TALL`] outputs per thread.
        PRODUCTS = "products",
    }
    constants {
        /// Pixels in a word.
        VECTOR = 4,
        /// The most words that fit in [`WORDS`].
        MOST_WORDS = 16_384,
        /// Outputs of a thread of [`PRODUCTS`] in y.
        TALL = 8,
        /// Outputs of a thread of [`COLUMN_SUMS`], all in y.
        RUN = 32,
    }
    arrays {
        /// The template in constant memory, four pixels per word.
        WORDS = "c_words",
    }
}

source! {
    /// Matrix products on tensor cores, from compute capability 8.0 on.
    mod tensor: "04-correlation-sm-aware-tensor", "compute_80", ["04-correlation.cuh"];

    kernels {
        /// Arranges the template in bands.
        FILL_BANDS = "fill_bands",
        /// The products of image and template, as matrix products.
        TENSOR = "tensor",
    }
    constants {
        /// Template columns in a band.
        CHUNK = 56,
        /// Words of a band.
        BAND_WORDS = 72,
        /// Output columns of a block of [`TENSOR`].
        WIDE = 128,
        /// Output rows of a block of [`TENSOR`].
        TALL = 128,
    }
}

source! {
    /// The image itself as a matrix, on the tensor cores of compute capability 9.0.
    mod hopper: "04-correlation-sm-aware-hopper", "compute_90a", ["04-correlation.cuh", "04-correlation-windows.cuh", "hopper.cuh", "04-correlation-wgmma.cuh"];

    kernels {
        /// 128 rows of outputs per block.
        WGMMA_128 = "wgmma_128",
        /// 64 rows of outputs per block.
        WGMMA_64 = "wgmma_64",
        /// 16 rows of outputs per block.
        WGMMA_16 = "wgmma_16",
        /// 8 rows of outputs per block.
        WGMMA_8 = "wgmma_8",
    }
    constants {
        /// The most columns of a template.
        MOST_COLUMNS = 128,
        /// Bytes of an aligned copy, and of a unit of a band.
        UNIT = 16,
        /// Output columns of a block.
        WIDE = 128,
        /// Output rows that are multiplied with the same rows of pixels.
        DOWN = 4,
        /// Columns of the tile that a lane sums.
        LANE_COLUMNS = 8,
        /// The most columns of a piece of the template.
        PIECE_COLUMNS = 64,
        /// Words of a padded row of a piece.
        PADDED_WORDS = 25,
        /// Threads of a block of [`WGMMA_128`].
        TALL_THREADS = 256,
        /// Threads of a block of the other kernels.
        THREADS = 512,
    }
}

source! {
    /// The kernels around cuFFT's transforms.
    mod fft: "04-correlation-sm-aware-fft", "compute_80", ["04-correlation.cuh", "04-correlation-windows.cuh"];

    kernels {
        /// Cuts the image into tiles.
        GATHER_TILES = "gather_tiles",
        /// Makes coefficients of the correlations of the tiles.
        FINISH_TILES = "finish_tiles",
    }
    constants {
        /// The number that is subtracted from each pixel.
        MIDDLE_GRAY = 128,
        /// Threads of a block of [`FINISH_TILES`].
        FINISH_THREADS = 256,
        /// Output rows of a block of [`FINISH_TILES`].
        FINISH_ROWS = 32,
    }
}
