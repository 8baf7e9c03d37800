//! The errors of an exercise, apart from those of the learner's kernel.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A defect of an exercise in the repository.
#[derive(Debug, Error)]
#[error("{}: {reason}", path.display())]
pub struct Unusable {
    /// The file or the folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl Unusable {
    pub(crate) fn new(path: &Path, reason: impl ToString) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// Why an exercise could not be listed, started, or checked.
#[derive(Debug, Error)]
pub enum Error {
    /// The kernel, or what it is compared with, could not be run, or a result could not be written.
    #[error(transparent)]
    Run(#[from] run::Error),
    /// An exercise number that the chapter does not have.
    #[error("chapter {chapter} has no exercise {asked}: expected one of 1 to {last}")]
    NoExercise {
        /// The chapter.
        chapter: &'static str,
        /// The number.
        asked: u32,
        /// The last exercise's number.
        last: usize,
    },
    /// A kernel to compile, but no compiler.
    #[error("checking your kernel needs a compiler: {why}. {}", without_compiler(predict))]
    NoCompiler {
        /// Where we looked for one, and how to get one.
        why: compilers::Error,
        /// The exercises of the chapter that need none.
        predict: Vec<u32>,
    },
    /// `--answer` with too few numbers, or too many.
    #[error("the exercise asks for {expected} numbers, but --answer has {got}")]
    Answers {
        /// How many numbers the exercise asks for.
        expected: usize,
        /// How many numbers there are.
        got: usize,
    },
    /// An option that this kind of exercise has no use for.
    #[error("{option} does nothing here: {why}")]
    Unfitting {
        /// The option.
        option: &'static str,
        /// What the exercise expects instead.
        why: &'static str,
    },
    /// `--solution` of an exercise that is not passed.
    #[error("you have not passed this exercise yet: try `{call} --hint`, or add --really to see the solution anyway")]
    NotPassed {
        /// The command line for the exercise.
        call: String,
    },
    /// An exercise of the repository that cannot be used.
    #[error(transparent)]
    Exercise(#[from] Unusable),
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// This program could not be started a second time, in a process of its own.
    #[error("cannot start this program again for the check: {0}; build it again with the command that you used")]
    Restart(io::Error),
}

/// Says what a learner can do without a compiler.
fn without_compiler(predict: &[u32]) -> String {
    let numbers: Vec<String> = predict.iter().map(u32::to_string).collect();
    match numbers.as_slice() {
        [] => "Everything except exercises works without one".to_owned(),
        [one] => format!("Exercise {one} needs none"),
        several => format!("Exercises {} need none", several.join(" and ")),
    }
}
