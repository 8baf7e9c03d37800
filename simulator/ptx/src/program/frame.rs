//! The functions of a program that is being decoded.

use super::named::rows;
use super::scope::{Local, Symbol};
use alu::registers::{Kind, Reg};

/// The places through which a caller passes parameters and receives results. One for each function is enough: a recursive function copies
/// its parameters to its own frame before it does anything else (see `stack`).
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub params: Vec<Place>,
    pub returns: Vec<Place>,
}

/// Where a parameter or a result is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// `.param`
    Local(Local),
    /// `.reg`
    Register(Reg, Kind),
}

/// A function of the program.
pub(super) struct Function {
    /// Index in the module.
    pub index: usize,
    /// Index of its first instruction; known once it is decoded.
    pub entry: u32,
    pub frame: Frame,
}

/// A recursive function that is being decoded.
#[derive(Debug)]
pub(super) struct Recursive {
    /// Its number in the program.
    pub number: u32,
    /// Bytes of its frame so far.
    pub bytes: u64,
    /// Its registers.
    pub registers: Vec<(Reg, Kind)>,
    /// How to return: from the places of the results in the function to those that the caller reads.
    pub results: Vec<(Symbol, Place)>,
}

impl Recursive {
    /// Adds neighboring registers.
    pub fn own(&mut self, first: Reg, kind: Kind, count: u32) {
        self.registers.extend((0..count).map(|index| (first + index * rows(kind), kind)));
    }
}
