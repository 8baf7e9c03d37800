//! A chapter's exercises, checked the way a learner checks them: by the chapter's binary.
//!
//! Every check has a process of its own, because a faulting kernel leaves its driver unusable.

use std::env;
use std::fs;
use std::io::{Write, stderr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use common::probe::probe;
use tempfile::TempDir;
use toolkit::clang::Clang;
use toolkit::nvrtc::Nvrtc;
use workshop::text::{Version, version};
use workshop::wall::{Right, Wrong};
use workshop::workspace::{VARIABLE, Workspace};
use workshop::{Exercise, root};

use crate::binary::Binary;

/// What a learner's kernel is compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    /// NVIDIA's compiler.
    Nvrtc,
    /// LLVM's.
    Clang,
}

impl With {
    /// What [`toolkit::compiler::VARIABLE`] calls it.
    fn word(self) -> &'static str {
        match self {
            With::Nvrtc => "nvrtc",
            With::Clang => "clang",
        }
    }

    /// The environment variable that, set to `1`, makes a machine without it fail the tests that compile.
    fn required(self) -> &'static str {
        match self {
            With::Nvrtc => "UNROLLED_REQUIRE_NVRTC",
            With::Clang => "UNROLLED_REQUIRE_CLANG",
        }
    }

    fn find(self) -> toolkit::Result<()> {
        match self {
            With::Nvrtc => Nvrtc::find().map(drop),
            With::Clang => Clang::find().map(drop),
        }
    }
}

fn all(binary: &Binary) -> Vec<Exercise> {
    Exercise::all(&root(), binary.chapter).unwrap_or_else(|error| panic!("{error}"))
}

/// The exercises that ask for a kernel. On a machine without this compiler there are none, and a line on stderr says so.
fn written(binary: &Binary, with: With) -> Vec<Exercise> {
    if let Err(why) = with.find() {
        let required = with.required();
        assert!(!env::var(required).is_ok_and(|value| value == "1"), "{required}=1, and {why}");
        let line = why.to_string();
        let line = line.lines().next().unwrap_or_default();
        // `writeln!` to the stream, because the test harness captures what `eprintln!` prints in a passing test.
        let _ = writeln!(stderr(), "SKIPPED: exercises to write, because {line}; {required}=1 makes this a failure");
        return Vec::new();
    }
    all(binary).into_iter().filter(Exercise::is_written).collect()
}

fn text(exercise: &Exercise, wanted: Version) -> String {
    version(&exercise.solution, wanted).unwrap_or_else(|error| panic!("{}: {error}", exercise.stem()))
}

/// Runs the binary on an exercise in a learner's workspace. Returns the exit status and all output.
fn exercise(binary: &Binary, with: With, workspace: &Path, exercise: &Exercise, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(binary.path);
    command
        .args(["exercise", &exercise.number.to_string()])
        .args(arguments)
        .env(VARIABLE, workspace)
        .env(toolkit::compiler::VARIABLE, with.word())
        .env("COLUMNS", "1000")
        .stdin(Stdio::null());
    let output = command.output().expect("the chapter's binary can be started");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

/// Checks a text as a learner's copy of an exercise. Returns the exit status and all output.
fn checked(binary: &Binary, with: With, asked: &Exercise, text: &str, device: &str) -> (Option<i32>, String) {
    let workspace = TempDir::new().expect("a temporary folder");
    let copy = workspace.path().join(binary.chapter).join(format!("{}.cu", asked.stem()));
    fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder can be made");
    fs::write(copy, text).expect("a file can be written");
    exercise(binary, with, workspace.path(), asked, &["--device", device, "--seed", "13"])
}

/// Fails when a chapter has fewer than three exercises.
pub fn are_three_or_more(binary: &Binary) {
    assert!(all(binary).len() >= 3, "{} has {} exercises", binary.chapter, all(binary).len());
}

/// The learner receives the starter, which differs from the solution in the marked parts only.
pub fn starters_are_solutions_without_marked_parts(binary: &Binary) {
    for asked in all(binary).iter().filter(|asked| asked.is_written()) {
        let (starter, solution) = (text(asked, Version::Starter), text(asked, Version::Solution));
        assert_ne!(starter, solution, "{}: nothing is marked", asked.stem());
        assert!(!starter.contains("SOLUTION"), "{}: a mark is left in the starter", asked.stem());
        let outside = |text: &str| asked.solution.lines().filter(|line| text.lines().any(|other| other == *line)).count();
        assert!(outside(&starter) > 3 && outside(&solution) > 3, "{}: the marked part is everything", asked.stem());
        let workspace = TempDir::new().expect("a temporary folder");
        let (status, said) = exercise(binary, With::Nvrtc, workspace.path(), asked, &[]);
        assert_eq!(status, Some(0), "{}: {said}", asked.stem());
        let copy = Workspace::at(workspace.path().to_owned()).copy(asked);
        assert_eq!(fs::read_to_string(copy).expect("the copy was made"), starter, "{}", asked.stem());
    }
}

/// Every starter compiles, and its check fails with the message that the manifest promises.
pub fn starters_fail_as_promised(binary: &Binary, with: With) {
    let mut wrong = Vec::new();
    for asked in written(binary, with) {
        let (status, said) = checked(binary, with, &asked, &text(&asked, Version::Starter), "sim");
        let promised = asked.manifest.starter_says.as_deref().unwrap_or_default();
        if status != Some(1) || !said.contains(promised) || said.contains("does not compile") {
            wrong.push(format!("the starter of {}: expected status 1 and `{promised}`, got {status:?} and\n{said}", asked.stem()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Every solution passes on the simulator.
pub fn solutions_pass(binary: &Binary, with: With) {
    let mut wrong = Vec::new();
    for asked in written(binary, with) {
        let (status, said) = checked(binary, with, &asked, &text(&asked, Version::Solution), "sim");
        if status != Some(0) || !said.contains("passed: right at all") {
            wrong.push(format!("the solution of {}: expected status 0, got {status:?} and\n{said}", asked.stem()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Every solution passes on a GPU, where there is one.
pub fn solutions_pass_on_a_gpu(binary: &Binary, with: With) {
    if let Err(why) = probe() {
        let _ = writeln!(stderr(), "SKIPPED: exercises on a GPU, because {why}");
        return;
    }
    for asked in written(binary, with) {
        let (status, said) = checked(binary, with, &asked, &text(&asked, Version::Solution), "gpu");
        assert_eq!(status, Some(0), "the solution of {}: {said}", asked.stem());
        assert!(said.contains(" as fast"), "{}: no time is reported: {said}", asked.stem());
    }
}

/// The check rejects every wrong answer of the walls with the words that name its mistake, and passes every right one.
pub fn walls_stand(binary: &Binary, with: With) {
    let mut answers = Vec::new();
    for asked in written(binary, with) {
        let solution = text(&asked, Version::Solution);
        assert!(asked.wall.wrong.len() >= 10 && asked.wall.right.len() >= 3, "{}: the wall is too small", asked.stem());
        let wrong = asked.wall.wrong.iter().map(|Wrong { what, change, says, clang_says }| {
            let clang_says = clang_says.as_ref().filter(|_| with == With::Clang);
            (what, change, [Some(says), clang_says], 1)
        });
        let right = asked.wall.right.iter().map(|Right { what, change, says }| (what, change, [Some(says), None], 0));
        for (what, change, says, expected) in wrong.chain(right) {
            let answer = change.apply(&solution).unwrap_or_else(|error| panic!("{}, {what}: {error}", asked.stem()));
            let says: Vec<String> = says.into_iter().flatten().cloned().collect();
            answers.push((asked.clone(), what.clone(), answer, says, expected));
        }
    }
    let next = AtomicUsize::new(0);
    let wrongly_judged = Mutex::new(Vec::new());
    let judge = || {
        while let Some((asked, what, answer, says, expected)) = answers.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (status, said) = checked(binary, with, asked, answer, "sim");
            if status != Some(*expected) || !says.iter().any(|says| said.contains(says.as_str())) {
                let (stem, says) = (asked.stem(), says.join("` or `"));
                let line = format!("{stem}, {what}: expected status {expected} and `{says}`, got {status:?} and\n{said}");
                wrongly_judged.lock().expect("no judge panics").push(line);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(judge);
        }
    });
    let wrongly_judged = wrongly_judged.into_inner().expect("no judge panics");
    assert!(wrongly_judged.is_empty(), "{}", wrongly_judged.join("\n\n"));
}

/// What a hasty hand writes in place of another text.
const SLIPS: [(&str, &str); 22] = [
    ("__syncthreads();", ""),
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" + 1", ""),
    (" - 1", ""),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " + "),
    (" / ", " * "),
    (" % ", " / "),
    (" && ", " || "),
    (" || ", " && "),
    (" += ", " = "),
    (" = 0", " = 1"),
    ("threadIdx.x", "threadIdx.y"),
    ("blockIdx.x", "0"),
    ("blockIdx.x", "blockIdx.y"),
    ("[", "[1 + "),
    ("[", "[0 * "),
    (".0f", ".5f"),
];

/// Makes one slip after the other in what the learner writes, and prints those that pass. They are not mistakes, or the check misses them.
pub fn slips_are_found(binary: &Binary) {
    for asked in written(binary, With::Nvrtc) {
        let solution = text(&asked, Version::Solution);
        let starter = text(&asked, Version::Starter);
        let (mut tried, mut survivors) = (0, Vec::new());
        for (number, line) in (1..).zip(solution.lines()) {
            let code = line.split("//").next().unwrap_or_default();
            if starter.lines().any(|other| other == line) {
                continue;
            }
            for (slip, instead) in SLIPS {
                for (at, _) in code.match_indices(slip) {
                    let wrong = format!("{}{instead}{}", &line[..at], &line[at + slip.len()..]);
                    let lines: Vec<&str> =
                        (1..).zip(solution.lines()).map(|(n, l)| if n == number { wrong.as_str() } else { l }).collect();
                    let (status, _) = checked(binary, With::Nvrtc, &asked, &(lines.join("\n") + "\n"), "sim");
                    tried += 1;
                    if status == Some(0) {
                        survivors.push(format!("  {number}: {}", wrong.trim()));
                    }
                }
            }
        }
        println!("{}/{}: {} of {tried} slips are found", binary.chapter, asked.stem(), tried - survivors.len());
        println!("{}", survivors.join("\n"));
    }
}

/// The answers that `--solution` prints: the first word of each indented line, where that is a number.
fn answers(said: &str) -> Vec<String> {
    let numbers = said.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    numbers.filter(|word| word.parse::<f64>().is_ok()).map(str::to_owned).collect()
}

/// A prediction accepts the right numbers and explains wrong ones.
pub fn predictions_are_judged(binary: &Binary) {
    for asked in all(binary) {
        let Some(predict) = &asked.manifest.predict else { continue };
        let workspace = TempDir::new().expect("a temporary folder");
        let (status, said) = exercise(binary, With::Nvrtc, workspace.path(), &asked, &["--solution", "--really"]);
        assert_eq!(status, Some(0), "{}: {said}", asked.stem());
        let right = answers(&said);
        assert_eq!(right.len(), predict.questions.len(), "{}: {said}", asked.stem());
        let answer = |answers: &[String]| {
            let answers: Vec<&str> = ["--answer"].into_iter().chain(answers.iter().map(String::as_str)).collect();
            exercise(binary, With::Nvrtc, workspace.path(), &asked, &answers)
        };
        for (place, question) in predict.questions.iter().enumerate() {
            for near in &question.near {
                let mut wrong = right.clone();
                wrong[place] = near.value.to_string();
                let (status, said) = answer(&wrong);
                assert_eq!(status, Some(1), "{}, {}: {said}", asked.stem(), near.value);
                assert!(said.contains(near.says.trim()), "{}, {}: {said}", asked.stem(), near.value);
            }
        }
        let (status, said) = answer(&right);
        assert_eq!(status, Some(0), "{}: {said}", asked.stem());
    }
}
