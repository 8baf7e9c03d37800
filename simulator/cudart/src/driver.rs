//! The functions of the CUDA driver, found in whatever driver the process has.

use std::ffi::{c_char, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use libloading::Library;

use crate::error::{Code, Result};
use crate::pointer::{Address, Handle, Ptr};

/// The names of the driver: its file, and what our driver is called once it is loaded.
const FILE: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
#[cfg(unix)]
const LOADED: [&str; 2] = [FILE, "libcuda.so"];

/// Defines functions that call those of the driver. One that the driver lacks fails when it is called.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        $(
            #[allow(non_snake_case, reason = "the name is the driver's")]
            #[allow(clippy::too_many_arguments, reason = "the arguments are the driver's")]
            pub fn $name($($argument: $type),*) -> $crate::error::Result {
                type Function = unsafe extern "C" fn($($type),*) -> u32;
                static FOUND: std::sync::OnceLock<Option<Function>> = std::sync::OnceLock::new();
                let library = $crate::driver::library()?;
                // SAFETY: a function of this name has this type in every version of the driver, because the driver adds a suffix
                // to the name of a function whose type changes.
                let find = || unsafe { library.get::<Function>(stringify!($name)) }.ok().map(|function| *function);
                let function = FOUND.get_or_init(find).ok_or($crate::error::Code::CALL_REQUIRES_NEWER_DRIVER)?;
                // SAFETY: the pointers are what the C caller passed, who promises that they are what CUDA says, or those of live
                // variables; a `Ptr` can be made of nothing else. The driver checks handles and addresses.
                match unsafe { function($($argument),*) } {
                    0 => Ok(()),
                    code => Err($crate::error::Code(code)),
                }
            }
        )*
    };
}

pub(crate) use functions;

/// Returns the driver, which is loaded when it is first needed. It stays for the life of the process.
pub fn library() -> Result<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    LIBRARY.get_or_init(open).as_ref().ok_or(Code::INSUFFICIENT_DRIVER)
}

/// Opens the driver: the one that the process already has, or else the one beside this library, or else the loader's.
#[cfg(unix)]
fn open() -> Option<Library> {
    use libloading::os::unix::{Library as UnixLibrary, RTLD_GLOBAL, RTLD_NOW};
    /// Finds only what is already loaded.
    const RTLD_NOLOAD: i32 = if cfg!(target_os = "linux") { 4 } else { 0x10 };
    let open = |path: PathBuf, flags| {
        // SAFETY: a CUDA driver may be loaded at any time; its initializers expect nothing of the process.
        unsafe { UnixLibrary::open(Some(path), flags) }.ok().map(Library::from)
    };
    let loaded = || LOADED.iter().find_map(|name| open(name.into(), RTLD_NOW | RTLD_NOLOAD));
    let beside = || open(own_path()?.with_file_name(FILE), RTLD_NOW | RTLD_GLOBAL);
    loaded().or_else(beside).or_else(|| open(FILE.into(), RTLD_NOW | RTLD_GLOBAL))
}

/// Opens the driver that the system has.
#[cfg(not(unix))]
fn open() -> Option<Library> {
    // SAFETY: a CUDA driver may be loaded at any time; its initializers expect nothing of the process.
    unsafe { Library::new(FILE) }.ok()
}

/// Returns this library's file under the name that it was loaded by.
#[cfg(unix)]
pub fn own_path() -> Option<PathBuf> {
    use std::ffi::{CStr, OsStr, c_int};
    use std::os::unix::ffi::OsStrExt;

    /// `Dl_info`: what the loader knows about an address.
    #[repr(C)]
    struct Info {
        file: *const c_char,
        base: *const c_void,
        symbol: *const c_char,
        address: *const c_void,
    }
    // SAFETY: this is the declaration of the C library's `dlfcn.h`.
    unsafe extern "C" {
        fn dladdr(address: *const c_void, info: *mut Info) -> c_int;
    }
    let mut info = Info { file: std::ptr::null(), base: std::ptr::null(), symbol: std::ptr::null(), address: std::ptr::null() };
    // SAFETY: the function only compares the address, and `info` is a live structure of the type that it fills.
    if unsafe { dladdr(own_path as *const c_void, &mut info) } == 0 || info.file.is_null() {
        return None;
    }
    // SAFETY: on success, the loader returns a text that lives as long as the library, which is never unloaded.
    let file = unsafe { CStr::from_ptr(info.file) };
    Some(PathBuf::from(OsStr::from_bytes(file.to_bytes())))
}

/// Returns nothing: only one version of the library exists on such a system.
#[cfg(not(unix))]
pub fn own_path() -> Option<PathBuf> {
    None
}

functions! {
    fn cuInit(flags: u32);
    fn cuDriverGetVersion(version: Ptr<i32>);
    fn cuGetProcAddress_v2(symbol: Ptr<c_char>, function: Ptr<Ptr<c_void>>, version: i32, flags: u64, status: Ptr<u32>);

    fn cuDeviceGet(device: Ptr<i32>, ordinal: i32);
    fn cuDeviceGetCount(count: Ptr<i32>);
    fn cuDeviceGetAttribute(value: Ptr<i32>, attribute: u32, device: i32);
    fn cuDeviceGetName(name: Ptr<c_char>, capacity: i32, device: i32);
    fn cuDeviceGetUuid_v2(uuid: Ptr<[u8; 16]>, device: i32);
    fn cuDeviceTotalMem_v2(bytes: Ptr<usize>, device: i32);

    fn cuDevicePrimaryCtxRetain(context: Ptr<Handle>, device: i32);
    fn cuDevicePrimaryCtxReset_v2(device: i32);
    fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32);
    fn cuDevicePrimaryCtxGetState(device: i32, flags: Ptr<u32>, active: Ptr<i32>);
    fn cuCtxGetCurrent(context: Ptr<Handle>);
    fn cuCtxSetCurrent(context: Handle);
    fn cuCtxGetDevice(device: Ptr<i32>);

    fn cuMemAlloc_v2(address: Ptr<Address>, bytes: usize);
    fn cuMemAllocPitch_v2(address: Ptr<Address>, pitch: Ptr<usize>, width: usize, height: usize, element_bytes: u32);
    fn cuMemAllocManaged(address: Ptr<Address>, bytes: usize, flags: u32);
    fn cuMemHostAlloc(address: Ptr<Ptr<c_void>>, bytes: usize, flags: u32);
    fn cuMemAllocAsync(address: Ptr<Address>, bytes: usize, stream: Handle);
    fn cuMemAllocFromPoolAsync(address: Ptr<Address>, bytes: usize, pool: Handle, stream: Handle);
    fn cuMemFreeAsync(address: Address, stream: Handle);
    fn cuPointerGetAttribute(data: Ptr<c_void>, attribute: u32, address: Address);

    fn cuMemcpy(target: Address, source: Address, bytes: usize);
    fn cuMemcpyAsync(target: Address, source: Address, bytes: usize, stream: Handle);
    fn cuMemcpyHtoD_v2(target: Address, source: Address, bytes: usize);
    fn cuMemcpyHtoDAsync_v2(target: Address, source: Address, bytes: usize, stream: Handle);
    fn cuMemcpyDtoH_v2(target: Address, source: Address, bytes: usize);
    fn cuMemcpyDtoHAsync_v2(target: Address, source: Address, bytes: usize, stream: Handle);
    fn cuMemcpyDtoD_v2(target: Address, source: Address, bytes: usize);
    fn cuMemcpyDtoDAsync_v2(target: Address, source: Address, bytes: usize, stream: Handle);
    fn cuMemcpy3D_v2(copy: Ptr<Copy3D>);
    fn cuMemcpy3DAsync_v2(copy: Ptr<Copy3D>, stream: Handle);
    fn cuArray3DGetDescriptor_v2(descriptor: Ptr<ArrayDescriptor>, array: Handle);
    fn cuMemsetD8_v2(target: Address, value: u8, count: usize);
    fn cuMemsetD8Async(target: Address, value: u8, count: usize, stream: Handle);
    fn cuMemsetD2D8_v2(target: Address, pitch: usize, value: u8, width: usize, height: usize);
    fn cuMemsetD2D8Async(target: Address, pitch: usize, value: u8, width: usize, height: usize, stream: Handle);

    fn cuLibraryLoadData(
        library: Ptr<Handle>, image: Ptr<c_void>, options: Ptr<u32>, values: Ptr<Ptr<c_void>>, count: u32,
        library_options: Ptr<u32>, library_values: Ptr<Ptr<c_void>>, library_count: u32,
    );
    fn cuLibraryUnload(library: Handle);
    fn cuLibraryGetKernel(kernel: Ptr<Handle>, library: Handle, name: Ptr<c_char>);
    fn cuLibraryGetGlobal(address: Ptr<Address>, bytes: Ptr<usize>, library: Handle, name: Ptr<c_char>);
    fn cuLibraryGetManaged(address: Ptr<Address>, bytes: Ptr<usize>, library: Handle, name: Ptr<c_char>);
    fn cuKernelGetFunction(function: Ptr<Handle>, kernel: Handle);
    fn cuKernelSetAttribute(attribute: u32, value: i32, kernel: Handle, device: i32);

    fn cuFuncGetAttribute(value: Ptr<i32>, attribute: u32, function: Handle);
    fn cuFuncSetAttribute(function: Handle, attribute: u32, value: i32);
    fn cuFuncSetCacheConfig(function: Handle, config: u32);
    fn cuFuncSetSharedMemConfig(function: Handle, config: u32);
    fn cuFuncGetName(name: Ptr<Ptr<c_char>>, function: Handle);
    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: Ptr<usize>, bytes: Ptr<usize>);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Ptr<i32>, function: Handle, threads: i32, shared_bytes: usize, flags: u32,
    );
    fn cuOccupancyMaxActiveClusters(clusters: Ptr<i32>, function: Handle, config: Ptr<LaunchConfig>);
    fn cuOccupancyMaxPotentialClusterSize(size: Ptr<i32>, function: Handle, config: Ptr<LaunchConfig>);
    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: Ptr<usize>, function: Handle, blocks: i32, threads: i32);
    fn cuLaunchKernelEx(config: Ptr<LaunchConfig>, function: Handle, arguments: Ptr<Ptr<c_void>>, extra: Ptr<Ptr<c_void>>);
}

/// `CUmemLocation`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Location {
    pub kind: u32,
    pub id: i32,
}

/// `CUDA_MEMCPY3D`: a copy of a box.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Copy3D {
    pub source: Copy3DEnd,
    pub target: Copy3DEnd,
    pub width_bytes: usize,
    pub height: usize,
    pub depth: usize,
}

/// One end of a copy of a box.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Copy3DEnd {
    pub x_bytes: usize,
    pub y: usize,
    pub z: usize,
    pub lod: usize,
    pub memory_type: u32,
    pub host: Address,
    pub device: Address,
    pub array: Handle,
    pub reserved: Handle,
    pub pitch: usize,
    pub height: usize,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ArrayDescriptor {
    pub extent: [usize; 3],
    pub format: u32,
    pub channels: u32,
    pub flags: u32,
}

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_bytes: u32,
    pub stream: Handle,
    pub attributes: Ptr<LaunchAttribute>,
    pub attribute_count: u32,
}

/// `CUlaunchAttribute`: a number that selects a member of the union after it.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, Default)]
pub struct LaunchAttribute {
    pub id: u32,
    pub padding: u32,
    pub value: [u32; 16],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_nvidias_headers() {
        assert_eq!(size_of::<Copy3D>(), 200);
        assert_eq!(size_of::<ArrayDescriptor>(), 40);
        assert_eq!(size_of::<LaunchConfig>(), 56);
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(size_of::<Location>(), 8);
    }
}
