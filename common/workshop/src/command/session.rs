//! A learner at one exercise: task, hints, copy, and attempts.

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use checker::feedback;
use checker::text::{Version, paragraphs, version};
use compilers::Compiler;
use run::{Chapter, Workload, console};

use super::options::Options;
use crate::error::{Error, Result};
use crate::exercise::Exercise;
use crate::workspace::{Progress, Workspace};

/// Returns the command line for an exercise.
pub fn call(chapter: &str, number: u32) -> String {
    format!("cargo run -p ch{chapter} -- exercise {number}")
}

/// A learner at one exercise.
pub struct Session<'a, W: Workload> {
    pub chapter: &'a Chapter<W>,
    pub exercise: &'a Exercise,
    pub workspace: &'a Workspace,
    pub options: &'a Options,
    /// The exercises of the chapter that need no compiler.
    pub predict: Vec<u32>,
}

impl<W: Workload> Session<'_, W> {
    /// Returns the exercise's title and task.
    pub fn task(&self) -> String {
        let Exercise { chapter, number, manifest, .. } = self.exercise;
        let mut task = format!(
            "exercise {number} of {chapter}, {}: {}\n\n{}\n",
            manifest.kind.word(),
            manifest.title,
            paragraphs(&manifest.task)
        );
        if !manifest.targets.is_empty() {
            task += "\nIt must be right at every size, and have\n\n";
            task.extend(feedback::targets::<W>(manifest).iter().map(|target| format!("    {target}\n")));
        }
        task
    }

    pub fn call(&self) -> String {
        call(self.chapter.name, self.exercise.number)
    }

    pub fn hint(&self) -> Result<ExitCode> {
        let hints = &self.exercise.manifest.hints;
        // A hint is there also where nothing can be recorded.
        let shown = (self.progress().unwrap_or_default().hints + 1).min(hints.len() as u32);
        let lines = (1..=shown).zip(hints).map(|(number, hint)| format!("hint {number} of {}: {}", hints.len(), hint.trim()));
        let said = say(&lines.collect::<Vec<_>>().join("\n"))?;
        self.workspace.note(self.exercise, |progress| progress.hints = shown.max(progress.hints))?;
        Ok(said)
    }

    /// Returns the starter or the solution.
    pub fn text(&self, wanted: Version) -> Result<String> {
        Ok(version(&self.exercise.solution, wanted).map_err(|reason| self.exercise.unusable(format!("solution.cu: {reason}")))?)
    }

    pub fn progress(&self) -> Result<Progress> {
        self.workspace.progress(self.exercise)
    }

    /// Records an attempt. Attempts after the first pass do not count.
    pub fn note_attempt(&self, passed: bool) -> Result<()> {
        let note = |progress: &mut Progress| {
            progress.checks += 1;
            if progress.passed.is_none() {
                progress.attempts += 1;
                progress.passed = passed.then(|| humantime::format_rfc3339_seconds(SystemTime::now()).to_string());
            }
        };
        self.workspace.note(self.exercise, note)
    }

    /// Records that the learner has looked at the solution before they passed.
    pub fn note_solution(&self) -> Result<()> {
        let note = |progress: &mut Progress| progress.solution_seen |= progress.passed.is_none();
        self.workspace.note(self.exercise, note)
    }

    pub fn is_started(&self) -> Result<bool> {
        Ok(self.workspace.read(self.exercise)?.is_some())
    }

    /// Makes the learner's copy and says what to do.
    pub fn start(&self) -> Result<ExitCode> {
        let kept = self.workspace.lay_out(self.exercise, &self.text(Version::Starter)?)?;
        let kept = kept.map_or(String::new(), |kept| format!("\nyour old one is kept as {}", short(&kept)));
        let copy = short(&self.workspace.copy(self.exercise));
        let (task, call) = (self.task(), self.call());
        let compiler = match Compiler::find() {
            Ok(_) => String::new(),
            // Better now than after they have written.
            Err(why) => format!("\n\n{}", Error::NoCompiler { why, predict: self.predict.clone() }),
        };
        say(&format!("{task}\nyour copy   {copy}{kept}\n\nedit it, then check it with the same command:\n{call}{compiler}"))
    }
}

/// Returns a path as short as possible.
pub fn short(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

/// Prints a result in lines that fit the terminal.
pub fn say(text: &str) -> Result<ExitCode> {
    console::print(&format!("{}\n", console::wrap_lines(text, console::width())))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints code as it is.
pub fn show(code: &str) -> Result<ExitCode> {
    console::print(&format!("{}\n", code.trim_end()))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a result of an attempt that failed.
pub fn say_failed(text: &str) -> Result<ExitCode> {
    say(text)?;
    Ok(ExitCode::FAILURE)
}
