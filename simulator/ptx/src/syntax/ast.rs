//! The syntax tree of a PTX module. Names borrow from the text; a `span` is a range of its bytes, so that a caller can edit the
//! text.

#![expect(missing_docs, reason = "parts are named as the PTX ISA manual names them")]

use std::ops::Range;

use crate::error::LoadError;
use crate::geometry::ClusterBounds;

/// A module: header, variables, functions.
#[derive(Debug, Default)]
pub struct Module<'t> {
    /// The text that was parsed.
    pub text: &'t str,
    /// The directives that apply to every function: `.version`, `.target`, `.address_size`, and each `.pragma` outside functions.
    pub directives: Vec<Range<usize>>,
    /// `.version major.minor`
    pub version: (u32, u32),
    /// `.target sm_XY` as a compute capability.
    pub target: (u32, u32),
    /// The target ends with a letter, as in `sm_90a`: the code runs on this compute capability only, and may use all that it has.
    pub is_specific: bool,
    /// `.file index "name"`
    pub files: Vec<(u32, &'t str)>,
    /// Module-scope variables.
    pub variables: Vec<Variable<'t>>,
    /// Functions in the order of the text; a function that is only declared has no body.
    pub functions: Vec<Function<'t>>,
}

/// `.entry` or `.func`.
#[derive(Debug)]
pub struct Function<'t> {
    pub name: &'t str,
    /// `.entry`: a kernel.
    pub is_kernel: bool,
    pub returns: Vec<Variable<'t>>,
    pub params: Vec<Variable<'t>>,
    /// `.maxntid` or `.reqntid`: the product of its extents.
    pub max_threads: Option<u32>,
    /// Its bounds on clusters of blocks.
    pub cluster: ClusterBounds,
    pub body: Option<Vec<Statement<'t>>>,
    /// The text between the braces of its body.
    pub body_span: Option<Range<usize>>,
    /// Code outside the module can refer to it: it is a kernel, or its linkage is `.visible`, `.weak` or `.extern`.
    pub is_public: bool,
    pub line: u32,
    /// From its linkage (`.visible`) to the closing brace, or to the semicolon of a declaration.
    pub span: Range<usize>,
}

/// A line of a function's body.
#[derive(Debug)]
pub enum Statement<'t> {
    /// `$L__BB0_1:`
    Label(&'t str),
    /// `.reg .b32 %r<35>;`
    Registers(Registers<'t>),
    /// `.shared`, `.local` and `.param` variables.
    Variable(Variable<'t>),
    /// `.loc file line column`
    Location {
        file: u32,
        line: u32,
        column: u32,
        /// The file, line and column of the call that was inlined.
        call: Option<(u32, u32, u32)>,
        /// The file and line that the code was inlined into, at the end of a chain of inlined functions.
        inlined_at: Option<(u32, u32)>,
        span: Range<usize>,
    },
    /// `name: .callprototype (results) _ (parameters);`
    Prototype(Prototype<'t>),
    /// `name: .calltargets f, g;` or `name: .branchtargets $L1, $L2;`
    Targets {
        name: &'t str,
        targets: Vec<&'t str>,
    },
    /// `{`: names declared inside end with the block.
    Open,
    /// `}`
    Close,
    /// A statement that cannot be read. It refuses only the kernels that reach it.
    Unreadable(LoadError),
    Instruction(Instruction<'t>),
}

/// The parameters and results of a function called through a pointer.
#[derive(Debug)]
pub struct Prototype<'t> {
    pub name: &'t str,
    pub returns: Vec<Variable<'t>>,
    pub params: Vec<Variable<'t>>,
}

/// `.reg .type name;` or `.reg .type name<count>;`
#[derive(Debug)]
pub struct Registers<'t> {
    pub ty: Type,
    /// The type is `.f32` or `.f64`, which says how to show a value and nothing else.
    pub is_float: bool,
    /// `.reg .v4 .type name;` declares vectors of so many elements.
    pub lanes: Option<u8>,
    pub name: &'t str,
    /// `Some(n)` declares `name0` to `name(n-1)`.
    pub count: Option<u32>,
    pub line: u32,
}

/// A variable in a state space.
#[derive(Debug)]
pub struct Variable<'t> {
    pub space: StateSpace,
    pub name: &'t str,
    pub ty: Type,
    pub align: u64,
    /// Size in bytes; `None` for `name[]`, whose size the launch decides.
    pub bytes: Option<u64>,
    pub init: Vec<Initializer<'t>>,
    /// A parameter or a result of a function that is in a register: `.reg` in place of `.param`.
    pub in_register: bool,
    /// Declared here, defined elsewhere.
    pub is_extern: bool,
    /// Code outside the module can refer to it: its linkage is `.visible`, `.weak`, `.common` or `.extern`.
    pub is_public: bool,
    /// The host can use it as well: its attribute is `.managed`.
    pub is_managed: bool,
    /// The kind of object that the host binds to a variable of an opaque type.
    pub opaque: Option<Opaque>,
    pub line: u32,
    /// From its linkage or state space to its semicolon, which a parameter does not have.
    pub span: Range<usize>,
}

/// The meaning of a variable of an opaque type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// `.texref`
    Texture,
    /// `.samplerref`
    Sampler,
    /// `.surfref`
    Surface,
}

/// One element of a variable's initial value, as wide as its type.
#[derive(Clone, Copy, Debug)]
pub enum Initializer<'t> {
    Bits(u64),
    Address { name: &'t str, offset: i64 },
}

/// The state space of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSpace {
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// A register's or variable's type: its width, or that it is a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Pred,
    /// Width in bytes: 1, 2, 4, 8 or 16.
    Bytes(u32),
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction<'t> {
    pub guard: Option<Guard<'t>>,
    /// The whole opcode with its modifiers, for example `ld.global.nc.f32`.
    pub opcode: &'t str,
    pub operands: Vec<Operand<'t>>,
    /// Where each operand is in the text.
    pub operand_spans: Vec<Range<usize>>,
    pub line: u32,
    /// The file number and the line of the last `.loc` before the instruction, if there is one and it names a line.
    pub source: Option<(u32, u32)>,
    /// From its guard, or else its opcode, to its semicolon.
    pub span: Range<usize>,
    /// The same without the guard: from its opcode to its semicolon.
    pub unguarded: Range<usize>,
}

/// `@%p1` or `@!%p1`
#[derive(Clone, Copy, Debug)]
pub struct Guard<'t> {
    pub name: &'t str,
    pub negated: bool,
}

/// An operand as written.
#[derive(Clone, Debug)]
pub enum Operand<'t> {
    /// A register, special register, variable, label or function.
    Name(&'t str),
    /// `!%p1`
    Not(&'t str),
    /// `name+8`, the address of a variable with an offset
    Offset(&'t str, i64),
    /// `name[2]`, the address of an element of an array
    Element(&'t str, i64),
    /// An integer, sign-extended to 64 bits.
    Integer(u64),
    /// `0f3F800000`
    F32(u32),
    /// `0d3FF0000000000000`
    F64(u64),
    /// `[%rd1+8]`
    Address(Base<'t>, i64),
    /// `{%f1, %f2}`
    Vector(Vec<Operand<'t>>),
    /// `%r1|%p1`
    Pair(&'t str, &'t str),
    /// `-%r1.h0`
    Negative(&'t str),
    /// `v.y`, the element of a vector in registers, where the text names the whole vector.
    Part(&'t str, u8),
    /// `(param0, %r1, 5)`, in calls
    List(Vec<Operand<'t>>),
    /// `[texture, {%f1, %f2}]`
    Texture(&'t str, Vec<Operand<'t>>),
}

/// The base of an address.
#[derive(Clone, Copy, Debug)]
pub enum Base<'t> {
    Name(&'t str),
    Absolute,
}
