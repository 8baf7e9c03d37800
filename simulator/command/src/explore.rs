//! `simcuda explore -- COMMAND`

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Write, stderr};
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use clap::Args;
use simcuda::report::Report;
use simcuda::variables::SCHEDULE;

use crate::ending::Ended;
use crate::group;
use crate::outputs::{Ending, Outputs, ask_for_reports, merged, reports_in};
use crate::program::{Simulator, exit_code, not_started};

/// Lines of the program's output that are shown of a run that fails.
const SHOWN: usize = 20;

/// Run a program with its streams in many orders that CUDA allows
///
/// Streams run early and late against each other and the host, copies of pinned memory and functions of the host run late, and each run looks
/// for work of different streams on the same bytes that nothing orders. Stops at the first order in which the program ends otherwise than in the
/// order of its calls, or in which something is found. The number of that order replays it. The report is that of the order that fails, or of
/// the order of the calls if none does.
///
///     simcuda explore -- ./pipeline
///     simcuda explore --report junit:orders.xml -- ./pipeline
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    outputs: Outputs,
    /// How many orders to try, besides that of the calls
    #[arg(long, value_name = "N", default_value_t = 100)]
    schedules: u64,
    /// Seconds that a run may take; without it, ten times as long as the first run, and at least ten seconds
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u64>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

/// One run of the program.
struct Run {
    /// `None` if it took too long.
    status: Option<ExitStatus>,
    duration: Duration,
    report: Report,
    output: String,
}

impl Run {
    fn describe(&self) -> String {
        match self.status.map(exit_code) {
            None => "takes too long".to_owned(),
            Some(code) => format!("ends with exit status {code}"),
        }
    }
}

/// Runs the program in many orders.
pub fn execute(options: &Options) -> Ended {
    if !cfg!(target_os = "linux") {
        return Err("orders are explored on Linux only, because processes write no report elsewhere".into());
    }
    let ending = options.outputs.prepare()?;
    let simulator = Simulator::install()?;
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, interrupted.clone())?;
    }
    let limit = options.limit.map(Duration::from_secs);
    let first = run(options, &simulator, 0, limit, &interrupted)?;
    if interrupted.load(Relaxed) {
        return Ok(ExitCode::from(130));
    }
    if ending.fails(&first.report) {
        return tell(options, &ending, (0, first), "in the order of its calls, the simulator finds");
    }
    let Some(expected) = first.status else { return Err("the program takes too long in the order of its calls".into()) };
    let limit = limit.unwrap_or((10 * first.duration).max(Duration::from_secs(10)));
    for number in 1..=options.schedules {
        let run = run(options, &simulator, number, Some(limit), &interrupted)?;
        if interrupted.load(Relaxed) {
            say(&format!("interrupted after {} of {} orders", number - 1, options.schedules));
            return Ok(ExitCode::from(130));
        }
        if ending.fails(&run.report) || run.status.map(exit_code) != Some(exit_code(expected)) {
            let ends =
                format!("in order {number} the program {}; in the order of its calls it {}", run.describe(), first.describe());
            return tell(options, &ending, (number, run), &ends);
        }
    }
    say(&format!("the program {} in all {} orders, and nothing races", first.describe(), options.schedules + 1));
    ending.write_for_machines(&first.report)?;
    Ok(ExitCode::from(exit_code(expected)))
}

fn run(
    options: &Options,
    simulator: &Simulator,
    number: u64,
    limit: Option<Duration>,
    interrupted: &AtomicBool,
) -> Result<Run, Box<dyn std::error::Error>> {
    let folder = tempfile::Builder::new().prefix("simcuda-order-").tempdir()?;
    let output = folder.path().join("output");
    let both = File::create(&output)?;
    let mut command = simulator.command(&options.words);
    command.env(SCHEDULE, number.to_string());
    ask_for_reports(&mut command, folder.path());
    command.stdout(both.try_clone()?).stderr(both);
    let (ended, duration) = group::run(&mut command, limit, interrupted).map_err(|error| not_started(&options.words, &error))?;
    let status = if let group::Ended::Exited(status) = ended { Some(status) } else { None };
    let report = merged(reports_in(folder.path())?);
    Ok(Run { status, duration, report, output: String::from_utf8_lossy(&fs::read(&output)?).into_owned() })
}

/// The advice if another order ends differently, and no streams race.
const HOST_IS_EARLY: &str = "No two streams race on the device. So the host uses something too early: it reads pinned memory, or relies on a \
                             function of the host, before it has waited for the stream or the event.";

/// Says what is wrong with a run, and how to repeat it, and writes the report.
fn tell(options: &Options, ending: &Ending, (number, mut run): (u64, Run), ends: &str) -> Ended {
    say(ends);
    let lines: Vec<&str> = run.output.lines().collect();
    let left_out = lines.len().saturating_sub(SHOWN);
    if left_out > 0 {
        say(&format!("its output, without the first {left_out} lines:"));
    }
    for line in &lines[left_out..] {
        write(&format!("  {line}\n"));
    }
    for defect in run.report.reported().filter(|defect| ending.counts(defect.severity)) {
        write(&format!("{}\n", defect.message));
    }
    let words: Vec<String> = options.words.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let repeat = format!("Repeat it with: {SCHEDULE}={number} simcuda run -- {}", words.join(" "));
    if !ending.fails(&run.report) {
        write(&format!("{HOST_IS_EARLY}\n"));
        run.report.note_early_host(&format!("race with the host: {ends}. {HOST_IS_EARLY}\n{repeat}"));
    }
    write(&format!("{repeat}\n"));
    ending.write_for_machines(&run.report)?;
    Ok(ExitCode::FAILURE)
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn say(message: &str) {
    write(&format!("simcuda explore: {message}\n"));
}

/// Writes to standard error. A failure to do so cannot be reported.
fn write(text: &str) {
    let _ = stderr().write_all(text.as_bytes());
}
