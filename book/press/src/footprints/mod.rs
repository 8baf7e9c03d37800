//! Drawings of what one thread, its warp and its block read and write of the arrays in device memory:
//! `<device>/<chapter>.<stage>.footprint.svg`.
//!
//! Everything in them, and every number of their captions, comes from a trace of the simulator: none can say what a kernel does not do.
//! Sizes are small enough for single elements to be seen.
//!
//! - `trace`: the elements that threads touched.
//! - `strips`: arrays of one dimension, each part on a line of its own.
//! - `planes`: images and matrices, one part over the other.

mod planes;
mod strips;
mod trace;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use common::Chapter;
use common::gpu::Gpu;
use common::report::Outcome;
use common::runner;
use common::workload::convolution::Size;
use common::workload::{Border, Convolution, Correlation, Matmul, WindowSums, correlation, matmul, window_sums};
use simt::Dim3;

use crate::generated::root;
use trace::{Array, Arrays, Elements, Part, trace};

/// Lanes of a warp.
const WARP: u32 = 32;

/// The colours of parts: the fewer threads share one, the more it stands out.
const STYLE: &str = "
  .block { fill: #bcd9ff; } .warp { fill: #5b97e0; } .thread { fill: #0a2a5e; } .other { fill: #d8dee4; }
  .beside { fill: none; stroke: #59636e; stroke-dasharray: 4 3; } .outline { fill: none; stroke: #8c959f; }
  @media (prefers-color-scheme: dark) {
    .block { fill: #173a6b; } .warp { fill: #3d7cc9; } .thread { fill: #e3efff; } .other { fill: #3d444d; }
    .beside { stroke: #9198a1; } .outline { stroke: #656c76; }
  }
";

/// All drawings; `gpu` is the simulator.
///
/// # Errors
///
/// When a stage does not run.
pub fn drawings(gpu: &Gpu) -> Result<Vec<(PathBuf, String)>> {
    let conv = |outputs, taps| Convolution::random(Size { outputs, taps }, 13);
    let image = correlation::Size { image: (96, 41), template: (16, 10) };
    let correlation = Correlation::random(image, Border::Valid, 13);
    let rows = WindowSums::random(window_sums::Size { width: 800, height: 5 }, 15, Border::Valid, 13)?;
    let product = |m, n, k| Matmul::random(matmul::Size { m, n, k }, 13);
    let (strip, stacked, product_of) = (strips::draw, planes::stacked, planes::product);
    Ok(vec![
        drawing(gpu, &conv_naive::CHAPTER, "naive-strided", &conv(3 * 2048, 64), &IN_A_ROW, strip)?,
        drawing(gpu, &conv_naive::CHAPTER, "naive", &conv(3 * 256, 64), &IN_A_ROW, strip)?,
        drawing(gpu, &conv_shared::CHAPTER, "shared", &conv(3 * 256, 256), &IN_A_ROW, strip)?,
        drawing(gpu, &unroll::CHAPTER, "register-tile", &conv(4 * 1024, 256), &Who { thread: 40, ..IN_A_ROW }, strip)?,
        drawing(gpu, &correlation_sm_aware::CHAPTER, "global", &correlation, &AMONG_OTHERS, stacked)?,
        drawing(gpu, &correlation_sm_aware::CHAPTER, "shared", &correlation, &AMONG_OTHERS, stacked)?,
        drawing(gpu, &::window_sums::CHAPTER, "registers", &rows, &AMONG_OTHERS, stacked)?,
        drawing(gpu, &::window_sums::CHAPTER, "shared-tile", &rows, &AMONG_OTHERS, stacked)?,
        drawing(gpu, &matmul_tiled::CHAPTER, "tiled", &product(64, 64, 48)?, &AMONG_OTHERS, product_of)?,
        drawing(gpu, &matmul_tiled::CHAPTER, "register-tile", &product(256, 256, 64)?, &IN_A_CORNER, product_of)?,
        drawing(gpu, &matmul_tiled::CHAPTER, "double-buffered", &product(256, 512, 64)?, &IN_A_CORNER, product_of)?,
    ])
}

/// Whose footprint is drawn.
#[derive(Clone, Copy, Debug)]
struct Who {
    block: Dim3,
    /// The thread's number in the block.
    thread: u32,
    /// Blocks beside it.
    beside: &'static [Dim3],
}

/// A block of a one-dimensional grid, and those before and behind it.
const IN_A_ROW: Who = Who { block: at(1, 0), thread: 100, beside: &[at(0, 0), at(2, 0)] };

/// A block of a two-dimensional grid, and those on all four sides.
const AMONG_OTHERS: Who = Who { block: at(1, 1), thread: 100, beside: &[at(0, 1), at(2, 1), at(1, 0), at(1, 2)] };

/// The second block in both dimensions, and those before it.
const IN_A_CORNER: Who = Who { block: at(1, 1), thread: 100, beside: &[at(0, 1), at(1, 0)] };

const fn at(x: u32, y: u32) -> Dim3 {
    Dim3::new(x, y, 0)
}

/// What is touched of one array.
struct Footprint {
    array: Array,
    block: Part,
    warp: Part,
    thread: Part,
    /// By the blocks beside it.
    beside: Vec<Part>,
}

/// How footprints become a drawing with a title and captions.
type Draw = fn(&Who, &[Footprint], &str, &[String]) -> String;

fn drawing<W: Arrays>(
    gpu: &Gpu,
    chapter: &Chapter<W>,
    name: &str,
    workload: &W,
    who: &Who,
    draw: Draw,
) -> Result<(PathBuf, String)> {
    let footprints = footprints(gpu, chapter, name, workload, who)?;
    let profile = gpu.profile().context("only the simulator shows what a block does")?;
    let title =
        format!("{name}: {}, its {} and its {}", who.block_name(who.block, &footprints), who.warp_name(), who.thread_name());
    let svg = draw(who, &footprints, &title, &captions(who, &footprints));
    let file = format!("book/src/generated/sim-{}/{}.{name}.footprint.svg", profile.name, chapter.name);
    Ok((root().join(file), svg))
}

fn footprints<W: Arrays>(gpu: &Gpu, chapter: &Chapter<W>, name: &str, workload: &W, who: &Who) -> Result<Vec<Footprint>> {
    let stage = chapter.stages.iter().find(|stage| stage.name == name).context("no such stage")?;
    let rows = runner::run(gpu, &[*stage], workload, 0)?.rows;
    let Outcome::Verified(_) = &rows[0].outcome else { bail!("{name} is not verified: {:?}", rows[0].outcome) };
    let blocks: Vec<Dim3> = [who.block].into_iter().chain(who.beside.iter().copied()).collect();
    let (arrays, traces) = trace(gpu, stage, workload, &blocks)?;
    let first_of_warp = who.thread / WARP * WARP;
    let footprint = |array: Array| Footprint {
        block: array.part(&traces[0], &(0..u32::MAX)),
        warp: array.part(&traces[0], &(first_of_warp..first_of_warp + WARP)),
        thread: array.part(&traces[0], &(who.thread..who.thread + 1)),
        beside: traces[1..].iter().map(|trace| array.part(trace, &(0..u32::MAX))).collect(),
        array,
    };
    // An array that is not touched, as one that comes by way of constant memory, is not drawn.
    Ok(arrays.into_iter().map(footprint).filter(|footprint| !footprint.block.all().is_empty()).collect())
}

impl Who {
    /// A block by its number in a grid of one dimension, or by its two.
    fn block_name(&self, block: Dim3, footprints: &[Footprint]) -> String {
        let one_dimension = footprints.iter().all(|footprint| footprint.array.rows == 1);
        if one_dimension { format!("block {}", block.x) } else { format!("block ({}, {})", block.x, block.y) }
    }

    fn warp_name(&self) -> String {
        format!("warp {}", self.thread / WARP)
    }

    fn thread_name(&self) -> String {
        format!("thread {}", self.thread)
    }
}

/// What the block, the warp and the thread read and write, and what of it the blocks beside read as well.
fn captions(who: &Who, footprints: &[Footprint]) -> Vec<String> {
    let sentence = |subject: String, part: fn(&Footprint) -> &Part| {
        let read = list(footprints, |footprint| part(footprint).read.len() as u64);
        let written = list(footprints, |footprint| part(footprint).written.len() as u64);
        format!("{subject} reads {read}, and writes {written}.")
    };
    let shared = list(footprints, |footprint| {
        let others: Elements = footprint.beside.iter().flat_map(|part| &part.read).copied().collect();
        footprint.block.read.intersection(&others).count() as u64
    });
    vec![
        sentence("The block".to_owned(), |footprint| &footprint.block),
        sentence(format!("Its {}", who.warp_name()), |footprint| &footprint.warp),
        sentence(format!("Its {}", who.thread_name()), |footprint| &footprint.thread),
        format!("Of what the block reads, the blocks beside it read {shared} as well."),
    ]
}

/// Numbers of elements by their names, for example `319 samples and 64 filter values`.
fn list(footprints: &[Footprint], number: impl Fn(&Footprint) -> u64) -> String {
    let numbers = footprints.iter().map(|footprint| (number(footprint), footprint.array.elements));
    let words = numbers.filter(|(number, _)| *number > 0).map(|(number, [one, several])| {
        let name = if number == 1 { one } else { several };
        format!("{} {name}", grouped(number))
    });
    let words: Vec<String> = words.collect();
    match words.as_slice() {
        [] => "nothing".to_owned(),
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        [only, ..] => only.clone(),
    }
}

/// A number with spaces between its thousands, where it has five digits or more.
fn grouped(number: u64) -> String {
    if number < 10_000 { number.to_string() } else { format!("{} {:03}", grouped(number / 1000), number % 1000) }
}

#[cfg(test)]
mod tests;
