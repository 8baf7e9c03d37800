//! What the process will do. Arguments that contradict each other are refused while a [`Mode`] is made, so that no mode can hold them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches};
use inspect::Line;
use run::report::Place;
use run::request::Request;
use run::stage::Stage;
use run::workload::Workload;
use run::{Chapter, console, lesson};

use crate::arguments::{Action, Arguments, Format, Modes, Switch};
use crate::error::{Error, Result};

/// What a chapter's process can do.
pub enum Mode<W: Workload> {
    /// Runs stages and draws their table.
    Table(Table<W>),
    /// Lists stages.
    List(List<W>),
    /// Explains a stage by what the simulator counts.
    Explain(Explain<W>),
    /// Finds the bottleneck of a stage.
    Diagnose(Diagnose<W>),
    /// Practices.
    Exercise(workshop::command::Options),
}

/// A list of stages.
pub struct List<W: Workload> {
    pub stages: Vec<Stage<W>>,
    /// The most characters of a line.
    pub width: usize,
}

/// A run that draws the table.
pub struct Table<W: Workload> {
    pub stages: Vec<Stage<W>>,
    pub format: Format,
    /// The columns, by name; none means the most important ones.
    pub columns: Vec<String>,
    /// The most characters of a line.
    pub width: usize,
    pub save: Option<PathBuf>,
    pub setup: Setup<W>,
}

/// An explanation of one stage.
pub struct Explain<W: Workload> {
    pub stage: Stage<W>,
    /// The line whose request is drawn; `None` takes the most expensive one.
    pub line: Option<Line>,
    pub svg: Option<PathBuf>,
    /// The most characters of a line.
    pub width: usize,
    pub setup: Setup<W>,
}

/// A diagnosis of one stage.
pub struct Diagnose<W: Workload> {
    pub stage: Stage<W>,
    /// The most characters of a line.
    pub width: usize,
    pub setup: Setup<W>,
}

/// What everything that runs a stage needs.
pub struct Setup<W: Workload> {
    pub device: Request,
    pub seed: u64,
    /// How many times each stage is timed.
    pub repeat: usize,
    /// Whether the simulator checks kernels.
    pub checks: bool,
    /// Whether work that takes minutes starts without a question.
    pub agreed: bool,
    pub workload: W::Options,
}

impl<W: Workload> Mode<W> {
    /// Reads a command line of the chapter.
    pub fn parse(chapter: &Chapter<W>, arguments: impl Iterator<Item = OsString>) -> Result<Self> {
        let command = Arguments::<W::Options>::command();
        let command =
            command.name(chapter.name).about(chapter.about).version(env!("CARGO_PKG_VERSION")).term_width(console::width());
        // clap would show two lines, because flags of the chapter do not go with a subcommand.
        let command = command.override_usage(format!("{} [OPTIONS] [COMMAND]", chapter.name));
        let matches = command.try_get_matches_from(arguments)?;
        let Arguments { action, modes, table, picture, setup, workload } = Arguments::<W::Options>::from_arg_matches(&matches)?;
        if let Some(Action::Exercise(options)) = action {
            return Ok(Mode::Exercise(options));
        }
        let width = if table.wide { usize::MAX } else { console::width() };
        run::table::check(&table.columns, &lesson::measures(chapter.lesson))?;
        let setup = Setup {
            device: setup.device,
            seed: setup.seed,
            repeat: usize::from(setup.repeat),
            checks: setup.check == Switch::On,
            agreed: setup.yes,
            workload,
        };
        Ok(match modes {
            Modes { list: true, .. } => Mode::List(List { stages: listed(chapter, &table.stages)?, width }),
            Modes { explain: Some(name), .. } => {
                let stage = launching(chapter, &name)?;
                Mode::Explain(Explain { stage, line: picture.line, svg: picture.svg, width, setup })
            }
            Modes { diagnose: Some(name), .. } => Mode::Diagnose(Diagnose { stage: launching(chapter, &name)?, width, setup }),
            Modes { list: false, explain: None, diagnose: None } => {
                let stages = chosen(chapter, &table.stages)?;
                Mode::Table(Table { stages, format: table.format, columns: table.columns, width, save: table.save, setup })
            }
        })
    }
}

/// The stages with these names in the order of the table; all rows when there are no names.
fn chosen<W: Workload>(chapter: &Chapter<W>, names: &[String]) -> Result<Vec<Stage<W>>> {
    if names.is_empty() {
        return Ok(chapter.stages.to_vec());
    }
    let named = names.iter().map(|name| chapter.stage(name)).collect::<Result<Vec<_>, _>>()?;
    Ok(chapter.all_stages().filter(|stage| named.contains(stage)).copied().collect())
}

/// The stages to list: [`chosen`], and without names those, too, that run only when they are named.
fn listed<W: Workload>(chapter: &Chapter<W>, names: &[String]) -> Result<Vec<Stage<W>>> {
    let (mistakes, variants) = if names.is_empty() { (chapter.mistakes, chapter.variants) } else { (&[][..], &[][..]) };
    Ok([&chosen(chapter, names)?, mistakes, variants].concat())
}

/// The stage with this name, which must launch kernels.
fn launching<W: Workload>(chapter: &Chapter<W>, name: &str) -> Result<Stage<W>> {
    let stage = *chapter.stage(name)?;
    if stage.place() == Place::Device {
        return Ok(stage);
    }
    let launching = chapter.stages.iter().filter(|stage| stage.place() == Place::Device);
    let stages = launching.map(|stage| stage.name).collect::<Vec<_>>().join(", ");
    Err(Error::NoKernel { stage: stage.name, stages })
}
