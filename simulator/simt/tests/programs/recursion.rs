//! Functions that call themselves.

use simt::{FindingKind, LaunchError, LaunchOptions};

use crate::common::{Gpu, Params, every_way};

const RECURSION: &str = include_str!("recursion.ptx");

#[test]
fn each_thread_recurses_as_deep_as_it_needs() {
    let fibonacci = [0_u32, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55];
    let expected: Vec<u32> = (0..128).map(|i| fibonacci[i % 11]).collect();
    every_way(RECURSION, |gpu| {
        let output = gpu.poisoned::<u32>(128);
        gpu.launch("fibonacci_of_each", 2, 64, 0, &Params::new().with(output));
        assert_eq!(gpu.read::<u32>(output, 128), expected);
    });
}

#[test]
fn functions_may_call_each_other() {
    let expected: Vec<u32> = (0..48).map(|i| if i % 3 == 2 { 77 } else { [10, 1][i % 2] }).collect();
    every_way(RECURSION, |gpu| {
        let output = gpu.poisoned::<u32>(48);
        gpu.launch("parity", 1, 48, 0, &Params::new().with(output));
        assert_eq!(gpu.read::<u32>(output, 48), expected);
    });
}

#[test]
fn each_call_has_local_memory_of_its_own() {
    fn digits(number: i32, place: &mut i32, depth: i32) -> i32 {
        let mut mine = [number, depth, 0, 0];
        if number >= 4 {
            let mut inner = mine[2];
            digits(number / 4, &mut inner, depth + 1);
            mine[2] = inner;
        }
        *place += mine[0] % 4 + mine[2];
        mine[1] + mine[0]
    }
    let expected: Vec<i32> = (0..40)
        .map(|i| {
            let mut sum = 0;
            let last = digits(i * 37 + 5, &mut sum, 100);
            sum * 100_000 + last
        })
        .collect();
    every_way(RECURSION, |gpu| {
        let output = gpu.poisoned::<i32>(40);
        gpu.launch("sums_of_digits", 1, 40, 0, &Params::new().with(output));
        assert_eq!(gpu.read::<i32>(output, 40), expected);
    });
}

#[test]
fn quicksort_sorts() {
    let values: Vec<i32> = (0..32 * 50).map(|i| i * 7919 % 1009 - 300).collect();
    let expected: Vec<i32> = values
        .chunks(50)
        .flat_map(|piece| {
            let mut piece = piece.to_vec();
            piece.sort_unstable();
            piece
        })
        .collect();
    every_way(RECURSION, |gpu| {
        let buffer = gpu.buffer(&values);
        gpu.launch("quicksort", 1, 32, 0, &Params::new().with(buffer).with(50_i32));
        assert_eq!(gpu.read::<i32>(buffer, values.len()), expected);
    });
}

#[test]
fn virtual_functions_may_call_themselves() {
    let expected: Vec<f32> = (0..32).map(|i| i as f32).map(|x| if x as i32 % 2 == 1 { 3.0 * x + 1.0 } else { x }).collect();
    every_way(RECURSION, |gpu| {
        let output = gpu.poisoned::<f32>(32);
        gpu.launch("trees", 1, 32, 0, &Params::new().with(output));
        assert_eq!(gpu.read::<f32>(output, 32), expected);
    });
}

#[test]
fn an_endless_recursion_is_a_stack_overflow() {
    let gpu = Gpu::load(RECURSION);
    let output = gpu.poisoned::<i32>(1);
    match gpu.try_launch("overflows", 1, 8, 0, &Params::new().with(output)) {
        Err(LaunchError::Fault { finding, .. }) => {
            assert_eq!(finding.kind, FindingKind::StackOverflow { limit: 1024 });
            assert_eq!((finding.thread.x, finding.lanes), (5, 1));
        }
        other => panic!("expected a finding, got {other:?}"),
    }
}

#[test]
fn the_limit_of_the_stack_decides_how_deep() {
    let descend = |depth: i32| (1..=depth).fold(0, |below, depth| below * 3 % 1001 + depth);
    for (stack_bytes, depth, fits) in [(1024, 10, true), (1024, 200, false), (1 << 16, 200, true), (512 << 10, 1 << 20, false)] {
        let gpu = Gpu::with_options(RECURSION, LaunchOptions { stack_bytes, ..LaunchOptions::default() });
        let output = gpu.poisoned::<i32>(8);
        let launched = gpu.try_launch("descends", 1, 8, 0, &Params::new().with(output).with(depth));
        assert_eq!(launched.is_ok(), fits, "{stack_bytes} bytes, depth {depth}: {launched:?}");
        if fits {
            assert_eq!(gpu.read::<i32>(output, 8), (0..8).map(|i| descend(depth + i % 4)).collect::<Vec<_>>());
        }
    }
}

/// A kernel that stores a function's results for each thread. The function uses two registers and a predicate.
const REGISTERS: &str = "
.version 8.0
.target sm_80
.address_size 64
.func (.reg .b32 %result, .reg .pred %flag) difference(.reg .b32 %a, .reg .b32 %b) {
    .reg .pred %p<4>; .reg .b32 %r<5>; .reg .pred %unused;
    setp.eq.u32 %p1, %a, 0;
    mov.u32 %result, %b;
    mov.pred %flag, %p1;
    @%p1 ret;
    // The parameters change places, and the registers and predicates must be there after the call.
    and.b32 %r3, %a, 1;
    setp.eq.u32 %p2, %r3, 1;
    sub.u32 %r1, %a, 1;
    call (%r2, %p3), difference, (%r1, %a);
    mad.lo.u32 %result, %r2, 2, %b;
    @%p2 add.u32 %result, %result, %a;
    mov.pred %flag, %p3;
    ret;
}
.visible .entry kernel(.param .u64 output) {
    .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<3>;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 7;
    call (%r3, %p), difference, (%r2, %r1);
    @!%p mov.u32 %r3, -1;
    ld.param.u64 %rd1, [output];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r3;
    ret;
}";

#[test]
fn parameters_in_registers_survive_recursion() {
    fn difference(a: u32, b: u32) -> u32 {
        if a == 0 {
            return b;
        }
        let inner = difference(a - 1, a).wrapping_mul(2).wrapping_add(b);
        if a % 2 == 1 { inner + a } else { inner }
    }
    every_way(REGISTERS, |gpu| {
        let output = gpu.poisoned::<u32>(32);
        gpu.launch("kernel", 1, 32, 0, &Params::new().with(output));
        assert_eq!(gpu.read::<u32>(output, 32), (0..32).map(|i| difference(i & 7, i)).collect::<Vec<_>>());
    });
}
