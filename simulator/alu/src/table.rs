//! The table of all arithmetic instructions, and the choice of their functions.
//!
//! [`row`](super::row) says what a row is and what becomes of it.

use std::fmt;

use super::registers::{Reg, Registers};
use super::row::{Alu, Entry, Execute, Row};
use super::rows;

/// The rows of all families.
const FAMILIES: &[&[&[Entry]]] = &[
    rows::moves::ROWS,
    rows::integers::ROWS,
    rows::bits::ROWS,
    rows::single::ROWS,
    rows::double::ROWS,
    rows::halves::ROWS,
    rows::approximations::ROWS,
    rows::comparisons::ROWS,
    rows::conversions::ROWS,
];

/// A loop in a constant: `for` is not allowed there.
macro_rules! for_each {
    ($item:ident in $items:expr => $body:expr) => {{
        let mut at = 0;
        while at < $items.len() {
            let $item = &$items[at];
            $body;
            at += 1;
        }
    }};
}

const COUNT: usize = {
    let mut count = 0;
    for_each!(family in FAMILIES => for_each!(rows in family => count += rows.len()));
    count
};

/// A value for each entry, in the order of the table.
macro_rules! of_each {
    (|$entry:ident, $place:ident| $value:expr) => {{
        let ($entry, mut $place) = (&FAMILIES[0][0][0], 0_u16);
        let mut all = [$value; COUNT];
        for_each!(family in FAMILIES => for_each!(rows in family => for_each!($entry in rows => {
            all[$place as usize] = $value;
            $place += 1;
        })));
        all
    }};
}

/// All arithmetic instructions.
pub const TABLE: &[Row] = &of_each!(|entry, place| Row { alu: Alu(place), ..entry.row });

/// Their functions, for any processor.
const PORTABLE: &[Execute] = &of_each!(|entry, place| entry.portable);

/// The same functions, for processors with wide vectors and fused multiply-add.
#[cfg(target_arch = "x86_64")]
const VECTOR: &[Execute] = &of_each!(|entry, place| entry.vector);

/// Names instructions that the decoder needs to know.
macro_rules! names {
    ($($name:ident $spelling:literal)*) => {
        #[expect(non_upper_case_globals, reason = "read like the variants of an enum")]
        impl Alu {
            $(#[doc = concat!("`", $spelling, "`")] pub const $name: Self = named($spelling);)*
        }
    };
}

/// Finds the instruction with this spelling, as its row has it.
const fn named(spelling: &str) -> Alu {
    for_each!(row in TABLE => if is_same(row.spelling.as_bytes(), spelling.as_bytes()) {
        return row.alu;
    });
    panic!("no row has this spelling")
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

names! {
    Mov32 "mov.{b32,u32,s32,f32,b16,u16,s16}" Mov64 "mov.{b64,u64,s64,f64}" MovPred "mov.pred"
    Pack32 "mov.b32 from 2 x b16" Pack64 "mov.b64 from 2 x b32" Pack64From16 "mov.b64 from 4 x b16"
    Unpack16 "mov.b32 to 2 x b16" Unpack32 "mov.b64 to 2 x b32" Unpack16From64 "mov.b64 to 4 x b16"
    Selp32 "selp.{b32,u32,s32,f32,b16,u16,s16}" Selp64 "selp.{b64,u64,s64,f64}"
    And32 "and.b32" And64 "and.b64" AndPred "and.pred" NotPred "not.pred"
    Or32 "or.b32" Or64 "or.b64" OrPred "or.pred" Xor32 "xor.b32" Xor64 "xor.b64" XorPred "xor.pred"
    Shl32 "shl.b32" Shl64 "shl.b64" ShrU32 "shr.{u32,b32}" ShrS32 "shr.s32" ShrU64 "shr.{u64,b64}"
    BfeU32 "bfe.u32" BfeS32 "bfe.s32" BfeU64 "bfe.u64" Bfi32 "bfi.b32" Lop3 "lop3.b32"
    VideoScalar "{vadd,vsub,vabsdiff,vmin,vmax,vshl,vshr,vmad,vset} in all forms"
    VideoVector "{vadd,vsub,vavrg,vabsdiff,vmin,vmax,vset}{2,4} in all forms"
    Add32 "add.{u32,s32}" Add64 "add.{u64,s64}" Sub32 "sub.{u32,s32}" Sub64 "sub.{u64,s64}"
    MulLo32 "mul.lo.{u32,s32}" MulLo64 "mul.lo.{u64,s64}" MulWideU32 "mul.wide.u32" MulWideS32 "mul.wide.s32"
    MadLo32 "mad.lo.{u32,s32}" MadLo64 "mad.lo.{u64,s64}" MadWideU32 "mad.wide.u32" MadWideS32 "mad.wide.s32"
    Mul24LoU32 "mul24.lo.u32" Mul24LoS32 "mul24.lo.s32" Mad24LoU32 "mad24.lo.u32" Mad24LoS32 "mad24.lo.s32"
    AddCarry32 "{add.cc,addc,addc.cc}.{u32,s32}" SubCarry32 "{sub.cc,subc,subc.cc}.{u32,s32}"
    SetpEq32 "setp.eq.{b32,u32,s32}" SetpEq64 "setp.eq.{b64,u64,s64}" SetpNe32 "setp.ne.{b32,u32,s32}"
    CvtU16FromU8 "cvt.u16.u8" CvtB32FromU8 "cvt.{u32,s32}.u8" CvtB64FromU8 "cvt.{u64,s64}.u8" CvtB32FromS8 "cvt.{u32,s32}.s8"
    CvtB32FromU16 "cvt.{u32,s32}.u16" CvtB64FromU16 "cvt.{u64,s64}.u16" CvtB32FromS16 "cvt.{u32,s32}.s16"
    CvtB32FromU32 "cvt.{u32,s32}.u32" CvtB32FromS32 "cvt.{u32,s32}.s32" CvtB64FromU32 "cvt.{u64,s64}.u32"
    CvtB64FromS32 "cvt.{u64,s64}.s32" CvtB32FromU64 "cvt.{u32,s32}.u64" CvtB32FromS64 "cvt.{u32,s32}.s64"
    CvtB64FromU64 "cvt.{u64,s64}.u64" CvtB64FromS64 "cvt.{u64,s64}.s64"
}

impl Alu {
    /// Returns its row of the table.
    pub fn row(self) -> &'static Row {
        &TABLE[usize::from(self.0)]
    }
}

impl fmt::Debug for Alu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().spelling)
    }
}

/// The functions of all instructions, for the host's processor.
#[derive(Clone, Copy, Debug)]
pub struct Executor {
    functions: &'static [Execute],
    /// The processor has the vector instructions, so that code compiled for them may run.
    #[cfg(target_arch = "x86_64")]
    vectors: bool,
}

impl Executor {
    /// Selects the fastest functions for this processor, or the portable ones.
    // If other crates could inline this, each function would be a symbol, and symbols are sorted by their names. In the order of the table,
    // functions are next to others like them, which makes the module for pages 8 % smaller when it is packed.
    #[inline(never)]
    pub fn new(portable: bool) -> Self {
        #[cfg(target_arch = "x86_64")]
        if !portable && has_vectors() {
            return Self { functions: VECTOR, vectors: true };
        }
        let _ = portable;
        Self {
            functions: PORTABLE,
            #[cfg(target_arch = "x86_64")]
            vectors: false,
        }
    }

    /// Returns true if code compiled for the vector instructions may run.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub fn has_vectors(self) -> bool {
        self.vectors
    }

    /// Executes one instruction for the lanes in `mask`.
    #[inline(always)]
    pub fn execute(self, alu: Alu, registers: &mut Registers, destination: Reg, sources: &[Reg; 4], mask: u32) {
        let function = self.functions[usize::from(alu.0)];
        // SAFETY: the portable functions are safe on every processor. `new` selects the vector functions only if the processor has
        // all features that they are compiled for.
        unsafe { function(registers, destination, sources, mask) }
    }
}

/// Returns true if the processor can run the vector functions.
#[cfg(target_arch = "x86_64")]
fn has_vectors() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}
