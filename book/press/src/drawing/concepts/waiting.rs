//! A sub-partition with one warp that waits for memory, and with eight.

use anyhow::{Context, Result};
use run::units::percent;

use super::super::svg::{MARGIN, Svg, WIDTH};
use super::shapes::{Picture, Timeline};
use crate::facts::Facts;

/// Clocks of instructions that a warp starts between two loads.
const WORK: f64 = 100.0;
/// The warps of the second picture: as many as fill the time that one of them waits.
const WARPS: u32 = 8;
const ROW: f64 = 15.0;
const STEP: f64 = 18.0;

/// Draws the picture with the latency of device memory from the facts.
pub fn draw(facts: &Facts) -> Result<Picture> {
    let latency: f64 = facts.text("latency", "device")?.parse().context("the latency of device memory")?;
    let time = Timeline { left: MARGIN + 76.0, right: WIDTH - MARGIN, length: 1800.0 };
    let mut svg = Svg::panel(334.0);
    let mut y = 26.0;
    for warps in [1, WARPS] {
        // A warp goes on when its value has come and the scheduler is free.
        let period = (WORK + latency).max(WORK * f64::from(warps));
        let busy = percent(WORK * f64::from(warps) / period);
        let words = if warps == 1 { "one warp".to_owned() } else { format!("{warps} warps") };
        svg.text("title", MARGIN, y, &format!("{words}: the scheduler is busy {busy} of the time"));
        y += 12.0;
        let mut busy = Vec::new();
        for warp in 0..warps {
            svg.text("small right", time.left - 8.0, y + 12.0, &format!("warp {warp}"));
            let mut start = WORK * f64::from(warp);
            while start < time.length {
                time.piece(&mut svg, "wanted", (start, start + WORK), (y, ROW), "");
                let words = if warps == 1 { "waits for memory" } else { "" };
                time.piece(&mut svg, "idle", (start + WORK, start + period), (y, ROW), words);
                busy.push((start, start + WORK));
                start += period;
            }
            y += STEP;
        }
        svg.text("small right", time.left - 8.0, y + 16.0, "scheduler");
        for (from, to) in busy {
            time.piece(&mut svg, "moved", (from, to), (y + 4.0, ROW), "");
        }
        y += STEP + 32.0;
    }
    y -= 26.0;
    svg.line("outline", (time.left, y), (time.right, y));
    for clocks in [0.0, 400.0, 800.0, 1200.0, 1600.0] {
        svg.line("outline", (time.x(clocks), y), (time.x(clocks), y + 4.0));
        svg.text(if clocks > 0.0 { "small middle" } else { "small" }, time.x(clocks), y + 18.0, &clocks.to_string());
    }
    svg.text("small right", time.right, y + 18.0, "clocks");
    let clocks =
        format!("Each warp starts {WORK} clocks of instructions, then waits {latency} clocks for a load from device memory.");
    svg.text("small", MARGIN, y + 36.0, &clocks);
    let caption =
        "While one warp waits for memory, the scheduler starts instructions of the others; enough warps hide the whole wait."
            .to_owned();
    Ok(Picture { svg, caption })
}
