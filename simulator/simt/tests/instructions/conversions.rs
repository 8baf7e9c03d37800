//! Cases of `cvt`, as tables with a row for each source value and a column for each destination type.

use alu::{lookup, spellings};

use crate::instructions::{
    Group, INF32, INF64, MINUS_INF32, MINUS_INF64, MINUS_ZERO32, MINUS_ZERO64, NAN32, NAN64, QUIET32, SIGNAL32, d, f,
};

/// The columns.
const TYPES: [&str; 8] = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];

/// A column that has no instruction.
const NONE: i128 = i128::MAX;

const U32: i128 = u32::MAX as i128;
const S32: i128 = i32::MAX as i128;
const S32_MIN: i128 = i32::MIN as i128;
const U64: i128 = u64::MAX as i128;
const S64: i128 = i64::MAX as i128;
const S64_MIN: i128 = i64::MIN as i128;

/// Between integers: type and value of the source, values of the destinations. Widening extends by the source's sign, and narrowing
/// keeps the low bits.
#[rustfmt::skip]
const INTEGERS: &[(&str, i128, [i128; 8])] = &[
    ("u8", 127, [127; 8]),
    ("u8", 128, [128, -128, 128, 128, 128, 128, 128, 128]),
    ("u8", 255, [255, -1, 255, 255, 255, 255, 255, 255]),
    ("s8", 100, [100; 8]),
    ("s8", -1, [255, -1, 65535, -1, U32, -1, U64, -1]),
    ("s8", -128, [128, -128, 0xff80, -128, 0xffff_ff80, -128, 0xffff_ffff_ffff_ff80, -128]),
    ("u16", 0x1234, [0x34, 0x34, 0x1234, 0x1234, 0x1234, 0x1234, 0x1234, 0x1234]),
    ("u16", 0x80ff, [255, -1, 0x80ff, -32513, 0x80ff, 0x80ff, 0x80ff, 0x80ff]),
    ("s16", -1, [255, -1, 65535, -1, U32, -1, U64, -1]),
    ("s16", -32768, [0, 0, 0x8000, -32768, 0xffff_8000, -32768, 0xffff_ffff_ffff_8000, -32768]),
    ("s16", 0x7f80, [0x80, -128, 0x7f80, 0x7f80, 0x7f80, 0x7f80, 0x7f80, 0x7f80]),
    ("u32", 0x89ab_cdef, [0xef, -17, 0xcdef, -12817, 0x89ab_cdef, -1_985_229_329, 0x89ab_cdef, 0x89ab_cdef]),
    ("u32", 0x7fff_ffff, [255, -1, 65535, -1, S32, S32, S32, S32]),
    ("s32", -2, [254, -2, 65534, -2, 0xffff_fffe, -2, U64 - 1, -2]),
    ("s32", 0x1234_5678, [0x78, 0x78, 0x5678, 0x5678, 0x1234_5678, 0x1234_5678, 0x1234_5678, 0x1234_5678]),
    ("u64", 0x0123_4567_89ab_cdef, [0xef, -17, 0xcdef, -12817, 0x89ab_cdef, -1_985_229_329, 0x0123_4567_89ab_cdef, 0x0123_4567_89ab_cdef]),
    ("u64", U64, [255, -1, 65535, -1, U32, -1, U64, -1]),
    ("s64", S64_MIN, [0, 0, 0, 0, 0, 0, 1 << 63, S64_MIN]),
    ("s64", -3, [253, -3, 65533, -3, U32 - 2, -3, U64 - 2, -3]),
];

/// Between integers with `.sat`: the nearest value of the destination's range.
#[rustfmt::skip]
const SATURATING: &[(&str, i128, [i128; 8])] = &[
    ("u8", 200, [NONE, 127, NONE, NONE, NONE, NONE, NONE, NONE]),
    ("s8", -5, [0, NONE, 0, NONE, 0, NONE, 0, NONE]),
    ("s8", 100, [100, NONE, 100, NONE, 100, NONE, 100, NONE]),
    ("u16", 77, [77, 77, NONE, 77, NONE, NONE, NONE, NONE]),
    ("u16", 65535, [255, 127, NONE, 32767, NONE, NONE, NONE, NONE]),
    ("s16", -5, [0, -5, 0, NONE, 0, NONE, 0, NONE]),
    ("s16", -32768, [0, -128, 0, NONE, 0, NONE, 0, NONE]),
    ("s16", 32767, [255, 127, 32767, NONE, 32767, NONE, 32767, NONE]),
    ("u32", 200, [200, 127, 200, 200, NONE, 200, NONE, NONE]),
    ("u32", U32, [255, 127, 65535, 32767, NONE, S32, NONE, NONE]),
    ("s32", -5, [0, -5, 0, -5, 0, NONE, 0, NONE]),
    ("s32", S32_MIN, [0, -128, 0, -32768, 0, NONE, 0, NONE]),
    ("s32", S32, [255, 127, 65535, 32767, S32, NONE, S32, NONE]),
    ("u64", 40_000, [255, 127, 40_000, 32767, 40_000, 40_000, NONE, 40_000]),
    ("u64", U64, [255, 127, 65535, 32767, U32, S32, NONE, S64]),
    ("s64", -5, [0, -5, 0, -5, 0, -5, 0, NONE]),
    ("s64", S64_MIN, [0, -128, 0, -32768, 0, S32_MIN, 0, NONE]),
    ("s64", S64, [255, 127, 65535, 32767, U32, S32, S64, NONE]),
];

/// From floats, rounded as the mode says: mode, value, destinations.
#[rustfmt::skip]
const ROUNDED: &[(&str, f64, [i128; 8])] = &[
    ("rni", 0.5, [0; 8]),
    ("rni", 1.5, [2; 8]),
    ("rni", 2.5, [2; 8]),
    ("rni", 2.75, [3; 8]),
    ("rni", -0.5, [0; 8]),
    ("rni", -1.5, [0, -2, 0, -2, 0, -2, 0, -2]),
    ("rni", -2.5, [0, -2, 0, -2, 0, -2, 0, -2]),
    ("rni", 127.5, [128, 127, 128, 128, 128, 128, 128, 128]),
    ("rzi", 1.75, [1; 8]),
    ("rzi", 0.75, [0; 8]),
    ("rzi", -0.75, [0; 8]),
    ("rzi", -1.75, [0, -1, 0, -1, 0, -1, 0, -1]),
    ("rmi", 1.75, [1; 8]),
    ("rmi", -0.25, [0, -1, 0, -1, 0, -1, 0, -1]),
    ("rmi", -1.25, [0, -2, 0, -2, 0, -2, 0, -2]),
    ("rpi", 1.25, [2; 8]),
    ("rpi", 0.25, [1; 8]),
    ("rpi", -0.75, [0; 8]),
    ("rpi", -1.75, [0, -1, 0, -1, 0, -1, 0, -1]),
];

/// From floats beyond the range of the destination, in every mode: the nearest value of the range.
#[rustfmt::skip]
const CLAMPED: &[(f64, [i128; 8])] = &[
    (0.0, [0; 8]),
    (-0.0, [0; 8]),
    (300.0, [255, 127, 300, 300, 300, 300, 300, 300]),
    (-300.0, [0, -128, 0, -300, 0, -300, 0, -300]),
    (70_000.0, [255, 127, 65535, 32767, 70_000, 70_000, 70_000, 70_000]),
    (2_147_483_648.0, [255, 127, 65535, 32767, 1 << 31, S32, 1 << 31, 1 << 31]),
    (-2_147_483_648.0, [0, -128, 0, -32768, 0, S32_MIN, 0, S32_MIN]),
    (1e10, [255, 127, 65535, 32767, U32, S32, 10_000_000_000, 10_000_000_000]),
    (-1e10, [0, -128, 0, -32768, 0, S32_MIN, 0, -10_000_000_000]),
    (9_223_372_036_854_775_808.0, [255, 127, 65535, 32767, U32, S32, 1 << 63, S64]),
    (1e30, [255, 127, 65535, 32767, U32, S32, U64, S64]),
    (-1e30, [0, -128, 0, -32768, 0, S32_MIN, 0, S64_MIN]),
    (f64::INFINITY, [255, 127, 65535, 32767, U32, S32, U64, S64]),
    (f64::NEG_INFINITY, [0, -128, 0, -32768, 0, S32_MIN, 0, S64_MIN]),
];

/// The integers that NaN converts to (PTX ISA, `cvt`). From f32 to at most 32 bits it is zero, otherwise the highest bit alone.
const NAN_FROM_F32: [i128; 8] = [0, 0, 0, 0, 0, 0, 1 << 63, S64_MIN];
const NAN_FROM_F64: [i128; 8] = [0x80, -128, 0x8000, -32768, 1 << 31, S32_MIN, 1 << 63, S64_MIN];

/// To floats, to nearest even: type and value of the source, f32 and f64.
#[rustfmt::skip]
const TO_FLOATS: &[(&str, i128, f32, f64)] = &[
    ("u8", 255, 255.0, 255.0),
    ("u8", 0, 0.0, 0.0),
    ("s8", -128, -128.0, -128.0),
    ("s8", 5, 5.0, 5.0),
    ("u16", 65535, 65535.0, 65535.0),
    ("s16", -32768, -32768.0, -32768.0),
    ("s16", 7, 7.0, 7.0),
    ("u32", U32, 4_294_967_296.0, 4_294_967_295.0),
    ("u32", 16_777_217, 16_777_216.0, 16_777_217.0),
    ("u32", 16_777_219, 16_777_220.0, 16_777_219.0),
    ("s32", -16_777_217, -16_777_216.0, -16_777_217.0),
    ("s32", -1, -1.0, -1.0),
    ("s32", S32_MIN, -2_147_483_648.0, -2_147_483_648.0),
    ("u64", U64, 18_446_744_073_709_551_616.0, 18_446_744_073_709_551_616.0),
    ("u64", (1 << 53) + 1, 9_007_199_254_740_992.0, 9_007_199_254_740_992.0),
    ("u64", (1 << 53) + 3, 9_007_199_254_740_992.0, 9_007_199_254_740_996.0),
    // Just above half way for f32; rounding to f64 first would make it a tie.
    ("u64", (1 << 60) + (1 << 36) + 1, 1_152_921_642_045_800_448.0, 1_152_921_573_326_323_712.0),
    ("s64", S64_MIN, -9_223_372_036_854_775_808.0, -9_223_372_036_854_775_808.0),
    ("s64", -1, -1.0, -1.0),
];

/// Returns results that PTX does not specify, as observed on an H200. Most are conversions of NaN.
#[rustfmt::skip]
fn of_an_h200() -> Vec<Group> {
    vec![
        // Copied.
        group!("cvt.f32.f32", "w>w", [0x7fc0_0005] => 0x7fc0_0005, [0xff80_0003] => 0xff80_0003),
        group!("cvt.f64.f64", "d>d", [0xfff0_0000_0000_0003] => 0xfff0_0000_0000_0003),
        // With its sign and the bits of its payload that fit, made quiet.
        group!("cvt.f64.f16", "h>d", [0x7e05] => 0x7ff8_1400_0000_0000, [0xfc03] => 0xfff8_0c00_0000_0000),
        group!("cvt.f64.bf16", "h>d", [0x7fc5] => 0x7ff8_a000_0000_0000, [0xff83] => 0xfff8_6000_0000_0000),
        group!("cvt.{rn,rz,rm,rp}.f16.f64", "d>h", [0x7ff8_0000_0000_0005] => 0x7e00, [0xfff0_0000_0000_0003] => 0xfe00),
        group!("cvt.{rn,rz,rm,rp}.bf16.f64", "d>h", [0x7ff8_0000_0000_0005] => 0x7fc0, [0xfff0_0000_0000_0003] => 0xffc0, [0x7ffd_52c0_e8c8_248d] => 0x7fea),
        // The canonical one of f32.
        group!("cvt.ftz.f64.f32", "w>d", [0x7fc0_0005] => 0x7fff_ffff_e000_0000, [0xff80_0003] => 0x7fff_ffff_e000_0000),
        // The canonical one of TF32, or the source with its lower bits cut off, which can be an infinity.
        group!("cvt.{rn,rz}{,.relu}.tf32.f32", "w>w", [0x7fc0_0005] => 0x7fff_e000, [0xff80_0003] => 0x7fff_e000),
        group!("cvt.rna.tf32.f32", "w>w", [0x7fc0_0005] => 0x7fc0_0000, [0xff80_0003] => 0xff80_0000),
        // Subnormal numbers are kept, in spite of `.ftz`.
        group!("cvt.rm.ftz.f16.f32", "w>h", [0x8000_0001] => 0x8001, [0x8004_7665] => 0x8001, [0x807f_ffff] => 0x8001, [1] => 0),
        group!("cvt.rp.ftz.f16.f32", "w>h", [1] => 1, [0x0005_ac8f] => 1, [0x0057_9a3e] => 1, [0x007f_ffff] => 1, [0x8000_0001] => 0x8000),
    ]
}

/// Between floats, and to whole numbers in a float.
#[rustfmt::skip]
fn floats() -> Vec<Group> {
    let case = |source: u64, result: u64| (vec![source], result);
    let whole32 = |rows: &[(f32, f32)]| {
        let nan = [QUIET32, SIGNAL32].map(|bits| case(bits, NAN32));
        let same = [INF32, MINUS_INF32, 0, MINUS_ZERO32, f(16_777_217.0)].map(|bits| case(bits, bits));
        rows.iter().map(|(source, result)| case(f(*source), f(*result))).chain(nan).chain(same).collect()
    };
    let whole64 = |rows: &[(f64, f64)]| {
        let same = [INF64, MINUS_INF64, 0, MINUS_ZERO64, d(1e300), NAN64].map(|bits| case(bits, bits));
        rows.iter().map(|(source, result)| case(d(*source), d(*result))).chain(same).collect()
    };
    vec![
        Group::new("cvt.rni.f32.f32", "w>w", whole32(&[(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-1.5, -2.0)])),
        Group::new("cvt.rzi.f32.f32", "w>w", whole32(&[(0.75, 0.0), (1.75, 1.0), (-0.75, -0.0), (-1.75, -1.0)])),
        Group::new("cvt.rmi.f32.f32", "w>w", whole32(&[(0.75, 0.0), (-0.25, -1.0), (-1.25, -2.0)])),
        Group::new("cvt.rpi.f32.f32", "w>w", whole32(&[(0.25, 1.0), (-0.75, -0.0), (-1.25, -1.0)])),
        Group::new("cvt.rni.f64.f64", "d>d", whole64(&[(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-1.5, -2.0)])),
        Group::new("cvt.rzi.f64.f64", "d>d", whole64(&[(0.75, 0.0), (1.75, 1.0), (-0.75, -0.0), (-1.75, -1.0)])),
        Group::new("cvt.rmi.f64.f64", "d>d", whole64(&[(0.75, 0.0), (-0.25, -1.0), (-1.25, -2.0)])),
        Group::new("cvt.rpi.f64.f64", "d>d", whole64(&[(0.25, 1.0), (-0.75, -0.0), (-1.25, -1.0)])),
        Group::new("cvt.rn.f32.f64", "d>w", vec![
            case(d(0.1), 0x3dcc_cccd), case(d(-2.5), f(-2.5)), case(d(1e300), INF32), case(d(-1e300), MINUS_INF32), case(INF64, INF32), case(NAN64, 0x7fc0_0000), case(0x7ff8_0000_8765_4321, 0x7fc0_0004),
            // 1 + 2^-24 is half way: even. 1 + 2^-24 + 2^-52 is above. 2^-149 is the smallest denormal, half of it goes to zero.
            case(0x3ff0_0000_1000_0000, f(1.0)), case(0x3ff0_0000_1000_0001, 0x3f80_0001), case(0x36a0_0000_0000_0000, 1), case(0x3690_0000_0000_0000, 0), case(MINUS_ZERO64, MINUS_ZERO32),
        ]),
        Group::new("cvt.f64.f32", "w>d", vec![
            case(f(1.5), d(1.5)), case(0x3dcc_cccd, 0x3fb9_9999_a000_0000), case(1, 0x36a0_0000_0000_0000), case(INF32, INF64), case(MINUS_INF32, MINUS_INF64), case(MINUS_ZERO32, MINUS_ZERO64), case(QUIET32, 0xfff8_2468_a000_0000), case(SIGNAL32, 0x7ff8_2468_a000_0000),
        ]),
        Group::new("cvt.sat.f32.f32", "w>w", vec![
            case(f(0.5), f(0.5)), case(f(1.5), f(1.0)), case(f(-1.0), 0), case(INF32, f(1.0)), case(MINUS_INF32, 0), case(QUIET32, 0), case(MINUS_ZERO32, 0), case(1, 1),
        ]),
    ]
}

pub fn groups() -> Vec<Group> {
    let mut groups = [floats(), of_an_h200()].concat();
    for (prefix, rows) in [("cvt", INTEGERS), ("cvt.sat", SATURATING)] {
        for (column, to) in TYPES.iter().enumerate() {
            for from in TYPES {
                let rows = rows.iter().filter(|(source, _, results)| *source == from && results[column] != NONE);
                let cases: Vec<_> =
                    rows.map(|(_, value, results)| (vec![above(*value, from)], bits(results[column], to))).collect();
                if !cases.is_empty() {
                    groups.push(Group::new(format!("{prefix}.{to}.{from}"), operands(from, to), cases));
                }
            }
        }
    }
    for mode in ["rni", "rzi", "rmi", "rpi"] {
        for (column, to) in TYPES.iter().enumerate() {
            let rounded = ROUNDED.iter().filter(|(of, ..)| *of == mode).map(|(_, value, results)| (value, results));
            let rows: Vec<_> = rounded.chain(CLAMPED.iter().map(|(value, results)| (value, results))).collect();
            let result = |results: &[i128; 8]| bits(results[column], to);
            let mut from_f32: Vec<_> = rows.iter().map(|(value, results)| (vec![f(**value as f32)], result(results))).collect();
            from_f32.extend([QUIET32, SIGNAL32].map(|nan| (vec![nan], result(&NAN_FROM_F32))));
            let mut from_f64: Vec<_> = rows.iter().map(|(value, results)| (vec![d(**value)], result(results))).collect();
            from_f64.push((vec![NAN64], result(&NAN_FROM_F64)));
            groups.push(Group::new(format!("cvt.{mode}{{,.sat}}.{to}.f32"), operands("u32", to), from_f32));
            groups.push(Group::new(format!("cvt.{mode}{{,.sat}}.{to}.f64"), operands("u64", to), from_f64));
        }
    }
    for from in TYPES {
        let rows: Vec<_> = TO_FLOATS.iter().filter(|(source, ..)| *source == from).collect();
        let to_f32 = rows.iter().map(|(_, value, result, _)| (vec![above(*value, from)], f(*result))).collect();
        let to_f64 = rows.iter().map(|(_, value, _, result)| (vec![above(*value, from)], d(*result))).collect();
        groups.push(Group::new(format!("cvt.rn.f32.{from}"), operands(from, "u32"), to_f32));
        groups.push(Group::new(format!("cvt.rn.f64.{from}"), operands(from, "u64"), to_f64));
    }
    groups
}

/// Kinds of the operands. Types of 8 and 16 bits are in registers of 32 bits, to check the upper bits.
fn operands(from: &str, to: &str) -> &'static str {
    match (from.ends_with("64"), to.ends_with("64")) {
        (false, false) => "w>w",
        (false, true) => "w>d",
        (true, false) => "d>w",
        (true, true) => "d>d",
    }
}

/// Returns a value as the bits of its register: a narrow value is sign-extended.
fn bits(value: i128, ty: &str) -> u64 {
    if ty.ends_with("64") { value as u64 } else { u64::from(value as u32) }
}

/// Returns a source in its register, with other bits above it.
fn above(value: i128, ty: &str) -> u64 {
    match ty {
        "u8" | "s8" => u64::from(value as u8) | 0xabcd_ef00,
        "u16" | "s16" => u64::from(value as u16) | 0xabcd_0000,
        "u32" | "s32" => u64::from(value as u32),
        _ => value as u64,
    }
}

#[test]
fn spellings_that_the_driver_refuses_are_refused() {
    let refused = ["cvt.{rni,rzi,rmi,rpi}.sat.{u8,s8,u16,s16,u32,s32,u64,s64}.bf16", "cvt.{rn,rz,rm,rp}.sat.bf16.{u8,s16,u32,s64}"];
    for spelling in refused.into_iter().flat_map(spellings) {
        assert!(lookup(&spelling).is_none(), "{spelling}");
    }
    assert!(lookup("cvt.rni.u32.bf16").is_some() && lookup("cvt.rn.bf16.u32").is_some());
}
