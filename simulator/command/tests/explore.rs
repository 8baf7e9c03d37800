//! `simcuda explore`, as a user runs it: mistakes with streams are found, and their correct twins are left alone.
#![cfg(target_os = "linux")]

mod c_program;
mod ended;
mod exercises;
mod golden;
mod transcript;

use std::process::Command;

use self::c_program::compiled;
use self::ended::run;
use self::transcript::Transcript;

use driver::report::Report;

/// This package, in which the commands run.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Each mistake of `foreign/streams.c`. Some are found in any order; others only by a wrong result in an order other than that of the calls.
const MISTAKES: [&str; 26] = [
    "no event between streams",
    "event recorded before the work",
    "wait before the record",
    "one event for two streams",
    "memset in another stream",
    "copy in another stream",
    "pinned memory changed too early",
    "pinned memory read too early",
    "pinned memory that has the right bytes already read too early",
    "wait for the wrong stream",
    "wait for the wrong event",
    "default stream and a stream that does not block",
    "upload and a stream that does not block",
    "copy on the device and a stream that does not block",
    "memset and a stream that does not block",
    "memory freed in another stream",
    "memory allocated in another stream",
    "an answer that is not looked at",
    "a function of the host in another stream",
    "one buffer for two chunks",
    "a join of one of two",
    "a graph and a copy",
    "an event that a graph records",
    "an event that a graph waits for",
    "nodes of a graph without an edge",
    "results downloaded before they are there",
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
    let mut transcript = Transcript::new().naming(&compiled("streams"), "STREAMS");
    for case in MISTAKES {
        let (status, said) = explore(&[], case, "wrong");
        assert_eq!(status, Some(1), "{case}: {said}");
        transcript.add(format_args!("simcuda explore -- STREAMS '{case}' wrong"), (status, String::new(), said));
    }
    transcript.assert_is("tests/messages/explore.txt");
}

#[test]
fn a_correct_twin_ends_alike_in_every_order() {
    let without_wrong_twin = [
        "a download to pageable memory, which waits",
        "both handles of the default stream",
        "work that reads pinned memory before a copy overwrites it",
    ];
    for case in MISTAKES.into_iter().chain(without_wrong_twin) {
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

/// The pipelines of `foreign/orders.c`, each with its number of ordering operations. These are records of events, waits for them, waits of the host,
/// edges of a graph, writes of values and waits for them, and a kernel's wait for the launch before it. Then its number of kernels and copies, and
/// the longest row of them in which each must wait for the one before.
const PIPELINES: [(&str, usize, (u32, u32)); 11] = [
    ("chunks in two streams", 8, (12, 6)),
    ("a ring of buffers", 13, (5, 5)),
    ("a fork and a join", 8, (5, 4)),
    ("a fork and a join, captured", 8, (5, 4)),
    ("a graph with edges", 7, (5, 4)),
    ("memory of a pool", 5, (2, 2)),
    ("a value in memory", 4, (3, 3)),
    ("a function of the host", 5, (2, 2)),
    ("a question that is asked until the answer is yes", 2, (2, 2)),
    ("the default stream", 4, (4, 4)),
    ("a launch that begins early", 2, (3, 3)),
];

#[test]
fn no_operation_that_orders_a_pipeline_can_be_left_out() {
    let explore_without = |pipeline: &str, left_out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
        // A wait for a value that nobody writes does not end.
        command.current_dir(ROOT).env("SIMCUDA_PATIENCE", "1").env("EARLY_PTX", "tests/ptx/early.ptx");
        command.args(["explore", "--schedules", "4", "--"]).arg(compiled("orders"));
        let (status, _, said) = run(command.args(["tests/ptx/streams.ptx", pipeline, left_out]));
        (status, said)
    };
    for (pipeline, count, (all, in_a_row)) in PIPELINES {
        let (status, said) = explore_without(pipeline, "-1");
        let row =
            format!("in all 5 orders, and nothing races; of its {all} kernels and copies, {in_a_row} must run one after the other");
        assert!(status == Some(0) && said.contains(&row), "{pipeline}: {status:?}, {said}");
        for left_out in 0..count {
            let (status, said) = explore_without(pipeline, &left_out.to_string());
            assert_ne!(status, Some(0), "{pipeline} without its operation {left_out}: {said}");
        }
        // There is no such operation.
        assert_eq!(explore_without(pipeline, &count.to_string()).0, Some(0), "{pipeline} has more operations");
    }
}

#[test]
fn an_order_repeats_by_its_number() {
    let (_, said) = explore(&[], "pinned memory read too early", "wrong");
    let number = said.split("SIMCUDA_SCHEDULE=").nth(1).unwrap().split(' ').next().unwrap();
    for (schedule, expected) in [("0", 0), (number, 1), (number, 1)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
        command
            .current_dir(ROOT)
            .env("SIMCUDA_SCHEDULE", schedule)
            .args(["run", "--allow-no-launch", "--"])
            .arg(compiled("streams"));
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
        command
            .current_dir(ROOT)
            .env("SIMCUDA_SCHEDULE", schedule)
            .args(["run", "--allow-no-launch", "--"])
            .arg(compiled("streams"));
        run(command.args(["tests/ptx/streams.ptx", "a graph and a copy", "right"]))
    };
    let mut transcript = Transcript::new();
    transcript.add("SIMCUDA_SCHEDULE=late simcuda run -- STREAMS", scheduled("late"));
    transcript.assert_is("tests/messages/explore-refused.txt");
}
