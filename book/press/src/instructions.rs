//! The list of arithmetic instructions in the book, made from the table by which the simulator executes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use alu::{Accuracy, Class, TABLE, spellings};
use anyhow::Result;
use serde::Deserialize;

use crate::root;

/// The record in `book/forms.json`, which `simulator/ptx/forms/walk.py` writes.
#[derive(Deserialize)]
struct Forms {
    ptxas: String,
    date: String,
    spelled: usize,
    taken: usize,
    /// For each instruction, the forms that the simulator lacks, and those that ptxas takes.
    lacking: BTreeMap<String, [usize; 2]>,
}

/// Draws the table of the forms that are lacking.
pub fn forms() -> Result<String> {
    let Forms { ptxas, date, spelled, taken, lacking } =
        serde_json::from_str(&fs::read_to_string(root().join("book/forms.json"))?)?;
    let executed = taken - lacking.values().map(|[lacks, _]| lacks).sum::<usize>();
    let mut text = format!(
        "On {date}, {spelled} spellings were tried. ptxas {ptxas} takes {taken} of them, and the simulator {executed} of these.\n\n\
         | instruction | forms that ptxas takes | refused |\n|---|---:|---:|\n"
    );
    for (name, [lacks, of]) in lacking {
        text += &format!("| `{name}` | {of} | {lacks} |\n");
    }
    Ok(text)
}

/// The parts of a pattern between its dots: one or more alternatives in each place.
type Pattern = Vec<BTreeSet<String>>;

/// A line of the table: patterns of one instruction that count the same and promise the same.
struct Line {
    root: String,
    class: Class,
    accuracy: Option<Accuracy>,
    patterns: Vec<Pattern>,
}

pub fn table() -> String {
    let mut page = "## Arithmetic\n\n| instruction | spellings | counts as | accuracy |\n|---|---|---|---|\n".to_owned();
    for line in lines() {
        let spelled: Vec<String> = merged(line.patterns).iter().map(|pattern| format!("`{}`", written(pattern))).collect();
        let counter = line.class.counter().map_or_else(|| "–".to_owned(), |counter| format!("`{counter}`"));
        let accuracy = line.accuracy.map_or_else(String::new, |accuracy| accuracy.to_string());
        page += &format!("| `{}` | {} | {counter} | {accuracy} |\n", line.root, spelled.join("<br>"));
    }
    page
}

/// Returns the lines by name, then in the order of the table. A carry is a part of its instruction and has none.
fn lines() -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in TABLE.iter().filter(|row| !row.spelling.starts_with("carry of")) {
        for spelling in spellings(row.spelling) {
            // `mov.b32 from 2 x b16` has words after the instruction; they stay together.
            let places = spelling.split(' ').next().unwrap_or_default().split('.').count();
            let mut parts: Vec<String> = spelling.splitn(places, '.').map(str::to_owned).collect();
            let root = parts.remove(0);
            let pattern = parts.into_iter().map(|part| BTreeSet::from([part])).collect();
            let same = |line: &&mut Line| line.root == root && line.class == row.class && line.accuracy == row.accuracy;
            match lines.iter_mut().find(same) {
                Some(line) => line.patterns.push(pattern),
                None => lines.push(Line { root, class: row.class, accuracy: row.accuracy, patterns: vec![pattern] }),
            }
        }
    }
    lines.sort_by(|a, b| a.root.cmp(&b.root));
    lines
}

/// Merges patterns that differ in one place. Begins with the types at the end.
fn merged(mut patterns: Vec<Pattern>) -> Vec<Pattern> {
    let places = patterns.iter().map(Vec::len).max().unwrap_or(0);
    for from_end in 1..=places {
        let mut fewer: Vec<Pattern> = Vec::new();
        for pattern in patterns {
            let Some(place) = pattern.len().checked_sub(from_end) else {
                fewer.push(pattern);
                continue;
            };
            let same = |other: &&mut Pattern| {
                other.len() == pattern.len() && (0..pattern.len()).all(|at| at == place || other[at] == pattern[at])
            };
            match fewer.iter_mut().find(same) {
                Some(other) => other[place].extend(pattern[place].iter().cloned()),
                None => fewer.push(pattern),
            }
        }
        patterns = fewer;
    }
    patterns
}

/// Writes a pattern as in PTX, with alternatives in braces.
fn written(pattern: &Pattern) -> String {
    let places = pattern.iter().map(|alternatives| {
        let alternatives: Vec<&str> = alternatives.iter().map(String::as_str).collect();
        if let [only] = alternatives[..] { format!(".{only}") } else { format!(".{{{}}}", alternatives.join(",")) }
    });
    places.collect()
}
