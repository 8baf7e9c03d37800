//! Chapter 03: convolution unrolled, then held in registers.

source! {
    "03-unroll", "compute_50", [];

    kernels {
        SHARED = "shared": "One multiply-add per iteration of the inner loop: where chapter 02 ends.",
        UNROLL_4 = "unroll_4": "Four multiply-adds per iteration.",
        UNROLL_8 = "unroll_8": "Eight multiply-adds per iteration.",
        UNROLL_16 = "unroll_16": "Sixteen multiply-adds per iteration.",
        WIDE_UNROLL = "wide_unroll": "Sixteen multiply-adds per iteration, and tiles of [`WIDE_TILE`] taps.",
        REGISTER_TILE = "register_tile": "[`RUN`] outputs per thread.",
        AT_LEAST_16 = "at_least_16": "[`REGISTER_TILE`] with tiles of [`TILE`] taps, compiled for at least 16 resident blocks.",
        AT_LEAST_20 = "at_least_20": "The same for at least 20.",
        AT_LEAST_24 = "at_least_24": "The same for at least 24.",
        AT_LEAST_32 = "at_least_32": "The same for at least 32.",
        ADD_SLICES = "add_slices": "Adds up the partial sums of the slices of the filter.",
        CONSTANT_FILTER = "constant_filter": "[`REGISTER_TILE`] with the filter in [`C_FILTER`].",
        LONG = "long_run": "[`CONSTANT_FILTER`] with [`LONG_RUN`] outputs per thread.",
    }
    constants {
        BLOCK = 256: "Outputs and threads of a block of the kernels with one output per thread.",
        TILE = 256: "Taps of a tile of these kernels.",
        WIDE_TILE = 1024: "Taps of a tile of [`WIDE_UNROLL`].",
        RUN_THREADS = 64: "Threads of a block of the kernels with a run of outputs per thread.",
        RUN = 16: "Neighboring outputs of a thread of [`REGISTER_TILE`] and [`CONSTANT_FILTER`].",
        RUN_TILE = 1024: "Taps of a tile of these two.",
        LONG_RUN = 28: "Neighboring outputs of a thread of [`LONG`].",
        LONG_TILE = 2048: "Taps of a tile of [`LONG`].",
        SLOTS = 32: "Taps of an iteration of the inner loop of the kernels with runs. A slice of the filter has a multiple of it.",
        CONSTANT_TAPS = 16_384: "The most taps that fit in [`C_FILTER`].",
    }
    arrays {
        C_FILTER = "c_filter": "Up to [`CONSTANT_TAPS`] taps in constant memory, followed by zeros up to a multiple of [`SLOTS`].",
    }
}

source! {
    /// Convolution on tensor cores, from compute capability 8.0 on.
    mod tensor: "03-unroll-tensor", "compute_80", [];

    kernels {
        TENSOR_TF32X3 = "tensor_tf32x3": "Each factor as the sum of two tf32 numbers, each product as the sum of three.",
        TENSOR_F16X3 = "tensor_f16x3": "The same with f16.",
        MAGNITUDES = "magnitudes": "The largest magnitudes in the signal and in the filter, [`MAXIMA`] numbers for each.",
    }
    constants {
        COLUMNS = 64: "Outputs of a row.",
        ROWS = 64: "Rows of a block.",
        THREADS = 128: "Threads of a block of the tensor kernels.",
        PITCH = 68: "Length of a row of f32 in shared memory, padding included.",
        HALF_PITCH = 72: "Length of a row of f16 in shared memory, padding included.",
        MARGIN = 64: "Zeros in front of the filter.",
        MAXIMA = 128: "Blocks of [`MAGNITUDES`]; it writes this many numbers for the signal and this many for the filter.",
        MAXIMA_THREADS = 256: "Threads of a block of [`MAGNITUDES`].",
    }
}

source! {
    /// The kernels around cuFFT's transforms.
    mod fft: "03-unroll-fft", "compute_50", [];

    kernels {
        GATHER = "gather": "Cuts the signal into blocks and puts them after the filter.",
        MULTIPLY = "multiply": "Multiplies the spectra of the blocks by the filter's.",
        COLLECT = "collect": "Takes the outputs from the blocks.",
    }
}

source! {
    /// Transforms of our own, with the products of spectra.
    mod partitioned: "03-unroll-partitioned", "compute_50", [];

    kernels {
        CONVOLVE = "convolve": "A filter of one part: transforms, multiplies, and transforms back.",
        TRANSFORM = "transform": "The spectra of the filter's parts and of the signal's pairs of blocks.",
        MULTIPLY_PARTS = "multiply_parts": "The sums of products of spectra for a filter of several parts.",
        TRANSFORM_BACK = "transform_back": "From those sums to the outputs.",
    }
    constants {
        POINTS = 4096: "Points of a transform.",
        RADIX = 16: "Points that a thread transforms at once.",
        THREADS = 256: "Threads of a block that transforms.",
        PART = 2048: "Taps of a part and outputs of a block, if the filter has several parts.",
        PAIRS = 8: "Pairs of blocks of the output for which a thread of [`MULTIPLY_PARTS`] adds up products.",
    }
}
