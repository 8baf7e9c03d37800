//! Modules: loading PTX, and finding its functions and variables.

use std::collections::BTreeMap;

use super::function::Function;
use super::image::{self, LoadedImage, ParsedImage};
use super::jit_log::Logs;
use super::prelude::*;

/// A module, loaded into a context.
#[derive(Debug)]
pub struct Module {
    pub handle: Handle,
    context: Arc<Context>,
    pub image: Arc<LoadedImage>,
    /// The library that unloads this module.
    library: Option<Handle>,
    /// Handles of functions by name, so that asking twice returns the same one.
    functions: Mutex<BTreeMap<String, Handle>>,
}

kind!(Module: INVALID_HANDLE, of its context);

impl Module {
    /// Places an image in the memory of a context. `library` is the library that it is part of, if any.
    pub fn load(driver: &Driver, context: Arc<Context>, parsed: &ParsedImage, library: Option<Handle>) -> Result<Arc<Self>> {
        let image = Arc::new(LoadedImage::place(driver, parsed).inspect_err(|failure| driver.reporter.note_refusal(failure))?);
        Ok(driver.handles.insert(|handle| Self { handle, context, image, library, functions: Mutex::default() }))
    }

    /// Removes the functions of a module that is gone.
    pub fn remove_functions(&self, driver: &Driver) {
        for &function in self.functions.lock().values() {
            let _ = driver.handles.remove::<Function>(function);
        }
    }

    pub fn function(&self, driver: &Driver, name: &str) -> Result<Handle> {
        check_kernel(driver, self.image.image().module(), name)?;
        let mut functions = self.functions.lock();
        let handle = functions.entry(name.to_owned()).or_insert_with(|| {
            let make = |handle| Function::new(handle, self.handle, self.context.clone(), self.image.clone(), name.to_owned());
            driver.handles.insert(make).handle
        });
        Ok(*handle)
    }

    /// Returns the address and the size of a variable. The caller may leave out either result, but not both.
    pub fn put_variable(&self, address: Out<DevicePtr>, bytes: Out<usize>, name: &str) -> Result<()> {
        refuse!(INVALID_VALUE if address.is_null() && bytes.is_null());
        let not_found = || CuResult::NOT_FOUND.because(format!("no variable {name:?} in this module"));
        let (found, size) = self.image.image().variable(name).ok_or_else(not_found)?;
        address.put_if_asked(found);
        bytes.put_if_asked(size as usize);
        Ok(())
    }
}

/// Refuses a name that no executable kernel of the module has.
pub fn check_kernel(driver: &Driver, module: &simt::Module, name: &str) -> Result<()> {
    if module.kernel(name).is_some() {
        return Ok(());
    }
    if let Some((name, reason)) = module.refused().iter().find(|(refused, _)| refused == name) {
        let refused = image::cannot_run(name, reason);
        driver.reporter.note_refusal(&refused);
        return Err(refused);
    }
    let kernels: Vec<&str> = module.kernels().iter().map(simt::Kernel::name).collect();
    Err(CuResult::NOT_FOUND.because(format!("no kernel {name:?} in this module; it has {}", kernels.join(", "))))
}

/// Loads an image into the current context.
fn load(out: Out<Handle>, read: impl FnOnce(&Driver) -> Result<ParsedImage>) -> Result<()> {
    let (driver, context) = context::current()?;
    out.put_made(|| Ok(Module::load(driver, context, &read(driver)?, None)?.handle))
}

exports! {
    fn cuModuleLoadData | cuModuleLoadFatBinary(module: Out<Handle>, image: HostBytes) =>
        load(module, |driver| image::read(driver, image));

    fn cuModuleLoadDataEx(module: Out<Handle>, image: HostBytes, option_count: u32, options: In<u32>, values: Out<usize>) {
        context::current()?;
        let logs = Logs::read(option_count, options, values)?;
        let loaded = load(module, |driver| image::read(driver, image));
        logs.write(loaded.as_ref().err().and_then(|failure| failure.reason.as_deref()).unwrap_or_default());
        loaded
    }

    fn cuModuleLoad(module: Out<Handle>, path: Text) => load(module, |driver| image::read_file(driver, path));

    /// Unloads a module. The memory of its variables is freed when the last launch that uses it has ended.
    fn cuModuleUnload(module: Handle) {
        let (driver, _) = context::current()?;
        refuse!(
            NOT_PERMITTED if driver.handles.get::<Module>(module)?.library.is_some(),
            "the module belongs to a library; unload the library"
        );
        driver.handles.remove::<Module>(module)?.remove_functions(driver);
        Ok(())
    }

    fn cuModuleGetFunction(function: Out<Handle>, module: Handle, name: Text) {
        let (driver, _) = context::current()?;
        function.check()?;
        let name = name.read()?;
        function.put(driver.handles.get::<Module>(module)?.function(driver, &name)?)
    }

    /// Returns no more functions than the module has.
    fn cuModuleEnumerateFunctions(functions: Out<Handle>, count: u32, module: Handle) {
        let (driver, _) = context::current()?;
        let module = driver.handles.get::<Module>(module)?;
        for (index, kernel) in module.image.image().module().kernels().iter().take(count as usize).enumerate() {
            functions.nth(index).put(module.function(driver, kernel.name())?)?;
        }
        Ok(())
    }

    fn cuModuleGetFunctionCount(count: Out<u32>, module: Handle) =>
        count.put(find::<Module>(module)?.image.image().module().kernels().len() as u32);

    fn cuModuleGetGlobal_v2(address: Out<DevicePtr>, bytes: Out<usize>, module: Handle, name: Text) {
        let (driver, _) = context::current()?;
        let name = name.read()?;
        driver.handles.get::<Module>(module)?.put_variable(address, bytes, &name)
    }

    /// `CU_MODULE_EAGER_LOADING`: every instruction is decoded when the module is loaded.
    fn cuModuleGetLoadingMode(mode: Out<u32>) => driver().and_then(|_| mode.put(1));
}
