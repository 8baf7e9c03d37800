//! Device attributes, by which a program learns which GPU it has.
//!
//! Sizes, rates and the limits of textures are those of the profile and its generation. Yes-or-no attributes say what *this driver* can do,
//! so that a program which asks before it uses a feature takes a path that works. A feature that the generation does not have is a "no" as
//! well.

use simt::Profile;

use crate::occupancy::WARP_SIZE;

/// Returns 1 if the GPU has at least this compute capability.
fn since(profile: &Profile, major: u32, minor: u32) -> i32 {
    i32::from(profile.compute_capability >= (major, minor))
}

/// Returns 1 where features with the operating system's shared memory are possible.
fn on_linux(profile: &Profile) -> i32 {
    if cfg!(target_os = "linux") { since(profile, 6, 0) } else { 0 }
}

/// Converts a count or a size to the type of attributes.
fn int(value: impl TryInto<i32>) -> i32 {
    value.try_into().unwrap_or(i32::MAX)
}

/// Returns the value of a `CU_DEVICE_ATTRIBUTE_…`; `None` for a number that CUDA 12 does not have.
pub fn attribute(profile: &Profile, attribute: u32) -> Option<i32> {
    let value = match attribute {
        1 => int(profile.max_threads_per_block),
        2 => int(profile.max_block[0]),
        3 => int(profile.max_block[1]),
        4 => int(profile.max_block[2]),
        5 => int(profile.max_grid[0]),
        6 => int(profile.max_grid[1]),
        7 => int(profile.max_grid[2]),
        8 => int(profile.shared_bytes_per_block),
        9 => 64 << 10, // constant memory, the same for every generation
        10 => int(WARP_SIZE),
        11 => i32::MAX, // largest pitch of a copy in bytes
        12 => int(profile.registers_per_block),
        13 => int(profile.clock_khz),
        14 => 256 << since(profile, 2, 0), // texture alignment
        15 => since(profile, 1, 1),        // copies while a kernel runs
        16 => int(profile.multiprocessors),
        17 => 0, // time limit for kernels: only a GPU that drives a display has one
        18 => 0, // integrated with the host's memory
        19 => 1, // host memory can be mapped
        20 => 0, // compute mode: default
        21..=29 | 42 | 43 | 45..=49 | 52..=74 | 77 => texture(profile, attribute),
        30 => since(profile, 2, 0) * 512, // surface alignment
        31 => since(profile, 2, 0),       // concurrent kernels
        32 => error_correction(profile),
        33 | 34 | 50 => 0, // bus, device and domain number
        35 => 0,           // the Windows driver for GPUs without a display
        36 => int(profile.memory_clock_khz),
        37 => int(profile.memory_bus_bits),
        38 => int(profile.l2_bytes),
        39 => int(profile.max_threads_per_sm),
        40 => match profile.compute_capability {
            (..=1, 0) => 0,
            (..=1, _) => 1,
            (..=6, _) => 2,
            _ => 3,
        }, // copy engines
        41 => since(profile, 2, 0), // unified addressing
        44 => since(profile, 2, 0), // texture gather
        51 => 32,                   // texture pitch alignment
        75 => int(profile.compute_capability.0),
        76 => int(profile.compute_capability.1),
        78 => since(profile, 3, 5), // stream priorities
        79 => i32::from(profile.compute_capability.0 == 2 || profile.compute_capability >= (3, 5)), // L1 cache for global memory
        80 => since(profile, 2, 0), // L1 cache for local memory
        81 => int(profile.shared_bytes_per_sm),
        82 => int(profile.registers_per_sm),
        83 => since(profile, 3, 0), // managed memory
        84 | 85 => 0,               // several GPUs on one board
        86 => 0,                    // atomics on host memory over the link
        87 => f32_per_f64(profile),
        88 => 0,                    // access to pageable host memory
        89 => since(profile, 6, 0), // concurrent access to managed memory by host and device
        90 => since(profile, 6, 0), // compute preemption
        91 => since(profile, 2, 0), // registered host memory at its host address
        92..=94 => 0,               // the first form of stream operations on values in memory
        95 => since(profile, 6, 0), // cooperative launch
        96 => 0,                    // cooperative launch over several devices
        97 => int(profile.shared_bytes_per_block_optin),
        98 => 0,                        // flushing remote writes
        99 => 1,                        // registering host memory
        100 | 101 => 0,                 // the host's page tables; direct access by the host to managed memory on the device
        102 | 103 => on_linux(profile), // virtual memory management, and sharing it by file descriptors
        104 | 105 => 0,                 // handles of Windows
        106 => int(profile.max_blocks_per_sm),
        107 => 0,       // compressible memory
        108 | 109 => 0, // L2 reserved for persisting accesses
        110 => 0,       // remote access to virtual memory
        111 => int(profile.shared_bytes_reserved),
        112 => 0,                          // sparse arrays
        113 => 0,                          // registering read-only host memory
        114 => 0,                          // timeline semaphores
        115 => since(profile, 6, 0),       // memory pools
        116..=118 => 0,                    // remote access
        119 => on_linux(profile),          // sharing pools between processes by file descriptors
        120 => since(profile, 9, 0),       // clusters of blocks
        121 => 0,                          // deferred mapping of arrays
        122 | 123 => since(profile, 6, 0), // stream operations on values of 64 bits, and waiting until one lacks a bit
        124 => 0,                          // DMA-BUF
        125 => on_linux(profile),          // events shared between processes
        126 => 1,                          // memory synchronization domains: only the default one
        127 => since(profile, 9, 0),       // tensor maps
        128 => 0,                          // fabric handles
        129 => 0,                          // unified function pointers
        130 => 0,                          // not a NUMA node of its own
        131 | 134 => -1,                   // ID of the nearest NUMA node of the host: none
        132 | 133 => 0,                    // multicast; MPS
        135..=143 => 0,                    // graphics interoperability, decompression, sharing of host memory
        _ => return None,
    };
    Some(value)
}

/// Returns a limit of textures and surfaces, from the CUDA programming guide. The columns are compute capability 1; 2 and 3; 5; and 6 or
/// higher.
fn texture(profile: &Profile, attribute: u32) -> i32 {
    let column = match profile.compute_capability.0 {
        ..=1 => 0,
        2..=4 => 1,
        5 => 2,
        _ => 3,
    };
    let limits = match attribute {
        21 => [8192, 65536, 65536, 131072],         // 1D
        22 => [65536, 65536, 65536, 131072],        // 2D width
        23 => [32768, 65535, 65536, 65536],         // 2D height
        24..=26 => [2048, 4096, 4096, 16384],       // 3D
        27 | 28 => [8192, 16384, 16384, 32768],     // 2D layered
        29 | 43 => [512, 2048, 2048, 2048],         // layers
        42 => [8192, 16384, 16384, 32768],          // 1D layered
        45 | 46 => [0, 16384, 16384, 32768],        // gather
        47 | 48 => [0, 2048, 2048, 8192],           // 3D width and height, alternate shape
        49 => [0, 16384, 16384, 32768],             // 3D depth, alternate shape
        52 | 53 => [0, 16384, 16384, 32768],        // cube maps
        54 => [0, 2046, 2046, 2046],                // layers of cube maps
        55 => [0, 65536, 16384, 32768],             // surface 1D
        56 => [0, 65536, 65536, 131072],            // surface 2D width
        57 => [0, 32768, 65536, 65536],             // surface 2D height
        58 => [0, 65536, 4096, 16384],              // surface 3D width
        59 => [0, 32768, 4096, 16384],              // surface 3D height
        60 => [0, 2048, 4096, 16384],               // surface 3D depth
        61 => [0, 65536, 16384, 32768],             // surface 1D layered
        62 | 65 => [0, 2048, 2048, 2048],           // layers of surfaces
        63 => [0, 65536, 16384, 32768],             // surface 2D layered width
        64 => [0, 32768, 16384, 32768],             // surface 2D layered height
        66 | 67 => [0, 32768, 16384, 32768],        // surface cube maps
        68 => [0, 2046, 2046, 2046],                // layers of surface cube maps
        69 => [1 << 27, 1 << 27, 1 << 27, 1 << 28], // 1D on linear memory
        70 => [65000, 65000, 65536, 131072],        // 2D width on linear memory
        71 => [65000, 65000, 65536, 65000],         // 2D height on linear memory
        72 => [1048544, 1048544, 1048544, 2097120], // 2D pitch on linear memory
        73 | 74 => [0, 16384, 16384, 32768],        // 2D mipmapped
        77 => [0, 16384, 16384, 32768],             // 1D mipmapped
        _ => [0; 4],
    };
    limits[column]
}

fn f32_per_f64(profile: &Profile) -> i32 {
    match profile.compute_capability {
        (1, 3) => 8,
        (1, _) => 0,
        (2, 0) | (3, 5) | (3, 7) | (6, 0) | (7, 0) | (8, 0) | (9, 0) => 2,
        (2, _) => 12,
        (3, _) => 24,
        (8, _) => 64,
        _ => 32,
    }
}

/// Returns 1 if memory has error correction: on all but gaming cards, from compute capability 2 on.
fn error_correction(profile: &Profile) -> i32 {
    i32::from(profile.compute_capability >= (2, 0) && !profile.product.contains("GeForce"))
}
