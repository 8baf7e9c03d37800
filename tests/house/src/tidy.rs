//! The house rules that a test can check.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use support::commands::not_run;
use support::root;

use crate::repository::{files, manifest, members, read, rust_files, stems};

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
    let shared = manifest("")["workspace"]["dependencies"].clone();
    let depends = |folder: &str, dependency: &str| {
        assert!(shared.get(dependency).is_some(), "nothing can depend on {dependency}: [workspace.dependencies] has no such name");
        manifest(folder).get("dependencies").and_then(|table| table.as_table()).is_some_and(|table| table.contains_key(dependency))
    };
    assert!(!depends("kernels", "cudarc"), "kernels hold no launch logic");
    assert!(!depends("common/oracles", "kernels") && !depends("common/oracles", "cudarc"), "oracles call no kernels");
    let impure = ["cli", "compilers", "cudarc", "driver", "inspect", "kernels", "run", "simcuda", "tempfile", "workshop"];
    for pure in ["common/workloads", "common/checker", "common/checker-web"] {
        let found: Vec<_> = impure.into_iter().filter(|dependency| depends(pure, dependency)).collect();
        assert!(found.is_empty(), "{pure} runs in web pages, without a driver, files or processes, but depends on {found:?}");
    }
    assert!(!depends("simulator/driver", "cudarc"), "cudarc loads the driver; the driver does not use cudarc");
}

#[test]
fn every_rust_file_says_first_what_it_is() {
    for file in rust_files() {
        assert!(read(&file).starts_with("//! "), "{}: does not open with a `//!` line", file.display());
    }
}

/// The limits of a doc comment's first sentence: its most words, and the words that do not begin it.
const MOST_WORDS: usize = 12;
const NOT_FIRST: [&str; 2] = ["What", "Whether"];

/// Returns the first sentence of a comment. A period, a colon or a semicolon ends it.
fn first_sentence(comment: &[&str]) -> String {
    let paragraph = comment.iter().copied().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let is_end = |at: usize| paragraph[at + 1..].is_empty() || paragraph[at + 1..].starts_with(' ');
    let end = paragraph.match_indices(['.', ':', ';']).map(|(at, _)| at).find(|&at| is_end(at));
    paragraph[..end.unwrap_or(paragraph.len())].to_owned()
}

/// Counts the words of a sentence that are not in parentheses.
fn words_of(sentence: &str) -> usize {
    let without = sentence.split_once('(').and_then(|(before, rest)| Some((before, rest.split_once(')')?.1)));
    without.map_or_else(|| sentence.split_whitespace().count(), |(before, after)| words_of(&format!("{before}{after}")))
}

/// Returns true if a line declares an item (a field or a variant is none).
fn is_item(line: &str) -> bool {
    let is_before = |word: &&str| ["async", "extern", "\"C\"", "pub", "unsafe"].contains(word) || word.starts_with("pub(");
    let kinds = ["const", "enum", "fn", "macro_rules!", "mod", "static", "struct", "trait", "type", "union"];
    line.split_whitespace().find(|word| !is_before(word)).is_some_and(|word| kinds.contains(&word))
}

/// Returns true if these attributes make a comment a help text.
fn is_help(attributes: &str) -> bool {
    let mut words = attributes.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| ["Args", "Parser", "Subcommand", "ValueEnum"].contains(&word))
}

/// Lists the line and the first sentence of each item's doc comment. The bodies of macros are left out.
fn first_sentences(text: &str) -> Vec<(usize, String)> {
    let is_open = |attributes: &str| attributes.matches('[').count() > attributes.matches(']').count();
    let lines: Vec<&str> = text.lines().collect();
    let (mut sentences, mut at) = (Vec::new(), 0);
    while at < lines.len() {
        let code = lines[at].trim_start();
        if code.starts_with("macro_rules!") && !code.ends_with('}') {
            let indent = &lines[at][..lines[at].len() - code.len()];
            at += lines[at..].iter().take_while(|line| line.strip_prefix(indent) != Some("}")).count();
        }
        let comment = lines[at.min(lines.len())..].iter().map_while(|line| line.trim_start().strip_prefix("///"));
        let comment: Vec<&str> = comment.map(str::trim).collect();
        let start = at + 1;
        at += comment.len().max(1);
        let mut attributes = String::new();
        while let Some(line) = lines.get(at).filter(|line| line.trim_start().starts_with("#[") || is_open(&attributes)) {
            attributes.push_str(line);
            at += 1;
        }
        if !comment.is_empty() && lines.get(at).is_some_and(|line| is_item(line)) && !is_help(&attributes) {
            sentences.push((start, first_sentence(&comment)));
        }
    }
    sentences
}

#[test]
fn a_doc_comment_begins_with_a_sentence_of_at_most_twelve_words() {
    let mut long = Vec::new();
    for file in rust_files() {
        for (line, sentence) in first_sentences(&read(&file)) {
            let words = words_of(&sentence);
            if words > MOST_WORDS || NOT_FIRST.iter().any(|first| sentence.split(' ').next() == Some(*first)) {
                let path = file.strip_prefix(root()).unwrap_or(&file).display();
                long.push(format!("{path}:{line}: {words} words: {sentence}"));
            }
        }
    }
    let most = format!("at most {MOST_WORDS} words, none of {NOT_FIRST:?} first");
    assert!(long.is_empty(), "{} first sentences of doc comments ({most}):\n{}", long.len(), long.join("\n"));
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

/// The most lines of a file, and of one in [`LONGER`].
const MOST_LINES: usize = 450;
const MOST_LINES_OF_LONGER: usize = 700;

/// Files that are longer, by the end of their paths. Take those off that become shorter, and add none.
const LONGER: [&str; 15] = [
    "diagnose/without.rs",
    "driver/capture.rs",
    "driver/graphs.rs",
    "driver/memory.rs",
    "exec/warp.rs",
    "instructions/mod.rs",
    "memory/mod.rs",
    "program/decode.rs",
    "programs/calls.rs",
    "syntax/parser.rs",
    "src/captures.rs",
    "src/launch.rs",
    "tests/cli/main.rs",
    "tests/counters.rs",
    "tests/faults.rs",
];

#[test]
fn no_file_is_longer_than_450_lines_but_those_that_were() {
    let files = rust_files();
    for file in &files {
        let lines = read(file).lines().count();
        let most = if LONGER.iter().any(|longer| file.ends_with(longer)) { MOST_LINES_OF_LONGER } else { MOST_LINES };
        assert!(lines <= most, "{}: has {lines} lines, {most} at most", file.display());
    }
    let gone: Vec<_> = LONGER.iter().filter(|longer| !files.iter().any(|file| file.ends_with(longer))).collect();
    assert!(gone.is_empty(), "there are no such files any more: {gone:?}");
}

#[test]
fn a_reason_not_to_run_a_command_names_files_that_exist() {
    for (words, reason) in not_run() {
        let paths = reason.split(' ').map(|word| word.trim_end_matches([',', ';'])).filter(|word| word.contains('/'));
        let gone: Vec<_> = paths.filter(|path| !root().join(path).exists()).collect();
        assert!(gone.is_empty(), "tests/support/src/commands.rs, `{words}`: there is no {gone:?}");
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

/// Returns true if rustdoc runs an example of this text: of its comments, or of a page.
fn has_example(text: &str, is_page: bool) -> bool {
    let lines = text.lines().map(str::trim_start);
    let lines = lines.filter_map(|line| match is_page {
        true => Some(line),
        false => Some(line.strip_prefix("//")?.trim_start_matches(['/', '!']).trim_start()),
    });
    // Every other one ends an example.
    let mut examples = lines.filter_map(|line| line.strip_prefix("```")).step_by(2);
    examples.any(|language| language.split(',').all(|word| ["", "rust", "no_run", "should_panic"].contains(&word)))
}

/// Returns the files of a package's `[[test]]` sections.
fn paths_of_tests(folder: &str) -> Vec<PathBuf> {
    let manifest = manifest(folder);
    let tests = manifest.get("test").and_then(|tests| tests.as_array()).into_iter().flatten();
    let paths = tests.filter_map(|test| test.get("path")?.as_str());
    paths
        .map(|path| root().join(folder).join(path).canonicalize().unwrap_or_else(|error| panic!("{folder}, {path}: {error}")))
        .collect()
}

/// Requires a target to be tested only if it has tests. Otherwise an executable is linked and started, and rustdoc reads the whole
/// crate.
#[test]
fn a_target_is_tested_if_and_only_if_it_has_tests() {
    let is_tested = |files: &[PathBuf]| files.iter().any(|file| read(file).contains(concat!("#[", "test]")));
    // An optimized crate's unit tests are a target of a package that is not optimized.
    let elsewhere: BTreeSet<PathBuf> = members().iter().flat_map(|folder| paths_of_tests(folder)).collect();
    for folder in members() {
        let manifest = manifest(&folder);
        let agrees = |target: &toml::Table, key: &str, has: bool| {
            let is_on = target.get(key).and_then(|value| value.as_bool()).unwrap_or(true);
            assert_eq!(is_on, has, "{folder}/Cargo.toml: left `{key}` of {target:?}, right whether there is anything to run");
        };
        let library = manifest.get("lib").and_then(|table| table.as_table()).cloned().unwrap_or_default();
        let library_path = Path::new(&folder).join(library.get("path").and_then(|path| path.as_str()).unwrap_or("src/lib.rs"));
        let has_library = root().join(&library_path).is_file();
        let mut sources = files(&[&library_path.parent().expect("a folder").to_string_lossy()], "rs");
        for binary in manifest.get("bin").and_then(|binaries| binaries.as_array()).into_iter().flatten() {
            let binary = binary.as_table().expect("[[bin]]");
            let name = format!("src/bin/{}", binary["name"].as_str().expect("a name"));
            let path = binary.get("path").map_or(name.as_str(), |path| path.as_str().expect("a path"));
            let starts = [path, "src/main"].map(|start| root().join(&folder).join(start).with_extension(""));
            let is_of_binary =
                |file: &PathBuf| !has_library || starts.iter().any(|start| file.with_extension("").starts_with(start));
            let (of_binary, others) = sources.into_iter().partition::<Vec<_>, _>(is_of_binary);
            agrees(binary, "test", is_tested(&of_binary));
            sources = others;
        }
        if has_library {
            let is_elsewhere = elsewhere.contains(&root().join(&library_path).canonicalize().unwrap());
            agrees(&library, "test", is_tested(&sources) && !is_elsewhere);
            let page =
                |text: &str| text.contains("include_str!(\"../README.md\")").then(|| read(&root().join(&folder).join("README.md")));
            let is_documented =
                |text: String| has_example(&text, false) || page(&text).is_some_and(|page| has_example(&page, true));
            agrees(&library, "doctest", sources.iter().map(|file| read(file)).any(is_documented));
        }
    }
}

#[test]
fn the_book_s_source_is_written_by_hand() {
    let generated = root().join("book/src/generated");
    assert!(!generated.exists(), "{}: the press renders what is derived when the book is built", generated.display());
}
