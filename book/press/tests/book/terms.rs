//! The terms of the glossary: a page of the course explains each, and no page before that uses it.

use press::page::{Page, sources};

/// A line of the glossary.
struct Term {
    /// Its names.
    names: Vec<String>,
    /// The pages that it links to, in order.
    links: Vec<String>,
}

/// Returns the pages of the course, in the order of reading.
fn course(summary: &str) -> Vec<String> {
    let parts =
        summary.split_once("# Part I").expect("the first part").1.split_once("# Results").expect("what follows the parts").0;
    targets(parts)
}

/// Returns where the links of a text lead, without the headings.
fn targets(text: &str) -> Vec<String> {
    let links = text.match_indices("](").map(|(at, _)| text[at + 2..].split([')', '#']).next().unwrap_or_default().to_owned());
    links.collect()
}

/// Reads the glossary.
fn terms(glossary: &str) -> Vec<Term> {
    let entries = glossary
        .lines()
        .filter_map(|line| line.strip_prefix("**")?.split_once(".**").or_else(|| line.strip_prefix("**")?.split_once("**.")));
    entries
        .map(|(head, _)| head)
        .zip(glossary.lines().filter(|line| line.starts_with("**")))
        .map(|(head, line)| {
            let names = head.trim_start_matches('[').split("](").next().unwrap_or_default();
            let names = names.split(", ").map(|name| name.trim_matches(['`', '.', ']']).to_owned()).collect();
            Term { names, links: targets(line) }
        })
        .collect()
}

/// Returns a page's prose: no code, no directives, and no words of links to `explained`, which say only what is to come.
fn prose(page: &str, explained: &str) -> String {
    let mut is_code = false;
    let lines = page.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let mut text: String = lines.flat_map(|line| [line, "\n"]).collect();
    for (open, close) in [("{{", "}}"), ("<!--", "-->"), ("`", "`")] {
        while let Some(start) = text.find(open) {
            let inside = start + open.len();
            let end = text[inside..].find(close).map_or(text.len(), |end| inside + end + close.len());
            text.replace_range(start..end, " ");
        }
    }
    while let Some(end) = text.find("](") {
        let close = end + text[end..].find(')').unwrap_or(1) + 1;
        let leads_there = text[end + 2..close]
            .trim_end_matches(')')
            .split('#')
            .next()
            .is_some_and(|target| explained.ends_with(target.trim_start_matches("../")) && !target.is_empty());
        let start = text[..end].rfind('[').unwrap_or(end);
        if leads_there {
            text.replace_range(start..close, " ");
        } else {
            text.replace_range(end..close, " ");
        }
    }
    text
}

/// Says whether a text uses a term, also in the plural.
fn uses(text: &str, term: &str) -> bool {
    // An abbreviation, or a name, has its own capitals.
    let has_case = term.chars().skip(1).any(char::is_uppercase);
    let (text, term) = if has_case { (text.to_owned(), term.to_owned()) } else { (text.to_lowercase(), term.to_lowercase()) };
    let is_part = |char: char| char.is_alphanumeric() || char == '_' || char == '-';
    text.match_indices(&term).any(|(at, _)| {
        let after = text[at + term.len()..].trim_start_matches("es").trim_start_matches('s');
        !text[..at].ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[test]
fn no_page_uses_a_term_that_a_later_one_explains() {
    let pages = sources().unwrap();
    let text = |path: &str| {
        let page = pages.iter().find(|page| page.path == format!("book/src/{path}"));
        page.map(|Page { text, .. }| text.as_str()).unwrap_or_else(|| panic!("there is no page {path}"))
    };
    let course = course(text("SUMMARY.md"));
    let terms = terms(text("glossary.md"));
    assert!(terms.len() > 90 && course.len() > 50, "{} terms, {} pages", terms.len(), course.len());
    let mut wrong = Vec::new();
    for Term { names, links } in &terms {
        let explained = links.iter().find_map(|link| course.iter().position(|page| page == link));
        let before = &course[..explained.unwrap_or(course.len())];
        let there = explained.map_or("", |at| &course[at]);
        for name in names {
            let users = before.iter().filter(|page| uses(&prose(text(page), there), name));
            wrong.extend(users.take(3).map(|page| format!("{name}: explained on {there:?}, used on {page}")));
        }
    }
    assert!(wrong.is_empty(), "{} terms: {wrong:#?}", wrong.len());
}

#[test]
fn terms_are_found_in_prose() {
    assert!(uses("All banks are busy.", "bank") && uses("Two boxes.", "box"));
    assert!(!uses("The bankrupt.", "bank") && !uses("sm", "SM"));
    assert_eq!(prose("A [bank](../a/banks.md#x) and `bank`\n```\nbank\n```\n", "a/banks.md").trim(), "A   and");
    let [term] = &terms("# Glossary\n\n**[Bank, store](a.md#b).** One. [Two](c/d.md).\n")[..] else { panic!("one term") };
    assert_eq!(
        (&term.names[..], &term.links[..]),
        (&["Bank".to_owned(), "store".to_owned()][..], &["a.md".to_owned(), "c/d.md".to_owned()][..])
    );
}
