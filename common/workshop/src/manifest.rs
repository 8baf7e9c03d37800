//! What stands in an `exercise.toml`: the task, the launch, where the kernel is checked, what is counted, and what to say.

use serde::Deserialize;

use common::measure::Measure;

/// An exercise's description.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// What it is called in lists.
    pub title: String,
    /// What the learner does.
    pub kind: Kind,
    /// What is asked for, in a few sentences.
    pub task: String,
    /// What to say to one who is stuck, each time a bit more; three.
    pub hints: Vec<String>,
    /// What the exercise was good for, for one who has done it.
    pub lesson: String,
    /// For [`Kind::Predict`]: the numbers to find.
    pub predict: Option<Predict>,
    /// For the others: the kernel, and how it is launched.
    pub kernel: Option<Kernel>,
    /// The sizes at which the kernel is checked.
    pub cases: Option<Cases>,
    /// What must be counted.
    #[serde(default)]
    pub targets: Vec<Target>,
    /// Words of what the check says to the starter, which the tests hold.
    pub starter_says: Option<String>,
    /// Typical wrong answers, which the tests hold to be found.
    #[serde(default)]
    pub mistakes: Vec<Mistake>,
}

/// What a learner does in an exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Says what will be counted, before it is.
    Predict,
    /// Writes a part of a kernel.
    Complete,
    /// Finds what is wrong with a kernel.
    Debug,
    /// Makes a right kernel a better one.
    Optimise,
}

impl Kind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Predict => "predict",
            Kind::Complete => "complete",
            Kind::Debug => "debug",
            Kind::Optimise => "optimise",
        }
    }
}

/// Numbers to find, all counted of one run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predict {
    /// The simulated GPU, as for `--device`.
    #[serde(default = "simulator")]
    pub device: String,
    /// The size of the run, as for `--size`; further options of the chapter may follow.
    pub size: String,
    /// What to say to someone who has not answered yet.
    pub questions: Vec<Question>,
}

fn simulator() -> String {
    "sim".to_owned()
}

/// One number to find.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The question, in one sentence.
    pub ask: String,
    /// The stage of the chapter that is counted.
    pub stage: String,
    /// What is counted.
    pub measure: Measure,
    /// How far off an answer may be, as a part of the number.
    #[serde(default)]
    pub within: f64,
    /// What to say to a number that shows what its author thought.
    #[serde(default)]
    pub near: Vec<Near>,
}

/// A wrong number that many will give.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// The number.
    pub value: f64,
    /// What was overlooked.
    pub says: String,
}

/// A kernel and its launch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Its `extern "C"` name.
    pub name: String,
    /// Blocks, in x, y and z.
    pub grid: Vec<Extent>,
    /// Threads of a block, in x, y and z.
    pub block: Vec<Extent>,
    /// Names of sizes and arrays of the chapter's workload, in the order of the kernel's parameters.
    pub arguments: Vec<String>,
    /// Bytes of dynamic shared memory.
    #[serde(default)]
    pub shared_bytes: u32,
    /// The virtual architecture that it is compiled for.
    #[serde(default = "architecture")]
    pub architecture: String,
}

fn architecture() -> String {
    "compute_80".to_owned()
}

/// A number of blocks or threads.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Extent {
    /// This many.
    Number(u32),
    /// As many as a constant of the kernel's file says, so that the learner can choose.
    Constant(String),
    /// As many as it takes.
    Cover {
        /// The size that is divided.
        cover: String,
        /// What one of them has.
        by: Box<Extent>,
    },
}

/// Sizes of the chapter's workload, each as for `--size`; further options of the chapter may follow a size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// Sizes that every check has, the easiest first.
    pub fixed: Vec<String>,
    /// Sizes that differ from check to check.
    pub random: Random,
    /// The size at which is counted.
    pub counted: String,
    /// The size at which a GPU is timed.
    pub timed: String,
    /// The stage of the chapter that it is compared with there.
    pub baseline: String,
}

/// Random sizes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// How many.
    pub count: u32,
    /// A size with `{lowest..highest}` in the place of each number.
    pub size: String,
    /// Numbers that kernels of this kind stumble over at their multiples: widths of blocks and tiles.
    pub edges: Vec<u32>,
}

/// A bound for something counted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// What is counted.
    pub measure: Measure,
    /// It must not be more.
    pub at_most: Option<f64>,
    /// It must not be less.
    pub at_least: Option<f64>,
    /// What to say to a kernel that misses it.
    pub says: String,
}

/// A wrong answer: the solution with a text replaced.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mistake {
    /// What was done wrong, for the eyes of who maintains the exercise.
    pub what: String,
    /// A text that stands once in the solution.
    pub replace: String,
    /// What stands there instead.
    pub with: String,
    /// Words of what the check says to it.
    pub says: String,
}

impl Manifest {
    /// Reads the text of an `exercise.toml`.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with its line where that is known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let manifest: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        manifest.check()?;
        Ok(manifest)
    }

    /// What the types do not say.
    fn check(&self) -> Result<(), String> {
        let needs = |there: bool, what: &str| if there { Ok(()) } else { Err(format!("{what}, in an exercise of this kind")) };
        needs(self.hints.len() == 3, "there must be three hints")?;
        if self.kind == Kind::Predict {
            needs(self.predict.as_ref().is_some_and(|predict| !predict.questions.is_empty()), "[predict] needs a question")?;
            return needs(self.kernel.is_none() && self.cases.is_none(), "there is no [kernel] and there are no [cases]");
        }
        needs(self.predict.is_none(), "there is no [predict]")?;
        needs(self.kernel.is_some() && self.cases.is_some(), "there must be a [kernel] and [cases]")?;
        needs(self.starter_says.is_some(), "there must be `starter_says`")?;
        needs(self.mistakes.len() >= 3, "there must be three [[mistakes]] or more")?;
        needs(self.kind != Kind::Optimise || !self.targets.is_empty(), "there must be [[targets]]")?;
        let bounded = |target: &Target| target.at_most.is_some() || target.at_least.is_some();
        needs(self.targets.iter().all(bounded), "a target must have `at_most` or `at_least`")
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
        lesson = "Neighbours."
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
    fn what_is_missing_or_too_much_is_named() {
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
