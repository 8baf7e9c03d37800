//! Mistakes of a hasty hand, made in each line of each right answer to an exercise.

use compilers::variables::EVERY_ANSWER;
use workshop::Exercise;
use workshop::text::Version;
use workshop::wall::Equivalent;

use crate::binary::Binary;
use crate::exercises::{With, checked, in_parallel, text, written};

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
            slips.push(Slipped { text: with(&[(place, &wrong)]), line: wrong.trim().to_owned() });
        }
        if code.trim_end().ends_with(';') && lines[place - 1].trim_end().ends_with(';') {
            let swapped = format!("{} {}", line.trim(), lines[place - 1].trim());
            slips.push(Slipped { text: with(&[(place - 1, line), (place, lines[place - 1])]), line: swapped });
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

/// Makes each slip in each solution. A variable asks for those in right answers of the walls, too.
///
/// Each must be refused, or the wall says why it is no mistake. What does not compile is no answer.
pub fn slips_are_found(binary: &Binary) {
    let mut missed = Vec::new();
    for asked in written(binary, With::Nvrtc) {
        let solution = text(&asked, Version::Solution);
        let rights = if EVERY_ANSWER.is_one() { &asked.wall.right[..] } else { &[] };
        let right =
            rights.iter().map(|right| right.change.apply(&solution).unwrap_or_else(|error| panic!("{}: {error}", asked.stem())));
        let mut slips: Vec<Slipped> = [solution.clone()].into_iter().chain(right).flat_map(|answer| slips(&answer)).collect();
        slips.sort_by(|one, other| one.text.cmp(&other.text));
        slips.dedup_by(|one, other| one.text == other.text);
        let judged = in_parallel(&slips, |Slipped { line, text }| {
            let (status, said) = checked(binary, With::Nvrtc, &asked, text, "sim");
            (!said.contains("does not compile")).then(|| (status == Some(0), line.clone()))
        });
        let judged: Vec<(bool, String)> = judged.into_iter().flatten().collect();
        let mut passed: Vec<&str> = judged.iter().filter(|(passed, _)| *passed).map(|(_, line)| line.as_str()).collect();
        passed.sort_unstable();
        let is_known =
            |line: &str| asked.wall.equivalent.iter().any(|Equivalent { lines, .. }| lines.iter().any(|known| known == line));
        let unknown: Vec<&str> = passed.iter().copied().filter(|line| !is_known(line)).collect();
        println!(
            "{}: of {} slips, {} are refused, {} are no mistakes, {} pass",
            name(binary, &asked),
            judged.len(),
            judged.len() - passed.len(),
            passed.len() - unknown.len(),
            unknown.len()
        );
        missed.extend(unknown.into_iter().map(|line| format!("{}: {line}", name(binary, &asked))));
    }
    assert!(missed.is_empty(), "{} slips pass, and no wall says why:\n{}", missed.len(), missed.join("\n"));
}

fn name(binary: &Binary, exercise: &Exercise) -> String {
    format!("{}/{}", binary.chapter, exercise.stem())
}
