//! Sentences that compare, and that no claim covers.

use std::sync::LazyLock;

use anyhow::Result;
use regex_lite::Regex;

use crate::directive::find;
use crate::page::{Page, sources};

/// Words that rank rows, compare times, or name what limits a kernel.
static COMPARES: LazyLock<Regex> = LazyLock::new(|| {
    let words = [
        "faster|fastest|slower|slowest|quicker|quickest|as fast|as slow|as long|half the time|the same time|equally fast",
        "bottlenecks?|limited by|at the limit|limits (it|this|them|the (kernel|row|stage))|bound by|gains? nothing|nothing is gained",
        "beats?|beaten|wins?|ahead of|overtakes?|(curves|lines|they|times) cross|crosses|crossed",
        "(the|is|are|at its) (best|worst)",
    ];
    Regex::new(&format!(r"(?i)\b({})\b", words.join("|"))).expect("the words are a pattern")
});

/// A sentence of a page that no claim covers.
#[derive(Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// The line where it begins, counted from 1.
    pub line: usize,
    /// Its text, with `…` for each directive.
    pub sentence: String,
}

/// Lists the sentences of the book that compare without a claim.
///
/// Each comes with the path of its page. The summary has only titles.
pub fn of_the_book() -> Result<Vec<(String, Uncovered)>> {
    let pages = sources()?.into_iter().filter(|page| !page.path.ends_with("SUMMARY.md"));
    Ok(pages.flat_map(|page| uncovered(&page).into_iter().map(move |found| (page.path.clone(), found))).collect())
}

/// Lists the sentences of a page that compare without a claim. A claim covers what stands before it in its paragraph, list item or row of a table.
fn uncovered(page: &Page) -> Vec<Uncovered> {
    let mut found = Vec::new();
    for (line, block) in blocks(&page.text) {
        let (text, covered) = prose(&block);
        for (at, sentence) in sentences(&text).filter(|(at, _)| *at >= covered) {
            let sentence = sentence.replace('\n', " ").trim().to_owned();
            if COMPARES.is_match(&sentence) {
                found.push(Uncovered { line: line + text[..at].matches('\n').count(), sentence });
            }
        }
    }
    found
}

/// Returns the paragraphs, list items and rows of a page's tables.
///
/// Each comes with the number of its first line. Code and headings are left out.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let (mut blocks, mut current, mut is_code) = (Vec::<(usize, String)>::new(), false, false);
    for (at, line) in page.lines().enumerate() {
        let text = line.trim_start();
        let is_fence = text.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || text.is_empty() || text.starts_with('#') || text.starts_with("<") {
            current = false;
            continue;
        }
        let begins = text.starts_with("- ")
            || text.starts_with('|')
            || text.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        match blocks.last_mut().filter(|_| current && !begins) {
            Some((_, block)) => *block = format!("{block}\n{line}"),
            None => blocks.push((at + 1, line.to_owned())),
        }
        current = true;
    }
    blocks
}

/// Replaces each directive by `…`.
///
/// Also returns how much of the text claims cover.
fn prose(block: &str) -> (String, usize) {
    let (mut text, mut covered, mut done) = (String::new(), 0, 0);
    for directive in find(block).unwrap_or_default().into_iter().filter(|directive| !directive.escaped) {
        text += &block[done..directive.range.start];
        if directive.text.starts_with("claim ") {
            covered = text.len();
        } else {
            text.push('…');
        }
        done = directive.range.end;
    }
    text += &block[done..];
    (text, covered)
}

/// Splits a text into sentences, each with its place.
fn sentences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive(['.', '?', '!', ':', ';']).map(move |sentence| {
        at += sentence.len();
        (at - sentence.len(), sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        let page = Page { path: "x.md".into(), text: text.into() };
        uncovered(&page).into_iter().map(|Uncovered { line, sentence }| (line, sentence)).collect()
    }

    #[test]
    fn a_claim_covers_what_stands_before_it_in_its_paragraph() {
        let covered = "# The fastest\n\nA is faster. B is slower.\n{{claim a/b a.time < b.time}}\nNothing more.\n";
        assert_eq!(found(covered), []);
        let after = "One.\nA is faster. {{claim a/b a.time < b.time}}\nIt takes {{run a/b a.time}}. B is twice as slow.\n\n- Memory is the bottleneck.\n";
        assert_eq!(found(after), [(3, "B is twice as slow.".to_owned()), (5, "- Memory is the bottleneck.".to_owned())]);
        assert_eq!(found("```text\nfaster\n```\n\n<details>faster</details>\n"), []);
        assert_eq!(found("A takes {{run a/b faster}}.\n\nNow the curves\ncross.\n"), [(3, "Now the curves cross.".to_owned())]);
    }
}
