//! `simcuda mutate -- COMMAND`
//!
//! - `trial`: one run of the command, and what it says about a mutant.
//! - `equivalent`: the file of mutants that no test can notice.
//! - `selection`: which mutants are run, in which order.
//! - `journal`: verdicts on disk, so that an interrupted run can go on.
//! - `score`: what all verdicts together say.

mod equivalent;
mod journal;
mod score;
mod selection;
mod trial;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, SystemTime};

use clap::Args;
use driver::files;
use driver::mutants::{Listed, Operator};
use driver::scores::{Judged, Score};
use regex_lite::Regex;

use self::equivalent::Equivalents;
use self::journal::Journal;
use self::selection::Selection;
use self::trial::Baseline;
use crate::ending::{Ended, Result, after_printing, bail, say};
use crate::group::{INTERRUPTED, Runs};

/// The shortest limit derived from the time of the first run. A process takes a while to start when several start at once.
const LEAST_LIMIT: Duration = Duration::from_secs(5);

/// Make small mistakes in the kernels that a test suite runs, one at a time, and count how many the suite notices
///
/// The command runs once as it is, to learn which kernels it launches and which of their instructions it executes. It must succeed.
/// Then it runs once for each mutant: the same kernels with one mistake, such as a barrier less or `<=` instead of `<`. The mutant is
/// killed if the simulator finds a defect that the first run did not have, if the command fails, or if it takes too long. Otherwise it
/// survives, and a test is missing, or the mistake makes no difference.
///
/// The exit status is 0 if the score is at least that of --at-least, 1 if it is lower, 2 if no score could be computed.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  simcuda mutate --sample 100 -- cargo test")]
pub struct Options {
    /// The longest that a run may take: a number of seconds, or a multiple of the first run, such as 5x, but no less than 5 seconds
    #[arg(long, default_value = "5x", value_name = "SECONDS|FACTORx", value_parser = limit)]
    limit: Limit,
    /// Run this many mutants at the same time
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Only the functions whose name has a match of this regular expression
    #[arg(long, value_name = "REGEX")]
    kernel: Option<Regex>,
    /// Only mutants of this operator; may be given several times
    #[arg(long, value_name = "NAME")]
    operator: Vec<Operator>,
    /// Only the mutant of this name, for example a survivor while you write its test; may be given several times
    #[arg(long, value_name = "ID")]
    mutant: Vec<String>,
    /// Run at most this many mutants: one for each operator and line of CUDA C before a second one for any
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Choose another sample
    #[arg(long, default_value_t = 1, requires = "sample", value_name = "S")]
    seed: u64,
    /// A TOML file of mutants that no test can notice: [[equivalent]] with `mutant` and `reason`
    #[arg(long, value_name = "FILE")]
    equivalent: Option<PathBuf>,
    /// Append each verdict to this file as soon as it is known, as a line of JSON
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
    /// Go on where an interrupted run with the same --verdicts stopped
    #[arg(long, requires = "verdicts")]
    resume: bool,
    /// Write the score with every verdict to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The lowest score for success
    #[arg(long, default_value_t = 0.0, value_name = "PERCENT")]
    at_least: f64,
    /// Print the mutants that would be run and those that would not, and run none
    #[arg(long)]
    list: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

/// The limit on the time of a run.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Seconds(f64),
    /// A multiple of the first run.
    Factor(f64),
}

fn limit(text: &str) -> Result<Limit, String> {
    let number = |text: &str| text.parse().ok().filter(|number| (0.001..=1e6).contains(number));
    let limit = match text.strip_suffix('x') {
        Some(factor) => number(factor).map(Limit::Factor),
        None => number(text).map(Limit::Seconds),
    };
    limit.ok_or_else(|| "expected a number of seconds such as 30, or a factor such as 5x".to_owned())
}

impl Options {
    /// Returns true if the user asked for this mutant.
    fn asks_for(&self, mutant: &Listed) -> bool {
        self.kernel.as_ref().is_none_or(|kernel| kernel.is_match(&mutant.function))
            && (self.operator.is_empty() || self.operator.contains(&mutant.operator))
            && (self.mutant.is_empty() || self.mutant.contains(&mutant.id))
    }
}

/// Runs the suite with each mutant.
pub fn execute(options: &Options) -> Ended {
    let equivalents = options.equivalent.as_deref().map(Equivalents::read).transpose()?.unwrap_or_default();
    let words: Vec<String> = options.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut journal = options.verdicts.as_deref().map(|path| Journal::open(path, &words, options.resume)).transpose()?;
    let runs = Runs::new(&options.words)?;
    tell(format_args!("running {} as it is", words.join(" ")));
    let Some(baseline) = trial::baseline(&runs)? else { return Ok(ExitCode::from(INTERRUPTED)) };
    let limit = match options.limit {
        Limit::Seconds(seconds) => Duration::from_secs_f64(seconds),
        Limit::Factor(factor) => baseline.duration.mul_f64(factor).max(LEAST_LIMIT),
    };
    let selection = Selection::new(&baseline.mutants, &equivalents, |mutant| options.asks_for(mutant));
    let chosen = selection.sample(options.sample, options.seed);
    describe(&baseline, &selection, &chosen, limit);
    for stale in equivalents.stale(&baseline.mutants) {
        tell(format_args!(
            "{stale} is listed as equivalent, but no function of that name has such a mutant here; if its code has changed, review the entry"
        ));
    }
    if options.list {
        return Ok(after_printing(list(&selection, &chosen)));
    }

    let mut judged = journal.as_ref().map(|journal| journal.known.clone()).unwrap_or_default();
    judged.retain(|known| chosen.iter().any(|mutant| mutant.id == known.mutant.id));
    let open: Vec<&Listed> =
        chosen.iter().copied().filter(|mutant| judged.iter().all(|known| known.mutant.id != mutant.id)).collect();
    let done = judged.len();
    in_parallel(&runs, &baseline, &open, (limit, options.jobs), |new| {
        if let Some(journal) = &mut journal {
            journal.write(&new)?;
        }
        tell(format_args!("[{}/{}] {}", judged.len() + 1, done + open.len(), score::line(&new)));
        judged.push(new);
        Ok(())
    })?;
    if judged.len() < chosen.len() {
        let advice = if journal.is_some() { "; go on with --resume" } else { "; --verdicts would have kept the verdicts" };
        tell(format_args!("interrupted after {} of {} mutants{advice}", judged.len(), chosen.len()));
        return Ok(ExitCode::from(INTERRUPTED));
    }

    judged.sort_by(|a, b| a.mutant.id.cmp(&b.mutant.id));
    let (totals, operators, functions) = score::add_up(&selection, &judged);
    let score = Score {
        command: words,
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        seed: options.sample.map(|_| options.seed),
        baseline_s: baseline.duration.as_secs_f64(),
        limit_s: limit.as_secs_f64(),
        percent: totals.percent(),
        totals,
        operators,
        functions,
        verdicts: judged,
    };
    if let Some(path) = &options.json {
        let text = serde_json::to_string_pretty(&score)? + "\n";
        files::replace(path, &text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    let Some(percent) = score.percent else {
        bail!("there is no score, because no mutant was run: the command launches no kernel with a mutant that was asked for");
    };
    let printed = after_printing(score::write(&score, &mut stdout().lock()));
    Ok(if printed == ExitCode::SUCCESS && percent < options.at_least { ExitCode::FAILURE } else { printed })
}

/// Judges several mutants at a time and passes on each verdict immediately. Stops early after an error or an interruption.
fn in_parallel(
    runs: &Runs<'_>,
    baseline: &Baseline,
    mutants: &[&Listed],
    (limit, jobs): (Duration, u16),
    mut take: impl FnMut(Judged) -> Result<()>,
) -> Result<()> {
    let next = Mutex::new(mutants.iter());
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let Some(mutant) = next.lock().unwrap_or_else(PoisonError::into_inner).next() else { break };
                    let judged = trial::judge(runs, baseline, mutant, limit).map_err(|error| error.to_string());
                    // `None` after an interruption; and after an error, nobody receives.
                    if judged.transpose().is_none_or(|judged| sender.send(judged).is_err()) {
                        break;
                    }
                }
            });
        }
        drop(sender);
        receiver.into_iter().try_for_each(|judged| take(judged?))
    })
}

/// Says what the first run has shown.
fn describe(baseline: &Baseline, selection: &Selection<'_>, chosen: &[&Listed], limit: Duration) {
    if !baseline.known.is_empty() {
        tell(format_args!("defects that the command finds without any mutant, and that do not count: {}", baseline.known.len()));
    }
    tell(format_args!(
        "mutants: {}; in code that is executed: {}; equivalent: {}; to run, with a limit of {:.1} s each: {}",
        selection.covered.len() + selection.equivalent.len() + selection.not_covered.len(),
        selection.covered.len() + selection.equivalent.len(),
        selection.equivalent.len(),
        limit.as_secs_f64(),
        chosen.len(),
    ));
}

/// Prints mutants by name, with what each changes.
fn list(selection: &Selection<'_>, chosen: &[&Listed]) -> std::io::Result<()> {
    let mut out = stdout().lock();
    let groups = [
        ("to run", chosen),
        ("equivalent", &selection.equivalent[..]),
        ("in code that is not executed", &selection.not_covered[..]),
    ];
    for (title, mutants) in groups {
        writeln!(out, "{title}: {}", mutants.len())?;
        for mutant in mutants {
            writeln!(out, "{}\n    {}", mutant.id, score::described(mutant))?;
        }
    }
    Ok(())
}

/// Says how far the command is.
fn tell(message: impl Display) {
    say(format_args!("simcuda mutate: {message}"));
}
