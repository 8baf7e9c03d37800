//! Every fence, wait and arrival of every kernel is needed: if any one of them is taken out, the stage that launches the kernel must fail.
//! `barriers` does the same with the barriers between the threads of a block.

use std::collections::BTreeMap;

use common::Chapter;
use common::workload::{Matmul, Workload, matmul};
use simt::ptx::ast::{Instruction, Operand};

use crate::barriers::{Lesser, without_each_in_turn};
use crate::device::{in_own_process, with_own_simulator};

/// What orders asynchronous work, apart from the barriers of a block: the beginnings of opcodes.
const ORDERS: [&str; 11] = [
    "mbarrier.",
    "barrier.cluster.",
    "fence",
    "membar",
    "wgmma.fence",
    "wgmma.commit_group",
    "wgmma.wait_group",
    "cp.async.commit_group",
    "cp.async.wait",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group",
];

/// An instruction that orders something is taken out. A test whether a phase is over says at once that it is.
fn order(instruction: &Instruction<'_>) -> Option<String> {
    let opcode = instruction.opcode;
    match instruction.operands.first() {
        Some(Operand::Name(over)) if opcode.contains("try_wait") || opcode.contains("test_wait") => {
            Some(format!("setp.eq.u32 {over}, 0, 0;"))
        }
        _ => ORDERS.iter().any(|order| opcode.starts_with(order)).then(String::new),
    }
}

/// Takes out what orders the kernels of a chapter, in turn, and fails when nobody misses it with any of the workloads. Many of these kernels
/// end in a fault, after which the process has no use of the device.
fn all_are_missed<W: Workload>(chapter: &Chapter<W>, workloads: &[W]) {
    let mut missed = BTreeMap::new();
    for workload in workloads {
        let lesser =
            without_each_in_turn(chapter.sources, chapter.stages, workload, order, |run| with_own_simulator(|gpu| run(gpu)));
        for Lesser { stage, kernel, opcode, line, said } in lesser {
            *missed.entry(format!("{stage}: line {line} of {kernel}, {opcode}")).or_insert(false) |= said.is_some();
        }
    }
    let unmissed: Vec<&str> = missed.iter().filter(|(_, is_missed)| !**is_missed).map(|(place, _)| place.as_str()).collect();
    assert!(unmissed.is_empty(), "of {}, nobody misses\n{}", missed.len(), unmissed.join("\n"));
    println!("{} instructions are needed", missed.len());
}

#[test]
#[ignore = "started by the next test, in a process of its own"]
fn own_process_products() {
    // More slabs than the ring of tiles holds, an even number of them and an odd one, and in every direction more than a tile.
    let product = |k| Matmul::random(matmul::Size { m: 300, n: 132, k }, 13).unwrap();
    all_are_missed(&matmul_tiled::CHAPTER, &[product(300), product(340)]);
}

#[test]
fn products_of_matrices_miss_every_fence_wait_and_arrival() {
    let said = in_own_process("synchronization::own_process_products");
    assert!(said.contains("instructions are needed"), "{said}");
}
