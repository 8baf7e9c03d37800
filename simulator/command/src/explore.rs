//! `simcuda explore -- COMMAND`

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, File};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use driver::report::{Report, Work};
use driver::variables::SCHEDULE;

use crate::ending::{Ended, Result, bail, say};
use crate::group::{End, INTERRUPTED, Runs};
use crate::outputs::{Ending, Outputs, ask_for_reports, merged, reports_in};
use crate::program::{exit_code, temporary_folder};

/// The most lines of a failing run's output that are shown.
const SHOWN: usize = 20;

/// Run a program with its streams in many orders that CUDA allows
///
/// Streams run early and late against each other and the host, copies of pinned memory and functions of the host run late, and each run looks
/// for work of different streams on the same bytes that nothing orders. Stops at the first order in which the program ends otherwise than in the
/// order of its calls, or in which something is found. The number of that order replays it. The report is that of the order that fails, or of
/// the order of the calls if none does.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  simcuda explore -- ./pipeline
  simcuda explore --report junit:orders.xml -- ./pipeline")]
pub struct Options {
    #[command(flatten)]
    outputs: Outputs,
    /// How many orders to try, besides that of the calls
    #[arg(long, value_name = "N", default_value_t = 100)]
    schedules: u64,
    /// Seconds that a run may take; without it, ten times as long as the first run, and at least ten seconds
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u64>,
    /// The most kernels and copies that may have to run one after the other; if more have to, the command fails
    #[arg(long, value_name = "N")]
    in_a_row: Option<u32>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

/// One run of the program.
struct Run {
    /// `None` if it took too long.
    exit_code: Option<u8>,
    duration: Duration,
    report: Report,
    output: String,
}

impl Run {
    fn describe(&self) -> String {
        match self.exit_code {
            None => "takes too long".to_owned(),
            Some(code) => format!("ends with exit status {code}"),
        }
    }

    /// Shows the end of the output, and returns it.
    fn show_output(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.output.lines().collect();
        let left_out = lines.len().saturating_sub(SHOWN);
        if left_out > 0 {
            tell(format_args!("its output, without the first {left_out} lines:"));
        }
        lines.drain(..left_out);
        lines.iter().for_each(|line| say(format_args!("  {line}")));
        lines
    }
}

/// Runs the program in many orders.
pub fn execute(options: &Options) -> Ended {
    if !cfg!(target_os = "linux") {
        bail!("orders are explored on Linux only, because processes write no report elsewhere");
    }
    let ending = options.outputs.prepare()?;
    let runs = Runs::new(&options.words)?;
    let limit = options.limit.map(Duration::from_secs);
    let Some(first) = run(&runs, 0, limit)? else { return Ok(ExitCode::from(INTERRUPTED)) };
    if ending.fails(&first.report) {
        return show(options, &ending, (0, first), "in the order of its calls, the simulator finds");
    }
    let Some(expected) = first.exit_code else { bail!("the program takes too long in the order of its calls") };
    let Work { all, in_a_row } = first.report.work;
    let row = format!("of its {all} kernels and copies, {in_a_row} must run one after the other");
    if let Some(most) = options.in_a_row.filter(|most| expected == 0 && in_a_row > *most) {
        tell(format_args!("{row}, and --in-a-row allows {most}. {TOO_MUCH_ORDER}"));
        ending.write_for_machines(&first.report)?;
        return Ok(ExitCode::FAILURE);
    }
    let limit = limit.unwrap_or((10 * first.duration).max(Duration::from_secs(10)));
    for number in 1..=options.schedules {
        let Some(run) = run(&runs, number, Some(limit))? else {
            tell(format_args!("interrupted after {} of {} orders", number - 1, options.schedules));
            return Ok(ExitCode::from(INTERRUPTED));
        };
        if ending.fails(&run.report) || run.exit_code != first.exit_code {
            let ends =
                format!("in order {number} the program {}; in the order of its calls it {}", run.describe(), first.describe());
            return show(options, &ending, (number, run), &ends);
        }
    }
    tell(format_args!("the program {} in all {} orders, and nothing races; {row}", first.describe(), options.schedules + 1));
    ending.write_for_machines(&first.report)?;
    if expected != 0 {
        first.show_output();
    }
    Ok(ExitCode::from(expected))
}

/// Runs the program in the order with a number; `None` after an interruption.
fn run(runs: &Runs<'_>, number: u64, limit: Option<Duration>) -> Result<Option<Run>> {
    let folder = temporary_folder()?;
    let output = folder.path().join("output");
    let both = File::create(&output)?;
    let mut command = runs.program.command();
    command.env(SCHEDULE, number.to_string()).stdout(both.try_clone()?).stderr(both);
    ask_for_reports(&mut command, folder.path());
    let (end, duration) = runs.run(&mut command, limit)?;
    let exit_code = match end {
        End::Exited(status) => Some(exit_code(status)),
        End::TimedOut => None,
        End::Interrupted => return Ok(None),
    };
    let report = merged(reports_in(folder.path())?);
    Ok(Some(Run { exit_code, duration, report, output: String::from_utf8_lossy(&fs::read(&output)?).into_owned() }))
}

/// The advice if another order ends differently, and no streams race.
const HOST_IS_EARLY: &str = "No two streams race on the device. So the host uses something too early: it reads pinned memory, or relies on a \
                             function of the host, before it has waited for the stream or the event.";

/// The advice if another order does not end in time.
const LATE: &str = "No two streams race on the device. Either the host waits without end for what this order does only after that, or the order \
                    takes the simulator longer: --limit SECONDS gives it more time.";

/// The advice if too little work can overlap.
const TOO_MUCH_ORDER: &str = "Work overlaps only in different streams, and only if no event and no wait of the host orders it. Which of these \
                              waits does the result not need?";

/// Shows a run's problems and how to repeat it. Then it writes the report.
fn show(options: &Options, ending: &Ending, (number, mut run): (u64, Run), ends: &str) -> Ended {
    tell(ends);
    let shown = run.show_output();
    let is_new = |message: &str| message.lines().next().is_some_and(|first| shown.iter().all(|line| !line.ends_with(first)));
    let counted = run.report.reported().filter(|defect| ending.counts(defect.severity) && is_new(&defect.message));
    counted.for_each(|defect| say(&defect.message));
    let words: Vec<String> = options.words.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let repeat = format!("Repeat it with: {SCHEDULE}={number} simcuda run -- {}", words.join(" "));
    if !ending.fails(&run.report) {
        let (kind, advice) = if run.exit_code.is_some() { ("race with the host", HOST_IS_EARLY) } else { ("too late", LATE) };
        say(advice);
        run.report.note_early_host(&format!("{kind}: {ends}. {advice}\n{repeat}"));
    }
    say(repeat);
    ending.write_for_machines(&run.report)?;
    Ok(ExitCode::FAILURE)
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn tell(message: impl Display) {
    say(format_args!("simcuda explore: {message}"));
}
