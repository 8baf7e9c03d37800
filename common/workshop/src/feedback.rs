//! What to say about a checked kernel: what is wrong, where in the learner's own file, and where to look.

use std::cmp::Reverse;
use std::fmt::Write;
use std::mem::discriminant;

use common::report::{Failure, Fault};
use common::units::significant;
use oracles::{Mismatch, Pattern};
use simt::{Finding, FindingKind, Location, Space};

use crate::check::{Passed, Rejection, Text};
use crate::exercise::Exercise;
use crate::manifest::Target;

/// What to say about a kernel that does not pass.
pub fn rejected(rejection: &Rejection, text: Text<'_>) -> String {
    let message = match rejection {
        Rejection::DoesNotCompile(log) => format!("it does not compile:\n\n{}", indented(log)),
        Rejection::CannotBeLaunched(reason) => format!("it compiles, but cannot be launched: {reason}"),
        Rejection::Fails { at, right, failure } => {
            let mut message = match right {
                0 => format!("it is wrong at the first size, {at}:\n\n"),
                1 => format!("it is right at one size, and wrong at {at}:\n\n"),
                right => format!("it is right at {right} sizes, and wrong at {at}:\n\n"),
            };
            message += &indented(&reasons(failure));
            message += &quoted(failure, text);
            if let Some(advice) = advice(failure, *right) {
                message += &format!("\n{advice}");
            }
            message
        }
        Rejection::Misses { right, target, counted, arithmetic } => {
            format!(
                "it is right at all {right} sizes, but it has {}; {}.\n\n{}",
                target.measure.words(*counted, *arithmetic),
                wanted(target),
                target.says.trim()
            )
        }
    };
    // The compiler knows the full path. The learner knows where they are.
    message.replace(text.path, text.name)
}

/// What to say about a kernel that passes.
pub fn passed(exercise: &Exercise, passed: &Passed) -> String {
    let mut message = format!("passed: right at all {} sizes, without races or accesses out of bounds", passed.sizes);
    for (target, counted) in exercise.manifest.targets.iter().zip(&passed.counted) {
        message += &format!("\n        {}; {}", target.measure.words(*counted, passed.arithmetic), wanted(target));
    }
    message + &format!("\n\n{}", exercise.manifest.lesson.trim())
}

/// The bounds of a target.
fn wanted(target: &Target) -> String {
    let number = |value: f64| if value.fract() == 0.0 { format!("{value:.0}") } else { significant(value) };
    match (target.at_most, target.at_least) {
        (Some(most), Some(least)) => format!("the target is {} to {}", number(least), number(most)),
        (Some(0.0), None) => "the target is none".to_owned(),
        (Some(most), None) => format!("the target is at most {}", number(most)),
        (None, Some(least)) => format!("the target is at least {}", number(least)),
        (None, None) => "any number will do".to_owned(),
    }
}

/// How many findings to show. Fixing the first often fixes the others.
const FINDINGS: usize = 3;

/// How a kernel is wrong. The worst findings come first, and only one for each pair of lines: a compiler that unrolls a loop makes many
/// instructions from one line.
fn reasons(failure: &Failure) -> String {
    let Failure::Defects(findings) = failure else { return failure.to_string() };
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

/// The lines of the learner's file that the findings name.
fn quoted(failure: &Failure, text: Text<'_>) -> String {
    let mut numbers: Vec<u32> =
        failure.findings().iter().flat_map(locations).filter_map(|location| line(location, text.path)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut lines = String::new();
    for number in numbers {
        if let Some(line) = text.text.lines().nth(number as usize - 1) {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{number:>5} | {line}");
        }
    }
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Where a finding happened: one location, or both sides of a race.
fn locations(finding: &Finding) -> Vec<&Location> {
    let other = match &finding.kind {
        FindingKind::Race { other, .. } => Some(&other.location),
        FindingKind::UnfinishedCopy { copy, .. } => Some(copy.as_ref()),
        FindingKind::DifferentBarriers { other, .. } => Some(other.as_ref()),
        _ => None,
    };
    [&finding.location].into_iter().chain(other).collect()
}

fn line(location: &Location, path: &str) -> Option<u32> {
    location.source.as_ref().filter(|source| source.file == path && source.line > 0).map(|source| source.line)
}

/// Where to look. Findings are advice enough, except for the one that beginners see most.
fn advice(failure: &Failure, right: usize) -> Option<String> {
    match failure {
        Failure::Mismatch(mismatch) | Failure::Unstable(mismatch) => of_outputs(mismatch, right),
        Failure::InputsChanged => Some("Does it store where it should load?".to_owned()),
        Failure::Fault(fault) => of_fault(fault),
        Failure::Defects(_) => None,
    }
}

fn of_fault(fault: &Fault) -> Option<String> {
    let Some(Finding { kind: FindingKind::OutOfBounds { access, .. }, .. }) = &fault.finding else { return None };
    Some(if access.space == Space::Shared {
        "Either an index is past the end of the array in shared memory, or the array is too small: what is the largest index that this line \
         can have?"
            .to_owned()
    } else {
        "The grid consists of whole blocks, so the last block has threads without an output, and the last tile reaches past the input. Such \
         threads must not load or store: they need a guard, such as `if (i < outputs)`. If there is one, look at the index: is a row as long \
         as it assumes?"
            .to_owned()
    })
}

/// What the indices of the wrong outputs have in common.
fn of_outputs(mismatch: &Mismatch, right: usize) -> Option<String> {
    let Mismatch { total, wrong, unwritten, pattern, shift, breach, .. } = mismatch;
    let advice = if breach.is_some() {
        "A guard is missing where the result is stored: the last block has threads without an output."
    } else if unwritten == wrong && wrong == total {
        "Nothing is stored at all: is the store there, and is its index the output of this thread?"
    } else if unwritten == wrong {
        "These outputs are stored by nobody: which thread should store them, and what stops it, the guard or its index?"
    } else if shift.is_some() {
        "The sums are right, but stored at wrong indices, or they start at wrong indices: look at how the indices are computed."
    } else {
        match pattern {
            Some(Pattern::All) if right > 0 => {
                "Every output is wrong here, and none was at the sizes before: what is different about this size? A remainder, a second tile?"
            }
            Some(Pattern::All) => "Every output is wrong, so the edges are not the cause: work out the first output by hand.",
            Some(Pattern::Periodic { period, first, last }) => {
                let what = if first == last { format!("index {first}") } else { format!("indices {first} to {last}") };
                return Some(format!("In every block of {period}, the same outputs are wrong: what is different about {what}?"));
            }
            Some(Pattern::From { .. } | Pattern::UpTo(_) | Pattern::Only(_)) => {
                "Most outputs are right, and those at one end are not: what is different in the first or the last block or tile?"
            }
            Some(Pattern::Run(..)) | None => return None,
        }
    };
    Some(advice.to_owned())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}
