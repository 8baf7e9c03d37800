//! Drawings for pages, as SVG.
//!
//! # Layout
//!
//! - [`svg`]: rectangles, lines and words. [`words`]: words next to points, placed so that they do not overlap.
//! - [`footprint`]: what a block of a kernel reads and writes, by a [`trace`] of the simulator. [`strips`] and [`planes`] draw it for arrays of
//!   one dimension, and for images and matrices.
//! - [`concepts`]: pictures of what a reader has to imagine.

pub mod concepts;
pub mod footprint;
mod planes;
mod strips;
pub mod svg;
pub mod trace;
pub mod words;

use anyhow::Result;
use run::gpu::Gpu;
use run::stage::Stage;
use simt::Dim3;

use footprint::Who;
use trace::{Arrays, Layout};

pub fn draw_footprint<W: Arrays>(gpu: &Gpu, stage: &Stage<W>, workload: &W, who: &Who) -> Result<String> {
    let footprints = footprint::footprints(gpu, stage, workload, who)?;
    let Dim3 { x, y, .. } = who.block(W::LAYOUT);
    let block = if W::LAYOUT == Layout::Strips { format!("block {x}") } else { format!("block ({x}, {y})") };
    let [warp, thread] = who.names();
    let title = format!("{}: {block}, its {warp} and its {thread}", stage.name);
    let captions = footprint::captions(who, &footprints);
    Ok(match W::LAYOUT {
        Layout::Strips => strips::draw(who, &footprints, &title, &captions),
        Layout::Stacked => planes::stacked(who, &footprints, &title, &captions),
        Layout::Product => planes::product(who, &footprints, &title, &captions),
    })
}
