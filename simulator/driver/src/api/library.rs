//! Libraries: PTX that is loaded once for all contexts, and its kernels, which run in whichever context is current.
//!
//! A library has one module for each context that uses it. The module is placed in memory when the context first needs it.

use std::collections::BTreeMap;
use std::ffi::CString;

use super::context::{LAST_CACHE_CONFIG, check_config};
use super::function::{self, Function};
use super::image::{self, ParsedImage};
use super::jit_log::Logs;
use super::module::{self, Module};
use super::prelude::*;

#[derive(Debug)]
struct Library {
    handle: Handle,
    image: ParsedImage,
    /// Handles of the modules, by context. A context that is gone took its module with it.
    modules: Mutex<BTreeMap<u64, Handle>>,
    /// Handles of kernels by name, so that asking twice returns the same one.
    kernels: Mutex<BTreeMap<String, Handle>>,
}

#[derive(Debug)]
struct Kernel {
    library: Arc<Library>,
    name: CString,
}

kind!(Library: INVALID_HANDLE);
kind!(Kernel: INVALID_HANDLE);

impl Library {
    /// Returns the library's module in a context, loaded if necessary.
    fn module(&self, driver: &Driver, context: &Arc<Context>) -> Result<Arc<Module>> {
        let mut modules = self.modules.lock();
        let known = modules.get(&context.handle.number());
        if let Some(module) = known.and_then(|&module| driver.handles.get::<Module>(module).ok()) {
            return Ok(module);
        }
        let module = Module::load(driver, context.clone(), &self.image, Some(self.handle))?;
        modules.insert(context.handle.number(), module.handle);
        Ok(module)
    }

    /// Returns the handle of a kernel, which must exist.
    fn kernel(self: &Arc<Self>, driver: &Driver, name: &str) -> Handle {
        let mut kernels = self.kernels.lock();
        *kernels
            .entry(name.to_owned())
            .or_insert_with(|| driver.handles.add(Kernel { library: self.clone(), name: CString::new(name).unwrap_or_default() }))
    }
}

impl Kernel {
    fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }

    /// Returns the kernel as a function of the current context.
    fn function(&self) -> Result<Arc<Function>> {
        let (driver, context) = context::current()?;
        let function = self.library.module(driver, &context)?.function(driver, self.name())?;
        driver.handles.get(function)
    }

    fn simulated(&self) -> &simt::Kernel {
        self.library.image.module.kernel(self.name()).expect("a kernel is only made for one of its library")
    }
}

/// Returns the function that a handle means in the current context: of a function itself, or of a kernel, as CUDA allows for launches.
pub fn function(handle: Handle) -> Result<Arc<Function>> {
    match find::<Kernel>(handle) {
        Ok(kernel) => kernel.function(),
        Err(_) => function::get(handle),
    }
}

/// Loads a library. CUDA needs no current context for it.
fn load(out: Out<Handle>, options: (u32, In<u32>, Out<usize>), read: impl FnOnce(&Driver) -> Result<ParsedImage>) -> Result<()> {
    let driver = driver()?;
    let logs = Logs::read(options.0, options.1, options.2)?;
    out.check()?;
    let image = read(driver);
    logs.write(image.as_ref().err().and_then(|failure| failure.reason.as_deref()).unwrap_or_default());
    let image = image?;
    let make = |handle| Library { handle, image, modules: Mutex::default(), kernels: Mutex::default() };
    out.put(driver.handles.insert(make).handle)
}

exports! {
    /// Loads a library. Its options say when it is loaded and who owns the image, which makes no difference here.
    fn cuLibraryLoadData(
        library: Out<Handle>, image: HostBytes, options: In<u32>, values: Out<usize>, option_count: u32, _library_options: In<u32>,
        _library_values: Out<usize>, _library_option_count: u32,
    ) => load(library, (option_count, options, values), |driver| image::read_library(driver, image));

    fn cuLibraryLoadFromFile(
        library: Out<Handle>, path: Text, options: In<u32>, values: Out<usize>, option_count: u32, _library_options: In<u32>,
        _library_values: Out<usize>, _library_option_count: u32,
    ) => load(library, (option_count, options, values), |driver| image::read_file(driver, path));

    fn cuLibraryUnload(library: Handle) {
        let driver = driver()?;
        let library = driver.handles.remove::<Library>(library)?;
        for &kernel in library.kernels.lock().values() {
            let _ = driver.handles.remove::<Kernel>(kernel);
        }
        for &module in library.modules.lock().values() {
            if let Ok(module) = driver.handles.remove::<Module>(module) {
                module.remove_functions(driver);
            }
        }
        Ok(())
    }

    fn cuLibraryGetKernel(kernel: Out<Handle>, library: Handle, name: Text) {
        let library = find::<Library>(library)?;
        kernel.check()?;
        let name = name.read()?;
        let driver = driver()?;
        module::check_kernel(driver, &library.image.module, &name)?;
        kernel.put(library.kernel(driver, &name))
    }

    fn cuLibraryGetKernelCount(count: Out<u32>, library: Handle) =>
        count.put(find::<Library>(library)?.image.module.kernels().len() as u32);

    /// Returns no more kernels than the library has.
    fn cuLibraryEnumerateKernels(kernels: Out<Handle>, count: u32, library: Handle) {
        let library = find::<Library>(library)?;
        for (index, kernel) in library.image.module.kernels().iter().take(count as usize).enumerate() {
            kernels.nth(index).put(library.kernel(driver()?, kernel.name()))?;
        }
        Ok(())
    }

    fn cuLibraryGetModule(module: Out<Handle>, library: Handle) {
        let library = find::<Library>(library)?;
        module.check()?;
        let (driver, context) = context::current()?;
        module.put(library.module(driver, &context)?.handle)
    }

    fn cuLibraryGetGlobal(address: Out<DevicePtr>, bytes: Out<usize>, library: Handle, name: Text) {
        let library = find::<Library>(library)?;
        let name = name.read()?;
        let (driver, context) = context::current()?;
        library.module(driver, &context)?.put_variable(address, bytes, &name)
    }

    /// Managed memory has one address for the host and the device.
    fn cuLibraryGetManaged(address: Out<DevicePtr>, bytes: Out<usize>, library: Handle, name: Text) {
        let library = find::<Library>(library)?;
        let name = name.read()?;
        refuse!(
            NOT_FOUND if !library.image.module.variables().iter().any(|variable| variable.is_managed && variable.name == name),
            "no managed variable {name:?} in this library"
        );
        let (driver, context) = context::current()?;
        library.module(driver, &context)?.put_variable(address, bytes, &name)
    }

    /// Finds nothing: no function has one address for host and device.
    fn cuLibraryGetUnifiedFunction(_function: Out<Handle>, library: Handle, _name: Text) =>
        find::<Library>(library).and(CuResult::INVALID_VALUE.err());

    fn cuKernelGetFunction(function: Out<Handle>, kernel: Handle) {
        let kernel = find::<Kernel>(kernel)?;
        function.put_made(|| Ok(kernel.function()?.handle))
    }

    fn cuKernelGetLibrary(library: Out<Handle>, kernel: Handle) => library.put(find::<Kernel>(kernel)?.library.handle);

    /// The text lives as long as the library.
    fn cuKernelGetName(name: Out<*const c_char>, kernel: Handle) => name.put(find::<Kernel>(kernel)?.name.as_ptr());
    fn cuKernelGetParamInfo(kernel: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>) =>
        function::put_parameter(find::<Kernel>(kernel)?.simulated(), index, offset, bytes);
    fn cuKernelGetParamCount(kernel: Handle, count: Out<usize>) => count.put(find::<Kernel>(kernel)?.simulated().params().len());

    fn cuKernelGetAttribute(value: Out<i32>, attribute: u32, kernel: Handle, device: DeviceId) {
        let driver = driver_of(device)?;
        let function = find::<Kernel>(kernel)?.function()?;
        value.put(function.attribute(attribute, driver.profile).ok_or(CuResult::INVALID_VALUE)?)
    }

    /// Sets the attribute of the kernel's function in the current context.
    fn cuKernelSetAttribute(attribute: u32, value: i32, kernel: Handle, device: DeviceId) =>
        driver_of(device).and_then(|driver| find::<Kernel>(kernel)?.function()?.set_attribute(attribute, value, driver.profile));

    /// A preference, which a driver may ignore. This one does.
    fn cuKernelSetCacheConfig(kernel: Handle, config: u32, device: DeviceId) =>
        driver_of(device).and(find::<Kernel>(kernel)).and_then(|_| check_config(config, LAST_CACHE_CONFIG));
}
