//! What can go wrong with an exercise, apart from the learner's kernel.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// What a fallible function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something that is wrong with an exercise in the repository.
#[derive(Debug, Error)]
#[error("{}: {reason}", path.display())]
pub struct Unusable {
    /// The file or the folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// Why an exercise could not be listed, begun or checked.
#[derive(Debug, Error)]
pub enum Error {
    /// The kernel, or what it is compared with, could not be run.
    #[error(transparent)]
    Run(#[from] common::Error),
    /// `exercise` with a number that the chapter does not have.
    #[error("chapter {chapter} has no exercise {asked}: expected one of 1 to {last}")]
    NoExercise {
        /// The chapter.
        chapter: &'static str,
        /// What was asked for.
        asked: u32,
        /// The last one's number.
        last: usize,
    },
    /// A kernel to compile, and no compiler.
    #[error("to check what you write takes a compiler: {why}. {}", without_compiler(predict))]
    NoCompiler {
        /// Where was looked for one, and what mends it.
        why: toolkit::Error,
        /// The exercises of the chapter that need none.
        predict: Vec<u32>,
    },
    /// `--answer` with too few numbers, or too many.
    #[error("{expected} numbers are asked for, and --answer has {got}")]
    Answers {
        /// Numbers that are asked for.
        expected: usize,
        /// Numbers that are there.
        got: usize,
    },
    /// `--solution` of an exercise that is not passed.
    #[error("you have not passed it yet: try `{call} --hint`, or add --really to see the solution all the same")]
    NotPassed {
        /// The command line for the exercise.
        call: String,
    },
    /// An exercise of the repository that cannot be used.
    #[error(transparent)]
    Exercise(#[from] Unusable),
    /// A kernel with other parameters than its launch has arguments.
    #[error(
        "the parameters of {kernel} are not those that the launch gives, one for each of {expected}: leave its first lines as they were"
    )]
    Parameters {
        /// The kernel.
        kernel: String,
        /// The arguments by their names.
        expected: String,
    },
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// This program could not be started a second time, in a process of its own.
    #[error("cannot start this program again for the check: {0}")]
    Restart(io::Error),
    /// Standard output did not take the results.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}

/// Says what can be done without a compiler.
fn without_compiler(predict: &[u32]) -> String {
    let numbers: Vec<String> = predict.iter().map(u32::to_string).collect();
    match numbers.as_slice() {
        [] => "Everything but exercises works without".to_owned(),
        [one] => format!("Exercise {one} needs none"),
        several => format!("Exercises {} need none", several.join(" and ")),
    }
}
