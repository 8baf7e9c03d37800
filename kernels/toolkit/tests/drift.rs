//! The stored PTX, the CUDA C that it was made from, and the names that Rust has for both must say the same.
//!
//! This compares what needs no compiler. `cargo ptx --check` compiles again and compares whole texts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toolkit::pinned::PINNED_VERSION;
use toolkit::stamp::Stamp;

#[test]
fn every_ptx_carries_the_stamp_of_its_source() {
    for source in kernels::sources() {
        assert_eq!(
            Stamp::read(source.ptx),
            Some(Stamp::of(source, PINNED_VERSION)),
            "{} was not made from {} as it is now: run `cargo ptx`",
            source.ptx_path(),
            source.path()
        );
    }
}

#[test]
fn the_kernels_of_the_table_are_the_entries_of_the_ptx() {
    for source in kernels::sources() {
        let of_table: BTreeSet<&str> =
            kernels::all().iter().filter(|kernel| kernel.source.stem == source.stem).map(|kernel| kernel.name).collect();
        let of_ptx: BTreeSet<&str> = source
            .ptx
            .lines()
            .filter_map(|line| line.strip_prefix(".visible .entry "))
            .map(|rest| rest.trim_end_matches(['(', ')']))
            .collect();
        assert_eq!(of_table, of_ptx, "left kernels/src/lib.rs, right {}", source.ptx_path());
    }
}

#[test]
fn constants_have_the_same_value_in_rust_as_in_cuda() {
    for source in kernels::sources() {
        for (name, value) in source.constants {
            let lines = ["int", "unsigned"].map(|integer| format!("constexpr {integer} {name} = {value};"));
            let texts = source.headers.iter().map(|header| header.text).chain([source.cuda]);
            assert!(
                texts.flat_map(str::lines).any(|candidate| lines.iter().any(|line| line == candidate)),
                "neither {} nor what it includes has a line `{}`, which kernels/src/lib.rs expects",
                source.path(),
                lines[0]
            );
        }
    }
}

#[test]
fn the_table_the_cuda_files_and_the_ptx_files_are_the_same_set() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let of_table: BTreeSet<String> = kernels::sources().iter().map(|source| source.stem.to_owned()).collect();
    assert_eq!(of_table, stems(&root.join("cuda"), "cu"), "left kernels/src/lib.rs, right kernels/cuda");
    assert_eq!(of_table, stems(&root.join("ptx"), "ptx"), "left kernels/src/lib.rs, right kernels/ptx");
    let headers: BTreeSet<&str> = kernels::sources().iter().flat_map(|source| source.headers).map(|header| header.name).collect();
    let headers: BTreeSet<String> = headers.iter().map(|name| name.trim_end_matches(".cuh").to_owned()).collect();
    assert_eq!(headers, stems(&root.join("cuda"), "cuh"), "left kernels/src/lib.rs, right kernels/cuda");
}

#[test]
fn the_ptx_names_its_source_the_same_way_on_every_machine() {
    for source in kernels::sources() {
        let files: Vec<&str> = source.ptx.lines().filter(|line| line.trim_start().starts_with(".file")).collect();
        let paths = [source.path()].into_iter().chain(source.headers.iter().map(|header| header.path()));
        let expected: Vec<String> = paths.enumerate().map(|(at, path)| format!("\t.file\t{} \"{path}\"", at + 1)).collect();
        assert_eq!(files, expected, "in {}", source.ptx_path());
    }
}

#[test]
fn every_kernel_stands_between_anchors() {
    // The book includes kernels by anchor, several that differ in a number by one; the ceilings are in no chapter.
    for kernel in kernels::all().iter().filter(|kernel| !kernel.source.stem.starts_with("ceilings")) {
        let (name, mut open, mut anchors) = (format!("{}(", kernel.name), None, Vec::new());
        let mut head = "";
        for line in kernel.source.cuda.lines() {
            // The name of a kernel with launch bounds stands on a line of its own.
            let is_kernel = line.contains("__global__") || head.contains("__global__");
            if let Some(name) = line.strip_prefix("// ANCHOR: ") {
                open = Some(name);
            } else if let Some(name) = line.strip_prefix("// ANCHOR_END: ") {
                assert_eq!(open.take(), Some(name), "{}: an anchor ends that did not begin", kernel.source.path());
            } else if is_kernel && line.split(' ').any(|word| word.starts_with(&name)) {
                anchors.push(open);
            }
            head = line;
        }
        assert!(matches!(anchors[..], [Some(_)]), "{} stands in {anchors:?} of {}", kernel.name, kernel.source.path());
    }
}

/// Names without extension of the files in a folder that have this extension. No file there may have an extension of which we know nothing.
fn stems(folder: &Path, extension: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("the folder is part of the repository");
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    let stem = |path: std::path::PathBuf| {
        let found = path.extension().and_then(|found| found.to_str()).unwrap_or_default().to_owned();
        assert!(["cu", "cuh", "ptx"].contains(&found.as_str()), "{} is no CUDA C and no PTX", path.display());
        let stem = path.file_stem().expect("it has an extension, so it has a stem").to_string_lossy().into_owned();
        (found == extension).then_some(stem)
    };
    paths.filter_map(stem).collect()
}
