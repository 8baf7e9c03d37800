//! The tables of the README, between `<!-- table <record> -->` and `<!-- end -->`. GitHub shows that file as it is, so its tables are
//! committed; `cargo book readme` makes them again, and a test fails when they differ from their records.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::archive::Archive;
use crate::{root, tables};

const START: &str = "<!-- table ";
const END: &str = "<!-- end -->";

/// Returns the path of the README.
pub fn path() -> PathBuf {
    root().join("README.md")
}

/// Returns the README as its records have it.
pub fn current(archive: &Archive) -> Result<String> {
    with_tables(archive, &fs::read_to_string(path())?)
}

fn with_tables(archive: &Archive, text: &str) -> Result<String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(START) {
        let (name, after) = after.split_once(" -->").context("README.md: a table mark does not end")?;
        let (_, after) = after.split_once(END).with_context(|| format!("README.md: table {name} has no {END}"))?;
        let table = tables::run(archive, name).context("README.md")?.plain();
        result += &format!("{before}{START}{name} -->\n\n{table}\n\n{END}");
        rest = after;
    }
    Ok(result + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_readme_are_what_their_records_say() {
        let text = fs::read_to_string(path()).unwrap();
        // A kernel that changes makes no work here: `cargo book readme` puts the marks of stale rows in, or takes them out.
        let with_marks = current(&Archive::read().unwrap()).unwrap();
        let without = current(&Archive::read().unwrap().judged_by(|_, _| false)).unwrap();
        assert!(text == with_marks || text == without, "README.md is out of date with its records; run `cargo book readme`");
    }

    #[test]
    fn a_table_is_put_between_its_marks() {
        let archive = Archive::read().unwrap();
        let text = with_tables(&archive, "a\n<!-- table sim-h200/03-unroll -->\nold\n<!-- end -->\nb").unwrap();
        assert!(
            text.starts_with("a\n<!-- table sim-h200/03-unroll -->\n\n| stage ") && text.ends_with("*\n\n<!-- end -->\nb"),
            "{text}"
        );
        assert!(!text.contains("old"));
        let message = |text| format!("{:#}", with_tables(&archive, text).unwrap_err());
        assert!(message("<!-- table sim-h200/03-unrol -->\n<!-- end -->").contains("nearest: sim-h200/03-unroll"));
        assert!(message("<!-- table sim-h200/03-unroll -->").contains("has no <!-- end -->"));
    }
}
