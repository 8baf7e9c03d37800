//! `simcuda coverage -- COMMAND`
//!
//! - `files`: what was executed, by source file, without the files that a project does not ask about.
//! - `table`: the same for people, with what was never executed.
//! - `lcov`: the same for programs that show coverage.

mod files;
mod lcov;
mod table;

use std::ffi::OsString;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

use clap::Args;
use driver::coverage::Covered;
use driver::files::replace;
use driver::variables::COVERAGE;

use self::files::{Files, Filter};
use crate::ending::{At, Ended, Result, after_printing, bail, failed, say};
use crate::program::{Program, exit_code, temporary_folder};

/// Run a program on the simulator and show which lines and branches of its kernels it executed
///
/// The program and every process that it starts are counted together. Compile the kernels with -lineinfo. The exit status is the program's.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  simcuda coverage --lcov coverage.info -- cargo test")]
pub struct Options {
    /// Write the coverage to this file, in the format of lcov
    #[arg(long, value_name = "FILE")]
    lcov: Option<PathBuf>,
    /// Keep what each process executed in this folder, to merge it later; it must not have coverage yet
    #[arg(long, value_name = "FOLDER", conflicts_with = "merge")]
    keep: Option<PathBuf>,
    /// Show what was kept in these folders, for example by several jobs, instead of running a program
    #[arg(long, value_name = "FOLDER", num_args = 1..)]
    merge: Vec<PathBuf>,
    /// The project's folder, by default the current one: names of source files are relative to it, and files elsewhere are left out
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    source_root: PathBuf,
    /// Leave out files with this text in their path (repeatable)
    #[arg(long, value_name = "TEXT")]
    exclude: Vec<String>,
    /// Count files outside the project's folder, too, and the headers of the CUDA toolkit
    #[arg(long)]
    all: bool,
    /// Write the PTX of kernels without line information to this folder, and count its lines
    #[arg(long, value_name = "FOLDER")]
    ptx: Option<PathBuf>,
    /// Show the table without the list of what was never executed
    #[arg(long)]
    table: bool,
    /// Fail with exit status 1 if less than this percentage of the lines is covered
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    at_least: Option<f64>,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "COMMAND", required_unless_present = "merge", conflicts_with = "merge")]
    words: Vec<OsString>,
}

/// Runs the program, or reads what was kept, and shows it.
pub fn execute(options: &Options) -> Ended {
    let (covered, status) = if options.words.is_empty() { (merged(&options.merge)?, 0) } else { run(options)? };
    let shown = show(options, &covered);
    if status == 0 {
        return shown;
    }
    // The program's own failure is what its caller must learn.
    if let Err(error) = shown {
        failed(error);
    }
    Ok(ExitCode::from(status))
}

/// Runs the program. Returns what it executed, and its exit status.
fn run(options: &Options) -> Result<(Covered, u8)> {
    let temporary = temporary_folder()?;
    let folder = options.keep.as_deref().unwrap_or(temporary.path());
    fs::create_dir_all(folder).at(folder)?;
    if !Covered::read_folder(folder)?.kernels.is_empty() {
        bail!("{} already has coverage; remove it, or choose another folder", folder.display());
    }
    let folder = absolute(folder)?;
    let program = Program::new(&options.words)?;
    let status = program.run(program.command().env(COVERAGE, &folder))?;
    Ok((Covered::read_folder(&folder)?, exit_code(status)))
}

fn merged(folders: &[PathBuf]) -> Result<Covered> {
    let mut covered = Covered::default();
    for folder in folders {
        covered.add(Covered::read_folder(folder)?);
    }
    Ok(covered)
}

/// Prints the table, and writes the files that were asked for.
fn show(options: &Options, covered: &Covered) -> Ended {
    if covered.kernels.is_empty() {
        bail!(
            "no process loaded a kernel on the simulator and ended by itself; a process that aborts or is killed leaves no coverage"
        );
    }
    let root = options.source_root.canonicalize().at(&options.source_root)?;
    let filter = Filter { root, excluded: &options.exclude, all: options.all };
    let ptx = options.ptx.as_deref().map(|folder| write_ptx(folder, covered)).transpose()?;
    let files = Files::new(covered, &filter, ptx.as_deref());
    files.notes().iter().for_each(|note| say(format_args!("simcuda: {note}")));
    if files.files.is_empty() {
        return Err(files.why_empty().into());
    }
    if let Some(path) = &options.lcov {
        replace(path, lcov::text(&files)).map_err(|error| cannot_write(path, &error))?;
    }
    let printed = write!(stdout(), "{}", table::text(&files, !options.table));
    let lines = files.shares().lines;
    if let Some(least) = options.at_least.filter(|least| lines.percent() < *least) {
        failed(format_args!("{} of the lines are covered, less than {least} %", lines.shown()));
        return Ok(ExitCode::FAILURE);
    }
    Ok(after_printing(printed))
}

/// Writes the PTX that says nothing about lines of CUDA C. Returns the folder's absolute path.
fn write_ptx(folder: &Path, covered: &Covered) -> Result<PathBuf> {
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    let folder = folder.canonicalize().map_err(|error| cannot_write(folder, &error))?;
    for (name, text) in &covered.ptx {
        let path = folder.join(name);
        replace(&path, text).map_err(|error| cannot_write(&path, &error))?;
    }
    Ok(folder)
}

fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

fn percentage(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 100".to_owned())
}
