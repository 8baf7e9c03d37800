//! The exercises in the book, made from their files: each where it belongs, the list of a chapter, and all of them with their solutions for
//! workshop leaders.

use anyhow::{Context, Result, anyhow};
use run::{Chapter, Workload};
use workshop::Exercise;
use workshop::feedback::targets;
use workshop::manifest::{Manifest, Predict};
use workshop::text::{Version, version};

use crate::callouts::capital;
use crate::chapters::{self, chapters, with_chapter};
use crate::root;

/// Shows an exercise, `01-conv-naive/2`: its task, its starter or its questions, and its hints behind lines to open. The page's script checks it.
pub fn exercise(stem: &str) -> Result<String> {
    let (chapter, number) = stem.split_once('/').context("an exercise is named by its chapter and its number: 01-conv-naive/2")?;
    chapters::check(chapter)?;
    let exercises = Exercise::all(root(), chapter)?;
    let exercise = exercises.iter().find(|exercise| exercise.number.to_string() == number);
    shown(exercise.with_context(|| format!("{chapter} has exercises 1 to {}", exercises.len()))?)
}

/// Lists the exercises of a chapter, and shows how to start one.
pub fn exercises(chapter: &str) -> Result<String> {
    chapters::check(chapter)?;
    let mut list = "| | | |\n|---:|---|---|\n".to_owned();
    for Exercise { number, manifest: Manifest { title, kind, .. }, .. } in &Exercise::all(root(), chapter)? {
        list += &format!("| {number} | {} | {title} |\n", kind.word());
    }
    list += &format!("\n```console\n$ cargo run -p ch{chapter} -- exercise\n$ cargo run -p ch{chapter} -- exercise 1\n```\n");
    Ok(list)
}

/// Shows all exercises with their solutions. Also shows what the check says to typical wrong answers.
pub fn solutions() -> Result<String> {
    let mut solutions = String::new();
    for (chapter, _) in chapters() {
        let exercises = Exercise::all(root(), chapter)?;
        if !exercises.is_empty() {
            solutions += &format!("## {chapter}\n\n");
        }
        for exercise in &exercises {
            solutions += &solved(exercise).with_context(|| exercise.stem())?;
        }
    }
    Ok(solutions)
}

/// Returns a table of chapters with the number of passed exercises. The page's script fills in how many a reader has passed.
pub fn progress() -> Result<String> {
    let mut rows = String::new();
    for (chapter, _) in chapters() {
        let exercises = Exercise::all(root(), chapter)?;
        if exercises.is_empty() {
            continue;
        }
        let names: Vec<_> = exercises.iter().map(|exercise| format!("{chapter}/{}", exercise.stem())).collect();
        let (names, all) = (names.join(" "), exercises.len());
        rows += &format!("<tr data-exercises=\"{names}\"><td>{chapter}</td><td class=\"passed\">{all} exercises</td></tr>\n");
    }
    Ok(format!(
        "<figure class=\"lab journal\" data-lab=\"journal\">\n<table>\n<thead><tr><th>chapter</th><th>passed</th></tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table>\n</figure>"
    ))
}

/// Returns the targets of a kernel, as the terminal lists them.
fn targets_of<W: Workload>(_: &Chapter<W>, manifest: &Manifest) -> Result<Vec<String>> {
    Ok(targets::<W>(manifest))
}

fn shown(exercise: &Exercise) -> Result<String> {
    let Exercise { chapter, number, manifest, .. } = exercise;
    let (title, task) = (&manifest.title, fenced(manifest.task.trim()));
    let mut text = format!(
        "<figure class=\"lab exercise\" id=\"exercise-{chapter}-{number}\" data-lab=\"exercise\" data-exercise=\"{chapter}/{number}\">\n\n\
         <p class=\"title\">Exercise {number}: {title}</p>\n\n{task}\n\n"
    );
    if let Some(predict) = &manifest.predict {
        for (number, question) in (1..).zip(&predict.questions) {
            text += &format!("{number}. {}\n", question.ask.trim());
        }
    } else {
        let starter = version(&exercise.solution, Version::Starter).map_err(|reason| anyhow!(reason))?;
        text += &format!("```cpp\n{}\n```\n", starter.trim_end());
        text += "\n<details class=\"targets\" open>\n<summary>It must be right at every size, and have</summary>\n\n";
        text.extend(
            with_chapter!(chapter.as_str(), chapter => targets_of(chapter, manifest))?.iter().map(|target| format!("- {target}\n")),
        );
        text += "\n</details>\n";
    }
    for (number, hint) in (1..).zip(&manifest.hints) {
        text += &format!("\n<details class=\"hint\">\n<summary>Hint {number}</summary>\n\n{}\n\n</details>\n", fenced(hint.trim()));
    }
    Ok(text + &format!("\nIn a terminal:\n\n```console\n$ cargo run -p ch{chapter} -- exercise {number}\n```\n\n</figure>"))
}

/// Returns an exercise with its solution.
fn solved(exercise: &Exercise) -> Result<String> {
    let Exercise { number, manifest, .. } = exercise;
    let mut text =
        format!("### {number}. {}\n\n*{}.* {}\n\n", manifest.title, capital(manifest.kind.word()), fenced(manifest.task.trim()));
    match &manifest.predict {
        Some(predict) => predictions(&mut text, exercise, predict),
        None => {
            let solution = version(&exercise.solution, Version::Solution).map_err(|reason| anyhow!(reason))?;
            text += &format!("```cpp\n{}\n```\n\n| who writes | is told |\n|---|---|\n", solution.trim_end());
            text += &format!("| nothing yet | … {} … |\n", cell(manifest.starter_says.as_deref().unwrap_or_default()));
            for mistake in &exercise.wall.wrong {
                text += &format!("| {} | … {} … |\n", cell(&mistake.what), cell(&mistake.says));
            }
            text.push('\n');
        }
    }
    Ok(text + "*Afterwards:* " + manifest.lesson.trim() + "\n\n")
}

fn predictions(text: &mut String, exercise: &Exercise, predict: &Predict) {
    for (number, question) in (1..).zip(&predict.questions) {
        *text += &format!("{number}. {}\n", question.ask.trim());
    }
    let Exercise { chapter, number, .. } = exercise;
    *text += "\nThe numbers are counted when they are asked for:\n\n";
    *text += &format!("```console\n$ cargo run -p ch{chapter} -- exercise {number} --solution --really\n```\n\n");
    *text += "| question | who answers | is told |\n|---:|---:|---|\n";
    for (number, question) in (1..).zip(&predict.questions) {
        for near in &question.near {
            *text += &format!("| {number} | {} | {} |\n", near.value, cell(&near.says));
        }
    }
    text.push('\n');
}

/// Returns a text with fences around its indented lines: without them, mdBook takes those for Rust.
fn fenced(text: &str) -> String {
    let mut fenced = String::new();
    let mut inside = false;
    for line in text.lines() {
        let indented = line.strip_prefix("    ");
        if inside != indented.is_some() && !line.is_empty() {
            inside = !inside;
            fenced += if inside { "```text\n" } else { "```\n\n" };
        }
        fenced += indented.unwrap_or(line);
        fenced.push('\n');
    }
    if inside {
        fenced += "```\n";
    }
    fenced
}

/// Returns a text for a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indented_lines_are_fenced() {
        assert_eq!(fenced("a\n\n    b\n    c\n\nd"), "a\n\n```text\nb\nc\n\n```\n\nd\n");
        assert_eq!(fenced("    b"), "```text\nb\n```\n");
    }

    #[test]
    fn a_count_of_all_work_says_at_which_size() {
        let shown = exercise("01-conv-naive/7").unwrap();
        assert!(shown.contains("- at most 1100 sectors stored to global memory, at 8192 outputs x 256 taps\n"), "{shown}");
        assert!(shown.contains("- at most 14 bytes moved per multiply-add\n"), "{shown}");
    }
}
