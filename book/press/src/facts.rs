//! Numbers from outside the records, in `book/facts.toml`: what the originals published, what data sheets promise, and what was measured by
//! hand and written down in `kernels/NOTES.md`. Each group of facts names its source.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;

use crate::directive::nearest;
use crate::number::Unit;
use crate::quantity::Quantity;
use crate::root;

/// All facts, and which of them pages have used.
pub struct Facts {
    groups: BTreeMap<String, Group>,
    used: RefCell<BTreeSet<String>>,
    /// The groups that were asked for since the last [`Facts::take_sources`].
    recent: RefCell<BTreeSet<String>>,
}

/// Facts of one source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Their source: an address, a title, or a section of a file of the repository.
    pub source: String,
    /// The facts, as text with a unit: `"2.50 ms"`.
    pub facts: BTreeMap<String, String>,
}

impl Facts {
    /// Reads `book/facts.toml`.
    pub fn read() -> Result<Self> {
        let path = root().join("book/facts.toml");
        Self::parse(&fs::read_to_string(&path).context("book/facts.toml")?).context("book/facts.toml")
    }

    /// Reads facts from text.
    pub fn parse(text: &str) -> Result<Self> {
        let groups: BTreeMap<String, Group> = toml::from_str(text)?;
        for (group, Group { source, facts }) in &groups {
            ensure!(!source.is_empty(), "{group} has no source");
            for (key, fact) in facts {
                parsed(fact).with_context(|| format!("{group}.{key}"))?;
            }
        }
        Ok(Self { groups, used: RefCell::default(), recent: RefCell::default() })
    }

    /// Returns a fact as it is written.
    pub fn text(&self, group: &str, key: &str) -> Result<&str> {
        let name = format!("{group}.{key}");
        let fact = self.groups.get(group).and_then(|group| group.facts.get(key)).ok_or_else(|| {
            let known: Vec<String> = self.names().collect();
            anyhow!("there is no fact {name}{}", nearest(&name, known.iter().map(String::as_str)))
        })?;
        self.used.borrow_mut().insert(name);
        self.recent.borrow_mut().insert(group.to_owned());
        Ok(fact)
    }

    /// Returns the sources of the facts requested since the last call.
    pub fn take_sources(&self) -> Vec<&str> {
        let recent = self.recent.take();
        self.groups.iter().filter(|(name, _)| recent.contains(*name)).map(|(_, group)| group.source.as_str()).collect()
    }

    /// Returns the value of a fact.
    pub fn value(&self, group: &str, key: &str) -> Result<Quantity> {
        parsed(self.text(group, key)?)
    }

    /// Returns the facts that nothing has asked for.
    pub fn unused(&self) -> Vec<String> {
        let used = self.used.borrow();
        self.names().filter(|name| !used.contains(name)).collect()
    }

    fn names(&self) -> impl Iterator<Item = String> {
        self.groups.iter().flat_map(|(group, Group { facts, .. })| facts.keys().map(move |key| format!("{group}.{key}")))
    }
}

/// Returns the number at the start of a fact, without its unit.
pub fn number(fact: &str) -> &str {
    fact.trim_end_matches(|last: char| !last.is_ascii_digit())
}

fn parsed(fact: &str) -> Result<Quantity> {
    let number = number(fact);
    let value: f64 = number.replace(' ', "").parse().map_err(|_| anyhow!("`{fact}` does not start with a number"))?;
    let unit = fact[number.len()..].trim();
    ensure!(value.is_finite(), "`{fact}` is not finite");
    if unit.is_empty() { Ok(Quantity::plain(value)) } else { Ok(Unit::named(unit)?.quantity(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: &str = "[original]\nsource = \"a tutorial\"\n[original.facts]\ncpu = \"18 923 ms\"\ngain = \"135\"\n";

    #[test]
    fn a_fact_has_its_text_and_its_value_and_is_used_once_asked_for() {
        let facts = Facts::parse(FACTS).unwrap();
        assert_eq!(facts.unused(), ["original.cpu", "original.gain"]);
        assert_eq!(facts.text("original", "cpu").unwrap(), "18 923 ms");
        assert_eq!(facts.value("original", "cpu").unwrap(), Quantity::milliseconds(18_923.0));
        assert_eq!(facts.unused(), ["original.gain"]);
    }

    #[test]
    fn what_is_no_fact_is_refused() {
        let facts = Facts::parse(FACTS).unwrap();
        assert_eq!(
            facts.text("original", "gpu").unwrap_err().to_string(),
            "there is no fact original.gpu; nearest: original.cpu, original.gain"
        );
        for fact in ["fast", "3 furlongs", ""] {
            assert!(Facts::parse(&FACTS.replace("135", fact)).is_err(), "{fact}");
        }
    }

    #[test]
    fn a_fact_from_the_notes_is_there() {
        let notes = fs::read_to_string(root().join("kernels/NOTES.md")).unwrap();
        let sections: Vec<&str> = notes.split("\n## ").collect();
        let facts = Facts::read().unwrap();
        let mut missing = Vec::new();
        for (group, Group { source, facts }) in &facts.groups {
            let Some(section) = source.strip_prefix("kernels/NOTES.md, ") else { continue };
            let section = sections.iter().find(|text| text.lines().next() == Some(section));
            let section = section.unwrap_or_else(|| panic!("{group}: there is no {source}"));
            missing.extend(facts.iter().filter(|(_, fact)| !is_in(number(fact), section)).map(|(key, _)| format!("{group}.{key}")));
        }
        assert!(missing.is_empty(), "not in the notes: {missing:?}");
    }

    /// Returns true if a text holds a number. Zeros at its end do not matter. A number with an exponent has to be there as it is.
    fn is_in(number: &str, text: &str) -> bool {
        if number.contains('e') {
            return text.split_whitespace().any(|word| word == number);
        }
        let plain = |number: &str| {
            if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.').to_owned() } else { number.to_owned() }
        };
        let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.')).map(|word| word.trim_end_matches('.'));
        words.map(plain).any(|word| word == plain(number))
    }
}
