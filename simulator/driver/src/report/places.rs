//! Where a defect is in the source, and the identity that it has because of that.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use simt::{Finding, FindingKind, Location, SourceLine, WgmmaMisuse};

use super::rules::Rule;
use super::sources::Sources;

/// A line of the source that a defect is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its part in the defect, for people: `the other access`.
    pub what: String,
    /// The file: relative to the checkout (`GITHUB_WORKSPACE`) or the working directory, if it is in one of them.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// The text of the line, if the file was there.
    pub text: Option<String>,
}

/// Lists the lines of CUDA C that a finding is about. The first is the one to look at. Without `-lineinfo`, there are none.
pub fn places(finding: &Finding, sources: &mut Sources) -> Vec<Place> {
    let mut places = Vec::new();
    let mut add = |what: &str, line: &SourceLine| {
        let text = sources.text(&line.file, line.line).map(|text| text.line.to_owned());
        places.push(Place { what: what.to_owned(), file: sources.name(&line.file), line: line.line, text });
    };
    let locations = [("the defect", &finding.location)].into_iter().chain(others(&finding.kind));
    for (what, Location { source, inlined_at, .. }) in locations {
        // Code of an inlined function is shown where the kernel calls it: the function is often in a header of the toolkit.
        if let Some(caller) = inlined_at {
            add(what, caller);
        }
        if let Some(source) = source {
            let what = if inlined_at.is_some() { "the line of the inlined function" } else { what };
            add(what, source);
        }
    }
    places
}

/// Lists the other instructions of a finding, each with its role.
fn others(kind: &FindingKind) -> Vec<(&'static str, &Location)> {
    match kind {
        FindingKind::Race { other, .. } => vec![("the other access", &other.location)],
        FindingKind::MissingProxyFence { writer, .. } => vec![("the write", &writer.location)],
        FindingKind::OverwritesStore { store, .. } => vec![("the copy", store)],
        FindingKind::UnfinishedCopy { copy, .. } => vec![("the copy", copy)],
        FindingKind::StaleWait { wait, other, .. } => vec![("the wait", wait), ("the other access", other)],
        FindingKind::DifferentBarriers { other, .. } => vec![("the other barrier", other)],
        FindingKind::MbarrierDeadlock { stale: Some(wait), .. } => vec![("a wait that returned at once", wait)],
        FindingKind::ClusterDeadlock { waiting, .. } => waiting.iter().map(|wait| ("a block waits", &wait.location)).collect(),
        FindingKind::Wgmma(WgmmaMisuse::RegisterInUse { product, .. }) => vec![("the product", product)],
        FindingKind::Wgmma(WgmmaMisuse::SharedInUse { product, .. }) => vec![("the product", &product.location)],
        FindingKind::Wgmma(WgmmaMisuse::Unfenced { access: Some(access), .. }) => vec![("the access", access)],
        FindingKind::Wgmma(WgmmaMisuse::Disagreement { other: Some(other) }) => vec![("the other product", &other.location)],
        _ => Vec::new(),
    }
}

/// Returns the identity of a defect, such as `race-shared-3f9a12bc`: the name of its rule, and a fingerprint of the kernel's name and of
/// the lines of CUDA C that it is about.
///
/// A line counts with the name of its file and with what it says, not with its number, so that the identity stays when other lines are
/// added above it or when the project is in another folder. If the file is not there, its number counts, and the second of two modules with
/// a defect there has [another identity](identity_in). Without `-lineinfo`, the
/// instruction of PTX and its line count, so that any change of the kernel changes the identity. A race is the same from both sides.
pub fn identity(rule: &Rule, kernel: &str, finding: Option<&Finding>, sources: &mut Sources) -> String {
    let mut fingerprints = Vec::new();
    if let Some(finding) = finding {
        fingerprints.push(fingerprint(&finding.location, sources));
        if let FindingKind::Race { other, .. } = &finding.kind {
            fingerprints.push(fingerprint(&other.location, sources));
        }
    }
    fingerprints.sort_unstable();
    // No part contains a NUL, so that two lists of parts never look like one.
    let parts = [rule.name, kernel].into_iter().chain(fingerprints.iter().map(String::as_str));
    identity_of(rule, &parts.flat_map(|part| [part, "\0"]).collect::<String>())
}

/// Returns the identity of a defect that a text describes: for one that is in no kernel, the names of the work.
pub fn identity_of(rule: &Rule, text: &str) -> String {
    fingerprinted(rule.name, text)
}

fn fingerprinted(name: &str, text: &str) -> String {
    let hash = Sha256::digest(text);
    format!("{name}-{:08x}", u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]))
}

/// Returns another identity, for a defect whose own one is taken.
///
/// A defect of another module has it.
pub fn identity_in(id: &str, module: u64) -> String {
    let (name, _) = id.rsplit_once('-').unwrap_or((id, ""));
    fingerprinted(name, &format!("{id}\0{module:016x}"))
}

/// Returns the part of a location that stays when other lines change.
fn fingerprint(location: &Location, sources: &mut Sources) -> String {
    let Location { ptx_line, instruction, source, inlined_at } = location;
    let lines: Vec<String> = source.iter().chain(inlined_at).map(|line| fingerprint_of_line(line, sources)).collect();
    if lines.is_empty() { format!("{ptx_line}\u{1}{instruction}") } else { lines.join("\u{1}") }
}

fn fingerprint_of_line(SourceLine { file, line }: &SourceLine, sources: &mut Sources) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned();
    match sources.text(file, *line) {
        Some(text) => format!("{name}\u{2}{}\u{2}{}", text.line.split_whitespace().collect::<Vec<_>>().join(" "), text.earlier),
        None => format!("{name}\u{2}{line}"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ptx::finding::{Access, AccessOp, OtherAccess};
    use simt::{Dim3, Space};

    use super::*;
    use crate::tests::finding;

    fn race(line: u32, other_line: u32) -> Finding {
        let access = Access { space: Space::Shared, op: AccessOp::Store, address: 0, bytes: 4 };
        let other = OtherAccess {
            op: AccessOp::Load,
            block: Dim3::new(0, 0, 0),
            thread: Dim3::new(1, 0, 0),
            location: finding(other_line).location,
        };
        let kind = FindingKind::Race {
            access,
            place: None,
            other: Box::new(other),
            same_block: true,
            same_warp: false,
            volatile: false,
            missing: None,
        };
        Finding { kind, ..finding(line) }
    }

    fn identified(finding: &Finding, directory: &Path) -> String {
        identity(Rule::of(Some(&finding.kind)), "k", Some(finding), &mut Sources::new(directory.to_owned(), None))
    }

    #[test]
    fn an_identity_stays_when_lines_are_added_above_and_changes_with_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kernels/a.cu");
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        let id = |text: &str, finding: &Finding| {
            std::fs::write(&file, text).unwrap();
            identified(finding, folder.path())
        };
        let before = id("a\nb\nt[i] = x;\nc\ny = t[j];\n", &race(3, 5));
        assert!(before.starts_with("race-shared-") && before.len() == "race-shared-".len() + 8, "{before}");
        assert_eq!(id("// new\na\nb\n  t[i]  =  x;\nc\ny = t[j];\n", &race(4, 6)), before, "a line above, and other white space");
        assert_eq!(id("a\nb\nt[i] = x;\nc\ny = t[j];\n", &race(5, 3)), before, "seen from the other side");
        assert_ne!(id("a\nb\nt[i] = x + 1;\nc\ny = t[j];\n", &race(3, 5)), before, "another line");
        assert_ne!(id("a\nt[i] = x;\nt[i] = x;\nc\ny = t[j];\n", &race(3, 5)), before, "the second of two lines that are the same");
        assert_ne!(id("a\nb\nt[i] = x;\nc\ny = t[j];\n", &finding(3)), before, "another kind of defect");
    }

    #[test]
    fn without_the_source_the_number_of_the_line_counts_and_without_lines_the_instruction() {
        let nowhere = Path::new("/nowhere");
        assert_eq!(identified(&finding(3), nowhere), identified(&finding(3), nowhere));
        assert_ne!(identified(&finding(3), nowhere), identified(&finding(4), nowhere));
        let without_lines = |line: u32| {
            let mut finding = finding(line);
            finding.location.source = None;
            identified(&finding, nowhere)
        };
        assert_ne!(without_lines(3), without_lines(4));
    }

    #[test]
    fn a_race_has_the_places_of_both_sides() {
        let mut sources = Sources::new("/nowhere".into(), None);
        let mut race = race(3, 5);
        race.location.inlined_at = Some(SourceLine { file: "kernels/b.cu".to_owned(), line: 9 });
        let places = places(&race, &mut sources);
        let shown: Vec<_> = places.iter().map(|place| (place.what.as_str(), place.file.as_str(), place.line)).collect();
        let inlined = ("the line of the inlined function", "kernels/a.cu", 3);
        assert_eq!(shown, [("the defect", "kernels/b.cu", 9), inlined, ("the other access", "kernels/a.cu", 5)]);
    }
}
