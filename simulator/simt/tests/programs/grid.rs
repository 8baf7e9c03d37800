//! Grids whose blocks wait for one another, as in a cooperative launch.

use std::sync::Arc;

use simt::{Dim3, Finding, FindingKind, LaunchError, LaunchOptions, WarpOrder};

use crate::common::{Gpu, Params};

const GRID: &str = include_str!("grid.ptx");

fn cooperative() -> Gpu {
    Gpu::with_options(GRID, LaunchOptions { cooperative: true, ..LaunchOptions::default() })
}

#[test]
fn blocks_meet_at_every_barrier_of_the_grid() {
    for (blocks, threads, rounds) in [(1, 32, 3), (2, 1, 1), (7, 96, 10), (40, 64, 5)] {
        for warp_order in [WarpOrder::Ascending, WarpOrder::Shuffled(1)] {
            let gpu = Gpu::with_options(GRID, LaunchOptions { cooperative: true, warp_order, ..LaunchOptions::default() });
            let count = (blocks * threads) as usize;
            let numbers: Vec<u32> = (0..count as u32).map(|own| own * own).collect();
            let [from, to] = [gpu.buffer(&numbers), gpu.poisoned::<u32>(count)];
            let report = gpu.launch("rotate", blocks, threads, 0, &Params::new().with(from).with(to).with(rounds));
            let mut expected: Vec<u32> = numbers.iter().map(|number| number + rounds).collect();
            expected.rotate_right((rounds * threads) as usize % count);
            assert_eq!(gpu.read::<u32>(if rounds % 2 == 1 { to } else { from }, count), expected, "{blocks} x {threads}");
            assert_eq!(report.findings, []);
            assert_eq!(report.counters.global_store_bytes, 4 * u64::from(rounds) * count as u64, "each number once a round");
        }
    }
}

#[test]
fn only_a_cooperative_launch_has_memory_for_a_barrier_and_it_is_gone_afterwards() {
    for (gpu, expected) in [(cooperative(), 1), (Gpu::load(GRID), 0)] {
        let yes = gpu.poisoned::<u32>(1);
        let used = gpu.memory.used();
        gpu.launch("has_barrier", 1, 1, 0, &Params::new().with(yes));
        assert_eq!((gpu.read::<u32>(yes, 1), gpu.memory.used()), (vec![expected], used));
    }
}

#[test]
fn a_block_that_leaves_before_the_barrier_is_a_deadlock_of_the_grid() {
    let gpu = cooperative();
    let passed = gpu.buffer(&[0_u32; 4]);
    let error = gpu.try_launch("one_leaves", 4, 64, 0, &Params::new().with(passed)).unwrap_err();
    let LaunchError::Fault { finding, .. } = error else { panic!("{error}") };
    let Finding { kind, location, .. } = *finding;
    assert_eq!(kind, FindingKind::GridDeadlock { ended: 1, blocks: 4, resident: None });
    assert!(kind.to_string().contains("1 of the 4 have ended"), "{kind}");
    let line = location.source.expect("compiled with lines").line;
    let source = include_str!("grid.cu").lines().nth(line as usize - 1).unwrap();
    assert!(source.contains("while (*(volatile unsigned*)arrived"), "{line}: {source}");
    assert_eq!(gpu.read::<u32>(passed, 4), [0; 4]);
}

#[test]
fn a_block_that_computes_for_a_long_time_is_waited_for() {
    let gpu = cooperative();
    let flags = gpu.buffer(&[0_u32; 6]);
    gpu.launch("chain", 6, 1, 0, &Params::new().with(flags).with(3_000_000_u32));
    assert!(gpu.read::<u32>(flags, 6).iter().all(|flag| *flag != 0));
}

/// A kernel that calls the device runtime library's functions. Compilers that know no cooperative groups do so. Every thread adds
/// its number to those of the next block.
const LIBRARY: &str = "
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry k(.param .u64 numbers, .param .u64 status) {
    .reg .b32 %r<9>;
    .reg .b64 %d<6>;
    ld.param.u64 %d1, [numbers];
    { .param .b32 a; st.param.b32 [a], 1; .param .b64 r; call.uni (r), cudaCGGetIntrinsicHandle, (a); ld.param.b64 %d2, [r]; }
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mad.wide.u32 %d3, %r4, 4, %d1;
    st.global.u32 [%d3], %r4;
    { .param .b64 a; st.param.b64 [a], %d2; .param .b32 b; st.param.b32 [b], 0; .param .b32 r;
      call.uni (r), cudaCGSynchronize, (a, b); ld.param.b32 %r5, [r]; }
    ld.param.u64 %d4, [status];
    st.global.u32 [%d4], %r5;
    mov.u32 %r6, %nctaid.x;
    mul.lo.u32 %r6, %r6, %r2;
    add.u32 %r7, %r4, %r2;
    rem.u32 %r7, %r7, %r6;
    mad.wide.u32 %d5, %r7, 4, %d1;
    ld.global.u32 %r8, [%d5];
    { .param .b64 a; st.param.b64 [a], %d2; .param .b32 b; st.param.b32 [b], 0; .param .b32 r;
      call.uni (r), cudaCGSynchronize, (a, b); ld.param.b32 %r5, [r]; }
    add.u32 %r8, %r8, %r4;
    st.global.u32 [%d3], %r8;
    ret;
}";

#[test]
fn functions_of_the_device_runtime_library_are_there() {
    let gpu = Gpu::with_options(LIBRARY, LaunchOptions { cooperative: true, ..LaunchOptions::default() });
    let (numbers, status) = (gpu.poisoned::<u32>(5 * 48), gpu.buffer(&[7_u32]));
    let params = Params::new().with(numbers).with(status);
    gpu.launch("k", 5, 48, 0, &params);
    let expected: Vec<u32> = (0..240).map(|own| own + (own + 48) % 240).collect();
    assert_eq!((gpu.read::<u32>(numbers, 240), gpu.read::<u32>(status, 1)), (expected, vec![0]));
    let ordinary = Gpu::load(LIBRARY);
    let (numbers, status) = (ordinary.poisoned::<u32>(32), ordinary.buffer(&[7_u32]));
    ordinary.launch("k", 1, 32, 0, &Params::new().with(numbers).with(status));
    assert_eq!(ordinary.read::<u32>(status, 1), [1], "an ordinary launch has no grid to synchronize");
}

/// Each thread stores its block's number.
const NUMBERS: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry numbers(.param .u64 to) {\n.reg .b32 %r<6>; .reg .b64 %rd<4>;\n\
                       mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n\
                       ld.param.u64 %rd1, [to]; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r4; ret; }\n";

#[test]
fn only_the_blocks_that_are_asked_for_run() {
    let grid = Dim3::new(4096, 60_000, 1);
    let chosen: Arc<[u64]> = [3, 4096, grid.volume() - 1].into();
    for workers in [1, 3] {
        let gpu = Gpu::with_options(
            NUMBERS,
            LaunchOptions { blocks: Some(chosen.clone()), workers: Some(workers), ..LaunchOptions::default() },
        );
        // Its pages are the host's only where they are written.
        let to = gpu.memory.allocate(4 * grid.volume(), None).expect("addresses for all of the grid");
        let report = gpu.launch("numbers", (4096, 60_000), 1, 0, &Params::new().with(to));
        assert_eq!(report.counters.global_store_requests, 3);
        let stored: Vec<u32> = chosen.iter().map(|block| gpu.read::<u32>(to + 4 * block, 1)[0]).collect();
        assert_eq!(stored, [3, 4096, 4096 * 60_000 - 1]);
        assert_eq!(gpu.read::<u32>(to, 5), [0, 0, 0, 3, 0]);
    }
}
