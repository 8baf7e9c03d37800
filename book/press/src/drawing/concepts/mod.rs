//! Pictures of what a reader has to imagine: how threads are arranged, where data is, and what happens when. Each is a file of its own.

mod barrier;
mod cover;
mod divergence;
mod fragment;
mod grid;
mod histogram;
mod lookback;
mod memory;
mod multiprocessor;
mod pipeline;
mod shapes;
mod tile;
mod waiting;

use anyhow::{Context, Result, bail};
use simt::Profile;

use super::svg::{escape, inline};
use crate::archive::Archive;
use crate::directive::{Arguments, nearest};
use crate::facts::Facts;
use shapes::Picture;

/// All pictures, as a page asks for them.
pub const PICTURES: [&str; 13] = [
    "cover",
    "grid",
    "multiprocessor",
    "memory",
    "waiting",
    "barrier",
    "divergence",
    "tile",
    "tile of=product",
    "pipeline",
    "fragment",
    "histogram",
    "lookback",
];

/// Draws the picture that a directive names, with words for readers who do not see it, and its caption.
pub fn figure(archive: &Archive, facts: &Facts, arguments: &mut Arguments) -> Result<String> {
    let name = arguments.word("the name of a picture")?;
    let h200 = Profile::named("h200").context("the profile of the GPU that the book measures on")?;
    let Picture { svg, caption } = match name.as_str() {
        "cover" => cover::draw(archive)?,
        "grid" => grid::draw(),
        "multiprocessor" => multiprocessor::draw(h200),
        "memory" => memory::draw(h200, facts)?,
        "waiting" => waiting::draw(facts)?,
        "barrier" => barrier::draw(),
        "divergence" => divergence::draw(),
        "tile" => tile::draw(arguments.option("of").as_deref().unwrap_or("signal"))?,
        "pipeline" => pipeline::draw(),
        "fragment" => fragment::draw()?,
        "histogram" => histogram::draw(),
        "lookback" => lookback::draw(),
        _ => bail!("there is no picture {name}{}", nearest(&name, PICTURES.into_iter().filter(|name| !name.contains(' ')))),
    };
    let drawing = inline(&svg.end(), &arguments.alternative()?);
    let class = if name == "cover" { "picture cover" } else { "picture" };
    Ok(format!("<figure class=\"{class}\">\n{drawing}\n<figcaption>{}</figcaption>\n</figure>", escape(&caption)))
}
