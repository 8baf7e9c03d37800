//! The exercises outside of a terminal: a web page judges answers of their walls as a terminal does, and the cases at which a kernel is
//! checked are read as a command line reads them.

use checker_web::answer::Answer;
use checker_web::check::execute;
use checker_web::request::{Check, Compiled, Forms, Output, Request};
use clap::{Args, Parser};
use compilers::compiler::compile_with_nvrtc;
use compilers::input::{Form, Input};
use compilers::nvrtc::Nvrtc;
use compilers::variables::{EVERY_ANSWER, REQUIRE_NVRTC};
use run::Chapter;
use run::workload::{Plan, Workload};
use support::exercises::in_parallel;
use workshop::text::{Version, version};
use workshop::{Exercise, root};

use crate::device::with_gpu;

fn text(exercise: &Exercise, wanted: Version) -> String {
    version(&exercise.solution, wanted).unwrap_or_else(|error| panic!("{}: {error}", exercise.stem()))
}

/// Returns a page's verdict on a text, using a terminal's compiler.
fn judged(nvrtc: &Nvrtc, problem: &str, exercise: &Exercise, text: &str) -> (bool, String) {
    let name = format!("{}.cu", exercise.stem());
    // As the page does before it compiles.
    let text = text.trim_start_matches('\u{feff}');
    let architecture = &exercise.manifest.kernel.as_ref().expect("a kernel is asked for").architecture;
    let compiled = exercise.manifest.source(&name, text);
    let form = |form| match compile_with_nvrtc(nvrtc, Input { name: &name, text: &compiled, headers: &[] }, architecture, form) {
        Ok((ptx, remarks)) => Output::Compiled(Compiled { ptx, remarks }),
        Err(compilers::Error::Compile { log, .. }) => Output::Refused { log },
        Err(error) => panic!("{}: {error}", exercise.stem()),
    };
    let forms = Forms {
        optimized: form(Form::Optimized),
        plain: Some(form(Form::Plain)),
        quiet: text.contains("printf").then(|| form(Form::Quiet)),
    };
    let check = Check {
        problem: problem.to_owned(),
        manifest: exercise.manifest.clone(),
        starter: self::text(exercise, Version::Starter),
        name: name.clone(),
        text: text.to_owned(),
        forms,
        seed: 13,
        only_shows: false,
    };
    match execute(Request::Check(Box::new(check))) {
        Answer::Verdict { passed, message, .. } => (passed, message),
        other => panic!("{}: {other:?}", exercise.stem()),
    }
}

/// Answers to an exercise with what the check must say about each: words, and whether it passes.
///
/// The tests of each chapter try these answers with the same check on the same simulated device, so most are tried here only when a variable
/// asks for every answer: each day, the starter of every second exercise, and the solution of the others.
fn answers(exercise: &Exercise) -> Vec<(String, String, bool)> {
    let solution = text(exercise, Version::Solution);
    let starter_says = exercise.manifest.starter_says.clone().unwrap_or_default();
    let starter = (text(exercise, Version::Starter), starter_says, false);
    let solved = (solution.clone(), "passed: right at all".to_owned(), true);
    let mut answers = vec![if exercise.number.is_multiple_of(2) { solved.clone() } else { starter.clone() }];
    if EVERY_ANSWER.is_one() {
        answers = vec![starter, solved];
        let changed = |change: &workshop::wall::Change| {
            change.apply(&solution).unwrap_or_else(|error| panic!("{}: {error}", exercise.stem()))
        };
        answers.extend(exercise.wall.wrong.iter().map(|wrong| (changed(&wrong.change), wrong.says.clone(), false)));
        answers.extend(exercise.wall.right.iter().map(|right| (changed(&right.change), right.says.clone(), true)));
    }
    answers
}

/// Judges the answers of a chapter's walls, and reads its cases.
fn examine<W: Workload>(chapter: &'static Chapter<W>) {
    let exercises = Exercise::all(&root(), chapter.name).unwrap_or_else(|error| panic!("{error}"));
    exercises.iter().for_each(cases_are_read_alike::<W>);
    let nvrtc = match Nvrtc::find() {
        Ok(nvrtc) => nvrtc,
        Err(why) => {
            return REQUIRE_NVRTC.skip("exercises as a page checks them", why);
        }
    };
    let written = exercises.iter().filter(|exercise| exercise.is_written());
    let all: Vec<_> = written.flat_map(|exercise| answers(exercise).into_iter().map(move |answer| (exercise, answer))).collect();
    let wrongly_judged = in_parallel(&all, |(exercise, (answer, says, passes))| {
        let (passed, message) = judged(&nvrtc, W::NAME, exercise, answer);
        let is_right = passed == *passes && message.contains(says.as_str());
        (!is_right).then(|| format!("{}: expected {passes} and `{says}`, got {passed} and\n{message}\n{answer}", exercise.stem()))
    });
    let wrongly_judged: Vec<String> = wrongly_judged.into_iter().flatten().collect();
    assert!(wrongly_judged.is_empty(), "{}", wrongly_judged.join("\n\n"));
}

/// A chapter's options.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Line<O: Args> {
    #[command(flatten)]
    options: O,
}

fn cases_are_read_alike<W: Workload>(exercise: &Exercise) {
    let Some(cases) = &exercise.manifest.cases else { return };
    // Only exercises choose what the values are like.
    for case in cases.fixed.iter().chain([&cases.counted]).filter(|case| !case.contains("--values")) {
        let words = ["--size"].into_iter().chain(case.split_whitespace());
        let options = Line::<W::Options>::try_parse_from(words).unwrap_or_else(|error| panic!("{case}: {error}")).options;
        let Plan { parts, .. } = with_gpu(|gpu| W::plan(&options, 13, gpu).unwrap_or_else(|error| panic!("{case}: {error}")));
        let problem = W::of_case(case, 13).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!((parts[0].describe(), parts[0].inputs()), (problem.describe(), problem.inputs()));
    }
}

#[test]
fn a_page_judges_chapter_01_as_a_terminal_does() {
    examine(&conv_naive::CHAPTER);
}

#[test]
fn a_page_judges_chapter_02_as_a_terminal_does() {
    examine(&conv_shared::CHAPTER);
}

#[test]
fn a_page_judges_chapter_03_as_a_terminal_does() {
    examine(&unroll::CHAPTER);
}

#[test]
fn a_page_judges_chapter_04_as_a_terminal_does() {
    examine(&correlation_sm_aware::CHAPTER);
}

#[test]
fn a_page_judges_chapter_05_as_a_terminal_does() {
    examine(&window_sums::CHAPTER);
    examine(&histogram::CHAPTER);
}

#[test]
fn a_page_judges_chapter_06_as_a_terminal_does() {
    examine(&matmul_tiled::CHAPTER);
}
