//! The pages of all chapters have the same parts in the same order, so that a reader learns the shape once.

use pulldown_cmark::HeadingLevel;

use crate::pages::{self, Page};

/// The parts of a chapter's page.
const PARTS: [&str; 12] = [
    "What you will learn",
    "Predict first",
    "The idea",
    "The code",
    "Run it",
    "Read the numbers",
    "What the hardware did",
    "The original, then and now",
    "What did not help",
    "Exercise",
    "Difference from the last stage",
    "Next",
];

/// What the last chapter has in the place of a next one.
const LAST: &str = "Where to go from here";

/// What is wrong with the headings of a chapter's page.
fn wrong(page: &Page, is_last: bool) -> Option<String> {
    let headings = page.headings();
    let at = |level| headings.iter().filter(move |heading| heading.level == level).map(|heading| heading.text.as_str());
    let titles: Vec<&str> = at(HeadingLevel::H1).collect();
    let number = page.stem().split('-').next().unwrap_or_default();
    if !(titles.len() == 1 && titles[0].starts_with(&format!("{number} ")) && headings[0].level == HeadingLevel::H1) {
        return Some(format!("{}: the title must be `# {number} …`, once and on top; there is {titles:?}", page.path));
    }
    let parts: Vec<&str> = at(HeadingLevel::H2).collect();
    let mut expected = PARTS;
    if is_last {
        expected[PARTS.len() - 1] = LAST;
    }
    (parts != expected).then(|| format!("{}: the parts are {parts:#?} and must be {expected:#?}", page.path))
}

#[test]
fn every_chapter_has_the_same_parts_in_the_same_order() {
    let chapters = pages::chapters();
    let last = chapters.len() - 1;
    let wrong: Vec<String> = chapters.iter().enumerate().filter_map(|(index, page)| wrong(page, index == last)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: &str, parts: &[&str]) -> Page {
        let parts = parts.iter().map(|part| format!("## {part}\n\n### Below\n\nText.\n\n"));
        Page { path: "book/src/03-unroll.md".into(), text: format!("{title}\n\n{}", parts.collect::<String>()) }
    }

    #[test]
    fn a_part_that_is_missing_moved_or_new_is_found() {
        let mut ending = PARTS;
        ending[11] = LAST;
        assert_eq!(wrong(&page("# 03 Unrolling", &PARTS), false), None);
        assert_eq!(wrong(&page("# 03 Unrolling", &ending), true), None);
        let mut moved = PARTS;
        moved.swap(3, 4);
        let more = [&PARTS[..], &["More"]].concat();
        for parts in [&PARTS[1..], &moved, &more, &ending] {
            assert!(wrong(&page("# 03 Unrolling", parts), false).is_some(), "{parts:?}");
        }
        for title in ["# Unrolling", "# 02 Unrolling", "## 03 Unrolling", "# 03 One\n\n# 03 Two"] {
            assert!(wrong(&page(title, &PARTS), false).unwrap().contains("the title must be"), "{title}");
        }
    }
}
