//! A chapter: a lesson as data, which the command line, the tests, and the book all read.

use kernels::Source;
use thiserror::Error;

use crate::{Comparison, Experiment, Gpu, Result, Stage, Workload};

/// Function that names the kernel variant chosen for a device and workload.
pub type Choice<W> = fn(&Gpu, &W) -> Result<String>;

/// A chapter: its stages in the order of the table, and what the table shows.
pub struct Chapter<W: Workload> {
    /// The chapter's name, for example `01-conv-naive`.
    pub name: &'static str,
    /// Its subject, in one line.
    pub about: &'static str,
    /// Its kernels.
    pub sources: &'static [&'static Source],
    /// The rows.
    pub stages: &'static [Stage<W>],
    /// Stages with a mistake to learn from, which run only when `--stage` names them.
    pub mistakes: &'static [Stage<W>],
    /// Right stages that answer one question of the book. They would only make the table longer, so they run only when `--stage` names them.
    pub variants: &'static [Stage<W>],
    /// Stages with some of their work removed, to find out what limits them.
    pub experiments: &'static [Experiment<W>],
    /// Which of its variants the chapter has chosen for this device and workload, for the lines above the table.
    pub choice: Option<Choice<W>>,
    /// The lesson of the rows: one comparison per line below the table.
    pub lesson: &'static [Comparison<W>],
}

/// A name that no stage of the chapter has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("chapter {chapter} has no stage named `{asked}`: expected one of {known}")]
pub struct UnknownStage {
    /// The chapter.
    pub chapter: &'static str,
    /// The name that was asked for.
    pub asked: String,
    /// The names that there are.
    pub known: String,
}

impl<W: Workload> Chapter<W> {
    /// Returns every stage that can be named: the rows, then the mistakes and the variants.
    pub fn all_stages(&self) -> impl Iterator<Item = &'static Stage<W>> {
        self.stages.iter().chain(self.mistakes).chain(self.variants)
    }

    /// Returns the stage that a person or a file names.
    pub fn stage(&self, name: &str) -> Result<&'static Stage<W>, UnknownStage> {
        self.all_stages().find(|stage| stage.name == name).ok_or_else(|| UnknownStage {
            chapter: self.name,
            asked: name.to_owned(),
            known: self.all_stages().map(|stage| stage.name).collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns true if the stage is there to show a mistake.
    pub fn is_mistake(&self, stage: &Stage<W>) -> bool {
        self.mistakes.contains(stage)
    }

    /// Returns true if the stage is a variant. Variants are right and have no row.
    pub fn is_variant(&self, stage: &Stage<W>) -> bool {
        self.variants.contains(stage)
    }
}
