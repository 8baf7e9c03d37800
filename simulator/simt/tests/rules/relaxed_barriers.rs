//! PTX ISA, `mbarrier.arrive`, `mbarrier.test_wait`, `mbarrier.try_wait`: with `.relaxed`, the operation orders no accesses
//! of memory. A fence before a relaxed arrival, and one after a relaxed wait, still order as they do around other strong accesses
//! ("Release and Acquire Patterns").

use super::kernel;
use crate::common::{Gpu, Params};
use simt::FindingKind;

/// Returns true if the checks find a race between two warps.
///
/// The first stores a word for the second.
fn races(arrive: &str, wait: &str) -> bool {
    let body = format!(
        ".shared .align 8 .b64 barrier;\n.shared .b32 word;\n\
         setp.ne.u32 %p1, %r1, 0;\n@!%p1 mbarrier.init.shared::cta.b64 [barrier], 1;\nbar.sync 0;\n\
         setp.ge.u32 %p2, %r1, 32;\n@%p2 bra reader;\n@%p1 bra end;\n\
         st.shared.u32 [word], 7;\n{arrive}\nbra end;\n\
         reader:\n{wait}\n@!%p3 bra reader;\nld.shared.u32 %r2, [word];\nst.global.u32 [%rd3], %r2;\nend:"
    );
    let gpu = Gpu::load(&kernel("sm_90", &body));
    let output = gpu.poisoned::<u32>(64);
    let report = gpu.launch("k", 1, 64, 0, &Params::new().with(output));
    assert_eq!(gpu.read::<u32>(output, 64)[32..], [7; 32], "{arrive} {wait}");
    report.findings.iter().any(|finding| matches!(finding.kind, FindingKind::Race { .. }))
}

#[test]
fn a_relaxed_arrival_or_wait_orders_nothing_without_a_fence() {
    let arrive = "mbarrier.arrive.shared::cta.b64 _, [barrier];";
    let relaxed_arrive = "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [barrier];";
    let fenced_arrive = "fence.acq_rel.cta; mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [barrier];";
    let wait = "mbarrier.try_wait.parity.shared::cta.b64 %p3, [barrier], 0;";
    let relaxed_wait = "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p3, [barrier], 0;";
    let fenced_wait = "mbarrier.test_wait.parity.relaxed.cta.shared::cta.b64 %p3, [barrier], 0; fence.acq_rel.cta;";
    for (arrive, wait, has_race) in [
        (arrive, wait, false),
        (relaxed_arrive, wait, true),
        (arrive, relaxed_wait, true),
        (relaxed_arrive, relaxed_wait, true),
        (fenced_arrive, wait, false),
        (arrive, fenced_wait, false),
        (fenced_arrive, fenced_wait, false),
        (fenced_arrive, relaxed_wait, true),
    ] {
        assert_eq!(races(arrive, wait), has_race, "{arrive} {wait}");
    }
}
