//! `--list`: the stages of a chapter, each with its idea.

use std::process::ExitCode;

use common::Chapter;
use common::console;
use common::stage::Stage;
use common::workload::Workload;

use crate::error::Result;

/// Prints one line per stage.
pub fn run<W: Workload>(chapter: &Chapter<W>, stages: &[Stage<W>]) -> Result<ExitCode> {
    let width = stages.iter().map(|stage| stage.name.len()).max().unwrap_or(0);
    let line = |stage: &Stage<W>| {
        let note = if chapter.is_mistake(stage) { " (wrong on purpose: runs only when you name it)" } else { "" };
        format!("{:width$}  {}{note}\n", stage.name, stage.idea)
    };
    console::print(&stages.iter().map(line).collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}
