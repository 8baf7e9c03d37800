//! Decoupled look-back: a block of a scan finds the sum of all blocks before it.

use super::super::svg::{MARGIN, Svg};
use super::shapes::{INNER, Picture, area, block};

/// The sum of the elements of each block.
const AGGREGATES: [u32; 7] = [7, 3, 5, 2, 6, 4, 8];
/// Blocks that have published the sum of everything up to their end. Those after them have published only their own sum.
const WITH_PREFIX: usize = 3;
/// The block that looks back.
const LOOKS: usize = 5;

pub fn draw() -> Picture {
    let mut svg = Svg::titled(272.0, &format!("block {LOOKS} looks back for the sum of the blocks before it"));
    let left = MARGIN + 62.0;
    let width = (INNER - 62.0) / AGGREGATES.len() as f64;
    let prefix = |block: usize| AGGREGATES[..=block].iter().sum::<u32>();
    for (name, y) in [("aggregate", 77.0), ("prefix", 111.0)] {
        svg.text("small right", left - 8.0, y, name);
    }
    let middle = |block: usize| left + block as f64 * width + (width - 6.0) / 2.0;
    for (index, aggregate) in AGGREGATES.into_iter().enumerate() {
        let x = left + index as f64 * width;
        svg.text("small middle", middle(index), 50.0, &format!("block {index}"));
        let [above, below] = [60.0, 94.0].map(|y| area(x, y, width - 6.0, 26.0));
        let last_prefix = WITH_PREFIX - 1;
        match index {
            // The last block has not published anything yet.
            _ if index > LOOKS => block(&mut svg, "idle", above, "not yet"),
            WITH_PREFIX..LOOKS => block(&mut svg, "wanted", above, &aggregate.to_string()),
            _ => block(&mut svg, "block", above, &aggregate.to_string()),
        }
        match index {
            LOOKS => block(&mut svg, "moved", below, &prefix(index).to_string()),
            WITH_PREFIX.. => block(&mut svg, "idle", below, "not yet"),
            _ if index == last_prefix => block(&mut svg, "wanted", below, &prefix(index).to_string()),
            _ => block(&mut svg, "block", below, &prefix(index).to_string()),
        }
    }
    // One step for each block that is read, below the block.
    let mut sum = 0;
    let mut from = middle(LOOKS);
    for (step, index) in (WITH_PREFIX - 1..LOOKS).rev().enumerate() {
        let y = 142.0 + 26.0 * step as f64;
        let stops = index + 1 == WITH_PREFIX;
        let found = if stops { prefix(index) } else { AGGREGATES[index] };
        sum += found;
        svg.arrow((from, y), (middle(index) + 4.0, y));
        let what = if stops { "prefix" } else { "aggregate" };
        let words = format!("{what} {found}: {sum} so far{}", if stops { ", done" } else { "" });
        svg.text("small right", middle(index) - 6.0, y + 4.0, &words);
        from = middle(index);
    }
    let y = 236.0;
    let (own, prefix) = (AGGREGATES[LOOKS], sum + AGGREGATES[LOOKS]);
    let words = format!("{sum} before block {LOOKS}; its own {own} make its prefix {prefix}, which it publishes at once.");
    svg.text("", MARGIN, y, &words);
    let words = "Nobody waits for the whole chain: a block adds aggregates until it meets the first prefix.";
    svg.text("small", MARGIN, y + 20.0, words);
    let caption = "In a scan with decoupled look-back, each block publishes its own sum first, then adds up what the blocks before it have published."
        .to_owned();
    Picture { svg, caption }
}
