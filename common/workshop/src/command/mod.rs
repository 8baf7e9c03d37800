//! `exercise` on the command line of every chapter.
//!
//! # Layout
//!
//! - `options`: what a learner may type.
//! - `session`: a learner at one exercise.
//! - `list`: the exercises and the learner's progress.
//! - `predict`: exercises that ask for numbers.
//! - `check`: checks of a kernel that the learner wrote.

mod check;
mod list;
mod options;
mod predict;
mod session;

use std::process::ExitCode;

use run::atomic_file::AtomicFile;
use run::{Chapter, Workload};

use crate::error::{Error, Result};
use crate::exercise::{Exercise, root};
use crate::workspace::Workspace;
use checker::text::Version;
use options::Action;
use session::{Session, say, show};

pub use options::Options;

/// Does what the options ask. A fault of the learner's kernel is no error.
pub fn run<W: Workload>(chapter: &Chapter<W>, options: &Options) -> Result<ExitCode> {
    let root = root();
    let workspace = Workspace::new(&root);
    let exercises = Exercise::all(&root, chapter.name)?;
    if let Some(path) = &options.export {
        AtomicFile::create(path)?.finish(&workspace.export()?)?;
        return say(&format!("your progress is in {}", path.display()));
    }
    let Some(number) = options.number else { return list::run(chapter.name, &exercises, &workspace) };
    let Some(exercise) = exercises.iter().find(|exercise| exercise.number == number) else {
        return Err(Error::NoExercise { chapter: chapter.name, asked: number, last: exercises.len() });
    };
    let predict = exercises.iter().filter(|exercise| !exercise.is_written()).map(|exercise| exercise.number).collect();
    let session = Session { chapter, exercise, workspace: &workspace, options, predict };
    match (options.action(), &exercise.manifest.predict) {
        (Action::Hint, _) => session.hint(),
        (Action::Solution { really }, _) if !really && session.progress()?.passed.is_none() => {
            Err(Error::NotPassed { call: session.call() })
        }
        (Action::Solution { .. }, Some(predict)) => {
            let shown = session.right_answers(predict)?;
            session.note_solution()?;
            Ok(shown)
        }
        (Action::Solution { .. }, None) => {
            let shown = show(&session.text(Version::Solution)?)?;
            session.note_solution()?;
            Ok(shown)
        }
        (Action::Answer(answers), Some(predict)) => session.judge(predict, answers),
        (Action::Answer(_), None) => Err(Error::Unfitting { option: "--answer", why: "this exercise asks for a kernel" }),
        (Action::Watch, Some(_)) => {
            Err(Error::Unfitting { option: "--watch", why: "this exercise asks for numbers: answer with --answer" })
        }
        (Action::Reset, Some(_)) => {
            Err(Error::Unfitting { option: "--reset", why: "this exercise asks for numbers, and has no copy" })
        }
        (Action::Work, Some(predict)) => session.ask(predict),
        (Action::Reset, None) => session.start(),
        (Action::Work, None) if session.is_started()? => session.check(),
        (Action::Work, None) => session.start(),
        (Action::Watch, None) => {
            if !session.is_started()? {
                session.start()?;
            }
            session.watch()
        }
    }
}
