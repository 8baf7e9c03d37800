//! The arguments of `exercise`, and what they ask for.

use std::path::PathBuf;

use clap::Args;
use run::Request;

/// Practice: without a number, list the chapter's exercises; with a number, start that exercise or check what you wrote.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Number of the exercise, from 1
    pub number: Option<u32>,
    #[command(flatten)]
    flags: ActionFlags,
    /// With --solution: show it before you have passed
    #[arg(long, requires = "solution")]
    really: bool,
    /// Save your progress with all exercises of all chapters to a file, as JSON
    #[arg(long, value_name = "FILE", conflicts_with = "number")]
    pub export: Option<PathBuf>,
    /// Where to check: auto is the simulated GPU, and then a real one if this machine has one
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    pub device: Request,
    /// Say nothing on a machine without a GPU
    #[arg(long, hide = true)]
    pub if_there_is_one: bool,
    /// Seed of the random sizes and inputs; without it, each check uses another one
    #[arg(long, value_name = "N", requires = "number")]
    pub seed: Option<u64>,
}

/// Flags for what to do with an exercise. A command line has at most one of them.
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

/// A request about an exercise.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Start it, or check it.
    Work,
    /// Check it whenever it is saved.
    Watch,
    /// Start it again.
    Reset,
    /// Judge these answers.
    Answer(&'a [f64]),
    /// Show one more hint.
    Hint,
    /// Show the solution, if it is passed or if the learner insists.
    Solution { really: bool },
}

impl Options {
    /// Returns what to do with the exercise.
    pub fn action(&self) -> Action<'_> {
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
