//! The whole book, rendered as mdBook renders it.

mod bounds;
mod commands;
mod contrast;
mod exercises;
mod length;
mod links;
mod questions;
mod sounds;
mod terms;
mod words;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use press::claims;
use press::directive;
use press::page::{Page, render, sources};

/// The press.
const PROGRAM: &str = env!("CARGO_BIN_EXE_book");

/// Returns all pages with their directives replaced.
fn rendered() -> &'static [Page] {
    static PAGES: OnceLock<Vec<Page>> = OnceLock::new();
    PAGES.get_or_init(|| {
        let mut pages = sources().unwrap();
        render(&mut pages, Path::new(PROGRAM), true).unwrap_or_else(|error| panic!("\n{error:#}\n"));
        pages
    })
}

#[test]
fn every_page_renders_and_leaves_no_directive() {
    for (page, source) in rendered().iter().zip(sources().unwrap()) {
        let texts = |page: &str, escaped| -> Vec<String> {
            let directives = directive::find(page).unwrap();
            directives.iter().filter(|found| found.escaped == escaped).map(|found| found.text.to_owned()).collect()
        };
        assert_eq!(texts(&page.text, false), texts(&source.text, true), "{}: only what is escaped stays", page.path);
    }
    let drawings = rendered().iter().map(|page| page.text.matches("<svg ").count()).sum::<usize>();
    assert!(drawings > 40, "{drawings} drawings");
}

/// Languages of the repository's code, which pages have to include.
const LANGUAGES: [&str; 7] = ["rust", "cuda", "c", "cpp", "c++", "ptx", "toml"];

/// Returns the first line of code that a page does not include.
fn pasted(text: &str) -> Option<&str> {
    let mut language = None;
    text.lines().find(|line| match line.trim_start().strip_prefix("```") {
        Some(fence) => {
            language = language.is_none().then(|| fence.split([',', ' ']).next().unwrap_or_default());
            false
        }
        None => {
            language.is_some_and(|language| LANGUAGES.contains(&language))
                && !line.trim().is_empty()
                && !line.trim().starts_with("{{")
        }
    })
}

#[test]
fn the_book_includes_code_and_never_pastes_it() {
    assert_eq!(pasted("```cpp\n{{#include a.cu:b}}\n\n```\n\n```text\nint a;\n```\n"), None);
    assert_eq!(pasted("```rust,ignore\nlet a = 1;\n```\n"), Some("let a = 1;"));
    for page in sources().unwrap() {
        assert_eq!(pasted(&page.text), None, "{}", page.path);
    }
}

/// Runs the press as mdBook does.
fn preprocess(page: &str) -> Output {
    let chapter = serde_json::json!({"Chapter": {"name": "x", "content": page, "source_path": "x.md", "sub_items": []}});
    let mut process = Command::new(PROGRAM)
        .arg("preprocess")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input = serde_json::json!([{}, {"items": [chapter]}]).to_string();
    process.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    process.wait_with_output().unwrap()
}

#[test]
fn a_wrong_page_fails_the_build_with_its_line() {
    let output = preprocess("# X\n\n{{footprint sim-h200/01-conv-naive naiv \"x\"}}\n{{#include lost.cu}}\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("book/src/x.md:3: {{footprint") && said.contains("no stage naiv; nearest: naive"), "{said}");
    assert!(said.contains("book/src/x.md:4: {{#include lost.cu}}: there is no book/src/lost.cu"), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_false_claim_fails_the_build_with_its_line_and_the_values() {
    let output = preprocess("# X\n\nIt is slower.\n{{claim nvidia-h200/03-unroll shared.time < unroll-16.time}}\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("book/src/x.md:4: {{claim nvidia") && said.contains("has shared.time = 2."), "{said}");
}

/// `cargo book claims` lists them.
#[test]
fn every_sentence_that_compares_has_a_claim() {
    assert_eq!(claims::of_the_book().unwrap(), []);
}

#[test]
fn a_fact_that_no_page_uses_fails_the_build() {
    let output = preprocess("# X\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("book/facts.toml: no page uses original.cpu"), "{said}");
}

#[test]
fn the_book_is_checked_with_the_mdbook_that_it_is_made_for() {
    let steps = std::fs::read_to_string(press::root().join(".ci/tools")).unwrap();
    let line = steps.lines().find_map(|line| line.trim().strip_prefix("mdbook_version="));
    assert_eq!(line, Some(press::preprocess::MDBOOK));
}

#[test]
fn every_renderer_of_mdbook_is_supported() {
    assert!(Command::new(PROGRAM).args(["preprocess", "supports", "test"]).status().unwrap().success());
}
