//! `simcuda debug`, as a user runs it: commands are piped in, and what is printed is compared with values worked out by hand.

mod c_program;
mod ended;
mod golden;
mod transcript;

use std::fs::File;
use std::io::{Seek, Write};
use std::process::{Command, Stdio};

use self::transcript::Transcript;

/// This package, in which the commands run.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Runs `simcuda debug` on a case of the program. Returns its exit status, what it prints to standard output, and what to standard error.
fn run(options: &[&str], case: &[&str], commands: &[&str]) -> (Option<i32>, String, String) {
    let mut input: File = tempfile::tempfile().unwrap();
    writeln!(input, "{}", commands.join("\n")).unwrap();
    input.rewind().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
    command.current_dir(ROOT).arg("debug").args(options).arg("--").arg(c_program::compiled("stepping"));
    ended::run(command.arg("tests/ptx/stepping.ptx").args(case).stdin(input))
}

/// Returns the answers to commands, without what comes before the first. What the session prints is in `debug/NAME.txt`.
fn session(name: &str, options: &[&str], case: &str, commands: &[&str]) -> Vec<String> {
    let ended = run(options, &[case], commands);
    golden::assert_is(&format!("tests/debug/{name}.txt"), &ended.1);
    split(ended, commands)
}

/// Returns the answers to commands, without what comes before the first.
fn answers(options: &[&str], case: &str, commands: &[&str]) -> Vec<String> {
    split(run(options, &[case], commands), commands)
}

fn split((status, said, errors): (Option<i32>, String, String), commands: &[&str]) -> Vec<String> {
    assert_eq!(status, Some(0), "{said}\n{errors}");
    let answers = said.split("(simcuda) ").skip(1).zip(commands);
    let answers: Vec<String> = answers
        .map(|(text, command)| text.strip_prefix(&format!("{command}\n")).unwrap_or_else(|| panic!("{text}")).to_owned())
        .collect();
    assert_eq!(answers.len(), commands.len(), "{said}");
    answers
}

#[test]
fn the_session_of_the_book_is_what_the_command_prints() {
    let expected = include_str!("debug/session.txt");
    let commands: Vec<&str> = expected.lines().filter_map(|line| line.strip_prefix("(simcuda) ")).collect();
    let (_, said, _) = run(&[], &["race"], &commands);
    assert_eq!(said.strip_prefix("case race\n"), Some(expected));
}

#[test]
fn a_race_is_shown_from_both_sides() {
    let (status, said, errors) = run(&[], &["race"], &["other", "other"]);
    assert_eq!(status, Some(0), "{errors}");
    // What the program prints is shown once, although it runs three times.
    assert_eq!(said.matches("case race").count(), 1, "{said}");
    // Thread 32 adds 64 * 1, 64 * 2, and 64 * 3.
    assert!(said.contains("// lane 0: %rd9 = 128, %f10 = 384.0"), "{said}");
    golden::assert_is("tests/debug/race.txt", &said);
}

#[test]
fn a_value_that_is_written_again_has_a_new_origin() {
    // Thread 0 adds 0 three times. The load gives 0, too, which the register already had.
    let commands = [
        "goto 26",
        "origin %f10",
        "origin %f10",
        "origin %f10",
        "origin %f10",
        "goto 31",
        "print %f1[0]",
        "origin %f1",
        "print %f1[0]",
    ];
    let said = session("origins", &["--warp", "0"], "race", &commands);
    let numbers: Vec<&str> = said.iter().filter_map(|said| said.strip_prefix("instruction ")?.split(',').next()).collect();
    assert_eq!(numbers, ["26", "25", "20", "15", "6", "31", "11"], "{said:#?}");
    assert_eq!((said[6].as_str(), said[8].as_str()), ("%f1[0] = 0.0\n", "%f1[0] = nothing yet\n"));
}

#[test]
fn a_function_has_registers_of_its_own() {
    // The kernel's %r1 is n, which is 64, and the function's is its argument.
    let commands =
        ["break 32", "c", "print %r1[5]", "goto 15", "print %r1", "info registers", "warp 1", "lane 8", "goto 15", "print %r1"];
    let said = session("function", &["--kernel", "call"], "call", &commands);
    assert_eq!(said[2], "%r1[5] = 5\n", "{said:#?}");
    assert_eq!(said[4], "%r1 = 64 in all lanes\n");
    // The second warp has eight threads.
    assert_eq!((said[7].as_str(), said[9].as_str()), ("this warp has lanes 0 to 7\n", "%r1 = 64 in all lanes\n"));
}

#[test]
fn a_kernel_that_does_not_end_is_shown_where_it_was_stopped() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
    command
        .current_dir(ROOT)
        .env("SIMCUDA_FUEL", "200000")
        .args(["debug", "--steps", "1000", "--"])
        .arg(c_program::compiled("stepping"));
    let (status, said, _) = ended::run(command.args(["tests/ptx/stepping.ptx", "spin"]).stdin(Stdio::null()));
    assert_eq!(status, Some(0), "{said}");
    golden::assert_is("tests/debug/endless.txt", &said);
}

#[test]
fn steps_go_forward_and_backward_by_lines_and_instructions() {
    let commands = ["goto 0", "s", "s", "s", "s", "s", "rs 2", "rs", "si 2", "rsi", "c", "rc", "rc"];
    let lines = session("steps", &[], "race", &commands);
    let at = |answer: &String| {
        answer.lines().rev().find_map(|line| line.split_once("stepping.cu:")?.1.split(' ').next().map(str::to_owned))
    };
    let at: Vec<_> = lines.iter().map(at).collect();
    let at: Vec<_> = at.iter().map(|line| line.as_deref().unwrap_or_default()).collect();
    // The loop's test comes before its body, which comes three times. `continue` finds the race, and then its load.
    assert_eq!(at[..8], ["8", "11", "14", "11", "15", "14", "11", "14"], "{lines:#?}");
    assert_eq!((at[10], at[11]), ("17", "8"), "{lines:#?}");
}

#[test]
fn the_way_back_shows_what_the_way_there_showed() {
    let moves = 42;
    let mut commands = vec!["goto 0", "info registers"];
    commands.extend(["si", "info registers"].repeat(moves));
    commands.extend(["rsi", "info registers"].repeat(moves));
    let answers = answers(&[], "race", &commands);
    let states: Vec<_> = answers.chunks(2).collect();
    for (step, state) in states.iter().enumerate() {
        assert_eq!(*state, states[2 * moves - step], "after {step} moves");
    }
    let different: std::collections::BTreeSet<_> = states.iter().map(|state| state[1].clone()).collect();
    assert!(different.len() > 30, "{} states", different.len());
}

#[test]
fn a_value_is_followed_to_where_it_comes_from() {
    let commands =
        ["print %f10", "print %f10[3]", "print/x %f10[3]", "print %r3", "origin %f10", "origin %f10", "origin %f7", "origin %r3"];
    let said = session("values", &[], "race", &commands);
    assert_eq!((said[1].as_str(), said[2].as_str()), ("%f10[3] = 420.0\n", "%f10[3] = 0x43d20000\n"));
    assert_eq!(said[3], "%r3 = 3 in all lanes\n");
    // 64 + 128 + 192, then the sum without the last term, then its factor 2.
    assert!(said[4].contains("%f10 = 192.0, %f1 = 64.0, %f7 = 3.0; makes %f10 = 384.0"), "{}", said[4]);
    assert!(said[5].contains("%f10 = 64.0, %f1 = 64.0, %f7 = 2.0; makes %f10 = 192.0"), "{}", said[5]);
}

#[test]
fn lanes_that_branch_away_are_told_apart() {
    let commands = [
        "rs 3",
        "s",
        "si 3",
        "break 26",
        "info breakpoints",
        "rc",
        "c",
        "delete 25",
        "delete",
        "lane 7",
        "other",
        "info found",
        "list 2",
        "disassemble",
    ];
    session("lanes", &[], "fault", &commands);
}

#[test]
fn a_long_warp_is_recorded_in_parts() {
    // What was before the record is known.
    let commands = ["info found", "print %f10", "goto 3", "record 3", "where", "c"];
    session("parts", &["--steps", "10"], "race", &commands);
}

#[test]
fn any_warp_can_be_looked_at() {
    // The first warp has ended when the second begins.
    let commands = ["where", "warp 0", "warp 1", "warp 2", "where", "block 1", "lane 32"];
    session("warps", &["--kernel", "scale", "--warp", "1"], "clean", &commands);
    session("block", &["--block", "1", "--warp", "0"], "race", &["where"]);
}

#[test]
fn what_cannot_be_done_is_refused() {
    session("refused", &[], "race", &["fly", "print foo", "print", "print/q %f10", "goto x", "lane -1", "help", "", "q"]);
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark").display().to_string();
    let mut transcript = Transcript::new().naming(folder.path(), "FOLDER");
    for (options, case) in [
        (&[][..], &["clean"][..]),
        // Its second run launches less.
        (&[], &["once", &mark]),
        (&["--kernel", "none"], &["clean"]),
        (&["--launch", "3"], &["clean"]),
        (&["--kernel", "scale", "--warp", "2"], &["clean"]),
    ] {
        transcript.add(format_args!("simcuda debug {} -- STEPPING {}", options.join(" "), case.join(" ")), run(options, case, &[]));
    }
    transcript.assert_is("tests/messages/debug.txt");
}
