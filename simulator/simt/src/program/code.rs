//! A program: its instructions, and what they need.

use super::operations::{Access, AsyncCopy, Atomic, AtomicOp, BulkCopy, MachineRequest, Mbarrier, TensorOp};
use super::origin::Origin;
use crate::finding::Space;
use crate::instructions::Alu;
use crate::registers::{Kind, Reg};

/// A parameter's place in the parameter list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Offset in bytes from the start of the list.
    pub offset: usize,
    /// Size in bytes.
    pub bytes: usize,
}

/// The code of one kernel and of all functions that it calls.
#[derive(Debug, Default)]
pub struct Program {
    pub code: Vec<Inst>,
    /// Where each instruction comes from.
    pub origins: Vec<Origin>,
    /// Loads and stores.
    pub accesses: Vec<Access>,
    /// Atomic operations.
    pub atomics: Vec<Atomic>,
    /// What warps do with matrices.
    pub tensor_ops: Vec<TensorOp>,
    /// Copies from global to shared memory that the threads do not wait for.
    pub copies: Vec<AsyncCopy>,
    /// What threads do with barriers in shared memory.
    pub mbarriers: Vec<Mbarrier>,
    /// Copies that a thread begins for the whole block.
    pub bulk_copies: Vec<BulkCopy>,
    /// The requests that the machine code makes of the loads and stores.
    pub machine_requests: Vec<MachineRequest>,
    /// Which instructions multiply in 24 bits, by place in the code.
    pub multiplies_24: Vec<bool>,
    /// Rows that instructions write; constants and special registers stand behind them.
    pub written_rows: usize,
    /// All rows.
    pub rows: usize,
    /// All predicates.
    pub predicates: usize,
    /// Registers whose value is known before the launch runs.
    pub constants: Vec<Constant>,
    /// Registers that tell a thread where it is.
    pub specials: Vec<(Special, Kind, Reg)>,
    /// Bytes of static shared memory; dynamic shared memory follows.
    pub static_shared_bytes: u32,
    /// The variables in shared memory.
    pub shared_variables: Vec<SharedVariable>,
    /// Where dynamic shared memory starts.
    pub dynamic_shared_offset: u32,
    /// Bytes of local memory per thread, with the parameters of the functions called.
    pub local_bytes: u32,
    /// A float sum by atomics depends on the order of the blocks.
    pub order_matters: bool,
    /// A fence, an acquire or a release orders accesses of different threads without a barrier.
    pub has_fences: bool,
    /// One of them reaches beyond the block.
    pub orders_blocks: bool,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub struct Inst {
    /// Only lanes with this predicate (or without it, if `negated`) act.
    pub guard: Reg,
    pub negated: bool,
    pub action: Action,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// A row of the instruction table.
    Alu { alu: Alu, destination: Reg, sources: [Reg; 4] },
    /// Index into [`Program::accesses`].
    Load(u32),
    /// Index into [`Program::accesses`].
    Store(u32),
    /// Index into [`Program::atomics`].
    Atomic(u32),
    /// Index into [`Program::tensor_ops`].
    Tensor(u32),
    /// Index into [`Program::copies`].
    Copy(u32),
    /// Index into [`Program::mbarriers`].
    Mbarrier(u32),
    /// Index into [`Program::bulk_copies`].
    BulkCopy(u32),
    /// Puts the copies begun since the last time in a group of their own.
    CommitCopies,
    /// Waits until at most `pending` of the thread's groups are unfinished; without a number, for all copies.
    WaitForCopies { pending: Option<u32> },
    /// Goes on at `target`; lanes that part meet again at `reconverge`.
    Branch { target: u32, reconverge: u32 },
    /// Runs the function at `target` and comes back.
    Call { target: u32 },
    /// Back to the caller; from the kernel itself, the end of the thread.
    Return,
    /// The end of the thread.
    Exit,
    /// Ends the kernel with an error.
    Trap,
    /// Ends the kernel: a register held no function that could be called, or no place in a table of branches.
    NoTarget { register: Reg, kind: Kind },
    /// `vprintf`: the offsets in local memory of its two parameters, and of its result.
    Print { format: u32, arguments: u32, result: Option<u32> },
    /// `__assertfail`: the offsets in local memory of its parameters, the message, the file, the line and the function.
    AssertFail { params: [u32; 4] },
    /// Waits for, or only arrives at, a barrier of the block.
    Barrier { barrier: Reg, threads: Option<Reg>, waits: bool, poll: Option<Poll> },
    /// Orders the thread's own memory accesses, as other threads see them.
    Fence,
    /// Waits for the lanes of `members`, and orders their memory accesses.
    WarpSync { members: Reg },
    /// The lanes that hold the same value as the lane itself, or as all of them.
    Match { all: bool, destination: Reg, agrees: Reg, source: Reg, kind: Kind, members: Reg },
    /// The lanes' values, combined.
    Reduce { op: AtomicOp, destination: Reg, source: Reg, members: Reg },
    /// A lane reads another's register.
    Shuffle { mode: ShuffleMode, destination: Reg, in_range: Reg, source: Reg, lane: Reg, clamp: Reg },
    /// The lanes' predicates, combined.
    Vote { mode: VoteMode, destination: Reg, source: Reg, negated: bool, members: Reg },
    /// Chooses one lane; the others learn which.
    Elect { leader: Reg, elected: Reg, members: Reg },
    /// The mask of the lanes that are here.
    ActiveMask { destination: Reg },
    /// How far the warp has come.
    Clock { destination: Reg, kind: Kind },
    /// Copies a parameter or a result between functions, both in local memory.
    CopyLocal { from: u32, to: u32, bytes: u32 },
    /// Nothing that the simulator models.
    Nothing,
}

/// What `bar.red` asks the threads of the barrier: a predicate, of which each learns how many said yes, or whether all or any did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poll {
    pub question: Question,
    pub destination: Reg,
    pub source: Reg,
    pub negated: bool,
}

/// `bar.red.popc`, `.and`, `.or`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Count,
    All,
    Any,
}

/// `shfl.sync`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShuffleMode {
    Index,
    Up,
    Down,
    Butterfly,
}

/// `vote.sync`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteMode {
    All,
    Any,
    Uniform,
    Ballot,
}

/// A register that is filled before the kernel runs.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    pub register: Reg,
    pub kind: Kind,
    pub value: ConstantValue,
}

/// What fills it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstantValue {
    Bits(u64),
    /// Address of the module's variable with this index, plus an offset.
    Address {
        variable: usize,
        offset: i64,
    },
    /// A kernel parameter.
    Param {
        offset: u32,
        width: u32,
        signed: bool,
    },
}

impl Program {
    /// The variable of shared memory that holds an offset, or the nearest before it.
    pub fn shared_variable(&self, offset: u64) -> Option<&SharedVariable> {
        let before = self.shared_variables.iter().filter(|variable| u64::from(variable.offset) <= offset);
        before.max_by_key(|variable| variable.offset)
    }

    /// The least bytes that one access of the program has to a space, or might have.
    pub fn narrowest_access(&self, space: Space) -> u32 {
        let of_space = |other: Option<Space>| other.is_none() || other == Some(space);
        let accesses = self.accesses.iter().filter(|access| of_space(access.space)).map(|access| access.width);
        let atomics = self.atomics.iter().filter(|atomic| of_space(atomic.space)).map(|atomic| atomic.width);
        // What a copy writes to shared memory is four bytes or more; what it reads of global memory may be any number.
        let in_part = |copy: &AsyncCopy| space == Space::Global && copy.source_bytes.is_some();
        let copies = self.copies.iter().filter(|copy| in_part(copy)).map(|_| 1);
        accesses.chain(atomics).chain(copies).min().unwrap_or(4)
    }
}

/// A variable in the block's shared memory.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    pub name: String,
    pub offset: u32,
    /// `None` for dynamic shared memory, whose size the launch decides.
    pub bytes: Option<u32>,
}

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    ThreadIndex(Axis),
    BlockExtent(Axis),
    BlockIndex(Axis),
    GridExtent(Axis),
    Lane,
    Warp,
    Warps,
    Multiprocessor,
    Multiprocessors,
    GridId,
    DynamicSharedBytes,
    TotalSharedBytes,
    /// Lanes that compare so to the own lane.
    LanesBelow,
    LanesUpTo,
    LanesEqual,
    LanesFrom,
    LanesAbove,
}

/// A dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    X,
    Y,
    Z,
}
