//! The answers to a page's requests.

use serde::Serialize;
use serde_json::Value;

/// An answer: one of these, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the comments of the variants name the fields")]
pub enum Answer {
    /// A verdict on a kernel or on predicted numbers: a message in the same words as in a terminal, the lines of the learner's text that it is
    /// about, from 1, the count for each target that was counted, and what the kernel printed.
    Verdict { passed: bool, message: String, lines: Vec<u32>, counted: Vec<f64>, printed: String },
    /// A launch with its memory, and its size in words. The press stores the book's in the same form.
    Launch { at: String, launch: Value },
    /// What is compiled of a learner's text.
    Source { source: String },
    /// There is no verdict, and that is not the learner's fault.
    Failed { error: String },
}
