//! The values that instructions compute.

use std::fmt::Write;

use super::words;
use crate::common::{Gpu, Params};

/// Bytes of the memory that the loads read.
const BYTES: usize = 2048;

fn byte(at: usize) -> u8 {
    (at * 37 + at / 256 + 11) as u8
}

/// A load of one form: lane `i` reads `count` elements at `bytes * (1 + i * stride)`.
struct Form {
    width: usize,
    signed: bool,
    count: usize,
    /// 0: all lanes the same bytes; 1: each lane those after its neighbor; 2: every second piece.
    stride: usize,
}

impl Form {
    fn all() -> impl Iterator<Item = Self> {
        let widths = [1, 2, 4, 8].into_iter().flat_map(|width| [1, 2, 4].map(|count| (width, count)));
        let shapes = widths.filter(|(width, count)| width * count <= 16);
        let signs = shapes.flat_map(|(width, count)| [false, true].map(|signed| (width, count, signed)));
        signs.flat_map(|(width, count, signed)| [0, 1, 2].map(|stride| Form { width, signed, count, stride }))
    }

    fn name(&self) -> String {
        let Self { width, signed, count, stride } = self;
        format!("{}{}x{count}by{stride}", if *signed { "s" } else { "u" }, width * 8)
    }

    /// Returns the element that a lane loads, extended to 64 bits.
    fn expected(&self, lane: usize, element: usize) -> u64 {
        let at = self.width * self.count * (1 + lane * self.stride) + element * self.width;
        let value = (0..self.width).rev().fold(0, |value, i| value << 8 | u64::from(byte(at + i)));
        let above = 64 - 8 * self.width;
        if self.signed { ((value << above) as i64 >> above) as u64 } else { value }
    }

    /// Returns a kernel that loads through `space`, and stores 64-bit elements. `base` leaves the address of the bytes in `%rd4`.
    fn kernel(&self, space: &str, base: &str) -> String {
        let Self { width, signed, count, stride } = self;
        let sign = if *signed { "s" } else { "u" };
        let (register, held) = match width {
            1 | 2 => ("%h", 16),
            4 => ("%r1", 32),
            _ => ("%rd1", 64),
        };
        let names: Vec<_> = (0..*count).map(|element| format!("{register}{element}")).collect();
        let (vector, destination) = match count {
            1 => (String::new(), names[0].clone()),
            count => (format!(".v{count}"), format!("{{{}}}", names.join(", "))),
        };
        let bytes = width * count;
        let mut text = format!(
            ".visible .entry {}(.param .u64 in, .param .u64 out, .param .align 16 .b8 data[{BYTES}])\n{{\n.reg .pred %p<2>;\n.reg .b16 %h<9>;\n\
             .reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.shared .align 16 .b8 tile[{BYTES}];\n.local .align 16 .b8 own[{BYTES}];\n\
             ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\n{base}\n\
             mul.wide.u32 %rd5, %r1, {};\nadd.u64 %rd5, %rd5, %rd4;\nld{space}{vector}.{sign}{} {destination}, [%rd5+{bytes}];\n\
             mul.wide.u32 %rd6, %r1, 32;\nadd.u64 %rd6, %rd2, %rd6;\n",
            self.name(),
            bytes * stride,
            width * 8,
        );
        for (element, name) in names.iter().enumerate() {
            let _ = writeln!(text, "cvt.{sign}64.{sign}{held} %rd7, {name};\nst.global.u64 [%rd6+{}], %rd7;", 8 * element);
        }
        text + "ret;\n}\n"
    }
}

/// Copies the input word by word to the memory at `base`.
fn filled(space: &str, base: &str) -> String {
    format!(
        "mov.u64 %rd4, {base};\nmov.u32 %r2, 0;\nFILL:\nmul.wide.u32 %rd7, %r2, 1;\nadd.u64 %rd8, %rd1, %rd7;\nld.global.u32 %r3, [%rd8];\n\
         add.u64 %rd9, %rd4, %rd7;\nst.{space}.u32 [%rd9], %r3;\nadd.u32 %r2, %r2, 4;\nsetp.lt.u32 %p1, %r2, {BYTES};\n@%p1 bra FILL;\n\
         bar.sync 0;"
    )
}

/// PTX ISA, "Vectors as Operands": "Vector loads and stores can be used to implement wide loads and stores, which may improve memory
/// performance. The registers in the load/store operations can be a vector, or a brace-enclosed list of similarly typed scalars."
#[test]
fn every_element_of_a_vector_load_arrives_whatever_its_space_and_width() {
    let bytes: Vec<u8> = (0..BYTES).map(byte).collect();
    let list = bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    let (shared, local) = (filled("shared", "tile"), filled("local", "own"));
    for (space, base) in [
        (".global", "mov.u64 %rd4, %rd1;"),
        (".const", "mov.u64 %rd4, fixed;"),
        (".param", "mov.u64 %rd4, data;"),
        (".shared", &shared),
        (".local", &local),
        ("", "mov.u64 %rd4, %rd1;"),
        ("", &format!("{shared}\ncvta.shared.u64 %rd4, %rd4;")),
        ("", &format!("{local}\ncvta.local.u64 %rd4, %rd4;")),
        ("", "mov.u64 %rd4, data;\ncvta.param.u64 %rd4, %rd4;"),
    ] {
        let mut text =
            format!(".version 8.0\n.target sm_80\n.address_size 64\n.const .align 16 .b8 fixed[{BYTES}] = {{{list}}};\n");
        Form::all().for_each(|form| text += &form.kernel(space, base));
        let gpu = Gpu::load(&text);
        let input = gpu.buffer(&bytes);
        for form in Form::all() {
            let output = gpu.poisoned::<u64>(32 * 4);
            let data: [u8; BYTES] = std::array::from_fn(byte);
            gpu.launch(&form.name(), 1, 32, 0, &Params::new().with(input).with(output).aligned(data, 16));
            let found = gpu.read::<u64>(output, 32 * 4);
            for (lane, found) in found.chunks(4).enumerate() {
                let expected: Vec<_> = (0..form.count).map(|element| form.expected(lane, element)).collect();
                assert_eq!(found[..form.count], expected, "ld{space} of {}, lane {lane}", form.name());
            }
        }
    }
}

/// PTX ISA, "Addresses as Operands": "address arithmetic is performed using integer arithmetic and logical instructions". The sum of
/// a register of 32 bits and an offset has 32 bits: nvcc starts loops over shared arrays below the array.
#[test]
fn an_address_of_32_bits_wraps_in_32_bits() {
    for (space, name) in [("shared", "tile"), ("local", "own")] {
        let lines = format!(
            ".shared .align 16 .b8 tile[64];\n.local .align 16 .b8 own[64];\nmov.u32 %r2, {name};\nmov.u32 %r3, 42;\nst.{space}.u32 [%r2], %r3;\n\
             mov.u32 %r3, 43;\nadd.s32 %r4, %r2, -140;\nst.{space}.u32 [%r4+144], %r3;\nld.{space}.u32 %r20, [%r4+140];\n\
             ld.{space}.v2.u32 {{%r21, %r22}}, [%r4+140];\nadd.s32 %r5, %r2, 140;\nld.{space}.u32 %r23, [%r5+-136];\n"
        );
        assert_eq!(words(&lines, 4), [42, 42, 43, 43], "{space}");
    }
    let atomic = ".shared .align 4 .b8 tile[64];\nmov.u32 %r2, tile;\nmov.u32 %r3, 7;\nst.shared.u32 [%r2+8], %r3;\nadd.s32 %r4, %r2, -4;\n\
                  atom.shared.add.u32 %r20, [%r4+12], 5;\nld.shared.u32 %r21, [%r2+8];";
    assert_eq!(words(atomic, 2), [7, 12]);
}

/// PTX ISA, "Operand Size Exceeding Instruction-Type Size": "ld, st, and cvt instructions permit source and destination data operands
/// to be wider than the instruction-type size", and "the source data is truncated ('chopped') to the appropriate size". A destination
/// is "sign-extended to the destination register width for signed integer instruction types, and ... zero-extended" for others.
#[test]
fn a_conversion_takes_wider_registers_than_its_types() {
    for (conversion, value, expected) in [
        ("cvt.s64.s32", 0x0000_0001_ffff_fffe_u64, 0xffff_ffff_ffff_fffe_u64),
        ("cvt.u64.u32", 0x0000_0001_ffff_fffe, 0x0000_0000_ffff_fffe),
        ("cvt.s64.s16", 0x0000_0001_7fff_8001, 0xffff_ffff_ffff_8001),
        ("cvt.s64.s8", 0x0000_0001_7fff_8085, 0xffff_ffff_ffff_ff85),
        ("cvt.u64.u8", 0x0000_0001_7fff_8085, 0x0000_0000_0000_0085),
        ("cvt.s32.s8", 0x0000_0001_7fff_8085, 0xffff_ffff_ffff_ff85),
        ("cvt.u32.u64", 0x0000_0001_8fff_8085, 0x0000_0000_8fff_8085),
        ("cvt.s32.s64", 0x0000_0001_8fff_8085, 0xffff_ffff_8fff_8085),
    ] {
        let lines = format!("mov.u64 %rd5, {value};\n{conversion} %rd6, %rd5;\nmov.b64 {{%r20, %r21}}, %rd6;");
        let found = words(&lines, 2);
        assert_eq!(u64::from(found[0]) | u64::from(found[1]) << 32, expected, "{conversion} of {value:#x}");
    }
    let lines = "mov.u64 %rd5, 0x1fffffffe;\ncvt.rn.f32.s32 %f1, %rd5;\nmov.b32 %r20, %f1;\ncvt.u32.u16 %r21, %rd5;";
    assert_eq!(words(lines, 2), [(-2.0_f32).to_bits(), 0xfffe]);
}

/// PTX ISA, "Arrays as Operands": "Arrays of all types can be declared, and the identifier becomes an address constant in the space
/// where the array is declared", with the example "mov.u32 s, a[1]; // move address of a[1] into s".
#[test]
fn the_address_of_an_element_can_be_moved() {
    let lines = ".shared .align 16 .b8 bytes[16];\n.shared .align 16 .b32 four[8];\n.local .align 8 .b64 own[4];\nmov.u32 %r20, bytes[0];\n\
                 mov.u32 %r21, bytes[3];\nmov.u32 %r22, four[0];\nmov.u32 %r23, four[3];\nmov.u64 %rd5, four[3];\ncvt.u32.u64 %r24, %rd5;\n\
                 mov.u32 %r25, own[0];\nmov.u32 %r26, own[2];";
    let found = words(lines, 7);
    assert_eq!([found[1] - found[0], found[3] - found[2], found[4] - found[2], found[6] - found[5]], [3, 12, 12, 16]);
}

/// PTX ISA, `vote.sync`: "vote.sync.ballot.b32 d, {!}a, membermask". CUB writes the modifiers in the order of the older instruction
/// ("vote.ballot.b32 d, {!}a"), and ptxas takes it.
#[test]
fn a_ballot_may_be_spelled_in_the_old_order() {
    let lines =
        "setp.eq.u32 %p1, %r1, 0;\nvote.ballot.sync.b32 %r20, %p1, 0xffffffff;\nvote.ballot.sync.b32 %r21, !%p1, 0xffffffff;";
    assert_eq!(words(lines, 2), [1, 0]);
}

/// PTX ISA, "Extended-Precision Integer Arithmetic Instructions": "The condition code register is not preserved across calls and is
/// mainly intended for use in straight-line code sequences for computing extended-precision integer addition, subtraction, and
/// multiplication." The flag is one: `sub.cc` leaves the carry of `a + !b + 1`, the complement of the borrow, and `subc` reads it so.
/// The mixed rows are what an H100 and an H200 give.
#[test]
fn a_borrow_is_the_complement_of_the_carry() {
    let (low, high) = (1_652_219_765_u32, 2_253_180_661_u32);
    for (first, second, expected) in [
        (format!("sub.cc.s32 %r5, {low}, {high};"), "addc.u32 %r20, 0, 0;", 0),
        (format!("sub.cc.s32 %r5, {high}, {low};"), "addc.u32 %r20, 0, 0;", 1),
        (format!("sub.cc.u32 %r5, {low}, {low};"), "addc.u32 %r20, 0, 0;", 1),
        (format!("sub.cc.u32 %r5, {low}, {high};"), "subc.u32 %r20, 5, 3;", 1),
        (format!("sub.cc.u32 %r5, {high}, {low};"), "subc.u32 %r20, 5, 3;", 2),
        ("add.cc.u32 %r5, 0xffffffff, 1;".to_owned(), "addc.u32 %r20, 5, 3;", 9),
        ("add.cc.u32 %r5, 1, 1;".to_owned(), "addc.u32 %r20, 5, 3;", 8),
        (format!("add.cc.u32 %r5, 0xffffffff, 1;\nsub.cc.s32 %r6, {low}, {high};"), "addc.u32 %r20, 0, 0;", 0),
    ] {
        assert_eq!(words(&format!("{first}\n{second}"), 1), [expected], "{first} {second}");
    }
    // A chain of three words, and of two of 64 bits.
    let chain = "sub.cc.u32 %r20, 0, 1;\nsubc.cc.u32 %r21, 0, 0;\nsubc.u32 %r22, 5, 0;\nmov.u64 %rd5, 0;\nsub.cc.u64 %rd6, %rd5, 1;\n\
                 subc.u64 %rd7, 9, 0;\ncvt.u32.u64 %r23, %rd7;\naddc.cc.u32 %r5, 0, 0;";
    assert_eq!(words(chain, 4), [u32::MAX, u32::MAX, 4, 8]);
}
