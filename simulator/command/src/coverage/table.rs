//! Coverage for people: a table of files and kernels, and a list of what was never executed.

use std::fmt::{self, Write};

use driver::coverage::{Branch, Outcome};

use super::files::{Files, Share, Shares, SourceFile, missing};

/// Columns of a line of source that are shown.
const SHOWN_COLUMNS: usize = 90;

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
    // Files with their kernels, and the sum. Only a kernel has launches.
    let mut rows: Vec<(String, Shares, Option<u64>)> = Vec::new();
    for (path, file) in &files.files {
        rows.push((path.to_string_lossy().into_owned(), file.shares(), None));
        rows.extend(file.kernels.iter().map(|kernel| (format!("  {}", kernel.name), kernel.shares, Some(kernel.launches))));
    }
    rows.push(("total".to_owned(), files.shares(), None));
    let width = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    writeln!(text, "{:width$}  {:>18}  {:>18}  {:>9}  {:>8}", "", "lines", "branches", "divergent", "launches")?;
    for (name, Shares { lines, ways, divergent }, launches) in rows {
        let launches = launches.map(|launches| launches.to_string()).unwrap_or_default();
        let divergent = if divergent.all == 0 { "-".to_owned() } else { divergent.shown() };
        let row = format!("{name:width$}  {:>18}  {:>18}  {divergent:>9}  {launches:>8}", shown(lines), shown(ways));
        writeln!(text, "{}", row.trim_end())?;
    }
    Ok(())
}

/// Formats a share as `9/12   75.0 %`.
fn shown(share: Share) -> String {
    if share.all == 0 { "-".to_owned() } else { format!("{}/{} {:>8}", share.hit, share.all, share.shown()) }
}

fn list(text: &mut String, path: &str, file: &SourceFile) -> fmt::Result {
    let source = |line: u32| {
        let text = file.text.get(line as usize - 1).map_or("", |line| line.trim());
        format!("{line:>6}  {}", text.chars().take(SHOWN_COLUMNS).collect::<String>()).trim_end().to_owned()
    };
    let mut never = file.lines.iter().filter(|(_, executed)| executed.lanes == 0).map(|(line, _)| *line).peekable();
    if never.peek().is_some() {
        writeln!(text, "\n{path}: lines never executed")?;
        never.try_for_each(|line| writeln!(text, "{}", source(line)))?;
    }
    for (is_guard, title) in
        [(false, "branches that never went one of their ways"), (true, "guards that were never false, or never true")]
    {
        let one_way = file.branches.iter().filter(|branch| branch.is_guard() == is_guard && !missing(branch).is_empty());
        for (number, branch) in one_way.enumerate() {
            if number == 0 {
                writeln!(text, "\n{path}: {title}")?;
            }
            writeln!(text, "{}\n        {}", source(branch.at.line), never_happened(branch))?;
        }
    }
    Ok(())
}

/// Describes the outcomes a branch never had, and how often others happened.
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
