//! What pages include: code from where it stands, and generated files. Nothing of that is pasted, and nothing of it is missing.

use std::fs;
use std::path::Path;

use crate::generated::root;
use crate::pages::{self, Page};

/// Languages of code that the repository has, and that a page therefore includes.
const LANGUAGES: [&str; 7] = ["rust", "cuda", "c", "cpp", "c++", "ptx", "toml"];

/// Lines of code in a page that are not included.
fn pasted(page: &Page) -> Vec<String> {
    let mut found = Vec::new();
    let mut language: Option<&str> = None;
    for (number, line) in page.text.lines().enumerate() {
        if let Some(fence) = line.trim_start().strip_prefix("```") {
            language = match language {
                None => Some(fence.split([',', ' ']).next().unwrap_or_default()),
                Some(_) => None,
            };
        } else if language.is_some_and(|language| LANGUAGES.contains(&language)) {
            let line = line.trim();
            let is_included = line.is_empty() || line.starts_with("{{#include ") || line.starts_with("{{#rustdoc_include ");
            if !is_included {
                found.push(format!("{}:{}: code is pasted, where an include would stay true: {line}", page.path, number + 1));
            }
        }
    }
    if language.is_some() {
        found.push(format!("{}: a code block does not end", page.path));
    }
    found
}

/// What a page includes and is not there.
fn missing(page: &Page) -> Vec<String> {
    let folder = root().join(&page.path).parent().expect("a page stands in a folder").to_owned();
    let includes = ["{{#include ", "{{#rustdoc_include "].into_iter().flat_map(|start| page.text.split(start).skip(1));
    let mut found = Vec::new();
    for target in includes.filter_map(|rest| rest.split("}}").next()) {
        let (path, anchor) = target.trim().split_once(':').unwrap_or((target.trim(), ""));
        let Ok(text) = fs::read_to_string(folder.join(path)) else {
            let remedy = if path.starts_with("generated/") { "; `cargo book` makes those that it knows" } else { "" };
            found.push(format!("{}: there is no {path}{remedy}", page.path));
            continue;
        };
        let is_lines = anchor.is_empty() || anchor.starts_with(|first: char| first.is_ascii_digit());
        let marks = ["ANCHOR: ", "ANCHOR_END: "].map(|mark| format!("{mark}{anchor}"));
        if !is_lines && !marks.iter().all(|mark| text.lines().any(|line| line.trim_end().ends_with(mark))) {
            found.push(format!("{}: {path} has no anchor {anchor}", page.path));
        }
    }
    found
}

#[test]
fn the_book_includes_code_and_never_pastes_it() {
    let found: Vec<String> = pages::book().iter().flat_map(pasted).collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn what_the_book_includes_is_there() {
    let found: Vec<String> = pages::book().iter().flat_map(missing).collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn everything_generated_is_shown_somewhere() {
    let shown: String = pages::all().iter().flat_map(|page| [page.text.clone(), page.with_includes().text]).collect();
    let entries = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let (devices, mut files): (Vec<_>, Vec<_>) =
        entries(&root().join("book/src/generated")).into_iter().partition(|path| path.is_dir());
    files.extend(devices.iter().flat_map(|device| entries(device)));
    let names = files.iter().map(|file| file.strip_prefix(root().join("book/src")).unwrap().to_string_lossy().replace('\\', "/"));
    let is_shown = |name: &String| shown.contains(&format!("({name})")) || shown.contains(&format!("#include {name}}}}}"));
    let mut lost: Vec<String> = names.filter(|name| !is_shown(name)).collect();
    lost.sort();
    assert!(lost.is_empty(), "no page shows\n{}\n", lost.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page { path: "book/src/03-unroll.md".into(), text: text.into() }
    }

    #[test]
    fn pasted_code_is_found() {
        assert!(pasted(&page("```cpp\n{{#include a.cu:b}}\n\n```\n\n```text\nint a;\n```\n")).is_empty());
        assert!(pasted(&page("```rust,ignore\nlet a = 1;\n```\n"))[0].starts_with("book/src/03-unroll.md:2: code is pasted"));
        assert!(pasted(&page("```text\na\n"))[0].contains("does not end"));
    }

    #[test]
    fn what_is_missing_is_found() {
        let there =
            "{{#include ../../kernels/cuda/01-conv-naive.cu:naive}} {{#include setup.md}} {{#rustdoc_include setup.md:1:2}}";
        assert_eq!(missing(&page(there)), Vec::<String>::new());
        let cases = [
            ("{{#include ../../kernels/cuda/01-conv-naive.cu:lost}}", "has no anchor lost"),
            ("{{#rustdoc_include lost.rs}}", "there is no lost.rs"),
            ("{{#include generated/sim-h200/lost.md}}", "there is no generated/sim-h200/lost.md; `cargo book`"),
        ];
        for (text, message) in cases {
            assert!(missing(&page(text))[0].contains(message), "{text}");
        }
    }
}
