//! A module of LLVM IR: only what the lowering needs of it.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Void,
    Int(u32), // `i1` to `i128`
    Half,
    BFloat,
    Float,
    Double,
    Ptr(u32), // A pointer into an address space.
    Vector(u32, Rc<Type>),
    Array(u64, Rc<Type>),
    Struct { packed: bool, fields: Rc<[Type]> },
    Other, // `label`, `metadata`, `token`: nothing that a register holds
}

/// The number of a value that a function defines: a parameter or the result of an instruction.
pub type Local = u32;
/// The index of a basic block.
pub type BlockId = usize;

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Local(Local),
    Const(Rc<Constant>),
}

/// A constant with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    pub ty: Type,
    pub value: Const,
}

/// The value of a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Const {
    Int(u128),                // The low bits; those beyond the type's width are zero.
    Float(u64),               // The bits of a floating-point number, as wide as its type.
    Zero,                     // `null`, `zeroinitializer`, `none`
    Undef,                    // `undef` and `poison`
    Aggregate(Vec<Constant>), // The elements of a vector, an array, or a structure.
    Bytes(Vec<u8>),           // `c"…"`
    Splat(Rc<Constant>),      // The same constant in all elements of a vector.
    Global(String),           // The address of a variable or a function.
    Gep { source: Type, base: Rc<Constant>, indices: Vec<Constant> },
    Cast { op: Cast, value: Rc<Constant> },
    Binary { op: Binary, a: Rc<Constant>, b: Rc<Constant> },
}

/// Defines an enum whose members are words of the IR.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$of_member:meta])? $member:ident = $word:literal $(or $other:literal)?),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$of_member])? $member),* }

        impl $name {
            pub fn of(word: &str) -> Option<Self> {
                Some(match word {
                    $($word $(| $other)? => $name::$member,)*
                    _ => return None,
                })
            }
        }
    };
}

words! {
    Cast {
        Trunc = "trunc", Zext = "zext", Sext = "sext", FpTrunc = "fptrunc", FpExt = "fpext", FpToUi = "fptoui", FpToSi = "fptosi",
        UiToFp = "uitofp", SiToFp = "sitofp", PtrToInt = "ptrtoint" or "ptrtoaddr", IntToPtr = "inttoptr", Bitcast = "bitcast",
        AddrSpace = "addrspacecast",
    }
}

words! {
    Binary {
        Add = "add", Sub = "sub", Mul = "mul", UDiv = "udiv", SDiv = "sdiv", URem = "urem", SRem = "srem", Shl = "shl", LShr = "lshr",
        AShr = "ashr", And = "and", Or = "or", Xor = "xor", FAdd = "fadd", FSub = "fsub", FMul = "fmul", FDiv = "fdiv", FRem = "frem",
    }
}

words! {
    IntPredicate {
        Eq = "eq", Ne = "ne", Ugt = "ugt", Uge = "uge", Ult = "ult", Ule = "ule", Sgt = "sgt", Sge = "sge", Slt = "slt", Sle = "sle",
    }
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
    /// Approximate functions are allowed.
    pub afn: bool,
}

words! {
    /// The order that an atomic operation gives to other accesses.
    #[derive(Default)]
    Ordering {
        #[default] NotAtomic = "", Monotonic = "monotonic" or "unordered", Acquire = "acquire", Release = "release",
        AcqRel = "acq_rel", SeqCst = "seq_cst",
    }
}

/// The way that a load or a store accesses memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// The operation of an instruction.
#[derive(Clone, Debug)]
pub enum Op {
    Binary { op: Binary, flags: Flags, a: Value, b: Value },
    FNeg(Value),
    Fma { a: Value, b: Value, c: Value, negate_product: bool, negate_c: bool }, // `a * b + c`; both may be negated
    Cast { op: Cast, flags: Flags, value: Value },
    ICmp { predicate: IntPredicate, a: Value, b: Value },
    FCmp { predicate: String, a: Value, b: Value },
    Select { condition: Value, a: Value, b: Value },
    Freeze(Value),
    Phi(Vec<(Value, BlockId)>),
    Load { ptr: Value, access: Access },
    Store { value: Value, ptr: Value, access: Access },
    Gep { source: Type, base: Value, indices: Vec<Value> },
    Alloca { ty: Type, count: Value, align: u64 },
    ExtractValue { value: Value, path: Vec<u32> },
    InsertValue { into: Value, value: Value, path: Vec<u32> },
    ExtractElement { vector: Value, index: Value },
    InsertElement { vector: Value, element: Value, index: Value },
    Shuffle { a: Value, b: Value, mask: Vec<Option<u32>> },
    Call { callee: Callee, args: Vec<Arg>, flags: Flags },
    AtomicRmw { op: String, ptr: Value, value: Value, scope: String },
    CmpXchg { ptr: Value, expected: Value, new: Value, ordering: Ordering, scope: String },
    Fence { ordering: Ordering, scope: String },
    Ret(Option<Value>),
    Br(BlockId),
    CondBr { condition: Value, then: BlockId, or_else: BlockId },
    Switch { value: Value, default: BlockId, cases: Vec<(u128, BlockId)> },
    Unreachable,
}

/// The target of a call.
#[derive(Clone, Debug)]
pub enum Callee {
    Function(String),
    Pointer(Value),
    Asm { template: String, constraints: String, side_effect: bool },
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Arg {
    pub value: Value,
    /// `byval(T)`: what the pointer points to is copied.
    pub byval: Option<Type>,
    pub align: u64,
}

/// The instructions of a basic block.
pub type Block = Vec<Inst>;

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
    /// Empty if it is only declared.
    pub blocks: Vec<Block>,
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
    pub init: Option<Constant>,
    pub is_external: bool,
    pub is_public: bool,
    pub align: Option<u64>,
    pub line: u32,
}

/// A node of metadata.
#[derive(Clone, Debug)]
pub enum Node {
    Location { line: u32, column: u32, scope: Option<u32>, inlined_at: Option<u32> },
    Scope { file: Option<u32>, scope: Option<u32>, name: String }, // a function, or a block in it
    File { name: String, directory: String },
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

impl Item {
    /// Returns the number of a node.
    pub fn node(&self) -> Option<u32> {
        if let Item::Node(node) = self { Some(*node) } else { None }
    }
}

impl Type {
    /// Returns the element of a vector, or the type itself.
    pub fn scalar(&self) -> &Type {
        match self {
            Type::Vector(_, element) => element,
            _ => self,
        }
    }
}

impl Value {
    /// Returns the number of a local.
    pub fn local(&self) -> Option<Local> {
        if let Value::Local(local) = self { Some(*local) } else { None }
    }

    /// Returns the value of a constant.
    pub fn constant(&self) -> Option<&Const> {
        if let Value::Const(constant) = self { Some(&constant.value) } else { None }
    }
}

impl Function {
    /// Returns true if it has a body, and is not only declared.
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Returns the type of a value.
    pub fn ty<'f>(&'f self, value: &'f Value) -> &'f Type {
        match value {
            Value::Local(local) => &self.locals[*local as usize],
            Value::Const(constant) => &constant.ty,
        }
    }

    /// Returns the attributes, those of its groups included.
    pub fn all_attributes<'m>(&'m self, module: &'m Module) -> impl Iterator<Item = &'m (String, String)> {
        self.groups.iter().filter_map(|group| module.attributes.get(group)).flatten().chain(&self.attributes)
    }
}

impl Module {
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    pub fn global(&self, name: &str) -> Option<&Global> {
        self.globals.iter().find(|global| global.name == name)
    }
}

impl Constant {
    /// Returns the names of the variables whose addresses it has.
    pub fn globals(&self) -> Vec<&str> {
        match &self.value {
            Const::Global(name) => vec![name],
            Const::Aggregate(elements) => elements.iter().flat_map(Constant::globals).collect(),
            Const::Splat(value) | Const::Cast { value, .. } | Const::Gep { base: value, .. } => value.globals(),
            Const::Binary { a, b, .. } => [a, b].into_iter().flat_map(|operand| operand.globals()).collect(),
            Const::Int(_) | Const::Float(_) | Const::Zero | Const::Undef | Const::Bytes(_) => Vec::new(),
        }
    }
}

impl Op {
    /// Returns true if it leaves its block.
    pub fn is_terminator(&self) -> bool {
        matches!(self, Op::Ret(_) | Op::Br(_) | Op::CondBr { .. } | Op::Switch { .. } | Op::Unreachable)
    }

    /// Returns the blocks that it may go to.
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

    /// Returns the operands. The values of a phi are operands, too.
    pub fn operands(&self) -> Vec<&Value> {
        match self {
            Op::Binary { a, b, .. } | Op::ICmp { a, b, .. } | Op::FCmp { a, b, .. } | Op::Shuffle { a, b, .. } => vec![a, b],
            Op::Fma { a, b, c, .. } | Op::Select { condition: a, a: b, b: c, .. } => vec![a, b, c],
            Op::FNeg(value) | Op::Freeze(value) | Op::Cast { value, .. } | Op::ExtractValue { value, .. } => vec![value],
            Op::Phi(incoming) => incoming.iter().map(|(value, _)| value).collect(),
            Op::Load { ptr: value, .. } | Op::Alloca { count: value, .. } | Op::CondBr { condition: value, .. } => vec![value],
            Op::Store { value, ptr, .. } | Op::AtomicRmw { value, ptr, .. } => vec![value, ptr],
            Op::Gep { base, indices, .. } => [base].into_iter().chain(indices).collect(),
            Op::InsertValue { into, value, .. } => vec![into, value],
            Op::ExtractElement { vector, index, .. } => vec![vector, index],
            Op::InsertElement { vector, element, index } => vec![vector, element, index],
            Op::Call { callee, args, .. } => {
                let callee = if let Callee::Pointer(callee) = callee { Some(callee) } else { None };
                callee.into_iter().chain(args.iter().map(|arg| &arg.value)).collect()
            }
            Op::CmpXchg { ptr, expected, new, .. } => vec![ptr, expected, new],
            Op::Ret(Some(value)) | Op::Switch { value, .. } => vec![value],
            Op::Fence { .. } | Op::Ret(None) | Op::Br(_) | Op::Unreachable => Vec::new(),
        }
    }

    /// Returns the locals among the operands.
    pub fn locals(&self) -> impl Iterator<Item = Local> {
        self.operands().into_iter().filter_map(Value::local)
    }
}
