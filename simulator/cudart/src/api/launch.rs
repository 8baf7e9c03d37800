//! Launching kernels.

use std::cell::RefCell;
use std::ffi::c_void;

use crate::driver::{self, LaunchAttribute, LaunchConfig};
use crate::error::{Code, Result};
use crate::export::exports;
use crate::pointer::{Handle, Ptr};
use crate::{context, registry};

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
const COOPERATIVE: u32 = 2;

/// The attributes of a device that limit a block and a grid: threads of a block, then each dimension of a block and of a grid.
const MAX_THREADS: u32 = 1;
const MAX_BLOCK: [u32; 3] = [2, 3, 4];
const MAX_GRID: [u32; 3] = [5, 6, 7];

/// `dim3`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dim3([u32; 3]);

/// `cudaLaunchConfig_t`. Its attributes are the driver's.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Config {
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: Handle,
    attributes: Ptr<LaunchAttribute>,
    attribute_count: u32,
}

thread_local! {
    /// The launches that the thread has begun, as between `<<<` and `>>>`. The compiler makes two calls of one: the first sets the shape,
    /// and the second, in the kernel's stub, takes it back and launches.
    static CALLS: RefCell<Vec<Config>> = const { RefCell::new(Vec::new()) };
}

impl Config {
    fn plain(grid: Dim3, block: Dim3, shared_bytes: usize, stream: Handle) -> Self {
        Self { grid, block, shared_bytes, stream, attributes: Ptr::NULL, attribute_count: 0 }
    }

    /// Returns the same for the driver.
    pub fn of_driver(self) -> Result<LaunchConfig> {
        Ok(LaunchConfig {
            grid: self.grid.0,
            block: self.block.0,
            shared_bytes: u32::try_from(self.shared_bytes).map_err(|_| Code::INVALID_VALUE)?,
            stream: self.stream,
            attributes: self.attributes,
            attribute_count: self.attribute_count,
        })
    }
}

/// Writes out what the program has printed. A kernel of the simulator prints past the program's own buffer, and what the program printed
/// before the launch belongs before what the kernel prints.
pub fn flush_output() {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: these are the declarations of the C library's `stdio.h`, for a file of unknown layout.
        unsafe extern "C" {
            /// The C library's standard output.
            static stdout: *mut c_void;
            fn fflush(file: *mut c_void) -> std::ffi::c_int;
        }
        // SAFETY: the C library has set the variable before any code of this library runs, and its functions may be called on any thread.
        // A failure is the program's own; its next output fails for the same reason.
        unsafe { fflush(stdout) };
    }
}

fn launch(kernel: Handle, config: Config, arguments: Ptr<Ptr<c_void>>) -> Result {
    context::ensure()?;
    flush_output();
    let mut config = config.of_driver()?;
    driver::cuLaunchKernelEx(Ptr::to(&mut config), kernel, arguments, Ptr::NULL).map_err(|code| match code {
        // The runtime has an error of its own for a shape that no kernel may have.
        Code::INVALID_VALUE if !is_possible(&config) => Code::INVALID_CONFIGURATION,
        // The handle came from the program, which took it for a kernel.
        Code::INVALID_RESOURCE_HANDLE if driver::cuKernelGetFunction(Ptr::to(&mut 0), kernel).is_err() => {
            Code::INVALID_DEVICE_FUNCTION
        }
        code => code,
    })
}

/// Returns true if the device has blocks and grids of this shape.
fn is_possible(config: &LaunchConfig) -> bool {
    let device = context::device().unwrap_or_default();
    let limit = |attribute| {
        let found = Ptr::written(|value| driver::cuDeviceGetAttribute(value, attribute, device));
        found.map_or(u32::MAX, |value| value as u32)
    };
    let fits =
        |shape: [u32; 3], limits: [u32; 3]| shape.into_iter().zip(limits).all(|(size, most)| (1..=limit(most)).contains(&size));
    let threads = config.block.iter().map(|&size| u64::from(size)).product::<u64>();
    fits(config.grid, MAX_GRID) && fits(config.block, MAX_BLOCK) && threads <= u64::from(limit(MAX_THREADS))
}

exports! {
    brief {
        // Newer compilers ask for the kernel once and launch it by its handle, with the names that begin with underscores.
        [cudaLaunchKernel cudaLaunchKernel_ptsz __cudaLaunchKernel __cudaLaunchKernel_ptsz](
            stub: Ptr<c_void>, grid: Dim3, block: Dim3, arguments: Ptr<Ptr<c_void>>, shared_bytes: usize, stream: Handle,
        ) => launch(registry::kernel(stub)?, Config::plain(grid, block, shared_bytes, stream), arguments);
        [cudaLaunchKernelExC cudaLaunchKernelExC_ptsz](config: Ptr<Config>, stub: Ptr<c_void>, arguments: Ptr<Ptr<c_void>>) =>
            launch(registry::kernel(stub)?, config.read()?, arguments);
    }

    fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared_bytes: usize, stream: Handle) {
        // While a process ends, a global object may still launch, after what belongs to the thread is gone.
        let begun = CALLS.try_with(|calls| calls.borrow_mut().push(Config::plain(grid, block, shared_bytes, stream)));
        begun.map_err(|_| Code::UNLOADING)
    }

    fn __cudaPopCallConfiguration(grid: Ptr<Dim3>, block: Ptr<Dim3>, shared_bytes: Ptr<usize>, stream: Ptr<Handle>) {
        let call = CALLS.with_borrow_mut(Vec::pop).ok_or(Code::MISSING_CONFIGURATION)?;
        grid.put(call.grid)?;
        block.put(call.block)?;
        shared_bytes.put(call.shared_bytes)?;
        stream.put(call.stream)
    }

    fn [cudaLaunchCooperativeKernel cudaLaunchCooperativeKernel_ptsz](
        stub: Ptr<c_void>, grid: Dim3, block: Dim3, arguments: Ptr<Ptr<c_void>>, shared_bytes: usize, stream: Handle,
    ) {
        let mut cooperative = LaunchAttribute { id: COOPERATIVE, ..LaunchAttribute::default() };
        cooperative.value[0] = 1;
        let plain = Config::plain(grid, block, shared_bytes, stream);
        let config = Config { attributes: Ptr::to(&mut cooperative), attribute_count: 1, ..plain };
        launch(registry::kernel(stub)?, config, arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_nvidias_headers() {
        assert_eq!(size_of::<Dim3>(), 12);
        assert_eq!(size_of::<Config>(), 56);
    }
}
