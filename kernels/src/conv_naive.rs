//! Chapter 01: convolution straight from global memory.

source! {
    "01-conv-naive", "compute_50", [];

    kernels {
        /// One output per thread.
        NAIVE = "naive",
        /// [`RUN`] neighboring outputs per thread.
        NAIVE_STRIDED = "naive_strided",
    }
    constants {
        /// Neighboring outputs of one thread of [`NAIVE_STRIDED`].
        RUN = 8,
    }
}
