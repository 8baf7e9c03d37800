//! What changed in the code from one stage to the next: `book/src/generated/<chapter>.<from>.<to>.diff`, made from the anchors that the
//! book's pages include.
//!
//! A reader has seen both whole, with their comments. Here are the lines of code alone, all of them, and those that only moved in or out
//! with their indentation count as unchanged. Most kernels of a chapter are instances of one body; where that is the change, the lines are
//! those that name the instance, and the constants that it is made with.
//!
//! Stages that have little more than braces in common, such as those that first use shared memory, are not here: their difference
//! would be one after the other.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::generated::root;

/// Two stages of a chapter, or the end of the last one and the beginning of this.
struct Difference {
    chapter: &'static str,
    from: Side,
    to: Side,
}

/// A stage's name, and the file and the parts of it where its code is.
struct Side(&'static str, &'static str, &'static [Part]);

/// Lines of a file.
#[derive(Debug)]
enum Part {
    /// All of an anchor.
    Anchor(&'static str),
    /// Those paragraphs of an anchor, set apart by empty lines, that have a text in them.
    Paragraph(&'static str, &'static str),
    /// The line that begins with a text.
    Line(&'static str),
}

use Part::{Anchor, Line, Paragraph};

const NAIVE: &str = "kernels/cuda/01-conv-naive.cu";
const SHARED: &str = "kernels/cuda/02-conv-shared.cu";
const UNROLL: &str = "kernels/cuda/03-unroll.cu";
const RUNS: &str = "chapters/03-unroll/src/runs.rs";
const CORRELATION: &str = "kernels/cuda/04-correlation-sm-aware.cu";
const DP4A: &str = "kernels/cuda/04-correlation-sm-aware-dp4a.cu";
const SUMS: &str = "kernels/cuda/05-window-sums.cu";
const SLICES: &str = "chapters/05-window-sums/src/slices.rs";
const TILES: &str = "kernels/cuda/05-window-sums-tiles.cu";
const MATMUL: &str = "kernels/cuda/06-matmul-tiled.cu";
const ASYNC: &str = "kernels/cuda/06-matmul-tiled-async.cu";

const fn difference(chapter: &'static str, from: Side, to: Side) -> Difference {
    Difference { chapter, from, to }
}

/// Every difference that the book shows.
const DIFFERENCES: &[Difference] = &[
    difference("01-conv-naive", Side("naive-strided", NAIVE, &[Anchor("naive_strided")]), Side("naive", NAIVE, &[Anchor("naive")])),
    difference(
        "02-conv-shared",
        Side("shared", SHARED, &[Line("constexpr unsigned TILE"), Anchor("shared")]),
        Side("shared-wide", SHARED, &[Line("constexpr unsigned WIDE_TILE"), Anchor("shared_wide")]),
    ),
    difference(
        "02-conv-shared",
        Side("shared", SHARED, &[Anchor("shared")]),
        Side("shared-missing-barrier", SHARED, &[Anchor("shared_missing_barrier")]),
    ),
    difference("03-unroll", Side("02-shared", SHARED, &[Anchor("convolve")]), Side("shared", UNROLL, &[Anchor("convolve")])),
    difference(
        "03-unroll",
        Side("shared", UNROLL, &[Anchor("shared")]),
        Side("unroll-4", UNROLL, &[Paragraph("unroll", "unroll_4")]),
    ),
    difference(
        "03-unroll",
        Side("unroll-16", UNROLL, &[Line("constexpr unsigned TILE"), Paragraph("unroll", "unroll_16")]),
        Side("wide-unroll", UNROLL, &[Line("constexpr unsigned WIDE_TILE"), Anchor("wide_unroll")]),
    ),
    difference(
        "03-unroll",
        Side("register-tile", RUNS, &[Anchor("register_tile")]),
        Side("split-filter", RUNS, &[Paragraph("split_filter", "fn enqueue")]),
    ),
    difference(
        "03-unroll",
        Side("register-tile", UNROLL, &[Anchor("register_tile")]),
        Side("constant-filter", UNROLL, &[Anchor("constant_filter")]),
    ),
    difference(
        "03-unroll",
        Side(
            "constant-filter",
            UNROLL,
            &[Line("constexpr unsigned RUN ="), Line("constexpr unsigned RUN_TILE"), Anchor("constant_filter")],
        ),
        Side("long-run", UNROLL, &[Line("constexpr unsigned LONG_RUN"), Line("constexpr unsigned LONG_TILE"), Anchor("long_run")]),
    ),
    difference(
        "04-correlation-sm-aware",
        Side("global", CORRELATION, &[Anchor("global")]),
        Side("constant", CORRELATION, &[Anchor("constant")]),
    ),
    difference(
        "04-correlation-sm-aware",
        Side("constant", CORRELATION, &[Anchor("constant")]),
        Side("shared", CORRELATION, &[Anchor("shared")]),
    ),
    difference(
        "04-correlation-sm-aware",
        Side("shared", CORRELATION, &[Paragraph("sums_from_tile", "sums_one_by_one"), Anchor("shared")]),
        Side("shared-unroll-4", CORRELATION, &[Paragraph("sums_from_tile", "sums_unrolled"), Anchor("unroll_4")]),
    ),
    difference("04-correlation-sm-aware", Side("dp4a", DP4A, &[Anchor("dp4a")]), Side("dp4a-tile", DP4A, &[Anchor("dp4a_tile")])),
    difference(
        "05-window-sums",
        Side("fused-global", SUMS, &[Anchor("fused_global")]),
        Side("split-global", SUMS, &[Anchor("split_global")]),
    ),
    difference(
        "05-window-sums",
        Side("fused-global", SUMS, &[Anchor("fused_global")]),
        Side("multiply", SUMS, &[Anchor("multiply")]),
    ),
    difference(
        "05-window-sums",
        Side("split-global", SUMS, &[Anchor("split_global")]),
        Side("shared-slices", SUMS, &[Anchor("shared_slices")]),
    ),
    difference(
        "05-window-sums",
        Side("shared-slices", SLICES, &[Paragraph("shared_slices", "fn shared_slices")]),
        Side("padded-slices", SLICES, &[Paragraph("padded_slices", "fn padded")]),
    ),
    difference("05-window-sums", Side("multiply", SUMS, &[Anchor("multiply")]), Side("registers", SUMS, &[Anchor("registers")])),
    difference(
        "05-window-sums",
        Side("shared-tile", TILES, &[Anchor("shared_tile")]),
        Side("sliding", TILES, &[Anchor("sliding")]),
    ),
    difference(
        "06-matmul-tiled",
        Side("tiled", MATMUL, &[Anchor("tiled")]),
        Side("register-tile-1d", MATMUL, &[Anchor("register_tile_1d")]),
    ),
    difference(
        "06-matmul-tiled",
        Side("register-tile-1d", MATMUL, &[Anchor("register_tile_1d")]),
        Side("register-tile", MATMUL, &[Anchor("register_tile")]),
    ),
    difference("06-matmul-tiled", Side("vector", MATMUL, &[Anchor("vector")]), Side("warp-tile", MATMUL, &[Anchor("warp_tile")])),
    difference(
        "06-matmul-tiled",
        Side("double-buffered", ASYNC, &[Paragraph("double_buffered", "double_buffered(")]),
        Side("small-tile", ASYNC, &[Paragraph("small_tile", "small_tile(")]),
    ),
];

/// Every difference as a file.
///
/// # Errors
///
/// When a file cannot be read, or has no such part.
pub fn files() -> Result<Vec<(PathBuf, String)>> {
    DIFFERENCES.iter().map(Difference::file).collect()
}

impl Difference {
    fn file(&self) -> Result<(PathBuf, String)> {
        let Self { chapter, from, to } = self;
        let name = format!("book/src/generated/{chapter}.{}.{}.diff", from.0, to.0);
        let text = unified(from, &from.code()?, to, &to.code()?);
        Ok((root().join(name), text))
    }
}

impl Side {
    /// Its lines without those that are comments.
    fn code(&self) -> Result<Vec<String>> {
        let Self(_, path, parts) = self;
        let text = fs::read_to_string(root().join(path)).context(*path)?;
        let mut code = Vec::new();
        for part in *parts {
            if code.last().is_some() && !matches!(part, Line(_)) {
                code.push(String::new());
            }
            let lines = part.lines(&text).context(*path)?;
            let comment = |line: &&str| line.trim_start().starts_with("//");
            code.extend(lines.into_iter().filter(|line| !comment(line)).map(ToOwned::to_owned));
        }
        Ok(code)
    }
}

impl Part {
    fn lines<'a>(&self, text: &'a str) -> Result<Vec<&'a str>> {
        let lines = match *self {
            Anchor(name) => anchor(text, name),
            Paragraph(name, containing) => {
                let anchor = anchor(text, name);
                let paragraphs = anchor.split(|line| line.is_empty());
                let found: Vec<_> = paragraphs.filter(|lines| lines.iter().any(|line| line.contains(containing))).collect();
                found.join(&"")
            }
            Line(start) => text.lines().filter(|line| line.starts_with(start)).collect(),
        };
        ensure!(!lines.is_empty(), "there is no {self:?}");
        Ok(lines)
    }
}

/// The lines between an anchor and its end.
fn anchor<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let mark = |line: &str, kind: &str| line.trim().strip_prefix("// ").and_then(|mark| mark.strip_prefix(kind)) == Some(name);
    let inside = text.lines().skip_while(|line| !mark(line, "ANCHOR: ")).skip(1);
    inside.take_while(|line| !mark(line, "ANCHOR_END: ")).collect()
}

/// Both sides as one text, in the form of `diff -u`, whole: what only the first has is marked with `-`, and what only the second has with
/// `+`. Lines that differ in their indentation alone stand there as the second has them.
fn unified(from: &Side, old: &[String], to: &Side, new: &[String]) -> String {
    let unindented = |lines: &[String]| -> Vec<String> { lines.iter().map(|line| line.trim().to_owned()).collect() };
    let mut lines = vec![format!("--- {}: {}", from.0, from.1), format!("+++ {}: {}", to.0, to.1)];
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

    /// Lines of a difference that are in both stages, and lines that are in one of them.
    fn kept_and_changed(text: &str) -> (usize, usize) {
        let lines = text.lines().skip(2);
        let (changed, kept): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with(['-', '+']));
        (kept.len(), changed.len())
    }

    #[test]
    fn a_part_is_what_it_says() {
        let text = "int a = 1;\n// ANCHOR: b\nb();\n\nb_2();\nb_3();\n    // ANCHOR_END: b\n";
        assert_eq!(Anchor("b").lines(text).unwrap(), ["b();", "", "b_2();", "b_3();"]);
        assert_eq!(Paragraph("b", "b_2").lines(text).unwrap(), ["b_2();", "b_3();"]);
        assert_eq!(Paragraph("b", "b").lines(text).unwrap(), Anchor("b").lines(text).unwrap());
        assert_eq!(Line("int").lines(text).unwrap(), ["int a = 1;"]);
        for missing in [Anchor("a"), Paragraph("b", "c"), Line("float")] {
            assert!(missing.lines(text).is_err(), "{missing:?}");
        }
    }

    #[test]
    fn what_only_moved_in_counts_as_unchanged() {
        let lines = |text: &str| -> Vec<String> { text.lines().map(ToOwned::to_owned).collect() };
        let (old, new) = (lines("a();\nif (b) {\n    c();\n}"), lines("c();\nd();"));
        let text = unified(&Side("one", "1.cu", &[]), &old, &Side("two", "2.cu", &[]), &new);
        assert_eq!(text, "--- one: 1.cu\n+++ two: 2.cu\n-a();\n-if (b) {\n c();\n-}\n+d();\n");
    }

    #[test]
    fn a_difference_is_not_one_stage_after_the_other() {
        for (path, text) in files().unwrap() {
            let (kept, changed) = kept_and_changed(&text);
            assert!(changed > 0, "{} shows no difference", path.display());
            // Of a few lines, any number may change.
            assert!(changed < 16 || kept * 5 >= changed, "{}: {changed} lines changed and {kept} not", path.display());
        }
    }
}
