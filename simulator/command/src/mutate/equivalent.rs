//! The file of mutants that no test can notice.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use driver::mutants::Listed;
use serde::Deserialize;

use crate::ending::{At, Result, bail};

/// The names of mutants that behave like the kernel without the mistake.
#[derive(Debug, Default)]
pub struct Equivalents(BTreeSet<String>);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    equivalent: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    mutant: String,
    reason: String,
}

impl Equivalents {
    /// Reads the file. It may not name a mutant twice, and gives each a reason.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&fs::read_to_string(path).at(path)?).at(path)
    }

    fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text)?;
        let mut mutants = BTreeSet::new();
        for Entry { mutant, reason } in file.equivalent {
            if reason.trim().is_empty() {
                bail!("{mutant} has no reason; say why no test can notice it");
            }
            if let Some(twice) = mutants.replace(mutant) {
                bail!("{twice} is listed twice");
            }
        }
        Ok(Self(mutants))
    }

    /// Returns true if a mutant is among them.
    pub fn contains(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    /// Returns the entries that are no longer mutants of a launched function. The function's code has changed since.
    pub fn stale(&self, mutants: &[Listed]) -> Vec<&str> {
        fn function(id: &str) -> &str {
            id.split('@').next().unwrap_or_default()
        }
        let ids: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.id.as_str()).collect();
        let functions: BTreeSet<&str> = ids.iter().copied().map(function).collect();
        self.0.iter().map(String::as_str).filter(|id| functions.contains(function(id)) && !ids.contains(id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_needs_a_reason_and_may_not_be_there_twice() {
        let parsed = Equivalents::parse("[[equivalent]]\nmutant = 'k@1/a/1'\nreason = 'one block'\n").unwrap();
        assert!(parsed.contains("k@1/a/1") && !parsed.contains("k@1/a/2"));
        Equivalents::parse(include_str!("../../examples/equivalent.toml")).expect("the example in the book is valid");
        let entry = "[[equivalent]]\nmutant = 'k@1/a/1'\nreason = 'one block'\n";
        for (text, word) in [
            ("[[equivalent]]\nmutant = 'k@1/a/1'\nreason = ' '\n", "has no reason"),
            (&entry.repeat(2), "is listed twice"),
            ("[[equivalent]]\nmutant = 'k@1/a/1'\n", "missing field"),
            ("[[equivalents]]\n", "unknown field"),
        ] {
            let message = Equivalents::parse(text).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
