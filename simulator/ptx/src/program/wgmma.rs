//! Products of matrices that four warps compute together, asynchronously: `wgmma`.
//!
//! Each warp owns 16 of the 64 rows, so that the products are executed warp by warp here. The registers of a warp hold its rows as those
//! of `mma` do.

use super::fragment::{Number, Shape};
use alu::registers::Reg;

/// Rows of D that a warp owns.
pub const ROWS_OF_WARP: usize = 16;

/// The step that a `wgmma` instruction takes.
#[derive(Clone, Copy, Debug)]
pub enum WgmmaStep {
    /// Index into `Program::wgmmas`: starts a product.
    Start(u32),
    /// Orders the warp's accesses to registers before the products that start later.
    Fence,
    /// Commits the products started since the last commit as a group.
    Commit,
    /// Waits until at most this many of the warp's groups are unfinished.
    Wait { pending: u32 },
}

/// `wgmma.mma_async`
#[derive(Clone, Debug)]
pub struct Wgmma {
    /// The shape of a warp's part.
    pub shape: Shape,
    pub a_number: Number,
    pub b_number: Number,
    /// The type of D.
    pub sum: Number,
    /// The registers of D, which C is read from.
    pub d: Vec<Reg>,
    pub a: FactorA,
    /// The descriptor of B.
    pub b: Reg,
    /// Where elements next to each other in memory are of one column of A, or of one row of B.
    pub transposes_a: bool,
    pub transposes_b: bool,
    /// Predicate: C is added.
    pub adds: Reg,
    /// The products are negated.
    pub negates: bool,
    /// A sum that no s32 holds becomes the nearest one that does.
    pub saturates: bool,
}

/// Where A is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorA {
    Registers([Reg; 4]),
    /// In shared memory, where the descriptor in this register says.
    Shared(Reg),
}

/// The instructions that name a register of a product.
#[derive(Debug, Default)]
pub struct Mentions {
    /// The registers of all products. A slot is an index into this list.
    pub registers: Vec<Reg>,
    /// For each instruction, where its mentions start in `all`; one more than there are instructions.
    pub first: Vec<u32>,
    pub all: Vec<Mention>,
}

/// A register that an instruction other than `wgmma` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention {
    pub slot: u32,
    pub writes: bool,
}

impl Mentions {
    /// Returns the registers that an instruction names.
    #[inline(always)]
    pub fn at(&self, pc: u32) -> &[Mention] {
        let [first, end] = [0, 1].map(|after| self.first[pc as usize + after] as usize);
        &self.all[first..end]
    }

    /// Returns the slot of a register of a product.
    #[inline]
    pub fn slot(&self, register: Reg) -> usize {
        self.registers.binary_search(&register).expect("every register of a product has a slot")
    }
}
