//! The C API, and what the tests share.

use std::ffi::{CStr, c_char, c_void};
use std::process::Command;
use std::sync::atomic::Ordering;

use simcuda::client::Simulator;
// The functions are found by the linker.
use simcudart as _;

pub const TEXTURES: &str = include_str!("../../../simt/tests/programs/textures.ptx");
pub const IMAGES: &str = include_str!("../../../simcuda/tests/ptx/images.ptx");
pub const INCREMENT: &str = include_str!("../../../simcuda/tests/ptx/increment.ptx");

/// `cudaError…`
pub const OK: u32 = 0;
pub const INVALID_VALUE: u32 = 1;
pub const INVALID_PITCH: u32 = 12;
pub const INVALID_CHANNEL_DESCRIPTOR: u32 = 20;
pub const INVALID_FILTER_SETTING: u32 = 26;
pub const INVALID_DEVICE_FUNCTION: u32 = 98;
pub const INVALID_DEVICE: u32 = 101;
pub const INVALID_RESOURCE_HANDLE: u32 = 400;
pub const NOT_SUPPORTED: u32 = 801;

/// `cudaMemcpyHostToDevice`, `_DeviceToHost`, `_DeviceToDevice`, `_Default`
pub const TO_DEVICE: u32 = 1;
pub const TO_HOST: u32 = 2;
pub const ON_DEVICE: u32 = 3;
pub const DEFAULT: u32 = 4;

pub type Array = usize;
pub type Stream = usize;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channels {
    pub bits: [i32; 4],
    pub kind: i32,
}

pub const FLOAT: Channels = Channels { bits: [32, 0, 0, 0], kind: 2 };
pub const BYTE: Channels = Channels { bits: [8, 0, 0, 0], kind: 1 };
pub const SHORT: Channels = Channels { bits: [16, 0, 0, 0], kind: 1 };

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

pub fn extent([width, height, depth]: [usize; 3]) -> Extent {
    Extent { width, height, depth }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pitched {
    pub address: u64,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Copy3D {
    pub source_array: Array,
    pub source_start: [usize; 3],
    pub source: Pitched,
    pub target_array: Array,
    pub target_start: [usize; 3],
    pub target: Pitched,
    pub extent: Extent,
    pub kind: u32,
}

/// `dim3`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3(pub u32, pub u32, pub u32);

// SAFETY: the runtime library, which the tests are linked with, defines it with this type.
unsafe extern "C" {
    static simcuda_runtime_version: std::sync::atomic::AtomicI32;
}

/// Declares functions of the API. Their arguments may be anything that CUDA must refuse, and pointers to live variables otherwise.
macro_rules! api {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        $(
            #[allow(non_snake_case, reason = "the name is the C API's")]
            #[allow(clippy::too_many_arguments, reason = "the arguments are the C API's")]
            pub fn $name($($argument: $type),*) -> u32 {
                // SAFETY: the runtime library defines the function; its arguments are those of NVIDIA's header.
                unsafe extern "C" {
                    fn $name($($argument: $type),*) -> u32;
                }
                $crate::support::open();
                // SAFETY: the tests pass pointers to live variables that are as large as CUDA says, or null.
                unsafe { $name($($argument),*) }
            }
        )*
    };
}

pub(crate) use api;

/// Asserts what functions return: `returns! { cudaFreeArray(array) => OK; }`.
macro_rules! returns {
    ($($function:ident($($argument:expr),* $(,)?) => $code:expr;)*) => {
        $(assert_eq!($function($($argument),*), $code, "{}", stringify!($function($($argument),*)));)*
    };
}

pub(crate) use returns;

api! {
    fn cudaMalloc(address: &mut u64, bytes: usize);
    fn cudaMemcpy(target: u64, source: u64, bytes: usize, kind: u32);
    fn cudaDeviceSynchronize();
    fn cudaStreamCreate(stream: &mut Stream);
    fn cudaStreamSynchronize(stream: Stream);
    fn cudaMallocArray(array: &mut Array, channels: *const Channels, width: usize, height: usize, flags: u32);
    fn cudaMalloc3DArray(array: &mut Array, channels: *const Channels, extent: Extent, flags: u32);
    fn cudaFreeArray(array: Array);
    fn cudaMemcpy3D(parameters: &Copy3D);
    fn cudaLibraryLoadData(
        library: &mut usize, image: *const c_char, options: usize, values: usize, count: u32, library_options: usize,
        library_values: usize, library_count: u32,
    );
    fn cudaLibraryGetKernel(kernel: &mut usize, library: usize, name: *const c_char);
    fn cudaLaunchKernel(kernel: usize, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: Stream);
}

/// Opens the simulator.
pub fn open() {
    Simulator::open().unwrap();
}

/// Runs a test in a process of its own, with a variable.
pub fn with_variable(test: &str, variable: &str, value: &str, body: impl FnOnce()) {
    if std::env::var_os(variable).is_some() {
        return body();
    }
    let output = Command::new(std::env::current_exe().unwrap()).args(["--exact", test]).env(variable, value).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a test in a process that was built with CUDA 13; the others are as if built with CUDA 12.
pub fn with_cuda_13(test: &str, body: impl FnOnce()) {
    with_variable(test, "TEST_OF_CUDA_13", "1", || {
        // SAFETY: the library defines the variable.
        unsafe { &simcuda_runtime_version }.store(13000, Ordering::Relaxed);
        body();
    });
}

/// Returns a slice's address as the runtime takes it.
pub fn at<T>(values: &[T]) -> u64 {
    values.as_ptr().expose_provenance() as u64
}

/// Returns the address of a slice that the runtime writes.
pub fn into<T>(values: &mut [T]) -> u64 {
    values.as_mut_ptr().expose_provenance() as u64
}

/// Allocates memory on the device with these values.
pub fn on_device<T: Copy>(values: &[T]) -> u64 {
    let mut address = 0;
    returns! {
        cudaMalloc(&mut address, size_of_val(values)) => OK;
        cudaMemcpy(address, at(values), size_of_val(values), TO_DEVICE) => OK;
    }
    address
}

/// Returns values from the device.
pub fn back<T: Copy + Default>(address: u64, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    returns! { cudaMemcpy(into(&mut values), address, count * size_of::<T>(), TO_HOST) => OK; }
    values
}

/// Loads a kernel.
pub fn kernel(ptx: &str, name: &CStr) -> usize {
    let text = std::ffi::CString::new(ptx).unwrap();
    let (mut library, mut kernel) = (0, 0);
    returns! {
        cudaLibraryLoadData(&mut library, text.as_ptr(), 0, 0, 0, 0, 0, 0) => OK;
        cudaLibraryGetKernel(&mut kernel, library, name.as_ptr()) => OK;
    }
    kernel
}

/// Launches a kernel whose arguments have 64 bits.
pub fn launch(kernel: usize, grid: Dim3, block: Dim3, arguments: &mut [u64]) {
    let mut pointers: Vec<*mut c_void> = arguments.iter_mut().map(|argument| (&raw mut *argument).cast()).collect();
    returns! {
        cudaLaunchKernel(kernel, grid, block, pointers.as_mut_ptr(), 0, 0) => OK;
        cudaDeviceSynchronize() => OK;
    }
}

/// Makes an array with these elements.
pub fn array<T>(channels: Channels, [width, height, depth]: [usize; 3], flags: u32, values: &[T]) -> Array {
    let mut array = 0;
    returns! { cudaMalloc3DArray(&mut array, &channels, extent([width, height, depth]), flags) => OK; }
    fill(array, [width, height, depth], values);
    array
}

/// Copies elements into an array from its start.
pub fn fill<T>(array: Array, sides: [usize; 3], values: &[T]) {
    let [width, height, depth] = sides.map(|side| side.max(1));
    let source = Pitched { address: at(values), pitch: size_of_val(values) / height / depth, width, height };
    let copy = Copy3D { source, target_array: array, extent: extent([width, height, depth]), kind: TO_DEVICE, ..Copy3D::default() };
    returns! { cudaMemcpy3D(&copy) => OK; }
}

/// Returns the elements of an array.
pub fn contents<T: Copy + Default>(array: Array, sides: [usize; 3]) -> Vec<T> {
    let [width, height, depth] = sides.map(|side| side.max(1));
    let mut values = vec![T::default(); width * height * depth];
    let target = Pitched { address: into(&mut values), pitch: width * size_of::<T>(), width, height };
    let copy = Copy3D { source_array: array, target, extent: extent([width, height, depth]), kind: TO_HOST, ..Copy3D::default() };
    returns! { cudaMemcpy3D(&copy) => OK; }
    values
}
