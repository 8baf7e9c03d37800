//! Where a number of a sentence may come from, and whether it is what is said there.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use super::expression::{Leaves, Term, evaluate};
use super::number::{self, Number, Unit};
use super::published::is_published;
use super::quantity::Quantity;
use super::records::Records;
use crate::generated::root;
use crate::pages::Page;

/// All that a mark can name.
pub struct Origins {
    records: Records,
    notes: Notes,
}

impl Origins {
    /// Reads the records and the notes.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read.
    pub fn read() -> Result<Self> {
        Ok(Self { records: Records::read()?, notes: Notes::read()? })
    }

    /// Compares a number, which stands in a page before `offset`, with what its origin says.
    ///
    /// # Errors
    ///
    /// What is wrong with either of them.
    pub fn check(&self, origin: &str, number: &Number, unit: Option<Unit>, page: &Page, offset: usize) -> Result<()> {
        let is_worth = |expression: &str, leaves: &dyn Leaves| {
            let value = number.in_unit(unit, evaluate(expression, leaves)?)?;
            ensure!(number.is(value), "the value is {value:.6}, which is {} with as many digits:", number.rounded(value));
            Ok(())
        };
        if let Some((kind, expression)) = origin.split_once(':') {
            return match kind.trim() {
                "notes" => is_worth(expression, &OfNotes(&self.notes, page)),
                "original" => is_worth(expression, &Published),
                "example" => is_worth(expression, &Example(&self.records)),
                record => is_worth(expression, &self.records.of(record)?),
            };
        }
        match origin.split_once(' ').unwrap_or((origin, "")) {
            ("notes", part) => self.notes.check(number, unit, page, part),
            ("original", "") => {
                ensure!(is_published(number, unit), "this is not among the numbers in tests/src/figures/published.rs:");
                Ok(())
            }
            ("vendor", "") => {
                let is_linked = paragraph(&page.text, offset).contains("](https://");
                ensure!(is_linked, "the paragraph does not link the data sheet that this is from:");
                Ok(())
            }
            ("example", "") => Ok(()),
            (file, "") if file.starts_with("generated/") => {
                let path = root().join("book/src").join(file);
                let text = fs::read_to_string(path).with_context(|| format!("there is no book/src/{file}"))?;
                ensure!(number.is_in(&number::numbers(&text)), "{} is not in book/src/{file}:", number.value);
                Ok(())
            }
            _ => bail!("no origin; one of `DEVICE/RUN: EXPRESSION`, `notes`, `original`, `generated/FILE`, `vendor`, `example`:"),
        }
    }
}

/// The paragraph, list or table around a place.
fn paragraph(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind("\n\n").map_or(0, |start| start + 2);
    let end = text[offset..].find("\n\n").map_or(text.len(), |end| offset + end);
    &text[start..end]
}

/// The parts of `kernels/NOTES.md`.
struct Notes(Vec<Part>);

/// What stands under a heading.
struct Part {
    heading: String,
    /// With their units, where they have some.
    numbers: Vec<(Number, Option<Unit>)>,
}

impl Notes {
    fn read() -> Result<Self> {
        let text = fs::read_to_string(root().join("kernels/NOTES.md"))?;
        let part = |part: &str| Part {
            heading: part.lines().next().unwrap_or_default().trim().to_owned(),
            numbers: number::with_units(part),
        };
        Ok(Self(text.split("\n## ").map(part).collect()))
    }

    /// A number must stand in the part that is named, or else in one of the page's chapter, or in any if the chapter has none.
    fn check(&self, number: &Number, unit: Option<Unit>, page: &Page, named: &str) -> Result<()> {
        let chapter = page.stem().split('-').next().filter(|_| page.is_chapter()).unwrap_or_default();
        let is_of_chapter = |heading: &str| !chapter.is_empty() && heading.starts_with(chapter);
        let has_own = self.0.iter().any(|part| is_of_chapter(&part.heading));
        let is_asked = |heading: &str| {
            if named.is_empty() { !has_own || is_of_chapter(heading) } else { heading == named }
        };
        // In tables the unit often stands above.
        let is_it =
            |(other, of): &(Number, Option<Unit>)| other.value == number.value && (unit.is_none() || of.is_none() || *of == unit);
        let with_it = self.0.iter().filter(|part| part.numbers.iter().any(is_it)).map(|part| part.heading.as_str());
        let found: Vec<&str> = with_it.collect();
        let part = if named.is_empty() { "this chapter" } else { named };
        let elsewhere = if found.is_empty() { String::new() } else { format!(", but under {}", found.join(", ")) };
        let is_there = found.iter().any(|heading| is_asked(heading));
        ensure!(is_there, "{} is not in kernels/NOTES.md under {part}{elsewhere}", number.value);
        Ok(())
    }
}

/// Numbers of the notes, for what follows from them.
struct OfNotes<'a>(&'a Notes, &'a Page);

impl Leaves for OfNotes<'_> {
    fn term(&self, Term { stage, field, .. }: Term) -> Result<Quantity> {
        bail!("`{stage}.{field}` is no number of kernels/NOTES.md");
    }

    fn number(&self, text: &str) -> Result<Quantity> {
        let (number, _) = number::last(text).context("no number")?;
        self.0.check(&number, None, self.1, "")?;
        Ok(Quantity::plain(number.value))
    }
}

/// Numbers that the originals published, for what follows from them.
struct Published;

impl Leaves for Published {
    fn term(&self, Term { stage, field, .. }: Term) -> Result<Quantity> {
        bail!("`{stage}.{field}` was not published; published numbers stand by themselves, as in `original: 827 / 234`");
    }

    fn number(&self, text: &str) -> Result<Quantity> {
        let (number, _) = number::last(text).context("no number")?;
        ensure!(is_published(&number, None), "{text} is not among the numbers in tests/src/figures/published.rs");
        Ok(Quantity::plain(number.value))
    }
}

/// Numbers of an example, whatever they are, and terms of records that are named.
struct Example<'a>(&'a Records);

impl Leaves for Example<'_> {
    fn term(&self, term: Term) -> Result<Quantity> {
        let record = term.record.context("an example names the record of each term: `{nvidia-h200/03-unroll}fft.time`")?;
        self.0.of(record)?.term(term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> Page {
        Page { path: format!("book/src/{name}.md"), text: String::new() }
    }

    #[test]
    fn notes_are_those_of_the_chapter_unless_another_is_named() {
        let number = |text: &str| number::last(text).unwrap().0;
        let part = |heading: &str, text| Part { heading: heading.to_owned(), numbers: number::with_units(text) };
        let notes = Notes(vec![part("02-conv-shared", "| 0.740 ms |"), part("03-unroll-fft", "It took 0.24 and 12.5.")]);
        let (chapter, front) = (page("03-unroll"), page("introduction"));
        assert!(notes.check(&number("0.240"), None, &chapter, "").is_ok());
        assert!(notes.check(&number("0.74"), None, &chapter, "02-conv-shared").is_ok());
        assert!(notes.check(&number("0.74"), None, &front, "").is_ok());
        let error = notes.check(&number("0.74"), None, &chapter, "").unwrap_err().to_string();
        assert!(error.ends_with("under this chapter, but under 02-conv-shared"), "{error}");
        let (ms, percent) = (number::last("1 ms").unwrap().1, number::last("1 %").unwrap().1);
        assert!(notes.check(&number("0.74"), ms, &front, "").is_ok() && notes.check(&number("12.5"), ms, &front, "").is_ok());
        assert!(notes.check(&number("0.74"), percent, &front, "").is_err(), "of another unit");
        assert!(notes.check(&number("2.5"), None, &chapter, "").is_err(), "a part of another number");
    }
}
