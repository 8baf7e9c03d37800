//! Mistakes of a hasty hand, made in each line of each right answer to an exercise.

use compilers::compiler::compile_with_nvrtc;
use compilers::input::{Form, Input};
use compilers::nvrtc::Nvrtc;
use compilers::variables::EVERY_ANSWER;
use workshop::Exercise;
use workshop::text::Version;
use workshop::wall::Equivalent;

use crate::binary::Binary;
use crate::exercises::{With, checked, in_parallel, text, written};
use crate::same_code::is_same;

/// Slips: a text, and what is written instead.
const SLIPS: [(&str, &str); 39] = [
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
];

/// Sizes of a launch that a kernel could cut off.
const SIZES: [&str; 9] = ["outputs", "taps", "columns", "rows", "pixels", "width", "m", "n", "k"];
/// Where it cuts them off.
const REACH: u32 = 5000;

/// A right answer with one slip.
struct Slipped {
    /// The line before.
    before: String,
    /// The changed line.
    line: String,
    text: String,
}

/// Returns an answer with each single slip that its kernel allows. A statement that is left out is a slip, too, and so is a stride of one, a
/// statement that is written before the one above it, and a size that is cut off.
fn slips(answer: &str) -> Vec<Slipped> {
    let lines: Vec<&str> = answer.lines().collect();
    let kernel = lines.iter().position(|line| line.contains("__global__")).expect("a kernel");
    let body = kernel + lines[kernel..].iter().position(|line| line.starts_with('{')).expect("a kernel has a body");
    let mut slips = Vec::new();
    for (place, line) in lines.iter().enumerate().skip(body) {
        let code = line.split("//").next().unwrap_or_default();
        let replaced = |at: usize, length: usize, instead: &str| format!("{}{instead}{}", &line[..at], &line[at + length..]);
        let mut wrong: Vec<String> = SLIPS
            .iter()
            .flat_map(|(slip, instead)| code.match_indices(slip).map(|(at, _)| replaced(at, slip.len(), instead)))
            .collect();
        for (at, word) in words(code) {
            if SIZES.contains(&word) {
                wrong.push(replaced(at, word.len(), &format!("({word} < {REACH} ? {word} : {REACH})")));
            }
            let is_stride = code[..at].ends_with("+= ") && word.starts_with(|letter: char| letter.is_ascii_uppercase());
            if is_stride {
                wrong.push(replaced(at, word.len(), "1"));
            }
        }
        if code.trim_end().ends_with(';') {
            wrong.push(";".to_owned());
        }
        let with = |changed: &[(usize, &str)]| {
            let line = |at: usize, line: &&str| {
                changed.iter().find(|(place, _)| *place == at).map_or_else(|| (*line).to_owned(), |(_, line)| (*line).to_owned())
            };
            lines.iter().enumerate().map(|(at, text)| line(at, text) + "\n").collect::<String>()
        };
        for wrong in wrong {
            slips.push(Slipped { before: (*line).to_owned(), text: with(&[(place, &wrong)]), line: wrong.trim().to_owned() });
        }
        if code.trim_end().ends_with(';') && lines[place - 1].trim_end().ends_with(';') {
            let swapped = format!("{} {}", line.trim(), lines[place - 1].trim());
            slips.push(Slipped {
                before: (*line).to_owned(),
                text: with(&[(place - 1, line), (place, lines[place - 1])]),
                line: swapped,
            });
        }
    }
    slips
}

/// Returns the words of a line with their places.
fn words(code: &str) -> Vec<(usize, &str)> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let starts = code.char_indices().filter(|(at, letter)| is_part(*letter) && !code[..*at].ends_with(is_part));
    starts.map(|(at, _)| (at, code[at..].split(|letter| !is_part(letter)).next().unwrap_or_default())).collect()
}

/// What became of a slip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The check refuses it.
    Refused,
    /// It compiles to the same code.
    Same,
    Passes,
}

/// Makes each slip in each solution. A variable asks for those in right answers of the walls, too, in the lines that the solution does not have.
///
/// Each must be refused, or compile to the code of the answer, or the wall says why it is no mistake. What does not compile is no answer.
pub fn slips_are_found(binary: &Binary) {
    let mut missed = Vec::new();
    for asked in written(binary, With::Nvrtc) {
        let nvrtc = Nvrtc::find().expect("there is an exercise to write only if it is there");
        let compiled = |text: &str| {
            let text = text.to_owned() + &asked.manifest.epilogue();
            let architecture = asked.manifest.kernel.as_ref().map_or("", |kernel| &kernel.architecture);
            compile_with_nvrtc(&nvrtc, Input { name: "answer.cu", text: &text, headers: &[] }, architecture, Form::Optimized)
        };
        let solution = text(&asked, Version::Solution);
        let rights = if EVERY_ANSWER.is_one() { &asked.wall.right[..] } else { &[] };
        let right =
            rights.iter().map(|right| right.change.apply(&solution).unwrap_or_else(|error| panic!("{}: {error}", asked.stem())));
        let own = |answer: &str| -> Vec<Slipped> {
            let is_own = |slip: &Slipped| answer == solution || !solution.contains(slip.before.as_str());
            slips(answer).into_iter().filter(is_own).collect()
        };
        let answers: Vec<(String, Vec<Slipped>)> = [solution.clone()]
            .into_iter()
            .chain(right)
            .map(|answer| (compiled(&answer).map_or(String::new(), |(ptx, _)| ptx), own(&answer)))
            .collect();
        let mut slips: Vec<(&str, &Slipped)> =
            answers.iter().flat_map(|(ptx, slips)| slips.iter().map(|slip| (ptx.as_str(), slip))).collect();
        slips.sort_by(|one, other| one.1.text.cmp(&other.1.text));
        slips.dedup_by(|one, other| one.1.text == other.1.text);
        let judged = in_parallel(&slips, |(answer, Slipped { line, text, .. })| {
            let (ptx, _) = compiled(text).ok()?;
            let is_same = match [ptx::parse(answer), ptx::parse(&ptx)] {
                [Ok(answer), Ok(slipped)] => is_same(&answer, &slipped),
                _ => false,
            };
            let fate = match is_same {
                true => Fate::Same,
                false if checked(binary, With::Nvrtc, &asked, text, "sim").0 == Some(0) => Fate::Passes,
                false => Fate::Refused,
            };
            Some((fate, line.clone()))
        });
        let judged: Vec<(Fate, String)> = judged.into_iter().flatten().collect();
        let count = |wanted: Fate| judged.iter().filter(|(fate, _)| *fate == wanted).count();
        let is_known =
            |line: &str| asked.wall.equivalent.iter().any(|Equivalent { lines, .. }| lines.iter().any(|known| known == line));
        let mut unknown: Vec<&str> =
            judged.iter().filter(|(fate, line)| *fate == Fate::Passes && !is_known(line)).map(|(_, line)| line.as_str()).collect();
        unknown.sort_unstable();
        println!(
            "{}: of {} slips, {} are refused, {} compile to the same code, {} are no mistakes, {} pass",
            name(binary, &asked),
            judged.len(),
            count(Fate::Refused),
            count(Fate::Same),
            count(Fate::Passes) - unknown.len(),
            unknown.len()
        );
        for line in &unknown {
            println!("    {line}");
        }
        missed.extend(unknown.into_iter().map(|line| format!("{}: {line}", name(binary, &asked))));
    }
    assert!(missed.is_empty(), "{} slips pass, and no wall says why:\n{}", missed.len(), missed.join("\n"));
}

fn name(binary: &Binary, exercise: &Exercise) -> String {
    format!("{}/{}", binary.chapter, exercise.stem())
}
