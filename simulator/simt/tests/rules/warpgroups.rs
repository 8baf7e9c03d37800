//! `setmaxnreg`, with which warpgroups pass registers to each other, and what else a pipeline of kernels needs.

use super::kernel;
use crate::common::{Gpu, Params};
use simt::{Finding, FindingKind, LaunchError, LaunchOptions, Module};

/// Returns the findings of a kernel of one block. Its threads start with this many registers each.
fn run(body: &str, threads: u32, registers: Option<u32>) -> Result<Vec<Finding>, Box<Finding>> {
    let options = LaunchOptions { registers_per_thread: registers, ..LaunchOptions::default() };
    let gpu = Gpu::with_options(&kernel("sm_90a", body), options);
    let output = gpu.buffer(&[7_u32; 256]);
    match gpu.try_launch("k", 1, threads, 0, &Params::new().with(output)) {
        Ok(report) => Ok(report.findings),
        Err(LaunchError::Fault { finding, .. }) => Err(finding),
        Err(other) => panic!("{other}\n{body}"),
    }
}

/// Returns code in which the second warpgroup takes registers. The first one gives some back, or does not.
fn passed_on(given: &str, taken: u32) -> String {
    format!(
        "setp.ge.u32 %p1, %r1, 128;\n@%p1 bra CONSUMER;\n{given}\nbra END;\nCONSUMER:\nsetmaxnreg.inc.sync.aligned.u32 {taken};\nEND:\n\
         st.global.u32 [%rd3], 5;"
    )
}

/// PTX ISA, `setmaxnreg`: an increase waits until the block has enough registers that other warps have released.
#[test]
fn registers_are_passed_on_and_not_made() {
    let gives = "setmaxnreg.dec.sync.aligned.u32 40;";
    assert_eq!(run(&passed_on(gives, 232), 256, Some(136)), Ok(Vec::new()), "136 - 40 are enough for 232 - 136");
    for (given, taken) in [("", 144), (gives, 240)] {
        let finding = run(&passed_on(given, taken), 256, Some(136)).expect_err("a deadlock");
        let FindingKind::RegisterDeadlock { count, .. } = finding.kind else { panic!("{finding}") };
        assert_eq!(count, taken);
        assert_eq!(run(&passed_on(given, taken), 256, None), Ok(Vec::new()), "nobody knows how many there are");
    }
}

/// PTX ISA, `setmaxnreg`: the count of a decrease is at most what the thread has, and that of an increase at least.
#[test]
fn the_count_is_on_the_right_side_of_what_a_thread_has() {
    for (instruction, is_right) in
        [("dec.sync.aligned.u32 40", true), ("inc.sync.aligned.u32 40", false), ("dec.sync.aligned.u32 200", false)]
    {
        let result = run(&format!("setmaxnreg.{instruction};"), 128, Some(128));
        match result {
            Ok(findings) => assert!(is_right && findings.is_empty(), "{instruction}: {findings:?}"),
            Err(finding) => {
                assert!(!is_right && matches!(finding.kind, FindingKind::InvalidRegisterCount { held: 128, .. }), "{finding}");
            }
        }
    }
}

/// PTX ISA, `setmaxnreg`: all threads of the warpgroup execute the same instruction.
#[test]
fn a_whole_warpgroup_changes_its_registers() {
    let only = |warps: u32| {
        format!(
            "setp.ge.u32 %p1, %r1, {};\n@%p1 bra END;\nsetmaxnreg.dec.sync.aligned.u32 40;\nEND:\nst.global.u32 [%rd3], 5;",
            32 * warps
        )
    };
    assert_eq!(run(&only(4), 256, None), Ok(Vec::new()));
    for (warps, threads) in [(3, 128), (5, 256), (2, 64)] {
        let findings = run(&only(warps), threads, None).expect("it runs");
        assert!(matches!(findings.as_slice(), [Finding { kind: FindingKind::PartialWarpgroup, .. }]), "{warps}: {findings:?}");
    }
    let some_lanes = "setp.ge.u32 %p1, %r1, 16;\n@%p1 setmaxnreg.dec.sync.aligned.u32 40;";
    let finding = run(some_lanes, 128, None).expect_err("half of a warp");
    assert!(matches!(finding.kind, FindingKind::PartialWarp), "{finding}");
}

/// PTX ISA, `setmaxnreg`: the count is a multiple of 8 from 24 to 256.
#[test]
fn counts_are_checked_before_the_launch() {
    for (count, is_right) in [(24, true), (256, true), (16, false), (264, false), (100, false)] {
        let parsed = Module::parse(&kernel("sm_90a", &format!("setmaxnreg.dec.sync.aligned.u32 {count};")));
        assert_eq!(parsed.is_ok(), is_right, "{count}");
        if let Err(error) = parsed {
            assert!(error.to_string().contains("must be a multiple of 8 from 24 to 256"), "{error}");
        }
    }
}

/// PTX ISA, `griddepcontrol`: the wait is for the grids before this one. Here they have ended by then.
#[test]
fn a_dependent_launch_has_nothing_to_wait_for() {
    let body = "griddepcontrol.wait;\nst.global.u32 [%rd3], 5;\ngriddepcontrol.launch_dependents;";
    assert_eq!(run(body, 64, None), Ok(Vec::new()));
}
