//! `cargo book record`: makes records again, each by its command in `book/records.toml`.
//!
//! cargo builds and runs the programs that the commands name. On a machine without Rust, copies of the programs next to this one do the same. A
//! new record replaces an old one only when it is whole: every stage of the old record verified, on the same GPU, of the kernels that are stored
//! now.

use std::env;
use std::fs;
use std::process::{Command, ExitCode};
use std::thread::available_parallelism;

use anyhow::{Context, Result, bail, ensure};
use clap::{ArgGroup, Args, ValueEnum};
use run::atomic_file::AtomicFile;
use run::probe;
use run::record::{self, Record};
use run::report::Place;
use run::units;

use crate::check::stale_parts;
use crate::digests::Kernels;
use crate::manifest::{EXPERIMENT, Entry, Manifest, Needs, short};
use crate::stale::Kept;

/// The records to make again.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).args(["names", "stale", "all"]))]
pub struct Arguments {
    /// Records by name, for example nvidia-h200/03-unroll or counts/sim-h200
    #[arg(value_name = "NAME", conflicts_with = "all")]
    names: Vec<String>,
    /// Those that were measured before a kernel last changed; with names, those of them
    #[arg(long)]
    stale: bool,
    /// All of them
    #[arg(long, conflicts_with = "stale")]
    all: bool,
    /// Only those that this device makes
    #[arg(long, value_enum)]
    device: Option<Device>,
    /// Say what would run, and run nothing
    #[arg(long)]
    dry_run: bool,
}

/// Kinds of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Device {
    /// An NVIDIA GPU
    Gpu,
    /// The simulator
    Sim,
}

/// A record to make.
struct Job<'a> {
    record: &'a str,
    entry: &'a Entry,
    /// The reason to make it.
    reason: String,
    /// The sizes of the old record, in words.
    sizes: String,
    /// The time that it will take, by the old record.
    seconds: f64,
}

impl Arguments {
    /// Makes the records. A run that fails leaves its record as it was and the others go on; the exit status is 1 then.
    pub fn run(&self) -> Result<ExitCode> {
        let manifest = Manifest::find()?;
        let jobs = self.jobs(&manifest)?;
        let (jobs, skipped): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(|job| missing(job.entry).is_none());
        eprint!("{}", announcement(&jobs, &skipped));
        if self.dry_run || jobs.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        // Once, because the first record that is made again already differs from its commit.
        let commit = record::commit();
        let mut failed = Vec::new();
        for (done, job) in jobs.iter().enumerate() {
            eprintln!("[{}/{}] {}", done + 1, jobs.len(), job.entry.command);
            if let Err(error) = make(&manifest, job, &commit) {
                eprintln!("error: {} is left as it was: {error:#}", short(job.record));
                failed.push(short(job.record));
            }
        }
        if failed.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        eprintln!("error: not made again: {}", failed.join(", "));
        Ok(ExitCode::FAILURE)
    }

    /// Returns the records that are asked for, those of one device together.
    fn jobs<'a>(&self, manifest: &'a Manifest) -> Result<Vec<Job<'a>>> {
        let named = self.names.iter().map(|name| manifest.get(name)).collect::<Result<Vec<_>>>()?;
        let all = || manifest.entries.iter().map(|(record, entry)| (record.as_str(), entry));
        let wanted: Vec<_> = if named.is_empty() { all().collect() } else { named };
        let mut jobs = Vec::new();
        for (record, entry) in wanted {
            // Where there is a GPU there may be the rest of the CUDA toolkit.
            if self.device.is_some_and(|device| (device == Device::Sim) != (entry.needs == Needs::Sim)) {
                continue;
            }
            let reason = match stale_parts(manifest, record) {
                Ok(parts) if !parts.is_empty() => format!("stale: {}", parts.join(", ")),
                Ok(_) if self.stale => continue,
                Ok(_) => "as asked".to_owned(),
                Err(_) if !manifest.path(record).is_file() => "new".to_owned(),
                Err(error) => format!("cannot be read: {error}"),
            };
            let (sizes, seconds) = estimate(manifest, record).unwrap_or_default();
            jobs.push(Job { record, entry, reason, sizes, seconds });
        }
        jobs.sort_by_key(|job| (job.entry.needs, job.entry.model.clone()));
        Ok(jobs)
    }
}

/// Says what this machine lacks to make a record.
fn missing(entry: &Entry) -> Option<String> {
    if let (needs, Some(program), _) = entry.needs.details()
        && !on_path(program)
    {
        return Some(format!("needs {needs}: there is no `{program}` on the PATH"));
    }
    let model = entry.model.as_ref()?;
    match probe::probe() {
        Ok(found) if found.name == *model => None,
        Ok(found) => Some(format!("needs an {model}, and this machine has an {}", found.name)),
        Err(unusable) => Some(format!("needs an {model}: {unusable}")),
    }
}

fn on_path(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| {
        env::split_paths(&path).any(|folder| folder.join(program).with_extension(env::consts::EXE_EXTENSION).is_file())
    })
}

/// Says what will run and how long it will take.
fn announcement(jobs: &[Job], skipped: &[Job]) -> String {
    let mut text = String::new();
    for group in jobs.chunk_by(|one, next| (one.entry.needs, &one.entry.model) == (next.entry.needs, &next.entry.model)) {
        let on = group[0].entry.model.as_deref().unwrap_or(group[0].entry.needs.details().0);
        let runs = if group.len() == 1 { "1 run".to_owned() } else { format!("{} runs", group.len()) };
        let seconds: f64 = group.iter().map(|job| job.seconds).sum();
        text += &format!("{runs} with {on}, about {}:\n", duration(seconds));
        for Job { record, entry, reason, sizes, seconds } in group {
            let sizes = if sizes.is_empty() { String::new() } else { format!("; {sizes}") };
            text += &format!("  {} ({reason}{sizes}; about {})\n    $ {}\n", short(record), duration(*seconds), entry.command);
        }
    }
    for job in skipped {
        text += &format!("skipped: {} ({}) {}\n", short(job.record), job.reason, missing(job.entry).unwrap_or_default());
    }
    if jobs.is_empty() {
        text += "nothing to do\n";
    }
    text
}

fn duration(seconds: f64) -> String {
    if seconds < 90.0 { format!("{:.0} s", seconds.ceil().max(1.0)) } else { format!("{:.0} min", (seconds / 60.0).ceil()) }
}

/// PTX instructions of threads that the simulator executes per second and core. [`TERMS_PER_S`] has the terms that the oracle and the CPU's
/// rows add up. Both are about what an ordinary machine does.
const SIMULATED_PER_S: f64 = 1.5e8;
/// See [`SIMULATED_PER_S`].
const TERMS_PER_S: f64 = 4e8;
/// Seconds of a GPU stage besides its samples: warming up, copying, comparing.
const GPU_STAGE_S: f64 = 0.5;
/// Samples of each stage, and the runs before them.
const RUNS: f64 = 20.0;

/// Returns a record's sizes and the estimated time to make it again. The estimate is from its own times and counts.
fn estimate(manifest: &Manifest, record: &str) -> Result<(String, f64)> {
    if !record.starts_with("results/") {
        return Ok((String::new(), if record.starts_with("counts/") { 60.0 } else { 2.0 }));
    }
    let cores = available_parallelism()?.get() as f64;
    let record = Record::parse(&fs::read_to_string(manifest.path(record))?)?;
    let work = record.work();
    let oracle = work.multiply_adds as f64 / (TERMS_PER_S * cores);
    let stages = record.stages.iter().map(|stage| match (stage.median_ms, stage.counters) {
        (Some(ms), _) if stage.place == Place::Device => GPU_STAGE_S + RUNS * ms / 1e3,
        (Some(ms), _) => 1.0 + 2.0 * ms / 1e3,
        (None, Some(counters)) => counters.ptx_thread_instructions as f64 / (SIMULATED_PER_S * cores),
        (None, None) => 0.0,
    });
    let sizes = record.workload.iter().filter(|(name, _)| !["multiply_adds", "least_bytes", "arithmetic"].contains(&name.as_str()));
    let sizes = sizes.map(|(name, value)| format!("{} {}", name.replace('_', " "), value.to_string().trim_matches('"')));
    let words = format!("{}; {} multiply-adds", sizes.collect::<Vec<_>>().join(", "), units::count(work.multiply_adds));
    Ok((words, 2.0 + oracle + stages.sum::<f64>()))
}

/// Finds the program that a command names. If cargo started this program, cargo also builds and runs that one.
fn program(manifest: &Manifest, name: &str) -> Result<Command> {
    if name == EXPERIMENT {
        return Ok(Command::new(manifest.experiment()));
    }
    let ourselves = env::current_exe()?;
    if name == "book" {
        return Ok(Command::new(ourselves));
    }
    let Some(cargo) = env::var_os("CARGO") else {
        let path = ourselves.with_file_name(name).with_extension(env::consts::EXE_EXTENSION);
        ensure!(path.is_file(), "there is no {}; `cargo build --workspace --bins` makes it", path.display());
        return Ok(Command::new(path));
    };
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    // The profile that this program was built with.
    command.args((!cfg!(debug_assertions)).then_some("--release"));
    command.args(["--package", &format!("ch{name}"), "--bin", name, "--"]);
    Ok(command)
}

/// Runs a command and replaces the record with what it saves. Keeps the old record if [`accept`] refuses the new one.
fn make(manifest: &Manifest, job: &Job, commit: &str) -> Result<()> {
    let (name, arguments) = job.entry.words();
    let path = manifest.path(job.record);
    // Before the run, which may be long.
    let file = AtomicFile::create(&path)?;
    let folder = tempfile::tempdir()?;
    let made = folder.path().join(path.file_name().context("a record has a file name")?);
    // It prints the table of the run, which does not belong on the standard output of this program.
    let status = program(manifest, name)?
        .args(arguments)
        .arg("--save")
        .arg(&made)
        .env(compilers::variables::COMMIT, commit)
        .stdout(std::io::stderr())
        .status()
        .with_context(|| format!("{name} does not start"))?;
    ensure!(status.success(), "the run failed ({status})");
    let text = fs::read_to_string(&made).context("the run saved nothing")?;
    Ok(file.finish(&accept(manifest, job, text)?)?)
}

/// Refuses a record that cannot take the place of the old one. Returns the text to keep.
fn accept(manifest: &Manifest, job: &Job, text: String) -> Result<String> {
    if !job.record.starts_with("results/") {
        return Ok(text);
    }
    let new = Record::parse(&text)?;
    if let Some(model) = &job.entry.model {
        ensure!(new.device.name == *model, "the run was on an {}, and the record is one of an {model}", new.device.name);
    }
    if let Some(stage) = new.stages.iter().find(|stage| stage.failure.is_some()) {
        bail!("stage {} is not verified: {}", stage.name, stage.failure.as_deref().unwrap_or_default());
    }
    if let Ok(Kept::Results(old)) = Kept::read(manifest, job.record) {
        // A stage may be gone; one that is there must not lose its result because this machine lacks something.
        let had_result = |name: &str| old.stages.iter().any(|stage| stage.verified && stage.name == name);
        for stage in new.stages.iter().filter(|stage| had_result(&stage.name)) {
            if let Some(reason) = &stage.skipped {
                bail!("stage {} was skipped, and has a result in the old record: {reason}", stage.name);
            }
        }
    }
    let stale = Kernels::stored().stale_parts(&new);
    ensure!(stale.is_empty(), "{} was built of other kernels than this program; build both", job.entry.words().0);
    Ok(new.to_json())
}
