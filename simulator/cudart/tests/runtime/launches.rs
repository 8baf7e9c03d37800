//! Launches, and what can be asked about kernels, streams and events.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use crate::support::*;

api! {
    fn cudaLaunchCooperativeKernel(
        kernel: usize, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: Stream,
    );
    fn cudaLaunchKernelExC(config: *const Config, kernel: usize, arguments: *mut *mut c_void);
    fn cudaOccupancyMaxActiveClusters(clusters: &mut i32, kernel: usize, config: &Config);
    fn cudaOccupancyMaxPotentialClusterSize(size: &mut i32, kernel: usize, config: &Config);
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks: &mut i32, kernel: usize, threads: i32, shared: usize);
    fn cudaOccupancyAvailableDynamicSMemPerBlock(bytes: &mut usize, kernel: usize, blocks: i32, threads: i32);
    fn cudaFuncGetAttributes(attributes: &mut Attributes, kernel: usize);
    fn cudaFuncSetAttribute(kernel: usize, attribute: u32, value: i32);
    fn cudaFuncGetName(name: &mut *const c_char, kernel: usize);
    fn cudaFuncGetParamInfo(kernel: usize, index: usize, offset: &mut usize, bytes: &mut usize);
    fn cudaFuncGetParamCount(kernel: usize, count: &mut usize);
    fn cudaLaunchHostFunc_v2(stream: Stream, function: extern "C" fn(&mut u32), data: &mut u32, waiting: u32);
    fn cudaDeviceSetLimit(limit: u32, value: usize);
    fn cudaDeviceGetLimit(value: &mut usize, limit: u32);
    fn cudaDeviceGetStreamPriorityRange(least: &mut i32, greatest: &mut i32);
    fn cudaStreamCreateWithPriority(stream: &mut Stream, flags: u32, priority: i32);
    fn cudaStreamGetPriority(stream: Stream, priority: &mut i32);
    fn cudaStreamGetFlags(stream: Stream, flags: &mut u32);
    fn cudaStreamSetAttribute(stream: Stream, attribute: u32, value: &[u32; 16]);
    fn cudaStreamGetAttribute(stream: Stream, attribute: u32, value: &mut [u32; 16]);
    fn cudaStreamCopyAttributes(target: Stream, source: Stream);
    fn cudaStreamDestroy(stream: Stream);
    fn cudaEventCreate(event: &mut usize);
    fn cudaEventCreateWithFlags(event: &mut usize, flags: u32);
    fn cudaEventRecord(event: usize, stream: Stream);
    fn cudaEventElapsedTime(milliseconds: &mut f32, start: usize, end: usize);
    fn cudaGetDriverEntryPointByVersion(name: *const c_char, function: &mut usize, version: u32, flags: u64, status: &mut u32);
    fn cudaLibraryGetKernelCount(count: &mut u32, library: usize);
    fn cudaLibraryEnumerateKernels(kernels: *mut usize, count: u32, library: usize);
    fn cudaLibraryUnload(library: usize);
    fn cudaKernelSetAttributeForDevice(kernel: usize, attribute: u32, value: i32, device: i32);
}

/// `cudaLaunchConfig_t`
#[repr(C)]
pub struct Config {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Stream,
    attributes: *const LaunchAttribute,
    attribute_count: u32,
}

/// `cudaLaunchAttribute`
#[repr(C, align(8))]
pub struct LaunchAttribute {
    id: u32,
    padding: u32,
    value: [u32; 16],
}

/// `cudaFuncAttributes`, up to what is asked here.
#[repr(C)]
#[derive(Default)]
pub struct Attributes {
    bytes: [usize; 3],
    max_threads: i32,
    registers: i32,
    versions: [i32; 2],
    cache_mode: i32,
    max_dynamic_shared: i32,
    rest: [i32; 24],
}

/// `cudaFuncAttributeMaxDynamicSharedMemorySize`
const MAX_DYNAMIC_SHARED: u32 = 8;
/// `cudaLaunchAttributeClusterDimension`, `_SynchronizationPolicy`
const CLUSTER: u32 = 4;
const POLICY: u32 = 3;

/// `out[block]` is the block's rank in its cluster.
const RANKS: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry ranks(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %cluster_ctarank;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r2;
    ret;
}";

fn config(grid: u32, block: u32, shared: usize, attributes: &[LaunchAttribute]) -> Config {
    let attribute_count = attributes.len() as u32;
    Config { grid: Dim3(grid, 1, 1), block: Dim3(block, 1, 1), shared, stream: 0, attributes: attributes.as_ptr(), attribute_count }
}

fn cluster(blocks: u32) -> LaunchAttribute {
    let mut value = [0; 16];
    value[..3].copy_from_slice(&[blocks, 1, 1]);
    LaunchAttribute { id: CLUSTER, padding: 0, value }
}

/// Returns pointers to arguments of 64 bits.
fn pointers(arguments: &mut [u64]) -> Vec<*mut c_void> {
    arguments.iter_mut().map(|argument| (&raw mut *argument).cast()).collect()
}

#[test]
fn blocks_of_a_cooperative_launch_must_be_resident_at_once() {
    let (increment, words) = (kernel(INCREMENT, c"increment"), on_device(&[1_u32; 64]));
    let mut arguments = [words, 64];
    let mut arguments = pointers(&mut arguments);
    returns! {
        cudaLaunchCooperativeKernel(increment, Dim3(2, 1, 1), Dim3(32, 1, 1), arguments.as_mut_ptr(), 0, 0) => OK;
        cudaDeviceSynchronize() => OK;
        // `cudaErrorCooperativeLaunchTooLarge`
        cudaLaunchCooperativeKernel(increment, Dim3(1000, 1, 1), Dim3(1024, 1, 1), arguments.as_mut_ptr(), 0, 0) => 720;
        cudaLaunchCooperativeKernel(increment, Dim3(1, 1, 1), Dim3(2000, 1, 1), arguments.as_mut_ptr(), 0, 0) => 9;
    }
    assert_eq!(back::<u32>(words, 64), [2; 64]);
}

#[test]
fn blocks_of_a_cluster_have_ranks() {
    let (ranks, out) = (kernel(RANKS, c"ranks"), on_device(&[9_u32; 8]));
    let mut arguments = [out];
    let mut arguments = pointers(&mut arguments);
    let (of_four, of_three, of_twenty) = ([cluster(4)], [cluster(3)], [cluster(20)]);
    let (mut clusters, mut size) = (0, 0);
    returns! {
        cudaLaunchKernelExC(&config(8, 1, 0, &of_four), ranks, arguments.as_mut_ptr()) => OK;
        cudaDeviceSynchronize() => OK;
        // `cudaErrorInvalidClusterSize`: a cluster has at most 8 blocks, and the grid must be a multiple of it.
        cudaLaunchKernelExC(&config(20, 1, 0, &of_twenty), ranks, arguments.as_mut_ptr()) => 912;
        cudaLaunchKernelExC(&config(8, 1, 0, &of_three), ranks, arguments.as_mut_ptr()) => 912;
        cudaLaunchKernelExC(std::ptr::null(), ranks, arguments.as_mut_ptr()) => INVALID_VALUE;
        cudaOccupancyMaxActiveClusters(&mut clusters, ranks, &config(8, 1024, 0, &of_four)) => OK;
        cudaOccupancyMaxPotentialClusterSize(&mut size, ranks, &config(8, 1024, 0, &[])) => OK;
    }
    assert_eq!(back::<u32>(out, 8), [0, 1, 2, 3, 0, 1, 2, 3]);
    assert!(clusters > 0 && size == 8, "{clusters} {size}");
}

#[test]
fn a_kernel_is_described_and_takes_more_shared_memory_if_it_is_told_to() {
    let increment = kernel(INCREMENT, c"increment");
    let (mut found, mut name, mut blocks, mut bytes) = (Attributes::default(), std::ptr::null(), 0, 0);
    let (mut offset, mut size, mut count) = (0, 0, 0);
    returns! {
        cudaFuncGetAttributes(&mut found, increment) => OK;
        cudaFuncGetName(&mut name, increment) => OK;
        cudaFuncGetParamInfo(increment, 1, &mut offset, &mut size) => OK;
        cudaFuncGetParamCount(increment, &mut count) => OK;
        cudaFuncGetParamInfo(increment, 2, &mut offset, &mut size) => INVALID_VALUE;
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, increment, 1024, 0) => OK;
        cudaOccupancyAvailableDynamicSMemPerBlock(&mut bytes, increment, 2, 1024) => OK;
    }
    // SAFETY: the runtime returns a text that lives as long as the kernel.
    let name = unsafe { CStr::from_ptr(name) };
    assert_eq!((name, offset, size, count, blocks), (c"increment", 8, 4, 2, 2));
    assert_eq!((found.max_threads, found.max_dynamic_shared, found.bytes[0]), (1024, 49152, 0));
    assert!(bytes >= 49152 && found.registers > 0, "{bytes}");
    let mut arguments = [on_device(&[1_u32]), 1];
    let mut arguments = pointers(&mut arguments);
    returns! {
        cudaLaunchKernelExC(&config(1, 1, 100_000, &[]), increment, arguments.as_mut_ptr()) => INVALID_VALUE;
        cudaFuncSetAttribute(increment, MAX_DYNAMIC_SHARED, 100_000) => OK;
        cudaLaunchKernelExC(&config(1, 1, 100_000, &[]), increment, arguments.as_mut_ptr()) => OK;
        cudaFuncGetAttributes(&mut found, increment) => OK;
        cudaFuncSetAttribute(increment, MAX_DYNAMIC_SHARED, 1 << 30) => INVALID_VALUE;
        cudaFuncSetAttribute(increment, 99, 0) => INVALID_VALUE;
        cudaKernelSetAttributeForDevice(increment, MAX_DYNAMIC_SHARED, 50_000, 0) => OK;
        cudaKernelSetAttributeForDevice(increment, MAX_DYNAMIC_SHARED, 50_000, 1) => INVALID_DEVICE;
        cudaFuncGetAttributes(&mut found, 12345) => INVALID_DEVICE_FUNCTION;
    }
    assert_eq!(found.max_dynamic_shared, 100_000);
}

#[test]
fn a_library_lists_its_kernels() {
    let text = std::ffi::CString::new(INCREMENT).unwrap();
    let (mut library, mut count, mut kernels, mut kernel) = (0, 0, [0; 2], 0);
    returns! {
        cudaLibraryLoadData(&mut library, text.as_ptr(), 0, 0, 0, 0, 0, 0) => OK;
        cudaLibraryGetKernelCount(&mut count, library) => OK;
        cudaLibraryEnumerateKernels(kernels.as_mut_ptr(), 2, library) => OK;
        cudaLibraryGetKernel(&mut kernel, library, c"peek".as_ptr()) => OK;
    }
    assert!(count == 2 && kernels.contains(&kernel));
    returns! {
        // `cudaErrorSymbolNotFound`, and PTX that is none.
        cudaLibraryGetKernel(&mut kernel, library, c"none".as_ptr()) => 500;
        cudaLibraryUnload(library) => OK;
        cudaLibraryUnload(library) => INVALID_RESOURCE_HANDLE;
        cudaLibraryLoadData(&mut library, c"text".as_ptr(), 0, 0, 0, 0, 0, 0) => 200;
    }
}

#[test]
fn streams_have_priorities_and_attributes() {
    let (mut least, mut greatest, mut stream, mut other) = (9, 9, 0, 0);
    let (mut priority, mut flags, mut value) = (9, 9, [0; 16]);
    let mut policy = [0; 16];
    // `cudaSyncPolicyYield`
    policy[0] = 3;
    returns! {
        cudaDeviceGetStreamPriorityRange(&mut least, &mut greatest) => OK;
        cudaStreamCreateWithPriority(&mut stream, 1, greatest) => OK;
        cudaStreamGetPriority(stream, &mut priority) => OK;
        cudaStreamGetFlags(stream, &mut flags) => OK;
        cudaStreamCreate(&mut other) => OK;
        cudaStreamSetAttribute(stream, POLICY, &policy) => OK;
        cudaStreamCopyAttributes(other, stream) => OK;
        cudaStreamGetAttribute(other, POLICY, &mut value) => OK;
    }
    assert!(greatest < least && priority == greatest && flags == 1 && value[0] == 3, "{greatest} {priority} {flags} {value:?}");
    extern "C" fn add(sum: &mut u32) {
        *sum += 5;
    }
    let mut sum = 1;
    returns! {
        cudaLaunchHostFunc_v2(stream, add, &mut sum, 1) => OK;
        cudaStreamSynchronize(stream) => OK;
        cudaLaunchHostFunc_v2(stream, add, &mut sum, 2) => INVALID_VALUE;
    }
    assert_eq!(sum, 6);
    returns! {
        cudaStreamCreateWithPriority(&mut other, 2, 0) => INVALID_VALUE;
        cudaStreamSetAttribute(stream, 99, &policy) => INVALID_VALUE;
        cudaStreamDestroy(stream) => OK;
        cudaStreamGetPriority(stream, &mut priority) => INVALID_RESOURCE_HANDLE;
    }
}

#[test]
fn events_measure_time_if_they_may() {
    let (mut events, mut without, mut time) = ([0; 2], 0, -1.0);
    returns! {
        cudaEventCreate(&mut events[0]) => OK;
        cudaEventCreate(&mut events[1]) => OK;
        cudaEventElapsedTime(&mut time, events[0], events[1]) => INVALID_RESOURCE_HANDLE;
        cudaEventRecord(events[0], 0) => OK;
    }
    launch(kernel(INCREMENT, c"increment"), Dim3(1, 1, 1), Dim3(1, 1, 1), &mut [on_device(&[1_u32]), 1]);
    returns! {
        cudaEventRecord(events[1], 0) => OK;
        cudaDeviceSynchronize() => OK;
        cudaEventElapsedTime(&mut time, events[0], events[1]) => OK;
        // `cudaEventDisableTiming`
        cudaEventCreateWithFlags(&mut without, 2) => OK;
        cudaEventRecord(without, 0) => OK;
        cudaEventElapsedTime(&mut 0.0, events[0], without) => INVALID_RESOURCE_HANDLE;
    }
    assert!(time > 0.0, "{time}");
}

#[test]
fn limits_are_set_and_functions_of_the_driver_are_found() {
    // `cudaLimitPrintfFifoSize`
    let (mut size, mut function, mut status) = (0, 0, 9);
    returns! {
        cudaDeviceSetLimit(1, 1 << 22) => OK;
        cudaDeviceGetLimit(&mut size, 1) => OK;
        cudaDeviceGetLimit(&mut 0, 99) => INVALID_VALUE;
        cudaGetDriverEntryPointByVersion(c"cuDriverGetVersion".as_ptr(), &mut function, 12000, 0, &mut status) => OK;
    }
    assert_eq!((size, status), (1 << 22, 0));
    // SAFETY: the driver's function of this name has this type.
    let get: extern "C" fn(&mut i32) -> u32 = unsafe { std::mem::transmute(function) };
    let mut version = 0;
    assert_eq!(get(&mut version), 0);
    assert!(version >= 13000, "{version}");
    returns! {
        cudaGetDriverEntryPointByVersion(null_mut(), &mut function, 12000, 0, &mut status) => INVALID_VALUE;
        cudaGetDriverEntryPointByVersion(c"cuNone".as_ptr(), &mut function, 12000, 0, &mut status) => OK;
    }
    // `cudaDriverEntryPointSymbolNotFound`
    assert_eq!((function, status), (0, 1));
}
