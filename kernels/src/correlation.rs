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

/// Four pixels per instruction, from compute capability 6.1 on.
pub mod dp4a {
    source! {
        "04-correlation-sm-aware-dp4a", "compute_61", ["04-correlation.cuh"];

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
}

/// Matrix products on tensor cores, from compute capability 8.0 on.
pub mod tensor {
    source! {
        "04-correlation-sm-aware-tensor", "compute_80", ["04-correlation.cuh"];

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
}
