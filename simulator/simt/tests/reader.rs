//! The answers of the reader to programs that read or edit PTX.

use std::collections::BTreeMap;

use ptx::ast::StateSpace::{self, Const, Global, Local, Param, Shared};
use ptx::ast::{Function, Module, Type};
use ptx::{Barrier, edit, parse, register_counts, to_line_end};

const PTX: &str = r#"// source: a.cu
.version 8.0
.target sm_80
.address_size 64
.visible .const .align 4 .b8 seen_by_the_host[4];
.global .align 4 .u32 unused;
.global .align 4 .u32 behind = 3;
.global .align 8 .u64 table[1] = {generic(behind)};
.shared .align 4 .b8 tile[64];
.func (.param .b32 r) helper(.param .b32 a)
{
	.reg .b32 	%r<2>;
	.shared .align 4 .b8 of_helper[8];
	mov.u32 	%r1, tile;
	st.param.b32 	[r], %r1;
	ret;
}
.func idle() { ret; }

.visible .entry none()
{
	ret;
}

.visible .entry tiled(
	.param .u64 tiled_param_0,
	.param .align 8 .b8 tiled_param_1[24],
	.param .u16 tiled_param_2
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<12>, flag;
	.reg .b64 	%rd<5>;
	.local .align 4 .b8 	stack[8];
	.loc	1 0 0
	ld.param.u64 	%rd1, [tiled_param_0];
	.loc	1 12 5
	mov.u64 	%rd2, table;
	.loc	1 40 1, function_name $L__info_string0, inlined_at 1 12 5
	@!%p1 bar.sync 	0;
	{ .param .b32 p0; .param .b32 v0;
	call.uni (v0), helper, (p0);
	}
	ret;
}
	.file	1 "a.cu"
"#;

fn names<'a>(items: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    items.into_iter().collect()
}

#[test]
fn kernels_are_listed_with_their_parameters() {
    let module = parse(PTX).unwrap();
    assert_eq!(names(module.kernels().map(|kernel| kernel.name)), ["none", "tiled"]);
    let params = |name: &str| -> Vec<(&str, Option<u64>, u64)> {
        let kernel = module.kernel(name).unwrap();
        kernel.params.iter().map(|param| (param.name, param.bytes, param.align)).collect()
    };
    assert_eq!(params("none"), []);
    assert_eq!(params("tiled"), [("tiled_param_0", Some(8), 8), ("tiled_param_1", Some(24), 8), ("tiled_param_2", Some(2), 2)]);
    assert!(module.kernel("helper").is_none() && module.kernel("tile").is_none());
}

#[test]
fn spans_are_those_of_the_text() {
    let module = parse(PTX).unwrap();
    let kernel = module.kernel("tiled").unwrap();
    let text = &PTX[kernel.span.clone()];
    assert!(text.starts_with(".visible .entry tiled(") && text.ends_with("\tret;\n}"), "{text}");
    let body = kernel.body_span.clone().unwrap();
    assert_eq!((&PTX[body.start - 1..body.start], &PTX[body.end..body.end + 1]), ("{", "}"));
    let instructions: Vec<_> = kernel.instructions().map(|instruction| &PTX[instruction.span.clone()]).collect();
    assert_eq!(
        instructions,
        [
            "ld.param.u64 \t%rd1, [tiled_param_0];",
            "mov.u64 \t%rd2, table;",
            "@!%p1 bar.sync \t0;",
            "call.uni (v0), helper, (p0);",
            "ret;"
        ]
    );
    let barrier = kernel.instructions().nth(2).unwrap();
    assert_eq!(&PTX[barrier.unguarded.clone()], "bar.sync \t0;");
    assert_eq!(PTX.lines().nth(barrier.line as usize - 1), Some("\t@!%p1 bar.sync \t0;"));
    assert_eq!(&PTX[module.span_of(module.files[0].1)], "a.cu");
    assert_eq!(module.span_of(kernel.name).start, PTX.find("tiled(").unwrap());
    let unused = module.variables.iter().find(|variable| variable.name == "unused").unwrap();
    assert_eq!(&PTX[unused.span.clone()], ".global .align 4 .u32 unused;");
    let host = &module.variables[0];
    assert_eq!(&PTX[host.span.clone()], ".visible .const .align 4 .b8 seen_by_the_host[4];");
    assert!(host.is_public && !unused.is_public);
}

#[test]
fn instructions_have_the_line_of_the_source_that_they_come_from() {
    let module = parse(PTX).unwrap();
    let source =
        |kernel: &str| -> Vec<_> { module.kernel(kernel).unwrap().instructions().map(|instruction| instruction.source).collect() };
    assert_eq!(source("tiled"), [None, Some((1, 12)), Some((1, 40)), Some((1, 40)), Some((1, 40))]);
    assert_eq!(source("none"), [None]);
}

#[test]
fn a_kernel_uses_what_its_functions_and_variables_use() {
    let module = parse(PTX).unwrap();
    let uses = module.uses(module.kernel("tiled").unwrap());
    assert_eq!(names(uses.functions.iter().map(|function| function.name)), ["helper"]);
    let variables: Vec<(&str, StateSpace)> = uses.variables.iter().map(|variable| (variable.name, variable.space)).collect();
    let expected = [
        ("stack", Local),
        ("p0", Param),
        ("v0", Param),
        ("table", Global),
        ("of_helper", Shared),
        ("behind", Global),
        ("tile", Shared),
    ];
    assert_eq!(variables, expected);
    assert!(module.uses(module.kernel("none").unwrap()).variables.is_empty());
    assert_eq!(names(module.unused_variables().map(|variable| variable.name)), ["unused"]);
}

#[test]
fn registers_are_known_by_their_declarations() {
    let module = parse(PTX).unwrap();
    let kernel = module.kernel("tiled").unwrap();
    for (name, expected) in [
        ("%r0", Some(Type::Bytes(4))),
        ("%r11", Some(Type::Bytes(4))),
        ("%r12", None),
        ("%r", None),
        ("%r01", None),
        ("%r+1", None),
        ("flag", Some(Type::Bytes(4))),
        ("%rd4", Some(Type::Bytes(8))),
        ("%p2", Some(Type::Pred)),
        ("table", None),
    ] {
        assert_eq!(kernel.register_type(name), expected, "{name}");
    }
}

/// A kernel with one instruction, and what a question about that gives.
fn of_instruction<T>(instruction: &str, question: impl FnOnce(&ptx::ast::Instruction<'_>) -> T) -> T {
    let text = format!(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n{instruction};\n}}\n");
    let module = parse(&text).unwrap_or_else(|error| panic!("{instruction}: {error}"));
    let kernel: &Function<'_> = module.kernel("k").unwrap();
    question(kernel.instructions().next().unwrap())
}

#[test]
fn barriers_are_told_apart() {
    for (instruction, expected) in [
        ("bar.sync 0", Some(Barrier::Block)),
        ("bar.cta.sync 0", Some(Barrier::Block)),
        ("barrier.sync.aligned 0", Some(Barrier::Block)),
        ("@%p1 bar.red.popc.u32 %r2, 0, %p2", Some(Barrier::Block)),
        ("barrier.cta.red.and.pred %p1, 0, %p2", Some(Barrier::Block)),
        ("bar.arrive 1, 64", Some(Barrier::BlockArrive)),
        ("barrier.cta.arrive 1, 64", Some(Barrier::BlockArrive)),
        ("bar.warp.sync -1", Some(Barrier::Warp)),
        ("barrier.cluster.arrive", Some(Barrier::Cluster)),
        ("barrier.cluster.wait.acquire.aligned", Some(Barrier::Cluster)),
        ("mbarrier.try_wait.parity.shared::cta.b64 %p1, [%rd1], 0", Some(Barrier::Mbarrier)),
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [%rd1]", Some(Barrier::Mbarrier)),
        ("cp.async.wait_group 0", Some(Barrier::Copies)),
        ("cp.async.wait_all", Some(Barrier::Copies)),
        ("cp.async.bulk.wait_group.read 0", Some(Barrier::Copies)),
        ("cp.async.commit_group", None),
        ("cp.async.ca.shared.global [%rd1], [%rd2], 16", None),
        ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd1], [%rd2], 16, [%rd3]", None),
        ("membar.cta", None),
        ("fence.acq_rel.gpu", None),
        ("shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1", None),
    ] {
        assert_eq!(of_instruction(instruction, |instruction| instruction.barrier()), expected, "{instruction}");
    }
}

#[test]
fn loads_and_stores_name_their_spaces() {
    const NONE: &[StateSpace] = &[];
    const ANY: &[StateSpace] = &[Global, Shared, Local];
    let table: &[(&str, &[StateSpace], &[StateSpace])] = &[
        ("ld.global.nc.f32 %f1, [%rd1]", &[Global], NONE),
        ("ld.shared::cta.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]", &[Shared], NONE),
        ("ld.param.u64 %rd1, [p]", &[Param], NONE),
        ("ld.const.f32 %f1, [c]", &[Const], NONE),
        ("ld.volatile.f32 %f1, [%rd1]", ANY, NONE),
        ("st.local.u32 [%rd1], %r1", NONE, &[Local]),
        ("st.u32 [%rd1], %r1", NONE, ANY),
        ("atom.global.add.u32 %r1, [%rd1], 1", &[Global], &[Global]),
        ("red.shared.add.u32 [%rd1], 1", NONE, &[Shared]),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2]", &[Shared], NONE),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1}, [%rd1], 16", &[Global], NONE),
        ("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%rd1], {%f1}, 16", NONE, &[Shared]),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1}", NONE, NONE),
        ("cp.async.cg.shared.global [%rd1], [%rd2], 16", &[Global], &[Shared]),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%rd2], 16", &[Shared], &[Global]),
        ("cp.async.wait_all", NONE, NONE),
        ("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}]", &[Global], NONE),
        ("mov.b32 %r1, %r2", NONE, NONE),
        ("bar.sync 0", NONE, NONE),
    ];
    for (instruction, reads, writes) in table {
        let found = of_instruction(instruction, |instruction| (instruction.reads(), instruction.writes()));
        assert_eq!(found, (*reads, *writes), "{instruction}");
    }
}

#[test]
fn opcodes_and_operands_are_taken_apart() {
    let parts = |text: &str| {
        of_instruction(text, |instruction| {
            let values: Vec<Vec<String>> =
                instruction.operands.iter().map(|operand| operand.values().into_iter().map(str::to_owned).collect()).collect();
            let bases: Vec<Option<String>> = instruction.operands.iter().map(|operand| operand.base().map(str::to_owned)).collect();
            (instruction.root().to_owned(), instruction.element_type(), values, bases)
        })
    };
    let (root, element, values, bases) = parts("ld.global.v2.u16 {%rs1, %rs2}, [%rd1+8]");
    assert_eq!((root.as_str(), element), ("ld", Some(Type::Bytes(2))));
    assert_eq!(values, [vec!["%rs1", "%rs2"], vec![]]);
    assert_eq!(bases, [None, Some("%rd1".to_owned())]);
    let (root, element, values, _) = parts("shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1");
    assert_eq!((root.as_str(), element), ("shfl", Some(Type::Bytes(4))));
    assert_eq!(values[0], ["%r1", "%p1"]);
    assert_eq!(parts("bar.sync 0").1, None);
    assert_eq!(parts("setp.lt.s64 %p1, %rd1, %rd2").1, Some(Type::Bytes(8)));
}

/// Returns one text per barrier of a kernel, without that barrier. Each has the barrier's line, as a test of barriers needs.
fn without_each_barrier(module: &Module<'_>, kernel: &str) -> Vec<(u32, String)> {
    let barriers = module.kernel(kernel).unwrap().instructions().filter(|it| it.barrier() == Some(Barrier::Block));
    barriers.map(|barrier| (barrier.line, edit(module.text, vec![(barrier.span.clone(), String::new())]))).collect()
}

#[test]
fn texts_are_edited_by_spans() {
    let module = parse(PTX).unwrap();
    let without = without_each_barrier(&module, "tiled");
    let line = 1 + PTX.lines().position(|line| line.contains("bar.sync")).unwrap();
    assert_eq!(without, [(line as u32, PTX.replace("@!%p1 bar.sync \t0;", ""))]);
    parse(&without[0].1).unwrap();
    assert_eq!(without_each_barrier(&module, "none"), []);

    let unused = module.unused_variables().map(|variable| (to_line_end(PTX, variable.span.clone()), String::new())).collect();
    assert_eq!(edit(PTX, unused), PTX.replace(".global .align 4 .u32 unused;\n", ""));

    let open = module.kernel("none").unwrap().body_span.clone().unwrap().start;
    let inserted = vec![(open..open, "\none".to_owned()), (open..open, "\ntwo".to_owned())];
    assert_eq!(edit(PTX, inserted), PTX.replacen("none()\n{", "none()\n{\none\ntwo", 1));
    assert_eq!(to_line_end("a; b;\n", 0..2), 0..2, "something else is on the line");
    assert_eq!(to_line_end("a;  ", 0..2), 0..4);
}

#[test]
#[should_panic(expected = "overlaps")]
fn edits_that_overlap_are_refused() {
    edit("abc", vec![(0..2, String::new()), (1..3, String::new())]);
}

#[test]
#[should_panic(expected = "not a part of the text")]
fn a_name_from_elsewhere_has_no_span() {
    let name = String::from("tiled");
    parse(PTX).unwrap().span_of(&name);
}

const COUNTED: &str = "// source: a.cu
// registers sm_75: naive 43, other 50

// registers sm_80: naive 31
// registers sm_89: naive 40
//
.version 8.0
// registers sm_90: naive 99
";

#[test]
fn the_register_counts_of_the_architecture_or_of_the_one_before_it_apply() {
    let naive = |capability| register_counts::read(COUNTED, capability).get("naive").copied();
    let both = BTreeMap::from([("naive".to_owned(), 43), ("other".to_owned(), 50)]);
    assert_eq!(register_counts::read(COUNTED, (7, 5)), both);
    assert_eq!([naive((8, 0)), naive((8, 6)), naive((8, 9))], [Some(31), Some(31), Some(40)]);
    assert_eq!([naive((7, 0)), naive((3, 0)), naive((1, 1))], [None; 3], "not for this generation");
    assert_eq!(naive((9, 0)), None, "after the first directive it is an ordinary comment");
}

#[test]
fn register_counts_that_are_not_understood_are_skipped() {
    for text in
        ["", "// registers sm_90", "// registers sm_x: a 1", "// registers sm_90: ", "// registers sm_90: a, b x, c 0, d 256, e -1"]
    {
        assert_eq!(register_counts::read(text, (9, 0)), BTreeMap::new(), "{text:?}");
    }
    assert_eq!(register_counts::read("// registers sm_90: a, b 7", (9, 0)).len(), 1);
}

#[test]
fn register_counts_are_read_as_they_are_written() {
    let counts = BTreeMap::from([("b".to_owned(), 40), ("a".to_owned(), 9)]);
    let comment = register_counts::comment(90, &counts);
    assert_eq!(comment, "// registers sm_90: a 9, b 40\n");
    assert_eq!(register_counts::read(&comment, (9, 0)), counts);
    assert_eq!(register_counts::comment(90, &BTreeMap::new()), "");
}
