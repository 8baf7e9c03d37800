//! A loaded module: PTX text, parsed and decoded, with nothing placed in memory yet.

use thiserror::Error;

use crate::finding::{Location, Space};

/// A PTX module, ready to be placed in memory as an [`Image`](crate::Image).
#[derive(Debug)]
pub struct Module {
    kernels: Vec<Kernel>,
    variables: Vec<Variable>,
}

impl Module {
    /// Parses and decodes PTX text. Every instruction of every function is decoded here, so that an unknown one is refused
    /// at load and not in the middle of a launch.
    ///
    /// # Errors
    ///
    /// [`LoadError::Syntax`] when the text is no PTX, [`LoadError::Unsupported`] when it holds an instruction, a directive or an
    /// address size that the simulator does not know.
    pub fn parse(ptx: &str) -> Result<Self, LoadError> {
        let _ = ptx;
        todo!()
    }

    /// The module's kernels (`.entry`), in the order of the text.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The module's `.global` and `.const` variables, in the order of the text.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The `.version` of the PTX.
    pub fn ptx_version(&self) -> (u32, u32) {
        todo!()
    }

    /// The `.target` of the PTX as a compute capability: `sm_86` is `(8, 6)`.
    pub fn target(&self) -> (u32, u32) {
        todo!()
    }
}

/// A kernel (`.entry`) of a module.
#[derive(Debug)]
pub struct Kernel {
    name: String,
    params: Vec<Param>,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its parameters, in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Bytes of the whole parameter list.
    pub fn param_bytes(&self) -> usize {
        todo!()
    }

    /// Bytes of statically declared shared memory per block.
    pub fn static_shared_bytes(&self) -> u32 {
        todo!()
    }

    /// Bytes of local memory per thread.
    pub fn local_bytes(&self) -> u32 {
        todo!()
    }

    /// The most threads per block that the kernel was compiled for (`.maxntid`), if it says so.
    pub fn max_threads(&self) -> Option<u32> {
        todo!()
    }
}

/// A parameter's place in the parameter list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Offset in bytes from the start of the list.
    pub offset: usize,
    /// Size in bytes.
    pub bytes: usize,
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
}

/// Why a module could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LoadError {
    /// The text is not PTX.
    #[error("PTX line {line}: {message}")]
    Syntax {
        /// Line of the PTX text, from 1.
        line: u32,
        /// What was expected and what was found.
        message: String,
    },
    /// The text is PTX that the simulator cannot execute.
    #[error("{what} is not supported by the simulator, at PTX line {}: {}", location.ptx_line, location.instruction)]
    Unsupported {
        /// The instruction or directive.
        what: String,
        /// Where it stands.
        location: Box<Location>,
    },
}
