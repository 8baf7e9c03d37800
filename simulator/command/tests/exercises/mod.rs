//! The book's exercises in host code, and answers that a reader may give: the command of the page refuses every wrong one, and nothing else.

use std::process::Command;

use cudarc::driver::{CudaFunction, DriverError};
use streams::fork_join::{Image, Stream, smooth};
use streams::{fork_join, overlapping_copies};

use crate::ended::run;

/// Words of a page.
const RACE_OF_FORK: &str = "kernel smooth on stream 2 reads and a copy from host to device on stream 1 writes the same bytes";
const RACE_OF_JOIN: &str = "a copy from device to host on stream 1 reads and kernel smooth on stream 2 writes the same bytes";
const RACE_OF_COPIES: &str = "a copy from host to device on stream 2 writes and kernel smooth on stream 1 reads the same bytes";
const TOO_MUCH_ORDER: &str = "Work overlaps only in different streams";
const HOST_IS_EARLY: &str = "So the host uses something too early";

/// A named answer, with words that refuse it if it is wrong.
type Judged<Answer> = (&'static str, Answer, Option<&'static str>);

#[rustfmt::skip]
const FORKS_AND_JOINS: [Judged<fork_join::Answer>; 13] = [
    ("cudarc's own join", |kernel, first, second, [one, two]| {
        second.join(first)?;
        smooth(kernel, second, two)?;
        smooth(kernel, first, one)?;
        first.join(second)
    }, None),
    ("a stream of its own", |kernel, first, _, [one, two]| {
        let third = first.fork()?;
        smooth(kernel, first, one)?;
        smooth(kernel, &third, two)?;
        first.join(&third)
    }, None),
    ("the host waits for the input", |kernel, first, second, [one, two]| {
        first.synchronize()?;
        smooth(kernel, second, two)?;
        smooth(kernel, first, one)?;
        first.join(second)
    }, None),
    ("a join in the middle too, of what is done", |kernel, first, second, [one, two]| {
        second.join(first)?;
        smooth(kernel, first, two)?;
        first.join(second)?;
        smooth(kernel, second, one)?;
        first.join(second)
    }, None),
    ("fork only", |kernel, first, second, images| {
        second.join(first)?;
        both(kernel, first, second, images)
    }, Some(RACE_OF_JOIN)),
    ("join only", |kernel, first, second, images| {
        both(kernel, first, second, images)?;
        first.join(second)
    }, Some(RACE_OF_FORK)),
    ("the join's event recorded before the launches", |kernel, first, second, images| {
        second.join(first)?;
        let event = second.record_event(None)?;
        both(kernel, first, second, images)?;
        first.wait(&event)
    }, Some(RACE_OF_JOIN)),
    ("the fork's wait after the launches", |kernel, first, second, images| {
        let event = first.record_event(None)?;
        both(kernel, first, second, images)?;
        second.wait(&event)?;
        first.join(second)
    }, Some(RACE_OF_FORK)),
    ("each stream waits for itself", |kernel, first, second, images| {
        first.join(first)?;
        both(kernel, first, second, images)?;
        second.join(second)
    }, Some(RACE_OF_FORK)),
    ("one stream", |kernel, first, _, images| both(kernel, first, first, images), Some(TOO_MUCH_ORDER)),
    ("the fork after the first image", |kernel, first, second, [one, two]| {
        smooth(kernel, first, one)?;
        second.join(first)?;
        smooth(kernel, second, two)?;
        first.join(second)
    }, Some(TOO_MUCH_ORDER)),
    ("the host waits between the images", |kernel, first, second, [one, two]| {
        smooth(kernel, first, one)?;
        first.synchronize()?;
        smooth(kernel, second, two)?;
        second.synchronize()
    }, Some(TOO_MUCH_ORDER)),
    ("no image is smoothed", |_, _, _, _| Ok(()), Some("wrong results")),
];

fn both(kernel: &CudaFunction, first: &Stream, second: &Stream, [one, two]: &mut [Image; 2]) -> Result<(), DriverError> {
    smooth(kernel, first, one)?;
    smooth(kernel, second, two)
}

/// One image in a stream, with arrays of its own.
macro_rules! alone {
    ($kernel:ident, $stream:expr, $image:expr, $result:expr) => {{
        let (mut input, mut output) =
            ($stream.alloc_zeros(overlapping_copies::VALUES)?, $stream.alloc_zeros(overlapping_copies::VALUES)?);
        $stream.memcpy_htod($image, &mut input)?;
        overlapping_copies::smooth($kernel, $stream, &input, &mut output)?;
        $stream.memcpy_dtoh(&output, $result)?;
    }};
}

#[rustfmt::skip]
const COPIES: [Judged<overlapping_copies::Answer>; 8] = [
    ("arrays for each image", |kernel, streams, images, results| {
        for (i, result) in results.iter_mut().enumerate() {
            alone!(kernel, &streams[i % 2], &images[i], result);
        }
        streams.iter().try_for_each(|stream| stream.synchronize())
    }, None),
    ("a stream for each image", |kernel, streams, images, results| {
        for (image, result) in images.iter().zip(results) {
            let stream = streams[0].context().new_stream()?;
            alone!(kernel, &stream, image, result);
        }
        streams[0].context().synchronize()
    }, None),
    ("half of the images in each stream", |kernel, streams, images, results| {
        for (i, result) in results.iter_mut().enumerate() {
            alone!(kernel, &streams[i / 2], &images[i], result);
        }
        streams[0].join(&streams[1])?;
        streams[0].synchronize()
    }, None),
    ("one stream for all copies", |kernel, streams, images, results| {
        for (image, result) in images.iter().zip(results) {
            alone!(kernel, &streams[0], image, result);
        }
        streams[0].synchronize()
    }, Some(TOO_MUCH_ORDER)),
    ("the host waits for each image", |kernel, streams, images, results| {
        for (i, result) in results.iter_mut().enumerate() {
            alone!(kernel, &streams[i % 2], &images[i], result);
            streams[i % 2].synchronize()?;
        }
        Ok(())
    }, Some(TOO_MUCH_ORDER)),
    ("each image waits for the one before", |kernel, streams, images, results| {
        for (i, result) in results.iter_mut().enumerate() {
            streams[i % 2].join(&streams[1 - i % 2])?;
            alone!(kernel, &streams[i % 2], &images[i], result);
        }
        streams.iter().try_for_each(|stream| stream.synchronize())
    }, Some(TOO_MUCH_ORDER)),
    ("no wait at the end", |kernel, streams, images, results| {
        for (i, result) in results.iter_mut().enumerate() {
            alone!(kernel, &streams[i % 2], &images[i], result);
        }
        Ok(())
    }, Some(HOST_IS_EARLY)),
    ("a wait for one of two streams", |kernel, streams, images, results| {
        for (i, result) in results.iter_mut().enumerate() {
            alone!(kernel, &streams[i % 2], &images[i], result);
        }
        streams[0].synchronize()
    }, Some(HOST_IS_EARLY)),
];

/// The variable that names an answer.
const ANSWER: &str = "ANSWER";

/// Judges an answer as a page's command does, in fewer orders.
///
/// `in_a_row` is the limit of that page.
fn judge(name: &str, in_a_row: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
    command.args(["explore", "--schedules", "4", "--in-a-row", in_a_row, "--"]).arg(std::env::current_exe().unwrap());
    let (status, _, said) = run(command.args(["--exact", "exercises::an_answer", "--ignored"]).env(ANSWER, name));
    (status, said)
}

#[test]
fn a_starter_fails_with_the_words_of_its_page_and_its_solution_passes() {
    for (name, in_a_row, words) in
        [("fork-join", "12", &[RACE_OF_FORK, RACE_OF_JOIN][..]), ("overlapping-copies", "6", &[RACE_OF_COPIES])]
    {
        let (status, said) = judge(name, in_a_row);
        assert!(status == Some(1) && words.iter().all(|words| said.contains(words)), "{name}: {status:?}, {said}");
        let (status, said) = judge(&format!("{name} --solution"), in_a_row);
        let promised = format!("{in_a_row} must run one after the other");
        assert!(status == Some(0) && said.contains(&promised), "{name}: {status:?}, {said}");
    }
}

#[test]
fn every_wrong_answer_is_refused_with_its_reason_and_every_right_one_passes() {
    let answers = FORKS_AND_JOINS.iter().map(|(name, _, words)| ("12", name, words));
    for (in_a_row, name, words) in answers.chain(COPIES.iter().map(|(name, _, words)| ("6", name, words))) {
        let (status, said) = judge(name, in_a_row);
        let is_judged = match words {
            None => status == Some(0) && said.contains("in all 5 orders, and nothing races"),
            Some(words) => status.is_some_and(|status| status != 0) && said.contains(words),
        };
        assert!(is_judged, "{name}: {status:?}, {said}");
    }
}

#[test]
#[ignore = "other tests run it, as a program of its own"]
fn an_answer() {
    let name = std::env::var(ANSWER).unwrap();
    let fork_join = FORKS_AND_JOINS.iter().find(|(other, ..)| *other == name).map(|(_, answer, _)| fork_join::run(*answer));
    let copies = || COPIES.iter().find(|(other, ..)| *other == name).map(|(_, answer, _)| overlapping_copies::run(*answer));
    let words: Vec<&str> = name.split(' ').collect();
    fork_join.or_else(copies).unwrap_or_else(|| streams::run(&words)).unwrap();
}
