//! PTX that the simulator lacks: a line of it refuses the kernels that reach it, by name, and nothing else.

use std::collections::BTreeMap;

use simt::Module;

/// Forms that ptxas takes and the simulator lacks, each with its target. `simulator/ptx/forms/walk.py` makes the list.
const LACKING: &str = include_str!("../../ptx/forms/lacking.txt");

const REGISTERS: &str = ".reg .b16 %h<99>; .reg .b32 %r<99>; .reg .b64 %d<99>; .reg .pred %p<9>;";

/// Returns a module with the kernel `fine` and one for each body.
///
/// They are `k0` and so on.
fn module<'b>(target: &str, functions: &str, bodies: impl IntoIterator<Item = &'b str>) -> String {
    let head = format!(".version 9.0\n.target {target}\n.address_size 64\n.global .surfref su; .global .texref tr;\n{functions}\n");
    let kernel = |(number, body): (usize, &str)| format!(".entry k{number}() {{ {REGISTERS}\n{body}\nret; }}\n");
    head + ".entry fine() { ret; }\n" + &bodies.into_iter().enumerate().map(kernel).collect::<String>()
}

#[test]
fn each_lacking_form_refuses_its_kernel_by_name() {
    let mut by_target: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in LACKING.lines().filter(|line| !line.starts_with('#')) {
        let (target, form) = line.split_once(' ').expect("a target and a form");
        by_target.entry(target).or_default().push(form);
    }
    for (target, forms) in by_target {
        let text = module(target, "", forms.iter().copied());
        let module = Module::parse_in_part(&text).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(module.kernel("fine").is_some());
        for (number, form) in forms.iter().enumerate() {
            let name = format!("k{number}");
            let refused = module.refused().iter().find(|(kernel, _)| *kernel == name);
            let (_, reason) = refused.unwrap_or_else(|| panic!("{form} runs now: take it off simulator/ptx/forms/lacking.txt"));
            let line = text.lines().position(|line| line == *form).expect("its line") + 1;
            let (reason, opcode) = (reason.to_string(), form.split([' ', ';']).next().unwrap_or_default());
            assert!(reason.contains(opcode) && reason.contains(&format!("PTX line {line}")), "{form}: {reason}");
        }
    }
}

#[test]
fn a_line_that_cannot_be_understood_refuses_only_the_kernels_that_reach_it() {
    let functions = ".func wrong() { frobnicate; ret; }\n.func calls_wrong() { call wrong; ret; }\n.func right() { ret; }";
    let bodies = [
        ("frobnicate.f32 %r1, %r2;", "frobnicate.f32 is not supported by the simulator"),
        ("add.frobnicated.s32 %r1, %r2, %r3;", "add.frobnicated.s32 is not supported by the simulator"),
        ("add.s32 %r1, %r2;", "the operands do not fit add.s32"),
        ("add.s32 %r1, %r2, %d3;", "expected a 32-bit value, found %d3, a 64-bit value"),
        ("frobnicate {%r1 : %r2}, <3>;", "expected '}', found ':': frobnicate {%r1 : %r2}, <3>;"),
        (".frobnicated %r1 {5};", "expected an instruction, found .frobnicated: .frobnicated %r1 {5};"),
        ("bra nowhere;", "no label nowhere"),
        ("call wrong;", "frobnicate is not supported by the simulator"),
        ("call calls_wrong;", "frobnicate is not supported by the simulator"),
    ];
    let text = module("sm_80", functions, bodies.iter().map(|(body, _)| *body).chain(["call right;"]));
    let module = Module::parse_in_part(&text).unwrap_or_else(|error| panic!("{error}"));
    let runnable: Vec<_> = module.kernels().iter().map(simt::Kernel::name).collect();
    assert_eq!(runnable, ["fine", "k9"]);
    for ((body, expected), (_, reason)) in bodies.iter().zip(module.refused()) {
        assert!(reason.to_string().contains(expected), "{body}: {reason}");
    }
}

#[test]
fn what_a_function_says_before_its_body_refuses_only_it() {
    let text = module("sm_90", ".entry early() .frobnicated 3, 4 { ret; }\n.func f() .abi_preserve 8 { ret; }", ["call f;"]);
    let module = Module::parse_in_part(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(module.kernels().len(), 2);
    let (name, reason) = &module.refused()[0];
    assert!(name == "early" && reason.to_string().contains("found .frobnicated"), "{reason}");
}

#[test]
fn text_whose_brackets_do_not_match_is_no_module() {
    for text in [
        module("sm_80", "", ["add.s32 [ %r1, %r2, %r3;"]),
        module("sm_80", "", ["add.s32 %r1, {%r2;"]),
        module("sm_80", ".entry open() { add.s32 %r1 %r2 }", ["ret;"]),
    ] {
        assert!(Module::parse_in_part(&text).is_err(), "{text}");
    }
}
