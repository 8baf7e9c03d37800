//! Memory: allocating, copying in every direction and shape, filling, asking about addresses, misuse.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::CUpointer_attribute_enum::*;
use cudarc::driver::{DevicePtr, sys};

use crate::support::{VECTORS, garbage, on_gpu, own_context, raw_context, raw_function, returns};

const NULL: *const c_void = std::ptr::null();

fn allocate(bytes: usize) -> u64 {
    let mut address = 0;
    returns! { cuMemAlloc_v2(&mut address, bytes) => CUDA_SUCCESS; }
    address
}

fn upload(values: &[u8]) -> u64 {
    let address = allocate(values.len());
    returns! { cuMemcpyHtoD_v2(address, values.as_ptr().cast(), values.len()) => CUDA_SUCCESS; }
    address
}

fn download(address: u64, bytes: usize) -> Vec<u8> {
    let mut values = vec![0xaa; bytes];
    returns! { cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), address, bytes) => CUDA_SUCCESS; }
    values
}

#[test]
fn copies_go_in_every_direction() {
    let context = raw_context();
    let data: Vec<u8> = (0..=255).collect();
    let first = upload(&data);
    let second = allocate(256);
    returns! { cuMemcpyDtoD_v2(second, first, 256) => CUDA_SUCCESS; }
    assert_eq!(download(second, 256), data);
    returns! { cuMemcpyDtoD_v2(second + 3, first + 7, 5) => CUDA_SUCCESS; }
    assert_eq!(download(second, 10), [0, 1, 2, 7, 8, 9, 10, 11, 8, 9]);

    let mut stream = null_mut();
    let mut back = [0u8; 256];
    returns! {
        cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
        cuMemcpyHtoDAsync_v2(first, data[128..].as_ptr().cast(), 128, stream) => CUDA_SUCCESS;
        cuMemcpyDtoDAsync_v2(second, first, 256, stream) => CUDA_SUCCESS;
        cuMemcpyDtoHAsync_v2(back.as_mut_ptr().cast(), second, 256, stream) => CUDA_SUCCESS;
        cuStreamSynchronize(stream) => CUDA_SUCCESS;
    }
    assert_eq!((&back[..128], &back[128..]), (&data[128..], &data[128..]));

    // Unified addresses say where they are.
    let mut back = [0u8; 4];
    returns! {
        cuMemcpy(first, second + 8, 4) => CUDA_SUCCESS;
        cuMemcpy(back.as_mut_ptr() as u64, first, 4) => CUDA_SUCCESS;
        cuMemcpyAsync(first, back.as_ptr() as u64, 4, stream) => CUDA_SUCCESS;
        cuMemcpyPeer(second, context, first, context, 4) => CUDA_SUCCESS;
        cuMemcpyPeer(second, null_mut(), first, context, 4) => CUDA_SUCCESS;
        cuMemcpyHtoD_v2(second, first as *const c_void, 4) => CUDA_SUCCESS;
        cuStreamSynchronize(stream) => CUDA_SUCCESS;
    }
    assert_eq!(back, [136, 137, 138, 139]);
    assert_eq!(download(second, 4), back);
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn nothing_outside_an_allocation_is_copied() {
    let context = raw_context();
    let address = upload(&[1; 64]);
    let mut host = [7u8; 128];
    returns! {
        cuMemcpyHtoD_v2(address, host.as_ptr().cast(), 0) => CUDA_SUCCESS;
        cuMemcpyHtoD_v2(0, host.as_ptr().cast(), 4) => CUDA_ERROR_INVALID_VALUE;
        cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), garbage::<u8>() as u64, 4) => CUDA_ERROR_INVALID_VALUE;
        cuMemsetD8_v2(garbage::<u8>() as u64, 1, 4) => CUDA_ERROR_INVALID_VALUE;
        cuMemcpyHtoD_v2(address, NULL, 4) => CUDA_ERROR_INVALID_VALUE;
    }
    returns! {
        cuMemcpyHtoD_v2(address + 1, host.as_ptr().cast(), 64) => CUDA_ERROR_INVALID_VALUE;
        cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), address, 65) => CUDA_ERROR_INVALID_VALUE;
        cuMemsetD8_v2(address, 0, 65) => CUDA_ERROR_INVALID_VALUE;
        cuMemsetD8_v2(1, 0, 0) => CUDA_SUCCESS;
    }
    assert_eq!(host, [7; 128]);
    assert_eq!(download(address, 64), [1; 64]);
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn memory_is_filled_with_values_of_one_two_and_four_bytes() {
    let context = raw_context();
    let address = allocate(64);
    returns! {
        cuMemsetD8_v2(address, 0x11, 64) => CUDA_SUCCESS;
        cuMemsetD16_v2(address + 2, 0x2233, 2) => CUDA_SUCCESS;
        cuMemsetD32_v2(address + 8, 0x44556677, 1) => CUDA_SUCCESS;
        cuMemsetD8Async(address + 12, 9, 1, null_mut()) => CUDA_SUCCESS;
        cuMemsetD16_v2(address + 1, 0, 1) => CUDA_ERROR_INVALID_VALUE;
        cuMemsetD32_v2(address + 2, 0, 1) => CUDA_ERROR_INVALID_VALUE;
    }
    assert_eq!(download(address, 14), [0x11, 0x11, 0x33, 0x22, 0x33, 0x22, 0x11, 0x11, 0x77, 0x66, 0x55, 0x44, 9, 0x11]);

    // Three columns of two rows, eight bytes apart.
    returns! {
        cuMemsetD8_v2(address, 0, 64) => CUDA_SUCCESS;
        cuMemsetD2D8_v2(address + 1, 8, 5, 3, 2) => CUDA_SUCCESS;
        cuMemsetD2D32_v2(address + 16, 8, 1, 1, 2) => CUDA_SUCCESS;
    }
    assert_eq!(download(address, 16), [0, 5, 5, 5, 0, 0, 0, 0, 0, 5, 5, 5, 0, 0, 0, 0]);
    assert_eq!(download(address + 16, 16), [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn a_rectangle_is_copied_between_different_pitches() {
    let context = raw_context();
    let (mut target, mut pitch) = (0, 0);
    returns! { cuMemAllocPitch_v2(&mut target, &mut pitch, 10, 4, 4) => CUDA_SUCCESS; }
    assert!(pitch >= 10 && pitch.is_multiple_of(32), "{pitch}");
    let source: Vec<u8> = (0..30).collect();
    let mut copy = sys::CUDA_MEMCPY2D {
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: source.as_ptr().cast(),
        srcDevice: 0,
        srcArray: null_mut(),
        srcPitch: 10,
        srcXInBytes: 2,
        srcY: 1,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: null_mut(),
        dstDevice: target,
        dstArray: null_mut(),
        dstPitch: pitch,
        dstXInBytes: 1,
        dstY: 2,
        WidthInBytes: 3,
        Height: 2,
    };
    returns! {
        cuMemsetD8_v2(target, 0, pitch * 4) => CUDA_SUCCESS;
        cuMemcpy2D_v2(&copy) => CUDA_SUCCESS;
    }
    assert_eq!(download(target + 2 * pitch as u64, 5), [0, 12, 13, 14, 0]);
    assert_eq!(download(target + 3 * pitch as u64, 5), [0, 22, 23, 24, 0]);

    copy.WidthInBytes = 9;
    returns! { cuMemcpy2D_v2(&copy) => CUDA_ERROR_INVALID_VALUE; }
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn a_box_is_copied() {
    let context = raw_context();
    let source = upload(&(0..24).collect::<Vec<u8>>());
    let mut back = [0u8; 8];
    // From two layers of three rows of four bytes: in each layer, two rows from the second on, and of each row two bytes from the third on.
    let copy = sys::CUDA_MEMCPY3D {
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_UNIFIED,
        srcHost: NULL,
        srcDevice: source,
        srcArray: null_mut(),
        srcPitch: 4,
        srcHeight: 3,
        srcXInBytes: 2,
        srcY: 1,
        srcZ: 0,
        srcLOD: 0,
        reserved0: null_mut(),
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: back.as_mut_ptr().cast(),
        dstDevice: 0,
        dstArray: null_mut(),
        dstPitch: 2,
        dstHeight: 2,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        reserved1: null_mut(),
        WidthInBytes: 2,
        Height: 2,
        Depth: 2,
    };
    returns! { cuMemcpy3D_v2(&copy) => CUDA_SUCCESS; }
    assert_eq!(back, [6, 7, 10, 11, 18, 19, 22, 23]);
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn impossible_allocations_are_refused() {
    let context = raw_context();
    let mut address = 0;
    returns! {
        cuMemAlloc_v2(&mut address, 0) => CUDA_ERROR_INVALID_VALUE;
        cuMemAlloc_v2(null_mut(), 16) => CUDA_ERROR_INVALID_VALUE;
        cuMemAlloc_v2(&mut address, 1 << 50) => CUDA_ERROR_OUT_OF_MEMORY;
        cuMemAllocManaged(&mut address, 16, 9) => CUDA_ERROR_INVALID_VALUE;
        cuMemAllocManaged(&mut address, 0, 1) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn memory_is_freed_once_and_by_its_start() {
    let context = raw_context();
    let address = allocate(1024);
    let mut local = 0u32;
    returns! {
        cuMemFree_v2(address + 512) => CUDA_ERROR_INVALID_VALUE;
        cuMemFree_v2(&raw mut local as u64) => CUDA_ERROR_INVALID_VALUE;
        cuMemFree_v2(0) => CUDA_SUCCESS;
        cuMemFreeHost(null_mut()) => CUDA_SUCCESS;
        cuMemFree_v2(address) => CUDA_SUCCESS;
        cuMemFree_v2(address) => CUDA_ERROR_INVALID_VALUE;
        cuMemFreeHost((&raw mut local).cast()) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

/// Pinned memory is there, not only promised.
#[test]
fn more_pinned_memory_than_the_machine_has_is_refused() {
    let context = raw_context();
    let mut host: *mut c_void = null_mut();
    returns! {
        cuMemHostAlloc(&mut host, 1 << 45, 0) => CUDA_ERROR_OUT_OF_MEMORY;
        cuMemAllocHost_v2(&mut host, 1 << 45) => CUDA_ERROR_OUT_OF_MEMORY;
        cuMemHostAlloc(&mut host, 64, 0) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn pinned_memory_belongs_to_the_host_and_the_device() {
    let context = raw_context();
    let mut host: *mut c_void = null_mut();
    let (mut device, mut flags, mut kind) = (0, 0, 0u32);
    returns! {
        cuMemHostAlloc(&mut host, 64, 1) => CUDA_SUCCESS;
        cuMemHostGetFlags(&mut flags, host) => CUDA_SUCCESS;
        cuMemHostGetDevicePointer_v2(&mut device, host, 0) => CUDA_SUCCESS;
        cuPointerGetAttribute((&raw mut kind).cast(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host as u64) => CUDA_SUCCESS;
    }
    assert_eq!((device, flags & 1, kind), (host as u64, 1, sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32));
    // SAFETY: the driver allocated 64 bytes there, and nothing else uses them now.
    unsafe { host.cast::<u8>().write_bytes(5, 64) };
    let on_device = allocate(64);
    returns! {
        cuMemcpyHtoD_v2(on_device, host, 64) => CUDA_SUCCESS;
        cuMemsetD8_v2(device, 6, 32) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
    }
    assert_eq!(download(on_device, 64), [5; 64]);
    // SAFETY: the driver allocated 64 bytes there, all of which were written, and nothing writes them now.
    assert_eq!(unsafe { std::slice::from_raw_parts(host.cast::<u8>(), 33) }, [[6; 32].as_slice(), &[5]].concat());
    returns! {
        cuMemFree_v2(host as u64) => CUDA_ERROR_INVALID_VALUE;
        cuMemFreeHost(host) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn managed_memory_needs_no_copies() {
    let context = own_context();
    // SAFETY: bytes may have any value, so memory that was not initialized holds valid ones.
    let mut unified = unsafe { context.alloc_unified::<u8>(64, true) }.unwrap();
    unified.as_mut_slice().unwrap().fill(3);
    let stream = context.default_stream();
    let mut copied = stream.alloc_zeros::<u8>(64).unwrap();
    stream.memcpy_dtod(&unified, &mut copied).unwrap();
    assert_eq!(stream.clone_dtoh(&copied).unwrap(), [3; 64]);
    let mut managed = 0u32;
    let address = unified.device_ptr(&stream).0;
    returns! {
        cuPointerGetAttribute((&raw mut managed).cast(), CU_POINTER_ATTRIBUTE_IS_MANAGED, address) => CUDA_SUCCESS;
        cuMemAdvise(address, 64, sys::CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, 0) => CUDA_SUCCESS;
        cuMemPrefetchAsync(address, 64, 0, null_mut()) => CUDA_SUCCESS;
        cuMemPrefetchAsync(address, 64, -1, null_mut()) => CUDA_SUCCESS;
        cuMemPrefetchAsync(garbage::<u8>() as u64, 64, 0, null_mut()) => CUDA_ERROR_INVALID_VALUE;
    }
    assert_eq!(managed, 1);
}

#[test]
fn an_address_leads_to_its_allocation() {
    let context = raw_context();
    let address = allocate(1000);
    let (mut base, mut bytes, mut kind, mut ordinal, mut of) = (0, 0, 0u32, -1i32, null_mut::<c_void>());
    returns! {
        cuMemGetAddressRange_v2(&mut base, &mut bytes, address + 999) => CUDA_SUCCESS;
        cuPointerGetAttribute((&raw mut kind).cast(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 4) => CUDA_SUCCESS;
        cuPointerGetAttribute((&raw mut ordinal).cast(), CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) => CUDA_SUCCESS;
        cuPointerGetAttribute((&raw mut of).cast(), CU_POINTER_ATTRIBUTE_CONTEXT, address) => CUDA_SUCCESS;
    }
    assert_eq!((base, bytes, kind, ordinal), (address, 1000, sys::CUmemorytype::CU_MEMORYTYPE_DEVICE as u32, 0));
    assert_eq!(of, context.cast());

    let local = 0u8;
    let ours = &raw const local as u64;
    returns! {
        cuPointerGetAttribute((&raw mut kind).cast(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ours) => CUDA_ERROR_INVALID_VALUE;
        cuMemGetAddressRange_v2(&mut base, &mut bytes, 64) => CUDA_ERROR_NOT_FOUND;
    }
    let mut attributes = [CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL];
    let mut places = [(&raw mut kind).cast(), (&raw mut ordinal).cast()];
    returns! { cuPointerGetAttributes(2, attributes.as_mut_ptr(), places.as_mut_ptr(), ours) => CUDA_SUCCESS; }
    assert_eq!((kind, ordinal), (0, -2), "an unknown address is not an error when several attributes are asked for");
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn host_memory_is_registered_once() {
    let context = raw_context();
    let mut host = vec![0u8; 8192];
    let place: *mut c_void = host.as_mut_ptr().cast();
    let mut pinned = null_mut();
    returns! {
        cuMemHostRegister_v2(place, 8192, 0) => CUDA_SUCCESS;
        cuMemHostRegister_v2(place, 8192, 0) => CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        cuMemHostUnregister(place.wrapping_byte_add(4096)) => CUDA_ERROR_INVALID_VALUE;
        cuMemHostUnregister(place) => CUDA_SUCCESS;
        cuMemHostUnregister(place) => CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
        cuMemHostRegister_v2(null_mut(), 16, 0) => CUDA_ERROR_INVALID_VALUE;
        cuMemHostAlloc(&mut pinned, 64, 0) => CUDA_SUCCESS;
        cuMemHostRegister_v2(pinned, 64, 0) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn a_kernel_accesses_registered_memory_at_its_host_address() {
    let context = raw_context();
    let (_, add) = raw_function(VECTORS, c"add");
    let n = 100u32;
    let mut host: Vec<f32> = (0..300).map(|i| i as f32).collect();
    let place: *mut c_void = host.as_mut_ptr().cast();
    let mut reached = 0;
    returns! {
        cuMemHostRegister_v2(place, 1200, 0) => CUDA_SUCCESS;
        cuMemHostGetDevicePointer_v2(&mut reached, place, 0) => CUDA_SUCCESS;
    }
    assert_eq!(reached, place as u64);
    // The first hundred numbers become the sums of the second and the third hundred.
    let (mut out, mut a, mut b, mut count) = (reached, reached + 400, reached + 800, n);
    let mut parameters: [*mut c_void; 4] =
        [(&raw mut out).cast(), (&raw mut a).cast(), (&raw mut b).cast(), (&raw mut count).cast()];
    returns! {
        cuLaunchKernel(add, 1, 1, 1, 128, 1, 1, 0, null_mut(), parameters.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
        cuMemHostUnregister(place) => CUDA_SUCCESS;
        cuMemHostGetDevicePointer_v2(&mut reached, place, 0) => CUDA_ERROR_INVALID_VALUE;
    }
    assert!((0..100).all(|i| host[i] == (100 + i + 200 + i) as f32), "{host:?}");
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn only_the_programs_own_memory_is_registered() {
    let context = raw_context();
    let mut host = vec![0u8; 64];
    let place: *mut c_void = host.as_mut_ptr().cast();
    let nowhere = std::ptr::without_provenance_mut(1 << 20);
    returns! { cuMemHostRegister_v2(place, 64, 0x80) => CUDA_ERROR_INVALID_VALUE; }
    if !on_gpu() {
        returns! {
            cuMemHostRegister_v2(nowhere, 4096, 0) => CUDA_ERROR_INVALID_VALUE;
            cuMemHostRegister_v2(place, usize::MAX, 0) => CUDA_ERROR_INVALID_VALUE;
            cuMemHostRegister_v2(place.wrapping_byte_add(1), 32, 0) => CUDA_ERROR_NOT_SUPPORTED;
        }
    }
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn free_memory_shrinks_and_grows() {
    let context = raw_context();
    let (mut before, mut during, mut total) = (0, 0, 0);
    // Other tests allocate and free memory at the same time (on a GPU, whole contexts). In some try, they do not interfere.
    let seen = (0..50).any(|_| {
        returns! { cuMemGetInfo_v2(&mut before, &mut total) => CUDA_SUCCESS; }
        let address = allocate(64 << 20);
        returns! {
            cuMemGetInfo_v2(&mut during, &mut total) => CUDA_SUCCESS;
            cuMemFree_v2(address) => CUDA_SUCCESS;
        }
        before <= total && before >= during + (32 << 20)
    });
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
    assert!(seen, "{before} {during} {total}");
}

#[test]
fn cudarc_copies_slices() {
    let context = own_context();
    let stream = context.new_stream().unwrap();
    let numbers: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let mut data = stream.clone_htod(&numbers).unwrap();
    let copy = stream.clone_dtod(&data).unwrap();
    stream.memset_zeros(&mut data).unwrap();
    assert_eq!(stream.clone_dtoh(&copy).unwrap(), numbers);
    assert_eq!(stream.clone_dtoh(&data).unwrap(), vec![0.0; 1000]);
    let window = copy.slice(10..20);
    assert_eq!(stream.clone_dtoh(&window).unwrap(), numbers[10..20]);
    // SAFETY: floats may have any value, so memory that was not initialized holds valid ones.
    let mut pinned = unsafe { context.alloc_pinned::<f32>(10) }.unwrap();
    stream.memcpy_dtoh(&window, &mut pinned).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), &numbers[10..20]);

    let elsewhere = own_context();
    // Not the default stream: cudarc 0.19.10 makes the other context current before it copies, and then the copy would be in that context's
    // default stream.
    let there = elsewhere.new_stream().unwrap();
    let moved = there.clone_dtod(&copy).unwrap();
    assert_eq!(there.clone_dtoh(&moved).unwrap(), numbers);
}

#[test]
fn synchronous_copies_read_back_as_they_were_set() {
    use sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS as SYNC_MEMOPS;
    let context = raw_context();
    let (mut device, mut managed) = (0, 0);
    returns! {
        cuMemAlloc_v2(&mut device, 64) => CUDA_SUCCESS;
        cuMemAllocManaged(&mut managed, 64, 1) => CUDA_SUCCESS;
    }
    for (address, initially) in [(device, 0), (managed, 1)] {
        let read = || {
            let mut value = 7u32;
            returns! { cuPointerGetAttribute((&raw mut value).cast(), SYNC_MEMOPS, address) => CUDA_SUCCESS; }
            value
        };
        assert_eq!(read(), initially);
        for (set, then) in [(1u32, 1), (0, 0), (5, 1), (0, 0)] {
            returns! { cuPointerSetAttribute((&raw const set).cast(), SYNC_MEMOPS, address) => CUDA_SUCCESS; }
            assert_eq!(read(), then);
        }
    }
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn what_was_said_about_managed_memory_can_be_asked_for() {
    use cudarc::driver::sys::CUmem_advise_enum::*;
    use cudarc::driver::sys::CUmem_range_attribute_enum::*;
    let context = raw_context();
    let (mut address, bytes) = (0, 1 << 16);
    let mut value = [7; 4];
    returns! {
        cuMemAllocManaged(&mut address, bytes, 1) => CUDA_SUCCESS;
        cuMemAdvise(address, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, 0) => CUDA_SUCCESS;
        cuMemAdvise(address, bytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, -1) => CUDA_SUCCESS;
        cuMemAdvise(address, bytes, CU_MEM_ADVISE_SET_ACCESSED_BY, -1) => CUDA_SUCCESS;
        cuMemAdvise(address, bytes, CU_MEM_ADVISE_SET_ACCESSED_BY, 0) => CUDA_SUCCESS;
        cuMemRangeGetAttribute(value.as_mut_ptr().cast(), 16, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, address, bytes) => CUDA_SUCCESS;
    }
    assert_eq!(value, [0, -1, -2, -2]);
    for (attribute, expected) in [
        (CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 1),
        (CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, -1),
        (CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, -2),
    ] {
        returns! { cuMemRangeGetAttribute(value.as_mut_ptr().cast(), 4, attribute, address, bytes) => CUDA_SUCCESS; }
        assert_eq!(value[0], expected, "{attribute:?}");
    }
    let mut stay = [0; 2];
    let (mut sizes, mut attributes) = ([4; 2], [CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY]);
    let [first, second] = &mut stay;
    let mut places: [*mut c_void; 2] = [(&raw mut *first).cast(), (&raw mut *second).cast()];
    returns! {
        cuMemAdvise(address, bytes, CU_MEM_ADVISE_UNSET_READ_MOSTLY, 0) => CUDA_SUCCESS;
        cuMemPrefetchAsync(address, bytes, 0, null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
        cuMemRangeGetAttributes(places.as_mut_ptr(), sizes.as_mut_ptr(), attributes.as_mut_ptr(), 2, address, bytes) => CUDA_SUCCESS;
        cuMemRangeGetAttribute(value.as_mut_ptr().cast(), 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, bytes) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
    assert_eq!(stay, [0, 0]);
}
