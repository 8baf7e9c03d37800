//! The convolution as a product of matrices, on tensor cores.
//!
//! # The product
//!
//! Let the outputs stand in rows of [`COLUMNS`]: row `r` begins at output `COLUMNS * r`. Then
//!
//! `output[r][c] = sum over m of A[r][m] * B[m][c]` with `A[r][m] = signal[COLUMNS * r + m]` and `B[m][c] = filter[m - c]`.
//!
//! A is the signal, read with a stride; its rows overlap, and nothing is copied. B has the filter in every column, each time one row
//! lower: a Toeplitz matrix, all of whose diagonals hold one value. What a lane has of B for one column of tiles and one step therefore
//! is what it had for the column before, one step ago, and of each step's `COLUMNS` columns only 8 have to be loaded. The band's ends are
//! filled with zeros, so that `taps + COLUMNS - 1` products are made for every output in place of `taps`.
//!
//! # How exact it is
//!
//! A tensor core takes factors of 11 binary digits (tf32 and f16 alike). With `u = 2^-24`, a factor rounded to them is off by as much as
//! `2^-12`, 4096 `u`, and the workload allows 17 `u` of a single product. So every factor is the sum of two: `high`, the nearest number
//! of 11 digits, and `low`, the nearest to what is left; together they are off by `2 u` at most. Of the four products of two such sums
//! `low * low` is left out, at most `4 u` of the product. That makes at most `8 u` per product, which the second part of the workload's
//! tolerance covers, `16 u * sum |t|`.
//!
//! Then the sums. Tensor cores do not round as additions do: an H200 aligns the 8 products of tf32 and the sum so far to the largest
//! exponent `E` of them, cuts off what lies below `2^(E - 25)`, adds, and cuts the result off at 24 digits (the simulator does the same,
//! and `simulator/simt/tests/tensor` holds the bits that say so). With `u` for `2^-24` that is at most `9 * u / 2 + 2 u`
//! times `2^E` in 8 taps. If the sum so far is the largest term, `2^E` is at most its magnitude, and the workload's
//! tolerance has `u |S[k]|` for each of the 8 taps; a partial sum that goes down within them is paid for by `sum |t|`. If a product is
//! the largest, `2^E` is at most its magnitude, and `6.5 u |t|` fit into what the `16 u * sum |t|` have left. f16 has 16 products in
//! place of 8, at most `17 * u / 2 + 2 u` in 16 taps, which is less per tap.
//!
//! Slices of the filter begin anew, with sums of their own; for them, as for every stage that cuts the filter, the partial sums of a slice
//! stand in the place of `S[k]`.
//!
//! That holds for the large products. Were the small ones added to the same sums, each of them would cut as much again, three times what
//! the tolerance grows by; so they have sums of their own, 2^11 times smaller, whose errors do not matter.
//!
//! f16 also lacks exponents. [`F16X3`] multiplies signal and filter by powers of two that bring their largest magnitudes to between 2^14
//! and 2^15, and back afterwards. Numbers that are then below 2^-14 have fewer digits, down to a step of 2^-24. The stage's allowance
//! states what that costs.

use common::Result;
use common::error::Error;
use common::gpu::Gpu;
use common::stage::{Prepared, Stage};
use common::units::bytes;
use common::workload::Convolution;
use common::workload::convolution::Buffers;
use cudarc::driver::sys::{CUdevice_attribute, CUfunction_attribute};
use cudarc::driver::{CudaFunction, CudaSlice, CudaViewMut, LaunchConfig, PushKernelArg};
use kernels::unroll::tensor::{
    COLUMNS, HALF_PITCH, MAGNITUDES, MARGIN, MAXIMA, MAXIMA_THREADS, PITCH, ROWS, TENSOR_F16X3, TENSOR_TF32X3, THREADS,
};

use crate::runs::add_slices;

// ANCHOR: stages
/// Three products of tf32 for one of f32.
pub const TF32X3: Stage<Convolution> = Stage::prepared(
    "tensor-tf32x3",
    "as a product with a band matrix on tensor cores, three products of tf32 for one of f32",
    |gpu, conv| Ok(Box::new(Tf32x3(Sums::new(gpu, conv)?))),
)
.needs_compute_capability(8, 0)
.skipped_where(lacks_memory)
.with_allowance(lost_below_tf32);

/// Three products of f16, after powers of two have brought the factors into its range.
pub const F16X3: Stage<Convolution> = Stage::prepared(
    "tensor-f16x3",
    "the same in f16, of which tensor cores multiply twice as many; good to 2^-39 of the largest value",
    |gpu, conv| {
        let maxima = gpu.stream.alloc_zeros(2 * MAXIMA as usize)?;
        Ok(Box::new(F16x3 { sums: Sums::new(gpu, conv)?, maxima }))
    },
)
.needs_compute_capability(8, 0)
.skipped_where(lacks_memory)
.with_allowance(lost_below_f16);
// ANCHOR_END: stages

fn largest(values: &[f32]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(f64::from(value.abs())))
}

/// What the steps of tf32 below its normal numbers cost: the smallest is `2^-136`, so that a factor is held to two `u` of itself or to
/// `2^-137`, whichever is more. That matters where one of signal and filter is next to nothing and the other is huge.
fn lost_below_tf32(conv: &Convolution) -> f64 {
    f64::from(conv.taps()) * (largest(conv.signal()) + largest(conv.filter())) * 2.0_f64.powi(-137)
}

/// What the steps of f16 below its normal numbers cost.
///
/// Scaled so that the largest magnitude lies between `2^14` and `2^15`, a number is held to half of the smallest step, `2^-25`, or to two
/// `u` of itself, whichever is more. The second is in the workload's tolerance already. The first is at most `2^-39` of the largest
/// magnitude, in each of the two factors of each product: `2 * 2^-39 * taps * max |signal| * max |filter|` in an output.
fn lost_below_f16(conv: &Convolution) -> f64 {
    f64::from(conv.taps()) * largest(conv.signal()) * largest(conv.filter()) * 2.0_f64.powi(-38)
}

/// How the work is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Blocks side by side, of [`ROWS`] rows of [`COLUMNS`] outputs each.
    pub tiles: u32,
    /// Rows of taps of a slice of the filter.
    pub lines: u32,
    /// Slices of the filter, each with blocks and partial sums of its own.
    pub slices: u32,
}

impl Division {
    /// Rows of taps of the longest slice. Its block takes 70 KB of shared memory: of the 228 KB of an H200's multiprocessor three find room,
    /// of the 164 KB of an A100's two, and every GPU from compute capability 8.0 on has room for one.
    pub const MOST_LINES: u32 = 64;

    /// Rows of taps of the shortest slice, where the filter has as many: with fewer, a block fills for longer than it multiplies.
    const FEWEST_LINES: u32 = 3;

    /// Filling a tile takes a block about as long as multiplying it by this many rows of taps; measured on an H200.
    const FILL: u32 = 2;

    /// Divides so that the multiprocessor with the most to do has the least.
    ///
    /// The blocks of a multiprocessor share its tensor cores, so that their times add up. More slices spread the blocks more evenly, and
    /// each of them costs another fill.
    pub fn of(outputs: u32, taps: u32, multiprocessors: u32) -> Self {
        let tiles = outputs.div_ceil(ROWS * COLUMNS);
        let all = (taps + COLUMNS - 1).div_ceil(COLUMNS);
        let divisions = (all.min(Self::FEWEST_LINES)..=all.min(Self::MOST_LINES)).map(|lines| Self {
            tiles,
            lines,
            slices: all.div_ceil(lines),
        });
        let time = |division: &Self| {
            let blocks = u64::from(tiles) * u64::from(division.slices);
            blocks.div_ceil(u64::from(multiprocessors)) * u64::from(division.lines + Self::FILL)
        };
        // Of equally good divisions, that with the fewest partial sums.
        divisions.min_by_key(|division| (time(division), division.slices)).expect("a filter has a row of taps")
    }

    fn on(gpu: &Gpu, conv: &Convolution) -> Result<Self> {
        let multiprocessors = gpu.context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Ok(Self::of(conv.outputs(), conv.taps(), multiprocessors.unsigned_abs().max(1)))
    }

    /// Bytes of the partial sums; none where one slice writes the outputs themselves.
    fn partial_bytes(&self, outputs: u32) -> u64 {
        if self.slices > 1 { 4 * u64::from(self.slices) * u64::from(outputs) } else { 0 }
    }
}

/// More partial sums than this are not worth their memory.
const MOST_PARTIAL_BYTES: u64 = 4 << 30;

fn lacks_memory(gpu: &Gpu, conv: &Convolution) -> Option<String> {
    let needed = Division::on(gpu, conv).ok()?.partial_bytes(conv.outputs());
    let too_much = needed > MOST_PARTIAL_BYTES;
    too_much.then(|| format!("its partial sums would take {}, more than {}", bytes(needed), bytes(MOST_PARTIAL_BYTES)))
}

/// The slices' sums, and how they become outputs.
struct Sums {
    division: Division,
    partial: Option<CudaSlice<f32>>,
}

impl Sums {
    fn new(gpu: &Gpu, conv: &Convolution) -> Result<Self> {
        let division = Division::on(gpu, conv)?;
        let len = division.partial_bytes(conv.outputs()) / 4;
        let partial = if len > 0 { Some(gpu.stream.alloc_zeros(len as usize)?) } else { None };
        Ok(Self { division, partial })
    }

    // ANCHOR: slices
    /// Lets `multiply` enqueue the product, with the launch shape and the place for its sums, and adds the slices where there are several.
    fn enqueue(
        &mut self,
        gpu: &Gpu,
        conv: &Convolution,
        shared_mem_bytes: u32,
        output: &mut CudaViewMut<'_, f32>,
        multiply: impl FnOnce(LaunchConfig, u32, &mut CudaViewMut<'_, f32>) -> Result<()>,
    ) -> Result<()> {
        let Division { tiles, lines, slices } = self.division;
        let config = LaunchConfig { grid_dim: (tiles, slices, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes };
        let Some(partial) = &mut self.partial else { return multiply(config, lines, output) };
        multiply(config, lines, &mut partial.as_view_mut())?;
        add_slices(gpu, partial, conv.outputs(), slices, output)
    }
    // ANCHOR_END: slices
}

/// More dynamic shared memory than 48 KB has to be asked for, kernel by kernel.
fn allow_shared(kernel: &CudaFunction, shared_bytes: u32) -> Result<()> {
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    kernel.set_attribute(attribute, shared_bytes as i32).map_err(Error::from)
}

struct Tf32x3(Sums);

// ANCHOR: tf32x3
impl Prepared<Convolution> for Tf32x3 {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let kernel = gpu.kernel(TENSOR_TF32X3)?;
        let (outputs, taps) = (conv.outputs(), conv.taps());
        // Two words for every sample of the tile.
        let shared_bytes = 8 * PITCH * (ROWS + self.0.division.lines);
        allow_shared(&kernel, shared_bytes)?;
        self.0.enqueue(gpu, conv, shared_bytes, &mut buffers.output.view_mut(), |config, lines, sums| {
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&lines).arg(sums);
            // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values, and writes `outputs` sums for each slice of
            // the grid; the buffers have those lengths, and the block has the shared memory of a tile.
            unsafe { launch.launch(config) }?;
            Ok(())
        })
    }
}
// ANCHOR_END: tf32x3

struct F16x3 {
    sums: Sums,
    maxima: CudaSlice<u32>,
}

// ANCHOR: f16x3
impl Prepared<Convolution> for F16x3 {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let (outputs, taps, samples) = (conv.outputs(), conv.taps(), conv.signal().len() as u32);
        let magnitudes = gpu.kernel(MAGNITUDES)?;
        let config = LaunchConfig { grid_dim: (MAXIMA, 1, 1), block_dim: (MAXIMA_THREADS, 1, 1), shared_mem_bytes: 0 };
        let mut launch = gpu.stream.launch_builder(&magnitudes);
        launch.arg(&buffers.signal).arg(&samples).arg(&buffers.filter).arg(&taps).arg(&mut self.maxima);
        // SAFETY: the kernel reads `samples` samples and `taps` filter values, and writes two numbers for each of its MAXIMA blocks.
        unsafe { launch.launch(config) }?;

        let kernel = gpu.kernel(TENSOR_F16X3)?;
        let lines = self.sums.division.lines;
        // Two f16 for every sample of the tile, and four for every tap.
        let shared_bytes = 4 * HALF_PITCH * (ROWS + lines) + 8 * (COLUMNS * lines + MARGIN);
        allow_shared(&kernel, shared_bytes)?;
        let maxima = &self.maxima;
        self.sums.enqueue(gpu, conv, shared_bytes, &mut buffers.output.view_mut(), |config, lines, sums| {
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&lines).arg(maxima).arg(sums);
            // SAFETY: as of the kernel of tf32; it also reads the maxima, of which the kernel before it wrote all.
            unsafe { launch.launch(config) }?;
            Ok(())
        })
    }
}
// ANCHOR_END: f16x3

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiprocessors of an H200.
    const H200: u32 = 132;

    #[test]
    fn the_slices_cover_the_taps_and_none_is_empty() {
        for outputs in [1, 4095, 4096, 4097, 294_912, 50_000_000] {
            for taps in [1, 2, 63, 64, 65, 1000, 32_768, 200_000] {
                for multiprocessors in [1, 40, H200] {
                    let Division { tiles, lines, slices } = Division::of(outputs, taps, multiprocessors);
                    let all = (taps + COLUMNS - 1).div_ceil(COLUMNS);
                    assert!(lines * slices >= all && lines * (slices - 1) < all, "{outputs} x {taps}: {slices} slices of {lines}");
                    assert!((1..=Division::MOST_LINES).contains(&lines));
                    assert!(tiles * ROWS * COLUMNS >= outputs && (tiles - 1) * ROWS * COLUMNS < outputs);
                }
            }
        }
    }

    #[test]
    fn an_h200_is_full_and_every_multiprocessor_has_as_many_blocks() {
        assert_eq!(Division::of(294_912, 32_768, H200), Division { tiles: 72, lines: 47, slices: 11 });
        assert_eq!(72 * 11 % H200, 0);
        // Those that were the fastest of the divisions that were timed.
        assert_eq!(Division::of(294_912, 1024, H200).slices, 3);
        assert_eq!(Division::of(294_912, 512, H200).slices, 3);
    }

    #[test]
    fn a_long_signal_needs_no_slices() {
        assert_eq!(Division::of(50_000_000, 1000, H200).slices, 1);
    }
}
