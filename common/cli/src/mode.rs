//! The tasks of a process. Arguments that contradict each other are refused while a [`Mode`] is made, so that no mode can hold them.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};
use run::report::Place;
use run::{Chapter, Stage, Workload, console, lesson};

use crate::arguments::{Action, Arguments, Modes, PictureFlags, SetupFlags, TableFlags};
use crate::error::{Error, Result};

/// A task of a chapter's process. A width is the most characters of a line.
pub enum Mode<W: Workload> {
    /// Runs stages and draws their table.
    Table { stages: Vec<Stage<W>>, flags: TableFlags, width: usize, setup: Setup<W> },
    /// Lists stages.
    List { stages: Vec<Stage<W>>, width: usize },
    /// Explains a stage by what the simulator counts.
    Explain { stage: Stage<W>, picture: PictureFlags, width: usize, setup: Setup<W> },
    /// Finds the bottleneck of a stage.
    Diagnose { stage: Stage<W>, width: usize, setup: Setup<W> },
    /// Practices.
    Exercise(workshop::command::Options),
}

/// The settings of everything that runs a stage.
pub struct Setup<W: Workload> {
    pub flags: SetupFlags,
    pub workload: W::Options,
}

impl<W: Workload> Mode<W> {
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
        let setup = Setup { flags: setup, workload };
        Ok(match modes {
            Modes { list: true, .. } => Mode::List { stages: listed(chapter, &table.stages)?, width },
            Modes { explain: Some(name), .. } => Mode::Explain { stage: launching(chapter, &name)?, picture, width, setup },
            Modes { diagnose: Some(name), .. } => Mode::Diagnose { stage: launching(chapter, &name)?, width, setup },
            Modes { list: false, explain: None, diagnose: None } => {
                Mode::Table { stages: chosen(chapter, &table.stages)?, flags: table, width, setup }
            }
        })
    }
}

/// Returns the stages with these names in the order of the table; all rows when there are no names.
fn chosen<W: Workload>(chapter: &Chapter<W>, names: &[String]) -> Result<Vec<Stage<W>>> {
    if names.is_empty() {
        return Ok(chapter.stages.to_vec());
    }
    let named = names.iter().map(|name| chapter.stage(name)).collect::<Result<Vec<_>, _>>()?;
    Ok(chapter.all_stages().filter(|stage| named.contains(stage)).copied().collect())
}

/// Returns the stages to list: [`chosen`], and without names those, too, that run only when they are named.
fn listed<W: Workload>(chapter: &Chapter<W>, names: &[String]) -> Result<Vec<Stage<W>>> {
    let (mistakes, variants) = if names.is_empty() { (chapter.mistakes, chapter.variants) } else { (&[][..], &[][..]) };
    Ok([&chosen(chapter, names)?, mistakes, variants].concat())
}

/// Returns the stage with this name, which must launch kernels.
fn launching<W: Workload>(chapter: &Chapter<W>, name: &str) -> Result<Stage<W>> {
    let stage = *chapter.stage(name)?;
    if stage.place() == Place::Device {
        return Ok(stage);
    }
    let launching = chapter.stages.iter().filter(|stage| stage.place() == Place::Device);
    let stages = launching.map(|stage| stage.name).collect::<Vec<_>>().join(", ");
    Err(Error::NoKernel { stage: stage.name, stages })
}
