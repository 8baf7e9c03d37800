//! Memory that kernels allocate.

use simt::{FindingKind, LaunchError, LaunchOptions};

use crate::common::{Gpu, Params, every_way};

const HEAP: &str = include_str!("heap.ptx");

#[test]
fn threads_build_and_free_lists() {
    let sum = |i: i32| (0..=i % 5).map(|j| i * 10 + j).sum::<i32>();
    let expected: Vec<i32> = (0..128).map(|i| sum(i % 64)).collect();
    every_way(HEAP, |gpu| {
        let output = gpu.poisoned::<i32>(128);
        gpu.launch("lists", 2, 64, 0, &Params::new().with(output));
        assert_eq!(gpu.read::<i32>(output, 128), expected);
    });
}

#[test]
fn blocks_stay_from_one_launch_to_the_next() {
    every_way(HEAP, |gpu| {
        let (kept, output) = (gpu.buffer(&[0_u64; 32]), gpu.poisoned::<i32>(32));
        gpu.launch("keep", 1, 32, 0, &Params::new().with(kept));
        gpu.launch("release", 1, 32, 0, &Params::new().with(kept).with(output));
        assert_eq!(gpu.read::<i32>(output, 32), (0..32).map(|i| 16 * i + 6).collect::<Vec<_>>());
    });
}

#[test]
fn malloc_returns_null_when_the_heap_is_full_and_freed_blocks_are_used_again() {
    let heap = std::sync::Arc::new(simt::Heap::new(1 << 16));
    let gpu = Gpu::with_options(HEAP, LaunchOptions { heap, ..LaunchOptions::default() });
    let output = gpu.poisoned::<i32>(1);
    for _ in 0..3 {
        gpu.launch("exhaust", 1, 1, 0, &Params::new().with(1000_u64).with(output));
        let [count] = gpu.read::<i32>(output, 1)[..] else { unreachable!() };
        assert!((60..=65).contains(&count), "{count} blocks of 1000 bytes in 64 KiB");
    }
}

#[test]
fn unusual_sizes_are_answered() {
    let gpu = Gpu::load(HEAP);
    let output = gpu.poisoned::<u64>(3);
    gpu.launch("odd_sizes", 1, 1, 0, &Params::new().with(output));
    assert_eq!(gpu.read::<u64>(output, 3), [1, 1, 1]);
}

/// Returns the finding that ends a kernel.
fn fault(kernel: &str, params: Params) -> FindingKind {
    match Gpu::load(HEAP).try_launch(kernel, 1, 1, 0, &params) {
        Err(LaunchError::Fault { finding, .. }) => finding.kind,
        other => panic!("expected a finding, got {other:?}"),
    }
}

#[test]
fn wrong_uses_are_found() {
    let gpu = Gpu::load(HEAP);
    let buffer = gpu.buffer(&[0_u64; 4]);
    let try_launch = |kernel: &str| match gpu.try_launch(kernel, 1, 1, 0, &Params::new().with(buffer)) {
        Err(LaunchError::Fault { finding, .. }) => finding.kind.to_string(),
        other => panic!("expected a finding, got {other:?}"),
    };
    for (kernel, expected) in [
        ("use_after_free", "at offset 12 of a block of 64 bytes of the kernels' heap, which was freed before"),
        ("free_twice", "freed before; it was a block of 64 bytes of the kernels' heap"),
        ("free_the_middle", "malloc did not return this address, which is at offset 4 of a block of 64 bytes"),
        ("free_of_the_host", "malloc did not return this address, which is at offset 0 of an allocation of 32 bytes"),
    ] {
        let text = try_launch(kernel);
        assert!(text.contains(expected), "{kernel}: {text}");
    }
    let text = fault("past_the_end", Params::new().with(25_i32)).to_string();
    assert!(text.contains("0 bytes past the end of a block of 100 bytes"), "{text}");
}

#[test]
fn a_block_that_nobody_wrote_is_uninitialized_even_if_it_was_used_before() {
    let gpu = Gpu::load(HEAP);
    let output = gpu.poisoned::<i32>(64);
    gpu.launch("lists", 1, 64, 0, &Params::new().with(output));
    let report = gpu.launch("never_written", 1, 1, 0, &Params::new().with(output));
    assert!(matches!(report.findings[0].kind, FindingKind::Uninitialized { .. }), "{:?}", report.findings);
}
