//! Operations of streams on values in memory: writing a value, and waiting for one.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUdeviceptr, CUresult, CUstream};

use crate::support::{INCREMENT, OK, cu, in_own_process, on_gpu, raw_context, raw_function, returns, with_simulator};

/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: u32 = 1;

fn stream() -> CUstream {
    let mut stream = null_mut();
    returns! { cuStreamCreate(&mut stream, NON_BLOCKING) => CUDA_SUCCESS; }
    stream
}

fn words(values: &[u32]) -> CUdeviceptr {
    let mut address = 0;
    returns! {
        cuMemAlloc_v2(&mut address, values.len() * 4) => CUDA_SUCCESS;
        cuMemcpyHtoD_v2(address, values.as_ptr().cast(), values.len() * 4) => CUDA_SUCCESS;
        // A stream that does not block does not wait for this copy.
        cuStreamSynchronize(null_mut()) => CUDA_SUCCESS;
    }
    address
}

fn read(address: CUdeviceptr, count: usize) -> Vec<u32> {
    let mut words = vec![0u32; count];
    returns! { cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), address, count * 4) => CUDA_SUCCESS; }
    words
}

/// Launches a kernel that adds 1 to `n` words.
fn increment(address: CUdeviceptr, n: u32, stream: CUstream) {
    let (_, function) = raw_function(INCREMENT, c"increment");
    let (mut address, mut n) = (address, n);
    let mut arguments = [(&raw mut address).cast(), (&raw mut n).cast()];
    returns! {
        cuLaunchKernel(function, n.div_ceil(32), 1, 1, 32, 1, 1, 0, stream, arguments.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
    }
}

/// Returns memory of the host that the device can access: where the host and where the device finds it.
fn pinned() -> (&'static AtomicU32, CUdeviceptr) {
    let (mut host, mut device) = (null_mut::<c_void>(), 0);
    returns! {
        cuMemHostAlloc(&mut host, 4, 2) => CUDA_SUCCESS;
        cuMemHostGetDevicePointer_v2(&mut device, host, 0) => CUDA_SUCCESS;
    }
    // SAFETY: the memory is 4 bytes long and aligned, and no test frees it.
    let word = unsafe { &*host.cast::<AtomicU32>() };
    word.store(0, Ordering::SeqCst);
    (word, device)
}

#[test]
fn values_are_written_in_the_order_of_the_stream() {
    in_own_process(|| {
        raw_context();
        let (stream, memory) = (stream(), words(&[0; 8]));
        returns! {
            cuStreamWriteValue32_v2(stream, memory, 7, 0) => CUDA_SUCCESS;
            cuStreamWaitValue32_v2(stream, memory, 7, 1) => CUDA_SUCCESS;
        }
        increment(memory, 1, stream);
        returns! {
            cuStreamWaitValue32_v2(stream, memory, 8, 0) => CUDA_SUCCESS;
            cuStreamWriteValue64_v2(stream, memory + 8, 0x1122_3344_5566_7788, 0) => CUDA_SUCCESS;
            cuStreamWaitValue64_v2(stream, memory + 8, 0x1122_3344_5566_7788, 1) => CUDA_SUCCESS;
            cuStreamSynchronize(stream) => CUDA_SUCCESS;
        }
        assert_eq!(read(memory, 4), [8, 0, 0x5566_7788, 0x1122_3344]);
    });
}

#[test]
fn a_stream_waits_for_what_another_stream_writes_later() {
    in_own_process(|| {
        raw_context();
        let ([first, second], memory, flag) = ([stream(), stream()], words(&[0; 4]), words(&[0]));
        let mut event = null_mut();
        // Loaded before, because loading may have to wait for the device.
        increment(memory, 4, second);
        returns! {
            cuEventCreate(&mut event, 2) => CUDA_SUCCESS;
            cuStreamSynchronize(second) => CUDA_SUCCESS;
            cuStreamWaitValue32_v2(first, flag, 5, 0) => CUDA_SUCCESS;
            cuMemsetD32Async(memory, 20, 4, first) => CUDA_SUCCESS;
            cuEventRecord(event, first) => CUDA_SUCCESS;
            cuStreamQuery(first) => CUDA_ERROR_NOT_READY;
            cuEventQuery(event) => CUDA_ERROR_NOT_READY;
            cuStreamQuery(second) => CUDA_SUCCESS;
            cuMemsetD32Async(memory, 10, 4, second) => CUDA_SUCCESS;
            cuStreamWriteValue32_v2(second, flag, 4, 0) => CUDA_SUCCESS;
            cuStreamSynchronize(second) => CUDA_SUCCESS;
            cuStreamQuery(first) => CUDA_ERROR_NOT_READY;
            cuStreamWriteValue32_v2(second, flag, 5, 0) => CUDA_SUCCESS;
            cuEventSynchronize(event) => CUDA_SUCCESS;
            cuStreamQuery(first) => CUDA_SUCCESS;
        }
        assert_eq!(read(memory, 4), [20; 4], "the first stream did its work after the second");
    });
}

#[test]
fn a_stream_that_waits_for_an_event_waits_for_what_the_event_waits_for() {
    in_own_process(|| {
        raw_context();
        let ([first, second, third], memory, flag) = ([stream(), stream(), stream()], words(&[0; 4]), words(&[0]));
        let mut event = null_mut();
        returns! {
            cuEventCreate(&mut event, 2) => CUDA_SUCCESS;
            cuStreamWaitValue32_v2(first, flag, 1, 1) => CUDA_SUCCESS;
            cuMemsetD32Async(memory, 1, 4, first) => CUDA_SUCCESS;
            cuEventRecord(event, first) => CUDA_SUCCESS;
            cuStreamWaitEvent(second, event, 0) => CUDA_SUCCESS;
            cuMemsetD32Async(memory, 2, 2, second) => CUDA_SUCCESS;
            cuStreamQuery(second) => CUDA_ERROR_NOT_READY;
            cuStreamWriteValue32_v2(third, flag, 1, 0) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
        }
        assert_eq!(read(memory, 4), [2, 2, 1, 1]);
    });
}

/// Calls nothing between the host's own write and the device's answer.
#[test]
fn a_stream_waits_for_what_the_host_writes() {
    in_own_process(|| {
        raw_context();
        let (stream, (question, asked), (answer, answered)) = (stream(), pinned(), pinned());
        returns! {
            cuStreamWaitValue32_v2(stream, asked, 3, 1) => CUDA_SUCCESS;
            cuStreamWriteValue32_v2(stream, answered, 4, 0) => CUDA_SUCCESS;
            cuStreamQuery(stream) => CUDA_ERROR_NOT_READY;
        }
        question.store(3, Ordering::SeqCst);
        let start = Instant::now();
        while answer.load(Ordering::SeqCst) != 4 && start.elapsed() < Duration::from_secs(30) {
            std::thread::yield_now();
        }
        assert_eq!(answer.load(Ordering::SeqCst), 4);
        returns! { cuStreamSynchronize(stream) => CUDA_SUCCESS; }
    });
}

#[test]
fn the_default_stream_waits_for_blocking_streams_that_wait() {
    in_own_process(|| {
        raw_context();
        let (mut blocking, memory, flag) = (null_mut(), words(&[0; 4]), words(&[0]));
        let writer = stream();
        returns! {
            cuStreamCreate(&mut blocking, 0) => CUDA_SUCCESS;
            cuStreamWaitValue32_v2(blocking, flag, 1, 1) => CUDA_SUCCESS;
            cuMemsetD32Async(memory, 1, 4, blocking) => CUDA_SUCCESS;
            cuMemsetD32Async(memory, 2, 2, null_mut()) => CUDA_SUCCESS;
            cuStreamQuery(null_mut()) => CUDA_ERROR_NOT_READY;
            cuStreamWriteValue32_v2(writer, flag, 1, 0) => CUDA_SUCCESS;
        }
        assert_eq!(read(memory, 4), [2, 2, 1, 1], "a copy that is not asynchronous waits as well");
    });
}

fn operation(kind: u32, address: CUdeviceptr, value: u64, flags: u32) -> sys::CUstreamBatchMemOpParams {
    // SAFETY: the union is made of numbers only.
    let mut operation: sys::CUstreamBatchMemOpParams = unsafe { std::mem::zeroed() };
    // SAFETY: the pad is as large as the union; the numbers are where the structure of a wait or a write has them.
    unsafe {
        operation.pad[0] = kind.into();
        operation.pad[1] = address;
        operation.pad[2] = value;
        operation.pad[3] = flags.into();
    }
    operation
}

#[test]
fn a_batch_is_executed_in_order_in_a_stream_and_in_a_graph() {
    in_own_process(|| {
        let context = raw_context();
        let (stream, memory) = (stream(), words(&[0; 4]));
        let mut batch = [operation(2, memory, 9, 0), operation(1, memory, 9, 1), operation(5, memory + 8, 1 << 32, 0)];
        returns! {
            cuStreamBatchMemOp_v2(stream, 3, batch.as_mut_ptr(), 0) => CUDA_SUCCESS;
            cuStreamSynchronize(stream) => CUDA_SUCCESS;
            cuStreamBatchMemOp_v2(stream, 3, batch.as_mut_ptr(), 1) => CUDA_ERROR_INVALID_VALUE;
            cuStreamBatchMemOp_v2(stream, 256, batch.as_mut_ptr(), 0) => CUDA_ERROR_INVALID_VALUE;
        }
        assert_eq!(read(memory, 4), [9, 0, 0, 1]);

        let (mut graph, mut node, mut executable) = (null_mut(), null_mut(), null_mut());
        let mut next = [operation(2, memory, 11, 0), operation(2, memory + 4, 12, 0)];
        let mut last = [operation(2, memory, 9, 0), operation(2, memory + 4, 12, 0)];
        let parameters = |operations: &mut [sys::CUstreamBatchMemOpParams]| sys::CUDA_BATCH_MEM_OP_NODE_PARAMS {
            ctx: context,
            count: operations.len() as u32,
            paramArray: operations.as_mut_ptr(),
            flags: 0,
        };
        let mut found = parameters(&mut []);
        returns! {
            cuGraphCreate(&mut graph, 0) => CUDA_SUCCESS;
            cuGraphAddBatchMemOpNode(&mut node, graph, std::ptr::null(), 0, &parameters(&mut batch)) => CUDA_SUCCESS;
            cuGraphBatchMemOpNodeSetParams(node, &parameters(&mut next)) => CUDA_SUCCESS;
            cuGraphBatchMemOpNodeGetParams(node, &mut found) => CUDA_SUCCESS;
            cuGraphInstantiateWithFlags(&mut executable, graph, 0) => CUDA_SUCCESS;
            cuGraphLaunch(executable, stream) => CUDA_SUCCESS;
            cuStreamSynchronize(stream) => CUDA_SUCCESS;
        }
        assert_eq!(found.count, 2);
        assert_eq!(read(memory, 4), [11, 12, 0, 1]);
        returns! {
            cuGraphExecBatchMemOpNodeSetParams(executable, node, &parameters(&mut batch)) => CUDA_ERROR_INVALID_VALUE;
            cuGraphExecBatchMemOpNodeSetParams(executable, node, &parameters(&mut last)) => CUDA_SUCCESS;
            cuGraphLaunch(executable, stream) => CUDA_SUCCESS;
            cuStreamSynchronize(stream) => CUDA_SUCCESS;
            cuGraphExecDestroy(executable) => CUDA_SUCCESS;
            cuGraphDestroy(graph) => CUDA_SUCCESS;
        }
        assert_eq!(read(memory, 2), [9, 12]);
    });
}

#[test]
fn a_graph_waits_in_the_middle() {
    in_own_process(|| {
        raw_context();
        let ([waiting, writing], memory, flag) = ([stream(), stream()], words(&[0; 4]), words(&[0]));
        let (mut graph, mut executable) = (null_mut(), null_mut());
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        returns! {
            cuStreamBeginCapture_v2(waiting, mode) => CUDA_SUCCESS;
            cuMemsetD32Async(memory, 1, 4, waiting) => CUDA_SUCCESS;
            cuStreamWaitValue32_v2(waiting, flag, 1, 0) => CUDA_SUCCESS;
            cuMemsetD32Async(memory, 2, 2, waiting) => CUDA_SUCCESS;
            cuStreamEndCapture(waiting, &mut graph) => CUDA_SUCCESS;
            cuGraphInstantiateWithFlags(&mut executable, graph, 0) => CUDA_SUCCESS;
            cuGraphLaunch(executable, waiting) => CUDA_SUCCESS;
            cuStreamQuery(waiting) => CUDA_ERROR_NOT_READY;
            cuStreamWriteValue32_v2(writing, flag, 1, 0) => CUDA_SUCCESS;
            cuStreamSynchronize(waiting) => CUDA_SUCCESS;
        }
        assert_eq!(read(memory, 4), [2, 2, 1, 1]);
    });
}

#[test]
fn wrong_addresses_and_flags_are_refused() {
    in_own_process(|| {
        raw_context();
        let (stream, memory) = (stream(), words(&[0; 4]));
        returns! {
            cuStreamWriteValue32_v2(stream, memory + 2, 1, 0) => CUDA_ERROR_INVALID_VALUE;
            cuStreamWriteValue32_v2(stream, 0, 1, 0) => CUDA_ERROR_INVALID_VALUE;
            cuStreamWaitValue32_v2(stream, memory, 1, 64) => CUDA_ERROR_INVALID_VALUE;
        }
        if !on_gpu() {
            let flush = 1 << 30;
            returns! { cuStreamWaitValue32_v2(stream, memory, 0, flush) => CUDA_ERROR_NOT_SUPPORTED; }
        }
    });
}

/// Runs on the simulator only, because a GPU waits forever.
#[test]
fn a_wait_that_nothing_ends_is_an_error_that_says_so() {
    with_simulator(|simulator| {
        simulator.set_patience(1).unwrap();
        let context = raw_context();
        let (stream, memory) = (stream(), words(&[3]));
        returns! {
            cuStreamWaitValue32_v2(stream, memory, 5, 1) => CUDA_SUCCESS;
            cuStreamSynchronize(stream) => CUDA_ERROR_LAUNCH_TIMEOUT;
        }
        let reason = simulator.take_error().unwrap().unwrap();
        let expected = format!(
            "a stream waits for a value of 4 bytes at {memory:#x} that is equal to 0x5; it is 0x3, and nothing changes that"
        );
        assert_eq!(reason, expected);
        assert_eq!(cu!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
        // Another context is not affected.
        returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
        raw_context();
        let memory = words(&[1]);
        assert_eq!(read(memory, 1), [1]);
        assert_eq!(cu!(cuCtxSynchronize()), OK);
    });
}
