//! `exercise` as a learner sees it in a terminal: what is kept, what is printed, what happens without a compiler.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use compilers::Compiler;
use compilers::clang::Clang;
use compilers::nvrtc::Nvrtc;
use serde_json::Value;
use support::binary::copy_program;
use tempfile::TempDir;
use workshop::text::{Version, version};
use workshop::{Exercise, root};

use crate::BINARY;

/// A learner, with a folder for what they write.
struct Learner(TempDir);

impl Learner {
    fn new() -> Self {
        // Paths have spaces, and letters that are not ASCII.
        Self(TempDir::with_prefix("mein Gerät ").unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY.path);
        command
            .arg("exercise")
            .args(arguments)
            .env("UNROLLED_EXERCISES", self.0.path())
            .env("COLUMNS", "1000")
            .stdin(Stdio::null());
        command
    }

    /// Returns the exit status and all output.
    fn asks(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
    }

    fn copy(&self, stem: &str) -> PathBuf {
        self.0.path().join("01-conv-naive").join(stem).with_extension("cu")
    }
}

const WRITTEN: &str = "2-one-thread-per-output";

fn solution() -> String {
    let exercises = Exercise::all(&root(), "01-conv-naive").unwrap();
    version(&exercises[1].solution, Version::Solution).unwrap()
}

/// Returns true if kernels can be compiled here. Where they cannot, `support::exercises` reports the skip.
fn has_compiler() -> bool {
    Compiler::find().is_ok()
}

/// Returns this machine's compilers, by the words that choose them.
fn compilers() -> Vec<&'static str> {
    let found = [("nvrtc", Nvrtc::find().is_ok()), ("clang", Clang::find().is_ok())];
    found.into_iter().filter(|(_, is_there)| *is_there).map(|(word, _)| word).collect()
}

#[test]
fn the_list_says_how_far_one_has_come_and_what_is_next() {
    let learner = Learner::new();
    let (status, said) = learner.asks(&[]);
    assert_eq!(status, Some(0));
    assert!(
        said.contains("0 of 8 exercises passed") && said.ends_with("next: cargo run -p ch01-conv-naive -- exercise 1\n"),
        "{said}"
    );
    assert_eq!(learner.asks(&["6", "--answer", "1", "1"]).0, Some(1));
    assert_eq!(learner.asks(&["6", "--answer", "2.9", "16.5"]).0, Some(0));
    assert_eq!(learner.asks(&["2"]).0, Some(0));
    let (_, said) = learner.asks(&[]);
    let state = |title: &str| said.lines().find(|line| line.contains(title)).and_then(|line| line.split_whitespace().next_back());
    assert_eq!(state("What one load moves"), Some("passed"), "{said}");
    assert_eq!(state("One thread per output"), Some("started"), "{said}");
    assert!(said.contains("1 of 8 exercises passed") && said.ends_with("exercise 1\n"), "{said}");
}

#[test]
fn what_a_learner_wrote_is_never_lost() {
    let learner = Learner::new();
    learner.asks(&["2"]);
    for mine in ["my first", "my second"] {
        fs::write(learner.copy(WRITTEN), mine).unwrap();
        let (status, said) = learner.asks(&["2", "--reset"]);
        assert_eq!(status, Some(0), "{said}");
        assert!(said.contains("your old one is kept as"), "{said}");
    }
    let kept = |number: u32| fs::read_to_string(learner.copy(WRITTEN).with_extension(format!("old{number}.cu"))).unwrap();
    assert_eq!((kept(1).as_str(), kept(2).as_str()), ("my first", "my second"));
    assert!(fs::read_to_string(learner.copy(WRITTEN)).unwrap().contains("Is there one?"));
}

#[test]
fn hints_come_one_by_one_and_the_solution_last() {
    let learner = Learner::new();
    for hints in [1, 2, 3, 3] {
        let (status, said) = learner.asks(&["2", "--hint"]);
        assert_eq!((status, said.lines().filter(|line| line.starts_with("hint ")).count()), (Some(0), hints), "{said}");
    }
    let (status, said) = learner.asks(&["2", "--solution"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("--really"), "{said}");
    let (status, said) = learner.asks(&["2", "--solution", "--really"]);
    assert_eq!((status, said.trim_end()), (Some(0), solution().trim_end()));
}

#[test]
fn wrong_requests_are_refused_on_one_line() {
    let learner = Learner::new();
    for (arguments, words) in [
        (&["9"][..], "expected one of 1 to 8"),
        (&["6", "--answer", "3"], "asks for 2 numbers, but --answer has 1"),
        (&["2", "--answer", "3"], "this exercise asks for a kernel"),
        (&["6", "--watch"], "this exercise asks for numbers"),
        (&["6", "--reset"], "this exercise asks for numbers"),
        (&["2", "--hint", "--reset"], "cannot be used with"),
        (&["--watch"], "required"),
        (&["2", "--really"], "--solution"),
    ] {
        let (status, said) = learner.asks(arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn a_damaged_record_of_the_progress_is_set_aside() {
    let learner = Learner::new();
    fs::create_dir_all(learner.0.path()).unwrap();
    fs::write(learner.0.path().join("progress.json"), "no JSON").unwrap();
    let (status, said) = learner.asks(&["2", "--hint"]);
    assert!(status == Some(0) && said.contains("progress.old1.json") && said.contains("hint 1"), "{said}");
    assert_eq!(fs::read_to_string(learner.0.path().join("progress.old1.json")).unwrap(), "no JSON");
    assert!(!learner.asks(&["2", "--hint"]).1.contains("damaged"));
}

#[test]
fn a_copy_that_is_no_file_is_refused_at_once() {
    let learner = Learner::new();
    learner.asks(&["2"]);
    let copy = learner.copy(WRITTEN);
    fs::remove_file(&copy).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &copy).unwrap();
    let (status, said) = learner.asks(&["2"]);
    assert!(status == Some(2) && said.contains("it is no regular file"), "{said}");
    fs::remove_file(&copy).unwrap();
    fs::write(&copy, " ".repeat((1 << 20) + 1)).unwrap();
    let (status, said) = learner.asks(&["2"]);
    assert!(status == Some(2) && said.contains("1048577 bytes"), "{said}");
}

#[test]
fn starting_again_keeps_what_was_written_and_only_that() {
    let learner = Learner::new();
    learner.asks(&["2"]);
    let old = learner.copy(WRITTEN).with_extension("old1.cu");
    assert_eq!(learner.asks(&["2", "--reset"]).0, Some(0));
    assert!(!old.exists(), "nothing was written");
    fs::write(learner.copy(WRITTEN), "mine").unwrap();
    assert!(learner.asks(&["2", "--reset"]).1.contains("old1.cu"));
    assert_eq!(fs::read_to_string(old).unwrap(), "mine");
}

#[test]
fn progress_can_be_exported() {
    let learner = Learner::new();
    learner.asks(&["6", "--answer", "1", "1"]);
    learner.asks(&["6", "--answer", "2.9", "16.5"]);
    learner.asks(&["2", "--hint"]);
    let file = learner.0.path().join("mine.json");
    assert_eq!(learner.asks(&["--export", file.to_str().unwrap()]).0, Some(0));
    let progress: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let first = &progress["01-conv-naive/6-sectors"];
    assert_eq!((&first["attempts"], first["passed"].is_string()), (&2.into(), true), "{progress}");
    let second = &progress["01-conv-naive/2-one-thread-per-output"];
    assert_eq!((&second["hints"], second["passed"].is_null()), (&1.into(), true), "{progress}");
    assert!(second["solution_seen"].is_null(), "{progress}");
    learner.asks(&["2", "--solution", "--really"]);
    learner.asks(&["--export", file.to_str().unwrap()]);
    let progress: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(progress["01-conv-naive/2-one-thread-per-output"]["solution_seen"], true, "{progress}");
}

#[test]
fn without_a_compiler_one_is_told_how_to_get_it() {
    let learner = Learner::new();
    learner.asks(&["2"]);
    let nowhere = [("UNROLLED_NVRTC", "/nowhere/libnvrtc.so"), ("UNROLLED_CLANG", "/nowhere/clang")];
    for (named, words) in [
        (&nowhere[..], [compilers::compiler::pip(), "or set UNROLLED_NVRTC or UNROLLED_CLANG to the path".to_owned()]),
        (&nowhere[..1], ["pip install nvidia-cuda-nvrtc-cu12".to_owned(), "UNROLLED_NVRTC".to_owned()]),
        (&nowhere[1..], ["pip install ziglang".to_owned(), "UNROLLED_CLANG".to_owned()]),
        (&[("UNROLLED_COMPILER", "gcc")], ["UNROLLED_COMPILER is gcc".to_owned(), "set it to nvrtc or clang".to_owned()]),
    ] {
        let mut command = learner.command(&["2"]);
        for (variable, _) in nowhere.iter().chain(&[("UNROLLED_COMPILER", "")]) {
            command.env_remove(variable);
        }
        let output = command.envs(named.iter().copied()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.iter().all(|words| said.contains(words)) && said.contains("Exercises 4 and 6 need none"),
            "{words:?}: {said}"
        );
    }
}

#[test]
fn what_is_wrong_before_the_first_run_is_told_as_well() {
    for compiler in compilers() {
        let learner = Learner::new();
        learner.asks(&["2"]);
        let semicolon =
            if compiler == "clang" { "2-one-thread-per-output.cu(15): error: expected ';'" } else { "expected a \";\"" };
        for (replace, with, words) in [
            ("float sum = 0.0f;", "float sum = 0.0f", semicolon),
            (" convolve(", " convolute(", "there is no kernel"),
            ("unsigned outputs,", "double outputs,", "leave its first lines as they were"),
            ("++j", "j += 0", "does not end"),
        ] {
            fs::write(learner.copy(WRITTEN), solution().replace(replace, with)).unwrap();
            let output = learner.command(&["2", "--device", "sim"]).env("UNROLLED_COMPILER", compiler).output().unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert_eq!(output.status.code(), Some(1), "{compiler}, {with}: {said}");
            assert!(said.contains(words), "{compiler}, {with}: `{words}` is not in\n{said}");
        }
    }
}

#[test]
fn a_fault_is_shown_in_the_learners_own_line() {
    for compiler in compilers() {
        let learner = Learner::new();
        learner.asks(&["2"]);
        fs::write(learner.copy(WRITTEN), solution().replace("if (i >= outputs) {", "if (false) {")).unwrap();
        // From the parent folder, as from the root of the repository, and from elsewhere.
        for folder in [learner.0.path().to_owned(), std::env::temp_dir()] {
            let mut command = learner.command(&["2", "--device", "sim"]);
            let output = command.current_dir(&folder).env("UNROLLED_COMPILER", compiler).output().unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert!(said.contains("out of bounds") && said.contains(" |         sum += signal[i + j] * filter[j];"), "{said}");
            let short = learner.copy(WRITTEN).strip_prefix(&folder).unwrap().display().to_string();
            assert!(said.lines().all(|line| !line.contains(".cu") || line.contains(&short)), "{short}: {said}");
            assert!(!said.contains(&folder.display().to_string()), "{said}");
        }
    }
}

/// Compares the report of the page *When a kernel fails*.
///
/// The kernel has lost its guard.
#[test]
fn the_report_on_the_page_is_what_the_check_says() {
    let page = fs::read_to_string(root().join("book/src/01-conv-naive/when-it-fails.md")).unwrap();
    let shown = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    if !compilers().contains(&"nvrtc") {
        return;
    }
    let learner = Learner::new();
    learner.asks(&["2"]);
    let unguarded = solution().replace("    if (i >= outputs) {\n        return;\n    }\n", "");
    fs::write(learner.copy(WRITTEN), unguarded).unwrap();
    let mut command = learner.command(&["2", "--device", "sim", "--seed", "13"]);
    let output = command.current_dir(learner.0.path().join("01-conv-naive")).env("UNROLLED_COMPILER", "nvrtc").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in shown.lines() {
        assert!(words(&said).contains(&words(line)), "{line:?} is not in\n{said}");
    }
}

/// Checks the error when a process cannot be started for a check. It says so, and not that standard output is broken.
#[test]
#[cfg(target_os = "linux")]
fn a_check_that_cannot_be_started_says_so() {
    let learner = Learner::new();
    learner.asks(&["2"]);
    // A program that is deleted after its start runs on, but cannot be started again.
    let program = learner.0.path().join("program");
    copy_program(env!("CARGO_BIN_EXE_01-conv-naive"), &program);
    let script = "exec 3<\"$0\"; rm \"$0\"; exec /proc/self/fd/3 exercise 2 --watch";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(&program).env("UNROLLED_EXERCISES", learner.0.path()).stdin(Stdio::null());
    let output = shell.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("cannot start this program again") && !message.contains("standard output"), "{message}");
}

#[test]
fn a_reader_who_leaves_early_is_no_error() {
    let learner = Learner::new();
    for arguments in [&[][..], &["6"], &["2"], &["6", "--solution", "--really"]] {
        let mut child = learner.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let Output { status, stderr, .. } = child.wait_with_output().unwrap();
        let message = String::from_utf8(stderr).unwrap();
        assert!(status.success() && !message.contains("error"), "{arguments:?}: {message}");
    }
}

#[test]
fn a_watched_exercise_is_checked_again_when_it_is_saved() {
    if !has_compiler() {
        return;
    }
    let learner = Learner::new();
    learner.asks(&["2"]);
    let mut watch =
        learner.command(&["2", "--watch", "--device", "sim"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(watch.stdout.take().unwrap());
    let waits = said.by_ref().lines().any(|line| line.unwrap().starts_with("waiting for you to save"));
    assert!(waits, "the starter does not pass, so that the watch goes on");
    fs::write(learner.copy(WRITTEN), solution()).unwrap();
    io::copy(&mut said, &mut io::sink()).unwrap();
    assert!(watch.wait().unwrap().success(), "the watch sees the solution");
}

#[test]
fn programs_at_once_lose_no_progress() {
    let learner = Learner::new();
    let wrong: Vec<_> =
        (0..8).map(|_| learner.command(&["6", "--answer", "1", "1"]).stdout(Stdio::null()).spawn().unwrap()).collect();
    for mut child in wrong {
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
    let record: Value = serde_json::from_str(&fs::read_to_string(learner.0.path().join("progress.json")).unwrap()).unwrap();
    assert_eq!(record["01-conv-naive/6-sectors"]["attempts"], 8, "{record}");
}

/// Makes the record's folder a file, so nothing can be written there. Root may write everywhere else.
#[test]
fn a_verdict_comes_before_the_record_that_cannot_be_written() {
    let learner = Learner::new();
    let file = learner.0.path().join("file");
    fs::write(&file, "").unwrap();
    for (arguments, verdict) in [
        (&["6", "--answer", "2.9", "16.5"][..], "passed."),
        (&["1", "--hint"], "hint 1 of 3"),
        (&["2", "--solution", "--really"], "output[i] = sum;"),
    ] {
        let output = learner.command(arguments).env("UNROLLED_EXERCISES", &file).output().unwrap();
        let [said, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(said.contains(verdict), "{said}{error}");
        assert!(error.contains("error: cannot "), "{error}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_record_that_is_no_text_is_set_aside() {
    let learner = Learner::new();
    fs::write(learner.0.path().join("progress.json"), b"\xff\xfe").unwrap();
    let (status, said) = learner.asks(&["6", "--answer", "2.9", "16.5"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("passed.") && said.contains("is damaged; it is kept as"), "{said}");
}

/// Checks a changed solution and returns the exit status and output.
fn checked(from: &str, to: &str) -> (Option<i32>, String) {
    let learner = Learner::new();
    learner.asks(&["2"]);
    assert!(solution().contains(from));
    fs::write(learner.copy(WRITTEN), solution().replace(from, to)).unwrap();
    learner.asks(&["2"])
}

#[test]
fn what_a_kernel_prints_is_not_counted() {
    if !has_compiler() {
        return;
    }
    let (status, said) =
        checked("output[i] = sum;", "output[i] = sum;\n    if (i == 3) {\n        printf(\"%u taps\\n\", taps);\n    }");
    assert_eq!(status, Some(0), "{said}");
    // The exercise allows no local memory, where the values to print would go.
    assert!(said.contains("33 taps"), "{said}");
}

#[test]
fn a_header_that_is_not_there_is_explained() {
    if !has_compiler() {
        return;
    }
    let (status, said) = checked("extern \"C\"", "#include <vector>\nextern \"C\"");
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("needs no header: remove the line"), "{said}");
}

#[test]
fn a_missed_target_does_not_hide_a_remark() {
    if !has_compiler() {
        return;
    }
    let (status, said) = checked(
        "output[i] = sum;",
        "float again = 0.0f;\n#pragma unroll 1\n    for (unsigned j = 0; j < 9 * taps; ++j) {\n        again += signal[i + j % taps];\n    }\n    \
         if (threadIdx.x % 2 == 1) {\n        __syncthreads();\n    }\n    output[i] = sum + 0.0f * again;",
    );
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("right at all") && said.contains("have ended"), "{said}");
}
