//! A kernel's source with its counts, as `--explain` prints it, and what its lines ask memory for.
//!
//! The figure holds everything that a click shows. Only to step through a warp or to change the kernel does a page need the simulator.

use anyhow::{Context, Result, ensure};
use inspect::explain::{Explanation, Listing, TITLES, Working};
use ptx::finding::AccessOp;
use run::gpu::Gpu;
use run::stage::Stage;
use run::workload::Workload;
use serde::Serialize;
use simt::{AccessSample, Space};

use super::html::{data, escape, figure, table};
use super::launch;
use crate::directive::Arguments;
use crate::drawing::trace::verified;

/// Lines before and after the one that `around` names.
const AROUND: u32 = 4;
/// The most lines without counts shown between lines with counts.
const BRIDGED: u32 = 4;
/// Bytes of a row of banks, and of an L1 cache line.
const ROW_BYTES: u64 = 128;

/// The lines of a source that are shown.
enum Shown {
    /// From the first to the last that was counted.
    Counted,
    /// From the first line that contains a text to the next one that contains another; `end` is the end of a function.
    FromTo(String, String),
    /// Those around a line that contains a text.
    Around(String),
}

impl Shown {
    fn take(arguments: &mut Arguments) -> Result<Self> {
        let (lines, around) = (arguments.option("lines"), arguments.option("around"));
        ensure!(lines.is_none() || around.is_none(), "`lines` and `around` exclude each other");
        let Some(lines) = lines else { return Ok(around.map_or(Self::Counted, Self::Around)) };
        let (from, to) = lines.split_once("..").with_context(|| format!("`lines={lines}` is not `FROM..TO`"))?;
        Ok(Self::FromTo(from.to_owned(), to.to_owned()))
    }

    /// Returns the first and the last line, from 1.
    fn range(&self, text: &[&str], listing: &Listing) -> Result<(u32, u32)> {
        let find = |part: &str, from: usize| {
            let at = text.iter().skip(from).position(|line| line.contains(part));
            at.map(|at| at + from).with_context(|| format!("no line of {} has `{part}`", listing.file))
        };
        let counted = || listing.lines.iter().map(|line| line.number);
        let (first, last) = (counted().min().unwrap_or(1), counted().max().unwrap_or(1));
        match self {
            Self::Counted => Ok((first, last)),
            Self::Around(part) => {
                // A text that several kernels have is meant in the one that ran.
                let at = counted().find(|line| text.get(*line as usize - 1).is_some_and(|line| line.contains(part)));
                let at = at.map_or_else(|| find(part, 0).map(|at| at as u32 + 1), Ok)?;
                Ok((at.saturating_sub(AROUND).max(1), (at + AROUND).min(text.len() as u32)))
            }
            Self::FromTo(from, to) => {
                let from = find(from, 0)?;
                let end = || text.iter().skip(from).position(|line| line.starts_with('}')).map(|at| at + from);
                let to = if to == "end" { end() } else { Some(find(to, from + 1)?) };
                Ok((from as u32 + 1, to.with_context(|| format!("{}: the function does not end", listing.file))? as u32 + 1))
            }
        }
    }
}

/// The data for the script of the page.
#[derive(Serialize)]
struct Data<'a> {
    profile: &'a str,
    kernels: Vec<KernelData<'a>>,
}

#[derive(Serialize)]
struct KernelData<'a> {
    name: &'a str,
    requests: Vec<RequestData<'a>>,
}

/// A request of the first warp. Equal ones of a line are listed once.
#[derive(Serialize)]
struct RequestData<'a> {
    file: &'a str,
    line: u32,
    op: AccessOp,
    space: Space,
    variable: Option<&'a str>,
    bytes: u32,
    lanes: u32,
    instruction: &'a str,
    cost: String,
    /// Offset of each lane from the start of the first row.
    offsets: Vec<u64>,
    #[serde(skip)]
    weight: (u32, u32),
}

impl<'a> RequestData<'a> {
    fn of((sample, cost, weight): (&'a AccessSample, String, (u32, u32))) -> Option<Self> {
        let at = sample.location.source.as_ref()?;
        let active = |lane: usize| sample.lanes >> lane & 1 != 0;
        let least = (0..32).filter(|lane| active(*lane)).map(|lane| sample.addresses[lane]).min()?;
        let base = if sample.space == Space::Global { least / ROW_BYTES * ROW_BYTES } else { 0 };
        Some(Self {
            file: &at.file,
            line: at.line,
            op: sample.op,
            space: sample.space,
            variable: sample.variable.as_deref(),
            bytes: sample.bytes,
            lanes: sample.lanes,
            instruction: sample.location.instruction.trim(),
            cost,
            weight,
            offsets: (0..32).map(|lane| if active(lane) { sample.addresses[lane] - base } else { 0 }).collect(),
        })
    }

    /// Returns true if both access the same addresses in the same way. Their registers may differ.
    fn is_like(&self, other: &Self) -> bool {
        (self.file, self.line, self.op, self.space, self.variable, self.bytes, self.lanes, &self.offsets)
            == (other.file, other.line, other.op, other.space, other.variable, other.bytes, other.lanes, &other.offsets)
    }
}

/// Runs a stage and shows its source with counts per line. `chapter` and `size` name the file of its launches.
pub fn explain<W: Workload>(
    gpu: &Gpu,
    chapter: &str,
    stage: &Stage<W>,
    workload: &W,
    size: &str,
    arguments: &mut Arguments,
) -> Result<String> {
    let shown = Shown::take(arguments)?;
    let profile = gpu.profile().context("only the simulator counts lines")?;
    let measured = verified(gpu, stage, workload)?;
    let least_bytes = stage.least_bytes(workload);
    let explanation = Explanation::new(stage.name, &measured.launches, least_bytes, profile);
    let listings = explanation.listings();
    let kernel = &measured.launches.first().context("the stage launches nothing")?.report.kernel;
    // Kernels of several files have this name.
    let is_source =
        |known: &kernels::Kernel| known.name == *kernel && listings.iter().any(|listing| listing.file == known.source.path);
    let source = kernels::all().find(is_source).with_context(|| format!("{kernel} is no kernel of the book"))?.source;
    let numbers = size.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let size: String = numbers.map(|number| format!("-{number}")).collect();
    let file = format!("{chapter}-{}{size}-{}.json", stage.name, profile.name);
    launch::save(&file, stage.name, profile.name, least_bytes, source)?;

    let mut kernels: Vec<KernelData> = Vec::new();
    let mut tables = String::new();
    for files in listings.chunk_by(|one, next| one.kernel == next.kernel) {
        let name = &files[0].kernel;
        let mut requests: Vec<RequestData> = Vec::new();
        for request in explanation.requests(name).into_iter().filter_map(RequestData::of) {
            if !requests.iter().any(|known| known.is_like(&request)) {
                requests.push(request);
            }
        }
        // The one to look at comes first.
        requests.sort_by_key(|request| std::cmp::Reverse(request.weight));
        for listing in files {
            tables += &source_table(listing, &shown, &requests)?;
        }
        kernels.push(KernelData { name, requests });
    }
    let [name, work, gpu] = [stage.name, &workload.describe(), profile.product].map(escape);
    let mut body =
        format!("<figcaption><strong><code>{name}</code></strong>, line by line: {work}, on a simulated {gpu}</figcaption>\n");
    ensure!(!tables.is_empty(), "none of the lines to show was executed");
    body += &tables;
    body += &explanation.working().as_ref().map(limit).unwrap_or_default();
    body += &data(&Data { profile: profile.name, kernels })?;
    Ok(figure("explain", &[("launch", &format!("launches/{file}"))], &body))
}

/// Returns the lines of a file with their counts.
fn source_table(listing: &Listing, shown: &Shown, requests: &[RequestData]) -> Result<String> {
    let text: Vec<&str> = kernels::text(&listing.file).map(|text| text.lines().collect()).unwrap_or_default();
    let (first, last) = match shown {
        // A part of one file; a header that a kernel uses has other lines.
        Shown::Counted => shown.range(&text, listing)?,
        _ => match shown.range(&text, listing) {
            Ok(range) => range,
            Err(_) if listing.file.ends_with(".cuh") => return Ok(String::new()),
            Err(error) => return Err(error),
        },
    };
    let line_of = |number: u32| text.get(number as usize - 1).copied().unwrap_or_default();
    let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let numbers = || first..=last;
    let indent = numbers().map(line_of).filter(|line| !line.trim().is_empty()).map(depth).min().unwrap_or(0);
    let has = |column: usize| listing.lines.iter().any(|line| numbers().contains(&line.number) && line.cells[column].is_some());
    let columns: Vec<usize> = (0..listing.columns.len()).filter(|column| has(*column)).collect();
    if columns.is_empty() {
        // Another kernel of the stage executed these lines.
        return Ok(String::new());
    }
    let title = |[upper, lower]: [&str; 2]| format!("<th scope=\"col\">{}<br>{}</th>", escape(upper), escape(lower));
    let titles: String = columns.iter().map(|column| title(listing.columns[*column])).collect();
    let name = listing.file.rsplit('/').next().unwrap_or_default();
    let width = columns.len();
    let mut rows = String::new();
    let mut gap = false;
    // The marks by which pages include a part are no code.
    let is_mark = |number: &u32| line_of(*number).trim_start().starts_with("// ANCHOR");
    for number in numbers().filter(|number| !is_mark(number)) {
        let counted = listing.lines.iter().find(|line| line.number == number);
        if counted.is_none() && matches!(shown, Shown::Counted) && far_from_counts(number, listing) {
            if !std::mem::replace(&mut gap, true) {
                rows += &format!("<tr class=\"gap\"><td>…</td>{}<td></td></tr>\n", "<td></td>".repeat(width));
            }
            continue;
        }
        gap = false;
        let cell = |column: &usize| counted.and_then(|line| line.cells[*column].as_deref()).unwrap_or_default();
        let cells: String = columns.iter().map(|column| format!("<td>{}</td>", escape(cell(column)))).collect();
        let asks = requests.iter().any(|request| request.line == number && request.file == listing.file);
        let is_hottest = counted.is_some_and(|line| line.is_hottest);
        let classes = [(is_hottest, "hot"), (asks, "asks"), (counted.is_none(), "quiet")];
        let classes: Vec<&str> = classes.into_iter().filter_map(|(applies, class)| applies.then_some(class)).collect();
        let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
        let line = line_of(number);
        let code = escape(line.get(indent.min(depth(line))..).unwrap_or(line));
        rows += &format!("<tr{class} data-line=\"{number}\"><td>{number}</td>{cells}<td><code>{code}</code></td></tr>\n");
    }
    let [kernel, file, name, occupancy] = [&listing.kernel, &listing.file, name, &listing.occupancy].map(escape);
    Ok(format!(
        "<div class=\"lab-source\" data-kernel=\"{kernel}\" data-file=\"{file}\" data-indent=\"{indent}\"><table>\n<thead><tr><th scope=\"col\">line</th>{titles}<th \
         scope=\"col\">{name}</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n<p class=\"lab-note\">{occupancy}</p>\n"
    ))
}

/// Returns true for a line in a gap too long to show. A gap is between lines with counts.
fn far_from_counts(number: u32, listing: &Listing) -> bool {
    let counted = || listing.lines.iter().map(|line| line.number);
    let (before, after) = (counted().filter(|line| *line < number).max(), counted().filter(|line| *line > number).min());
    before.zip(after).is_some_and(|(before, after)| after - before > BRIDGED + 1)
}

/// Draws the bound of the stage, with its working.
fn limit(working: &Working) -> String {
    let Working { limit, product, chip, least, parts, negligible, as_written } = working;
    let [limit, product, chip, least] = [limit, *product, chip, least].map(escape);
    let mut text = format!(
        "<p class=\"lab-limit\">Lower bound: <strong>{limit}</strong> needs at least {least}.</p>\n<details><summary>The working</summary>\n\
         <p>The least time that each part needs on the {product}, with {chip}. It is not a measured time.</p>\n{}",
        table(TITLES, parts)
    );
    if !negligible.is_empty() {
        text += &format!("<p>Less than 0.1 %: {}.</p>\n", escape(&negligible.join(", ")));
    }
    if !as_written.is_empty() {
        text += &format!(
            "<p>Not in the bound, because a compiler may need fewer: the time if each PTX instruction stays as it is.</p>\n{}",
            table(TITLES, as_written)
        );
    }
    text + "</details>\n"
}
