//! Pictures of what a reader has to imagine: the arrangement of threads, the places of data, and the order of events.

mod accumulator;
mod barrier;
mod cover;
mod descriptor;
mod divergence;
mod fragment;
mod grid;
mod histogram;
mod lookback;
mod memory;
mod multiprocessor;
mod phases;
mod pipeline;
mod shapes;
mod split_k;
mod swizzle;
mod tile;
mod waiting;
pub(super) mod warp_tile;
mod waves;

use anyhow::{Context, Result};
use simt::Profile;

use super::svg::{escape, inline};
use crate::archive::Archive;
use crate::directive::{Arguments, named};
use crate::facts::Facts;
use shapes::Picture;

/// A function that draws a picture. Most pictures need nothing; others show records, facts, or what an option names.
type Draw = fn(&Archive, &Facts, &mut Arguments) -> Result<Picture>;

const PICTURES: [(&str, Draw); 19] = [
    ("cover", |archive, _, _| cover::draw(archive)),
    ("grid", |_, _, _| Ok(grid::draw())),
    ("multiprocessor", |_, _, _| Ok(multiprocessor::draw(h200()?))),
    ("memory", |_, facts, _| memory::draw(h200()?, facts)),
    ("waiting", |_, facts, _| waiting::draw(facts)),
    ("barrier", |_, _, _| Ok(barrier::draw())),
    ("divergence", |_, _, _| Ok(divergence::draw())),
    ("tile", |_, _, options| tile::draw(options.option("of").as_deref().unwrap_or("signal"))),
    ("pipeline", |_, _, _| Ok(pipeline::draw())),
    ("fragment", |_, _, _| fragment::draw()),
    ("histogram", |_, _, _| Ok(histogram::draw())),
    ("lookback", |_, _, _| Ok(lookback::draw())),
    ("waves", |_, _, options| waves::draw(h200()?, options.option("of").as_deref().unwrap_or("runs"))),
    ("split-k", |_, _, _| Ok(split_k::draw())),
    ("warp-tile", |_, _, _| Ok(warp_tile::draw())),
    ("descriptor", |_, _, _| Ok(descriptor::draw())),
    ("swizzle", |_, _, _| Ok(swizzle::draw())),
    ("phases", |_, _, _| Ok(phases::draw())),
    ("accumulator", |_, _, _| accumulator::draw()),
];

/// Returns all pictures, as a page asks for them.
pub fn all() -> impl Iterator<Item = &'static str> {
    PICTURES.into_iter().map(|(name, _)| name).chain(["tile of=product", "waves of=tiles"])
}

fn h200() -> Result<&'static Profile> {
    Profile::named("h200").context("the profile of the GPU that the book measures on")
}

/// Draws the picture that a directive names, with alternative text and caption.
pub fn figure(archive: &Archive, facts: &Facts, arguments: &mut Arguments) -> Result<String> {
    let name = arguments.word("the name of a picture")?;
    let draw = named(format_args!("there is no picture {name}"), &name, PICTURES)?;
    let Picture { svg, caption } = draw(archive, facts, arguments)?;
    let drawing = inline(&svg.end(), &arguments.alternative()?);
    let class = if name == "cover" { "picture cover" } else { "picture" };
    Ok(format!("<figure class=\"{class}\">\n{drawing}\n<figcaption>{}</figcaption>\n</figure>", escape(&caption)))
}
