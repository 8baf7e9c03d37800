//! `simcuda debug`, as a user runs it: commands are piped in, and what is printed is compared with values worked out by hand.

mod c_program;
mod ended;

use std::fs::File;
use std::io::{Seek, Write};
use std::process::{Command, Stdio};

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

/// The answers to commands, without what comes before the first.
fn answers(options: &[&str], case: &str, commands: &[&str]) -> Vec<String> {
    let (status, said, errors) = run(options, &[case], commands);
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
    for expected in [
        "launch 2 of the process, kernel reverse, grid (2,1,1), block (64,1,1)\nwarp 1 of block (0,0,0), lane 0 is thread (32,0,0)\n",
        "42 instructions are recorded, all of this warp",
        "data race on shared memory: store of 4 bytes at 0x80",
        "tests/ptx/stepping.cu:17  s_values[i] = sum;",
        // Thread 32 adds 64 * 1, 64 * 2, and 64 * 3.
        "// lane 0: %rd9 = 128, %f10 = 384.0",
        "(simcuda) other\nwarp 0 of block (0,0,0), lane 31 is thread (31,0,0)\n",
        "tests/ptx/stepping.cu:18  output[i] = s_values[63 - i];",
        "ld.shared.f32 %f8, [%rd11];  // lane 31: %rd11 = 128; makes %f8 = 0.0",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let back = said.split("(simcuda) other\n").last().unwrap();
    assert!(
        back.starts_with("warp 1 of block (0,0,0), lane 0 is thread (32,0,0)\n") && back.contains("\ninstruction 31, "),
        "{back}"
    );
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
    let said = answers(&["--warp", "0"], "race", &commands);
    let numbers: Vec<&str> = said.iter().filter_map(|said| said.strip_prefix("instruction ")?.split(',').next()).collect();
    assert_eq!(numbers, ["26", "25", "20", "15", "6", "31", "11"], "{said:#?}");
    assert_eq!((said[6].as_str(), said[8].as_str()), ("%f1[0] = 0.0\n", "%f1[0] = nothing yet\n"));
}

#[test]
fn a_function_has_registers_of_its_own() {
    // The kernel's %r1 is n, which is 64, and the function's is its argument.
    let commands =
        ["break 32", "c", "print %r1[5]", "goto 15", "print %r1", "info registers", "warp 1", "lane 8", "goto 15", "print %r1"];
    let said = answers(&["--kernel", "call"], "call", &commands);
    assert_eq!(said[2], "%r1[5] = 5\n", "{said:#?}");
    assert_eq!(said[4], "%r1 = 64 in all lanes\n");
    assert!(said[5].contains("\n  %r1 = 64\n") && said[5].contains("odd") && said[5].contains("::%r1 = 0\n"), "{}", said[5]);
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
    for expected in ["kernel spin does not end", "warp 1 of block (0,0,0)", "stepping.cu:46  while (values[0] == values[0]) {"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn steps_go_forward_and_backward_by_lines_and_instructions() {
    let lines = answers(&[], "race", &["goto 0", "s", "s", "s", "s", "s", "rs 2", "rs", "si 2", "rsi", "c", "rc", "rc"]);
    let at = |answer: &String| {
        answer.lines().rev().find_map(|line| line.split_once("stepping.cu:")?.1.split(' ').next().map(str::to_owned))
    };
    let at: Vec<_> = lines.iter().map(at).collect();
    let at: Vec<_> = at.iter().map(|line| line.as_deref().unwrap_or_default()).collect();
    // The loop's test comes before its body, which comes three times. `continue` finds the race, and then its load.
    assert_eq!(at[..8], ["8", "11", "14", "11", "15", "14", "11", "14"], "{lines:#?}");
    assert!(lines[8].starts_with("instruction 7,") && lines[9].starts_with("instruction 6,"), "{lines:#?}");
    assert_eq!((at[10], at[11]), ("17", "8"), "{lines:#?}");
    assert!(lines[12].starts_with("This is the first recorded instruction.\n"), "{lines:#?}");
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
    let said = answers(&[], "race", &commands);
    assert!(said[0].contains("lanes  0 to  7: 384.0 396.0 408.0"), "{}", said[0]);
    assert_eq!((said[1].as_str(), said[2].as_str()), ("%f10[3] = 420.0\n", "%f10[3] = 0x43d20000\n"));
    assert_eq!(said[3], "%r3 = 3 in all lanes\n");
    // 64 + 128 + 192, then the sum without the last term, then its factor 2.
    assert!(said[4].contains("%f10 = 192.0, %f1 = 64.0, %f7 = 3.0; makes %f10 = 384.0"), "{}", said[4]);
    assert!(said[5].contains("%f10 = 64.0, %f1 = 64.0, %f7 = 2.0; makes %f10 = 192.0"), "{}", said[5]);
    assert!(said[6].contains("cvt.rn.f32.s32 %f7, %r9;  // lane 0: %r9 = 2; makes %f7 = 2.0"), "{}", said[6]);
    assert!(said[7].contains("ld.param.u32 %r3, [reverse_param_2];"), "{}", said[7]);
}

#[test]
fn lanes_that_branch_away_are_told_apart() {
    let said = answers(
        &[],
        "fault",
        &["rs 3", "s", "si 3", "break 26", "rc", "c", "lane 7", "other", "info found", "list 2", "disassemble"],
    );
    assert!(said[0].contains("if (i <= n) {") || said[0].contains("stepping.cu:24"), "{}", said[0]);
    assert_eq!(said[3], "breakpoint at 26\n");
    assert!(said[4].contains("stepping.cu:26"), "{}", said[4]);
    assert!(said[5].starts_with("out of bounds: store of 4 bytes"), "{}", said[5]);
    assert!(said[5].contains("lane 31: ") && said[6].contains("lane 7: "), "{} {}", said[5], said[6]);
    assert_eq!(said[7], "nothing is found in this warp that has another side\n");
    assert!(said[8].starts_with("at instruction 10: out of bounds"), "{}", said[8]);
    assert!(said[9].contains("     2  extern \"C\" __global__ void scale"), "{}", said[9]);
    assert!(said[10].lines().any(|line| line.starts_with("=>") && line.contains("st.global.u32")), "{}", said[10]);
}

#[test]
fn a_long_warp_is_recorded_in_parts() {
    let said = answers(&["--steps", "10"], "race", &["info found", "print %f10", "goto 3", "record 3", "where", "c"]);
    assert!(said[0].starts_with("at instruction 31: data race"), "{}", said[0]);
    assert!(said[1].contains("lanes  0 to  7: 384.0 396.0"), "what was before the record is known: {}", said[1]);
    assert_eq!(said[2], "that is not recorded: instructions 26 to 35 of 42 are recorded; `record N` records from another one on\n");
    assert!(said[4].contains("\ninstruction 3, after 45 of the block, in all lanes"), "{}", said[4]);
    assert_eq!(said[5], "the end of the record\n");
}

#[test]
fn any_warp_can_be_looked_at() {
    let said = answers(
        &["--kernel", "scale", "--warp", "1"],
        "clean",
        &["where", "warp 0", "warp 1", "warp 2", "where", "block 1", "lane 32"],
    );
    assert!(said[0].contains("\ninstruction 0, after 10 of the block"), "{}", said[0]);
    // The first warp has ended by then.
    assert!(said[1].contains("the end of the warp"), "{}", said[1]);
    assert_eq!(said[3], "a block of (64,1,1) threads has 2 warps, counted from 0\n");
    assert!(said[4].contains("\ninstruction "), "{}", said[4]);
    assert_eq!(said[5], "the grid has (1,1,1) blocks, so there is no block (1,0,0)\n");
    assert_eq!(said[6], "this warp has lanes 0 to 31\n");
    let other_block = answers(&["--block", "1", "--warp", "0"], "race", &["where"]);
    assert!(other_block[0].contains("lane "), "{}", other_block[0]);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let said = answers(&[], "race", &["fly", "print foo", "print", "print/q %f10", "goto x", "lane -1", "help", "", "q"]);
    for (answer, expected) in said.iter().zip([
        "there is no command fly; type help\n",
        "there is no register foo; PTX keeps no names of C variables, and `info registers` lists what there is\n",
        "print what? A register, as PTX names it; `info registers` lists them\n",
        "there is no format q; there are d, u, x and f\n",
        "x is not a number\n",
        "-1 is not a number\n",
        "Movement; ",
        "",
        "",
    ]) {
        assert!(answer.starts_with(expected), "{answer}");
    }
    let mark = tempfile::tempdir().unwrap();
    let mark = mark.path().join("mark").display().to_string();
    for (options, case, expected) in [
        (&[][..], &["clean"][..], "nothing is found in the kernels of this program; say what to look at: --kernel 'scale'"),
        (
            &[],
            &["once", &mark],
            "there was no launch 2 of kernel shift in this run; are there so many, and does the program depend on time",
        ),
        (&["--kernel", "none"], &["clean"], "the program does not launch a kernel none; it launches scale"),
        (&["--launch", "3"], &["clean"], "there was no launch 3 in this run"),
        (&["--kernel", "scale", "--warp", "2"], &["clean"], "a block of (64,1,1) threads has 2 warps"),
        (&["--block", "x"], &["clean"], "`x` is not the index of a block, such as 3 or 3,0,0"),
    ] {
        let (status, _, errors) = run(options, case, &[]);
        assert!(status == Some(2) && errors.contains(expected), "{options:?}: {status:?}, {errors}");
    }
}
