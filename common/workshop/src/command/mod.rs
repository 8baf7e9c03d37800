//! `exercise` on the command line of every chapter.

mod check;
mod list;
mod predict;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use common::Chapter;
use common::atomic_file::AtomicFile;
use common::console;
use common::request::Request;
use common::workload::Workload;
use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::exercise::{Exercise, root};
use crate::text::{Version, version};
use crate::workspace::{Progress, Workspace};

/// Practice: without a number, list the chapter's exercises; with a number, start that exercise or check what you wrote.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Number of the exercise, from 1
    number: Option<u32>,
    #[command(flatten)]
    flags: ActionFlags,
    /// With --solution: show it before you have passed
    #[arg(long, requires = "solution")]
    really: bool,
    /// Save your progress with all exercises of all chapters to a file, as JSON
    #[arg(long, value_name = "FILE", conflicts_with = "number")]
    export: Option<PathBuf>,
    /// Where to check: auto is the simulated GPU, and then a real one if this machine has one
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    device: Request,
    /// Say nothing on a machine without a GPU
    #[arg(long, hide = true)]
    if_there_is_one: bool,
    /// Seed of the random sizes and inputs; without it, each check uses another one
    #[arg(long, value_name = "N", requires = "number")]
    seed: Option<u64>,
}

/// What to do with an exercise. A command line has at most one of these flags.
#[derive(Clone, Debug, Args)]
#[group(multiple = false)]
struct ActionFlags {
    /// Your answers to the questions, in order, if the exercise asks for numbers
    #[arg(long, value_name = "NUMBER", num_args = 1.., requires = "number", allow_negative_numbers = true)]
    answer: Vec<f64>,
    /// Check again whenever you save the file, until it passes
    #[arg(long, requires = "number")]
    watch: bool,
    /// Show a hint; each time one more, up to three
    #[arg(long, requires = "number")]
    hint: bool,
    /// Show the solution of an exercise that you have passed
    #[arg(long, requires = "number")]
    solution: bool,
    /// Start again; your old copy is kept
    #[arg(long, requires = "number")]
    reset: bool,
}

/// What to do with an exercise.
#[derive(Clone, Copy, Debug)]
enum Action<'a> {
    /// Start it, or check it.
    Work,
    /// Check it whenever it is saved.
    Watch,
    /// Start it again.
    Reset,
    /// Judge these answers.
    Answer(&'a [f64]),
    Hint,
    /// Show the solution, if it is passed or if the learner insists.
    Solution { really: bool },
}

impl Options {
    fn action(&self) -> Action<'_> {
        match &self.flags {
            ActionFlags { hint: true, .. } => Action::Hint,
            ActionFlags { solution: true, .. } => Action::Solution { really: self.really },
            ActionFlags { reset: true, .. } => Action::Reset,
            ActionFlags { watch: true, .. } => Action::Watch,
            ActionFlags { answer, .. } if answer.is_empty() => Action::Work,
            ActionFlags { answer, .. } => Action::Answer(answer),
        }
    }
}

/// Does what the options ask.
///
/// # Errors
///
/// What is not the fault of the learner's kernel: an exercise that does not exist, files, a missing compiler.
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
        (Action::Solution { .. }, Some(predict)) => session.right_answers(predict),
        (Action::Solution { .. }, None) => say(session.text(Version::Solution)?.trim_end()),
        (Action::Answer(answers), Some(predict)) => session.judge(predict, answers),
        (Action::Answer(answers), None) => Err(Error::Answers { expected: 0, got: answers.len() }),
        (Action::Work | Action::Watch | Action::Reset, Some(predict)) => session.ask(predict),
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

/// The command line for an exercise.
fn call(chapter: &str, number: u32) -> String {
    format!("cargo run -p ch{chapter} -- exercise {number}")
}

/// A learner at one exercise.
struct Session<'a, W: Workload> {
    chapter: &'a Chapter<W>,
    exercise: &'a Exercise,
    workspace: &'a Workspace,
    options: &'a Options,
    /// The exercises of the chapter that need no compiler.
    predict: Vec<u32>,
}

impl<W: Workload> Session<'_, W> {
    /// The exercise's title and task.
    fn task(&self) -> String {
        let Exercise { chapter, number, manifest, .. } = self.exercise;
        format!("exercise {number} of {chapter}, {}: {}\n\n{}\n", manifest.kind.word(), manifest.title, manifest.task.trim())
    }

    fn call(&self) -> String {
        call(self.chapter.name, self.exercise.number)
    }

    fn hint(&self) -> Result<ExitCode> {
        let hints = &self.exercise.manifest.hints;
        let next = |progress: &mut Progress| progress.hints = (progress.hints + 1).min(hints.len() as u32);
        let shown = self.workspace.note(self.exercise, next)?.hints as usize;
        let lines = (1..).zip(&hints[..shown]).map(|(number, hint)| format!("hint {number} of {}: {}", hints.len(), hint.trim()));
        say(&lines.collect::<Vec<_>>().join("\n"))
    }

    /// The starter or the solution.
    fn text(&self, wanted: Version) -> Result<String> {
        Ok(version(&self.exercise.solution, wanted).map_err(|reason| self.exercise.unusable(format!("solution.cu: {reason}")))?)
    }

    fn progress(&self) -> Result<Progress> {
        self.workspace.progress(self.exercise)
    }

    /// Records an attempt. Attempts after the first pass do not count.
    fn note_attempt(&self, passed: bool) -> Result<()> {
        let note = |progress: &mut Progress| {
            if progress.passed.is_none() {
                progress.attempts += 1;
                progress.passed = passed.then(|| Timestamp::now().strftime("%FT%TZ").to_string());
            }
        };
        self.workspace.note(self.exercise, note).map(drop)
    }

    fn is_started(&self) -> Result<bool> {
        Ok(self.workspace.read(self.exercise)?.is_some())
    }

    /// Makes the learner's copy and says what to do.
    fn start(&self) -> Result<ExitCode> {
        let kept = self.workspace.lay_out(self.exercise, &self.text(Version::Starter)?)?;
        let kept = kept.map_or(String::new(), |kept| format!("\nyour old one is kept as {}", short(&kept)));
        let copy = short(&self.workspace.copy(self.exercise));
        let (task, call) = (self.task(), self.call());
        say(&format!("{task}\nyour copy   {copy}{kept}\n\nedit it, then check it with the same command: {call}"))
    }
}

/// A path as short as possible.
fn short(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

/// Prints a result.
fn say(text: &str) -> Result<ExitCode> {
    console::print(&format!("{text}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a result of an attempt that failed.
fn say_failed(text: &str) -> Result<ExitCode> {
    say(text)?;
    Ok(ExitCode::FAILURE)
}
