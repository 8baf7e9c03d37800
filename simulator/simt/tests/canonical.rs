//! The canonical text of a kernel stays the same when an edit does not change the kernel's machine code, and changes when it does.

use std::fs;
use std::ops::Range;
use std::path::Path;

use ptx::ast::{Module, Statement};
use ptx::{canonical, parse};
use simt::LoadError;

/// A module with two kernels. `k` uses one of everything, and `other` uses some of it.
const PTX: &str = r#"// source: a.cu
// registers sm_80: k 12
.version 8.0
.target sm_80
.address_size 64

.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 first[64];
.shared .align 4 .b8 second[64];
.const .align 4 .f32 weights[2] = {0f3F800000, 0f40000000};
.visible .global .align 4 .u32 result;
.global .align 1 .b8 $str$1[3] = {37, 100, 0};
.global .align 8 .u64 pointers[1] = {generic($str$1)};
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.func (.param .b32 r) helper(.param .b32 helper_param_0);

.visible .entry other(.param .u64 other_param_0)
{
	.reg .b64 	%rd<2>;
	.loc	1 3 1
	mov.u64 	%rd1, unused;
	mov.u64 	%rd1, weights;
	bra.uni 	$L__BB0_1;
$L__BB0_1:
	ret;
}
.global .align 4 .u32 unused;

.visible .entry k(
	.param .u64 k_param_0,
	.param .u32 k_param_1
)
.maxntid 128, 1, 1
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<5>;
	.reg .b64 	%rd<4>;
	.local .align 8 .b8 	__local_depot1[8];
	.shared .align 4 .b8 demoted[256];
	.loc	1 10 0
$L__func_begin1:
	mov.u64 	%rd1, __local_depot1;
	ld.param.u64 	%rd2, [k_param_0];
	ld.param.u32 	%r1, [k_param_1]; // a size
	.loc	1 27 28, function_name $L__info_string0, inlined_at 1 67 5
	ld.const.f32 	%r2, [weights+4];
	st.shared.u32 	[second], %r2;
	st.shared.u32 	[first+8], %r2;
	st.shared.u32 	[dynamic], %r2;
	st.shared.u32 	[demoted], %r2;
	bar.sync 	0;
	setp.eq.s32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB1_2;
	mov.u64 	%rd3, pointers;
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b32 param0;
	st.param.b32 	[param0], %r1;
	.param .b32 retval0;
	call.uni (retval0), helper, (param0);
	ld.param.b32 	%r3, [retval0];
	}
$L__BB1_2:
	.pragma "nounroll";
	st.global.u32 	[result], %r3;
	@!%p1 bra 	$L__BB1_4;
$L__BB1_3:
	bra.uni 	$L__BB1_2;
$L__BB1_4:
	ret;
}
.func (.param .b32 r) helper(.param .b32 helper_param_0)
{
	.reg .b32 	%r<3>;
	ld.param.b32 	%r1, [helper_param_0];
	ld.global.u32 	%r2, [reached];
	st.param.b32 	[r], %r2;
	ret;
}
.global .align 4 .u32 reached = 7;
	.file	1 "a.cu"
	.section	.debug_str
	{
$L__info_string0:
.b8 95,90,0
	}
"#;

/// Returns the text with `to` in place of `from`.
fn edited(from: &str, to: &str) -> String {
    assert!(PTX.contains(from), "{from:?} is not in the text");
    PTX.replace(from, to)
}

#[test]
fn edits_that_leave_the_machine_code_as_it_is_change_nothing() {
    let expected = canonical(PTX, "k").unwrap();
    let (head, rest) = PTX.split_once(".visible .entry other(").unwrap();
    let (other, rest) = rest.split_once(".global .align 4 .u32 unused;\n").unwrap();
    let other_entry = format!(".visible .entry other({other}");
    let edits = [
        ("a stamp", edited("// source: a.cu\n", "// source: b.cu\n// sha256: 12\n")),
        ("a register count", edited("k 12", "k 99")),
        ("a comment", edited(" // a size", " /* two\nlines */")),
        ("a line number", edited(".loc\t1 10 0", ".loc\t1 99 7")),
        ("an inlined location", edited("$L__info_string0, inlined_at 1 67 5", "$L__info_string12+3, inlined_at 2 68 9")),
        ("a location less", edited("\t.loc\t1 27 28, function_name $L__info_string0, inlined_at 1 67 5\n", "")),
        ("a file", edited("\"a.cu\"", "\"b/a.cu\", 123, 456")),
        ("debug information", edited(".b8 95,90,0", ".b8 95,91,92,0\n$L__info_string1:\n.b8 0")),
        ("no debug information", PTX[..PTX.find("\t.file").unwrap()].to_owned()),
        ("a label for the debugger", edited("\tbar.sync", "$L__tmp7:\n\tbar.sync")),
        ("no label for the debugger", edited("$L__func_begin1:\n", "")),
        ("white space", PTX.replace('\t', "  ").replace(", ", ",").replace('\n', "\r\n\n")),
        ("labels", PTX.replace("$L__BB1_", "$L__BB17_")),
        ("the numbers of labels", PTX.replace("BB1_3", "BB1_9").replace("BB1_2", "BB1_3").replace("BB1_4", "BB1_2")),
        ("the number of the stack", PTX.replace("__local_depot1", "__local_depot4")),
        ("the number of a string", PTX.replace("$str$1", "$str$23")),
        ("the name of a static variable", PTX.replace("demoted", "other_demoted").replace("reached", "_INTERNAL_1_reached")),
        ("another kernel's instruction", edited("mov.u64 \t%rd1, unused;", "mov.u64 \t%rd1, 17;")),
        ("another kernel's variable", edited(".u32 unused;", ".u32 unused[5];")),
        ("another kernel less", format!("{head}{rest}")),
        ("another kernel behind", format!("{head}{rest}{other_entry}.global .align 4 .u32 unused;\n")),
        ("another kernel more", format!("{PTX}{}", other_entry.replace("other", "third").replace("BB0_", "BB2_"))),
        (
            "a variable that nothing uses",
            edited(".const .align", ".shared .align 4 .b8 idle[8];\n.global .u32 idle2;\n.const .align"),
        ),
        ("a function that nothing calls", edited(".visible .entry k(", ".func idle()\n{\nret;\n}\n.visible .entry k(")),
        ("a declaration of a defined function less", edited(".func (.param .b32 r) helper(.param .b32 helper_param_0);\n", "")),
    ];
    for (what, text) in edits {
        assert_ne!(text, PTX, "{what}: the edit edits");
        assert_eq!(canonical(&text, "k").as_ref(), Ok(&expected), "{what}");
    }
}

#[test]
fn edits_that_may_change_the_machine_code_change_the_text() {
    let intact = canonical(PTX, "k").unwrap();
    let edits = [
        ("an opcode", edited("bar.sync", "barrier.sync")),
        ("an operand", edited("setp.eq.s32 \t%p1, %r1, 0;", "setp.eq.s32 \t%p1, %r1, 1;")),
        ("a register", edited("[result], %r3", "[result], %r2")),
        ("an offset", edited("[weights+4]", "[weights]")),
        ("a guard", edited("@!%p1 bra", "@%p1 bra")),
        ("an instruction less", edited("\tbar.sync \t0;\n", "")),
        ("an instruction twice", edited("\tbar.sync \t0;\n", "\tbar.sync \t0;\n\tbar.sync \t0;\n")),
        (
            "the order of instructions",
            edited("[second], %r2;\n\tst.shared.u32 \t[first+8]", "[first+8], %r2;\n\tst.shared.u32 \t[second]"),
        ),
        ("the target of a branch", edited("bra.uni \t$L__BB1_2;", "bra.uni \t$L__BB1_3;")),
        ("where a label is", edited("$L__BB1_2:\n\t.pragma \"nounroll\";\n", "\t.pragma \"nounroll\";\n$L__BB1_2:\n")),
        ("a pragma", edited("\t.pragma \"nounroll\";\n", "")),
        ("a pragma of the module", edited(".address_size 64", ".address_size 64\n.pragma \"nounroll\";")),
        ("a block", edited("\t.param .b32 retval0;\n", "\t{ .param .b32 retval0; }\n\t.param .b32 retval0;\n")),
        ("a parameter's type", edited(".param .u32 k_param_1", ".param .u64 k_param_1")),
        ("a parameter more", edited("\t.param .u32 k_param_1\n", "\t.param .u32 k_param_1,\n\t.param .u32 k_param_2\n")),
        ("which parameter is loaded", edited("[k_param_0]", "[k_param_1]")),
        ("the launch bounds", edited(".maxntid 128, 1, 1", ".maxntid 256, 1, 1")),
        ("no launch bounds", edited(".maxntid 128, 1, 1\n", "")),
        ("more launch bounds", edited(".maxntid 128, 1, 1\n", ".maxntid 128, 1, 1\n.minnctapersm 2\n")),
        ("the number of registers", edited(".b32 \t%r<5>", ".b32 \t%r<6>")),
        ("the type of registers", edited(".b32 \t%r<5>", ".f32 \t%r<5>")),
        ("the size of its stack", edited("__local_depot1[8]", "__local_depot1[16]")),
        ("the size of its shared variable", edited("demoted[256]", "demoted[260]")),
        ("the size of a shared variable", edited("second[64]", "second[68]")),
        ("which shared variable", edited("[first+8]", "[second+8]")),
        (
            "the order of shared variables",
            edited(
                ".shared .align 4 .b8 first[64];\n.shared .align 4 .b8 second",
                ".shared .align 4 .b8 second[64];\n.shared .align 4 .b8 first",
            ),
        ),
        ("the alignment of extern shared memory", edited(".shared .align 16", ".shared .align 4")),
        ("a constant", edited("0f40000000", "0f40400000")),
        ("a variable's linkage", edited(".const .align 4", ".visible .const .align 4")),
        ("a variable that the host can find", PTX.replace("result", "outcome")),
        ("a variable that another one points to", edited("{37, 100, 0}", "{37, 117, 0}")),
        ("a variable of a function that it calls", edited("reached = 7", "reached = 8")),
        ("a function that it calls", edited("[r], %r2;", "[r], %r1;")),
        ("which function it calls", edited("(retval0), helper,", "(retval0), vprintf,")),
        ("the version", edited(".version 8.0", ".version 8.1")),
        ("the target", edited(".target sm_80", ".target sm_90a")),
        ("the suffix of the target", edited(".target sm_80", ".target sm_80a")),
    ];
    for (what, text) in edits {
        assert_ne!(canonical(&text, "k").unwrap_or_else(|error| panic!("{what}: {error}")), intact, "{what}");
    }
}

#[test]
fn a_module_item_that_is_named_like_an_opcode_or_a_register_is_not_mistaken_for_it() {
    let text = |unused: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 exit{unused};\n.global .u32 reg{unused};\n\
             .visible .entry k()\n{{\n.reg .b32 reg;\nmov.u32 reg, 0;\nexit;\n}}\n"
        )
    };
    assert_eq!(canonical(&text(""), "k"), canonical(&text("[4]"), "k"));
}

#[test]
fn a_kernel_that_is_not_there_is_an_error() {
    let missing = |kernel: &str| LoadError::NoKernel { kernel: kernel.to_owned() };
    assert_eq!(canonical(PTX, "kk"), Err(missing("kk")));
    assert_eq!(canonical(PTX, "helper"), Err(missing("helper")), "a device function is not a kernel");
    assert!(matches!(canonical("__global__ void k() {}", "k"), Err(LoadError::Syntax { .. })));
}

/// Returns the text without these parts of it.
fn without(text: &str, mut spans: Vec<Range<usize>>) -> String {
    spans.sort_by_key(|span| span.start);
    let mut rest = String::new();
    let mut at = 0;
    for span in spans {
        rest += &text[at..span.start];
        at = span.end;
    }
    rest + &text[at..]
}

/// Returns the text for the debugger, and the kernels other than one.
fn what_does_not_matter(module: &Module<'_>, kernel: &str) -> Vec<Range<usize>> {
    let others = module.functions.iter().filter(|function| function.is_kernel && function.name != kernel);
    let mut spans: Vec<Range<usize>> = others.map(|function| function.span.clone()).collect();
    let of_kernel = module.functions.iter().filter(|function| !function.is_kernel || function.name == kernel);
    spans.extend(of_kernel.flat_map(|function| function.body.iter().flatten()).filter_map(|statement| match statement {
        Statement::Location { span, .. } => Some(span.clone()),
        _ => None,
    }));
    spans
}

#[test]
fn the_kernels_of_compiled_programs_depend_on_their_instructions_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut kernels = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ptx") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let module = parse(&text).unwrap();
        for function in module.functions.iter().filter(|function| function.is_kernel) {
            kernels += 1;
            let (path, name) = (path.display(), function.name);
            let intact = module.canonical(name).unwrap();
            assert!(!intact.contains("//") && !intact.contains(".loc ") && !intact.contains("$L__"), "{path}: {intact}");
            let alone = without(&text, what_does_not_matter(&module, name));
            assert_eq!(canonical(&alone, name).as_ref(), Ok(&intact), "{name} of {path}");
            // One instruction is enough to find, as the table above has the others.
            let instruction = function.body.iter().flatten().find_map(|statement| match statement {
                Statement::Instruction(instruction) => Some(instruction.span.clone()),
                _ => None,
            });
            let less = without(&text, vec![instruction.unwrap()]);
            assert_ne!(canonical(&less, name).as_ref(), Ok(&intact), "{name} of {path}");
        }
    }
    assert!(kernels > 50, "there are programs: {kernels}");
}
