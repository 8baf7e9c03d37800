//! Times or rates against a size in which runs differ.

use anyhow::{Context, Result, bail, ensure};
use run::report::Place;
use run::units;

use super::plot::{Axis, Frame, Plot};
use super::rate::{Unit, origin};
use crate::archive::{Archive, Run};
use crate::directive::{Arguments, named, nearest};

/// A size in which runs can differ: what a directive calls it; its keys in a record, which hold the same number, as the sides of a square; the
/// words below the axis; the words of a title, from LEAST to MOST; and the keys of the sizes that do not differ, with their words.
struct Size(&'static str, &'static [&'static str], &'static str, &'static str, &'static [&'static str], &'static str);

const IMAGE: &[&str] = &["image_width", "image_height"];
const TEMPLATE: &[&str] = &["template_width", "template_height"];
const SIZES: [Size; 5] = [
    Size("outputs", &["outputs"], "outputs", "LEAST to MOST outputs", &["taps"], " taps, "),
    Size("taps", &["taps"], "taps", "filters of LEAST to MOST taps", &["outputs"], " outputs, "),
    Size("template", TEMPLATE, "width and height of the template", "templates of LEASTxLEAST to MOSTxMOST", IMAGE, " pixels, "),
    Size("window", &["window"], "window", "windows of LEAST to MOST", IMAGE, " pixels, "),
    Size("side", &["m", "n", "k"], "m = n = k", "square matrices of LEAST to MOST rows", &[], ""),
];

impl Size {
    /// Returns the size of a run; `None` for one whose sides differ.
    fn of(&self, run: Run) -> Option<u64> {
        let mut sides = self.1.iter().map(|key| run.size(key));
        let first = sides.next()??;
        sides.all(|side| side == Some(first)).then_some(first)
    }

    fn fixed(&self, run: Run) -> String {
        self.4.iter().map(|key| run.size(key).unwrap_or_default().to_string()).collect::<Vec<_>>().join("x")
    }
}

/// A curve: its label, and a stage; without one, the fastest of all stages of the device that have no curve of their own.
type Series = (String, Option<String>);

/// Draws it: `over` is the size, `y` is `time`, `rate` or `rate-by-factors`, `stages` are the curves, and `rest` names one more curve, of the
/// fastest of all other stages. The runs are those of the chapter that differ from the one that is named in that size alone.
pub fn growth(archive: &Archive, run: Run, arguments: &mut Arguments) -> Result<String> {
    let over = arguments.option("over").context("the option `over` is missing")?;
    let over = named(format_args!("there is no `over={over}`"), &over, SIZES.iter().map(|size| (size.0, size)))?;
    let y = arguments.option("y").unwrap_or_else(|| "time".to_owned());
    let mut series: Vec<Series> = arguments.option("rest").map(|label| (label, None)).into_iter().collect();
    for stage in arguments.list("stages") {
        run.stage(&stage)?;
        series.push((run.label(&stage), Some(stage)));
    }

    let is_member = |other: &Run| {
        let alike = other.device() == run.device() && other.demands() == run.demands();
        alike && other.border().is_none() && over.of(*other).is_some() && over.fixed(*other) == over.fixed(run)
    };
    let mut runs = archive.runs_where(is_member);
    runs.sort_by_key(|run| over.of(*run));
    ensure!(runs.len() > 2, "runs that differ in {} alone from {}: {}, and a curve takes three", over.0, run.name, runs.len());

    let unit = Unit::of(run);
    let size = |run: &Run| over.of(*run).unwrap_or(1);
    let curve = |one: &Series| -> Vec<(f64, f64)> {
        let point = |run: &Run| {
            let ms = time(*run, one, &series)?;
            Some((size(run) as f64, if y == "time" { ms } else { Unit::of(*run).at(ms) }))
        };
        runs.iter().filter_map(point).collect()
    };
    let curves: Vec<_> = series.iter().map(curve).collect();
    let values = || curves.iter().flatten().map(|(_, value)| *value);
    let most = values().fold(0.0, f64::max);
    let mut limit = None;
    let axis = match y.as_str() {
        "time" | "rate-by-factors" => Axis::by_factors(values(), 1.3, 1.3),
        "rate" => {
            // The ceiling of the largest run; one that is far away would leave no room for the rates.
            limit = runs.last().and_then(|run| Unit::of(*run).most).filter(|ceiling| *ceiling < 2.0 * most);
            Axis::from_zero(1.05 * limit.unwrap_or(most).max(most))
        }
        other => bail!("there is no `y={other}`{}", nearest(other, ["time", "rate", "rate-by-factors"])),
    };
    let words = if y == "time" { units::milliseconds } else { unit.words };
    let (least, largest) = (size(&runs[0]), size(&runs[runs.len() - 1]));
    let range = over.3.replace("LEAST", &least.to_string()).replace("MOST", &largest.to_string());
    let in_words = |size: u64| if size < 100_000 { size.to_string() } else { units::count(size) };
    let mut plot = Plot::new(Frame {
        title: format!("{}: {}{}{range}", run.record.chapter, over.fixed(run), over.5),
        notes: vec![origin(&runs), format!("{} records of book/results/{}/{}*.json", runs.len(), run.device(), run.record.chapter)],
        height: 420.0,
        x: Axis { ends: (least as f64, largest as f64), by_factors: true },
        x_ticks: runs.iter().map(|run| (size(run) as f64, in_words(size(run)))).collect(),
        x_name: over.2.to_owned(),
        y: axis,
        y_words: words,
    });
    if let Some(limit) = limit {
        plot.level("limit", limit, format!("ceiling: {}", words(limit)));
    }
    for (index, (points, (label, _))) in curves.iter().zip(&series).enumerate() {
        plot.curve(index, points, label.clone());
    }
    Ok(plot.end())
}

/// Returns the time of a series in a run. Stages on the CPU have times, too.
fn time(run: Run, one: &Series, all: &[Series]) -> Option<f64> {
    let Some(stage) = &one.1 else {
        let has_own = |name: &str| all.iter().any(|other| other.1.as_deref() == Some(name));
        return run.times().filter(|(name, _)| !has_own(name)).map(|(_, ms)| ms).min_by(f64::total_cmp);
    };
    let stage = run.record.stages.iter().find(|row| row.name == *stage && row.verified)?;
    stage.median_ms.filter(|_| stage.place != Place::Between)
}
