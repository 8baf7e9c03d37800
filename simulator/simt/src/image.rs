//! A module placed in memory: its variables have addresses, so its kernels can run.

use std::sync::Arc;

use crate::memory::{Memory, MemoryError};
use ptx::finding::Space;
use ptx::module::{Kernel, Module};

/// A [`Module`] whose variables are allocated and initialized in one [`Memory`].
#[derive(Debug)]
pub struct Image {
    module: Arc<Module>,
    /// Address of each of `module.variables()`, in that order.
    addresses: Vec<u64>,
}

impl Image {
    /// Allocates and initializes the module's `.global` and `.const` variables.
    ///
    /// # Errors
    ///
    /// When the memory is too small for all of them; then none is allocated.
    pub fn new(module: Arc<Module>, memory: &Memory) -> Result<Self, MemoryError> {
        let mut image = Self { module: module.clone(), addresses: Vec::new() };
        match image.place(&module, memory) {
            Ok(()) => Ok(image),
            Err(error) => {
                image.unload(memory);
                Err(error)
            }
        }
    }

    fn place(&mut self, module: &Module, memory: &Memory) -> Result<(), MemoryError> {
        for variable in module.variables() {
            let (bytes, label) = (variable.bytes, format!("the variable {}", variable.name));
            let label = Some(label.as_str());
            self.addresses.push(match variable.space {
                Space::Const => memory.allocate_constant(bytes, label),
                _ if variable.is_managed => memory.allocate_host_visible(bytes, label),
                _ => memory.allocate_zeroed(bytes, label),
            }?);
        }
        for (variable, address) in module.variables().iter().zip(&self.addresses) {
            // A variable without an initial value is zero, and so is fresh memory.
            if !variable.init.is_empty() {
                memory.write(*address, &variable.init)?;
            }
            for (at, target, offset) in &variable.pointers {
                let pointer = self.addresses[*target].wrapping_add_signed(*offset);
                memory.write(address + at, &pointer.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Returns the module that this image was made from.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Returns the kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.module.kernel(name)
    }

    /// Address and size in bytes of the module's variable of that name.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let index = self.module.variables().iter().position(|v| v.name == name)?;
        Some((self.addresses[index], self.module.variables()[index].bytes))
    }

    /// Address of the variable with that index.
    pub(crate) fn address(&self, variable: usize) -> u64 {
        self.addresses[variable]
    }

    /// Frees the variables. The image must not be launched from afterward, hence by value.
    pub fn unload(self, memory: &Memory) {
        for address in self.addresses {
            // The host may have freed the variable by its address already.
            let _ = memory.free(address);
        }
    }
}
