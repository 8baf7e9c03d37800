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
    /// The defect.
    pub reason: String,
}

impl Unusable {
    pub(crate) fn new(path: &Path, reason: impl ToString) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// The reason why an exercise could not be listed, started, or checked.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say what each variant and field is")]
pub enum Error {
    #[error(transparent)]
    Run(#[from] run::Error),
    #[error(transparent)]
    Memory(#[from] simt::MemoryError),
    #[error("chapter {chapter} has no exercise {asked}: expected one of 1 to {last}")]
    NoExercise { chapter: &'static str, asked: u32, last: usize },
    #[error("checking your kernel needs a compiler: {why}. {}", without_compiler(predict))]
    NoCompiler { why: compilers::Error, predict: Vec<u32> },
    #[error("the exercise asks for {expected} numbers, but --answer has {got}")]
    Answers { expected: usize, got: usize },
    #[error("{option} does nothing here: {why}")]
    Unfitting { option: &'static str, why: &'static str },
    #[error("you have not passed this exercise yet: try `{call} --hint`, or add --really to see the solution anyway")]
    NotPassed { call: String },
    #[error(transparent)]
    Exercise(#[from] Unusable),
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot start this program again for the check: {0}; build it again with the command that you used")]
    Restart(io::Error),
}

fn without_compiler(predict: &[u32]) -> String {
    let numbers: Vec<String> = predict.iter().map(u32::to_string).collect();
    match numbers.as_slice() {
        [] => "Everything except exercises works without one".to_owned(),
        [one] => format!("Exercise {one} needs none"),
        several => format!("Exercises {} need none", several.join(" and ")),
    }
}
