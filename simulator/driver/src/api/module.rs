//! Modules: loading PTX, and finding its functions and variables.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use super::context::{self, Context};
use super::function::Function;
use super::image::{self, LONGEST_PTX, LoadedImage};
use crate::driver::driver;
use crate::export::exports;
use crate::ffi::{DevicePtr, HostBytes, In, Out, Text};
use crate::handles::{Handle, Kind};
use crate::lock::lock;
use crate::result::{CuResult, Result};

/// `CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES`, `CU_JIT_ERROR_LOG_BUFFER`, `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`, and the number of options
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;
const JIT_OPTIONS: u32 = 36;

/// A module, loaded into a context.
#[derive(Debug)]
pub struct Module {
    handle: Handle,
    context: Arc<Context>,
    image: Arc<LoadedImage>,
    /// Handles of the functions that the program asked for, by name, so that asking twice returns the same handle.
    functions: Mutex<BTreeMap<String, Handle>>,
}

impl Kind for Module {
    const BAD_HANDLE: CuResult = CuResult::INVALID_HANDLE;

    fn context(&self) -> Option<Handle> {
        Some(self.context.handle)
    }
}

/// Loads an image from the caller's memory.
fn load(out: Out<Handle>, image: HostBytes) -> Result<()> {
    let (driver, _) = context::current()?;
    out.check()?;
    // Machine code may contain NULs, so its first bytes are checked before the rest is read as text.
    let loaded = image::check_not_binary(&image.until_nul(image::MAGIC_BYTES)?)
        .and_then(|()| image.until_nul(LONGEST_PTX))
        .and_then(|text| load_text(out, &text));
    loaded.inspect_err(|failure| driver.note_refusal(failure))
}

/// Loads PTX, which ends at the first NUL if there is one.
fn load_text(out: Out<Handle>, bytes: &[u8]) -> Result<()> {
    let (driver, context) = context::current()?;
    let image = Arc::new(LoadedImage::load(driver, bytes)?);
    let module = driver.handles.insert(|handle| Module { handle, context, image, functions: Mutex::default() });
    out.put(module.handle)
}

/// The caller's buffers for the compiler's messages.
struct Logs {
    error: Out<u8>,
    error_bytes: usize,
    /// Where the options hold the sizes of the buffers, to be replaced with the lengths of the messages.
    error_length: Option<Out<usize>>,
    info_length: Option<Out<usize>>,
}

impl Logs {
    /// Reads the options of `cuModuleLoadDataEx`. The elements of `values` are the values themselves, numbers and pointers alike.
    fn read(count: u32, options: In<u32>, values: Out<usize>) -> Result<Self> {
        let mut logs = Self { error: Out::NULL, error_bytes: 0, error_length: None, info_length: None };
        for index in 0..count as usize {
            let value = values.nth(index);
            value.check()?;
            match options.read_nth(index)? {
                ERROR_LOG => logs.error = value.cast::<Out<u8>>().as_in().read()?,
                ERROR_LOG_BYTES => {
                    // Only four bytes of the element count. The caller may not have set the others.
                    logs.error_bytes = value.cast::<u32>().as_in().read()? as usize;
                    logs.error_length = Some(value);
                }
                INFO_LOG_BYTES => logs.info_length = Some(value),
                // The others control a compiler that does not exist here: registers, optimization, caching.
                0..JIT_OPTIONS => {}
                _ => return CuResult::INVALID_VALUE.err(),
            }
        }
        Ok(logs)
    }

    /// Writes the message of a load, which may be empty, and a NUL, truncated to fit. Like a GPU's driver, this sets the length to that of
    /// the message without its NUL, or to that of the whole buffer.
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

exports! {
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
        let (driver, _) = context::current()?;
        module.check()?;
        let path = path.read()?;
        let bytes = std::fs::read(&path).map_err(|error| CuResult::FILE_NOT_FOUND.because(format!("{path}: {error}")))?;
        let loaded = image::check_not_binary(&bytes).and_then(|()| load_text(module, &bytes));
        loaded.inspect_err(|failure| driver.note_refusal(failure))
    }

    fn cuModuleLoadFatBinary(_module: Out<Handle>, _image: HostBytes) {
        let (driver, _) = context::current()?;
        let refused = CuResult::NO_BINARY_FOR_GPU.because(image::NO_PTX);
        driver.note_refusal(&refused);
        Err(refused)
    }

    /// The memory of its variables is freed when the last launch that uses it has ended.
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
            let make = |handle| Function::new(handle, module.handle, module.context.clone(), module.image.clone(), name);
            driver.handles.insert(make).handle
        });
        function.put(handle)
    }

    fn cuModuleGetFunctionCount(count: Out<u32>, module: Handle) {
        let module = driver()?.handles.get::<Module>(module)?;
        count.put(module.image.image().module().kernels().len() as u32)
    }

    /// The caller may leave out either result, but not both.
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

    /// `CU_MODULE_EAGER_LOADING`: every instruction is decoded when the module is loaded.
    fn cuModuleGetLoadingMode(mode: Out<u32>) {
        driver()?;
        mode.put(1)
    }

    fn cuLinkCreate_v2(_count: u32, _options: In<u32>, _values: *mut *mut c_void, _state: Out<Handle>) {
        context::current()?;
        Err(CuResult::NOT_SUPPORTED.because("the simulator does not link modules; load all PTX as one module"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_truncated_to_its_buffer_and_its_length_is_set() {
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
