//! Decoupled look-back: a block of a scan finds the sum of all blocks before it.

use super::super::svg::{MARGIN, Svg};
use super::shapes::{INNER, Picture, area, block};

/// The sum of the elements of each block.
const AGGREGATES: [u32; 7] = [7, 3, 5, 2, 6, 4, 8];
/// Blocks that have published the sum of everything up to their end. Those after them have published only their own sum.
const WITH_PREFIX: usize = 3;
/// The block that looks back.
const LOOKS: usize = 5;

/// Draws it.
pub fn draw() -> Picture {
    let mut svg = Svg::panel(272.0);
    svg.text("title", MARGIN, 26.0, &format!("block {LOOKS} looks back for the sum of the blocks before it"));
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
        let read = (WITH_PREFIX..LOOKS).contains(&index);
        // The last block has not published anything yet.
        let (own, words) = match index {
            LOOKS => ("block", aggregate.to_string()),
            _ if index > LOOKS => ("idle", "not yet".to_owned()),
            _ => (if read { "wanted" } else { "block" }, aggregate.to_string()),
        };
        block(&mut svg, own, area(x, 60.0, width - 6.0, 26.0), &words);
        let is_last_prefix = index + 1 == WITH_PREFIX;
        match index {
            _ if index < WITH_PREFIX => {
                let class = if is_last_prefix { "wanted" } else { "block" };
                block(&mut svg, class, area(x, 94.0, width - 6.0, 26.0), &prefix(index).to_string());
            }
            LOOKS => block(&mut svg, "moved", area(x, 94.0, width - 6.0, 26.0), &prefix(index).to_string()),
            _ => block(&mut svg, "idle", area(x, 94.0, width - 6.0, 26.0), "not yet"),
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
    svg.text(
        "",
        MARGIN,
        y,
        &format!(
            "{sum} before block {LOOKS}; its own {} make its prefix {}, which it publishes at once.",
            AGGREGATES[LOOKS],
            sum + AGGREGATES[LOOKS]
        ),
    );
    svg.text(
        "small",
        MARGIN,
        y + 20.0,
        "Nobody waits for the whole chain: a block adds aggregates until it meets the first prefix.",
    );
    let caption = "In a scan with decoupled look-back, each block publishes its own sum first, then adds up what the blocks before it have published."
        .to_owned();
    Picture { svg, caption }
}
