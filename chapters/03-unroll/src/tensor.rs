//! The convolution as a product of matrices, on tensor cores.
//!
//! # The product
//!
//! Arrange the outputs in rows of [`COLUMNS`]: row `r` begins at output `COLUMNS * r`. Then
//!
//! `output[r][c] = sum over m of A[r][m] * B[m][c]` with `A[r][m] = signal[COLUMNS * r + m]` and `B[m][c] = filter[m - c]`.
//!
//! A is the signal, read with a stride; its rows overlap, and nothing is copied. B has the filter in every column, one row lower in each: a
//! Toeplitz matrix, whose diagonals each hold a single value. For one column of tiles and one step, a lane therefore holds the same part
//! of B that it held for the previous column one step ago, and of each step's `COLUMNS` columns only 8 have to be loaded. The ends of the
//! band are filled with zeros, so every output takes `taps + COLUMNS - 1` products instead of `taps`.
//!
//! # How exact it is
//!
//! A tensor core takes factors of 11 binary digits (tf32 and f16 alike). With `u = 2^-24`, rounding a factor to 11 digits changes it by up to
//! `2^-12`, which is 4096 `u`, and the workload allows 17 `u` for a single product. So every factor is split into a sum of two: `high`, the
//! nearest number of 11 digits, and `low`, the nearest to the remainder; together they are off by at most `2 u`. Of the four products of
//! two such sums, `low * low` is omitted, at most `4 u` of the product. That makes at most `8 u` per product, which the second part of
//! the workload's tolerance covers, `16 u * sum |t|`.
//!
//! Then the sums. Tensor cores do not round as additions do. An H200 aligns the 8 products of tf32 and the sum so far to their largest
//! exponent `E`, cuts off all digits below `2^(E - 25)`, adds, and cuts the result off at 24 digits. (The simulator does the same;
//! `simulator/simt/tests/tensor` holds the bits that show it.) That is at most `9 * u / 2 + 2 u` times `2^E` in 8 taps. If the sum so far is
//! the largest term, `2^E` is at most its magnitude, and the workload's tolerance has `u |S[k]|` for each of the 8 taps; `sum |t|` covers a
//! partial sum that decreases within them. If a product is the largest, `2^E` is at most its magnitude, and `6.5 u |t|` fit into the rest
//! of `16 u * sum |t|`. f16 has 16 products instead of 8, at most `17 * u / 2 + 2 u` in 16 taps, which is less per tap.
//!
//! Slices of the filter start with sums of their own; for them, as for every stage that cuts the filter, the partial sums of a slice take the
//! place of `S[k]`.
//!
//! That holds for the large products. If the small ones were added to the same sums, each of them would cut off as much again, three times
//! the error that the tolerance allows for; so they have sums of their own, 2^11 times smaller, whose errors do not matter.
//!
//! f16 also has a smaller range of exponents. [`F16X3`] multiplies signal and filter by powers of two that bring their largest magnitudes to
//! between 2^14 and 2^15, and scales the results back. Numbers that are then below 2^-14 have fewer digits, down to a step of 2^-24. The
//! stage's allowance states what that costs.

use cudarc::driver::{CudaSlice, CudaViewMut, LaunchConfig, PushKernelArg};
use kernels::unroll::tensor::{
    COLUMNS, HALF_PITCH, MAGNITUDES, MARGIN, MAXIMA, MAXIMA_THREADS, PITCH, ROWS, TENSOR_F16X3, TENSOR_TF32X3, THREADS,
};
use run::gpu::allow_shared_memory;
use run::planner::{self, Model, Slices, Sum, partial_sums};
use run::workload::convolution::{Buffers, Convolution};
use run::{Gpu, Prepared, Result, Stage, Unmet};

use crate::runs::add_slices;

/// Three products of tf32 for one of f32.
pub const TF32X3: Stage<Convolution> = Stage::prepared(
    "tensor-tf32x3",
    "a product with a band matrix on tensor cores, three products of tf32 for one of f32",
    |gpu, conv| Ok(Box::new(Tf32x3(Sums::new(gpu, conv)?))),
)
.needs_compute_capability(8, 0)
.requires(room_for_partial_sums)
.with_allowance(lost_below_tf32);

/// Three products of f16. Powers of two have brought the factors into its range.
pub const F16X3: Stage<Convolution> = Stage::prepared(
    "tensor-f16x3",
    "the same in f16, which tensor cores multiply twice as fast; accurate to 2^-39 of the largest value",
    |gpu, conv| {
        let maxima = gpu.stream.alloc_zeros(2 * MAXIMA as usize)?;
        Ok(Box::new(F16x3 { sums: Sums::new(gpu, conv)?, maxima }))
    },
)
.needs_compute_capability(8, 0)
.requires(room_for_partial_sums)
.with_allowance(lost_below_f16);

fn largest(values: &[f32]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(f64::from(value.abs())))
}

/// Returns the error of tf32 below its normal numbers: the smallest step is `2^-136`, so a factor is accurate to two
/// `u` of itself or to `2^-137`, whichever is more. That matters where either the signal or the filter is tiny and the
/// other one is huge.
fn lost_below_tf32(conv: &Convolution) -> f64 {
    f64::from(conv.taps()) * (largest(conv.signal()) + largest(conv.filter())) * 2.0_f64.powi(-137)
}

/// Returns the error of f16 below its normal numbers.
///
/// Scaled so that the largest magnitude is between `2^14` and `2^15`, a number is accurate to half of the smallest
/// step, `2^-25`, or to two `u` of itself, whichever is more. The workload's tolerance already has the second. The
/// first is at most `2^-39` of the largest magnitude, in each of the two factors of each product: `2 * 2^-39 * taps *
/// max |signal| * max |filter|` in an output.
fn lost_below_f16(conv: &Convolution) -> f64 {
    f64::from(conv.taps()) * largest(conv.signal()) * largest(conv.filter()) * 2.0_f64.powi(-38)
}

/// The division of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Blocks side by side, of [`ROWS`] rows of [`COLUMNS`] outputs each.
    pub tiles: u32,
    /// Slices of the filter, in rows of [`COLUMNS`] taps, each with blocks and partial sums of its own.
    pub slices: Slices,
}

/// Blocks that share a multiprocessor's tensor cores, so their times add up.
///
/// Measured on an H200: `kernels/NOTES.md`, "03-unroll-tensor", "Slices".
struct Shared;

impl Shared {
    /// The time to fill a tile, as rows of taps to multiply.
    const FILL: u32 = 2;
}

impl Model for Shared {
    fn resident(&self) -> u64 {
        1
    }

    fn round(&self, blocks: u64, rows_of_taps: u32) -> f64 {
        blocks as f64 * f64::from(rows_of_taps + Self::FILL)
    }
}

impl Division {
    /// Rows of taps of the longest slice. Its block takes 70 KB of shared memory: three such blocks fit the 228 KB of an H200's
    /// multiprocessor, two fit the 164 KB of an A100's, and one fits every GPU from compute capability 8.0 on.
    pub const MOST_LINES: u32 = 64;

    /// Rows of taps of the shortest slice: with fewer, a block spends more time filling its tile than multiplying.
    const FEWEST_LINES: u32 = 3;

    /// Finds the division with which the busiest multiprocessor finishes first.
    pub fn of(outputs: u32, taps: u32, multiprocessors: u32) -> Self {
        let tiles = outputs.div_ceil(ROWS * COLUMNS);
        let rows_of_taps = (taps + COLUMNS - 1).div_ceil(COLUMNS);
        let sum = Sum { shortest: Self::FEWEST_LINES, longest: Self::MOST_LINES, ..Sum::new(rows_of_taps, 1) };
        Self { tiles, slices: planner::plan(tiles.into(), sum, multiprocessors, &Shared).slices }
    }

    fn on(gpu: &Gpu, conv: &Convolution) -> Result<Self> {
        Ok(Self::of(conv.outputs(), conv.taps(), planner::multiprocessors(gpu)?))
    }

    /// Returns the bytes of the partial sums. There are none where a single slice writes the outputs itself.
    fn partial_bytes(&self, outputs: u32) -> u64 {
        if self.slices.count > 1 { 4 * u64::from(self.slices.count) * u64::from(outputs) } else { 0 }
    }
}

/// More partial sums than this are not worth their memory.
const MOST_PARTIAL_BYTES: u64 = 4 << 30;

fn room_for_partial_sums(gpu: &Gpu, conv: &Convolution) -> Result<Option<Unmet>> {
    let needed = Division::on(gpu, conv)?.partial_bytes(conv.outputs());
    Ok(Unmet::limit("bytes for partial sums", needed, MOST_PARTIAL_BYTES))
}

/// The sums of the slices, and how they become outputs.
struct Sums {
    division: Division,
    partial: Option<CudaSlice<f32>>,
}

impl Sums {
    fn new(gpu: &Gpu, conv: &Convolution) -> Result<Self> {
        let division = Division::on(gpu, conv)?;
        let slices = division.slices.count;
        let partial = if slices > 1 { Some(partial_sums(gpu, slices, conv.outputs() as usize)?) } else { None };
        Ok(Self { division, partial })
    }

    /// Enqueues the product by `multiply`, and adds the slices, if several. `multiply` gets the launch shape and where
    /// to write.
    fn enqueue(
        &mut self,
        gpu: &Gpu,
        conv: &Convolution,
        shared_mem_bytes: u32,
        output: &mut CudaViewMut<'_, f32>,
        multiply: impl FnOnce(LaunchConfig, u32, &mut CudaViewMut<'_, f32>) -> Result<()>,
    ) -> Result<()> {
        let Division { tiles, slices: Slices { count, length } } = self.division;
        let config = LaunchConfig { grid_dim: (tiles, count, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes };
        let Some(partial) = &mut self.partial else { return multiply(config, length, output) };
        multiply(config, length, &mut partial.as_view_mut())?;
        add_slices(gpu, partial, conv.outputs(), count, output)
    }
}

struct Tf32x3(Sums);

impl Prepared<Convolution> for Tf32x3 {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let kernel = gpu.kernel(TENSOR_TF32X3)?;
        let (outputs, taps) = (conv.outputs(), conv.taps());
        // Two words for every sample of the tile.
        let shared_bytes = 8 * PITCH * (ROWS + self.0.division.slices.length);
        allow_shared_memory(&kernel, shared_bytes)?;
        self.0.enqueue(gpu, conv, shared_bytes, &mut buffers.output.view_mut(), |config, lines, sums| {
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&lines).arg(sums);
            // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values, and writes `outputs` sums
            // for each slice of the grid; the workload made its buffers with those lengths, and `Sums` passes the
            // output for a single slice and memory for every slice otherwise. The block has the shared memory of a tile
            // of `ROWS + lines` rows.
            unsafe { launch.launch(config) }?;
            Ok(())
        })
    }
}

struct F16x3 {
    sums: Sums,
    maxima: CudaSlice<u32>,
}

impl Prepared<Convolution> for F16x3 {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let (outputs, taps, samples) = (conv.outputs(), conv.taps(), conv.signal().len() as u32);
        let magnitudes = gpu.kernel(MAGNITUDES)?;
        let config = LaunchConfig { grid_dim: (MAXIMA, 1, 1), block_dim: (MAXIMA_THREADS, 1, 1), shared_mem_bytes: 0 };
        let mut launch = gpu.stream.launch_builder(&magnitudes);
        launch.arg(&buffers.signal).arg(&samples).arg(&buffers.filter).arg(&taps).arg(&mut self.maxima);
        // SAFETY: the kernel reads `samples` samples and `taps` filter values, the lengths of the workload's buffers,
        // and writes two numbers for each of its `MAXIMA` blocks; the stage made `maxima` with that length.
        unsafe { launch.launch(config) }?;

        let kernel = gpu.kernel(TENSOR_F16X3)?;
        let lines = self.sums.division.slices.length;
        // Two f16 for every sample of the tile, and four for every tap.
        let shared_bytes = 4 * HALF_PITCH * (ROWS + lines) + 8 * (COLUMNS * lines + MARGIN);
        allow_shared_memory(&kernel, shared_bytes)?;
        let maxima = &self.maxima;
        self.sums.enqueue(gpu, conv, shared_bytes, &mut buffers.output.view_mut(), |config, lines, sums| {
            let mut launch = gpu.stream.launch_builder(&kernel);
            launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&lines).arg(maxima).arg(sums);
            // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values, and writes `outputs` sums
            // for each slice of the grid; the workload made its buffers with those lengths, and `Sums` passes the
            // output for a single slice and memory for every slice otherwise. It also reads all of `maxima`, which the
            // kernel before it wrote. The block has the shared memory of a tile of `ROWS + lines` rows and of the
            // filter values under it.
            unsafe { launch.launch(config) }?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiprocessors of an H200.
    const H200: u32 = 132;

    #[test]
    fn the_blocks_cover_the_outputs_and_the_slices_cover_the_taps() {
        for outputs in [1, 4095, 4096, 4097, 294_912, 50_000_000] {
            for taps in [1, 2, 63, 64, 65, 1000, 32_768, 200_000] {
                for multiprocessors in [1, 40, H200] {
                    let Division { tiles, slices: Slices { count, length } } = Division::of(outputs, taps, multiprocessors);
                    let all = (taps + COLUMNS - 1).div_ceil(COLUMNS);
                    assert!(length * count >= all && length * (count - 1) < all, "{outputs} x {taps}: {count} slices of {length}");
                    assert!((1..=Division::MOST_LINES).contains(&length));
                    assert!(tiles * ROWS * COLUMNS >= outputs && (tiles - 1) * ROWS * COLUMNS < outputs);
                }
            }
        }
    }

    #[test]
    fn an_h200_is_full_and_every_multiprocessor_has_the_same_number_of_blocks() {
        let division = Division { tiles: 72, slices: Slices { count: 11, length: 47 } };
        assert_eq!(Division::of(294_912, 32_768, H200), division);
        assert_eq!(72 * 11 % H200, 0);
        // The fastest of the divisions that were timed.
        assert_eq!(Division::of(294_912, 1024, H200).slices.count, 3);
        assert_eq!(Division::of(294_912, 512, H200).slices.count, 3);
    }

    #[test]
    fn a_long_signal_needs_no_slices() {
        assert_eq!(Division::of(50_000_000, 1000, H200).slices.count, 1);
    }
}
