//! Pages are short, and each step says its point first.

use press::chapters::chapters;
use press::page::{Page, sources};
use press::root;
use workshop::Exercise;

/// The most words of a page.
const WORDS: usize = 900;

/// Pages to look things up in. They may be longer.
const REFERENCE: [&str; 22] = [
    "SUMMARY",
    "architecture",
    "ci",
    "compilers",
    "counters",
    "driver-api",
    "further-reading",
    "glossary",
    "how-a-gpu-executes",
    "instructions",
    "libraries",
    "nsight",
    "originals",
    "profiles",
    "progress",
    "reading-the-table",
    "roofline",
    "setup",
    "simulated-gpu",
    "solutions",
    "timing",
    "workshop",
];

/// Pages of a chapter that are no steps.
const NO_STEPS: [&str; 3] = ["index", "background", "results"];

/// The beginning of a step, below its title.
const POINT: &str = "> **In one sentence:** ";

/// Returns the words of a page's prose: without code, HTML, and what directives become.
fn words(page: &str) -> usize {
    let mut is_code = false;
    let mut prose = String::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.trim_start().starts_with('<') {
            prose += line;
            prose.push('\n');
        }
    }
    while let Some(start) = prose.find("{{") {
        let end = prose[start..].find("}}").map_or(prose.len(), |end| start + end + 2);
        // A number counts as a word. A claim writes nothing.
        prose.replace_range(start..end, if prose[start..].starts_with("{{claim ") { "" } else { "n" });
    }
    prose.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// Returns the page's path from `book/src`, without the extension.
fn name(page: &Page) -> &str {
    page.path.trim_start_matches("book/src/").trim_end_matches(".md")
}

#[test]
fn no_page_of_the_course_is_longer_than_a_reader_s_patience() {
    let long: Vec<_> = sources()
        .unwrap()
        .iter()
        .filter(|page| !REFERENCE.contains(&name(page)) && words(&page.text) > WORDS)
        .map(|page| format!("{}: {} words", page.path, words(&page.text)))
        .collect();
    assert!(long.is_empty(), "at most {WORDS} words: {long:#?}");
}

#[test]
fn each_step_says_its_point_in_one_sentence() {
    for page in sources().unwrap() {
        let Some((_, step)) = name(&page).split_once('/').filter(|(_, step)| !NO_STEPS.contains(step)) else { continue };
        let first = page.text.lines().skip(1).find(|line| !line.trim().is_empty()).unwrap_or_default();
        let sentence = first.strip_prefix(POINT).unwrap_or_else(|| panic!("{}: does not begin with {POINT:?}", page.path));
        let ends = sentence.matches(". ").count() + usize::from(sentence.ends_with('.'));
        assert_eq!(ends, 1, "{}: {step} begins with {ends} sentences", page.path);
    }
}

#[test]
fn each_step_asks_its_reader_something_and_each_exercise_is_on_one_page() {
    let pages = sources().unwrap();
    for page in &pages {
        let is_step = name(page).split_once('/').is_some_and(|(_, step)| !NO_STEPS.contains(&step));
        assert!(!is_step || page.text.contains("{{exercise ") || page.text.contains("{{predict "), "{} asks nothing", page.path);
    }
    for (chapter, _) in chapters() {
        for exercise in Exercise::all(root(), chapter).unwrap() {
            let directive = format!("{{{{exercise {chapter}/{}}}}}", exercise.number);
            let on: Vec<_> = pages.iter().filter(|page| page.text.contains(&directive)).map(|page| &page.path).collect();
            assert_eq!(on.len(), 1, "{directive} is on {on:?}");
        }
    }
}

#[test]
fn the_list_names_pages_that_are_there() {
    let pages = sources().unwrap();
    for listed in REFERENCE {
        assert!(pages.iter().any(|page| name(page) == listed), "there is no page {listed}");
    }
}

#[test]
fn words_are_those_that_a_reader_reads() {
    assert_eq!(words("# One two\n\nthree {{run a b.c}} four,\n\n```cpp\nint a;\n```\n<div>\n- five\n"), 6);
}
