//! The registers of one warp: a row of 32 lanes each.

use bytemuck::{Pod, Zeroable};

/// Lanes of a warp.
pub const LANES: usize = 32;

/// All lanes.
pub const FULL: u32 = u32::MAX;

/// Names a register: the index of its first row, or of its predicate.
pub type Reg = u32;

/// The kind of register that an operand needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A predicate.
    Predicate,
    /// A register of 8, 16 or 32 bits; each has a row of its own.
    Word,
    /// A register of 64 bits.
    Double,
}

/// The 32 lanes of a 32-bit register. They are as wide as four vector registers of the host.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(128))]
pub struct Row([u32; LANES]);

/// Register values. A 64-bit register is two neighboring rows, read as one array of 32 doublewords.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    rows: Vec<Row>,
    /// One bit per lane.
    predicates: Vec<u32>,
}

impl Registers {
    /// Makes zeroed registers.
    pub fn new(rows: usize, predicates: usize) -> Self {
        Self { rows: vec![Row::zeroed(); rows], predicates: vec![0; predicates] }
    }

    /// Sets the rows below `rows` to `word`. The predicates below `predicates` become false.
    pub fn clear(&mut self, rows: usize, word: u32, predicates: usize) {
        self.rows[..rows].fill(Row([word; LANES]));
        self.predicates[..predicates].fill(0);
    }

    /// Returns a predicate's lanes as bits.
    #[inline(always)]
    pub fn predicate(&self, reg: Reg) -> u32 {
        self.predicates[reg as usize]
    }

    /// Changes the lanes of `mask` in a predicate.
    #[inline(always)]
    pub fn set_predicate(&mut self, reg: Reg, mask: u32, bits: u32) {
        let predicate = &mut self.predicates[reg as usize];
        *predicate = (*predicate & !mask) | (bits & mask);
    }

    /// Returns a 32-bit register.
    #[inline(always)]
    pub fn words(&self, reg: Reg) -> &[u32; LANES] {
        &self.rows[reg as usize].0
    }

    /// Returns a 32-bit register, mutable.
    #[inline(always)]
    pub fn words_mut(&mut self, reg: Reg) -> &mut [u32; LANES] {
        &mut self.rows[reg as usize].0
    }

    /// Returns a 64-bit register.
    #[inline(always)]
    pub fn doubles(&self, reg: Reg) -> &[u64; LANES] {
        let pair: &[Row; 2] = self.rows[reg as usize..][..2].try_into().expect("two rows are a pair");
        bytemuck::cast_ref(pair)
    }

    /// Returns a 64-bit register, mutable.
    #[inline(always)]
    pub fn doubles_mut(&mut self, reg: Reg) -> &mut [u64; LANES] {
        let pair: &mut [Row; 2] = (&mut self.rows[reg as usize..][..2]).try_into().expect("two rows are a pair");
        bytemuck::cast_mut(pair)
    }

    /// Returns a lane of a register, which is no predicate.
    #[inline(always)]
    pub fn lane(&self, kind: Kind, reg: Reg, lane: usize) -> u64 {
        match kind {
            Kind::Double => self.doubles(reg)[lane],
            _ => u64::from(self.words(reg)[lane]),
        }
    }

    /// Replaces a lane of a register, which is no predicate.
    #[inline(always)]
    pub fn set_lane(&mut self, kind: Kind, reg: Reg, lane: usize, bits: u64) {
        match kind {
            Kind::Double => self.doubles_mut(reg)[lane] = bits,
            _ => self.words_mut(reg)[lane] = bits as u32,
        }
    }

    /// Replaces all lanes of a register, which is no predicate.
    #[inline(always)]
    pub fn set_lanes(&mut self, kind: Kind, reg: Reg, bits: &[u64; LANES]) {
        match kind {
            Kind::Double => *self.doubles_mut(reg) = *bits,
            _ => *self.words_mut(reg) = bits.map(|bits| bits as u32),
        }
    }
}

/// Returns the bits of `mask` as one word per lane: all ones or zero.
#[inline(always)]
pub fn spread(mask: u32) -> [u32; LANES] {
    let mut words = [0; LANES];
    for (lane, word) in words.iter_mut().enumerate() {
        *word = 0_u32.wrapping_sub(mask >> lane & 1);
    }
    words
}

/// Replaces the lanes of `mask`. Nearly always that is all of them.
#[inline(always)]
pub(crate) fn replace<T: Copy>(row: &mut [T; LANES], mask: u32, values: &[T; LANES]) {
    if mask == FULL {
        *row = *values;
    } else {
        replace_some(row, mask, values);
    }
}

/// Replaces some lanes. As a function of its own, it keeps the many instructions that use it small.
#[inline(never)]
fn replace_some<T: Copy>(row: &mut [T; LANES], mask: u32, values: &[T; LANES]) {
    for lane in 0..LANES {
        row[lane] = if mask >> lane & 1 != 0 { values[lane] } else { row[lane] };
    }
}

/// A type that a register's lane can hold.
pub trait Lane: Copy {
    /// The kind of register.
    const KIND: Kind;
    /// The value that an array starts with.
    const ZERO: Self;
    /// Returns all lanes of a register.
    fn read(registers: &Registers, reg: Reg) -> [Self; LANES];
    /// Replaces the lanes of `mask`.
    fn write(registers: &mut Registers, reg: Reg, mask: u32, values: &[Self; LANES]);
}

/// Lanes that hold the bits of a register.
macro_rules! lanes {
    ($kind:ident $row:ident $row_mut:ident: $($ty:ty = $zero:expr, |$bits:ident| $from:expr, |$value:ident| $to:expr;)*) => {$(
        impl $crate::registers::Lane for $ty {
            const KIND: $crate::registers::Kind = $crate::registers::Kind::$kind;
            const ZERO: Self = $zero;

            #[inline(always)]
            fn read(registers: &$crate::registers::Registers, reg: $crate::registers::Reg) -> [Self; LANES] {
                let row = registers.$row(reg);
                let mut values = [Self::ZERO; LANES];
                for lane in 0..LANES {
                    let $bits = row[lane];
                    values[lane] = $from;
                }
                values
            }

            #[inline(always)]
            fn write(
                registers: &mut $crate::registers::Registers,
                reg: $crate::registers::Reg,
                mask: u32,
                values: &[Self; LANES],
            ) {
                let mut row = [0; LANES];
                for lane in 0..LANES {
                    let $value = values[lane];
                    row[lane] = $to;
                }
                $crate::registers::replace(registers.$row_mut(reg), mask, &row);
            }
        }
    )*};
}

pub(crate) use lanes;

// A narrow value is extended to its word by its own sign, as PTX requires of a conversion into a wider register. A narrow read ignores the
// upper bits.
lanes! {
    Word words words_mut:
    u8 = 0, |word| word as u8, |value| u32::from(value);
    i8 = 0, |word| word as i8, |value| i32::from(value) as u32;
    u16 = 0, |word| word as u16, |value| u32::from(value);
    i16 = 0, |word| word as i16, |value| i32::from(value) as u32;
    u32 = 0, |word| word, |value| value;
    i32 = 0, |word| word as i32, |value| value as u32;
    f32 = 0.0, |word| f32::from_bits(word), |value| value.to_bits();
}

lanes! {
    Double doubles doubles_mut:
    u64 = 0, |double| double, |value| value;
    i64 = 0, |double| double as i64, |value| value as u64;
    f64 = 0.0, |double| f64::from_bits(double), |value| value.to_bits();
}

impl Lane for bool {
    const KIND: Kind = Kind::Predicate;
    const ZERO: Self = false;

    #[inline(always)]
    fn read(registers: &Registers, reg: Reg) -> [Self; LANES] {
        let bits = registers.predicate(reg);
        let mut values = [false; LANES];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = bits >> lane & 1 != 0;
        }
        values
    }

    #[inline(always)]
    fn write(registers: &mut Registers, reg: Reg, mask: u32, values: &[Self; LANES]) {
        let mut bits = 0;
        for (lane, value) in values.iter().enumerate() {
            bits |= u32::from(*value) << lane;
        }
        registers.set_predicate(reg, mask, bits);
    }
}
