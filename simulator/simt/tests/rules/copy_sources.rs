//! Writes to what `cp.async` reads.
//!
//! PTX ISA 9.0, "Completion Mechanisms for Asynchronous Copy Operations": "Once an asynchronous copy operation is initiated, modifying the source
//! memory location or tensor descriptor or reading from the destination memory location before the asynchronous operation completes, exhibits
//! undefined behavior."

use super::kernel;
use crate::common::{Gpu, Params};
use simt::{Finding, FindingKind, LaunchOptions, Severity, WarpOrder};

const COPY: &str = "cp.async.ca.shared.global [%r4], [%rd3], 4;";
const COPY_NOTHING: &str = "cp.async.ca.shared.global [%r4+256], [%rd3], 4, 0;";
const COMMIT: &str = "cp.async.commit_group;";
const WAIT: &str = "cp.async.wait_all;";
const WAIT_BUT_ONE: &str = "cp.async.wait_group 1;";
const BARRIER: &str = "bar.sync 0;";
const STORE: &str = "st.global.u32 [%rd4], %r1;";
const STORE_ELSEWHERE: &str = "st.global.u32 [%rd4+256], %r1;";
const SECOND_WARP_STORES: &str = "@%p1 st.global.u32 [%rd4], %r1;";
const ADD: &str = "red.global.add.u32 [%rd4], 1;";
const LOAD: &str = "ld.global.u32 %r6, [%rd4];\nst.shared.u32 [%r4+256], %r6;";

/// The thread whose element a thread accesses after its own was copied.
///
/// It is a difference in the bits of the index.
const SELF: u32 = 0;
const OTHER_LANE: u32 = 1;
const OTHER_WARP: u32 = 32;
const ORDERS: [WarpOrder; 4] = [WarpOrder::Ascending, WarpOrder::Descending, WarpOrder::Shuffled(1), WarpOrder::Shuffled(2)];

/// Returns the findings for 64 threads that execute these lines.
fn findings(lines: &[&str], partner: u32, warp_order: WarpOrder) -> Vec<Finding> {
    let body = format!(
        ".shared .align 4 .b8 tile[512];\nmov.u32 %r4, tile;\nshl.b32 %r2, %r1, 2;\nadd.u32 %r4, %r4, %r2;\nsetp.ge.u32 %p1, %r1, 32;\n\
         xor.b32 %r3, %r1, {partner};\nmul.wide.u32 %rd4, %r3, 4;\nadd.u64 %rd4, %rd1, %rd4;\n{}",
        lines.join("\n")
    );
    let gpu = Gpu::with_options(&kernel("sm_80", &body), LaunchOptions { warp_order, ..LaunchOptions::default() });
    let elements = gpu.buffer(&[7_u32; 128]);
    gpu.launch("k", 1, 64, 0, &Params::new().with(elements)).findings
}

#[test]
fn a_source_may_be_written_after_the_wait_and_read_at_any_time() {
    for lines in [
        &[COPY, WAIT, BARRIER, STORE][..],
        &[COPY, WAIT, BARRIER, ADD],
        &[COPY, COMMIT, "cp.async.wait_group 0;", BARRIER, STORE],
        &[COPY, COMMIT, COPY_NOTHING, COMMIT, WAIT_BUT_ONE, BARRIER, STORE],
        &[COPY, LOAD, WAIT],
        &[COPY, BARRIER, LOAD, WAIT],
        &[COPY_NOTHING, BARRIER, STORE, BARRIER, WAIT],
        &[COPY, BARRIER, STORE_ELSEWHERE, WAIT],
    ] {
        for (partner, order) in [SELF, OTHER_LANE, OTHER_WARP].into_iter().flat_map(|partner| ORDERS.map(|order| (partner, order)))
        {
            assert_eq!(findings(lines, partner, order), [], "{lines:?} {partner} {order:?}");
        }
    }
    assert_eq!(findings(&[COPY, WAIT, STORE], SELF, WarpOrder::Ascending), []);
}

#[test]
fn a_source_that_is_written_before_the_wait_is_found_in_every_order() {
    for (lines, partners) in [
        (&[COPY, STORE, WAIT][..], &[SELF, OTHER_LANE, OTHER_WARP][..]),
        (&[COPY, ADD, WAIT], &[SELF, OTHER_LANE, OTHER_WARP]),
        (&[COPY, BARRIER, STORE, WAIT], &[SELF, OTHER_LANE, OTHER_WARP]),
        (&[COPY, BARRIER, ADD, BARRIER, WAIT], &[SELF, OTHER_LANE, OTHER_WARP]),
        (&[COPY, BARRIER, WAIT, SECOND_WARP_STORES], &[OTHER_WARP]),
        (&[COPY, COMMIT, WAIT_BUT_ONE, BARRIER, STORE], &[SELF, OTHER_LANE, OTHER_WARP]),
        (&[COPY, COMMIT, BARRIER, STORE], &[SELF, OTHER_LANE, OTHER_WARP]),
    ] {
        for (&partner, order) in partners.iter().flat_map(|partner| ORDERS.map(|order| (partner, order))) {
            let found = findings(lines, partner, order);
            let mut errors = found.iter().filter(|finding| finding.kind.severity() == Severity::Error);
            let is_right = |finding: &Finding| match &finding.kind {
                FindingKind::OverwritesStore { store, .. } => store.instruction.starts_with("cp.async.ca"),
                // Nothing orders the two warps, or the store with the wait.
                FindingKind::Race { same_warp, .. } => !same_warp && partner == OTHER_WARP,
                _ => false,
            };
            assert!(errors.clone().next().is_some() && errors.all(is_right), "{lines:?} {partner} {order:?}: {found:#?}");
        }
    }
}
