//! What the checks must accept, and what they must report.

use super::kernel;
use crate::common::{Gpu, Params};
use simt::{Finding, FindingKind, LaunchError, Severity};

/// The findings and the output of 64 words of a kernel with one block.
fn run(profile: &str, body: &str, threads: u32) -> Result<(Vec<Finding>, Vec<u32>), Box<Finding>> {
    let gpu = Gpu::load(&kernel("sm_52", body)).of_profile(profile);
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
