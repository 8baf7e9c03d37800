//! Virtual memory management: reserved addresses, memory without an address, and mapping one to the other.

use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUdeviceptr, CUmemGenericAllocationHandle};

use simcuda::records::{Failed, Outcome};

use crate::support::{
    INCREMENT, OK, cu, garbage, in_own_process, inherited_handle, on_gpu, raw_context, raw_function, returns, with_simulator,
};

const FILE_DESCRIPTOR: sys::CUmemAllocationHandleType = sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// Describes memory of the device that can be shared by file descriptors.
fn properties() -> sys::CUmemAllocationProp {
    // SAFETY: the structure is valid with zeros: null pointers, and numbers of enumerations that have a 0.
    let mut properties: sys::CUmemAllocationProp = unsafe { std::mem::MaybeUninit::zeroed().assume_init() };
    properties.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = location();
    properties.requestedHandleTypes = FILE_DESCRIPTOR;
    properties
}

fn location() -> sys::CUmemLocation {
    // SAFETY: the structure is two numbers.
    let mut location: sys::CUmemLocation = unsafe { std::mem::zeroed() };
    location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    location
}

fn access(flags: sys::CUmemAccess_flags) -> sys::CUmemAccessDesc {
    sys::CUmemAccessDesc { location: location(), flags }
}

const NONE: sys::CUmemAccess_flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
const READ_WRITE: sys::CUmemAccess_flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

fn granularity() -> usize {
    let mut bytes = 0;
    let option = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    returns! { cuMemGetAllocationGranularity(&mut bytes, &properties(), option) => CUDA_SUCCESS; }
    bytes
}

fn reserve(bytes: usize) -> CUdeviceptr {
    let mut address = 0;
    returns! { cuMemAddressReserve(&mut address, bytes, 0, 0, 0) => CUDA_SUCCESS; }
    address
}

fn create(bytes: usize) -> CUmemGenericAllocationHandle {
    let mut handle = 0;
    returns! { cuMemCreate(&mut handle, bytes, &properties(), 0) => CUDA_SUCCESS; }
    handle
}

fn increment(address: CUdeviceptr, n: u32) {
    let (_, function) = raw_function(INCREMENT, c"increment");
    let (mut address, mut n) = (address, n);
    let mut arguments = [(&raw mut address).cast(), (&raw mut n).cast()];
    returns! {
        cuLaunchKernel(function, n.div_ceil(256), 1, 1, 256, 1, 1, 0, null_mut(), arguments.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
    }
}

fn word(address: CUdeviceptr) -> u32 {
    let mut word = 0u32;
    returns! { cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4) => CUDA_SUCCESS; }
    word
}

/// Grows a vector where it is: the reason why this part of the API exists.
#[test]
fn memory_grows_behind_the_memory_that_is_there() {
    in_own_process(|| {
        let context = raw_context();
        let unit = granularity();
        let range = reserve(4 * unit);
        assert!(range.is_multiple_of(unit as u64));
        let [first, second] = [create(unit), create(unit)];
        let second_half = range + unit as u64;
        returns! {
            cuMemMap(range, unit, 0, first, 0) => CUDA_SUCCESS;
            cuMemSetAccess(range, unit, &access(READ_WRITE), 1) => CUDA_SUCCESS;
            cuMemsetD32_v2(range, 5, unit / 4) => CUDA_SUCCESS;
            cuMemMap(second_half, unit, 0, second, 0) => CUDA_SUCCESS;
            cuMemSetAccess(range, 2 * unit, &access(READ_WRITE), 1) => CUDA_SUCCESS;
            cuMemsetD32_v2(second_half - 8, 7, 4) => CUDA_SUCCESS;
        }
        // Both copies and kernels go over the border.
        let last = second_half - 8;
        increment(last, 4);
        assert_eq!([word(range), word(last - 4), word(last), word(last + 12)], [5, 5, 8, 8]);
        let mut words = [0u32; 4];
        returns! { cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), last, 16) => CUDA_SUCCESS; }
        assert_eq!(words, [8; 4]);
        // Mapped memory stays when its handle is released.
        returns! {
            cuMemRelease(first) => CUDA_SUCCESS;
            cuMemRelease(second) => CUDA_SUCCESS;
        }
        assert_eq!(word(range), 5);
        returns! {
            cuMemUnmap(range, 2 * unit) => CUDA_SUCCESS;
            cuMemAddressFree(range, 4 * unit) => CUDA_SUCCESS;
            cuCtxDestroy_v2(context) => CUDA_SUCCESS;
        }
    });
}

#[test]
fn memory_that_is_mapped_twice_is_the_same_memory() {
    in_own_process(|| {
        let context = raw_context();
        let unit = granularity();
        let (range, memory) = (reserve(2 * unit), create(unit));
        let again = range + unit as u64;
        let (mut found, mut copy) = (0, properties());
        copy.requestedHandleTypes = sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
        returns! {
            cuMemMap(range, unit, 0, memory, 0) => CUDA_SUCCESS;
            cuMemMap(again, unit, 0, memory, 0) => CUDA_SUCCESS;
            cuMemSetAccess(range, 2 * unit, &access(READ_WRITE), 1) => CUDA_SUCCESS;
            cuMemsetD32_v2(range, 3, 100) => CUDA_SUCCESS;
        }
        increment(again, 100);
        assert_eq!([word(range), word(again + 396)], [4, 4]);
        // Any address of it leads back to the handle.
        returns! {
            cuMemRetainAllocationHandle(&mut found, (again + 100) as *mut _) => CUDA_SUCCESS;
            cuMemGetAllocationPropertiesFromHandle(&mut copy, memory) => CUDA_SUCCESS;
            cuMemRelease(found) => CUDA_SUCCESS;
            cuMemRelease(memory) => CUDA_SUCCESS;
            cuMemUnmap(range, unit) => CUDA_SUCCESS;
        }
        assert_eq!((found, copy.requestedHandleTypes, copy.location.id), (memory, FILE_DESCRIPTOR, 0));
        assert_eq!(word(again), 4, "the other mapping is still there");
        returns! {
            cuMemUnmap(again, unit) => CUDA_SUCCESS;
            cuMemAddressFree(range, 2 * unit) => CUDA_SUCCESS;
            cuCtxDestroy_v2(context) => CUDA_SUCCESS;
        }
    });
}

#[test]
fn what_is_known_about_an_address_says_what_is_mapped_there() {
    in_own_process(|| {
        let context = raw_context();
        let unit = granularity();
        let (range, memory) = (reserve(2 * unit), create(unit));
        let (mut flags, mut base, mut bytes) = (9, 0, 0);
        let (mut start, mut length) = (0u64, 0usize);
        let attribute = |number: sys::CUpointer_attribute| {
            let mut value = 0u64;
            let code = cu!(cuPointerGetAttribute((&raw mut value).cast(), number, range + 64));
            assert_eq!(code, OK, "{number:?}");
            value
        };
        returns! {
            cuMemMap(range, unit, 0, memory, 0) => CUDA_SUCCESS;
            cuMemGetAccess(&mut flags, &location(), range) => CUDA_SUCCESS;
        }
        assert_eq!(flags, 0);
        returns! {
            cuMemSetAccess(range, unit, &access(READ_WRITE), 1) => CUDA_SUCCESS;
            cuMemGetAccess(&mut flags, &location(), range + 8) => CUDA_SUCCESS;
            cuMemGetAddressRange_v2(&mut base, &mut bytes, range + 64) => CUDA_SUCCESS;
        }
        assert_eq!((flags, base, bytes), (3, range, unit));
        use sys::CUpointer_attribute as A;
        start = start.max(attribute(A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR));
        length = length.max(attribute(A::CU_POINTER_ATTRIBUTE_MAPPING_SIZE) as usize);
        assert_eq!((start, length), (range, unit));
        assert_eq!(attribute(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE) as u32, 2);
        assert_eq!(attribute(A::CU_POINTER_ATTRIBUTE_MAPPED) as u32 & 1, 1);
        assert_eq!(attribute(A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES) & 1, 1);
        returns! {
            cuMemUnmap(range, unit) => CUDA_SUCCESS;
            cuMemRelease(memory) => CUDA_SUCCESS;
            cuMemAddressFree(range, 2 * unit) => CUDA_SUCCESS;
            cuCtxDestroy_v2(context) => CUDA_SUCCESS;
        }
    });
}

#[test]
fn wrong_calls_are_refused_and_change_nothing() {
    in_own_process(|| {
        let context = raw_context();
        let unit = granularity();
        let (range, memory) = (reserve(2 * unit), create(unit));
        let (mut address, mut handle) = (0, 0);
        returns! {
            cuMemAddressReserve(&mut address, 0, 0, 0, 0) => CUDA_ERROR_INVALID_VALUE;
            cuMemAddressReserve(&mut address, unit, 3, 0, 0) => CUDA_ERROR_INVALID_VALUE;
            cuMemAddressReserve(&mut address, unit, 0, 0, 1) => CUDA_ERROR_INVALID_VALUE;
            cuMemCreate(&mut handle, unit / 2, &properties(), 0) => CUDA_ERROR_INVALID_VALUE;
            cuMemCreate(&mut handle, 0, &properties(), 0) => CUDA_ERROR_INVALID_VALUE;
            cuMemMap(range + 1, unit, 0, memory, 0) => CUDA_ERROR_INVALID_VALUE;
            cuMemMap(range, 2 * unit, 0, memory, 0) => CUDA_ERROR_NOT_SUPPORTED;
            cuMemMap(range, unit, unit, memory, 0) => CUDA_ERROR_NOT_SUPPORTED;
            cuMemSetAccess(range, unit, &access(READ_WRITE), 1) => CUDA_ERROR_INVALID_VALUE;
            cuMemUnmap(range, unit) => CUDA_SUCCESS;
            cuMemRetainAllocationHandle(&mut handle, range as *mut _) => CUDA_ERROR_INVALID_VALUE;
            cuMemImportFromShareableHandle(&mut handle, null_mut(), FILE_DESCRIPTOR) => CUDA_ERROR_INVALID_VALUE;
            cuMemMap(range, unit, 0, memory, 0) => CUDA_SUCCESS;
            cuMemMap(range, unit, 0, memory, 0) => CUDA_ERROR_INVALID_VALUE;
            cuMemAddressFree(range, 2 * unit) => CUDA_ERROR_INVALID_VALUE;
            cuMemFree_v2(range) => CUDA_ERROR_INVALID_VALUE;
            cuMemUnmap(range, unit) => CUDA_SUCCESS;
            cuMemAddressFree(range, unit) => CUDA_ERROR_INVALID_VALUE;
            cuMemAddressFree(range, 2 * unit) => CUDA_SUCCESS;
            cuMemRelease(memory) => CUDA_SUCCESS;
        }
        if !on_gpu() {
            // On a GPU, both are undefined.
            returns! {
                cuMemRelease(memory) => CUDA_ERROR_INVALID_VALUE;
                cuMemMap(range, unit, 0, garbage::<u8>() as u64, 0) => CUDA_ERROR_INVALID_VALUE;
            }
        }
        returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
    });
}

#[test]
fn memory_counts_until_nothing_refers_to_it() {
    with_simulator(|_| {
        raw_context();
        let unit = granularity();
        let free = || {
            let (mut free, mut total) = (0, 0);
            returns! { cuMemGetInfo_v2(&mut free, &mut total) => CUDA_SUCCESS; }
            free
        };
        let before = free();
        let (range, memory) = (reserve(unit), create(unit));
        assert_eq!(before - free(), unit);
        returns! {
            cuMemMap(range, unit, 0, memory, 0) => CUDA_SUCCESS;
            cuMemRelease(memory) => CUDA_SUCCESS;
        }
        assert_eq!(before - free(), unit);
        returns! { cuMemUnmap(range, unit) => CUDA_SUCCESS; }
        assert_eq!(before, free());
    });
}

/// Passes the file descriptor to the child as its standard input.
#[test]
fn another_process_maps_the_same_memory() {
    const TOLD: &str = "SIMCUDA_TEST_SHARED";
    if std::env::var_os(TOLD).is_some() {
        let _context = raw_context();
        let (unit, mut memory) = (granularity(), 0);
        let range = reserve(unit);
        returns! {
            cuMemImportFromShareableHandle(&mut memory, inherited_handle(), FILE_DESCRIPTOR) => CUDA_SUCCESS;
            cuMemMap(range, unit, 0, memory, 0) => CUDA_SUCCESS;
            cuMemSetAccess(range, unit, &access(READ_WRITE), 1) => CUDA_SUCCESS;
        }
        assert_eq!(word(range + 4), 40);
        increment(range, 100);
        return;
    }
    in_own_process(|| {
        let _context = raw_context();
        let (unit, mut again) = (granularity(), 0);
        let (range, memory) = (reserve(2 * unit), create(unit));
        let mut descriptor = -1;
        returns! {
            cuMemMap(range, unit, 0, memory, 0) => CUDA_SUCCESS;
            cuMemSetAccess(range, unit, &access(READ_WRITE), 1) => CUDA_SUCCESS;
            cuMemsetD32_v2(range, 40, 100) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
            cuMemExportToShareableHandle((&raw mut descriptor).cast(), memory, FILE_DESCRIPTOR, 0) => CUDA_SUCCESS;
            cuMemImportFromShareableHandle(&mut again, descriptor as usize as *mut _, FILE_DESCRIPTOR) => CUDA_SUCCESS;
        }
        // SAFETY: the driver just made this descriptor for the program, which closes it.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "virtual_memory::another_process_maps_the_same_memory", "--nocapture"]).env(TOLD, "1");
        let output = child.stdin(Stdio::from(descriptor)).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        assert_eq!([word(range), word(range + 396)], [41, 41]);
        // The same process can import it as well.
        let other = range + unit as u64;
        returns! {
            cuMemMap(other, unit, 0, again, 0) => CUDA_SUCCESS;
            cuMemSetAccess(other, unit, &access(READ_WRITE), 1) => CUDA_SUCCESS;
        }
        assert_eq!(word(other + 396), 41);
    });
}

/// Checks that a finding says what is wrong with the address.
#[test]
fn an_access_to_a_reserved_range_needs_memory_and_rights() {
    with_simulator(|simulator| {
        for (rights, kernel, expected) in [
            (None, c"peek", "of a reserved range of 4194304 bytes, where nothing is mapped"),
            (
                Some(NONE),
                c"peek",
                "of 2097152 bytes that are mapped without access for the device into a reserved range of 4194304 bytes",
            ),
            (
                Some(sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ),
                c"increment",
                "of 2097152 bytes that are mapped for reading only into a reserved range of 4194304 bytes",
            ),
        ] {
            let context = raw_context();
            let unit = granularity();
            let range = reserve(2 * unit);
            if let Some(rights) = rights {
                let memory = create(unit);
                returns! {
                    cuMemMap(range, unit, 0, memory, 0) => CUDA_SUCCESS;
                    cuMemSetAccess(range, unit, &access(rights), 1) => CUDA_SUCCESS;
                }
            }
            let (_, function) = raw_function(INCREMENT, kernel);
            let (mut first, mut second) = if kernel == c"peek" { (0u64, range + 16) } else { (range + 16, 1) };
            if kernel == c"peek" {
                returns! { cuMemAlloc_v2(&mut first, 4) => CUDA_SUCCESS; }
            }
            let mut arguments = [(&raw mut first).cast(), (&raw mut second).cast()];
            returns! {
                cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), arguments.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
                cuCtxSynchronize() => CUDA_ERROR_ILLEGAL_ADDRESS;
                cuCtxDestroy_v2(context) => CUDA_SUCCESS;
            }
            let records = simulator.take_records().unwrap();
            let launch = records.all_launches().unwrap().next().unwrap();
            let Outcome::Failed(Failed { finding: Some(finding), .. }) = &launch.outcome else { panic!("{launch:?}") };
            let text = finding.to_string();
            assert!(text.contains(expected), "{text}");
        }
    });
}
