//! mdBook's protocol for preprocessors: a context and a book as JSON on the standard input, the book on the standard output.
//!
//! It is read as plain JSON. The crate `mdbook-preprocessor` has types for it, but brings the parser and the configuration of mdBook along,
//! for a list of chapters of which the press needs two fields: its keys are those of [`MDBOOK`].

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::page::{Page, render};
use crate::root;

/// The mdBook version whose protocol, theme, and style sheets the book uses: the keys below, `book/*.css`, and the ids of headings.
pub const MDBOOK: &str = "0.5.4";

/// Renders the book in `input`, and returns it.
pub fn preprocess(input: &str, program: &Path) -> Result<String> {
    let (context, mut book): (Value, Value) = serde_json::from_str(input).context("the input is not a book from mdBook")?;
    let mut pages = Vec::new();
    visit(&mut book["items"], &mut |path, text| pages.push(Page { path: format!("book/src/{path}"), text: text.clone() }));
    // Another book that shows a few things, such as that of a test, need not use every fact.
    let is_ours =
        context["root"].as_str().is_none_or(|folder| fs::canonicalize(folder).ok() == fs::canonicalize(root().join("book")).ok());
    render(&mut pages, program, is_ours)?;
    let mut rendered = pages.into_iter();
    visit(&mut book["items"], &mut |_, text| *text = rendered.next().map_or_else(String::new, |page| page.text));
    Ok(book.to_string())
}

/// Visits the chapters, each with its path and its text.
fn visit(items: &mut Value, each: &mut impl FnMut(&str, &mut String)) {
    for item in items.as_array_mut().into_iter().flatten() {
        let Some(chapter) = item.get_mut("Chapter") else { continue };
        let path = chapter["source_path"].as_str().map(str::to_owned);
        if let (Some(path), Value::String(text)) = (path, &mut chapter["content"]) {
            each(&path, text);
        }
        visit(&mut chapter["sub_items"], each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nested_chapters_are_visited_and_drafts_are_not() {
        let chapter =
            |path: Value, sub: Value| json!({"Chapter": {"name": "n", "content": "c", "source_path": path, "sub_items": sub}});
        let mut items = json!([
            "Separator",
            chapter(json!("a.md"), json!([chapter(json!("b.md"), json!([]))])),
            chapter(json!(null), json!([]))
        ]);
        let mut seen = Vec::new();
        visit(&mut items, &mut |path, text| {
            seen.push(path.to_owned());
            *text = format!("{text} of {path}");
        });
        assert_eq!(seen, ["a.md", "b.md"]);
        assert_eq!(items[1]["Chapter"]["sub_items"][0]["Chapter"]["content"], "c of b.md");
        assert_eq!(items[2]["Chapter"]["content"], "c");
    }

    #[test]
    fn what_is_no_book_is_refused() {
        let error = preprocess("{}", Path::new("press")).unwrap_err();
        assert_eq!(error.to_string(), "the input is not a book from mdBook");
    }
}
