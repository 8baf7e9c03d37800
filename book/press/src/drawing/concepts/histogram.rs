//! Threads that add to counters with atomic operations.

use super::super::svg::{MARGIN, Svg};
use super::shapes::{INNER, Picture, area, block};

/// The bin of each thread's value.
const VALUES: [usize; 16] = [2, 1, 2, 6, 2, 3, 5, 2, 0, 2, 3, 2, 7, 4, 2, 3];
const BINS: usize = 8;
const ROW: f64 = 22.0;

pub fn draw() -> Picture {
    let queues: Vec<Vec<usize>> =
        (0..BINS).map(|bin| (0..VALUES.len()).filter(|thread| VALUES[*thread] == bin).collect()).collect();
    let longest = queues.iter().map(Vec::len).max().unwrap_or(1);
    let busiest = queues.iter().position(|queue| queue.len() == longest).unwrap_or(0);
    let title = format!("{} threads, each with a value", VALUES.len());
    let mut svg = Svg::titled(136.0 + BINS as f64 * (ROW + 4.0) + 26.0, &title);
    let left = MARGIN + 52.0;
    let width = (INNER - 52.0) / VALUES.len() as f64;
    for (name, y) in [("thread", 55.0), ("value", 79.0)] {
        svg.text("small right", left - 8.0, y, name);
    }
    for (thread, value) in VALUES.into_iter().enumerate() {
        let x = left + thread as f64 * width;
        svg.text("small middle", x + width / 2.0, 55.0, &thread.to_string());
        block(&mut svg, if value == busiest { "wanted" } else { "block" }, area(x, 63.0, width - 3.0, 24.0), &value.to_string());
    }
    svg.text("title", MARGIN, 118.0, "atomicAdd(&bins[value], 1): one addition at a time for each bin");
    let top = 130.0;
    for (bin, queue) in queues.iter().enumerate() {
        let y = top + bin as f64 * (ROW + 4.0);
        svg.text("small right", left - 8.0, y + 15.0, &format!("bin {bin}"));
        for (turn, thread) in queue.iter().enumerate() {
            let place = area(left + turn as f64 * 64.0, y, 61.0, ROW);
            block(&mut svg, if bin == busiest { "wanted" } else { "block" }, place, &format!("thread {thread}"));
        }
        let end = left + queue.len() as f64 * 64.0;
        svg.text("small", end + 6.0, y + 15.0, &format!("= {}", queue.len()));
    }
    let y = top + BINS as f64 * (ROW + 4.0) + 14.0;
    svg.text("small", left, y, "time");
    svg.arrow((left + 34.0, y - 4.0), (left + 110.0, y - 4.0));
    let caption = format!(
        "Threads that add to the same counter take turns, and different counters do not wait for each other: bin {busiest} takes {longest} turns, so the \
         whole takes {longest}."
    );
    Picture { svg, caption }
}
