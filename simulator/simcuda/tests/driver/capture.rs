//! Stream capture: what becomes a node, how streams fork and join, and what is refused meanwhile.
//!
//! A capture in global mode forbids calls to all threads of the process, so each test of that mode has a process of its own.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use cudarc::driver::sys;
use cudarc::driver::sys::CUgraphNodeType::*;
use cudarc::driver::sys::CUresult::*;
use cudarc::driver::sys::CUstreamCaptureMode::{
    CU_STREAM_CAPTURE_MODE_GLOBAL as GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED as RELAXED,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL as THREAD_LOCAL,
};
use cudarc::driver::sys::CUstreamCaptureStatus::{
    CU_STREAM_CAPTURE_STATUS_ACTIVE as ACTIVE, CU_STREAM_CAPTURE_STATUS_INVALIDATED as INVALIDATED,
    CU_STREAM_CAPTURE_STATUS_NONE as NONE,
};

use crate::graph_support::{
    Bench, Values, WORDS, chain, edges, empty_graph, end, end_in_vain, fails, function_of, mixed, node_type, nodes, note, status,
};
use crate::support::{OK, cu, in_own_process, own_context, returns};

/// Makes a stream that the legacy stream does not wait for.
fn free_stream() -> sys::CUstream {
    let mut stream = null_mut();
    returns! { cuStreamCreate(&mut stream, 1) => CUDA_SUCCESS; }
    stream
}

fn event() -> sys::CUevent {
    let mut event = null_mut();
    returns! { cuEventCreate(&mut event, 2) => CUDA_SUCCESS; }
    event
}

/// Makes one stream wait for another.
fn join(waiting: sys::CUstream, recorded: sys::CUstream) {
    let event = event();
    returns! {
        cuEventRecord(event, recorded) => CUDA_SUCCESS;
        cuStreamWaitEvent(waiting, event, 0) => CUDA_SUCCESS;
        cuEventDestroy_v2(event) => CUDA_SUCCESS;
    }
}

#[test]
fn every_way_to_enqueue_makes_a_node() {
    let bench = Bench::new();
    let stream = bench.stream;
    let calls = AtomicU32::new(0);
    let mut values = Values::new(bench.word(2), [1, 2, 3]);
    // A capture cannot copy memory that is not pinned on every driver.
    let (mut from, mut to) = (null_mut::<c_void>(), null_mut::<c_void>());
    returns! {
        cuMemHostAlloc(&mut from, 8, 0) => CUDA_SUCCESS;
        cuMemHostAlloc(&mut to, 8, 0) => CUDA_SUCCESS;
    }
    let (host, back): (*mut [u32; 2], *mut [u32; 2]) = (from.cast(), to.cast());
    // SAFETY: both point to 8 bytes that no other thread uses, and the device only uses them during a launch.
    let (set_host, get_back) = (|value| unsafe { host.write(value) }, || unsafe { back.read() });
    set_host([5, 5]);
    // SAFETY: all fields of the structure may be zero, once the types of memory are set.
    let mut rows: sys::CUDA_MEMCPY2D = unsafe {
        let mut rows = std::mem::MaybeUninit::<sys::CUDA_MEMCPY2D>::zeroed();
        (&raw mut (*rows.as_mut_ptr()).srcMemoryType).write(sys::CUmemorytype::CU_MEMORYTYPE_DEVICE);
        (&raw mut (*rows.as_mut_ptr()).dstMemoryType).write(sys::CUmemorytype::CU_MEMORYTYPE_DEVICE);
        rows.assume_init()
    };
    (rows.srcDevice, rows.dstDevice, rows.WidthInBytes, rows.Height) = (bench.word(0), bench.word(8), 4, 2);
    (rows.srcPitch, rows.dstPitch) = (4, 4);
    let config = sys::CUlaunchConfig {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream,
        attrs: null_mut(),
        numAttrs: 0,
    };
    let word = |index| bench.word(index);
    returns! {
        cuStreamBeginCapture_v2(stream, THREAD_LOCAL) => CUDA_SUCCESS;
        cuMemcpyHtoDAsync_v2(word(0), from, 8, stream) => CUDA_SUCCESS;
        cuMemcpyDtoDAsync_v2(word(3), word(0), 4, stream) => CUDA_SUCCESS;
        cuMemcpyAsync(word(4), word(0), 4, stream) => CUDA_SUCCESS;
        cuMemcpy2DAsync_v2(&rows, stream) => CUDA_SUCCESS;
        cuMemcpy3DAsync_v2(&bench.memcpy(6, 0), stream) => CUDA_SUCCESS;
        cuMemsetD8Async(word(10), 1, 4, stream) => CUDA_SUCCESS;
        cuMemsetD16Async(word(11), 2, 2, stream) => CUDA_SUCCESS;
        cuMemsetD32Async(word(12), 3, 1, stream) => CUDA_SUCCESS;
        cuMemsetD2D32Async(word(13), 4, 4, 1, 2, stream) => CUDA_SUCCESS;
        cuLaunchKernel(bench.mixed, 1, 1, 1, 1, 1, 1, 0, stream, values.pointers(), null_mut()) => CUDA_SUCCESS;
        cuLaunchKernelEx(&config, bench.count, null_mut(), null_mut()) => CUDA_SUCCESS;
        cuLaunchCooperativeKernel(bench.count, 1, 1, 1, 1, 1, 1, 0, stream, null_mut()) => CUDA_SUCCESS;
        cuLaunchHostFunc(stream, Some(note), (&raw const calls).cast_mut().cast()) => CUDA_SUCCESS;
        cuMemcpyDtoHAsync_v2(to, word(0), 8, stream) => CUDA_SUCCESS;
    }
    // The kernel's parameters are copied: this comes too late.
    values = Values::new(bench.word(2), [9, 9, 9]);
    values.pointers();
    let graph = end(stream);
    let types: Vec<_> = chain(graph).into_iter().map(node_type).collect();
    let expected = [
        [CU_GRAPH_NODE_TYPE_MEMCPY; 5].as_slice(),
        &[CU_GRAPH_NODE_TYPE_MEMSET; 4],
        &[CU_GRAPH_NODE_TYPE_KERNEL; 3],
        &[CU_GRAPH_NODE_TYPE_HOST, CU_GRAPH_NODE_TYPE_MEMCPY],
    ];
    assert_eq!(types, expected.concat());
    assert_eq!((bench.read(0), calls.load(SeqCst)), (0, 0), "nothing has run");
    let executable = bench.instantiate(graph);
    for launches in 1..=2 {
        let [first, second] = [6 + launches, 5];
        set_host([first, second]);
        bench.launch(executable);
        let words: Vec<u32> = (0..WORDS).map(|index| bench.read(index)).collect();
        let fills = [0x0101_0101, 0x0002_0002, 3, 4, 4];
        let expected =
            [[first, second, mixed([1, 2, 3])].as_slice(), &[first, first, 0, first, 0, first, second], &fills, &[0]].concat();
        assert_eq!((words, calls.load(SeqCst), get_back()), (expected, launches, [first, second]));
    }
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn streams_fork_and_join() {
    let bench = Bench::new();
    let (main, side) = (bench.stream, free_stream());
    returns! {
        cuStreamBeginCapture_v2(main, THREAD_LOCAL) => CUDA_SUCCESS;
        cuMemsetD32Async(bench.word(0), 1, 1, main) => CUDA_SUCCESS;
    }
    assert_eq!((status(main), status(side)), (ACTIVE, NONE));
    join(side, main);
    assert_eq!(status(side), ACTIVE);
    returns! {
        cuMemcpyDtoDAsync_v2(bench.word(1), bench.word(0), 4, side) => CUDA_SUCCESS;
        cuMemcpyDtoDAsync_v2(bench.word(2), bench.word(0), 4, main) => CUDA_SUCCESS;
    }
    join(main, side);
    returns! { cuMemsetD32Async(bench.word(0), 2, 1, main) => CUDA_SUCCESS; }
    let graph = end(main);
    assert_eq!((status(main), status(side)), (NONE, NONE));
    assert_eq!((nodes(graph).len(), edges(graph).len()), (4, 4));
    bench.launch(bench.instantiate(graph));
    assert_eq!([0, 1, 2].map(|index| bench.read(index)), [2, 1, 1]);
    returns! {
        cuMemsetD32Async(bench.word(3), 5, 1, side) => CUDA_SUCCESS;
        cuStreamSynchronize(side) => CUDA_SUCCESS;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn work_that_is_not_joined_makes_no_graph() {
    let bench = Bench::new();
    let (main, side) = (bench.stream, free_stream());
    returns! { cuStreamBeginCapture_v2(main, THREAD_LOCAL) => CUDA_SUCCESS; }
    join(side, main);
    returns! { cuMemsetD32Async(bench.word(1), 1, 1, side) => CUDA_SUCCESS; }
    assert_eq!(end_in_vain(main), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    assert_eq!((status(side), bench.read(1)), (NONE, 0));
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn a_capture_can_be_looked_at() {
    let bench = Bench::new();
    let (mut found, mut id, mut graph) = (NONE, 0, null_mut());
    let (mut dependencies, mut count) = (null(), 0);
    let mut info = |stream| {
        returns! {
            cuStreamGetCaptureInfo_v2(stream, &mut found, &mut id, &mut graph, &mut dependencies, &mut count) => CUDA_SUCCESS;
        }
        if count == 0 {
            return (found, id, graph, Vec::new());
        }
        // SAFETY: the driver wrote the address and the length of an array that lives until the stream is used again.
        let dependencies = unsafe { std::slice::from_raw_parts(dependencies, count) }.to_vec();
        (found, id, graph, dependencies)
    };
    assert_eq!(info(bench.stream).0, NONE);
    returns! {
        cuStreamBeginCapture_v2(bench.stream, RELAXED) => CUDA_SUCCESS;
        cuMemsetD32Async(bench.word(0), 1, 1, bench.stream) => CUDA_SUCCESS;
    }
    let (found, id, target, dependencies) = info(bench.stream);
    assert_eq!((found, dependencies), (ACTIVE, nodes(target)));
    assert_eq!(info(bench.stream).1, id, "a capture has one number");
    // A node of the program's own goes between what is captured.
    let own = bench.add_memset(target, &nodes(target), 1, 1);
    returns! {
        cuStreamUpdateCaptureDependencies(bench.stream, [own].as_mut_ptr(), 1, 1) => CUDA_SUCCESS;
        cuMemsetD32Async(bench.word(2), 1, 1, bench.stream) => CUDA_SUCCESS;
    }
    let graph = end(bench.stream);
    assert_eq!((graph, chain(graph)[1]), (target, own));
    returns! {
        cuStreamUpdateCaptureDependencies(bench.stream, null_mut(), 0, 1) => CUDA_ERROR_ILLEGAL_STATE;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn the_legacy_stream_cannot_be_used_while_a_blocking_stream_is_captured() {
    let bench = Bench::new();
    let mut found = NONE;
    returns! {
        cuStreamBeginCapture_v2(null_mut(), RELAXED) => CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        cuStreamBeginCapture_v2(bench.stream, RELAXED) => CUDA_SUCCESS;
        cuStreamIsCapturing(null_mut(), &mut found) => CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    assert_eq!(status(bench.stream), ACTIVE, "a question does not invalidate");
    returns! { cuMemsetD32Async(bench.word(0), 1, 1, null_mut()) => CUDA_ERROR_STREAM_CAPTURE_IMPLICIT; }
    assert_eq!(status(bench.stream), INVALIDATED);
    assert_eq!(end_in_vain(bench.stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    // The legacy stream does not wait for other streams.
    let stream = free_stream();
    returns! {
        cuStreamBeginCapture_v2(stream, RELAXED) => CUDA_SUCCESS;
        cuMemsetD32Async(bench.word(0), 1, 1, null_mut()) => CUDA_SUCCESS;
    }
    end(stream);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn waiting_for_a_capture_invalidates_it() {
    let bench = Bench::new();
    let event = event();
    type Wait = fn(&Bench, sys::CUevent) -> sys::CUresult;
    let waits: [(&str, Wait, sys::CUresult); 5] = [
        ("synchronize", |bench, _| cu!(cuStreamSynchronize(bench.stream)), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
        ("query", |bench, _| cu!(cuStreamQuery(bench.stream)), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
        ("context", |_, _| cu!(cuCtxSynchronize()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
        ("event query", |_, event| cu!(cuEventQuery(event)), CUDA_ERROR_CAPTURED_EVENT),
        ("event synchronize", |_, event| cu!(cuEventSynchronize(event)), CUDA_ERROR_CAPTURED_EVENT),
    ];
    for (what, wait, expected) in waits {
        returns! {
            cuStreamBeginCapture_v2(bench.stream, RELAXED) => CUDA_SUCCESS;
            cuEventRecord(event, bench.stream) => CUDA_SUCCESS;
        }
        assert_eq!(wait(&bench, event), expected, "{what}");
        assert_eq!(status(bench.stream), INVALIDATED, "{what}");
        returns! { cuMemsetD32Async(bench.word(0), 1, 1, bench.stream) => CUDA_ERROR_STREAM_CAPTURE_INVALIDATED; }
        assert_eq!(end_in_vain(bench.stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "{what}");
    }
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn calls_that_no_capture_sees_depend_on_the_mode() {
    in_own_process(|| {
        let bench = Bench::new();
        let mut address = 0;
        for (mode, own, other) in [
            (GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
            (THREAD_LOCAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, OK),
            (RELAXED, OK, OK),
        ] {
            for (on_own_thread, expected) in [(true, own), (false, other)] {
                let context = bench.context as usize;
                returns! { cuStreamBeginCapture_v2(bench.stream, mode) => CUDA_SUCCESS; }
                let got = if on_own_thread {
                    cu!(cuMemAlloc_v2(&mut address, 64))
                } else {
                    let allocate = move || {
                        returns! { cuCtxSetCurrent(context as sys::CUcontext) => CUDA_SUCCESS; }
                        cu!(cuMemAlloc_v2(&mut 0, 64))
                    };
                    std::thread::spawn(allocate).join().unwrap()
                };
                assert_eq!(got, expected, "{mode:?}, {on_own_thread}");
                if expected == OK {
                    end(bench.stream);
                } else {
                    assert_eq!(end_in_vain(bench.stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
                }
            }
        }
        // A thread can say that it knows what it does.
        let mut mode = RELAXED;
        returns! {
            cuThreadExchangeStreamCaptureMode(&mut mode) => CUDA_SUCCESS;
            cuStreamBeginCapture_v2(bench.stream, GLOBAL) => CUDA_SUCCESS;
            cuMemAlloc_v2(&mut address, 64) => CUDA_SUCCESS;
        }
        assert_eq!(mode, GLOBAL, "the mode of a thread at first");
        end(bench.stream);
        returns! { cuThreadExchangeStreamCaptureMode(&mut mode) => CUDA_SUCCESS; }
        assert_eq!(mode, RELAXED);
        returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
    });
}

#[test]
fn a_capture_ends_where_it_began() {
    let bench = Bench::new();
    let (stream, side) = (bench.stream as usize, free_stream());
    let mut graph = null_mut();
    returns! {
        cuStreamEndCapture(bench.stream, &mut graph) => CUDA_ERROR_ILLEGAL_STATE;
        cuStreamBeginCapture_v2(bench.stream, THREAD_LOCAL) => CUDA_SUCCESS;
    }
    fails! { cuStreamBeginCapture_v2(bench.stream, THREAD_LOCAL); }
    let _ = cu!(cuStreamEndCapture(bench.stream, &mut graph));
    returns! { cuStreamBeginCapture_v2(bench.stream, THREAD_LOCAL) => CUDA_SUCCESS; }
    let context = bench.context as usize;
    let elsewhere = std::thread::spawn(move || {
        returns! { cuCtxSetCurrent(context as sys::CUcontext) => CUDA_SUCCESS; }
        cu!(cuStreamEndCapture(stream as sys::CUstream, &mut null_mut()))
    });
    assert_eq!(elsewhere.join().unwrap(), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    assert_eq!(status(bench.stream), NONE, "it has ended it");
    returns! { cuStreamBeginCapture_v2(bench.stream, THREAD_LOCAL) => CUDA_SUCCESS; }
    join(side, bench.stream);
    returns! { cuStreamEndCapture(side, &mut graph) => CUDA_ERROR_STREAM_CAPTURE_UNMATCHED; }
    let _ = cu!(cuStreamEndCapture(bench.stream, &mut graph));
    // In relaxed mode, any thread ends it.
    returns! { cuStreamBeginCapture_v2(bench.stream, RELAXED) => CUDA_SUCCESS; }
    let elsewhere = std::thread::spawn(move || {
        returns! { cuCtxSetCurrent(context as sys::CUcontext) => CUDA_SUCCESS; }
        cu!(cuStreamEndCapture(stream as sys::CUstream, &mut null_mut()))
    });
    assert_eq!(elsewhere.join().unwrap(), OK);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn captures_do_not_merge() {
    let bench = Bench::new();
    let (other, event) = (free_stream(), event());
    returns! {
        cuStreamBeginCapture_v2(bench.stream, RELAXED) => CUDA_SUCCESS;
        cuStreamBeginCapture_v2(other, RELAXED) => CUDA_SUCCESS;
        cuEventRecord(event, bench.stream) => CUDA_SUCCESS;
        cuStreamWaitEvent(other, event, 0) => CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    assert_eq!(end_in_vain(bench.stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_eq!(end_in_vain(other), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn a_capture_does_not_depend_on_other_work() {
    let bench = Bench::new();
    let (other, event) = (free_stream(), event());
    returns! {
        cuEventRecord(event, other) => CUDA_SUCCESS;
        cuStreamBeginCapture_v2(bench.stream, RELAXED) => CUDA_SUCCESS;
        cuStreamWaitEvent(bench.stream, event, 0) => CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    assert_eq!(end_in_vain(bench.stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    // Unless the program says that the event is none of the capture.
    returns! {
        cuStreamBeginCapture_v2(bench.stream, RELAXED) => CUDA_SUCCESS;
        cuStreamWaitEvent(bench.stream, event, 1) => CUDA_SUCCESS;
        cuEventRecordWithFlags(event, bench.stream, 1) => CUDA_SUCCESS;
    }
    let graph = end(bench.stream);
    let types: Vec<_> = chain(graph).into_iter().map(node_type).collect();
    assert_eq!(types, [CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_EVENT_RECORD]);
    bench.launch(bench.instantiate(graph));
    returns! {
        cuEventSynchronize(event) => CUDA_SUCCESS;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn memory_in_stream_order_becomes_nodes() {
    let bench = Bench::new();
    let mut address = 0;
    returns! {
        cuStreamBeginCapture_v2(bench.stream, THREAD_LOCAL) => CUDA_SUCCESS;
        cuMemAllocAsync(&mut address, 4, bench.stream) => CUDA_SUCCESS;
        cuMemsetD32Async(address, 9, 1, bench.stream) => CUDA_SUCCESS;
        cuMemcpyDtoDAsync_v2(bench.word(0), address, 4, bench.stream) => CUDA_SUCCESS;
        cuMemFreeAsync(address, bench.stream) => CUDA_SUCCESS;
    }
    let graph = end(bench.stream);
    let types: Vec<_> = chain(graph).into_iter().map(node_type).collect();
    assert_eq!((types[0], types[3]), (CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE));
    let executable = bench.instantiate(graph);
    bench.launch(executable);
    bench.launch(executable);
    assert_eq!(bench.read(0), 9);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn a_launch_of_a_graph_and_a_copy_between_devices_are_not_captured() {
    let bench = Bench::new();
    let inner = empty_graph();
    bench.add_memset(inner, &[], 0, 3);
    let executable = bench.instantiate(inner);
    let mut graph = null_mut();
    returns! {
        cuStreamBeginCapture_v2(bench.stream, THREAD_LOCAL) => CUDA_SUCCESS;
        cuGraphLaunch(executable, bench.stream) => CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    let _ = cu!(cuStreamEndCapture(bench.stream, &mut graph));
    let (to, from) = (bench.word(1), bench.word(0));
    returns! {
        cuStreamBeginCapture_v2(bench.stream, THREAD_LOCAL) => CUDA_SUCCESS;
        cuMemcpyPeerAsync(to, bench.context, from, bench.context, 4, bench.stream) => CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    let _ = cu!(cuStreamEndCapture(bench.stream, &mut graph));
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn what_no_graph_can_contain_is_refused() {
    let bench = Bench::new();
    let mut managed = 0;
    returns! {
        cuMemAllocManaged(&mut managed, 64, 1) => CUDA_SUCCESS;
        cuStreamBeginCapture_v2(bench.stream, RELAXED) => CUDA_SUCCESS;
    }
    fails! { cuStreamAttachMemAsync(bench.stream, managed, 0, 4); }
    let _ = cu!(cuStreamEndCapture(bench.stream, &mut null_mut()));
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn a_capture_can_add_to_a_graph() {
    type BeginToGraph = unsafe extern "C" fn(
        sys::CUstream,
        sys::CUgraph,
        *const sys::CUgraphNode,
        *const c_void,
        usize,
        sys::CUstreamCaptureMode,
    ) -> sys::CUresult;
    let bench = Bench::new();
    let Some(found) = function_of(12030, c"cuStreamBeginCaptureToGraph") else { return };
    // SAFETY: the function with this name has this type in CUDA 12.3.
    let begin: BeginToGraph = unsafe { std::mem::transmute(found) };
    let graph = empty_graph();
    let first = bench.add_memset(graph, &[], 0, 3);
    // SAFETY: the pointers are to live variables, or null where CUDA allows it.
    assert_eq!(unsafe { begin(bench.stream, graph, &first, null(), 1, THREAD_LOCAL) }, OK);
    returns! { cuMemcpyDtoDAsync_v2(bench.word(1), bench.word(0), 4, bench.stream) => CUDA_SUCCESS; }
    assert_eq!(end(bench.stream), graph);
    assert_eq!((chain(graph)[0], nodes(graph).len()), (first, 2));
    bench.launch(bench.instantiate(graph));
    assert_eq!(bench.read(1), 3);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn the_stream_of_a_thread_can_be_captured() {
    let bench = Bench::new();
    let own = 2 as sys::CUstream;
    returns! {
        cuStreamBeginCapture_v2(own, THREAD_LOCAL) => CUDA_SUCCESS;
        cuMemsetD32Async(bench.word(0), 4, 1, own) => CUDA_SUCCESS;
    }
    bench.launch(bench.instantiate(end(own)));
    assert_eq!(bench.read(0), 4);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn cudarc_captures_and_launches() {
    let context = own_context();
    // SAFETY: the test uses one stream, so there is nothing to track.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream().unwrap();
    let mut data = stream.clone_htod(&[1u32; 4]).unwrap();
    stream.synchronize().unwrap();
    stream.begin_capture(THREAD_LOCAL).unwrap();
    stream.memset_zeros(&mut data).unwrap();
    let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0)).unwrap().unwrap();
    for value in [1, 2] {
        stream.memcpy_htod(&[value; 4], &mut data).unwrap();
        assert_eq!(stream.clone_dtoh(&data).unwrap(), [value; 4]);
        graph.launch().unwrap();
        assert_eq!(stream.clone_dtoh(&data).unwrap(), [0; 4]);
    }
}
