//! The honest rival: the same sums of products by another algorithm, with cuFFT, NVIDIA's library of Fourier transforms.
//!
//! As in chapter 03, a correlation is a product of spectra, whose cost hardly depends on the size of the template. We cut the image into
//! square tiles that overlap by the template, transform them and the template in one batch, multiply, and transform back in another batch.
//! Large tiles overlap less, small ones fit into the caches. The stage times all sizes that are possible before the run and keeps the fastest.
//!
//! # How exact it is
//!
//! A sum of products has up to 28 binary digits for a template of 52 x 52, and f32 has 24. So we subtract [`MIDDLE_GRAY`] from every pixel.
//! This halves the numbers, and it is exact; the kernel that follows adds back what that changes. The result is an integer, and the transforms
//! compute it with an error, so we take the nearest integer. **Where the error is below one half, the sum is exact.**
//!
//! A transform of `points` numbers of f32 errs by about `u log2(points)` of the norm of what it transforms, `u = 2^-24` (chapter 03,
//! `chapters/03-unroll/src/fft.rs`). Let `M` be the largest magnitude in the template's spectrum. The product with that spectrum, and with it an
//! error of the image's, grows at most `M`-fold, and by Parseval's theorem so does the norm from the image to the result. So if errors
//! spread evenly over a ring, one of a sum is at most `u log2(points) M max |x|`, with the largest pixel `max |x|`. Nothing proves that they
//! spread evenly, and what can be proved without that is larger than the sums themselves. On an H200, random pixels had up to half of this,
//! and a picture and a template of one gray, except for one pixel each, at most a tenth (`kernels/NOTES.md`, 04-correlation-sm-aware).
//!
//! An error of a sum becomes one of a coefficient: `n (error + 1/2) / sqrt(variance of the window * variance of the template)`, largest for
//! the window of the image with the smallest variance that is not zero. [`FFT`] is allowed this much, and nothing if the error is below
//! one half.

use std::f64::consts::{PI, TAU};

use cudarc::cufft::CudaFft;
use cudarc::cufft::sys::{cufftType, float2};
use cudarc::driver::{CudaSlice, DeviceRepr, LaunchConfig, PushKernelArg};
use kernels::correlation::fft::{FINISH_ROWS, FINISH_THREADS, FINISH_TILES, GATHER_TILES, MIDDLE_GRAY};
use kernels::correlation::hopper::{MOST_COLUMNS, UNIT, WIDE};
use kernels::unroll::fft::MULTIPLY;
use run::fourier::{cufft, failed, fastest};
use run::gpu::allow_shared_memory;
use run::workload::correlation::{Buffers, Correlation};
use run::{Gpu, Prepared, Result, Stage, Unmet};

use crate::hopper::prefix_bytes;
use crate::shape::Shape;

/// The product of the spectra.
pub const FFT: Stage<Correlation> = Stage::prepared(
    "fft",
    "another algorithm: cuFFT, with tiles of the size that is fastest here",
    |gpu, correlation: &Correlation| {
        let plans = Tiles::of_workload(correlation).into_iter().map(|tiles| Fft::new(gpu, tiles));
        Ok(Box::new(fastest(gpu, correlation, plans)?))
    },
)
.needs_compute_capability(8, 0)
.requires(requirement)
.with_allowance(allowance)
.calls("cuFFT");

fn requirement(gpu: &Gpu, correlation: &Correlation) -> Result<Option<Unmet>> {
    if gpu.is_simulated() {
        return Ok(Some(Unmet::Gpu { library: "cuFFT" }));
    }
    let template = correlation.template();
    let columns = Unmet::limit("columns of the template", template.width, MOST_COLUMNS);
    let no_tiles = || {
        let side = u64::from(template.width.max(template.height));
        let unmet = Unmet::Limit { what: "points in a batch of cuFFT", needed: 8 * side * side, limit: i32::MAX as u64 };
        Tiles::of_workload(correlation).is_empty().then_some(unmet)
    };
    let no_library = || cufft().err().map(|error| Unmet::Library { reason: error.to_string() });
    let shared_memory = Unmet::shared_memory(finish_bytes(correlation), gpu.most_shared_bytes()?);
    Ok(columns.or(shared_memory).or_else(no_tiles).or_else(no_library))
}

/// Returns the largest error allowed beyond the workload's tolerance. It is derived at the head of this file.
fn allowance(correlation: &Correlation) -> f64 {
    const UNIT_ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;
    let template = correlation.template();
    let sides = Tiles::of_workload(correlation).into_iter().map(|tiles| tiles.side);
    let points = sides.max().map_or(1.0, |side| f64::from(side).powi(2));
    let off_middle = |pixel: &u8| f64::from(*pixel) - f64::from(MIDDLE_GRAY);
    let pixels: Vec<f64> = template.pixels.iter().map(off_middle).collect();
    let spectrum = largest_of_spectrum(&pixels, template.width as usize);
    let error = UNIT_ROUNDOFF * points.log2() * f64::from(MIDDLE_GRAY) * spectrum;
    if error < 0.5 {
        return 0.0;
    }
    let template_variance = Shape::of(correlation).template_variance as f64;
    let variances = smallest_variance(correlation) * template_variance;
    if variances > 0.0 { f64::from(correlation.template_pixels()) * (error + 0.5) / variances.sqrt() } else { 0.0 }
}

/// Returns the largest magnitude of these rows' transform, at any frequency. It is looked for at four times as many frequencies as there
/// are numbers in each direction. Between these, a magnitude is at most `1 / cos(pi / 8)` times as large for each direction (Ehlich and
/// Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", 1964).
fn largest_of_spectrum(numbers: &[f64], width: usize) -> f64 {
    let rows: Vec<&[f64]> = numbers.chunks(width).collect();
    let (across, down) = (4 * width, 4 * rows.len());
    let circle = |points: usize| (0..points).map(|at| (TAU * at as f64 / points as f64).sin_cos()).collect::<Vec<_>>();
    let (circle_across, circle_down) = (circle(across), circle(down));
    let mut largest = 0.0_f64;
    // The numbers are real, so the other half has the same magnitudes.
    for at in 0..=across / 2 {
        let of_row = |row: &&[f64]| {
            let terms = row.iter().enumerate().map(|(x, number)| (number, circle_across[at * x % across]));
            terms.fold((0.0, 0.0), |(re, im), (number, (sin, cos))| (re + number * cos, im - number * sin))
        };
        let column: Vec<(f64, f64)> = rows.iter().map(of_row).collect();
        for frequency in 0..down {
            let terms = column.iter().enumerate().map(|(y, number)| (number, circle_down[frequency * y % down]));
            let (re, im) =
                terms.fold((0.0, 0.0), |(re, im), ((a, b), (sin, cos))| (re + a * cos + b * sin, im + b * cos - a * sin));
            largest = largest.max(re.hypot(im));
        }
    }
    largest / (PI / 8.0).cos().powi(2)
}

/// Returns the smallest nonzero `n ΣI² - (ΣI)²` of a window. Returns zero if there is none.
fn smallest_variance(correlation: &Correlation) -> f64 {
    let (image, template, corner) = (correlation.image(), correlation.template(), correlation.corner());
    let (columns, rows) = correlation.outputs();
    let (width, height) = ((columns + template.width) as usize, (rows + template.height) as usize);
    let clamped =
        |position: usize, corner: i32, length: u32| (position as i64 + i64::from(corner)).clamp(0, i64::from(length) - 1) as usize;
    // The sums over all pixels above and to the left, with a row and a column of zeros.
    let mut above = vec![(0_u64, 0_u64); width * height];
    for y in 1..height {
        let pixels = image.row(clamped(y - 1, corner.1, image.height) as u32);
        let mut row = (0, 0);
        for x in 1..width {
            let pixel = u64::from(pixels[clamped(x - 1, corner.0, image.width)]);
            row = (row.0 + pixel, row.1 + pixel * pixel);
            let (sum, squares) = above[(y - 1) * width + x];
            above[y * width + x] = (sum + row.0, squares + row.1);
        }
    }
    let n = u64::from(correlation.template_pixels());
    let variance = |x: usize, y: usize| {
        let right = x + template.width as usize;
        let at = |x: usize, y: usize| above[y * width + x];
        let below = y + template.height as usize;
        let window =
            |part: fn((u64, u64)) -> u64| part(at(right, below)) + part(at(x, y)) - part(at(right, y)) - part(at(x, below));
        let sum = window(|sums| sums.0);
        n * window(|sums| sums.1) - sum * sum
    };
    let windows = (0..rows as usize).flat_map(|y| (0..columns as usize).map(move |x| (x, y)));
    windows.map(|(x, y)| variance(x, y)).filter(|variance| *variance > 0).min().unwrap_or(0) as f64
}

/// The division of the image: `Tiles` of `kernels/cuda/04-correlation-sm-aware-fft.cu`, field by field, and then their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Points of a transform in each direction, a power of two.
    pub side: u32,
    /// Columns of outputs of a tile, and pixels from the left side of one tile to that of the next.
    pub across: u32,
    /// The same for rows.
    pub down: u32,
    /// Tiles in a row.
    pub in_row: u32,
    /// Rows of tiles.
    pub rows: u32,
}

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct KernelTiles([i32; 4]);

// SAFETY: `repr(C)` lays out the numbers as the C++ compiler lays out the four fields of the kernels' `Tiles`.
unsafe impl DeviceRepr for KernelTiles {}

impl Tiles {
    /// Smaller transforms are not worth their launches.
    const SMALLEST: u32 = 128;

    fn of_workload(correlation: &Correlation) -> Vec<Self> {
        let template = correlation.template();
        Self::candidates(correlation.outputs(), (template.width, template.height))
    }

    /// Lists the possible sizes: powers of two from twice the template's longer side, until one tile holds everything.
    pub fn candidates(outputs: (u32, u32), template: (u32, u32)) -> Vec<Self> {
        let smallest = (2 * template.0.max(template.1)).next_power_of_two().max(Self::SMALLEST);
        let everything = (outputs.0 + template.0 - 1).max(outputs.1 + template.1 - 1);
        let powers = std::iter::successors(Some(smallest), |side| side.checked_mul(2));
        let sides = powers.take_while(|side| *side == smallest || *side / 2 < everything);
        sides.filter_map(|side| Self::of(side, outputs, template)).collect()
    }

    /// The most rings in the first kernel's grid, one below the other.
    const MOST_RINGS: u64 = 65_535;

    /// Returns tiles of this size. `None`: cuFFT could not count their points, or a grid their rings.
    fn of(side: u32, outputs: (u32, u32), template: (u32, u32)) -> Option<Self> {
        // Outputs are spread evenly over the tiles, so that the last one is not nearly empty.
        let cut = |outputs: u32, template: u32| {
            let count = outputs.div_ceil(side - template + 1);
            (count, outputs.div_ceil(count))
        };
        let ((in_row, across), (rows, down)) = (cut(outputs.0, template.0), cut(outputs.1, template.1));
        let rings = u64::from(in_row) * u64::from(rows) + 1;
        let points = u64::from(side) * u64::from(side) * rings;
        (rings <= Self::MOST_RINGS && i32::try_from(points).is_ok()).then_some(Self { side, across, down, in_row, rows })
    }

    fn count(&self) -> u32 {
        self.in_row * self.rows
    }

    /// Returns the points of a tile.
    fn points(&self) -> u32 {
        self.side * self.side
    }

    /// Returns the bins of a spectrum of real numbers.
    fn bins(&self) -> u32 {
        self.side * (self.side / 2 + 1)
    }

    fn of_kernel(&self) -> KernelTiles {
        KernelTiles([self.side, self.across, self.down, self.in_row].map(|number| number as i32))
    }
}

/// Plans and memory for one way to cut the image.
struct Fft {
    tiles: Tiles,
    forward: CudaFft,
    inverse: CudaFft,
    /// The template's ring, then one for each tile.
    rings: CudaSlice<f32>,
    /// Their spectra.
    spectra: CudaSlice<float2>,
}

// ANCHOR: fft
impl Fft {
    fn new(gpu: &Gpu, tiles: Tiles) -> Result<Self> {
        cufft()?;
        let sides = [tiles.side as i32; 2];
        // A batch of squares, one right after the other, and the same for the bins of each spectrum.
        let plan = |kind, batch: u32| {
            let stream = gpu.stream.clone();
            CudaFft::plan_many(&sides, None, 1, 0, None, 1, 0, kind, batch as i32, stream).map_err(failed("plan"))
        };
        let forward = plan(cufftType::CUFFT_R2C, tiles.count() + 1)?;
        let inverse = plan(cufftType::CUFFT_C2R, tiles.count())?;
        let of_all = |one: u32| one as usize * (tiles.count() as usize + 1);
        let (rings, spectra) = (gpu.stream.alloc_zeros(of_all(tiles.points()))?, gpu.stream.alloc_zeros(of_all(tiles.bins()))?);
        Ok(Self { tiles, forward, inverse, rings, spectra })
    }
}

impl Prepared<Correlation> for Fft {
    fn enqueue(&mut self, gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
        gather(gpu, correlation, buffers, self.tiles, &mut self.rings)?;
        self.forward.exec_r2c(&self.rings, &mut self.spectra).map_err(failed("transform"))?;
        multiply(gpu, self.tiles, &mut self.spectra)?;
        // The spectra of the tiles, which come after the template's. The transform back may overwrite them.
        let mut of_tiles = self.spectra.slice_mut(self.tiles.bins() as usize..);
        self.inverse.exec_c2r(&mut of_tiles, &mut self.rings).map_err(failed("transform back"))?;
        finish(gpu, correlation, buffers, self.tiles, &self.rings)
    }
}
// ANCHOR_END: fft

/// Threads of a block of the kernels before the last.
const THREADS: u32 = 256;

/// Enqueues the kernel that cuts the image: the template's ring first, then the tiles.
pub fn gather(gpu: &Gpu, correlation: &Correlation, buffers: &Buffers, tiles: Tiles, rings: &mut CudaSlice<f32>) -> Result<()> {
    let kernel = gpu.kernel(GATHER_TILES)?;
    let (shape, of_kernel) = (Shape::of(correlation), tiles.of_kernel());
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&buffers.template).arg(&shape).arg(&of_kernel).arg(rings);
    let grid_dim = (tiles.points().div_ceil(THREADS), tiles.count() + 1, 1);
    // SAFETY: the kernel reads the pixels of the image, with positions outside moved to its edge, and of the template; the
    // workload made the buffers with those lengths. It writes `points` values for each of `count + 1` rings, which `rings` has.
    unsafe { launch.launch(LaunchConfig { grid_dim, block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }) }?;
    Ok(())
}

/// Enqueues the kernel that multiplies every tile's spectrum by the template's. The template's comes first.
fn multiply(gpu: &Gpu, tiles: Tiles, spectra: &mut CudaSlice<float2>) -> Result<()> {
    /// Blocks next to each other in the grid: small spectra fill the device, too.
    const SIDE_BY_SIDE: u32 = 32;
    let kernel = gpu.kernel(MULTIPLY)?;
    let (bins, count, scale) = (tiles.bins(), tiles.count(), 1.0 / tiles.points() as f32);
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(spectra).arg(&bins).arg(&count).arg(&scale);
    let grid_dim = (bins.div_ceil(THREADS), count.min(SIDE_BY_SIDE), 1);
    // SAFETY: the kernel reads and writes `bins` complex numbers for each of `count + 1` rings, which `spectra` has.
    unsafe { launch.launch(LaunchConfig { grid_dim, block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }) }?;
    Ok(())
}

/// Returns the bytes of a row of the last kernel's image tile.
fn pitch(correlation: &Correlation) -> u32 {
    (WIDE + correlation.template().width - 1).next_multiple_of(UNIT)
}

/// Returns a block's bytes of shared memory in the last kernel.
fn finish_bytes(correlation: &Correlation) -> u32 {
    let pitch = pitch(correlation);
    (FINISH_ROWS + correlation.template().height - 1) * pitch + FINISH_THREADS / 32 * prefix_bytes(pitch)
}

/// Enqueues the kernel that makes coefficients of the rings.
pub fn finish(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers, tiles: Tiles, rings: &CudaSlice<f32>) -> Result<()> {
    let kernel = gpu.kernel(FINISH_TILES)?;
    let (columns, rows) = correlation.outputs();
    let config = LaunchConfig {
        grid_dim: (columns.div_ceil(WIDE), rows.div_ceil(FINISH_ROWS), 1),
        block_dim: (FINISH_THREADS, 1, 1),
        shared_mem_bytes: finish_bytes(correlation),
    };
    allow_shared_memory(&kernel, config.shared_mem_bytes)?;
    let (shape, of_kernel, pitch) = (Shape::of(correlation), tiles.of_kernel(), pitch(correlation) as i32);
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(rings).arg(&shape).arg(&of_kernel).arg(&pitch).arg(&mut output);
    // SAFETY: the kernel reads the pixels of the image, with positions outside moved to its edge, and writes a result for each
    // output; the workload made the buffers with those lengths. It reads the value of every output from the ring of its tile,
    // which `rings` has. Its tile and its sums have the bytes that the launch gives it.
    unsafe { launch.launch(config) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use run::workload::Border;
    use run::workload::correlation::Size;

    use super::*;

    #[test]
    fn the_spectrum_of_one_gray_is_largest_at_rest_and_that_of_a_stripe_at_its_frequency() {
        let between = (PI / 8.0).cos().powi(2);
        let is = |numbers: &[f64], width, expected: f64| {
            let found = largest_of_spectrum(numbers, width) * between;
            assert!((found - expected).abs() < 1e-9 * expected, "{found}, not {expected}");
        };
        is(&[-7.0; 35], 5, 7.0 * 35.0);
        is(&[0.0, 0.0, 3.0, 0.0], 2, 3.0);
        // One period in four columns of a row, in three rows.
        let stripes: Vec<f64> = (0..24).map(|at| 2.0 * (TAU * f64::from(at % 8) / 4.0).cos()).collect();
        is(&stripes, 8, 24.0);
    }

    #[test]
    fn every_candidate_covers_the_outputs_and_runs_over_no_ring() {
        for outputs in [(1, 1), (205, 77), (1997, 1997), (3, 5000)] {
            for template in [(1, 1), (52, 52), (128, 100), (64, 65)] {
                let candidates = Tiles::candidates(outputs, template);
                assert!(!candidates.is_empty(), "{outputs:?}, {template:?}");
                for Tiles { side, across, down, in_row, rows } in candidates {
                    assert!(across + template.0 - 1 <= side && down + template.1 - 1 <= side, "{outputs:?}, {template:?}, {side}");
                    assert!(across * in_row >= outputs.0 && across * (in_row - 1) < outputs.0, "{outputs:?}, {template:?}, {side}");
                    assert!(down * rows >= outputs.1 && down * (rows - 1) < outputs.1, "{outputs:?}, {template:?}, {side}");
                }
            }
        }
    }

    #[test]
    fn the_original_size_has_tiles_of_all_sizes_up_to_the_whole_image() {
        let sides = |outputs| Tiles::candidates(outputs, (52, 52)).iter().map(|tiles| tiles.side).collect::<Vec<_>>();
        assert_eq!(sides((1997, 1997)), [128, 256, 512, 1024, 2048]);
        assert_eq!(sides((205, 205)), [128, 256]);
        assert_eq!(Tiles::candidates((1997, 1997), (52, 52))[1], Tiles { side: 256, across: 200, down: 200, in_row: 10, rows: 10 });
    }

    #[test]
    fn more_points_than_cufft_counts_are_not_asked_for() {
        assert!(Tiles::candidates((1, 1), (1, 32_768)).is_empty());
        // More than 65,535 tiles of 128, but few enough points.
        let sides: Vec<u32> = Tiles::candidates((20_000, 20_000), (1, 1)).iter().map(|tiles| tiles.side).collect();
        assert_eq!(sides.first(), Some(&128));
        assert!(Tiles::candidates((20_000, 26_000), (52, 52)).iter().all(|tiles| tiles.side > 128));
    }

    #[test]
    fn the_smallest_variance_is_that_of_the_sums_that_the_oracle_knows() {
        for border in [Border::Valid, Border::Clamp] {
            let correlation = Correlation::random(Size { image: (23, 17), template: (5, 4) }, border, 13);
            let variances = correlation.sums().iter().map(|sums| {
                let (sum, squares) = (u64::from(sums.image), u64::from(sums.squares));
                20 * squares - sum * sum
            });
            assert_eq!(smallest_variance(&correlation), variances.filter(|variance| *variance > 0).min().unwrap() as f64);
        }
    }
}
