//! Defects that are known and not to be reported, listed in a TOML file with the reason for each.
//!
//! ```toml
//! [[suppress]]
//! id = "race-shared-3f9a12bc"
//! reason = "every thread stores the same value"
//!
//! [[suppress]]
//! kind = "uninitialized-global"
//! kernel = "histogram"
//! file = "kernels/histogram.cu"
//! reason = "the padding is read but never used"
//! ```

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::rules::{RULES, Rule};
use super::{Defect, Place};
use crate::error::Error;

/// An entry of the file. A defect must match everything that it states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suppression {
    /// A defect's [identity](super::Defect::id).
    pub id: Option<String>,
    /// The name of a kind of defect: `race-shared`.
    pub kind: Option<String>,
    /// The name of a kernel, as reports show it.
    pub kernel: Option<String>,
    /// The file, or the end of its path from a folder's name on: `kernels/a.cu` also means `/home/me/project/kernels/a.cu`.
    pub file: Option<String>,
    /// The line in that file, from 1. It moves when the file changes, and the identity does not.
    pub line: Option<u32>,
    /// Why the defect is acceptable.
    pub reason: String,
    /// The file and line of the entry itself: `suppressions.toml:4`.
    #[serde(default)]
    pub at: String,
    /// Defects that it matched.
    #[serde(default)]
    pub matched: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(default)]
    suppress: Vec<Spanned<Entry>>,
}

/// An entry as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: Option<String>,
    kind: Option<String>,
    kernel: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    reason: Option<String>,
}

/// A file of this many bytes is refused: nobody writes so many reasons, and a device such as `/dev/zero` has no end.
const MOST_BYTES: u64 = 1 << 24;

/// Reads a file. Fails with [`Error::File`] if it cannot be read, and [`Error::Suppressions`], with the line, if it is not as it must be.
pub fn read(path: &Path) -> Result<Vec<Suppression>, Error> {
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text)).map_err(Error::at(path))?;
    if text.len() as u64 == MOST_BYTES {
        return Err(Error::Suppressions {
            path: PathBuf::from(path),
            line: 1,
            reason: format!("it has {MOST_BYTES} bytes or more"),
        });
    }
    parse(path, &text)
}

fn parse(path: &Path, text: &str) -> Result<Vec<Suppression>, Error> {
    let line_at = |offset: usize| 1 + text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count();
    let wrong = |offset: usize, reason: String| Error::Suppressions { path: PathBuf::from(path), line: line_at(offset), reason };
    let contents: Contents = toml::from_str(text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message().replace('\n', "; ")))?;
    let checked = |entry: Spanned<Entry>| {
        let start = entry.span().start;
        entry.into_inner().checked(format!("{}:{}", path.display(), line_at(start))).map_err(|reason| wrong(start, reason))
    };
    contents.suppress.into_iter().map(checked).collect()
}

impl Entry {
    fn checked(self, at: String) -> Result<Suppression, String> {
        let Self { id, kind, kernel, file, line, reason } = self;
        let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) else {
            return Err("this entry needs a `reason`: why is the defect acceptable?".to_owned());
        };
        if [&id, &kind, &kernel, &file].iter().all(|part| part.is_none()) {
            return Err(
                "this entry would suppress everything: give the defect's `id`, or its `kind`, `kernel` or `file`".to_owned()
            );
        }
        if let Some(kind) = kind.as_ref().filter(|kind| Rule::named(kind).is_none()) {
            let known: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
            return Err(format!("there is no kind of defect `{kind}`; choose one of {}", known.join(", ")));
        }
        let is_id = |id: &String| {
            id.rsplit_once('-').is_some_and(|(kind, hash)| {
                Rule::named(kind).is_some() && hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        };
        if let Some(id) = id.as_ref().filter(|id| !is_id(id)) {
            return Err(format!("`{id}` is no id of a defect, such as `race-shared-3f9a12bc`"));
        }
        if line.is_some() && file.is_none() {
            return Err("`line` needs a `file`".to_owned());
        }
        Ok(Suppression { id, kind, kernel, file, line, reason, at, matched: 0 })
    }
}

impl Suppression {
    /// Returns true if this entry describes a defect.
    pub fn matches(&self, defect: &Defect) -> bool {
        let says = |stated: &Option<String>, is: &str| stated.as_deref().is_none_or(|stated| stated == is);
        let is_there = |place: &Place| {
            self.file.as_deref().is_none_or(|file| Path::new(&place.file).ends_with(file))
                && self.line.is_none_or(|line| line == place.line)
        };
        says(&self.id, &defect.id)
            && says(&self.kind, &defect.kind)
            && says(&self.kernel, &defect.kernel)
            && (self.file.is_none() || defect.places.first().is_some_and(is_there))
    }
}

#[cfg(test)]
mod tests {
    use simt::Severity;

    use super::*;

    fn parsed(text: &str) -> Result<Vec<Suppression>, String> {
        parse(Path::new("s.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn entries_know_their_lines() {
        let text = "# known\n\n[[suppress]]\nid = \"race-shared-3f9a12bc\"\nreason = \"r\"\n\n[[suppress]]\nkind = \"trap\"\nreason = \"s\"\n";
        let entries = parsed(text).unwrap();
        assert_eq!(entries.iter().map(|entry| entry.at.as_str()).collect::<Vec<_>>(), ["s.toml:3", "s.toml:7"]);
        assert_eq!(parsed(""), Ok(Vec::new()));
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_line() {
        for (text, message) in [
            ("[[suppress]]\nid = \"trap-00000000\"\n", "s.toml:1: this entry needs a `reason`"),
            ("[[suppress]]\nid = \"trap-00000000\"\nreason = \" \"\n", "s.toml:1: this entry needs a `reason`"),
            ("\n[[suppress]]\nreason = \"r\"\n", "s.toml:2: this entry would suppress everything"),
            ("[[suppress]]\nkind = \"raze\"\nreason = \"r\"\n", "s.toml:1: there is no kind of defect `raze`"),
            ("[[suppress]]\nid = \"3f9a12bc\"\nreason = \"r\"\n", "s.toml:1: `3f9a12bc` is no id"),
            ("[[suppress]]\nid = \"trap-3f9a12bz\"\nreason = \"r\"\n", "s.toml:1: `trap-3f9a12bz` is no id"),
            ("[[suppress]]\nkernel = \"k\"\nline = 3\nreason = \"r\"\n", "s.toml:1: `line` needs a `file`"),
            ("[[suppress]]\nkernel = \"k\"\nreasons = \"r\"\n", "s.toml:3: unknown field `reasons`"),
            ("[[suppress]]\nkernel = 3\nreason = \"r\"\n", "s.toml:2: invalid type"),
            ("[[suppress]\n", "s.toml:1: "),
            ("[[suppressed]]\nid = \"trap-00000000\"\nreason = \"r\"\n", "s.toml:1: unknown field `suppressed`"),
        ] {
            let refused = parsed(text).unwrap_err();
            assert!(refused.starts_with(message), "{text}: {refused}");
        }
    }

    #[test]
    fn a_defect_must_match_everything_that_an_entry_states() {
        let place = Place { what: String::new(), file: "project/kernels/a.cu".to_owned(), line: 7, text: None };
        let defect = |places| Defect {
            id: "trap-00000001".to_owned(),
            kind: "trap".to_owned(),
            places,
            suppressed: None,
            kernel: "k".to_owned(),
            module: 0,
            times: 1,
            severity: Severity::Error,
            fatal: true,
            message: String::new(),
            finding: None,
        };
        let at_place = defect(vec![place]);
        let matches = |entry: &str| {
            let entry = parsed(&format!("[[suppress]]\nreason = \"r\"\n{entry}\n")).unwrap().remove(0);
            entry.matches(&at_place)
        };
        for entry in [
            "id = \"trap-00000001\"",
            "kind = \"trap\"",
            "kernel = \"k\"",
            "file = \"kernels/a.cu\"",
            "file = \"a.cu\"\nline = 7",
            "kind = \"trap\"\nkernel = \"k\"\nfile = \"project/kernels/a.cu\"",
        ] {
            assert!(matches(entry), "{entry}");
        }
        for entry in [
            "id = \"trap-00000002\"",
            "kind = \"race-shared\"",
            "kernel = \"kk\"",
            "file = \"ls/a.cu\"",
            "file = \"a.cu\"\nline = 8",
            "kind = \"trap\"\nkernel = \"other\"",
        ] {
            assert!(!matches(entry), "{entry}");
        }
        let anywhere = Suppression { file: Some("a.cu".to_owned()), ..Suppression::default() };
        assert!(!anywhere.matches(&defect(Vec::new())), "a defect without a place");
    }
}
