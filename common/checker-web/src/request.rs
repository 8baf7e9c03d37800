//! The requests of a page.

use checker::manifest::Manifest;
use serde::Deserialize;
use workloads::Arithmetic;

pub use checker::device::Compiled;

/// A request, named by its member `do`.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Checks a learner's kernel.
    Check(Box<Check>),
    /// Returns what is compiled of a learner's text.
    Source {
        /// The exercise.
        manifest: Box<Manifest>,
        /// The name of the text in the compiler's messages.
        name: String,
        /// The text.
        text: String,
    },
    /// Judges predicted numbers.
    Predict {
        /// The exercise.
        manifest: Box<Manifest>,
        /// The right numbers.
        counted: Vec<f64>,
        /// The piece of work that some counts are divided by.
        arithmetic: Arithmetic,
        /// The learner's numbers; none to be told the right ones.
        answers: Option<Vec<f64>>,
    },
}

/// A learner's kernel.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The name of the workload, see [`Problem::NAME`](workloads::Problem::NAME).
    pub problem: String,
    /// The exercise.
    pub manifest: Manifest,
    /// The text that the learner started with.
    pub starter: String,
    /// The name of the text in the compiler's messages.
    pub name: String,
    /// The text.
    pub text: String,
    /// The compiler's output for it.
    pub forms: Forms,
    /// Seed of the random sizes and inputs.
    pub seed: u64,
    /// Asks not for a verdict but for a launch at a small size, to look at.
    #[serde(default)]
    pub only_shows: bool,
}

/// The compiler's output for a text. The forms after the first are needed only if the first was made.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forms {
    /// As a GPU would run it.
    pub optimized: Output,
    /// Without optimization.
    #[serde(default)]
    pub plain: Option<Output>,
    /// Without what it prints; for a text that prints.
    #[serde(default)]
    pub quiet: Option<Output>,
}

/// The compiler's output for a form of a text.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
#[expect(missing_docs, reason = "the comments of the variants name the fields")]
pub enum Output {
    /// PTX.
    Compiled(Compiled),
    /// A refusal, with the compiler's messages.
    Refused { log: String },
}
