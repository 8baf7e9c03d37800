//! The kernels that measure the most that a device can do.

source! {
    "ceilings", "compute_50", [];

    kernels {
        FMA_CHAINS = "fma_chains": "Chains of f32 multiply-adds: [`CHAINS`] times [`STEPS`] per thread and round.",
        FILL_NOISE = "fill_noise": "Writes the noise that the copy moves.",
        COPY_VECTORS = "copy_vectors": "A copy in vectors of four floats.",
    }
    constants {
        CHAINS = 8: "Independent chains per thread.",
        STEPS = 32: "Multiply-adds of each chain per round.",
    }
}

source! {
    /// The rate of `dp4a`, from compute capability 6.1 on.
    mod dp4a: "ceilings-dp4a", "compute_61", [];

    kernels {
        DP4A_CHAINS = "dp4a_chains": "Chains of byte multiply-adds: four times [`CHAINS`] times [`STEPS`] per thread and round.",
    }
    constants {
        CHAINS = 8: "Independent chains per thread.",
        STEPS = 32: "Instructions of each chain per round.",
    }
}
