//! The rules of the house that a test can check.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package stands in the repository")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files with this extension below the folders, without what cargo and mdBook make.
fn files(folders: &[&str], extension: &str) -> Vec<PathBuf> {
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

fn rust_files() -> Vec<PathBuf> {
    files(&["chapters", "common", "kernels", "simulator", "tests"], "rs")
}

/// Names without their extension in a folder, of files with this extension (of folders when it is `None`).
fn stems(folder: &str, extension: Option<&str>) -> BTreeSet<String> {
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

#[test]
fn a_chapter_has_one_stem_everywhere() {
    let chapters = stems("chapters", None);
    let (kernels, ptx) = (stems("kernels/cuda", Some("cu")), stems("kernels/ptx", Some("ptx")));
    let pages = stems("book/src", Some("md")).into_iter().filter(|stem| stem.starts_with(|first: char| first.is_ascii_digit()));
    assert_eq!(kernels, ptx, "left kernels/cuda, right kernels/ptx");
    // Kernels that need a newer GPU than the others of their chapter stand in a file of their own, named after it.
    let of_chapter = |stem: &&String| {
        chapters.iter().any(|chapter| stem.strip_prefix(chapter.as_str()).is_some_and(|rest| rest.starts_with('-')))
    };
    let others = kernels.difference(&chapters).filter(|stem| !of_chapter(stem)).collect::<Vec<_>>();
    assert_eq!(others, ["ceilings", "ceilings-dp4a"], "kernels/cuda has files that belong to no chapter");
    assert!(kernels.is_superset(&chapters), "kernels/cuda lacks a chapter: {:?}", chapters.difference(&kernels));
    assert_eq!(pages.collect::<BTreeSet<_>>(), chapters, "left book/src, right chapters");
    for chapter in &chapters {
        let manifest = read(&root().join("chapters").join(chapter).join("Cargo.toml"));
        assert!(manifest.contains(&format!("name = \"ch{chapter}\"")), "chapters/{chapter}: the package is not ch{chapter}");
        assert!(manifest.contains(&format!("name = \"{chapter}\"")), "chapters/{chapter}: no binary {chapter}");
        let alias = format!("{chapter} = ");
        assert!(read(&root().join(".cargo/config.toml")).contains(&alias), "no alias `cargo {chapter}` in .cargo/config.toml");
    }
}

/// What a manifest lists under `[dependencies]`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    read(&root().join(manifest))
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| line.split(['.', '=', ' ']).next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_layers_depend_downwards_only() {
    let members = ["common", "kernels", "simcuda", "simt", "tests"];
    let of_workspace = |manifest: &str| {
        let is_member = |name: &String| members.contains(&name.as_str()) || name.starts_with("ch0");
        dependencies(manifest).into_iter().filter(is_member).collect::<Vec<_>>()
    };
    assert_eq!(of_workspace("simulator/simt/Cargo.toml"), Vec::<String>::new(), "simt stands alone");
    assert_eq!(of_workspace("simulator/driver/Cargo.toml"), ["simt"], "the driver knows the simulator and nothing above it");
    assert_eq!(of_workspace("kernels/Cargo.toml"), Vec::<String>::new(), "kernels are data");
    assert!(!dependencies("kernels/Cargo.toml").contains("cudarc"), "kernels hold no launch logic");
    assert!(!dependencies("simulator/driver/Cargo.toml").contains("cudarc"), "the driver is loaded by cudarc and does not use it");
}

#[test]
fn oracles_call_no_kernels() {
    for file in files(&["common/src/workload"], "rs") {
        assert!(!read(&file).contains("kernels::"), "{}: a workload knows no kernel", file.display());
    }
}

#[test]
fn every_rust_file_says_first_what_it_is() {
    for file in rust_files() {
        assert!(read(&file).starts_with("//! "), "{}: does not open with a `//!` line", file.display());
    }
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    for file in rust_files() {
        let text = read(&file);
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            // In this file the words stand in strings.
            if !(code.contains("unsafe {") || code.contains("unsafe impl")) || code.contains('"') {
                continue;
            }
            let near = &lines[number.saturating_sub(12)..=number];
            assert!(
                near.iter().any(|line| line.contains("SAFETY")),
                "{}:{}: no `// SAFETY:` above `{}`",
                file.display(),
                number + 1,
                line.trim()
            );
        }
    }
}
