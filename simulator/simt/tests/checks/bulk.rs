//! The special needs of bulk copies: proxy fences, waits for what was begun, and the right parities.

use ptx::finding::{BulkCopyMisuse, MbarrierMisuse};
use simt::tensor_map::{Element, Interleave, Swizzle, TensorMap};
use simt::{Finding, FindingKind, LaunchError, LaunchOptions, Severity, Space, WarpOrder};

use crate::common::{Gpu, Params, every_way};

const BULK: &str = include_str!("bulk.ptx");
const SOURCE: &str = include_str!("bulk.cu");
const TENSOR_COPY: &str = include_str!("../programs/tensor_copy.ptx");

const PRODUCTS: &str = include_str!("../wgmma/programs.ptx");

const TILE: usize = 64;
const TILES: usize = 7;
const ORDERS: u64 = 12;

/// The modes of the kernel `turned`.
const WRITER_FENCES: i32 = 1;
const STARTER_FENCES: i32 = 2;
const COMMITS: i32 = 4;
const WAITS: i32 = 8;
const OVERWRITES: i32 = 16;
const MEETS: i32 = 32;
const ALL: i32 = WRITER_FENCES | COMMITS | WAITS | OVERWRITES | MEETS;

fn inputs(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * i % 97) as f32 - 40.0).collect()
}

fn in_order(warp_order: WarpOrder) -> Gpu {
    Gpu::with_options(BULK, LaunchOptions { warp_order, ..LaunchOptions::default() })
}

fn turned(gpu: &Gpu, does: i32) -> Vec<Finding> {
    let (input, output) = (gpu.buffer(&inputs(TILE)), gpu.poisoned::<f32>(TILE));
    let report = gpu.launch("turned", 1, TILE as u32, 0, &Params::new().with(input).with(output).with(does));
    if report.findings.is_empty() {
        let expected: Vec<f32> = inputs(TILE).into_iter().rev().collect();
        assert_eq!(gpu.read::<f32>(output, TILE), expected);
        assert_eq!((report.counters.global_store_sectors, report.counters.global_store_requests), (8, 0));
    }
    report.findings
}

/// Returns the line of the source that holds a text.
fn at(text: &str) -> u32 {
    1 + SOURCE.lines().position(|line| line.contains(text)).expect("the source has this") as u32
}

fn line(finding: &Finding) -> u32 {
    finding.location.source.as_ref().expect("a CUDA line").line
}

/// Checks that each order has a wanted finding. All other findings must be allowed.
#[track_caller]
fn assert_found(does: i32, wanted: impl Fn(&Finding) -> bool, allowed: impl Fn(&Finding) -> bool) -> Finding {
    let mut found = None;
    for order in 0..ORDERS {
        let findings = turned(&in_order(WarpOrder::Shuffled(order)), does);
        assert!(findings.iter().all(|finding| wanted(finding) || allowed(finding)), "{findings:#?}");
        found = findings.into_iter().find(&wanted);
        assert!(found.is_some(), "order {order} of {does}");
    }
    found.expect("an order")
}

#[test]
fn right_copies_are_left_alone() {
    for order in 0..ORDERS {
        let gpu = in_order(WarpOrder::Shuffled(order));
        assert_eq!(turned(&gpu, ALL), []);
        assert_eq!(turned(&gpu, ALL & !OVERWRITES), []);
    }
    every_way(BULK, |gpu| {
        let input = gpu.buffer(&inputs(TILES * TILE));
        let (output, again) = (gpu.poisoned::<f32>(TILES * TILE), gpu.poisoned::<f32>(TILES * TILE));
        let report = stages(gpu, [input, output, again], [1, 1, 0]).expect("no fault");
        assert_eq!(report, []);
        let data = inputs(TILES * TILE);
        let sums: Vec<f32> = (0..data.len()).map(|i| data[i] + data[i / TILE * TILE + (i + 1) % TILE]).collect();
        assert_eq!((gpu.read::<f32>(output, sums.len()), gpu.read::<f32>(again, data.len())), (sums, data));
    });
}

#[test]
fn reductions_of_blocks_add_up() {
    every_way(BULK, |gpu| {
        let values: Vec<i32> = (0..8 * TILE as i32).map(|i| i * 7919 % 1000 - 300).collect();
        let (input, output) = (gpu.buffer(&values), gpu.buffer(&[5_i32; TILE]));
        assert_eq!(gpu.launch("summed", 8, TILE as u32, 0, &Params::new().with(input).with(output)).findings, []);
        let sums: Vec<i32> = (0..TILE).map(|i| 5 + (0..8).map(|block| values[block * TILE + i]).sum::<i32>()).collect();
        assert_eq!(gpu.read::<i32>(output, TILE), sums);
    });
}

/// PTX ISA, "Async proxy": the memory operations of `cp.async.bulk` are made in another proxy than loads and stores, and accesses of one place
/// in both need a proxy fence. CUDA C++ Programming Guide, on the Tensor Memory Accelerator: each thread that writes shared memory executes the
/// fence, then the block synchronizes, then one thread starts the copy.
#[test]
fn a_write_that_the_async_proxy_may_not_see_is_found() {
    let is_missing = |finding: &Finding| matches!(finding.kind, FindingKind::MissingProxyFence { late: false, .. });
    let finding = assert_found(ALL & !WRITER_FENCES, is_missing, |_| false);
    let FindingKind::MissingProxyFence { writer, .. } = &finding.kind else { unreachable!() };
    assert_eq!(
        (line(&finding), writer.location.source.as_ref().map(|source| source.line)),
        (at("// the store"), Some(at("s_tile[TILE - 1 - i] = in[i]")))
    );
    let text = finding.to_string();
    assert!(text.contains("no proxy fence: the async proxy reads 16 bytes at ") && text.contains("s_tile (256 bytes)"), "{text}");
    assert!(
        text.contains("\n  and store by thread (") && text.contains("help: let each thread that writes execute fence.proxy"),
        "{text}"
    );
    assert_eq!(finding.kind.severity(), Severity::Error);
    // Only the thread that starts the copy fences, and after it has waited for the others.
    let is_late = |finding: &Finding| matches!(finding.kind, FindingKind::MissingProxyFence { late: true, .. });
    let late = assert_found(ALL & !WRITER_FENCES | STARTER_FENCES, is_late, |_| false);
    assert_eq!(late.kind.severity(), Severity::Warning);
}

/// PTX ISA, "Asynchronous warpgroup level matrix instructions": `wgmma` reads shared memory through the async proxy, too. The kernel is a right one
/// without its fences.
#[test]
fn factors_that_the_tensor_cores_may_not_see_are_found() {
    for (ptx, is_fenced) in [(PRODUCTS.to_owned(), true), (PRODUCTS.replace("fence.proxy.async;", ""), false)] {
        let gpu = Gpu::load(&ptx);
        let (k, [rows, columns]) = (128, [128, 16]);
        let [a, b] = [rows * k, columns * k].map(|count| gpu.buffer(&vec![0x3c00_u16; count]));
        let sums = gpu.poisoned::<f32>(rows * columns);
        let params = Params::new().with(a).with(b).with(sums).with(k as u32);
        let findings = gpu.launch("k_pipeline", 1, 256, 2 * 144 * 128, &params).findings;
        let is_missing = |finding: &Finding| matches!(finding.kind, FindingKind::MissingProxyFence { late: false, .. });
        assert!(findings.iter().all(is_missing), "{findings:#?}");
        assert_eq!(findings.is_empty(), is_fenced, "{findings:#?}");
    }
}

/// PTX ISA, `cp.async.bulk.wait_group`: with `.read`, the thread waits until the copies of its groups have read their sources. Before that, the
/// source must not change.
#[test]
fn what_a_store_has_yet_to_read_must_not_be_overwritten() {
    let is_overwritten = |finding: &Finding| matches!(finding.kind, FindingKind::OverwritesStore { .. });
    let is_unwaited = |finding: &Finding| matches!(finding.kind, FindingKind::UnwaitedStore { .. });
    let finding = assert_found(ALL & !WAITS, is_overwritten, is_unwaited);
    let FindingKind::OverwritesStore { store, .. } = &finding.kind else { unreachable!() };
    let lines = (line(&finding), store.source.as_ref().map(|source| source.line));
    assert_eq!(lines, (at("// the next tile"), Some(at("// the store"))));
    // The thread waits, and the others do not wait for it. What is found depends on who runs first.
    for order in 0..ORDERS {
        let findings = turned(&in_order(WarpOrder::Shuffled(order)), ALL & !MEETS);
        let is_race = |finding: &Finding| matches!(finding.kind, FindingKind::Race { same_block: true, .. });
        assert!(findings.iter().any(|finding| is_race(finding) || is_overwritten(finding)), "order {order}: {findings:#?}");
    }
}

/// CUDA C++ Programming Guide, on the Tensor Memory Accelerator: the thread that started a copy from shared memory waits for it before the block's
/// shared memory ends.
#[test]
fn a_store_that_nothing_waits_for_is_found() {
    let no_wait = assert_found(
        ALL & !(WAITS | OVERWRITES),
        |finding| finding.kind == FindingKind::UnwaitedStore { committed: true },
        |_| false,
    );
    assert_eq!(line(&no_wait), at("// the store"));
    let no_commit = assert_found(
        ALL & !(COMMITS | OVERWRITES),
        |finding| finding.kind == FindingKind::UnwaitedStore { committed: false },
        |_| false,
    );
    assert!(no_commit.to_string().contains("it is in no group, because no commit follows it"), "{no_commit}");
}

/// PTX ISA 9.0, `cp.async.bulk`: the copy is asynchronous, and nothing orders it with other copies until something waits for it. `cp.async.bulk.wait_group`
/// waits for the writes of a store, and with `.read` only until it has read its source. `cp.reduce.async.bulk`: each element is added by a
/// relaxed operation of GPU scope.
///
/// On an H100, a load that follows such a store without a wait read 509 of 512 old bytes.
#[test]
fn copies_are_unordered_until_something_waits_for_them() {
    let [a_store, a_reduction, a_load] = [0, 1, 2];
    let for_all = 2;
    let [stores, reduces, stores_elsewhere, stores_itself, adds_itself, loads_elsewhere, another_loads] = [1, 2, 3, 5, 6, 7, 8];
    // What may follow each copy before the wait for it.
    let may_follow = |first: i32, second: i32| {
        [stores_elsewhere, loads_elsewhere].contains(&second)
            || (first == a_reduction && [reduces, adds_itself].contains(&second))
            || (first == a_load && ![stores, reduces, stores_itself, adds_itself].contains(&second))
    };
    for (first, wait) in [a_store, a_reduction, a_load].into_iter().flat_map(|first| (0..=for_all).map(move |wait| (first, wait))) {
        for (second, order) in (0..=another_loads).flat_map(|second| (0..4).map(move |order| (second, order))) {
            let gpu = in_order(WarpOrder::Shuffled(order));
            let (input, output) = (gpu.buffer(&[5_i32; TILE]), gpu.buffer(&[1_i32; 2 * TILE]));
            let params = Params::new().with(input).with(output).with(first).with(wait).with(second);
            let findings = gpu.launch("in_flight", 1, TILE as u32, 0, &params).findings;
            let case = format!("{first}, {wait}, {second}: {findings:#?}");
            if wait == for_all || may_follow(first, second) {
                assert_eq!(findings, [], "{case}");
                continue;
            }
            // Another warp may come after the copy's thread has waited. Then that is a race.
            let is_race = |finding: &Finding| matches!(finding.kind, FindingKind::Race { .. });
            if second == another_loads && findings.iter().any(is_race) {
                continue;
            }
            let of_copy = findings.iter().find_map(|finding| match &finding.kind {
                FindingKind::UnfinishedCopy { access, copy } if first != a_load => Some((access.space, copy, finding)),
                FindingKind::OverwritesStore { access, store, .. } if first == a_load => Some((access.space, store, finding)),
                _ => None,
            });
            let Some((Space::Global, copy, finding)) = of_copy else { panic!("{case}") };
            let line_of =
                |location: &ptx::finding::Location| location.inlined_at.clone().or(location.source.clone()).expect("a line").line;
            let text = |line: u32| SOURCE.lines().nth(line as usize - 1).expect("a line of the source");
            assert!(text(line_of(copy)).ends_with("// first") && text(line_of(&finding.location)).ends_with("// second"), "{case}");
            assert_eq!(finding.kind.severity(), Severity::Error);
            assert_eq!(findings.len(), 1, "{case}");
        }
    }
}

/// Runs the pipeline with the given parities and excess bytes.
fn stages(gpu: &Gpu, [input, output, again]: [u64; 3], with: [i32; 3]) -> Result<Vec<Finding>, Box<Finding>> {
    let [full_step, first_empty, excess] = with;
    let params = Params::new().with(input).with(output).with(again).with(TILES as i32);
    let params = params.with(full_step).with(first_empty).with(excess);
    match gpu.try_launch("stages", 1, 32 + TILE as u32, 0, &params) {
        Ok(report) => Ok(report.findings),
        Err(LaunchError::Fault { finding, .. }) => Err(finding),
        Err(error) => panic!("{error}"),
    }
}

fn stages_in(order: u64, with: [i32; 3]) -> Result<Vec<Finding>, Box<Finding>> {
    let gpu = in_order(WarpOrder::Shuffled(order));
    let (input, output) = (gpu.buffer(&inputs(TILES * TILE)), gpu.poisoned::<f32>(TILES * TILE));
    stages(&gpu, [input, output, 0], with)
}

/// Accepts repeated tests of a phase that a thread saw end. A thread may poll that way. It is a slip if the thread then reads what
/// is not there yet: the wait should have been for the next phase.
#[test]
fn a_parity_that_never_changes_is_named() {
    let reused = |order: u64, step: i32| {
        let gpu = in_order(WarpOrder::Shuffled(order));
        let (input, output) = (gpu.buffer(&inputs(2 * TILE)), gpu.poisoned::<f32>(2 * TILE));
        let params = Params::new().with(input).with(output).with(2_i32).with(step);
        gpu.launch("reused", 1, TILE as u32, 0, &params).findings
    };
    for order in 0..ORDERS {
        assert_eq!(reused(order, 1), []);
        let findings = reused(order, 0);
        let stale = findings.iter().find(|finding| matches!(finding.kind, FindingKind::StaleWait { parity: 0, .. }));
        let stale = stale.unwrap_or_else(|| panic!("order {order}: {findings:#?}"));
        let FindingKind::StaleWait { wait, .. } = &stale.kind else { unreachable!() };
        assert_eq!(wait.inlined_at.as_ref().map(|source| source.line), Some(at("// until the next tile is there")), "{stale}");
        assert!(stale.to_string().contains("had already seen that phase end"), "{stale}");
        // Where two stages take turns, the others run ahead of the producer, which then waits for a phase that is long over.
        let finding = stages_in(order, [0, 1, 0]).expect_err("a deadlock");
        let FindingKind::MbarrierDeadlock { stale: Some(wait), .. } = &finding.kind else { panic!("{finding}") };
        assert_eq!(wait.inlined_at.as_ref().map(|source| source.line), Some(at("// until the tile is there")), "{finding}");
    }
}

/// PTX ISA, `mbarrier.try_wait`: a parity names the phase in progress or the one before. A wait for the phase in progress never ends if nothing
/// comes for it.
#[test]
fn a_wait_for_the_wrong_phase_says_what_came() {
    for order in 0..ORDERS {
        // The producer waits for the first phase of a stage that is free, and the others wait for the producer.
        let finding = stages_in(order, [1, 0, 0]).expect_err("a deadlock");
        let FindingKind::MbarrierDeadlock { phase: Some(phase), others, .. } = &finding.kind else { panic!("{finding}") };
        assert_eq!((phase.number, phase.came, others.len()), (0, 0, 2), "{finding}");
        let text = finding.to_string();
        assert!(
            text.contains("the wait is for phase 0 (parity 0), in which 0 of ") && text.contains("waits for phase 0"),
            "{text}"
        );
    }
    // One byte too many is expected: the bytes are missing.
    let finding = stages_in(0, [1, 1, 16]).expect_err("a deadlock");
    let text = finding.to_string();
    let missing = "0 arrivals and 16 bytes that will never come; the wait is for phase 0 (parity 0), in which 1 of 1 arrivals and 256 of 272 expected bytes came";
    let others = |text: &str| text.contains(missing) || text.contains("64 arrivals and 0 bytes");
    assert!(others(&text), "{text}");
    // Too few are expected.
    for order in 0..ORDERS {
        let finding = stages_in(order, [1, 1, -16]).expect_err("a deadlock");
        let more = MbarrierMisuse::MoreBytes { expected: 240, came: 256 };
        assert!(
            matches!(&finding.kind, FindingKind::InvalidMbarrier { misuse, .. } if *misuse == more)
                || matches!(finding.kind, FindingKind::MbarrierDeadlock { arrivals: 64, .. }),
            "{finding}"
        );
    }
}

/// Returns a map of 64 x 64 floats, which fill their allocation.
fn map(address: u64) -> TensorMap {
    TensorMap {
        element: Element::F32,
        rank: 2,
        address,
        extents: [64, 64, 0, 0, 0],
        strides: [256, 0, 0, 0],
        box_extents: [32, 20, 0, 0, 0],
        steps: [1; 5],
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        fills_with_nan: false,
    }
}

/// Returns the driver's code and the misuse that it reports.
fn told(
    change: impl Fn(&mut TensorMap),
    bits: u8,
    (rank, at, shared): (u32, [i32; 5], u32),
    loads: bool,
) -> Option<(u32, BulkCopyMisuse)> {
    let gpu = Gpu::load(TENSOR_COPY);
    let (tensor, out) = (gpu.buffer(&[1_u32; 64 * 64]), gpu.poisoned::<u32>(2049));
    let mut map = map(tensor);
    change(&mut map);
    map.check().expect("a valid map");
    let mut encoded = map.encode();
    encoded[17] ^= bits;
    let params = Params::new().aligned(encoded, 64).with(rank).with(at).with(shared);
    let result = if loads {
        gpu.try_launch("load", 1, 128, 8192, &params.with(map.box_bytes() as u32).with(2048_u32).with(out))
    } else {
        gpu.try_launch("store", 1, 128, 8192, &params.with(2048_u32).with(out))
    };
    match result {
        Ok(report) => {
            assert_eq!(report.findings, []);
            None
        }
        Err(error) => match &error {
            LaunchError::Fault { finding, .. } => match &finding.kind {
                FindingKind::InvalidBulkCopy { misuse } => Some((error.cuda_result().0, misuse.clone())),
                _ => panic!("{error}"),
            },
            _ => panic!("{error}"),
        },
    }
}

/// Each of these ends a kernel on an H200, too. The codes are those of an H100.
#[test]
fn a_box_that_cannot_be_copied_is_told_why() {
    let misuse = |code: u32, told: Option<(u32, BulkCopyMisuse)>| {
        let (own, misuse) = told.expect("a fault");
        assert_eq!(own, code, "{misuse}");
        misuse
    };
    let same = |_: &mut TensorMap| ();
    for loads in [true, false] {
        assert_eq!(told(same, 0, (2, [4, 3, 0, 0, 0], 128), loads), None);
        assert!(matches!(misuse(715, told(same, 4, (2, [0; 5], 0), loads)), BulkCopyMisuse::NotAMap { .. }));
        assert_eq!(misuse(715, told(same, 0, (3, [0; 5], 0), loads)), BulkCopyMisuse::Rank { of_map: 2, given: 3 });
        assert_eq!(
            misuse(716, told(same, 0, (2, [0; 5], 64), loads)),
            BulkCopyMisuse::BoxAlignment { offset: 64 + SHARED_BEFORE * u32::from(loads) }
        );
        assert_eq!(misuse(715, told(same, 0, (2, [2, 0, 0, 0, 0], 0), loads)), BulkCopyMisuse::Coordinate { at: 2, width: 4 });
        assert!(matches!(
            misuse(700, told(same, 0, (2, [0; 5], 8192 - 1024), loads)),
            BulkCopyMisuse::OutsideShared { bytes: 2560, .. }
        ));
        let longer = |map: &mut TensorMap| map.extents[1] = 1 << 20;
        let outside = misuse(700, told(longer, 0, (2, [0, 60, 0, 0, 0], 0), loads));
        assert!(matches!(outside, BulkCopyMisuse::OutsideAllocation { bytes: 128, extent: 0x1000_0000, .. }), "{outside:?}");
        assert!(
            outside.to_string().contains("past the end of") && outside.to_string().contains("has 268435456 bytes from 0x"),
            "{outside}"
        );
    }
    let before = [0, -1, 0, 0, 0];
    assert_eq!(told(same, 0, (2, before, 0), true), None);
    assert_eq!(misuse(715, told(same, 0, (2, before, 0), false)), BulkCopyMisuse::BeforeTensor { dimension: 1, at: -1 });
}

/// The start of dynamic shared memory in the kernel `load`. The kernel has a barrier before it.
const SHARED_BEFORE: u32 = 1024;
