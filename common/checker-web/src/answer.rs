//! The answers to a page's requests.

use serde::Serialize;

/// An answer: one of these, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// A verdict on a kernel or on predicted numbers.
    Verdict {
        /// True if the exercise is passed.
        passed: bool,
        /// The same words as in a terminal.
        message: String,
        /// Lines of the learner's text that the message is about, from 1.
        lines: Vec<u32>,
        /// The count for each target that was counted.
        counted: Vec<f64>,
    },
    /// There is no verdict.
    Failed {
        /// The reason, which is not the learner's fault.
        error: String,
    },
}
