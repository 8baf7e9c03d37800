//! Explanations of the speed of a stage: its source with the counts of each line, its bottleneck, and one request of a warp.
//!
//! Everything comes from the simulator's reports on the stage's launches. Nothing here knows a chapter.
//!
//! # Layout
//!
//! - `style`: whether text has attributes.
//! - `listing`: source and counts, line by line.
//! - `working`: the bound, with the divisions that it comes from.
//! - `page`: both as data, for pages.
//! - `grid`: a request as words in rows of banks or lines; [`picture`] draws it with characters, and [`svg`] draws it for the book.

mod grid;
mod listing;
mod page;
pub mod picture;
mod style;
pub mod svg;
mod working;

use std::collections::BTreeMap;

use driver::occupancy::{Limit, Occupancy};
use run::console::wrap_lines;
use run::observer::Launch;
use run::units::{count, significant};
use simt::bound::{Bound, bound};
use simt::memory::rules::Rules;
use simt::{AccessSample, Counters, LaunchConfig, Profile, SourceLine};

use crate::error::{Error, Result};
use crate::line::Line;
use grid::Grid;
use picture::{title, what};
use style::put;

pub use page::{ListedLine, Listing};
pub use style::Style;
pub use working::{TITLES, Working};

/// The simulator's report about a stage.
pub struct Explanation<'a> {
    stage: &'a str,
    least_bytes: u64,
    profile: &'a Profile,
    kernels: Vec<Kernel<'a>>,
}

/// A kernel of a stage, all of its launches together.
struct Kernel<'a> {
    name: &'a str,
    launches: Vec<LaunchConfig>,
    occupancy: &'a Occupancy,
    counters: Counters,
    lines: BTreeMap<&'a Option<SourceLine>, Counters>,
    samples: &'a [AccessSample],
}

impl<'a> Explanation<'a> {
    /// Puts the launches of a stage together; `least_bytes` is the least that its computation has to read and write.
    pub fn new(stage: &'a str, launches: &'a [Launch], least_bytes: u64, profile: &'a Profile) -> Self {
        let mut kernels: Vec<Kernel<'a>> = Vec::new();
        for Launch { report: launch, occupancy } in launches {
            let known = kernels.iter().position(|kernel| kernel.name == launch.kernel);
            let index = known.unwrap_or_else(|| {
                kernels.push(Kernel {
                    name: &launch.kernel,
                    launches: Vec::new(),
                    occupancy,
                    counters: Counters::default(),
                    lines: BTreeMap::new(),
                    samples: &launch.samples,
                });
                kernels.len() - 1
            });
            let kernel = &mut kernels[index];
            kernel.launches.push(launch.config);
            kernel.counters += launch.counters;
            for line in &launch.lines {
                *kernel.lines.entry(&line.source).or_default() += line.counters;
            }
        }
        Self { stage, least_bytes, profile, kernels }
    }

    /// Returns the GPU's memory rules.
    fn rules(&self) -> Rules {
        Rules::of(self.profile.compute_capability)
    }

    /// Returns the bound that follows from the counts of all kernels together.
    fn bound(&self) -> Bound {
        let mut total = Counters::default();
        self.kernels.iter().for_each(|kernel| total += kernel.counters);
        bound(&total, self.least_bytes, self.profile)
    }

    /// Returns the request to look at: the most expensive one, of all or of the lines that `line` names. `source` finds the text of a source
    /// file by its name. If the first warp made no such request there, the error names the possible lines.
    pub fn access(&self, line: Option<&Line>, source: impl Fn(&str) -> Option<&'static str>) -> Result<&'a AccessSample> {
        let weighed = |(kernel, sample): (&Kernel<'a>, &'a AccessSample)| {
            let at = sample.location.source.as_ref()?;
            let grid = Grid::of(sample, self.rules())?;
            let of_line = kernel.lines.get(&sample.location.source).map_or(0, wavefronts);
            Some((at, (of_line, grid.cost.weight(), grid.bytes_wanted), sample))
        };
        let pairs = || self.kernels.iter().flat_map(|kernel| kernel.samples.iter().map(move |sample| (kernel, sample)));
        let samples = || pairs().filter_map(weighed);
        let candidates = samples().filter(|(at, ..)| line.is_none_or(|line| line.names(at, &source)));
        // The first of the most expensive ones: a later one has to cost more.
        let best = candidates.reduce(|best, other| if other.1 > best.1 { other } else { best });
        best.map(|(.., sample)| sample).ok_or_else(|| {
            let mut lines: Vec<u32> = samples().map(|(at, ..)| at.line).collect();
            lines.sort_unstable();
            lines.dedup();
            let lines = lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            Error {
                stage: self.stage.to_owned(),
                line: line.map_or(String::new(), |line| format!(" {line}")),
                expected: if lines.is_empty() {
                    "no line has one".to_owned()
                } else {
                    format!("expected one of the lines {lines}")
                },
            }
        })
    }

    /// Returns the whole explanation as text. Without a `line`, a stage that accesses no memory has no picture.
    pub fn text(&self, line: Option<&Line>, source: impl Fn(&str) -> Option<&'static str>, style: Style) -> Result<String> {
        let access = match self.access(line, &source) {
            Err(error) if line.is_some() => return Err(error),
            access => access.ok(),
        };
        let mut text = String::new();
        for kernel in &self.kernels {
            kernel.list(&mut text, &source, style);
        }
        let launches = self.kernels.iter().flat_map(|kernel| kernel.launches.iter().map(|config| (kernel.name, *config)));
        text.push_str(&working::show(&self.bound(), &launches.collect::<Vec<_>>(), self.profile, style));
        if let Some(access) = access {
            text.push('\n');
            put(&mut text, &style.bold(&title(access)));
            put(&mut text, &style.dim(access.location.instruction.trim()));
            text.push('\n');
            text.push_str(&picture::draw(access, self.rules(), style).unwrap_or_default());
            self.list_others(&mut text, access);
        }
        Ok(wrap_lines(&text, style.width))
    }

    /// Lists the other requests of the same line, without pictures. Equal ones are listed once.
    fn list_others(&self, text: &mut String, drawn: &AccessSample) {
        let mut others: Vec<(String, usize)> = Vec::new();
        let of_kernel = self.kernels.iter().find(|kernel| kernel.samples.iter().any(|sample| std::ptr::eq(sample, drawn)));
        let samples = of_kernel.into_iter().flat_map(|kernel| kernel.samples);
        for sample in samples.filter(|other| other.location.source == drawn.location.source && !std::ptr::eq(*other, drawn)) {
            let Some(grid) = Grid::of(sample, self.rules()) else { continue };
            let other = format!("{}: {}", what(sample), picture::summary(&grid, sample));
            match others.iter_mut().find(|(known, _)| *known == other) {
                Some((_, times)) => *times += 1,
                None => others.push((other, 1)),
            }
        }
        if !others.is_empty() {
            put(text, "  also on this line:");
        }
        for (other, times) in others {
            let times = if times > 1 { format!(" ({times}x)") } else { String::new() };
            put(text, &format!("    {other}{times}"));
        }
    }

    /// Returns the picture of [`Explanation::access`] as an SVG.
    pub fn svg(&self, line: Option<&Line>, source: impl Fn(&str) -> Option<&'static str>) -> Result<String> {
        // `access` only returns requests that have a picture.
        Ok(svg::draw(self.access(line, source)?, self.rules(), self.stage).unwrap_or_default())
    }
}

impl Kernel<'_> {
    /// Returns the counted lines of a file, in order.
    fn counted(&self, file: &str) -> Vec<(u32, &Counters)> {
        let lines = self.lines.iter().filter_map(|(line, counters)| Some((line.as_ref()?, counters)));
        lines.filter(|(at, _)| at.file == file).map(|(at, counters)| (at.line, counters)).collect()
    }

    /// Returns the files that its lines are in.
    fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.lines.keys().filter_map(|line| Some(line.as_ref()?.file.as_str())).collect();
        files.dedup();
        files
    }

    /// Lists its launches, and each of its files.
    fn list(&self, text: &mut String, source: &impl Fn(&str) -> Option<&'static str>, style: Style) {
        let LaunchConfig { grid, block, dynamic_shared_bytes } = self.launches[0];
        let (launches, bytes) = (self.launches.len(), dynamic_shared_bytes);
        let times = if launches > 1 { format!(", the first of {launches} launches") } else { String::new() };
        let shared = if bytes > 0 { format!(" with {bytes} bytes of dynamic shared memory") } else { String::new() };
        put(text, &style.bold(&format!("kernel {}: grid {grid} of blocks {block}{shared}{times}", self.name)));
        let Counters { ptx_instructions, ptx_thread_instructions, .. } = self.counters;
        let lanes = significant(ptx_thread_instructions as f64 / ptx_instructions.max(1) as f64);
        put(text, &format!("{} PTX instructions of warps, on average {lanes} of 32 lanes active", count(ptx_instructions)));
        put(text, &occupancy(self.occupancy));
        text.push('\n');
        for file in self.files() {
            text.push_str(&listing::list(file, source(file), &self.counted(file), &self.counters, style));
            text.push('\n');
        }
    }
}

/// Returns the cost of a line's requests, in wavefronts.
fn wavefronts(c: &Counters) -> u64 {
    // Without an L1 cache there are only sectors, four to a line.
    let loads = c.global_load_wavefronts.max(c.global_load_sectors.div_ceil(4));
    loads + c.global_store_sectors.div_ceil(4) + c.shared_load_wavefronts + c.shared_store_wavefronts
}

/// Describes a kernel's resident blocks per multiprocessor, and what limits them.
fn occupancy(occupancy: &Occupancy) -> String {
    let Occupancy { registers_per_thread, blocks_per_multiprocessor: blocks, active_warps, max_warps, limits } = occupancy;
    let registers = registers_per_thread.map_or(String::new(), |registers| format!("{registers} registers per thread; "));
    let names = limits.iter().map(limit_name).collect::<Vec<_>>().join(" and ");
    let plural = if *blocks == 1 { "" } else { "s" };
    format!("{registers}{blocks} resident block{plural} per SM, {active_warps} of {max_warps} warps: limited by {names}")
}

/// Returns the name of a limit of occupancy.
pub fn limit_name(limit: &Limit) -> &'static str {
    match limit {
        Limit::Warps => "warps",
        Limit::Blocks => "blocks",
        Limit::Registers => "registers",
        Limit::SharedMemory => "shared memory",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grid::tests::sample;
    use ptx::finding::AccessOp;
    use simt::{Dim3, LaunchReport, LineCounters, Space};

    const FILE: &str = "kernels/cuda/x.cu";

    /// Returns a launch whose lines took these wavefronts of shared memory. Each line has a load.
    fn launch(kernel: &str, lines: &[(u32, u64)]) -> Launch {
        let one = Dim3::new(1, 1, 1);
        let source = |line| Some(SourceLine { file: FILE.to_owned(), line });
        let counters = |wavefronts| Counters {
            ptx_instructions: wavefronts,
            shared_load_requests: 1,
            shared_load_wavefronts: wavefronts,
            ..Counters::default()
        };
        let samples = lines.iter().map(|(line, _)| {
            let mut sample = sample(Space::Shared, AccessOp::Load, 4, u32::MAX, |lane| 4 * lane);
            sample.location.source = source(*line);
            sample
        });
        let report = LaunchReport {
            kernel: kernel.to_owned(),
            config: LaunchConfig { grid: one, block: one, dynamic_shared_bytes: 0 },
            counters: counters(lines.iter().map(|(_, wavefronts)| wavefronts).sum()),
            lines: lines
                .iter()
                .map(|(line, wavefronts)| LineCounters { source: source(*line), counters: counters(*wavefronts) })
                .collect(),
            samples: samples.collect(),
            touched: Vec::new(),
            footprint: Vec::new(),
            blocks: 1,
            findings: Vec::new(),
            printed: String::new(),
            overwritten: 0,
        };
        let limits = vec![Limit::Warps, Limit::Registers];
        let occupancy =
            Occupancy { registers_per_thread: Some(32), blocks_per_multiprocessor: 8, active_warps: 64, max_warps: 64, limits };
        Launch { report, occupancy }
    }

    fn explanation(launches: &[Launch]) -> Explanation<'_> {
        Explanation::new("split", launches, 0, Profile::named("h200").unwrap())
    }

    #[test]
    fn the_request_is_the_most_expensive_one_of_all_kernels_or_that_of_the_line() {
        let launches = [launch("rows", &[(3, 10), (5, 40)]), launch("columns", &[(9, 30)]), launch("columns", &[(9, 30)])];
        let explanation = explanation(&launches);
        let text = |_: &str| Some("\n\nx = a[i];\n\nx = b[i];\n\n\n\ny = b[i];\n");
        let line = |asked: Option<&str>| {
            let asked = asked.map(|asked| asked.parse().unwrap());
            explanation.access(asked.as_ref(), text).map(|sample| sample.location.source.as_ref().unwrap().line)
        };
        for (asked, expected) in [(None, 9), (Some("3"), 3), (Some("a[i]"), 3), (Some("x ="), 5), (Some("b[i]"), 9)] {
            assert_eq!(line(asked).unwrap(), expected, "{asked:?}");
        }
        for (asked, words) in
            [("4", "on line 4: expected one of the lines 3, 5, 9"), ("c[i]", "on a line with `c[i]`: expected one of")]
        {
            let message = line(Some(asked)).unwrap_err().to_string();
            assert!(message.contains("split") && message.contains(words), "{message}");
        }
    }

    #[test]
    fn launches_of_one_kernel_are_listed_once() {
        let launches = [launch("rows", &[(3, 10)]), launch("columns", &[(9, 30)]), launch("columns", &[(9, 31)])];
        let text = explanation(&launches).text(None, |_| None, Style::PLAIN).unwrap();
        assert_eq!(text.matches("kernel columns: grid (1,1,1) of blocks (1,1,1), the first of 2 launches").count(), 1, "{text}");
        assert_eq!(text.matches("kernel rows: grid").count(), 1, "{text}");
        assert!(text.contains("61 PTX instructions of warps") && text.contains("30.5 (0)"), "{text}");
        assert!(text.contains("32 registers per thread; 8 resident blocks per SM, 64 of 64 warps: limited by warps and registers"));
    }

    #[test]
    fn a_line_with_several_requests_draws_the_most_words_and_names_the_others() {
        let mut launch = launch("tiled", &[(3, 10)]);
        let samples = &mut launch.report.samples;
        let mut broadcast = sample(Space::Shared, AccessOp::Load, 4, u32::MAX, |_| 512);
        broadcast.location.source = samples[0].location.source.clone();
        broadcast.variable = Some("s_filter".to_owned());
        samples[0].variable = Some("s_signal".to_owned());
        *samples = vec![broadcast.clone(), samples.remove(0), broadcast];
        let text = explanation(&[launch]).text(None, |_| None, Style::plain(200)).unwrap();
        assert!(text.contains("a warp's load from s_signal in shared memory on line 3, 4 bytes per lane"), "{text}");
        let others = "  also on this line:\n    load from s_filter in shared memory: 1 wavefront for 32 lanes, 1 at best: \
                      one word, read once for all of them (2x)\n";
        assert!(text.ends_with(others), "{text}");
    }

    #[test]
    fn a_stage_without_accesses_has_no_picture_and_a_line_of_it_is_refused() {
        let launches = [launch("idle", &[])];
        let explanation = explanation(&launches);
        assert!(!explanation.text(None, |_| None, Style::PLAIN).unwrap().contains("a warp's"));
        let message = explanation.svg(Some(&Line::Number(1)), |_| None).unwrap_err().to_string();
        assert!(message.contains("no line has one"), "{message}");
    }
}
