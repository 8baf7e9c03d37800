//! A chapter: a lesson as data, which the command line, the tests and the book all read.

use kernels::Source;

use crate::error::Result;
use crate::gpu::Gpu;
use crate::report::Row;
use crate::stage::{Experiment, Stage};
use crate::workload::Workload;

/// Says which variant of its kernels a chapter has chosen for a device and a workload.
pub type Choice<W> = fn(&Gpu, &W) -> Result<String>;

/// A lesson: its stages in the order of the table.
pub struct Chapter<W: Workload> {
    /// The chapter's name, for example `01-conv-naive`.
    pub name: &'static str,
    /// What it is about, in one line.
    pub about: &'static str,
    /// Its kernels.
    pub sources: &'static [&'static Source],
    /// The rows.
    pub stages: &'static [Stage<W>],
    /// Stages with a mistake to learn from, which run only when `--stage` names them.
    pub mistakes: &'static [Stage<W>],
    /// Parts of stages that are written as kernels of their own, to find out what a stage waits for.
    pub experiments: &'static [Experiment<W>],
    /// Which of its variants the chapter has chosen for this device and workload, for the lines above the table.
    pub choice: Option<Choice<W>>,
    /// What the rows show, in a line or two computed from them. Rows may be missing or failed.
    pub lesson: fn(&[Row]) -> Vec<String>,
}
