//! IR that is stored here: what its code computes, and what is refused.

use lower::{Error, Options, Place, lower};

use crate::machine::{Launch, run};

const FORMS: &str = include_str!("ir/forms.ll");
const FIXTURE: &str = include_str!("ir/fixture.ll");

/// Runs a one-thread kernel of `forms.ll` and returns the last buffer's words.
fn words(kernel: &str, args: &str) -> Vec<u32> {
    let ptx = lower(FORMS, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let call = Launch { kernel, grid: [1, 1, 1], block: [1, 1, 1], shared: 64, args };
    let outcome = run(&ptx, &call).unwrap_or_else(|error| panic!("{kernel}: {error}"));
    let bytes = outcome.memory.last().expect("a buffer");
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

#[test]
fn integers_of_odd_widths_wrap_at_their_width() {
    let found = words("wide", "u4000000000 o4");
    let x = 4_000_000_000_u128;
    let odd = ((x * x) & ((1 << 33) - 1)) >> 1;
    // As a signed number, the input is negative, so that its negation is positive and small.
    let negated = 4_294_967_296_u128 - x;
    assert_eq!(found, [(x * (x - 1) / 2) as u32, odd as u32, 0, negated as u32]);
    // `1 << 65` does not fit, so that the sign is lost on the way.
    assert_eq!(words("wide", "u7 o4"), [21, 24, 1, (-7_i32) as u32]);
}

#[test]
fn switches_go_to_their_cases() {
    for (value, expected) in [(1, 10), (2, 20), (3, 10), (4, 99), (5, 20), (6, 99), (7, 21), (0, 99), (u32::MAX, 10), (100, 20)] {
        assert_eq!(words("switches", &format!("u{value} o1")), [expected], "{value}");
    }
}

#[test]
fn phis_of_a_block_are_copied_at_once() {
    assert_eq!(words("swap", "u1 o4"), [1, 2, 3, 0]);
    assert_eq!(words("swap", "u2 o4"), [2, 3, 1, 1]);
    assert_eq!(words("swap", "u3 o4"), [3, 1, 2, 2]);
}

#[test]
fn vectors_keep_their_elements_apart() {
    let found = words("vectors", "u4,65534,2,9 o7");
    assert_eq!(found, [10, 0, 9, 42, 4, 0x0400_0000, 0]);
    let found = words("vectors", "u4294836227,11,12,13 o7");
    assert_eq!(found, [14, 4_294_836_228, 9, 42, 13, 0x0300_feff, 0xffff_fffe]);
}

#[test]
fn structures_are_read_and_passed() {
    // i8, i32 at 4, float at 8, two i16 at 12
    let found = words("structures", "(1,1000,0,131071) o6");
    assert_eq!(found, [1001, 0x0101_0101, 0x0101_0101, 0x0101_0101, 1000, 0x0101_0101]);
}

#[test]
fn a_structure_that_is_written_is_a_copy() {
    assert_eq!(words("copied", "(1,1000,0,131071) o1"), [3000]);
}

#[test]
fn addresses_of_several_spaces_meet() {
    assert_eq!(words("spaces", "u5 o5"), [3, 1, 5, 15, 0]);
    assert_eq!(words("spaces", "u2 o5"), [2, 4, 5, 15, 0]);
}

#[test]
fn inline_ptx_gets_its_operands() {
    assert_eq!(words("inline", "u70000 o4"), [70_100, 70_005, 9, 4464]);
}

#[test]
fn intrinsic_functions_have_their_values() {
    let x = 0x1234_5678_u32;
    let found = words("functions", &format!("u{x},9 o8"));
    let bits = 1 | 3 << 8 | u32::from(0x78_u8.reverse_bits()) << 16;
    assert_eq!(found[..4], [x << 8, bits, u32::MAX, 1]);
    assert_eq!(found[4], 0x3412);
    // Beyond the range of a half; PTX saturates.
    assert_eq!(found[5], 0x7fff_ffff);
    assert_eq!(found[6], 1.5_f32.to_bits());
    assert_eq!(found[7], 0x8000_0000);
    assert_eq!(words("functions", "u41,9 o8")[5], 42);
}

#[test]
fn texts_are_printed() {
    let ptx = lower(FORMS, &Options::default()).expect("the forms are supported");
    let call = Launch { kernel: "prints", grid: [1, 1, 1], block: [1, 1, 1], shared: 0, args: "u12 o1" };
    let outcome = run(&ptx, &call).expect("the kernel runs");
    assert_eq!(outcome.printed, "12 ok");
}

#[test]
fn lines_are_those_of_the_source() {
    let ptx = lower(FIXTURE, &Options::default()).expect("the fixture is supported");
    let line_before = |what: &str| {
        let end = ptx.find(what).unwrap_or_else(|| panic!("no {what} in\n{ptx}"));
        ptx[..end].lines().rfind(|line| line.trim_start().starts_with(".loc")).unwrap_or("").trim().to_owned()
    };
    let files: Vec<&str> = ptx.lines().filter(|line| line.starts_with(".file")).collect();
    assert!(files.iter().any(|file| file.ends_with("\"kernels/fixture.cu\"")), "{files:?}");
    assert!(line_before("bar.sync").ends_with(" 7 5"), "{}", line_before("bar.sync"));
    assert!(line_before("ld.shared.f32").ends_with(" 10 16"), "{}", line_before("ld.shared.f32"));
    // In the header, and called from line 5.
    assert!(line_before("mov.u32 %r2, %tid.x").contains("inlined_at"), "{}", line_before("mov.u32 %r2, %tid.x"));
    let hidden = lower(FIXTURE, &Options { hidden: Some("prelude.h".to_owned()), ..Options::default() }).expect("as before");
    assert!(!hidden.contains("inlined_at"), "{hidden}");
}

#[test]
fn code_is_as_short_as_it_can_be() {
    let ptx = lower(FIXTURE, &Options::default()).expect("the fixture is supported");
    let start = ptx.find("fixture(").expect("the kernel");
    let body: Vec<&str> = ptx[start..].lines().map(str::trim).filter(|line| !line.starts_with('.')).collect();
    let first = body.iter().position(|line| line.starts_with("bar.sync")).expect("a barrier");
    let until = |line: &&&str| !line.starts_with('@');
    let names: Vec<&str> = body[first..]
        .iter()
        .skip_while(|line| !line.starts_with('$'))
        .skip(1)
        .take_while(until)
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        names,
        ["xor.b32", "mad.wide.u32", "ld.shared.f32", "cvt.rn.f32.u32", "fma.rn.f32", "add.s32", "setp.eq.s32"],
        "{ptx}"
    );
}

fn refused(text: &str) -> Error {
    match lower(text, &Options::default()) {
        Ok(ptx) => panic!("not refused: {text}\n{ptx}"),
        Err(error) => error,
    }
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let kernel = |body: &str| format!("define ptx_kernel void @k(ptr %a, i32 %n) {{\n{body}\n  ret void\n}}");
    for (body, words) in [
        ("  %x = va_arg ptr %a, i32", "va_arg"),
        ("  %x = call float @llvm.sin.f32(float 1.0)", "llvm.sin.f32"),
        ("  call void @llvm.nvvm.tcgen05.relinquish()", "tcgen05"),
        ("  call void %a(i32 3)", "through a pointer"),
        ("  call void @missing(i32 3)", "missing"),
        ("  %x = alloca i32, i32 %n, align 4", "not constant"),
        ("  %x = load i24, ptr %a, align 4", "odd width"),
        ("  %x = atomicrmw nand ptr %a, i32 1 seq_cst", "nand"),
        ("  %x = sdiv i128 3, 4", "128"),
        ("  %x = call i32 asm \"x\", \"=z\"()", "constraint"),
        ("  %x = add i32 %n, %missing", "missing"),
        ("  %x = getelementptr i32, <2 x ptr> zeroinitializer, i64 1", "vectors"),
        ("  indirectbr ptr %a, [label %b]", "indirectbr"),
        ("  br label %nowhere\n", "block"),
        ("  %x = call i32 @llvm.nvvm.read.ptx.sreg.envreg3()", "envreg3"),
    ] {
        let error = refused(&kernel(body));
        assert!(error.to_string().contains(words), "{body}: {error}");
        assert_ne!(error.line, 0, "{body}: {error}");
    }
}

#[test]
fn an_error_names_both_lines() {
    let text = FIXTURE.replace("xor i32 %15, %4, !dbg", "va_arg ptr %0, i32, !dbg");
    assert_eq!(refused(&text).line, 39);
    let text = FIXTURE.replace("%20 = load float, ptr %19, align 4", "%20 = load atomic float, ptr %19 acq_rel, align 4");
    let error = refused(&text);
    let place = Place { file: "kernels/fixture.cu".to_owned(), line: 10, column: 16 };
    assert_eq!((error.line, error.source.clone()), (42, Some(place)), "{error}");
    assert!(error.to_string().starts_with("kernels/fixture.cu:10: "), "{error}");
}
