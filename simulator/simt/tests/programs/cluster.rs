//! Clusters of blocks: shared memory of other blocks, the barrier of the cluster, copies between blocks, and the defects of all these.
//! The results of the correct programs are compared with those of an H200.

use ptx::finding::{ClusterBarrierMisuse, Location};
use simt::{
    ClusterMisuse, Dim3, Finding, FindingKind, LaunchError, LaunchMisuse, LaunchOptions, LaunchReport, SourceLine, WarpOrder,
};

use crate::common::{Gpu, Params, every_way};

const CLUSTER: &str = include_str!("cluster.ptx");
const SOURCE: &str = include_str!("cluster.cu");
const H200: &str = include_str!("cluster_h200.txt");

/// Returns the words of a launch on the H200.
fn on_h200(title: &str) -> Vec<u32> {
    let rows = H200.lines().skip_while(|line| line.strip_prefix("== ") != Some(title)).skip(1);
    let rows = rows.take_while(|line| !line.starts_with("== "));
    let words: Vec<u32> = rows.flat_map(str::split_whitespace).map(|word| word.parse().expect("a number")).collect();
    assert!(!words.is_empty(), "{title} is listed");
    words
}

/// Returns the GPU of a test, which launches clusters of these extents.
fn clustered(gpu: &Gpu, cluster: Option<(u32, u32)>) -> Gpu {
    let cluster = cluster.map(|(x, y)| Dim3::new(x, y, 1));
    Gpu::with_options(CLUSTER, LaunchOptions { cluster, ..gpu.options.clone() })
}

fn with_cluster(cluster: Option<(u32, u32)>) -> Gpu {
    clustered(&Gpu::load(CLUSTER), cluster)
}

/// Returns the line of the source that holds a text.
fn at(text: &str) -> Option<SourceLine> {
    let line = 1 + SOURCE.lines().position(|line| line.contains(text)).expect("the source has this") as u32;
    Some(SourceLine { file: "cluster.cu".to_owned(), line })
}

/// Returns the line of a kernel that a place belongs to.
fn line_of(location: &Location) -> Option<SourceLine> {
    location.inlined_at.clone().or(location.source.clone())
}

fn inputs() -> Vec<u32> {
    (0..1 << 14).map(|i| i * 37 % 1009).collect()
}

#[test]
fn special_registers_say_what_they_say_on_an_h200() {
    for (title, kernel, grid, cluster) in [
        ("specials 6x4 in 3x2", "specials", (6, 4), Some((3, 2))),
        ("specials 2x1 without", "specials", (2, 1), None),
        ("specials 2x1 in 1x1", "specials", (2, 1), Some((1, 1))),
        ("specials_fixed 4x2 without", "specials_fixed", (4, 2), None),
        ("specials_fixed 4x2 in 2x2", "specials_fixed", (4, 2), Some((2, 2))),
    ] {
        let expected = on_h200(title);
        let gpu = with_cluster(cluster);
        let output = gpu.poisoned::<u32>(24 * 24);
        gpu.launch(kernel, grid, 32, 0, &Params::new().with(output));
        assert_eq!(gpu.read::<u32>(output, expected.len()), expected, "{title}");
    }
}

#[test]
fn blocks_exchange_values_as_on_an_h200() {
    let inputs = inputs();
    for (title, kernel, grid, size, mask) in [
        ("ring 12 in 4", "ring", 12, 4, None),
        ("ring 3 in 3", "ring", 3, 3, None),
        ("multicast 8 in 4", "multicast", 8, 4, Some(0b1101_u32)),
        ("block_to_block 4 in 4", "block_to_block", 4, 4, None),
    ] {
        let expected = on_h200(title);
        every_way(CLUSTER, |gpu| {
            let gpu = clustered(gpu, Some((size, 1)));
            let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<u32>(expected.len()));
            let params = Params::new().with(input).with(output);
            let report = gpu.launch(kernel, grid, 64, 0, &mask.map_or(params.clone(), |mask| params.with(mask)));
            assert_eq!(report.findings, [], "{title}");
            assert_eq!(gpu.read::<u32>(output, expected.len()), expected, "{title}");
        });
    }
}

#[test]
fn a_barrier_counts_the_arrivals_of_other_blocks() {
    for seed in 0..8 {
        let options = LaunchOptions { warp_order: WarpOrder::Shuffled(seed), ..with_cluster(Some((4, 1))).options };
        let gpu = Gpu::with_options(CLUSTER, options);
        let output = gpu.poisoned::<u32>(2);
        let report = gpu.launch("remote_arrive", 8, 64, 0, &Params::new().with(output));
        assert_eq!(report.findings, [], "order {seed}");
        assert_eq!(gpu.read::<u32>(output, 2), on_h200("remote_arrive 8 in 4"));
    }
}

#[test]
fn every_block_has_addresses_of_its_own() {
    let gpu = with_cluster(Some((4, 1)));
    let output = gpu.poisoned::<u64>(32);
    gpu.launch("addresses", 4, 32, 0, &Params::new().with(output));
    let rows = gpu.read::<u64>(output, 32);
    for (rank, row) in rows.chunks(8).enumerate() {
        let next = (rank + 1) % 4;
        assert_eq!(row[1], row[0], "mapped to the block itself");
        assert_eq!(row[2], rows[8 * next], "mapped to the next block");
        assert_eq!((row[3], row[4], row[5]), (rank as u64, next as u64, 101), "ranks, and isspacep");
        assert_eq!(row[6], row[2].wrapping_sub(row[0]), "generic addresses are as far from each other");
    }
}

#[test]
fn a_cooperative_launch_has_clusters_too() {
    let gpu = Gpu::with_options(CLUSTER, LaunchOptions { cooperative: true, ..with_cluster(Some((4, 1))).options });
    let expected = on_h200("ring 12 in 4");
    let (input, output) = (gpu.buffer(&inputs()), gpu.poisoned::<u32>(768));
    gpu.launch("ring", 12, 64, 0, &Params::new().with(input).with(output));
    assert_eq!(gpu.read::<u32>(output, 768), expected);
}

/// Compares one warp's requests to another block with `ncu` on an H200. The metrics are `l1tex__t_requests_pipe_lsu_mem_dshared`
/// and `l1tex__t_sectors_pipe_lsu_mem_dshared`. They are no requests to shared memory; those to the block's own part are.
#[test]
fn requests_to_other_blocks_are_counted_apart() {
    for (what, stride, target, sectors) in [
        (0_u32, 1_u32, 0_u32, 4),
        (0, 2, 0, 8),
        (0, 32, 0, 32),
        (0, 0, 0, 1),
        (1, 2, 0, 8),
        (2, 4, 0, 16),
        (3, 1, 0, 4),
        (3, 32, 0, 32),
        (4, 4, 0, 16),
        (5, 1, 0, 4),
        (5, 0, 0, 32),
        (0, 1, 1, 0),
        (3, 1, 1, 0),
        (6, 1, 0, 0),
    ] {
        let gpu = with_cluster(Some((2, 1)));
        let output = gpu.poisoned::<u32>(32);
        let params = Params::new().with(output).with(stride).with(what).with(target);
        let counters = gpu.launch("counted", 2, 32, 0, &params).counters;
        let is_remote = u64::from(sectors != 0);
        assert_eq!((counters.cluster_requests, counters.cluster_sectors), (is_remote, sectors), "{what} {stride} {target}");
        let own = counters.shared_load_requests + counters.shared_store_requests + counters.shared_atomic_requests;
        assert_eq!(own, 256 + 1 - is_remote, "{what} {stride} {target}");
    }
}

fn run(kernel: &str, params: &Params) -> Result<LaunchReport, LaunchError> {
    with_cluster(Some((2, 1))).try_launch(kernel, 2, 32, 0, params)
}

/// Runs a kernel that takes a buffer and a number.
fn run_with(kernel: &str, number: u32) -> Result<LaunchReport, LaunchError> {
    let gpu = with_cluster(Some((2, 1)));
    let output = gpu.poisoned::<u32>(32);
    gpu.try_launch(kernel, 2, 32, 0, &Params::new().with(output).with(number))
}

fn fault(result: Result<LaunchReport, LaunchError>) -> Finding {
    match result {
        Err(LaunchError::Fault { finding, .. }) => *finding,
        other => panic!("no fault: {other:?}"),
    }
}

/// PTX ISA, `mapa`: the rank names a block of the cluster. An H200 ends the kernel with `CUDA_ERROR_LAUNCH_FAILED`.
#[test]
fn a_rank_that_does_not_exist_has_no_memory() {
    let finding = fault(run("no_such_rank", &Params::new().with(0_u64)));
    let FindingKind::NoSuchBlock { rank: 5, blocks: 2, .. } = finding.kind else { panic!("{finding}") };
    assert!(finding.to_string().contains("the block with rank 5, in a cluster of 2"), "{finding}");
}

/// PTX ISA, "State Spaces: Shared": `.shared` without `::cluster` is the window of the block itself. An H200 says
/// `CUDA_ERROR_ILLEGAL_INSTRUCTION`.
#[test]
fn a_plain_shared_load_reaches_only_the_own_block() {
    let finding = fault(run("own_only", &Params::new().with(0_u64)));
    let FindingKind::OtherBlocksMemory { rank: 0, .. } = finding.kind else { panic!("{finding}") };
    assert_eq!(line_of(&finding.location), at("// of the other block"));
}

/// CUDA C++ Programming Guide, "Distributed Shared Memory": a block must not end while others access its shared memory.
#[test]
fn a_block_that_may_end_too_early_is_found() {
    assert_eq!(run_with("leaves", 1).expect("it runs").findings, []);
    for warp_order in [WarpOrder::Ascending, WarpOrder::Descending] {
        let gpu = Gpu::with_options(CLUSTER, LaunchOptions { warp_order, ..with_cluster(Some((2, 1))).options });
        let output = gpu.poisoned::<u32>(32);
        let findings = gpu.launch("leaves", 2, 32, 0, &Params::new().with(output).with(0_u32)).findings;
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        let FindingKind::EndedBlock { owner, .. } = &finding.kind else { panic!("{finding}") };
        assert_eq!((*owner, finding.block), (Dim3::new(0, 0, 0), Dim3::new(1, 0, 0)));
        assert_eq!(line_of(&finding.location), at("// too late?"), "{finding}");
    }
}

/// PTX ISA, "Memory Consistency Model", for the scope `.cluster`; `barrier.cluster.arrive` releases and `.wait` acquires.
#[test]
fn races_between_the_blocks_of_a_cluster_name_both() {
    assert_eq!(run_with("both_write", 1).expect("it runs").findings, []);
    let findings = run_with("both_write", 0).expect("it runs").findings;
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    let FindingKind::Race { other, place, same_block: false, .. } = &finding.kind else { panic!("{finding}") };
    assert_eq!((finding.block, other.block), (Dim3::new(1, 0, 0), Dim3::new(0, 0, 0)));
    assert_eq!((line_of(&finding.location), line_of(&other.location)), (at("// the other block"), at("// the owner")));
    assert!(place.as_ref().is_some_and(|place| place.allocation.ends_with("of block (0,0,0)")), "{finding}");
    assert!(finding.to_string().contains("put cluster.sync() between"), "{finding}");
}

#[test]
fn what_another_block_wrote_is_initialized() {
    assert_eq!(run_with("reads_too_early", 1).expect("it runs").findings, []);
    let findings = run_with("reads_too_early", 0).expect("it runs").findings;
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert!(matches!(finding.kind, FindingKind::Uninitialized { .. }), "{finding}");
    assert_eq!(line_of(&finding.location), at("// of its own memory"), "{finding}");
}

/// PTX ISA 9.0, "membar / fence": `fence.mbarrier_init.release.cluster` releases the earlier `mbarrier.init` of the thread that executes it, and no other
/// access. So the arrival at the cluster's barrier may be relaxed, as in CUTLASS, but what the thread stored is not ordered.
#[test]
fn a_fence_releases_a_barriers_initialization_and_nothing_else() {
    const OWN: u32 = 1;
    const OF_ANOTHER: u32 = 2;
    const BEFORE: u32 = 4;
    const RELEASES: u32 = 8;
    const WRITES: u32 = 16;
    let init = Some(("// the arrival", "// the initialization"));
    let cases = [
        (OWN, None),
        (RELEASES, None),
        (RELEASES | WRITES, None),
        (0, init),
        (OF_ANOTHER, init),
        (BEFORE, init),
        (OWN | WRITES, Some(("// the read", "// the word"))),
    ];
    for ((does, expected), seed) in cases.into_iter().flat_map(|case| (0..8).map(move |seed| (case, seed))) {
        let options = LaunchOptions { warp_order: WarpOrder::Shuffled(seed), ..with_cluster(Some((2, 1))).options };
        let gpu = Gpu::with_options(CLUSTER, options);
        let output = gpu.poisoned::<u32>(64);
        let findings = gpu.launch("relaxed_init", 2, 32, 0, &Params::new().with(output).with(does)).findings;
        assert_eq!(gpu.read::<u32>(output, 64), [1; 64]);
        let races: Vec<_> = findings
            .iter()
            .map(|finding| match &finding.kind {
                FindingKind::Race { other, same_block: false, .. } => (line_of(&finding.location), line_of(&other.location)),
                // Without the fence, the lanes of the initializing warp race with it, too.
                FindingKind::Race { same_warp: true, .. } if expected == init => {
                    (at("// the arrival"), at("// the initialization"))
                }
                _ => panic!("{does}: {finding}"),
            })
            .collect();
        assert!(
            races.iter().all(|race| Some(race) == expected.map(|(own, other)| (at(own), at(other))).as_ref()),
            "{does}: {findings:#?}"
        );
        assert_eq!(races.is_empty(), expected.is_none(), "{does}");
    }
}

/// PTX ISA, `barrier.cluster`: the wait is for all threads of the cluster that have not ended.
#[test]
fn a_barrier_that_not_all_blocks_reach_never_opens() {
    assert_eq!(run_with("stuck", 1).expect("it runs").findings, []);
    let finding = fault(run_with("stuck", 0));
    let FindingKind::ClusterDeadlock { waiting, ended: 0 } = &finding.kind else { panic!("{finding}") };
    let waits: Vec<_> = waiting.iter().map(|wait| (wait.block.x, line_of(&wait.location))).collect();
    assert_eq!(waits, [(0, at("cluster_sync(); // both")), (1, at("if (rank == 1) barrier_wait"))], "{finding}");

    let gpu = with_cluster(Some((2, 1)));
    let output = gpu.poisoned::<u32>(32);
    assert_eq!(gpu.launch("some_exit", 2, 32, 0, &Params::new().with(output)).findings, [], "the others have ended");
}

/// PTX ISA, `barrier.cluster`: a second arrival before the wait is undefined. An H200 goes on.
#[test]
fn a_thread_arrives_once_before_it_waits() {
    let finding = fault(run("arrive_twice", &Params::new().with(0_u64)));
    let FindingKind::InvalidClusterBarrier { misuse } = finding.kind else { panic!("{finding}") };
    assert_eq!(misuse, ClusterBarrierMisuse::ArrivedTwice);
}

#[test]
fn clusters_that_cannot_be_are_refused() {
    let refused = |kernel, grid: (u32, u32), cluster, large, profile| {
        let options = LaunchOptions { large_clusters: large, ..with_cluster(cluster).options };
        let gpu = Gpu::with_options(CLUSTER, options).of_profile(profile);
        let output = gpu.poisoned::<u32>(24 * 24);
        match gpu.try_launch(kernel, grid, 32, 0, &Params::new().with(output)) {
            Err(LaunchError::Misuse(LaunchMisuse::Cluster(misuse))) => Some(misuse),
            Err(error) => panic!("{error}"),
            Ok(_) => None,
        }
    };
    let extents = |x, y| Dim3::new(x, y, 1);
    for (kernel, grid, cluster, large, misuse) in [
        ("specials", (5, 1), (2, 1), false, Some(ClusterMisuse::GridNotMultiple { grid: extents(5, 1), cluster: extents(2, 1) })),
        ("specials", (8, 1), (8, 1), false, None),
        ("specials", (16, 1), (16, 1), false, Some(ClusterMisuse::TooLarge { blocks: 16, limit: 8 })),
        ("specials", (16, 1), (16, 1), true, None),
        ("specials", (9, 1), (9, 1), true, None),
        ("specials", (17, 1), (17, 1), true, Some(ClusterMisuse::TooLarge { blocks: 17, limit: 16 })),
        ("specials", (4, 1), (1, 0), false, Some(ClusterMisuse::Empty { asked: extents(1, 0) })),
        (
            "specials_fixed",
            (4, 2),
            (4, 1),
            false,
            Some(ClusterMisuse::NotAsRequired { asked: extents(4, 1), required: extents(2, 2) }),
        ),
    ] {
        assert_eq!(refused(kernel, grid, Some(cluster), large, "h200"), misuse, "{kernel} {grid:?} {cluster:?}");
    }
    let misuse = refused("specials_fixed", (3, 2), None, false, "h200");
    assert_eq!(misuse, Some(ClusterMisuse::GridNotMultiple { grid: extents(3, 2), cluster: extents(2, 2) }));
    assert!(matches!(refused("specials", (4, 1), Some((2, 1)), false, "a100"), Some(ClusterMisuse::Unsupported { .. })));
}
