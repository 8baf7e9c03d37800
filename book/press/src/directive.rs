//! Directives: `{{name words… key=value}}` in a page, which the press replaces when the book is built.
//!
//! A word or a value with spaces takes double quotes. A backslash before the braces keeps the text as it is: `\{{run …}}`. mdBook's
//! own directives start with `{{#` and pass through untouched.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Display;
use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

/// A directive of a page, or braces that are escaped.
#[derive(Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// Its range in the page.
    pub range: Range<usize>,
    /// The text between the braces.
    pub text: &'a str,
    /// True if a backslash keeps it from being replaced.
    pub escaped: bool,
}

/// Finds the directives of a page, in order.
pub fn find(page: &str) -> Result<Vec<Directive<'_>>, usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = page[from..].find("{{").map(|at| from + at) {
        from = start + 2;
        if !page[from..].starts_with(|first: char| first.is_ascii_lowercase()) {
            continue;
        }
        let end = from + page[from..].find("}}").ok_or(start)?;
        let escaped = page[..start].ends_with('\\');
        found.push(Directive { range: start - usize::from(escaped)..end + 2, text: &page[from..end], escaped });
        from = end + 2;
    }
    Ok(found)
}

/// The words and options of a directive. They are taken out one by one, and what is left over at the end is an error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Arguments {
    words: VecDeque<String>,
    options: BTreeMap<String, String>,
}

impl Arguments {
    /// Splits the text of a directive.
    pub fn parse(text: &str) -> Result<Self> {
        let (mut words, mut options) = (VecDeque::new(), BTreeMap::new());
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let key = rest.find('=').filter(|end| *end > 0 && rest[..*end].chars().all(|c| c.is_ascii_lowercase() || c == '-'));
            let value = key.map_or(rest, |end| &rest[end + 1..]);
            let (value, after) = match value.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').context("a quote does not end")?,
                None => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
            };
            match key {
                Some(end) => ensure!(
                    options.insert(rest[..end].to_owned(), value.to_owned()).is_none(),
                    "the option `{}` is given twice",
                    &rest[..end]
                ),
                None => words.push_back(value.to_owned()),
            }
            rest = after.trim_start();
        }
        Ok(Self { words, options })
    }

    /// Takes the next word, which is `what`.
    pub fn word(&mut self, what: &str) -> Result<String> {
        self.words.pop_front().with_context(|| format!("{what} is missing"))
    }

    /// Takes the words for readers who do not see a picture.
    pub fn alternative(&mut self) -> Result<String> {
        self.word("a sentence in quotes that says what the picture shows")
    }

    /// Takes all words that are left.
    pub fn rest(&mut self) -> Vec<String> {
        self.words.drain(..).collect()
    }

    /// Takes an option, if it is there.
    pub fn option(&mut self, key: &str) -> Option<String> {
        self.options.remove(key)
    }

    /// Takes an option that is a list with commas; an empty list when it is not there.
    pub fn list(&mut self, key: &str) -> Vec<String> {
        self.option(key).map_or_else(Vec::new, |list| list.split(',').map(str::to_owned).collect())
    }

    /// Takes an option that is a number.
    pub fn number<N: std::str::FromStr>(&mut self, key: &str) -> Result<Option<N>> {
        let Some(text) = self.option(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| anyhow::anyhow!("`{key}={text}` is not a number"))
    }

    /// Checks that nothing is left.
    pub fn finish(mut self) -> Result<()> {
        if let Some(word) = self.words.pop_front() {
            bail!("`{word}` is one word too many");
        }
        match self.options.pop_first() {
            Some((key, value)) => bail!("this directive has no option `{key}={value}`"),
            None => Ok(()),
        }
    }
}

/// Finds a thing by its name. Where there is none, the error states the problem and the nearest names.
pub fn named<'a, T>(problem: impl Display, name: &str, all: impl IntoIterator<Item = (&'a str, T)>) -> Result<T> {
    let mut names = Vec::new();
    for (known, thing) in all {
        if known == name {
            return Ok(thing);
        }
        names.push(known);
    }
    bail!("{problem}{}", nearest(name, names))
}

/// Checks that a name is a known one; the error says what kind of thing it should name.
pub fn check<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Result<()> {
    named(format_args!("there is no {kind} {name}"), name, known.into_iter().map(|known| (known, ())))
}

/// Says which of the known names are most like a wrong one.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut known: Vec<(usize, &str)> = known.into_iter().map(|name| (strsim::osa_distance(wrong, name), name)).collect();
    known.sort_unstable();
    known.dedup();
    let names: Vec<&str> = known.into_iter().take(3).map(|(_, name)| name).collect();
    if names.is_empty() { String::new() } else { format!("; nearest: {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_found_and_those_of_mdbook_are_not() {
        let page = "a {{run x y}} b {{#include c}} \\{{run z}} {{\nint {{counts}}";
        let found = find(page).unwrap();
        let texts: Vec<_> = found.iter().map(|found| (&page[found.range.clone()], found.text, found.escaped)).collect();
        let expected = [("{{run x y}}", "run x y", false), ("\\{{run z}}", "run z", true), ("{{counts}}", "counts", false)];
        assert_eq!(texts, expected);
        assert_eq!(find("abc {{run x"), Err(4));
    }

    #[test]
    fn words_and_options_are_taken_in_order() {
        let mut arguments = Arguments::parse("run a-b/c x.time / 2 unit=% say=\"two words\" \"last one\"").unwrap();
        assert_eq!(arguments.word("a name").unwrap(), "run");
        assert_eq!(arguments.option("unit").as_deref(), Some("%"));
        assert_eq!(arguments.option("say").as_deref(), Some("two words"));
        assert_eq!(arguments.rest(), ["a-b/c", "x.time", "/", "2", "last one"]);
        arguments.clone().finish().unwrap();
        assert_eq!(arguments.word("a stage").unwrap_err().to_string(), "a stage is missing");
    }

    #[test]
    fn what_is_left_over_is_an_error() {
        let message = |text: &str| Arguments::parse(text).and_then(Arguments::finish).unwrap_err().to_string();
        assert_eq!(message("chart"), "`chart` is one word too many");
        assert_eq!(message("size=3"), "this directive has no option `size=3`");
        assert_eq!(message("\"open"), "a quote does not end");
        assert_eq!(message("a=1 a=2"), "the option `a` is given twice");
    }

    #[test]
    fn the_nearest_names_come_first() {
        assert_eq!(nearest("shard", ["naive", "shared", "shared-wide", "x"]), "; nearest: shared, naive, x");
        assert_eq!(nearest("x", []), "");
    }
}
