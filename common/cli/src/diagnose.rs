//! `--diagnose`: one stage whole and with parts of its work removed, to find its bottleneck.

use std::process::ExitCode;

use inspect::diagnose::diagnose;
use run::ceilings::Ceilings;
use run::console::{self, wrap};
use run::{Chapter, Stage, Workload};

use crate::error::Result;
use crate::mode::Setup;
use crate::patience;
use crate::session::{Session, not_verified};

pub fn run<W: Workload>(chapter: &Chapter<W>, stage: Stage<W>, width: usize, setup: &Setup<W>) -> Result<ExitCode> {
    let session = Session::open(setup)?;
    session.print_header(chapter, None)?;
    // Whole, without either kind of load and without both, and as the chapter's own experiments.
    let own = chapter.experiments.iter().filter(|experiment| experiment.stage == stage).count();
    let ceilings = Ceilings::measure(&session.gpu, session.workload.work().arithmetic)?;
    patience::agree(&session, &[stage], setup, 4 + own, ceilings)?;
    match diagnose(&session.gpu, &stage, chapter.experiments, &session.workload, setup.flags.repeat.into())? {
        Ok(diagnosis) => {
            let heading = wrap(&format!("{}: {}", stage.name, stage.idea), width);
            console::print(&format!("{heading}\n\n{}", diagnosis.text_in(width)))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(row) => Ok(not_verified(&row)),
    }
}
