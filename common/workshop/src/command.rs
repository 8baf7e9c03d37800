//! `exercise` on the command line of every chapter.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, SystemTime};

use clap::Args;
use jiff::Timestamp;
use toolkit::nvrtc::Nvrtc;

use super::check::{self, Text};
use super::desk::{Desk, Progress};
use super::manifest::{Predict, Question};
use super::text::{Version, version};
use crate::error::{Error, Result};
use crate::{Exercise, Unusable, cases, root, teach};
use common::Chapter;
use common::atomic_file::AtomicFile;
use common::device::Request;
use common::gpu::Gpu;
use common::probe;
use common::runner;
use common::units::{factor, milliseconds};
use common::workload::{Arithmetic, Plan, Workload};

/// How often `--watch` looks whether the file has changed.
const LOOK: Duration = Duration::from_millis(200);

/// Practise: without a number, list the chapter's exercises; with one, begin that exercise or check what you have written.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// The exercise, from 1
    number: Option<u32>,
    /// Your answers, where numbers are to be predicted, in the order of the questions
    #[arg(long, value_name = "NUMBER", num_args = 1.., requires = "number", allow_negative_numbers = true)]
    answer: Vec<f64>,
    /// Check again whenever the file is saved, until it passes
    #[arg(long, requires = "number", conflicts_with_all = ["hint", "solution", "reset", "answer"])]
    watch: bool,
    /// Show a hint; each time one more, three in all
    #[arg(long, requires = "number", conflicts_with_all = ["solution", "reset", "answer"])]
    hint: bool,
    /// Show the solution of an exercise that you have passed
    #[arg(long, requires = "number", conflicts_with_all = ["reset", "answer"])]
    solution: bool,
    /// With --solution, before you have passed
    #[arg(long, requires = "solution")]
    really: bool,
    /// Begin again; what you have written is kept beside it
    #[arg(long, requires = "number", conflicts_with = "answer")]
    reset: bool,
    /// Write your progress with all exercises of all chapters to a file, as JSON
    #[arg(long, value_name = "FILE", conflicts_with = "number")]
    export: Option<PathBuf>,
    /// Where to check: auto is the simulated GPU, and where there is a real one, then that, too
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    device: Request,
    /// Say nothing on a machine without a GPU
    #[arg(long, hide = true)]
    if_there_is_one: bool,
    /// Start of the random sizes and inputs; another one at each check unless it is given
    #[arg(long, value_name = "N", requires = "number")]
    seed: Option<u64>,
}

/// Does what the options ask.
///
/// # Errors
///
/// What is no fault of the learner's kernel: an exercise that there is not, files, a compiler that is missing.
pub fn run<W: Workload>(chapter: &Chapter<W>, options: &Options) -> Result<ExitCode> {
    let root = root();
    let desk = Desk::new(&root);
    let exercises = Exercise::all(&root, chapter.name)?;
    if let Some(path) = &options.export {
        let mut file = AtomicFile::create(path)?;
        file.write_all(desk.export()?.as_bytes()).map_err(|source| Error::Write { path: path.clone(), source })?;
        file.commit()?;
        return said(&format!("your progress is in {}", path.display()));
    }
    let Some(number) = options.number else { return list(chapter, &exercises, &desk) };
    let Some(exercise) = exercises.iter().find(|exercise| exercise.number == number) else {
        return Err(Error::NoExercise { chapter: chapter.name, asked: number, last: exercises.len() });
    };
    let predict = exercises.iter().filter(|exercise| !exercise.is_written()).map(|exercise| exercise.number).collect();
    let session = Session { chapter, exercise, desk: &desk, options, predict };
    if options.hint {
        return session.hint();
    }
    if options.solution {
        return session.solution();
    }
    match &exercise.manifest.predict {
        Some(predict) => session.predict(predict),
        None => session.write(),
    }
}

/// The exercises of the chapter, and how far the learner has come.
fn list<W: Workload>(chapter: &Chapter<W>, exercises: &[Exercise], desk: &Desk) -> Result<ExitCode> {
    let progress = exercises.iter().map(|exercise| desk.progress(exercise)).collect::<Result<Vec<_>>>()?;
    let passed = progress.iter().filter(|progress| progress.passed.is_some()).count();
    let mut text = format!("{}: {passed} of {} exercises passed\n\n", chapter.name, exercises.len());
    let width = exercises.iter().map(|exercise| exercise.manifest.title.chars().count()).max().unwrap_or(0);
    for (exercise, progress) in exercises.iter().zip(&progress) {
        let state = match progress {
            Progress { passed: Some(_), .. } => "passed".to_owned(),
            Progress { attempts: 0, .. } if desk.copy(exercise).exists() => "begun".to_owned(),
            Progress { attempts: 0, .. } => String::new(),
            Progress { attempts, .. } => format!("tried {attempts}x"),
        };
        let (number, title) = (exercise.number, &exercise.manifest.title);
        text += format!("  {number}  {:<8}  {title:<width$}  {state}", exercise.manifest.kind.word()).trim_end();
        text.push('\n');
    }
    let next = exercises.iter().zip(&progress).find(|(_, progress)| progress.passed.is_none());
    if let Some((exercise, _)) = next {
        text += &format!("\nnext: {}\n", call(chapter.name, exercise.number));
    }
    said(text.trim_end())
}

/// The command line for an exercise.
fn call(chapter: &str, number: u32) -> String {
    format!("cargo run -p ch{chapter} -- exercise {number}")
}

/// A learner at one exercise.
struct Session<'a, W: Workload> {
    chapter: &'a Chapter<W>,
    exercise: &'a Exercise,
    desk: &'a Desk,
    options: &'a Options,
    /// The exercises of the chapter that take no compiler.
    predict: Vec<u32>,
}

impl<W: Workload> Session<'_, W> {
    /// The exercise's title and task.
    fn task(&self) -> String {
        let Exercise { chapter, number, manifest, .. } = self.exercise;
        format!("exercise {number} of {chapter}, {}: {}\n\n{}\n", manifest.kind.word(), manifest.title, manifest.task.trim())
    }

    fn call(&self) -> String {
        call(self.chapter.name, self.exercise.number)
    }

    fn hint(&self) -> Result<ExitCode> {
        let hints = &self.exercise.manifest.hints;
        let progress = self.desk.note(self.exercise, |progress| progress.hints = (progress.hints + 1).min(hints.len() as u32))?;
        let mut text = String::new();
        for (number, hint) in (1..).zip(hints.iter().take(progress.hints as usize)) {
            text += &format!("hint {number} of {}: {}\n", hints.len(), hint.trim());
        }
        said(text.trim_end())
    }

    fn solution(&self) -> Result<ExitCode> {
        if self.desk.progress(self.exercise)?.passed.is_none() && !self.options.really {
            return Err(Error::NotPassed { call: self.call() });
        }
        match &self.exercise.manifest.predict {
            Some(predict) => {
                let (counted, arithmetic) = self.count(predict)?;
                let answers = predict.questions.iter().zip(counted);
                let lines = answers
                    .map(|(question, number)| format!("{}\n  {}\n", question.ask, question.measure.words(number, arithmetic)));
                said(&format!("{}\n{}", lines.collect::<String>(), self.exercise.manifest.lesson.trim()))
            }
            None => said(self.text(Version::Solution)?.trim_end()),
        }
    }

    /// The starter or the solution.
    fn text(&self, wanted: Version) -> Result<String> {
        version(&self.exercise.solution, wanted)
            .map_err(|reason| Error::Exercise(Unusable { path: format!("{}/solution.cu", self.exercise.stem()).into(), reason }))
    }

    /// Asks, or looks at the answers.
    fn predict(&self, predict: &Predict) -> Result<ExitCode> {
        let questions = &predict.questions;
        if self.options.answer.is_empty() {
            let mut text = self.task();
            for (number, question) in (1..).zip(questions) {
                text += &format!("\n{number}. {}", question.ask.trim());
            }
            let numbers = vec!["NUMBER"; questions.len()].join(" ");
            return said(&format!("{text}\n\nanswer with: {} --answer {numbers}", self.call()));
        }
        if self.options.answer.len() != questions.len() {
            return Err(Error::Answers { expected: questions.len(), got: self.options.answer.len() });
        }
        let (counted, arithmetic) = self.count(predict)?;
        let mut text = String::new();
        let mut right = true;
        for ((number, question), (&answer, counted)) in (1..).zip(questions).zip(self.options.answer.iter().zip(counted)) {
            let verdict = judged(question, answer, counted);
            right &= verdict.is_none();
            let verdict = verdict.unwrap_or_else(|| format!("right, it has {}", question.measure.words(counted, arithmetic)));
            text += &format!("{number}. {verdict}\n");
        }
        self.note(right)?;
        if right {
            return said(&format!("{text}\npassed. {}", self.exercise.manifest.lesson.trim()));
        }
        said(&format!("{text}\nthink again, or: {} --hint", self.call()))?;
        Ok(ExitCode::FAILURE)
    }

    /// What the questions ask for, counted now, and what some counts are told per.
    fn count(&self, predict: &Predict) -> Result<(Vec<f64>, Arithmetic)> {
        let unusable = |reason: String| Error::Exercise(Unusable { path: self.exercise.stem().into(), reason });
        let gpu = Gpu::open(&predict.device.parse()?)?;
        let options = cases::options(&predict.size).map_err(unusable)?;
        let Plan { mut parts, .. } = W::plan(&options, 13, &gpu)?;
        let workload = parts.swap_remove(0);
        let count = |question: &Question| {
            let stage = self.chapter.stage(&question.stage).map_err(|unknown| unusable(unknown.to_string()))?;
            let rows = runner::run(&gpu, &[*stage], &workload, 0)?.rows;
            let counted = rows[0].counters().and_then(|counters| question.measure.of(counters, workload.work()));
            counted.ok_or_else(|| unusable(format!("{} counts no such thing: {:?}", question.stage, rows[0].outcome)))
        };
        let counted = predict.questions.iter().map(count).collect::<Result<_>>()?;
        Ok((counted, workload.work().arithmetic))
    }

    /// Begins, or checks.
    fn write(&self) -> Result<ExitCode> {
        let path = self.desk.copy(self.exercise);
        let begun = self.desk.read(self.exercise)?.is_some();
        if !begun || self.options.reset {
            let kept = self.desk.lay_out(self.exercise, &self.text(Version::Starter)?)?;
            let mut text = format!("{}\nyour copy   {}", self.task(), shown(&path));
            if let Some(kept) = kept {
                text += &format!("\nyour old one is kept as {}", shown(&kept));
            }
            said(&format!("{text}\n\nwrite, then check with the same command: {}", self.call()))?;
            if !self.options.watch {
                return Ok(ExitCode::SUCCESS);
            }
        }
        if self.options.watch { self.watch(&path) } else { self.check() }
    }

    /// Checks the copy as it is now.
    fn check(&self) -> Result<ExitCode> {
        let path = self.desk.copy(self.exercise);
        let name = shown(&path);
        let text = self.desk.read(self.exercise)?.unwrap_or_default();
        // The compiler takes the whole path for a name: of a short one it would make a long one by itself.
        let whole = std::path::absolute(&path).map_err(|source| Error::Read { path: path.clone(), source })?.display().to_string();
        let text = Text { path: &whole, name: &name, text: &text };
        let nvrtc = Nvrtc::find().map_err(|why| Error::NoCompiler { why, predict: self.predict.clone() })?;
        let on_gpu = self.options.device == Request::Gpu;
        if on_gpu && self.options.if_there_is_one && probe::probe().is_err() {
            return Ok(ExitCode::SUCCESS);
        }
        let device = if on_gpu { Request::Gpu } else { Request::Sim(None) };
        let gpu = Gpu::open(&device)?;
        let attempts = self.desk.progress(self.exercise)?.attempts;
        let seed = self.options.seed.unwrap_or(13 + u64::from(attempts));
        let found = check::check::<W>(&gpu, &nvrtc, self.exercise, text, seed)?;
        if on_gpu {
            return match found {
                Ok(_) => self.time(&gpu, &nvrtc, text),
                Err(trouble) => {
                    said(&format!("on {}: {}", gpu.info().name, teach::trouble(&trouble, text))).map(|_| ExitCode::FAILURE)
                }
            };
        }
        self.note(found.is_ok())?;
        match found {
            Ok(passed) => {
                said(&format!("{name}\n{}", teach::passed(self.exercise, &passed)))?;
                if self.options.device == Request::Auto { self.again_on_gpu(seed) } else { Ok(ExitCode::SUCCESS) }
            }
            Err(trouble) => {
                said(&format!("{name}\n{}\n\nrandom sizes and inputs: --seed {seed}", teach::trouble(&trouble, text).trim_end()))?;
                Ok(ExitCode::FAILURE)
            }
        }
    }

    /// The same on a GPU, if there is one. A process can load one driver only, so it takes another one even to ask.
    fn again_on_gpu(&self, seed: u64) -> Result<ExitCode> {
        let program = std::env::current_exe().map_err(Error::Restart)?;
        let number = self.exercise.number.to_string();
        let status = Command::new(program)
            .args(["exercise", &number, "--device", "gpu", "--if-there-is-one", "--seed", &seed.to_string()])
            .status()
            .map_err(Error::Restart)?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// What a kernel that is right on a GPU gains there.
    fn time(&self, gpu: &Gpu, nvrtc: &Nvrtc, text: Text<'_>) -> Result<ExitCode> {
        let name = &gpu.info().name;
        // Nobody has looked at the simulator where only the GPU was asked for.
        let too = if self.options.if_there_is_one { ", too" } else { "" };
        let baseline = self.exercise.manifest.cases.as_ref().map_or("", |cases| &cases.baseline);
        match check::time(gpu, nvrtc, self.exercise, text, self.chapter, 15)? {
            Ok(timed) => said(&format!(
                "right on {name}{too}: {}, where {baseline} takes {}: {} as fast",
                milliseconds(timed.learner_ms),
                milliseconds(timed.baseline_ms),
                factor(timed.baseline_ms / timed.learner_ms)
            )),
            Err(trouble) => said(&format!("on {name}: {}", teach::trouble(&trouble, text))).map(|_| ExitCode::FAILURE),
        }
    }

    /// Checks whenever the copy has changed, each time in a process of its own: a kernel that goes wrong takes its driver with it.
    fn watch(&self, path: &Path) -> Result<ExitCode> {
        let program = std::env::current_exe().map_err(Error::Restart)?;
        let number = self.exercise.number.to_string();
        let mut seen: Option<SystemTime> = None;
        loop {
            let changed = fs::metadata(path).and_then(|data| data.modified()).ok();
            if changed.is_some() && changed != seen {
                seen = changed;
                let status = Command::new(&program)
                    .args(["exercise", &number, "--device", &self.options.device.to_string()])
                    .status()
                    .map_err(Error::Restart)?;
                if status.success() {
                    return Ok(ExitCode::SUCCESS);
                }
                said("\nwaiting for you to save the file; Ctrl-C ends")?;
            }
            thread::sleep(LOOK);
        }
    }

    fn note(&self, passed: bool) -> Result<()> {
        let note = |progress: &mut Progress| {
            if progress.passed.is_none() {
                progress.attempts += 1;
                progress.passed = passed.then(|| Timestamp::now().strftime("%FT%TZ").to_string());
            }
        };
        self.desk.note(self.exercise, note).map(drop)
    }
}

/// What to say to a wrong answer; `None` if it is right.
fn judged(question: &Question, answer: f64, counted: f64) -> Option<String> {
    // A hair more than nothing, for numbers with digits that nobody types.
    let close = |a: f64, b: f64| (a - b).abs() <= question.within.max(0.005) * b.abs();
    if close(answer, counted) {
        return None;
    }
    let known = question.near.iter().find(|near| close(answer, near.value));
    let direction = if answer < counted { "there are more" } else { "there are fewer" };
    Some(known.map_or_else(|| format!("not {answer}: {direction}"), |near| format!("not {answer}: {}", near.says.trim())))
}

/// A path as short as it can be told.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

/// Writes a result.
fn said(text: &str) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}
