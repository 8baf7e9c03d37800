//! Measured numbers in the book's sentences, each against its origin.
//!
//! Tables and charts are made from records. A number in a sentence is typed by hand, so it is followed, without a space, by a comment
//! that says where it is from, and that readers do not see:
//!
//! ```text
//! 3.62 ms<!--nvidia-h200/01-conv-naive: naive.time-->                       a saved run, and what of it
//! 1.28 times<!--nvidia-h200/02-conv-shared: naive.time / shared.time-->
//! 5.88<!--sim-h200/02-conv-shared: naive.bytes_per_multiply_add-->
//! 0.24 ms<!--notes-->              kernels/NOTES.md, where the chapter's part must have it (`notes 03-unroll` for another part)
//! 11 %<!--notes: 193 / 174 - 1-->  what follows from numbers there
//! 827 ms<!--original-->            the texts of 2008 to 2012; see `published`
//! 3.53 times<!--original: 827 / 234-->
//! 495 TFLOP/s<!--vendor-->         a data sheet, which the same paragraph links
//! 99.4 %<!--generated/sim-h200/02-conv-shared.shared.diagnosis.txt-->       a generated file, which must have it
//! 30 µs<!--example-->              an example, not measured; 348 ns<!--example: 690 / 1.98--> if it follows from others
//! ```
//!
//! What is written must be the value in the unit that is written, rounded to the digits that are written. `records` has the list of
//! what can be asked of a run.

mod expression;
mod number;
mod origin;
mod published;
mod quantity;
mod records;

use std::ops::Range;

use crate::pages::{self, Page};
use origin::Origins;

/// Whether a comment is one of the other kind: a word for the test that runs the commands of a page.
fn is_of_command(comment: &str) -> bool {
    comment.trim().strip_prefix("status ").is_some_and(|status| status.parse::<u8>().is_ok())
}

/// Checks the comments of a page, and says of each wrong one where it stands and what is wrong.
fn check(page: &Page, origins: &Origins) -> Vec<String> {
    let wrong = |range: Range<usize>| {
        let mark = page.text[range.clone()].trim_end();
        let comment = mark.trim_start_matches("<!--").split("-->").next().unwrap_or_default();
        let before = &page.text[..range.start];
        if !before.ends_with(|last: char| !last.is_whitespace()) {
            let what = "a comment must follow a number without a space, or say `status` and a number before a command";
            return (!is_of_command(comment)).then(|| format!("{}: {what}: {mark}", page.place(range.start)));
        }
        let Some((number, unit)) = number::last(sentence_before(before)) else {
            return Some(format!("{}: no number before {mark}", page.place(range.start)));
        };
        let error = origins.check(comment.trim(), &number, unit, page, range.start).err()?;
        let written = sentence_before(before)[number.start..].replace('\n', " ");
        Some(format!("{}: {written}: {error:#} {mark}", page.place(range.start)))
    };
    page.comments().into_iter().filter_map(wrong).collect()
}

/// The end of a text, in which a number and its unit may stand: what follows the last comment or empty line.
fn sentence_before(text: &str) -> &str {
    let start = ["-->", "\n\n", "```"].iter().filter_map(|end| Some(text.rfind(end)? + end.len())).max().unwrap_or(0);
    &text[start..]
}

/// Measured numbers of a page that do not say where they are from, or stand in a block where they cannot.
fn unmarked(page: &Page) -> Vec<String> {
    let prose = page.with_blocks_of_text();
    let is_marked = |end: usize| page.text[end..].trim_start_matches(['*', '_']).starts_with("<!--");
    let without = number::measured(&prose).into_iter().filter(|(_, end)| !is_marked(*end));
    without
        .map(|(number, end)| {
            let written = prose[number.start..end].replace('\n', " ");
            format!("{}: {written} does not say where it is from; see tests/src/figures/mod.rs", page.place(number.start))
        })
        .collect()
}

#[test]
fn every_number_is_what_its_origin_says() {
    let origins = Origins::read().unwrap();
    let wrong: Vec<String> = pages::all().iter().flat_map(|page| check(page, &origins)).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn every_measured_number_says_where_it_is_from() {
    let wrong: Vec<String> = pages::all().iter().flat_map(unmarked).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str, text: &str) -> Page {
        Page { path: format!("book/src/{name}.md"), text: text.into() }
    }

    /// What is wrong with a text on the page of chapter 03; nothing if all of it is right.
    fn wrong(text: &str) -> String {
        check(&page("03-unroll", text), &Origins::read().unwrap()).join("\n")
    }

    /// A value of a record, for texts that stay right when a chapter is measured again.
    fn value(record: &str, expression: &str) -> f64 {
        expression::evaluate(expression, &records::Records::read().unwrap().of(record).unwrap()).unwrap().value
    }

    #[test]
    fn a_right_number_passes_in_every_unit() {
        const RUN: &str = "nvidia-h200/03-unroll";
        let (seconds, rate) = (value(RUN, "long-run.time"), value(RUN, "long-run.rate"));
        let share = value(RUN, "long-run.share");
        let bytes = value("sim-h200/03-unroll", "shared.bytes_per_multiply_add");
        let text = format!(
            "It takes {:.3} ms<!--{RUN}: long-run.time-->, or **{:.0} microseconds**<!--{RUN}: long-run.time-->, at\n{:.1}\nTFLOP/s\
             <!--{RUN}: long-run.rate-->, {:.1} %<!--{RUN}: long-run.rate / ceiling.flops--> of the ceiling and {:.2} times\
             <!--{RUN}: long-run.time / fft.time--> the time of another.\n\n| ms | bytes |\n|---|---|\n| {:.2}<!--{RUN}: long-run.time--> \
             | {bytes:.3}<!--sim-h200/03-unroll: shared.bytes_per_multiply_add--> |\n",
            1e3 * seconds,
            1e6 * seconds,
            1e-12 * rate,
            100.0 * share,
            seconds / value(RUN, "fft.time"),
            1e3 * seconds,
        );
        assert_eq!(wrong(&text), "");
    }

    #[test]
    fn a_wrong_number_is_found_with_its_place_and_the_right_one() {
        const RUN: &str = "nvidia-h200/03-unroll";
        let right = 1e3 * value(RUN, "shared.time");
        let found = wrong(&format!("One line.\nIt takes {:.2} ms<!--{RUN}: shared.time--> in all.\n", right + 0.5));
        assert!(found.starts_with(&format!("book/src/03-unroll.md:2: {:.2} ms: the value is {right:.6}", right + 0.5)), "{found}");
        assert!(
            found.contains(&format!("which is {right:.2} with")) && found.ends_with("<!--nvidia-h200/03-unroll: shared.time-->")
        );
    }

    #[test]
    fn marks_that_say_nothing_are_found() {
        let cases = [
            ("3 ms<!--nvidia-h200/07-lost: naive.time-->", "no record book/results/nvidia-h200/07-lost.json"),
            ("3 ms<!--nvidia-h200/03-unroll: naive.time-->", "no stage naive"),
            ("3 ms<!--nvidia-h200/03-unroll: fft.time +-->", "ends where a term should be"),
            ("3 ms<!--nvidia-h200/03-unroll: fft.rate-->", "what is written is a time, and the value is a number per second"),
            ("3 ms<!--nvidia-h200/03-unroll: fft.time + fft.rate-->", "cannot be added"),
            ("3 ms<!--nvidia-h200/03-unroll-->", "no origin"),
            ("three ms<!--notes-->", "no number before"),
            ("3 ms <!--notes-->", "without a space"),
            ("<!-- to do -->\n\nText.", "without a space"),
            ("3 ms<!--measured-->", "no origin"),
            ("826 ms<!--original-->", "not among the numbers"),
            ("827 µs<!--original-->", "not among the numbers"),
            ("3.53 times<!--original: 827 / 235-->", "235 is not among the numbers"),
            ("3.6 times<!--original: 827 / 234-->", "which is 3.5 with"),
            ("495 TFLOP/s<!--vendor-->\n\nhttps://example.com", "does not link"),
            ("3 ms<!--example: 690 / 1.98-->", "which is 348 with"),
            ("3 ms<!--example: fft.time-->", "names the record of each term"),
            ("3 ms<!--generated/lost.md-->", "no book/src/generated/lost.md"),
            ("3 ms<!--notes: fft.time-->", "is no number of kernels/NOTES.md"),
            ("3 ms<!--notes: 123.456 - 1-->", "123.456 is not in kernels/NOTES.md"),
            ("3 ms<!--notes: 2.82 * 2-->", "which is 6 with"),
            ("123.456 ms<!--generated/counters.md-->", "is not in book/src/generated/counters.md"),
            ("123.456 ms<!--notes-->", "123.456 is not in kernels/NOTES.md under this chapter"),
        ];
        for (text, message) in cases {
            let found = wrong(text);
            assert!(found.contains(message), "{text}: {found}");
            assert_eq!(found.lines().count(), 1, "{text}: {found}");
        }
    }

    #[test]
    fn numbers_from_elsewhere_pass() {
        let texts = [
            "827 ms<!--original-->, as much as 0.827 s<!--original-->, 3.53 times<!--original: 827 / 234--> of it; 1.65 ms<!--original-->",
            "[The sheet](https://example.com) says 495 TFLOP/s<!--vendor-->.",
            "30 µs<!--example--> are 30 µs<!--example-->, and 348 ns<!--example: 690 / 1.98-->.",
            "99.4 %<!--generated/sim-h200/02-conv-shared.shared.diagnosis.txt--> of it.",
            "A share of 100 %<!--example: {nvidia-h200/03-unroll}fft.time / {nvidia-h200/03-unroll}fft.time-->.",
            "<!-- status 1 -->\n```console\n$ cargo doctor\n```\n\nA fence hides what `is code<!--lost-->`.\n\n```text\n1 ms<!--lost-->\n```\n",
        ];
        for text in texts {
            assert_eq!(wrong(text), "", "{text}");
        }
    }

    #[test]
    fn a_measured_number_without_a_mark_is_found() {
        let text = "In 3.62 ms, at **57 TFLOP/s**<!--notes-->, with `4 ms` of code,\n[5 ms](in-a-link.md), 485\nW and 9 KB.\n\n```text\n6 %\n```\n\n\
                    ```console\n$ 7 ms\n```\n";
        let found = unmarked(&page("03-unroll", text));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("book/src/03-unroll.md:1: 3.62 ms does not say"), "{found:?}");
        assert!(found[1].starts_with("book/src/03-unroll.md:2: 485 W does not say"), "{found:?}");
        assert!(found[2].starts_with("book/src/03-unroll.md:6: 6 % does not say"), "{found:?}");
    }
}
