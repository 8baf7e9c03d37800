//! The exercises of the course: enough of them in each part, and each on one page.

use std::collections::BTreeSet;

use press::page::sources;

/// Exercises that the course has at least.
const LEAST: usize = 64;

/// Returns the number of a part's steps, and its exercises.
///
/// A page above others introduces a chapter, and is no step.
fn steps_and_exercises(part: &str, text: impl Fn(&str) -> String) -> (usize, Vec<String>) {
    let steps = part.lines().filter(|line| line.starts_with("    - ")).count();
    let pages = part.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let of_page = |page: &str| {
        let text = text(page);
        text.split("{{exercise ").skip(1).filter_map(|rest| Some(rest.split("}}").next()?.to_owned())).collect::<Vec<_>>()
    };
    (steps, pages.flat_map(of_page).collect())
}

#[test]
fn each_part_has_two_exercises_for_five_steps() {
    let pages = sources().unwrap();
    let text =
        |path: &str| pages.iter().find(|page| page.path == format!("book/src/{path}")).map_or("", |page| &page.text).to_owned();
    let summary = text("SUMMARY.md");
    let parts: Vec<&str> = summary.split("# Part ").skip(1).map(|part| part.split("\n# ").next().unwrap_or_default()).collect();
    let mut all = Vec::new();
    for part in &parts {
        let name = part.lines().next().unwrap_or_default();
        let (steps, exercises) = steps_and_exercises(part, text);
        assert!(
            5 * exercises.len() >= 2 * steps && exercises.len() >= 2,
            "{name}: {} exercises for {steps} steps",
            exercises.len()
        );
        println!("{name}: {} exercises for {steps} steps", exercises.len());
        all.extend(exercises);
    }
    let distinct: BTreeSet<&String> = all.iter().collect();
    assert_eq!((parts.len(), distinct.len()), (3, all.len()), "each exercise is on one page: {all:?}");
    assert!(all.len() >= LEAST, "{} exercises in all", all.len());
}

#[test]
fn steps_and_exercises_are_counted() {
    let part = "I: one\n\n- [A](a.md)\n    - [B](b.md)\n    - [C](c.md)\n";
    let text = |path: &str| if path == "b.md" { "x\n{{exercise 01/2}}\n{{exercise 01/3}}\n".to_owned() } else { String::new() };
    assert_eq!(steps_and_exercises(part, text), (2, vec!["01/2".to_owned(), "01/3".to_owned()]));
}
