//! `--explain`: one stage on the simulator, with everything that is known about it.

use std::process::ExitCode;

use inspect::explain::{Explanation, Style};
use run::atomic_file::AtomicFile;
use run::console::{self, wrap};
use run::{Chapter, Stage, Workload, runner};

use crate::arguments::PictureFlags;
use crate::error::{Error, Result};
use crate::mode::Setup;
use crate::patience;
use crate::session::{Session, not_verified};

pub fn run<W: Workload>(
    chapter: &Chapter<W>,
    stage: Stage<W>,
    picture: &PictureFlags,
    width: usize,
    setup: &Setup<W>,
) -> Result<ExitCode> {
    let line = picture.line.as_ref();
    let svg = picture.svg.as_deref().map(AtomicFile::create).transpose()?;
    let session = Session::open(setup)?;
    let Session { gpu, workload, .. } = &session;
    let Some(profile) = gpu.profile() else {
        return Err(Error::ExplainNeedsSimulator { device: gpu.info().name.clone() });
    };
    session.print_header(chapter, None)?;
    let expected = patience::agree(&session, &[stage], setup, 1, None)?;
    let row = runner::run_expecting(gpu, &[stage], workload, 0, &expected)?.rows.remove(0);
    let Some(measured) = row.measured() else { return Ok(not_verified(&row)) };
    let explanation =
        Explanation::new(stage.name, measured.all_launches().map_err(Error::Run)?, stage.least_bytes(workload), profile);
    let text = explanation.text(line, kernels::text, Style::of_stdout(width))?;
    let drawing = svg.map(|file| Ok::<_, Error>((file, explanation.svg(line, kernels::text)?))).transpose()?;
    let heading = wrap(&format!("{}: {}", stage.name, stage.idea), width);
    let shown = console::print(&format!("{heading}\n\n{text}"));
    if let Some((file, drawing)) = drawing {
        file.finish(&drawing)?;
    }
    shown?;
    Ok(ExitCode::SUCCESS)
}
