//! The answers of questions: none of them is above its question.

use std::collections::BTreeSet;

use press::page::Page;

use crate::rendered;

/// A number, and the word after it.
type Count = (String, String);

/// A question of a page: its name, and the answer with the first word of its unit.
struct Question {
    id: String,
    answer: Count,
}

/// Returns the numbers of a text with the words after them.
fn numbers(text: &str) -> BTreeSet<Count> {
    // Thousands are apart, by a narrow space or a comma.
    let is_number = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    let mut plain = text.replace('\u{202f}', "");
    while let Some(start) = plain.find('<') {
        let end = plain[start..].find('>').map_or(plain.len(), |end| start + end + 1);
        plain.replace_range(start..end, " ");
    }
    let words: Vec<&str> = plain.split_whitespace().map(|word| word.trim_matches(|char: char| !char.is_alphanumeric())).collect();
    let after = |at: usize| words.get(at + 1).copied().unwrap_or_default().to_lowercase();
    (0..words.len()).filter(|at| is_number(words[*at])).map(|at| (words[at].replace(',', ""), after(at))).collect()
}

/// Returns an attribute of a figure.
fn attribute(figure: &str, name: &str) -> String {
    let rest = figure.split_once(&format!("{name}=\"")).unwrap_or_else(|| panic!("{name} of {figure}")).1;
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// Returns the questions of a page, each with the text above it.
fn questions(page: &str) -> Vec<(Question, &str)> {
    let figures = page.match_indices("<figure class=\"lab predict\"");
    let found = figures.map(|(at, _)| {
        let figure = page[at..].split('>').next().unwrap_or_default();
        let unit = attribute(figure, "data-unit").split_whitespace().next().unwrap_or_default().to_lowercase();
        (Question { id: attribute(figure, "data-id"), answer: (attribute(figure, "data-answer"), unit) }, &page[..at])
    });
    found.collect()
}

/// Says whether a text has the answer: the same number with the same unit, or a number that is hardly there by chance.
fn is_answered(Question { answer: (number, unit), .. }: &Question, above: &str) -> bool {
    let is_telling = number.contains('.') || number.len() > 2;
    numbers(above).iter().any(|(found, after)| found == number && (is_telling || after == unit))
}

#[test]
fn no_answer_is_above_its_question() {
    let all: Vec<(&Page, Question, &str)> = rendered()
        .iter()
        .flat_map(|page| questions(&page.text).into_iter().map(move |(question, above)| (page, question, above)))
        .collect();
    assert!(all.len() > 40, "{} questions", all.len());
    let answered: Vec<_> = all
        .iter()
        .filter(|(_, question, above)| is_answered(question, above))
        .map(|(page, Question { id, answer: (number, unit) }, _)| format!("{}: {id}: {number} {unit}", page.path))
        .collect();
    assert!(answered.is_empty(), "{answered:#?}");
}

#[test]
fn an_answer_above_its_question_is_found() {
    let page = |above: &str, answer: &str, unit: &str| {
        format!(
            "{above}\n<figure class=\"lab predict\" data-lab=\"predict\" data-id=\"x\" data-answer=\"{answer}\" data-unit=\"{unit}\">"
        )
    };
    let is_answered = |page: &str| {
        let [(question, above)] = &questions(page)[..] else { panic!("one question") };
        is_answered(question, above)
    };
    assert!(is_answered(&page("There are **24 threads** without an output.", "24", "threads")));
    assert!(is_answered(&page("| 1\u{202f}152 | 3 |", "1152", "blocks")));
    assert!(is_answered(&page("It takes 2.50 ms.", "2.50", "ms")));
    assert!(!is_answered(&page("Shifts by 16, 8, 4, 2, 1.", "4", "shuffles")));
    assert!(!is_answered(&page("A block has 256 threads.", "24", "threads")));
}
