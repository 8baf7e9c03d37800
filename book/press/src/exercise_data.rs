//! The data with which a page checks its exercises: a file in JSON for each, which the press writes next to the built book.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};
use run::Chapter;
use run::workload::Workload;
use serde_json::json;
use workshop::Exercise;
use workshop::text::{Version, version};

use crate::chapters::{chapters, with_chapter};
use crate::page::sources;
use crate::root;

/// Writes all exercises into a folder: `01-conv-naive/2.json` and so on. `program` answers to `counted CHAPTER NUMBER` with [`counted`].
pub fn write(folder: &Path, program: &Path) -> Result<()> {
    let course = course()?;
    let write = |(name, _)| with_chapter!(name, chapter => write_chapter(&folder.join(name), program, &course, chapter));
    chapters().into_iter().try_for_each(write)
}

/// An exercise of the course, `01-conv-naive/2`, with the page that has it.
type Stop = (String, String);

/// Returns all exercises in the order of reading.
fn course() -> Result<Vec<Stop>> {
    let pages = sources()?;
    let page = |path: &str| pages.iter().find(|page| page.path == format!("book/src/{path}")).map_or("", |page| &page.text);
    let links = page("SUMMARY.md").split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let on_page = |path| {
        let stems = page(path).split("{{exercise ").skip(1).filter_map(|rest| rest.split("}}").next());
        stems.map(move |stem| (stem.to_owned(), path.replace(".md", ".html")))
    };
    Ok(links.flat_map(on_page).collect())
}

/// Returns the exercise after this one.
fn next<'c>(course: &'c [Stop], stem: &str) -> Option<&'c Stop> {
    course.get(course.iter().position(|(this, _)| this == stem)? + 1)
}

fn write_chapter<W: Workload>(folder: &Path, program: &Path, course: &[Stop], chapter: &Chapter<W>) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for exercise in Exercise::all(root(), chapter.name)? {
        let text = |wanted| version(&exercise.solution, wanted).map_err(|reason| anyhow!("{}: {reason}", exercise.stem()));
        let data = json!({
            "problem": W::NAME,
            // The unit of work of some counts.
            "arithmetic": W::ARITHMETIC,
            // The compiler has this name for the learner's text.
            "name": format!("{}.cu", exercise.stem()),
            // Nothing if it asks for numbers.
            "starter": text(Version::Starter)?,
            "solution": text(Version::Solution)?,
            "manifest": exercise.manifest,
            // Where the next exercise of the course is.
            "next": next(course, &format!("{}/{}", chapter.name, exercise.number)),
            // The right numbers, if it asks for some.
            "counted": exercise.manifest.predict.as_ref().map_or(Ok(Vec::new()), |_| of_process(program, &exercise))?,
        });
        let path = folder.join(format!("{}.json", exercise.number));
        fs::write(&path, data.to_string()).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Counts in a separate process. A process simulates one GPU, and exercises ask about several.
fn of_process(program: &Path, exercise: &Exercise) -> Result<Vec<f64>> {
    let output = Command::new(program).args(["counted", &exercise.chapter, &exercise.number.to_string()]).output();
    let output = output.with_context(|| program.display().to_string())?;
    let failed = || format!("{}: {}", exercise.stem(), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), failed());
    serde_json::from_slice(&output.stdout).with_context(failed)
}

/// Returns the counts that a predict exercise asks for, as JSON.
pub fn counted(chapter: &str, number: u32) -> Result<String> {
    let exercises = Exercise::all(root(), chapter)?;
    let exercise = exercises.iter().find(|exercise| exercise.number == number).context("there is no such exercise")?;
    let predict = exercise.manifest.predict.as_ref().context("this exercise asks for a kernel")?;
    let (numbers, _) = with_chapter!(chapter, chapter => workshop::count::count(chapter, exercise, predict).map_err(Into::into))?;
    Ok(serde_json::to_string(&numbers)?)
}
