//! Every arithmetic instruction, compared with values worked out from the PTX ISA's definitions: by hand, or for floats with exact
//! numbers (`reference`).
//!
//! The cases of one opcode run in the lanes of one warp, through a kernel generated from the opcode and the kinds of its operands.
//! A spelling of the table without a case fails [`every_spelling_has_a_case`]. An H200 (driver 580, CUDA 13.0) accepts every
//! spelling and gives the same bits in all cases (`gpu`), with two exceptions: `video` lists forms in which its compiler departs from
//! the PTX ISA, and it wants registers of just 8 or 16 bits for conversions between such integers and bf16. If PTX does not specify a result, the case has the result of that GPU.

/// `group!("add.u32", "ww>w", [1, 2] => 3, …)`
macro_rules! group {
    ($opcodes:literal, $operands:literal, $([$($source:expr),*] => $expected:expr),+ $(,)?) => {
        crate::instructions::Group::new($opcodes, $operands, vec![$((vec![$($source),*], $expected)),+])
    };
    ($opcodes:literal as $form:literal, $operands:literal, $([$($source:expr),*] => $expected:expr),+ $(,)?) => {
        crate::instructions::Group { form: Some($form), ..crate::instructions::Group::new($opcodes, $operands, vec![$((vec![$($source),*], $expected)),+]) }
    };
}

mod approximations;
mod conversions;
mod exact;
mod floats;
mod gpu;
mod quarter;
mod reference;
mod rest;
mod video;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use crate::common::{Gpu, Params};
use alu::{TABLE, spellings};

/// Sources as bits, and the destination's bits.
type Case = (Vec<u64>, u64);

/// Opcodes that have the same cases.
#[derive(Clone)]
struct Group {
    /// As in the table, with alternatives in braces.
    opcodes: String,
    /// Kinds of the sources, `>`, kind of the destination. Kinds: `h` 16 bits, `w` 32 bits, `d` 64 bits, `p` predicate, `i` an
    /// immediate number, which must be the same in all cases.
    operands: &'static str,
    /// The instruction, if it is not `opcode destination, sources;`.
    form: Option<&'static str>,
    cases: Vec<Case>,
}

impl Group {
    fn new(opcodes: impl Into<String>, operands: &'static str, cases: Vec<Case>) -> Self {
        Self { opcodes: opcodes.into(), operands, form: None, cases }
    }
}

const fn f(value: f32) -> u64 {
    value.to_bits() as u64
}

const fn d(value: f64) -> u64 {
    value.to_bits()
}

/// The NaN that f32 arithmetic gives.
const NAN32: u64 = 0x7fff_ffff;
/// A quiet NaN with a payload, and a signaling one.
const QUIET32: u64 = 0xffc1_2345;
const SIGNAL32: u64 = 0x7f81_2345;
const INF32: u64 = 0x7f80_0000;
const MINUS_INF32: u64 = 0xff80_0000;
const MINUS_ZERO32: u64 = 0x8000_0000;
const NAN64: u64 = 0x7ff8_0000_0000_0000;
/// Quiet NaNs with payloads, a signaling NaN, and the quiet bit.
const QUIET64: u64 = 0xfff8_0000_1234_5678;
const PAYLOAD64: u64 = 0x7ff8_0000_8765_4321;
const SIGNAL64: u64 = 0x7ff0_0000_1234_5678;
const QUIET_BIT: u64 = 1 << 51;
/// The result of an invalid operation on numbers.
const INVALID64: u64 = 0xfff8_0000_0000_0000;
const INF64: u64 = 0x7ff0_0000_0000_0000;
const MINUS_INF64: u64 = 0xfff0_0000_0000_0000;
const MINUS_ZERO64: u64 = 0x8000_0000_0000_0000;
/// Largest finite, smallest normal, smallest denormal.
const MAX32: u64 = 0x7f7f_ffff;
const NORMAL32: u64 = 0x0080_0000;
const DENORMAL32: u64 = 1;
const MAX64: u64 = 0x7fef_ffff_ffff_ffff;
const NORMAL64: u64 = 0x0010_0000_0000_0000;
/// -1 and the most negative number.
const M1W: u64 = 0xffff_ffff;
const MINW: u64 = 0x8000_0000;
const M1H: u64 = 0xffff;
const MINH: u64 = 0x8000;
const M1D: u64 = u64::MAX;
const MIND: u64 = 1 << 63;

#[rustfmt::skip]
fn moves() -> Vec<Group> {
    vec![
        group!("mov.{b32,u32,s32,f32}", "w>w", [0] => 0, [M1W] => M1W, [0x1234_5678] => 0x1234_5678, [QUIET32] => QUIET32, [SIGNAL32] => SIGNAL32),
        group!("mov.{b16,u16,s16}", "h>h", [0] => 0, [0x8001] => 0x8001, [M1H] => M1H),
        group!("mov.{b64,u64,s64,f64}", "d>d", [0] => 0, [M1D] => M1D, [0x0123_4567_89ab_cdef] => 0x0123_4567_89ab_cdef),
        group!("mov.pred", "p>p", [0] => 0, [1] => 1),
        group!("mov.b32 from 2 x b16" as "mov.b32 {D}, {{S0}, {S1}};", "hh>w", [0x1234, 0xabcd] => 0xabcd_1234, [0xffff, 0] => 0xffff, [0, 0x8000] => 0x8000_0000),
        group!("mov.b64 from 2 x b32" as "mov.b64 {D}, {{S0}, {S1}};", "ww>d", [0x1234_5678, 0x9abc_def0] => 0x9abc_def0_1234_5678, [M1W, 0] => M1W),
        group!("mov.b64 from 4 x b16" as "mov.b64 {D}, {{S0}, {S1}, {S2}, {S3}};", "hhhh>d", [0x1111, 0x2222, 0x8333, 0xf444] => 0xf444_8333_2222_1111),
        group!("mov.b32 to 2 x b16" as "mov.b32 {{D}, %unused}, {S0};", "w>h", [0x1234_abcd] => 0xabcd, [0xffff_0000] => 0),
        group!("mov.b32 to 2 x b16" as "mov.b32 {%unused, {D}}, {S0};", "w>h", [0x1234_abcd] => 0x1234, [0x8000_ffff] => 0x8000),
        group!("mov.b64 to 4 x b16" as "mov.b64 {%unused, {D}, %unused1, %unused2}, {S0};", "d>h", [0x1111_2222_8333_f444] => 0x8333),
        group!("mov.b64 to 4 x b16" as "mov.b64 {%unused, %unused1, %unused2, {D}}, {S0};", "d>h", [0x9111_2222_8333_f444] => 0x9111),
        group!("mov.b64 to 2 x b32" as "mov.b64 {{D}, %unusedw}, {S0};", "d>w", [0x9abc_def0_1234_5678] => 0x1234_5678),
        group!("mov.b64 to 2 x b32" as "mov.b64 {%unusedw, {D}}, {S0};", "d>w", [0x9abc_def0_1234_5678] => 0x9abc_def0),
        group!("selp.{b32,u32,s32,f32}", "wwp>w", [1, 2, 1] => 1, [1, 2, 0] => 2, [QUIET32, SIGNAL32, 1] => QUIET32, [QUIET32, SIGNAL32, 0] => SIGNAL32),
        group!("selp.{b16,u16,s16}", "hhp>h", [0x8001, 0x7002, 1] => 0x8001, [0x8001, 0x7002, 0] => 0x7002),
        group!("selp.{b64,u64,s64,f64}", "ddp>d", [MIND, M1D, 1] => MIND, [MIND, M1D, 0] => M1D),
    ]
}

#[rustfmt::skip]
fn integers() -> Vec<Group> {
    vec![
        group!("add.{u16,s16}", "hh>h", [1, 2] => 3, [M1H, 1] => 0, [0x7fff, 1] => MINH, [MINH, MINH] => 0, [M1H, M1H] => 0xfffe),
        group!("sub.{u16,s16}", "hh>h", [3, 2] => 1, [0, 1] => M1H, [MINH, 1] => 0x7fff, [2, 3] => M1H),
        group!("add.{u32,s32}", "ww>w", [1, 2] => 3, [M1W, 1] => 0, [0x7fff_ffff, 1] => MINW, [MINW, MINW] => 0, [M1W, M1W] => 0xffff_fffe),
        group!("sub.{u32,s32}", "ww>w", [3, 2] => 1, [0, 1] => M1W, [MINW, 1] => 0x7fff_ffff, [2, 3] => M1W),
        group!("add.{u64,s64}", "dd>d", [1, 2] => 3, [M1D, 1] => 0, [M1W, 1] => 1 << 32, [MIND, MIND] => 0),
        group!("sub.{u64,s64}", "dd>d", [3, 2] => 1, [0, 1] => M1D, [1 << 32, 1] => M1W, [MIND, 1] => 0x7fff_ffff_ffff_ffff),
        group!("add.sat.s32", "ww>w", [1, 2] => 3, [0x7fff_ffff, 1] => 0x7fff_ffff, [MINW, M1W] => MINW, [MINW, 0x7fff_ffff] => M1W),
        group!("sub.sat.s32", "ww>w", [1, 2] => M1W, [0x7fff_ffff, M1W] => 0x7fff_ffff, [MINW, 1] => MINW, [0, MINW] => 0x7fff_ffff),

        group!("mul.lo.{u16,s16}", "hh>h", [3, 5] => 15, [0x100, 0x100] => 0, [M1H, M1H] => 1, [M1H, 3] => 0xfffd, [0x1234, 0x5678] => 0x0060),
        group!("mad.lo.{u16,s16}", "hhh>h", [3, 5, 7] => 22, [0x100, 0x100, 9] => 9, [M1H, 1, 2] => 1),
        group!("mul.lo.{u32,s32}", "ww>w", [3, 5] => 15, [0x1_0000, 0x1_0000] => 0, [M1W, M1W] => 1, [M1W, 7] => 0xffff_fff9, [0x1234_5678, 0x9abc_def0] => 0x242d_2080),
        group!("mad.lo.{u32,s32}", "www>w", [3, 5, 7] => 22, [0x1_0000, 0x1_0000, 9] => 9, [M1W, 7, 8] => 1),
        group!("mul.lo.{u64,s64}", "dd>d", [3, 5] => 15, [1 << 32, 1 << 32] => 0, [M1D, M1D] => 1, [M1W, M1W] => 0xffff_fffe_0000_0001),
        group!("mad.lo.{u64,s64}", "ddd>d", [3, 5, 7] => 22, [M1D, 7, 8] => 1),
        group!("mul.hi.u16", "hh>h", [M1H, M1H] => 0xfffe, [0x100, 0x100] => 1, [3, 5] => 0, [MINH, 2] => 1),
        group!("mul.hi.s16", "hh>h", [M1H, M1H] => 0, [0x100, 0x100] => 1, [M1H, 5] => M1H, [MINH, MINH] => 0x4000, [MINH, 2] => M1H),
        group!("mad.hi.u16", "hhh>h", [M1H, M1H, 3] => 1, [0x100, 0x100, M1H] => 0),
        group!("mad.hi.s16", "hhh>h", [M1H, 5, 3] => 2, [MINH, MINH, 0x4000] => MINH),
        group!("mul.wide.u16", "hh>w", [M1H, M1H] => 0xfffe_0001, [MINH, 2] => 0x1_0000, [3, 5] => 15),
        group!("mul.wide.s16", "hh>w", [M1H, M1H] => 1, [MINH, 2] => 0xffff_0000, [MINH, MINH] => 0x4000_0000, [M1H, 5] => 0xffff_fffb),
        group!("mad.wide.u16", "hhw>w", [M1H, M1H, 0x1_ffff] => 0, [3, 5, 7] => 22),
        group!("mad.wide.s16", "hhw>w", [M1H, 5, 4] => M1W, [MINH, MINH, 0x4000_0000] => MINW),
        group!("mul.hi.u32", "ww>w", [M1W, M1W] => 0xffff_fffe, [0x1_0000, 0x1_0000] => 1, [3, 5] => 0, [MINW, 2] => 1),
        group!("mul.hi.s32", "ww>w", [M1W, M1W] => 0, [0x1_0000, 0x1_0000] => 1, [M1W, 5] => M1W, [MINW, MINW] => 0x4000_0000, [MINW, 2] => M1W),
        group!("mad.hi.u32", "www>w", [M1W, M1W, 3] => 1, [0x1_0000, 0x1_0000, M1W] => 0),
        group!("mad.hi.s32", "www>w", [M1W, 5, 3] => 2, [MINW, MINW, 0x4000_0000] => MINW),
        group!("mul.wide.u32", "ww>d", [M1W, M1W] => 0xffff_fffe_0000_0001, [M1W, 4] => 0x3_ffff_fffc),
        group!("mul.wide.s32", "ww>d", [M1W, M1W] => 1, [M1W, 4] => 0xffff_ffff_ffff_fffc, [MINW, MINW] => 1 << 62),
        group!("mad.wide.u32", "wwd>d", [M1W, 4, 4] => 1 << 34, [M1W, M1W, 0x1_ffff_ffff] => 0),
        group!("mad.wide.s32", "wwd>d", [M1W, 4, 4] => 0, [M1W, 4, 3] => M1D, [MINW, 2, 1 << 32] => 0),
        group!("mul.hi.u64", "dd>d", [M1D, M1D] => 0xffff_ffff_ffff_fffe, [1 << 32, 1 << 32] => 1, [MIND, 2] => 1, [3, 5] => 0),
        group!("mul.hi.s64", "dd>d", [M1D, M1D] => 0, [1 << 32, 1 << 32] => 1, [MIND, 2] => M1D, [MIND, MIND] => 1 << 62, [M1D, 5] => M1D),
        group!("mul24.lo.u32", "ww>w", [0xff00_0003, 0xaa00_0005] => 15, [0xff_ffff, 0xff_ffff] => 0xfe00_0001, [0x80_0000, 2] => 0x100_0000),
        group!("mul24.lo.s32", "ww>w", [3, 0xff00_0005] => 15, [0xff_ffff, 0xff_ffff] => 1, [0xff_ffff, 5] => 0xffff_fffb, [0x80_0000, 2] => 0xff00_0000),
        group!("mad24.lo.u32", "www>w", [0xff00_0003, 5, 7] => 22, [0xff_ffff, 0xff_ffff, 0x1ff_ffff] => 0),
        group!("mad24.lo.s32", "www>w", [0xff_ffff, 5, 7] => 2, [0x80_0000, 2, 0x100_0000] => 0),

        // Division truncates; a remainder has the dividend's sign. PTX does not specify division by zero, or the one overflow.
        group!("div.u16", "hh>h", [7, 2] => 3, [M1H, 0x10] => 0xfff, [2, 7] => 0, [5, 0] => M1H),
        group!("rem.u16", "hh>h", [7, 2] => 1, [M1H, 0x10] => 0xf, [2, 7] => 2, [5, 0] => M1H),
        group!("div.s16", "hh>h", [7, 2] => 3, [0xfff9, 2] => 0xfffd, [7, 0xfffe] => 0xfffd, [0xfff9, 0xfffe] => 3, [MINH, 1] => MINH, [0xfffb, 0] => M1H, [MINH, M1H] => MINH),
        group!("rem.s16", "hh>h", [5, 0] => M1H, [MINH, M1H] => 0, [7, 2] => 1, [0xfff9, 2] => M1H, [7, 0xfffe] => 1, [0xfff9, 0xfffe] => M1H),
        group!("div.u32", "ww>w", [7, 2] => 3, [M1W, 0x10] => 0xfff_ffff, [2, 7] => 0, [M1W, M1W] => 1, [MINW, 3] => 0x2aaa_aaaa, [5, 0] => M1W, [0, 0] => M1W),
        group!("rem.u32", "ww>w", [7, 2] => 1, [M1W, 0x10] => 0xf, [2, 7] => 2, [MINW, 3] => 2, [5, 0] => M1W),
        group!("div.s32", "ww>w", [7, 2] => 3, [0xffff_fff9, 2] => 0xffff_fffd, [7, 0xffff_fffe] => 0xffff_fffd, [0xffff_fff9, 0xffff_fffe] => 3, [MINW, M1W] => MINW, [MINW, 1] => MINW, [5, 0] => M1W, [0xffff_fffb, 0] => M1W),
        group!("rem.s32", "ww>w", [7, 2] => 1, [0xffff_fff9, 2] => M1W, [7, 0xffff_fffe] => 1, [0xffff_fff9, 0xffff_fffe] => M1W, [MINW, M1W] => 0, [5, 0] => M1W, [0xffff_fffb, 0] => M1W),
        group!("div.u64", "dd>d", [7, 2] => 3, [M1D, 0x10] => 0x0fff_ffff_ffff_ffff, [2, 7] => 0, [1 << 40, 3] => 0x55_5555_5555, [M1D, M1W] => 0x1_0000_0001, [5, 0] => M1D),
        group!("rem.u64", "dd>d", [7, 2] => 1, [M1D, 0x10] => 0xf, [2, 7] => 2, [1 << 40, 3] => 1, [M1D, M1W] => 0, [5, 0] => M1D),
        group!("div.s64", "dd>d", [7, 2] => 3, [M1D - 6, 2] => M1D - 2, [7, M1D - 1] => M1D - 2, [M1D - 6, M1D - 1] => 3, [MIND, M1D] => MIND, [MIND, 3] => 0xd555_5555_5555_5556, [5, 0] => M1D),
        group!("rem.s64", "dd>d", [7, 2] => 1, [M1D - 6, 2] => M1D, [7, M1D - 1] => 1, [M1D - 6, M1D - 1] => M1D, [MIND, M1D] => 0, [5, 0] => M1D),

        group!("min.u16", "hh>h", [1, M1H] => 1, [MINH, 0x7fff] => 0x7fff),
        group!("max.u16", "hh>h", [1, M1H] => M1H, [MINH, 0x7fff] => MINH),
        group!("min.s16", "hh>h", [1, M1H] => M1H, [MINH, 0x7fff] => MINH),
        group!("max.s16", "hh>h", [1, M1H] => 1, [MINH, 0x7fff] => 0x7fff),
        group!("min.u32", "ww>w", [1, M1W] => 1, [MINW, 0x7fff_ffff] => 0x7fff_ffff),
        group!("max.u32", "ww>w", [1, M1W] => M1W, [MINW, 0x7fff_ffff] => MINW),
        group!("min.s32", "ww>w", [1, M1W] => M1W, [MINW, 0x7fff_ffff] => MINW),
        group!("max.s32", "ww>w", [1, M1W] => 1, [MINW, 0x7fff_ffff] => 0x7fff_ffff),
        group!("min.u64", "dd>d", [1, M1D] => 1, [1 << 32, 2] => 2),
        group!("max.u64", "dd>d", [1, M1D] => M1D, [1 << 32, 2] => 1 << 32),
        group!("min.s64", "dd>d", [1, M1D] => M1D, [MIND, 2] => MIND),
        group!("max.s64", "dd>d", [1, M1D] => 1, [MIND, 2] => 2),
        group!("abs.s16", "h>h", [5] => 5, [0xfffb] => 5, [0] => 0, [MINH] => MINH),
        group!("neg.s16", "h>h", [5] => 0xfffb, [0xfffb] => 5, [0] => 0, [MINH] => MINH),
        group!("abs.s32", "w>w", [5] => 5, [0xffff_fffb] => 5, [0] => 0, [MINW] => MINW),
        group!("neg.s32", "w>w", [5] => 0xffff_fffb, [0xffff_fffb] => 5, [0] => 0, [MINW] => MINW),
        group!("abs.s64", "d>d", [5] => 5, [M1D - 4] => 5, [0] => 0, [MIND] => MIND, [M1W] => M1W),
        group!("neg.s64", "d>d", [5] => M1D - 4, [M1D - 4] => 5, [0] => 0, [MIND] => MIND, [1 << 32] => 0xffff_ffff_0000_0000),
        group!("sad.u32", "www>w", [3, 5, 10] => 12, [5, 3, 10] => 12, [0, M1W, 1] => 0, [0x7fff_ffff, MINW, 0] => 1),
        group!("sad.s32", "www>w", [3, 5, 10] => 12, [5, 3, 10] => 12, [0, M1W, 1] => 2, [0x7fff_ffff, MINW, 0] => M1W),
        group!("sad.u64", "ddd>d", [3, 5, 10] => 12, [0, M1D, 1] => 0, [M1D, 0, 0] => M1D),
        group!("sad.s64", "ddd>d", [3, 5, 10] => 12, [0, M1D, 1] => 2, [M1D, 0, 0] => 1),
    ]
}

#[rustfmt::skip]
fn logic() -> Vec<Group> {
    vec![
        group!("and.b16", "hh>h", [0xff00, 0x0ff0] => 0x0f00),
        group!("or.b16", "hh>h", [0xff00, 0x0ff0] => 0xfff0),
        group!("xor.b16", "hh>h", [0xff00, 0x0ff0] => 0xf0f0),
        group!("not.b16", "h>h", [0xff00] => 0x00ff, [0] => M1H),
        group!("and.b32", "ww>w", [0xff00_ff00, 0x0ff0_0ff0] => 0x0f00_0f00),
        group!("or.b32", "ww>w", [0xff00_ff00, 0x0ff0_0ff0] => 0xfff0_fff0),
        group!("xor.b32", "ww>w", [0xff00_ff00, 0x0ff0_0ff0] => 0xf0f0_f0f0),
        group!("not.b32", "w>w", [0xff00_ff00] => 0x00ff_00ff, [0] => M1W),
        group!("and.b64", "dd>d", [0xff00_0000_0000_00ff, 0x0ff0_0000_0000_0ff0] => 0x0f00_0000_0000_00f0),
        group!("or.b64", "dd>d", [0xff00_0000_0000_00ff, 0x0ff0_0000_0000_0ff0] => 0xfff0_0000_0000_0fff),
        group!("xor.b64", "dd>d", [0xff00_0000_0000_00ff, 0x0ff0_0000_0000_0ff0] => 0xf0f0_0000_0000_0f0f),
        group!("not.b64", "d>d", [0xff00_0000_0000_00ff] => 0x00ff_ffff_ffff_ff00),
        group!("and.pred", "pp>p", [0, 0] => 0, [0, 1] => 0, [1, 0] => 0, [1, 1] => 1),
        group!("or.pred", "pp>p", [0, 0] => 0, [0, 1] => 1, [1, 0] => 1, [1, 1] => 1),
        group!("xor.pred", "pp>p", [0, 0] => 0, [0, 1] => 1, [1, 0] => 1, [1, 1] => 0),
        group!("not.pred", "p>p", [0] => 1, [1] => 0),

        // A shift amount is a 32-bit number without sign, and is clamped to the width.
        group!("shl.b16", "hw>h", [1, 0] => 1, [1, 15] => MINH, [1, 16] => 0, [M1H, 4] => 0xfff0, [M1H, M1W] => 0, [1, 32] => 0),
        group!("shr.{u16,b16}", "hw>h", [MINH, 0] => MINH, [MINH, 15] => 1, [MINH, 16] => 0, [M1H, 4] => 0xfff, [M1H, M1W] => 0, [M1H, 32] => 0),
        group!("shr.s16", "hw>h", [MINH, 0] => MINH, [MINH, 15] => M1H, [MINH, 16] => M1H, [0x7fff, 16] => 0, [MINH, M1W] => M1H, [0xfff0, 4] => M1H),
        group!("shl.b32", "ww>w", [1, 0] => 1, [1, 31] => MINW, [1, 32] => 0, [M1W, 4] => 0xffff_fff0, [M1W, 33] => 0, [M1W, M1W] => 0, [1, 256] => 0),
        group!("shr.{u32,b32}", "ww>w", [MINW, 0] => MINW, [MINW, 31] => 1, [MINW, 32] => 0, [M1W, 4] => 0xfff_ffff, [M1W, 33] => 0, [M1W, M1W] => 0),
        group!("shr.s32", "ww>w", [MINW, 0] => MINW, [MINW, 31] => M1W, [MINW, 32] => M1W, [0x7fff_ffff, 31] => 0, [0x7fff_ffff, 40] => 0, [MINW, M1W] => M1W),
        group!("shl.b64", "dw>d", [1, 0] => 1, [1, 63] => MIND, [1, 64] => 0, [1, 32] => 1 << 32, [M1D, M1W] => 0),
        group!("shr.{u64,b64}", "dw>d", [MIND, 63] => 1, [MIND, 64] => 0, [M1D, 32] => M1W, [M1D, M1W] => 0),
        group!("shr.s64", "dw>d", [MIND, 63] => M1D, [MIND, 64] => M1D, [0x7fff_ffff_ffff_ffff, 64] => 0, [MIND, 32] => 0xffff_ffff_8000_0000, [MIND, M1W] => M1D),
        group!("shf.l.wrap.b32", "www>w", [0x1234_5678, 0x9abc_def0, 0] => 0x9abc_def0, [0x1234_5678, 0x9abc_def0, 8] => 0xbcde_f012, [0x1234_5678, 0x9abc_def0, 32] => 0x9abc_def0, [0x1234_5678, 0x9abc_def0, 40] => 0xbcde_f012),
        group!("shf.l.clamp.b32", "www>w", [0x1234_5678, 0x9abc_def0, 0] => 0x9abc_def0, [0x1234_5678, 0x9abc_def0, 8] => 0xbcde_f012, [0x1234_5678, 0x9abc_def0, 32] => 0x1234_5678, [0x1234_5678, 0x9abc_def0, 40] => 0x1234_5678),
        group!("shf.r.wrap.b32", "www>w", [0x1234_5678, 0x9abc_def0, 0] => 0x1234_5678, [0x1234_5678, 0x9abc_def0, 8] => 0xf012_3456, [0x1234_5678, 0x9abc_def0, 32] => 0x1234_5678, [0x1234_5678, 0x9abc_def0, 40] => 0xf012_3456),
        group!("shf.r.clamp.b32", "www>w", [0x1234_5678, 0x9abc_def0, 0] => 0x1234_5678, [0x1234_5678, 0x9abc_def0, 8] => 0xf012_3456, [0x1234_5678, 0x9abc_def0, 32] => 0x9abc_def0, [0x1234_5678, 0x9abc_def0, 40] => 0x9abc_def0),
        // The table's bit for (a, b, c) is at 4a + 2b + c: 0xf0, 0xcc and 0xaa are a, b and c themselves.
        group!("lop3.b32", "wwwi>w", [0xff00_ff00, 0xf0f0_f0f0, 0xcccc_cccc, 0x80] => 0xc000_c000),
        group!("lop3.b32", "wwwi>w", [0xff00_ff00, 0xf0f0_f0f0, 0xcccc_cccc, 0x96] => 0xc33c_c33c),
        group!("lop3.b32", "wwwi>w", [0x1234_5678, 0xf0f0_f0f0, 0xcccc_cccc, 0xf0] => 0x1234_5678),
        group!("lop3.b32", "wwwi>w", [0x1234_5678, 0xf0f0_f0f0, 0xcccc_cccc, 0xcc] => 0xf0f0_f0f0),
        group!("lop3.b32", "wwwi>w", [0x1234_5678, 0xf0f0_f0f0, 0xabcd_ef01, 0xaa] => 0xabcd_ef01),
    ]
}

#[rustfmt::skip]
fn bits() -> Vec<Group> {
    vec![
        group!("popc.b32", "w>w", [0] => 0, [M1W] => 32, [0x8000_0001] => 2),
        group!("popc.b64", "d>w", [0] => 0, [M1D] => 64, [0x8000_0001_0000_0001] => 3),
        group!("clz.b32", "w>w", [0] => 32, [M1W] => 0, [1] => 31, [0x0080_0000] => 8),
        group!("clz.b64", "d>w", [0] => 64, [M1D] => 0, [1] => 63, [1 << 32] => 31),
        group!("brev.b32", "w>w", [1] => MINW, [0x1234_5678] => 0x1e6a_2c48, [M1W] => M1W),
        group!("brev.b64", "d>d", [1] => MIND, [0x1234_5678] => 0x1e6a_2c48_0000_0000),
        group!("bfind.u32", "w>w", [0] => M1W, [1] => 0, [MINW] => 31, [0x0012_3456] => 20),
        group!("bfind.s32", "w>w", [0] => M1W, [M1W] => M1W, [1] => 0, [MINW] => 30, [0xffff_fffe] => 0, [0x0012_3456] => 20),
        group!("bfind.u64", "d>w", [0] => M1W, [1] => 0, [MIND] => 63, [1 << 32] => 32),
        group!("bfind.s64", "d>w", [0] => M1W, [M1D] => M1W, [MIND] => 62, [1 << 32] => 32, [M1D << 8] => 7),
        group!("bfind.shiftamt.u32", "w>w", [0] => M1W, [1] => 31, [MINW] => 0, [0x0012_3456] => 11),
        group!("bfind.shiftamt.s32", "w>w", [0] => M1W, [M1W] => M1W, [1] => 31, [MINW] => 1, [0xffff_fffe] => 31),
        group!("bfind.shiftamt.u64", "d>w", [0] => M1W, [1] => 63, [MIND] => 0, [1 << 32] => 31),
        group!("bfind.shiftamt.s64", "d>w", [0] => M1W, [M1D] => M1W, [1] => 63, [MIND] => 1),
        // Start and length are the low bytes of their operands. A field may reach beyond the register.
        group!("bfe.u32", "www>w", [0x1234_5678, 4, 8] => 0x67, [0x1234_5678, 0, 32] => 0x1234_5678, [0x1234_5678, 0, 0] => 0, [M1W, 28, 8] => 0xf, [M1W, 32, 8] => 0, [M1W, 31, 1] => 1,
            [0x1234_5678, 0x104, 0x108] => 0x67, [M1W, 0, 255] => M1W, [M1W, 4, 33] => 0xfff_ffff, [M1W, 200, 200] => 0),
        group!("bfe.s32", "www>w", [0x1234_5678, 4, 8] => 0x67, [0x1234_5678, 4, 4] => 7, [0x0000_0f80, 4, 8] => 0xffff_fff8, [M1W, 0, 0] => 0, [MINW, 28, 8] => 0xffff_fff8, [MINW, 32, 8] => M1W,
            [MINW, 31, 1] => M1W, [MINW, 0, 255] => MINW, [0x7fff_ffff, 40, 4] => 0, [MINW, 200, 200] => M1W, [MINW, 16, 15] => 0),
        group!("bfe.u64", "dww>d", [0x0123_4567_89ab_cdef, 28, 8] => 0x78, [M1D, 0, 64] => M1D, [M1D, 60, 8] => 0xf, [M1D, 64, 8] => 0, [M1D, 0, 0] => 0, [M1D, 8, 255] => M1D >> 8),
        group!("bfe.s64", "dww>d", [0x0123_4567_89ab_cdef, 28, 8] => 0x78, [0x0123_4567_89ab_cdef, 16, 8] => 0xffff_ffff_ffff_ffab, [MIND, 60, 8] => 0xffff_ffff_ffff_fff8, [MIND, 64, 8] => M1D, [M1D, 0, 0] => 0,
            [MIND, 0, 64] => MIND, [0x7fff_ffff_ffff_ffff, 100, 4] => 0),
        group!("bfi.b32", "wwww>w", [0xff, 0, 8, 8] => 0xff00, [0, M1W, 8, 8] => 0xffff_00ff, [0xab, 0x1234_5678, 28, 8] => 0xb234_5678, [M1W, 5, 32, 8] => 5, [M1W, 5, 0, 0] => 5, [0x1234_5678, M1W, 0, 32] => 0x1234_5678,
            [0xff, 0, 0x108, 0x104] => 0xf00, [M1W, 0, 4, 255] => 0xffff_fff0, [M1W, 5, 255, 255] => 5),
        group!("bfi.b64", "ddww>d", [0xff, 0, 40, 8] => 0xff << 40, [0, M1D, 28, 8] => 0xffff_fff0_0fff_ffff, [M1D, 5, 64, 8] => 5, [M1D, 5, 0, 0] => 5, [0x1234, M1D, 0, 64] => 0x1234, [M1D, 0, 60, 255] => 0xf << 60),
        // Selectors pick bytes 0 to 3 of a and 4 to 7 of b; their bit 3 replicates the byte's sign.
        group!("prmt.b32", "www>w", [0x3322_1100, 0x7766_5544, 0x3210] => 0x3322_1100, [0x3322_1100, 0x7766_5544, 0x7654] => 0x7766_5544, [0x3322_1100, 0x7766_5544, 0x0246] => 0x0022_4466, [0x3322_8000, 0x7766_ff44, 0x9d9d] => 0xffff_ffff,
            [0x3322_1100, 0x7766_5544, 0xbfb8] => 0, [0x8022_1100, 0x7766_5544, 0x000b] => 0x0000_00ff, [0x3322_1100, 0x7766_5544, 0xffff_0123] => 0x0011_2233),
        group!("dp4a.u32.u32", "www>w", [0x0102_0304, 0x0506_0708, 100] => 170, [0xffff_ffff, 0xffff_ffff, 0] => 260_100, [0x8080_8080, 0x0202_0202, 0] => 1024, [0x0101_0101, 0x0101_0101, M1W] => 3),
        group!("dp4a.s32.s32", "www>w", [0x0102_0304, 0x0506_0708, 100] => 170, [0xffff_ffff, 0xffff_ffff, 0] => 4, [0x8080_8080, 0x0202_0202, 0] => 0xffff_fc00, [0x7f7f_7f7f, 0x8080_8080, 0] => 0xffff_0200, [0x0101_0101, 0x0101_0101, 0x7fff_ffff] => 0x8000_0003),
        group!("dp4a.u32.s32", "www>w", [0xffff_ffff, 0xffff_ffff, 0] => 0xffff_fc04, [0x8080_8080, 0x0202_0202, 0] => 1024, [0x0202_0202, 0x8080_8080, 0] => 0xffff_fc00, [0x0102_0304, 0x0506_0708, 0xffff_ff9c] => 0xffff_ffe2),
        group!("dp4a.s32.u32", "www>w", [0xffff_ffff, 0xffff_ffff, 0] => 0xffff_fc04, [0x8080_8080, 0x0202_0202, 0] => 0xffff_fc00, [0x0202_0202, 0x8080_8080, 0] => 1024, [0x0102_0304, 0x0506_0708, 0xffff_ff9c] => 0xffff_ffe2),
        group!("vabsdiff4.u32.u32.u32", "www>w", [0x0102_0304, 0x0401_0304, 0] => 0x0301_0000, [0xff00_80ff, 0x00ff_7f00, 0] => 0xffff_01ff, [0x0000_0005, 0x0000_0003, 0x1111_1111] => 2),
    ]
}

#[rustfmt::skip]
fn single() -> Vec<Group> {
    vec![
        // 1 + 2^-24 is half way between 1 and the next number: even wins. 1 + 2^-23 + 2^-24 goes up to even.
        group!("add{,.rn}.f32", "ww>w", [f(1.5), f(2.25)] => f(3.75), [f(1.0), 0x3380_0000] => f(1.0), [0x3f80_0001, 0x3380_0000] => 0x3f80_0002, [f(1.0), f(-1.0)] => 0, [MINUS_ZERO32, MINUS_ZERO32] => MINUS_ZERO32, [MINUS_ZERO32, 0] => 0,
            [MAX32, MAX32] => INF32, [INF32, MINUS_INF32] => NAN32, [QUIET32, f(1.0)] => NAN32, [f(1.0), SIGNAL32] => NAN32, [DENORMAL32, DENORMAL32] => 2, [0x007f_ffff, DENORMAL32] => NORMAL32, [INF32, f(1.0)] => INF32),
        group!("sub{,.rn}.f32", "ww>w", [f(1.5), f(2.25)] => f(-0.75), [f(1.0), f(1.0)] => 0, [MINUS_ZERO32, 0] => MINUS_ZERO32, [0, MINUS_ZERO32] => 0, [INF32, INF32] => NAN32, [NORMAL32, DENORMAL32] => 0x007f_ffff, [f(1.0), QUIET32] => NAN32, [MAX32, 0xff7f_ffff] => INF32),
        group!("mul{,.rn}.f32", "ww>w", [f(1.5), f(-2.5)] => f(-3.75), [0, MINUS_INF32] => NAN32, [f(-1.0), 0] => MINUS_ZERO32, [MAX32, f(2.0)] => INF32, [NORMAL32, f(0.5)] => 0x0040_0000, [DENORMAL32, f(0.5)] => 0, [3, f(0.5)] => 2, [DENORMAL32, f(-0.75)] => 0x8000_0001, [QUIET32, 0] => NAN32,
            // (1 + 2^-23)^2 = 1 + 2^-22 + 2^-46, of which the last term does not fit.
            [0x3f80_0001, 0x3f80_0001] => 0x3f80_0002),
        // One rounding: (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24; a rounded product would leave 0.
        group!("{fma,mad}.rn.f32", "www>w", [f(2.0), f(3.0), f(4.0)] => f(10.0), [0x3f80_0800, 0x3f80_0800, 0xbf80_1000] => 0x3380_0000, [INF32, 0, f(1.0)] => NAN32, [INF32, f(1.0), MINUS_INF32] => NAN32, [f(1.0), MINUS_ZERO32, MINUS_ZERO32] => MINUS_ZERO32,
            [f(1.0), f(1.0), f(-1.0)] => 0, [DENORMAL32, f(1.0), DENORMAL32] => 2, [QUIET32, f(1.0), f(1.0)] => NAN32, [f(1.0), f(1.0), SIGNAL32] => NAN32, [MAX32, f(2.0), MINUS_INF32] => MINUS_INF32),
        group!("add{,.rn}.sat.f32", "ww>w", [f(0.25), f(0.5)] => f(0.75), [f(0.75), f(0.5)] => f(1.0), [f(-1.0), f(0.5)] => 0, [QUIET32, f(1.0)] => 0, [INF32, f(1.0)] => f(1.0), [MINUS_ZERO32, MINUS_ZERO32] => 0),
        group!("mul{,.rn}.sat.f32", "ww>w", [f(0.5), f(0.5)] => f(0.25), [f(2.0), f(2.0)] => f(1.0), [f(-2.0), f(2.0)] => 0, [INF32, 0] => 0),
        group!("{fma,mad}.rn.sat.f32", "www>w", [f(0.5), f(0.5), f(0.5)] => f(0.75), [f(2.0), f(2.0), f(0.0)] => f(1.0), [f(-2.0), f(2.0), f(1.0)] => 0, [QUIET32, f(1.0), f(1.0)] => 0),
        group!("neg.f32", "w>w", [f(1.0)] => f(-1.0), [0] => MINUS_ZERO32, [MINUS_ZERO32] => 0, [INF32] => MINUS_INF32, [DENORMAL32] => 0x8000_0001, [QUIET32] => NAN32, [SIGNAL32] => NAN32),
        group!("abs.f32", "w>w", [f(1.0)] => f(1.0), [f(-1.0)] => f(1.0), [MINUS_ZERO32] => 0, [MINUS_INF32] => INF32, [0x8000_0001] => 1, [QUIET32] => NAN32),
        group!("min.f32", "ww>w", [f(1.0), f(2.0)] => f(1.0), [f(-1.0), f(1.0)] => f(-1.0), [0, MINUS_ZERO32] => MINUS_ZERO32, [MINUS_ZERO32, 0] => MINUS_ZERO32, [QUIET32, f(1.0)] => f(1.0), [f(1.0), QUIET32] => f(1.0), [SIGNAL32, f(1.0)] => f(1.0), [QUIET32, QUIET32] => NAN32, [INF32, MINUS_INF32] => MINUS_INF32, [DENORMAL32, 2] => 1),
        group!("max.f32", "ww>w", [f(1.0), f(2.0)] => f(2.0), [f(-1.0), f(1.0)] => f(1.0), [0, MINUS_ZERO32] => 0, [MINUS_ZERO32, 0] => 0, [QUIET32, f(1.0)] => f(1.0), [f(1.0), QUIET32] => f(1.0), [f(1.0), SIGNAL32] => f(1.0), [QUIET32, SIGNAL32] => NAN32, [INF32, MINUS_INF32] => INF32, [DENORMAL32, 2] => 2),
        group!("copysign.f32", "ww>w", [f(-1.0), f(2.0)] => f(-2.0), [f(1.0), f(-2.0)] => f(2.0), [MINUS_ZERO32, INF32] => MINUS_INF32, [0, QUIET32] => 0x7fc1_2345),
        group!("div.rn.f32", "ww>w", [f(1.0), f(3.0)] => 0x3eaa_aaab, [f(7.5), f(-2.5)] => f(-3.0), [f(1.0), 0] => INF32, [f(1.0), MINUS_ZERO32] => MINUS_INF32, [0, 0] => NAN32, [INF32, INF32] => NAN32, [f(1.0), INF32] => 0, [NORMAL32, f(2.0)] => 0x0040_0000, [DENORMAL32, f(2.0)] => 0, [QUIET32, f(1.0)] => NAN32, [MAX32, f(0.5)] => INF32),
        group!("rcp.rn.f32", "w>w", [f(3.0)] => 0x3eaa_aaab, [f(-4.0)] => f(-0.25), [0] => INF32, [MINUS_ZERO32] => MINUS_INF32, [INF32] => 0, [SIGNAL32] => NAN32, [0x7f00_0000] => 0x0040_0000),
        group!("sqrt.rn.f32", "w>w", [f(9.0)] => f(3.0), [f(2.0)] => 0x3fb5_04f3, [f(-1.0)] => NAN32, [0] => 0, [MINUS_ZERO32] => MINUS_ZERO32, [INF32] => INF32, [QUIET32] => NAN32, [0x0000_0002] => 0x1a80_0000),
    ]
}

#[rustfmt::skip]
fn double() -> Vec<Group> {
    vec![
        group!("add{,.rn}.f64", "dd>d", [d(1.5), d(2.25)] => d(3.75), [d(1.0), 0x3ca0_0000_0000_0000] => d(1.0), [0x3ff0_0000_0000_0001, 0x3ca0_0000_0000_0000] => 0x3ff0_0000_0000_0002, [d(1.0), d(-1.0)] => 0, [MINUS_ZERO64, MINUS_ZERO64] => MINUS_ZERO64, [MAX64, MAX64] => INF64, [1, 1] => 2,
            [QUIET64, d(1.0)] => QUIET64, [d(1.0), SIGNAL64] => SIGNAL64 | QUIET_BIT, [QUIET64, PAYLOAD64] => PAYLOAD64, [PAYLOAD64, QUIET64] => QUIET64, [INF64, MINUS_INF64] => INVALID64),
        group!("sub{,.rn}.f64", "dd>d", [d(1.5), d(2.25)] => d(-0.75), [d(1.0), d(1.0)] => 0, [NORMAL64, 1] => 0x000f_ffff_ffff_ffff, [QUIET64, PAYLOAD64] => PAYLOAD64, [SIGNAL64, QUIET64] => QUIET64, [INF64, INF64] => INVALID64),
        group!("mul{,.rn}.f64", "dd>d", [d(1.5), d(-2.5)] => d(-3.75), [d(-1.0), 0] => MINUS_ZERO64, [MAX64, d(2.0)] => INF64, [NORMAL64, d(0.5)] => 0x0008_0000_0000_0000, [3, d(0.5)] => 2, [QUIET64, PAYLOAD64] => PAYLOAD64, [MINUS_INF64, 0] => INVALID64),
        group!("{fma,mad}.rn.f64", "ddd>d", [d(2.0), d(3.0), d(4.0)] => d(10.0), [0x3ff0_0000_0400_0000, 0x3ff0_0000_0400_0000, 0xbff0_0000_0800_0000] => 0x3cb0_0000_0000_0000, [d(1.0), d(1.0), d(-1.0)] => 0, [MAX64, d(2.0), MINUS_INF64] => MINUS_INF64,
            [QUIET64, PAYLOAD64, SIGNAL64] => PAYLOAD64, [SIGNAL64, d(1.0), PAYLOAD64] => PAYLOAD64, [INF64, 0, d(1.0)] => INVALID64, [INF64, 0, QUIET64] => QUIET64),
        group!("neg.f64", "d>d", [d(1.0)] => d(-1.0), [0] => MINUS_ZERO64, [INF64] => MINUS_INF64, [QUIET64] => QUIET64, [SIGNAL64] => SIGNAL64 | QUIET_BIT),
        group!("abs.f64", "d>d", [d(-1.0)] => d(1.0), [MINUS_ZERO64] => 0, [MINUS_INF64] => INF64, [QUIET64] => QUIET64),
        group!("min.f64", "dd>d", [d(1.0), d(2.0)] => d(1.0), [0, MINUS_ZERO64] => MINUS_ZERO64, [MINUS_ZERO64, 0] => MINUS_ZERO64, [NAN64, d(1.0)] => d(1.0), [d(1.0), NAN64] => d(1.0), [INF64, MINUS_INF64] => MINUS_INF64, [QUIET64, PAYLOAD64] => PAYLOAD64, [SIGNAL64, QUIET64] => QUIET64, [SIGNAL64, d(1.0)] => d(1.0)),
        group!("max.f64", "dd>d", [d(1.0), d(2.0)] => d(2.0), [0, MINUS_ZERO64] => 0, [MINUS_ZERO64, 0] => 0, [NAN64, d(1.0)] => d(1.0), [d(1.0), NAN64] => d(1.0), [INF64, MINUS_INF64] => INF64, [QUIET64, PAYLOAD64] => PAYLOAD64, [SIGNAL64, QUIET64] => QUIET64, [SIGNAL64, d(1.0)] => d(1.0)),
        group!("copysign.f64", "dd>d", [d(-1.0), d(2.0)] => d(-2.0), [d(1.0), d(-2.0)] => d(2.0)),
        group!("div.rn.f64", "dd>d", [d(1.0), d(3.0)] => 0x3fd5_5555_5555_5555, [d(7.5), d(-2.5)] => d(-3.0), [d(1.0), 0] => INF64, [d(1.0), MINUS_ZERO64] => MINUS_INF64, [d(1.0), INF64] => 0, [NORMAL64, d(2.0)] => 0x0008_0000_0000_0000, [QUIET64, PAYLOAD64] => QUIET64, [SIGNAL64, QUIET64] => SIGNAL64 | QUIET_BIT, [0, 0] => INVALID64, [d(1.0), PAYLOAD64] => PAYLOAD64),
        group!("rcp.rn.f64", "d>d", [d(3.0)] => 0x3fd5_5555_5555_5555, [d(-4.0)] => d(-0.25), [0] => INF64, [MINUS_INF64] => MINUS_ZERO64, [QUIET64] => QUIET64),
        group!("sqrt.rn.f64", "d>d", [d(9.0)] => d(3.0), [d(2.0)] => 0x3ff6_a09e_667f_3bcd, [MINUS_ZERO64] => MINUS_ZERO64, [INF64] => INF64, [d(-1.0)] => INVALID64, [PAYLOAD64] => PAYLOAD64),
    ]
}

/// How two operands compare.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Less,
    Equal,
    Greater,
    /// One of them is NaN.
    Unordered,
}

/// Comparisons, and the orders for which each is true.
const COMPARISONS: &[(&str, &[Order])] = {
    use Order::{Equal, Greater, Less, Unordered};
    &[
        ("eq", &[Equal]),
        ("ne", &[Less, Greater]),
        ("lt", &[Less]),
        ("lo", &[Less]),
        ("le", &[Less, Equal]),
        ("ls", &[Less, Equal]),
        ("gt", &[Greater]),
        ("hi", &[Greater]),
        ("ge", &[Greater, Equal]),
        ("hs", &[Greater, Equal]),
        ("equ", &[Equal, Unordered]),
        ("neu", &[Less, Greater, Unordered]),
        ("ltu", &[Less, Unordered]),
        ("leu", &[Less, Equal, Unordered]),
        ("gtu", &[Greater, Unordered]),
        ("geu", &[Greater, Equal, Unordered]),
        ("num", &[Less, Equal, Greater]),
        ("nan", &[Unordered]),
    ]
};

/// Pairs of operands with their order.
type Pairs = &'static [(u64, u64, Order)];

/// Types that are compared: the comparisons of each, the kinds of the operands, pairs.
#[rustfmt::skip]
const COMPARED: &[(&str, &[&str], &str, Pairs)] = {
    use Order::{Equal, Greater, Less, Unordered};
    const EQUALITY: &[&str] = &["eq", "ne"];
    const SIGNED: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];
    const UNSIGNED: &[&str] = &["eq", "ne", "lt", "lo", "le", "ls", "gt", "hi", "ge", "hs"];
    const FLOAT: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];
    &[
        ("b16", EQUALITY, "hh>p", &[(1, 1, Equal), (1, M1H, Less), (MINH, 0, Greater)]),
        ("u16", UNSIGNED, "hh>p", &[(1, 1, Equal), (1, M1H, Less), (M1H, 1, Greater), (MINH, 0x7fff, Greater), (0, 0, Equal)]),
        ("s16", SIGNED, "hh>p", &[(1, 1, Equal), (1, M1H, Greater), (M1H, 1, Less), (MINH, 0x7fff, Less), (M1H, M1H, Equal)]),
        ("b32", EQUALITY, "ww>p", &[(1, 1, Equal), (1, M1W, Less), (MINW, 0, Greater)]),
        ("u32", UNSIGNED, "ww>p", &[(1, 1, Equal), (1, M1W, Less), (M1W, 1, Greater), (MINW, 0x7fff_ffff, Greater), (0, 0, Equal)]),
        ("s32", SIGNED, "ww>p", &[(1, 1, Equal), (1, M1W, Greater), (M1W, 1, Less), (MINW, 0x7fff_ffff, Less), (M1W, M1W, Equal)]),
        ("b64", EQUALITY, "dd>p", &[(1, 1, Equal), (1, M1D, Less), (1, 1 << 32 | 1, Less)]),
        ("u64", UNSIGNED, "dd>p", &[(1, 1, Equal), (1, M1D, Less), (M1D, 1, Greater), (1 << 32, M1W, Greater)]),
        ("s64", SIGNED, "dd>p", &[(1, 1, Equal), (1, M1D, Greater), (M1D, 1, Less), (MIND, M1W, Less)]),
        ("f32", FLOAT, "ww>p", &[(f(1.0), f(1.0), Equal), (f(1.0), f(2.0), Less), (f(2.0), f(1.0), Greater), (f(-2.0), f(-1.0), Less), (0, MINUS_ZERO32, Equal), (INF32, MINUS_INF32, Greater),
            (1, 0, Greater), (QUIET32, f(1.0), Unordered), (f(1.0), SIGNAL32, Unordered), (QUIET32, QUIET32, Unordered), (INF32, INF32, Equal)]),
        ("f64", FLOAT, "dd>p", &[(d(1.0), d(1.0), Equal), (d(1.0), d(2.0), Less), (d(2.0), d(1.0), Greater), (d(-2.0), d(-1.0), Less), (0, MINUS_ZERO64, Equal), (INF64, MINUS_INF64, Greater),
            (1, 0, Greater), (NAN64, d(1.0), Unordered), (d(1.0), NAN64, Unordered), (NAN64, NAN64, Unordered), (INF64, INF64, Equal)]),
    ]
};

fn comparisons() -> Vec<Group> {
    let mut groups = Vec::new();
    for (ty, known, operands, pairs) in COMPARED {
        for comparison in *known {
            let (_, holds) = COMPARISONS.iter().find(|(name, _)| name == comparison).expect("a comparison of the table");
            let cases = pairs.iter().map(|(a, b, order)| (vec![*a, *b], u64::from(holds.contains(order)))).collect();
            groups.push(Group::new(format!("setp.{comparison}.{ty}"), operands, cases));
        }
    }
    groups
}

/// Computed once, because exact numbers are slow.
static FLOATS: LazyLock<Vec<Group>> = LazyLock::new(floats::groups);

fn groups() -> Vec<Group> {
    let by_hand = [moves(), integers(), logic(), bits(), single(), double(), comparisons(), conversions::groups(), rest::groups()];
    let from_definitions = [quarter::groups(), video::groups()];
    by_hand.into_iter().chain(from_definitions).flatten().chain(FLOATS.iter().cloned()).chain(approximations::groups()).collect()
}

/// One kernel of the generated module.
struct Kernel {
    name: String,
    opcode: String,
    operands: &'static str,
    cases: Vec<Case>,
}

/// Returns the module with a kernel for each opcode of each group. Each thread takes one case: its sources stand at `in[thread *
/// number of sources]`, each in 8 bytes, and its result goes to `out[thread]`.
fn module(groups: &[Group]) -> (String, Vec<Kernel>) {
    let mut text = ".version 8.0\n.target sm_90\n.address_size 64\n".to_owned();
    let mut kernels = Vec::new();
    for group in groups {
        for opcode in spellings(&group.opcodes) {
            let name = format!("case_{}", kernels.len());
            let (sources, destination) = group.operands.split_once('>').expect("kinds of sources and destination");
            let instruction = instruction(group, &opcode, sources, destination);
            let bytes = 8 * sources.len();
            write!(
                text,
                "
.visible .entry {name}(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p<9>;
    .reg .b16 %h<9>;
    .reg .b16 %unused, %unused1, %unused2;
    .reg .b32 %w<9>;
    .reg .b32 %unusedw, %thread;
    .reg .b64 %d<9>;
    .reg .b64 %in, %out;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mov.u32 %thread, %tid.x;
    mad.wide.u32 %in, %thread, {bytes}, %in;
    mad.wide.u32 %out, %thread, 8, %out;
"
            )
            .unwrap();
            for (index, kind) in sources.chars().enumerate() {
                let at = 8 * index;
                match kind {
                    'p' => {
                        writeln!(text, "    ld.global.u32 %w8, [%in+{at}];\n    setp.ne.u32 %p{index}, %w8, 0;").unwrap();
                    }
                    'i' => {}
                    kind => writeln!(text, "    ld.global.b{} %{kind}{index}, [%in+{at}];", width(kind)).unwrap(),
                }
            }
            writeln!(text, "    {instruction}").unwrap();
            match destination {
                "p" => text.push_str("    selp.u32 %w8, 1, 0, %p7;\n    st.global.b32 [%out], %w8;\n"),
                kind => writeln!(text, "    st.global.b{} [%out], %{kind}7;", width(kind.as_bytes()[0].into())).unwrap(),
            }
            text.push_str("    ret;\n}\n");
            kernels.push(Kernel { name, opcode, operands: group.operands, cases: group.cases.clone() });
        }
    }
    (text, kernels)
}

fn width(kind: char) -> u32 {
    match kind {
        'h' => 16,
        'w' => 32,
        'd' => 64,
        _ => panic!("no kind of operand: {kind}"),
    }
}

fn instruction(group: &Group, opcode: &str, sources: &str, destination: &str) -> String {
    let destination = format!("%{destination}7");
    let sources: Vec<String> = sources
        .chars()
        .enumerate()
        .map(|(index, kind)| {
            if kind == 'i' {
                let immediate = group.cases[0].0[index];
                assert!(group.cases.iter().all(|(sources, _)| sources[index] == immediate), "{opcode} has one immediate");
                immediate.to_string()
            } else {
                format!("%{kind}{index}")
            }
        })
        .collect();
    match group.form {
        None => format!("{opcode} {destination}, {};", sources.join(", ")),
        Some(form) => {
            let mut form = form.replace("{D}", &destination);
            for (index, source) in sources.iter().enumerate() {
                form = form.replace(&format!("{{S{index}}}"), source);
            }
            form
        }
    }
}

/// Runs the cases of a kernel in `threads` lanes; if there are more lanes than cases, cases repeat.
fn results(gpu: &Gpu, kernel: &Kernel, threads: usize) -> Vec<u64> {
    let sources: Vec<u64> = kernel.cases.iter().cycle().take(threads).flat_map(|(sources, _)| sources.iter().copied()).collect();
    let input = gpu.buffer(&sources);
    let output = gpu.buffer(&vec![0_u64; threads]);
    gpu.launch(&kernel.name, 1, threads as u32, 0, &Params::new().with(input).with(output));
    gpu.read(output, threads)
}

/// Returns all cases that fail, or nothing.
fn failures(gpu: &Gpu, kernels: &[Kernel], threads: impl Fn(&Kernel) -> usize) -> String {
    let mut failures = String::new();
    for kernel in kernels {
        let results = results(gpu, kernel, threads(kernel));
        for ((sources, expected), result) in kernel.cases.iter().cycle().zip(results) {
            if result != *expected {
                let Kernel { opcode, operands, .. } = kernel;
                writeln!(failures, "{opcode} ({operands}) of {sources:x?} is {expected:#x}, not {result:#x}").unwrap();
            }
        }
    }
    failures
}

#[test]
fn every_instruction_gives_the_values_of_its_definition() {
    let (ptx, kernels) = module(&[groups(), rest::composed()].concat());
    let gpu = Gpu::load(&ptx);
    // As many threads as there are cases: some lanes of the warp are not active, and their registers must not change.
    let failures = failures(&gpu, &kernels, |kernel| kernel.cases.len());
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn full_warps_give_the_same_values_with_and_without_vector_instructions() {
    let (ptx, kernels) = module(&[groups(), rest::composed()].concat());
    for portable in [false, true] {
        let gpu = Gpu::with_options(&ptx, simt::LaunchOptions { portable, ..Default::default() });
        let failures = failures(&gpu, &kernels, |kernel| kernel.cases.len().next_multiple_of(32));
        assert!(failures.is_empty(), "portable: {portable}\n{failures}");
    }
}

#[test]
fn every_spelling_has_a_case() {
    let mut cases: BTreeMap<String, usize> = BTreeMap::new();
    for group in groups() {
        for opcode in spellings(&group.opcodes) {
            *cases.entry(opcode).or_default() += group.cases.len();
        }
    }
    let known: Vec<String> = TABLE.iter().flat_map(|row| spellings(row.spelling)).collect();
    let without: Vec<_> = known.iter().filter(|spelling| !cases.contains_key(*spelling)).collect();
    assert!(without.is_empty(), "spellings without a case: {without:?}");
    let unknown: Vec<_> = cases.keys().filter(|opcode| !known.contains(opcode)).collect();
    assert!(unknown.is_empty(), "cases of spellings that the table does not have: {unknown:?}");
}
