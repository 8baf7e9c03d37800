//! A chapter's exercises, checked the way a learner checks them: by the chapter's binary.
//!
//! Every check has a process of its own, because a faulting kernel leaves its driver unusable.

use std::io::{Write, stderr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use compilers::clang::Clang;
use compilers::nvrtc::Nvrtc;
use compilers::variables::{COMPILER, EVERY_ANSWER, EXERCISES, ONE_EXERCISE, REQUIRE_CLANG, REQUIRE_NVRTC, Variable};
use run::probe::probe;
use tempfile::TempDir;
use workshop::text::{Version, version};
use workshop::wall::{Right, Wrong};
use workshop::workspace::Workspace;
use workshop::{Exercise, root};

use crate::binary::Binary;

/// The compiler of a learner's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    /// NVIDIA's compiler.
    Nvrtc,
    /// LLVM's.
    Clang,
}

impl With {
    /// Returns the word for it in [`COMPILER`].
    fn word(self) -> &'static str {
        match self {
            With::Nvrtc => "nvrtc",
            With::Clang => "clang",
        }
    }

    /// Returns the variable that, set to `1`, demands this compiler: without it, the tests that compile fail.
    fn required(self) -> Variable {
        match self {
            With::Nvrtc => REQUIRE_NVRTC,
            With::Clang => REQUIRE_CLANG,
        }
    }

    fn find(self) -> compilers::Result<()> {
        match self {
            With::Nvrtc => Nvrtc::find().map(drop),
            With::Clang => Clang::find().map(drop),
        }
    }
}

fn all(binary: &Binary) -> Vec<Exercise> {
    Exercise::all(&root(), binary.chapter).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the exercises that ask for a kernel.
///
/// It is only one if a variable names it. On a machine without this compiler there are none, and a line on stderr says so.
pub(crate) fn written(binary: &Binary, with: With) -> Vec<Exercise> {
    if let Err(why) = with.find() {
        with.required().skip("exercises to write", why.to_string().lines().next().unwrap_or_default());
        return Vec::new();
    }
    let one = ONE_EXERCISE.text();
    let is_asked = |exercise: &Exercise| one.as_ref().is_none_or(|one| *one == exercise.number.to_string());
    all(binary).into_iter().filter(Exercise::is_written).filter(is_asked).collect()
}

pub(crate) fn text(exercise: &Exercise, wanted: Version) -> String {
    version(&exercise.solution, wanted).unwrap_or_else(|error| panic!("{}: {error}", exercise.stem()))
}

/// Runs the binary on an exercise in a learner's workspace. Returns the exit status and all output.
fn exercise(binary: &Binary, with: With, workspace: &Path, exercise: &Exercise, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(binary.path);
    command
        .args(["exercise", &exercise.number.to_string()])
        .args(arguments)
        .env(EXERCISES, workspace)
        .env(COMPILER, with.word())
        .env("COLUMNS", "1000")
        .stdin(Stdio::null());
    let output = command.output().expect("the chapter's binary can be started");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

/// Checks a text as a learner's copy of an exercise. Returns the exit status and all output.
pub(crate) fn checked(binary: &Binary, with: With, asked: &Exercise, text: &str, device: &str) -> (Option<i32>, String) {
    checked_with_seed(binary, with, asked, text, device, 13)
}

fn checked_with_seed(binary: &Binary, with: With, asked: &Exercise, text: &str, device: &str, seed: u32) -> (Option<i32>, String) {
    let workspace = TempDir::new().expect("a temporary folder");
    let copy = workspace.path().join(binary.chapter).join(format!("{}.cu", asked.stem()));
    fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder can be made");
    fs::write(copy, text).expect("a file can be written");
    exercise(binary, with, workspace.path(), asked, &["--device", device, "--seed", &seed.to_string()])
}

/// Fails when a chapter has fewer than three exercises.
pub fn are_three_or_more(binary: &Binary) {
    // Most exercises on the pages of 06-matmul-half are those of 06-matmul-tiled, which has the other half of the chapter.
    let least = if binary.chapter == "06-matmul-half" { 1 } else { 3 };
    assert!(all(binary).len() >= least, "{} has {} exercises", binary.chapter, all(binary).len());
}

/// Checks that starters differ from their solutions in the marked parts only. The learner receives the starter.
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

/// Checks that every starter compiles and fails with the manifest's message.
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

/// Checks that every solution passes on the simulator.
pub fn solutions_pass(binary: &Binary, with: With) {
    let mut wrong = Vec::new();
    for asked in written(binary, with) {
        // A learner's checks count their seed up. What a size shows does not depend on the compiler.
        let seeds: &[u32] = if with == With::Nvrtc && EVERY_ANSWER.is_one() { &[13, 20] } else { &[13] };
        for &seed in seeds {
            let (status, said) = checked_with_seed(binary, with, &asked, &text(&asked, Version::Solution), "sim", seed);
            if status != Some(0) || !said.contains("passed: right at all") {
                wrong.push(format!("the solution of {}: expected status 0, got {status:?} and\n{said}", asked.stem()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Checks that every solution passes on a GPU, where there is one.
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

/// Returns true if a wall's answer is tried daily. A check takes about a second, so most answers wait for a release, and the two compilers take
/// different ones.
fn is_daily(with: With, exercise: u32, at: usize) -> bool {
    let turn = at + exercise as usize;
    match with {
        With::Nvrtc => turn.is_multiple_of(5),
        With::Clang => turn % 10 == 1,
    }
}

/// Checks that right answers pass and wrong ones fail.
///
/// Each wrong one has to fail with the words that name its mistake.
pub fn walls_stand(binary: &Binary, with: With) {
    let mut answers = Vec::new();
    for asked in written(binary, with) {
        let solution = text(&asked, Version::Solution);
        assert!(asked.wall.wrong.len() >= 10 && asked.wall.right.len() >= 6, "{}: the wall is too small", asked.stem());
        let wrong = asked.wall.wrong.iter().map(|Wrong { what, change, says, clang_says }| {
            let clang_says = clang_says.as_ref().filter(|_| with == With::Clang);
            (what, change, [Some(says), clang_says], 1)
        });
        let right = asked.wall.right.iter().map(|Right { what, change, says }| (what, change, [Some(says), None], 0));
        for (at, (what, change, says, expected)) in wrong.chain(right).enumerate() {
            if !is_daily(with, asked.number, at) && !EVERY_ANSWER.is_one() {
                continue;
            }
            let answer = change.apply(&solution).unwrap_or_else(|error| panic!("{}, {what}: {error}", asked.stem()));
            let says: Vec<String> = says.into_iter().flatten().cloned().collect();
            answers.push((asked.clone(), what.clone(), answer, says, expected));
        }
    }
    let wrongly_judged = in_parallel(&answers, |(asked, what, answer, says, expected)| {
        let (status, said) = checked(binary, with, asked, answer, "sim");
        let is_right = status == Some(*expected) && says.iter().any(|says| said.contains(says.as_str()));
        (!is_right).then(|| {
            format!(
                "{}, {what}: expected status {expected} and `{}`, got {status:?} and\n{said}",
                asked.stem(),
                says.join("` or `")
            )
        })
    });
    let wrongly_judged: Vec<String> = wrongly_judged.into_iter().flatten().collect();
    assert!(wrongly_judged.is_empty(), "{}", wrongly_judged.join("\n\n"));
}

/// Calls a function for each item, on all cores. The results are in no order. Panics when the function panics.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], call: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = call(item);
            results.lock().expect("no worker panics").push(result);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    results.into_inner().expect("no worker panics")
}

/// Returns the answers that `--solution` prints: the first word of each indented line, where that is a number.
fn answers(said: &str) -> Vec<String> {
    let numbers = said.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    numbers.filter(|word| word.parse::<f64>().is_ok()).map(str::to_owned).collect()
}

/// Checks that a prediction accepts the right numbers and explains wrong ones.
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
