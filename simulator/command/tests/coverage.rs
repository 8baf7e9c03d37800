//! `simcuda coverage`, as a user runs it, on kernels whose lines and branches are counted here by hand.

mod ended;
mod golden;
mod transcript;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaModule, CudaStream, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use tempfile::TempDir;

use self::ended::run;
use self::transcript::Transcript;

/// The kernels, which the tests of the simulator count as well.
const KERNELS: &str = include_str!("../../simt/tests/programs/coverage.ptx");

/// Returns the folder with their source, `coverage.cu`.
fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../simt/tests/programs")
}

/// Runs the command with these arguments. Returns its exit status, standard output and standard error.
fn coverage(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
    run(command.arg("coverage").args(arguments))
}

/// Returns the folder with the example of the book.
fn example_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage")
}

/// Returns a shell command that runs each program below in another process.
fn processes(programs: &[&str]) -> String {
    let exe = std::env::current_exe().unwrap();
    let runs = programs.iter().map(|program| format!("'{}' --quiet --ignored --exact {program} >&2", exe.display()));
    runs.collect::<Vec<_>>().join(" && ")
}

fn load() -> (Arc<CudaModule>, Arc<CudaStream>) {
    let context = CudaContext::new(0).unwrap();
    (context.load_module(Ptx::from_src(KERNELS)).unwrap(), context.default_stream())
}

fn one_block(threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// Runs 128 threads, of which 100 have work: thread `i` makes `i % 5` iterations, 200 in all.
#[test]
#[ignore = "a program that other tests run"]
fn walks() {
    let (module, stream) = load();
    let counts: Vec<i32> = (0..100).map(|i| i % 5).collect();
    let (counts, mut output) = (stream.clone_htod(&counts).unwrap(), stream.alloc_zeros::<i32>(103).unwrap());
    let walk = module.load_function("walk").unwrap();
    let mut launch = stream.launch_builder(&walk);
    launch.arg(&counts).arg(&mut output).arg(&100_i32);
    // SAFETY: the kernel reads 100 counts, at most 4 sums, and adds to the three sums after the 100th.
    unsafe { launch.launch(LaunchConfig { grid_dim: (2, 1, 1), ..one_block(64) }) }.unwrap();
    stream.synchronize().unwrap();
}

/// Launches cases 0 to 2 of `choose`, and `guard` below its limit. The module is loaded twice.
#[test]
#[ignore = "a program that other tests run"]
fn chooses() {
    for kernel in ["choose", "guard"] {
        let (module, stream) = load();
        let mut output = stream.alloc_zeros::<i32>(6).unwrap();
        let function = module.load_function(kernel).unwrap();
        let mut launch = stream.launch_builder(&function);
        let argument = if kernel == "guard" { 100 } else { 0 };
        launch.arg(&mut output).arg(&argument);
        // SAFETY: both kernels change at most the first six numbers.
        unsafe { launch.launch(one_block(3)) }.unwrap();
        stream.synchronize().unwrap();
    }
}

#[test]
#[ignore = "a program that other tests run"]
fn fails() {
    let (module, stream) = load();
    let mut output = stream.alloc_zeros::<i32>(2).unwrap();
    let fail = module.load_function("fail").unwrap();
    let mut launch = stream.launch_builder(&fail);
    launch.arg(&mut output);
    // SAFETY: the kernel adds to two numbers, and stops.
    unsafe { launch.launch(one_block(64)) }.unwrap();
    stream.synchronize().unwrap();
}

/// Limits the numbers from 0 to 1023 to -1 through 100.
#[test]
#[ignore = "a program that other tests run"]
fn clamps() {
    let context = CudaContext::new(0).unwrap();
    let (stream, module) =
        (context.default_stream(), context.load_module(Ptx::from_src(include_str!("coverage/clamp.ptx"))).unwrap());
    let mut data = stream.clone_htod(&(0..1024_u16).map(f32::from).collect::<Vec<_>>()).unwrap();
    let clamp = module.load_function("clamp").unwrap();
    let mut launch = stream.launch_builder(&clamp);
    launch.arg(&mut data).arg(&1024_u32).arg(&-1_f32).arg(&100_f32);
    // SAFETY: the kernel changes at most the 1024 numbers.
    unsafe { launch.launch(one_block(1024)) }.unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn the_book_shows_what_the_command_prints() {
    let root = example_root();
    let (status, stdout, stderr) = coverage(&["--source-root", root.to_str().unwrap(), "--", "sh", "-c", &processes(&["clamps"])]);
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(stdout, std::fs::read_to_string(root.join("clamp.txt")).unwrap());
}

/// Returns the records of a file for lcov, by their kind: `DA`, `BRDA` and so on.
fn records(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut records: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines().filter(|line| *line != "end_of_record") {
        let (kind, value) = line.split_once(':').unwrap_or_else(|| panic!("{line:?} is no record"));
        records.entry(kind).or_default().push(value);
    }
    records
}

fn folder() -> (TempDir, impl Fn(&str) -> String) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_owned();
    (folder, move |name| path.join(name).to_str().unwrap().to_owned())
}

#[test]
fn processes_are_counted_together_as_by_hand() {
    let (_folder, path) = folder();
    let root = source_root();
    let lcov = path("coverage.info");
    let program = processes(&["walks", "chooses", "walks"]);
    let (status, stdout, stderr) =
        coverage(&["--source-root", root.to_str().unwrap(), "--lcov", &lcov, "--", "sh", "-c", &program]);
    assert_eq!(status, Some(0), "{stdout}{stderr}");

    let written = std::fs::read_to_string(lcov).unwrap();
    assert!(written.ends_with("end_of_record\n"), "{written}");
    let records = records(&written);
    assert_eq!(records["SF"], ["coverage.cu"]);
    let names = ["10,walk", "30,diverge", "39,choose", "52,guard", "58,fail", "66,never_launched"];
    assert_eq!(records["FN"], names);
    assert_eq!(records["FNDA"], ["2,walk", "0,diverge", "1,choose", "1,guard", "0,fail", "0,never_launched"]);
    let lines = [
        // `note_large` is inlined into two places of `walk`, which ran twice.
        "6,400", "7,80", "10,256", "12,256", "13,256", "17,400", "18,400", "19,200", "20,100", "22,100", "23,200", "24,0", "25,200",
        "26,200", "27,256", // `diverge` never ran.
        "30,0", "32,0", "33,0", "34,0", "35,0", "36,0", // `choose` ran with three threads: one case for each.
        "39,3", "41,3", "42,1", "43,1", "44,1", "45,0", "46,0", "47,0", "49,3",
        // `guard` with three threads, and two kernels that never ran.
        "52,3", "54,3", "55,3", "58,0", "60,0", "61,0", "62,0", "63,0", "64,0", "66,0", "68,0", "69,0", "70,0",
    ];
    assert_eq!(records["DA"], lines);
    let branches_of = |line: &str| {
        let of_line = records["BRDA"].iter().filter_map(|record| record.strip_prefix(line)?.strip_prefix(','));
        of_line.collect::<Vec<_>>()
    };
    // In the order of the places that the ways lead to; the end of a function comes last.
    assert_eq!(branches_of("6"), ["0,0,80", "0,1,320"]);
    assert_eq!(branches_of("13"), ["0,0,200", "0,1,56"]);
    assert_eq!(branches_of("17"), ["0,0,400", "0,1,200"]);
    assert_eq!(branches_of("23"), ["0,0,0", "0,1,200"]);
    assert_eq!(branches_of("34"), ["0,0,-", "0,1,-"]);
    assert_eq!(branches_of("54"), ["0,0,3", "0,1,0"]);
    let hit = lines.iter().filter(|line| !line.ends_with(",0")).count();
    assert_eq!((records["LF"][0], records["LH"][0]), (lines.len().to_string().as_str(), hit.to_string().as_str()));
    let taken = records["BRDA"].iter().filter(|record| !record.ends_with(",0") && !record.ends_with(",-")).count();
    assert_eq!(records["BRF"][0], records["BRDA"].len().to_string());
    assert_eq!(records["BRH"][0], taken.to_string());

    // Of 40 times that a warp executed a branch of `walk`, its lanes went both ways 27 times.
    let mut transcript = Transcript::new();
    transcript.add("simcuda coverage -- WALKS, CHOOSES, WALKS", (status, stdout, String::new()));
    transcript.assert_is("tests/messages/coverage.txt");
}

#[test]
fn what_jobs_kept_is_merged_later() {
    let (folder, path) = folder();
    let root = source_root();
    let root = root.to_str().unwrap();
    let (one, two, both) = (path("one"), path("two"), path("both"));
    let program = processes(&["walks", "chooses"]);
    for (kept, program) in [(&one, processes(&["walks"])), (&two, processes(&["chooses"])), (&both, program.clone())] {
        let (status, _, stderr) = coverage(&["--source-root", root, "--keep", kept, "--", "sh", "-c", &program]);
        assert_eq!(status, Some(0), "{stderr}");
    }
    assert_eq!(std::fs::read_dir(&both).unwrap().count(), 2, "each process writes one file");
    let merged = coverage(&["--source-root", root, "--merge", &one, &two]);
    assert_eq!(merged.0, Some(0), "{}", merged.2);
    assert_eq!(merged, coverage(&["--source-root", root, "--merge", &both]));

    // Nobody mixes what was kept with what is new.
    let mut transcript = Transcript::new().naming(folder.path(), "FOLDER");
    transcript.add("simcuda coverage --keep FOLDER/both -- PROGRAM", coverage(&["--keep", &both, "--", "sh", "-c", &program]));
    for text in ["{\"version\":1,", "{\"version\":0}"] {
        std::fs::write(Path::new(&one).join("coverage-1-1.json"), text).unwrap();
        transcript.add(format_args!("simcuda coverage --merge FOLDER/one, with {text}"), coverage(&["--merge", &one]));
    }
    transcript.add("simcuda coverage --merge FOLDER/nowhere", coverage(&["--merge", &path("nowhere")]));
    transcript.assert_is("tests/messages/coverage-kept.txt");
}

#[test]
fn the_exit_status_is_the_programs_unless_too_little_is_covered() {
    let root = source_root();
    let run = |least: &str, program: &str| {
        let root = root.to_str().unwrap();
        coverage(&["--source-root", root, "--table", "--at-least", least, "--", "sh", "-c", program])
    };
    let silent = |program| format!("{{ {}; }} 2> /dev/null", processes(&[program]));
    let (walks, fails) = (silent("walks"), silent("fails"));
    let mut transcript = Transcript::new();
    for (least, title, program) in [
        // 14 of the 15 lines of one kernel, and all kernels have 43 lines.
        ("32.5", "WALKS", walks.clone()),
        ("32.6", "WALKS", walks.clone()),
        ("0", "WALKS; exit 7", format!("{walks}; exit 7")),
        // What a kernel that fails executed counts, too: 5 of its 6 lines before the trap, and the trap.
        ("100", "FAILS; exit 9", format!("{fails}; exit 9")),
        ("0", "exit 5", "exit 5".to_owned()),
    ] {
        transcript.add(format_args!("simcuda coverage --table --at-least {least} -- {title}"), run(least, &program));
    }
    transcript.assert_is("tests/messages/coverage-status.txt");
}

#[test]
fn only_the_projects_own_files_count() {
    let (folder, path) = folder();
    let kept = path("kept");
    let program = processes(&["walks"]);
    assert_eq!(coverage(&["--keep", &kept, "--", "sh", "-c", &program]).0, Some(0));
    let merge = |more: &[&str]| coverage(&[&["--merge", &kept], more].concat());
    assert_eq!(merge(&["--exclude", "other.cu"]).0, Some(0));
    let mut transcript = Transcript::new();
    transcript.add("simcuda coverage --exclude coverage.cu", merge(&["--exclude", "coverage.cu"]));

    // A header of the toolkit in the project's folder, and a file of another project.
    let file = std::fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
    let covered = std::fs::read_to_string(&file).unwrap();
    let include = PathBuf::from(path("project/packages/include"));
    std::fs::create_dir_all(&include).unwrap();
    std::fs::write(include.join("cuda.h"), "").unwrap();
    let project = path("project");
    for name in ["packages/include/cuda_fp16.hpp", "../elsewhere.cu"] {
        std::fs::write(&file, covered.replace("coverage.cu", name)).unwrap();
        transcript.add(format_args!("simcuda coverage, for {name}"), merge(&["--source-root", &project]));
        transcript.add(
            format_args!("simcuda coverage --all --table, for {name}"),
            merge(&["--source-root", &project, "--all", "--table"]),
        );
    }
    transcript.naming(folder.path(), "FOLDER").assert_is("tests/messages/coverage-of-files.txt");
}

#[test]
fn kernels_without_lines_are_refused_or_their_ptx_counts() {
    let (_folder, path) = folder();
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().with_file_name("examples").join("double");
    assert!(program.is_file(), "{} does not exist; build it with `cargo build -p simcuda --examples`", program.display());
    let program = program.to_str().unwrap();
    let mut transcript = Transcript::new();
    transcript.add("simcuda coverage -- double", coverage(&["--", program]));
    transcript.assert_is("tests/messages/coverage-without-lines.txt");

    let (ptx, lcov) = (path("ptx"), path("coverage.info"));
    let (status, stdout, stderr) = coverage(&["--ptx", &ptx, "--lcov", &lcov, "--", program]);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    let written = std::fs::read_to_string(lcov).unwrap();
    let records = records(&written);
    let ptx = std::fs::read_to_string(records["SF"][0]).unwrap();
    let number = |instruction: &str| ptx.lines().position(|line| line.contains(instruction)).unwrap() + 1;
    // 1024 threads for 1000 elements.
    assert!(records["DA"].contains(&format!("{},1000", number("add.f32")).as_str()), "{written}");
    assert!(records["DA"].contains(&format!("{},1024", number("@%p1 bra")).as_str()), "{written}");
    assert_eq!(records["BRDA"].len(), 2, "{written}");
}
