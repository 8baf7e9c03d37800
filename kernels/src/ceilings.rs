//! The kernels that measure the most that a device can do.

source! {
    "ceilings", "compute_50", [];

    kernels {
        /// Chains of f32 multiply-adds: [`CHAINS`] times [`STEPS`] per thread and round.
        FMA_CHAINS = "fma_chains",
        /// Writes the noise that the copy moves.
        FILL_NOISE = "fill_noise",
        /// A copy in vectors of four floats.
        COPY_VECTORS = "copy_vectors",
    }
    constants {
        /// Independent chains per thread.
        CHAINS = 8,
        /// Multiply-adds of each chain per round.
        STEPS = 32,
    }
}

source! {
    /// The rate of `dp4a`, from compute capability 6.1 on.
    mod dp4a: "ceilings-dp4a", "compute_61", [];

    kernels {
        /// Chains of byte multiply-adds: four times [`CHAINS`] times [`STEPS`] per thread and round.
        DP4A_CHAINS = "dp4a_chains",
    }
    constants {
        /// Independent chains per thread.
        CHAINS = 8,
        /// Instructions of each chain per round.
        STEPS = 32,
    }
}
