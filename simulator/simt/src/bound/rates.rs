//! Rates of one multiprocessor per clock, by compute capability.
//!
//! The bound is valid only if no rate is too low. If sources disagree or are missing, the higher rate is used. Rates that are
//! called timed were timed once on an H200, with kernels that are not in the repository, so there is no record of them.
//!
//! - Arithmetic of 3.0 and later: "Throughput of Native Arithmetic Instructions" in NVIDIA's CUDA C++ Programming Guide (8.0 for
//!   3.0, 12.x for 7.5 and later; from 13 on in the Best Practices Guide), results per clock and multiprocessor. For 1.x: the Guide
//!   of release 4.2, appendix F.3 (clocks for a warp: 4, 16 for special functions, 32 in double precision), and of release 2.0,
//!   section 5.1.1.1 (16 for a 32-bit integer multiplication, 4 for `__mul24`). Integer additions of 7.0 and later have twice the
//!   Guide's rate of 64: the multiply-add units add too, and an H200 was timed at 128. Byte dot products were timed at 64; the
//!   Guide has no row for them.
//! - Tensor cores: multiply-adds of f16 per clock from NVIDIA's whitepapers on Turing (8 cores of 64), on the A100 (4 of 256), on
//!   Ada (4 of 128), and on the H100 (4 of 512), times the two bytes of an f16, because the rate is inversely proportional to the
//!   factors' width. `mma` does not reach this rate on an H200: chains of it, eight to a warp and up to 32 warps, reached 323
//!   TFLOP/s of tf32 and 650 of bf16, which is 618 and 1244 multiply-adds per clock (`kernels/NOTES.md`, 03-unroll-tensor); the
//!   rate here is 1250. `wgmma` does: a product of 64 x n takes n / 2 clocks with two warpgroups on the multiprocessor, for tf32,
//!   f16, s8 and e4m3, A in shared memory or in registers (timed on an H200 for n of 64, 128 and 256: 1020, 2040, 4080 and 4080
//!   multiply-adds per clock). One warpgroup that waits for every four products reaches 70 % of it for n = 64 and 90 % for n = 256.
//! - Issue: four schedulers from 3.0 on, which start one instruction per clock each, and two of a warp on 3.x (the Guide on each
//!   compute capability). On 1.x one in four clocks, and a second one for the special function units; the second one is
//!   second-hand.
//! - Banks: 32 of four bytes, one wavefront per clock; 16 on 1.x, where a wavefront takes two clocks (the Guide of release 4.2,
//!   appendix F.3.3). Timed on an H200 for loads from shared memory and from the L1 cache, alone and together: they share the
//!   wavefronts.
//! - Between a multiprocessor and L2: 64 bytes per clock, second-hand. NVIDIA gives 5120 for the 108 of an A100 and 512 for the 8
//!   of a GTX 680, which is 47 and 64 each.

/// Rates of one multiprocessor, per clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Warp instructions that its schedulers issue.
    pub issue: f64,
    /// f32 additions, multiplications and multiply-adds, per lane.
    pub f32: f64,
    /// The same in double precision, per lane; `None` where there is none.
    pub f64: Option<f64>,
    /// Reciprocals, roots and transcendental functions, per lane.
    pub special: f64,
    /// 32-bit integer multiplications and multiply-adds, per lane.
    pub int_multiply: f64,
    /// Byte dot products, per lane; `None` where there are none.
    pub dp4a: Option<f64>,
    /// Multiply-adds of tensor cores, times the bytes of a factor; `None` where there are none.
    pub tensor_bytes: Option<f64>,
    /// The same for products of one warp (`mma`), where they are slower than those of four (`wgmma`).
    pub mma_bytes: Option<f64>,
    /// Other integer and logic operations, per lane.
    pub int_other: f64,
    /// Conversions between types, per lane; the rate of the fastest kind.
    pub conversions: f64,
    /// Wavefronts in shared memory, and in the L1 cache if that is the same memory.
    pub wavefronts: f64,
    /// Bytes between the multiprocessor and L2; `None` where global memory has no L2.
    pub l2_bytes: Option<f64>,
    /// The path of global loads before L2.
    pub global: GlobalPath,
}

/// The path of a global load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalPath {
    /// Through an L1 cache that is the same memory as shared memory (7.0 and later).
    UnifiedL1,
    /// Directly to L2 (3.0).
    L2,
    /// Directly to memory, without caches (1.x).
    Memory,
}

impl Rates {
    /// Returns the rates of a compute capability. A capability without rates of its own gets those of the nearest earlier one.
    pub fn of(compute_capability: (u32, u32)) -> Self {
        let tesla = Rates {
            issue: 0.5,
            f32: 8.0,
            f64: None,
            special: 2.0,
            int_multiply: 2.0,
            dp4a: None,
            tensor_bytes: None,
            mma_bytes: None,
            int_other: 8.0,
            conversions: 8.0,
            wavefronts: 0.5,
            l2_bytes: None,
            global: GlobalPath::Memory,
        };
        let kepler = Rates {
            issue: 8.0,
            f32: 192.0,
            f64: Some(8.0),
            special: 32.0,
            int_multiply: 32.0,
            dp4a: None,
            tensor_bytes: None,
            mma_bytes: None,
            int_other: 160.0,
            conversions: 128.0,
            wavefronts: 1.0,
            l2_bytes: Some(64.0),
            global: GlobalPath::L2,
        };
        let turing = Rates {
            issue: 4.0,
            f32: 64.0,
            f64: Some(2.0),
            special: 16.0,
            int_multiply: 64.0,
            dp4a: Some(64.0),
            tensor_bytes: Some(2.0 * 512.0),
            mma_bytes: Some(2.0 * 512.0),
            int_other: 128.0,
            conversions: 64.0,
            wavefronts: 1.0,
            l2_bytes: Some(64.0),
            global: GlobalPath::UnifiedL1,
        };
        match compute_capability {
            (1, 0..=2) => tesla,
            (0..=2, _) => Rates { f64: Some(1.0), ..tesla },
            (3..=6, _) => kepler,
            (7, _) => turing,
            (8, 0..=5) => Rates { f64: Some(32.0), tensor_bytes: Some(2.0 * 1024.0), mma_bytes: Some(2.0 * 1024.0), ..turing },
            (8, _) => Rates { f32: 128.0, ..turing },
            (9.., _) => {
                let mma_bytes = if compute_capability.0 == 9 { 2.0 * 1250.0 } else { 2.0 * 2048.0 };
                Rates { f32: 128.0, f64: Some(64.0), tensor_bytes: Some(2.0 * 2048.0), mma_bytes: Some(mma_bytes), ..turing }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn the_rates_agree_with_the_profiles() {
        for profile in Profile::all() {
            assert_eq!(Rates::of(profile.compute_capability).f32, f64::from(profile.f32_lanes_per_sm), "{}", profile.name);
        }
    }
}
