//! The words about a checked kernel: the mistake, its place in the learner's own file, and where to look.

use std::cmp::Reverse;
use std::mem::discriminant;

use oracles::{Mismatch, Pattern, Worst};
use simt::{Dim3, Finding, FindingKind, Location, Space};
use workloads::Problem;
use workloads::failure::{Failure, Fault};
use workloads::units::significant;

use crate::check::{Passed, Text};
use crate::device::Written;
use crate::manifest::{Kind, Manifest, Target};
use crate::outputs::InBlock;
use crate::rejection::Rejection;
use crate::text::paragraphs;

const MISSING_HEADER: &str = "\nA kernel of an exercise needs no header: remove the line. What CUDA C has built in is there without one, and so are the integers \
                              of <cstdint>.";

/// Says why a kernel does not pass.
pub fn rejected(rejection: &Rejection, text: Text<'_>) -> String {
    // The compiler knows the full path. The learner knows where they are.
    words(rejection, text, false).replace(text.path, text.name)
}

/// Says the same with the compiler's path of the text. The kernel needs no advice if the learner wrote its launch.
fn words(rejection: &Rejection, text: Text<'_>, is_launched: bool) -> String {
    match rejection {
        Rejection::DoesNotCompile(log) => {
            let is_header = log.contains("could not open source file") || log.contains("file not found");
            let advice = if is_header { MISSING_HEADER } else { "" };
            format!("it does not compile:\n\n{}{advice}", indented(log))
        }
        Rejection::CannotBeLaunched(reason) => format!("it compiles, but cannot be launched: {reason}"),
        Rejection::Fails { at, right, order, failure } => {
            let at = match order {
                None => at.clone(),
                Some(_) => format!("{at} when the warps of a block run in another order"),
            };
            let mut message = match right {
                0 => format!("it is wrong at the first size, {at}:\n\n"),
                1 => format!("it is right at one size, and wrong at {at}:\n\n"),
                right => format!("it is right at {right} sizes, and wrong at {at}:\n\n"),
            };
            message += &indented(&reasons(failure));
            message += &quoted(failure, text);
            if let Some(advice) = advice(failure, *right).filter(|_| !is_launched) {
                message += &format!("\n{advice}");
            }
            message
        }
        Rejection::HostCode { at, line, reason } => {
            let quoted = line.map_or_else(String::new, |line| format!("\n\n{}", source_line(text, line as usize)));
            format!("its host code is wrong at {at}: {reason}{quoted}")
        }
        Rejection::Launched { written: Written { line, said }, rejection } => {
            format!("{}\n{said}\n\n{}", words(rejection, text, true), source_line(text, *line as usize))
        }
        Rejection::DependsOnOrder { at, index, values: [by_number, other] } => format!(
            "its result depends on the order in which the warps of a block run: at {at}, output[{index}] is {by_number} in one order and \
             {other} in another. Both are within the tolerance, and still a right kernel of this exercise gives the same bits each time. Which \
             threads add to one number, or read what another warp may not have written yet?"
        ),
        Rejection::UsesUnset { at, failure } => format!(
            "it uses a variable before it has a value, which is right by luck: if such a variable holds anything but 0 at first, then at {at}\n\n\
             {}{}\nDoes each variable have its first value where it is declared, is each element of an array set before it is read, and is each \
             index less than the array's length?",
            indented(&reasons(failure)),
            quoted(failure, text)
        ),
        Rejection::FailsInBlock { at, right, block, grid, reason } => {
            let what = match reason {
                InBlock::Stores { outputs: 0, .. } => format!("block {block} stores nothing"),
                InBlock::Stores { outputs, share } => format!("block {block} stores {outputs} outputs, and its share is {share}"),
                InBlock::Again { index, other } => {
                    format!("block {block} stores output[{index}], which block {} stores, too", grid.index_of(*other))
                }
                InBlock::Wrong { index, got, expected } => {
                    format!("block {block} stores {got} in output[{index}], where {} belongs", *expected as f32)
                }
            };
            format!(
                "it is right at {right} smaller sizes, and wrong at {at}, with {} blocks: {what}.\n\nOf so many blocks only some run: the \
                 first, the last, and those next to powers of two. Does a number get too large for its type, or does a limit in the kernel \
                 stop the block?",
                grid.volume()
            )
        }
        Rejection::ReadsSurroundings { register } => format!(
            "it reads {register}, the clock or the place where it runs. A kernel of an exercise computes its outputs from its inputs alone, so that \
             every run gives the same."
        ),
        Rejection::KeepsState { variable } => format!(
            "it changes the variable {variable}, which outlives the launch. A kernel of an exercise keeps nothing for the next launch: use a variable \
             of the thread, or `__shared__` for one of the block."
        ),
        Rejection::NotByHand { line } => format!(
            "the loop of line {line} has no `#pragma unroll 1` before it:\n\n{}\nThe compiler may unroll it for you, and this exercise is about \
             doing it by hand. Write the pragma directly before each loop whose number of turns depends on a size. A loop over an array in \
             registers needs none, if the compiler knows its number of turns and unrolls all of it.",
            source_line(text, *line)
        ),
        Rejection::Misses { right, target, counted, arithmetic, warnings } => {
            format!(
                "it is right at all {right} sizes, but it has {}; {}.\n\n{}{}",
                target.measure.words(*counted, *arithmetic),
                wanted(target),
                paragraphs(&target.says),
                remark("Another remark", warnings, text)
            )
        }
    }
}

/// Says what the check found about a kernel that passes.
pub fn passed(manifest: &Manifest, passed: &Passed, text: Text<'_>) -> String {
    let mut message = format!("passed: right at all {} sizes", passed.sizes);
    if !passed.counted.is_empty() {
        message += ", no races found in shared or global memory";
    }
    // In other exercises the targets only keep out what misses the point.
    let shown = if manifest.kind == Kind::Optimize { &manifest.targets[..] } else { &[] };
    for (target, counted) in shown.iter().zip(&passed.counted) {
        message += &format!("\n        {}; {}", target.measure.words(*counted, passed.arithmetic), wanted(target));
    }
    message += &remark("It is right, and the check has a remark", &passed.warnings, text);
    if !passed.remarks.is_empty() {
        message += &format!("\n\nThe compiler has doubts:\n\n{}", indented(&passed.remarks).trim_end());
    }
    message += &format!("\n\n{}", paragraphs(&manifest.lesson));
    message.replace(text.path, text.name)
}

/// Returns the line numbers (from 1) in the learner's file that a rejection concerns.
pub fn lines(rejection: &Rejection, text: Text<'_>) -> Vec<u32> {
    match rejection {
        Rejection::DoesNotCompile(log) => {
            let number = |line: &str| line.strip_prefix(text.path)?.strip_prefix('(')?.split_once(')')?.0.parse().ok();
            let mut numbers: Vec<u32> = log.lines().filter_map(number).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        }
        Rejection::Fails { failure, .. } | Rejection::UsesUnset { failure, .. } => named(failure, text),
        Rejection::NotByHand { line } => vec![*line as u32],
        Rejection::HostCode { line, .. } => line.iter().copied().collect(),
        Rejection::Launched { written, .. } => vec![written.line],
        Rejection::CannotBeLaunched(_)
        | Rejection::DependsOnOrder { .. }
        | Rejection::FailsInBlock { .. }
        | Rejection::ReadsSurroundings { .. }
        | Rejection::KeepsState { .. }
        | Rejection::Misses { .. } => Vec::new(),
    }
}

/// Lists findings that leave the outputs right, after an introduction; nothing if there are none.
fn remark(introduction: &str, warnings: &[Finding], text: Text<'_>) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let warnings = Failure::Defects(warnings.to_vec());
    let list = indented(&reasons(&warnings)) + &quoted(&warnings, text);
    format!("\n\n{introduction}:\n\n{}", list.trim_end())
}

/// Lists the targets of an exercise, one in a line. A count of all work is for one size.
pub fn targets<P: Problem>(manifest: &Manifest) -> Vec<String> {
    let size = manifest.cases.as_ref().and_then(|cases| P::of_case(&cases.counted, 0).ok()).map(|problem| problem.describe());
    let at = size.map_or_else(String::new, |size| format!(", at {}", size.split(", seed").next().unwrap_or_default()));
    let line = |Target { measure, at_most, .. }: &Target| {
        let most = if *at_most == 0.0 { "no".to_owned() } else { format!("at most {}", measure.number(*at_most)) };
        let at = if *at_most > 0.0 && measure.is_total() { &*at } else { "" };
        format!("{most} {}{at}", measure.unit(P::ARITHMETIC))
    };
    manifest.targets.iter().map(line).collect()
}

fn wanted(target: &Target) -> String {
    match target.at_most {
        0.0 => "the target is none".to_owned(),
        most if most.fract() == 0.0 => format!("the target is at most {most:.0}"),
        most => format!("the target is at most {}", significant(most)),
    }
}

/// Number of findings to show. Fixing the first often fixes the others.
const FINDINGS: usize = 3;

fn reasons(failure: &Failure) -> String {
    match failure {
        Failure::Defects(findings) => worst(findings),
        Failure::Both(mismatch, findings) => format!("{mismatch}\n\n{}", worst(findings)),
        other => other.to_string(),
    }
}

/// Returns the worst findings first, one for each pair of lines. A compiler that unrolls a loop makes many instructions from one
/// line.
fn worst(findings: &[Finding]) -> String {
    let mut chosen: Vec<&Finding> = findings.iter().collect();
    chosen.sort_by_key(|finding| Reverse(finding.kind.severity()));
    let mut seen = Vec::new();
    chosen.retain(|finding| {
        let mut lines: Vec<_> = locations(finding).into_iter().map(|location| location.source.clone()).collect();
        // Either side of a race may come first.
        lines.sort();
        let key = (discriminant(&finding.kind), lines);
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
    let mut reasons: Vec<String> = chosen.iter().take(FINDINGS).map(ToString::to_string).collect();
    if chosen.len() > FINDINGS {
        reasons.push(format!("and {} more", chosen.len() - FINDINGS));
    }
    reasons.join("\n")
}

fn quoted(failure: &Failure, text: Text<'_>) -> String {
    let lines: String = named(failure, text).into_iter().map(|number| source_line(text, number as usize)).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Returns the line numbers (from 1) that the findings name in the learner's file.
fn named(failure: &Failure, text: Text<'_>) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        failure.findings().iter().flat_map(locations).filter_map(|location| line(location, text.path)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Returns a line of the learner's file with its number; nothing if there is none.
fn source_line(text: Text<'_>, number: usize) -> String {
    text.text.lines().nth(number - 1).map_or_else(String::new, |line| format!("{number:>5} | {line}\n"))
}

/// Returns the locations of a finding: one, or both sides of a race.
fn locations(finding: &Finding) -> Vec<&Location> {
    let other = match &finding.kind {
        FindingKind::Race { other, .. } => Some(&other.location),
        FindingKind::UnfinishedCopy { copy, .. } => Some(copy.as_ref()),
        FindingKind::DifferentBarriers { other, .. } => Some(other.as_ref()),
        FindingKind::Wgmma(misuse) => misuse.other_location(),
        _ => None,
    };
    [&finding.location].into_iter().chain(other).collect()
}

fn line(location: &Location, path: &str) -> Option<u32> {
    location.source.as_ref().filter(|source| source.file == path && source.line > 0).map(|source| source.line)
}

/// Advises where to look. Findings are advice enough, except for the one that beginners see most.
fn advice(failure: &Failure, right: usize) -> Option<String> {
    match failure {
        Failure::Mismatch(mismatch) | Failure::Unstable(mismatch) | Failure::Both(mismatch, _) => of_outputs(mismatch, right),
        Failure::InputsChanged => Some("Does it store where it should load?".to_owned()),
        Failure::Fault(fault) => of_fault(fault),
        Failure::Defects(_) => None,
    }
}

fn of_fault(fault: &Fault) -> Option<String> {
    if fault.message.contains("warp instructions") {
        let advice = "That is far more than the whole result needs. Either a loop does not end (it may wait for another thread), or a thread computes what all of them \
                      should share.";
        return Some(advice.to_owned());
    }
    let Some(Finding { kind: FindingKind::OutOfBounds { access, nearest }, block, thread, .. }) = &fault.finding else {
        return None;
    };
    Some(if access.space == Space::Shared {
        "Either an index is past the end of the array in shared memory, or the array is too small: what is the largest index that this line \
         can have?"
            .to_owned()
    } else if access.space == Space::Local {
        "An index is past the end of an array that each thread has for itself: what is the largest index that this line can have?"
            .to_owned()
    } else if nearest.as_ref().is_some_and(|nearest| nearest.offset < 0) {
        "The index is negative: is something subtracted from a smaller number, or does a number get too large for its type?"
            .to_owned()
    } else if [block, thread].iter().all(|place| **place == Dim3::new(0, 0, 0)) {
        "The first thread has an output, so a guard for the threads of the last block does not help here. If a thread has several outputs, does each have a \
         guard? What is the largest index that this line can have, and how long is the array?"
            .to_owned()
    } else {
        "The grid consists of whole blocks, so the last block has threads without an output, and the last tile reaches past the input. Such \
         threads must not load or store: they need a guard, such as `if (i < outputs)`. If there is one, look at the index: is a row as long \
         as it assumes?"
            .to_owned()
    })
}

/// Says what the indices of the wrong outputs have in common.
fn of_outputs(mismatch: &Mismatch, right: usize) -> Option<String> {
    let Mismatch { total, wrong, unwritten, worst, pattern, shift, breach, looks_like, .. } = mismatch;
    let advice = if let Some(mistake) = looks_like {
        return Some(format!("These are exactly the outputs of a kernel {mistake}"));
    } else if breach.is_some() {
        "A guard is missing where the result is stored: the last block has threads without an output."
    } else if unwritten == wrong && wrong == total {
        "Nothing is stored at all: is the store there, and is its index the output of this thread?"
    } else if unwritten == wrong {
        "These outputs are stored by nobody: which thread should store them, and what stops it, the guard or its index?"
    } else if worst.is_some_and(|worst| worst.got.is_nan() && worst.expected.value.is_finite()) && *unwritten == 0 {
        "NaN is what 0/0 and the root of a negative number give, and what outputs and shared memory hold before anything is stored there: which of these is it here?"
    } else if let Some(array) = mismatch.wrong_array() {
        return Some(format!(
            "All of {array} is wrong, and nothing else: look at how these values are computed, and where they are stored."
        ));
    } else if let Some(bits) = worst.and_then(narrow_counter) {
        return Some(format!(
            "Whole multiples of {} are missing: does this number get too large for a type of {bits} bits?",
            1_u32 << bits
        ));
    } else if shift.is_some() {
        "The sums are right, but stored at wrong indices, or they start at wrong indices: look at how the indices are computed."
    } else {
        match pattern {
            Some(Pattern::All) if right > 0 => {
                "Every output is wrong here, and none was at the sizes before: what is different about this size? A remainder, a second tile?"
            }
            Some(Pattern::All) if worst.is_some_and(|worst| worst.got == 0.0) => {
                "Every output is wrong, and this one is 0, as if nothing had been added: does the loop run at all at this size?"
            }
            Some(Pattern::All) => "Every output is wrong, also the first one: work it out by hand.",
            Some(Pattern::Periodic { period, first, last }) => {
                let what = if first == last { format!("index {first}") } else { format!("indices {first} to {last}") };
                return Some(format!("In every block of {period}, the same outputs are wrong: what is different about {what}?"));
            }
            Some(Pattern::Only(index)) if *index > 0 && index + 1 < *total => {
                "One output is wrong, and its neighbors are right: what is different about its index or its inputs?"
            }
            Some(Pattern::From { .. } | Pattern::UpTo(_) | Pattern::Only(_)) if 2 * wrong > *total => {
                "Only a few outputs at one end are right: what is different in the first or the last block or tile?"
            }
            Some(Pattern::From { .. } | Pattern::UpTo(_) | Pattern::Only(_)) => {
                "Most outputs are right, and those at one end are not: what is different in the first or the last block or tile?"
            }
            Some(Pattern::Run(..)) | None => return None,
        }
    };
    Some(advice.to_owned())
}

/// Returns how many bits a counter seems to have.
///
/// It is too narrow for an exact output.
fn narrow_counter(Worst { got, expected, .. }: Worst) -> Option<u32> {
    let missing = expected.value - f64::from(got);
    let is_exact = expected.tolerance < 0.5 && expected.value.fract() == 0.0;
    [16_u32, 8].into_iter().find(|bits| {
        let range = f64::from(1_u32 << bits);
        is_exact && missing > 0.0 && missing % range == 0.0 && (0.0..range).contains(&f64::from(got))
    })
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}
