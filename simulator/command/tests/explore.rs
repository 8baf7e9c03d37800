//! `simcuda explore`, as a user runs it: mistakes with streams are found, and their correct twins are left alone.
#![cfg(target_os = "linux")]

mod c_program;
mod ended;

use std::process::Command;

use self::c_program::compiled;
use self::ended::run;

use driver::report::Report;

/// This package, in which the commands run.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Each mistake of `foreign/streams.c`, with a part of what is said about it. Some are found in any order; others only by a wrong result in
/// an order other than that of the calls.
const MISTAKES: [(&str, &str); 26] = [
    ("no event between streams", "kernel add on stream 2 reads and kernel twice on stream 1 writes the same bytes"),
    ("event recorded before the work", "race between streams: kernel add"),
    ("wait before the record", "race between streams: kernel add"),
    ("one event for two streams", "race between streams: kernel add"),
    ("memset in another stream", "and memset on stream"),
    ("copy in another stream", "a copy from device to device on stream 2"),
    ("pinned memory changed too early", "race with the host: it changes pinned memory before a copy has read it"),
    ("pinned memory read too early", "the host uses something too early"),
    ("pinned memory that has the right bytes already read too early", "the host uses something too early"),
    ("wait for the wrong stream", "the host uses something too early"),
    ("wait for the wrong event", "the host uses something too early"),
    ("default stream and a stream that does not block", "kernel twice on the default stream"),
    ("upload and a stream that does not block", "race between streams: kernel twice"),
    ("copy on the device and a stream that does not block", "race between streams: kernel twice"),
    ("memset and a stream that does not block", "memset on the default stream"),
    ("memory freed in another stream", "cuMemFreeAsync"),
    ("memory allocated in another stream", "cuMemAllocAsync"),
    ("an answer that is not looked at", "the host uses something too early"),
    ("a function of the host in another stream", "the host uses something too early"),
    ("one buffer for two chunks", "race between streams: "),
    ("a join of one of two", "race between streams: kernel add"),
    ("a graph and a copy", "a graph on stream 1"),
    ("an event that a graph records", "a graph on stream 1"),
    ("an event that a graph waits for", "a graph on stream 2"),
    (
        "nodes of a graph without an edge",
        "kernel add in a graph on stream 1 reads and kernel twice in a graph on stream 1 writes the same bytes, and no path of edges",
    ),
    ("results downloaded before they are there", "kernel twice on stream 1"),
];

/// Runs `simcuda explore` on a case of the program. Returns its exit status and what it says.
fn explore(options: &[&str], case: &str, twin: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
    command.current_dir(ROOT).arg("explore").args(options).arg("--").arg(compiled("streams")).args([
        "tests/ptx/streams.ptx",
        case,
        twin,
    ]);
    let (status, _, said) = run(&mut command);
    (status, said)
}

#[test]
fn every_mistake_is_found_and_told() {
    for (case, told) in MISTAKES {
        let (status, said) = explore(&[], case, "wrong");
        assert!(status == Some(1) && said.contains(told), "{case}: {status:?}, {said}");
        let repeated = said.lines().last().unwrap_or_default();
        assert!(repeated.starts_with("Repeat it with: SIMCUDA_SCHEDULE="), "{case}: {said}");
        assert!(repeated.ends_with(&format!("streams.ptx '{case}' wrong")), "{case}: {said}");
    }
}

#[test]
fn a_correct_twin_ends_alike_in_every_order() {
    let without_wrong_twin = [
        "a download to pageable memory, which waits",
        "both handles of the default stream",
        "work that reads pinned memory before a copy overwrites it",
    ];
    for case in MISTAKES.map(|(case, _)| case).into_iter().chain(without_wrong_twin) {
        let (status, said) = explore(&["--schedules", "20"], case, "right");
        assert!(status == Some(0) && said.contains("in all 21 orders, and nothing races"), "{case}: {status:?}, {said}");
    }
}

#[test]
fn a_callback_tells_the_host_that_work_is_done() {
    // The host waits in memory, so that late work begins only after a second without a call.
    let (status, said) = explore(&["--schedules", "1"], "a callback that tells the host", "right");
    assert!(status == Some(0) && said.contains("in all 2 orders, and nothing races"), "{status:?}, {said}");
}

#[test]
fn an_order_repeats_by_its_number() {
    let (_, said) = explore(&[], "pinned memory read too early", "wrong");
    let number = said.split("SIMCUDA_SCHEDULE=").nth(1).unwrap().split(' ').next().unwrap();
    for (schedule, expected) in [("0", 0), (number, 1), (number, 1)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
        command.current_dir(ROOT).env("SIMCUDA_SCHEDULE", schedule).args(["run", "--"]).arg(compiled("streams"));
        let status = command.args(["tests/ptx/streams.ptx", "pinned memory read too early", "wrong"]).output().unwrap().status;
        assert_eq!(status.code(), Some(expected), "schedule {schedule}");
    }
}

#[test]
fn the_report_of_the_order_that_fails_is_written_for_machines() {
    let folder = tempfile::TempDir::new().unwrap();
    let [json, junit, sarif] = ["json", "junit", "sarif"].map(|form| format!("{form}:{}", folder.path().join(form).display()));
    let outputs = ["--schedules", "4", "--report", &json, "--report", &junit, "--report", &sarif, "--report", "github"];
    let read = |form: &str| std::fs::read_to_string(folder.path().join(form)).unwrap();
    for (case, told, kernel) in [
        ("no event between streams", "race between streams: kernel add on stream 2", "add"),
        ("pinned memory read too early", "race with the host: in order 1 the program ends with exit status 1", "(no kernel)"),
    ] {
        let (status, said) = explore(&outputs, case, "wrong");
        assert!(status == Some(1) && said.contains("::error "), "{case}: {status:?}, {said}");
        let report: Report = serde_json::from_str(&read("json")).unwrap();
        let [defect] = &report.defects[..] else { panic!("{case}: {:?}", report.defects) };
        assert!(defect.message.starts_with(told) && defect.kernel == kernel, "{case}: {defect:?}");
        assert!(read("junit").contains("<failure ") && read("junit").contains(told), "{case}: {}", read("junit"));
        assert!(read("sarif").contains(told) && read("sarif").contains(r#""ruleId": "race-streams""#), "{case}: {}", read("sarif"));

        let (status, said) = explore(&outputs, case, "right");
        assert!(status == Some(0) && !said.contains("::error "), "{case}: {status:?}, {said}");
        assert!(!read("junit").contains("<failure ") && !read("sarif").contains(told), "{case}: {}", read("junit"));
    }
}

#[test]
fn what_cannot_be_explored_is_refused() {
    let scheduled = |schedule: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
        command.current_dir(ROOT).env("SIMCUDA_SCHEDULE", schedule).args(["run", "--"]).arg(compiled("streams"));
        run(command.args(["tests/ptx/streams.ptx", "a graph and a copy", "right"]))
    };
    let (status, _, said) = scheduled("late");
    assert!(status == Some(92) && said.contains("SIMCUDA_SCHEDULE"), "{status:?}, {said}");
    let (status, _, said) = run(Command::new(env!("CARGO_BIN_EXE_simcuda")).args(["explore", "--", "/no/such/program"]));
    assert!(status == Some(2) && said.contains("/no/such/program"), "{status:?}, {said}");
}
