//! The highest rates of the device, measured in the same run as the stages that are compared with them.
//!
//! A datasheet's rates hold at a clock that this card may not reach, so a share of them says little. These rates come from small kernels of
//! our own, `kernels/cuda/ceilings.cu` and `ceilings-dp4a.cu`.

use std::fmt;

use cudarc::driver::sys::CUdevice_attribute::{
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
};
use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::ceilings::{CHAINS, COPY_VECTORS, FILL_NOISE, FMA_CHAINS, STEPS, dp4a};
use serde::{Deserialize, Serialize};

use crate::workload::Arithmetic;
use crate::{Gpu, Result, timing, units};

/// Threads per block; it divides what a multiprocessor holds on every generation.
const BLOCK: u32 = 256;
const VECTOR: usize = 4;
/// Rounds of the first launch, which shows how many rounds fill [`CHAINS_MS`].
const TRIAL_ROUNDS: u32 = 64;
/// Target duration of a launch of chains: long compared to its start and end.
const CHAINS_MS: f64 = 4.0;
/// Bytes that the copy reads, and also writes: tens of times the largest L2 cache, so that everything goes to device memory.
const COPY_BYTES: usize = 2 << 30;
const SAMPLES: usize = 15;

/// Rates that nothing on the device exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// f32 operations per second; a multiply-add counts as two.
    pub flops: f64,
    /// Bytes read plus bytes written per second, in a copy.
    pub bytes_per_s: f64,
    /// Multiply-adds of bytes per second; measured if the workload uses them and the device has the instruction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte_multiply_adds: Option<f64>,
}

impl Ceilings {
    /// Measures the device; `None` on the simulator, which has no speed of its own.
    pub fn measure(gpu: &Gpu, arithmetic: Arithmetic) -> Result<Option<Ceilings>> {
        if gpu.is_simulated() {
            return Ok(None);
        }
        let dp4a = arithmetic == Arithmetic::Bytes && gpu.context.compute_capability()? >= (6, 1);
        let byte_multiply_adds = if dp4a { Some(byte_multiply_adds(gpu)?) } else { None };
        Ok(Some(Ceilings { flops: flops(gpu)?, bytes_per_s: bytes_per_s(gpu)?, byte_multiply_adds }))
    }

    /// Returns the kernels that these rates were measured with.
    pub fn kernels(&self) -> Vec<Kernel> {
        let bytes = self.byte_multiply_adds.map(|_| dp4a::DP4A_CHAINS);
        [FMA_CHAINS, FILL_NOISE, COPY_VECTORS].into_iter().chain(bytes).collect()
    }

    /// Returns the multiply-adds of this kind per second; `None` if they were not measured.
    pub fn multiply_adds(&self, arithmetic: Arithmetic) -> Option<f64> {
        match arithmetic {
            Arithmetic::F32 => Some(self.flops / 2.0),
            Arithmetic::Bytes => self.byte_multiply_adds,
            Arithmetic::Bf16 | Arithmetic::Integers => None,
        }
    }
}

impl fmt::Display for Ceilings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of f32 multiply-adds, {} of copies", units::flops(self.flops), units::bandwidth(self.bytes_per_s))?;
        match self.byte_multiply_adds {
            Some(rate) => write!(f, ", {} of bytes by dp4a", units::multiply_adds(rate)),
            None => Ok(()),
        }
    }
}

/// Returns how many blocks of [`BLOCK`] threads the device holds at once.
fn resident_blocks(gpu: &Gpu) -> Result<u32> {
    let multiprocessors = gpu.context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.unsigned_abs();
    let threads = gpu.context.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?.unsigned_abs();
    Ok(multiprocessors * (threads / BLOCK).max(1))
}

fn flops(gpu: &Gpu) -> Result<f64> {
    // Each chain alternates between two numbers. It does not settle, because then fewer bits would change and the chip would draw less
    // power, and it neither overflows nor becomes subnormal.
    let (factor, addend) = (-1.0f32, 0.7f32);
    let steps = chain_steps_per_s(gpu, |rounds, result, config| {
        let kernel = gpu.kernel(FMA_CHAINS)?;
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&rounds).arg(&factor).arg(&addend).arg(result);
        // SAFETY: the kernel writes one word per thread, and `result` has that many words.
        unsafe { launch.launch(config) }?;
        Ok(())
    })?;
    Ok(2.0 * steps)
}

fn byte_multiply_adds(gpu: &Gpu) -> Result<f64> {
    let pixels = 0x0103_0507_u32;
    let steps = chain_steps_per_s(gpu, |rounds, result, config| {
        let kernel = gpu.kernel(dp4a::DP4A_CHAINS)?;
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&rounds).arg(&pixels).arg(result);
        // SAFETY: the kernel writes one word per thread, and `result` has that many words.
        unsafe { launch.launch(config) }?;
        Ok(())
    })?;
    Ok(4.0 * steps)
}

/// Returns the steps per second of all chains of all threads; `enqueue` gets the rounds, a word per thread, and the launch's shape.
fn chain_steps_per_s(gpu: &Gpu, enqueue: impl Fn(u32, &mut CudaSlice<u32>, LaunchConfig) -> Result<()>) -> Result<f64> {
    const { assert!(CHAINS == dp4a::CHAINS && STEPS == dp4a::STEPS, "both kernels do the same number of steps per round") };
    // One full wave: one more block would run alone at the end, and one fewer would leave a multiprocessor with less work.
    let blocks = resident_blocks(gpu)?;
    let threads = blocks * BLOCK;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 };
    let mut result: CudaSlice<u32> = gpu.stream.alloc_zeros(threads as usize)?;
    let mut run = |rounds: u32| timing::time(gpu, SAMPLES, || enqueue(rounds, &mut result, config));
    let trial_ms = run(TRIAL_ROUNDS)?.median_ms;
    let rounds = (f64::from(TRIAL_ROUNDS) * CHAINS_MS / trial_ms).ceil().max(1.0) as u32;
    let steps = f64::from(rounds) * f64::from(CHAINS) * f64::from(STEPS) * f64::from(threads);
    Ok(steps / (run(rounds)?.median_ms * 1e-3))
}

fn noise(gpu: &Gpu, count: usize) -> Result<CudaSlice<u32>> {
    let mut buffer: CudaSlice<u32> = gpu.stream.alloc_zeros(count)?;
    let kernel = gpu.kernel(FILL_NOISE)?;
    let length = count as u64;
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&mut buffer).arg(&length);
    let config = LaunchConfig { grid_dim: (resident_blocks(gpu)?, 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the kernel writes `length` words in any grid, and the buffer holds them.
    unsafe { launch.launch(config) }?;
    Ok(buffer)
}

fn bytes_per_s(gpu: &Gpu) -> Result<f64> {
    let (free, _) = gpu.context.mem_get_info()?;
    let vectors = (COPY_BYTES.min(free / 4) / size_of::<[u32; VECTOR]>()).max(1);
    let source = noise(gpu, vectors * VECTOR)?;
    let mut target: CudaSlice<u32> = gpu.stream.alloc_zeros(vectors * VECTOR)?;
    let mut run = |blocks: u32| {
        timing::time(gpu, SAMPLES, || {
            let kernel = gpu.kernel(COPY_VECTORS)?;
            let count = vectors as u64;
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&source).arg(&count).arg(&mut target);
            let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 };
            // SAFETY: the kernel reads and writes `count` vectors of four words in any grid, and both buffers hold them.
            unsafe { launch.launch(config) }?;
            Ok(())
        })
    };
    // Which shape is faster depends on the GPU generation: a vector per thread, or one wave of threads in a loop.
    let one_each = u32::try_from(vectors.div_ceil(BLOCK as usize)).unwrap_or(u32::MAX);
    let fastest_ms = run(one_each)?.median_ms.min(run(resident_blocks(gpu)?)?.median_ms);
    let bytes = 2 * vectors * size_of::<[u32; VECTOR]>();
    Ok(bytes as f64 / (fastest_ms * 1e-3))
}
