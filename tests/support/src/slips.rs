//! Mistakes of a hasty hand, made in each line of each right answer to an exercise.

use std::time::Instant;

use compilers::compiler::Compiler;
use compilers::input::{Form, Input};
use compilers::nvrtc::Nvrtc;
use compilers::variables::EVERY_ANSWER;
use workshop::Exercise;
use workshop::text::{ENTRY, Version};
use workshop::wall::Equivalent;

use crate::binary::Binary;
use crate::equivalence::is_same;
use crate::exercises::{With, checked, in_parallel, text, written};

/// Slips: a text, and what is written instead.
const SLIPS: [(&str, &str); 43] = [
    ("__syncthreads();", ""),
    ("__syncthreads();", "if (threadIdx.x < 32) { __syncthreads(); }"),
    ("__syncthreads();", "if (threadIdx.x % 2 == 0) { __syncthreads(); }"),
    (" < ", " <= "),
    (" < ", " + 1 < "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" + 1", ""),
    (" - 1", ""),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " + "),
    (" / ", " * "),
    (" / 2", " / 4"),
    (" % ", " / "),
    (" && ", " || "),
    (" || ", " && "),
    (" += ", " = "),
    (" += ", " -= "),
    (" = 0", " = 1"),
    ("0xffffffff", "0xffff"),
    ("0xffffffff", "0x7fffffff"),
    ("threadIdx.x", "threadIdx.y"),
    ("threadIdx.x", "0"),
    ("blockIdx.x", "0"),
    ("blockIdx.x", "blockIdx.y"),
    ("[", "[1 + "),
    ("[", "[0 * "),
    ("(unsigned", "(int"),
    ("unsigned ", "unsigned short "),
    ("unsigned ", "unsigned char "),
    ("int ", "short "),
    ("float ", "int "),
    ("long long ", "int "),
    (" ? ", " && false ? "),
    ("1.0f", "0.0f"),
    ("0.0f", "0.5f"),
    ("min(", "max("),
    ("max(", "min("),
    (" >> ", " << "),
    (" & ", " | "),
];

/// A size that a kernel could be cut off at.
const REACH: u32 = 5000;

/// A right answer with one slip.
struct Slipped {
    /// The changed line.
    line: String,
    text: String,
    /// The index of the answer.
    answer: usize,
}

/// Returns an answer with each single slip in the chosen lines.
///
/// Only the bodies of functions and the constants before them are changed. Further slips than those of the table are: a number that is one more or
/// less, a stride of one, a size that is cut off, another size instead, a statement that is left out, one that comes before the one above it, and a
/// barrier on the other side of a brace.
fn slips(answer: &str, is_mutated: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let lines: Vec<&str> = answer.lines().collect();
    let sizes = sizes(answer);
    let mut slips = Vec::new();
    let mut in_function = false;
    for (place, line) in lines.iter().enumerate() {
        if line.starts_with(['{', '}']) {
            in_function = line.starts_with('{');
        }
        if !(in_function || line.starts_with("constexpr")) || line.starts_with('#') || !is_mutated(line) {
            continue;
        }
        let code = line.split("//").next().unwrap_or_default().trim_end();
        let with = |changed: &[(usize, &str)]| {
            let line = |(at, line): (usize, &&str)| {
                let line = changed.iter().find(|(place, _)| *place == at).map_or(*line, |(_, changed)| *changed);
                line.to_owned() + "\n"
            };
            lines.iter().enumerate().map(line).collect::<String>()
        };
        let instead = in_line(code, &sizes);
        slips.extend(instead.iter().map(|wrong| (wrong.trim().to_owned(), with(&[(place, wrong)]))));
        if !code.ends_with(';') || !in_function {
            continue;
        }
        slips.push((format!("// {}", code.trim()), with(&[(place, ";")])));
        let neighbors = [(place - 1, "above"), (place + 1, "below")];
        for (neighbor, where_to) in neighbors.into_iter().filter(|(neighbor, _)| *neighbor + 1 < lines.len()) {
            let other = lines[neighbor];
            let is_over_brace = code.contains("__sync") && other.trim() == "}";
            if is_over_brace || (neighbor < place && other.trim_end().ends_with(';')) {
                let moved = format!("{} // {where_to} {}", code.trim(), other.trim());
                slips.push((moved, with(&[(neighbor, line), (place, other)])));
            }
        }
    }
    slips
}

/// Returns what a hasty hand writes instead of a line.
fn in_line(code: &str, sizes: &[&str]) -> Vec<String> {
    let replaced = |at: usize, length: usize, instead: &str| format!("{}{instead}{}", &code[..at], &code[at + length..]);
    let in_table =
        SLIPS.iter().flat_map(|(slip, instead)| code.match_indices(slip).map(|(at, _)| replaced(at, slip.len(), instead)));
    let mut wrong: Vec<String> = in_table.collect();
    for (at, word) in words(code) {
        if let Some(size) = sizes.iter().position(|size| *size == word) {
            wrong.push(replaced(at, word.len(), &format!("({word} < {REACH} ? {word} : {REACH})")));
            wrong.push(replaced(at, word.len(), sizes[(size + 1) % sizes.len()]));
        }
        let is_stride = code[..at].ends_with("+= ") && word.starts_with(|letter: char| letter.is_ascii_uppercase());
        if is_stride {
            wrong.push(replaced(at, word.len(), "1"));
        }
        if let Ok(number) = word.parse::<u32>() {
            wrong.push(replaced(at, word.len(), &(number + 1).to_string()));
            wrong.extend(number.checked_sub(1).map(|less| replaced(at, word.len(), &less.to_string())));
        }
    }
    wrong
}

/// Returns the sizes that a kernel is launched with.
fn sizes(answer: &str) -> Vec<&str> {
    let signature = answer.split("__global__").nth(1).and_then(|kernel| kernel.split(')').next()).unwrap_or_default();
    let parameters = signature.split(['(', ',']).map(str::trim).filter(|parameter| !parameter.contains('*'));
    parameters.filter_map(|parameter| parameter.strip_prefix("unsigned ").or(parameter.strip_prefix("int "))).collect()
}

/// Returns the words of a text with their places.
fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let starts = code.char_indices().filter(move |(at, letter)| is_part(*letter) && !code[..*at].ends_with(is_part));
    starts.map(move |(at, _)| (at, code[at..].split(|letter| !is_part(letter)).next().unwrap_or_default()))
}

/// The verdict on a slip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Refused,
    /// The compiled code does the same.
    Same,
    Passes,
}

/// Makes each slip in each solution. A variable asks for those in right answers of the walls, too.
///
/// Each must be refused, or do the same as the answer when compiled, or the wall says why it is no mistake. What does not compile is no answer.
/// Of another right answer, only the lines that the solution does not have are changed, because a slip in a common line is already judged.
/// A reason of the wall that no slip needs is a failure, too: it may hide the next mistake.
pub fn slips_are_found(binary: &Binary) {
    let (mut missed, mut stale) = (Vec::new(), Vec::new());
    for asked in written(binary, With::Nvrtc) {
        let began = Instant::now();
        let nvrtc = Compiler::Nvrtc(Nvrtc::find().expect("it was found before"));
        let solution = text(&asked, Version::Solution);
        let right = asked.wall.right.iter();
        let right = right.map(|right| right.change.apply(&solution).unwrap_or_else(|error| panic!("{}: {error}", asked.stem())));
        let answers: Vec<String> = [solution.clone()].into_iter().chain(right).collect();
        let mut slipped = Vec::new();
        for (answer, text) in answers.iter().enumerate() {
            let is_mutated = |line: &str| answer == 0 || solution.lines().all(|known| known.trim() != line.trim());
            slipped.extend(slips(text, is_mutated).into_iter().map(|(line, text)| Slipped { line, text, answer }));
        }
        let (mut slipped, left_out): (Vec<_>, Vec<_>) =
            slipped.into_iter().partition(|slipped| slipped.answer == 0 || EVERY_ANSWER.is_one());
        let judged_answers = if EVERY_ANSWER.is_one() { &answers[..] } else { &answers[..1] };
        let compiled: Vec<String> =
            judged_answers.iter().map(|answer| ptx(&nvrtc, &asked, answer).expect("an answer compiles")).collect();
        slipped.sort_by(|one, other| one.text.cmp(&other.text));
        slipped.dedup_by(|one, other| one.text == other.text);
        let kernel = asked.manifest.kernel.as_ref().expect("an answer is a kernel");
        let judged = in_parallel(&slipped, |Slipped { line, text, answer }| {
            let changed = ptx(&nvrtc, &asked, text)?;
            let is_code_of = |right: &String| match [right, &changed].map(|text| ptx::parse(text)) {
                [Ok(one), Ok(other)] => {
                    is_same(&one, &other, &kernel.name) && (kernel.launch.is_none() || is_same(&one, &other, ENTRY))
                }
                _ => false,
            };
            // A slip in one right answer may lead to another.
            let same = is_code_of(&compiled[*answer]) || compiled.iter().any(is_code_of);
            let passes = || checked(binary, With::Nvrtc, &asked, text, "sim").0 == Some(0);
            let verdict = if same {
                Verdict::Same
            } else if passes() {
                Verdict::Passes
            } else {
                Verdict::Refused
            };
            Some((verdict, line.clone(), *answer))
        });
        let judged: Vec<(Verdict, String, usize)> = judged.into_iter().flatten().collect();
        let count = |wanted: Verdict| judged.iter().filter(|(verdict, ..)| *verdict == wanted).count();
        let passed = judged.iter().filter(|(verdict, ..)| *verdict == Verdict::Passes);
        let mut passed: Vec<(&str, usize)> = passed.map(|(_, line, answer)| (line.as_str(), *answer)).collect();
        passed.sort_unstable();
        let is_known =
            |line: &str| asked.wall.equivalent.iter().any(|Equivalent { lines, .. }| lines.iter().any(|known| known == line));
        let in_answer = |(line, answer): &(&str, usize)| match answer.checked_sub(1) {
            Some(right) => format!("{line}   [in the right answer `{}`]", asked.wall.right[right].what),
            None => (*line).to_owned(),
        };
        let unknown: Vec<String> = passed.iter().filter(|(line, _)| !is_known(line)).map(in_answer).collect();
        println!(
            "{}: of {} slips, {} are refused, {} compile to the same, {} are no mistakes, {} pass ({} s)",
            name(binary, &asked),
            judged.len(),
            count(Verdict::Refused),
            count(Verdict::Same),
            passed.len() - unknown.len(),
            unknown.len(),
            began.elapsed().as_secs()
        );
        for line in &unknown {
            println!("    {line}");
        }
        // A slip that is not judged now may need a reason.
        let may_need =
            |line: &str| passed.iter().any(|(passed, _)| *passed == line) || left_out.iter().any(|slipped| slipped.line == line);
        let known = asked.wall.equivalent.iter().flat_map(|Equivalent { lines, .. }| lines);
        for line in known.filter(|line| !may_need(line)) {
            let why = match judged.iter().find(|(_, judged, _)| judged == line) {
                Some((Verdict::Same, ..)) => "it compiles to the same",
                Some(_) => "it is refused",
                None => "no slip that compiles is this line",
            };
            stale.push(format!("{}: {line}: {why}", name(binary, &asked)));
        }
        missed.extend(unknown.into_iter().map(|line| format!("{}: {line}", name(binary, &asked))));
    }
    let said =
        [("slips pass, and no wall says why", missed), ("lines of a wall's `[[equivalent]]` need no reason any more", stale)];
    let said = said.iter().filter(|(_, lines)| !lines.is_empty());
    let said: Vec<String> = said.map(|(what, lines)| format!("{} {what}:\n{}", lines.len(), lines.join("\n"))).collect();
    assert!(said.is_empty(), "{}", said.join("\n\n"));
}

/// Compiles a text as the check does.
fn ptx(nvrtc: &Compiler, asked: &Exercise, text: &str) -> Option<String> {
    let text = asked.manifest.source("answer.cu", text);
    let architecture = asked.manifest.kernel.as_ref().map_or("", |kernel| &kernel.architecture);
    nvrtc.compile(Input { name: "answer.cu", text: &text, headers: &[] }, architecture, Form::Optimized).ok().map(|(ptx, _)| ptx)
}

fn name(binary: &Binary, exercise: &Exercise) -> String {
    format!("{}/{}", binary.chapter, exercise.stem())
}
