//! How near the stages of a chapter come to the ceiling, and to cuBLAS where that is one of them: a bar for each, as long as its rate.
//!
//! A chart of times shows the slow stages, and of the fast ones that they are short. This one shows the distance that is left, and where
//! a library stands that many people have worked on.

use common::record::Record;
use common::units;
use common::workload::Arithmetic;

use super::svg::{MARGIN, Svg, WIDTH, below, width_of};
use super::{CUBLAS, CUBLAS_TF32, Unit, ceiling, origin, path, rate_of, rates, sizes};

/// What a bar is compared with, and the colour of its mark.
struct Mark {
    class: &'static str,
    rate: f64,
    text: String,
}

/// A bar for each stage; `None` without a ceiling of the same run.
pub fn shares(name: &str, record: &Record) -> Option<String> {
    const LABEL: f64 = 118.0;
    const BAR: f64 = 16.0;
    const STEP: f64 = 24.0;
    /// Room for the heads of the columns.
    const HEADS: f64 = 17.0;
    const TOP: f64 = below(3) + HEADS;
    const MARK: f64 = 17.0;
    /// The columns beside the bars: where shares of cuBLAS begin, and how far left of that shares of the ceiling and rates end.
    const RIVALS: f64 = WIDTH - MARGIN - 80.0;
    const TO_CEILINGS: f64 = 16.0;
    const TO_RATES: f64 = 92.0;

    let stages = rates(record);
    let ceiling = ceiling(record)?;
    let rate = Unit::of(record);
    let cublas = rate_of(&stages, CUBLAS);
    let tf32 = rate_of(&stages, CUBLAS_TF32);
    let of_ceiling = |rate: f64| units::percent(rate / ceiling);

    // Without the library its column falls away, and the bars get the room.
    let rivals = if cublas.is_some() { RIVALS } else { WIDTH - MARGIN + TO_CEILINGS };
    let (ceilings, rates_end) = (rivals - TO_CEILINGS, rivals - TO_RATES);
    // A rate of multiply-adds has more letters than one of FLOP or of bytes.
    let rates_width = if record.work().arithmetic == Arithmetic::Bytes { 114.0 } else { 90.0 };
    let left = MARGIN + LABEL;
    let longest = stages.iter().map(|(_, rate)| *rate).fold(ceiling, f64::max);
    // A few bars that are much longer would leave no room to tell the others from the ceiling.
    let end = if longest > 1.5 * ceiling { 1.3 * ceiling } else { longest };
    let x = |rate: f64| left + (rate / end).min(1.0) * (rates_end - rates_width - left);
    let mut marks =
        vec![Mark { class: "limit", rate: ceiling, text: format!("100 %: {}, {}", rate.ceiling, (rate.words)(ceiling)) }];
    for (name, class, rate) in [(CUBLAS, "limit s1", cublas), (CUBLAS_TF32, "limit s2", tf32)] {
        let text = |rate: f64| format!("{name}: {} of the ceiling", of_ceiling(rate));
        marks.extend(rate.filter(|rate| *rate <= end).map(|rate| Mark { class, rate, text: text(rate) }));
    }
    // The words of a mark stand right of its line, or left of it where the picture ends. Those farther left stand lower, and their lines
    // pass all others' words on the left.
    marks.sort_by(|one, other| other.rate.total_cmp(&one.rate));

    let bottom = TOP + stages.len() as f64 * STEP;
    let height = bottom + marks.len() as f64 * MARK + 12.0;
    let of = if record.work().arithmetic == Arithmetic::Integers { "a copy" } else { "multiply-adds alone" };
    let cut = if longest > end { " Bars with a cut are longer than drawn." } else { "" };
    let notes = [origin(&[record]), path(name), format!("The ceiling is the rate of {of}, measured in the same run.{cut}")];
    let mut svg = Svg::new(height, &format!("{}: {}", record.chapter, sizes(record)), &notes);
    svg.text("small right", rates_end, TOP - 9.0, "rate");
    svg.text("small right", ceilings, TOP - 9.0, "of ceiling");
    if cublas.is_some() {
        svg.text("small", rivals, TOP - 9.0, "of cuBLAS");
    }
    for (index, (name, pieces)) in stages.iter().enumerate() {
        let y = TOP + index as f64 * STEP;
        let (class, rival) = match *name {
            CUBLAS => ("f1", None),
            CUBLAS_TF32 => ("f2", None),
            name if name.starts_with("tensor") => ("bar", tf32.map(|tf32| units::percent(pieces / tf32) + " (tf32)")),
            _ => ("bar", cublas.map(|cublas| units::percent(pieces / cublas))),
        };
        svg.text("right", left - 8.0, y + 12.5, name);
        svg.rect(class, left, y, (x(*pieces) - left).max(1.0), BAR);
        if *pieces > end {
            svg.line("cut", (x(end) - 14.0, y + BAR + 1.0), (x(end) - 8.0, y - 1.0));
        }
        svg.text("small right", rates_end, y + 12.5, &(rate.words)(*pieces));
        svg.text("small right", ceilings, y + 12.5, &of_ceiling(*pieces));
        if let Some(rival) = rival {
            svg.text("small", rivals, y + 12.5, &rival);
        }
    }
    for (index, Mark { class, rate, text }) in marks.iter().enumerate() {
        let y = bottom + (index + 1) as f64 * MARK;
        svg.line(class, (x(*rate), TOP - 8.0), (x(*rate), y));
        if x(*rate) + 6.0 + width_of(text) < WIDTH - MARGIN {
            svg.text("small", x(*rate) + 6.0, y, text);
        } else {
            svg.text("small right", x(*rate) - 6.0, y, text);
        }
    }
    Some(svg.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::tests::product;

    const NAME: &str = "nvidia-h200/06-matmul-tiled";

    /// The numbers that are called so in what follows a text.
    fn number(svg: &str, after: &str, name: &str) -> f64 {
        let rest = svg.split(after).nth(1).unwrap_or_else(|| panic!("no {after} in {svg}"));
        rest.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    }

    #[test]
    fn bars_end_where_their_rates_are_between_the_marks() {
        let svg =
            shares(NAME, &product(&[("half", 30.0), ("tensor-tf32", 75.0), ("cublas", 45.0), ("cublas-tf32", 85.0)], Some(60.0)))
                .unwrap();
        let end = |name: &str| {
            let stage = format!(">{name}</text>");
            number(&svg, &stage, "x") + number(&svg, &stage, "width")
        };
        let mark = |class: &str| number(&svg, &format!("<line class=\"{class}\""), "x1");
        let start = number(&svg, ">half</text>", "x");
        assert!(((end("half") - start) * 2.0 - (mark("limit") - start)).abs() < 0.2, "half of the ceiling");
        assert!((end("cublas") - mark("limit s1")).abs() < 0.2 && (end("cublas-tf32") - mark("limit s2")).abs() < 0.2);
        assert!(mark("limit s1") < mark("limit") && mark("limit") < end("tensor-tf32") && end("tensor-tf32") < mark("limit s2"));
    }

    #[test]
    fn a_stage_is_compared_with_the_library_on_the_same_cores() {
        let svg =
            shares(NAME, &product(&[("half", 30.0), ("tensor-tf32", 240.0), ("cublas", 45.0), ("cublas-tf32", 300.0)], Some(60.0)))
                .unwrap();
        let row = |name: &str| {
            let texts = svg.split(&format!(">{name}</text>")).nth(1).unwrap().split("<text").skip(1);
            let texts = texts.map(|text| text.split('>').nth(1).unwrap().split('<').next().unwrap());
            texts.take(3).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(row("half"), ["30.0 TFLOP/s", "50.0 %", "66.7 %"]);
        assert_eq!(row("tensor-tf32"), ["240 TFLOP/s", "400 %", "80.0 % (tf32)"]);
        assert_eq!(row("cublas")[..2], ["45.0 TFLOP/s", "75.0 %"]);
        assert_eq!(row("cublas-tf32")[1], "500 %");
        // Both are far beyond the picture: cut, and without a mark.
        assert_eq!(svg.matches("class=\"cut\"").count(), 2);
        assert!(!svg.contains("cublas-tf32:"), "{svg}");
    }

    #[test]
    fn without_the_library_there_are_rates_and_shares_of_the_ceiling_alone() {
        let svg = shares(NAME, &product(&[("half", 30.0)], Some(60.0))).unwrap();
        assert!(svg.contains(">50.0 %<") && !svg.contains("cuBLAS"), "{svg}");
        assert!(shares(NAME, &product(&[("half", 30.0)], None)).is_none(), "a share of nothing");
    }

    #[test]
    fn a_chapter_of_bytes_is_compared_with_dp4a_and_one_that_memory_limits_with_a_copy() {
        let mut record = product(&[("stage", 30.0)], Some(60.0));
        record.workload.insert("arithmetic".into(), "bytes".into());
        assert!(shares(NAME, &record).is_none(), "rates of another kind than the ceiling");
        record.ceilings.as_mut().unwrap().byte_multiply_adds = Some(20e12);
        // 30 TFLOP/s are 15 T multiply-adds.
        let svg = shares(NAME, &record).unwrap();
        assert!(svg.contains(">75.0 %<") && svg.contains(">15.0 Tmul-adds/s<"), "{svg}");
        record.workload.insert("arithmetic".into(), "integers".into());
        // As many bytes as half of what a copy moves in that time.
        let bytes = record.stages[0].median_ms.unwrap() * 1e-3 * 2e12;
        record.workload.insert("least_bytes".into(), (bytes as u64).into());
        let svg = shares(NAME, &record).unwrap();
        assert!(svg.contains(">50.0 %<") && svg.contains("100 %: a copy, 4.00 TB/s"), "{svg}");
    }
}
