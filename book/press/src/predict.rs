//! A question that a reader answers with a number before they see it.
//!
//! The page's script takes the number and answers with the hint that fits. Without a script, the answer is behind a line to open.

use anyhow::{Context, Result, ensure};

use crate::directive::Arguments;

/// Returns a question as HTML around Markdown. `number` writes the value of an expression of a record, and `inside` that of an expression with
/// options, such as `naive.time unit=ms`.
///
/// In its texts, `[[naive.time unit=ms]]` is replaced by that number of the record.
///
/// Takes `ID "question"` and the options `record`, `answer`, `label` (what is counted, where the answer has no `unit` of measurement), `within` (the
/// factor by which an answer may be off; 1.1 if it is not there), `off` (what an answer may be off by, where small numbers are all the same), `low` and `high` (hints for answers that are too small and too large) and `why` (what to say at the end).
pub fn figure(
    arguments: &mut Arguments,
    unit: Option<&str>,
    number: impl FnOnce(&str, &str) -> Result<String>,
    inside: impl Fn(&str, &str) -> Result<String>,
) -> Result<String> {
    let mut needed = |key: &str| arguments.option(key).with_context(|| format!("the option `{key}` is missing"));
    let (record, expression) = (needed("record")?, needed("answer")?);
    let (low, high, why) = (needed("low")?, needed("high")?, needed("why")?);
    let unit = unit.map_or_else(|| needed("label"), |unit| Ok(unit.to_owned()))?;
    let within = arguments.number("within")?.unwrap_or(1.1);
    ensure!(within > 1.0, "`within` is a factor above 1");
    let off = arguments.number("off")?.unwrap_or(0.0);
    let id = arguments.word("the name of the question")?;
    let question = arguments.word("the question, in quotes,")?;
    let [question, low, high, why] = [question, low, high, why].map(|text| filled(&text, |expression| inside(&record, expression)));
    let (question, low, high, why) = (question?, low?, high?, why?);
    let answer = number(&record, &expression)?;
    // Thousands are apart.
    let number: f64 = answer.replace([' ', '\u{202f}'], "").parse().with_context(|| format!("`{answer}` is not a number"))?;
    Ok(format!(
        "<figure class=\"lab predict\" data-lab=\"predict\" data-id=\"{id}\" data-answer=\"{number}\" data-unit=\"{unit}\" \
         data-within=\"{within}\" data-off=\"{off}\">\n<div class=\"question\">\n\n**Predict.** {question}\n\n</div>\n<div class=\"hint low\" hidden>\n\n{low}\n\n</div>\n\
         <div class=\"hint high\" hidden>\n\n{high}\n\n</div>\n<details class=\"answer\">\n<summary>Show the answer</summary>\n\n**{answer} {unit}.** {why}\n\n\
         </details>\n</figure>"
    ))
}

/// Replaces what stands in double brackets.
fn filled(text: &str, value: impl Fn(&str) -> Result<String>) -> Result<String> {
    let mut parts = text.split("[[");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (expression, rest) = part.split_once("]]").context("`[[` without `]]`")?;
        filled += &value(expression)?;
        filled += rest;
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str =
        "01-x \"How many?\" record=a/b answer=\"naive.time / 2\" label=times low=\"More.\" high=\"Fewer.\" why=\"So.\"";

    /// Returns the figure of a question whose answer is written like this.
    fn answered(text: &str, answer: &str) -> Result<String> {
        let number = |record: &str, expression: &str| {
            assert_eq!((record, expression), ("a/b", "naive.time / 2"));
            Ok(answer.to_owned())
        };
        figure(&mut Arguments::parse(text)?, None, number, |record, expression| Ok(format!("{record}: {expression}")))
    }

    #[test]
    fn a_question_has_its_answer_and_both_hints() {
        let figure = answered(ALL, "1 234.5").unwrap();
        for part in ["data-answer=\"1234.5\"", "data-within=\"1.1\"", "How many?", "More.", "Fewer.", "**1 234.5 times.** So."] {
            assert!(figure.contains(part), "{figure}");
        }
        assert!(answered(ALL, "many").is_err());
        let filled = answered(&ALL.replace("How many?", "[[naive.time unit=ms]] and?"), "1").unwrap();
        assert!(filled.contains("**Predict.** a/b: naive.time unit=ms and?"), "{filled}");
        assert!(answered(&ALL.replace("How many?", "[[naive.time"), "1").unwrap_err().to_string().contains("without `]]`"));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (key, message) in [("low", "`low` is missing"), ("answer", "`answer` is missing"), ("label", "`label` is missing")] {
            let error = answered(&ALL.replacen(key, "kept", 1), "1").unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert!(answered(&format!("{ALL} within=0.5"), "1").unwrap_err().to_string().contains("above 1"));
    }
}
