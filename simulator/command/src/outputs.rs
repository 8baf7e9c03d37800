//! The end of a run: one report of many processes, in the forms that the user asks for, and the exit status.

use std::env;
use std::path::Path;
use std::process::Command;

use clap::{Args, ValueEnum};
use driver::files::Spool;
use driver::report::{Destination, Report, Severity};
use driver::variables::REPORT;

use crate::ending::{Result, say};

/// The kind of file that a report is.
const KIND: &str = "report";

/// The options of every subcommand that ends with a report.
#[derive(Debug, Args)]
pub struct Outputs {
    /// Where the report goes: text, github, json:FILE, junit:FILE or sarif:FILE. May be repeated. By default what SIMCUDA_REPORT says, or text
    #[arg(long = "report", value_name = "FORM[:FILE]", value_delimiter = ',')]
    reports: Vec<String>,
    /// The least serious defects that fail the run, error by default
    #[arg(long, value_enum)]
    fail_on: Option<FailOn>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Never,
}

/// The destinations of the report, and the defects that fail the run.
#[derive(Debug)]
pub struct Ending {
    destinations: Vec<Destination>,
    fail_on: FailOn,
}

impl Outputs {
    /// Returns true if the user gave any of the options.
    pub fn are_given(&self) -> bool {
        !self.reports.is_empty() || self.fail_on.is_some()
    }

    /// Checks the options. To be called before the work begins, because a wrong one should not cost a run.
    pub fn prepare(&self) -> Result<Ending> {
        let (asked, variable) = match self.reports.is_empty() {
            false => (self.reports.clone(), "--report"),
            true => (REPORT.text().as_deref().unwrap_or("text").split(',').map(str::to_owned).collect(), REPORT.name),
        };
        let asked = if asked == ["off"] { Vec::new() } else { asked };
        let destinations = asked.iter().map(|text| Destination::parse(text, variable)).collect::<Result<_, _>>()?;
        Ok(Ending { destinations, fail_on: self.fail_on.unwrap_or(FailOn::Error) })
    }
}

impl Ending {
    /// Writes the report. Returns true if the run fails because of it.
    pub fn finish(&self, report: &Report) -> Result<bool> {
        let written = self.write(report, |_| true);
        if self.destinations.contains(&Destination::Text) && !report.kernels.is_empty() {
            let here = env::current_dir().unwrap_or_default();
            for entry in report.unused_suppressions() {
                let at = Path::new(&entry.at);
                let at = at.strip_prefix(&here).unwrap_or(at).display();
                say(format_args!("simcuda: unused suppression at {at}: no defect matched it"));
            }
        }
        written.map(|()| self.fails(report))
    }

    /// Writes only the forms of the report that machines read. The command has told people everything itself.
    pub fn write_for_machines(&self, report: &Report) -> Result<()> {
        self.write(report, |destination| **destination != Destination::Text)
    }

    /// Writes each form that is wanted, even if another one fails. Returns the first error.
    fn write(&self, report: &Report, is_wanted: impl Fn(&&Destination) -> bool) -> Result<()> {
        let written: Vec<_> = self.destinations.iter().filter(is_wanted).map(|destination| destination.write(report)).collect();
        written.into_iter().try_for_each(|written| Ok(written?))
    }

    /// Returns true if a run with this report fails because of it.
    pub fn fails(&self, report: &Report) -> bool {
        report.reported().any(|defect| self.counts(defect.severity))
    }

    /// Returns true if a defect of this severity fails a run.
    pub fn counts(&self, severity: Severity) -> bool {
        match self.fail_on {
            FailOn::Error => severity == Severity::Error,
            FailOn::Warning => true,
            FailOn::Never => false,
        }
    }
}

/// Lets the processes of a program write their reports into a folder.
pub fn ask_for_reports(command: &mut Command, folder: &Path) {
    command.env(REPORT, format!("json:{}", folder.join(format!("{KIND}-%p.json")).display()));
}

/// Reads the reports that a program's processes have written into a folder.
pub fn reports_in(folder: &Path) -> Result<Vec<Report>> {
    Ok(Spool::new(folder, KIND).read(|text| Ok(serde_json::from_slice(text)?))?)
}

/// Makes one report of several.
pub fn merged(reports: impl IntoIterator<Item = Report>) -> Report {
    reports.into_iter().fold(Report::default(), |mut merged, report| {
        merged.merge(report);
        merged
    })
}
