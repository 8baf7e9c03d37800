//! Damaged and random text: whatever a module contains, parsing it, and running it if it loads, ends with a result or an error, and never
//! panics.

mod damage;
mod generated;

use std::fmt::{self, Debug};
use std::sync::Arc;

use damage::{apply, damage};
use generated::{Instructions, kernel};
use proptest::prelude::*;
use simt::{Call, Dim3, Image, LaunchConfig, LaunchOptions, Memory, Module, Profile, launch};

/// Real PTX, without the header constants that NVRTC adds to each.
const TEXTS: &[&str] = &[
    include_str!("../programs/divergence.ptx"),
    include_str!("../programs/functions.ptx"),
    include_str!("../programs/memory.ptx"),
    include_str!("../programs/cooperation.ptx"),
    include_str!("../programs/numbers.ptx"),
    include_str!("../programs/convolution.ptx"),
    include_str!("../programs/faults.ptx"),
    include_str!("../programs/counters.ptx"),
    include_str!("../programs/tensor.ptx"),
    include_str!("../programs/stores.ptx"),
    include_str!("../programs/async_copy.ptx"),
    include_str!("../programs/mbarrier.ptx"),
    include_str!("../programs/calls.ptx"),
    include_str!("../programs/merging.ptx"),
    include_str!("../programs/polls.ptx"),
    include_str!("../checks/races.ptx"),
    include_str!("../programs/halves.ptx"),
    include_str!("../programs/textures.ptx"),
    include_str!("../checks/memory.ptx"),
    include_str!("../../../../kernels/ptx/01-conv-naive.ptx"),
    include_str!("../../../../kernels/ptx/02-conv-shared.ptx"),
    include_str!("../../../../kernels/ptx/03-unroll-tensor.ptx"),
    include_str!("../../../../kernels/ptx/04-correlation-sm-aware-dp4a.ptx"),
    include_str!("../../../../kernels/ptx/05-window-sums.ptx"),
    include_str!("../../../../kernels/ptx/06-matmul-tiled-async.ptx"),
];

/// A text that is printed as it is. It can then be run again.
#[derive(Clone)]
struct Text(String);

impl Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Parses the text. If it loads, its kernels run with little fuel on a small memory. The results do not matter.
fn survive(text: &str) {
    let Ok(module) = Module::parse(text) else { return };
    let names: Vec<(String, usize)> =
        module.kernels().iter().map(|kernel| (kernel.name().to_owned(), kernel.param_bytes())).collect();
    let memory = Memory::new(1 << 20);
    let Ok(image) = Image::new(Arc::new(module), &memory) else { return };
    let Ok(buffer) = memory.allocate(4096, None) else { return };
    let profile = Profile::named("h200").expect("a profile of the table");
    for (name, bytes) in names {
        // Every 8 bytes of the parameters point to the buffer.
        let params: Vec<u8> = buffer.to_le_bytes().into_iter().cycle().take(bytes).collect();
        let config = LaunchConfig { grid: Dim3::new(2, 1, 1), block: Dim3::new(40, 1, 1), dynamic_shared_bytes: 256 };
        let options = LaunchOptions { fuel: 2_000, workers: Some(1), ..LaunchOptions::default() };
        let _ = launch(&memory, &image, Call { kernel: &name, config, params: &params }, profile, &options);
    }
}

/// Returns each kernel of the texts in a text of its own. Without the header's constants, damage hits code that is executed.
fn kernels() -> Vec<String> {
    let mut all = Vec::new();
    for text in TEXTS {
        let (head, body) = text.split_once(".visible .entry").unwrap_or((text, ""));
        let head: Vec<&str> = head.lines().filter(|line| !line.contains("_INTERNAL_")).collect();
        let head = head.join("\n");
        all.extend(body.split(".visible .entry").map(|kernel| format!("{head}\n.visible .entry{kernel}")));
    }
    all
}

/// Tries many texts; 6,000 in an ordinary run.
fn check(name: &str, texts: impl Strategy<Value = String>) {
    fuzz::check(name, 6_000, texts.prop_map(Text), |text| {
        survive(&text.0);
        Ok(())
    });
}

#[test]
fn damaged_ptx_is_refused_or_runs() {
    let strategy = (prop::sample::select(kernels()), prop::collection::vec(damage(), 1..4));
    let strategy = strategy.prop_map(|(mut text, damages)| {
        damages.iter().for_each(|damage| apply(&mut text, damage));
        text
    });
    check("damaged-ptx", strategy);
}

#[test]
fn kernels_of_random_instructions_run() {
    let instructions = Instructions::new(TEXTS);
    let strategy = kernel(instructions.len()).prop_map(|kernel| instructions.text(&kernel));
    check("random-instructions", strategy);
}

#[test]
fn damaged_kernels_of_random_instructions_are_refused_or_run() {
    let instructions = Instructions::new(TEXTS);
    let strategy = (kernel(instructions.len()), damage()).prop_map(|(kernel, damage)| {
        let mut text = instructions.text(&kernel);
        apply(&mut text, &damage);
        text
    });
    check("damaged-random-instructions", strategy);
}

#[test]
fn random_text_is_refused() {
    let strategy = ("\\PC{0,200}", any::<bool>()).prop_map(|(text, after_header)| {
        let header = if after_header { ".version 8.0\n.target sm_80\n.address_size 64\n" } else { "" };
        format!("{header}{text}")
    });
    check("random-text", strategy);
}

#[test]
fn random_tokens_are_refused_or_run() {
    let tokens = prop::sample::select(vec![
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "<",
        ">",
        ";",
        ",",
        "@",
        "!",
        "%p1",
        "%r1",
        "%rd1",
        "bra",
        "$L",
        "$L:",
        "ret",
        "call",
        ".reg",
        ".b32",
        ".b64",
        ".pred",
        ".param",
        ".shared",
        ".local",
        ".align",
        ".loc",
        "1",
        "8",
        "-",
        "+",
        "0x7f",
        "mov.u32",
        "add.s32",
        "ld.global.u32",
        "st.shared.v4.f32",
        "setp.eq.s32",
        "bar.sync",
        "%tid.x",
        "_",
        "=",
        "|",
        ":",
    ]);
    let strategy = prop::collection::vec(tokens, 0..60).prop_map(|tokens| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{ .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<3>;\n{}\n}}",
            tokens.join(" ")
        )
    });
    check("random-tokens", strategy);
}

#[test]
fn every_text_loads_before_it_is_damaged() {
    for text in kernels() {
        let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(module.kernels().len(), 1);
    }
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let deep = 200_000;
    for opening in ["{", "(", "[", "mov.u32 {", "{ {", "@", "@!"] {
        let text = opening.repeat(deep);
        let header = ".version 8.0\n.target sm_80\n.address_size 64\n";
        survive(&format!("{header}{text}"));
        survive(&format!("{header}.global .u32 x = {text}"));
        survive(&format!("{header}.visible .entry k() {{ {text}"));
        survive(&format!("{header}.visible .entry k() {{ .reg .b32 %r<3>; mov.b32 %r1, {text}"));
    }
}

#[test]
fn many_functions_calling_each_other_load_in_time() {
    // Each calls the next one twice: as a tree this would be 2^300 calls.
    let functions: String =
        (0..300).map(|i| format!(".func f{i}() {{ call.uni f{next}; call.uni f{next}; ret; }}\n", next = i + 1)).collect();
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{functions}.func f300() {{ ret; }}\n.visible .entry k() {{ call.uni f0; ret; }}"
    );
    assert!(Module::parse(&text).is_ok());
    survive(&text)
}

#[test]
fn a_loop_that_jumps_to_itself_ends_with_its_fuel() {
    survive(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { $L: bra $L; }");
    survive(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { $L: bar.sync 0; bra $L; }");
    survive(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { .reg .pred %p<2>; $L: @!%p1 bra $L; }");
    survive(".version 8.0\n.target sm_80\n.address_size 64\n.func f() { $L: bra $L; } .visible .entry k() { call.uni f; }")
}
