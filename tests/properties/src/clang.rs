//! The chapters' kernels, compiled by clang: they are right, and what they move in memory is what the stored PTX moves.

use clap::{Args, Parser};
use compilers::Compiler;
use compilers::clang::Clang;
use compilers::input::{Form, Input};
use compilers::variables::REQUIRE_CLANG;
use run::Chapter;
use run::gpu::Gpu;
use run::report::Outcome;
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

/// Runs all stages of a chapter on the simulator at teaching size. Returns the name and the counts of each stage that ran.
fn counted<W: Workload>(gpu: &Gpu, chapter: &Chapter<W>) -> Vec<(&'static str, Counters)> {
    let options = Line::<W::Options>::parse_from(["chapter"]).options;
    let Plan { parts, .. } = W::plan(&options, 13, gpu).unwrap_or_else(|error| panic!("{}: {error}", chapter.name));
    let rows = parts.iter().flat_map(|workload| {
        runner::run(gpu, chapter.stages, workload, 0).unwrap_or_else(|error| panic!("{}: {error}", chapter.name)).rows
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
    fn rows(&self, clang: &Compiler) -> Vec<String>;
}

impl<W: Workload> Checks for Chapter<W> {
    /// Runs all stages with the stored PTX and with clang's. Returns a row of the table for each count that differs.
    fn rows(&self, clang: &Compiler) -> Vec<String> {
        with_gpu(|gpu| {
            let stored = counted(gpu, self);
            for source in self.sources {
                let (ptx, remarks) = clang
                    .compile(Input::of(source), source.architecture, Form::Optimized)
                    .unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(remarks, "", "{}", source.path);
                gpu.replace_ptx(source, Some(ptx)).unwrap_or_else(|error| panic!("{error}"));
            }
            let made = counted(gpu, self);
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

#[test]
fn every_chapter_is_right_and_moves_what_the_book_says_when_clang_compiles_it() {
    let Some(clang) = clang() else { return };
    if with_gpu(|gpu| !gpu.is_simulated()) {
        return;
    }
    let chapters: [&dyn Checks; 7] = [
        &conv_naive::CHAPTER,
        &conv_shared::CHAPTER,
        &unroll::CHAPTER,
        &correlation_sm_aware::CHAPTER,
        &window_sums::CHAPTER,
        &histogram::CHAPTER,
        &matmul_tiled::CHAPTER,
    ];
    let version = clang.version().to_owned();
    let clang = Compiler::Clang(clang);
    let rows: Vec<String> = chapters.iter().flat_map(|chapter| chapter.rows(&clang)).collect();
    if version == MEASURED {
        let page = std::fs::read_to_string(root().join(PAGE)).unwrap();
        let shown: Vec<&str> = page.lines().filter(|line| line.starts_with("| 0")).collect();
        assert!(rows == shown, "the table of {PAGE} should be\n{}", rows.join("\n"));
    }
}

/// Compiles the ceilings. They are no stage of a chapter, so nothing runs them here.
#[test]
fn the_other_kernels_compile_as_well() {
    let Some(clang) = clang() else { return };
    let clang = Compiler::Clang(clang);
    for source in kernels::sources() {
        let (ptx, _) =
            clang.compile(Input::of(source), source.architecture, Form::Optimized).unwrap_or_else(|error| panic!("{error}"));
        let module = simt::Module::parse(&ptx).unwrap_or_else(|error| panic!("{}: {error}", source.path));
        for name in source.kernels {
            assert!(module.kernel(name).is_some(), "{}: {name}", source.path);
        }
    }
}
