//! `simcuda mutate`, as a user runs it, on a program in C whose kernel was written so that each verdict can be derived by hand.
#![cfg(target_os = "linux")]

mod c_program;
mod ended;
mod golden;
mod transcript;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use self::c_program::compiled;
use self::ended::run;
use self::transcript::Transcript;

/// The folder of this package, where the commands find the kernel's source.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Prepares `simcuda mutate`. An endless kernel ends soon, because it gets little fuel.
fn mutate(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
    command.current_dir(ROOT).env("SIMCUDA_FUEL", "100000").arg("mutate").args(options);
    command
}

/// Starts a transcript of runs with the program.
fn transcript() -> Transcript {
    Transcript::new().naming(&compiled("mutants"), "MUTANTS")
}

/// Prepares it for the program.
fn mutate_program(options: &[&str]) -> Command {
    let mut command = mutate(options);
    command.arg("--").arg(compiled("mutants")).arg("tests/ptx/mutants.ptx");
    command
}

#[test]
fn each_mutant_gets_the_verdict_that_was_derived_by_hand() {
    let folder = TempDir::new().unwrap();
    let json = folder.path().join("score.json");
    let (status, stdout, stderr) =
        run(&mut mutate_program(&["--jobs", "2", "--at-least", "81.8", "--json", json.to_str().unwrap()]));
    let mut transcript = transcript();
    // Two runs at a time end in any order.
    let mut progress: Vec<&str> = stderr.lines().map(|line| line.split_once("] ").map_or(line, |(_, line)| line)).collect();
    progress.sort_unstable();
    transcript.add("simcuda mutate --jobs 2 -- MUTANTS", (status, stdout.clone(), progress.join("\n") + "\n"));
    transcript.assert_is("tests/messages/mutate.txt");
    let score: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    let mut verdicts: BTreeMap<(u64, &str), Vec<&str>> = BTreeMap::new();
    for judged in score["verdicts"].as_array().unwrap() {
        let place = (judged["source"]["line"].as_u64().unwrap(), judged["operator"].as_str().unwrap());
        verdicts.entry(place).or_default().push(judged["verdict"].as_str().unwrap());
    }
    // 64 threads, as many elements, `mode` is 0. Each line of the table is a line of CUDA C and an operator.
    let expected: [((u64, &str), &[&str]); 22] = [
        // A stride of 5 or 3 bytes is misaligned. The first byte past either array is outside. So is what lies before an array.
        ((6, "change-constant"), &["finding"; 2]),
        ((6, "shift-index"), &["finding"; 2]),
        ((6, "swap-arithmetic"), &["finding"; 2]),
        ((7, "remove-barrier"), &["finding"]),
        // `64 - i` is 64 for the first thread, and `62 - i` is negative for the last; strides as above.
        ((8, "change-constant"), &["finding"; 4]),
        ((8, "flip-sign"), &["tests"]),
        ((8, "shift-index"), &["finding"]),
        ((8, "swap-arithmetic"), &["finding"; 2]),
        // From 1, the loop counts to 4 as well.
        ((9, "change-constant"), &["survived"]),
        // In steps of 2, too; in steps of 0 or -1 it does not end.
        ((11, "change-constant"), &["survived", "time"]),
        ((11, "swap-arithmetic"), &["time"]),
        ((12, "change-bound"), &["tests"]),
        ((12, "change-constant"), &["tests"]),
        ((12, "negate-comparison"), &["tests"]),
        ((12, "remove-guard"), &["tests"]),
        // No thread is at the end or beyond it.
        ((13, "change-bound"), &["survived"]),
        ((13, "negate-comparison"), &["tests"]),
        ((13, "remove-guard"), &["survived"]),
        ((16, "shift-index"), &["finding"]),
        ((16, "swap-arithmetic"), &["finding", "tests"]),
        // A mode other than 0 is not tested.
        ((17, "change-constant"), &["survived"; 2]),
        ((17, "negate-comparison"), &["tests"]),
    ];
    let mut expected: BTreeMap<_, Vec<&str>> = expected.into_iter().map(|(place, verdicts)| (place, verdicts.to_vec())).collect();
    expected.insert((17, "remove-guard"), vec!["tests"]);
    verdicts.values_mut().for_each(|verdicts| verdicts.sort_unstable());
    assert_eq!(verdicts, expected);
    let totals = &score["totals"];
    let counts = ["mutants", "finding", "tests", "time", "survived", "not_covered", "equivalent", "undecided"];
    // Line 18 is not executed, and has a constant and an index.
    assert_eq!(counts.map(|count| totals[count].as_u64().unwrap()), [35, 16, 9, 2, 6, 2, 0, 0]);

    let page = fs::read_to_string(Path::new(ROOT).join("../../book/src/mutation.md")).unwrap();
    let shown = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the page shows a survivor");
    assert!(stdout.contains(shown), "{shown:?} is not in:\n{stdout}");
    let barrier = score["verdicts"].as_array().unwrap().iter().find(|judged| judged["operator"] == "remove-barrier").unwrap();
    assert!(barrier["by"].as_str().unwrap().starts_with("data race on shared memory"), "{barrier}");

    let (status, ..) = run(&mut mutate_program(&["--operator", "remove-guard", "--at-least", "67"]));
    assert_eq!(status, Some(1), "two of three");
    let (status, ..) = run(&mut mutate_program(&["--operator", "remove-guard", "--at-least", "66"]));
    assert_eq!(status, Some(0));
}

#[test]
fn an_interrupted_run_keeps_its_verdicts_and_goes_on() {
    let folder = TempDir::new().unwrap();
    let journal = folder.path().join("verdicts.jsonl");
    let name = journal.to_str().unwrap();
    let lines = || fs::read_to_string(&journal).unwrap_or_default().lines().count();

    let mut child = mutate_program(&["--verdicts", name]).spawn().unwrap();
    let started = Instant::now();
    while lines() < 4 {
        assert!(started.elapsed() < Duration::from_secs(60), "no verdicts");
        std::thread::sleep(Duration::from_millis(5));
    }
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let before = fs::read_to_string(&journal).unwrap();
    assert!((4..34).contains(&lines()), "{before}");

    let mut transcript = transcript().naming(folder.path(), "FOLDER");
    transcript.add("simcuda mutate --verdicts FILE -- MUTANTS", run(&mut mutate_program(&["--verdicts", name])));
    let another = run(mutate(&["--verdicts", name, "--resume"]).args(["--", "true"]));
    transcript.add("simcuda mutate --verdicts FILE --resume -- true", another);
    transcript.assert_is("tests/messages/mutate-resume.txt");

    // A run that was killed while it wrote.
    fs::write(&journal, before.clone() + "{\"id\":\"mut").unwrap();
    let (status, stdout, stderr) = run(&mut mutate_program(&["--verdicts", name, "--resume"]));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stdout.contains("27 of 33 mutants killed"), "{stdout}");
    let after = fs::read_to_string(&journal).unwrap();
    assert!(after.starts_with(&before), "{after}");
    let mut ids: Vec<String> =
        after.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), after.lines().count()), (33, 34));
}

/// Returns true if a process with this argument exists.
fn runs(argument: &str) -> bool {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    // A process may end while we look.
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes()))
}

#[test]
fn a_run_that_takes_too_long_leaves_no_process_behind() {
    let (program, argument) = (compiled("mutants").display().to_string(), format!("1000.{}", std::process::id()));
    for (hangs, verdict) in [("wait", "killed by time"), ("exit 1", "killed by the tests")] {
        let script = format!(
            "if [ -z \"$SIMCUDA_MUTANT\" ]; then exec {program} tests/ptx/mutants.ptx; fi
             sleep {argument} & (sleep {argument} & sleep {argument}) & {hangs}"
        );
        let options = ["--operator", "remove-barrier", "--limit", "0.5"];
        let (status, stdout, stderr) = run(mutate(&options).args(["--", "sh", "-c", &script]));
        assert_eq!(status, Some(0), "{stderr}");
        assert!(stderr.contains(verdict) && stdout.contains("1 of 1 mutants killed"), "{stderr}");
        let started = Instant::now();
        while runs(&argument) {
            assert!(started.elapsed() < Duration::from_secs(10), "`sleep {argument}` still runs");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn equivalent_mutants_do_not_count_and_stale_entries_are_reported() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("equivalent.toml");
    let (status, listed, stderr) = run(&mut mutate_program(&["--list", "--operator", "change-constant"]));
    assert_eq!(status, Some(0), "{stderr}");
    let of_line_9 = listed.lines().zip(listed.lines().skip(1)).find(|(_, next)| next.contains("mutants.cu:9:")).unwrap().0;
    let entry = |id: &str| format!("[[equivalent]]\nmutant = {id:?}\nreason = \"the loop counts to 4 from 1 as well\"\n");
    fs::write(&file, entry(of_line_9) + &entry("mutants@00000000/remove-guard/1") + &entry("another@00000000/remove-guard/1"))
        .unwrap();
    let equivalent = ["--equivalent", file.to_str().unwrap()];
    let (status, stdout, stderr) = run(&mut mutate_program(&equivalent));
    let mut transcript = transcript().naming(folder.path(), "FOLDER");
    // The kernel `another` may be one of another command.
    let said: String = stderr.lines().filter(|line| !line.contains("] ")).map(|line| format!("{line}\n")).collect();
    transcript.add("simcuda mutate --equivalent FOLDER/equivalent.toml -- MUTANTS", (status, stdout, said));
    fs::write(&file, "[[equivalent]]\nmutant = 'a@0/b/1'\nreason = ''\n").unwrap();
    transcript.add("simcuda mutate --equivalent FOLDER/equivalent.toml -- MUTANTS", run(&mut mutate_program(&equivalent)));
    transcript.assert_is("tests/messages/mutate-equivalent.txt");
}
