//! Everything that was written for a version of CUDA, PTX, cudarc or mdBook: the checklist for the next version.
//!
//! Go through the list of what has a new version, from top to bottom. Each entry names a file and the text in it that says the version, and what
//! to do there. A test fails when the text is no longer in the file: then the list has moved or was brought up to date, and so must the entry be.
//! Another test finds files that name a version and are in no list.

use support::root;

use crate::repository::{files, read};

/// Lists for one version of something that others publish.
struct Checklist {
    of: &'static str,
    entries: &'static [Entry],
}

/// A file, the text that states the version, and the next task.
struct Entry(&'static str, &'static str, &'static str);

const CHECKLISTS: &[Checklist] = &[
    Checklist {
        of: "the CUDA toolkit",
        entries: &[
            Entry(
                "common/compilers/src/versions.rs",
                r#"["13", "12", "11.2", "11", "10"]"#,
                "add the number at the end of the library's file names, and the folder of NVIDIA's Python packages",
            ),
            Entry(
                "common/compilers/src/cublas.rs",
                "the same types in CUDA 11, 12 and 13",
                "compare the four functions with cublas_api.h, then name the version",
            ),
            Entry("common/compilers/src/nvrtc.rs", "which have never changed", "compare the functions with nvrtc.h"),
            Entry(
                "simulator/nvrtc/src/compat.rs",
                r#"["libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so"]"#,
                "add the file name of the new NVRTC",
            ),
            Entry(
                "simulator/nvrtc/src/compat.rs",
                "fn nvrtcSetFlowCallback",
                "add the functions of nvrtc.h that came after this one: a program that calls another does not load",
            ),
            Entry(
                "simulator/driver/src/install.rs",
                r#"&["libcudart.so.13", "libcudart.so"]"#,
                "add the names under which programs ask for the runtime, and below it those of NVRTC",
            ),
            Entry("simulator/cudart/versions.map", "libcudart.so.13 { };", "add the version of the symbols"),
            Entry(
                "simulator/cudart/src/compat.rs",
                "(Version::Cuda13, \"libcudart.so.13\", 13000)",
                "add a version, then look at each use of `Version`: functions whose arguments changed, and fields of structures",
            ),
            Entry(
                "simulator/cudart/src/api/properties.rs",
                "CUDA 12 and CUDA 13 have different ones",
                "compare the fields with `cudaDeviceProp` in driver_types.h",
            ),
            Entry(
                "simulator/cudart/src/api/refused.rs",
                "the API of CUDA 12 and CUDA 13",
                "add the functions of the new version to nvidia_exports.txt; a test then names those that are neither here nor elsewhere",
            ),
            Entry(
                "simulator/cudart/src/nvidia_errors.txt",
                "0|cudaSuccess|no error",
                "add new errors, as the new `cudaGetErrorString` words them",
            ),
            Entry("book/conformance/suites.toml", "nvidia-cuda-nvrtc-cu12==12.9.*", "run the suites with the new packages, too"),
        ],
    },
    Checklist {
        of: "the CUDA driver",
        entries: &[
            Entry(
                "simulator/driver/src/functions.rs",
                "of CUDA 13.5",
                "add the functions of the new cuda.h to cuda_functions.txt; the book then shows which are missing",
            ),
            Entry(
                "simulator/driver/src/api/refused.rs",
                "the API of CUDA 13",
                "add those that the driver does not have, each with its reason",
            ),
            Entry(
                "simulator/driver/src/settings.rs",
                "const DEFAULT_VERSION: i32 = 13050;",
                "raise it when the driver has every function of a newer version; also in its README and in simulator/README.md",
            ),
            Entry(
                "simulator/driver/src/api/proc_address.rs",
                "in every version of CUDA 12 and 13",
                "add to `CHANGED` the names that cudaTypedefs.h gives another meaning",
            ),
            Entry("simulator/driver/src/attributes.rs", "that CUDA 12 does not have", "add the new attributes of devices"),
            Entry("simulator/driver/src/api/context.rs", "in `CUlimit` in CUDA 12", "raise the highest limit"),
            Entry(
                "simulator/driver/src/nvidia_results.txt",
                "0|CUDA_SUCCESS|no error",
                "add the new errors, as a driver answers for their numbers",
            ),
            Entry("simulator/driver/src/ffi/structures.rs", "cuda.h of CUDA 12.9", "compare the structures with the new cuda.h"),
            Entry(
                "common/run/src/device/probe/mod.rs",
                "pub const OLDEST_CUDA: u32 = 12_000;",
                "leave it, unless cudarc or the stored PTX needs a newer driver",
            ),
        ],
    },
    Checklist {
        of: "PTX and its compilers",
        entries: &[
            Entry(
                "simulator/driver/src/api/image.rs",
                "const UNKNOWN_PTX: (u32, u32) = (10, 0);",
                "read what is new in the PTX ISA, add it or not, and raise the version",
            ),
            Entry(
                "book/src/instructions.md",
                "| `ld.global.v8`, `st.global.v8` |",
                "add the new instructions to the rows or here, with their compute capability",
            ),
            Entry(
                "simulator/ptx/src/program/merging.rs",
                "ptxas 12.0, 12.9, 13.0 and 13.5",
                "compile tests/programs/merging.cu with the new ptxas, compare what it merges, then name the version; `known.rs` has the facts",
            ),
            Entry(
                "common/compilers/src/recipe.rs",
                r#"pub const PINNED_VERSION: &str = "12.0.140";"#,
                "leave it as long as drivers of CUDA 12.0 are supported; otherwise also in .ci and CONTRIBUTING.md, and then `cargo ptx`",
            ),
            Entry(
                "common/compilers/src/versions.rs",
                "pub const OLDEST_CLANG: u32 = 18;",
                "raise it when our cuda.h needs a newer clang",
            ),
            Entry(
                "common/compilers/src/versions.rs",
                "pub const COUNTED_ARCHITECTURES: [u32; 4] = [75, 80, 89, 90];",
                "add the architecture of a new profile, leave out those that the pinned NVRTC no longer knows, and then `cargo ptx`",
            ),
            Entry(".ci/tools", "nvrtc_version=12.0.140", "as the pinned version above"),
            Entry(".ci/tools", "ziglang_version=0.17.1", "a newer clang; run the exercises with it, also in CONTRIBUTING.md"),
            Entry(".ci/tools", "yowasp_version=22.0.0", "a newer clang for pages; run `.ci/run web`"),
            Entry(".ci/kernel-changes", "nvrtc-12.0.140", "as the pinned version above"),
        ],
    },
    Checklist {
        of: "cudarc",
        entries: &[
            Entry(
                "Cargo.toml",
                r#"cudarc = { version = "0.19.10""#,
                "chapters name enumerators of its `sys`, which `cargo check` compares",
            ),
            Entry("Cargo.toml", r#""cuda-12000""#, "the oldest CUDA that has all we call: a newer one refuses older drivers"),
            Entry(
                "simulator/driver/src/api/proc_address.rs",
                "What cudarc 0.19.10 calls",
                "list the functions of its `result` and `safe` layers again: it panics if one is missing",
            ),
            Entry("book/conformance/suites.toml", r#"version = "0.19.10""#, "run its tests: `cargo conformance cudarc`"),
            Entry("simulator/README.md", r#"cudarc = { version = "0.19.10""#, "name the new version"),
        ],
    },
    Checklist {
        of: "mdBook",
        entries: &[
            Entry(".ci/tools", "mdbook_version=0.5.4", "build the book, and run `.ci/run book web`"),
            Entry(".devcontainer/Dockerfile", "mdbook --version 0.5.4", "as in .ci/tools"),
            Entry(
                "book/press/src/preprocess.rs",
                r#"book["items"]"#,
                "compare the keys with the types of `mdbook-preprocessor`; the protocol is read as plain JSON",
            ),
            Entry("book/unrolled.css", ":root", "look at pages in both themes: the style sheets refine those of mdBook"),
        ],
    },
];

/// Words that name a version. A file with one of them belongs into a checklist.
const VERSIONS: [&str; 6] = [".so.13", "12.0.140", "cuda-12000", "cudarc 0.", "mdbook_version", "cu13"];

fn entries() -> impl Iterator<Item = (&'static str, &'static Entry)> {
    CHECKLISTS.iter().flat_map(|list| list.entries.iter().map(move |entry| (list.of, entry)))
}

#[test]
fn every_list_for_a_version_is_where_the_checklist_says() {
    let is_there = |file: &str, text: &str| std::fs::read_to_string(root().join(file)).is_ok_and(|found| found.contains(text));
    let moved = entries().filter(|(_, Entry(file, text, _))| !is_there(file, text));
    let moved: Vec<_> =
        moved.map(|(of, Entry(file, text, next))| format!("{file}: no `{text}`\n  for a new version of {of}: {next}")).collect();
    assert!(moved.is_empty(), "bring tests/house/src/versions.rs up to date:\n{}", moved.join("\n"));
}

#[test]
fn every_file_that_names_a_version_is_on_a_checklist() {
    let sources =
        ["rs", "toml", "map"].into_iter().flat_map(|extension| files(&["book", "common", "kernels", "simulator"], extension));
    let scripts = ["Cargo.toml", ".ci/run", ".ci/tools", ".ci/web", ".ci/kernel-changes", ".ci/mutants", ".ci/packages"];
    for path in sources.chain(scripts.map(|script| root().join(script))) {
        let name = path.strip_prefix(root()).expect("all are in the repository").to_string_lossy().replace('\\', "/");
        if name.contains("/tests/") || entries().any(|(_, Entry(file, ..))| *file == name) {
            continue;
        }
        let text = read(&path);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let named =
            code.lines().find(|line| !line.trim_start().starts_with("//") && VERSIONS.iter().any(|word| line.contains(word)));
        assert_eq!(named, None, "{name} names a version: add it to tests/house/src/versions.rs");
    }
}
