//! The flags and options of the command line. `Mode::parse` turns it into what the process will do.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use inspect::Line;
use run::Request;
use run::whole_number::within;

/// A chapter's command line: what all chapters have, and the options `O` of its workload.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments<O: Args> {
    #[command(subcommand)]
    pub action: Option<Action>,
    #[command(flatten)]
    pub modes: Modes,
    #[command(flatten)]
    pub table: TableFlags,
    #[command(flatten)]
    pub picture: PictureFlags,
    #[command(flatten)]
    pub setup: SetupFlags,
    #[command(flatten)]
    pub workload: O,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Practice: list the chapter's exercises, start one, or check what you wrote
    Exercise(workshop::command::Options),
}

/// Modes. A command line has at most one of these flags. Without one, the stages run and the table is drawn.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct Modes {
    /// List the stages and exit
    #[arg(long)]
    pub list: bool,
    /// Explain a stage by what the simulator counts: counts per source line, the bottleneck, and one memory request of a warp
    #[arg(long, value_name = "STAGE", conflicts_with_all = TABLE_FLAGS)]
    pub explain: Option<String>,
    /// Find the bottleneck of a stage: run it whole, then without its global loads, without its shared loads, and as the chapter's own
    /// experiments
    #[arg(long, value_name = "STAGE", conflicts_with_all = TABLE_FLAGS)]
    pub diagnose: Option<String>,
}

/// The fields of [`TableFlags`], for the modes that draw no table.
const TABLE_FLAGS: [&str; 4] = ["stages", "format", "save", "columns"];

/// Flags of a run that draws the table. `--stage` also shortens the list of stages.
#[derive(Debug, Args)]
pub struct TableFlags {
    /// Run only this stage; repeat the flag for more
    #[arg(long = "stage", value_name = "NAME")]
    pub stages: Vec<String>,
    /// Format of the results on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Columns of the table, for example time,factor; without it, the most important ones that fit
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "wide")]
    pub columns: Vec<String>,
    /// Show every column, and do not break lines, however wide the terminal is. Otherwise lines fit the terminal, or COLUMNS, or 80 in a file
    #[arg(long)]
    pub wide: bool,
    /// Also save the JSON record of this run to a file
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct PictureFlags {
    /// With --explain: draw the most expensive request of this line of the CUDA source, by its number or a part of its text
    #[arg(long, value_name = "N|TEXT", requires = "explain")]
    pub line: Option<Line>,
    /// With --explain: also save the drawing as an SVG
    #[arg(long, value_name = "FILE", requires = "explain")]
    pub svg: Option<PathBuf>,
}

/// Flags of everything that runs a stage.
#[derive(Debug, Args)]
pub struct SetupFlags {
    /// Where to run: auto, gpu, sim, or sim:PROFILE to choose the simulated GPU
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    pub device: Request,
    /// Seed of the random inputs
    #[arg(long, default_value_t = 13, value_name = "N", value_parser = within(0..=u64::MAX))]
    pub seed: u64,
    /// How many times to time each stage
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = within(1..=u16::MAX))]
    pub repeat: u16,
    /// On the simulator, check kernels for races, stray accesses, and uninitialized reads
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub check: Switch,
    /// Start work that takes minutes without asking
    #[arg(long)]
    pub yes: bool,
}

// Comments on the variants would make the help four times as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Markdown,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    Off,
    On,
}
