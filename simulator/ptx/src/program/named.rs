//! The registers that a program declares, by name.

use alu::registers::{Kind, Reg};

/// Registers, or vectors of registers, that one declaration names: `.reg .b32 %r<35>;`
#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub first: Reg,
    pub kind: Kind,
    /// `Some(n)` for `name0` to `name(n-1)`; without a count it is one register with just that name.
    pub count: Option<u32>,
    /// Elements of each, if they are vectors.
    pub lanes: Option<u8>,
}

impl Family {
    /// Lists the registers in the order of their names.
    pub fn registers(self) -> impl Iterator<Item = Reg> {
        (0..self.count.unwrap_or(1) * u32::from(self.lanes.unwrap_or(1))).map(move |number| self.first + number * rows(self.kind))
    }

    /// Returns a register's name, given its number and the declaration's name.
    pub fn name_of(self, name: &str, number: u32) -> String {
        let lanes = u32::from(self.lanes.unwrap_or(1));
        let index = self.count.map(|_| (number / lanes).to_string()).unwrap_or_default();
        let part = self.lanes.map(|_| format!(".{}", PARTS[(number % lanes) as usize % PARTS.len()][0])).unwrap_or_default();
        format!("{name}{index}{part}")
    }
}

/// The names of a vector's elements, in order.
pub const PARTS: [[&str; 2]; 4] = [["x", "r"], ["y", "g"], ["z", "b"], ["w", "a"]];

/// Returns how many numbers a register takes.
pub fn rows(kind: Kind) -> u32 {
    if kind == Kind::Double { 2 } else { 1 }
}
