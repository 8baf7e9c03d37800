//! The targets of the links and images of the book and of the repository's other pages: files and headings that exist, or whole addresses on
//! the web. Nothing is fetched.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use press::page::Page;
use press::root;

use crate::rendered;

/// Pages outside of the book.
const OTHERS: [&str; 3] = ["README.md", "CONTRIBUTING.md", "simulator/README.md"];

/// Returns the lines of a page that are not in fenced blocks.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

/// Returns the links and images of a page: their words, and where they lead.
fn links(page: &str) -> Vec<(String, String)> {
    let text: String = prose(page).flat_map(|line| [line, "\n"]).collect();
    let targets = text.match_indices("](").map(|(end, _)| {
        let start = text[..end].rfind('[').unwrap_or(0);
        let words = format!("{}{}", if text[..start].ends_with('!') { "!" } else { "" }, &text[start + 1..end]);
        (words, text[end + 2..].split(')').next().unwrap_or_default().trim_matches(['<', '>']).to_owned())
    });
    targets.collect()
}

/// Returns the ids of a page's headings, as mdBook makes them.
fn ids(page: &str) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for heading in prose(page).filter(|line| line.starts_with('#')) {
        let words = heading.trim_start_matches('#').trim().chars().flat_map(char::to_lowercase);
        let dashed = words.map(|char| if char.is_whitespace() { '-' } else { char });
        let id: String = dashed.filter(|char| char.is_alphanumeric() || matches!(char, '_' | '-')).collect();
        let again = (1..).map(|count| format!("{id}-{count}"));
        let free = std::iter::once(id.clone()).chain(again).find(|id| !ids.contains(id));
        ids.extend(free);
    }
    ids
}

/// Says what is wrong with a link of a page.
fn wrong(page: &Page, (words, target): &(String, String), all: &[Page]) -> Option<String> {
    if words.trim() == "!" {
        return Some("an image needs words for readers who do not see it".into());
    }
    if let Some(address) = target.strip_prefix("https://") {
        let host: Vec<&str> = address.split('/').next().unwrap_or_default().split('.').collect();
        let is_host = host.len() > 1 && host.iter().all(|part| !part.is_empty());
        let is_plain = target.chars().all(|char| char.is_ascii_graphic() && !matches!(char, '"' | '`' | '\\'));
        return (!is_host || !is_plain).then(|| "this is no address".into());
    }
    if target.contains(':') {
        return Some("links to the web start with https://".into());
    }
    let (file, id) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.path.clone() } else { beside(&page.path, file) };
    // What is outside of that folder is no part of the book, wherever it is read.
    if page.path.starts_with("book/src/") && !path.starts_with("book/src/") {
        return Some(format!("{path} is not in the book"));
    }
    if !root().join(&path).exists() {
        return Some(format!("there is no {path}"));
    }
    let ids = all.iter().find(|other| other.path == path).map(|other| ids(&other.text)).unwrap_or_default();
    (!id.is_empty() && !ids.contains(id)).then(|| format!("{path} has no heading #{id}, but {ids:?}"))
}

/// Resolves a page's file name to a path from the repository's root.
fn beside(page: &str, file: &str) -> String {
    let mut path = PathBuf::new();
    for part in Path::new(page).parent().unwrap_or(Path::new("")).join(file).components() {
        if part == Component::ParentDir {
            path.pop();
        } else {
            path.push(part);
        }
    }
    path.to_string_lossy().replace('\\', "/")
}

#[test]
fn every_link_leads_somewhere() {
    let others = OTHERS.map(|path| Page { path: path.into(), text: fs::read_to_string(root().join(path)).unwrap() });
    let all: Vec<Page> = rendered().iter().cloned().chain(others).collect();
    let found = all.iter().flat_map(|page| links(&page.text).into_iter().map(move |link| (page, link)));
    let found: Vec<_> = found.map(|(page, link)| (wrong(page, &link, &all), &page.path, link)).collect();
    assert!(found.len() > 200, "{} links", found.len());
    let wrong: Vec<_> = found.iter().filter(|(wrong, ..)| wrong.is_some()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_page_is_in_the_summary() {
    let (summary, pages): (Vec<&Page>, Vec<&Page>) = rendered().iter().partition(|page| page.path.ends_with("SUMMARY.md"));
    let listed = links(&summary[0].text);
    for page in pages {
        assert!(
            listed.iter().any(|(_, target)| page.path == format!("book/src/{target}")),
            "SUMMARY.md does not list {}",
            page.path
        );
    }
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let page = |path: &str, text: &str| Page { path: path.into(), text: text.into() };
    // The ids in the HTML that mdBook made of this (`press::preprocess::MDBOOK`).
    let other =
        page("book/src/setup.md", "# Set-up\n\n## What `pow` costs: `x * x`\n\n## Next\n\n```sh\n# no heading\n```\n\n## Next\n");
    assert_eq!(ids(&other.text).into_iter().collect::<Vec<_>>(), ["next", "next-1", "set-up", "what-pow-costs-x--x"]);
    let all = [page("book/src/glossary.md", "## Run it\n"), other];
    let found = |text: &str| wrong(&all[0], &links(text)[0], &all).unwrap_or_default();
    for text in ["[a](#run-it)", "[a](setup.md#set-up)", "[`a`](https://arxiv.org/abs/1804.06826)", "![a page](pictures/page.png)"]
    {
        assert_eq!(found(text), "", "{text}");
    }
    let wrong = [
        ("[a](#run)", "has no heading #run, but {\"run-it\"}"),
        ("[a](setup.md#run-it)", "book/src/setup.md has no heading"),
        ("[a](set-up.md)", "there is no book/src/set-up.md"),
        ("[a](../../README.md)", "README.md is not in the book"),
        ("[a](http://arxiv.org)", "start with https://"),
        ("[a](https://arxiv)", "no address"),
        ("[a](https://arxiv..org/x)", "no address"),
        ("![](pictures/page.png)", "needs words"),
    ];
    for (text, message) in wrong {
        assert!(found(text).contains(message), "{text}: {}", found(text));
    }
}
