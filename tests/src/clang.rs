//! The chapters' kernels, compiled by clang: they are right, and what they move in memory is what the stored PTX moves.

use std::env;
use std::io::{Write, stderr};

use clap::{Args, Parser};
use common::Chapter;
use common::gpu::Gpu;
use common::report::Outcome;
use common::runner;
use common::workload::{Plan, Workload};
use simt::Counters;
use toolkit::Compiler;
use toolkit::clang::Clang;
use toolkit::input::Input;

use crate::device::with_gpu;

/// Set to `1`, a machine without clang fails these tests.
const REQUIRE: &str = "UNROLLED_REQUIRE_CLANG";

/// The compiler; on a machine without it a line on stderr says so.
fn clang() -> Option<Compiler> {
    let found = Clang::find().map(Compiler::Clang);
    if let Err(why) = &found {
        assert!(!env::var(REQUIRE).is_ok_and(|value| value == "1"), "{REQUIRE}=1, and {why}");
        // `writeln!` to the stream, because the test harness captures what `eprintln!` prints in a passing test.
        let _ = writeln!(stderr(), "SKIPPED: the chapters' kernels with clang, because {why}; {REQUIRE}=1 makes this a failure");
    }
    found.ok()
}

/// A chapter's options, when nobody gives any.
#[derive(Debug, Parser)]
struct Line<O: Args> {
    #[command(flatten)]
    options: O,
}

/// Runs all stages of a chapter on the simulator at their teaching size. Returns the name and the counts of each stage that ran.
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

fn report<W: Workload>(clang: &Compiler, chapter: &Chapter<W>) {
    with_gpu(|gpu| {
        let stored = counted(gpu, chapter);
        for source in chapter.sources {
            let (ptx, remarks) = clang.compile(Input::of(source), source.architecture).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(remarks, "", "{}", source.path);
            gpu.replace_ptx(source, Some(ptx)).unwrap_or_else(|error| panic!("{error}"));
        }
        let made = counted(gpu, chapter);
        for source in chapter.sources {
            gpu.replace_ptx(source, None).unwrap();
        }
        for ((name, stored), (other, made)) in stored.iter().zip(&made) {
            assert_eq!(name, other);
            let (stored, made) = (serde_json::to_value(stored).unwrap(), serde_json::to_value(made).unwrap());
            for (counter, count) in stored.as_object().unwrap() {
                if made[counter] != *count {
                    println!("{} {name} {counter} {count} {}", chapter.name, made[counter]);
                }
            }
        }
    });
}

#[test]
fn differences() {
    let Some(clang) = clang() else { return };
    report(&clang, &conv_naive::CHAPTER);
    report(&clang, &conv_shared::CHAPTER);
    report(&clang, &unroll::CHAPTER);
    report(&clang, &correlation_sm_aware::CHAPTER);
    report(&clang, &window_sums::CHAPTER);
    report(&clang, &matmul_tiled::CHAPTER);
}
