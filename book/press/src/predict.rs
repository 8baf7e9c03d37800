//! A question that a reader answers with a number before they see it.
//!
//! The page's script takes the number and answers with the hint that fits. Without a script, the answer is behind a line to open.

use anyhow::{Context, Result, ensure};

use crate::directive::Arguments;

/// The factor by which an answer may be off, if the directive does not say.
const WITHIN: f64 = 1.1;

/// A question, and the expression that answers it.
#[derive(Debug)]
pub struct Prediction {
    /// The record that has the answer.
    pub record: String,
    /// The answer, as an expression of that record.
    pub expression: String,
    id: String,
    question: String,
    unit: String,
    within: f64,
    low: String,
    high: String,
    why: String,
}

impl Prediction {
    /// Takes `ID "question"` and the options `record`, `answer`, `label` (what is counted, where the answer has no unit of measurement),
    /// `within` (a factor), `low` and `high` (hints for answers that are too small and too large) and `why` (what to say at the end).
    pub fn take(arguments: &mut Arguments, unit: Option<&str>) -> Result<Self> {
        let mut needed = |key: &str| arguments.option(key).with_context(|| format!("the option `{key}` is missing"));
        let (record, expression) = (needed("record")?, needed("answer")?);
        let (low, high, why) = (needed("low")?, needed("high")?, needed("why")?);
        let unit = match unit {
            Some(unit) => unit.to_owned(),
            None => needed("label")?,
        };
        let within = arguments.number("within")?.unwrap_or(WITHIN);
        ensure!(within > 1.0, "`within` is a factor above 1");
        let id = arguments.word("the name of the question")?;
        let question = arguments.word("the question, in quotes,")?;
        Ok(Self { record, expression, id, question, unit, within, low, high, why })
    }

    /// Returns the question as HTML around Markdown. `answer` is the number as the page writes it.
    pub fn figure(&self, answer: &str) -> Result<String> {
        let Self { id, question, unit, within, low, high, why, .. } = self;
        // Thousands are apart.
        let number: f64 = answer.replace([' ', '\u{202f}'], "").parse().with_context(|| format!("`{answer}` is not a number"))?;
        Ok(format!(
            "<figure class=\"lab predict\" data-lab=\"predict\" data-id=\"{id}\" data-answer=\"{number}\" data-unit=\"{unit}\" \
             data-within=\"{within}\">\n<div class=\"question\">\n\n**Predict.** {question}\n\n</div>\n<div class=\"hint low\" hidden>\n\n{low}\n\n</div>\n\
             <div class=\"hint high\" hidden>\n\n{high}\n\n</div>\n<details class=\"answer\">\n<summary>Show the answer</summary>\n\n**{answer} {unit}.** {why}\n\n\
             </details>\n</figure>"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str =
        "01-x \"How many?\" record=a/b answer=\"naive.time / 2\" label=times low=\"More.\" high=\"Fewer.\" why=\"So.\"";

    fn take(text: &str) -> Result<Prediction> {
        Prediction::take(&mut Arguments::parse(text)?, None)
    }

    #[test]
    fn a_question_has_its_answer_and_both_hints() {
        let prediction = take(ALL).unwrap();
        assert_eq!((prediction.record.as_str(), prediction.expression.as_str()), ("a/b", "naive.time / 2"));
        let figure = prediction.figure("1 234.5").unwrap();
        for part in ["data-answer=\"1234.5\"", "data-within=\"1.1\"", "How many?", "More.", "Fewer.", "**1 234.5 times.** So."] {
            assert!(figure.contains(part), "{figure}");
        }
        assert!(prediction.figure("many").is_err());
    }

    #[test]
    fn what_is_missing_is_named() {
        for (key, message) in [("low", "`low` is missing"), ("answer", "`answer` is missing"), ("label", "`label` is missing")] {
            let error = take(&ALL.replacen(key, "kept", 1)).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert!(take(&format!("{ALL} within=0.5")).unwrap_err().to_string().contains("above 1"));
    }
}
