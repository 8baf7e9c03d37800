//! Chapter 05, histograms: how often each gray level occurs in an image.

source! {
    "05-histogram", "compute_50", [];

    kernels {
        GLOBAL = "global": "A counter in global memory for each level.",
        PER_BLOCK = "per_block": "Counters in shared memory for each block.",
        PER_WARP = "per_warp": "Counters in shared memory for each warp.",
        WIDE = "wide": "Loads of 16 bytes, in as few blocks as the host launches.",
        BYTES = "bytes": "[`WIDE`] for pixels of one byte.",
        LANES = "lanes": "[`BYTES`] with counters for each lane.",
        DELIVER = "deliver": "The counts as `f32`.",
    }
    constants {
        LEVELS = 256: "Gray levels.",
        THREADS = 256: "Threads of a block.",
        CHUNK = 16384: "Pixels of a block of [`PER_BLOCK`] and [`PER_WARP`].",
        WIDE_THREADS = 1024: "Threads of a block of [`WIDE`], [`BYTES`] and [`LANES`].",
    }
}
