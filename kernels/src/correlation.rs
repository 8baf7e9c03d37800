//! Chapter 04: template matching, first one multiplication per pixel, then four in one instruction.

source! {
    "04-correlation-sm-aware", "compute_50", ["04-correlation.cuh"];

    kernels {
        GLOBAL = "global": "Image and template in global memory.",
        CONSTANT = "constant": "The template in constant memory.",
        SHARED = "shared": "A tile of the image in shared memory.",
        SHARED_MULTIPLY_24 = "shared_multiply_24": "[`SHARED`] with 24-bit multiplications.",
        UNROLL_4 = "unroll_4": "Four template pixels per iteration.",
        UNROLL_4_MULTIPLY_24 = "unroll_4_multiply_24": "[`UNROLL_4`] with 24-bit multiplications.",
        SUMS = "sums": "[`UNROLL_4`] that also stores the three sums.",
        SUMS_MULTIPLY_24 = "sums_multiply_24": "[`SUMS`] with 24-bit multiplications.",
    }
    constants {
        BLOCK_X = 32: "Threads of a block in x, in every kernel of the chapter.",
        BLOCK_Y = 8: "Threads of a block in y.",
        UNROLL = 4: "Template pixels per iteration of [`UNROLL_4`].",
        MOST_TEMPLATE_PIXELS = 65_536: "The most pixels that fit in [`TEMPLATE`].",
    }
    arrays {
        TEMPLATE = "c_template": "The template in constant memory, one byte per pixel.",
    }
}

source! {
    /// Four pixels per instruction, from compute capability 6.1 on.
    mod dp4a: "04-correlation-sm-aware-dp4a", "compute_61", ["04-correlation.cuh"];

    kernels {
        FILL_WORDS = "fill_words": "Packs the template into words.",
        DP4A = "dp4a": "One output per thread.",
        DP4A_TILE = "dp4a_tile": "[`VECTOR`] outputs per thread.",
        ROW_SUMS = "row_sums": "Sums over the windows of every row, [`VECTOR`] per thread.",
        COLUMN_SUMS = "column_sums": "Sums over the windows, from the sums of their rows; [`RUN`] outputs per thread.",
        PRODUCTS = "products": "Only the products, [`VECTOR`] x [`TALL`] outputs per thread.",
    }
    constants {
        VECTOR = 4: "Pixels in a word.",
        MOST_WORDS = 16_384: "The most words that fit in [`WORDS`].",
        TALL = 8: "Outputs of a thread of [`PRODUCTS`] in y.",
        RUN = 32: "Outputs of a thread of [`COLUMN_SUMS`], all in y.",
    }
    arrays {
        WORDS = "c_words": "The template in constant memory, four pixels per word.",
    }
}

source! {
    /// Matrix products on tensor cores, from compute capability 8.0 on.
    mod tensor: "04-correlation-sm-aware-tensor", "compute_80", ["04-correlation.cuh"];

    kernels {
        FILL_BANDS = "fill_bands": "Arranges the template in bands.",
        TENSOR = "tensor": "The products of image and template, as matrix products.",
    }
    constants {
        CHUNK = 56: "Template columns in a band.",
        BAND_WORDS = 72: "Words of a band.",
        WIDE = 128: "Output columns of a block of [`TENSOR`].",
        TALL = 128: "Output rows of a block of [`TENSOR`].",
    }
}

source! {
    /// The image as a matrix, on tensor cores of compute capability 9.0.
    mod hopper: "04-correlation-sm-aware-hopper", "compute_90a", ["04-correlation.cuh", "04-correlation-windows.cuh", "hopper.cuh", "04-correlation-wgmma.cuh", "04-correlation-bands.cuh"];

    kernels {
        WGMMA_128 = "wgmma_128": "128 rows of outputs per block.",
        WGMMA_64 = "wgmma_64": "64 rows of outputs per block.",
        WGMMA_16 = "wgmma_16": "16 rows of outputs per block.",
        WGMMA_8 = "wgmma_8": "8 rows of outputs per block.",
    }
    constants {
        MOST_COLUMNS = 128: "The most columns of a template.",
        UNIT = 16: "Bytes of an aligned copy, and of a unit of a band.",
        WIDE = 128: "Output columns of a block.",
        DOWN = 4: "Output rows that are multiplied with the same rows of pixels.",
        LANE_COLUMNS = 8: "Columns of the tile that a lane sums.",
        PIECE_COLUMNS = 64: "The most columns of a piece of the template.",
        PADDED_WORDS = 25: "Words of a padded row of a piece.",
        TALL_THREADS = 256: "Threads of a block of [`WGMMA_128`].",
        THREADS = 512: "Threads of a block of the other kernels.",
    }
}

source! {
    /// Products and window sums at the same time, on compute capability 9.0.
    mod roles: "04-correlation-sm-aware-roles", "compute_90a", ["04-correlation.cuh", "04-correlation-windows.cuh", "hopper.cuh", "04-correlation-wgmma.cuh", "04-correlation-bands.cuh"];

    kernels {
        WGMMA_ROLES = "wgmma_roles": "Some warps multiply, the others sum windows.",
    }
    constants {
        SIDE = 8: "Side of a square of outputs, for which a template row has that many bands.",
        STRETCH = 32: "Tile rows that are followed by their copy.",
        TALL = 256: "Output rows of a block.",
        CHUNK_ROWS = 64: "Output rows of a chunk.",
        SUMMERS = 8: "Warps that sum.",
        PREFIX_BYTES = 3328: "Bytes of the changes of window sums that a warp stores for two tile rows.",
        ROLE_THREADS = 512: "Threads of a block.",
    }
}

source! {
    /// The kernels around cuFFT's transforms.
    mod fft: "04-correlation-sm-aware-fft", "compute_80", ["04-correlation.cuh", "04-correlation-windows.cuh"];

    kernels {
        GATHER_TILES = "gather_tiles": "Cuts the image into tiles.",
        FINISH_TILES = "finish_tiles": "Makes coefficients of the correlations of the tiles.",
    }
    constants {
        MIDDLE_GRAY = 128: "The number that is subtracted from each pixel.",
        FINISH_THREADS = 256: "Threads of a block of [`FINISH_TILES`].",
        FINISH_ROWS = 32: "Output rows of a block of [`FINISH_TILES`].",
    }
}
