//! Checks of what a learner wrote: on the simulator, then on a GPU, or whenever the file is saved.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime};
use std::{fs, thread};

use checker::check::Text;
use checker::feedback;
use compilers::Compiler;
use run::units::{factor, milliseconds};
use run::{Gpu, Request, Workload, probe};

use super::session::{Session, say, say_failed, short};
use crate::attempt::Attempt;
use crate::error::{Error, Result};

/// Interval at which `--watch` looks for changes of the file.
const POLL: Duration = Duration::from_millis(200);
const SAMPLES: usize = 15;

impl<W: Workload> Session<'_, W> {
    /// Checks the copy as it is now.
    pub fn check(&self) -> Result<ExitCode> {
        let path = self.workspace.copy(self.exercise);
        let name = short(&path);
        let text = self.workspace.read(self.exercise)?.unwrap_or_default();
        // Messages of the compiler name the file by this path. It would complete a shorter one by itself.
        let full = std::path::absolute(&path).map_err(|source| Error::Read { path: path.clone(), source })?.display().to_string();
        let text = Text { path: &full, name: &name, text: &text };
        let compiler = Compiler::find().map_err(|why| Error::NoCompiler { why, predict: self.predict.clone() })?;
        let attempt = Attempt::new(&compiler, self.exercise, text)?;
        // A record that cannot be read is no reason not to check.
        let checks = self.progress().map_or(0, |progress| progress.checks);
        let seed = self.options.seed.unwrap_or(13 + u64::from(checks));
        if self.options.device == Request::Gpu {
            return self.on_gpu(&attempt, text, seed);
        }
        match attempt.on_simulator::<W>(seed)? {
            Ok(passed) => {
                say(&format!("{name}\n{}", feedback::passed(&self.exercise.manifest, &passed, text)))?;
                self.note_attempt(true)?;
                if self.options.device == Request::Auto { self.again_on_gpu(seed) } else { Ok(ExitCode::SUCCESS) }
            }
            Err(rejection) => {
                let reason = feedback::rejected(&rejection, text);
                let said = say_failed(&format!("{name}\n{}\n\nrepeat this check with --seed {seed}", reason.trim_end()))?;
                self.note_attempt(false)?;
                Ok(said)
            }
        }
    }

    fn on_gpu(&self, attempt: &Attempt<'_>, text: Text<'_>, seed: u64) -> Result<ExitCode> {
        if self.options.if_there_is_one && probe::probe().is_err() {
            return Ok(ExitCode::SUCCESS);
        }
        let gpu = Gpu::open(&Request::Gpu)?;
        let name = &gpu.info().name;
        // Without the flag, this check did not run on the simulator first.
        let too = if self.options.if_there_is_one { ", too" } else { "" };
        let baseline = self.exercise.manifest.cases.as_ref().map_or("", |cases| &cases.baseline);
        match attempt.on_gpu(&gpu, self.chapter, SAMPLES, seed)? {
            Ok(timed) => say(&format!(
                "right on {name}{too}: {}, {} as fast as {baseline}, which takes {}",
                milliseconds(timed.learner_ms),
                factor(timed.baseline_ms / timed.learner_ms),
                milliseconds(timed.baseline_ms),
            )),
            Err(rejection) => say_failed(&format!("on {name}: {}", feedback::rejected(&rejection, text))),
        }
    }

    /// Checks on a GPU, if there is one. A process can load only one driver, so even the question takes another process.
    fn again_on_gpu(&self, seed: u64) -> Result<ExitCode> {
        let arguments = ["--device", "gpu", "--if-there-is-one", "--seed", &seed.to_string()];
        let passed = self.start_again(&this_program()?, &arguments)?;
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Checks the copy after each change, in a separate process each time. A kernel that faults takes its driver with it.
    pub fn watch(&self) -> Result<ExitCode> {
        let path = self.workspace.copy(self.exercise);
        let program = this_program()?;
        let mut seen: Option<SystemTime> = None;
        let mut is_gone = false;
        loop {
            let changed = fs::metadata(&path).and_then(|data| data.modified()).ok();
            if changed.is_none() && !is_gone {
                say(&format!("{} is gone; waiting for you to save it again", short(&path)))?;
            }
            is_gone = changed.is_none();
            if changed.is_some() && changed != seen {
                if seen.is_some() {
                    say(&format!("\n{}\n", "-".repeat(60)))?;
                }
                seen = changed;
                if self.start_again(&program, &["--device", &self.options.device.to_string()])? {
                    return Ok(ExitCode::SUCCESS);
                }
                say("\nwaiting for you to save the file; press Ctrl-C to stop")?;
            }
            thread::sleep(POLL);
        }
    }

    /// Runs this program on the exercise in another process; whether it succeeds.
    fn start_again(&self, program: &Path, arguments: &[&str]) -> Result<bool> {
        let number = self.exercise.number.to_string();
        let status = Command::new(program).args(["exercise", &number]).args(arguments).status().map_err(Error::Restart)?;
        Ok(status.success())
    }
}

fn this_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(Error::Restart)
}
