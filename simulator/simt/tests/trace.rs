//! The accesses of a traced block: every kind of access, thread by thread, compared with a list worked out by hand.

use crate::common::{Gpu, Params};
use ptx::finding::AccessOp::{Atomic, Load, Store};
use simt::{Dim3, LaunchOptions, LaunchReport, Touched};

/// A kernel whose blocks have 4096 bytes each. Thread t loads a vector at 16 t and the word at the start, and copies half a vector
/// from 1024 + 16 t to shared memory. Threads 0 and 1 store half a vector each at 2048 + 16 t, and all add to the word at 3072.
const TOUCHES: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry touches(.param .u64 memory)
{
    .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
    .shared .align 16 .b8 s_memory[1024];
    ld.param.u64 %rd1, [memory];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd2, %r2, 4096; add.u64 %rd2, %rd1, %rd2;
    mul.wide.u32 %rd3, %r1, 16; add.u64 %rd4, %rd2, %rd3;
    ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%rd4];
    ld.global.b32 %r7, [%rd2];
    mov.u32 %r8, s_memory; shl.b32 %r9, %r1, 4; add.u32 %r8, %r8, %r9; mov.u32 %r10, 8;
    cp.async.ca.shared.global [%r8], [%rd4+1024], 16, %r10;
    cp.async.wait_all;
    setp.lt.u32 %p1, %r1, 2;
    @%p1 st.global.v2.b32 [%rd4+2048], {%r3, %r4};
    red.global.add.u32 [%rd2+3072], 1;
    ret;
}
";

const THREADS: u32 = 33;
const BYTES_OF_BLOCK: usize = 4096;

fn run(options: LaunchOptions) -> (LaunchReport, u64) {
    let gpu = Gpu::with_options(TOUCHES, options);
    let memory = gpu.buffer(&vec![0_u8; 3 * BYTES_OF_BLOCK]);
    (gpu.launch("touches", 3, THREADS, 0, &Params::new().with(memory)), memory)
}

#[test]
fn every_access_of_the_block_is_there_and_none_twice() {
    for (workers, portable) in [(1, false), (2, false), (1, true)] {
        let block = Dim3::new(1, 0, 0);
        let (report, memory) =
            run(LaunchOptions { trace: Some(block), workers: Some(workers), portable, ..LaunchOptions::default() });
        let start = memory + BYTES_OF_BLOCK as u64;
        let expected: Vec<Touched> = (0..THREADS)
            .flat_map(|thread| {
                let own = start + 16 * u64::from(thread);
                let touched = |op, address, bytes| Touched { thread, op, address, bytes };
                // The first thread's vector begins with the word that all load.
                let word = (thread > 0).then(|| touched(Load, start, 4));
                let stored = (thread < 2).then(|| touched(Store, own + 2048, 8));
                let loaded = [touched(Load, own, 16), touched(Load, own + 1024, 8)];
                word.into_iter().chain(loaded).chain(stored).chain([touched(Atomic, start + 3072, 4)])
            })
            .collect();
        assert_eq!(report.touched, expected, "{workers} workers, portable: {portable}");
    }
}

#[test]
fn nothing_is_kept_of_a_block_that_there_is_not_or_that_nobody_asked_for() {
    let outside = [Dim3::new(3, 0, 0), Dim3::new(0, 1, 0), Dim3::new(0, 0, 1)].map(Some);
    for trace in outside.into_iter().chain([None]) {
        let (report, _) = run(LaunchOptions { trace, ..LaunchOptions::default() });
        assert_eq!(report.touched, [], "{trace:?}");
    }
    let unchecked = LaunchOptions { trace: Some(Dim3::new(0, 0, 0)), checks: false, ..LaunchOptions::default() };
    assert_eq!(run(unchecked).0.touched, []);
}

#[test]
fn a_block_has_one_number() {
    let grid = Dim3::new(5, 3, 2);
    for number in 0..grid.volume() {
        assert_eq!(grid.number_of(grid.index_of(number)), Some(number));
    }
}
