//! The exercises of a chapter, and how far the learner has come.

use std::process::ExitCode;

use super::session::{call, say};
use crate::error::Result;
use crate::exercise::Exercise;
use crate::workspace::{Progress, Workspace};

/// Lists the exercises, and names the next one.
pub fn run(chapter: &str, exercises: &[Exercise], workspace: &Workspace) -> Result<ExitCode> {
    let progress = exercises.iter().map(|exercise| workspace.progress(exercise)).collect::<Result<Vec<_>>>()?;
    let passed = progress.iter().filter(|progress| progress.passed.is_some()).count();
    let mut text = format!("{chapter}: {passed} of {} exercises passed\n\n", exercises.len());
    let width = exercises.iter().map(|exercise| exercise.manifest.title.chars().count()).max().unwrap_or(0);
    for (exercise, progress) in exercises.iter().zip(&progress) {
        let state = match progress {
            Progress { passed: Some(_), .. } => "passed".to_owned(),
            Progress { attempts: 0, .. } if workspace.copy(exercise).exists() => "started".to_owned(),
            Progress { attempts: 0, .. } => String::new(),
            Progress { attempts, .. } => format!("tried {attempts}x"),
        };
        let (number, title) = (exercise.number, &exercise.manifest.title);
        text += format!("  {number}  {:<8}  {title:<width$}  {state}", exercise.manifest.kind.word()).trim_end();
        text.push('\n');
    }
    let next = exercises.iter().zip(&progress).find(|(_, progress)| progress.passed.is_none());
    if let Some((exercise, _)) = next {
        text += &format!("\nnext: {}\n", call(chapter, exercise.number));
    }
    say(text.trim_end())
}
