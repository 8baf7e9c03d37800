//! Where the data of a workload came from: told to the reader, and kept in the record.

use serde_json::{Map, Value, json};

/// The origin of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the comments of the variants name the fields")]
pub enum Origin {
    /// Generated, the same for the same seed.
    Seed(u64),
    /// The user's files: in words for a reader, for example `voice.wav through hall.wav`, and for the record by name.
    Files { words: String, names: Vec<(&'static str, Value)> },
    /// Made by a program.
    Given,
}

impl Origin {
    /// Appends the origin to sizes in words.
    pub fn describe(&self, sizes: String) -> String {
        match self {
            Self::Seed(seed) => format!("{sizes}, seed {seed}"),
            Self::Files { words, .. } => format!("{sizes}: {words}"),
            Self::Given => sizes,
        }
    }

    /// Adds the origin to sizes in a record: the seed, or `null` and the names of the files.
    pub fn record<const N: usize>(&self, sizes: [(&'static str, Value); N]) -> Map<String, Value> {
        let (seed, names) = match self {
            Self::Seed(seed) => (json!(seed), [].as_slice()),
            Self::Files { names, .. } => (Value::Null, names.as_slice()),
            Self::Given => (Value::Null, [].as_slice()),
        };
        let entries = sizes.iter().chain(names).map(|(name, value)| ((*name).to_owned(), value.clone()));
        entries.chain([("seed".to_owned(), seed)]).collect()
    }
}
