//! What a check has to say: what is wrong, where in the learner's own file, and where to look.

use std::cmp::Reverse;
use std::fmt::Write;
use std::mem::discriminant;

use simt::{Finding, FindingKind, Location, Space};

use super::Exercise;
use super::check::{Passed, Text, Trouble};
use super::manifest::Target;
use common::report::{Failure, Fault};
use common::units::significant;
use common::verify::{Mismatch, Pattern};

/// What to say to a kernel that does not pass.
pub fn trouble(trouble: &Trouble, text: Text<'_>) -> String {
    match trouble {
        Trouble::DoesNotCompile(log) => format!("it does not compile:\n\n{}", indented(log)).replace(text.path, text.name),
        Trouble::CannotBeLaunched(reason) => format!("it compiles, and cannot be launched: {reason}"),
        Trouble::Fails { at, right, failure } => {
            let mut said = match right {
                0 => format!("it is wrong at the first size, {at}:\n\n"),
                1 => format!("it is right at one size, and wrong at {at}:\n\n"),
                right => format!("it is right at {right} sizes, and wrong at {at}:\n\n"),
            };
            said += &indented(&told(failure));
            said += &quoted(failure, text);
            if let Some(advice) = advice(failure, *right) {
                // Writing to a string cannot fail.
                let _ = write!(said, "\n{advice}");
            }
            // The compiler knows the whole path, and the learner where they are.
            said.replace(text.path, text.name)
        }
        Trouble::Misses { right, target, counted, arithmetic } => {
            format!(
                "it is right at all {right} sizes, but it has {}; {}.\n\n{}",
                target.measure.words(*counted, *arithmetic),
                wanted(target),
                target.says.trim()
            )
        }
    }
}

/// What to say to a kernel that passes.
pub fn passed(exercise: &Exercise, passed: &Passed) -> String {
    let mut said = format!("passed: right at all {} sizes, without races or accesses out of bounds", passed.sizes);
    for (target, counted) in exercise.manifest.targets.iter().zip(&passed.counted) {
        // Writing to a string cannot fail.
        let _ = write!(said, "\n        {}; {}", target.measure.words(*counted, passed.arithmetic), wanted(target));
    }
    let _ = write!(said, "\n\n{}", exercise.manifest.lesson.trim());
    said
}

/// What a target wants.
fn wanted(target: &Target) -> String {
    let number = |value: f64| if value.fract() == 0.0 { format!("{value:.0}") } else { significant(value) };
    match (target.at_most, target.at_least) {
        (Some(most), Some(least)) => format!("{} to {} are wanted", number(least), number(most)),
        (Some(0.0), None) => "none is wanted".to_owned(),
        (Some(most), None) => format!("{} at most are wanted", number(most)),
        (None, Some(least)) => format!("{} at least are wanted", number(least)),
        (None, None) => "any number will do".to_owned(),
    }
}

/// How many findings are told; who mends the first often mends the others.
const FINDINGS: usize = 3;

/// How a kernel is wrong. Of the checks' findings the worst come first, and one for each pair of lines: a compiler that unrolls a loop makes
/// many instructions of one line.
fn told(failure: &Failure) -> String {
    let Failure::Defects(findings) = failure else { return failure.to_string() };
    let mut chosen: Vec<&Finding> = findings.iter().collect();
    chosen.sort_by_key(|finding| Reverse(finding.kind.severity()));
    let mut seen = Vec::new();
    chosen.retain(|finding| {
        let mut lines: Vec<_> = locations(finding).into_iter().map(|location| location.source.clone()).collect();
        // Of the two sides of a race either may come first.
        lines.sort();
        let place = (discriminant(&finding.kind), lines);
        let is_new = !seen.contains(&place);
        seen.push(place);
        is_new
    });
    let mut told: Vec<String> = chosen.iter().take(FINDINGS).map(ToString::to_string).collect();
    if chosen.len() > FINDINGS {
        told.push(format!("and {} more", chosen.len() - FINDINGS));
    }
    told.join("\n")
}

/// The lines of the learner's file that findings speak of, as they stand there.
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

/// Where a finding has been: one place, or both sides of a race.
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

/// Where to look. What findings say is advice enough, except for the one that beginners make most.
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
        "An index is larger than the array in shared memory has places, or the array is too small: what is the largest index that this line can \
         have?"
            .to_owned()
    } else {
        "The grid has whole blocks, so the last one has threads for which there is no output, and the last tile has places for which there is \
         no input: who must not load or store needs a guard, such as `if (i < outputs)`. If there is one, look at the index: is a row as long \
         as it says?"
            .to_owned()
    })
}

/// What the places of wrong outputs look like.
fn of_outputs(mismatch: &Mismatch, right: usize) -> Option<String> {
    let Mismatch { total, wrong, unwritten, pattern, shift, breach, .. } = mismatch;
    if breach.is_some() {
        return Some(
            "A guard is missing where the result is stored: the last block has threads for which there is no output.".to_owned(),
        );
    }
    if unwritten == wrong {
        return Some(if wrong == total {
            "Nothing is stored at all: is the store there, and does its index name the output of this thread?".to_owned()
        } else {
            "These outputs are stored by nobody: which thread should, and what keeps it from it, the guard or its index?".to_owned()
        });
    }
    if shift.is_some() {
        return Some(
            "The sums are right and stand in wrong places, or begin in wrong places: look at how indices are made.".to_owned(),
        );
    }
    match pattern {
        Some(Pattern::All) if right > 0 => Some(
            "Every output is wrong here, and none was at the sizes before: what about this size is different? A remainder, a second tile?"
                .to_owned(),
        ),
        Some(Pattern::All) => {
            Some("Every output is wrong, so it is no matter of the edges: work out the first one by hand.".to_owned())
        }
        Some(Pattern::Periodic { period, first, last }) => Some(format!(
            "The same places in every block of {period} are wrong: what is different for {}?",
            if first == last { format!("place {first}") } else { format!("places {first} to {last}") }
        )),
        Some(Pattern::From { .. } | Pattern::UpTo(_) | Pattern::Only(_)) => Some(
            "Most outputs are right, and those at one end are not: what is different in the first or the last block or tile?"
                .to_owned(),
        ),
        Some(Pattern::Run(..)) | None => None,
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}
