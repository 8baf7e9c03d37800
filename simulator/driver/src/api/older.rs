//! Functions that NVIDIA's driver still exports for old programs: those with addresses of 32 bits, and launches as they were before CUDA 4.
//!
//! A program that looks a name up with `dlsym` and leaves out the suffix `_v2` gets these. Their results were compared with those of NVIDIA's
//! driver for CUDA 13.0 on an H100.

use super::function::{self, Function, PARAMETER_BYTES};
use super::kernel::Shape;
use super::launch;
use super::prelude::*;
use super::stream;

/// Refuses a function whose addresses have 32 bits. No context has had such addresses since CUDA 3.2, so NVIDIA's driver finds none.
fn refuse_32_bits(name: &str) -> Result<()> {
    let driver = driver()?;
    let refused = CuResult::INVALID_CONTEXT.because(format!("{name}: this function is for addresses of 32 bits; call {name}_v2"));
    driver.reporter.note_missing(&refused);
    Err(refused)
}

/// Exports the functions with addresses of 32 bits. None of them reads its arguments, so none declares them: in the C calling convention,
/// on every 64-bit target, a function may leave its arguments unread.
macro_rules! of_32_bits {
    ($($name:ident)*; $($rest:tt)*) => {
        /// The functions with addresses of 32 bits.
        pub const OF_32_BITS: &[&str] = &[$(stringify!($name)),*];

        exports! {
            $(fn $name() { refuse_32_bits(stringify!($name)) })*
            $($rest)*
        }
    };
}

/// Changes what the next old launch of a function is given.
fn change(function: Handle, change: impl FnOnce(&Function, &mut function::OldLaunch) -> Result<()>) -> Result<()> {
    let function = function::get(function)?;
    change(&function, &mut function.old_launch.lock())
}

/// Stores parameter bytes for the next old launch.
fn set_parameter(function: Handle, offset: c_int, bytes: &[u8]) -> Result<()> {
    change(function, |_, old| {
        let start = usize::try_from(offset).map_err(|_| CuResult::INVALID_VALUE)?;
        let end = start.checked_add(bytes.len()).filter(|&end| end <= PARAMETER_BYTES).ok_or(CuResult::INVALID_VALUE)?;
        let needed = end.max(old.parameters.len());
        old.parameters.resize(needed, 0);
        old.parameters[start..end].copy_from_slice(bytes);
        Ok(())
    })
}

/// Launches a function with what was stored for it. Parameters that the program left out are 0.
fn launch_grid(function: Handle, width: c_int, height: c_int, stream: Handle) -> Result<()> {
    let found = function::get(function)?;
    let old = found.old_launch.lock().clone();
    let extent = |extent: c_int| u32::try_from(extent).map_err(|_| CuResult::INVALID_VALUE);
    let shape = Shape::of([extent(width)?, extent(height)?, 1], old.block, old.shared_bytes);
    launch::launch(function, shape, stream, |function| {
        let mut parameters = old.parameters;
        parameters.resize(function.kernel().param_bytes(), 0);
        Ok(parameters)
    })
}

of_32_bits! {
    cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayGetDescriptor cuCtxCreate cuGraphicsResourceGetMappedPointer
    cuTexRefGetAddress cuTexRefSetAddress cuTexRefSetAddress2D
    cuMemAlloc cuMemAllocHost cuMemAllocPitch cuMemFree cuMemGetAddressRange cuMemGetInfo cuMemHostGetDevicePointer cuMemcpy2D
    cuMemcpy2DAsync cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync cuMemcpyAtoA cuMemcpyAtoD cuMemcpyAtoH cuMemcpyAtoHAsync
    cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoDAsync cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoD
    cuMemcpyHtoDAsync cuMemsetD16 cuMemsetD2D16 cuMemsetD2D32 cuMemsetD2D8 cuMemsetD32 cuMemsetD8 cuModuleGetGlobal;

    /// Returns the bytes of memory, or the most that 32 bits hold.
    fn cuDeviceTotalMem(bytes: Out<u32>, device: DeviceId) =>
        bytes.put(driver_of(device)?.profile.memory_bytes.try_into().unwrap_or(u32::MAX));

    fn cuFuncSetBlockShape(function: Handle, x: c_int, y: c_int, z: c_int) {
        let limit = driver()?.profile.max_threads_per_block;
        change(function, |_, old| {
            let shape = [x, y, z].map(|extent| u32::try_from(extent).unwrap_or(0));
            let threads = shape.iter().try_fold(1u32, |threads, &extent| threads.checked_mul(extent));
            refuse!(INVALID_VALUE if !threads.is_some_and(|threads| (1..=limit).contains(&threads)));
            old.block = shape;
            Ok(())
        })
    }

    fn cuFuncSetSharedSize(function: Handle, bytes: u32) {
        let profile = driver()?.profile;
        change(function, |function, old| {
            refuse!(INVALID_VALUE if bytes > function.max_dynamic_shared(profile));
            old.shared_bytes = bytes;
            Ok(())
        })
    }

    fn cuParamSetSize(function: Handle, bytes: u32) => change(function, |_, old| {
        let bytes = bytes as usize;
        refuse!(INVALID_VALUE if bytes > PARAMETER_BYTES);
        old.parameters.resize(bytes, 0);
        Ok(())
    });

    fn cuParamSeti(function: Handle, offset: c_int, value: u32) => set_parameter(function, offset, &value.to_ne_bytes());
    fn cuParamSetf(function: Handle, offset: c_int, value: f32) => set_parameter(function, offset, &value.to_ne_bytes());
    fn cuParamSetv(function: Handle, offset: c_int, value: HostBytes, bytes: u32) =>
        value.with(bytes as usize, |bytes| set_parameter(function, offset, bytes))?;
    fn cuLaunch(function: Handle) => launch_grid(function, 1, 1, stream::DEFAULT);
    fn cuLaunchGrid(function: Handle, width: c_int, height: c_int) => launch_grid(function, width, height, stream::DEFAULT);
    fn cuLaunchGridAsync(function: Handle, width: c_int, height: c_int, stream: Handle) =>
        launch_grid(function, width, height, stream);
}
