//! `--diagnose`: one stage whole and with parts of its work removed, to find its bottleneck.

use std::process::ExitCode;

use common::Chapter;
use common::console;
use common::workload::Workload;
use inspect::diagnose::diagnose;

use crate::error::Result;
use crate::mode::Diagnose;
use crate::session::{Session, not_verified};

/// Runs the stage and its experiments, and prints the diagnosis.
pub fn run<W: Workload>(chapter: &Chapter<W>, request: Diagnose<W>) -> Result<ExitCode> {
    let Diagnose { stage, setup } = request;
    let session = Session::open(&setup)?;
    session.print_header(chapter, None)?;
    match diagnose(&session.gpu, &stage, chapter.experiments, &session.workload, setup.repeat)? {
        Ok(diagnosis) => {
            console::print(&format!("{}: {}\n\n{}", stage.name, stage.idea, diagnosis.text()))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(row) => Ok(not_verified(&row)),
    }
}
