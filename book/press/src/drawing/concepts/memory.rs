//! The memories of a GPU, from the nearest to the farthest.

use anyhow::Result;
use run::units;
use simt::Profile;
use simt::bound::Rates;

use super::super::svg::{MARGIN, Svg, WIDTH};
use super::shapes::Picture;
use crate::facts::Facts;
use crate::values::memory_bandwidth;

/// The left edges of columns.
const SIZE: f64 = 172.0;
const BARS: f64 = 318.0;
/// The longest bar.
const LONGEST: f64 = 190.0;
const STEP: f64 = 54.0;
const TOP: f64 = 58.0;

/// A memory: its name, its user, its size in two lines, its bytes per clock and multiprocessor, and its latency.
type Level = (&'static str, &'static str, [String; 2], f64, String);

/// Draws those of a GPU; latencies are facts of the group `latency`.
pub fn draw(profile: &Profile, facts: &Facts) -> Result<Picture> {
    let rates = Rates::of(profile.compute_capability);
    let sms = f64::from(profile.multiprocessors);
    let clocks = |key: &str| Ok::<_, anyhow::Error>(format!("{} clocks", facts.text("latency", key)?));
    let all = |bytes: u64| format!("{} in all", units::bytes(bytes * u64::from(profile.multiprocessors)));
    let registers = 4 * u64::from(profile.registers_per_sm);
    // A multiply-add reads three numbers of four bytes.
    let from_registers = rates.f32 * 12.0;
    let from_device = memory_bandwidth(profile) / sms / (1e3 * f64::from(profile.clock_khz));
    let shared = u64::from(profile.shared_bytes_per_sm);
    let sizes = |bytes: u64| [format!("{} per SM", units::bytes(bytes)), all(bytes)];
    let device = [units::bytes(profile.memory_bytes), units::bandwidth(memory_bandwidth(profile))];
    let l2 = [units::bytes(profile.l2_bytes), String::new()];
    let levels: [Level; 4] = [
        ("registers", "of a thread", sizes(registers), from_registers, "no wait".to_owned()),
        ("shared memory, L1", "of a block", sizes(shared), rates.wavefronts * 128.0, clocks("l1")?),
        ("L2 cache", "of all blocks", l2, rates.l2_bytes.unwrap_or_default(), clocks("l2")?),
        ("device memory", "of all blocks", device, from_device, clocks("device")?),
    ];
    let mut svg = Svg::titled(TOP + STEP * levels.len() as f64 + 34.0, profile.product);
    svg.text("small", SIZE, 46.0, "size");
    svg.text("small", BARS, 46.0, "bytes per clock, for each SM");
    svg.text("small right", WIDTH - MARGIN, 46.0, "until a value comes");
    let longest = levels.iter().map(|level| level.3).fold(1.0, f64::max);
    for (index, (name, whose, sizes, bytes, latency)) in levels.iter().enumerate() {
        let y = TOP + index as f64 * STEP;
        svg.line("grid", (MARGIN, y), (WIDTH - MARGIN, y));
        svg.text("", MARGIN, y + 23.0, name);
        svg.text("small", MARGIN, y + 39.0, whose);
        svg.text("", SIZE, y + 23.0, &sizes[0]);
        svg.text("small", SIZE, y + 39.0, &sizes[1]);
        let width = (bytes / longest * LONGEST).max(1.5);
        svg.rect("wanted", BARS, y + 14.0, width, 26.0);
        svg.text("", BARS + width + 8.0, y + 31.0, &bytes_per_clock(*bytes));
        svg.text("right", WIDTH - MARGIN, y + 31.0, latency);
    }
    let y = TOP + levels.len() as f64 * STEP;
    svg.line("grid", (MARGIN, y), (WIDTH - MARGIN, y));
    let note = "Registers: what multiply-adds at full rate read. Latencies: measured on a GH200, which has the same SMs.";
    svg.text("small", MARGIN, y + 20.0, note);
    let caption =
        "Each memory is farther away than the one above it, serves fewer bytes per clock, and takes longer to answer.".to_owned();
    Ok(Picture { svg, caption })
}

/// Writes whole numbers as they are, and rounds others.
fn bytes_per_clock(bytes: f64) -> String {
    if bytes.fract() == 0.0 { bytes.to_string() } else { units::significant(bytes) }
}
