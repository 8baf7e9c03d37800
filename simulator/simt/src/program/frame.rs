//! The functions of a program that is being decoded.

use crate::registers::{Kind, Reg};

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
    /// Its offset in local memory and its size in bytes (`.param`).
    Local(u32, u32),
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
