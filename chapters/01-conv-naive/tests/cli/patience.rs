//! Long work says how long it takes, and starts only for somebody who wants it.

use support::binary::stderr;

use super::BINARY;

#[test]
fn work_of_years_is_refused_with_its_time_where_nobody_can_answer() {
    let output = BINARY.run(&["--size", "1000000x10000000"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(output.stdout.is_empty());
    let last = message.lines().last().unwrap_or_default();
    assert!(last.starts_with("error: this would take about ") && last.contains("--yes"), "{message}");
    assert!(["days", "years"].iter().any(|unit| last.contains(unit)), "{message}");
}

#[test]
fn an_explanation_of_long_work_is_refused_as_well_and_a_short_run_is_not_even_announced() {
    refuses(&["--explain", "naive", "--size", "1000000x1000000"]);
    refuses(&["--diagnose", "naive", "--size", "1000000x1000000"]);
    let output = BINARY.run(&[]);
    assert!(!stderr(&output).contains("time "), "{}", stderr(&output));
}

fn refuses(arguments: &[&str]) {
    let output = BINARY.run(arguments);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--yes"), "{}", stderr(&output));
}
