//! An exercise as it is in the repository.

use std::fs;
use std::path::{Path, PathBuf};

use checker::manifest::Manifest;

use crate::error::Unusable;
use crate::wall::Wall;

/// An exercise as it is in the repository.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// The chapter that it belongs to, for example `02-conv-shared`.
    pub chapter: String,
    /// Its number in the chapter, from 1.
    pub number: u32,
    /// Its name in paths.
    pub slug: String,
    /// Its `exercise.toml`.
    pub manifest: Manifest,
    /// The text of its `solution.cu`; empty if nothing is written.
    pub solution: String,
    /// Wrong and right answers, from its `wall.toml`; none if nothing is written.
    pub wall: Wall,
}

impl Exercise {
    /// Returns the exercises of a chapter in order. `root` is the root of the repository. Without a folder of exercises, there are none.
    /// Fails when there is no such chapter, when a folder is not named `<number>-<slug>`, when a number is missing or used twice, or when a file cannot be used.
    pub fn all(root: &Path, chapter: &str) -> Result<Vec<Self>, Unusable> {
        let chapter_folder = root.join("chapters").join(chapter);
        let folder = chapter_folder.join("exercises");
        if chapter_folder.is_dir() && !folder.exists() {
            return Ok(Vec::new());
        }
        let entries = fs::read_dir(&folder).map_err(|error| Unusable::new(&folder, error))?;
        let mut exercises = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| Unusable::new(&folder, error))?.path();
            exercises.push(Self::read(chapter, &path)?);
        }
        exercises.sort_by_key(|exercise| exercise.number);
        match exercises.iter().zip(1..).find(|(exercise, number)| exercise.number != *number) {
            Some((exercise, number)) => {
                Err(Unusable::new(&folder, format!("expected exercise {number}, found {}", exercise.stem())))
            }
            None => Ok(exercises),
        }
    }

    fn read(chapter: &str, folder: &Path) -> Result<Self, Unusable> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let numbered = name.split_once('-').and_then(|(number, slug)| Some((number.parse().ok()?, slug.to_owned())));
        let Some((number, slug)) = numbered else {
            return Err(Unusable::new(folder, "name the folder of an exercise <number>-<slug>"));
        };
        let read = |path: &Path| fs::read_to_string(path).map_err(|error| Unusable::new(path, error));
        let path = folder.join("exercise.toml");
        let manifest = Manifest::parse(&read(&path)?).map_err(|reason| Unusable::new(&path, reason))?;
        let read_if_written =
            |path: &Path| read(path).or_else(|error| if manifest.kernel.is_none() { Ok(String::new()) } else { Err(error) });
        let solution = read_if_written(&folder.join("solution.cu"))?;
        let path = folder.join("wall.toml");
        let wall = toml::from_str(&read_if_written(&path)?).map_err(|reason| Unusable::new(&path, reason))?;
        Ok(Self { chapter: chapter.to_owned(), number, slug, manifest, solution, wall })
    }

    /// Returns number and slug, as in paths.
    pub fn stem(&self) -> String {
        format!("{}-{}", self.number, self.slug)
    }

    /// Returns true if the learner writes a kernel, rather than predict numbers.
    pub fn is_written(&self) -> bool {
        self.manifest.kernel.is_some()
    }

    /// Returns a defect of this exercise that is not the learner's fault.
    pub fn unusable(&self, reason: impl ToString) -> Unusable {
        Unusable::new(Path::new(&format!("exercise {} of {}", self.stem(), self.chapter)), reason)
    }
}

/// Returns the root of the repository that this program was built in. Exercises are read from there, and the learner's copies are
/// in it.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_without_a_folder_of_exercises_has_none_and_there_is_no_unknown_chapter() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("chapters/01-x")).unwrap();
        assert_eq!(Exercise::all(root.path(), "01-x").unwrap().len(), 0);
        assert!(Exercise::all(root.path(), "02-y").is_err());
    }
}
