//! Runs of the simulator, which are the same on every machine: lanes of a warp, footprints of blocks, findings of the checks, and a stage
//! without parts of its work.
//!
//! A process simulates one GPU, so the press starts itself once for each GPU that the pages name and asks for everything at once.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use driver::variables::LAUNCHES;
use inspect::diagnose::diagnose;
use inspect::explain::Explanation;
use run::Chapter;
use run::device::Request as Device;
use run::gpu::Gpu;
use run::observer;
use run::runner;
use run::stage::{Run, Stage};
use run::units::percent;
use run::workload::Workload;
use serde::{Deserialize, Serialize};
use simt::Dim3;

use crate::chapters::{self, with_chapter};
use crate::directive::{Arguments, check, named};
use crate::drawing::draw_footprint;
use crate::drawing::footprint::Who;
use crate::drawing::svg::inline;
use crate::drawing::trace::{Arrays, SEED, verified};
use crate::lab::explain::explain;
use crate::tables::source;

/// A view of a run of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Show {
    /// The accesses of a thread to global memory: in a stage, and in the chapter's kernels for parts of it.
    Accesses,
    /// The stage with its loads removed.
    Diagnosis,
    /// The source with its counts.
    Explain,
    /// The first finding of the checks.
    Finding,
    /// The elements that a thread, its warp and its block read and write.
    Footprint,
    /// The words that the costliest request of the first warp asks for.
    Lanes,
}

/// A directive for the simulator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Question {
    show: Show,
    profile: String,
    chapter: String,
    /// The words and options after the chapter.
    arguments: Arguments,
}

impl Question {
    /// Takes the simulated GPU and the chapter; the other arguments are for the process that simulates.
    pub fn take(show: Show, mut arguments: Arguments) -> Result<Self> {
        const EXAMPLE: &str = "a simulated GPU and a chapter, such as `sim-h200/01-conv-naive`";
        let place = arguments.word(&format!("{EXAMPLE},"))?;
        let place = place.strip_prefix("sim-").and_then(|place| place.split_once('/'));
        let (profile, chapter) = place.with_context(|| format!("the first word is not {EXAMPLE}"))?;
        chapters::check(chapter)?;
        check("GPU", profile, simt::Profile::all().iter().map(|profile| profile.name))?;
        Ok(Self { show, profile: profile.to_owned(), chapter: chapter.to_owned(), arguments })
    }
}

/// The simulator's answer to each question; an error is text.
pub type Answers = BTreeMap<Question, Result<String, String>>;

/// Asks the simulator, in processes of `program`. The program must answer to `simulate PROFILE` with [`serve`].
pub fn ask(program: &Path, questions: BTreeSet<Question>) -> Result<Answers> {
    // A process for explanations writes its launches to files, and the others need not.
    let mut by_process: BTreeMap<(String, bool), Vec<Question>> = BTreeMap::new();
    for question in questions {
        by_process.entry((question.profile.clone(), question.show == Show::Explain)).or_default().push(question);
    }
    let launches = tempfile::tempdir()?;
    let processes = by_process.into_iter().map(|((profile, explains), questions)| {
        let mut process = Command::new(program);
        process.args(["simulate", &profile]).stdin(Stdio::piped()).stdout(Stdio::piped());
        process.envs(explains.then_some((LAUNCHES, launches.path())));
        let mut process = process.spawn().with_context(|| program.display().to_string())?;
        let mut input = process.stdin.take().context("a pipe to the process")?;
        input.write_all(&serde_json::to_vec(&questions)?)?;
        Ok((questions, process))
    });
    let mut answers = Answers::new();
    for (questions, process) in processes.collect::<Result<Vec<_>>>()? {
        let output = process.wait_with_output()?;
        ensure!(output.status.success(), "the simulator ended with {}", output.status);
        let answered: Vec<Result<String, String>> = serde_json::from_slice(&output.stdout)?;
        answers.extend(questions.into_iter().zip(answered));
    }
    Ok(answers)
}

/// Answers the questions in `input` (a list as JSON), which are all for one GPU.
pub fn serve(profile: &str, input: &str) -> Result<String> {
    let questions: Vec<Question> = serde_json::from_str(input)?;
    let gpu = &Gpu::open(&Device::Sim(Some(profile.to_owned())))?;
    let answer = |Question { show, chapter, mut arguments, .. }| -> Result<String> {
        let answer = with_chapter!(chapter.as_str(), chapter => answer(gpu, chapter, show, &mut arguments))?;
        arguments.finish()?;
        Ok(answer)
    };
    let answers = questions.into_iter().map(|question| answer(question).map_err(|error| format!("{error:#}")));
    Ok(serde_json::to_string(&answers.collect::<Vec<Result<String, String>>>())?)
}

/// Runs a directive's stage and shows what the directive asks for.
fn answer<W: Arrays>(gpu: &Gpu, chapter: &Chapter<W>, show: Show, arguments: &mut Arguments) -> Result<String> {
    let asked = arguments.word("a stage")?;
    let size = arguments.option("size");
    // As in the cases of exercises: a size and options of the chapter.
    let workload = &size.as_ref().map_or_else(W::teaching, |case| W::of_case(case, SEED).map_err(anyhow::Error::msg))?;
    let stages = chapter.all_stages().map(|stage| (stage.name, stage));
    let stage = named(format_args!("{} has no stage {asked}", chapter.name), &asked, stages)?;
    match show {
        Show::Lanes => Ok(inline(&lanes(gpu, stage, workload)?, &arguments.alternative()?)),
        Show::Footprint => {
            let who = Who::take(arguments)?;
            Ok(inline(&draw_footprint(gpu, stage, workload, &who)?, &arguments.alternative()?))
        }
        Show::Explain => explain(gpu, chapter.name, stage, workload, size.as_deref().unwrap_or_default(), arguments),
        Show::Finding => finding(gpu, stage, workload),
        Show::Diagnosis => match diagnose(gpu, stage, chapter.experiments, workload, 1)? {
            Ok(diagnosis) => Ok(diagnosis.text()),
            Err(row) => bail!("{} is not verified: {:?}", stage.name, row.outcome),
        },
        Show::Accesses => accesses(gpu, stage, chapter, workload, &arguments.word("what a thread works on, in quotes,")?),
    }
}

fn lanes<W: Workload>(gpu: &Gpu, stage: &Stage<W>, workload: &W) -> Result<String> {
    let profile = gpu.profile().context("only the simulator shows what a warp does")?;
    let measured = verified(gpu, stage, workload)?;
    Ok(Explanation::new(stage.name, &measured.launches, stage.least_bytes(workload), profile).svg(None, kernels::text)?)
}

fn finding<W: Workload>(gpu: &Gpu, stage: &Stage<W>, workload: &W) -> Result<String> {
    let rows = runner::run(gpu, &[*stage], workload, 0)?.rows;
    Ok(rows[0].findings().first().with_context(|| format!("the checks find nothing in {}", stage.name))?.to_string())
}

/// Counts the accesses of a thread. Warps are whole, so the requests of a warp are those of each of its threads.
fn accesses<W: Workload>(gpu: &Gpu, stage: &Stage<W>, chapter: &Chapter<W>, workload: &W, what: &str) -> Result<String> {
    let parts = chapter.experiments.iter().filter(|part| part.stage == *stage);
    let kernels = parts.map(|part| (part.name, part.left, Run::Launches(part.run)));
    let mut table = "| kernel | what it computes | loads | stores | accesses |\n|---|---|---:|---:|---:|\n".to_owned();
    let mut accesses = Vec::new();
    for (name, part, run) in std::iter::once((stage.name, "both", stage.run)).chain(kernels) {
        let Run::Launches(enqueue) = run else { bail!("{name} is not a plain launch") };
        let mut buffers = workload.upload(gpu)?;
        observer::forget(gpu)?;
        enqueue(gpu, workload, &mut buffers)?;
        gpu.stream.synchronize()?;
        let seen = observer::take(gpu)?;
        let counters = seen.counters.context("only the simulator counts")?;
        let threads = |size: Dim3| u64::from(size.x) * u64::from(size.y) * u64::from(size.z);
        let configs = seen.launches.iter().map(|launch| &launch.report.config);
        let warps: u64 = configs.map(|config| threads(config.grid) * threads(config.block) / 32).sum();
        let (loads, stores) = (counters.global_load_requests / warps, counters.global_store_requests / warps);
        accesses.push(loads + stores);
        table += &format!("| {name} | {part} | {loads} | {stores} | {} |\n", loads + stores);
    }
    let [whole, ref parts @ ..] = accesses[..] else { bail!("there is no whole") };
    let share = percent(parts.iter().sum::<u64>() as f64 / whole as f64);
    let note =
        format!("Accesses to global memory for {what}, counted by the simulator. The two halves together: {share} of the whole.");
    Ok(format!("{table}\n{}", source(&note)))
}
