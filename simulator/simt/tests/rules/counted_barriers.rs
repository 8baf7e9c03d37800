//! Barriers with a number of threads. PTX ISA, `bar`: the operand "specifies the number of threads participating in the barrier", and a
//! warp adds 32 when it arrives. No document says whether threads count that have ended, so each case was run on a GPU: an H100 with driver
//! 580.159, where a case that does not end was killed after five seconds.

use super::alarms::run;
use ptx::finding::BarrierCount;
use simt::{Finding, FindingKind};

/// Warps 2 and 3 of four end first.
const HALF: &str = "setp.ge.u32 %p1, %r2, 2;\n@%p1 ret;\n";
/// They end long after the other two have arrived.
const HALF_LATE: &str = "setp.lt.u32 %p1, %r2, 2;\n@%p1 bra HERE;\nmov.u32 %r5, 0;\nSPIN: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 50000;\n\
                         @%p2 bra SPIN;\nret;\nHERE:\n";
/// The upper lanes of each warp end first.
const LANES: &str = "setp.ge.u32 %p1, %r3, 16;\n@%p1 ret;\n";

/// Runs 128 threads. Their warp is in `%r2`, and their lane in `%r3`.
fn four_warps(body: &str) -> Result<(Vec<Finding>, Vec<u32>), Box<Finding>> {
    run("h200", &format!("shr.u32 %r2, %r1, 5;\nand.b32 %r3, %r1, 31;\nsetp.eq.u32 %p3, %r1, %r1;\n{body}"), 128)
}

/// Warps 2 and 3 execute `upper` and end, the others execute `lower`.
fn halves(upper: &str, lower: &str) -> String {
    format!("setp.lt.u32 %p1, %r2, 2;\n@%p1 bra LOWER;\n{upper}\nret;\nLOWER:\n{lower}")
}

#[test]
fn a_barrier_opens_where_that_of_a_gpu_does() {
    let opens = None;
    let waits = |expected, arrived, ended| Some(BarrierCount { expected, arrived, ended });
    for (before, barrier, outcome) in [
        // Warps that have ended are not counted, in any form.
        (HALF, "bar.sync 1, 128;", waits(128, 64, 64)),
        (HALF, "bar.sync 1, 96;", waits(96, 64, 64)),
        (HALF, "bar.sync 1, 64;", opens),
        (HALF, "barrier.sync 1, 128;", waits(128, 64, 64)),
        (HALF, "barrier.sync.aligned 1, 128;", waits(128, 64, 64)),
        (HALF, "bar.red.popc.u32 %r4, 1, 128, %p3;", waits(128, 64, 64)),
        (HALF_LATE, "bar.sync 1, 128;", waits(128, 64, 64)),
        (HALF_LATE, "barrier.sync 1, 128;", waits(128, 64, 64)),
        // Without a number, the barrier is for the threads that are left.
        (HALF, "bar.sync 1;", opens),
        (HALF, "barrier.sync 1;", opens),
        (HALF, "bar.red.popc.u32 %r4, 1, %p3;", opens),
        (HALF_LATE, "bar.sync 1;", opens),
        // A warp counts as 32 threads, even if only some of its threads are left.
        (LANES, "bar.sync 1, 128;", opens),
        (LANES, "barrier.sync 1, 128;", opens),
        (LANES, "barrier.sync 1, 64;", opens),
        (LANES, "barrier.sync 1;", opens),
        // More threads than the block has.
        ("", "bar.sync 1, 256;", waits(256, 128, 0)),
        // It opens for those that came first. A third warp waits for a fourth.
        ("", "bar.sync 1, 64;", opens),
        ("setp.eq.u32 %p1, %r2, 3;\n@%p1 ret;\n", "bar.sync 1, 64;", waits(64, 32, 96)),
        (&halves("bar.sync 1, 128;", "bar.sync 1, 128;"), "bar.sync 1, 128;", waits(128, 64, 64)),
        // A warp that arrives without waiting is counted, and may end then.
        (&halves("bar.arrive 1, 128;", ""), "bar.sync 1, 128;", opens),
        (&halves("barrier.arrive 1, 128;", ""), "barrier.sync 1, 128;", opens),
        (
            &format!("{HALF}setp.eq.u32 %p2, %r2, 0;\n@!%p2 bra WAITS;\nbar.arrive 1, 128;\nret;\nWAITS:\n"),
            "bar.sync 1, 128;",
            waits(128, 64, 96),
        ),
    ] {
        let name = format!("{before}{barrier}");
        match (four_warps(&name), outcome) {
            (Ok(_), None) => {}
            (Err(fault), Some(count)) => {
                assert_eq!(fault.kind, FindingKind::Deadlock { barrier: 1, count: Some(count) }, "{name}");
                assert!(fault.location.instruction.starts_with("bar"), "{fault}");
            }
            (result, _) => panic!("{name}: {result:?}"),
        }
    }
}

/// PTX ISA, `barrier`: with `.aligned`, "all threads in the warp must execute the same" barrier; without, they need not. An H100 lets both halves
/// pass, and ends the kernel with an illegal instruction if they wait at two different barriers.
#[test]
fn halves_of_a_warp_may_arrive_at_different_places_if_the_barrier_is_not_aligned() {
    // Each half writes before its barrier and shuffles after it, together with the other half again.
    let program = |lower: &str, upper: &str| {
        format!(
            ".shared .align 4 .b8 tile[512];\nmov.u32 %r4, tile;\nshl.b32 %r5, %r1, 2;\nadd.u32 %r6, %r4, %r5;\nsetp.lt.u32 %p1, %r3, 16;\n\
             @%p1 bra LOWER;\nst.shared.u32 [%r6], %r1;\n{upper}\nbra.uni END;\nLOWER:\nst.shared.u32 [%r6], %r1;\n{lower}\nEND:\n\
             xor.b32 %r7, %r6, 320;\nld.shared.u32 %r8, [%r7];\nshfl.sync.bfly.b32 %r9, %r8, 16, 31, 0xffffffff;\nst.global.u32 [%rd3], %r9;"
        )
    };
    for barrier in ["barrier.sync 1, 128;", "barrier.sync 0;", "barrier.cta.sync 2;"] {
        let (findings, output) = four_warps(&program(barrier, barrier)).unwrap_or_else(|fault| panic!("{barrier}: {fault}"));
        assert_eq!(findings, [], "{barrier}");
        assert_eq!(output, (0..128).map(|thread| thread ^ 80 ^ 16).collect::<Vec<u32>>(), "{barrier}");
    }
    for (lower, upper) in [
        ("bar.sync 1, 128;", "bar.sync 1, 128;"),
        ("barrier.sync.aligned 0;", "barrier.sync.aligned 0;"),
        ("barrier.sync 1, 128;", "barrier.sync 2, 128;"),
        ("barrier.sync 1, 128;", "barrier.sync 1, 64;"),
    ] {
        let fault = four_warps(&program(lower, upper)).expect_err(lower);
        assert!(matches!(fault.kind, FindingKind::DivergentBarrier { .. }), "{lower} {upper}: {fault}");
    }
    // The lower half alone: it waits for the upper one to end.
    assert!(
        four_warps("setp.lt.u32 %p1, %r3, 16;\n@!%p1 bra AROUND;\nbarrier.sync 1, 128;\nAROUND:\nst.global.u32 [%rd3], %r1;")
            .is_ok()
    );
}

/// Arrivals after the barrier has opened are those of the next phase.
#[test]
fn each_phase_has_its_own_arrivals() {
    // Warps 0 and 2 arrive, and 1 and 3 wait, each pair in a phase of its own.
    let pairs = "and.b32 %r4, %r2, 1;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra ARRIVE;\nbar.sync 1, 64;\nbra END;\nARRIVE:\nbar.arrive 1, 64;\nEND:";
    assert!(four_warps(pairs).is_ok_and(|(findings, _)| findings.is_empty()));
}

/// A warp that has ended takes no part in a counted barrier. So nothing orders what it wrote with what follows the barrier.
#[test]
fn a_warp_that_ended_before_a_counted_barrier_races_with_those_after_it() {
    let exchange = |barrier: &str| {
        format!(
            ".shared .align 4 .b8 tile[512];\nmov.u32 %r4, tile;\nshl.b32 %r5, %r1, 2;\nadd.u32 %r6, %r4, %r5;\nst.shared.u32 [%r6], %r1;\n\
             {HALF}{barrier}\nxor.b32 %r7, %r6, 256;\nld.shared.u32 %r8, [%r7];\nst.global.u32 [%rd3], %r8;"
        )
    };
    for (barrier, races) in [("bar.sync 1, 64;", true), ("barrier.sync 1, 64;", true), ("bar.sync 1;", false)] {
        let (findings, _) = four_warps(&exchange(barrier)).expect("no fault");
        let found = findings.iter().any(|finding| matches!(finding.kind, FindingKind::Race { .. }));
        assert_eq!(found, races, "{barrier}: {findings:?}");
    }
}
