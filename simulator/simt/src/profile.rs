//! The GPUs that can be simulated: limits and rates of a chip, by profile.

use serde::Serialize;

/// One GPU model. Rates and sizes are per chip or per multiprocessor (SM) as the field says.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// L2 cache in bytes; 0 if global memory has none.
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
    /// Shared memory per block that the system reserves, in bytes.
    pub shared_bytes_reserved: u32,
    /// f32 multiply-adds per clock per SM.
    pub f32_lanes_per_sm: u32,
    /// The sources of the product's sizes and clocks. "Second-hand" marks values that do not come from its maker.
    pub sources: &'static str,
}

impl Profile {
    /// Returns all profiles, newest first.
    pub const fn all() -> &'static [Profile] {
        PROFILES
    }

    /// Returns the profile of that name.
    pub fn named(name: &str) -> Option<&'static Profile> {
        Self::all().iter().find(|profile| profile.name == name)
    }
}

/// Limits are those of the compute capability: "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide
/// 12.x, and of 1.x and 3.0, table F-2 of the Guide of release 4.2. Blocks per SM are also in `cuda_occupancy.h` of the CUDA
/// toolkit. Sizes and clocks are the products' own, see [`Profile::sources`].
const PROFILES: &[Profile] = &[
    H200,
    Profile {
        name: "h100",
        product: "NVIDIA H100 80GB HBM3",
        memory_clock_khz: 2_619_000,
        memory_bus_bits: 5120,
        memory_bytes: 85_017_493_504,
        l2_bytes: 50 << 20,
        ..H200
    },
    Profile {
        name: "a100",
        product: "NVIDIA A100-SXM4-40GB",
        compute_capability: (8, 0),
        multiprocessors: 108,
        clock_khz: 1_410_000,
        memory_clock_khz: 1_215_000,
        memory_bus_bits: 5120,
        memory_bytes: 40 << 30,
        l2_bytes: 40 << 20,
        shared_bytes_per_sm: 164 << 10,
        shared_bytes_per_block_optin: 163 << 10,
        f32_lanes_per_sm: 64,
        sources: "second-hand: sysrqmts.com",
        ..H200
    },
    Profile {
        name: "rtx4090",
        product: "NVIDIA GeForce RTX 4090",
        compute_capability: (8, 9),
        multiprocessors: 128,
        clock_khz: 2_520_000,
        memory_clock_khz: 10_501_000,
        memory_bus_bits: 384,
        memory_bytes: 24 << 30,
        l2_bytes: 72 << 20,
        max_threads_per_sm: 1536,
        max_blocks_per_sm: 24,
        shared_bytes_per_sm: 100 << 10,
        shared_bytes_per_block_optin: 99 << 10,
        sources: "second-hand: kitguru.net, custompc.com",
        ..H200
    },
    Profile {
        name: "t4",
        product: "Tesla T4",
        compute_capability: (7, 5),
        multiprocessors: 40,
        clock_khz: 1_590_000,
        memory_clock_khz: 5_001_000,
        memory_bus_bits: 256,
        memory_bytes: 16 << 30,
        l2_bytes: 4 << 20,
        max_threads_per_sm: 1024,
        max_blocks_per_sm: 16,
        shared_bytes_per_sm: 64 << 10,
        shared_bytes_per_block_optin: 64 << 10,
        shared_bytes_reserved: 0,
        f32_lanes_per_sm: 64,
        sources: "second-hand: topcpu.net",
        ..H200
    },
    Profile {
        name: "gtx680",
        product: "GeForce GTX 680",
        compute_capability: (3, 0),
        multiprocessors: 8,
        clock_khz: 1_058_000,
        memory_clock_khz: 3_004_000,
        memory_bus_bits: 256,
        memory_bytes: 2 << 30,
        l2_bytes: 512 << 10,
        max_blocks_per_sm: 16,
        shared_bytes_per_sm: 48 << 10,
        shared_bytes_per_block_optin: 48 << 10,
        shared_bytes_reserved: 0,
        f32_lanes_per_sm: 192,
        sources: "second-hand: sysrqmts.com, overclock3d.net",
        ..H200
    },
    GTX280,
    Profile {
        name: "9800gt",
        product: "GeForce 9800 GT",
        compute_capability: (1, 1),
        multiprocessors: 14,
        clock_khz: 1_512_000,
        memory_clock_khz: 900_000,
        memory_bus_bits: 256,
        memory_bytes: 512 << 20,
        max_threads_per_sm: 768,
        registers_per_sm: 8_192,
        registers_per_block: 8_192,
        sources: "multiprocessors and memory: what the driver told an owner (deviceQuery, CUDA 3.2); clocks second-hand: amdarea51.de",
        ..GTX280
    },
];

const H200: Profile = Profile {
    name: "h200",
    product: "NVIDIA H200",
    compute_capability: (9, 0),
    multiprocessors: 132,
    clock_khz: 1_980_000,
    memory_clock_khz: 3_201_000,
    memory_bus_bits: 6016,
    memory_bytes: 150_109_880_320,
    l2_bytes: 60 << 20,
    max_threads_per_block: 1024,
    max_block: [1024, 1024, 64],
    max_grid: [0x7fff_ffff, 65_535, 65_535],
    max_threads_per_sm: 2048,
    max_blocks_per_sm: 32,
    registers_per_sm: 65_536,
    registers_per_block: 65_536,
    shared_bytes_per_sm: 228 << 10,
    shared_bytes_per_block: 48 << 10,
    shared_bytes_per_block_optin: 227 << 10,
    shared_bytes_reserved: 1 << 10,
    f32_lanes_per_sm: 128,
    sources: "read from one through its driver",
};

const GTX280: Profile = Profile {
    name: "gtx280",
    product: "GeForce GTX 280",
    compute_capability: (1, 3),
    multiprocessors: 30,
    clock_khz: 1_296_000,
    memory_clock_khz: 1_107_000,
    memory_bus_bits: 512,
    memory_bytes: 1 << 30,
    l2_bytes: 0,
    max_threads_per_block: 512,
    max_block: [512, 512, 64],
    max_grid: [65_535, 65_535, 1],
    max_threads_per_sm: 1024,
    max_blocks_per_sm: 8,
    registers_per_sm: 16_384,
    registers_per_block: 16_384,
    shared_bytes_per_sm: 16 << 10,
    shared_bytes_per_block: 16 << 10,
    shared_bytes_per_block_optin: 16 << 10,
    shared_bytes_reserved: 0,
    f32_lanes_per_sm: 8,
    sources: "second-hand: bit-tech.net, ixbtlabs.com",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_found_by_its_name() {
        for profile in Profile::all() {
            assert_eq!(Profile::named(profile.name).map(|found| found.product), Some(profile.product));
            assert!(!profile.sources.is_empty(), "{}: where from?", profile.name);
        }
        assert!(Profile::named("h2000").is_none());
    }

    #[test]
    fn memory_clock_and_width_give_the_published_bandwidth() {
        // Two transfers per clock. Published, in GB/s.
        for (name, published) in [
            ("h200", 4800.0),
            ("h100", 3350.0),
            ("a100", 1555.0),
            ("rtx4090", 1008.0),
            ("t4", 320.0),
            ("gtx680", 192.2),
            ("gtx280", 141.7),
            ("9800gt", 57.6),
        ] {
            let profile = Profile::named(name).expect("a profile of the table");
            let bandwidth = 2.0 * f64::from(profile.memory_clock_khz) * 1e3 * f64::from(profile.memory_bus_bits) / 8.0 / 1e9;
            assert!((bandwidth / published - 1.0).abs() < 0.03, "{name}: {bandwidth} GB/s");
        }
    }
}
