//! Modules: from the text of PTX to functions and variables with addresses.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use simt::{Image, LoadError, Memory, Profile};

use crate::context::{self, Context};
use crate::error::{CuResult, Failure, Result};
use crate::ffi::{DevicePtr, Handle, HostBytes, In, Out, Text};
use crate::function::Function;
use crate::registers::{self, Registers};
use crate::state::{self, driver, lock};

/// Text longer than this is none: an unterminated buffer must end somewhere.
const LONGEST_PTX: usize = 256 << 20;

/// The first version of PTX of which nothing is known. What is older and does not load is refused for what it holds.
const UNKNOWN_PTX: (u32, u32) = (10, 0);

/// How a cubin (an ELF file), a fat binary and the wrapper that `nvcc` puts around one begin.
const BINARIES: [[u8; 4]; 3] = [*b"\x7fELF", 0xba55_ed50_u32.to_le_bytes(), 0x4662_43b1_u32.to_le_bytes()];

/// The first generation for which today's compilers still make code. PTX made by them can be loaded by an older profile all the same,
/// because a kernel for such a GPU could otherwise not be had at all.
const OLDEST_WITH_COMPILER: (u32, u32) = (5, 0);

/// `CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES`, `CU_JIT_ERROR_LOG_BUFFER`, `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`, and the number of options
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;
const JIT_OPTIONS: u32 = 36;

/// A module, loaded into a context.
#[derive(Debug)]
pub struct Module {
    pub handle: Handle,
    pub context: Arc<Context>,
    image: Arc<LoadedImage>,
    /// Tokens of the functions that were asked for, by name: who asks twice gets the same.
    functions: Mutex<BTreeMap<String, Handle>>,
}

/// An image that leaves its memory when the last launch that uses it is over.
#[derive(Debug)]
pub struct LoadedImage {
    image: Option<Image>,
    memory: Arc<Memory>,
    registers: Registers,
}

impl LoadedImage {
    /// Registers per thread of a kernel, where the PTX tells them.
    pub fn registers_per_thread(&self, kernel: &str) -> Option<u32> {
        self.registers.get(kernel).copied()
    }

    pub fn image(&self) -> &Image {
        self.image.as_ref().expect("an image is only taken out when it is dropped")
    }
}

impl Drop for LoadedImage {
    fn drop(&mut self) {
        if let Some(image) = self.image.take() {
            image.unload(&self.memory);
        }
    }
}

/// What the driver returns for PTX that the simulator does not load. To a program, what we cannot execute is PTX that does not compile.
fn failure(error: &LoadError) -> Failure {
    CuResult::INVALID_PTX.because(error.to_string())
}

/// PTX for a newer GPU than the profile's does not compile for it.
fn check_target((major, minor): (u32, u32), profile: &Profile) -> Result<()> {
    let has = profile.compute_capability;
    if has >= OLDEST_WITH_COMPILER && (major, minor) > has {
        return Err(CuResult::INVALID_PTX.because(format!(
            "the PTX is for compute capability {major}.{minor} and up, the profile {} has {}.{}",
            profile.name, has.0, has.1
        )));
    }
    Ok(())
}

/// Loads an image from the caller's memory.
fn load(out: Out<Handle>, image: HostBytes) -> Result<()> {
    context::current()?;
    out.check()?;
    load_image(out, image).inspect_err(state::note_refusal)
}

/// Loads PTX, which ends with a NUL.
fn load_image(out: Out<Handle>, image: HostBytes) -> Result<()> {
    if BINARIES.iter().any(|magic| image.until_nul(4).is_ok_and(|start| start == magic)) {
        return Err(CuResult::NO_BINARY_FOR_GPU.because("the image is machine code for a GPU; the simulator executes PTX"));
    }
    let text = image.until_nul(LONGEST_PTX)?;
    if text.len() == LONGEST_PTX {
        return Err(CuResult::INVALID_IMAGE.because(format!("no NUL ends the PTX within {} MiB", LONGEST_PTX >> 20)));
    }
    load_text(out, &String::from_utf8_lossy(&text))
}

fn load_text(out: Out<Handle>, text: &str) -> Result<()> {
    let (driver, context) = context::current()?;
    if !text.contains(".version") {
        return Err(CuResult::INVALID_IMAGE.because("the text is no PTX: it has no .version"));
    }
    let module = simt::Module::parse(text).map_err(|error| failure(&error))?;
    if module.ptx_version() >= UNKNOWN_PTX {
        let (major, minor) = module.ptx_version();
        return Err(CuResult::UNSUPPORTED_PTX_VERSION.because(format!("PTX version {major}.{minor} is not known")));
    }
    check_target(module.target(), driver.profile)?;
    let image = Image::new(Arc::new(module), &driver.memory)?;
    let registers = registers::read(text, driver.profile.compute_capability);
    let image = Arc::new(LoadedImage { image: Some(image), memory: driver.memory.clone(), registers });
    let module = driver.handles.insert(|handle| Module { handle, context, image, functions: Mutex::default() });
    out.put(module.handle)
}

/// The caller's buffers for messages of the compiler.
struct Logs {
    error: Out<u8>,
    error_bytes: usize,
    /// Where the options hold the lengths, which become those of the messages.
    error_length: Option<Out<usize>>,
    info_length: Option<Out<usize>>,
}

impl Logs {
    /// Reads the options of `cuModuleLoadDataEx`. A value is the array's element itself where it is a number or a pointer.
    fn read(count: u32, options: In<u32>, values: Out<usize>) -> Result<Self> {
        let mut logs = Self { error: Out::NULL, error_bytes: 0, error_length: None, info_length: None };
        for index in 0..count as usize {
            let value = values.nth(index);
            value.check()?;
            match options.read_nth(index)? {
                ERROR_LOG => logs.error = value.cast::<Out<u8>>().as_in().read()?,
                ERROR_LOG_BYTES => {
                    // Four bytes of the element count; a caller may have left the others as they were.
                    logs.error_bytes = value.cast::<u32>().as_in().read()? as usize;
                    logs.error_length = Some(value);
                }
                INFO_LOG_BYTES => logs.info_length = Some(value),
                // The rest steer a compiler that is not here: registers, optimisation, caching.
                0..JIT_OPTIONS => {}
                _ => return CuResult::INVALID_VALUE.err(),
            }
        }
        Ok(logs)
    }

    /// Writes the message of a load, or none, with a NUL; cut where it does not fit. As a GPU's driver has it, the length is that of the
    /// message without its NUL, or of the whole buffer.
    fn write(&self, message: &str) {
        let fits = message.len().min(self.error_bytes.saturating_sub(1));
        if self.error_bytes > 0 {
            for (index, byte) in message.bytes().take(fits).chain([0]).enumerate() {
                self.error.nth(index).put_if_asked(byte);
            }
        }
        if let Some(length) = self.error_length {
            length.put_if_asked(message.len().min(self.error_bytes));
        }
        if let Some(length) = self.info_length {
            length.put_if_asked(0);
        }
    }
}

crate::exports! {
    fn cuModuleLoadData(module: Out<Handle>, image: HostBytes) {
        load(module, image)
    }

    fn cuModuleLoadDataEx(module: Out<Handle>, image: HostBytes, option_count: u32, options: In<u32>, values: Out<usize>) {
        context::current()?;
        let logs = Logs::read(option_count, options, values)?;
        let loaded = load(module, image);
        logs.write(loaded.as_ref().err().and_then(|failure| failure.reason.as_deref()).unwrap_or_default());
        loaded
    }

    fn cuModuleLoad(module: Out<Handle>, path: Text) {
        context::current()?;
        module.check()?;
        let path = path.read()?;
        let mut bytes = std::fs::read(&path).map_err(|error| CuResult::FILE_NOT_FOUND.because(format!("{path}: {error}")))?;
        bytes.push(0);
        load(module, HostBytes(bytes.as_mut_ptr().cast()))
    }

    fn cuModuleLoadFatBinary(_module: Out<Handle>, _image: HostBytes) {
        context::current()?;
        Err(CuResult::NO_BINARY_FOR_GPU.because("a fat binary holds machine code for GPUs; the simulator executes PTX"))
    }

    /// The memory of its variables is freed when the launches that use it are over.
    fn cuModuleUnload(module: Handle) {
        let (driver, _) = context::current()?;
        let module = driver.handles.remove::<Module>(module)?;
        for &function in lock(&module.functions).values() {
            let _ = driver.handles.remove::<Function>(function);
        }
        Ok(())
    }

    fn cuModuleGetFunction(function: Out<Handle>, module: Handle, name: Text) {
        let (driver, _) = context::current()?;
        function.check()?;
        let name = name.read()?;
        let module = driver.handles.get::<Module>(module)?;
        let image = module.image.image();
        if image.kernel(&name).is_none() {
            let kernels: Vec<&str> = image.module().kernels().iter().map(simt::Kernel::name).collect();
            return Err(CuResult::NOT_FOUND.because(format!("no kernel {name:?} in this module; it has {}", kernels.join(", "))));
        }
        let mut functions = lock(&module.functions);
        let handle = *functions.entry(name.clone()).or_insert_with(|| {
            let make = |handle| Function::new(handle, &module, module.context.clone(), module.image.clone(), name);
            driver.handles.insert(make).handle
        });
        function.put(handle)
    }

    fn cuModuleGetFunctionCount(count: Out<u32>, module: Handle) {
        let module = driver()?.handles.get::<Module>(module)?;
        count.put(module.image.image().module().kernels().len() as u32)
    }

    /// Either result may be left out, but not both.
    fn cuModuleGetGlobal_v2(address: Out<DevicePtr>, bytes: Out<usize>, module: Handle, name: Text) {
        let (driver, _) = context::current()?;
        let name = name.read()?;
        if address.is_null() && bytes.is_null() {
            return CuResult::INVALID_VALUE.err();
        }
        let module = driver.handles.get::<Module>(module)?;
        let not_found = || CuResult::NOT_FOUND.because(format!("no variable {name:?} in this module"));
        let (found, size) = module.image.image().variable(&name).ok_or_else(not_found)?;
        address.put_if_asked(found);
        bytes.put_if_asked(size as usize);
        Ok(())
    }

    /// `CU_MODULE_EAGER_LOADING`: every instruction is decoded when a module is loaded.
    fn cuModuleGetLoadingMode(mode: Out<u32>) {
        driver()?;
        mode.put(1)
    }

    fn cuLinkCreate_v2(_count: u32, _options: In<u32>, _values: *mut *mut c_void, _state: Out<Handle>) {
        context::current()?;
        Err(CuResult::NOT_SUPPORTED.because("the simulator does not link modules; load the PTX as one module"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_log_is_cut_and_says_how_much_it_holds() {
        let (mut log, mut values) = ([1u8; 8], [0usize; 2]);
        values[0] = log.as_mut_ptr() as usize;
        values[1] = 5;
        let options = [ERROR_LOG, ERROR_LOG_BYTES];
        Logs::read(2, In::from(&options), Out::to(&mut values).cast()).unwrap().write("line 3: no");
        assert_eq!(log, *b"line\0\x01\x01\x01");
        assert_eq!(values[1], 5);
    }

    #[test]
    fn an_option_that_does_not_exist_is_refused() {
        let mut values = [0usize];
        assert!(Logs::read(1, In::from(&[JIT_OPTIONS]), Out::to(&mut values).cast()).is_err());
        assert!(Logs::read(1, In::from(&[0]), Out::to(&mut values).cast()).is_ok());
    }
}
