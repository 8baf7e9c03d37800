//! Cases of rarely used instructions: the carry flag, selections by a sign, masks, pairs of integers; and of instructions that are
//! composed of several rows of the table.

use crate::instructions::{Case, Group, INF32, M1D, M1H, M1W, MIND, MINH, MINUS_ZERO32, MINW, QUIET32, f};

/// Returns arithmetic with the carry flag in its three forms. Each leaves a carry, too.
fn carries() -> Vec<Group> {
    let mut groups = Vec::new();
    for (ty, bits) in [("u32", 32), ("s32", 32), ("u64", 64), ("s64", 64)] {
        let most = u64::MAX >> (64 - bits);
        let (kind, scratch) = if bits == 32 { ("w", "%w6") } else { ("d", "%d6") };
        let values = [0, 1, most, most >> 1, (most >> 1) + 1, 0x1_2345_6789 & most, most - 1];
        for (root, half) in [("add", ""), ("sub", ""), ("mad", ".lo"), ("mad", ".hi")] {
            let operands = if root == "mad" { 3 } else { 2 };
            let compute = |sources: &[u64], carry: u64| {
                let [a, b] = [0, 1].map(|i| u128::from(sources[i]));
                let sum = match (root, half) {
                    ("add", _) => a + b + u128::from(carry),
                    ("sub", _) => a.wrapping_sub(b).wrapping_sub(carry.into()),
                    (_, half) => {
                        let extend = |v: u64| {
                            if ty.starts_with('s') { i128::from((v << (64 - bits)) as i64 >> (64 - bits)) } else { v.into() }
                        };
                        // For u64, the product does not fit an i128, but only its low 128 bits matter.
                        let product = extend(sources[0]).wrapping_mul(extend(sources[1])) as u128;
                        let part = if half == ".lo" { product } else { product >> bits };
                        (part & u128::from(most)) + u128::from(sources[2]) + u128::from(carry)
                    }
                };
                (sum as u64 & most, (sum >> bits & 1) as u64)
            };
            // Sets the flag to the last source.
            let set = match root {
                "sub" => format!("sub.cc.{ty} {scratch}, 0, {{S{operands}}};"),
                _ => format!("add.cc.{ty} {scratch}, {{S{operands}}}, -1;"),
            };
            let get = match root {
                "sub" => format!("subc.{ty} {{D}}, 0, 0; neg.s{bits} {{D}}, {{D}};"),
                _ => format!("addc.{ty} {{D}}, 0, 0;"),
            };
            let sources = (0..operands).map(|i| format!("{{S{i}}}")).collect::<Vec<_>>().join(", ");
            for (reads, writes) in [(false, true), (true, false), (true, true)] {
                let (c, cc) = (if reads { "c" } else { "" }, if writes { ".cc" } else { "" });
                let opcode = format!("{root}{c}{half}{cc}.{ty}");
                let all: Vec<Vec<u64>> = values
                    .iter()
                    .flat_map(|a| values.iter().map(move |b| (*a, *b)))
                    .enumerate()
                    .map(|(i, (a, b))| [a, b, values[i * 3 % 7]][..operands].iter().copied().chain([i as u64 & 1]).collect())
                    .collect();
                let cases = |carry: bool| -> Vec<Case> {
                    let of = |sources: &Vec<u64>| compute(sources, if reads { sources[operands] } else { 0 });
                    all.iter().map(|sources| (sources.clone(), if carry { of(sources).1 } else { of(sources).0 })).collect()
                };
                let kinds: &'static str = format!("{}>{kind}", kind.repeat(operands + 1)).leak();
                let form = |text: String| Some(&*text.leak());
                groups.push(Group {
                    form: form(format!("{set} {opcode} {{D}}, {sources};")),
                    ..Group::new(opcode.clone(), kinds, cases(false))
                });
                if writes {
                    let text = format!("{set} {opcode} {scratch}, {sources}; {get}");
                    groups.push(Group { form: form(text), ..Group::new(format!("carry of {opcode}"), kinds, cases(true)) });
                }
            }
        }
    }
    groups
}

#[rustfmt::skip]
pub fn groups() -> Vec<Group> {
    let mut groups = vec![
        // PTX ISA, `fma`: `.oob` makes the result 0 if an operand is the NaN of what is out of bounds, which is 0x7ff7 where a copy of a tensor on an
        // H200 fills it in. Any other NaN gives NaN.
        group!("fma.rn.oob.f16", "hhh>h", [0x7ff7, 0x3c00, 0x3c00] => 0, [0x3c00, 0x7ff7, 0x3c00] => 0, [0x3c00, 0x3c00, 0x7ff7] => 0, [0x7ff6, 0x3c00, 0x3c00] => 0x7fff, [0x4000, 0x4200, 0x4400] => 0x4900, [0xc000, 0x4200, 0] => 0xc600),
        group!("fma.rn.oob.relu.f16", "hhh>h", [0x7ff7, 0x3c00, 0x3c00] => 0, [0x4000, 0x4200, 0x4400] => 0x4900, [0xc000, 0x4200, 0] => 0),
        group!("fma.rn.oob.f16x2", "www>w", [0x7ff7_4000, 0x3c00_4200, 0x3c00_4400] => 0x4900, [0xc000_3c00, 0x4200_3c00, 0x0000_7ff7] => 0xc600_0000),
        group!("fma.rn.oob.relu.f16x2", "www>w", [0xc000_4000, 0x4200_4200, 0x0000_4400] => 0x4900),
        group!("fma.rn.oob.bf16", "hhh>h", [0x7ff7, 0x3f80, 0x3f80] => 0, [0x3f80, 0x7ff7, 0x3f80] => 0, [0x3f80, 0x3f80, 0x7ff7] => 0, [0x7ff6, 0x3f80, 0x3f80] => 0x7fff, [0x4000, 0x4040, 0x4080] => 0x4120, [0xc000, 0x4040, 0] => 0xc0c0),
        group!("fma.rn.oob.relu.bf16", "hhh>h", [0x7ff7, 0x3f80, 0x3f80] => 0, [0x4000, 0x4040, 0x4080] => 0x4120, [0xc000, 0x4040, 0] => 0),
        group!("fma.rn.oob.bf16x2", "www>w", [0x7ff7_4000, 0x3f80_4040, 0x3f80_4080] => 0x4120, [0xc000_3f80, 0x4040_3f80, 0x0000_7ff7] => 0xc0c0_0000),
        group!("fma.rn.oob.relu.bf16x2", "www>w", [0xc000_4000, 0x4040_4040, 0x0000_4080] => 0x4120),
        group!("slct.{b32,u32,s32,f32}.s32", "www>w", [1, 2, 0] => 1, [1, 2, 5] => 1, [1, 2, M1W] => 2, [1, 2, MINW] => 2),
        group!("slct.{b32,u32,s32,f32}.f32", "www>w", [1, 2, f(0.5)] => 1, [1, 2, f(-0.5)] => 2, [1, 2, MINUS_ZERO32] => 1, [1, 2, QUIET32] => 2, [1, 2, 0x8000_0001] => 2, [1, 2, INF32] => 1),
        group!("slct.ftz.{b32,u32,s32,f32}.f32", "www>w", [1, 2, f(-0.5)] => 2, [1, 2, 0x8000_0001] => 1, [1, 2, QUIET32] => 2),
        group!("slct.{b16,u16,s16}.s32", "hhw>h", [1, 2, 0] => 1, [1, 2, M1W] => 2),
        group!("slct.{b16,u16,s16}.f32", "hhw>h", [1, 2, 0] => 1, [1, 2, f(-1.0)] => 2, [1, 2, 0x8000_0001] => 2),
        group!("slct.ftz.{b16,u16,s16}.f32", "hhw>h", [1, 2, f(-1.0)] => 2, [1, 2, 0x8000_0001] => 1),
        group!("slct.{b64,u64,s64,f64}.s32", "ddw>d", [M1D, 2, 0] => M1D, [1, MIND, M1W] => MIND),
        group!("slct.{b64,u64,s64,f64}.f32", "ddw>d", [M1D, 2, 0] => M1D, [1, MIND, f(-1.0)] => MIND, [1, 2, 0x8000_0001] => 2),
        group!("slct.ftz.{b64,u64,s64,f64}.f32", "ddw>d", [M1D, 2, 0x8000_0001] => M1D, [1, MIND, f(-1.0)] => MIND),
        group!("cnot.b16", "h>h", [0] => 1, [1] => 0, [MINH] => 0),
        group!("cnot.b32", "w>w", [0] => 1, [1] => 0, [MINW] => 0),
        group!("cnot.b64", "d>d", [0] => 1, [1] => 0, [1 << 32] => 0),
        group!("sad.u16", "hhh>h", [3, 5, 10] => 12, [0, M1H, 1] => 0),
        group!("sad.s16", "hhh>h", [3, 5, 10] => 12, [0, M1H, 1] => 2, [0x7fff, MINH, 0] => M1H),
        group!("mad.hi.u64", "ddd>d", [M1D, M1D, 3] => 1, [1 << 32, 1 << 32, M1D] => 0),
        group!("mad.hi.s64", "ddd>d", [M1D, 5, 3] => 2, [MIND, MIND, 1 << 62] => MIND),
        group!("mad.hi.sat.s32", "www>w", [M1W, 5, 3] => 2, [MINW, MINW, 0x4000_0000] => 0x7fff_ffff, [MINW, 0x7fff_ffff, 0x8000_0000] => MINW),
        group!("mul24.hi.u32", "ww>w", [0xff_ffff, 0xff_ffff] => 0xffff_fe00, [0xff01_0000, 0x10] => 0x10, [3, 5] => 0),
        group!("mul24.hi.s32", "ww>w", [0xff_ffff, 1] => M1W, [0x80_0000, 0x80_0000] => 0x4000_0000, [0x1_0000, 0x10] => 0x10),
        group!("mad24.hi.u32", "www>w", [0x1_0000, 0x10, 5] => 0x15, [0xff_ffff, 0xff_ffff, 0x200] => 0),
        group!("mad24.hi.s32", "www>w", [0xff_ffff, 1, 3] => 2, [0x80_0000, 0x80_0000, 0x4000_0000] => MINW),
        group!("mad24.hi.sat.s32", "www>w", [0xff_ffff, 1, 3] => 2, [0x80_0000, 0x80_0000, 0x4000_0000] => 0x7fff_ffff),
        group!("min.{relu.s32,s32.relu}", "ww>w", [1, 2] => 1, [M1W, 5] => 0, [MINW, MINW] => 0),
        group!("max.{relu.s32,s32.relu}", "ww>w", [1, 2] => 2, [M1W, 5] => 5, [MINW, M1W] => 0),
        group!("add.{u16x2,s16x2}", "ww>w", [0x0001_ffff, 0x0002_0001] => 0x0003_0000, [0xffff_7fff, 0x0001_0001] => 0x0000_8000),
        group!("min.u16x2", "ww>w", [0x0001_ffff, 0x8000_0001] => 0x0001_0001),
        group!("max.u16x2", "ww>w", [0x0001_ffff, 0x8000_0001] => 0x8000_ffff),
        group!("min.s16x2", "ww>w", [0x0001_ffff, 0x8000_0001] => 0x8000_ffff),
        group!("max.s16x2", "ww>w", [0x0001_ffff, 0x8000_0001] => 0x0001_0001),
        group!("min.{relu.s16x2,s16x2.relu}", "ww>w", [0x0001_ffff, 0x8000_0001] => 0, [0x0005_0004, 0x0003_0006] => 0x0003_0004),
        group!("max.{relu.s16x2,s16x2.relu}", "ww>w", [0x0001_ffff, 0x8000_8001] => 0x0001_0000, [0x0005_0004, 0x0003_0006] => 0x0005_0006),
        // Halves 0x8001 and 0x7fff of a; bytes 0x80, 0x7f, 2 and 0xff of b, highest first.
        group!("dp2a.lo.u32.u32", "www>w", [0x8001_7fff, 0x807f_02ff, 0] => 0x0080_7f03, [0x0003_0002, 0x0000_0504, 100] => 123),
        group!("dp2a.hi.u32.u32", "www>w", [0x8001_7fff, 0x807f_02ff, 0] => 0x007f_8001, [0x0003_0002, 0x0504_0000, 100] => 123),
        group!("dp2a.lo.s32.s32", "www>w", [0x8001_7fff, 0x807f_02ff, 0] => 0xfffe_8003, [0x0003_0002, 0x0000_0504, 100] => 123),
        group!("dp2a.hi.s32.s32", "www>w", [0x8001_7fff, 0x807f_02ff, 0] => 0x007f_7f01, [0x0003_0002, 0x0504_0000, 100] => 123),
        group!("dp2a.lo.u32.s32", "www>w", [0x8001_7fff, 0x807f_02ff, 0] => 0x0000_8003, [0x0003_0002, 0x0000_0504, 100] => 123),
        group!("dp2a.hi.u32.s32", "www>w", [0x8001_7fff, 0x807f_02ff, 0] => 0xffff_7f01, [0x0003_0002, 0x0504_0000, 100] => 123),
        group!("dp2a.lo.s32.u32", "www>w", [0x8001_7fff, 0x807f_02ff, 0] => 0x007e_7f03, [0x0003_0002, 0x0000_0504, 100] => 123),
        group!("dp2a.hi.s32.u32", "www>w", [0x8001_7fff, 0x807f_02ff, 0] => 0xffff_8001, [0x0003_0002, 0x0504_0000, 100] => 123),
        group!("bmsk.clamp.b32", "ww>w", [0, 8] => 0xff, [4, 8] => 0xff0, [28, 8] => 0xf000_0000, [32, 8] => 0, [0, 32] => M1W, [4, 40] => 0xffff_fff0, [M1W, M1W] => 0, [5, 0] => 0),
        group!("bmsk.wrap.b32", "ww>w", [0, 8] => 0xff, [36, 8] => 0xff0, [28, 8] => 0xf000_0000, [0, 32] => 0, [4, 40] => 0xff0, [5, 0] => 0),
        group!("szext.clamp.u32", "ww>w", [0x1234_5678, 8] => 0x78, [M1W, 0] => 0, [M1W, 32] => M1W, [0x1234_5678, M1W] => 0x1234_5678),
        group!("szext.wrap.u32", "ww>w", [0x1234_5678, 8] => 0x78, [M1W, 32] => 0, [0x1234_5678, 40] => 0x78),
        group!("szext.clamp.s32", "ww>w", [0x1234_5678, 8] => 0x78, [0x80, 8] => 0xffff_ff80, [M1W, 0] => 0, [0x1234_5678, 32] => 0x1234_5678, [M1W, M1W] => M1W, [1, 1] => M1W),
        group!("szext.wrap.s32", "ww>w", [0x80, 40] => 0xffff_ff80, [M1W, 32] => 0, [0x7f, 8] => 0x7f),
        group!("fns.b32", "www>w", [0b1010_1100, 0, 1] => 2, [0b1010_1100, 0, 3] => 5, [0b1010_1100, 2, 1] => 2, [0b1010_1100, 3, 2] => 5, [0b1010_1100, 7, M1W] => 7, [0b1010_1100, 6, M1W - 1] => 3, [0b1010_1100, 0, M1W] => M1W,
            [0b1010_1100, 5, 0] => 5, [0b1010_1100, 4, 0] => M1W, [0b1010_1100, 0, 5] => M1W, [MINW, 0, 1] => 31),
        group!("vabsdiff4.u32.u32.u32.add", "www>w", [0x0102_0304, 0x0401_0304, 5] => 9, [0xff00_80ff, 0x00ff_7f00, 1] => 0x2ff, [5, 3, M1W] => 1),
        // Clamped and packed: b lowest, a above it, c above both.
        group!("cvt.pack.sat.u16.s32", "ww>w", [1, 2] => 0x0001_0002, [0x1_0000, M1W] => 0xffff_0000, [0xffff, 0x7fff_ffff] => M1W),
        group!("cvt.pack.sat.s16.s32", "ww>w", [1, M1W] => 0x0001_ffff, [0x8000, 0xffff_7fff] => 0x7fff_8000, [MINW, 0x7fff] => 0x8000_7fff),
        group!("cvt.pack.sat.u8.s32.b32", "www>w", [1, 2, 0x1234_5678] => 0x5678_0102, [256, M1W, 0] => 0xff00),
        group!("cvt.pack.sat.s8.s32.b32", "www>w", [128, M1W, 0x1234_5678] => 0x5678_7fff, [0xffff_ff00, 5, 0] => 0x8005),
        group!("cvt.pack.sat.u4.s32.b32", "www>w", [1, 2, 0x1234_5678] => 0x3456_7812, [16, M1W, 0] => 0xf0),
        group!("cvt.pack.sat.s4.s32.b32", "www>w", [9, M1W, 0x1234_5678] => 0x3456_787f, [MINW, 3, 0] => 0x83),
        group!("cvt.pack.sat.u2.s32.b32", "www>w", [1, 2, 0x1234_5678] => 0x2345_6786, [4, M1W, 0] => 0xc),
        group!("cvt.pack.sat.s2.s32.b32", "www>w", [2, M1W, 1] => 0x17, [MINW, 0, 0] => 8),
        // Bytes 0 to 3 of a and 4 to 7 of b are 0 to 7.
        group!("prmt.b32.f4e", "www>w", [0x0302_0100, 0x0706_0504, 0] => 0x0302_0100, [0x0302_0100, 0x0706_0504, 1] => 0x0403_0201, [0x0302_0100, 0x0706_0504, 7] => 0x0605_0403),
        group!("prmt.b32.b4e", "www>w", [0x0302_0100, 0x0706_0504, 0] => 0x0506_0700, [0x0302_0100, 0x0706_0504, 2] => 0x0700_0102, [0x0302_0100, 0x0706_0504, 3] => 0x0001_0203),
        group!("prmt.b32.rc8", "www>w", [0x0302_0100, 0, 2] => 0x0202_0202, [0x0302_0100, 0, 4] => 0),
        group!("prmt.b32.ecl", "www>w", [0x0302_0100, 0, 0] => 0x0302_0100, [0x0302_0100, 0, 1] => 0x0302_0101, [0x0302_0100, 0, 2] => 0x0302_0202),
        group!("prmt.b32.ecr", "www>w", [0x0302_0100, 0, 1] => 0x0101_0100, [0x0302_0100, 0, 2] => 0x0202_0100, [0x0302_0100, 0, 3] => 0x0302_0100),
        group!("prmt.b32.rc16", "www>w", [0x0302_0100, 0, 0] => 0x0100_0100, [0x0302_0100, 0, 3] => 0x0302_0302),
        // The space of a variable, and whether its generic address is in that space.
        group!("isspacep.global" as "isspacep.global %p7, %in;", "w>p", [0] => 1),
        group!("isspacep.shared{,::cta,::cluster}" as "isspacep.shared %p7, %in;", "w>p", [0] => 0),
        group!("isspacep.local" as "isspacep.local %p7, %in;", "w>p", [0] => 0),
        group!("isspacep.param{,::entry}" as "isspacep.param %p7, %in;", "w>p", [0] => 0),
    ];
    groups.extend(carries());
    groups
}

/// Instructions that are composed of several rows.
#[rustfmt::skip]
pub fn composed() -> Vec<Group> {
    vec![
        group!("set.lt.u32.s32", "ww>w", [1, 2] => M1W, [2, 1] => 0, [M1W, 0] => M1W),
        group!("set.eq.s32.u16", "hh>w", [7, 7] => M1W, [7, 8] => 0),
        group!("set.gt.f32.f64", "dd>w", [crate::instructions::d(2.0), crate::instructions::d(1.0)] => f(1.0), [0, 0] => 0),
        group!("set.{neu,ltu,nan}.f32.f32", "ww>w", [QUIET32, f(1.0)] => f(1.0), [f(1.0), f(1.0)] => 0),
        group!("set.lt.ftz.u32.f32", "ww>w", [1, 2] => 0, [f(-1.0), 2] => M1W),
        group!("set.lt.u32.f32", "ww>w", [1, 2] => M1W),
        group!("set.lt.and.u32.s32", "wwp>w", [1, 2, 1] => M1W, [1, 2, 0] => 0, [2, 1, 1] => 0),
        group!("set.lt.xor.f32.s32", "wwp>w", [1, 2, 1] => 0, [1, 2, 0] => f(1.0), [2, 1, 1] => f(1.0)),
        group!("set.lt.f16.f16", "hh>h", [0x3c00, 0x4000] => 0x3c00, [0x4000, 0x3c00] => 0, [0x7fff, 0] => 0),
        group!("set.ltu.bf16.bf16", "hh>h", [0x3f80, 0x4000] => 0x3f80, [0x7fff, 0] => 0x3f80, [0x4000, 0x3f80] => 0),
        group!("set.eq.u32.f16", "hh>w", [0x3c00, 0x3c00] => M1W, [0x8000, 0] => M1W, [1, 0] => 0),
        group!("set.eq.ftz.u32.f16", "hh>w", [1, 0] => M1W),
        group!("set.eq.f16x2.f16x2", "ww>w", [0x3c00_4000, 0x3c00_3c00] => 0x3c00_0000, [0x7fff_8000, 0x7fff_0000] => 0x3c00),
        group!("set.ltu.bf16x2.bf16x2", "ww>w", [0x3f80_7fff, 0x4000_0000] => 0x3f80_3f80, [0x4000_0000, 0x3f80_3f80] => 0x3f80),
        group!("set.geu.u32.f16x2", "ww>w", [0x3c00_4000, 0x4000_3c00] => 0xffff, [0x7fff_0000, 0x0000_8000] => M1W),
        group!("set.lt.or.f16x2.f16x2", "wwp>w", [0x3c00_4000, 0x4000_3c00, 0] => 0x3c00_0000, [0x3c00_4000, 0x4000_3c00, 1] => 0x3c00_3c00),
        group!("setp.lt.f16x2, low" as "setp.lt.f16x2 %p7|%p6, {S0}, {S1};", "ww>p", [0x3c00_4000, 0x4000_3c00] => 0, [0x4000_3c00, 0x3c00_4000] => 1),
        group!("setp.lt.f16x2, high" as "setp.lt.f16x2 %p6|%p7, {S0}, {S1};", "ww>p", [0x3c00_4000, 0x4000_3c00] => 1, [0x4000_3c00, 0x3c00_4000] => 0),
        group!("setp.lt.and.ftz.f16x2" as "setp.lt.and.ftz.f16x2 %p7|%p6, {S0}, {S1}, {S2};", "wwp>p", [1, 2, 1] => 0, [0x3c00, 0x4000, 1] => 1, [0x3c00, 0x4000, 0] => 0),
        group!("setp.neu.bf16x2" as "setp.neu.bf16x2 %p6|%p7, {S0}, {S1};", "ww>p", [0x7fff_0000, 0x7fff_0000] => 1, [0x3f80_0000, 0x3f80_0001] => 0),
        group!("setp.lt.or.f32" as "setp.lt.or.f32 %p7|%p6, {S0}, {S1}, {S2};", "wwp>p", [f(1.0), f(2.0), 0] => 1, [f(2.0), f(1.0), 0] => 0, [f(2.0), f(1.0), 1] => 1),
        group!("setp.lt.ftz.f32" as "setp.lt.ftz.f32 %p6|%p7, {S0}, {S1};", "ww>p", [1, 2] => 1, [f(1.0), f(2.0)] => 0),
        group!("setp.lt.f32 to nowhere" as "setp.lt.f32 _|%p7, {S0}, {S1};", "ww>p", [f(1.0), f(2.0)] => 0, [f(2.0), f(1.0)] => 1),
        group!("setp.hi.and.u32 to nowhere" as "setp.hi.and.u32 %p7|_, {S0}, {S1}, {S2};", "wwp>p", [2, 1, 1] => 1, [2, 1, 0] => 0, [1, 2, 1] => 0),
        group!("lop3.or.b32" as "lop3.or.b32 _|%p7, {S0}, {S1}, 0, 0xc0, {S2};", "wwp>p", [6, 1, 0] => 0, [6, 1, 1] => 1, [6, 2, 0] => 1),
        group!("lop3.and.b32" as "lop3.and.b32 %w6|%p7, {S0}, {S1}, 0, 0xc0, !{S2};", "wwp>p", [6, 2, 0] => 1, [6, 2, 1] => 0, [6, 1, 0] => 0),
        group!("lop3.and.b32, its value" as "lop3.and.b32 {D}|%p7, {S0}, {S1}, 0, 0xc0, 1;", "ww>w", [7, 14] => 6),
        group!("setp.lt.xor.ftz.f32" as "setp.lt.xor.ftz.f32 %p7, {S0}, {S1}, !{S2};", "wwp>p", [1, 2, 1] => 0, [1, 2, 0] => 1),
        group!("isspacep.shared" as ".shared .b32 s; .reg .b64 %at; cvta.shared.u64 %at, s; isspacep.shared %p7, %at;", "w>p", [0] => 1),
        group!("isspacep.global of shared" as ".shared .b32 s; .reg .b64 %at; cvta.shared.u64 %at, s; isspacep.global %p7, %at;", "w>p", [0] => 0),
        group!("isspacep.local" as ".local .b32 l; .reg .b64 %at; cvta.local.u64 %at, l; isspacep.local %p7, %at;", "w>p", [0] => 1),
        group!("isspacep.shared of local" as ".local .b32 l; .reg .b64 %at; cvta.local.u64 %at, l; isspacep.shared %p7, %at;", "w>p", [0] => 0),
    ]
}
