//! The requests of `wmma.load` and `wmma.store`, as Nsight Compute 2025.3 counted them on an H200 for one warp: fragments whose elements are
//! contiguous in the direction of their registers, and fragments that the machine code transposes.

use simt::Counters;

use crate::common::{Gpu, Params};

/// A fragment in memory, and what its transfer costs.
struct Row {
    instruction: &'static str,
    /// `.f32` and the like, and how many the instruction names.
    registers: (&'static str, usize),
    /// Elements from the start of a row (or of a column) to the next.
    stride: u32,
    /// In shared memory: wavefronts, and wavefronts without conflicts.
    shared: [u64; 2],
    /// In global memory: requests and sectors.
    global: [u64; 2],
}

const fn row(instruction: &'static str, registers: (&'static str, usize), stride: u32, shared: [u64; 2], global: [u64; 2]) -> Row {
    Row { instruction, registers, stride, shared, global }
}

const HALVES: (&str, usize) = (".b32", 8);
const HALF_SUMS: (&str, usize) = (".b32", 4);
const SUMS: (&str, usize) = (".f32", 8);
const INT_SUMS: (&str, usize) = (".b32", 8);
const DOUBLE_SUMS: (&str, usize) = (".f64", 2);

const ROWS: [Row; 25] = [
    row("load.a.sync.aligned.row.m16n16k16.f16", HALVES, 16, [8, 4], [4, 32]),
    row("load.a.sync.aligned.row.m16n16k16.f16", HALVES, 24, [4, 4], [4, 32]),
    row("load.a.sync.aligned.row.m16n16k16.f16", HALVES, 64, [32, 4], [4, 32]),
    row("load.a.sync.aligned.col.m16n16k16.f16", HALVES, 16, [8, 4], [4, 32]),
    row("load.a.sync.aligned.col.m16n16k16.f16", HALVES, 24, [4, 4], [4, 32]),
    row("load.a.sync.aligned.col.m16n16k16.f16", HALVES, 64, [32, 4], [4, 32]),
    row("load.b.sync.aligned.row.m16n16k16.f16", HALVES, 16, [8, 4], [4, 32]),
    row("load.b.sync.aligned.row.m16n16k16.f16", HALVES, 24, [4, 4], [4, 32]),
    row("load.b.sync.aligned.col.m16n16k16.f16", HALVES, 64, [32, 4], [4, 32]),
    row("load.a.sync.aligned.col.m32n8k16.f16", HALVES, 24, [8, 8], [8, 64]),
    row("load.b.sync.aligned.row.m32n8k16.f16", HALVES, 16, [4, 2], [2, 16]),
    row("load.c.sync.aligned.row.m16n16k16.f32", SUMS, 16, [16, 8], [4, 32]),
    row("load.c.sync.aligned.row.m16n16k16.f32", SUMS, 20, [16, 8], [4, 48]),
    row("load.c.sync.aligned.col.m16n16k16.f32", SUMS, 16, [32, 8], [8, 32]),
    row("load.c.sync.aligned.col.m16n16k16.f32", SUMS, 20, [8, 8], [8, 48]),
    row("store.d.sync.aligned.row.m16n16k16.f32", SUMS, 16, [16, 8], [4, 32]),
    row("store.d.sync.aligned.row.m16n16k16.f32", SUMS, 20, [16, 8], [4, 48]),
    row("load.c.sync.aligned.col.m16n16k16.f16", HALF_SUMS, 16, [8, 4], [4, 32]),
    row("load.c.sync.aligned.col.m16n16k16.f16", HALF_SUMS, 24, [4, 4], [4, 32]),
    row("store.d.sync.aligned.col.m16n16k16.f16", HALF_SUMS, 24, [4, 4], [4, 32]),
    row("load.c.sync.aligned.row.m16n16k16.s32", INT_SUMS, 16, [16, 8], [4, 32]),
    row("load.c.sync.aligned.row.m8n8k4.f64", DOUBLE_SUMS, 8, [4, 4], [1, 16]),
    row("load.c.sync.aligned.row.m8n8k4.f64", DOUBLE_SUMS, 18, [8, 4], [1, 20]),
    row("store.d.sync.aligned.row.m8n8k4.f64", DOUBLE_SUMS, 8, [4, 4], [1, 16]),
    row("store.d.sync.aligned.row.m8n8k4.f64", DOUBLE_SUMS, 18, [8, 4], [1, 20]),
];

/// Returns the counters of one warp that executes the instruction. It accesses memory of a state space.
fn counters(row: &Row, space: &str) -> Counters {
    let Row { instruction, registers: (kind, count), stride, .. } = row;
    let (opcode, element) = instruction.rsplit_once('.').unwrap();
    let names = (0..*count).map(|register| format!("%x{register}")).collect::<Vec<_>>().join(", ");
    let operands = if opcode.starts_with("store") { format!("[%rd1], {{{names}}}") } else { format!("{{{names}}}, [%rd1]") };
    let ptx = format!(
        "
.version 8.0
.target sm_80
.address_size 64
.visible .entry move(.param .u64 memory)
{{
    .shared .align 128 .b8 s_memory[8192];
    .reg .b64 %rd<2>; .reg {kind} %x<{count}>;
    {}
    wmma.{opcode}.{space}.{element} {operands}, {stride};
    ret;
}}
",
        if space == "shared" { "mov.u64 %rd1, s_memory;" } else { "ld.param.u64 %rd1, [memory];" }
    );
    let gpu = Gpu::load(&ptx);
    let memory = gpu.buffer(&[0_u64; 1024]);
    gpu.launch("move", 1, 32, 0, &Params::new().with(memory)).counters
}

#[test]
fn fragments_cost_what_they_cost_on_an_h200() {
    for row in &ROWS {
        let [shared, global] = ["shared", "global"].map(|space| counters(row, space));
        let wavefronts = shared.shared_load_wavefronts + shared.shared_store_wavefronts;
        let ideal = shared.shared_load_wavefronts_ideal + shared.shared_store_wavefronts_ideal;
        assert_eq!([wavefronts, ideal], row.shared, "{} with stride {} in shared memory", row.instruction, row.stride);
        let requests = global.global_load_requests + global.global_store_requests;
        let sectors = global.global_load_sectors + global.global_store_sectors;
        assert_eq!([requests, sectors], row.global, "{} with stride {} in global memory", row.instruction, row.stride);
    }
}
