//! Chapter 05, histograms: how often each gray level occurs in an image.

source! {
    "05-histogram", "compute_50", [];

    kernels {
        /// A counter in global memory for each level.
        GLOBAL = "global",
        /// Counters in shared memory for each block.
        PER_BLOCK = "per_block",
        /// Counters in shared memory for each warp.
        PER_WARP = "per_warp",
        /// The counts as `f32`.
        DELIVER = "deliver",
    }
    constants {
        /// Gray levels.
        LEVELS = 256,
        /// Threads of a block.
        THREADS = 256,
        /// Pixels of a block that counts in shared memory.
        CHUNK = 16384,
    }
}
