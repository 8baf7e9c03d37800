//! Each operator makes the mistakes that it names, and only those; the text with a mistake loads, and every line keeps its number.

use ptx::mutation::{Mutant, Operator, find, mutants};
use ptx::parse;
use simt::Module;

/// Returns a kernel with these lines, whose results are all used.
fn kernel(lines: &str) -> String {
    format!(
        ".version 8.0
.target sm_90
.address_size 64
.file 1 \"k.cu\"
.visible .entry k(.param .u64 data, .param .u32 n) {{
.reg .pred %p<5>; .reg .b16 %h<5>; .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .f64 %d<5>; .reg .b64 %rd<9>; .reg .b16 %unused;
.shared .align 16 .b8 s[64];
ld.param.u64 %rd1, [data];
.loc 1 7 0
{lines}
@%p1 st.global.u32 [%rd1], %r1;
@%p2 st.global.u16 [%rd1], %h1;
st.global.f32 [%rd1], %f1;
st.global.f64 [%rd1], %d1;
st.global.u64 [%rd1], %rd2;
$end:
ret;
}}
"
    )
}

/// The line on which the lines start.
const FIRST: u32 = 10;

/// Returns the mutants of the first line. Each comes with what the mistake makes of that line.
fn changed(lines: &str) -> Vec<(Operator, String)> {
    let text = kernel(lines);
    let of_line = |mutant: &Mutant| mutant.ptx_line == FIRST;
    let tree = parse(&text).unwrap();
    let changed = mutants(&tree).into_iter().filter(of_line).map(|mutant| {
        let mutated = mutant.apply(&text);
        Module::parse(&mutated).unwrap_or_else(|error| panic!("{}: {error}\n{mutated}", mutant.id));
        assert_eq!(find(&tree, &mutant.id), Some(mutant.clone()));
        assert_eq!(mutated.lines().count(), text.lines().count());
        let source = mutant.source.expect("there is a .loc");
        assert_eq!((source.file.as_str(), source.line), ("k.cu", 7));
        (mutant.operator, mutated.lines().nth(FIRST as usize - 1).unwrap().to_owned())
    });
    changed.collect()
}

#[test]
fn each_operator_makes_its_mistakes() {
    use Operator::*;
    let cases: &[(&str, &[(Operator, &str)])] = &[
        ("bar.sync 0;", &[(RemoveBarrier, "")]),
        ("barrier.sync 1, 64;", &[(RemoveBarrier, "")]),
        ("bar.warp.sync -1;", &[(RemoveBarrier, "")]),
        ("bar.red.popc.u32 %r1, 0, %p1;", &[]),
        ("bar.arrive 1, 64;", &[(RemoveArrive, "")]),
        ("membar.gl;", &[(RemoveFence, "")]),
        ("fence.acq_rel.gpu;", &[(RemoveFence, "")]),
        ("fence.proxy.async.shared::cta;", &[(RemoveFence, "")]),
        ("cp.async.wait_all;", &[(RemoveWait, "")]),
        ("cp.async.wait_group 1;", &[(RemoveWait, "")]),
        ("cp.async.commit_group;", &[(RemoveArrive, "")]),
        ("barrier.cluster.arrive;", &[(RemoveArrive, "")]),
        ("barrier.cluster.wait;", &[(RemoveWait, "")]),
        ("mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r3;", &[(RemoveWait, "setp.eq.u32 %p1, 0, 0;")]),
        ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r3;", &[(RemoveArrive, "")]),
        ("mbarrier.init.shared::cta.b64 [%r2], %r3;", &[]),
        (
            "red.global.add.u32 [%rd1], %r2;",
            &[
                (
                    PlainAtomic,
                    "{ .reg .b32 mutant_new; .reg .b32 mutant; ld.global.b32 mutant, [%rd1]; add.u32 mutant_new, mutant, %r2; st.global.b32 \
                     [%rd1], mutant_new; }",
                ),
                (ShiftIndex, "red.global.add.u32 [%rd1+4], %r2;"),
            ],
        ),
        (
            "@%p3 atom.shared.exch.b32 %r1, [s+8], %r2;",
            &[
                (
                    PlainAtomic,
                    "{ .reg .b32 mutant_new; .reg .b32 mutant; @%p3 ld.shared.b32 mutant, [s+8]; @%p3 st.shared.b32 [s+8], %r2; @%p3 mov.b32 \
                     %r1, mutant; }",
                ),
                (RemoveGuard, "atom.shared.exch.b32 %r1, [s+8], %r2;"),
                (ShiftIndex, "@%p3 atom.shared.exch.b32 %r1, [s+12], %r2;"),
            ],
        ),
        ("atom.global.cas.b32 %r1, [%rd1], %r2, %r3;", &[(ShiftIndex, "atom.global.cas.b32 %r1, [%rd1+4], %r2, %r3;")]),
        ("@%p3 bra $end;", &[(RemoveGuard, "")]),
        ("@!%p3 ret;", &[(RemoveGuard, "")]),
        ("@!%p3 mov.u32 %r1, %r2;", &[(RemoveGuard, "mov.u32 %r1, %r2;")]),
        (
            "setp.ge.u32 %p1, %r2, %r3;",
            &[(ChangeBound, "setp.gt.u32 %p1, %r2, %r3;"), (NegateComparison, "setp.lt.u32 %p1, %r2, %r3;")],
        ),
        ("setp.eq.s32 %p1, %r2, %r3;", &[(NegateComparison, "setp.ne.s32 %p1, %r2, %r3;")]),
        // Negated, it is also true for what is not a number.
        (
            "setp.lt.f32 %p1, %f2, %f3;",
            &[(ChangeBound, "setp.le.f32 %p1, %f2, %f3;"), (NegateComparison, "setp.geu.f32 %p1, %f2, %f3;")],
        ),
        // `< 8` and `<= 7` are the same, so `< 9` would be the mutant `<= 8` again.
        (
            "setp.lt.s32 %p1, %r2, 8;",
            &[
                (ChangeBound, "setp.le.s32 %p1, %r2, 8;"),
                (NegateComparison, "setp.ge.s32 %p1, %r2, 8;"),
                (ChangeConstant, "setp.lt.s32 %p1, %r2, 7;"),
            ],
        ),
        ("and.pred %p1, %p2, %p3;", &[(SwapLogic, "or.pred %p1, %p2, %p3;")]),
        ("or.pred %p1, %p2, %p3;", &[(SwapLogic, "and.pred %p1, %p2, %p3;")]),
        ("add.s32 %r1, %r2, %r3;", &[(SwapArithmetic, "sub.s32 %r1, %r2, %r3;")]),
        ("sub.f32 %f1, %f2, %f3;", &[(SwapArithmetic, "add.f32 %f1, %f2, %f3;")]),
        (
            "@%p3 mad.lo.s32 %r1, %r2, %r3, %r4;",
            &[
                (RemoveGuard, "mad.lo.s32 %r1, %r2, %r3, %r4;"),
                (SwapArithmetic, "{ .reg .b32 mutant; @%p3 mul.lo.s32 mutant, %r2, %r3; @%p3 sub.s32 %r1, %r4, mutant; }"),
            ],
        ),
        (
            "mad.wide.u32 %rd2, %r2, %r3, %rd4;",
            &[(SwapArithmetic, "{ .reg .b64 mutant; mul.wide.u32 mutant, %r2, %r3; sub.u64 %rd2, %rd4, mutant; }")],
        ),
        (
            "fma.rn.f32 %f1, %f2, %f3, %f1;",
            &[(SwapArithmetic, "{ .reg .f32 mutant; neg.f32 mutant, %f2; fma.rn.f32 %f1, mutant, %f3, %f1; }")],
        ),
        ("neg.f32 %f1, %f2;", &[(FlipSign, "mov.f32 %f1, %f2;")]),
        ("abs.s32 %r1, %r2;", &[(FlipSign, "mov.b32 %r1, %r2;")]),
        ("mul.f32 %f1, %f2, %f3;", &[(FlipSign, "{ .reg .f32 mutant; mul.f32 mutant, %f2, %f3; neg.f32 %f1, mutant; }")]),
        ("mul.lo.s32 %r1, %r2, %r3;", &[]),
        ("min.s32 %r1, %r2, %r3;", &[(SwapMinMax, "max.s32 %r1, %r2, %r3;")]),
        ("max.f32 %f1, %f2, %f3;", &[(SwapMinMax, "min.f32 %f1, %f2, %f3;")]),
        ("shl.b32 %r1, %r2, 4;", &[(ChangeConstant, "shl.b32 %r1, %r2, 5;"), (ChangeConstant, "shl.b32 %r1, %r2, 3;")]),
        ("mov.u32 %r1, -1;", &[(ChangeConstant, "mov.u32 %r1, 0;")]),
        ("mov.f32 %f1, 0f00000000;", &[(ChangeConstant, "mov.f32 %f1, 0f3F800000;")]),
        ("selp.u32 %r1, 1, 0, %p3;", &[(ChangeConstant, "selp.u32 %r1, 0, 0, %p3;"), (ChangeConstant, "selp.u32 %r1, 1, 1, %p3;")]),
        ("ld.global.f32 %f1, [%rd1];", &[(ShiftIndex, "ld.global.f32 %f1, [%rd1+4];")]),
        ("ld.global.f32 %f1, [%rd1+-4];", &[(ShiftIndex, "ld.global.f32 %f1, [%rd1];")]),
        ("st.shared.v4.f32 [s+16], {%f1, %f2, %f1, %f2};", &[(ShiftIndex, "st.shared.v4.f32 [s+32], {%f1, %f2, %f1, %f2};")]),
        ("cp.async.ca.shared.global [%r2], [%rd1], 8;", &[(ShiftIndex, "cp.async.ca.shared.global [%r2], [%rd1+8], 8;")]),
        ("ld.param.u32 %r1, [n];", &[]),
    ];
    let mut seen: Vec<Operator> = Vec::new();
    for (line, expected) in cases {
        let expected: Vec<_> = expected.iter().map(|(operator, line)| (*operator, (*line).to_owned())).collect();
        assert_eq!(changed(line), expected, "{line}");
        seen.extend(expected.iter().map(|(operator, _)| *operator));
    }
    for operator in Operator::ALL {
        assert!(seen.contains(operator), "no case shows {operator}");
        assert_eq!(operator.name().parse(), Ok(*operator));
    }
}

#[test]
fn what_cannot_make_a_difference_is_left_out() {
    for lines in [
        // Nobody reads the result.
        "mov.u16 %unused, 3;",
        "max.s32 %r1, %r2, %r2;",
        "@%p3 bra $next;\n$next:",
        "@%p3 bra $next;\n.loc 1 8 0\n$other: $next:",
        "membar.cta;\nbar.sync 0;",
    ] {
        assert_eq!(changed(lines), [], "{lines}");
    }
    // The maximum of two values, either of which may be taken when they are equal. That of floats may be a zero with another sign.
    let chooses =
        |ty: &str, name: &str| changed(&format!("setp.gt.{ty} %p4, {name}2, {name}3;\nselp.{ty} {name}1, {name}2, {name}3, %p4;"));
    assert_eq!(chooses("s32", "%r").len(), 1);
    assert_eq!(chooses("f32", "%f").len(), 2);
    // These make a difference, although they look much the same.
    for (lines, count) in [
        ("add.s32 %r1, %r2, %r3;", 1),
        // The constant changes; the sum does not become a difference.
        ("add.s32 %r1, %r2, 0;", 2),
        ("@%p3 bra $end;\n$next:", 1),
        ("membar.gl;\nbar.sync 0;", 1),
        ("membar.cta;\nst.global.u32 [%rd1], %r2;\nbar.sync 0;", 1),
        ("setp.gt.s32 %p4, %r2, %r3;\nselp.s32 %r1, %r2, %r4, %p4;", 2),
        ("setp.gt.s32 %p4, %r2, %r3;\nselp.s32 %r1, %r2, %r3, %p4;\n@%p4 bra $end;", 2),
    ] {
        assert_eq!(changed(lines).len(), count, "{lines}");
    }
}

#[test]
fn a_mutant_keeps_its_name_until_the_code_of_its_function_changes() {
    let ids = |text: &str| mutants(&parse(text).unwrap()).into_iter().map(|mutant| mutant.id).collect::<Vec<_>>();
    let text = kernel("@%p3 bra $end;\nadd.s32 %r1, %r2, %r3;");
    let (before, first) = (ids(&text), "add.s32 %r1, %r2, %r3;");
    assert!(before[0].starts_with("k@") && before[0].ends_with("/remove-guard/1"), "{before:?}");
    let other = ".visible .entry other() { bar.sync 0; ret; }\n.visible .entry k(.param";
    for same in [
        text.replace(".loc 1 7 0", ".loc 1 8 0\n\n// a comment"),
        text.replace("$end", "$L__BB3_1"),
        text.replace(first, "add.s32   %r1,%r2, %r3 ;"),
    ] {
        assert_eq!(ids(&same), before, "{same}");
    }
    assert_eq!(ids(&text.replace(".visible .entry k(.param", other))[1..], before);
    for different in [text.replace(first, "add.s32 %r1, %r2, %r4;"), text.replace("s[64]", "s[68]"), text.replace("@%p3", "@!%p3")]
    {
        assert!(ids(&different).iter().all(|id| !before.contains(id)), "{different}");
    }
}

#[test]
fn code_between_labels_and_branches_is_executed_together() {
    let text = kernel(
        "add.s32 %r1, %r2, %r3;\nadd.s32 %r1, %r1, %r3;\n@%p3 bra $end;\nadd.s32 %r1, %r1, %r3;\n$here:\nadd.s32 %r1, %r1, %r3;",
    );
    let together: Vec<_> = mutants(&parse(&text).unwrap())
        .into_iter()
        .filter(|mutant| mutant.operator == Operator::SwapArithmetic)
        .map(|mutant| (mutant.ptx_line, mutant.together))
        .collect();
    // Line 8 loads the parameter, 12 branches, 14 is the label, and 20 stores last.
    assert_eq!(together, [(10, 8..=12), (11, 8..=12), (13, 13..=13), (15, 15..=20)]);
}
