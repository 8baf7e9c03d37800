//! Operations on memory, on barriers in shared memory, and on matrices. An [action](super::code::Action) has the index of its
//! operation.

use super::fixed::SINK;
use super::fragment::Fragment;
use crate::finding::Space;
use alu::format::Rounding;
use alu::registers::{Kind, Reg};

/// Most elements that a load, a store, or an atomic operation has.
pub const MOST_ELEMENTS: usize = 8;

/// A load or a store.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The access is to a parameter or result of a function: in local memory here, but in registers in machine code.
    pub of_function: bool,
    /// `None` for a generic address, whose window determines the space.
    pub space: Option<Space>,
    pub address: Address,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub width: u32,
    /// Elements: 1, 2, 4 or 8.
    pub count: u32,
    /// A narrow element is sign-extended to its register.
    pub signed: bool,
    /// The elements' registers.
    pub registers: [Reg; MOST_ELEMENTS],
    /// Kind of the registers.
    pub kind: Kind,
    pub semantics: Semantics,
    /// The array in shared memory that the address was made from, if that is known, by its number among the program's variables there.
    /// Only loads and stores have one.
    pub array: Option<u32>,
}

impl Access {
    /// Makes an access to one element, which no register holds.
    pub fn plain(space: Option<Space>, address: Address, width: u32) -> Self {
        Self {
            of_function: false,
            space,
            address,
            width,
            count: 1,
            signed: false,
            registers: [SINK; MOST_ELEMENTS],
            kind: Kind::Word,
            semantics: Semantics::default(),
            array: None,
        }
    }

    /// Returns the bytes of all elements.
    #[inline]
    pub fn bytes(&self) -> u32 {
        self.width * self.count
    }
}

/// The ordering of an access (PTX ISA, "Memory Consistency Model"). Most accesses have none, and only a barrier orders them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Semantics {
    /// Not a data race with other strong accesses: volatile, relaxed, acquire and release accesses, and atomic ones.
    pub strong: bool,
    pub acquires: bool,
    pub releases: bool,
    /// Volatile, and not a load that only decides where to branch, as one that polls a flag does.
    pub volatile: bool,
    /// The first read of a loop around compare-and-swap, which detects a stale value. It is not a data race with atomic operations.
    pub seeds_swap: bool,
    /// A branch depends on the value that is read, before the thread reads memory again.
    pub guards: bool,
    /// Its scope is the block (`.cta`), so that it is strong for the block's threads only.
    pub in_block: bool,
}

impl Semantics {
    /// Adds the meaning of a modifier of the opcode.
    pub fn with(self, modifier: &str) -> Option<Self> {
        Some(match modifier {
            "weak" | "nc" => self,
            "volatile" => Self { strong: true, volatile: true, ..self },
            "relaxed" | "mmio" => Self { strong: true, ..self },
            "acquire" => Self { strong: true, acquires: true, ..self },
            "release" => Self { strong: true, releases: true, ..self },
            "acq_rel" => Self { strong: true, acquires: true, releases: true, ..self },
            "cta" => Self { in_block: true, ..self },
            "gpu" | "sys" | "cluster" => self,
            _ => return None,
        })
    }

    #[inline]
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
    /// Bytes of an element: 2, 4 or 8.
    pub width: u32,
    /// Elements of a vector, each of which is changed by itself; otherwise 1.
    pub count: u32,
    /// The two elements are one value of 16 bytes.
    pub is_wide: bool,
    /// The old value of each element goes here; `SINK` for `red`.
    pub destinations: [Reg; MOST_ELEMENTS],
    /// The operand of each element; or of compare-and-swap, the expected and the new value, in one or two registers each. The rest repeats
    /// the first.
    pub operands: [Reg; MOST_ELEMENTS],
    pub semantics: Semantics,
}

/// The function that an atomic operation computes. Its arguments are the old value and the operand.
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
    MinF16,
    MaxF16,
    MinBf16,
    MaxBf16,
    MinF16x2,
    MaxF16x2,
    MinBf16x2,
    MaxBf16x2,
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
    /// Index into [`Program::accesses`](super::Program::accesses): the source.
    pub source: u32,
    /// The target in shared memory.
    pub target: Address,
    /// Bytes: 4, 8 or 16.
    pub bytes: u32,
    /// True if the L1 keeps no copy: `.cg`.
    pub is_past_l1: bool,
    /// Bytes to read; zeros fill the rest.
    pub source_bytes: Option<Reg>,
    /// Lanes with this predicate read nothing.
    pub ignored: Option<(Reg, bool)>,
}

/// `mbarrier`
#[derive(Clone, Copy, Debug)]
pub struct Mbarrier {
    /// Its address in shared memory.
    pub address: Address,
    pub op: MbarrierOp,
}

/// An operation on a barrier in shared memory.
#[derive(Clone, Copy, Debug)]
pub enum MbarrierOp {
    /// Initializes the barrier for this many arrivals in each phase.
    Init { count: Reg },
    /// Ends the use of the memory as a barrier.
    Invalidate,
    /// Expects this many more bytes before the phase ends, or that many fewer, as if they had arrived.
    Expect { bytes: Reg, arrived: bool },
    /// Expects `bytes` more, and then counts `count` arrivals (`None`: one). `drops`: later phases expect that many fewer.
    /// `ends_none`: these must not be the last arrivals of the phase. The token of the phase goes to `state`. PTX ISA, `mbarrier.arrive`
    /// and `mbarrier.test_wait`: with `.relaxed` neither provides any memory ordering.
    Arrive { state: Reg, count: Option<Reg>, bytes: Option<Reg>, drops: bool, ends_none: bool, releases: bool },
    /// Tests whether a phase is over.
    Test { done: Reg, phase: Phase, acquires: bool },
    /// Arrives when the thread's copies are finished. `counts`: as an arrival that the phase expects.
    AfterCopies { counts: bool },
}

/// The phase of a barrier that a test means.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// The phase of the token that an arrival returned.
    State(Reg),
    /// The current one or the one before, whichever has this parity; the first phase is even.
    Parity(Reg),
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`, of bytes in a row or a tensor's box.
#[derive(Clone, Copy, Debug)]
pub struct BulkCopy {
    /// Index into [`Program::accesses`](super::Program::accesses): the bytes in global memory, or the tensor map.
    pub access: u32,
    /// The bytes in shared memory.
    pub shared: Address,
    pub extent: BulkExtent,
    pub direction: BulkDirection,
}

/// The bytes that a bulk copy moves.
#[derive(Clone, Copy, Debug)]
pub enum BulkExtent {
    Bytes(Reg),
    /// The box of a tensor map at these coordinates, of which the first `rank` count.
    Box {
        coordinates: [Reg; 5],
        rank: u32,
    },
}

/// Where a bulk copy goes.
#[derive(Clone, Copy, Debug)]
pub enum BulkDirection {
    /// To shared memory. The barrier expects the bytes.
    Load {
        barrier: Address,
        /// A bit for each block of the cluster that receives the bytes, at the same offset in its shared memory; without it, the target's.
        receivers: Option<Reg>,
    },
    /// To global memory, where a reduction combines what is there with what comes.
    Store { reduction: Option<Reduction> },
}

/// The function that `cp.reduce.async.bulk` computes.
#[derive(Clone, Copy, Debug)]
pub enum Reduction {
    /// Of elements of this many bytes.
    Typed(AtomicOp, u32),
    /// The type is the map's: `add`, `min`, `max`, `inc`, `dec`, `and`, `or` or `xor`.
    OfMap(&'static str),
}

/// A copy to another block's shared memory, which a barrier there counts: `cp.async.bulk` from the block's shared memory, or `st.async`.
#[derive(Clone, Copy, Debug)]
pub struct ClusterCopy {
    /// The target in shared memory of the cluster.
    pub target: Address,
    /// The barrier that expects the bytes.
    pub barrier: Address,
    pub source: ClusterSource,
}

/// The source of such a copy.
#[derive(Clone, Copy, Debug)]
pub enum ClusterSource {
    /// Bytes of the block's shared memory.
    Memory { address: Address, bytes: Reg },
    /// Elements in registers.
    Registers { registers: [Reg; 4], kind: Kind, count: u32 },
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
    /// The rounding of f64.
    pub rounding: Rounding,
    /// Of single bits, the differences are counted, instead of the common ones.
    pub xor: bool,
    /// For a sparse A, which has half of the elements of each row: the register that says where they are, and which lanes' registers do.
    pub sparse: Option<(Reg, u8)>,
}

/// A fragment and its matrix in memory.
#[derive(Clone, Copy, Debug)]
pub struct FragmentAccess {
    /// Index into [`Program::accesses`](super::Program::accesses): the address of the matrix.
    pub access: u32,
    pub fragment: Fragment,
    /// The elements of a row are contiguous; otherwise those of a column are.
    pub by_rows: bool,
    /// Elements from one row (or column) to the next; without it, rows are contiguous.
    pub stride: Option<Reg>,
}

/// Matrices of 8 x 8 elements of 16 bits. The lanes have the addresses of the rows, eight for each matrix.
#[derive(Clone, Copy, Debug)]
pub struct Matrices {
    /// Index into [`Program::accesses`](super::Program::accesses). It holds a register for each matrix.
    pub access: u32,
    pub count: u32,
    /// A lane has elements of a column of the matrix instead of a row.
    pub transposed: bool,
}

/// The machine code's request for a load or a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineRequest {
    /// The request that PTX describes.
    AsWritten,
    /// A request for `bytes` bytes of each lane, including those of later accesses, from `shift` bytes after its own address on.
    Merged { bytes: u32, shift: i32 },
    /// No request, because that of an earlier access covers its bytes.
    OfAnother,
}

/// A read of a texture, or an access to a surface.
#[derive(Clone, Copy, Debug)]
pub enum TextureOp {
    /// Reads the value at a position, or with `gather` one channel of the four texels around it.
    Fetch {
        handle: TextureHandle,
        place: TexturePlace,
        by_index: bool,
        gather: Option<usize>,
        level: TextureLevel,
        results: [Reg; 4],
    },
    /// Asks for a property.
    Query { handle: TextureHandle, what: TextureQuery, result: Reg },
    /// Reads or writes `count` elements of `width` bytes. The first coordinate counts bytes.
    Surface {
        loads: bool,
        handle: TextureHandle,
        place: TexturePlace,
        width: u32,
        count: u32,
        outside: OutsideSurface,
        registers: [Reg; 4],
    },
}

/// Where the handle of a texture is.
#[derive(Clone, Copy, Debug)]
pub enum TextureHandle {
    /// In a register.
    Register(Reg),
    /// In the variable whose address is in a register.
    Variable(Reg),
}

/// A position in a texture or a surface: the registers of its coordinates, and of its layer.
#[derive(Clone, Copy, Debug)]
pub struct TexturePlace {
    pub coordinates: [Option<Reg>; 3],
    pub layer: Option<Reg>,
    /// The coordinates are a direction from the middle of a cube, and each cube is six layers.
    pub is_cube: bool,
}

/// The level of detail of a read of a texture.
#[derive(Clone, Copy, Debug)]
pub enum TextureLevel {
    /// The image itself.
    Base,
    At(Reg),
    /// That of the coordinates' changes in two directions.
    Changes([[Option<Reg>; 3]; 2]),
}

/// A property of a texture.
#[derive(Clone, Copy, Debug)]
pub enum TextureQuery {
    /// Texels in a dimension.
    Extent(usize),
    Layers,
    Levels,
    NormalizedCoordinates,
}

/// The effect of an access outside a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsideSurface {
    /// It ends the kernel.
    Trap,
    /// It goes to the nearest texel.
    Clamp,
    /// A load gives zeros, and a store does nothing.
    Zero,
}
