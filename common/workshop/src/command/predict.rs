//! Exercises that ask for numbers: the questions, and the verdict on the answers.

use std::process::ExitCode;

use checker::manifest::Predict;
use checker::predict;
use checker::text::paragraphs;
use run::Workload;

use super::session::{Session, say, say_failed};
use crate::count::count;
use crate::error::{Error, Result};

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
        let (counted, arithmetic) = count(self.chapter, self.exercise, predict)?;
        let (text, right) = predict::judged(questions, answers, &counted, arithmetic);
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
        let (counted, arithmetic) = count(self.chapter, self.exercise, predict)?;
        let answers = predict::answered(&predict.questions, &counted, arithmetic);
        say(&format!("{answers}\n{}", paragraphs(&self.exercise.manifest.lesson)))
    }
}
