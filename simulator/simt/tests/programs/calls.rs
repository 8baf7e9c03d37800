//! Calls through pointers, `printf` and `assert`.

use simt::{FindingKind, LaunchError, LaunchOptions, LoadError, Module};

use crate::common::{Gpu, Params, every_way};

const CALLS: &str = include_str!("calls.ptx");
const SOURCE: &str = include_str!("calls.cu");

fn inputs() -> (Vec<i32>, Vec<i32>) {
    ((0..64).map(|i| i * 13 % 29 - 10).collect(), (0..64).map(|i| i * 7 % 31 - 12).collect())
}

#[test]
fn each_lane_calls_its_own_function() {
    let (a, b) = inputs();
    let expected: Vec<i32> = (0..64).map(|i| [a[i] + b[i], a[i] - b[i], a[i] * b[i]][i % 3]).collect();
    every_way(CALLS, |gpu| {
        let (a, b, output) = (gpu.buffer(&a), gpu.buffer(&b), gpu.poisoned::<i32>(64));
        gpu.launch("by_table", 1, 64, 0, &Params::new().with(a).with(b).with(output));
        assert_eq!(gpu.read::<i32>(output, 64), expected);
    });
}

#[test]
fn lanes_that_do_not_call_keep_what_they_have() {
    let (a, b) = inputs();
    for limit in [0, 1, 37, 64] {
        let called = |i: usize| if a[i] > b[i] { a[i] - b[i] } else { a[i] + b[i] };
        let expected: Vec<i32> = (0..64).map(|i| if i < limit { called(i) } else { -1 }).collect();
        every_way(CALLS, |gpu| {
            let (a, b, output) = (gpu.buffer(&a), gpu.buffer(&b), gpu.poisoned::<i32>(64));
            gpu.launch("by_choice", 1, 64, 0, &Params::new().with(a).with(b).with(output).with(limit as i32));
            assert_eq!(gpu.read::<i32>(output, 64), expected, "{limit} lanes");
        });
    }
}

#[test]
fn virtual_functions_are_found_by_their_table() {
    let inputs: Vec<f32> = (0..32).map(|i| i as f32 + 0.5).collect();
    let expected: Vec<f32> = inputs.iter().enumerate().map(|(i, x)| if i % 2 == 1 { x * x } else { x * 3.0 }).collect();
    every_way(CALLS, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<f32>(32));
        gpu.launch("virtual_calls", 1, 32, 0, &Params::new().with(input).with(output));
        assert_eq!(gpu.read::<f32>(output, 32), expected);
    });
}

#[test]
fn a_pointer_to_no_function_is_found() {
    let gpu = Gpu::load(CALLS);
    let output = gpu.poisoned::<i32>(1);
    match gpu.try_launch("bad_call", 1, 1, 0, &Params::new().with(output).with(0x1234_u64)) {
        Err(LaunchError::Fault { finding, .. }) => assert_eq!(finding.kind, FindingKind::NoTarget { value: 0x1234 }),
        other => panic!("expected a finding, got {other:?}"),
    }
}

#[test]
fn what_kernels_print_comes_block_after_block() {
    let inputs: Vec<f32> = (0..12).map(|i| if i % 3 == 0 { -1.0 } else { i as f32 * 1.25 }).collect();
    let mut expected = String::new();
    for (i, x) in inputs.iter().enumerate() {
        let (block, thread) = (i / 4, i % 4);
        if *x > 0.0 {
            let character = char::from(b'a' + i as u8);
            let hexadecimal = i + 16;
            let large = -5_000_000_000 * i as i64;
            expected += &format!("block {block} thread {thread:2}: {x:6.2}|text    |{character}|{hexadecimal:#x}|{large}%\n");
        }
        // The seven arguments of the first one. The lane that prints the second one does so after all others have printed the
        // first.
        if i == 3 {
            expected += "7 from memory";
            expected += "\nend 0x10 1.234568e+04 0.0001  99.5% +7 -0042 -3 1099511627776\n";
        }
    }
    every_way(CALLS, |gpu| {
        let (input, text) = (gpu.buffer(&inputs), gpu.buffer(b"from memory\0"));
        let report = gpu.launch("prints", 3, 4, 0, &Params::new().with(input).with(text));
        assert_eq!(report.printed, expected);
    });
}

/// A kernel whose threads print. Each prints its number and 0, 1, 2, … on `lines` lines, or forever if that is 0. In CUDA C:
///
/// ```c
/// for (int i = 0; i != lines || lines == 0; i++) printf("%d %d\n", threadIdx.x + blockIdx.x * blockDim.x, i);
/// ```
const PRINTS: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[7] = {37, 100, 32, 37, 100, 10, 0};
.visible .entry prints(.param .u32 lines)
{
    .local .align 8 .b8 values[8];
    .reg .b32 %r<9>;
    .reg .b64 %d<5>;
    .reg .pred %p;
    mov.u64 %d1, values;
    cvta.local.u64 %d2, %d1;
    mov.u64 %d3, text;
    cvta.global.u64 %d4, %d3;
    ld.param.u32 %r1, [lines];
    mov.u32 %r2, 0;
    mov.u32 %r5, %ctaid.x;
    mov.u32 %r6, %ntid.x;
    mov.u32 %r7, %tid.x;
    mad.lo.u32 %r4, %r5, %r6, %r7;
again:
    st.local.v2.u32 [values], {%r4, %r2};
    {
        .param .b64 a;
        .param .b64 b;
        .param .b32 c;
        st.param.b64 [a], %d4;
        st.param.b64 [b], %d2;
        call.uni (c), vprintf, (a, b);
        ld.param.b32 %r8, [c];
    }
    add.u32 %r2, %r2, 1;
    setp.ne.u32 %p, %r2, %r1;
    @%p bra again;
    ret;
}
"#;

#[test]
fn a_launch_keeps_its_newest_output_and_counts_the_rest() {
    for workers in [1, 2, 3] {
        let options = LaunchOptions { printed_bytes: 40, workers: Some(workers), ..LaunchOptions::default() };
        let gpu = Gpu::with_options(PRINTS, options);
        let report = gpu.launch("prints", 6, 1, 0, &Params::new().with(3_u32));
        assert_eq!(report.printed, "3 0\n3 1\n3 2\n4 0\n4 1\n4 2\n5 0\n5 1\n5 2\n", "{workers} workers");
        assert_eq!(report.overwritten, 6 * 3 * 4 - 36);
        let report = gpu.launch("prints", 2, 1, 0, &Params::new().with(500_u32));
        assert_eq!(report.printed, "1 494\n1 495\n1 496\n1 497\n1 498\n1 499\n");
        assert_eq!(report.overwritten, 2 * (10 * 4 + 90 * 5 + 400 * 6) - 36);
    }
}

#[test]
fn printing_without_end_ends_in_seconds() {
    let gpu = Gpu::load(PRINTS);
    let error = gpu.try_launch("prints", 1, 32, 0, &Params::new().with(0_u32)).unwrap_err();
    assert!(matches!(error, LaunchError::OutOfFuel { .. }), "{error}");
    assert!(error.to_string().contains("with each printf of a thread counted as hundreds"), "{error}");
    assert!(error.printed().len() <= 1 << 20 && error.overwritten() > 1 << 20, "{} bytes", error.overwritten());
    assert!(error.printed().lines().count() > 50_000);
    assert!(error.overwritten() < 1 << 26, "{} bytes", error.overwritten());
}

#[test]
fn a_failed_assert_is_told_with_its_place() {
    let gpu = Gpu::load(CALLS);
    let mut inputs = [5; 40];
    let input = gpu.buffer(&inputs);
    assert!(gpu.try_launch("asserts", 1, 40, 0, &Params::new().with(input)).is_ok());
    inputs[35] = 100;
    let input = gpu.buffer(&inputs);
    let line = 1 + SOURCE.lines().position(|line| line.contains("assert(")).unwrap() as u32;
    match gpu.try_launch("asserts", 1, 40, 0, &Params::new().with(input)) {
        Err(LaunchError::Fault { finding, .. }) => {
            let FindingKind::Assert { condition, file, line: found, function } = &finding.kind else { panic!("{finding}") };
            assert_eq!((condition.as_str(), file.as_str(), *found), ("input[i] < 100 && \"too large\"", "calls.cu", line));
            assert!(function.contains("asserts"), "{function}");
            assert_eq!((finding.thread.x, finding.lanes), (35, 1));
        }
        other => panic!("expected a finding, got {other:?}"),
    }
}

/// Returns a module whose kernel stores `%r1` for each thread. It stores the value after the body.
fn module(functions: &str, body: &str) -> String {
    format!(
        "
.version 8.0
.target sm_80
.address_size 64
{functions}
.visible .entry kernel(.param .u64 output) {{
    .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b32 %x1<4>; .reg .b64 %rd<9>;
    .reg .b32 %tid_x;
    mov.u32 %r1, -1;
    mov.u32 %r2, %tid.x;
{body}
    ld.param.u64 %rd1, [output];
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r1;
    ret;
}}
"
    )
}

/// Returns the results of the first eight threads.
fn results(functions: &str, body: &str) -> Vec<i32> {
    let gpu = Gpu::load(&module(functions, body));
    let output = gpu.poisoned::<i32>(8);
    gpu.launch("kernel", 1, 8, 0, &Params::new().with(output));
    gpu.read::<i32>(output, 8)
}

#[test]
fn a_table_of_branches_leads_each_lane_to_its_place() {
    let body = "
    rem.u32 %r3, %r2, 3;
    table: .branchtargets $zero, $one, $two;
    setp.lt.u32 %p1, %r2, 7;
    @%p1 brx.idx %r3, table;
    bra $end;
$zero: mov.u32 %r1, 100; bra $end;
$one: mov.u32 %r1, 101; bra $end;
$two: mov.u32 %r1, 102;
$end:";
    assert_eq!(results("", body), [100, 101, 102, 100, 101, 102, 100, -1]);
    let gpu = Gpu::load(&module("", &body.replace("rem.u32 %r3, %r2, 3", "mov.u32 %r3, %r2")));
    let output = gpu.poisoned::<i32>(8);
    match gpu.try_launch("kernel", 1, 8, 0, &Params::new().with(output)) {
        Err(LaunchError::Fault { finding, .. }) => assert_eq!(finding.kind, FindingKind::NoTarget { value: 3 }),
        other => panic!("expected a finding, got {other:?}"),
    }
}

const ADD_ONE: &str = "
.func (.param .b32 result) add_one(.param .b32 value) {
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [value];
    add.s32 %r2, %r1, 1;
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) never(.param .b32 value) {
    .shared .align 4 .b8 s_large[40000];
    .reg .b32 %r<3>;
    mov.u32 %r1, s_large;
    st.param.b32 [result], %r1;
    ret;
}
.shared .align 4 .b8 s_unused[30000];
";

#[test]
fn targets_of_a_call_may_be_listed() {
    let body = "
    {
    .param .b32 given; .param .b32 taken;
    st.param.b32 [given], %r2;
    targets: .calltargets add_one;
    mov.u64 %rd3, add_one;
    call (taken), %rd3, (given), targets;
    ld.param.b32 %r1, [taken];
    }";
    assert_eq!(results(ADD_ONE, body), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn shared_memory_of_functions_that_are_not_called_does_not_count() {
    let module = Module::parse(&module(ADD_ONE, "")).unwrap();
    assert_eq!(module.kernel("kernel").unwrap().static_shared_bytes(), 0);
    let called =
        self::module(ADD_ONE, "{ .param .b32 given; .param .b32 taken; st.param.b32 [given], %r2; call (taken), never, (given); }");
    assert_eq!(Module::parse(&called).unwrap().kernel("kernel").unwrap().static_shared_bytes(), 40_000);
}

#[test]
fn a_function_may_call_itself_through_a_pointer_under_a_guard() {
    // The call changes the predicate that says which lanes call.
    let recursive = "
.func (.param .b32 result) again(.param .b32 value) {
    .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.b32 %r1, [value];
    mov.u64 %rd1, again;
    setp.ne.u32 %p1, %r1, 0;
    sub.u32 %r2, %r1, 1;
    mov.u32 %r3, 100;
    { .param .b32 given; .param .b32 taken;
    st.param.b32 [given], %r2;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    @%p1 call (taken), %rd1, (given), prototype;
    @%p1 ld.param.b32 %r3, [taken]; }
    add.u32 %r4, %r3, %r1;
    st.param.b32 [result], %r4;
    ret;
}";
    let body = "{ .param .b32 given; .param .b32 taken; st.param.b32 [given], %r2; call (taken), again, (given); ld.param.b32 %r1, [taken]; }";
    assert_eq!(results(recursive, body), [100, 101, 103, 106, 110, 115, 121, 128]);
}

#[test]
fn what_cannot_be_called_is_refused_by_name() {
    let launch = ".extern .func (.param .b64 result) cudaLaunchDeviceV2(.param .b64 bytes);";
    let body = "{ .param .b64 given; .param .b64 taken; call (taken), cudaLaunchDeviceV2, (given); }";
    let texture = "tex.2d.v2.f16x2.f32 {%r3, %r4}, [%rd1, {%r1, %r2}];";
    for (functions, body, expected) in [(launch, body, "cudaLaunchDeviceV2"), ("", texture, "tex.2d.v2.f16x2.f32")] {
        match Module::parse(&module(functions, body)) {
            Err(LoadError::Unsupported { what, .. }) => assert!(what.contains(expected), "{what}"),
            other => panic!("expected a refusal, got {:?}", other.map(|_| ())),
        }
    }
}

#[test]
fn a_family_of_registers_may_end_in_a_digit() {
    // %x13 is the register 3 of the family %x1.
    assert_eq!(results("", "mov.u32 %x10, 5; mov.u32 %x13, 7; add.u32 %r1, %x10, %x13;"), [12; 8]);
    assert!(Module::parse(&module("", "mov.u32 %x14, 5;")).is_err());
}

#[test]
fn a_comparison_may_overwrite_its_own_guard() {
    // Both destinations are written where the guard was true, even if one of them is the guard.
    for pair in ["%p1|%p2", "%p2|%p1"] {
        let body = format!(
            "
    setp.lt.u32 %p1, %r2, 4;
    setp.ne.u32 %p2, %r2, %r2;
    @%p1 setp.eq.u32 {pair}, %r2, 2;
    selp.u32 %r1, 1, 0, %p1;
    @%p2 add.u32 %r1, %r1, 2;"
        );
        let (equal, other) = if pair.starts_with("%p1") { (1, 2) } else { (2, 1) };
        assert_eq!(results("", &body), [other, other, equal, other, 0, 0, 0, 0], "{pair}");
    }
}

#[test]
fn hints_for_the_caches_change_no_value() {
    let body = "
    createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;
    ld.param.u64 %rd6, [output];
    mul.wide.u32 %rd7, %r2, 4;
    add.s64 %rd6, %rd6, %rd7;
    st.global.L1::no_allocate.L2::cache_hint.u32 [%rd6], %r2, %rd5;
    prefetch.global.L2 [%rd6];
    applypriority.global.L2::evict_normal [%rd6], 128;
    atom.global.add.L2::cache_hint.u32 %r3, [%rd6], 10, %rd5;
    ld.relaxed.gpu.global.L1::no_allocate.L2::cache_hint.L2::128B.u32 %r1, [%rd6], %rd5;
    add.u32 %r1, %r1, %r3;";
    assert_eq!(results("", body), [10, 12, 14, 16, 18, 20, 22, 24]);
}

#[test]
fn sixteen_bits_are_compared_and_swapped_alone() {
    let body = "
    ld.param.u64 %rd6, [output];
    mul.wide.u32 %rd7, %r2, 4;
    add.s64 %rd6, %rd6, %rd7;
    .reg .b16 %h<4>;
    st.global.u32 [%rd6], 0x00050003;
    mov.u16 %h1, 5; mov.u16 %h2, 9;
    atom.global.cas.b16 %h3, [%rd6+2], %h1, %h2;
    atom.global.cas.b16 %h3, [%rd6], %h1, %h2;
    cvt.u32.u16 %r3, %h3;
    ld.global.u32 %r1, [%rd6];
    add.u32 %r1, %r1, %r3;";
    assert_eq!(results("", body), [0x0009_0006; 8]);
}

#[test]
fn sums_of_halves_round_each_for_itself() {
    let body = "
    .shared .align 4 .b8 s_sum[4];
    .reg .b16 %h<4>;
    st.shared.u32 [s_sum], 0x3c000001;
    ld.param.u64 %rd6, [output];
    mul.wide.u32 %rd7, %r2, 4;
    add.s64 %rd6, %rd6, %rd7;
    st.global.u32 [%rd6], 0x3c000001;
    // 1 + 1.5 and a denormal twice; then half a unit of 2.5, which is even, is lost, and the denormals are flushed.
    atom.global.add.noftz.f16x2 %r3, [%rd6], 0x3e000001;
    red.global.add.noftz.f16x2 [%rd6], 0x14000002;
    mov.u16 %h1, 3;
    atom.global.add.noftz.f16 %h2, [%rd6], %h1;
    ld.global.u32 %r1, [%rd6];";
    assert_eq!(results("", body), [0x4100_0007; 8]);
}

#[test]
fn barriers_that_do_not_exist_are_refused_or_found() {
    for (body, expected) in [
        ("bar.sync 16;", "barrier 16 does not exist"),
        ("barrier.sync 3, 48;", "multiple of 32"),
        ("bar.arrive 1, 0;", "multiple of 32"),
    ] {
        match Module::parse(&module("", body)) {
            Err(LoadError::Syntax { message, .. }) => assert!(message.contains(expected), "{message}"),
            other => panic!("expected a refusal, got {:?}", other.map(|_| ())),
        }
    }
    for (body, barrier, threads) in
        [("mov.u32 %r3, 17; bar.sync %r3;", 17, None), ("mov.u32 %r3, 40; bar.sync 2, %r3;", 2, Some(40))]
    {
        let gpu = Gpu::load(&module("", body));
        let output = gpu.poisoned::<i32>(8);
        match gpu.try_launch("kernel", 1, 8, 0, &Params::new().with(output)) {
            Err(LaunchError::Fault { finding, .. }) => assert_eq!(finding.kind, FindingKind::InvalidBarrier { barrier, threads }),
            other => panic!("expected a finding, got {other:?}"),
        }
    }
}

#[test]
fn one_lane_is_elected_among_those_that_ask() {
    let body = "
    griddepcontrol.wait;
    setp.ge.u32 %p1, %r2, 3;
    mov.u32 %r1, 100;
    @%p1 elect.sync %r1|%p2, 0xf8;
    @%p2 add.u32 %r1, %r1, 50;";
    let with_target = |target: &str| module("", body).replace("sm_80", target);
    let gpu = Gpu::load(&with_target("sm_90"));
    let output = gpu.poisoned::<i32>(8);
    let report = gpu.launch("kernel", 1, 8, 0, &Params::new().with(output));
    assert_eq!(gpu.read::<i32>(output, 8), [100, 100, 100, 53, 3, 3, 3, 3]);
    assert_eq!(report.counters.warp_exchanges, 1);
    assert!(Module::parse(&with_target("sm_80")).is_err());
}

#[test]
fn arrivals_alone_complete_a_barrier() {
    // Two warps arrive, which completes the barrier for 64 threads; the next time, both must arrive.
    let body = "
    bar.arrive 1, 64;
    bar.sync 0;
    shr.u32 %r3, %r2, 5;
    .shared .align 4 .b8 s_flag[4];
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra $wait;
    // Lets the first warp get to the barrier, and past it if the old arrivals still counted.
    bar.sync 2, 32;
    mov.u32 %r4, 7;
    st.shared.u32 [s_flag], %r4;
$wait:
    bar.sync 1, 64;
    ld.shared.u32 %r1, [s_flag];";
    let gpu = Gpu::load(&module("", body));
    let output = gpu.poisoned::<i32>(64);
    gpu.launch("kernel", 1, 64, 0, &Params::new().with(output));
    assert_eq!(gpu.read::<i32>(output, 64), [7; 64]);
}

#[test]
fn what_no_lane_executes_does_not_count() {
    let body = "
    setp.gt.u32 %p1, %r2, 1000;
    @%p1 bar.sync 0;
    @%p1 shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;
    bar.sync 0;
    shfl.sync.idx.b32 %r1, %r2, 3, 31, -1;";
    let gpu = Gpu::load(&module("", body));
    let output = gpu.poisoned::<i32>(8);
    let report = gpu.launch("kernel", 1, 8, 0, &Params::new().with(output));
    assert_eq!((report.counters.barriers, report.counters.warp_exchanges), (1, 1));
}
