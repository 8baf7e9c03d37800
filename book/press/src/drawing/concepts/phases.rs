//! A ring of two stages over time, with the phases of its full and empty mbarriers.

use super::super::svg::{MARGIN, Svg, WIDTH};
use super::shapes::{Picture, Timeline};

const STAGES: usize = 2;
const SLABS: usize = 4;
/// The time that the copy of a slab takes, and its use.
const COPY: f64 = 3.0;
const USE: f64 = 2.2;
const END: f64 = 12.7;
const ROW: f64 = 20.0;
const STEP: f64 = 24.0;

pub fn draw() -> Picture {
    let time = Timeline { left: MARGIN + 66.0, right: WIDTH - MARGIN, length: END };
    // When each slab starts to be copied, is there, starts to be used, and is used.
    let mut slabs: Vec<[f64; 4]> = Vec::new();
    for slab in 0..SLABS {
        let start = if slab < STAGES { 0.15 * slab as f64 } else { slabs[slab - STAGES][3] };
        let used_from = slabs.last().map_or(0.0, |last| last[3]).max(start + COPY);
        slabs.push([start, start + COPY, used_from, used_from + USE]);
    }
    let mut svg = Svg::titled(304.0, "a ring of two stages: which barrier each side waits for");
    let (producer, consumers) = (40.0, 40.0 + 7.0 * STEP + 30.0);
    let row_of = |stage: usize| producer + STEP + 10.0 + stage as f64 * (3.0 * STEP + 10.0);
    let rows = (0..STAGES).flat_map(|stage| [("full", 0.0), ("stage", 1.0), ("empty", 2.0)].map(|row| (stage, row)));
    let rows = rows.map(|(stage, (name, row))| (row_of(stage) + row * STEP, format!("{name} {stage}")));
    for (y, name) in rows.chain([(producer, "producer".to_owned()), (consumers, "consumers".to_owned())]) {
        svg.text("small right", time.left - 8.0, y + 14.0, &name);
    }
    let mut piece = |class, span, y, words: &str| time.piece(&mut svg, class, span, (y, ROW), words);
    for (slab, [start, there, used_from, used]) in slabs.iter().copied().enumerate() {
        let (stage, round) = (slab % STAGES, slab / STAGES);
        let before = |event: usize, number: usize| slab.checked_sub(number).map_or(0.0, |slab| slabs[slab][event]);
        if round > 0 {
            piece("idle", (before(0, 1), start), producer, &format!("empty {stage}, parity {}", (round - 1) % 2));
        }
        piece("idle", (before(3, 1), used_from), consumers, &format!("full {stage}, parity {}", round % 2));
        piece("wanted", (used_from, used), consumers, &format!("slab {slab}"));
        let y = row_of(stage);
        piece("moved", (start, there), y + STEP, &format!("copy slab {slab}"));
        piece("wanted", (used_from, used), y + STEP, &format!("use slab {slab}"));
        let (class, words) = (["block", "other"][round % 2], format!("phase {round}, parity {}", round % 2));
        piece(class, (before(1, STAGES), there), y, &words);
        piece(class, (before(3, STAGES), used), y + 2.0 * STEP, &words);
    }
    let notes = [
        "Outlined: a wait until the phase with this parity has ended. A phase of full ends when the bytes have come,",
        "one of empty when all warps have arrived. At first, all stages are empty, so the producer does not wait.",
    ];
    for (line, note) in notes.into_iter().enumerate() {
        svg.text("small", MARGIN, consumers + ROW + 20.0 + 17.0 * line as f64, note);
    }
    let caption = "The producer waits for a stage's empty barrier and the consumers for its full one; each wait names the parity of the phase that has \
                   to end, and every round of the ring flips it."
        .to_owned();
    Picture { svg, caption }
}
