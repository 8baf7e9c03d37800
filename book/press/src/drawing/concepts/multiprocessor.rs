//! The parts of a multiprocessor.

use simt::Profile;
use simt::bound::Rates;

use super::super::svg::{MARGIN, Svg};
use super::shapes::{INNER, Picture, area, block};
use run::units;

/// Sub-partitions of a multiprocessor: each has one of the schedulers.
const PARTS: u32 = 4;

/// Draws the one of a GPU.
pub fn draw(profile: &Profile) -> Picture {
    let rates = Rates::of(profile.compute_capability);
    let mut svg = Svg::panel(402.0);
    let (left, width) = (MARGIN + 10.0, INNER - 20.0);
    svg.text("title", MARGIN, 26.0, &format!("one of {} multiprocessors (SMs) of an {}", profile.multiprocessors, profile.product));
    svg.rect("outline", MARGIN, 36.0, INNER, 298.0);
    let gap = 10.0;
    let part = (width - gap * f64::from(PARTS - 1)) / f64::from(PARTS);
    let lanes = rates.f32 as u32 / PARTS;
    for index in 0..PARTS {
        let x = left + f64::from(index) * (part + gap);
        let inside = |y, height| area(x + 8.0, y, part - 16.0, height);
        svg.rect("outline", x, 46.0, part, 216.0);
        svg.text("small middle ink", x + part / 2.0, 63.0, &format!("sub-partition {index}"));
        block(&mut svg, "wanted", inside(72.0, 26.0), "scheduler");
        svg.text("small middle", x + part / 2.0, 112.0, &format!("{} instruction per clock", rates.issue / f64::from(PARTS)));
        block(&mut svg, "block", inside(122.0, 26.0), "registers");
        let registers = format!("{} of 32 bits", profile.registers_per_sm / PARTS);
        svg.text("small middle", x + part / 2.0, 162.0, &registers);
        // A cell for each lane, in rows of 16.
        let cell = (part - 16.0) / 16.0;
        let cells = (0..lanes)
            .map(|lane| (x + 8.0 + f64::from(lane % 16) * cell, 172.0 + f64::from(lane / 16) * cell, cell - 1.5, cell - 1.5));
        svg.cells("warp", cells);
        svg.text("small middle", x + part / 2.0, 203.0, &format!("{lanes} multiply-adds"));
        block(&mut svg, "other", inside(212.0, 22.0), "tensor core");
        let warps = profile.max_threads_per_sm / 32 / PARTS;
        svg.text("small middle", x + part / 2.0, 250.0, &format!("up to {warps} warps"));
    }
    let shared = format!("shared memory (up to {}) and L1 cache", units::bytes(profile.shared_bytes_per_sm.into()));
    block(&mut svg, "moved", area(left, 272.0, width, 30.0), &shared);
    let wavefront = format!("32 banks: {} wavefront of up to {} bytes per clock, for all four", rates.wavefronts, 32 * 4);
    svg.text("small middle", left + width / 2.0, 322.0, &wavefront);
    let middle = left + width / 2.0;
    svg.arrow((middle, 366.0), (middle, 336.0));
    svg.arrow((middle, 336.0), (middle, 366.0));
    if let Some(bytes) = rates.l2_bytes {
        svg.text("small", middle + 12.0, 354.0, &format!("{bytes} bytes per clock"));
    }
    let l2 = format!("L2 cache ({}), and device memory behind it: shared by all multiprocessors", units::bytes(profile.l2_bytes));
    block(&mut svg, "other", area(MARGIN, 368.0, INNER, 24.0), &l2);
    let caption = "A warp lives in one sub-partition, whose scheduler starts one of its warps' instructions per clock; all four share the same \
                   shared memory and L1 cache."
        .to_owned();
    Picture { svg, caption }
}
