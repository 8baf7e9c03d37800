//! The contents of an `exercise.toml`: the task, the launch, the sizes to check, the counts to reach, and the words about them.

use serde::{Deserialize, Serialize};
use workloads::measure::Measure;

use crate::text::with_host_code;

/// An exercise's description.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Its name in lists.
    pub title: String,
    /// The kind of task.
    pub kind: Kind,
    /// The task, in a few sentences.
    pub task: String,
    /// Three hints for a learner who is stuck, each saying a bit more.
    pub hints: Vec<String>,
    /// The lesson, for a learner who has passed it.
    pub lesson: String,
    /// For [`Kind::Predict`]: the numbers to find.
    pub predict: Option<Predict>,
    /// For the others: the kernel, and how it is launched.
    pub kernel: Option<Kernel>,
    /// The sizes at which the kernel is checked.
    pub cases: Option<Cases>,
    /// Which counts it must reach.
    #[serde(default)]
    pub targets: Vec<Target>,
    /// Words that the check must say about the starter; the tests compare.
    pub starter_says: Option<String>,
}

/// A kind of exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Predicts a count.
    Predict,
    /// Writes a part of a kernel.
    Complete,
    /// Finds what is wrong with a kernel.
    Debug,
    /// Makes a correct kernel faster.
    Optimize,
}

impl Kind {
    /// Names it in a word.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Predict => "predict",
            Kind::Complete => "complete",
            Kind::Debug => "debug",
            Kind::Optimize => "optimize",
        }
    }
}

/// Numbers to predict, all counted in one run.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Predict {
    /// The simulated GPU, as for `--device`.
    #[serde(default = "simulator")]
    pub device: String,
    /// The size of the run, as for `--size`; further options of the chapter may follow.
    pub size: String,
    /// The questions.
    pub questions: Vec<Question>,
}

fn simulator() -> String {
    "sim".to_owned()
}

/// One number to predict.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The question, in one sentence.
    pub ask: String,
    /// The stage of the chapter whose counts it is about.
    pub stage: String,
    /// The quantity that is counted.
    pub measure: Measure,
    /// How far off an answer may be, relative to the number.
    #[serde(default)]
    pub within: f64,
    /// Wrong numbers that show what the learner thought.
    #[serde(default)]
    pub near: Vec<Near>,
}

/// A wrong number that many learners will give.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// The number.
    pub value: f64,
    /// The point that the learner overlooked.
    pub says: String,
}

/// A kernel and its launch.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Its `extern "C"` name.
    pub name: String,
    /// The function of the learner's host code that launches the kernel, once, with a thread for each output. `grid`, `block` and
    /// `shared_bytes` are left out then.
    pub launch: Option<String>,
    /// Blocks, in x, y and z.
    #[serde(default)]
    pub grid: Vec<Extent>,
    /// Threads per block, in x, y and z.
    #[serde(default)]
    pub block: Vec<Extent>,
    /// Names of the workload's sizes and arrays, in the order of the parameters of the kernel, or of the function that launches it.
    pub arguments: Vec<String>,
    /// Bytes of dynamic shared memory.
    #[serde(default)]
    pub shared_bytes: u32,
    /// True if each of the learner's loops must have `#pragma unroll 1` before it, so that the compiler unrolls none.
    #[serde(default)]
    pub unrolled_by_hand: bool,
    /// True if each thread of a block must reach each barrier, also one that has nothing left to do.
    #[serde(default)]
    pub barriers_for_all: bool,
    /// The virtual architecture to compile it for.
    #[serde(default = "architecture")]
    pub architecture: String,
}

fn architecture() -> String {
    "compute_80".to_owned()
}

/// A number of blocks or threads.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the comments of the variants name the fields")]
pub enum Extent {
    /// This many.
    Number(u32),
    /// The value of a constant in the kernel's file, so that the learner can choose it.
    Constant(String),
    /// Enough to cover a size, if one of them covers this much of it.
    Cover { cover: String, by: Box<Extent> },
}

/// Sizes of the chapter's workload, each as for `--size`. Further options of the chapter may follow a size, and `--values` with what
/// [`Values`](workloads::values::Values) reads.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// Sizes of every check, the easiest first.
    pub fixed: Vec<String>,
    /// Sizes that are different in each check.
    pub random: Random,
    /// Large sizes, each of which runs once. Of a grid with many blocks, only some run.
    #[serde(default)]
    pub large: Vec<String>,
    /// The size at which the targets are checked.
    pub counted: String,
    /// A size with ranges, from which each check draws another at which the same targets are checked. A count of all work may grow with
    /// the work there.
    #[serde(default)]
    pub counted_too: Option<String>,
    /// The size at which the kernel is timed on a GPU.
    pub timed: String,
    /// The stage of the chapter to compare that time with.
    pub baseline: String,
}

/// Random sizes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// How many.
    pub count: u32,
    /// A size with `{lowest..highest}` instead of each number.
    pub size: String,
    /// Widths of blocks and tiles, at whose multiples kernels of this kind go wrong.
    pub edges: Vec<u32>,
}

/// The most of something that a kernel may need. There is no least: a kernel that needs less of everything passes, always.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The quantity that is counted.
    pub measure: Measure,
    /// The highest allowed count.
    pub at_most: f64,
    /// The advice for a kernel that misses it.
    pub says: String,
}

/// The prefix of a constant of the launch in the compiler's output.
pub(crate) const LAUNCH: &str = "launch_";

impl Manifest {
    /// Returns what is compiled: the learner's text, with lines after it that make the compiler say what the constants of the launch are, or with
    /// what runs their host code. Lines keep their numbers. `name` is that of the text in messages.
    pub fn source(&self, name: &str, text: &str) -> String {
        if let Some(Kernel { launch: Some(function), arguments, .. }) = &self.kernel {
            return with_host_code(name, text, function, arguments.len());
        }
        let constant = |name: &str| format!("\nextern \"C\" __constant__ const unsigned {LAUNCH}{name} = {name};");
        text.to_owned() + &self.constants().into_iter().map(constant).collect::<String>()
    }

    /// Returns the names of the constants that the launch depends on.
    pub fn constants(&self) -> Vec<&str> {
        fn constant(extent: &Extent) -> Option<&str> {
            match extent {
                Extent::Number(_) => None,
                Extent::Constant(name) => Some(name),
                Extent::Cover { by, .. } => constant(by),
            }
        }
        let mut names: Vec<&str> =
            self.kernel.iter().flat_map(|kernel| kernel.grid.iter().chain(&kernel.block)).filter_map(constant).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Reads the text of an `exercise.toml`. The error says what is wrong, with the line if it is known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let manifest: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        let needs = |there: bool, what: &str| if there { Ok(()) } else { Err(format!("{what} in an exercise of this kind")) };
        needs(self.hints.len() == 3, "there must be three hints")?;
        if self.kind == Kind::Predict {
            needs(self.predict.as_ref().is_some_and(|predict| !predict.questions.is_empty()), "[predict] needs a question")?;
            return needs(self.kernel.is_none() && self.cases.is_none(), "there is no [kernel] and there are no [cases]");
        }
        needs(self.predict.is_none(), "there is no [predict]")?;
        needs(self.kernel.is_some() && self.cases.is_some(), "there must be a [kernel] and [cases]")?;
        let has_one = |kernel: &Kernel| kernel.launch.is_some() == kernel.grid.is_empty();
        needs(self.kernel.iter().all(has_one), "there must be either `launch` or `grid`")?;
        needs(self.starter_says.is_some(), "there must be `starter_says`")?;
        needs(!self.targets.is_empty(), "there must be [[targets]]")?;
        needs(self.targets.iter().all(|target| target.measure.is_cost()), "a target is no average")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREDICT: &str = r#"
        title = "How many sectors?"
        kind = "predict"
        task = "Think."
        hints = ["a", "b", "c"]
        lesson = "Neighbors."
        [predict]
        size = "1024x64"
        [[predict.questions]]
        ask = "How many?"
        stage = "naive"
        measure = "sectors per load"
        near = [{ value = 4.0, says = "that would be without the filter" }]
    "#;

    #[test]
    fn a_description_is_read() {
        let manifest = Manifest::parse(PREDICT).unwrap();
        assert_eq!((manifest.kind, manifest.predict.unwrap().device.as_str()), (Kind::Predict, "sim"));
    }

    #[test]
    fn missing_and_surplus_entries_are_named() {
        for (text, complaint) in [
            (PREDICT.replace("\"predict\"", "\"complete\""), "there is no [predict]"),
            (PREDICT.replace("title", "titel"), "titel"),
            (PREDICT.replace("sectors per load", "sectors per road"), "sectors per road"),
            (PREDICT.replace("\"c\"]", "\"c\", \"d\"]"), "hints"),
        ] {
            let error = Manifest::parse(&text).unwrap_err();
            assert!(error.contains(complaint), "{error}");
        }
    }
}
