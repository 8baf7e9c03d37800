//! A chapter's exercises, checked as a learner checks them: by the chapter's binary. The tests of every chapter include this file, and say in
//! `BINARY` and `CHAPTER` which one it is.
//!
//! Every check has a process of its own, because a kernel that goes wrong takes its driver with it.

use std::env;
use std::fs;
use std::io::{Write, stderr};
use std::path::Path;
use std::process::{Command, Stdio};

use common::probe::probe;
use tempfile::TempDir;
use toolkit::nvrtc::Nvrtc;
use workshop::manifest::Mistake;
use workshop::text::{Version, version};
use workshop::workspace::{VARIABLE, Workspace};
use workshop::{Exercise, root};

use crate::{BINARY, CHAPTER};

/// Set to `1`, a machine without NVRTC fails the tests that compile.
const REQUIRE_NVRTC: &str = "UNROLLED_REQUIRE_NVRTC";

fn all() -> Vec<Exercise> {
    Exercise::all(&root(), CHAPTER).unwrap_or_else(|error| panic!("{error}"))
}

/// Those for which a kernel is written; none, and said so, on a machine that cannot compile one.
fn written() -> Vec<Exercise> {
    if let Err(why) = Nvrtc::find() {
        assert!(!env::var(REQUIRE_NVRTC).is_ok_and(|value| value == "1"), "{REQUIRE_NVRTC}=1, and {why}");
        let line = why.to_string();
        let line = line.lines().next().unwrap_or_default();
        // Straight to the stream: the test harness keeps what a passing test prints.
        let _ = writeln!(stderr(), "SKIPPED: exercises to write, because {line}; {REQUIRE_NVRTC}=1 makes this a failure");
        return Vec::new();
    }
    all().into_iter().filter(Exercise::is_written).collect()
}

fn text(exercise: &Exercise, wanted: Version) -> String {
    version(&exercise.solution, wanted).unwrap_or_else(|error| panic!("{}: {error}", exercise.stem()))
}

/// The exercise on the command line, in a learner's workspace: exit status and what is said.
fn exercise(workspace: &Path, exercise: &Exercise, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(BINARY);
    command.args(["exercise", &exercise.number.to_string()]).args(arguments).env(VARIABLE, workspace).stdin(Stdio::null());
    let output = command.output().expect("the chapter's binary can be started");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

/// A learner's workspace with a text in it, checked.
fn checked(asked: &Exercise, text: &str, device: &str) -> (Option<i32>, String) {
    let workspace = TempDir::new().expect("a temporary folder");
    let copy = workspace.path().join(CHAPTER).join(format!("{}.cu", asked.stem()));
    fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder can be made");
    fs::write(copy, text).expect("a file can be written");
    exercise(workspace.path(), asked, &["--device", device, "--seed", "13"])
}

#[test]
fn there_are_three_exercises_or_more() {
    assert!(all().len() >= 3, "{CHAPTER} has {} exercises", all().len());
}

#[test]
fn a_starter_is_what_a_learner_gets_and_the_solution_but_for_the_marked_parts() {
    for asked in all().iter().filter(|asked| asked.is_written()) {
        let (starter, solution) = (text(asked, Version::Starter), text(asked, Version::Solution));
        assert_ne!(starter, solution, "{}: nothing is marked", asked.stem());
        assert!(!starter.contains("SOLUTION"), "{}: a mark is left in the starter", asked.stem());
        let outside = |text: &str| asked.solution.lines().filter(|line| text.lines().any(|other| other == *line)).count();
        assert!(outside(&starter) > 3 && outside(&solution) > 3, "{}: the marked part is everything", asked.stem());
        let workspace = TempDir::new().expect("a temporary folder");
        let (status, said) = exercise(workspace.path(), asked, &[]);
        assert_eq!(status, Some(0), "{}: {said}", asked.stem());
        let copy = Workspace::at(workspace.path().to_owned()).copy(asked);
        assert_eq!(fs::read_to_string(copy).expect("the copy was made"), starter, "{}", asked.stem());
    }
}

#[test]
fn every_starter_compiles_and_fails_with_the_message_that_is_promised() {
    for asked in written() {
        let (status, said) = checked(&asked, &text(&asked, Version::Starter), "sim");
        let promised = asked.manifest.starter_says.as_deref().unwrap_or_default();
        assert_eq!(status, Some(1), "the starter of {}: {said}", asked.stem());
        assert!(said.contains(promised) && !said.contains("does not compile"), "{}: `{promised}` is not in:\n{said}", asked.stem());
    }
}

#[test]
fn every_solution_passes() {
    for asked in written() {
        let (status, said) = checked(&asked, &text(&asked, Version::Solution), "sim");
        assert_eq!(status, Some(0), "the solution of {}: {said}", asked.stem());
        assert!(said.contains("passed: right at all"), "{}: {said}", asked.stem());
    }
}

#[test]
fn every_solution_passes_on_a_gpu() {
    if let Err(why) = probe() {
        let _ = writeln!(stderr(), "SKIPPED: exercises on a GPU, because {why}");
        return;
    }
    for asked in written() {
        let (status, said) = checked(&asked, &text(&asked, Version::Solution), "gpu");
        assert_eq!(status, Some(0), "the solution of {}: {said}", asked.stem());
        assert!(said.contains(" as fast"), "{}: no time is told: {said}", asked.stem());
    }
}

#[test]
fn every_typical_mistake_is_named() {
    for asked in written() {
        let solution = text(&asked, Version::Solution);
        for Mistake { what, replace, with, says } in &asked.manifest.mistakes {
            let times = solution.matches(replace.as_str()).count();
            assert_eq!(times, 1, "{}, {what}: `{replace}` stands {times} times in the solution", asked.stem());
            let (status, said) = checked(&asked, &solution.replace(replace.as_str(), with), "sim");
            assert_eq!(status, Some(1), "{}, {what}, is not found:\n{said}", asked.stem());
            assert!(said.contains(says.as_str()), "{}, {what}: `{says}` is not in:\n{said}", asked.stem());
        }
    }
}

/// The first number of a line of `--solution`, where an answer stands.
fn answers(said: &str) -> Vec<String> {
    let numbers = said.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    numbers.filter(|word| word.parse::<f64>().is_ok()).map(str::to_owned).collect()
}

#[test]
fn predictions_take_the_right_numbers_and_say_what_is_wrong_with_others() {
    for asked in all() {
        let Some(predict) = &asked.manifest.predict else { continue };
        let workspace = TempDir::new().expect("a temporary folder");
        let (status, said) = exercise(workspace.path(), &asked, &["--solution", "--really"]);
        assert_eq!(status, Some(0), "{}: {said}", asked.stem());
        let right = answers(&said);
        assert_eq!(right.len(), predict.questions.len(), "{}: {said}", asked.stem());
        let answer = |answers: &[String]| {
            let answers: Vec<&str> = ["--answer"].into_iter().chain(answers.iter().map(String::as_str)).collect();
            exercise(workspace.path(), &asked, &answers)
        };
        for (place, question) in predict.questions.iter().enumerate() {
            for near in &question.near {
                let mut wrong = right.clone();
                wrong[place] = near.value.to_string();
                let (status, said) = answer(&wrong);
                assert_eq!(status, Some(1), "{}, {}: {said}", asked.stem(), near.value);
                assert!(said.contains(near.says.trim()), "{}, {}: {said}", asked.stem(), near.value);
            }
        }
        let (status, said) = answer(&right);
        assert_eq!(status, Some(0), "{}: {said}", asked.stem());
    }
}
