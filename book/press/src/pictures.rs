//! What the book shows of runs of the simulator, which are the same on every machine: pictures of warps, the footprints of blocks, what the
//! checks say, and counts of a stage with its loads taken out.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use common::Chapter;
use common::gpu::Gpu;
use common::report::Outcome;
use common::runner;
use common::workload::convolution::Size;
use common::workload::{Border, Convolution, Correlation, Matmul, WindowSums, Workload, correlation, matmul, window_sums};
use inspect::diagnose::diagnose;
use inspect::explain::Explanation;

use crate::generated::{SIMULATED_H200, root};
use crate::{footprints, window_tables};

/// A GPU of 2008, for pictures of what memory was like then. A process simulates one GPU, so that these need a process of their own.
pub const OLD_GPU: &str = "gtx280";

/// Every picture as an SVG, and the texts and tables that come from a run; `gpu` is the simulator, as an H200.
///
/// # Errors
///
/// When a stage does not run, or makes no access to memory.
pub fn pictures(gpu: &Gpu) -> Result<Vec<(PathBuf, String)>> {
    let conv = Convolution::random(Size { outputs: 1024, taps: 64 }, 13);
    let sums = WindowSums::random(window_sums::TEACHING_SIZE, 15, Border::Valid, 13)?;
    let product = Matmul::random(matmul::Size { m: 128, n: 128, k: 256 }, 13)?;
    let mut pictures = footprints::drawings(gpu)?;
    pictures.extend([
        picture(gpu, &conv_naive::CHAPTER, "naive", &conv)?,
        picture(gpu, &conv_naive::CHAPTER, "naive-strided", &conv)?,
        picture(gpu, &conv_shared::CHAPTER, "shared", &conv)?,
        picture(gpu, &unroll::CHAPTER, "register-tile", &conv)?,
        picture(gpu, &unroll::CHAPTER, "long-run", &conv)?,
        picture(gpu, &::window_sums::CHAPTER, "shared-slices", &sums)?,
        picture(gpu, &::window_sums::CHAPTER, "padded-slices", &sums)?,
        picture(gpu, &matmul_tiled::CHAPTER, "register-tile", &product)?,
        picture(gpu, &matmul_tiled::CHAPTER, "vector", &product)?,
        picture(gpu, &matmul_tiled::CHAPTER, "warp-tile", &product)?,
        race(gpu)?,
        (root().join("book/src/generated/05-window-sums.halves.md"), window_tables::halves(gpu)?),
        diagnosis(gpu, &conv_shared::CHAPTER, "shared", &Convolution::random(Size { outputs: 16_384, taps: 1024 }, 13))?,
    ]);
    Ok(pictures)
}

/// The same of [`OLD_GPU`]; `gpu` is the simulator, as that.
///
/// # Errors
///
/// As there.
pub fn of_old_gpu(gpu: &Gpu) -> Result<[(PathBuf, String); 1]> {
    let correlation = Correlation::random(correlation::TEACHING_SIZE, Border::Valid, 13);
    Ok([picture(gpu, &correlation_sm_aware::CHAPTER, "shared", &correlation)?])
}

/// The files of [`of_old_gpu`].
pub fn files_of_old_gpu() -> [PathBuf; 1] {
    [file(OLD_GPU, correlation_sm_aware::CHAPTER.name, "shared")]
}

/// A stage with its loads taken out.
fn diagnosis<W: Workload>(gpu: &Gpu, chapter: &Chapter<W>, name: &str, workload: &W) -> Result<(PathBuf, String)> {
    let stage = chapter.stages.iter().find(|stage| stage.name == name).context("no such stage")?;
    let Ok(diagnosis) = diagnose(gpu, stage, chapter.experiments, workload, 1)? else { bail!("{name} is not verified") };
    let file = format!("book/src/generated/{SIMULATED_H200}/{}.{name}.diagnosis.txt", chapter.name);
    Ok((root().join(file), diagnosis.text()))
}

/// What the simulator says of the stage that lacks a barrier on purpose.
fn race(gpu: &Gpu) -> Result<(PathBuf, String)> {
    let conv = Convolution::random(Size { outputs: 256, taps: 2 * kernels::conv_shared::TILE }, 13);
    let rows = runner::run(gpu, &[conv_shared::SHARED_MISSING_BARRIER], &conv, 0)?.rows;
    let finding = rows[0].findings().first().context("a race")?;
    Ok((root().join(format!("book/src/generated/{SIMULATED_H200}/race.txt")), format!("{finding}\n")))
}

/// The costliest request of a stage's first warp.
fn picture<W: Workload>(gpu: &Gpu, chapter: &Chapter<W>, name: &str, workload: &W) -> Result<(PathBuf, String)> {
    let stage = chapter.stages.iter().find(|stage| stage.name == name).context("no such stage")?;
    let profile = gpu.profile().context("only the simulator shows what a warp does")?;
    let rows = runner::run(gpu, &[*stage], workload, 0)?.rows;
    let Outcome::Verified(measured) = &rows[0].outcome else { bail!("{name} is not verified: {:?}", rows[0].outcome) };
    let explanation = Explanation::new(name, measured.launches(), workload.work().bytes, profile);
    Ok((file(profile.name, chapter.name, name), explanation.svg(None)?))
}

/// Where a picture is.
fn file(profile: &str, chapter: &str, stage: &str) -> PathBuf {
    root().join(format!("book/src/generated/sim-{profile}/{chapter}.{stage}.svg"))
}
