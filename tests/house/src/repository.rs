//! The files and packages of the repository, for tests that read them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use support::root;

/// Returns a file's text.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns all files with this extension below the folders. Files that cargo and mdBook make are left out.
pub fn files(folders: &[&str], extension: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
        let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                walk(&path, extension, found);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    for folder in folders {
        walk(&root().join(folder), extension, &mut found);
    }
    found.sort();
    assert!(!found.is_empty(), "no .{extension} in {folders:?}");
    found
}

/// Returns all Rust files of the workspace.
pub fn rust_files() -> Vec<PathBuf> {
    files(&["book", "chapters", "common", "kernels", "simulator", "tests"], "rs")
}

/// Returns the manifest of a package, by its folder.
pub fn manifest(folder: &str) -> toml::Table {
    let path = root().join(folder).join("Cargo.toml");
    read(&path).parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the folders of all packages of the workspace.
pub fn members() -> Vec<String> {
    let patterns = manifest("")["workspace"]["members"].clone().try_into::<Vec<String>>().expect("members are texts");
    let folders = |pattern: String| match pattern.strip_suffix("/*") {
        Some(parent) => stems(parent, None).into_iter().map(|stem| format!("{parent}/{stem}")).collect(),
        None => vec![pattern],
    };
    patterns.into_iter().flat_map(folders).collect()
}

/// Returns the stems of a folder's files with this extension. For `None`, it returns the names of the folder's folders.
pub fn stems(folder: &str, extension: Option<&str>) -> BTreeSet<String> {
    fs::read_dir(root().join(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| match extension {
            Some(extension) => path.extension().is_some_and(|found| found == extension),
            None => path.is_dir(),
        })
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect()
}
