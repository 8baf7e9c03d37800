//! The chapters' kernels, compiled by clang: they are right, and what they move in memory is what the stored PTX moves.

use clap::{Args, Parser};
use compilers::Compiler;
use compilers::clang::Clang;
use compilers::input::{Form, Input};
use compilers::variables::REQUIRE_CLANG;
use kernels::Source;
use run::Chapter;
use run::gpu::Gpu;
use run::report::{Outcome, Place};
use run::runner;
use run::workload::{Plan, Workload};
use simt::Counters;
use support::root;

use crate::device::with_gpu;

/// Returns the compiler; on a machine without it a line on stderr says so.
fn clang() -> Option<Clang> {
    let found = Clang::find();
    if let Err(why) = &found {
        REQUIRE_CLANG.skip("the chapters' kernels with clang", why);
    }
    found.ok()
}

/// A chapter's options, when nobody gives any.
#[derive(Debug, Parser)]
struct Line<O: Args> {
    #[command(flatten)]
    options: O,
}

/// Runs the kernels of a chapter's stages on the simulator. Returns the name and the counts of each stage that ran.
fn counted<W: Workload>(gpu: &Gpu, chapter: &Chapter<W>, options: &[&str]) -> Vec<(&'static str, Counters)> {
    let options = Line::<W::Options>::parse_from(["chapter"].iter().chain(options)).options;
    let stages: Vec<_> = chapter.stages.iter().filter(|stage| stage.place() == Place::Device).copied().collect();
    let Plan { parts, .. } = W::plan(&options, 13, gpu).unwrap_or_else(|error| panic!("{}: {error}", chapter.name));
    let rows = parts.iter().flat_map(|workload| {
        runner::run(gpu, &stages, workload, 0).unwrap_or_else(|error| panic!("{}: {error}", chapter.name)).rows
    });
    rows.filter_map(|row| match row.outcome {
        Outcome::Verified(measured) => Some((row.name, *measured.counters?)),
        Outcome::Skipped(_) => None,
        Outcome::Failed(failure) => panic!("{}, {}: {failure}", chapter.name, row.name),
        Outcome::NotRun(reason) => panic!("{}, {}: {reason}", chapter.name, row.name),
    })
    .collect()
}

/// The page that compares the stored PTX with that of this clang.
const PAGE: &str = "book/src/compilers.md";
const MEASURED: &str = "22.1.8";

/// Returns true for a counter of memory traffic. Loads that machine code merges are in the requests.
fn is_traffic(counter: &str) -> bool {
    let words = ["requests", "sectors", "bytes", "wavefronts", "barriers", "exchanges"];
    words.iter().any(|word| counter.contains(word)) && !counter.ends_with("_ideal")
}

/// A chapter, whatever its workload.
trait Checks {
    fn sources(&self) -> &[&'static Source];
    fn rows(&self, clang: &Compiler, options: &[&str]) -> Vec<String>;
}

impl<W: Workload> Checks for Chapter<W> {
    fn sources(&self) -> &[&'static Source] {
        self.sources
    }

    /// Runs all stages with the stored PTX and with clang's. Returns a row of the table for each count that differs.
    fn rows(&self, clang: &Compiler, options: &[&str]) -> Vec<String> {
        with_gpu(|gpu| {
            let stored = counted(gpu, self, options);
            for source in self.sources {
                let (ptx, remarks) = compiled(clang, source);
                assert_eq!(remarks, "", "{}", source.path);
                gpu.replace_ptx(source, Some(ptx)).unwrap_or_else(|error| panic!("{error}"));
            }
            let made = counted(gpu, self, options);
            for source in self.sources {
                gpu.replace_ptx(source, None).unwrap_or_else(|error| panic!("{error}"));
            }
            let names = |counted: &[(&'static str, Counters)]| counted.iter().map(|(name, _)| *name).collect::<Vec<_>>();
            assert_eq!(names(&stored), names(&made), "{}", self.name);
            let mut rows = Vec::new();
            for ((name, stored), (_, made)) in stored.iter().zip(&made) {
                let [stored, made] = [stored, made].map(|counters| serde_json::to_value(counters).expect("numbers"));
                for (counter, count) in stored.as_object().expect("counters have names") {
                    if is_traffic(counter) && made[counter] != *count {
                        rows.push(format!("| {} | `{name}` | `{counter}` | {count} | {} |", self.name, made[counter]));
                    }
                }
            }
            rows
        })
    }
}

/// The chapters that are compared, and options for a smaller size.
const CHAPTERS: [(&dyn Checks, &[&str]); 7] = [
    (&conv_naive::CHAPTER, &CONVOLUTION),
    (&conv_shared::CHAPTER, &CONVOLUTION),
    (&unroll::CHAPTER, &CONVOLUTION),
    (&correlation_sm_aware::CHAPTER, &[]),
    (&window_sums::CHAPTER, &[]),
    (&histogram::CHAPTER, &[]),
    (&matmul_tiled::CHAPTER, &[]),
];
const CONVOLUTION: [&str; 2] = ["--size", "4096x1024"];

/// Returns a source's PTX and what the compiler remarks. All kernels are in the PTX.
fn compiled(clang: &Compiler, source: &Source) -> (String, String) {
    let (ptx, remarks) =
        clang.compile(Input::of(source), source.architecture, Form::Optimized).unwrap_or_else(|error| panic!("{error}"));
    let module = simt::Module::parse(&ptx).unwrap_or_else(|error| panic!("{}: {error}", source.path));
    for name in source.kernels {
        assert!(module.kernel(name).is_some(), "{}: {name}", source.path);
    }
    (ptx, remarks)
}

#[test]
fn every_chapter_is_right_and_moves_what_the_book_says_when_clang_compiles_it() {
    let Some(clang) = clang() else { return };
    if with_gpu(|gpu| !gpu.is_simulated()) {
        return;
    }
    let version = clang.version().to_owned();
    let clang = Compiler::Clang(clang);
    let rows: Vec<String> = CHAPTERS.iter().flat_map(|(chapter, options)| chapter.rows(&clang, options)).collect();
    if version == MEASURED {
        let page = std::fs::read_to_string(root().join(PAGE)).unwrap();
        let shown: Vec<&str> = page.lines().filter(|line| line.starts_with("| 0")).collect();
        assert!(rows == shown, "the table of {PAGE} should be\n{}", rows.join("\n"));
    }
}

/// Compiles what the test above does not run. The ceilings are no stage of a chapter, and one chapter is not compared.
#[test]
fn the_other_kernels_compile_as_well() {
    let Some(clang) = clang() else { return };
    let clang = Compiler::Clang(clang);
    let is_run = |source: &&'static Source| CHAPTERS.iter().any(|(chapter, _)| chapter.sources().contains(source));
    for source in kernels::sources().iter().filter(|source| !is_run(source)) {
        compiled(&clang, source);
    }
}
