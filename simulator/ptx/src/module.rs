//! A loaded module: PTX text, parsed and decoded, with nothing placed in memory yet.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use crate::device_runtime;
use crate::error::LoadError;
use crate::finding::Space;
use crate::geometry::ClusterBounds;
pub use crate::program::Param;
use crate::program::{CallGraph, Program, SourceMap, address_of_function, decode_kernel, globals, parameters_of_addresses};
pub use crate::syntax::ast::Opaque;
use crate::syntax::ast::{self, Initializer, StateSpace, Type};
use crate::syntax::parse;

/// Bytes of constant memory that a module may have.
const CONSTANT_BYTES: u64 = 64 << 10;

/// A PTX module, ready to be placed in memory by the machine.
#[derive(Debug)]
pub struct Module {
    kernels: Vec<Kernel>,
    variables: Vec<Variable>,
    version: (u32, u32),
    target: (u32, u32),
    /// Kernels that the simulator cannot execute.
    refused: Vec<(String, LoadError)>,
    fingerprint: OnceLock<u64>,
    /// The lines of CUDA source and of PTX.
    #[doc(hidden)]
    pub map: SourceMap,
}

impl Module {
    /// Parses and decodes PTX text. Every instruction of every kernel, and of every function that a kernel calls, is decoded here,
    /// so that loading reports an unknown instruction before anything is launched.
    ///
    /// # Errors
    ///
    /// [`LoadError::Syntax`] when the text is not PTX, [`LoadError::Unsupported`] when it holds an instruction or a directive that
    /// the simulator does not know.
    pub fn parse(ptx: &str) -> Result<Self, LoadError> {
        let mut module = Self::parse_in_part(ptx)?;
        if module.refused.is_empty() { Ok(module) } else { Err(module.refused.swap_remove(0).1) }
    }

    /// Parses like [`parse`](Self::parse), but leaves out kernels that cannot be executed. The simulator must be able to execute
    /// another one. [`refused`](Self::refused) lists them.
    ///
    /// # Errors
    ///
    /// [`LoadError::Syntax`] when the text is not PTX, [`LoadError::Unsupported`] when the simulator can execute none of its kernels.
    pub fn parse_in_part(ptx: &str) -> Result<Self, LoadError> {
        let tree = parse(ptx)?;
        match device_runtime::complete(ptx, &tree)? {
            Some(text) => Self::of_tree(&text, &parse(&text)?),
            None => Self::of_tree(ptx, &tree),
        }
    }

    fn of_tree(text: &str, tree: &ast::Module<'_>) -> Result<Self, LoadError> {
        let map = SourceMap::new(text, &tree.files);
        let variables = globals(tree).map(|variable| self::variable(tree, variable)).collect::<Result<Vec<_>, _>>()?;
        let constant_bytes: u64 = variables.iter().filter(|v| v.space == Space::Const).map(|v| v.bytes).sum();
        if constant_bytes > CONSTANT_BYTES {
            let message =
                format!("the module has {constant_bytes} bytes of constant memory, more than the {CONSTANT_BYTES} of a GPU");
            return Err(LoadError::Syntax { line: 1, message });
        }
        let kernels = tree.functions.iter().enumerate().filter(|(_, function)| function.is_kernel && function.body.is_some());
        let call_graph = CallGraph::new(tree);
        let (mut runnable, mut refused) = (Vec::new(), Vec::new());
        for (index, function) in kernels {
            let name = function.name.to_owned();
            match decode_kernel(tree, index, &call_graph, &map) {
                Ok((program, params)) => {
                    runnable.push(Kernel { name, params, max_threads: function.max_threads, cluster: function.cluster, program })
                }
                Err(error) => refused.push((name, error)),
            }
        }
        if runnable.is_empty() && !refused.is_empty() {
            return Err(refused.swap_remove(0).1);
        }
        Ok(Self {
            kernels: runnable,
            variables,
            version: tree.version,
            target: tree.target,
            refused,
            fingerprint: OnceLock::new(),
            map,
        })
    }

    /// Returns the kernels that [`parse_in_part`](Self::parse_in_part) left out, each with the reason.
    pub fn refused(&self) -> &[(String, LoadError)] {
        &self.refused
    }

    /// Returns the module's kernels (`.entry`), in the order of the text.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Finds the kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Returns the module's `.global` and `.const` variables, in the text's order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns the text that it was made from. The functions of CUDA's device library that the text calls are added.
    pub fn text(&self) -> String {
        self.map.text()
    }

    /// Returns a number that tells its text from others.
    pub fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            self.text().hash(&mut hasher);
            hasher.finish()
        })
    }

    /// Returns the `.version` of the PTX.
    pub fn ptx_version(&self) -> (u32, u32) {
        self.version
    }

    /// Returns the PTX's `.target` as a compute capability: `sm_86` is `(8, 6)`.
    pub fn target(&self) -> (u32, u32) {
        self.target
    }
}

/// A kernel (`.entry`) of a module.
#[derive(Debug)]
pub struct Kernel {
    name: String,
    params: Vec<Param>,
    max_threads: Option<u32>,
    cluster: ClusterBounds,
    /// The decoded instructions.
    #[doc(hidden)]
    pub program: Program,
}

impl Kernel {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its parameters, in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Returns the bytes of the whole parameter list.
    pub fn param_bytes(&self) -> usize {
        self.params.last().map_or(0, |param| param.offset + param.bytes)
    }

    /// Finds the pointers that a PTX line's addresses are made from. Each is the index of a parameter, and the offset in it in bytes.
    /// For messages: each call goes through the whole kernel.
    ///
    /// An address that was read from memory has none. There are several if a term of 64 bits is a parameter, too, or if the kernel chooses
    /// between two pointers.
    pub fn pointers_behind(&self, ptx_line: u32) -> Vec<(usize, usize)> {
        let place = |offset: u32| {
            let offset = offset as usize;
            let index = self.params.iter().position(|param| (param.offset..param.offset + param.bytes).contains(&offset))?;
            Some((index, offset - self.params[index].offset))
        };
        parameters_of_addresses(&self.program, ptx_line).into_iter().filter_map(place).collect()
    }

    /// Returns the bytes of statically declared shared memory per block.
    pub fn static_shared_bytes(&self) -> u32 {
        self.program.static_shared_bytes
    }

    /// Returns the bytes of local memory per thread.
    pub fn local_bytes(&self) -> u32 {
        self.program.local_bytes.next_multiple_of(16)
    }

    /// Returns the kernel's limit on threads per block (`.maxntid`), if any.
    pub fn max_threads(&self) -> Option<u32> {
        self.max_threads
    }

    /// Returns the bounds on clusters of blocks in its text.
    pub fn cluster(&self) -> ClusterBounds {
        self.cluster
    }
}

/// A module-scope variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// [`Space::Global`] or [`Space::Const`].
    pub space: Space,
    /// Size in bytes.
    pub bytes: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// The host can use it as well, at the same address.
    pub is_managed: bool,
    /// The kind of object that the host binds to a variable of an opaque type.
    pub opaque: Option<Opaque>,
    /// The first bytes of its initial value; the rest is zero.
    pub init: Vec<u8>,
    /// Addresses in its initial value: the offset in the value, the index of the variable pointed to, and the offset in that
    /// variable.
    pub pointers: Vec<(u64, usize, i64)>,
}

fn variable(tree: &ast::Module<'_>, variable: &ast::Variable<'_>) -> Result<Variable, LoadError> {
    let fault = |message: String| LoadError::Syntax { line: variable.line, message };
    let bytes = match variable.bytes {
        Some(bytes) if !variable.is_extern => bytes,
        _ => return Err(fault(format!("variable {} is declared here but defined nowhere", variable.name))),
    };
    let Type::Bytes(width) = variable.ty else {
        return Err(fault(format!("variable {} is a predicate", variable.name)));
    };
    let mut init = Vec::new();
    let mut pointers = Vec::new();
    for value in &variable.init {
        match value {
            Initializer::Bits(bits) => init.extend_from_slice(&bits.to_le_bytes()[..width.min(8) as usize]),
            Initializer::Address { name, offset } => {
                if let Some(address) = address_of_function(tree, name).filter(|_| width == 8) {
                    init.extend_from_slice(&address.wrapping_add_signed(*offset).to_le_bytes());
                    continue;
                }
                let target = globals(tree).position(|other| other.name == *name);
                let target = target.filter(|_| width == 8);
                let target =
                    target.ok_or_else(|| fault(format!("variable {} cannot hold the address of {name}", variable.name)))?;
                pointers.push((init.len() as u64, target, *offset));
                init.extend_from_slice(&[0; 8]);
            }
        }
    }
    let space = if variable.space == StateSpace::Const { Space::Const } else { Space::Global };
    let (name, is_managed) = (variable.name.to_owned(), variable.is_managed);
    Ok(Variable { name, space, bytes, align: variable.align, is_managed, opaque: variable.opaque, init, pointers })
}
