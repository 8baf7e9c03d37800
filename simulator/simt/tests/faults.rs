//! Kernels with defects, launches that cannot be executed, and texts that are not PTX: each gives its own error, with its location.

use crate::common::{Extent, Gpu, Params};
use ptx::finding::{Access, AccessOp, BarrierCount, Nearest};
use simt::{
    Dim3, Finding, FindingKind, LaunchConfig, LaunchError, LaunchMisuse, LaunchOptions, LoadError, Memory, Module, Profile, Space,
};

const FAULTS: &str = include_str!("programs/faults.ptx");
const SOURCE: &str = include_str!("programs/faults.cu");

/// Returns the launch's finding. It must be the same with any number of workers, with and without vector instructions.
fn finding(
    ptx: &str,
    kernel: &str,
    grid: impl Into<Extent>,
    block: impl Into<Extent>,
    shared: u32,
    params: impl Fn(&Gpu) -> Params,
) -> Finding {
    finding_on("h200", ptx, kernel, (grid, block, shared), params)
}

/// Returns the fault of a kernel on a GPU of that profile. The launch has a grid, a block, and `shared` bytes of shared memory.
fn finding_on(
    profile: &str,
    ptx: &str,
    kernel: &str,
    (grid, block, shared): (impl Into<Extent>, impl Into<Extent>, u32),
    params: impl Fn(&Gpu) -> Params,
) -> Finding {
    let (grid, block) = (grid.into().0, block.into().0);
    let mut first: Option<Finding> = None;
    for (workers, portable) in [(1, false), (2, false), (5, false), (2, true)] {
        let options = LaunchOptions { workers: Some(workers), portable, ..LaunchOptions::default() };
        let gpu = Gpu::with_options(ptx, options).of_profile(profile);
        let params = params(&gpu);
        let result = gpu.try_launch(kernel, Extent(grid), Extent(block), shared, &params);
        let Err(LaunchError::Fault { finding, .. }) = result else { panic!("{kernel} must fault, not {result:?}") };
        assert_eq!(first.get_or_insert_with(|| (*finding).clone()), &*finding, "{workers} workers, portable: {portable}");
    }
    first.expect("at least one launch")
}

/// Checks a finding's kernel, block, thread, number of lanes, and lines. The CUDA line is the marked one, and the PTX line has this
/// instruction.
#[track_caller]
fn assert_place(finding: &Finding, kernel: &str, block: Dim3, thread: Dim3, lanes: u32, instruction: &str) {
    assert_eq!(
        (finding.kernel.as_str(), finding.block, finding.thread, finding.lanes),
        (kernel, block, thread, lanes),
        "{finding}"
    );
    let line = SOURCE.lines().position(|line| line.ends_with(&format!("// <- {kernel}"))).expect("a marked line") + 1;
    let source = finding.location.source.as_ref().unwrap_or_else(|| panic!("no CUDA line: {finding}"));
    assert_eq!((source.file.as_str(), source.line), ("faults.cu", line as u32), "{finding}");
    let text = FAULTS.lines().nth(finding.location.ptx_line as usize - 1).expect("a line of the PTX").trim();
    assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), finding.location.instruction);
    assert!(text.contains(instruction), "PTX line {}: {text}", finding.location.ptx_line);
}

const fn at(x: u32) -> Dim3 {
    Dim3::new(x, 0, 0)
}

/// Returns the access of an out-of-bounds finding, with the nearest allocation.
#[track_caller]
fn out_of_bounds(finding: &Finding) -> (Access, Option<Nearest>) {
    match &finding.kind {
        FindingKind::OutOfBounds { access, nearest } => (*access, nearest.clone()),
        _ => panic!("not out of bounds: {finding}"),
    }
}

#[test]
fn one_element_past_the_end_is_told_with_its_buffer() {
    // 128 threads, 127 elements: only the last thread is outside.
    let found = finding(FAULTS, "write_at", 2, 64, 0, |gpu| Params::new().with(gpu.buffer(&[0_f32; 127])).with(0_i64));
    assert_place(&found, "write_at", at(1), at(63), 1, "st.global");
    let (access, nearest) = out_of_bounds(&found);
    let nearest = nearest.expect("the buffer is near");
    assert_eq!((access.space, access.op, access.bytes), (Space::Global, AccessOp::Store, 4));
    assert_eq!((nearest.offset, nearest.bytes, nearest.freed), (508, 508, false));
    assert_eq!(access.address, nearest.base + 508);
    assert!(found.to_string().contains("0 bytes past the end of an allocation of 508 bytes"), "{found}");
}

#[test]
fn code_of_an_inlined_function_is_told_with_the_line_of_the_kernel_that_called_it() {
    // `inner` is called in line 5 of a header's `outer`, and that one in line 20 of the kernel; then the header's line alone.
    let ptx = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u32 which)
{
    .reg .u32 %r<2>;
    .reg .pred %p1;
    .loc 1 18 1
    ld.param.u32 %r1, [which];
    setp.eq.u32 %p1, %r1, 0;
    .loc 2 5 3, function_name $L__outer, inlined_at 1 20 4
    @%p1 bra plain;
    .loc 2 2 1, function_name $L__inner+8, inlined_at 2 5 3
    trap;
plain:
    .loc 2 9 1
    trap;
}
.file 1 \"kernel.cu\"
.file 2 \"header.hpp\"
";
    let told = |which: u32| finding(ptx, "k", 1, 32, 0, |_| Params::new().with(which)).location.to_string();
    assert_eq!(told(1), "header.hpp:2, inlined at kernel.cu:20, PTX line 14: trap;");
    assert_eq!(told(0), "header.hpp:9, PTX line 17: trap;");
}

#[test]
fn an_access_that_begins_inside_and_ends_outside_is_out_of_bounds() {
    let found = finding(FAULTS, "write_at", 1, 32, 0, |gpu| Params::new().with(gpu.buffer(&[0_u8; 126])).with(0_i64));
    assert_place(&found, "write_at", at(0), at(31), 1, "st.global");
    assert_eq!(out_of_bounds(&found).1.expect("the buffer is near").offset, 124);
}

#[test]
fn one_element_before_the_start_is_told_with_its_buffer() {
    let found = finding(FAULTS, "read_at", 1, 64, 0, |gpu| {
        Params::new().with(gpu.buffer(&[0_f32; 64])).with(gpu.buffer(&[0_f32; 64])).with(-1_i64)
    });
    assert_place(&found, "read_at", at(0), at(0), 1, "ld.global.f32");
    let (access, nearest) = out_of_bounds(&found);
    assert_eq!((access.op, nearest.expect("the buffer is near").offset), (AccessOp::Load, -4));
}

#[test]
fn an_access_far_away_belongs_to_no_buffer() {
    let found = finding(FAULTS, "write_at", 1, 40, 0, |gpu| Params::new().with(gpu.buffer(&[0_f32; 64])).with(1_i64 << 34));
    assert_place(&found, "write_at", at(0), at(0), 32, "st.global");
    assert_eq!(out_of_bounds(&found).1, None);
}

#[test]
fn a_freed_buffer_is_known_as_freed() {
    let found = finding(FAULTS, "read_at", 1, 32, 0, |gpu| {
        let (input, output) = (gpu.memory.allocate(128, None).unwrap(), gpu.buffer(&[0_f32; 32]));
        gpu.memory.free(input).unwrap();
        Params::new().with(input).with(output).with(0_i64)
    });
    assert_place(&found, "read_at", at(0), at(0), 32, "ld.global.f32");
    let nearest = out_of_bounds(&found).1.expect("the freed buffer is remembered");
    assert_eq!((nearest.freed, nearest.offset), (true, 0));
}

#[test]
fn a_null_pointer_is_named_as_such() {
    let found = finding(FAULTS, "read_at", 1, 32, 0, |gpu| Params::new().with(0_u64).with(gpu.buffer(&[0_f32; 32])).with(100_i64));
    assert_place(&found, "read_at", at(0), at(0), 32, "ld.global.f32");
    assert!(matches!(found.kind, FindingKind::Null { access } if access.address == 400), "{found}");
}

#[test]
fn atomics_are_checked_too() {
    let found = finding(FAULTS, "add_at", 1, 32, 0, |gpu| Params::new().with(gpu.buffer(&[0_i32; 31])).with(0_i64));
    assert_place(&found, "add_at", at(0), at(31), 1, ".add.u32");
    assert_eq!(out_of_bounds(&found).0.op, AccessOp::Atomic);
}

#[test]
fn a_fault_of_some_lanes_names_the_first_of_them() {
    let found = finding(FAULTS, "two_lanes", 9, 96, 0, |gpu| Params::new().with(gpu.buffer(&[0_f32; 8])).with(8_i64));
    assert_place(&found, "two_lanes", at(5), at(71), 2, "st.global");
}

#[test]
fn a_vector_at_an_odd_element_is_misaligned() {
    let found = finding(FAULTS, "vector_at", 1, 8, 0, |gpu| {
        Params::new().with(gpu.buffer(&[0_f32; 64])).with(gpu.buffer(&[0_f32; 64])).with(1_i32)
    });
    assert_place(&found, "vector_at", at(0), at(0), 8, "ld.global");
    let FindingKind::Misaligned { access } = found.kind else { panic!("{found}") };
    assert_eq!((access.bytes, access.address % 16), (16, 4));
}

#[test]
fn static_shared_memory_has_bounds() {
    for (offset, thread, address) in [(1, 63, 256), (-1, 0, u64::MAX - 3)] {
        let found = finding(FAULTS, "static_shared", 3, 64, 0, |gpu| Params::new().with(gpu.buffer(&[0_f32; 64])).with(offset));
        assert_place(&found, "static_shared", at(0), at(thread), 1, "st.shared.f32");
        let (access, nearest) = out_of_bounds(&found);
        // Shared addresses are 32 bits wide, so -4 may also be reported as a large offset.
        assert_eq!(access.space, Space::Shared);
        assert_eq!(access.address as u32, address as u32, "{found}");
        assert_eq!(nearest.expect("the block's shared memory").bytes, 256);
    }
}

#[test]
fn dynamic_shared_memory_ends_where_the_launch_says() {
    let found = finding(FAULTS, "dynamic_shared", 1, 64, 256, |gpu| Params::new().with(gpu.buffer(&[0_f32; 64])).with(1_i32));
    assert_place(&found, "dynamic_shared", at(0), at(63), 1, "ld.shared.f32");
    assert_eq!(out_of_bounds(&found).0, Access { space: Space::Shared, op: AccessOp::Load, address: 256, bytes: 4 });
}

#[test]
fn a_vector_in_shared_memory_must_be_aligned() {
    let found = finding(FAULTS, "shared_vector", 1, 32, 0, |gpu| Params::new().with(gpu.buffer(&[0_f32; 128])).with(2_i32));
    assert_place(&found, "shared_vector", at(0), at(0), 32, "ld.shared");
    assert!(matches!(found.kind, FindingKind::Misaligned { access } if access.space == Space::Shared), "{found}");
}

#[test]
fn local_memory_has_bounds() {
    let mut index = [0_i32; 32];
    (index[6], index[20]) = (1 << 20, -4);
    let found =
        finding(FAULTS, "local_array", 1, 32, 0, |gpu| Params::new().with(gpu.buffer(&index)).with(gpu.buffer(&[0_i32; 32])));
    assert_place(&found, "local_array", at(0), at(6), 2, "st.local");
    assert_eq!(out_of_bounds(&found).0.space, Space::Local);
}

#[test]
fn the_first_block_that_traps_is_reported() {
    let mut input = vec![1_i32; 10 * 64];
    // Block 3 thread 40, block 3 thread 50, and later blocks.
    for at in [3 * 64 + 40, 3 * 64 + 50, 4 * 64, 9 * 64 + 1] {
        input[at] = -1;
    }
    let found = finding(FAULTS, "trapped", 10, 64, 0, |gpu| Params::new().with(gpu.buffer(&input)));
    assert_place(&found, "trapped", at(3), at(40), 2, "trap;");
    assert_eq!(found.kind, FindingKind::Trap);
}

#[test]
fn a_fault_of_a_slow_block_comes_before_that_of_a_later_one() {
    let found = finding(FAULTS, "slow_and_fast", 2, 32, 0, |gpu| Params::new().with(gpu.buffer(&[0_f32; 32])).with(20_000_i32));
    assert_place(&found, "slow_and_fast", at(0), at(0), 32, "st.global");
}

#[test]
fn a_barrier_inside_a_branch_is_divergent_where_warps_arrive_as_one() {
    let found = finding_on("gtx680", FAULTS, "part_of_a_warp", (1, 64, 0), |gpu| Params::new().with(gpu.buffer(&[0_i32; 64])));
    assert_place(&found, "part_of_a_warp", at(0), at(0), 10, "bar.sync");
    assert_eq!(found.kind, FindingKind::DivergentBarrier { barrier: 0 });
}

#[test]
fn warps_at_different_barriers_are_a_deadlock() {
    let found = finding(FAULTS, "two_barriers", 2, 64, 0, |gpu| Params::new().with(gpu.buffer(&[0_i32; 64])));
    assert_place(&found, "two_barriers", at(0), at(0), 32, "bar.sync");
    assert_eq!(found.kind, FindingKind::Deadlock { barrier: 1, count: None });
}

#[test]
fn a_barrier_that_too_few_threads_reach_is_a_deadlock() {
    let found = finding(FAULTS, "nobody_arrives", 1, 64, 0, |gpu| Params::new().with(gpu.buffer(&[0_i32; 64])));
    assert_place(&found, "nobody_arrives", at(0), at(0), 32, "bar.sync");
    let count = BarrierCount { expected: 64, arrived: 32, ended: 32 };
    assert_eq!(found.kind, FindingKind::Deadlock { barrier: 3, count: Some(count) });
}

#[test]
fn parameters_cannot_be_written() {
    let ptx = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry writes(.param .u64 first, .param .u32 second)
{
    .reg .b64 %rd<3>;
    mov.b64 %rd1, second;
    cvta.param.u64 %rd2, %rd1;
    st.u32 [%rd2], 5;
    ret;
}
";
    let found = finding(ptx, "writes", 1, 1, 0, |_| Params::new().with(0_u64).with(1_u32));
    let (access, _) = out_of_bounds(&found);
    assert_eq!(access, Access { space: Space::Param, op: AccessOp::Store, address: 8, bytes: 4 });
    assert_eq!((found.location.ptx_line, found.location.instruction.as_str()), (10, "st.u32 [%rd2], 5;"));
    assert_eq!(found.location.source, None);
}

#[test]
fn an_endless_kernel_ends_when_its_fuel_does() {
    for kernel in ["endless", "endless_through_a_barrier", "endless_arrivals"] {
        for (workers, portable) in [(1, false), (2, false), (2, true)] {
            let options = LaunchOptions { fuel: 10_000, workers: Some(workers), portable, ..LaunchOptions::default() };
            let gpu = Gpu::with_options(FAULTS, options);
            // In `endless`, only block 2 does not end.
            let params = Params::new().with(gpu.buffer(&if kernel == "endless" { [1, 1, 0, 1] } else { [0; 4] }));
            let result = gpu.try_launch(kernel, 4, 64, 0, &params);
            let Err(LaunchError::OutOfFuel { kernel: name, block, fuel, location, .. }) = result else { panic!("{result:?}") };
            let expected = at(if kernel == "endless" { 2 } else { 0 });
            assert_eq!((name.as_str(), block, fuel), (kernel, expected, 10_000), "{workers} workers");
            assert!(location.source.is_some_and(|source| source.file == "faults.cu"));
        }
    }
}

#[test]
fn a_kernel_that_ends_within_its_fuel_is_left_alone() {
    let options = LaunchOptions { fuel: 100, ..LaunchOptions::default() };
    let gpu = Gpu::with_options(FAULTS, options);
    let output = gpu.buffer(&[0_f32; 6400]);
    // Every block has its own fuel.
    let report = gpu.launch("write_at", 100, 64, 0, &Params::new().with(output).with(0_i64));
    assert!(report.counters.ptx_instructions > 100, "all blocks together execute more than the fuel of one");
    assert_eq!(gpu.read::<f32>(output, 6400), [1.0; 6400]);
}

#[test]
fn a_launch_that_no_device_could_execute_is_misuse() {
    let gpu = Gpu::load(FAULTS);
    let profile = Profile::named("h200").expect("a profile of the table");
    let pointer_and_offset = Params::new().with(0_u64).with(0_i64).0;
    let launch = |kernel: &str, grid: (u32, u32, u32), block: (u32, u32, u32), shared: u32, params: &[u8]| {
        let config = LaunchConfig {
            grid: Dim3::new(grid.0, grid.1, grid.2),
            block: Dim3::new(block.0, block.1, block.2),
            dynamic_shared_bytes: shared,
        };
        match simt::launch(&gpu.memory, &gpu.image, simt::Call { kernel, config, params }, profile, &gpu.options) {
            Err(LaunchError::Misuse(misuse)) => misuse,
            other => panic!("{kernel} {config:?} must be misuse, not {other:?}"),
        }
    };
    let extent = |what, extent, limit| LaunchMisuse::Extent { what, extent, limit };
    for (grid, block, expected) in [
        ((0, 1, 1), (32, 1, 1), extent("grid.x", 0, 0x7fff_ffff)),
        ((1, 0, 1), (32, 1, 1), extent("grid.y", 0, 65_535)),
        ((1, 1, 0), (32, 1, 1), extent("grid.z", 0, 65_535)),
        ((1, 1, 1), (0, 1, 1), extent("block.x", 0, 1024)),
        ((1, 1, 1), (1, 0, 1), extent("block.y", 0, 1024)),
        ((1, 1, 1), (1, 1, 0), extent("block.z", 0, 64)),
        ((0x8000_0000, 1, 1), (1, 1, 1), extent("grid.x", 0x8000_0000, 0x7fff_ffff)),
        ((1, 65_536, 1), (1, 1, 1), extent("grid.y", 65_536, 65_535)),
        ((1, 1, 1), (1025, 1, 1), extent("block.x", 1025, 1024)),
        ((1, 1, 1), (1, 1, 65), extent("block.z", 65, 64)),
        ((1, 1, 1), (32, 33, 1), extent("threads per block", 1056, 1024)),
        ((1, 1, 1), (u32::MAX, u32::MAX, u32::MAX), extent("block.x", u64::from(u32::MAX), 1024)),
    ] {
        assert_eq!(launch("write_at", grid, block, 0, &pointer_and_offset), expected);
    }
    let one = (1, 1, 1);
    assert_eq!(
        launch("dynamic_shared", one, one, (227 << 10) + 1, &[0; 12]),
        LaunchMisuse::SharedMemory { asked: (227 << 10) + 1, limit: 227 << 10, profile: "h200" }
    );
    // Static memory counts as well.
    assert!(matches!(launch("static_shared", one, one, 227 << 10, &[0; 12]), LaunchMisuse::SharedMemory { .. }));
    for bytes in [0, 15, 17] {
        let expected = LaunchMisuse::Parameters { kernel: "write_at".to_owned(), expected: 16, got: bytes };
        assert_eq!(launch("write_at", one, one, 0, &vec![0; bytes]), expected);
    }
    assert_eq!(launch("nothing", one, one, 0, &[]), LaunchMisuse::NoSuchKernel("nothing".to_owned()));
}

#[test]
fn launch_bounds_of_the_kernel_are_kept() {
    let ptx = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry bounded() .maxntid 64, 2, 1 { ret; }
";
    let gpu = Gpu::load(ptx);
    gpu.launch("bounded", 1, 128, 0, &Params::new());
    let error = gpu.try_launch("bounded", 1, 129, 0, &Params::new()).unwrap_err();
    assert_eq!(error.to_string(), "threads per block 129 is outside 1..=128");
}

/// Returns a module with one kernel. Its body starts on line 9 of the PTX and comes from line 77 of `made.cu`.
fn with_body(body: &str) -> String {
    format!(
        "
.version 8.0
.target sm_80
.address_size 64
.file 1 \"made.cu\"
.visible .entry kernel(.param .u64 output) {{
    .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .f32 %f<5>;
    .loc 1 77 5
{body}
    ret;
}}
"
    )
}

#[test]
fn what_cannot_be_executed_is_named_with_its_lines() {
    for (body, what) in [
        ("sured.b.add.1d.u32.trap [%rd1, {%r1}], %r2;", "sured.b.add.1d.u32.trap"),
        ("frobnicate.f32 %f1, %f2;", "frobnicate.f32"),
        ("min.f32x2 %rd1, %rd2, %rd3;", "min.f32x2"),
        ("atom.global.add.f16 %r1, [%rd1], %r2;", "atom.global.add.f16"),
        ("ld.global.v8.f32 %f1, [%rd1];", "ld.global.v8.f32 (32 bytes at once, from .target sm_100 on)"),
        ("redux.sync.min.f32 %f1, %f2, -1;", "redux.sync.min.f32 (of f32, from .target sm_100a on)"),
        ("shfl.idx.b32 %r1, %r2, %r3, 31;", "shfl.idx.b32 (without .sync, from .target sm_70 on)"),
    ] {
        let error = Module::parse(&with_body(body)).unwrap_err();
        let LoadError::Unsupported { what: named, location } = &error else { panic!("{body}: {error}") };
        assert_eq!((named.as_str(), location.ptx_line, location.instruction.as_str()), (what, 9, body));
        let source = location.source.as_ref().expect("the line of .loc");
        assert_eq!((source.file.as_str(), source.line), ("made.cu", 77));
        assert!(error.to_string().contains("not supported by the simulator: made.cu:77, PTX line 9"), "{error}");
    }
}

#[test]
fn a_body_that_does_not_fit_together_is_refused_with_its_line() {
    for (body, message) in [
        ("bra $nowhere;", "no label $nowhere in function kernel"),
        ("add.s32 %r1, %r2;", "the operands do not fit add.s32"),
        ("add.s32 %r1, %r2, %r3, %r4;", "the operands do not fit add.s32"),
        ("add.s32 %r1, %r2, %rd3;", "expected a 32-bit value, found %rd3, a 64-bit value"),
        ("add.s32 5, %r2, %r3;", "expected a register as the destination"),
        ("add.s32 %r1, %r2, %r9;", "expected a 32-bit value, found %r9"),
        ("@%r1 bra $nowhere;", "expected a predicate"),
        ("ld.global.v2.f32 %f1, [%rd1];", "the operands do not fit ld.global.v2.f32"),
        ("ld.global.v2.u32 {%r1, %rd1}, [%rd1];", "the operands do not fit ld.global.v2.u32"),
        ("st.global.f32 [%rd1];", "the operands do not fit st.global.f32"),
        ("setp.eq.s32 %p1, %r1;", "the operands do not fit setp.eq.s32"),
        ("bar.arrive 1;", "the operands do not fit bar.arrive"),
        ("mov.b64 {%r1, %r2, %r3}, %rd1;", "the operands do not fit mov.b64"),
        ("add.s32 %r1, %r2, 0x;", "expected a number, found 0x"),
        ("add.s32 %r1 %r2;", "expected ',', found %r2"),
        (".reg .b32 %many<99999999>;", "expected at most"),
        (".local .b8 large[999999999];", "bytes of local memory per thread"),
        (".shared .b8 large[999999999];", "shared memory"),
    ] {
        let error = Module::parse(&with_body(body)).expect_err(body);
        let LoadError::Syntax { line, message: found } = &error else { panic!("{body}: {error}") };
        assert!(found.contains(message), "{body}: {found}");
        assert_eq!(*line, 9, "{body}: {error}");
    }
}

#[test]
fn numbers_are_read_in_every_notation() {
    for (number, expected) in [
        ("0", 0_u32),
        ("0U", 0),
        ("10U", 10),
        ("0x1F", 31),
        ("0x1fU", 31),
        ("017", 15),
        ("0b101", 5),
        ("-1", u32::MAX),
        ("4294967295", u32::MAX),
        ("0f3F800000", 0x3f80_0000),
        ("-0f3F800000", 0xbf80_0000),
        ("1.5", 0x3fc0_0000),
    ] {
        let body = format!("ld.param.u64 %rd1, [output]; mov.b32 %r1, {number}; st.global.b32 [%rd1], %r1;");
        let gpu = Gpu::load(&with_body(&body));
        let output = gpu.poisoned::<u32>(1);
        gpu.launch("kernel", 1, 1, 0, &Params::new().with(output));
        assert_eq!(gpu.read::<u32>(output, 1), [expected], "{number}");
    }
}

#[test]
fn initial_values_have_the_width_of_their_variable() {
    let ptx = "
.version 8.0
.target sm_80
.address_size 64
.global .f32 decimal = 1.5;
.global .f64 wide = 1.5;
.global .align 4 .f32 list[3] = {0f3F800000, -2.25, 0};
.global .u16 narrow[] = {1, 0xffff, -2};
.global .u32 grid[2][2] = {{1, 2}, {3, 4}};
.global .u64 pointer = narrow+2;
.global .u64 generic_pointer = generic(list)+4;
";
    let gpu = Gpu::load(ptx);
    let bytes = |name: &str| {
        let (address, bytes) = gpu.image.variable(name).expect("a variable of the module");
        (address, gpu.read::<u8>(address, bytes as usize))
    };
    let (narrow, narrow_bytes) = bytes("narrow");
    let (list, list_bytes) = bytes("list");
    assert_eq!(bytes("decimal").1, 1.5_f32.to_le_bytes());
    assert_eq!(bytes("wide").1, 1.5_f64.to_le_bytes());
    assert_eq!(list_bytes, [1.0_f32, -2.25, 0.0].map(f32::to_le_bytes).concat());
    assert_eq!(narrow_bytes, [1, 0, 255, 255, 254, 255]);
    assert_eq!(bytes("grid").1, [1_u32, 2, 3, 4].map(u32::to_le_bytes).concat());
    assert_eq!(bytes("pointer").1, (narrow + 2).to_le_bytes());
    assert_eq!(bytes("generic_pointer").1, (list + 4).to_le_bytes());
}

#[test]
fn calls_that_cannot_be_followed_are_refused() {
    let module = |functions: &str, call: &str| {
        format!(
            "
.version 8.0
.target sm_80
.address_size 64
{functions}
.visible .entry kernel() {{
    .reg .b64 %rd<3>;
    {{ .param .b32 retval0; .param .b64 param0; .param .b64 param1;
    {call}
    }}
    ret;
}}
"
        )
    };
    let outside = ".extern .func (.param .b64 pointer) outside (.param .b64 bytes);";
    let takes = ".func takes(.param .b32 value) { ret; }";
    for (functions, call, what) in [
        (outside, "call.uni (param0), outside, (param1);", "a call of the external function outside"),
        ("", "call.uni nobody;", "a call through nobody"),
    ] {
        let error = Module::parse(&module(functions, call)).unwrap_err();
        let LoadError::Unsupported { what: named, .. } = &error else { panic!("{call}: {error}") };
        assert_eq!(named, what);
    }
    for (functions, call, message) in [
        (takes, "call.uni takes;", "the operands do not fit call.uni"),
        (takes, "call.uni (retval0), takes, (retval0);", "the operands do not fit call.uni"),
        // An argument whose size differs from the parameter's would be copied past its end.
        (takes, "call.uni takes, (param0);", "expected a parameter of 4 bytes for a call, found param0"),
        ("", "call (retval0), %rd1, (param0), prototype;", "no prototype or targets prototype for a call"),
        (takes, "call.uni takes, (unknown);", "expected a parameter of 4 bytes for a call, found unknown"),
    ] {
        let error = Module::parse(&module(functions, call)).unwrap_err().to_string();
        assert!(error.contains(message), "{call}: {error}");
    }
}

#[test]
fn text_that_is_not_ptx_is_refused() {
    for (text, message) in [
        ("", "expected .version, found the end; this text is not PTX"),
        ("\n\n// only a comment\n", "expected .version"),
        ("fn main() {}", "expected a directive of a module, found fn"),
        ("\u{7f}ELF", "the character"),
        (".target sm_80", "expected .version as the first directive"),
        (".version eight", "expected a version such as 8.0, found eight"),
        (".version 8.0\n.target compute_80", "expected a target such as sm_86"),
        (".version 8.0\n.target sm_80\n.address_size 32", "expected 64-bit addresses, found 32-bit ones"),
        (".version 8.0\n.visible .entry kernel() {", "expected an instruction, found the end of the text"),
        (".version 8.0\n.global .u32 x = {1, 2};", "variable x has 1 elements and 2 initial values"),
        (".version 8.0\n.global .align 3 .u32 x;", "expected an alignment that is a power of two, found 3"),
        (".version 8.0\n.const .b8 x[65537];", "65537 bytes of constant memory"),
        (".version 8.0 /* no end", "a comment that does not end"),
        (".version 8.0\n.file 1 \"no end\n", "a string that does not end"),
    ] {
        let error = Module::parse(text).expect_err(text);
        assert!(matches!(error, LoadError::Syntax { .. }), "{text}: {error}");
        assert!(error.to_string().contains(message), "{text:?}: {error}");
    }
}

#[test]
fn variables_that_do_not_fit_are_refused_and_leave_nothing() {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.global .b8 small[100];\n.global .b8 large[5000];\n";
    let memory = Memory::new(4096);
    let module = std::sync::Arc::new(Module::parse(ptx).unwrap());
    assert!(simt::Image::new(module, &memory).is_err());
    assert_eq!(memory.used(), 0);
}
