//! Exercises that ask for numbers: the questions, and the verdict on the answers.

use std::process::ExitCode;

use common::gpu::Gpu;
use common::runner;
use common::workload::{Arithmetic, Plan, Workload};

use super::session::{Session, say, say_failed};
use crate::cases;
use crate::error::{Error, Result};
use crate::manifest::{Predict, Question};
use crate::text::paragraphs;

impl<W: Workload> Session<'_, W> {
    /// Asks the questions.
    pub fn ask(&self, predict: &Predict) -> Result<ExitCode> {
        let mut text = self.task();
        for (number, question) in (1..).zip(&predict.questions) {
            text += &format!("\n{number}. {}", question.ask.trim());
        }
        let numbers = vec!["NUMBER"; predict.questions.len()].join(" ");
        say(&format!("{text}\n\nanswer with: {} --answer {numbers}", self.call()))
    }

    /// Compares the answers with what is counted.
    pub fn judge(&self, predict: &Predict, answers: &[f64]) -> Result<ExitCode> {
        let questions = &predict.questions;
        if answers.len() != questions.len() {
            return Err(Error::Answers { expected: questions.len(), got: answers.len() });
        }
        let (counted, arithmetic) = self.count(predict)?;
        let mut text = String::new();
        let mut right = true;
        for ((number, question), (&answer, counted)) in (1..).zip(questions).zip(answers.iter().zip(counted)) {
            let wrong = correction(question, answer, counted);
            right &= wrong.is_none();
            let verdict = wrong.unwrap_or_else(|| format!("right, it has {}", question.measure.words(counted, arithmetic)));
            text += &format!("{number}. {verdict}\n");
        }
        let said = if right {
            say(&format!("{text}\npassed. {}", paragraphs(&self.exercise.manifest.lesson)))
        } else {
            say_failed(&format!("{text}\nthink again, or ask for a hint: {} --hint", self.call()))
        }?;
        self.note_attempt(right)?;
        Ok(said)
    }

    /// Shows the right answers.
    pub fn right_answers(&self, predict: &Predict) -> Result<ExitCode> {
        let (counted, arithmetic) = self.count(predict)?;
        let answers = predict.questions.iter().zip(counted);
        let lines =
            answers.map(|(question, number)| format!("{}\n  {}\n", question.ask, question.measure.words(number, arithmetic)));
        say(&format!("{}\n{}", lines.collect::<String>(), paragraphs(&self.exercise.manifest.lesson)))
    }

    /// Counts what the questions ask for. Some counts are per piece of this arithmetic.
    fn count(&self, predict: &Predict) -> Result<(Vec<f64>, Arithmetic)> {
        let unusable = |reason: String| self.exercise.unusable(reason);
        let gpu = Gpu::open(&predict.device.parse().map_err(common::Error::from)?)?;
        let options = cases::options(&predict.size).map_err(unusable)?;
        let Plan { mut parts, .. } = W::plan(&options, 13, &gpu)?;
        let workload = parts.swap_remove(0);
        let count = |question: &Question| {
            let stage = self.chapter.stage(&question.stage).map_err(|unknown| unusable(unknown.to_string()))?;
            let row = runner::run(&gpu, &[*stage], &workload, 0)?.rows.remove(0);
            let counted = row.counters().and_then(|counters| question.measure.of(counters, workload.work()));
            Ok(counted.ok_or_else(|| unusable(format!("{} has no {:?}: {:?}", stage.name, question.measure, row.outcome)))?)
        };
        let counted = predict.questions.iter().map(count).collect::<Result<_>>()?;
        Ok((counted, workload.work().arithmetic))
    }
}

/// What to say about a wrong answer; `None` if it is right.
fn correction(question: &Question, answer: f64, counted: f64) -> Option<String> {
    // Half a percent, for numbers with more digits than anyone types.
    let close = |a: f64, b: f64| (a - b).abs() <= question.within.max(0.005) * b.abs();
    if close(answer, counted) {
        return None;
    }
    let known = question.near.iter().find(|near| close(answer, near.value));
    let direction = if answer < counted { "there are more" } else { "there are fewer" };
    Some(known.map_or_else(|| format!("not {answer}: {direction}"), |near| format!("not {answer}: {}", near.says.trim())))
}
