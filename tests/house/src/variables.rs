//! Every environment variable of ours is in one of two tables, and the pages show the tables.

use std::collections::BTreeSet;
use std::fs;

use support::root;

use crate::repository::{files, read};

/// Lists the names that the two tables have.
fn known() -> BTreeSet<&'static str> {
    let of_simulator = driver::variables::VARIABLES.iter().map(|variable| variable.name);
    of_simulator.chain(compilers::variables::VARIABLES.iter().map(|variable| variable.name)).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}

/// Returns the part of a name after the prefix that ours share.
fn after_prefix(word: &str) -> Option<&str> {
    word.strip_prefix("UNROLLED_").or_else(|| word.strip_prefix("SIMCUDA_"))
}

#[test]
fn every_variable_is_in_a_table_and_something_reads_it() {
    let known = known();
    let folders = ["book", "chapters", "common", "kernels", "simulator", "tests"];
    let scripts = [".ci", ".github/actions/simcuda", ".github/workflows"]
        .into_iter()
        .flat_map(|folder| fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>());
    let sources = ["rs", "py", "mjs", "yml"].into_iter().flat_map(|extension| files(&folders, extension));
    let mut seen = BTreeSet::new();
    for path in sources.chain(scripts).filter(|path| !path.ends_with("src/variables.rs")) {
        let text = read(&path);
        for name in words(&text).filter(|word| after_prefix(word).is_some_and(|rest| !rest.is_empty())) {
            assert!(known.contains(name), "{} names {name}, which is in no table", path.display());
        }
        seen.extend(words(&text).map(str::to_owned));
    }
    // Rust code says the name of the constant.
    let is_read = |name: &&&str| seen.contains(**name) || after_prefix(name).is_some_and(|constant| seen.contains(constant));
    let unread: Vec<&&str> = known.iter().filter(|name| !is_read(name)).collect();
    assert!(unread.is_empty(), "nothing reads {unread:?}");
}

#[test]
fn contributing_shows_every_variable_of_the_tutorial() {
    let text = read(&root().join("CONTRIBUTING.md"));
    let shown: Vec<&str> = text.lines().filter(|line| line.starts_with("| `UNROLLED_")).collect();
    let row = |variable: &compilers::variables::Variable| {
        let default = if variable.default.is_empty() { String::new() } else { format!("{} ", variable.default) };
        format!("| `{}` | {default}| {} |", variable.name, variable.meaning)
    };
    assert_eq!(shown, compilers::variables::VARIABLES.iter().map(row).collect::<Vec<_>>());
}
