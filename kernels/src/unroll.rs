//! Chapter 03: convolution unrolled, then held in registers.

source! {
    "03-unroll", "compute_50", [];

    kernels {
        /// One multiply-add per iteration of the inner loop: where chapter 02 ends.
        SHARED = "shared",
        /// Four multiply-adds per iteration.
        UNROLL_4 = "unroll_4",
        /// Eight multiply-adds per iteration.
        UNROLL_8 = "unroll_8",
        /// Sixteen multiply-adds per iteration.
        UNROLL_16 = "unroll_16",
        /// Sixteen multiply-adds per iteration, and tiles of [`WIDE_TILE`] taps.
        WIDE_UNROLL = "wide_unroll",
        /// [`RUN`] outputs per thread.
        REGISTER_TILE = "register_tile",
        /// [`REGISTER_TILE`] with tiles of [`TILE`] taps, compiled for at least 16 resident blocks.
        AT_LEAST_16 = "at_least_16",
        /// The same for at least 20.
        AT_LEAST_20 = "at_least_20",
        /// The same for at least 24.
        AT_LEAST_24 = "at_least_24",
        /// The same for at least 32.
        AT_LEAST_32 = "at_least_32",
        /// Adds up the partial sums of the slices of the filter.
        ADD_SLICES = "add_slices",
        /// [`REGISTER_TILE`] with the filter in [`C_FILTER`].
        CONSTANT_FILTER = "constant_filter",
        /// [`CONSTANT_FILTER`] with [`LONG_RUN`] outputs per thread.
        LONG = "long_run",
    }
    constants {
        /// Outputs and threads of a block of the kernels with one output per thread.
        BLOCK = 256,
        /// Taps of a tile of these kernels.
        TILE = 256,
        /// Taps of a tile of [`WIDE_UNROLL`].
        WIDE_TILE = 1024,
        /// Threads of a block of the kernels with a run of outputs per thread.
        RUN_THREADS = 64,
        /// Neighboring outputs of a thread of [`REGISTER_TILE`] and [`CONSTANT_FILTER`].
        RUN = 16,
        /// Taps of a tile of these two.
        RUN_TILE = 1024,
        /// Neighboring outputs of a thread of [`LONG`].
        LONG_RUN = 28,
        /// Taps of a tile of [`LONG`].
        LONG_TILE = 2048,
        /// Taps that one iteration of the inner loop handles in the kernels with runs. A slice of the filter has a multiple of it.
        SLOTS = 32,
        /// The most taps that fit in [`C_FILTER`].
        CONSTANT_TAPS = 16_384,
    }
    arrays {
        /// The array in constant memory from which some kernels read up to [`CONSTANT_TAPS`] taps, followed by zeros up to a
        /// multiple of [`SLOTS`].
        C_FILTER = "c_filter",
    }
}

source! {
    /// Convolution on tensor cores, from compute capability 8.0 on.
    mod tensor: "03-unroll-tensor", "compute_80", [];

    kernels {
        /// Each factor as the sum of two tf32 numbers, each product as the sum of three.
        TENSOR_TF32X3 = "tensor_tf32x3",
        /// The same with f16.
        TENSOR_F16X3 = "tensor_f16x3",
        /// The largest magnitudes in the signal and in the filter, [`MAXIMA`] numbers for each.
        MAGNITUDES = "magnitudes",
    }
    constants {
        /// Outputs of a row.
        COLUMNS = 64,
        /// Rows of a block.
        ROWS = 64,
        /// Threads of a block of the tensor kernels.
        THREADS = 128,
        /// Length of a row of f32 in shared memory, padding included.
        PITCH = 68,
        /// Length of a row of f16 in shared memory, padding included.
        HALF_PITCH = 72,
        /// Zeros in front of the filter.
        MARGIN = 64,
        /// Blocks of [`MAGNITUDES`]; it writes this many numbers for the signal and this many for the filter.
        MAXIMA = 128,
        /// Threads of a block of [`MAGNITUDES`].
        MAXIMA_THREADS = 256,
    }
}

source! {
    /// The kernels around cuFFT's transforms.
    mod fft: "03-unroll-fft", "compute_50", [];

    kernels {
        /// Cuts the signal into blocks and puts them after the filter.
        GATHER = "gather",
        /// Multiplies the spectra of the blocks by the filter's.
        MULTIPLY = "multiply",
        /// Takes the outputs from the blocks.
        COLLECT = "collect",
    }
}

source! {
    /// Transforms of our own, with the products of spectra.
    mod partitioned: "03-unroll-partitioned", "compute_50", [];

    kernels {
        /// A filter of one part: transforms, multiplies, and transforms back.
        CONVOLVE = "convolve",
        /// The spectra of the filter's parts and of the signal's pairs of blocks.
        TRANSFORM = "transform",
        /// The sums of products of spectra for a filter of several parts.
        MULTIPLY_PARTS = "multiply_parts",
        /// From those sums to the outputs.
        TRANSFORM_BACK = "transform_back",
    }
    constants {
        /// Points of a transform.
        POINTS = 4096,
        /// Points that a thread transforms at once.
        RADIX = 16,
        /// Threads of a block that transforms.
        THREADS = 256,
        /// Taps of a part and outputs of a block, if the filter has several parts.
        PART = 2048,
        /// Pairs of blocks of the output for which a thread of [`MULTIPLY_PARTS`] adds up products.
        PAIRS = 8,
    }
}
