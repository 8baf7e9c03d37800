//! Every fence, wait and arrival of the asynchronous kernels of chapters 04 and 06 is needed: if any one of them is taken out, a stage that
//! launches the kernel must fail, or it can be said why nothing depends on it.
//! `barriers` does the same with the barriers between the threads of a block.

use std::collections::BTreeMap;

use correlation_sm_aware::hopper::WGMMA as WGMMA_TEMPLATES;
use correlation_sm_aware::roles::WGMMA_ROLES;
use kernels::Source;
use matmul_half::MMA;
use matmul_half::finish::{FP8, FUSED};
use matmul_half::hopper::{BY_SIZE, MULTICAST, PERSISTENT, PRODUCER, RING, WGMMA};
use matmul_tiled::hopper::WGMMA_TF32;
use matmul_tiled::sizes::WGMMA_BY_SIZE;
use matmul_tiled::split::TENSOR_3XTF32;
use ptx::mutation::{Mutant, Operator};
use run::Chapter;
use run::gpu::Gpu;
use run::report::Outcome;
use run::stage::Stage;
use run::workload::matmul_half::Demand;
use run::workload::{Border, Correlation, Matmul, MatmulHalf, Workload, correlation, matmul};

use crate::device::{in_own_process, with_own_simulator};
use crate::matmul::with_tile;
use crate::without::{Lend, opcode, trials};

/// Returns true if a fence, a wait or an arrival is removed.
fn order(mutant: &Mutant) -> bool {
    matches!(mutant.operator, Operator::RemoveFence | Operator::RemoveWait | Operator::RemoveArrive)
}

/// An instruction that a kernel does not need: the kernel, the opcode, and the reason.
type Equivalent = (&'static str, &'static str, &'static str);

const OF_HALVES: [Equivalent; 3] = [
    ("multicast", "fence.mbarrier_init.release.cluster", CLUSTER),
    ("ring", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("slices", "fence.mbarrier_init.release.cluster", "no block uses the barriers of another"),
];
const OF_OTHER_HALVES: [Equivalent; 7] = [
    ("fp8", "fence.mbarrier_init.release.cluster", CLUSTER),
    ("fused", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("producer", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("producer", "mbarrier.arrive.shared::cta.b64", "of the last slab: no copy follows"),
    ("small", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("stores", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("wgmma", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
];
const OF_TILES: [Equivalent; 4] = [
    ("wgmma_128", "fence.mbarrier_init.release.cluster", OWN_BARRIERS),
    ("wgmma_192", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("wgmma_256", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("wgmma_64", "fence.mbarrier_init.release.cluster", OWN_BARRIERS),
];
const OWN_BARRIERS: &str = "no other block of the cluster uses these barriers, and `__syncthreads` tells the threads of the block";
const OF_PRODUCTS: [Equivalent; 2] = [
    ("tensor_3xtf32", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("wgmma_tf32", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
];
const CLUSTER: &str = "the barrier of the cluster, which follows, releases what each thread has written";
const OF_TEMPLATES: [Equivalent; 1] = [(
    "wgmma_roles",
    "mbarrier.try_wait.parity.shared::cta.b64",
    "of the other warpgroup's turn: without it, both multiply at the same time",
)];
const ONE_BLOCK: &str =
    "it tells other blocks of a cluster, of which there are none, and `__syncthreads` tells the threads of the block";

/// The instructions that were taken out, by kernel, line, and opcode; true if a stage missed one.
type Missed = BTreeMap<(&'static str, u32, String), bool>;

/// Removes each instruction that orders some stages' kernels. It skips those already missed. Returns the stages with something left that
/// nobody has missed. Many of these kernels end in a fault, after which the process has no use of the device.
fn take_out<W: Workload>(
    missed: &mut Missed,
    sources: &[&'static Source],
    stages: &[Stage<W>],
    workload: &W,
    lend: Lend,
) -> Vec<Stage<W>> {
    let mut left: Vec<Stage<W>> = Vec::new();
    for trial in trials(sources, stages, workload, order, lend) {
        let taken = (trial.kernel.name, trial.mutant.ptx_line, opcode(&trial.mutant).to_owned());
        let is_missed = missed.entry(taken).or_insert(false);
        *is_missed = *is_missed || trial.said(workload, lend).is_some();
        if !*is_missed && !left.contains(trial.stage) {
            left.push(*trial.stage);
        }
    }
    left
}

/// Fails unless everything was missed but what makes no difference.
fn judge(missed: &Missed, equivalent: &[Equivalent]) {
    let unmissed = missed.iter().filter(|(_, is_missed)| !**is_missed);
    let unmissed: Vec<_> = unmissed.map(|((kernel, line, opcode), _)| (*kernel, opcode.as_str(), *line)).collect();
    let mut found: Vec<_> = unmissed.iter().map(|(kernel, opcode, _)| (*kernel, *opcode)).collect();
    found.sort_unstable();
    let expected: Vec<_> = equivalent.iter().map(|(kernel, opcode, _)| (*kernel, *opcode)).collect();
    assert_eq!(found, expected, "of {}, nobody misses {unmissed:?}", missed.len());
    println!("{} instructions are needed, and these are not: {unmissed:?}", missed.len() - unmissed.len());
}

/// Tries every tile of `wgmma-by-size`. The sizes give a block a few tiles, or a cluster several slices that are longer than the ring.
#[test]
#[ignore = "started by a test below, in a process of its own"]
fn own_process_tiles() {
    let mut missed = Missed::new();
    let sources = matmul_tiled::CHAPTER.sources;
    let mut left = vec![with_tile::<0, 1>(), with_tile::<1, 1>(), with_tile::<2, 1>(), with_tile::<3, 1>()];
    let sliced = [with_tile::<2, 2>(), with_tile::<3, 2>()];
    for k in [148, 244, 172] {
        let product = Matmul::random(matmul::Size { m: 260, n: 132, k }, 13).unwrap();
        left = take_out(&mut missed, sources, &left, &product, with_multiprocessors::<1>);
    }
    for k in [424, 360] {
        let product = Matmul::random(matmul::Size { m: 130, n: 68, k }, 13).unwrap();
        take_out(&mut missed, sources, &sliced, &product, with_multiprocessors::<132>);
    }
    judge(&missed, &OF_TILES);
}

#[test]
#[ignore = "started by a test below, in a process of its own"]
fn own_process_products() {
    // More slabs than the ring of tiles holds, an odd number of them and an even one, and more than one tile.
    let [odd, even] = [212, 172].map(|k| Matmul::random(matmul::Size { m: 140, n: 132, k }, 13).unwrap());
    let Chapter { sources, stages, .. } = matmul_tiled::CHAPTER;
    let mut missed = Missed::new();
    // One block for all tiles takes the least time, and misses the most.
    take_out(&mut missed, sources, &[WGMMA_TF32, TENSOR_3XTF32], &odd, with_multiprocessors::<1>);
    let mut left: Vec<_> = stages.iter().filter(|stage| **stage != WGMMA_BY_SIZE).copied().collect();
    for product in [odd, even] {
        left = take_out(&mut missed, sources, &left, &product, |run| with_own_simulator(|gpu| run(gpu)));
    }
    judge(&missed, &OF_PRODUCTS);
}

/// Lends the simulator, whose planner believes in this many multiprocessors.
fn with_multiprocessors<const COUNT: u32>(run: &mut dyn FnMut(&Gpu) -> Outcome) -> Outcome {
    with_own_simulator(|gpu| {
        gpu.plan_for_multiprocessors(COUNT);
        run(gpu)
    })
}

#[test]
#[ignore = "started by a test below, in a process of its own"]
fn own_process_templates() {
    let mut missed = Missed::new();
    let Chapter { sources, .. } = correlation_sm_aware::CHAPTER;
    // Blocks are as low as the multiprocessors allow, so these plans launch those of 8, 16, 64 and 128 rows of outputs.
    let plans: [(u32, Lend); 4] = [
        (50, with_multiprocessors::<132>),
        (50, with_multiprocessors::<4>),
        (50, with_multiprocessors::<1>),
        (90, with_multiprocessors::<1>),
    ];
    for (rows, lend) in plans {
        let size = correlation::Size { image: (60, rows), template: (20, 16) };
        let templates = Correlation::random(size, Border::Valid, 13);
        take_out(&mut missed, sources, &[WGMMA_TEMPLATES], &templates, lend);
    }
    // Outputs in every chunk of a stretch, and in two stretches.
    let size = correlation::Size { image: (60, 50), template: (20, 3) };
    let templates = Correlation::random(size, Border::Valid, 13);
    take_out(&mut missed, sources, &[WGMMA_ROLES], &templates, with_multiprocessors::<132>);
    judge(&missed, &OF_TEMPLATES);
}

/// A product of bf16 numbers, in blocks for this many multiprocessors.
fn half<const COUNT: u32>(
    missed: &mut Missed,
    stages: &[Stage<MatmulHalf>],
    [m, n, k]: [u32; 3],
    demand: Demand,
) -> Vec<Stage<MatmulHalf>> {
    let product = MatmulHalf::random(matmul::Size { m, n, k }, demand, 13).unwrap();
    take_out(missed, matmul_half::CHAPTER.sources, stages, &product, with_multiprocessors::<COUNT>)
}

#[test]
#[ignore = "started by a test below, in a process of its own"]
fn own_process_halves() {
    let (mut missed, plain) = (Missed::new(), Demand::default());
    // Two tiles for each block, and more slabs than the ring has stages.
    half::<1>(&mut missed, &[MULTICAST], [140, 264, 328], plain);
    half::<132>(&mut missed, &[BY_SIZE], [70, 72, 1672], plain);
    half::<132>(&mut missed, &[MMA, RING], [140, 264, 328], plain);
    judge(&missed, &OF_HALVES);
}

#[test]
#[ignore = "started by a test below, in a process of its own"]
fn own_process_other_halves() {
    let (mut missed, plain) = (Missed::new(), Demand::default());
    half::<1>(&mut missed, &[PERSISTENT], [140, 264, 328], plain);
    half::<1>(&mut missed, &[FP8], [140, 264, 656], Demand { fp8: true, ..plain });
    half::<1>(&mut missed, &[FUSED], [140, 264, 328], Demand { bias: true, ..plain });
    half::<5>(&mut missed, &[BY_SIZE], [70, 136, 648], plain);
    let left = half::<132>(&mut missed, &[WGMMA, PRODUCER], [140, 264, 392], plain);
    half::<132>(&mut missed, &left, [140, 264, 456], plain);
    judge(&missed, &OF_OTHER_HALVES);
}

/// Runs one of the tests above. It must count this many needed instructions.
fn are_needed(test: &str, count: usize) {
    let said = in_own_process(&format!("synchronization::{test}"));
    assert!(said.contains(&format!(" {count} instructions are needed, ")), "{said}");
}

#[test]
fn tiles_of_every_size_miss_every_fence_wait_and_arrival() {
    are_needed("own_process_tiles", 88);
}

#[test]
fn products_of_matrices_miss_every_fence_wait_and_arrival() {
    are_needed("own_process_products", 54);
}

#[test]
fn products_of_halves_miss_every_fence_wait_and_arrival() {
    are_needed("own_process_halves", 49);
}

/// Tries kernels that share most of their code with those above.
#[test]
#[ignore = "takes minutes: a release runs it"]
fn other_products_of_halves_miss_every_fence_wait_and_arrival() {
    are_needed("own_process_other_halves", 91);
}

#[test]
fn templates_miss_every_fence_wait_and_arrival() {
    are_needed("own_process_templates", 35);
}
