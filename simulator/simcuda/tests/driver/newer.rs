//! Functions that are newer than the bindings: green contexts, events of contexts, batches of copies, settings of core dumps.

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUcontext, CUevent, CUresult, CUstream};

use crate::names::exported;
use crate::support::{OK, cu, in_own_process, on_gpu, raw_context, returns};

/// Finds an exported function of this type.
macro_rules! function {
    ($name:literal: fn($($type:ty),*)) => {
        // SAFETY: the type is that of the function in `cuda.h`.
        unsafe { transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> CUresult>(exported()($name)) }
    };
}

/// Calls such a function, which must return this.
macro_rules! gives {
    ($function:ident($($argument:expr),* $(,)?) => $code:ident) => {
        // SAFETY: pointers are to live variables of the test, or null where the driver must refuse null.
        assert_eq!(unsafe { $function($($argument),*) }, CUresult::$code, stringify!($function))
    };
}

/// `CUdevResource` of CUDA 12.
#[repr(C)]
#[derive(Clone, Copy)]
struct Resource {
    kind: u32,
    padding: [u8; 92],
    multiprocessors: u32,
    rest: [u32; 11],
}

const NO_RESOURCE: Resource = Resource { kind: 0, padding: [0; 92], multiprocessors: 0, rest: [0; 11] };
const MULTIPROCESSORS: u32 = 1;

type Green = *mut c_void;

#[test]
fn a_green_context_is_the_primary_context_with_a_share_of_the_multiprocessors() {
    in_own_process(|| {
        let of_device = function!("cuDeviceGetDevResource": fn(i32, *mut Resource, u32));
        let of_context = function!("cuCtxGetDevResource": fn(CUcontext, *mut Resource, u32));
        let of_green = function!("cuGreenCtxGetDevResource": fn(Green, *mut Resource, u32));
        let split = function!(
            "cuDevSmResourceSplitByCount": fn(*mut Resource, *mut u32, *const Resource, *mut Resource, u32, u32)
        );
        let describe = function!("cuDevResourceGenerateDesc": fn(*mut *mut c_void, *mut Resource, u32));
        let create = function!("cuGreenCtxCreate": fn(*mut Green, *mut c_void, i32, u32));
        let destroy = function!("cuGreenCtxDestroy": fn(Green));
        let context_of = function!("cuCtxFromGreenCtx": fn(*mut CUcontext, Green));
        let make_stream = function!("cuGreenCtxStreamCreate": fn(*mut CUstream, Green, u32, i32));
        let green_of = function!("cuStreamGetGreenCtx": fn(CUstream, *mut Green));
        let record = function!("cuGreenCtxRecordEvent": fn(Green, CUevent));
        let wait = function!("cuGreenCtxWaitEvent": fn(Green, CUevent));

        let (mut primary, mut all, mut groups) = (null_mut(), NO_RESOURCE, 0);
        returns! {
            cuInit(0) => CUDA_SUCCESS;
            cuDevicePrimaryCtxRetain(&mut primary, 0) => CUDA_SUCCESS;
            cuCtxSetCurrent(primary) => CUDA_SUCCESS;
        }
        gives!(of_device(0, &mut all, MULTIPROCESSORS) => CUDA_SUCCESS);
        let mut count = 0;
        let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        returns! { cuDeviceGetAttribute(&mut count, attribute, 0) => CUDA_SUCCESS; }
        assert_eq!((all.kind, all.multiprocessors), (MULTIPROCESSORS, count as u32));
        // How many groups there could be, and then two of them.
        gives!(split(null_mut(), &mut groups, &all, null_mut(), 0, 8) => CUDA_SUCCESS);
        // An H200 makes 15 of its 132 multiprocessors.
        let most = all.multiprocessors / 8;
        assert!(if on_gpu() { (1..=most).contains(&groups) } else { groups == most }, "{groups}");
        let (mut parts, mut rest) = ([NO_RESOURCE; 2], NO_RESOURCE);
        groups = 2;
        gives!(split(parts.as_mut_ptr(), &mut groups, &all, &mut rest, 0, 8) => CUDA_SUCCESS);
        assert_eq!((groups, parts.map(|part| part.multiprocessors)), (2, [8, 8]));
        assert_eq!(rest.multiprocessors, all.multiprocessors - 16);

        let (mut description, mut green, mut context) = (null_mut(), null_mut(), null_mut());
        gives!(describe(&mut description, parts.as_mut_ptr(), 1) => CUDA_SUCCESS);
        gives!(create(&mut green, description, 0, 0) => CUDA_ERROR_INVALID_VALUE);
        gives!(create(&mut green, description, 0, 1) => CUDA_SUCCESS);
        gives!(context_of(&mut context, green) => CUDA_SUCCESS);
        let mut share = NO_RESOURCE;
        gives!(of_green(green, &mut share, MULTIPROCESSORS) => CUDA_SUCCESS);
        assert_eq!(share.multiprocessors, 8);
        gives!(of_context(context, &mut share, MULTIPROCESSORS) => CUDA_SUCCESS);
        assert_eq!(share.multiprocessors, 8);

        // Memory of the one is memory of the other.
        let (mut memory, mut word, mut stream, mut found, mut event) = (0, 0u32, null_mut(), null_mut(), null_mut());
        returns! {
            cuMemAlloc_v2(&mut memory, 4) => CUDA_SUCCESS;
            cuCtxSetCurrent(context) => CUDA_SUCCESS;
            cuEventCreate(&mut event, 2) => CUDA_SUCCESS;
        }
        gives!(make_stream(&mut stream, green, 0, 0) => CUDA_ERROR_INVALID_VALUE);
        gives!(make_stream(&mut stream, green, 1, 0) => CUDA_SUCCESS);
        gives!(green_of(stream, &mut found) => CUDA_SUCCESS);
        assert_eq!(found, green);
        returns! { cuMemsetD32Async(memory, 7, 1, stream) => CUDA_SUCCESS; }
        gives!(record(green, event) => CUDA_SUCCESS);
        gives!(wait(green, event) => CUDA_SUCCESS);
        returns! {
            cuEventSynchronize(event) => CUDA_SUCCESS;
            cuMemcpyDtoH_v2((&raw mut word).cast(), memory, 4) => CUDA_SUCCESS;
        }
        assert_eq!(word, 7);
        returns! {
            cuStreamDestroy_v2(stream) => CUDA_SUCCESS;
            cuEventDestroy_v2(event) => CUDA_SUCCESS;
            cuCtxSetCurrent(primary) => CUDA_SUCCESS;
            cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
        }
        gives!(green_of(stream, &mut found) => CUDA_SUCCESS);
        assert!(found.is_null(), "the stream was made in the primary context");
        gives!(destroy(green) => CUDA_SUCCESS);
        returns! {
            cuMemcpyDtoH_v2((&raw mut word).cast(), memory, 4) => CUDA_SUCCESS;
            cuDevicePrimaryCtxRelease_v2(0) => CUDA_SUCCESS;
        }
    });
}

#[test]
fn an_event_of_a_context_comes_after_all_work_of_all_streams() {
    in_own_process(|| {
        let context = raw_context();
        let record = function!("cuCtxRecordEvent": fn(CUcontext, CUevent));
        let wait = function!("cuCtxWaitEvent": fn(CUcontext, CUevent));
        let (mut streams, mut flag, mut memory, mut event) = ([null_mut(); 2], 0, 0, null_mut());
        for stream in &mut streams {
            returns! { cuStreamCreate(stream, 1) => CUDA_SUCCESS; }
        }
        returns! {
            cuEventCreate(&mut event, 2) => CUDA_SUCCESS;
            cuMemAlloc_v2(&mut flag, 4) => CUDA_SUCCESS;
            cuMemAlloc_v2(&mut memory, 4) => CUDA_SUCCESS;
            cuMemsetD32_v2(flag, 0, 1) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
            cuMemsetD32Async(memory, 1, 1, streams[0]) => CUDA_SUCCESS;
        }
        gives!(record(context, event) => CUDA_SUCCESS);
        gives!(wait(context, event) => CUDA_SUCCESS);
        let mut word = 0u32;
        returns! {
            cuMemsetD32Async(memory, 2, 1, streams[1]) => CUDA_SUCCESS;
            cuEventSynchronize(event) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
            cuMemcpyDtoH_v2((&raw mut word).cast(), memory, 4) => CUDA_SUCCESS;
        }
        assert_eq!(word, 2);
    });
}

/// `CUmemcpyAttributes`: the order of accesses to the source, where both ends are, and flags.
#[repr(C)]
struct CopyAttributes {
    order: u32,
    ends: [u32; 4],
    flags: u32,
}

#[test]
fn many_copies_are_one_call() {
    in_own_process(|| {
        raw_context();
        let copy = function!(
            "cuMemcpyBatchAsync":
            fn(*mut u64, *mut u64, *mut usize, usize, *mut CopyAttributes, *mut usize, usize, *mut usize, CUstream)
        );
        let (mut stream, mut memory, mut pinned) = (null_mut(), 0, null_mut::<c_void>());
        returns! {
            cuStreamCreate(&mut stream, 1) => CUDA_SUCCESS;
            cuMemAlloc_v2(&mut memory, 16) => CUDA_SUCCESS;
            cuMemHostAlloc(&mut pinned, 16, 0) => CUDA_SUCCESS;
        }
        let values = [1u32, 2, 3, 4];
        // SAFETY: the memory is 16 bytes long, and nothing uses it.
        unsafe { pinned.cast::<[u32; 4]>().write(values) };
        let host = pinned as u64;
        let (mut targets, mut sources, mut sizes) = ([memory, memory + 8], [host + 8, host], [8usize, 4]);
        // `CU_MEMCPY_SRC_ACCESS_ORDER_STREAM`
        let (mut how, mut indices, mut failed) = (CopyAttributes { order: 1, ends: [0; 4], flags: 0 }, [0usize], 0);
        gives!(copy(
            targets.as_mut_ptr(), sources.as_mut_ptr(), sizes.as_mut_ptr(), 2, &mut how, indices.as_mut_ptr(), 1, &mut failed, stream
        ) => CUDA_SUCCESS);
        let mut back = [0u32; 3];
        returns! {
            cuStreamSynchronize(stream) => CUDA_SUCCESS;
            cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), memory, 12) => CUDA_SUCCESS;
        }
        assert_eq!(back, [3, 4, 1]);
    });
}

/// `CUmemLocation` of CUDA 13.
#[repr(C)]
struct Place {
    kind: u32,
    id: i32,
}

#[test]
fn functions_of_cuda_13_do_as_those_before() {
    in_own_process(|| {
        raw_context();
        let copies = function!(
            "cuMemcpyBatchAsync_v2":
            fn(*mut u64, *mut u64, *mut usize, usize, *mut CopyAttributes, *mut usize, usize, CUstream)
        );
        let copy = function!("cuMemcpyWithAttributesAsync": fn(u64, u64, usize, *mut CopyAttributes, CUstream));
        let prefetch = function!(
            "cuMemPrefetchBatchAsync": fn(*mut u64, *mut usize, usize, *mut Place, *mut usize, usize, u64, CUstream)
        );
        let call = function!("cuLaunchHostFunc_v2": fn(CUstream, extern "C" fn(*mut u32), *mut u32, u32));
        let (pool, set) = (
            function!("cuMemGetDefaultMemPool": fn(*mut sys::CUmemoryPool, *mut Place, u32)),
            function!("cuMemSetMemPool": fn(*mut Place, u32, sys::CUmemoryPool)),
        );
        let (mut stream, mut managed, mut wanted, mut got) = (null_mut(), 0, null_mut(), null_mut());
        returns! {
            cuStreamCreate(&mut stream, 1) => CUDA_SUCCESS;
            cuMemAllocManaged(&mut managed, 2 << 20, 1) => CUDA_SUCCESS;
            cuDeviceGetDefaultMemPool(&mut wanted, 0) => CUDA_SUCCESS;
        }
        // SAFETY: the memory is longer, and nothing uses it.
        unsafe { std::ptr::with_exposed_provenance_mut::<[u32; 4]>(managed as usize).write([1, 2, 3, 4]) };
        let (mut targets, mut sources, mut sizes) = ([managed + 64, managed + 96], [managed, managed + 8], [8usize, 4]);
        let (mut how, mut indices) = (CopyAttributes { order: 1, ends: [0; 4], flags: 0 }, [0usize]);
        let (targets, sources, sizes) = (targets.as_mut_ptr(), sources.as_mut_ptr(), sizes.as_mut_ptr());
        gives!(copies(targets, sources, sizes, 2, &mut how, indices.as_mut_ptr(), 1, stream) => CUDA_SUCCESS);
        gives!(copies(targets, sources, sizes, 2, &mut how, indices.as_mut_ptr(), 0, stream) => CUDA_ERROR_INVALID_VALUE);
        gives!(copy(managed + 72, managed + 12, 4, &mut how, stream) => CUDA_SUCCESS);

        let mut places = [Place { kind: 1, id: 0 }, Place { kind: 2, id: 0 }];
        for (mut starts, count) in [([0, 1], 2), ([0, 0], 2), ([1, 2], 2), ([0, 2], 2), ([0, 1], 3)] {
            // SAFETY: there are two places and two ranges.
            let got = unsafe { prefetch(sources, sizes, 2, places.as_mut_ptr(), starts.as_mut_ptr(), count, 0, stream) };
            assert_eq!(got == CUresult::CUDA_SUCCESS, (starts, count) == ([0, 1], 2), "{starts:?} {count}");
        }

        extern "C" fn count(calls: *mut u32) {
            // SAFETY: the test passes its own counter, which only this function changes until the stream is waited for.
            unsafe { *calls += 1 };
        }
        let mut calls = 0;
        gives!(call(stream, count, &mut calls, 1) => CUDA_SUCCESS);
        gives!(call(stream, count, &mut calls, 2) => CUDA_ERROR_INVALID_VALUE);
        gives!(pool(&mut got, &mut places[0], 1) => CUDA_SUCCESS);
        gives!(set(&mut places[0], 1, got) => CUDA_SUCCESS);
        gives!(pool(&mut null_mut(), &mut places[1], 1) => CUDA_ERROR_NOT_SUPPORTED);
        returns! { cuStreamSynchronize(stream) => CUDA_SUCCESS; }
        assert_eq!((calls, got), (1, wanted));
        // SAFETY: the copies are complete, and the memory is longer.
        let copied = unsafe { std::ptr::with_exposed_provenance::<[u32; 9]>(managed as usize + 64).read() };
        assert_eq!([copied[0], copied[1], copied[2], copied[8]], [1, 2, 4, 3]);
    });
}

#[test]
fn settings_of_core_dumps_read_back() {
    in_own_process(|| {
        raw_context();
        let get = function!("cuCoredumpGetAttribute": fn(u32, *mut c_void, *mut usize));
        let get_global = function!("cuCoredumpGetAttributeGlobal": fn(u32, *mut c_void, *mut usize));
        let set = function!("cuCoredumpSetAttribute": fn(u32, *mut c_void, *mut usize));
        const ENABLE_ON_EXCEPTION: u32 = 1;
        const FILE: u32 = 5;
        let (mut enabled, mut size) = (9u8, 1);
        gives!(get(ENABLE_ON_EXCEPTION, (&raw mut enabled).cast(), &mut size) => CUDA_SUCCESS);
        assert_eq!(enabled, 0);
        let mut name = *b"dump\0";
        size = name.len();
        gives!(set(FILE, name.as_mut_ptr().cast(), &mut size) => CUDA_SUCCESS);
        let mut found = [0u8; 1024];
        size = found.len();
        gives!(get(FILE, found.as_mut_ptr().cast(), &mut size) => CUDA_SUCCESS);
        assert_eq!(found[..5], name);
        size = found.len();
        gives!(get_global(FILE, found.as_mut_ptr().cast(), &mut size) => CUDA_SUCCESS);
        assert!(!found.starts_with(&name), "that of the process is not changed");
        size = 0;
        gives!(get(99, null_mut(), &mut size) => CUDA_ERROR_INVALID_VALUE);
    });
}

#[test]
fn a_context_goes_when_it_was_detached_as_often_as_attached() {
    let context = raw_context();
    let mut again = null_mut();
    returns! { cuCtxAttach(&mut again, 0) => CUDA_SUCCESS; }
    assert_eq!(again, context);
    returns! {
        cuCtxDetach(context) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
        cuCtxDetach(context) => CUDA_SUCCESS;
    }
    assert_ne!(cu!(cuCtxSynchronize()), OK);
}
