//! How near the stages of a chapter come to the ceiling and to cuBLAS: a bar for each, as long as its rate.
//!
//! A chart of times shows the slow stages, and of the fast ones that they are short. This one shows the distance that is left, and where
//! a library stands that many people have worked on.

use common::record::Record;
use common::units;

use super::svg::{MARGIN, Svg, WIDTH};
use super::{CUBLAS, CUBLAS_TF32, origin, rate_of, rates, sizes};

/// What a bar is compared with, and the colour of its mark.
struct Mark {
    class: &'static str,
    rate: f64,
    text: String,
}

/// A bar for each stage; `None` without cuBLAS among them, or without a ceiling of the same run.
pub fn shares(record: &Record) -> Option<String> {
    const LABEL: f64 = 118.0;
    const BAR: f64 = 16.0;
    const STEP: f64 = 24.0;
    const TOP: f64 = 90.0;
    const MARK: f64 = 17.0;
    /// The columns beside the bars: where rates and shares of the ceiling end, and where shares of cuBLAS begin.
    const RATES: f64 = WIDTH - MARGIN - 172.0;
    const CEILINGS: f64 = WIDTH - MARGIN - 96.0;
    const RIVALS: f64 = WIDTH - MARGIN - 80.0;

    let stages = rates(record)?;
    let ceiling = record.ceilings?.flops;
    let cublas = rate_of(&stages, CUBLAS)?;
    let tf32 = rate_of(&stages, CUBLAS_TF32);
    let of_ceiling = |rate: f64| units::percent(rate / ceiling);

    let left = MARGIN + LABEL;
    let longest = stages.iter().map(|(_, rate)| *rate).fold(ceiling, f64::max);
    let x = |rate: f64| left + rate / longest * (RATES - 90.0 - left);
    let mut marks = vec![
        Mark { class: "limit", rate: ceiling, text: format!("100 %: f32 multiply-adds, {}", units::flops(ceiling)) },
        Mark { class: "limit s1", rate: cublas, text: format!("{CUBLAS}: {} of the ceiling", of_ceiling(cublas)) },
    ];
    marks.extend(tf32.map(|rate| Mark {
        class: "limit s2",
        rate,
        text: format!("{CUBLAS_TF32}: {} of the ceiling", of_ceiling(rate)),
    }));
    // The words of a mark stand right of its line. Those farther left stand lower, and their lines pass all others' words on the left.
    marks.sort_by(|one, other| other.rate.total_cmp(&one.rate));

    let bottom = TOP + stages.len() as f64 * STEP;
    let height = bottom + marks.len() as f64 * MARK + 12.0;
    let notes = [&origin(record), "The ceiling is the rate of multiply-adds alone, measured in the same run."];
    let mut svg = Svg::new(height, &format!("{}: {}", record.chapter, sizes(record)), &notes);
    svg.text("small right", RATES, TOP - 9.0, "rate");
    svg.text("small right", CEILINGS, TOP - 9.0, "of ceiling");
    svg.text("small", RIVALS, TOP - 9.0, "of cuBLAS");
    for (index, (name, rate)) in stages.iter().enumerate() {
        let y = TOP + index as f64 * STEP;
        let (class, rival) = match *name {
            CUBLAS => ("f1", None),
            CUBLAS_TF32 => ("f2", None),
            name if name.starts_with("tensor") => ("bar", tf32.map(|tf32| units::percent(rate / tf32) + " (tf32)")),
            _ => ("bar", Some(units::percent(rate / cublas))),
        };
        svg.text("right", left - 8.0, y + 12.5, name);
        svg.rect(class, left, y, (x(*rate) - left).max(1.0), BAR);
        svg.text("small right", RATES, y + 12.5, &units::flops(*rate));
        svg.text("small right", CEILINGS, y + 12.5, &of_ceiling(*rate));
        if let Some(rival) = rival {
            svg.text("small", RIVALS, y + 12.5, &rival);
        }
    }
    for (index, Mark { class, rate, text }) in marks.iter().enumerate() {
        let y = bottom + (index + 1) as f64 * MARK;
        svg.line(class, (x(*rate), TOP - 8.0), (x(*rate), y));
        svg.text("small", x(*rate) + 6.0, y, text);
    }
    Some(svg.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::tests::product;

    /// The numbers that are called so in what follows a text.
    fn number(svg: &str, after: &str, name: &str) -> f64 {
        let rest = svg.split(after).nth(1).unwrap_or_else(|| panic!("no {after} in {svg}"));
        rest.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    }

    #[test]
    fn bars_end_where_their_rates_are_between_the_marks() {
        let svg = shares(&product(&[("half", 30.0), ("tensor-tf32", 240.0), ("cublas", 45.0), ("cublas-tf32", 300.0)], Some(60.0)))
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
        let svg = shares(&product(&[("half", 30.0), ("tensor-tf32", 240.0), ("cublas", 45.0), ("cublas-tf32", 300.0)], Some(60.0)))
            .unwrap();
        let row = |name: &str| {
            let texts = svg.split(&format!(">{name}</text>")).nth(1).unwrap().split("<text").skip(1);
            let texts = texts.map(|text| text.split('>').nth(1).unwrap().split('<').next().unwrap());
            texts.take(3).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(row("half"), ["30.0 TFLOP/s", "50.0 %", "66.7 %"]);
        assert_eq!(row("tensor-tf32"), ["240 TFLOP/s", "400 %", "80.0 % (tf32)"]);
        assert_eq!(row("cublas")[..2], ["45.0 TFLOP/s", "75.0 %"]);
        assert!(svg.contains(">cublas-tf32: 500 % of the ceiling<"), "{svg}");
    }

    #[test]
    fn it_takes_the_library_and_the_ceiling() {
        assert!(shares(&product(&[("half", 30.0)], Some(60.0))).is_none());
        assert!(shares(&product(&[("half", 30.0), ("cublas", 45.0)], None)).is_none());
        let mut bytes = product(&[("half", 30.0), ("cublas", 45.0)], Some(60.0));
        bytes.workload.insert("arithmetic".into(), "bytes".into());
        assert!(shares(&bytes).is_none(), "rates of another kind than the ceiling");
    }
}
