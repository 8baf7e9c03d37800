//! What the instructions of a program do with memory, with barriers in it, and with matrices; an [action](super::code::Action) has the index of its own.

use super::fragment::Fragment;
use crate::finding::Space;
use crate::registers::{Kind, Reg};

/// A load or a store.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The parameter or the result of a function: in local memory here, in registers of the machine code.
    pub of_function: bool,
    /// `None` for a generic address, whose window tells the space.
    pub space: Option<Space>,
    pub address: Address,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub width: u32,
    /// Elements: 1, 2 or 4.
    pub count: u32,
    /// A narrow element fills its register by its sign.
    pub signed: bool,
    /// The elements' registers.
    pub registers: [Reg; 4],
    /// Kind of the registers.
    pub kind: Kind,
    pub semantics: Semantics,
}

impl Access {
    /// Bytes of all elements.
    pub fn bytes(&self) -> u32 {
        self.width * self.count
    }
}

/// What an access promises to other threads (PTX ISA, "Memory Consistency Model"). Nothing, mostly: then only a barrier orders it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Semantics {
    /// May meet other strong accesses without being a data race: volatile, relaxed, acquire and release accesses, and atomic ones.
    pub strong: bool,
    pub acquires: bool,
    pub releases: bool,
}

impl Semantics {
    /// What a modifier of the opcode adds.
    pub fn with(self, modifier: &str) -> Option<Self> {
        Some(match modifier {
            "weak" | "nc" => self,
            "volatile" | "relaxed" | "mmio" => Self { strong: true, ..self },
            "acquire" => Self { strong: true, acquires: true, ..self },
            "release" => Self { strong: true, releases: true, ..self },
            "acq_rel" => Self { strong: true, acquires: true, releases: true },
            _ => return None,
        })
    }

    pub fn orders(self) -> bool {
        self.acquires || self.releases
    }
}

/// A base register and an offset.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub base: Reg,
    pub kind: Kind,
    pub offset: i64,
}

/// `atom` or `red`.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    pub space: Option<Space>,
    pub address: Address,
    pub op: AtomicOp,
    /// Bytes: 4 or 8.
    pub width: u32,
    /// The old value goes here; [`SINK`] for `red`.
    pub destination: Reg,
    /// The operand, and for compare-and-swap the value to put.
    pub operands: [Reg; 2],
    pub semantics: Semantics,
}

/// What an atomic operation computes from the old value and the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    Add,
    AddF32,
    AddF64,
    AddF16,
    AddBf16,
    /// Of the two halves of a word.
    AddF16x2,
    AddBf16x2,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
}

/// `cp.async`
#[derive(Clone, Copy, Debug)]
pub struct AsyncCopy {
    /// Index into [`Program::accesses`](super::Program::accesses): where from.
    pub source: u32,
    /// Where to, in shared memory.
    pub target: Address,
    /// Bytes: 4, 8 or 16.
    pub bytes: u32,
    /// Bytes to read; zeros fill the rest.
    pub source_bytes: Option<Reg>,
    /// Lanes with this predicate read nothing.
    pub ignored: Option<(Reg, bool)>,
}

/// `mbarrier`
#[derive(Clone, Copy, Debug)]
pub struct Mbarrier {
    /// Where it is, in shared memory.
    pub address: Address,
    pub op: MbarrierOp,
}

/// What a thread does with a barrier in shared memory.
#[derive(Clone, Copy, Debug)]
pub enum MbarrierOp {
    /// Each phase is to have so many arrivals.
    Init { count: Reg },
    /// The memory is to be used for something else.
    Invalidate,
    /// So many bytes more are to arrive before the phase ends.
    Expect { bytes: Reg },
    /// `count` arrivals (`None`: one), after `bytes` more were expected. `drops`: there will be as many fewer in later phases.
    /// `ends_none`: they may not be the last of the phase. What tells the phase goes to `state`.
    Arrive { state: Reg, count: Option<Reg>, bytes: Option<Reg>, drops: bool, ends_none: bool },
    /// Whether a phase is over.
    Test { done: Reg, phase: Phase },
}

/// Which phase of a barrier is meant.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// The one that an arrival told of.
    State(Reg),
    /// The current one or the one before, whichever has this parity; the first phase is even.
    Parity(Reg),
}

/// `cp.async.bulk`, from global to shared memory.
#[derive(Clone, Copy, Debug)]
pub struct BulkCopy {
    /// Index into [`Program::accesses`](super::Program::accesses): where from.
    pub source: u32,
    /// Where to, in shared memory.
    pub target: Address,
    pub bytes: Reg,
    /// The barrier that expects the bytes.
    pub barrier: Address,
}

/// An instruction that all lanes of a warp execute together.
#[derive(Clone, Copy, Debug)]
pub enum TensorOp {
    /// `mma` and `wmma.mma`
    MultiplyAdd(MultiplyAdd),
    /// `wmma.load`
    LoadFragment(FragmentAccess),
    /// `wmma.store`
    StoreFragment(FragmentAccess),
    /// `ldmatrix`
    LoadMatrices(Matrices),
    /// `stmatrix`
    StoreMatrices(Matrices),
    /// `movmatrix`
    Transpose { destination: Reg, source: Reg },
}

/// D = A B + C.
#[derive(Clone, Copy, Debug)]
pub struct MultiplyAdd {
    pub d: Fragment,
    pub a: Fragment,
    pub b: Fragment,
    pub c: Fragment,
    /// A sum that no s32 holds becomes the nearest one that does.
    pub saturates: bool,
}

/// A fragment and its matrix in memory.
#[derive(Clone, Copy, Debug)]
pub struct FragmentAccess {
    /// Index into [`Program::accesses`](super::Program::accesses): where the matrix starts.
    pub access: u32,
    pub fragment: Fragment,
    /// The elements of a row stand side by side; otherwise those of a column.
    pub by_rows: bool,
    /// Elements from one row (or column) to the next; without it they follow each other.
    pub stride: Option<Reg>,
}

/// Matrices of 8 x 8 elements of 16 bits. The lanes' addresses, eight for each matrix, are those of its rows.
#[derive(Clone, Copy, Debug)]
pub struct Matrices {
    /// Index into [`Program::accesses`](super::Program::accesses). It holds a register for each matrix.
    pub access: u32,
    pub count: u32,
    /// A lane has elements of a column of the matrix, not of a row.
    pub transposed: bool,
}

/// The request that the machine code makes of a load or a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineRequest {
    /// What PTX says.
    AsWritten,
    /// It asks for `bytes` of each lane, those of later accesses too, from `shift` bytes after its own address on.
    Merged { bytes: u32, shift: i32 },
    /// None: the request of an access before it has its bytes.
    OfAnother,
}
