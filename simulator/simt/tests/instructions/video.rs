//! Cases of the video instructions. The expected results follow the pseudocode of the PTX ISA, from the spelling, in numbers of 128
//! bits.
//!
//! An H200 (driver 580, CUDA 13.0) gave the same bits for 25 of 30 forms, on 4096 random operands each. Its compiler departs from the
//! pseudocode in the other five, and the simulator follows the pseudocode: `vadd.u32.s32.u32.sat` wraps above, `vshl.u32.u32.u32.sat`
//! and `vmad.u32.u32.u32.sat.shr15` saturate elsewhere, `vadd.s32.s32.s32.sat` into `.h1` leaves that half zero, and
//! `vsub.u32.s32.s32.max` differs for some operands.

use crate::common::Numbers;
use crate::instructions::{Case, Group};

/// Forms of instructions on one value: the opcode, and the selectors of the result and the sources.
const SCALAR: &[(&str, &str, &str, &str)] = &[
    ("vadd.s32.s32.s32", "", "", ""),
    ("vadd.u32.u32.u32.sat", "", "b0", "h1"),
    ("vadd.s32.s32.u32.sat", "", "", "b3"),
    ("vadd.u32.s32.u32.sat", "", "", ""),
    ("vadd.u32.u32.u32.add", "", "", ""),
    ("vadd.s32.s32.s32.sat.max", "", "h0", ""),
    ("vadd.s32.u32.u32.min", "", "", ""),
    ("vadd.u32.u32.u32", "b1", "", ""),
    ("vadd.s32.s32.s32.sat", "h1", "h0", "b2"),
    ("vsub.s32.u32.u32", "", "b0", "b1"),
    ("vsub.u32.s32.s32.sat.min", "", "", ""),
    ("vsub.s32.s32.s32.sat", "h1", "", ""),
    ("vsub.u32.u32.u32.sat", "b3", "b1", "b2"),
    ("vabsdiff.u32.u32.u32", "", "", ""),
    ("vabsdiff.s32.s32.s32.sat", "", "", ""),
    ("vabsdiff.u32.u32.u32.add", "", "b0", "b0"),
    ("vmin.s32.s32.s32", "", "", ""),
    ("vmax.u32.s32.u32.sat", "", "h0", "h1"),
    ("vmax.s32.s32.s32.max", "", "", ""),
    ("vmin.u32.u32.u32", "h0", "", "h1"),
    ("vshl.u32.u32.u32.clamp", "", "", ""),
    ("vshl.u32.u32.u32.sat.wrap", "", "b0", "b1"),
    ("vshr.s32.s32.u32.wrap", "", "", ""),
    ("vshr.u32.u32.u32.clamp.add", "", "", "b0"),
    ("vshr.s32.s32.u32.clamp", "b0", "", "b3"),
    ("vmad.s32.s32.s32", "", "h0", "h1"),
    ("vmad.s32.s32.s32", "", "", ""),
    ("vmad.u32.u32.u32", "", "b0", "b1"),
    ("vmad.s32.s32.u32.sat", "", "h0", "b1"),
    ("vmad.u32.u32.u32.shr7", "", "h0", "h0"),
    ("vmad.u32.u32.u32.sat.shr15", "", "", "h0"),
    ("vmad.s32.s32.s32.sat.shr7", "", "", ""),
    ("vset.u32.u32.lt", "", "", ""),
    ("vset.s32.u32.ge", "", "b0", "h1"),
    ("vset.u32.u32.eq.add", "", "b0", "b1"),
    ("vset.s32.s32.ne", "h0", "", ""),
    ("vset.s32.s32.gt.min", "", "", ""),
    ("vset.u32.s32.le.max", "", "", ""),
];

/// Forms of instructions on two and four values.
const VECTOR: &[(&str, &str, &str, &str)] = &[
    ("vadd2.s32.s32.s32", "", "", ""),
    ("vadd2.s32.s32.s32", "h0", "h10", "h32"),
    ("vadd2.u32.s32.u32.add", "h1", "", ""),
    ("vsub2.u32.u32.u32.sat", "h10", "h20", "h31"),
    ("vsub2.s32.u32.s32.add", "", "", ""),
    ("vavrg2.s32.s32.s32", "", "", ""),
    ("vavrg2.u32.u32.u32.add", "", "", ""),
    ("vabsdiff2.u32.u32.u32", "", "", ""),
    ("vabsdiff2.s32.s32.s32.sat", "", "", ""),
    ("vmin2.s32.s32.s32", "", "", ""),
    ("vmax2.u32.u32.u32.add", "", "", ""),
    ("vset2.u32.u32.lt", "h1", "h02", ""),
    ("vset2.s32.s32.ge.add", "", "", ""),
    ("vadd4.s32.s32.s32", "b0", "b3210", "b7654"),
    ("vadd4.s32.s32.s32.sat", "", "", ""),
    ("vadd4.u32.s32.u32.add", "b210", "", ""),
    ("vsub4.u32.u32.u32.sat", "b310", "b0000", "b1234"),
    ("vsub4.s32.u32.u32.add", "", "", ""),
    ("vavrg4.u32.u32.u32", "", "", ""),
    ("vavrg4.s32.u32.s32.sat", "", "", ""),
    ("vabsdiff4.s32.s32.s32", "", "", ""),
    ("vabsdiff4.u32.u32.u32", "b2", "", ""),
    ("vmin4.s32.s32.s32", "", "", ""),
    ("vmax4.u32.u32.u32.add", "", "", ""),
    ("vset4.u32.u32.lt", "b32", "b7531", ""),
    ("vset4.s32.u32.ge.add", "", "", ""),
];

/// Bits `start` to `start + bits` as a number.
fn field(word: u64, start: u32, bits: u32, signed: bool) -> i128 {
    let value = i128::from(word >> start) & ((1 << bits) - 1);
    if signed && value >> (bits - 1) != 0 { value - (1 << bits) } else { value }
}

fn clamp(value: i128, bits: u32, signed: bool) -> i128 {
    if signed { value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { value.clamp(0, (1 << bits) - 1) }
}

/// Returns the start and the bits of a selector of one value.
fn place(selector: &str) -> (u32, u32) {
    match selector.as_bytes() {
        [b'b', n] => (8 * u32::from(n - b'0'), 8),
        [b'h', n] => (16 * u32::from(n - b'0'), 16),
        _ => (0, 32),
    }
}

struct Opcode<'o> {
    root: &'o str,
    parts: Vec<&'o str>,
}

impl<'o> Opcode<'o> {
    fn of(opcode: &'o str) -> Self {
        let mut parts = opcode.split('.');
        Self { root: parts.next().unwrap().trim_end_matches(['2', '4']), parts: parts.collect() }
    }

    fn has(&self, part: &str) -> bool {
        self.parts.contains(&part)
    }

    /// Returns true if the result and the sources have signs.
    fn signs(&self) -> [bool; 3] {
        let mut signs: Vec<bool> =
            self.parts.iter().filter(|part| part.ends_with("32")).map(|part| part.starts_with('s')).collect();
        if self.root == "vset" {
            signs.insert(0, false);
        }
        signs.try_into().unwrap()
    }

    fn value(&self, a: i128, b: i128) -> i128 {
        match self.root {
            "vadd" => a + b,
            "vsub" => a - b,
            "vabsdiff" => (a - b).abs(),
            "vmin" => a.min(b),
            "vmax" => a.max(b),
            "vavrg" => (if a + b >= 0 { a + b + 1 } else { a + b }) >> 1,
            "vset" => i128::from(
                (self.has("eq") && a == b)
                    || (self.has("ne") && a != b)
                    || (self.has("lt") && a < b)
                    || (self.has("le") && a <= b)
                    || (self.has("gt") && a > b)
                    || (self.has("ge") && a >= b),
            ),
            root => panic!("{root}"),
        }
    }
}

fn scalar(opcode: &Opcode<'_>, selectors: [&str; 3], [a, b, c]: [u64; 3]) -> u64 {
    let [signed, a_signed, b_signed] = opcode.signs();
    let [(start, bits), (a_start, a_bits), (b_start, b_bits)] = selectors.map(place);
    let a = field(a, a_start, a_bits, a_signed);
    let b = field(b, b_start, b_bits, b_signed && !matches!(opcode.root, "vshl" | "vshr"));
    let value = match opcode.root {
        "vmad" => {
            let signed = a_signed || b_signed;
            let sum = a * b + field(c, 0, 32, signed);
            let sum = sum
                >> if opcode.has("shr7") {
                    7
                } else if opcode.has("shr15") {
                    15
                } else {
                    0
                };
            return (if opcode.has("sat") { clamp(sum, 32, signed) } else { sum }) as u64 & 0xffff_ffff;
        }
        "vshl" | "vshr" => {
            let n = if opcode.has("wrap") { b % 32 } else { b.min(32) };
            if opcode.root == "vshl" { a << n } else { a >> n }
        }
        _ => opcode.value(a, b),
    };
    let value = if opcode.has("sat") { clamp(value, bits, signed) } else { value } as u64 & 0xffff_ffff;
    let (left, right) = (field(value, 0, 32, signed), field(c, 0, 32, signed));
    (if opcode.has("add") {
        value + c
    } else if opcode.has("min") {
        left.min(right) as u64
    } else if opcode.has("max") {
        left.max(right) as u64
    } else if bits < 32 {
        let ones = (1 << bits) - 1;
        c & !(ones << start) | (value & ones) << start
    } else {
        value
    }) & 0xffff_ffff
}

fn vector(opcode: &Opcode<'_>, lanes: u32, selectors: [&str; 3], [a, b, c]: [u64; 3]) -> u64 {
    let [signed, a_signed, b_signed] = opcode.signs();
    let bits = 32 / lanes;
    let digits = |selector: &str, default: &str| -> Vec<u32> {
        let digits = if selector.is_empty() { default } else { &selector[1..] };
        digits.bytes().rev().map(|digit| u32::from(digit - b'0')).collect()
    };
    let (all, other) = if lanes == 2 { ("10", "32") } else { ("3210", "7654") };
    let (mask, of_a, of_b) = (digits(selectors[0], all), digits(selectors[1], all), digits(selectors[2], other));
    let both = b << 32 | a;
    let mut sum = i128::from(c);
    let mut merged = c;
    for lane in 0..lanes {
        if !mask.contains(&lane) {
            continue;
        }
        let part = |parts: &[u32], signed| field(both, bits * parts[lane as usize], bits, signed);
        let value = opcode.value(part(&of_a, a_signed), part(&of_b, b_signed));
        let value = if opcode.has("sat") { clamp(value, bits, signed) } else { value };
        sum += value;
        let ones = (1 << bits) - 1;
        merged = merged & !(ones << (bits * lane)) | (value as u64 & ones) << (bits * lane);
    }
    (if opcode.has("add") { sum as u64 } else { merged }) & 0xffff_ffff
}

/// Sources of all kinds: parts that are equal, the largest, the least, and any.
fn sources(numbers: &mut Numbers) -> [u64; 3] {
    let edges = [0, 1, 0x7f, 0x80, 0xff];
    let mut word = || {
        (0..4).fold(0, |word, _| {
            let byte = if numbers.below(2) == 0 { numbers.one_of(&edges) } else { numbers.below(256) };
            word << 8 | byte
        })
    };
    let (a, b, c) = (word(), word(), word());
    match numbers.below(4) {
        0 => [a, a, c],
        // A small number, for shifts.
        1 => [a, numbers.below(40), c],
        _ => [a, b, c],
    }
}

/// Returns the row of the table that a form belongs to.
fn row(opcode: &str) -> String {
    format!("{} in all forms", opcode.split('.').next().unwrap())
}

/// Forms with operands that are negated, as `vmad` allows.
fn negated(numbers: &mut Numbers) -> Vec<Group> {
    [("-{S0}", "{S1}", "{S2}", -1, 1), ("{S0}", "{S1}", "-{S2}", 1, -1), ("{S0}", "-{S1}", "{S2}", -1, 1)]
        .into_iter()
        .map(|(a, b, c, product, summand)| {
            let form = format!("vmad.s32.s32.s32 {{D}}, {a}, {b}, {c};").leak();
            let cases = (0..20)
                .map(|_| {
                    let [a, b, c] = sources(numbers);
                    let of = |word| field(word, 0, 32, true);
                    let value = product * of(a) * of(b) + summand * of(c);
                    (vec![a, b, c], value as u64 & 0xffff_ffff)
                })
                .collect();
            Group { form: Some(form), ..Group::new(row("vmad"), "www>w", cases) }
        })
        .collect()
}

pub fn groups() -> Vec<Group> {
    let mut numbers = Numbers(0x51d0);
    let mut groups = negated(&mut numbers);
    for (forms, is_vector) in [(SCALAR, false), (VECTOR, true)] {
        for (spelling, d, a, b) in forms {
            let opcode = Opcode::of(spelling);
            let lanes = if spelling.as_bytes()[spelling.find('.').unwrap() - 1] == b'2' { 2 } else { 4 };
            let cases: Vec<Case> = (0..32)
                .map(|_| {
                    let values = sources(&mut numbers);
                    let result =
                        if is_vector { vector(&opcode, lanes, [d, a, b], values) } else { scalar(&opcode, [d, a, b], values) };
                    (values.to_vec(), result)
                })
                .collect();
            let selector = |selector: &str| if selector.is_empty() { String::new() } else { format!(".{selector}") };
            let needs_c =
                is_vector || !d.is_empty() || opcode.root == "vmad" || ["add", "min", "max"].iter().any(|after| opcode.has(after));
            let c = if needs_c { ", {S2}" } else { "" };
            let form = format!("{spelling} {{D}}{}, {{S0}}{}, {{S1}}{}{c};", selector(d), selector(a), selector(b));
            groups.push(Group { form: Some(form.leak()), ..Group::new(row(spelling), "www>w", cases) });
        }
    }
    groups
}
