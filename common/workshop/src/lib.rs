//! Exercises that check themselves.
//!
//! An exercise is a folder `chapters/<chapter>/exercises/<number>-<slug>` with an `exercise.toml`, and, unless the learner only predicts a
//! number, a `solution.cu`. The learner's copy is the solution without its marked parts; it lies in a folder that git ignores, so that
//! nothing tracked changes while people learn. A check compiles the copy, runs it on the simulated GPU with all its checks, compares every
//! output with the oracle, and then tests what was counted: counts are the same on every machine, and times are not.
//!
//! # Layout
//!
//! - [`manifest`]: what stands in an `exercise.toml`.
//! - [`text`]: the solution, and the starter that is made from it.
//! - [`desk`]: the learner's copies, and how far they have come.
//! - [`cases`]: the sizes at which a kernel is checked.
//! - [`check`]: compile, run, compare, count.
//! - [`teach`]: what a check has to say.
//! - [`command`]: `exercise` on the command line of every chapter.

pub mod cases;
pub mod check;
pub mod command;
pub mod desk;
pub mod error;
pub mod manifest;
pub mod teach;
pub mod text;

use std::fs;
use std::path::{Path, PathBuf};

use manifest::Manifest;

pub use error::{Error, Result, Unusable};

/// An exercise as it stands in the repository.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// The chapter that it belongs to, for example `02-conv-shared`.
    pub chapter: String,
    /// Its number in the chapter, from 1.
    pub number: u32,
    /// Its name in paths.
    pub slug: String,
    /// What it asks for.
    pub manifest: Manifest,
    /// The text of its `solution.cu`; empty where nothing is written.
    pub solution: String,
}

impl Exercise {
    /// The exercises of a chapter by their numbers. `root` is that of the repository.
    ///
    /// # Errors
    ///
    /// When a folder is not named `<number>-<slug>`, when numbers are missing or twice there, or when a file cannot be used.
    pub fn all(root: &Path, chapter: &str) -> Result<Vec<Self>, Unusable> {
        let folder = root.join("chapters").join(chapter).join("exercises");
        let unusable = |path: &Path, reason: String| Unusable { path: path.to_owned(), reason };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => return Err(unusable(&folder, error.to_string())),
        };
        let mut exercises = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| unusable(&folder, error.to_string()))?.path();
            exercises.push(Self::read(chapter, &path)?);
        }
        exercises.sort_by_key(|exercise| exercise.number);
        match exercises.iter().zip(1..).find(|(exercise, number)| exercise.number != *number) {
            Some((exercise, number)) => {
                Err(unusable(&folder, format!("exercise {number} is expected, and {} is there", exercise.stem())))
            }
            None => Ok(exercises),
        }
    }

    fn read(chapter: &str, folder: &Path) -> Result<Self, Unusable> {
        let unusable = |path: &Path, reason: String| Unusable { path: path.to_owned(), reason };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let numbered = name.split_once('-').and_then(|(number, slug)| Some((number.parse().ok()?, slug.to_owned())));
        let Some((number, slug)) = numbered else {
            return Err(unusable(folder, "a folder of an exercise is named <number>-<slug>".to_owned()));
        };
        let path = folder.join("exercise.toml");
        let toml = fs::read_to_string(&path).map_err(|error| unusable(&path, error.to_string()))?;
        let manifest = Manifest::parse(&toml).map_err(|reason| unusable(&path, reason))?;
        let path = folder.join("solution.cu");
        let solution = match fs::read_to_string(&path) {
            Ok(solution) => solution,
            Err(_) if manifest.kernel.is_none() => String::new(),
            Err(error) => return Err(unusable(&path, error.to_string())),
        };
        Ok(Self { chapter: chapter.to_owned(), number, slug, manifest, solution })
    }

    /// Number and slug, as in paths.
    pub fn stem(&self) -> String {
        format!("{}-{}", self.number, self.slug)
    }

    /// Whether a kernel is to be written, and not only a number to be found.
    pub fn is_written(&self) -> bool {
        self.manifest.kernel.is_some()
    }
}

/// The root of the repository that this program was built in: exercises are read from there, and the learner's copies lie in it.
pub fn root() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).components().collect()
}
