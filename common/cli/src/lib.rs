//! The command line that all chapters share: from arguments to an exit status.
//!
//! Results go to stdout, everything else to stderr. The exit status is 0 when all is verified, 1 for a mismatch or a fault in a
//! kernel, 2 for a wrong request or a machine that lacks something.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, value_parser};

mod error;

use common::Chapter;
use common::atomic_file::AtomicFile;
use common::ceilings::Ceilings;
use common::device::Request;
use common::gpu::Gpu;
use common::lesson;
use common::progress;
use common::record::Record;
use common::report::{Outcome, Place, Row};
use common::runner::{self, Finished};
use common::stage::Stage;
use common::table::{self, Drawing};
use common::units;
use common::workload::{Delivery, Plan, Workload};
use inspect::diagnose;
use inspect::explain::{Explanation, Style};
use workshop::command as exercise;

pub use error::{Error, Result};

/// Runs a chapter as the process's arguments ask.
pub fn run<W: Workload>(chapter: &Chapter<W>) -> ExitCode {
    let arguments = match Arguments::parse_for(chapter, std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(exit_code) => return exit_code,
    };
    match execute(chapter, arguments) {
        Ok(exit_code) => exit_code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            note(format_args!("error: {error}"));
            error.exit_code()
        }
    }
}

/// The stages that a command line would run, in the order of the table; or what is wrong with it, on one line. Runs nothing.
///
/// # Errors
///
/// When the chapter does not take these arguments.
pub fn stages<W: Workload>(chapter: &Chapter<W>, arguments: &[&str]) -> Result<Vec<&'static str>, String> {
    let words = [chapter.name].into_iter().chain(arguments.iter().copied()).map(OsString::from);
    let arguments = Arguments::parse_words(chapter, words).map_err(|error| one_line(&error.to_string()))?;
    let stages = chosen(chapter, &arguments.common.stages).map_err(|error| error.to_string())?;
    Ok(stages.iter().map(|stage| stage.name).collect())
}

/// A chapter's command line: what all chapters have, and what its workload adds.
#[derive(Debug, Parser)]
struct Arguments<O: Args> {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    workload: O,
}

/// What a chapter can do beside running.
#[derive(Debug, Subcommand)]
enum Action {
    /// Practise: list the chapter's exercises, begin one, or check what you have written
    Exercise(exercise::Options),
}

/// The flags that all chapters have.
#[derive(Debug, Args)]
struct Common {
    /// Where to run: auto, gpu, sim, or sim:PROFILE for the GPU to simulate
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    device: Request,
    /// Run only this stage; may be given more than once
    #[arg(long = "stage", value_name = "NAME", action = ArgAction::Append)]
    stages: Vec<String>,
    /// List the stages and end
    #[arg(long)]
    list: bool,
    /// Start of the random inputs
    #[arg(long, default_value_t = 13, value_name = "N")]
    seed: u64,
    /// How many times each stage is timed
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    repeat: u16,
    /// How the results look on standard output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write the JSON record of this run to a file, too
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Explain a stage from what the simulator counts: its source with counts per line, what binds it, and one request of a warp
    #[arg(long, value_name = "STAGE", conflicts_with_all = ["stages", "list", "save", "format"])]
    explain: Option<String>,
    /// With --explain, the line of CUDA source whose request is drawn; otherwise the one that costs most
    #[arg(long, value_name = "N", requires = "explain")]
    line: Option<u32>,
    /// With --explain, write the drawing as an SVG, too
    #[arg(long, value_name = "FILE", requires = "explain")]
    svg: Option<PathBuf>,
    /// Find out what a stage waits for: run it whole, then without its loads from global memory, from shared memory, and with other parts
    /// taken out that the chapter has prepared
    #[arg(long, value_name = "STAGE", conflicts_with_all = ["stages", "list", "save", "format", "explain"])]
    diagnose: Option<String>,
    /// On the simulator, check kernels for defects that do not stop them
    #[arg(long, value_enum, default_value_t = Switch::On)]
    check: Switch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Markdown,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    Off,
    On,
}

impl<O: Args> Arguments<O> {
    /// Reads the command line, or says how to end: with help, or with an error on one line.
    fn parse_for<W: Workload<Options = O>>(
        chapter: &Chapter<W>,
        arguments: impl Iterator<Item = OsString>,
    ) -> Result<Self, ExitCode> {
        Self::parse_words(chapter, arguments).map_err(|error| {
            if error.use_stderr() {
                note(format_args!("{}", one_line(&error.to_string())));
            } else {
                // Help, or the version. A reader who has gone away needs neither.
                let _ = error.print();
            }
            ExitCode::from(error.exit_code() as u8)
        })
    }

    /// Reads the command line.
    fn parse_words<W: Workload<Options = O>>(
        chapter: &Chapter<W>,
        words: impl Iterator<Item = OsString>,
    ) -> Result<Self, clap::Error> {
        let command = Self::command().name(chapter.name).about(chapter.about).version(env!("CARGO_PKG_VERSION"));
        command.try_get_matches_from(words).and_then(|matches| Self::from_arg_matches(&matches))
    }
}

/// The part of clap's report that says what is wrong, on one line and without the usage.
fn one_line(report: &str) -> String {
    let complaint = report.split("\n\n").next().unwrap_or(report);
    let joined = complaint.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{joined}; try --help")
}

fn execute<W: Workload>(chapter: &Chapter<W>, arguments: Arguments<W::Options>) -> Result<ExitCode> {
    let Arguments { action, common, workload: options } = arguments;
    if let Some(Action::Exercise(options)) = action {
        return Ok(exercise::run(chapter, &options)?);
    }
    if let Some(stage) = &common.explain {
        return explain(chapter, stage, &common, &options);
    }
    if let Some(stage) = &common.diagnose {
        return diagnose(chapter, stage, &common, &options);
    }
    let stages = chosen(chapter, &common.stages)?;
    if common.list {
        let mistakes = if common.stages.is_empty() { chapter.mistakes } else { &[] };
        let all = || stages.iter().chain(mistakes);
        let width = all().map(|stage| stage.name.len()).max().unwrap_or(0);
        let line = |stage: &Stage<W>| {
            let note = if chapter.is_mistake(stage) { " (wrong on purpose, runs only when it is named)" } else { "" };
            format!("{:width$}  {}{note}\n", stage.name, stage.idea)
        };
        print(&all().map(line).collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let save = common.save.as_deref().map(AtomicFile::create).transpose()?;
    let gpu = Gpu::open(&common.device)?;
    set_checks(&gpu, common.check == Switch::On)?;
    let Plan { parts, delivery } = W::plan(&options, common.seed, &gpu)?;
    let measured = &parts[0];

    let ceilings = {
        let _alive = progress::spinner("ceilings");
        Ceilings::measure(&gpu, measured.work().arithmetic)?
    };
    note(format_args!("{}", header(chapter, &gpu, measured, ceilings)?));
    for stage in stages.iter().filter(|stage| chapter.is_mistake(stage)) {
        note(format_args!("warning: {} is wrong on purpose ({}); its result and its time mean nothing", stage.name, stage.idea));
    }
    let repeat = usize::from(common.repeat);
    let Finished { rows, outputs } = runner::run(&gpu, &stages, measured, repeat)?;
    for row in &rows {
        match &row.outcome {
            Outcome::Failed(failure) => note(format_args!("error: stage {}: {failure}", row.name)),
            Outcome::Verified(measured) => {
                measured.warnings().iter().for_each(|warning| note(format_args!("stage {}: {warning}", row.name)));
            }
            Outcome::NotRun(reason) => note(format_args!("error: stage {} was not run: {reason}", row.name)),
            Outcome::Skipped(_) => {}
        }
    }

    let record = Record::new(chapter.name, gpu.info(), measured.sizes(), measured.work(), ceilings, &rows);
    if let Some(mut file) = save {
        let path = file.path().to_owned();
        file.write_all(record.to_json().as_bytes()).map_err(|source| Error::Write { path, source })?;
        file.commit()?;
    }
    let delivered = match delivery {
        Some(delivery) => deliver(&gpu, &stages, &rows, outputs, &parts, delivery)?,
        None => true,
    };
    let draw = |drawing| {
        let mut text = table::draw(&record, drawing);
        text.push('\n');
        for line in lesson::sentences(chapter.lesson, &record) {
            text.push('\n');
            text.push_str(&line);
            text.push('\n');
        }
        text
    };
    print(&match common.format {
        Format::Table => draw(Drawing::Lines),
        Format::Markdown => draw(Drawing::Markdown),
        Format::Json => record.to_json(),
    })?;
    let good = delivered && !rows.iter().any(Row::failed);
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one stage on the simulator and shows what can be known of it.
fn explain<W: Workload>(chapter: &Chapter<W>, stage: &str, common: &Common, options: &W::Options) -> Result<ExitCode> {
    let stage = chosen_kernel(chapter, stage)?;
    let svg = common.svg.as_deref().map(AtomicFile::create).transpose()?;
    let gpu = Gpu::open(&common.device)?;
    let Some(profile) = gpu.profile() else {
        return Err(Error::ExplainNeedsSimulator { device: gpu.info().name.clone() });
    };
    set_checks(&gpu, common.check == Switch::On)?;
    let Plan { parts, .. } = W::plan(options, common.seed, &gpu)?;
    let workload = &parts[0];
    note(format_args!("{}", header(chapter, &gpu, workload, None)?));
    let Finished { rows, .. } = runner::run(&gpu, &[stage], workload, 0)?;
    let Some(measured) = rows[0].measured() else { return Ok(not_verified(&rows[0])) };
    let explanation = Explanation::new(stage.name, measured.launches(), workload.work().bytes, profile);
    let source = |file: &str| kernels::text(file);
    let text = explanation.text(common.line, source, Style::of_stdout())?;
    if let Some(mut file) = svg {
        let path = file.path().to_owned();
        let drawing = explanation.svg(common.line)?;
        file.write_all(drawing.as_bytes()).map_err(|source| Error::Write { path, source })?;
        file.commit()?;
    }
    print(&format!("{}: {}\n\n{text}", stage.name, stage.idea))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs one stage whole and with parts of its work taken out, and shows what that did.
fn diagnose<W: Workload>(chapter: &Chapter<W>, stage: &str, common: &Common, options: &W::Options) -> Result<ExitCode> {
    let stage = chosen_kernel(chapter, stage)?;
    let gpu = Gpu::open(&common.device)?;
    set_checks(&gpu, common.check == Switch::On)?;
    let Plan { parts, .. } = W::plan(options, common.seed, &gpu)?;
    let workload = &parts[0];
    note(format_args!("{}", header(chapter, &gpu, workload, None)?));
    let diagnosis = match diagnose::diagnose(&gpu, &stage, chapter.experiments, workload, usize::from(common.repeat))? {
        Ok(diagnosis) => diagnosis,
        Err(row) => return Ok(not_verified(&row)),
    };
    print(&format!("{}: {}\n\n{}", stage.name, stage.idea, diagnosis.text()))?;
    Ok(ExitCode::SUCCESS)
}

/// The stage of that name, which must launch kernels.
fn chosen_kernel<W: Workload>(chapter: &Chapter<W>, name: &str) -> Result<Stage<W>> {
    let stage = *chapter.stage(name)?;
    if stage.place() == Place::Device {
        return Ok(stage);
    }
    let launching = chapter.stages.iter().filter(|stage| stage.place() == Place::Device);
    let stages = launching.map(|stage| stage.name).collect::<Vec<_>>().join(", ");
    Err(Error::NoKernel { stage: stage.name, stages })
}

/// Says why a stage that is to be looked into has no verified result.
fn not_verified(row: &Row) -> ExitCode {
    match &row.outcome {
        Outcome::Skipped(unmet) => {
            note(format_args!("error: stage {} was not run: {unmet}", row.name));
            ExitCode::from(2)
        }
        Outcome::NotRun(reason) => {
            note(format_args!("error: stage {} was not run: {reason}", row.name));
            ExitCode::from(2)
        }
        Outcome::Failed(failure) => {
            note(format_args!("error: stage {}: {failure}", row.name));
            ExitCode::FAILURE
        }
        Outcome::Verified(_) => ExitCode::SUCCESS,
    }
}

/// The stages that `--stage` names, in the order of the table; all rows when it names none.
fn chosen<W: Workload>(chapter: &Chapter<W>, names: &[String]) -> Result<Vec<Stage<W>>> {
    if names.is_empty() {
        return Ok(chapter.stages.to_vec());
    }
    let named = names.iter().map(|name| chapter.stage(name)).collect::<Result<Vec<_>, _>>()?;
    Ok(chapter.all_stages().filter(|stage| named.contains(stage)).copied().collect())
}

/// Switches the simulator's checks; a GPU has none.
fn set_checks(gpu: &Gpu, checks: bool) -> Result<()> {
    let Some(simulator) = gpu.simulator() else { return Ok(()) };
    let settings = simcuda::settings::Settings { checks: Some(checks), ..Default::default() };
    Ok(simulator.configure(&settings).map_err(common::Error::Simulator)?)
}

/// What the numbers below it were made with.
fn header<W: Workload>(chapter: &Chapter<W>, gpu: &Gpu, workload: &W, ceilings: Option<Ceilings>) -> Result<String> {
    let info = gpu.info();
    let device = match &info.profile {
        Some(profile) => format!("simulated {} (profile {profile}); it counts exactly and has no speed of its own", info.name),
        None => info.name.clone(),
    };
    let work = workload.work();
    let mut text = format!(
        "{}: {}\ndevice    {device}, compute capability {}, driver {}\nkernels   {}\nwork      {}: {} multiply-adds, {} to read and write at least",
        chapter.name,
        chapter.about,
        info.compute_capability,
        info.driver,
        info.compiler,
        workload.describe(),
        units::count(work.multiply_adds),
        units::bytes(work.bytes),
    );
    if let Some(ceilings) = ceilings {
        text += &format!("\nceilings  {ceilings}, measured just now");
    }
    if let Some(choice) = chapter.choice {
        text += &format!("\nchoice    {}", choice(gpu, workload)?);
    }
    Ok(text)
}

/// Computes every part with the best stage and hands the outputs on; `false` when a part is not verified.
fn deliver<W: Workload>(
    gpu: &Gpu,
    stages: &[Stage<W>],
    rows: &[Row],
    mut outputs: Vec<Option<Vec<f32>>>,
    parts: &[W],
    delivery: Box<dyn Delivery<W>>,
) -> Result<bool> {
    let Some(best) = best(rows) else {
        note(format_args!("error: no stage has a verified result to write"));
        return Ok(false);
    };
    let mut results = vec![outputs[best].take().unwrap_or_default()];
    for part in &parts[1..] {
        let Finished { rows, mut outputs } = runner::run(gpu, &stages[best..=best], part, 0)?;
        match (&rows[0].outcome, outputs[0].take()) {
            (Outcome::Verified(_), Some(output)) => results.push(output),
            (Outcome::Failed(failure), _) => {
                note(format_args!("error: {}: stage {}: {failure}", part.describe(), rows[0].name));
                return Ok(false);
            }
            _ => return Ok(false),
        }
    }
    let written = delivery.deliver(parts, &results)?;
    note(format_args!("{written}, computed by {}", rows[best].name));
    Ok(true)
}

/// The fastest verified stage; without times, the last one of the table, because each stage is there to beat the one before.
/// A kernel goes before a CPU, and a stage that only copies has computed nothing.
fn best(rows: &[Row]) -> Option<usize> {
    let verified = |place: Place| rows.iter().enumerate().filter(move |(_, row)| row.place == place && row.measured().is_some());
    let fastest = verified(Place::Device)
        .filter_map(|(index, row)| Some((index, row.median_ms()?)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(index, _)| index);
    let last = |place| verified(place).map(|(index, _)| index).next_back();
    fastest.or_else(|| last(Place::Device)).or_else(|| last(Place::Host))
}

/// Writes results.
fn print(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Writes a message. There is no one to tell when that fails, and `eprintln!` would panic.
fn note(message: fmt::Arguments<'_>) {
    let _: io::Result<()> = writeln!(stderr().lock(), "{message}");
}
