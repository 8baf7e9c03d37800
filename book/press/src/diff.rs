//! The changes of the code from one stage to the next, made from the anchors that the pages include.
//!
//! A reader has seen both stages whole, with their comments. A difference shows the lines of code alone, all of them, and counts lines that
//! only moved in or out with their indentation as unchanged. Most kernels of a chapter are instances of one body; where that is the change,
//! the parts are the lines that name the instance, and the constants that it is made with.

use std::fs;

use anyhow::{Context, Result, ensure};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::root;

/// A stage's name, its file, and the parts that are its code.
struct Side<'a> {
    name: &'a str,
    path: &'a str,
    parts: &'a [String],
}

/// Renders a difference from the words of its directive: a stage's name, its file and its parts, then `->`, and the same for the other stage,
/// which may leave out the file if it is the same one. A part is an anchor, `anchor~text` for the paragraphs of an anchor that contain the
/// text, or `^text` for the line that starts with it.
pub fn diff(words: &[String]) -> Result<String> {
    let arrow = words.iter().position(|word| word == "->").context("`->` between the two stages is missing")?;
    let from = Side::parse(&words[..arrow], None)?;
    let to = Side::parse(&words[arrow + 1..], Some(from.path))?;
    Ok(unified(&from, &from.code()?, &to, &to.code()?))
}

impl<'a> Side<'a> {
    fn parse(words: &'a [String], same_path: Option<&'a str>) -> Result<Self> {
        let (name, rest) = words.split_first().context("the name of a stage is missing")?;
        let (path, parts) = match (rest.split_first(), same_path) {
            (Some((path, parts)), _) if path.contains('/') => (path.as_str(), parts),
            (_, Some(path)) => (path, rest),
            _ => anyhow::bail!("the file of {name} is missing"),
        };
        ensure!(!parts.is_empty(), "the parts of {name} are missing");
        Ok(Self { name, path, parts })
    }

    /// Returns the lines that are not comments.
    fn code(&self) -> Result<Vec<String>> {
        let text = fs::read_to_string(root().join(self.path)).with_context(|| self.path.to_owned())?;
        let mut code = Vec::new();
        for part in self.parts {
            if code.last().is_some() && !part.starts_with('^') {
                code.push(String::new());
            }
            let lines = lines(&text, part).with_context(|| self.path.to_owned())?;
            let comment = |line: &&str| line.trim_start().starts_with("//");
            code.extend(lines.into_iter().filter(|line| !comment(line)).map(ToOwned::to_owned));
        }
        Ok(code)
    }
}

/// Returns the lines of a part, which [`diff`] describes. Empty lines separate the paragraphs of an anchor.
fn lines<'a>(text: &'a str, part: &str) -> Result<Vec<&'a str>> {
    let lines: Vec<&str> = match (part.strip_prefix('^'), part.split_once('~')) {
        (Some(start), _) => text.lines().filter(|line| line.starts_with(start)).collect(),
        (None, Some((name, containing))) => {
            let anchor = anchor(text, name);
            let paragraphs = anchor.split(|line| line.is_empty());
            paragraphs.filter(|lines| lines.iter().any(|line| line.contains(containing))).collect::<Vec<_>>().join(&"")
        }
        (None, None) => anchor(text, part),
    };
    ensure!(!lines.is_empty(), "there is no part {part}");
    Ok(lines)
}

/// Returns the lines between an anchor and its end.
fn anchor<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let mark = |line: &str, kind: &str| line.trim().strip_prefix("// ").and_then(|mark| mark.strip_prefix(kind)) == Some(name);
    let inside = text.lines().skip_while(|line| !mark(line, "ANCHOR: ")).skip(1);
    inside.take_while(|line| !mark(line, "ANCHOR_END: ")).collect()
}

/// Writes both sides in full, in the form of `diff -u`: `-` marks lines of the first alone, `+` lines of the second alone. A line that differs
/// in its indentation only appears as the second has it.
fn unified(from: &Side, old: &[String], to: &Side, new: &[String]) -> String {
    let unindented = |lines: &[String]| -> Vec<String> { lines.iter().map(|line| line.trim().to_owned()).collect() };
    let mut lines = vec![format!("--- {}: {}", from.name, from.path), format!("+++ {}: {}", to.name, to.path)];
    for operation in capture_diff_slices(Algorithm::Patience, &unindented(old), &unindented(new)) {
        let (tag, of_old, of_new) = operation.as_tag_tuple();
        if tag == DiffTag::Equal {
            lines.extend(new[of_new].iter().map(|line| format!(" {line}")));
        } else {
            lines.extend(old[of_old].iter().map(|line| format!("-{line}")));
            lines.extend(new[of_new].iter().map(|line| format!("+{line}")));
        }
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_what_it_says() {
        let text = "int a = 1;\n// ANCHOR: b\nb();\n\nb_2();\nb_3();\n    // ANCHOR_END: b\n";
        assert_eq!(lines(text, "b").unwrap(), ["b();", "", "b_2();", "b_3();"]);
        assert_eq!(lines(text, "b~b_2").unwrap(), ["b_2();", "b_3();"]);
        assert_eq!(lines(text, "b~b").unwrap(), lines(text, "b").unwrap());
        assert_eq!(lines(text, "^int").unwrap(), ["int a = 1;"]);
        for missing in ["a", "b~c", "^float"] {
            assert!(lines(text, missing).is_err(), "{missing:?}");
        }
    }

    #[test]
    fn a_line_that_only_moved_in_counts_as_unchanged() {
        let lines = |text: &str| -> Vec<String> { text.lines().map(ToOwned::to_owned).collect() };
        let (old, new) = (lines("a();\nif (b) {\n    c();\n}"), lines("c();\nd();"));
        let side = |name, path| Side { name, path, parts: &[] };
        let text = unified(&side("one", "one.cu"), &old, &side("two", "two.cu"), &new);
        assert_eq!(text, "--- one: one.cu\n+++ two: two.cu\n-a();\n-if (b) {\n c();\n-}\n+d();\n");
    }
}
