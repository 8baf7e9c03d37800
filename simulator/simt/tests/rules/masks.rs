//! The masks of instructions at which the lanes of a warp meet. CUDA C++ Programming Guide, "Warp Shuffle Functions": "each calling thread must
//! have its own bit set in the mask and all non-exited threads named in mask must execute the same intrinsic with the same mask, or the
//! result is undefined." PTX ISA, `shfl.sync`: the thread waits "until all non-exited threads corresponding to membermask have executed
//! shfl.sync with the same qualifiers and same membermask value", and "the behavior of shfl.sync is undefined if the executing thread is
//! not in the membermask". The same holds for the other instructions.
//!
//! What an H100 does with each (driver 580.159) is beside it. `synccheck` of CUDA 13.0 finds only a `__syncwarp` that does not name its lane.

use super::alarms::run;
use simt::{FindingKind, Severity};

/// Every instruction with a mask, which is in `%r8`. Lanes are in `%r1`.
const MEETINGS: [&str; 8] = [
    "shfl.sync.down.b32 %r9, %r1, 8, 31, %r8;",
    "shfl.sync.bfly.b32 %r9, %r1, 1, 31, %r8;",
    "vote.sync.ballot.b32 %r9, %p8, %r8;",
    "vote.sync.all.pred %p7, %p8, %r8;",
    "match.any.sync.b32 %r9, %r1, %r8;",
    "match.all.sync.b32 %r9|%p7, %r1, %r8;",
    "redux.sync.add.s32 %r9, %r1, %r8;",
    "bar.warp.sync %r8;",
];

/// Returns the masks that a kernel's findings name, with the absent lanes.
fn masks(body: &str, threads: u32) -> Vec<(u32, Option<u32>)> {
    let body = format!("setp.eq.u32 %p8, %r1, %r1;\nmov.u32 %r8, 0xffffffff;\n{body}\nst.global.u32 [%rd3], %r1;");
    let (findings, _) = run("h200", &body, threads).unwrap_or_else(|fault| panic!("{fault}\n{body}"));
    let masks = findings.iter().filter_map(|finding| match finding.kind {
        FindingKind::LaneMask { mask, absent } => {
            assert_eq!(finding.kind.severity(), Severity::Error);
            assert!(finding.location.instruction.contains(".sync"), "{finding}");
            Some((mask, absent))
        }
        FindingKind::AbsentLane { .. } => None,
        _ => panic!("{finding}\n{body}"),
    });
    masks.collect()
}

/// The lanes below 16 go to `lower`, the others to `upper`. All meet at the end.
fn halves(lower: &str, upper: &str) -> String {
    format!("setp.lt.u32 %p1, %r1, 16;\n@%p1 bra LOWER;\n{upper}\nbra.uni END;\nLOWER:\n{lower}\nEND:")
}

#[test]
fn a_lane_must_be_in_the_mask_that_it_names() {
    for meeting in MEETINGS {
        for (mask, threads, expected) in [
            // An H100 goes on, with a result as if the lanes were in the mask; synccheck says "Invalid arguments" for `bar.warp.sync`.
            ("mov.u32 %r8, 0xffff;", 32, vec![(0xffff, None)]),
            ("mov.u32 %r8, 0xfffffffe;", 32, vec![(0xffff_fffe, None)]),
            ("mov.u32 %r8, 0;", 32, vec![(0, None)]),
            // It ends with an illegal instruction at `bar.warp.sync`: lanes 16 to 19 name the mask of the others.
            ("setp.lt.u32 %p1, %r1, 20;\nselp.b32 %r8, 0xffff, 0xffff0000, %p1;", 32, vec![(0xffff, None)]),
            // Each half has a mask of its own; and a mask may name lanes that the block does not have.
            ("setp.lt.u32 %p1, %r1, 16;\nselp.b32 %r8, 0xffff, 0xffff0000, %p1;", 32, vec![]),
            ("mov.u32 %r8, 0xfffff;", 20, vec![]),
            ("", 20, vec![]),
            ("", 32, vec![]),
        ] {
            assert_eq!(masks(&format!("{mask}\n{meeting}"), threads), expected, "{mask} {meeting} {threads}");
        }
    }
}

#[test]
fn lanes_in_the_mask_must_come_or_end() {
    let absent = |lane| vec![(u32::MAX, Some(lane))];
    for meeting in MEETINGS {
        let later = format!(
            "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra HERE;\nbra.uni ON;\nHERE:\n{meeting}\nON:\nst.global.u32 [%rd3], 1;\nsetp.ge.u32 %p2, %r1, 16;\n@!%p2 bra END;\n{meeting}\nEND:"
        );
        let ragged = format!(
            "and.b32 %r6, %r1, 3;\nLOOP:\nsetp.eq.u32 %p1, %r6, 0;\n@%p1 bra END;\n{meeting}\nsub.u32 %r6, %r6, 1;\nbra.uni LOOP;\nEND:"
        );
        for (body, expected) in [
            // The upper half goes around the instruction. An H100 goes on when it ends, and hangs if a `__syncthreads()` follows.
            (halves(meeting, ""), absent(16)),
            (halves("", meeting), absent(0)),
            (format!("{}\nbar.sync 0;", halves(meeting, "")), absent(16)),
            (format!("setp.eq.u32 %p1, %r1, 5;\n@!%p1 {meeting}"), absent(5)),
            // Lanes leave a loop, and go on after it.
            (ragged, absent(0)),
            // The mask of a branch names the lanes of that branch.
            (halves(&format!("mov.u32 %r8, 0xffff;\n{meeting}"), ""), vec![]),
            // The others come at another place. An H100 lets them meet, and shuffles between them.
            (halves(meeting, meeting), vec![]),
            (later, vec![]),
            // They have ended, or end before they meet the waiting lanes again.
            (format!("setp.ge.u32 %p1, %r1, 16;\n@%p1 ret;\n{meeting}"), vec![]),
            (format!("setp.ge.u32 %p1, %r1, 16;\n@!%p1 bra HERE;\nst.global.u32 [%rd3], 5;\nret;\nHERE:\n{meeting}"), vec![]),
        ] {
            assert_eq!(masks(&body, 32), expected, "{body}");
        }
    }
}

/// Lanes of a branch are not ordered with lanes that are elsewhere.
#[test]
fn lanes_that_do_not_come_are_not_ordered() {
    let body = format!(
        ".shared .align 4 .b8 tile[128];\nmov.u32 %r4, tile;\nshl.b32 %r5, %r1, 2;\nadd.u32 %r6, %r4, %r5;\nst.shared.u32 [%r6], %r1;\n\
         mov.u32 %r8, 0xffffffff;\n{}\nxor.b32 %r7, %r6, 64;\nld.shared.u32 %r9, [%r7];\nst.global.u32 [%rd3], %r9;",
        halves("bar.warp.sync %r8;", "")
    );
    let (findings, _) = run("h200", &body, 32).expect("no fault");
    assert!(findings.iter().any(|finding| matches!(finding.kind, FindingKind::Race { same_warp: true, .. })), "{findings:?}");
}
