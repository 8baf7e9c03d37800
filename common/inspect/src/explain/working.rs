//! The bound of a stage with its working: what was counted, what the chip does per clock, and what follows.

use simt::bound::{Bound, Part, busiest};
use simt::{LaunchConfig, Profile};

use super::style::{Style, put};
use run::units::{bandwidth, bytes, count, milliseconds, significant};

/// The share of the bottleneck below which a part's working is omitted.
const NEGLIGIBLE: f64 = 0.001;

/// The bound with its working.
#[derive(Clone, Debug, PartialEq)]
pub struct Working {
    /// The limit of the stage.
    pub limit: String,
    /// The product name of the GPU.
    pub product: &'static str,
    /// The SMs and the clock that the divisions take.
    pub chip: String,
    /// The least time.
    pub least: String,
    /// The parts that are not negligible, longest time first, with a cell for each of [`TITLES`].
    pub parts: Vec<[String; 5]>,
    /// The names of the others.
    pub negligible: Vec<String>,
    /// Work that a compiler may remove, which is not in the bound.
    pub as_written: Vec<[String; 5]>,
}

impl Working {
    /// Works out a bound; `None` if nothing was counted that takes a GPU any time.
    pub fn of(bound: &Bound, profile: &Profile) -> Option<Self> {
        let limit = bound.binding()?;
        let (large, small): (Vec<_>, Vec<_>) = bound.parts.iter().partition(|part| part.least_ms >= NEGLIGIBLE * limit.least_ms);
        let clock_ghz = f64::from(profile.clock_khz) / 1e6;
        Some(Self {
            limit: limit.unit.to_string(),
            product: profile.product,
            chip: format!("{} multiprocessors (SMs) at {} GHz", profile.multiprocessors, significant(clock_ghz)),
            least: milliseconds(limit.least_ms),
            parts: large.into_iter().map(|part| cells(part, limit.least_ms)).collect(),
            negligible: small.into_iter().map(|part| part.unit.to_string()).collect(),
            as_written: bound.as_written.iter().map(|part| cells(part, limit.least_ms)).collect(),
        })
    }
}

/// Shows a bound. `launches` are the stage's, each with the name of its kernel.
pub fn show(bound: &Bound, launches: &[(&str, LaunchConfig)], profile: &Profile, style: Style) -> String {
    let mut text = String::new();
    let Some(Working { limit, product, chip, parts, negligible, as_written, .. }) = Working::of(bound, profile) else {
        put(&mut text, "nothing was counted that takes a GPU any time");
        return text;
    };
    put(&mut text, &style.bold(&format!("bound by {limit} on the {product}")));
    put(&mut text, &format!("the least time that each part needs, with {chip}; not a measured time"));
    let columns = Columns::of(parts.iter().chain(&as_written), style.width);
    put(&mut text, &style.dim(&columns.line(&TITLES.map(str::to_owned))));
    parts.iter().for_each(|part| put(&mut text, &columns.line(part)));
    if !negligible.is_empty() {
        put(&mut text, &style.dim(&format!("  less than 0.1 %: {}", negligible.join(", "))));
    }
    for (kernel, config) in launches {
        let of_several = (launches.len() > 1).then_some(*kernel);
        spread(&mut text, of_several, *config, bound, profile);
    }
    if !as_written.is_empty() {
        put(&mut text, "");
        put(&mut text, "not in the bound, because a compiler may need fewer: the time if each PTX instruction stays as it is");
        as_written.iter().for_each(|part| put(&mut text, &columns.line(part)));
    }
    text
}

/// The titles of `cells`.
pub const TITLES: [&str; 5] = ["part", "work", "rate", "at least", "share"];
/// Columns in the order in which narrow lines leave them out: first the rate, then the work.
const LEAST_IMPORTANT: [usize; 2] = [2, 1];

/// The columns of a table by their index in [`TITLES`], with widths.
struct Columns(Vec<(usize, usize)>);

impl Columns {
    /// Makes columns for these parts, in lines of at most `most` characters.
    fn of<'a>(parts: impl Iterator<Item = &'a [String; 5]> + Clone, most: usize) -> Self {
        let width = |column: usize| parts.clone().map(|cells| cells[column].chars().count()).fold(TITLES[column].len(), usize::max);
        let mut columns: Vec<_> = (0..TITLES.len()).map(|column| (column, width(column))).collect();
        for least in LEAST_IMPORTANT {
            if columns.iter().map(|(_, width)| width + 2).sum::<usize>() > most {
                columns.retain(|(column, _)| *column != least);
            }
        }
        Self(columns)
    }

    /// Writes a line; the names of the parts and the rates start at the left of their columns, and numbers end at the right.
    fn line(&self, cells: &[String; 5]) -> String {
        let cell = |&(column, width): &(usize, usize)| match (column, &cells[column]) {
            (0 | 2, words) => format!("  {words:<width$}"),
            (_, number) => format!("  {number:>width$}"),
        };
        self.0.iter().map(cell).collect()
    }
}

/// Returns the cells of a line for a part.
fn cells(part: &Part, longest_ms: f64) -> [String; 5] {
    let amount = if part.of == "bytes" { bytes(part.amount) } else { format!("{} {}", count(part.amount), part.of) };
    let rate = match (part.copies, part.of) {
        (1, _) => bandwidth(part.rate),
        (_, "bytes") => format!("{} B / clock / SM", part.rate),
        _ => format!("{} / clock / SM", part.rate),
    };
    let share = format!("{} %", significant(100.0 * part.least_ms / longest_ms));
    [part.unit.to_string(), amount, rate, milliseconds(part.least_ms), share]
}

/// Says how a whole number of blocks per multiprocessor changes the bound. If there are several launches, each names its kernel.
fn spread(text: &mut String, of_several: Option<&str>, config: LaunchConfig, bound: &Bound, profile: &Profile) {
    let blocks = u64::from(config.grid.x) * u64::from(config.grid.y) * u64::from(config.grid.z);
    let factor = busiest(blocks, profile);
    if factor < 1.005 {
        return;
    }
    let (sms, most) = (profile.multiprocessors, blocks.div_ceil(u64::from(profile.multiprocessors)));
    let (blocks, factor_text) = (format!("{} block{}", count(blocks), if blocks == 1 { "" } else { "s" }), significant(factor));
    let kernel = of_several.map_or(String::new(), |kernel| format!("{kernel}: "));
    put(text, &format!("  {kernel}{blocks} on {sms} SMs: one SM runs {most}, {factor_text} times the average"));
    if of_several.is_none() && bound.binding().is_some_and(|part| part.copies > 1) {
        let least = milliseconds(bound.least_ms() * factor);
        put(text, &format!("  if all blocks take the same time, that SM takes at least {least}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::bound::bound;
    use simt::{Counters, Dim3};

    #[test]
    fn the_working_is_the_division_that_a_reader_can_repeat() {
        let h200 = Profile::named("h200").unwrap();
        let counters = Counters {
            f32_fma: 132 * 128 * 1000,
            int_other: 132 * 128 * 500,
            shared_load_requests: 132 * 3000,
            shared_load_wavefronts: 132 * 3960,
            ..Counters::default()
        };
        let config = LaunchConfig { grid: Dim3::new(99, 2, 1), block: Dim3::new(256, 1, 1), dynamic_shared_bytes: 0 };
        let shown = show(&bound(&counters, 0, h200), &[("filled", config)], h200, Style::PLAIN);
        // 3960 wavefronts at one per clock of 1.98 GHz take 2 microseconds. 198 blocks are one and a half per multiprocessor.
        let expected = "
bound by L1/shared on the NVIDIA H200
the least time that each part needs, with 132 multiprocessors (SMs) at 1.98 GHz; not a measured time
  part                          work  rate              at least   share
  L1/shared         523 k wavefronts  1 / clock / SM     2.00 µs   100 %
  issue      924 k warp instructions  4 / clock / SM      884 ns  44.2 %
  f32                   16.9 M lanes  128 / clock / SM    505 ns  25.3 %
  198 blocks on 132 SMs: one SM runs 2, 1.33 times the average
  if all blocks take the same time, that SM takes at least 2.67 µs

not in the bound, because a compiler may need fewer: the time if each PTX instruction stays as it is
  int other             8.45 M lanes  128 / clock / SM    253 ns  12.6 %
";
        assert_eq!(shown, expected.strip_prefix('\n').unwrap(), "got\n{shown}");
    }

    #[test]
    fn without_counts_there_is_no_bottleneck() {
        let h200 = Profile::named("h200").unwrap();
        let shown = show(&bound(&Counters::default(), 0, h200), &[], h200, Style::PLAIN);
        assert_eq!(shown.lines().count(), 1, "{shown}");
    }

    #[test]
    fn short_lines_have_no_room_for_rates_and_work() {
        let h200 = Profile::named("h200").unwrap();
        let counters = Counters { f32_fma: 132 * 128 * 1000, shared_load_wavefronts: 132 * 3960, ..Counters::default() };
        let table = |width| {
            let shown = show(&bound(&counters, 0, h200), &[], h200, Style::plain(width));
            shown.lines().filter(|line| line.starts_with("  ")).map(str::to_owned).collect::<Vec<_>>()
        };
        for (width, titles) in
            [(100, "part work rate at least share"), (60, "part work at least share"), (40, "part at least share")]
        {
            let table = table(width);
            assert!(table.iter().all(|line| line.chars().count() <= width), "{table:?}");
            assert_eq!(table[0].split_whitespace().collect::<Vec<_>>().join(" "), titles);
        }
    }
}
