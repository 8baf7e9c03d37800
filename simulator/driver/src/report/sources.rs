//! The program's source files, where this machine has them: what a line says, and how people name its file.
//!
//! PTX names a file as its compiler was given it: with its whole path, or relative to a folder that it does not name. That folder is
//! mostly the working directory or, for a test that runs in the folder of its package, one above it.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Files above this size are not source code that people wrote.
const LARGEST: u64 = 16 << 20;

/// The source files, each read once.
#[derive(Clone, Debug, PartialEq)]
pub struct Sources {
    /// The working directory when this was made. The program may change it later.
    directory: PathBuf,
    /// The root of the checkout, if GitHub Actions names it.
    checkout: Option<PathBuf>,
    files: HashMap<String, Option<Source>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Source {
    path: PathBuf,
    lines: Vec<String>,
}

/// The text of a line, to find the line again. Lines above it may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'s> {
    /// The line, without the white space around it.
    pub line: &'s str,
    /// How many lines above it say the same.
    pub earlier: usize,
}

impl Default for Sources {
    fn default() -> Self {
        Self::new(env::current_dir().unwrap_or_default(), env::var_os("GITHUB_WORKSPACE").map(PathBuf::from))
    }
}

impl Sources {
    /// Looks for files in a directory and the ones above it.
    pub fn new(directory: PathBuf, checkout: Option<PathBuf>) -> Self {
        Self { directory, checkout, files: HashMap::new() }
    }

    /// Returns the text of a line, if the file has it.
    pub fn text(&mut self, file: &str, line: u32) -> Option<Text<'_>> {
        let lines = &self.source(file)?.lines;
        let index = (line as usize).checked_sub(1)?;
        let line = lines.get(index)?.trim();
        Some(Text { line, earlier: lines[..index].iter().filter(|earlier| earlier.trim() == line).count() })
    }

    /// Returns a line as it is, if the file has it.
    pub fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        let index = (line as usize).checked_sub(1)?;
        self.source(file)?.lines.get(index).map(String::as_str)
    }

    /// Returns the name of a file for people and for tools: relative to the checkout or to the working directory, if it is in one of them.
    /// Otherwise, the name that its compiler was given.
    pub fn name(&mut self, file: &str) -> String {
        let found = self.source(file).map(|source| source.path.clone());
        let in_checkout = found.as_deref().zip(self.checkout.as_deref()).and_then(|(path, root)| path.strip_prefix(root).ok());
        let here = || Path::new(file).strip_prefix(&self.directory).ok();
        in_checkout.or_else(here).map_or_else(|| file.to_owned(), |path| path.display().to_string())
    }

    fn source(&mut self, file: &str) -> Option<&Source> {
        if !self.files.contains_key(file) {
            // An absolute path replaces the folder that it is joined to.
            let found = self.directory.ancestors().map(|folder| folder.join(file)).find(|path| is_source(path));
            let source = found.and_then(|path| {
                let text = fs::read(&path).ok()?;
                Some(Source { path, lines: String::from_utf8_lossy(&text).lines().map(str::to_owned).collect() })
            });
            self.files.insert(file.to_owned(), source);
        }
        self.files.get(file)?.as_ref()
    }
}

/// Returns true for a file that can be read to its end.
fn is_source(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() <= LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_in_a_folder_above_and_named_from_the_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("packages/one");
        fs::create_dir_all(&package).unwrap();
        fs::write(folder.path().join("a.cu"), "first\n  x = 1;\nlast\n x = 1;\n").unwrap();
        let mut sources = Sources::new(package.clone(), Some(folder.path().to_owned()));
        assert_eq!(sources.text("a.cu", 4), Some(Text { line: "x = 1;", earlier: 1 }));
        for (file, line) in [("a.cu", 5), ("a.cu", 0), ("b.cu", 1)] {
            assert_eq!(sources.text(file, line), None, "{file}:{line}");
        }
        assert_eq!((sources.name("a.cu").as_str(), sources.name("b.cu").as_str()), ("a.cu", "b.cu"));
        let absolute = folder.path().join("a.cu").display().to_string();
        assert_eq!(sources.name(&absolute), "a.cu");
        let mut without = Sources::new(folder.path().to_owned(), None);
        assert_eq!(without.name(&absolute), "a.cu");
        assert_eq!(Sources::new(package, None).name(&absolute), absolute);
    }
}
