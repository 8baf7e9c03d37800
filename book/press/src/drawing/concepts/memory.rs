//! The memories of a GPU, from the nearest to the farthest.

use anyhow::Result;
use run::units;
use simt::Profile;
use simt::bound::Rates;

use super::super::svg::{MARGIN, Svg, WIDTH};
use super::shapes::Picture;
use crate::facts::Facts;
use crate::values::memory_bandwidth;

/// Where the columns start.
const SIZE: f64 = 172.0;
const BARS: f64 = 318.0;
/// The longest bar.
const LONGEST: f64 = 190.0;
const STEP: f64 = 54.0;
const TOP: f64 = 58.0;

/// A memory.
struct Level {
    name: &'static str,
    whose: &'static str,
    sizes: [String; 2],
    /// Per clock and multiprocessor.
    bytes: f64,
    latency: String,
}

/// Draws those of a GPU; latencies are facts of the group `latency`.
pub fn draw(profile: &Profile, facts: &Facts) -> Result<Picture> {
    let rates = Rates::of(profile.compute_capability);
    let sms = f64::from(profile.multiprocessors);
    let clocks = |key: &str| Ok::<_, anyhow::Error>(format!("{} clocks", facts.text("latency", key)?));
    let all = |bytes: u64| format!("{} in all", units::bytes(bytes * u64::from(profile.multiprocessors)));
    let registers = 4 * u64::from(profile.registers_per_sm);
    let levels = [
        Level {
            name: "registers",
            whose: "of a thread",
            sizes: [format!("{} per SM", units::bytes(registers)), all(registers)],
            // A multiply-add reads three numbers of four bytes.
            bytes: rates.f32 * 12.0,
            latency: "no wait".to_owned(),
        },
        Level {
            name: "shared memory, L1",
            whose: "of a block",
            sizes: [
                format!("{} per SM", units::bytes(profile.shared_bytes_per_sm.into())),
                all(profile.shared_bytes_per_sm.into()),
            ],
            bytes: rates.wavefronts * 128.0,
            latency: clocks("l1")?,
        },
        Level {
            name: "L2 cache",
            whose: "of all blocks",
            sizes: [units::bytes(profile.l2_bytes), String::new()],
            bytes: rates.l2_bytes.unwrap_or_default(),
            latency: clocks("l2")?,
        },
        Level {
            name: "device memory",
            whose: "of all blocks",
            sizes: [units::bytes(profile.memory_bytes), units::bandwidth(memory_bandwidth(profile))],
            bytes: memory_bandwidth(profile) / sms / (1e3 * f64::from(profile.clock_khz)),
            latency: clocks("device")?,
        },
    ];
    let mut svg = Svg::panel(TOP + STEP * levels.len() as f64 + 34.0);
    svg.text("title", MARGIN, 26.0, profile.product);
    svg.text("small", SIZE, 46.0, "size");
    svg.text("small", BARS, 46.0, "bytes per clock, for each SM");
    svg.text("small right", WIDTH - MARGIN, 46.0, "until a value comes");
    let longest = levels.iter().map(|level| level.bytes).fold(1.0, f64::max);
    for (index, Level { name, whose, sizes, bytes, latency }) in levels.iter().enumerate() {
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
    svg.text(
        "small",
        MARGIN,
        y + 20.0,
        "Registers: what multiply-adds at full rate read. Latencies: measured on a GH200, which has the same SMs.",
    );
    let caption =
        "Each memory is farther away than the one above it, serves fewer bytes per clock, and takes longer to answer.".to_owned();
    Ok(Picture { svg, caption })
}

/// Whole numbers as they are, and others rounded.
fn bytes_per_clock(bytes: f64) -> String {
    if bytes.fract() == 0.0 { bytes.to_string() } else { units::significant(bytes) }
}
