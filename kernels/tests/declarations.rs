//! Every declaration in `kernels/src` agrees with the CUDA C and with the PTX.
//!
//! This needs no compiler. The tests of `common/compilers` compare the stamps of the PTX, and `cargo ptx --check` compiles again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kernels::{Header, Source};
use ptx::Module;
use ptx::finding::Space;

fn module(source: &Source) -> Module {
    Module::parse(source.ptx).unwrap_or_else(|error| panic!("{}: {error}", source.ptx_path))
}

#[test]
fn the_declared_kernels_are_the_entries_of_the_ptx() {
    for source in kernels::sources() {
        let module = module(source);
        let entries: BTreeSet<&str> = module.kernels().iter().map(|kernel| kernel.name()).collect();
        let declared: BTreeSet<&str> = source.kernels.iter().copied().collect();
        assert_eq!(declared, entries, "left kernels/src, right {}", source.ptx_path);
        assert_eq!(declared.len(), source.kernels.len(), "{} has a kernel twice", source.path);
    }
}

#[test]
fn the_declared_arrays_are_in_constant_memory() {
    for source in kernels::sources() {
        let module = module(source);
        let variables = module.variables().iter().filter(|variable| variable.space == Space::Const);
        let arrays: Vec<&str> = variables.map(|variable| variable.name.as_str()).collect();
        assert_eq!(source.arrays, arrays, "left kernels/src, right {}", source.ptx_path);
    }
}

#[test]
fn the_ptx_is_for_the_declared_architecture() {
    for source in kernels::sources() {
        let target = source.ptx.lines().find_map(|line| line.strip_prefix(".target sm_"));
        assert_eq!(source.architecture.strip_prefix("compute_"), target, "left kernels/src, right {}", source.ptx_path);
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
                "kernels/src expects a line `{}` in {} or in a file that it includes; there is none",
                lines[0],
                source.path
            );
        }
    }
}

#[test]
fn every_file_is_declared_once_and_every_declaration_has_its_files() {
    let declared = |path: fn(&Source) -> &str| {
        let paths: BTreeSet<PathBuf> = kernels::sources().iter().map(|source| path(source).into()).collect();
        assert_eq!(paths.len(), kernels::sources().len(), "a file is declared twice");
        paths
    };
    assert_eq!(declared(|source| source.path), files("kernels/cuda", "cu"), "left kernels/src, right the folder");
    assert_eq!(declared(|source| source.ptx_path), files("kernels/ptx", "ptx"), "left kernels/src, right the folder");
    let headers = kernels::sources().iter().flat_map(|source| source.headers).map(|header| header.path.into());
    assert_eq!(headers.collect::<BTreeSet<PathBuf>>(), files("kernels/cuda", "cuh"), "left kernels/src, right the folder");
}

#[test]
fn the_declared_headers_are_those_that_the_source_includes() {
    for source in kernels::sources() {
        let included = source.cuda.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
        let declared = source.headers.iter().map(|Header { name, .. }| *name);
        assert!(included.eq(declared), "{} includes other files than kernels/src declares", source.path);
    }
}

#[test]
fn every_kernel_is_between_anchors() {
    // The book includes kernels by anchor. Kernels that differ only in a number share one, and an anchor may be inside another. The ceilings are
    // in no chapter.
    for kernel in kernels::all().filter(|kernel| !kernel.source.path.contains("/ceilings")) {
        let (name, mut open, mut anchors) = (format!("{}(", kernel.name), Vec::new(), Vec::new());
        let mut previous = "";
        for line in kernel.source.cuda.lines() {
            // The name of a kernel with launch bounds is on a line of its own.
            let is_kernel = line.contains("__global__") || previous.contains("__global__");
            if let Some(name) = line.strip_prefix("// ANCHOR: ") {
                open.push(name);
            } else if let Some(name) = line.strip_prefix("// ANCHOR_END: ") {
                assert_eq!(open.pop(), Some(name), "{}: an anchor ends that did not begin", kernel.source.path);
            } else if is_kernel && line.split(' ').any(|word| word.starts_with(&name)) {
                anchors.push(open.last().copied());
            }
            previous = line;
        }
        assert!(matches!(anchors[..], [Some(_)]), "{} is in {anchors:?} of {}", kernel.name, kernel.source.path);
    }
}

/// Returns a folder's files with this extension, by repository path. Fails when the folder has a file of another kind.
fn files(folder: &str, extension: &str) -> BTreeSet<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = fs::read_dir(root.join(folder)).expect("the folder is part of the repository");
    let names = entries.map(|entry| PathBuf::from(entry.expect("the folder can be listed").file_name()));
    let is_wanted = |name: &PathBuf| {
        let found = name.extension().and_then(|found| found.to_str()).unwrap_or_default();
        assert!(["cu", "cuh", "ptx"].contains(&found), "{folder}/{} is neither CUDA C nor PTX", name.display());
        found == extension
    };
    names.filter(is_wanted).map(|name| Path::new(folder).join(name)).collect()
}
