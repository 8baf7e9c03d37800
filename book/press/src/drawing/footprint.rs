//! The elements of arrays in device memory that one thread, its warp and its block read and write.
//!
//! Everything in a drawing, and every number of its captions, comes from a trace of the simulator, so it cannot show what a kernel does not
//! do. Sizes should be small enough that single elements can be seen.

use anyhow::{Result, bail, ensure};
use run::gpu::Gpu;
use run::stage::Stage;
use simt::Dim3;

use super::trace::{Array, Arrays, Elements, Layout, Part, trace, verified};
use crate::directive::Arguments;

const WARP: u32 = 32;

/// The thread whose footprint is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// The thread's number in the second block of the grid, in both dimensions if it has two.
    pub thread: u32,
    /// True if of the neighboring blocks only those before it are drawn.
    pub only_before: bool,
}

impl Who {
    /// Takes the options `thread=40` (100 if there is none) and `beside=before`.
    pub fn take(arguments: &mut Arguments) -> Result<Self> {
        let beside = arguments.option("beside");
        if let Some(other) = beside.as_deref().filter(|beside| *beside != "before") {
            bail!("`beside={other}`: it can be `before`");
        }
        Ok(Self { thread: arguments.number("thread")?.unwrap_or(100), only_before: beside.is_some() })
    }

    pub fn block(&self, layout: Layout) -> Dim3 {
        at(1, u32::from(layout != Layout::Strips))
    }

    pub fn beside(&self, layout: Layout) -> Vec<Dim3> {
        let all = if layout == Layout::Strips { vec![at(0, 0), at(2, 0)] } else { vec![at(0, 1), at(2, 1), at(1, 0), at(1, 2)] };
        all.into_iter().filter(|block| !self.only_before || (block.x < 2 && block.y < 2)).collect()
    }

    /// Returns the names of the thread's warp and of the thread.
    pub fn names(&self) -> [String; 2] {
        [format!("warp {}", self.thread / WARP), format!("thread {}", self.thread)]
    }
}

fn at(x: u32, y: u32) -> Dim3 {
    Dim3::new(x, y, 0)
}

/// The touched elements of one array: by the block, the thread's warp, the thread, and each of the neighboring blocks.
pub struct Footprint {
    pub array: Array,
    pub block: Part,
    pub warp: Part,
    pub thread: Part,
    pub beside: Vec<Part>,
}

pub fn footprints<W: Arrays>(gpu: &Gpu, stage: &Stage<W>, workload: &W, who: &Who) -> Result<Vec<Footprint>> {
    verified(gpu, stage, workload)?;
    let blocks: Vec<Dim3> = [who.block(W::LAYOUT)].into_iter().chain(who.beside(W::LAYOUT)).collect();
    let (arrays, traces) = trace(gpu, stage, workload, &blocks)?;
    ensure!(!traces[0].is_empty(), "{}: block {} touches nothing: the grid is smaller", stage.name, blocks[0]);
    let first_of_warp = who.thread / WARP * WARP;
    let footprint = |array: Array| Footprint {
        block: array.part(&traces[0], &(0..u32::MAX)),
        warp: array.part(&traces[0], &(first_of_warp..first_of_warp + WARP)),
        thread: array.part(&traces[0], &(who.thread..who.thread + 1)),
        beside: traces[1..].iter().map(|trace| array.part(trace, &(0..u32::MAX))).collect(),
        array,
    };
    // An array that the kernel does not touch is not drawn: a template, say, that it gets by way of constant memory.
    Ok(arrays.into_iter().map(footprint).filter(|footprint| !footprint.block.all().is_empty()).collect())
}

/// Says what the block, warp, and thread read and write. Also says how much of it the neighboring blocks read as well.
pub fn captions(who: &Who, footprints: &[Footprint]) -> Vec<String> {
    let sentence = |subject: String, part: fn(&Footprint) -> &Part| {
        let read = list(footprints, |footprint| part(footprint).read.len() as u64);
        let written = list(footprints, |footprint| part(footprint).written.len() as u64);
        format!("{subject} reads {read}, and writes {written}.")
    };
    let shared = list(footprints, |footprint| {
        let others: Elements = footprint.beside.iter().flat_map(|part| &part.read).copied().collect();
        footprint.block.read.intersection(&others).count() as u64
    });
    let [warp, thread] = who.names();
    vec![
        sentence("The block".to_owned(), |footprint| &footprint.block),
        sentence(format!("Its {warp}"), |footprint| &footprint.warp),
        sentence(format!("Its {thread}"), |footprint| &footprint.thread),
        format!("Of what the block reads, the blocks beside it read {shared} as well."),
    ]
}

/// Lists numbers of elements with their names: `319 samples and 64 filter values`.
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

/// Returns a number with spaces between thousands, from five digits on.
pub fn grouped(number: u64) -> String {
    if number < 10_000 { number.to_string() } else { format!("{} {:03}", grouped(number / 1000), number % 1000) }
}

#[cfg(test)]
mod tests;
