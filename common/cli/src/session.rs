//! The open device with its workload, and the header above the results.

use std::process::ExitCode;

use driver::settings::Settings;
use run::ceilings::Ceilings;
use run::console::note;
use run::report::{Outcome, Row};
use run::workload::{Delivery, Plan};
use run::{Chapter, Gpu, Workload, units};

use crate::arguments::Switch;
use crate::error::Result;
use crate::mode::Setup;

pub struct Session<W: Workload> {
    pub gpu: Gpu,
    /// The computation that fills the table.
    pub workload: W,
    /// Further computations that only have to be right, such as other channels of a sound.
    pub others: Vec<W>,
    /// Where the results go.
    pub delivery: Option<Delivery<W>>,
}

impl<W: Workload> Session<W> {
    pub fn open(setup: &Setup<W>) -> Result<Self> {
        let gpu = Gpu::open(&setup.flags.device)?;
        if let Some(simulator) = gpu.simulator() {
            let settings = Settings { checks: Some(setup.flags.check == Switch::On), ..Settings::default() };
            simulator.configure(&settings).map_err(run::Error::Simulator)?;
        }
        let Plan { mut parts, delivery } = W::plan(&setup.workload, setup.flags.seed, &gpu)?;
        let workload = parts.remove(0);
        Ok(Self { gpu, workload, others: parts, delivery })
    }

    pub fn print_header(&self, chapter: &Chapter<W>, ceilings: Option<Ceilings>) -> Result<()> {
        let (info, work) = (self.gpu.info(), self.workload.work());
        let device = match &info.profile {
            Some(profile) => {
                format!("simulated {} (profile {profile}), which counts exactly and has no speed of its own", info.name)
            }
            None => info.name.clone(),
        };
        note(format_args!("{}: {}", chapter.name, chapter.about));
        note(format_args!("device    {device}, compute capability {}, driver {}", info.compute_capability, info.driver));
        note(format_args!("kernels   {}", info.compiler));
        note(format_args!(
            "work      {}: {} multiply-adds, at least {} to read and write",
            self.workload.describe(),
            units::count(work.multiply_adds),
            units::bytes(work.bytes),
        ));
        if let Some(ceilings) = ceilings {
            note(format_args!("ceilings  {ceilings}, measured just now"));
        }
        if let Some(choice) = chapter.choice {
            note(format_args!("choice    {}", choice(&self.gpu, &self.workload)?));
        }
        Ok(())
    }
}

/// Says what is wrong with a stage.
pub fn note_problems(row: &Row) {
    match &row.outcome {
        Outcome::Failed(failure) => note(format_args!("error: stage {}: {failure}", row.name)),
        Outcome::NotRun(reason) => note(format_args!("error: stage {} did not run: {reason}", row.name)),
        Outcome::Verified(measured) => {
            measured.warnings.iter().for_each(|warning| note(format_args!("stage {}: {warning}", row.name)));
        }
        Outcome::Skipped(_) => {}
    }
}

/// Reports why a run's only stage is unverified. Returns the exit status.
pub fn not_verified(row: &Row) -> ExitCode {
    note_problems(row);
    if let Outcome::Skipped(unmet) = &row.outcome {
        note(format_args!("error: stage {} did not run: {unmet}", row.name));
    }
    if matches!(row.outcome, Outcome::Failed(_)) { ExitCode::FAILURE } else { ExitCode::from(2) }
}
