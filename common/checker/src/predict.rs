//! The words about predicted numbers.

use workloads::Arithmetic;

use crate::manifest::Question;

/// Judges each answer in one line, and says if all are right. `counted` has the right numbers.
pub fn judged(questions: &[Question], answers: &[f64], counted: &[f64], arithmetic: Arithmetic) -> (String, bool) {
    let (mut text, mut right) = (String::new(), true);
    for ((number, question), (&answer, &counted)) in (1..).zip(questions).zip(answers.iter().zip(counted)) {
        let wrong = correction(question, answer, counted);
        right &= wrong.is_none();
        let verdict = wrong.unwrap_or_else(|| format!("right, it has {}", question.measure.words(counted, arithmetic)));
        text += &format!("{number}. {verdict}\n");
    }
    (text, right)
}

/// Returns the questions with the right answers.
pub fn answered(questions: &[Question], counted: &[f64], arithmetic: Arithmetic) -> String {
    let answers = questions.iter().zip(counted);
    answers.map(|(question, &number)| format!("{}\n  {}\n", question.ask, question.measure.words(number, arithmetic))).collect()
}

/// Corrects a wrong answer; `None` if it is right.
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
