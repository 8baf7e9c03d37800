//! Damaged text: whatever a module contains, parsing it, and running it if it loads, ends with a result or an error, and never
//! panics.

use std::sync::Arc;

use proptest::prelude::*;
use simt::{Dim3, Image, LaunchConfig, LaunchOptions, Memory, Module, Profile, launch};

/// Real PTX, without the constants of a header that NVRTC adds to each.
const TEXTS: &[&str] = &[
    include_str!("programs/divergence.ptx"),
    include_str!("programs/functions.ptx"),
    include_str!("programs/memory.ptx"),
    include_str!("programs/cooperation.ptx"),
    include_str!("programs/numbers.ptx"),
    include_str!("programs/convolution.ptx"),
    include_str!("programs/faults.ptx"),
    include_str!("programs/counters.ptx"),
    include_str!("programs/tensor.ptx"),
    include_str!("programs/stores.ptx"),
    include_str!("programs/async_copy.ptx"),
    include_str!("programs/mbarrier.ptx"),
    include_str!("programs/calls.ptx"),
    include_str!("programs/merging.ptx"),
    include_str!("programs/polls.ptx"),
    include_str!("checks/races.ptx"),
    include_str!("checks/memory.ptx"),
];

/// One damage to a text.
#[derive(Clone, Debug)]
enum Damage {
    /// Replaces a character.
    Character(usize, char),
    /// Flips a bit of a byte.
    Bit(usize, u8),
    Delete(usize),
    Duplicate(usize),
    Swap(usize, usize),
    Truncate(usize),
    /// Replaces the number next to a place.
    Number(usize, &'static str),
    /// Copies a word of the text to another place.
    Word(usize, usize),
}

const HUGE: &[&str] = &[
    "0",
    "1",
    "-1",
    "31",
    "32",
    "65",
    "255",
    "1024",
    "65535",
    "1048576",
    "2147483647",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "0x",
    "0xffffffffffffffff",
    "0f3F80",
    "0d",
    "1.5e",
];

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<prop::sample::Index>().prop_map(|index| index.index(1 << 20));
    let place = || place.clone();
    prop_oneof![
        (
            place(),
            prop::sample::select(vec![
                '{', '}', '[', ']', '(', ')', '<', '>', ';', ',', '@', '!', '%', '"', '/', '\n', '-', 'é', '\0'
            ])
        )
            .prop_map(|(at, character)| Damage::Character(at, character)),
        (place(), 0_u8..7).prop_map(|(at, bit)| Damage::Bit(at, bit)),
        place().prop_map(Damage::Delete),
        place().prop_map(Damage::Duplicate),
        (place(), place()).prop_map(|(a, b)| Damage::Swap(a, b)),
        place().prop_map(Damage::Truncate),
        (place(), prop::sample::select(HUGE.to_vec())).prop_map(|(at, number)| Damage::Number(at, number)),
        (place(), place()).prop_map(|(from, to)| Damage::Word(from, to)),
    ]
}

fn apply(text: &mut String, damage: &Damage) {
    if text.is_empty() {
        return;
    }
    let boundary = |text: &str, at: usize| (0..=at % text.len()).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    match *damage {
        Damage::Character(at, character) => {
            let at = boundary(text, at);
            let old = text[at..].chars().next().map_or(0, char::len_utf8);
            text.replace_range(at..at + old, character.encode_utf8(&mut [0; 4]));
        }
        Damage::Bit(at, bit) => {
            let mut bytes = std::mem::take(text).into_bytes();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        Damage::Delete(at) => {
            let mut lines = lines(text);
            let at = at % lines.len();
            lines.remove(at);
            *text = lines.join("\n");
        }
        Damage::Duplicate(at) => {
            let mut lines = lines(text);
            let at = at % lines.len();
            lines.insert(at, lines[at].clone());
            *text = lines.join("\n");
        }
        Damage::Swap(a, b) => {
            let mut lines = lines(text);
            let count = lines.len();
            lines.swap(a % count, b % count);
            *text = lines.join("\n");
        }
        Damage::Truncate(at) => text.truncate(boundary(text, at)),
        Damage::Number(at, number) => {
            let at = boundary(text, at);
            let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|start| at + start) else { return };
            let end = text[start..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(text.len(), |end| start + end);
            text.replace_range(start..end, number);
        }
        Damage::Word(from, to) => {
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            if words.is_empty() {
                return;
            }
            let word = words[from % words.len()].to_owned();
            let to = boundary(text, to);
            text.insert_str(to, &word);
        }
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
    let profile = Profile::named("t4").expect("a profile of the table");
    for (name, bytes) in names {
        // Every 8 bytes of the parameters point to the buffer.
        let params: Vec<u8> = buffer.to_le_bytes().into_iter().cycle().take(bytes).collect();
        let config = LaunchConfig { grid: Dim3::new(2, 1, 1), block: Dim3::new(40, 1, 1), dynamic_shared_bytes: 256 };
        let options = LaunchOptions { fuel: 2_000, workers: Some(1), ..LaunchOptions::default() };
        let _ = launch(&memory, &image, &name, config, &params, profile, &options);
    }
}

/// A text without the header's constants and with only some of its kernels, so that damage hits code that is executed.
fn shortened(text: &str, keep: usize) -> String {
    let (head, body) = text.split_once(".visible .entry").unwrap_or((text, ""));
    let head: Vec<&str> = head.lines().filter(|line| !line.contains("_INTERNAL_")).collect();
    let entries: Vec<&str> = body.split(".visible .entry").collect();
    let kept = entries[keep % entries.len()];
    format!("{}\n.visible .entry{kept}", head.join("\n"))
}

/// Number of texts that each test damages; set `PROPTEST_CASES` for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_ptx_is_refused_or_runs(
        text in prop::sample::select(TEXTS.to_vec()),
        keep in any::<usize>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let mut text = shortened(text, keep);
        for damage in &damages {
            apply(&mut text, damage);
        }
        survive(&text);
    }

    #[test]
    fn random_text_is_refused(text in "\\PC{0,200}", after_header in any::<bool>()) {
        let header = if after_header { ".version 8.0\n.target sm_80\n.address_size 64\n" } else { "" };
        survive(&format!("{header}{text}"));
    }

    #[test]
    fn random_tokens_are_refused_or_run(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "{", "}", "(", ")", "[", "]", "<", ">", ";", ",", "@", "!", "%p1", "%r1", "%rd1", "bra", "$L", "$L:", "ret", "call",
                ".reg", ".b32", ".b64", ".pred", ".param", ".shared", ".local", ".align", ".loc", "1", "8", "-", "+", "0x7f", "mov.u32",
                "add.s32", "ld.global.u32", "st.shared.v4.f32", "setp.eq.s32", "bar.sync", "%tid.x", "_", "=", "|", ":",
            ]),
            0..60,
        ),
    ) {
        survive(&format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{ .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %rd<3>;\n{}\n}}",
            tokens.join(" ")
        ));
    }
}

#[test]
fn every_text_loads_before_it_is_damaged() {
    for text in TEXTS {
        for keep in 0..text.matches(".visible .entry").count() {
            let text = shortened(text, keep);
            let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(module.kernels().len(), 1);
        }
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
    survive(&text);
}

#[test]
fn a_loop_that_jumps_to_itself_ends_with_its_fuel() {
    survive(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { $L: bra $L; }");
    survive(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { $L: bar.sync 0; bra $L; }");
    survive(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { .reg .pred %p<2>; $L: @!%p1 bra $L; }");
    survive(".version 8.0\n.target sm_80\n.address_size 64\n.func f() { $L: bra $L; } .visible .entry k() { call.uni f; }");
}
