//! The bound of a stage with its working: what was counted, what the chip does per clock, and what follows.

use std::fmt::Write;

use simt::bound::{Bound, Part, busiest};
use simt::{LaunchConfig, Profile};

use super::style::Style;
use common::units::{bandwidth, bytes, count, milliseconds, significant};

/// Parts below this share of the bottleneck are named without their working.
const NEGLIGIBLE: f64 = 0.001;

/// Shows a bound. `launches` are the stage's, each with the name of its kernel.
pub fn show(bound: &Bound, launches: &[(&str, LaunchConfig)], profile: &Profile, style: Style) -> String {
    let mut text = String::new();
    let clock_ghz = f64::from(profile.clock_khz) / 1e6;
    let Some(binding) = bound.binding() else {
        put(&mut text, "nothing was counted that takes a GPU any time");
        return text;
    };
    let heading = format!("bound by {} on the {}", binding.unit, profile.product);
    put(&mut text, &style.bold(&heading));
    put(
        &mut text,
        &format!(
            "the least time that each part needs, with {} multiprocessors (SMs) at {} GHz; not a measured time",
            profile.multiprocessors,
            significant(clock_ghz)
        ),
    );
    let title = format!("  {:<13}{:>26}   {:<20}{:>14}  {:>8}", "part", "work", "rate", "at least", "share");
    put(&mut text, &style.dim(&title));
    let mut small = Vec::new();
    for part in &bound.parts {
        if part.least_ms < NEGLIGIBLE * binding.least_ms {
            small.push(part.unit.to_string());
        } else {
            row(&mut text, part, binding.least_ms);
        }
    }
    if !small.is_empty() {
        put(&mut text, &style.dim(&format!("  less than 0.1 %: {}", small.join(", "))));
    }
    for (kernel, config) in launches {
        let of_several = (launches.len() > 1).then_some(*kernel);
        spread(&mut text, of_several, *config, bound, profile);
    }
    if !bound.as_written.is_empty() {
        put(&mut text, "");
        put(&mut text, "not in the bound, because a compiler may need fewer: the time if each PTX instruction stays as it is");
        bound.as_written.iter().for_each(|part| row(&mut text, part, binding.least_ms));
    }
    text
}

fn row(text: &mut String, part: &Part, longest_ms: f64) {
    let amount = if part.of == "bytes" { bytes(part.amount) } else { format!("{} {}", count(part.amount), part.of) };
    let rate = match (part.copies, part.of) {
        (1, _) => bandwidth(part.rate),
        (_, "bytes") => format!("{} B / clock / SM", part.rate),
        _ => format!("{} / clock / SM", part.rate),
    };
    let share = format!("{} %", significant(100.0 * part.least_ms / longest_ms));
    put(text, &format!("  {:<13}{amount:>26}   {rate:<20}{:>14}  {share:>8}", part.unit.to_string(), milliseconds(part.least_ms)));
}

/// How a whole number of blocks per multiprocessor changes the bound. If there are several launches, each names its kernel.
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

fn put(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", line.trim_end());
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
  part                               work   rate                      at least     share
  L1/shared              523 k wavefronts   1 / clock / SM             2.00 µs     100 %
  issue           924 k warp instructions   4 / clock / SM              884 ns    44.2 %
  f32                        16.9 M lanes   128 / clock / SM            505 ns    25.3 %
  198 blocks on 132 SMs: one SM runs 2, 1.33 times the average
  if all blocks take the same time, that SM takes at least 2.67 µs

not in the bound, because a compiler may need fewer: the time if each PTX instruction stays as it is
  int other                  8.45 M lanes   128 / clock / SM            253 ns    12.6 %
";
        assert_eq!(shown, expected.strip_prefix('\n').unwrap(), "got\n{shown}");
    }

    #[test]
    fn without_counts_there_is_no_bottleneck() {
        let h200 = Profile::named("h200").unwrap();
        let shown = show(&bound(&Counters::default(), 0, h200), &[], h200, Style::PLAIN);
        assert_eq!(shown.lines().count(), 1, "{shown}");
    }
}
