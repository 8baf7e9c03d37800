//! Answers to what other programs ask about PTX: the kernels, their parameters, and the effect of each instruction.

use std::ops::Range;

use super::ast::StateSpace::{self, Const, Global, Local, Param, Shared};
use super::ast::{Base, Function, Instruction, Module, Operand, Registers, Statement, Type, Variable};
use super::literal::scalar_type;

impl<'t> Module<'t> {
    /// Lists the module's kernels (`.entry`), in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &Function<'t>> {
        self.functions.iter().filter(|function| function.is_kernel && function.body.is_some())
    }

    /// Finds the kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&Function<'t>> {
        self.kernels().find(|kernel| kernel.name == name)
    }

    /// Returns the span of a name in the tree: of a file, a function, a variable, or an opcode.
    ///
    /// # Panics
    ///
    /// When the name is not a slice of the text that was parsed.
    pub fn span_of(&self, name: &'t str) -> Range<usize> {
        let start = (name.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        assert!(start <= self.text.len() && name.len() <= self.text.len() - start, "{name} is not a part of the text");
        start..start + name.len()
    }
}

impl<'t> Function<'t> {
    /// Lists its instructions, in the order of the text.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction<'t>> {
        self.body.iter().flatten().filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        })
    }

    /// Lists the variables declared in its body, in the text's order.
    pub fn variables(&self) -> impl Iterator<Item = &Variable<'t>> {
        self.body.iter().flatten().filter_map(|statement| match statement {
            Statement::Variable(variable) => Some(variable),
            _ => None,
        })
    }

    /// Lists its register declarations, in the order of the text.
    pub fn registers(&self) -> impl Iterator<Item = &Registers<'t>> {
        self.body.iter().flatten().filter_map(|statement| match statement {
            Statement::Registers(registers) => Some(registers),
            _ => None,
        })
    }

    /// Returns the type of a register such as `%r12`; `None` for a name that is not one of its registers.
    pub fn register_type(&self, name: &str) -> Option<Type> {
        self.registers().find(|registers| registers.declares(name)).map(|registers| registers.ty)
    }
}

impl Registers<'_> {
    /// Returns true if this declares a register: `%r<35>` declares `%r0` to `%r34`.
    pub fn declares(&self, register: &str) -> bool {
        let Some(count) = self.count else { return self.name == register };
        let digits = register.strip_prefix(self.name).filter(|digits| *digits == "0" || !digits.starts_with(['0', '+']));
        digits.and_then(|digits| digits.parse::<u32>().ok()).is_some_and(|number| number < count)
    }
}

/// The kind of a barrier: which threads wait for each other, or what a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Barrier {
    /// The threads of the block wait for each other: `bar.sync`, `bar.red`, and the same of `barrier`.
    Block,
    /// A thread arrives at a barrier of the block and does not wait: `bar.arrive`, `barrier.arrive`.
    BlockArrive,
    /// The lanes of a warp wait for each other: `bar.warp.sync`.
    Warp,
    /// The blocks of a cluster: `barrier.cluster.arrive` and `barrier.cluster.wait`.
    Cluster,
    /// A barrier in shared memory: every `mbarrier` instruction, and `cp.async.mbarrier.arrive`.
    Mbarrier,
    /// The thread waits for copies that it began: `cp.async.wait_all`, `cp.async.wait_group`, and the latter of `cp.async.bulk`.
    Copies,
}

impl<'t> Instruction<'t> {
    /// Returns the opcode before its first modifier: `ld` of `ld.global.f32`.
    pub fn root(&self) -> &'t str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    /// Returns true if the opcode has this modifier, perhaps with a scope: `ld.shared::cta.b32` has `shared`.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers().any(|part| part == modifier)
    }

    /// Lists the opcode's modifiers, without scopes.
    fn modifiers(&self) -> impl Iterator<Item = &'t str> {
        self.opcode.split('.').skip(1).map(|part| part.split("::").next().unwrap_or_default())
    }

    /// Returns the type of an element that it loads, stores or computes: the last modifier that is one.
    pub fn element_type(&self) -> Option<Type> {
        self.opcode.rmatch_indices('.').find_map(|(at, _)| {
            let word = &self.opcode[at..];
            let end = word[1..].find('.').map_or(word.len(), |end| end + 1);
            scalar_type(&word[..end])
        })
    }

    /// Returns the kind of barrier, if the instruction is one. Fences are not barriers: they order memory, and no thread waits.
    pub fn barrier(&self) -> Option<Barrier> {
        match self.root() {
            "bar" | "barrier" if self.has("cluster") => Some(Barrier::Cluster),
            "bar" | "barrier" if self.has("warp") => Some(Barrier::Warp),
            "bar" | "barrier" if self.has("arrive") => Some(Barrier::BlockArrive),
            "bar" | "barrier" => Some(Barrier::Block),
            "mbarrier" => Some(Barrier::Mbarrier),
            "cp" if self.has("mbarrier") && !self.has("bulk") => Some(Barrier::Mbarrier),
            "cp" if self.has("wait_all") || self.has("wait_group") => Some(Barrier::Copies),
            _ => None,
        }
    }

    /// Lists the names in its first operand, if results go there. What a call returns does not count.
    pub fn results(&self) -> Vec<&'t str> {
        match (self.root(), self.operands.first()) {
            ("bar" | "barrier" | "bra" | "brx" | "call" | "nanosleep" | "setmaxnreg" | "wgmma", _) | (_, None) => Vec::new(),
            (_, Some(first)) => first.values(),
        }
    }

    /// Returns the state spaces that it reads values from. They go into registers or another space. A generic address may lead to
    /// any of three spaces. Calls are not followed, and barriers in shared memory do not count.
    pub fn reads(&self) -> &'static [StateSpace] {
        match self.root() {
            "ld" | "ldu" | "ldmatrix" | "atom" => self.space(),
            "wmma" if self.has("load") => self.space(),
            "wgmma" if self.has("mma_async") => &[Shared],
            "tex" | "tld4" | "suld" => &[Global],
            "cp" => self.copied().map_or(&[], |(_, source)| source),
            _ => &[],
        }
    }

    /// Returns the state spaces in which it writes values. Calls and barriers as in [`reads`](Self::reads).
    pub fn writes(&self) -> &'static [StateSpace] {
        match self.root() {
            "st" | "stmatrix" | "red" | "atom" => self.space(),
            "wmma" if self.has("store") => self.space(),
            "sust" | "sured" => &[Global],
            "cp" => self.copied().map_or(&[], |(target, _)| target),
            _ => &[],
        }
    }

    /// Returns the opcode's space, or those that a generic address may reach.
    fn space(&self) -> &'static [StateSpace] {
        self.modifiers().find_map(space).unwrap_or(&[Global, Shared, Local])
    }

    /// Returns the target and the source of a copy; `None` for an instruction that only commits copies or waits for them.
    fn copied(&self) -> Option<(&'static [StateSpace], &'static [StateSpace])> {
        let mut spaces = self.modifiers().filter_map(space);
        spaces.next().zip(spaces.next())
    }
}

fn space(modifier: &str) -> Option<&'static [StateSpace]> {
    Some(match modifier {
        "global" => &[Global],
        "const" => &[Const],
        "shared" => &[Shared],
        "local" => &[Local],
        "param" => &[Param],
        _ => return None,
    })
}

impl<'t> Operand<'t> {
    /// Lists the names in the operand: registers, variables, labels and functions, but not the base of an address.
    pub fn values(&self) -> Vec<&'t str> {
        match self {
            Self::Name(name)
            | Self::Not(name)
            | Self::Negative(name)
            | Self::Part(name, _)
            | Self::Offset(name, _)
            | Self::Element(name, _) => vec![*name],
            Self::Pair(first, second) => vec![*first, *second],
            Self::Vector(elements) | Self::List(elements) => elements.iter().flat_map(Self::values).collect(),
            Self::Texture(texture, coordinates) => coordinates.iter().flat_map(Self::values).chain([*texture]).collect(),
            Self::Address(..) | Self::Integer(_) | Self::F32(_) | Self::F64(_) => Vec::new(),
        }
    }

    /// Lists all names in the operand.
    pub fn names(&self) -> impl Iterator<Item = &'t str> {
        self.values().into_iter().chain(self.base())
    }

    /// Returns the name that its address starts from: `%rd1` of `[%rd1+8]`.
    pub fn base(&self) -> Option<&'t str> {
        match self {
            Self::Address(Base::Name(name), _) => Some(name),
            _ => None,
        }
    }
}
