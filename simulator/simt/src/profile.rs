//! The GPUs that can be simulated: limits and rates of a chip, by profile.

/// One GPU model. Rates and sizes are per chip or per multiprocessor (SM) as the field says.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Name on the command line, for example `h200`.
    pub name: &'static str,
    /// Name of the product, for example `NVIDIA H200`.
    pub product: &'static str,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Clock of the arithmetic units, in kHz.
    pub clock_khz: u32,
    /// Clock of the memory, in kHz.
    pub memory_clock_khz: u32,
    /// Width of the memory interface, in bits.
    pub memory_bus_bits: u32,
    /// Device memory in bytes.
    pub memory_bytes: u64,
    /// L2 cache in bytes; 0 where there is none for global memory.
    pub l2_bytes: u64,
    /// Most threads per block.
    pub max_threads_per_block: u32,
    /// Most threads per block along x, y, z.
    pub max_block: [u32; 3],
    /// Most blocks per grid along x, y, z.
    pub max_grid: [u32; 3],
    /// Most resident threads per SM.
    pub max_threads_per_sm: u32,
    /// Most resident blocks per SM.
    pub max_blocks_per_sm: u32,
    /// 32-bit registers per SM.
    pub registers_per_sm: u32,
    /// 32-bit registers that one block may use.
    pub registers_per_block: u32,
    /// Shared memory per SM in bytes.
    pub shared_bytes_per_sm: u32,
    /// Shared memory per block in bytes without opting in.
    pub shared_bytes_per_block: u32,
    /// Shared memory per block in bytes after opting in (`cuFuncSetAttribute`).
    pub shared_bytes_per_block_optin: u32,
    /// Shared memory per block that the system takes for itself, in bytes.
    pub shared_bytes_reserved: u32,
    /// f32 multiply-adds per clock per SM.
    pub f32_lanes_per_sm: u32,
}

impl Profile {
    /// All profiles, newest first.
    pub fn all() -> &'static [Profile] {
        todo!()
    }

    /// The profile of that name.
    pub fn named(name: &str) -> Option<&'static Profile> {
        Self::all().iter().find(|profile| profile.name == name)
    }
}
