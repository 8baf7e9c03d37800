//! The contents of an exercise's `wall.toml`: wrong and right answers that learners give. The tests check every one.

use serde::Deserialize;

/// The answers that are tried.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wall {
    /// Wrong answers, and what the check must say about them.
    #[serde(default)]
    pub wrong: Vec<Wrong>,
    /// Right answers that are not the solution.
    #[serde(default)]
    pub right: Vec<Right>,
    /// Slips in right answers that are no mistakes.
    #[serde(default)]
    pub equivalent: Vec<Equivalent>,
}

/// Changed lines that leave an answer right.
#[derive(Clone, Debug, Deserialize)]
pub struct Equivalent {
    /// The lines as changed, without their indent.
    pub lines: Vec<String>,
    /// The reason why the answer stays right, at every size and on every GPU.
    pub why: String,
}

/// A wrong answer.
#[derive(Clone, Debug, Deserialize)]
pub struct Wrong {
    /// The mistake, in a few words.
    pub what: String,
    /// How it differs from the solution.
    #[serde(flatten)]
    pub change: Change,
    /// Words that the check must say about it.
    pub says: String,
    /// Other words that are as good when clang compiled it. Its PTX differs a little, so another target may
    /// be the first that is missed, or another defect the first that is found.
    #[serde(default)]
    pub clang_says: Option<String>,
}

/// A right answer that is unusual.
#[derive(Clone, Debug, Deserialize)]
pub struct Right {
    /// Anything unusual about it.
    pub what: String,
    /// How it differs from the solution.
    #[serde(flatten)]
    pub change: Change,
    /// Words that the check must say about it.
    #[serde(default)]
    pub says: String,
}

/// The difference between an answer and the solution.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the comments of the variants name the fields")]
pub enum Change {
    /// Replaces a text that occurs once in the solution with another.
    Replaced { replace: String, with: String },
    /// Replaces several such texts, each given with its replacement.
    Several { changes: Vec<[String; 2]> },
    /// Puts another body between the braces of the last function.
    Body { body: String },
}

impl Change {
    /// Returns the answer's text.
    pub fn apply(&self, solution: &str) -> Result<String, String> {
        match self {
            Change::Replaced { replace, with } => replaced(solution, replace, with),
            Change::Several { changes } => {
                changes.iter().try_fold(solution.to_owned(), |text, [replace, with]| replaced(&text, replace, with))
            }
            Change::Body { body } => {
                let open = solution.rfind("\n{\n").ok_or("no brace begins a line")?;
                Ok(format!("{}\n{{\n{}\n}}\n", &solution[..open], body.trim_end()))
            }
        }
    }
}

fn replaced(text: &str, replace: &str, with: &str) -> Result<String, String> {
    match text.matches(replace).count() {
        1 => Ok(text.replace(replace, with)),
        times => Err(format!("`{replace}` occurs {times} times in the solution")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLUTION: &str = "constexpr int A = 1;\n\nextern \"C\" __global__ void f()\n{\n    one();\n    two();\n}\n";

    #[test]
    fn an_answer_is_the_solution_with_a_change() {
        let wall: Wall = toml::from_str(
            r#"
            [[wrong]]
            what = "a"
            replace = "one"
            with = "three"
            says = "x"
            [[right]]
            what = "b"
            body = "    four();"
            [[right]]
            what = "c"
            changes = [["one", "1"], ["two", "2"]]
            "#,
        )
        .unwrap();
        assert!(wall.wrong[0].change.apply(SOLUTION).unwrap().contains("    three();\n    two();"));
        assert!(wall.right[0].change.apply(SOLUTION).unwrap().ends_with("void f()\n{\n    four();\n}\n"));
        assert!(wall.right[1].change.apply(SOLUTION).unwrap().contains("    1();\n    2();"));
        let twice = Change::Replaced { replace: "();".to_owned(), with: String::new() };
        assert!(twice.apply(SOLUTION).unwrap_err().contains("occurs 2 times"));
    }
}
