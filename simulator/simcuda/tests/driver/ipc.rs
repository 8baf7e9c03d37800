//! Memory and events that several processes share.

use std::process::Command;
use std::ptr::null_mut;

use cudarc::driver::sys;

use crate::support::{INCREMENT, OK, cu, garbage, in_own_process, raw_context, raw_function, returns};

/// The variable that tells the other process what to do.
const TOLD: &str = "SIMCUDA_TEST_IPC";

/// Starts the named test again in another process, which sees [`TOLD`].
fn other_process(test: &str, told: &str) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.args(["--exact", test, "--nocapture"]).env(TOLD, told).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    text
}

fn to_hex(bytes: &[std::ffi::c_char]) -> String {
    bytes.iter().map(|byte| format!("{:02x}", *byte as u8)).collect()
}

fn from_hex(text: &str) -> [std::ffi::c_char; 64] {
    std::array::from_fn(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap() as std::ffi::c_char)
}

fn read(address: sys::CUdeviceptr, count: usize) -> Vec<u32> {
    let mut words = vec![0u32; count];
    returns! { cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), address, count * 4) => CUDA_SUCCESS; }
    words
}

/// Adds 1 to each of `n` words.
fn increment(address: sys::CUdeviceptr, n: u32) {
    let (_, function) = raw_function(INCREMENT, c"increment");
    let (mut address, mut n) = (address, n);
    let mut arguments = [(&raw mut address).cast(), (&raw mut n).cast()];
    returns! {
        cuLaunchKernel(function, n.div_ceil(32), 1, 1, 32, 1, 1, 0, null_mut(), arguments.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
    }
}

#[test]
fn two_processes_use_the_same_memory() {
    if let Ok(told) = std::env::var(TOLD) {
        let _context = raw_context();
        let (mut address, mut again) = (0, 0);
        let handle = sys::CUipcMemHandle { reserved: from_hex(&told) };
        returns! {
            cuIpcOpenMemHandle_v2(&mut address, handle, 0) => CUDA_ERROR_INVALID_VALUE;
            cuIpcOpenMemHandle_v2(&mut address, handle, 1) => CUDA_SUCCESS;
            cuIpcOpenMemHandle_v2(&mut again, handle, 1) => CUDA_SUCCESS;
        }
        assert_eq!(address, again, "opened twice, memory has one address");
        assert_eq!(read(address, 100), (0..100).map(|i| i * 3).collect::<Vec<u32>>());
        increment(address, 100);
        returns! {
            cuIpcCloseMemHandle(address) => CUDA_SUCCESS;
        }
        assert_eq!(read(address, 1), [1], "still open once");
        returns! {
            cuIpcCloseMemHandle(address) => CUDA_SUCCESS;
            cuIpcCloseMemHandle(address) => CUDA_ERROR_INVALID_VALUE;
        }
        return;
    }
    in_own_process(|| {
        let _context = raw_context();
        let (mut address, mut opened) = (0, 0);
        let mut handle = sys::CUipcMemHandle { reserved: [0; 64] };
        let words: Vec<u32> = (0..100).map(|i| i * 3).collect();
        returns! {
            cuMemAlloc_v2(&mut address, 400) => CUDA_SUCCESS;
            cuMemcpyHtoD_v2(address, words.as_ptr().cast(), 400) => CUDA_SUCCESS;
            cuIpcGetMemHandle(null_mut(), address) => CUDA_ERROR_INVALID_VALUE;
            cuIpcGetMemHandle(&mut handle, address) => CUDA_SUCCESS;
        }
        assert_eq!(read(address, 100), words, "sharing does not change the bytes");
        // The process that exports memory cannot open it.
        assert_ne!(cu!(cuIpcOpenMemHandle_v2(&mut opened, handle, 1)), OK);
        other_process("ipc::two_processes_use_the_same_memory", &to_hex(&handle.reserved));
        assert_eq!(read(address, 100), (0..100).map(|i| i * 3 + 1).collect::<Vec<u32>>(), "the kernel of the other process wrote");
        increment(address, 100);
        assert_eq!(read(address, 2), [2, 5]);
        returns! { cuMemFree_v2(address) => CUDA_SUCCESS; }
    });
}

#[test]
fn memory_that_is_not_from_cu_mem_alloc_cannot_be_shared() {
    let context = raw_context();
    let (mut managed, mut handle) = (0, sys::CUipcMemHandle { reserved: [0; 64] });
    returns! {
        cuMemAllocManaged(&mut managed, 400, 1) => CUDA_SUCCESS;
        cuIpcGetMemHandle(&mut handle, managed) => CUDA_ERROR_INVALID_VALUE;
        cuMemFree_v2(managed) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn two_processes_use_the_same_event() {
    if let Ok(told) = std::env::var(TOLD) {
        let _context = raw_context();
        let mut event = null_mut();
        let handle = sys::CUipcEventHandle { reserved: from_hex(&told) };
        returns! {
            cuIpcOpenEventHandle(&mut event, handle) => CUDA_SUCCESS;
            cuEventSynchronize(event) => CUDA_SUCCESS;
            cuEventQuery(event) => CUDA_SUCCESS;
            cuStreamWaitEvent(null_mut(), event, 0) => CUDA_SUCCESS;
            cuEventRecord(event, null_mut()) => CUDA_SUCCESS;
            cuEventDestroy_v2(event) => CUDA_SUCCESS;
        }
        return;
    }
    in_own_process(|| {
        let _context = raw_context();
        let mut event = null_mut();
        let mut handle = sys::CUipcEventHandle { reserved: [0; 64] };
        // `CU_EVENT_INTERPROCESS` without and with `CU_EVENT_DISABLE_TIMING`
        returns! {
            cuEventCreate(&mut event, 4) => CUDA_ERROR_INVALID_VALUE;
            cuEventCreate(&mut event, 6) => CUDA_SUCCESS;
            cuEventRecord(event, null_mut()) => CUDA_SUCCESS;
            cuIpcGetEventHandle(&mut handle, event) => CUDA_SUCCESS;
        }
        other_process("ipc::two_processes_use_the_same_event", &to_hex(&handle.reserved));
        returns! {
            cuEventSynchronize(event) => CUDA_SUCCESS;
            cuEventDestroy_v2(event) => CUDA_SUCCESS;
        }
    });
}

/// Skips GPUs, whose driver may follow what it is given.
#[test]
fn handles_that_nobody_made_are_refused() {
    if crate::support::on_gpu() {
        return;
    }
    let context = raw_context();
    let (mut address, mut event) = (0, null_mut());
    returns! {
        cuIpcOpenMemHandle_v2(&mut address, sys::CUipcMemHandle { reserved: [7; 64] }, 1) => CUDA_ERROR_INVALID_HANDLE;
        cuIpcOpenEventHandle(&mut event, sys::CUipcEventHandle { reserved: [7; 64] }) => CUDA_ERROR_INVALID_HANDLE;
        cuIpcGetEventHandle(&mut sys::CUipcEventHandle { reserved: [0; 64] }, garbage()) => CUDA_ERROR_INVALID_HANDLE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}
