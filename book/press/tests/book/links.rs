//! Where the links and images of the book and of the repository's other pages lead: to files and headings that are there, or to the web
//! by a whole address. Nothing is fetched.

use std::fs;
use std::path::{Component, Path, PathBuf};

use press::page::Page;
use press::root;

use crate::markdown::{Link, Markdown};
use crate::rendered;

/// Pages beside the book.
const OTHERS: [&str; 3] = ["README.md", "CONTRIBUTING.md", "simulator/README.md"];

/// Every page, as a reader gets it.
fn all() -> Vec<Page> {
    let others = OTHERS.map(|path| Page { path: path.into(), text: fs::read_to_string(root().join(path)).unwrap() });
    rendered().iter().cloned().chain(others).collect()
}

/// What is wrong with a link of a page; its path is that of the page when there is nothing before `#`.
fn wrong(page: &Page, link: &Link, all: &[Page]) -> Option<String> {
    let target = link.target.as_str();
    if link.is_image && link.words.trim().is_empty() {
        return Some("an image needs words for those who do not see it".into());
    }
    if let Some(address) = target.strip_prefix("https://") {
        let host = address.split('/').next().unwrap_or_default();
        let is_host = host.split('.').count() > 1
            && host.split('.').all(|part| !part.is_empty() && part.chars().all(|char| char.is_ascii_alphanumeric() || char == '-'));
        let is_plain = target.chars().all(|char| char.is_ascii_graphic() && !matches!(char, '<' | '>' | '"' | '`' | '\\'));
        return (!is_host || !is_plain).then(|| "this is no address".into());
    }
    if target.contains(':') {
        return Some("links to the web begin with https://".into());
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
    if id.is_empty() {
        return None;
    }
    let Some(other) = all.iter().find(|other| other.path == path) else { return Some(format!("{path} is no page with headings")) };
    let ids = Markdown(&other.text).ids();
    (!ids.contains(id)).then(|| format!("{path} has no heading #{id}, but {ids:?}"))
}

/// A file named from a page, from the root of the repository.
fn beside(page: &str, file: &str) -> String {
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for part in folder.join(file).components() {
        if part == Component::ParentDir {
            path.pop();
        } else {
            path.push(part)
        }
    }
    path.to_string_lossy().replace('\\', "/")
}

#[test]
fn every_link_leads_somewhere() {
    let all = all();
    let of_page = |page: &Page| {
        let links = Markdown(&page.text).links().into_iter();
        let wrong = links.filter_map(|link| Some(format!("{}: `{}`: {}", page.path, link.target, wrong(page, &link, &all)?)));
        wrong.collect::<Vec<_>>()
    };
    let wrong: Vec<String> = all.iter().flat_map(of_page).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn every_page_is_in_the_summary() {
    let (summary, pages): (Vec<Page>, Vec<Page>) = rendered().iter().cloned().partition(|page| page.path.ends_with("SUMMARY.md"));
    let summary = Markdown(&summary[0].text).links();
    for page in pages {
        let name = page.path.trim_start_matches("book/src/");
        assert!(summary.iter().any(|link| link.target == name), "SUMMARY.md does not list {name}");
    }
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let page = |text: &str| Page { path: "book/src/03-unroll.md".into(), text: text.into() };
    let other = Page { path: "book/src/setup.md".into(), text: "# Set-up\n".into() };
    let all = [page("## Run it\n"), other];
    let found = |text: &str| {
        let page = page(text);
        let links = Markdown(&page.text).links();
        assert_eq!(links.len(), 1, "{text}");
        wrong(&page, &links[0], &all).unwrap_or_default()
    };
    let right = [
        "[a](#run-it)",
        "[a](setup.md#set-up)",
        "[a](setup.md)",
        "[`a`](https://arxiv.org/abs/1804.06826)",
        "<https://docs.nvidia.com/cuda/>",
        "![a page](pictures/page.png)",
    ];
    for text in right {
        assert_eq!(found(text), "", "{text}");
    }
    let wrong = [
        ("[a](#run)", "has no heading #run, but {\"run-it\"}"),
        ("[a](setup.md#run-it)", "book/src/setup.md has no heading"),
        ("[a](set-up.md)", "there is no book/src/set-up.md"),
        ("[a](pictures/page.png#x)", "is no page with headings"),
        ("[a](../../README.md)", "README.md is not in the book"),
        ("[a](http://arxiv.org)", "begin with https://"),
        ("[a](mailto:a@b.c)", "begin with https://"),
        ("[a](https://arxiv)", "no address"),
        ("[a](https://arxiv..org/x)", "no address"),
        ("[a](<https://arxiv.org/a b>)", "no address"),
        ("![](pictures/page.png)", "needs words"),
    ];
    for (text, message) in wrong {
        assert!(found(text).contains(message), "{text}: {}", found(text));
    }
}
