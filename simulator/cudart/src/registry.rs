//! The things that a program registered before `main`: its fat binaries, and which kernels and variables are in each.
//!
//! The compiler writes a function into every object file that registers what the file has. A kernel is then known by the address of its stub
//! on the host, and a variable by the address of its shadow. A fat binary is loaded when something in it is first used.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::LazyLock;

use parking_lot::Mutex;

use crate::context;
use crate::driver;
use crate::error::{Code, Result};
use crate::pointer::{Address, Handle, Ptr};

/// A fat binary, by the order of registration.
pub type Number = usize;

/// The address of a program's fat binary, until it unregisters it.
#[derive(Clone, Copy, Debug)]
struct Wrapper(Ptr<c_void>);

/// The place where a program keeps a managed variable's address.
#[derive(Clone, Copy, Debug)]
struct Managed(Ptr<Address>);

// SAFETY: the address is written once, before the program first reads it on any thread: its compiler makes sure of that.
unsafe impl Send for Managed {}

// SAFETY: the wrapper is constant data of the program, which every thread may read.
unsafe impl Send for Wrapper {}

/// A kernel or a variable of a fat binary.
#[derive(Clone, Debug)]
struct Symbol {
    binary: Number,
    /// The name in PTX.
    name: CString,
}

#[derive(Debug, Default)]
struct Registry {
    /// The wrapper of each fat binary. One that was unregistered is gone.
    binaries: BTreeMap<Number, Wrapper>,
    registered: Number,
    libraries: BTreeMap<Number, Handle>,
    /// By the address on the host.
    kernels: BTreeMap<u64, Symbol>,
    variables: BTreeMap<u64, Symbol>,
    /// Managed variables: where the program keeps the address of each.
    managed: Vec<(Managed, Symbol)>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

/// Adds a fat binary.
pub fn add_binary(wrapper: Ptr<c_void>) -> Number {
    let mut registry = REGISTRY.lock();
    registry.registered += 1;
    let number = registry.registered;
    registry.binaries.insert(number, Wrapper(wrapper));
    number
}

/// Removes a fat binary and all that is in it. The driver may have ended by then; that is no failure.
pub fn remove_binary(number: Number) {
    let mut registry = REGISTRY.lock();
    registry.binaries.remove(&number);
    registry.kernels.retain(|_, symbol| symbol.binary != number);
    registry.variables.retain(|_, symbol| symbol.binary != number);
    registry.managed.retain(|(_, symbol)| symbol.binary != number);
    if let Some(library) = registry.libraries.remove(&number) {
        let _ = driver::cuLibraryUnload(library);
    }
}

/// Adds a kernel of a fat binary.
pub fn add_kernel(binary: Number, stub: Ptr<c_void>, name: Ptr<c_char>) {
    if let Ok(name) = symbol_name(name) {
        REGISTRY.lock().kernels.insert(stub.address(), Symbol { binary, name });
    }
}

/// Adds a variable of a fat binary.
pub fn add_variable(binary: Number, shadow: Ptr<c_void>, name: Ptr<c_char>) {
    if let Ok(name) = symbol_name(name) {
        REGISTRY.lock().variables.insert(shadow.address(), Symbol { binary, name });
    }
}

/// Adds a managed variable of a fat binary. `pointer` is where the program keeps its address, and also its shadow.
pub fn add_managed(binary: Number, pointer: Ptr<Address>, name: Ptr<c_char>) {
    add_variable(binary, pointer.cast(), name);
    if let Ok(name) = symbol_name(name) {
        REGISTRY.lock().managed.push((Managed(pointer), Symbol { binary, name }));
    }
}

/// Gives the program the addresses of a fat binary's managed variables.
pub fn place_managed(binary: Number) -> Result {
    context::ensure()?;
    let mut registry = REGISTRY.lock();
    for (Managed(pointer), Symbol { name, .. }) in
        registry.managed.clone().into_iter().filter(|(_, symbol)| symbol.binary == binary)
    {
        let library = registry.library(binary)?;
        let (mut address, mut bytes) = (0, 0);
        driver::cuLibraryGetManaged(Ptr::to(&mut address), Ptr::to(&mut bytes), library, Ptr::to_text(&name))?;
        pointer.put(address)?;
    }
    Ok(())
}

fn symbol_name(name: Ptr<c_char>) -> Result<CString> {
    CString::new(name.text()?).map_err(|_| Code::INVALID_VALUE)
}

/// Returns the driver's kernel for the stub on the host. What is not a stub is taken for a handle of a kernel, as CUDA allows.
pub fn kernel(stub: Ptr<c_void>) -> Result<Handle> {
    stub.check().map_err(|_| Code::INVALID_DEVICE_FUNCTION)?;
    context::ensure()?;
    let mut registry = REGISTRY.lock();
    let Some(Symbol { binary, name }) = registry.kernels.get(&stub.address()).cloned() else { return Ok(stub.address() as Handle) };
    let library = registry.library(binary)?;
    let found = Ptr::written(|kernel| driver::cuLibraryGetKernel(kernel, library, Ptr::to_text(&name)));
    found.map_err(|code| if code == Code::SYMBOL_NOT_FOUND { Code::INVALID_DEVICE_FUNCTION } else { code })
}

/// Returns the driver's function for a host stub in the current context.
pub fn function(stub: Ptr<c_void>) -> Result<Handle> {
    let kernel = kernel(stub)?;
    match Ptr::written(|function| driver::cuKernelGetFunction(function, kernel)) {
        // It may be a handle of a function already.
        Err(Code::INVALID_RESOURCE_HANDLE) => match driver::cuFuncGetAttribute(Ptr::to(&mut 0), 0, kernel) {
            Err(Code::INVALID_RESOURCE_HANDLE) => Err(Code::INVALID_DEVICE_FUNCTION),
            _ => Ok(kernel),
        },
        found => found,
    }
}

/// Returns a variable's address and size. The key is the address of its shadow on the host.
pub fn variable(shadow: Ptr<c_void>) -> Result<(Address, usize)> {
    context::ensure()?;
    let mut registry = REGISTRY.lock();
    let Symbol { binary, name } = registry.variables.get(&shadow.address()).cloned().ok_or(Code::INVALID_SYMBOL)?;
    let library = registry.library(binary)?;
    let (mut address, mut bytes) = (0, 0);
    let found = driver::cuLibraryGetGlobal(Ptr::to(&mut address), Ptr::to(&mut bytes), library, Ptr::to_text(&name));
    found.map_err(|code| if code == Code::SYMBOL_NOT_FOUND { Code::INVALID_SYMBOL } else { code })?;
    Ok((address, bytes))
}

impl Registry {
    /// Returns the driver's library of a fat binary, loading it if necessary.
    fn library(&mut self, binary: Number) -> Result<Handle> {
        if let Some(&library) = self.libraries.get(&binary) {
            return Ok(library);
        }
        let Wrapper(image) = *self.binaries.get(&binary).ok_or(Code::INVALID_RESOURCE_HANDLE)?;
        let library =
            Ptr::written(|library| driver::cuLibraryLoadData(library, image, Ptr::NULL, Ptr::NULL, 0, Ptr::NULL, Ptr::NULL, 0))?;
        self.libraries.insert(binary, library);
        Ok(library)
    }
}
