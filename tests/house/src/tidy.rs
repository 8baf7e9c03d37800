//! The house rules that a test can check.

use std::collections::BTreeSet;

use support::root;

use crate::repository::{files, manifest, read, rust_files, stems};

#[test]
fn a_chapter_has_one_stem_everywhere() {
    let chapters = stems("chapters", None);
    let (kernels, ptx) = (stems("kernels/cuda", Some("cu")), stems("kernels/ptx", Some("ptx")));
    let pages = stems("book/src", None).into_iter().chain(stems("book/src", Some("md")));
    let pages = pages.filter(|stem| stem.starts_with(|first: char| first.is_ascii_digit()));
    assert_eq!(kernels, ptx, "left kernels/cuda, right kernels/ptx");
    // Kernels that need a newer GPU than the rest of their chapter are in a file of their own, named after the chapter.
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

#[test]
fn kernels_are_data_oracles_know_no_kernel_and_the_driver_does_not_use_its_users() {
    let depends = |folder: &str, dependency: &str| {
        manifest(folder).get("dependencies").and_then(|table| table.as_table()).is_some_and(|table| table.contains_key(dependency))
    };
    assert!(!depends("kernels", "cudarc"), "kernels hold no launch logic");
    assert!(!depends("common/oracles", "kernels") && !depends("common/oracles", "cudarc"), "oracles call no kernels");
    for pure in ["common/workloads", "common/checker", "common/checker-web"] {
        let impure = ["cudarc", "common", "driver", "kernels", "toolkit"].into_iter().find(|dependency| depends(pure, dependency));
        assert_eq!(impure, None, "{pure} runs in web pages, without a driver, files or processes");
    }
    assert!(!depends("simulator/driver", "cudarc"), "cudarc loads the driver; the driver does not use cudarc");
}

#[test]
fn every_rust_file_says_first_what_it_is() {
    for file in rust_files() {
        assert!(read(&file).starts_with("//! "), "{}: does not open with a `//!` line", file.display());
    }
}

#[test]
fn no_file_is_included_by_its_path_and_no_dead_code_is_allowed() {
    for file in rust_files() {
        let text = read(&file);
        // Spelled so that this file does not contain the words itself.
        for words in [concat!("#[", "path"), concat!("allow(", "dead_code")] {
            assert!(!text.contains(words), "{}: has {words}; shared code belongs in a library", file.display());
        }
    }
}

#[test]
fn no_file_is_longer_than_700_lines() {
    for file in rust_files() {
        let lines = read(&file).lines().count();
        assert!(lines <= 700, "{}: has {lines} lines", file.display());
    }
}

#[test]
fn every_chapter_runs_the_tests_that_all_chapters_share() {
    for chapter in stems("chapters", None) {
        let tests = files(&[&format!("chapters/{chapter}/tests")], "rs");
        let invokes = tests.iter().any(|file| read(file).contains("support::chapter_tests!(BINARY);"));
        assert!(invokes, "chapters/{chapter}/tests: no `support::chapter_tests!(BINARY);`");
    }
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    for file in rust_files() {
        let text = read(&file);
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            // This file has the words in strings.
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

#[test]
fn the_book_s_source_is_written_by_hand() {
    let generated = root().join("book/src/generated");
    assert!(!generated.exists(), "{}: the press renders what is derived when the book is built", generated.display());
}
