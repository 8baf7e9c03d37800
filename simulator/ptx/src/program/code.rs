//! A program: its instructions and the tables that they index.

use super::named::Family;
use super::operations::{
    Access, AsyncCopy, Atomic, AtomicOp, BulkCopy, ClusterCopy, MachineRequest, Mbarrier, TensorOp, TextureOp,
};
use super::origin::Origin;
use super::wgmma::{Mentions, Wgmma, WgmmaStep};
use crate::finding::Space;
use alu::Alu;
use alu::registers::{Kind, Reg};

/// The location of a parameter in the parameter list.
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
    /// Operations on matrices.
    pub tensor_ops: Vec<TensorOp>,
    /// Asynchronous products of matrices.
    pub wgmmas: Vec<Wgmma>,
    /// The instructions that name registers of these.
    pub mentions: Mentions,
    /// Copies from global to shared memory that the threads do not wait for.
    pub copies: Vec<AsyncCopy>,
    /// Operations on barriers in shared memory.
    pub mbarriers: Vec<Mbarrier>,
    /// Reads of textures, and reads and writes of surfaces.
    pub textures: Vec<TextureOp>,
    /// Copies that a thread starts for the whole block.
    pub bulk_copies: Vec<BulkCopy>,
    /// Copies and stores to other blocks of the cluster.
    pub cluster_copies: Vec<ClusterCopy>,
    /// The async proxy accesses shared memory: bulk copies and `wgmma`.
    pub has_async_proxy: bool,
    /// The requests that the machine code makes of the loads and stores.
    pub machine_requests: Vec<MachineRequest>,
    /// Which instructions multiply in 24 bits, by index in the code.
    pub multiplies_24: Vec<bool>,
    /// Rows that instructions write; the rows of constants and special registers follow.
    pub written_rows: usize,
    /// All rows.
    pub rows: usize,
    /// All predicates.
    pub predicates: usize,
    /// Registers that are filled before the launch runs.
    pub constants: Vec<Constant>,
    /// Special registers, such as the thread's index.
    pub specials: Vec<(Special, Kind, Reg)>,
    /// The registers that the text declares, by name. In a function that is no kernel, its name and two colons come first: `area::%r`.
    pub named_registers: Vec<(String, Family)>,
    /// Bytes of static shared memory; dynamic shared memory follows.
    pub static_shared_bytes: u32,
    /// The variables in shared memory.
    pub shared_variables: Vec<SharedVariable>,
    /// Where dynamic shared memory starts.
    pub dynamic_shared_offset: u32,
    /// Bytes of local memory per thread, with the parameters of the functions called, without the stack of recursive functions.
    pub local_bytes: u32,
    /// The stack, if functions of the program may call themselves.
    pub stack: Option<Stack>,
    /// Kernels allocate memory.
    pub uses_heap: bool,
    /// An atomic sum of floats, the address of an allocation, or how often a block polls another one depends on the order of the blocks.
    pub order_matters: bool,
    /// A fence, an acquire or a release orders accesses of different threads without a barrier.
    pub has_fences: bool,
    /// One of these orders threads of different blocks of a cluster.
    pub orders_cluster: bool,
    /// One of these orders threads of the whole grid.
    pub orders_grid: bool,
    /// A store without a release may tell other blocks something.
    pub tells_grid: bool,
    /// The program has fences between several addresses of the same memory.
    pub has_aliases: bool,
    /// It has instructions that wait for other blocks of the cluster.
    pub has_cluster_barrier: bool,
    /// It moves registers between the warpgroups of a block.
    pub moves_registers: bool,
    /// It lets the launch after it begin before it has ended (`griddepcontrol.launch_dependents`).
    pub lets_next_begin: bool,
    /// It waits for the launch before it (`griddepcontrol.wait`).
    pub waits_for_previous: bool,
    /// Which instructions may access shared memory of other blocks of the cluster, by index in the code.
    pub reaches_cluster: Vec<bool>,
}

/// The stack of recursive functions. It follows the rest of the thread's local memory and grows upward.
#[derive(Debug)]
pub struct Stack {
    /// 64-bit register: where the frame of the running function starts in local memory.
    pub frame: Reg,
    /// Register: how many words are saved.
    pub saved: Reg,
    /// The frames of the recursive functions, by the number of the function in the program.
    pub frames: Vec<FrameLayout>,
}

/// The registers that a recursive function keeps during a call.
#[derive(Clone, Debug, Default)]
pub struct FrameLayout {
    /// Bytes of its variables and parameters in local memory.
    pub bytes: u32,
    /// Its registers.
    pub words: Vec<Reg>,
    pub doubles: Vec<Reg>,
    pub predicates: Vec<Reg>,
}

impl Stack {
    /// Returns the bytes of the largest frame.
    #[inline]
    pub fn largest_frame(&self) -> u32 {
        self.frames.iter().map(|frame| frame.bytes).max().unwrap_or(0)
    }
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub struct Inst {
    /// Only lanes with this predicate (or without it, if `negated`) act.
    pub guard: Reg,
    pub negated: bool,
    pub action: Action,
}

/// The action of an instruction.
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
    /// A step of asynchronous products.
    Wgmma(WgmmaStep),
    /// Index into [`Program::textures`].
    Texture(u32),
    /// Index into [`Program::copies`].
    Copy(u32),
    /// Index into [`Program::mbarriers`].
    Mbarrier(u32),
    /// Index into [`Program::bulk_copies`].
    BulkCopy(u32),
    /// Index into [`Program::cluster_copies`].
    ClusterCopy(u32),
    /// Commits the copies started since the last commit as a group.
    CommitCopies,
    /// Commits the bulk copies to global memory that the thread started since its last commit as a group.
    CommitBulk,
    /// Waits until at most `pending` of the thread's groups of bulk copies to global memory are unfinished. If `reads`, it
    /// only waits until they have read shared memory.
    WaitForBulk { pending: u32, reads: bool },
    /// Orders the thread's earlier accesses to shared memory with later ones of the async proxy.
    ProxyFence,
    /// Releases the barriers in shared memory that the thread has initialized, and nothing else.
    InitFence,
    /// Waits until at most `pending` of the thread's groups are unfinished; without a number, until all copies are finished.
    WaitForCopies { pending: Option<u32> },
    /// Goes on at `target`; lanes that diverge reconverge at `reconverge`.
    Branch { target: u32, reconverge: u32 },
    /// Calls the function at `target`.
    Call { target: u32 },
    /// Returns to the caller; in the kernel itself, ends the thread.
    Return,
    /// Ends the thread.
    Exit,
    /// Ends the kernel with an error.
    Trap,
    /// Ends the kernel with an error: a register is not the address of a function that can be called here, or not an index of a
    /// branch table.
    NoTarget { register: Reg, kind: Kind },
    /// `vprintf`: the offsets in local memory of its two parameters, and of its result.
    Print { format: u32, arguments: u32, result: Option<u32> },
    /// `__assertfail`: the offsets in local memory of its parameters, the message, the file, the line and the function.
    AssertFail { params: [u32; 4] },
    /// `malloc`: the offsets in local memory of its parameter and of its result.
    Allocate { bytes: u32, result: u32 },
    /// `free`: the offset in local memory of its parameter.
    Free { pointer: u32 },
    /// Arrives at the barrier of the cluster.
    ClusterArrive { releases: bool, aligned: bool },
    /// Waits for the phase of that barrier at which the thread arrived.
    ClusterWait { acquires: bool, aligned: bool },
    /// Changes how many registers each thread of the warpgroup may have.
    SetRegisters { count: u32, grows: bool },
    /// Arrives at a barrier of the block, and waits there or not. `aligned`: all lanes of a warp must execute the same instruction.
    Barrier { barrier: Reg, threads: Option<Reg>, waits: bool, aligned: bool, poll: Option<Poll> },
    /// Orders the thread's own memory accesses, as other threads see them: those of its block, or all.
    Fence { in_block: bool },
    /// Waits for the lanes of `members`, and orders their memory accesses.
    WarpSync { members: Reg },
    /// Exchanges values between the lanes of the warp.
    Exchange(Exchange),
    /// The number of instructions that the warp has executed, as a clock.
    Clock { destination: Reg, kind: Kind },
    /// Copies a parameter or a result between functions, both in local memory.
    CopyLocal { from: u32, to: u32, bytes: u32 },
    /// The same to or from the frame of a recursive function.
    CopyFrame { in_frame: u32, fixed: u32, bytes: u32, into_frame: bool },
    /// Saves the registers of a recursive function, given its number, before it calls another one, which gets a frame of its own. All lanes
    /// do so, and take them back, because the call may change the predicate that says which of them call.
    Save { function: u32, callers: Reg, negated: bool },
    /// Takes back what was saved.
    Restore { function: u32 },
    /// An instruction whose effect is not modeled.
    Nothing,
}

/// An exchange between the lanes of a warp. `members` holds, for each lane, the mask of the lanes that take part.
#[derive(Clone, Copy, Debug)]
pub enum Exchange {
    /// Each lane reads a register of another lane.
    Shuffle { mode: ShuffleMode, destination: Reg, in_range: Reg, source: Reg, lane: Reg, clamp: Reg, members: Reg },
    /// Combines the lanes' predicates.
    Vote { mode: VoteMode, destination: Reg, source: Reg, negated: bool, members: Reg },
    /// Finds the lanes that hold the same value.
    Match { all: bool, destination: Reg, agrees: Reg, source: Reg, kind: Kind, members: Reg },
    /// Combines the lanes' values.
    Reduce { op: AtomicOp, destination: Reg, source: Reg, members: Reg },
    /// Elects one lane.
    Elect { leader: Reg, elected: Reg, members: Reg },
    /// The mask of the active lanes.
    ActiveMask { destination: Reg },
}

impl Exchange {
    /// Returns the register with the mask that each lane names.
    pub fn members(&self) -> Option<Reg> {
        match *self {
            Self::Shuffle { members, .. }
            | Self::Vote { members, .. }
            | Self::Match { members, .. }
            | Self::Reduce { members, .. }
            | Self::Elect { members, .. } => Some(members),
            Self::ActiveMask { .. } => None,
        }
    }
}

/// The poll of a `bar.red`: each thread votes with a predicate, and receives how many voted yes, or whether all or any did.
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

/// The value of such a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstantValue {
    Bits(u64),
    /// Address in the block's own shared memory: this offset, and where the memory starts among those of the block's cluster.
    Shared {
        offset: u64,
        /// The variable that it was made from, by its number in [`Program::shared_variables`].
        variable: u32,
    },
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
    /// Finds the shared variable at an offset, or the nearest before it.
    pub fn shared_variable(&self, offset: u64) -> Option<&SharedVariable> {
        let before = self.shared_variables.iter().filter(|variable| u64::from(variable.offset) <= offset);
        before.max_by_key(|variable| variable.offset)
    }

    /// Returns the bytes of the narrowest access that may reach a space.
    pub fn narrowest_access(&self, space: Space) -> u32 {
        let of_space = |other: Option<Space>| other.is_none() || other == Some(space);
        let accesses = self.accesses.iter().filter(|access| of_space(access.space)).map(|access| access.width);
        let atomics = self.atomics.iter().filter(|atomic| of_space(atomic.space)).map(|atomic| atomic.width);
        // A copy writes four bytes or more to shared memory, but may read any number from global memory.
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
    /// Set by the driver before the launch.
    Environment(u8),
    DynamicSharedBytes,
    TotalSharedBytes,
    /// The cluster's index among those of the grid.
    ClusterIndex(Axis),
    /// Clusters of the grid.
    ClustersExtent(Axis),
    /// The block's index in its cluster.
    IndexInCluster(Axis),
    /// Blocks of a cluster.
    ClusterExtent(Axis),
    RankInCluster,
    BlocksOfCluster,
    /// 1 if the launch asked for clusters, otherwise 0.
    IsExplicitCluster,
    /// A block's part of the shared memory of its cluster starts at a multiple of 2 to this power.
    SharedShift,
    /// Where the block's own part starts.
    SharedBase,
    /// The same number in every thread.
    Fixed(u32),
    /// Masks of the lanes in this relation to the lane itself.
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
