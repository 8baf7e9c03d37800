//! `--list`: the stages of a chapter, each with its idea.

use std::process::ExitCode;

use run::console::{self, wrap_lines};
use run::{Chapter, Stage, Workload};

use crate::error::Result;

/// Prints each stage with its idea. A long idea continues under its start.
pub fn run<W: Workload>(chapter: &Chapter<W>, stages: &[Stage<W>], width: usize) -> Result<ExitCode> {
    let names = stages.iter().map(|stage| stage.name.len()).max().unwrap_or(0);
    let line = |stage: &Stage<W>| {
        let note = if chapter.is_mistake(stage) {
            " (wrong on purpose: runs only when you name it)"
        } else if chapter.is_variant(stage) {
            " (runs only when you name it)"
        } else {
            ""
        };
        wrap_lines(&format!("{:names$}  {}{note}\n", stage.name, stage.idea), width)
    };
    console::print(&stages.iter().map(line).collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}
