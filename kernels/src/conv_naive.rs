//! Chapter 01: convolution straight from global memory.

source! {
    "01-conv-naive", "compute_50", [];

    kernels {
        NAIVE = "naive": "One output per thread.",
        NAIVE_STRIDED = "naive_strided": "[`RUN`] neighboring outputs per thread.",
    }
    constants {
        RUN = 8: "Neighboring outputs of one thread of [`NAIVE_STRIDED`].",
    }
}
