//! A module of LLVM IR: only what the lowering needs of it.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Void,
    /// `i1` to `i128`
    Int(u32),
    Half,
    BFloat,
    Float,
    Double,
    /// A pointer into an address space.
    Ptr(u32),
    Vector(u32, Rc<Type>),
    Array(u64, Rc<Type>),
    Struct {
        packed: bool,
        fields: Rc<[Type]>,
    },
    /// `label`, `metadata`, `token`: not a value that a register holds.
    Other,
}

/// The number of a value that a function defines: a parameter or the result of an instruction.
pub type Local = u32;
/// The index of a basic block.
pub type BlockId = usize;

/// An operand; its type is known from where it stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Local(Local),
    Const(Rc<Const>),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Const {
    /// The low bits; those beyond the type's width are zero.
    Int(u128),
    /// The bits of a floating-point number, as wide as its type.
    Float(u64),
    /// `null`, `zeroinitializer`, `none`
    Zero,
    /// `undef` and `poison`
    Undef,
    /// The elements of a vector, an array, or a structure.
    Aggregate(Vec<(Type, Const)>),
    /// `c"…"`
    Bytes(Vec<u8>),
    /// The same constant in all elements of a vector.
    Splat(Type, Rc<Const>),
    /// The address of a variable or a function.
    Global(String),
    Gep {
        source: Type,
        base: Rc<Const>,
        base_type: Type,
        indices: Vec<(Type, Const)>,
    },
    Cast {
        op: Cast,
        from: Type,
        value: Rc<Const>,
        to: Type,
    },
    Binary {
        op: Binary,
        ty: Type,
        a: Rc<Const>,
        b: Rc<Const>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    Trunc,
    Zext,
    Sext,
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    PtrToInt,
    IntToPtr,
    Bitcast,
    AddrSpace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

/// Promises about an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    pub nuw: bool,
    pub nsw: bool,
    /// `or disjoint`: no bit is set in both operands.
    pub disjoint: bool,
    /// `zext nneg`
    pub nneg: bool,
    /// A product and a sum may be fused.
    pub contract: bool,
    pub reassoc: bool,
    /// Approximate functions are allowed.
    pub afn: bool,
    /// A reciprocal may replace a division.
    pub arcp: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntPredicate {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

/// How much an atomic operation orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ordering {
    #[default]
    NotAtomic,
    Monotonic,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// How a load or a store accesses memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub align: u64,
    pub volatile: bool,
    pub ordering: Ordering,
    /// `syncscope("…")`; empty for the whole system.
    pub scope: String,
    /// `!invariant.load`
    pub invariant: bool,
    /// The nodes of `!alias.scope` and `!noalias`.
    pub alias_scope: Option<u32>,
    pub no_alias: Option<u32>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    pub result: Option<Local>,
    /// The type of its result.
    pub ty: Type,
    pub op: Op,
    /// The line of the IR.
    pub line: u32,
    /// The node of its `!dbg`.
    pub dbg: Option<u32>,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum Op {
    Binary {
        op: Binary,
        flags: Flags,
        a: Value,
        b: Value,
    },
    FNeg(Value),
    /// `a * b + c`, made of a product and a sum; either may be negated.
    Fma {
        a: Value,
        b: Value,
        c: Value,
        negate_product: bool,
        negate_c: bool,
    },
    Cast {
        op: Cast,
        flags: Flags,
        from: Type,
        value: Value,
    },
    ICmp {
        predicate: IntPredicate,
        ty: Type,
        a: Value,
        b: Value,
    },
    FCmp {
        predicate: String,
        ty: Type,
        a: Value,
        b: Value,
    },
    Select {
        condition: Value,
        condition_type: Type,
        a: Value,
        b: Value,
    },
    Freeze(Value),
    Phi(Vec<(Value, BlockId)>),
    Load {
        ptr: Value,
        ptr_type: Type,
        access: Access,
    },
    Store {
        ty: Type,
        value: Value,
        ptr: Value,
        ptr_type: Type,
        access: Access,
    },
    Gep {
        source: Type,
        base: Value,
        base_type: Type,
        indices: Vec<(Type, Value)>,
    },
    Alloca {
        ty: Type,
        count: Value,
        align: u64,
    },
    ExtractValue {
        from: Type,
        value: Value,
        path: Vec<u32>,
    },
    InsertValue {
        ty: Type,
        into: Value,
        from: Type,
        value: Value,
        path: Vec<u32>,
    },
    ExtractElement {
        from: Type,
        vector: Value,
        index: Value,
    },
    InsertElement {
        vector: Value,
        element: Value,
        index: Value,
    },
    Shuffle {
        from: Type,
        a: Value,
        b: Value,
        mask: Vec<Option<u32>>,
    },
    Call {
        callee: Callee,
        args: Vec<Arg>,
        flags: Flags,
    },
    AtomicRmw {
        op: String,
        ptr: Value,
        ptr_type: Type,
        value: Value,
        scope: String,
    },
    CmpXchg {
        ptr: Value,
        ptr_type: Type,
        ty: Type,
        expected: Value,
        new: Value,
        ordering: [Ordering; 2],
        scope: String,
    },
    Fence {
        ordering: Ordering,
        scope: String,
    },
    Ret(Option<(Type, Value)>),
    Br(BlockId),
    CondBr {
        condition: Value,
        then: BlockId,
        or_else: BlockId,
    },
    Switch {
        ty: Type,
        value: Value,
        default: BlockId,
        cases: Vec<(u128, BlockId)>,
    },
    Unreachable,
}

/// What a call calls.
#[derive(Clone, Debug)]
pub enum Callee {
    Function(String),
    Pointer(Value),
    Asm { template: String, constraints: String, side_effect: bool },
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Arg {
    pub ty: Type,
    pub value: Value,
    /// `byval(T)`: what the pointer points to is copied.
    pub byval: Option<Type>,
    pub align: u64,
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub insts: Vec<Inst>,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Param {
    pub ty: Type,
    pub byval: Option<Type>,
    pub align: u64,
    pub noalias: bool,
    pub readonly: bool,
}

/// A function, defined or declared.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub is_kernel: bool,
    pub result: Type,
    /// Parameter `n` is local `n`.
    pub params: Vec<Param>,
    pub is_variadic: bool,
    pub attributes: Vec<(String, String)>,
    pub groups: Vec<u32>,
    /// None if it is only declared.
    pub blocks: Option<Vec<Block>>,
    /// The blocks in the order of the text; the first is where the function starts.
    pub order: Vec<BlockId>,
    /// The type of each local.
    pub locals: Vec<Type>,
    pub line: u32,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Global {
    pub name: String,
    pub space: u32,
    pub ty: Type,
    /// None if it is defined elsewhere.
    pub init: Option<Const>,
    pub is_external: bool,
    pub is_public: bool,
    pub align: Option<u64>,
    pub line: u32,
}

/// A node of metadata.
#[derive(Clone, Debug)]
pub enum Node {
    Location {
        line: u32,
        column: u32,
        scope: Option<u32>,
        inlined_at: Option<u32>,
    },
    /// Anything with a file and perhaps an enclosing scope: a function or a block in it.
    Scope {
        file: Option<u32>,
        scope: Option<u32>,
        name: String,
    },
    File {
        name: String,
        directory: String,
    },
    Tuple(Vec<Item>),
    Other,
}

/// An element of a tuple of metadata.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Node(u32),
    Text(String),
    Global(String),
    Integer(i64),
    Other,
}

/// A module.
#[derive(Debug, Default)]
pub struct Module {
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    /// Groups of attributes: `attributes #0 = { … }`.
    pub attributes: HashMap<u32, Vec<(String, String)>>,
    pub nodes: BTreeMap<u32, Node>,
    /// `!nvvm.annotations` and the like.
    pub named_nodes: HashMap<String, Vec<u32>>,
}

impl Type {
    /// The element of a vector, or the type itself.
    pub fn scalar(&self) -> &Type {
        match self {
            Type::Vector(_, element) => element,
            _ => self,
        }
    }
}

impl Const {
    /// Calls a function with the name of each variable whose address it has.
    pub fn each_global<'c>(&'c self, visit: &mut impl FnMut(&'c str)) {
        match self {
            Const::Global(name) => visit(name),
            Const::Aggregate(elements) => elements.iter().for_each(|(_, element)| element.each_global(visit)),
            Const::Splat(_, value) | Const::Cast { value, .. } => value.each_global(visit),
            Const::Gep { base, .. } => base.each_global(visit),
            Const::Binary { a, b, .. } => {
                a.each_global(visit);
                b.each_global(visit);
            }
            Const::Int(_) | Const::Float(_) | Const::Zero | Const::Undef | Const::Bytes(_) => {}
        }
    }
}

impl Op {
    /// Whether it leaves its block.
    pub fn is_terminator(&self) -> bool {
        matches!(self, Op::Ret(_) | Op::Br(_) | Op::CondBr { .. } | Op::Switch { .. } | Op::Unreachable)
    }

    /// The blocks that it may go to.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Op::Br(to) => vec![*to],
            Op::CondBr { then, or_else, .. } => vec![*then, *or_else],
            Op::Switch { default, cases, .. } => {
                let mut blocks = vec![*default];
                for (_, block) in cases {
                    if !blocks.contains(block) {
                        blocks.push(*block);
                    }
                }
                blocks
            }
            _ => Vec::new(),
        }
    }

    /// Calls a function with each operand. The values of a phi are operands, too.
    pub fn each_operand<'o>(&'o self, mut visit: impl FnMut(&'o Value)) {
        match self {
            Op::Binary { a, b, .. } | Op::ICmp { a, b, .. } | Op::FCmp { a, b, .. } | Op::Shuffle { a, b, .. } => {
                visit(a);
                visit(b);
            }
            Op::Fma { a, b, c, .. } => [a, b, c].into_iter().for_each(visit),
            Op::FNeg(value) | Op::Freeze(value) | Op::Cast { value, .. } | Op::ExtractValue { value, .. } => visit(value),
            Op::Select { condition, a, b, .. } => [condition, a, b].into_iter().for_each(visit),
            Op::Phi(incoming) => incoming.iter().for_each(|(value, _)| visit(value)),
            Op::Load { ptr, .. } => visit(ptr),
            Op::Store { value, ptr, .. } | Op::AtomicRmw { value, ptr, .. } => {
                visit(value);
                visit(ptr);
            }
            Op::Gep { base, indices, .. } => {
                visit(base);
                indices.iter().for_each(|(_, index)| visit(index));
            }
            Op::Alloca { count, .. } => visit(count),
            Op::InsertValue { into, value, .. } => {
                visit(into);
                visit(value);
            }
            Op::ExtractElement { vector, index, .. } => {
                visit(vector);
                visit(index);
            }
            Op::InsertElement { vector, element, index } => [vector, element, index].into_iter().for_each(visit),
            Op::Call { callee, args, .. } => {
                if let Callee::Pointer(callee) = callee {
                    visit(callee);
                }
                args.iter().for_each(|arg| visit(&arg.value));
            }
            Op::CmpXchg { ptr, expected, new, .. } => [ptr, expected, new].into_iter().for_each(visit),
            Op::Ret(Some((_, value))) | Op::Switch { value, .. } => visit(value),
            Op::CondBr { condition, .. } => visit(condition),
            Op::Fence { .. } | Op::Ret(None) | Op::Br(_) | Op::Unreachable => {}
        }
    }
}
