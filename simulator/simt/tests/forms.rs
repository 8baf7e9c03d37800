//! Forms of PTX that people write and compilers seldom do. ptxas 13.0 accepts all of them.

use crate::common::{Gpu, Params};
use simt::{LaunchOptions, Module};

/// Returns a module with a kernel of this body. Its results go to `[%out]`, and declarations come before it.
fn module(declarations: &str, body: &str) -> String {
    format!(
        ".version 8.0
.target sm_90
.address_size 64
{declarations}
.visible .entry kernel(.param .u64 out)
{{
    .reg .pred %p<10>;
    .reg .b16 %h<10>;
    .reg .b32 %r<10>;
    .reg .f32 %f<10>;
    .reg .b64 %rd<10>, %out;
    .reg .f64 %fd<10>;
    ld.param.u64 %out, [out];
    {body}
    ret;
}}
"
    )
}

/// Returns the words that one thread of the kernel leaves in `[%out]`.
fn run(declarations: &str, body: &str, words: usize) -> Vec<u32> {
    let gpu = Gpu::load(&module(declarations, body));
    let output = gpu.buffer(&vec![0xa5a5_a5a5_u32; words]);
    gpu.launch("kernel", 1, 1, 64, &Params::new().with(output));
    gpu.read(output, words)
}

/// Runs each program and compares its results.
fn check(cases: &[(&str, &str, &[u32])]) {
    let mut failures = String::new();
    for (declarations, body, expected) in cases {
        let results = run(declarations, body, expected.len());
        if results != *expected {
            failures += &format!("{body}\n    gives {results:x?}, not {expected:x?}\n");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Returns the message with which a program is refused.
fn refusal(declarations: &str, body: &str) -> String {
    Module::parse(&module(declarations, body)).expect_err("a refusal").to_string()
}

#[test]
fn directives_need_no_space() {
    check(&[
        (
            ".func (.param.b32 result) twice(.param.u32 a) { .reg.b32 x; ld.param.u32 x, [a]; add.u32 x, x, x; st.param.b32 [result], x; ret; }",
            ".param.b32 a; .param.b32 b; st.param.b32 [a], 21; call (b), twice, (a); ld.param.b32 %r1, [b]; st.global.u32 [%out], %r1;",
            &[42],
        ),
        (
            "",
            ".reg.v2.u32 v; .shared.align 8 .b8 s[8]; mov.u32 v.y, 5; st.shared.u32 [s], v.y; ld.shared.u32 %r1, [s]; st.global.u32 [%out], %r1;",
            &[5],
        ),
    ]);
}

#[test]
fn parameters_may_be_registers() {
    let add =
        ".func (.reg .u32 sum) add(.reg .u32 a, .reg .u64 b) { .reg .u32 low; cvt.u32.u64 low, b; add.u32 sum, a, low; ret; }";
    let by_memory = ".func (.param .u32 r) next(.param .u32 a) { .reg .u32 x; ld.param.u32 x, [a]; add.u32 x, x, 1; st.param.u32 [r], x; ret; }";
    let wide = ".func (.param .u64 r) wide(.param .f64 a) { .reg .f64 x; ld.param.f64 x, [a]; add.f64 x, x, 0d3FF0000000000000; st.param.f64 [r], x; ret; }";
    let flip = ".func (.reg .pred r) flip(.reg .pred a) { not.pred r, a; ret; }";
    check(&[
        (add, "mov.u32 %r1, 3; mov.u64 %rd1, 4; call (%r2), add, (%r1, %rd1); st.global.u32 [%out], %r2;", &[7]),
        (add, "call.uni (%r2), add, (10, 0x20); st.global.u32 [%out], %r2;", &[42]),
        // A register or a number for a parameter in memory.
        (
            by_memory,
            "mov.u32 %r1, 8; call (%r2), next, (%r1); call (%r3), next, (5); st.global.v2.u32 [%out], {%r2, %r3};",
            &[9, 6],
        ),
        (wide, "mov.f64 %fd1, 0d4000000000000000; call (%fd2), wide, (%fd1); st.global.f64 [%out], %fd2;", &[0, 0x4008_0000]),
        // A parameter in memory for one in a register.
        (
            add,
            ".param .u32 a; .param .u64 b; .param .u32 r; st.param.u32 [a], 1; st.param.u64 [b], 2; call (r), add, (a, b); ld.param.u32 %r1, [r]; st.global.u32 [%out], %r1;",
            &[3],
        ),
        (flip, "setp.eq.u32 %p1, 1, 2; call (%p2), flip, (%p1); selp.u32 %r1, 1, 0, %p2; st.global.u32 [%out], %r1;", &[1]),
        // Through a pointer.
        (
            add,
            "mov.u64 %rd1, add; proto: .callprototype (.reg .u32 _) _ (.reg .u32 _, .reg .u64 _); mov.u64 %rd2, 9; call (%r1), %rd1, (1, %rd2), proto; st.global.u32 [%out], %r1;",
            &[10],
        ),
    ]);
}

/// Reads an element of a by-value structure as clang 19 does.
#[test]
fn a_function_loads_its_parameters_through_their_address() {
    let element = ".func (.param .u32 r) element(.param .align 8 .b8 p[16], .param .u32 i) { .reg .u32 x; .reg .u64 at, wide; \
        ld.param.u32 x, [i]; mul.wide.u32 wide, x, 4; mov.b64 at, p; add.s64 at, at, wide; ld.param.u32 x, [at+4]; st.param.u32 [r], x; ret; }";
    let call = ".param .align 8 .b8 p[16]; .param .u32 i; .param .u32 r; st.param.v2.u32 [p], {1, 2}; st.param.v2.u32 [p+8], {3, 4}; \
        st.param.u32 [i], 2; call (r), element, (p, i); ld.param.u32 %r1, [r]; st.global.u32 [%out], %r1;";
    check(&[(element, call, &[4])]);
}

#[test]
fn only_the_threads_of_a_call_pass_arguments_in_registers() {
    let gpu = Gpu::load(&module(
        ".func (.reg .u32 r) next(.reg .u32 a) { add.u32 r, a, 1; ret; }",
        "mov.u32 %r1, %tid.x; mad.wide.u32 %out, %r1, 4, %out; mov.u32 %r2, 100; setp.lt.u32 %p1, %r1, 3;
         @%p1 call (%r2), next, (%r1); st.global.u32 [%out], %r2;",
    ));
    let output = gpu.buffer(&[0_u32; 5]);
    gpu.launch("kernel", 1, 5, 0, &Params::new().with(output));
    assert_eq!(gpu.read::<u32>(output, 5), [1, 2, 3, 100, 100]);
}

#[test]
fn vectors_of_registers() {
    check(&[
        (
            "",
            ".reg .v4 .u32 v; mov.u32 v.x, 1; mov.u32 v.y, 2; mov.u32 v.b, 3; mov.u32 v.a, 4; add.u32 v.x, v.r, v.w; st.global.v4.u32 [%out], v;",
            &[5, 2, 3, 4],
        ),
        (
            ".global .align 16 .u32 g[4] = {7, 8, 9, 10};",
            ".reg .v4 .u32 v, w; ld.global.v4.u32 v, [g]; mov.v4.u32 w, v; st.global.v4.u32 [%out], w;",
            &[7, 8, 9, 10],
        ),
        (
            "",
            ".reg .v2 .u32 v; mov.v2.u32 v, {1, 2}; mov.v2.u32 {%r1, %r2}, v; mov.v2.u32 {%r1, %r2}, {%r2, %r1}; st.global.v2.u32 [%out], {%r1, %r2};",
            &[2, 1],
        ),
        (
            "",
            ".reg .v2 .b32 v<3>; mov.b64 v2, 0x0000000700000005; mov.b64 %rd1, v2; add.u32 %r1, v2.x, v2.y; st.global.u64 [%out], %rd1; st.global.u32 [%out+8], %r1;",
            &[5, 7, 12],
        ),
        ("", ".reg .v4 .u32 v; mov.v4.u32 v, %ntid; st.global.v4.u32 [%out], v;", &[1, 1, 1, 0]),
        // Bytes, and 128 bits.
        (
            "",
            ".reg .b8 b<4>; mov.b32 {b0, b1, b2, b3}, 0x84030201; mov.b32 %r1, {b3, b2, b1, b0}; mov.b16 %h1, {b1, b3}; cvt.u32.u16 %r2, %h1; st.global.v2.u32 [%out], {%r1, %r2};",
            &[0x0102_0384, 0x8402],
        ),
        (
            "",
            ".reg .b128 q, s; mov.b128 q, {1, 2}; mov.b128 s, q; mov.b128 {%rd1, %rd2}, s; st.global.b128 [%out], s; st.global.u64 [%out+16], %rd2;",
            &[1, 0, 2, 0, 2, 0],
        ),
    ]);
}

#[test]
fn variables_of_functions_in_every_space() {
    check(&[
        (
            "",
            ".global .u32 g[3] = {1, 2, 3}; .const .u32 c = 40; ld.global.u32 %r1, [g+8]; ld.const.u32 %r2, [c]; add.u32 %r1, %r1, %r2; st.global.u32 [%out], %r1;",
            &[43],
        ),
        // Each block has its own, and the module's variable of that name is another one.
        (
            ".global .u32 g = 5;",
            "{ .global .u32 g = 6; ld.global.u32 %r1, [g]; } { .global .u32 g = 7; ld.global.u32 %r2, [g]; } ld.global.u32 %r3, [g]; st.global.v2.u32 [%out], {%r1, %r2}; st.global.u32 [%out+8], %r3;",
            &[6, 7, 5],
        ),
        (
            ".extern .shared .u32 dynamic[];",
            ".shared .u32 s[4]; st.shared.u32 dynamic[2], 4; st.shared.u32 s[1], 5; ld.shared.u32 %r1, [dynamic+8]; ld.shared.u32 %r2, s[1]; mov.u32 %r3, dynamic[1]; mov.u32 %r4, dynamic; sub.u32 %r3, %r3, %r4; st.global.v2.u32 [%out], {%r1, %r2}; st.global.u32 [%out+8], %r3;",
            &[4, 5, 4],
        ),
        (
            ".extern .shared .b8 sized[128];",
            "st.shared.u32 [sized+60], 3; ld.shared.u32 %r1, [sized+60]; st.global.u32 [%out], %r1;",
            &[3],
        ),
    ]);
}

#[test]
fn constant_expressions() {
    // The value as the PTX ISA's rules give it: C, with integers of 64 bits.
    let wrapped = |value: u64| [value as u32, (value >> 32) as u32];
    for (expression, value) in [
        ("4*8+2", 34),
        ("4+8*2", 20),
        ("(4+8)*2", 24),
        ("WARP_SZ*4-1", 127),
        ("1 << 4 | 3", 19),
        ("(1<<31)-1", 0x7fff_ffff),
        ("~0", u64::MAX),
        ("!5 + !0", 1),
        ("17 % 5 + 17 / 5", 5),
        ("-17 / 5", -3_i64 as u64),
        ("5 & 3 | 8 ^ 1", 5 & 3 | 8 ^ 1),
        ("1 < 2 ? 7 : 9", 7),
        ("1 == 1 && 2 != 3 || 0", 1),
        ("3 >= 4", 0),
        ("-8 >> 1", -4_i64 as u64),
        ("0xfffffffffffffff8 >> 60", 15),
        ("(.u64)(3-4) >> 63", 1),
        ("(.s64)0xffffffffffffffff < 0", 1),
        ("-(3)", -3_i64 as u64),
        ("+7", 7),
        ("0b101 + 017 + 5U", 25),
    ] {
        let body = format!("mov.u64 %rd1, {expression}; st.global.u64 [%out], %rd1;");
        assert_eq!(run("", &body, 2), wrapped(value), "{expression}");
    }
    check(&[
        (
            "",
            "mov.f32 %f1, 1.5+2.0; mov.f32 %f2, 2.5e-1; mov.f32 %f3, -1.0e2; st.global.v2.f32 [%out], {%f1, %f2}; st.global.f32 [%out+8], %f3;",
            &[3.5_f32.to_bits(), 0.25_f32.to_bits(), (-100_f32).to_bits()],
        ),
        (
            ".global .u32 g[8] = {1+1, 3*4, -1, 4, 5, 6};",
            "ld.global.u32 %r1, [g+4*1]; ld.global.u32 %r2, [g+(1+1)*4]; mov.u64 %rd1, g+WARP_SZ-16; ld.global.u32 %r3, [%rd1+4-8]; ld.global.u32 %r4, [%rd1-4*4]; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};",
            &[12, u32::MAX, 4, 2],
        ),
    ]);
}

#[test]
fn expressions_do_not_overflow_the_stack() {
    for open in ["(", "-", "!", "1 ? ", "1+("] {
        let message = refusal("", &format!("mov.u32 %r1, {}1;", open.repeat(100_000)));
        assert!(message.contains("nested at most"), "{message}");
    }
    assert!(refusal("", "mov.u32 %r1, 1/0;").contains("the operands of / in a constant expression do not fit"));
}

#[test]
fn modifiers_come_in_any_order() {
    let (third, small) = ((1_f32 / 3.0).to_bits(), 1);
    check(&[
        ("", "div.ftz.rn.f32 %f1, 1.0, 3.0; st.global.f32 [%out], %f1;", &[third]),
        (
            "",
            "mov.b32 %f1, 1; add.ftz.rn.f32 %f2, %f1, 0.0; add.f32 %f3, %f1, 0.0; st.global.v2.f32 [%out], {%f2, %f3};",
            &[0, small],
        ),
        (
            "",
            "mov.f32 %f1, -7.5; cvt.sat.rzi.u32.f32 %r1, %f1; cvt.ftz.rzi.s32.f32 %r2, %f1; st.global.v2.u32 [%out], {%r1, %r2};",
            &[0, -7_i32 as u32],
        ),
        (
            "",
            "mov.b32 %f1, 1; mov.b32 %f2, 2; setp.ftz.lt.f32 %p1, %f1, %f2; setp.lt.ftz.and.f32 %p2|%p3, %f1, %f2, 1; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p3; st.global.v2.u32 [%out], {%r1, %r2};",
            &[0, 1],
        ),
        (
            "",
            "mov.u32 %r1, 6; shfl.idx.sync.b32 %r2, %r1, 0, 31, 1; setp.eq.u32 %p1, 0, 0; vote.ballot.sync.b32 %r3, %p1, 1; match.sync.any.b32 %r4, %r1, 1; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};",
            &[6, 6, 1, 1],
        ),
        (
            "",
            "min.NaN.ftz.f32 %f1, 1.0, 2.0; mul.f32.rn %f2, 2.0, 3.0; st.global.v2.f32 [%out], {%f1, %f2};",
            &[1_f32.to_bits(), 6_f32.to_bits()],
        ),
        (
            "",
            "bar.cta.sync 0; barrier.cta.sync.aligned 0; setp.eq.u32 %p1, 0, 0; barrier.cta.red.aligned.popc.u32 %r1, 0, %p1; barrier.cta.red.and.aligned.pred %p2, 0, !%p1; selp.u32 %r2, 1, 0, %p2; st.global.v2.u32 [%out], {%r1, %r2};",
            &[1, 0],
        ),
    ]);
}

#[test]
fn registers_may_be_wider_than_the_type() {
    check(&[
        (
            ".global .b8 g[4] = {0x81, 2, 3, 4};",
            "ld.global.s8 %rd1, [g]; st.global.u64 [%out], %rd1; ld.global.u16 %r1, [g+2]; st.global.u32 [%out+8], %r1;",
            &[0xffff_ff81, u32::MAX, 0x0403],
        ),
        (
            "",
            "mov.u64 %rd1, 0x1122334455667788; st.global.u32 [%out], %rd1; cvt.u32.u8 %r1, %rd1; cvt.s8.s32 %rd2, 0x80; st.global.u32 [%out+4], %r1; st.global.u64 [%out+8], %rd2;",
            &[0x5566_7788, 0x88, 0xffff_ff80, u32::MAX],
        ),
        (
            "",
            "mov.u32 %r1, 0xabcd3c00; cvt.f32.f16 %f1, %r1; cvt.rn.f32.s16 %f2, 0x1ffff; st.global.v2.f32 [%out], {%f1, %f2};",
            &[1_f32.to_bits(), (-1_f32).to_bits()],
        ),
    ]);
}

#[test]
fn special_registers() {
    check(&[
        (
            "",
            "mov.u32 %r1, %clusterid.x; mov.u32 %r2, %nclusterid.y; mov.u32 %r3, %cluster_nctarank; mov.u32 %r4, %cluster_ctaid.z; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};",
            &[0, 1, 1, 0],
        ),
        (
            "",
            "mov.pred %p1, %is_explicit_cluster; selp.u32 %r1, 1, 0, %p1; mov.u32 %r2, %aggr_smem_size; mov.u32 %r3, %total_smem_size; mov.u64 %rd1, %current_graph_exec; sub.u32 %r2, %r2, %r3; st.global.v2.u32 [%out], {%r1, %r2}; st.global.u64 [%out+8], %rd1;",
            &[0, 0, 0, 0],
        ),
        (
            "",
            "mov.u32 %r1, %reserved_smem_offset_end; mov.u32 %r2, %pm3; mov.u64 %rd1, %pm7_64; st.global.v2.u32 [%out], {%r1, %r2}; st.global.u64 [%out+8], %rd1;",
            &[0, 0, 0, 0],
        ),
        // A clock of a few instructions has nothing in its upper half.
        (
            "",
            "mov.u32 %r1, %clock_hi; mov.u32 %r2, %globaltimer_hi; mov.u32 %r3, %globaltimer_lo; mov.u64 %rd1, %globaltimer; cvt.u32.u64 %r4, %rd1; setp.ge.u32 %p1, %r4, %r3; selp.u32 %r3, 1, 0, %p1; st.global.v2.u32 [%out], {%r1, %r2}; st.global.u32 [%out+8], %r3;",
            &[0, 0, 1],
        ),
    ]);
    let message = refusal("", "mov.u32 %r1, %pm8;");
    assert!(message.contains("mov.u32: expected a 32-bit value, found %pm8"), "{message}");
}

#[test]
fn hints_change_nothing() {
    check(&[(
        ".global .align 128 .u32 g[64] = {3};",
        "mov.u64 %rd1, g; createpolicy.fractional.L2::evict_last.b64 %rd2, 0.5; prefetch.global.L2::evict_last [%rd1]; prefetchu.L1 [%rd1]; applypriority.global.L2::evict_normal [%rd1], 128;
         pmevent 3; pmevent.mask 5; griddepcontrol.wait; nanosleep.u32 20; fence.proxy.alias; cp.async.bulk.prefetch.L2.global [%rd1], 128;
         ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.u32 %r1, [%rd1], %rd2; st.global.L1::no_allocate.u32 [%out], %r1;",
        &[3],
    )]);
}

#[test]
fn a_register_and_a_family_may_have_one_name() {
    // As Triton writes in its inline assembly.
    check(&[(
        "",
        "{ .reg .b32 a; .reg .b16 a<2>; mov.b32 a, 0x20001; mov.b32 {a0, a1}, a; cvt.u32.u16 %r1, a1; st.global.v2.u32 [%out], {a, %r1}; }",
        &[0x2_0001, 2],
    )]);
}

#[test]
fn conversions_between_halves_round_to_nearest_unless_they_say_otherwise() {
    check(&[(
        "",
        "mov.b16 %h1, 0x3c07; cvt.bf16.f16 %h2, %h1; mov.b16 %h1, 0x3f81; cvt.f16.bf16 %h3, %h1; mov.b32 %r1, {%h2, %h3}; st.global.u32 [%out], %r1;",
        &[0x3c08_3f81],
    )]);
}

#[test]
fn atomic_operations_on_vectors() {
    check(&[
        (
            ".global .align 16 .f32 g[4] = {1.0, 2.0, 3.0, 4.0};",
            "mov.u64 %rd1, g; mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000; atom.global.gpu.relaxed.add.v4.f32 {%f3, %f4, %f5, %f6}, [%rd1], {%f1, %f2, %f1, %f2};
             ld.global.v4.f32 {%f7, %f8, %f9, %f1}, [%rd1]; st.global.v4.f32 [%out], {%f3, %f4, %f5, %f6}; st.global.v4.f32 [%out+16], {%f7, %f8, %f9, %f1};",
            &[1.0_f32, 2.0, 3.0, 4.0, 2.0, 4.0, 4.0, 6.0].map(f32::to_bits),
        ),
        (
            ".global .align 4 .b32 g = 0x40003c00;",
            "mov.u64 %rd1, g; mov.b16 %h1, 0x3c00; red.global.add.noftz.v2.f16 [%rd1], {%h1, %h1}; ld.global.u32 %r1, [%rd1]; st.global.u32 [%out], %r1;",
            &[0x4200_4000],
        ),
    ]);
    assert!(refusal("", "atom.shared.add.v2.f32 {%f1, %f2}, [%rd1], {%f1, %f2};").contains("not supported"));
    assert!(refusal("", "red.global.add.v2.f32 [%rd1], {%f1, %f2, %f3};").contains("operands"));
}

#[test]
fn addresses_of_the_cluster_of_one_block() {
    check(&[
        (
            ".shared .u32 s;",
            "mov.u64 %rd1, s; cvta.shared::cta.u64 %rd1, %rd1; isspacep.shared::cluster %p1, %rd1; st.u32 [%rd1], 4; cvta.to.shared::cluster.u64 %rd1, %rd1; ld.shared::cluster.u32 %r1, [%rd1]; selp.u32 %r2, 1, 0, %p1; st.global.v2.u32 [%out], {%r1, %r2};",
            &[4, 1],
        ),
        (
            "",
            "mov.b64 %rd1, out; cvta.param::entry.u64 %rd1, %rd1; isspacep.param::entry %p1, %rd1; ld.u64 %rd2, [%rd1]; setp.eq.and.u64 %p1, %rd2, %out, %p1; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%out], %r1;",
            &[1],
        ),
    ]);
}

#[test]
fn copies_arrive_at_a_barrier() {
    // The barrier expects one arrival, which the copies make.
    let body = |noinc: &str, arrive: &str| {
        format!(
            "mov.u64 %rd1, g; mbarrier.init.shared.b64 [b], 1; cp.async.ca.shared.global [s], [%rd1], 4; cp.async.mbarrier.arrive{noinc}.shared.b64 [b]; {arrive}
             mbarrier.test_wait.parity.shared.b64 %p1, [b], 0; selp.u32 %r1, 1, 0, %p1; ld.shared.u32 %r2, [s]; st.global.v2.u32 [%out], {{%r1, %r2}};"
        )
    };
    let variables = ".global .u32 g = 9; .shared .u64 b; .shared .u32 s;";
    assert_eq!(run(variables, &body(".noinc", ""), 2), [1, 9]);
    // The phase is not over, so the bytes may still be on their way.
    assert_eq!(run(variables, &body("", ""), 2), [0, 0x7fff_7fff]);
    assert_eq!(run(variables, &body("", "mbarrier.arrive.shared.b64 %rd2, [b];"), 2), [1, 9]);
}

#[test]
fn votes_and_shuffles_without_sync_are_of_the_active_lanes() {
    let text = module(
        "",
        "mov.u32 %r1, %tid.x; mad.wide.u32 %out, %r1, 16, %out; setp.lt.u32 %p1, %r1, 3; setp.ne.u32 %p2, %r1, 1; mov.u32 %r2, 0; mov.u32 %r3, 0;
         @%p1 vote.ballot.b32 %r2, %p2; @%p1 vote.all.pred %p3, %p1; selp.u32 %r4, 1, 0, %p3; @%p1 shfl.bfly.b32 %r3, %r1, 1, 31; st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};",
    );
    let gpu = Gpu::load(&text.replace("sm_90", "sm_60"));
    let output = gpu.buffer(&[0_u32; 16]);
    gpu.launch("kernel", 1, 4, 0, &Params::new().with(output));
    let results = gpu.read::<u32>(output, 16);
    assert_eq!(results[..8], [0, 5, 1, 1, 1, 5, 0, 1]);
    assert_eq!(results[12..], [3, 0, 0, 0]);
}

#[test]
fn a_refusal_names_the_instruction() {
    for (body, expected) in [
        ("add.s32 %rd2, %r1, %r2;", "add.s32: expected a 32-bit value, found %rd2, a 64-bit value: add.s32 %rd2, %r1, %r2;"),
        ("mul.lo.u32 %r1, %nowhere, 1;", "mul.lo.u32: expected a 32-bit value, found %nowhere"),
    ] {
        let message = refusal("", body);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn what_is_not_set_holds_what_the_launch_says() {
    let text = module("", ".local .align 4 .b32 depot; ld.local.u32 %r2, [depot]; st.global.v2.u32 [%out], {%r1, %r2};");
    for garbage in [0, 0x7fff_ffff] {
        let gpu = Gpu::with_options(&text, LaunchOptions { garbage, ..LaunchOptions::default() });
        let output = gpu.poisoned::<u32>(2);
        gpu.launch("kernel", 1, 1, 0, &Params::new().with(output));
        assert_eq!(gpu.read::<u32>(output, 2), [garbage; 2]);
    }
}
