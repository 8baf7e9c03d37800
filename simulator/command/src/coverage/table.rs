//! Coverage for people: a table of files and kernels, and a list of what was never executed.

use std::fmt::{self, Write};

use simcuda::coverage::{Branch, Outcome};

use super::files::{Files, Share, SourceFile, missing};

/// Columns of a line of source that are shown.
const SHOWN_COLUMNS: usize = 90;

/// A row: a file, a kernel of it, or the sum.
struct Row {
    name: String,
    lines: Share,
    ways: Share,
    divergent: Share,
    /// Launches of a kernel.
    launches: Option<u64>,
}

/// Returns the table, and the list if asked for.
pub fn text(files: &Files, with_list: bool) -> String {
    let mut text = String::new();
    table(&mut text, files).expect("a string takes everything");
    if with_list {
        for (path, file) in &files.files {
            list(&mut text, &path.to_string_lossy(), file).expect("a string takes everything");
        }
    }
    text
}

fn table(text: &mut String, files: &Files) -> fmt::Result {
    let mut rows = Vec::new();
    for (path, file) in &files.files {
        let name = path.to_string_lossy().into_owned();
        let (lines, ways, divergent) = (file.covered_lines(), file.covered_ways(), file.divergent());
        rows.push(Row { name, lines, ways, divergent, launches: None });
        rows.extend(file.kernels.iter().map(|kernel| {
            let (name, launches) = (format!("  {}", kernel.name), Some(kernel.launches));
            Row { name, lines: kernel.lines, ways: kernel.ways, divergent: kernel.divergent, launches }
        }));
    }
    let (lines, ways, divergent) = (files.lines(), files.ways(), files.divergent());
    rows.push(Row { name: "total".to_owned(), lines, ways, divergent, launches: None });
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    writeln!(text, "{:width$}  {:>18}  {:>18}  {:>9}  {:>8}", "", "lines", "branches", "divergent", "launches")?;
    for Row { name, lines, ways, divergent, launches } in rows {
        let launches = launches.map(|launches| launches.to_string()).unwrap_or_default();
        let divergent = if divergent.all == 0 { "-".to_owned() } else { divergent.shown() };
        let row = format!("{name:width$}  {:>18}  {:>18}  {divergent:>9}  {launches:>8}", shown(lines), shown(ways));
        writeln!(text, "{}", row.trim_end())?;
    }
    Ok(())
}

/// `9/12   75.0 %`
fn shown(share: Share) -> String {
    if share.all == 0 { "-".to_owned() } else { format!("{}/{} {:>8}", share.hit, share.all, share.shown()) }
}

fn list(text: &mut String, path: &str, file: &SourceFile) -> fmt::Result {
    let source = |line: u32| {
        let line = file.text.get(line as usize - 1).map_or("", |line| line.trim());
        line.chars().take(SHOWN_COLUMNS).collect::<String>()
    };
    let never: Vec<u32> = file.lines.iter().filter(|(_, executed)| executed.lanes == 0).map(|(line, _)| *line).collect();
    if !never.is_empty() {
        writeln!(text, "\n{path}: lines never executed")?;
        for line in never {
            writeln!(text, "{}", format!("{line:>6}  {}", source(line)).trim_end())?;
        }
    }
    let one_way =
        |guards: bool| file.branches.iter().filter(move |branch| branch.is_guard() == guards && !missing(branch).is_empty());
    for (guards, title) in
        [(false, "branches that never went one of their ways"), (true, "guards that were never false, or never true")]
    {
        if one_way(guards).next().is_none() {
            continue;
        }
        writeln!(text, "\n{path}: {title}")?;
        for branch in one_way(guards) {
            let line = branch.at.line;
            writeln!(text, "{}", format!("{line:>6}  {}", source(line)).trim_end())?;
            writeln!(text, "        {}", never_happened(branch))?;
        }
    }
    Ok(())
}

/// Describes what never happened at a branch, and how often something else did.
fn never_happened(branch: &Branch) -> String {
    let told = |outcome: &Outcome| match outcome {
        Outcome::Goes(place) if place.file == branch.at.file => format!("never went to line {}", place.line),
        Outcome::Goes(place) => format!("never went to line {} of {}", place.line, place.file),
        Outcome::Taken => "was never taken".to_owned(),
        Outcome::NotTaken => "was always taken".to_owned(),
        Outcome::Ends => "never returned".to_owned(),
        Outcome::Acts => "was never true".to_owned(),
        Outcome::Skips => "was never false".to_owned(),
    };
    let never: Vec<String> = missing(branch).into_iter().map(told).collect();
    let lanes: u64 = branch.ways.iter().map(|way| way.lanes).sum();
    format!("{} in {lanes} {}", never.join(", "), if lanes == 1 { "execution" } else { "executions" })
}
