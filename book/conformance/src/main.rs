//! `cargo conformance`: other projects' test suites on the software driver.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use conformance::record::Score;
use conformance::suite::Suite;
use conformance::{cuda_path, labels, run, source, suite};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde::Serialize;

/// Tests of a class that share a process at most. Where the driver finds a defect, all of them run again.
const TOGETHER: usize = 32;

/// Run other projects' test suites on the software driver
#[derive(Debug, Parser)]
#[command(bin_name = "cargo conformance")]
struct Arguments {
    /// The suites to run; without names, all are listed
    suites: Vec<String>,
    /// Where suites are fetched and built; gigabytes, and reused
    #[arg(long, value_name = "FOLDER", default_value = "target/conformance")]
    work: PathBuf,
    /// The suite's source, already fetched; for one suite
    #[arg(long, value_name = "FOLDER")]
    source: Option<PathBuf>,
    /// Run only tests whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Leave out the tests that fail for a reason that is not the driver's; most of them wait or measure times
    #[arg(long, conflicts_with = "save")]
    without_known: bool,
    /// Processes at a time; one for each core if not given
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Write the scores as JSON, one file for each suite
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    /// Keep here what each test that did not simply pass printed, and the driver's report of it
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Fail if fewer than this percentage of the judged tests pass
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    at_least: f64,
}

fn main() -> ExitCode {
    match Arguments::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

impl Arguments {
    fn run(&self) -> Result<ExitCode> {
        if self.suites.is_empty() {
            for (name, suite) in suite::all()? {
                println!("{name:16} {:10} {}", suite.version, suite.about);
            }
            return Ok(ExitCode::SUCCESS);
        }
        anyhow::ensure!(self.source.is_none() || self.suites.len() == 1, "--source is the source of one suite");
        let suites = self.suites.iter().map(|name| Ok((name, suite::named(name)?))).collect::<Result<Vec<_>>>()?;
        let work = std::path::absolute(&self.work)?;
        let driver = work.join("driver");
        fs::create_dir_all(&driver).with_context(|| driver.display().to_string())?;
        simcuda::install::install(&driver)?;
        let mut all_well = true;
        let variants =
            suites.into_iter().flat_map(|(name, suite)| suite.variants(name).into_iter().map(move |variant| (name, variant)));
        for (folder, (name, suite)) in variants {
            let folder = work.join(folder);
            if suite.labeled {
                let found = self.find(&name, &suite, &folder, &driver).with_context(|| name.clone())?;
                for (test, kind, judged) in labels::judged(&suite, &found.in_any_order(), true) {
                    if judged != labels::Judged::Found {
                        println!("{name} {test}: {kind}: {judged:?}");
                    }
                }
                self.save(&name, &found)?;
                continue;
            }
            let score = self.score(&name, &suite, &folder, &driver).with_context(|| name.clone())?;
            print!("{}", score.in_words());
            all_well &= score.passed_percent >= self.at_least;
            self.save(&name, &score)?;
        }
        Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn save(&self, name: &str, result: &impl Serialize) -> Result<()> {
        let Some(folder) = &self.save else { return Ok(()) };
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("{name}.json"));
        fs::write(&path, serde_json::to_string_pretty(result)? + "\n").with_context(|| path.display().to_string())
    }

    /// Runs the tests of a labeled suite, each in every order.
    fn find(&self, name: &str, suite: &Suite, folder: &Path, driver: &Path) -> Result<labels::Found> {
        let environment = environment(suite, driver, folder)?;
        let tests = source::build(suite, folder, self.source.as_deref(), &environment)?.tests;
        let is_wanted = |test: &&source::Test| self.only.as_ref().is_none_or(|only| test.name.contains(only.as_str()));
        let tests: Vec<&source::Test> = tests.iter().filter(is_wanted).collect();
        let bar = self.bar(name, tests.len())?;
        let of_test = |test: &&source::Test| -> Result<_> {
            let kinds = labels::ORDERS.map(|order| run::kinds(suite, test, &environment, order));
            bar.inc(1);
            Ok((test.name.clone(), kinds.into_iter().collect::<Result<_>>()?))
        };
        let found: Result<_> = self.pool()?.install(|| tests.par_iter().with_max_len(1).map(of_test).collect());
        bar.finish_and_clear();
        Ok(labels::Found::new(suite, found?))
    }

    fn pool(&self) -> Result<rayon::ThreadPool> {
        Ok(rayon::ThreadPoolBuilder::new().num_threads(self.jobs.unwrap_or(0)).build()?)
    }

    fn bar(&self, name: &str, tests: usize) -> Result<ProgressBar> {
        let style = ProgressStyle::with_template("{msg} {pos}/{len} {wide_bar} {eta}")?;
        Ok(ProgressBar::new(tests as u64).with_style(style).with_message(name.to_owned()))
    }

    fn score(&self, name: &str, suite: &Suite, folder: &Path, driver: &Path) -> Result<Score> {
        let environment = environment(suite, driver, folder)?;
        let built = source::build(suite, folder, self.source.as_deref(), &environment)?;
        let is_left_out = |test: &source::Test| self.without_known && suite.known.contains_key(&test.name);
        let wanted =
            |test: &&source::Test| self.only.as_ref().is_none_or(|only| test.name.contains(only.as_str())) && !is_left_out(test);
        let tests: Vec<&source::Test> = built.tests.iter().filter(wanted).collect();
        let is_named = |test: &source::Test| {
            let name = &test.name;
            suite.known.contains_key(name) || suite.true_findings.contains_key(name) || suite.memory_gib.contains_key(name)
        };
        // Those that the list names would spoil the others' run.
        let (alone, rest): (Vec<_>, Vec<_>) = tests.iter().copied().partition(|test| built.together.is_none() || is_named(test));
        let bar = self.bar(name, tests.len())?;
        let classes = rest.chunk_by(|a, b| a.group() == b.group());
        let groups: Vec<&[&source::Test]> = classes.flat_map(|class| class.chunks(TOGETHER)).chain(alone.chunks(1)).collect();
        let one = |test: &source::Test| run::alone(suite, test, &environment, self.keep.as_deref()).inspect(|_| bar.inc(1));
        let of_group = |group: &&[&source::Test]| -> Result<Vec<run::Ended>> {
            let mut settled = Vec::new();
            if let Some(start) = built.together.as_ref().filter(|_| group.len() > 1) {
                settled = run::together(suite, start, group, &environment)?;
                bar.inc(settled.len() as u64);
            }
            let others = group.par_iter().filter(|test| settled.iter().all(|ended| ended.test != test.name));
            let others = others.map(|test| one(test)).collect::<Result<Vec<_>>>()?;
            settled.extend(others);
            Ok(settled)
        };
        // One at a time from the list, in order: a core that has a class of many tests must not keep others waiting behind it.
        let ended: Result<Vec<_>> = self.pool()?.install(|| groups.par_iter().with_max_len(1).map(of_group).collect());
        bar.finish_and_clear();
        Ok(Score::new(name, suite, ended?.into_iter().flatten().collect()))
    }
}

/// Returns the variables that make a test use the software driver.
fn environment(suite: &Suite, driver: &Path, folder: &Path) -> Result<Vec<(String, String)>> {
    // A suite may load machine code.
    let mut folders = vec![driver.to_owned(), driver.join("nvrtc")];
    let mut ours = Vec::new();
    if !suite.toolkit.is_empty() {
        let toolkit = cuda_path::make(folder, &suite.toolkit)?;
        folders.push(toolkit.join("lib64"));
        ours.push(("CUDA_PATH".to_owned(), toolkit.display().to_string()));
    }
    if suite.needs_nvrtc {
        let nvrtc = compilers::libraries::NVRTC
            .find()
            .context("this suite compiles CUDA C, and there is no NVRTC; `cargo doctor` says how to get it")?;
        folders.extend(nvrtc.parent().map(PathBuf::from));
    }
    let path = std::env::join_paths(folders)?.to_string_lossy().into_owned();
    ours.push((simcuda::install::LOADER_VARIABLE.to_owned(), path));
    let given = suite.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    Ok(ours.into_iter().chain(given).collect())
}
