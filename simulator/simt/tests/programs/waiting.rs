//! Blocks that wait for other blocks in an ordinary launch, for the host, or for nothing. CUDA C++ Programming Guide, "Thread Hierarchy": "Thread
//! blocks are required to execute independently: It must be possible to execute them in any order, in parallel or in series." A GPU runs
//! those that fit at once, so one may wait for another as long as both fit. An H100 does so, with the right values.

use std::time::Instant;

use simt::{Dim3, Finding, FindingKind, LaunchError, LaunchOptions, LaunchReport, WaitsFor};

use crate::common::{Gpu, Params};

/// Each block waits for its target's flag. It then sets its own to one more. A target of -1 is none.
const WAITS: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry waits(.param .u64 flags, .param .u64 targets) {
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .reg .pred %p<3>;
    ld.param.u64 %d1, [flags];
    ld.param.u64 %d2, [targets];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 ret;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %d3, %r2, 4;
    add.u64 %d4, %d2, %d3;
    ld.global.u32 %r3, [%d4];
    mov.u32 %r4, 0;
    setp.eq.u32 %p1, %r3, -1;
    @%p1 bra SET;
    mul.wide.u32 %d5, %r3, 4;
    add.u64 %d6, %d1, %d5;
LOOP:
    ld.acquire.gpu.global.u32 %r4, [%d6];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra LOOP;
SET:
    add.u32 %r4, %r4, 1;
    add.u64 %d7, %d1, %d3;
    st.release.gpu.global.u32 [%d7], %r4;
    ret;
}
.visible .entry counts(.param .u64 flags, .param .u64 targets) {
    .reg .b32 %r<9>;
    .reg .pred %p<3>;
    mov.u32 %r1, 0;
LOOP:
    add.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 1000000;
    @%p1 bra LOOP;
    ret;
}";

const NONE: u32 = u32::MAX;

/// Launches blocks with these targets. Returns the report and the flags.
fn waits(gpu: Gpu, threads: u32, targets: &[u32]) -> Result<(LaunchReport, Vec<u32>), LaunchError> {
    let flags = gpu.buffer(&vec![0_u32; targets.len()]);
    let params = Params::new().with(flags).with(gpu.buffer(targets));
    let report = gpu.try_launch("waits", targets.len() as u32, threads, 0, &params)?;
    Ok((report, gpu.read(flags, targets.len())))
}

fn with_workers(workers: usize) -> Gpu {
    Gpu::with_options(WAITS, LaunchOptions { workers: Some(workers), ..LaunchOptions::default() })
}

/// Returns each finding's block and the first of the later ones.
fn later(report: &LaunchReport) -> Vec<(u32, u32)> {
    let of = |finding: &Finding| match &finding.kind {
        FindingKind::LaterBlock { first, .. } => (finding.block.x, first.x),
        _ => panic!("{finding}"),
    };
    report.findings.iter().map(of).collect()
}

#[test]
fn a_block_may_wait_for_one_that_has_not_started() {
    let next = |count: u32| (1..count).chain([NONE]).collect::<Vec<_>>();
    let first_for_last = |count: u32| [vec![count - 1], vec![NONE; count as usize - 1]].concat();
    for workers in [1, 2] {
        for (targets, of_one_worker) in [
            (next(3), (0, 1)),
            (next(300), (0, 1)),
            (first_for_last(2), (0, 1)),
            (first_for_last(16), (0, 1)),
            // Two blocks wait, and the rest goes by.
            ([vec![8, 9], vec![NONE; 8]].concat(), (0, 1)),
        ] {
            let (report, flags) = waits(with_workers(workers), 32, &targets).unwrap_or_else(|error| panic!("{error}"));
            let expected = |mut block: usize| {
                let mut value = 1;
                while targets[block] != NONE {
                    (block, value) = (targets[block] as usize, value + 1);
                }
                value
            };
            assert_eq!(flags, (0..targets.len()).map(expected).collect::<Vec<_>>(), "{workers} workers");
            let found = later(&report);
            // Two workers may run both blocks at once.
            assert!(found == [of_one_worker] || (workers > 1 && found.len() <= 1), "{workers} workers: {found:?}");
            assert!(found.len() == 1 || targets != next(300), "more blocks wait than two workers run");
        }
    }
}

#[test]
fn a_block_that_waits_for_an_earlier_one_needs_no_other_to_start() {
    let previous: Vec<u32> = std::iter::once(NONE).chain(0..199).collect();
    for workers in [1, 2, 5] {
        let (report, flags) = waits(with_workers(workers), 64, &previous).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((flags, later(&report)), ((1..=200).collect(), vec![]), "{workers} workers");
    }
}

/// Each of a T4's 40 multiprocessors holds one block of 1,024 threads.
#[test]
fn more_waiting_blocks_than_the_gpu_holds_are_a_deadlock() {
    for workers in [1, 2] {
        let for_last = |count: u32| [vec![count - 1; count as usize - 1], vec![NONE]].concat();
        assert!(waits(with_workers(workers).of_profile("t4"), 1024, &for_last(40)).is_ok());
        let error = waits(with_workers(workers).of_profile("t4"), 1024, &for_last(50)).unwrap_err();
        assert_eq!(error.cuda_result().0, 702);
        let LaunchError::Fault { finding, .. } = error else { panic!("{error}") };
        assert_eq!(finding.kind, FindingKind::GridDeadlock { ended: 0, blocks: 50, resident: Some(40) });
        assert!(finding.to_string().contains("10 cannot start, because the GPU holds only 40 of these blocks"), "{finding}");
        assert!(finding.location.instruction.contains("ld.acquire") || finding.location.instruction.contains("setp"), "{finding}");
    }
}

/// The block that faults is reported, not those that wait for it.
#[test]
fn a_fault_that_others_wait_for_is_the_one_that_is_reported() {
    for workers in [1, 2] {
        let gpu = with_workers(workers);
        let targets = gpu.buffer(&[2_u32, NONE, 1 << 30, NONE]);
        let params = Params::new().with(gpu.buffer(&[0_u32; 4])).with(targets);
        let error = gpu.try_launch("waits", 4, 32, 0, &params).unwrap_err();
        let LaunchError::Fault { finding, .. } = error else { panic!("{error}") };
        assert!(matches!(finding.kind, FindingKind::OutOfBounds { .. }) && finding.block == Dim3::new(2, 0, 0), "{finding}");
    }
}

/// Runs a kernel that has too little fuel. Returns what it waits for, and the message.
fn out_of_fuel(kernel: &str, blocks: u32, workers: usize, on_host: bool) -> (Option<WaitsFor>, String) {
    let gpu = Gpu::with_options(WAITS, LaunchOptions { workers: Some(workers), fuel: 500_000, ..LaunchOptions::default() });
    let bytes = 4 * u64::from(blocks);
    let allocate =
        if on_host { gpu.memory.allocate_host_visible(bytes, Some("flags")) } else { gpu.memory.allocate(bytes, Some("flags")) };
    let flags = allocate.expect("the flags fit");
    gpu.memory.write(flags, &vec![0; bytes as usize]).expect("the flags were just allocated");
    let params = Params::new().with(flags).with(gpu.buffer(&vec![0_u32; blocks as usize]));
    let begun = Instant::now();
    let error = gpu.try_launch(kernel, blocks, 32, 0, &params).unwrap_err();
    assert!(begun.elapsed().as_secs() < 20, "all blocks together are stopped as soon as one");
    let message = error.to_string();
    let LaunchError::OutOfFuel { waits, block, .. } = error else { panic!("{error}") };
    assert_eq!(block, Dim3::new(0, 0, 0));
    (waits.map(|waits| *waits), message)
}

#[test]
fn a_wait_for_what_nothing_changes_says_what_it_is() {
    for (blocks, workers) in [(1, 1), (1, 2), (2, 2), (200, 1), (200, 2)] {
        for on_host in [false, true] {
            let (waits, message) = out_of_fuel("waits", blocks, workers, on_host);
            let WaitsFor { access, place, is_on_host } = waits.unwrap_or_else(|| panic!("{message}"));
            assert_eq!((access.bytes, place.expect("an allocation").offset, is_on_host), (4, 0, on_host), "{message}");
            let says = if on_host {
                "it waits for the host: the same load of 4 bytes at"
            } else {
                "it waits: the same load of 4 bytes at"
            };
            assert!(
                message.contains("kernel waits was stopped: block (0,0,0) executed more than 500000") && message.contains(says),
                "{message}"
            );
        }
    }
    let (waits, message) = out_of_fuel("counts", 1, 1, false);
    assert!(waits.is_none() && message.contains("\n  either a loop does not end, or the kernel is long"), "{message}");
}
