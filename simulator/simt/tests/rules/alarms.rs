//! Programs that the checks must accept, and defects that they must report.

use super::kernel;
use crate::common::{Gpu, Params};
use simt::{Finding, FindingKind, LaunchError, Severity};

/// Returns the findings and the output of a kernel with one block.
pub fn run(profile: &str, body: &str, threads: u32) -> Result<(Vec<Finding>, Vec<u32>), Box<Finding>> {
    let target = if body.contains("cp.async") || body.contains("redux") { "sm_80" } else { "sm_52" };
    let gpu = Gpu::load(&kernel(target, body)).of_profile(profile);
    let output = gpu.buffer(&[7_u32; 128]);
    match gpu.try_launch("k", 1, threads, 0, &Params::new().with(output)) {
        Ok(report) => Ok((report.findings, gpu.read(output, 128))),
        Err(LaunchError::Fault { finding, .. }) => Err(finding),
        Err(other) => panic!("{other}\n{body}"),
    }
}

fn errors(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.kind.severity() == Severity::Error).collect()
}

/// PTX ISA, `bar.warp.sync`: "bar.warp.sync will cause executing thread to wait until all threads corresponding to membermask have
/// executed a bar.warp.sync with the same membermask value before resuming execution." Each half of a warp has a mask of its own.
#[test]
fn parts_of_a_warp_synchronize_with_masks_of_their_own() {
    let exchange = |mask: &str, partner: u32| {
        format!(
            ".shared .align 4 .b8 tile[128];\nmov.u32 %r2, tile;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r3, %r3, %r2;\nmul.lo.u32 %r4, %r1, 3;\n\
             st.shared.u32 [%r3], %r4;\n{mask}\nbar.warp.sync %r6;\nxor.b32 %r7, %r3, {};\nld.shared.u32 %r8, [%r7];\nst.global.u32 [%rd3], %r8;",
            4 * partner
        )
    };
    let halves = "and.b32 %r5, %r1, 16;\nshl.b32 %r6, 0xffff, %r5;";
    let quarters = "and.b32 %r5, %r1, 24;\nshl.b32 %r6, 0xff, %r5;";
    for (mask, partner, is_ordered) in [(halves, 8, true), (quarters, 4, true), (quarters, 8, false), (halves, 16, false)] {
        let (findings, output) = run("h200", &exchange(mask, partner), 32).expect("no fault");
        assert_eq!(findings.is_empty(), is_ordered, "{mask} {partner}: {findings:?}");
        let all: Vec<_> = (0..32).map(|lane| (lane ^ partner) * 3).collect();
        assert!(!is_ordered || output[..32] == all);
    }
}

/// CUDA C++ Programming Guide, "Compute Capability 7.x", "Independent Thread Scheduling": "Beginning with Volta, the CUDA built-in
/// __syncthreads() and PTX instruction bar.sync (and their derivatives) are enforced per thread and thus will not succeed until reached
/// by all non-exited threads in the block." Before that, PTX ISA, `bar`: "if any thread in a warp executes a bar instruction, it is as
/// if all the threads in the warp have executed the bar instruction."
#[test]
fn a_barrier_waits_only_for_threads_that_have_not_ended() {
    // The first ten lanes of each warp meet at a barrier; the others go around it and end.
    let branch = ".shared .align 4 .b8 s[4];\nmov.u32 %r2, 5;\nmov.u32 %r4, 7;\nand.b32 %r3, %r1, 31;\nsetp.ge.u32 %p1, %r3, 10;\n@%p1 bra AROUND;\n\
                  st.shared.u32 [s], %r2;\nbar.sync 0;\nld.shared.u32 %r4, [s];\nAROUND:\nst.global.u32 [%rd3], %r4;";
    // for (i = tid; i < 68; i += 64) { n += __syncthreads_count(1); } out[tid] = n
    let ragged = "mov.u32 %r4, 0;\nmov.u32 %r5, %r1;\nLOOP:\nsetp.ge.u32 %p1, %r5, 68;\n@%p1 bra END;\nsetp.eq.u32 %p2, %r1, %r1;\n\
                  bar.red.popc.u32 %r6, 0, %p2;\nadd.u32 %r4, %r4, %r6;\nadd.u32 %r5, %r5, 64;\nbra LOOP;\nEND:\nst.global.u32 [%rd3], %r4;";
    let guarded = "setp.lt.u32 %p1, %r1, 10;\n@%p1 bar.sync 0;\nst.global.u32 [%rd3], 5;";
    let expected = |of: &dyn Fn(usize) -> u32| (0..64).map(of).collect::<Vec<_>>();
    for (name, body, expected) in [
        ("branch", branch, expected(&|thread| if thread % 32 < 10 { 5 } else { 7 })),
        ("ragged", ragged, expected(&|thread| if thread < 4 { 68 } else { 64 })),
        ("guarded", guarded, expected(&|_| 5)),
    ] {
        let (findings, output) = run("h200", body, 64).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(errors(&findings), Vec::<&Finding>::new(), "{name}");
        assert_eq!(output[..64], expected, "{name}");
        let fault = run("gtx680", body, 64).expect_err(name);
        assert_eq!(fault.kind, FindingKind::DivergentBarrier { barrier: 0 }, "{name}");
    }
    // Lanes at two different barriers of the block wait for each other on every GPU.
    let two = "setp.lt.u32 %p1, %r1, 10;\n@%p1 bra OTHER;\nbar.sync 0;\nbra END;\nOTHER:\nbar.sync 0;\nEND:";
    for profile in ["h200", "gtx680"] {
        let fault = run(profile, two, 64).expect_err("two barriers");
        assert_eq!(fault.kind, FindingKind::DivergentBarrier { barrier: 0 }, "{profile}");
    }
}

/// Returns a kernel's findings on a buffer of `words` words. The first `written` of them are written.
fn on_buffer(body: &str, threads: u32, words: u64, written: usize) -> Result<Vec<Finding>, Box<Finding>> {
    let gpu = Gpu::load(&kernel("sm_80", body));
    let buffer = gpu.memory.allocate(4 * words, None).expect("the buffer fits");
    gpu.memory.write(buffer, &vec![1; 4 * written]).expect("the buffer was just allocated");
    match gpu.try_launch("k", 1, threads, 0, &Params::new().with(buffer)) {
        Ok(report) => Ok(report.findings),
        Err(LaunchError::Fault { finding, .. }) => Err(finding),
        Err(other) => panic!("{other}\n{body}"),
    }
}

/// Uses of a vector's last element, and whether each matters.
const USES: &[(&str, bool)] = &[
    ("", false),
    ("add.f32 %f5, %f1, %f2;", false),
    ("add.f32 %f5, %f4, %f2;", false),
    ("mov.f32 %f4, %f1;\nst.global.f32 [%rd1], %f4;", false),
    ("mov.f32 %f5, %f4;\nmov.f32 %f5, %f1;\nst.global.f32 [%rd1], %f5;", false),
    ("st.global.f32 [%rd1], %f4;", true),
    ("add.f32 %f5, %f4, %f2;\nst.global.f32 [%rd1], %f5;", true),
    ("setp.eq.u32 %p1, %r1, 99;\n@%p1 mov.f32 %f4, %f1;\nst.global.f32 [%rd1], %f4;", true),
    ("setp.eq.f32 %p1, %f4, %f1;\n@%p1 bra END;\nst.global.f32 [%rd1], %f2;\nEND:", true),
    (
        "mov.u32 %r2, 0;\nL:\nadd.f32 %f5, %f5, %f4;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 3;\n@%p1 bra L;\nst.global.f32 [%rd1], %f5;",
        true,
    ),
];

/// CUDA C++ Programming Guide, "Device Memory Accesses", "Size and Alignment Requirement": "Any address of a variable residing in global
/// memory or returned by one of the memory allocation routines from the driver or runtime API is always aligned to at least 256
/// bytes." So an aligned vector that begins inside an allocation ends in memory that a GPU can read, and compilers load neighboring
/// elements at the end of a buffer with one wider load. Only elements that the program uses can be wrong.
#[test]
fn an_element_past_the_end_matters_only_if_it_is_used() {
    for (uses, matters) in USES {
        let one = format!("ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd1+32];\n{uses}");
        let each = format!(
            "mul.wide.u32 %rd5, %r1, 16;\nadd.u64 %rd5, %rd1, %rd5;\nld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd5];\n\
             st.global.f32 [%rd5], %f3;\nbar.warp.sync 0xffffffff;\n{uses}"
        );
        for (body, threads, words) in [(one, 1, 11), (each, 32, 127)] {
            let found = on_buffer(&body, threads, words, words as usize);
            assert_eq!(found.is_err(), *matters, "{uses}: {found:?}");
            let Err(fault) = found else { continue };
            assert!(matches!(fault.kind, FindingKind::OutOfBounds { .. }) && fault.lanes == 1, "{fault}");
        }
    }
    // All of the vector is outside, or the vector is not aligned.
    for offset in [48, -16, 36] {
        let found = on_buffer(&format!("ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd1+{offset}];"), 1, 11, 11);
        assert!(found.is_err(), "{offset}: {found:?}");
    }
}

/// Programs that read memory that nothing has written.
#[test]
fn an_element_that_nothing_wrote_matters_only_if_it_is_used() {
    for (uses, matters) in USES {
        let global = format!("ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd1+32];\n{uses}");
        let shared = format!(
            ".shared .align 16 .b8 tile[16];\nmov.u32 %r9, 7;\nst.shared.u32 [tile], %r9;\nst.shared.u32 [tile+4], %r9;\n\
             st.shared.u32 [tile+8], %r9;\nld.shared.v4.f32 {{%f1, %f2, %f3, %f4}}, [tile];\n{uses}"
        );
        for body in [global, shared] {
            let findings = on_buffer(&body, 1, 16, 11).expect("no fault");
            let uninitialized = findings.iter().any(|finding| matches!(finding.kind, FindingKind::Uninitialized { .. }));
            assert_eq!((uninitialized, findings.len()), (*matters, usize::from(*matters)), "{body}: {findings:?}");
        }
    }
    let first = "ld.global.v2.f32 {%f1, %f2}, [%rd1+48];\nst.global.f32 [%rd1], %f1;";
    assert_eq!(on_buffer(first, 1, 16, 12).expect("no fault").len(), 1);
}

/// Runs a kernel in two blocks of some threads. Returns its findings, and its output, which starts at 7.
fn races(body: &str, threads: u32) -> (Vec<Finding>, Vec<u32>) {
    let gpu = Gpu::load(&kernel("sm_80", body));
    let output = gpu.buffer(&[7_u32; 256]);
    let report = gpu.launch("k", 2, threads, 0, &Params::new().with(output));
    (report.findings, gpu.read(output, 4))
}

/// CUDA C++ Programming Guide, "Atomic Functions": "any atomic operation can be implemented based on atomicCAS() (Compare And Swap)",
/// with a loop whose first read is plain. The value of that read only seeds the comparison; a stale one costs one more iteration.
#[test]
fn the_guides_loop_around_compare_and_swap_is_no_race() {
    let word = "ld.global.u32 %r2, [%rd1];\nL:\nmov.u32 %r3, %r2;\nadd.u32 %r4, %r3, 1;\natom.global.cas.b32 %r2, [%rd1], %r3, %r4;\n\
                setp.ne.u32 %p1, %r2, %r3;\n@%p1 bra L;";
    let (findings, output) = races(word, 64);
    assert_eq!((findings, output[0]), (vec![], 7 + 128));
    let shared = |load: &str, cas: &str| {
        format!(
            ".shared .align 8 .b8 s[8];\n.reg .f64 %d<4>;\nmov.u64 %rd5, 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra READY;\nst.shared.u64 [s], %rd5;\n\
             READY:\nbar.sync 0;\n{load} %rd6, [s];\nL:\nmov.u64 %rd7, %rd6;\nmov.b64 %d1, %rd7;\nadd.f64 %d2, %d1, 0d3FF0000000000000;\n\
             mov.b64 %rd8, %d2;\n{cas} %rd6, [s], %rd7, %rd8;\nsetp.ne.s64 %p2, %rd6, %rd7;\n@%p2 bra L;\nbar.sync 0;\n\
             ld.shared.u64 %rd9, [s];\nst.global.u64 [%rd1], %rd9;"
        )
    };
    for load in ["ld.shared.u64", "ld.volatile.shared.u64", "ld.relaxed.cta.shared.u64"] {
        let (findings, output) = races(&shared(load, "atom.shared.cas.b64"), 64);
        let sum = f64::from_bits(u64::from(output[0]) | u64::from(output[1]) << 32);
        assert_eq!((findings, sum), (vec![], 64.0), "{load}");
    }
    // A plain read whose value goes elsewhere, and a plain store beside atomic operations, are races as before.
    let elsewhere = "ld.global.u32 %r2, [%rd1];\natom.global.add.u32 %r3, [%rd1], 1;\nst.global.u32 [%rd3+8], %r2;";
    let stored = "mov.u32 %r9, %ctaid.x;\nst.global.u32 [%rd1], %r9;\natom.global.cas.b32 %r2, [%rd1], 1, 2;";
    for body in [elsewhere, stored] {
        assert!(races(body, 1).0.iter().any(|finding| matches!(finding.kind, FindingKind::Race { .. })), "{body}");
    }
}

/// PTX ISA, "Memory Consistency Model": `.volatile` synchronizes like `.relaxed.sys` (which is why LLVM lowers relaxed atomic loads and
/// stores to it before sm_70, review D50391), and strong operations of overlapping scope on the same bytes do not race. A flag that is polled, and any volatile
/// access beside an atomic one, are fine. But volatile orders nothing between warps: data that another warp wrote needs a barrier.
#[test]
fn volatile_accesses_race_only_where_data_needs_a_barrier() {
    let exchange = |order: &str, kind: &str, partner: u32| {
        format!(
            ".shared .align 4 .b8 tile[256];\nmov.u32 %r2, tile;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r3, %r3, %r2;\nst.{kind}shared.u32 [%r3], %r1;\n\
             {order}\nxor.b32 %r4, %r3, {};\nld.{kind}shared.u32 %r5, [%r4];\nmul.wide.u32 %rd5, %r1, 4;\nst.global.u32 [%rd1+16], 0;",
            4 * partner
        ) + "\nmov.u32 %r6, %ctaid.x;\nshl.b32 %r7, %r6, 8;\nmul.wide.u32 %rd6, %r7, 1;\nadd.u64 %rd7, %rd3, %rd6;\nst.global.u32 [%rd7+64], %r5;"
    };
    for (order, kind, partner, expected) in [
        ("", "", 32, Some((false, Severity::Error))),
        ("", "volatile.", 32, Some((false, Severity::Warning))),
        ("", "volatile.", 8, Some((true, Severity::Warning))),
        ("bar.sync 0;", "volatile.", 32, None),
        ("bar.warp.sync 0xffffffff;", "volatile.", 8, None),
        ("", "relaxed.cta.", 32, None),
    ] {
        let (findings, _) = races(&exchange(order, kind, partner), 64);
        let found: Vec<_> = findings
            .iter()
            .filter_map(|finding| match finding.kind {
                FindingKind::Race { same_warp, access, .. } if access.space == simt::Space::Shared => {
                    Some((same_warp, finding.kind.severity()))
                }
                _ => None,
            })
            .collect();
        assert_eq!(found.first().copied(), expected, "{order:?} {kind:?} {partner}: {findings:?}");
    }
    let polled = ".shared .align 4 .b8 flag[4];\nmov.u32 %r2, 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra READY;\nst.shared.u32 [flag], %r2;\nREADY:\n\
                  bar.sync 0;\nsetp.ge.u32 %p2, %r1, 32;\n@%p2 bra SET;\nPOLL:\nld.volatile.shared.u32 %r3, [flag];\nsetp.eq.u32 %p3, %r3, 0;\n\
                  @%p3 bra POLL;\nbra END;\nSET:\nst.volatile.shared.u32 [flag], 1;\nEND:";
    assert_eq!(races(polled, 64).0, []);
}

/// PTX ISA, `bar{.cta}.sync`: "guarantees that when the barrier completes, prior memory accesses requested by this thread are performed
/// relative to all threads participating in the barrier." Without it, two warps of a block race in global memory as they do in shared memory.
#[test]
fn warps_of_a_block_race_in_global_memory_without_a_barrier() {
    // Each thread stores its number and reads that of another thread.
    let exchange = |order: &str, kind: &str, partner: u32| {
        format!(
            "st{kind}.global.u32 [%rd3], %r1;\n{order}\nxor.b32 %r4, %r1, {partner};\nmul.wide.u32 %rd5, %r4, 4;\nadd.u64 %rd6, %rd1, %rd5;\n\
             ld{kind}.global.u32 %r5, [%rd6];\nbar.sync 1;\nst.global.u32 [%rd3], %r5;"
        )
    };
    for (order, kind, partner, expected) in [
        ("", "", 32, true),
        ("bar.warp.sync 0xffffffff;", "", 32, true),
        ("bar.sync 0;", "", 32, false),
        ("barrier.sync 2, 64;", "", 32, false),
        ("", ".relaxed.cta", 32, false),
        ("", "", 0, false),
    ] {
        let (findings, output) = run("h200", &exchange(order, kind, partner), 64).expect("no fault");
        assert_eq!(!errors(&findings).is_empty(), expected, "{order:?} {kind:?} {partner}: {findings:?}");
        for finding in errors(&findings) {
            assert!(matches!(finding.kind, FindingKind::Race { same_block: true, .. }), "{finding}");
            assert!(finding.to_string().contains("__syncthreads()"), "{finding}");
        }
        assert!(expected || !kind.is_empty() || output[..64] == (0..64).map(|thread| thread ^ partner).collect::<Vec<_>>());
    }
}

/// C++20, [expr.add]: adding to a pointer gives an element of its array, or the place behind the last; "otherwise, the behavior is undefined."
/// An address that was made from one array is no address of the next one, although both are in shared memory.
#[test]
fn an_access_outside_its_array_is_reported_where_the_array_is_known() {
    let arrays = ".shared .align 16 .b8 a[256];\n.shared .align 16 .b8 b[256];\nst.shared.u32 [a], %r1;\nst.shared.u32 [b], %r1;\nbar.sync 0;\n\
                  mov.u32 %r2, a;\nmov.u32 %r3, b;\nshl.b32 %r4, %r1, 2;\n";
    for (access, expected) in [
        ("add.u32 %r5, %r2, %r4;\nst.shared.u32 [%r5], %r1;", None),
        ("add.u32 %r5, %r2, %r4;\nst.shared.u32 [%r5+4], %r1;", Some("0 bytes past the end of a (256 bytes)")),
        ("mad.lo.u32 %r5, %r1, 4, %r3;\nst.shared.u32 [%r5+-4], %r1;", Some("4 bytes before the start of b (256 bytes)")),
        ("ld.shared.u32 %r6, [a+256];\nst.global.u32 [%rd3], %r6;", Some("0 bytes past the end of a (256 bytes)")),
        // The address of either array.
        ("setp.gt.u32 %p1, %r1, 0;\nselp.u32 %r5, %r2, %r3, %p1;\nadd.u32 %r5, %r5, %r4;\nst.shared.u32 [%r5], %r1;", None),
        // A difference of two addresses is a number.
        ("sub.u32 %r6, %r3, %r2;\nadd.u32 %r5, %r4, %r6;\nst.shared.u32 [%r5], %r1;", None),
    ] {
        let (findings, _) = run("h200", &format!("{arrays}{access}"), 64).expect("no fault");
        let outside = findings.iter().find(|finding| matches!(finding.kind, FindingKind::OutsideArray { .. }));
        let text = outside.map(ToString::to_string);
        assert_eq!(text.is_some(), expected.is_some(), "{access}: {findings:?}");
        assert!(text.unwrap_or_default().contains(expected.unwrap_or_default()), "{access}: {findings:?}");
    }
}

/// PTX ISA, `shfl.sync`: "Note that results are undefined if a thread sources a register from an inactive thread or a thread that is
/// not in membermask." Only a value that is stored is reported: programs also shuffle more lanes than they have and drop the rest.
/// PTX ISA, `cp.async`: "Specifying src-size larger than cp-size results in undefined behavior."
#[test]
fn a_copy_of_more_bytes_than_it_writes_is_reported() {
    for (size, expected) in [("4", None), ("0", None), ("5", Some(5)), ("-4", Some(u32::MAX - 3))] {
        let copy = format!(
            ".shared .align 4 .b8 places[128];\nmov.u32 %r4, {size};\nmov.u32 %r5, places;\nshl.b32 %r6, %r1, 2;\nadd.u32 %r5, %r5, %r6;\n\
             cp.async.ca.shared.global [%r5], [%rd3], 4, %r4;\ncp.async.wait_all;\nld.shared.u32 %r4, [%r5];\nst.global.u32 [%rd3], %r4;"
        );
        let (findings, _) = run("h200", &copy, 32).expect("no fault");
        let sizes: Vec<_> = findings
            .iter()
            .map(|finding| match finding.kind {
                FindingKind::CopySize { asked, bytes: 4 } => asked,
                _ => panic!("{finding:?}"),
            })
            .collect();
        assert_eq!(sizes, Vec::from_iter(expected), "{size}");
    }
}

#[test]
fn a_value_from_a_lane_that_is_absent_is_reported_where_it_is_stored() {
    let shuffle = |before: &str, members: &str, after: &str| {
        format!("mov.u32 %r4, 7;\n{before}\nshfl.sync.down.b32 %r4, %r1, 8, 31, {members};\n{after}\nst.global.u32 [%rd3], %r4;")
    };
    let end = "setp.ge.u32 %p1, %r1, 11;\n@%p1 exit;";
    let branch = "setp.ge.u32 %p1, %r1, 8;\n@%p1 bra END;";
    let drop = "setp.lt.u32 %p2, %r1, 3;\nselp.b32 %r4, %r4, %r1, %p2;";
    for (before, members, after, threads, expected) in [
        ("", "0xffffffff", "", 32, 0),
        (end, "0xffffffff", "", 32, 1),
        (end, "0x7ff", "", 32, 1),
        (end, "0xffffffff", drop, 32, 0),
        ("", "0xffffffff", "", 11, 1),
        ("", "0xffffffff", drop, 11, 0),
        (branch, "0xffff", "END:", 32, 0),
        (branch, "0xff", "END:", 32, 1),
    ] {
        let (findings, _) = run("h200", &shuffle(before, members, after), threads).expect("no fault");
        let found = findings.iter().filter(|finding| matches!(finding.kind, FindingKind::AbsentLane { .. })).count();
        assert_eq!(found, expected, "{before} {members} {after}: {findings:?}");
    }
}

/// PTX ISA 9.0, "Constant State Space": "The constant (.const) state space is a read-only memory initialized by the host." On an H100, a store
/// through a generic address arrives, and memcheck is silent.
#[test]
fn a_write_to_constant_memory_is_reported_and_happens() {
    for (access, bytes) in [
        ("st.u32 [%rd5], %r4;", Some(4)),
        ("st.global.u32 [%rd5], %r4;", Some(4)),
        ("st.v2.u32 [%rd5], {%r4, %r4};", Some(8)),
        ("atom.exch.b32 %r5, [%rd5], %r4;", Some(4)),
        ("ld.u32 %r5, [%rd5];", None),
        ("st.u32 [%rd1], %r4;", None),
    ] {
        let body = format!(
            "mov.u32 %r4, 5;\nmov.u64 %rd4, table;\ncvta.const.u64 %rd5, %rd4;\n{access}\nld.const.u32 %r6, [table];\nst.global.u32 [%rd1+4], %r6;"
        );
        let module = kernel("sm_70", &body).replace(".visible", ".const .align 8 .b32 table[2] = {3, 4};\n.visible");
        let gpu = Gpu::load(&module);
        let output = gpu.buffer(&[7_u32; 2]);
        let findings = gpu.launch("k", 1, 1, 0, &Params::new().with(output)).findings;
        assert_eq!(gpu.read::<u32>(output, 2)[1], if bytes.is_some() { 5 } else { 3 }, "{access}");
        let Some(bytes) = bytes else {
            assert_eq!(findings, [], "{access}");
            continue;
        };
        let [finding] = &findings[..] else { panic!("{access}: {findings:#?}") };
        let FindingKind::WritesConstant { access: found, place: Some(place) } = &finding.kind else { panic!("{finding}") };
        assert_eq!((found.bytes, place.offset, place.bytes), (bytes, 0, 8), "{finding}");
        assert_eq!(finding.kind.severity(), Severity::Error);
    }
}
