//! What products of matrices on Hopper need: two blocks of a cluster that share tiles, arrivals at another block's barrier, and stores by TMA that
//! other blocks read.

use simt::tensor_map::{Element, Interleave, Swizzle, TensorMap};
use simt::{Dim3, Finding, FindingKind, LaunchError, LaunchOptions, Space, WarpOrder};

use crate::common::{Gpu, Params};

const PAIR: &str = include_str!("pair.ptx");
const ROWS: u64 = 16;
const TILES: u64 = 5;
const ORDERS: u64 = 8;

/// The rules that the kernel `shared_tiles` keeps.
const MEETS_FIRST: u32 = 1;
const COUNTS_BOTH: u32 = 2;
const TELLS_OTHER: u32 = 4;
const FENCES: u32 = 8;
const WAITS_FOR_READS: u32 = 16;
const WAITS_AT_END: u32 = 32;
const MEETS_LAST: u32 = 64;
const RELEASES_INIT: u32 = 128;
const WAITS_FOR_FREE: u32 = 256;
const EXPECTS_ALL: u32 = 512;
const NAMES_BLOCKS: u32 = 1024;
const ALL: u32 = 2047;

/// Returns the map of a matrix with 32 columns.
fn rows_of(address: u64, rows: u64, of_box: u32) -> TensorMap {
    TensorMap {
        element: Element::U32,
        rank: 2,
        address,
        extents: [32, rows, 0, 0, 0],
        strides: [128, 0, 0, 0],
        box_extents: [32, of_box, 0, 0, 0],
        steps: [1; 5],
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        fills_with_nan: false,
    }
}

fn shared_tiles(does: u32, seed: u64) -> Vec<Finding> {
    let options =
        LaunchOptions { warp_order: WarpOrder::Shuffled(seed), cluster: Some(Dim3::new(2, 1, 1)), ..LaunchOptions::default() };
    let gpu = Gpu::with_options(PAIR, options);
    let words: Vec<u32> = (0..(TILES * ROWS * 32) as u32).map(|i| i * 7919 % 1009).collect();
    let (input, output) = (gpu.buffer(&words), gpu.poisoned::<u32>(2 * 32 * TILES as usize));
    let maps = [rows_of(input, TILES * ROWS, ROWS as u32 / 2), rows_of(output, 2 * TILES, 1)];
    let params = maps.iter().fold(Params::new(), |params, map| params.aligned(map.encode(), 64));
    let result = gpu.try_launch("shared_tiles", 2, 64, 0, &params.with(TILES as u32).with(does));
    let findings = match result {
        Ok(report) => report.findings,
        Err(LaunchError::Fault { finding, .. }) => vec![*finding],
        Err(error) => panic!("{error}"),
    };
    if findings.is_empty() {
        let sum = |tile: &[u32], column| tile.iter().skip(column).step_by(32).sum::<u32>();
        let of_tile = |tile| (0..2).flat_map(move |rank| (0..32).map(move |column| rank + sum(tile, column)));
        assert_eq!(
            gpu.read::<u32>(output, 2 * 32 * TILES as usize),
            words.chunks(ROWS as usize * 32).flat_map(of_tile).collect::<Vec<_>>()
        );
    }
    findings
}

/// Checks what each order finds if one of the rules is broken.
#[track_caller]
fn assert_found(lacks: u32, is_right: impl Fn(&Finding) -> bool) {
    for seed in 0..ORDERS {
        let findings = shared_tiles(ALL & !lacks, seed);
        assert!(!findings.is_empty() && findings.iter().all(&is_right), "order {seed}: {findings:#?}");
    }
}

fn is_race_of_two_blocks(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::Race { same_block: false, .. })
}

fn is_deadlock(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::ClusterDeadlock { .. })
}

#[test]
fn blocks_that_share_tiles_rightly_are_left_alone() {
    (0..ORDERS).for_each(|seed| assert_eq!(shared_tiles(ALL, seed), []));
}

/// PTX ISA, `cp.async.bulk.tensor`: with `.multicast::cluster`, the copy is to the same offset in the shared memory of each block that the mask
/// names, and "the mbarrier signal is also multicast to the same CTA-relative offset". So each of them must have initialized its barrier before, and
/// all of them must be done with what was there.
#[test]
fn a_multicast_waits_for_all_blocks_that_it_names() {
    assert_found(MEETS_FIRST, is_race_of_two_blocks);
    // The other threads of the initializing block race as well.
    assert_found(RELEASES_INIT, |finding| matches!(finding.kind, FindingKind::Race { .. }));
    // A block whose barrier counts only its own arrivals may be a phase ahead, and may wait for bytes that its phase no longer gets.
    assert_found(COUNTS_BOTH, |finding| is_race_of_two_blocks(finding) || is_deadlock(finding));
    assert_found(NAMES_BLOCKS, |finding| matches!(finding.kind, FindingKind::NoSuchBlock { rank: 2, .. }));
}

/// PTX ISA, "Phase of the mbarrier object": a phase ends when the pending arrivals and the tx-count are zero. An arrival that never comes leaves all
/// blocks waiting.
#[test]
fn arrivals_and_bytes_that_a_phase_lacks_are_found() {
    assert_found(TELLS_OTHER, is_deadlock);
    assert_found(EXPECTS_ALL, is_deadlock);
    assert_found(WAITS_FOR_FREE, |finding| matches!(finding.kind, FindingKind::InvalidMbarrier { .. }));
}

/// PTX ISA, "Async proxy": "a cross-proxy fence is required to synchronize across multiple proxies". The writes are those of `stmatrix`.
#[test]
fn rows_that_tma_may_not_see_are_found() {
    assert_found(FENCES, |finding| matches!(finding.kind, FindingKind::MissingProxyFence { late: false, .. }));
}

/// PTX ISA, `cp.async.bulk.wait_group`: with `.read`, the wait is until the copies have read their sources, which may change only then.
#[test]
fn rows_that_are_still_read_are_not_overwritten() {
    assert_found(WAITS_FOR_READS, |finding| matches!(finding.kind, FindingKind::OverwritesStore { .. }));
    assert_found(WAITS_AT_END, |finding| finding.kind == FindingKind::UnwaitedStore { committed: true });
}

/// CUDA C++ Programming Guide, "Distributed Shared Memory": the user has to guarantee "that the thread block doesn't exit" while others access its
/// memory.
#[test]
fn a_block_ends_after_the_last_arrival_at_its_barriers() {
    assert_found(MEETS_LAST, |finding| matches!(finding.kind, FindingKind::EndedBlock { .. }));
}

/// Runs a kernel of four blocks in some order of their warps.
fn in_order(kernel: &str, threads: u32, seed: u64, params: impl Fn(&Gpu) -> Params) -> Vec<Finding> {
    let gpu = Gpu::with_options(PAIR, LaunchOptions { warp_order: WarpOrder::Shuffled(seed), ..LaunchOptions::default() });
    gpu.launch(kernel, 4, threads, 0, &params(&gpu)).findings
}

fn is_race_of_blocks(finding: &Finding) -> bool {
    matches!(&finding.kind, FindingKind::Race { access, same_block: false, .. } if access.space == Space::Global)
}

#[test]
fn two_blocks_do_not_store_to_the_same_row() {
    for (apart, seed) in [0_u32, 1].into_iter().flat_map(|apart| (0..ORDERS).map(move |seed| (apart, seed))) {
        let findings = in_order("stored_rows", 32, seed, |gpu| {
            Params::new().aligned(rows_of(gpu.poisoned::<u32>(4 * 32), 4, 1).encode(), 64).with(apart)
        });
        assert!(findings.is_empty() == (apart == 1) && findings.iter().all(is_race_of_blocks), "{findings:#?}");
    }
}

/// PTX ISA, `cp.async.bulk.wait_group`: without `.read`, the wait is until "all operations" of the groups are complete, "including the writes being made
/// visible to the executing thread". Only what is visible to it can be published with a fence and a flag.
#[test]
fn another_block_reads_what_was_stored_after_a_wait_for_the_write() {
    let [no_block_waits, last_block_waits, all_wait] = [0_u32, 1, 2];
    for (waits, seed) in
        [no_block_waits, last_block_waits, all_wait].into_iter().flat_map(|waits| (0..ORDERS).map(move |seed| (waits, seed)))
    {
        let findings = in_order("stored_tiles", 32, seed, |gpu| {
            let (stored, count, sums) = (gpu.poisoned::<u32>(4 * 32), gpu.buffer(&[0_u32]), gpu.poisoned::<u32>(32));
            Params::new().aligned(rows_of(stored, 4, 1).encode(), 64).with(stored).with(count).with(sums).with(waits)
        });
        let is_own = |finding: &Finding| {
            let is_of_block =
                matches!(finding.kind, FindingKind::UnfinishedCopy { .. } | FindingKind::Race { same_block: true, .. });
            waits != all_wait && is_of_block
        };
        assert!(findings.iter().all(|finding| is_race_of_blocks(finding) || is_own(finding)), "{waits}: {findings:#?}");
        assert_eq!(findings.iter().any(is_race_of_blocks), waits != all_wait, "{waits}: {findings:#?}");
    }
}

/// PTX ISA, "Completion Mechanisms for Asynchronous Copy Operations": modifying the source before the copy is complete "exhibits undefined behavior".
/// It is complete for all threads that have seen the phase of its barrier end, and for whom they tell so. Whichever block overwrites the source, and
/// whichever copies first, the copy of another block is found.
#[test]
fn a_source_is_overwritten_after_all_blocks_have_copied_it() {
    let [none_waits, last_waits, all_wait] = [0_u32, 1, 2];
    for (waiting, last, seed) in [none_waits, last_waits, all_wait]
        .into_iter()
        .flat_map(|waiting| (0..4_u32).flat_map(move |last| (0..ORDERS).map(move |seed| (waiting, last, seed))))
    {
        let mut findings = in_order("last_overwrites", 64, seed, |gpu| {
            let (words, count) = (gpu.buffer(&[3_u32; 64]), gpu.buffer(&[0_u32]));
            Params::new().with(words).with(count).with(gpu.poisoned::<u32>(4 * 32)).with(waiting).with(last)
        });
        // That a block waits for later ones makes the order of this test, and is no race.
        findings.retain(|finding| !matches!(finding.kind, FindingKind::LaterBlock { .. }));
        assert_eq!(findings.is_empty(), waiting == all_wait, "{waiting}, {last}: {findings:#?}");
        assert_eq!(findings.iter().any(is_race_of_blocks), waiting != all_wait, "{waiting}, {last}: {findings:#?}");
    }
}
