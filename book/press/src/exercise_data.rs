//! What a page needs to check its exercises: a file in JSON for each, which the press writes beside the built book.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};
use run::Chapter;
use run::workload::Arithmetic;
use serde::Serialize;
use workshop::Exercise;
use workshop::manifest::Manifest;
use workshop::text::{Version, version};

use crate::chapters::{Visitor, chapters, visit};
use crate::drawing::trace::Arrays;
use crate::root;

/// An exercise as a page reads it.
#[derive(Serialize)]
struct Data<'a> {
    /// The name of its workload.
    problem: &'static str,
    /// What some counts are per.
    arithmetic: Arithmetic,
    /// What the compiler calls the learner's text.
    name: String,
    /// Nothing if it asks for numbers.
    starter: String,
    solution: String,
    manifest: &'a Manifest,
    /// The right numbers, if it asks for some.
    counted: Vec<f64>,
}

/// Writes all exercises into a folder: `01-conv-naive/2.json` and so on. `program` answers to `counted CHAPTER NUMBER` with [`counted`].
///
/// # Errors
///
/// When an exercise cannot be used, or a file cannot be written.
pub fn write(folder: &Path, program: &Path) -> Result<()> {
    chapters().into_iter().try_for_each(|(chapter, _)| visit(chapter, Write { folder: &folder.join(chapter), program }))
}

/// What a predict exercise asks for, as JSON.
///
/// # Errors
///
/// When there is no such exercise, or it cannot be counted.
pub fn counted(chapter: &str, number: u32) -> Result<String> {
    visit(chapter, Count { number })
}

struct Write<'a> {
    folder: &'a Path,
    program: &'a Path,
}

impl Visitor for Write<'_> {
    type Output = ();

    fn visit<W: Arrays>(self, chapter: &'static Chapter<W>) -> Result<()> {
        fs::create_dir_all(self.folder).with_context(|| self.folder.display().to_string())?;
        for exercise in Exercise::all(root(), chapter.name)? {
            let text = |wanted| version(&exercise.solution, wanted).map_err(|reason| anyhow!("{}: {reason}", exercise.stem()));
            let numbers = match exercise.manifest.predict {
                Some(_) => of_process(self.program, &exercise)?,
                None => Vec::new(),
            };
            let data = Data {
                problem: W::NAME,
                arithmetic: W::ARITHMETIC,
                name: format!("{}.cu", exercise.stem()),
                starter: text(Version::Starter)?,
                solution: text(Version::Solution)?,
                manifest: &exercise.manifest,
                counted: numbers,
            };
            let path = self.folder.join(format!("{}.json", exercise.number));
            fs::write(&path, serde_json::to_vec(&data)?).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

/// Counts in a process of its own, because a process simulates one GPU and exercises ask about several.
fn of_process(program: &Path, exercise: &Exercise) -> Result<Vec<f64>> {
    let output = Command::new(program).args(["counted", &exercise.chapter, &exercise.number.to_string()]).output();
    let output = output.with_context(|| program.display().to_string())?;
    let failed = || format!("{}: {}", exercise.stem(), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), failed());
    serde_json::from_slice(&output.stdout).with_context(failed)
}

struct Count {
    number: u32,
}

impl Visitor for Count {
    type Output = String;

    fn visit<W: Arrays>(self, chapter: &'static Chapter<W>) -> Result<String> {
        let exercises = Exercise::all(root(), chapter.name)?;
        let exercise = exercises.iter().find(|exercise| exercise.number == self.number).context("there is no such exercise")?;
        let predict = exercise.manifest.predict.as_ref().context("this exercise asks for a kernel")?;
        Ok(serde_json::to_string(&workshop::count::count(chapter, exercise, predict)?.0)?)
    }
}
