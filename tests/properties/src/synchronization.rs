//! Every fence, wait and arrival of the asynchronous kernels of chapters 04 and 06 is needed: if any one of them is taken out, a stage that
//! launches the kernel must fail, or it can be said why nothing depends on it.
//! `barriers` does the same with the barriers between the threads of a block.

use std::collections::BTreeMap;

use kernels::Source;
use matmul_tiled::hopper::WGMMA_TF32;
use matmul_tiled::split::TENSOR_3XTF32;
use ptx::mutation::{Mutant, Operator};
use run::Chapter;
use run::stage::Stage;
use run::workload::{Border, Correlation, Matmul, Workload, correlation, matmul};

use crate::barriers::{Lend, Lesser, without_each_in_turn};
use crate::device::{in_own_process, with_own_simulator};

/// A fence, a wait or an arrival is removed.
fn order(mutant: &Mutant) -> bool {
    matches!(mutant.operator, Operator::RemoveFence | Operator::RemoveWait | Operator::RemoveArrive)
}

/// What can be taken out of a kernel without a difference, and why.
const EQUIVALENT: [(&str, &str, &str); 6] = [
    ("wgmma", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("wgmma_ring", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("wgmma_tf32", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("tensor_3xtf32", "fence.mbarrier_init.release.cluster", ONE_BLOCK),
    ("wgmma_ring", "wgmma.wait_group.sync.aligned", "of the last slab of an odd number: a wait for all follows"),
    ("wgmma_ring", "mbarrier.arrive.expect_tx.shared::cta.b64", "of the last slab of an odd number: no copy is started there"),
];
const ONE_BLOCK: &str =
    "it tells other blocks of a cluster, of which there are none, and `__syncthreads` tells the threads of the block";

/// What was taken out, by kernel, line, and opcode, and whether somebody missed it.
type Missed = BTreeMap<(&'static str, u32, String), bool>;

/// Takes out what orders the kernels of some stages, in turn. Many of these kernels end in a fault, after which the process has no use of
/// the device.
fn take_out<W: Workload>(missed: &mut Missed, sources: &[&'static Source], stages: &[Stage<W>], workload: &W, lend: Lend) {
    for Lesser { kernel, opcode, line, said, .. } in without_each_in_turn(sources, stages, workload, order, lend) {
        *missed.entry((kernel, line, opcode)).or_insert(false) |= said.is_some();
    }
}

#[test]
#[ignore = "started by the next test, in a process of its own"]
fn own_process_products() {
    // More slabs than the ring of tiles holds, an even number of them and an odd one, and in every direction more than a tile.
    let product = |k| Matmul::random(matmul::Size { m: 300, n: 132, k }, 13).unwrap();
    let mut missed = Missed::new();
    let Chapter { sources, stages, .. } = matmul_tiled::CHAPTER;
    for k in [300, 340] {
        take_out(&mut missed, sources, stages, &product(k), |run| with_own_simulator(|gpu| run(gpu)));
    }
    // One block for all tiles.
    take_out(&mut missed, sources, &[WGMMA_TF32, TENSOR_3XTF32], &product(340), |run| {
        with_own_simulator(|gpu| {
            gpu.plan_for_multiprocessors(1);
            run(gpu)
        })
    });
    let Chapter { sources, stages, .. } = correlation_sm_aware::CHAPTER;
    let size = correlation::Size { image: (60, 50), template: (20, 16) };
    let templates = Correlation::random(size, Border::Valid, 13);
    take_out(&mut missed, sources, stages, &templates, |run| with_own_simulator(|gpu| run(gpu)));
    let unmissed = missed.iter().filter(|(_, is_missed)| !**is_missed);
    let unmissed: Vec<_> = unmissed.map(|((kernel, line, opcode), _)| (*kernel, opcode.as_str(), *line)).collect();
    let mut found: Vec<_> = unmissed.iter().map(|(kernel, opcode, _)| (*kernel, *opcode)).collect();
    let mut expected = EQUIVALENT.map(|(kernel, opcode, _)| (kernel, opcode));
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "of {}, nobody misses {unmissed:?}", missed.len());
    println!("{} instructions are needed", missed.len() - unmissed.len());
}

#[test]
fn products_of_matrices_miss_every_fence_wait_and_arrival() {
    let said = in_own_process("synchronization::own_process_products");
    assert!(said.contains("instructions are needed"), "{said}");
}
