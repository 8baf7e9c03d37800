//! Graphs that a program makes node by node: structure, parameters, executable graphs.

use std::collections::BTreeSet;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use cudarc::driver::sys;
use cudarc::driver::sys::CUgraphExecUpdateResult::*;
use cudarc::driver::sys::CUgraphNodeType::*;

use crate::graph_support::{Bench, Values, edges, empty_graph, fails, function_of, mixed, node_type, nodes, note};
use crate::support::{FAULTS, OK, cu, in_own_process, on_gpu, raw_context, raw_function, returns, with_simulator};

#[test]
fn nodes_run_after_what_they_depend_on_at_every_launch() {
    let bench = Bench::new();
    let graph = empty_graph();
    let calls = AtomicU32::new(0);
    let host = sys::CUDA_HOST_NODE_PARAMS { fn_: Some(note), userData: (&raw const calls).cast_mut().cast() };
    // Added from the last to the first, and connected afterward.
    let last = bench.add_memcpy(graph, &[], 2, 1);
    let middle = bench.add_memcpy(graph, &[], 1, 0);
    let first = bench.add_mixed(graph, &[], 0, [1, 2, 3]);
    let mut call = null_mut();
    returns! {
        cuGraphAddHostNode(&mut call, graph, &last, 1, &host) => CUDA_SUCCESS;
        cuGraphAddDependencies(graph, [first, middle].as_ptr(), [middle, last].as_ptr(), 2) => CUDA_SUCCESS;
    }
    let executable = bench.instantiate(graph);
    assert_eq!((bench.read(0), calls.load(SeqCst)), (0, 0), "nothing runs before the launch");
    // The executable graph does not need the graph any more.
    returns! { cuGraphDestroy(graph) => CUDA_SUCCESS; }
    for launches in 1..=2 {
        bench.launch(executable);
        assert_eq!((bench.read(2), calls.load(SeqCst)), (mixed([1, 2, 3]), launches));
        returns! { cuMemsetD32_v2(bench.words, 0, 3) => CUDA_SUCCESS; }
    }
    returns! {
        cuGraphUpload(executable, bench.stream) => CUDA_SUCCESS;
        cuGraphExecDestroy(executable) => CUDA_SUCCESS;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn the_structure_can_be_listed() {
    let bench = Bench::new();
    let graph = empty_graph();
    let first = bench.add_memset(graph, &[], 0, 1);
    let left = bench.add_memset(graph, &[first], 1, 1);
    let right = bench.add_memset(graph, &[first], 2, 1);
    let mut last = null_mut();
    returns! { cuGraphAddEmptyNode(&mut last, graph, [left, right].as_ptr(), 2) => CUDA_SUCCESS; }
    let set = |nodes: &[sys::CUgraphNode]| nodes.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(set(&nodes(graph)), set(&[first, left, right, last]));
    let expected = BTreeSet::from([(first, left), (first, right), (left, last), (right, last)]);
    assert_eq!(edges(graph).into_iter().collect::<BTreeSet<_>>(), expected);
    // With more space than nodes, the rest is null.
    let (mut found, mut count) = ([first; 4], 4);
    returns! { cuGraphGetRootNodes(graph, found.as_mut_ptr(), &mut count) => CUDA_SUCCESS; }
    assert_eq!((found, count), ([first, null_mut(), null_mut(), null_mut()], 1));
    let mut count = 4;
    returns! { cuGraphNodeGetDependencies(last, found.as_mut_ptr(), &mut count) => CUDA_SUCCESS; }
    assert_eq!((set(&found[..2]), count), (set(&[left, right]), 2));
    let mut count = 9;
    returns! { cuGraphNodeGetDependentNodes(first, null_mut(), &mut count) => CUDA_SUCCESS; }
    assert_eq!(count, 2);
    let types = [first, last].map(node_type);
    assert_eq!(types, [CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_EMPTY]);
    returns! {
        cuGraphDestroyNode(left) => CUDA_SUCCESS;
        cuGraphRemoveDependencies(graph, &right, &last, 1) => CUDA_SUCCESS;
    }
    assert_eq!(edges(graph), [(first, right)]);
    returns! {
        cuGraphDestroy(graph) => CUDA_SUCCESS;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn edges_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    let (graph, other) = (empty_graph(), empty_graph());
    let first = bench.add_memset(graph, &[], 0, 1);
    let second = bench.add_memset(graph, &[first], 1, 1);
    let stranger = bench.add_memset(other, &[], 2, 1);
    let mut node = null_mut();
    returns! {
        cuGraphAddEmptyNode(&mut node, graph, [first, first].as_ptr(), 2) => CUDA_ERROR_INVALID_VALUE;
        cuGraphAddEmptyNode(&mut node, graph, &stranger, 1) => CUDA_ERROR_INVALID_VALUE;
        cuGraphAddEmptyNode(null_mut(), graph, null(), 0) => CUDA_ERROR_INVALID_VALUE;
        cuGraphAddDependencies(graph, &first, &second, 1) => CUDA_ERROR_INVALID_VALUE;
        cuGraphAddDependencies(graph, &first, &stranger, 1) => CUDA_ERROR_INVALID_VALUE;
        cuGraphAddDependencies(graph, null(), null(), 0) => CUDA_SUCCESS;
        cuGraphRemoveDependencies(graph, &second, &first, 1) => CUDA_ERROR_INVALID_VALUE;
        cuGraphCreate(&mut null_mut(), 1) => CUDA_ERROR_INVALID_VALUE;
        cuGraphCreate(null_mut(), 0) => CUDA_ERROR_INVALID_VALUE;
    }
    // A cycle is refused when it is made, or when the graph is instantiated.
    let made = cu!(cuGraphAddDependencies(graph, &second, &first, 1));
    let mut executable = null_mut();
    if made == OK {
        fails! { cuGraphInstantiateWithFlags(&mut executable, graph, 0); }
    }
    returns! {
        cuGraphDestroy(graph) => CUDA_SUCCESS;
        cuGraphDestroy(other) => CUDA_SUCCESS;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn a_clone_is_independent_and_knows_its_nodes() {
    let bench = Bench::new();
    let graph = empty_graph();
    let first = bench.add_memset(graph, &[], 0, 1);
    let second = bench.add_memcpy(graph, &[first], 1, 0);
    let (mut clone, mut found) = (null_mut(), [null_mut(); 2]);
    returns! {
        cuGraphClone(&mut clone, graph) => CUDA_SUCCESS;
        cuGraphNodeFindInClone(&mut found[0], first, clone) => CUDA_SUCCESS;
        cuGraphNodeFindInClone(&mut found[1], second, clone) => CUDA_SUCCESS;
        cuGraphMemsetNodeSetParams(first, &bench.memset(0, 2)) => CUDA_SUCCESS;
    }
    assert_eq!(edges(clone), [(found[0], found[1])]);
    assert!(!nodes(graph).contains(&found[0]));
    let [original, cloned] = [graph, clone].map(|graph| bench.instantiate(graph));
    bench.launch(cloned);
    assert_eq!(bench.read(1), 1);
    bench.launch(original);
    assert_eq!(bench.read(1), 2);
    let new = bench.add_memset(graph, &[], 3, 1);
    returns! {
        cuGraphNodeFindInClone(&mut found[0], new, clone) => CUDA_ERROR_INVALID_VALUE;
        cuGraphDestroyNode(found[1]) => CUDA_SUCCESS;
        cuGraphNodeFindInClone(&mut found[0], second, clone) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn the_parameters_of_a_kernel_are_copied_and_can_be_changed() {
    let bench = Bench::new();
    let graph = empty_graph();
    let node = bench.add_mixed(graph, &[], 0, [1, 2, 3]);
    let mut read = Values::new(0, [0; 3]).launch(null_mut());
    returns! { cuGraphKernelNodeGetParams_v2(node, &mut read) => CUDA_SUCCESS; }
    assert_eq!((read.func, read.gridDimX, read.blockDimZ, read.sharedMemBytes), (bench.mixed, 1, 1, 0));
    // SAFETY: CUDA says that the array has one pointer for each parameter, to a value of the parameter's type.
    let (byte, word) = unsafe { (*(*read.kernelParams).cast::<u8>(), (*read.kernelParams.add(3)).cast::<u32>().read_unaligned()) };
    assert_eq!((byte, word), (1, 3));

    let executable = bench.instantiate(graph);
    let (mut second, mut third) = (Values::new(bench.word(0), [4, 5, 6]), Values::new(bench.word(0), [7, 8, 9]));
    returns! { cuGraphKernelNodeSetParams_v2(node, &second.launch(bench.mixed)) => CUDA_SUCCESS; }
    bench.launch(executable);
    assert_eq!(bench.read(0), mixed([1, 2, 3]), "the executable graph has what the node had when it was made");
    returns! { cuGraphExecKernelNodeSetParams_v2(executable, node, &third.launch(bench.mixed)) => CUDA_SUCCESS; }
    bench.launch(executable);
    assert_eq!(bench.read(0), mixed([7, 8, 9]));
    bench.launch(bench.instantiate(graph));
    assert_eq!(bench.read(0), mixed([4, 5, 6]), "the node itself has not changed");
    let mut copy = bench.memcpy(0, 1);
    returns! {
        cuGraphMemcpyNodeGetParams(node, &mut copy) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn a_kernel_needs_a_shape_when_its_node_is_made() {
    let bench = Bench::new();
    let (graph, mut node) = (empty_graph(), null_mut());
    let mut values = Values::new(bench.word(0), [1, 2, 3]);
    let mut kernel = values.launch(bench.mixed);
    kernel.gridDimX = 0;
    returns! {
        cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, &kernel) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn copies_and_fills_can_be_changed() {
    let bench = Bench::new();
    let graph = empty_graph();
    let fill = bench.add_memset(graph, &[], 0, 1);
    let copy = bench.add_memcpy(graph, &[fill], 1, 0);
    let (mut fill_read, mut copy_read) = (bench.memset(9, 9), bench.memcpy(9, 9));
    returns! {
        cuGraphMemsetNodeGetParams(fill, &mut fill_read) => CUDA_SUCCESS;
        cuGraphMemcpyNodeGetParams(copy, &mut copy_read) => CUDA_SUCCESS;
    }
    assert_eq!((fill_read.dst, fill_read.value, fill_read.elementSize, fill_read.width), (bench.word(0), 1, 4, 1));
    assert_eq!((copy_read.dstDevice, copy_read.srcDevice, copy_read.WidthInBytes), (bench.word(1), bench.word(0), 4));
    let executable = bench.instantiate(graph);
    returns! {
        cuGraphExecMemsetNodeSetParams(executable, fill, &bench.memset(0, 7), bench.context) => CUDA_SUCCESS;
        cuGraphExecMemcpyNodeSetParams(executable, copy, &bench.memcpy(2, 0), bench.context) => CUDA_SUCCESS;
    }
    bench.launch(executable);
    assert_eq!((bench.read(1), bench.read(2)), (0, 7));
    returns! {
        cuGraphMemcpyNodeSetParams(copy, &bench.memcpy(3, 0)) => CUDA_SUCCESS;
        cuGraphMemsetNodeSetParams(fill, &bench.memset(0, 8)) => CUDA_SUCCESS;
    }
    bench.launch(bench.instantiate(graph));
    assert_eq!(bench.read(3), 8);
    // An executable graph keeps the number of dimensions, and does not copy or fill nothing.
    let (mut two_rows, mut nothing) = (bench.memcpy(2, 0), bench.memcpy(2, 0));
    (two_rows.Height, two_rows.srcHeight, two_rows.dstHeight) = (2, 2, 2);
    nothing.WidthInBytes = 0;
    let mut odd_element = bench.memset(0, 1);
    odd_element.elementSize = 3;
    let mut node = null_mut();
    returns! {
        cuGraphExecMemcpyNodeSetParams(executable, copy, &two_rows, bench.context) => CUDA_ERROR_INVALID_VALUE;
        cuGraphExecMemcpyNodeSetParams(executable, copy, &nothing, bench.context) => CUDA_ERROR_INVALID_VALUE;
        cuGraphAddMemsetNode(&mut node, graph, null(), 0, &odd_element, bench.context) => CUDA_ERROR_INVALID_VALUE;
        cuGraphExecMemsetNodeSetParams(executable, copy, &bench.memset(0, 1), bench.context) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn host_functions_can_be_changed() {
    let bench = Bench::new();
    let graph = empty_graph();
    let counters = [const { AtomicU32::new(0) }; 2];
    let [first, second] = [0, 1]
        .map(|index| sys::CUDA_HOST_NODE_PARAMS { fn_: Some(note), userData: (&raw const counters[index]).cast_mut().cast() });
    let (mut node, mut read) = (null_mut(), second);
    returns! {
        cuGraphAddHostNode(&mut node, graph, null(), 0, &first) => CUDA_SUCCESS;
        cuGraphHostNodeGetParams(node, &mut read) => CUDA_SUCCESS;
    }
    assert_eq!((read.userData, node_type(node)), (first.userData, CU_GRAPH_NODE_TYPE_HOST));
    let executable = bench.instantiate(graph);
    bench.launch(executable);
    returns! { cuGraphExecHostNodeSetParams(executable, node, &second) => CUDA_SUCCESS; }
    bench.launch(executable);
    bench.launch(executable);
    assert_eq!(counters.each_ref().map(|counter| counter.load(SeqCst)), [1, 2]);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn nodes_can_be_disabled() {
    let bench = Bench::new();
    let graph = empty_graph();
    let node = bench.add_memset(graph, &[], 0, 5);
    let (mut empty, mut enabled) = (null_mut(), 9);
    returns! { cuGraphAddEmptyNode(&mut empty, graph, null(), 0) => CUDA_SUCCESS; }
    let executable = bench.instantiate(graph);
    returns! { cuGraphNodeSetEnabled(executable, node, 0) => CUDA_SUCCESS; }
    bench.launch(executable);
    assert_eq!(bench.read(0), 0);
    returns! {
        cuGraphNodeGetEnabled(executable, node, &mut enabled) => CUDA_SUCCESS;
        cuGraphNodeSetEnabled(executable, node, 1) => CUDA_SUCCESS;
        cuGraphNodeSetEnabled(executable, empty, 0) => CUDA_ERROR_INVALID_VALUE;
    }
    bench.launch(executable);
    assert_eq!((enabled, bench.read(0)), (0, 5));
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn an_executable_graph_is_updated_from_a_graph_of_the_same_shape() {
    let bench = Bench::new();
    let make = |value: u32, numbers: [u8; 3]| {
        let graph = empty_graph();
        let fill = bench.add_memset(graph, &[], 0, value);
        bench.add_mixed(graph, &[fill], 1, numbers);
        graph
    };
    let executable = bench.instantiate(make(1, [1, 1, 1]));
    let mut info =
        sys::CUgraphExecUpdateResultInfo { result: CU_GRAPH_EXEC_UPDATE_ERROR, errorNode: null_mut(), errorFromNode: null_mut() };
    returns! { cuGraphExecUpdate_v2(executable, make(2, [3, 4, 5]), &mut info) => CUDA_SUCCESS; }
    assert_eq!(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    bench.launch(executable);
    assert_eq!((bench.read(0), bench.read(1)), (2, mixed([3, 4, 5])));

    let larger = make(7, [7, 7, 7]);
    bench.add_memset(larger, &[], 2, 1);
    let unordered = empty_graph();
    bench.add_memset(unordered, &[], 0, 7);
    bench.add_mixed(unordered, &[], 1, [7, 7, 7]);
    let other_type = empty_graph();
    let fill = bench.add_memset(other_type, &[], 0, 7);
    bench.add_memcpy(other_type, &[fill], 1, 0);
    for (graph, expected) in [
        (larger, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED),
        (unordered, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED),
        (other_type, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED),
    ] {
        returns! { cuGraphExecUpdate_v2(executable, graph, &mut info) => CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE; }
        assert_eq!(info.result, expected);
    }
    bench.launch(executable);
    assert_eq!((bench.read(0), bench.read(1)), (2, mixed([3, 4, 5])), "an update that fails changes nothing");
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn a_graph_can_be_part_of_another() {
    let bench = Bench::new();
    let (outer, inner) = (empty_graph(), empty_graph());
    let fill = bench.add_memset(inner, &[], 0, 3);
    let (mut node, mut embedded) = (null_mut(), null_mut());
    returns! {
        cuGraphAddChildGraphNode(&mut node, outer, null(), 0, inner) => CUDA_SUCCESS;
        cuGraphChildGraphNodeGetGraph(node, &mut embedded) => CUDA_SUCCESS;
    }
    bench.add_memcpy(outer, &[node], 1, 0);
    assert_eq!(node_type(node), CU_GRAPH_NODE_TYPE_GRAPH);
    assert!(embedded != inner, "the graph is copied");
    returns! { cuGraphMemsetNodeSetParams(fill, &bench.memset(0, 4)) => CUDA_SUCCESS; }
    let executable = bench.instantiate(outer);
    bench.launch(executable);
    assert_eq!(bench.read(1), 3);
    // A change inside the node is one of the node.
    returns! { cuGraphMemsetNodeSetParams(nodes(embedded)[0], &bench.memset(0, 6)) => CUDA_SUCCESS; }
    bench.launch(bench.instantiate(outer));
    assert_eq!(bench.read(1), 6);
    returns! { cuGraphExecChildGraphNodeSetParams(executable, node, inner) => CUDA_SUCCESS; }
    bench.launch(executable);
    assert_eq!(bench.read(1), 4);
    returns! {
        cuGraphDestroy(outer) => CUDA_SUCCESS;
        cuGraphDestroy(inner) => CUDA_SUCCESS;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}

#[test]
fn nodes_record_events_and_wait_for_them() {
    let bench = Bench::new();
    let graph = empty_graph();
    let mut events = [null_mut(); 3];
    for event in &mut events {
        returns! { cuEventCreate(event, 0) => CUDA_SUCCESS; }
    }
    let (mut record, mut wait, mut end, mut read) = (null_mut(), null_mut(), null_mut(), null_mut());
    returns! {
        cuGraphAddEventRecordNode(&mut record, graph, null(), 0, events[0]) => CUDA_SUCCESS;
        cuGraphAddEventWaitNode(&mut wait, graph, &record, 1, events[1]) => CUDA_SUCCESS;
        cuGraphAddEventRecordNode(&mut end, graph, &wait, 1, events[0]) => CUDA_SUCCESS;
        cuGraphEventRecordNodeSetEvent(end, events[2]) => CUDA_SUCCESS;
        cuGraphEventRecordNodeGetEvent(end, &mut read) => CUDA_SUCCESS;
        cuEventRecord(events[1], null_mut()) => CUDA_SUCCESS;
    }
    assert_eq!(
        (read, node_type(wait), node_type(end)),
        (events[2], CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_EVENT_RECORD)
    );
    bench.launch(bench.instantiate(graph));
    let mut milliseconds = -1.0;
    returns! {
        cuEventSynchronize(events[2]) => CUDA_SUCCESS;
        cuEventElapsedTime(&mut milliseconds, events[0], events[2]) => CUDA_SUCCESS;
        cuGraphEventWaitNodeGetEvent(record, &mut read) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
    assert!(milliseconds >= 0.0);
}

#[test]
fn flags_say_how_a_graph_is_instantiated() {
    let bench = Bench::new();
    let graph = empty_graph();
    bench.add_memset(graph, &[], 0, 1);
    let (mut executable, mut flags, mut error) = (null_mut(), 9, null_mut());
    let mut parameters = sys::CUDA_GRAPH_INSTANTIATE_PARAMS {
        flags: 2,
        hUploadStream: bench.stream,
        hErrNode_out: null_mut(),
        result_out: sys::CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_ERROR,
    };
    returns! {
        cuGraphInstantiateWithFlags(&mut executable, graph, 1 | 8) => CUDA_SUCCESS;
        cuGraphExecGetFlags(executable, &mut flags) => CUDA_SUCCESS;
        cuGraphInstantiateWithFlags(&mut executable, graph, 1 | 4) => CUDA_ERROR_INVALID_VALUE;
        cuGraphInstantiateWithFlags(&mut executable, graph, 1 << 20) => CUDA_ERROR_INVALID_VALUE;
    }
    // What the name meant in CUDA 11.
    type Instantiate =
        unsafe extern "C" fn(*mut sys::CUgraphExec, sys::CUgraph, *mut sys::CUgraphNode, *mut c_char, usize) -> sys::CUresult;
    let found = function_of(11040, c"cuGraphInstantiate").unwrap();
    // SAFETY: the function with this name has this type in CUDA 11.4.
    let instantiate: Instantiate = unsafe { std::mem::transmute(found) };
    // SAFETY: the pointers are to live variables, or null where CUDA allows it.
    assert_eq!(unsafe { instantiate(&mut executable, graph, &mut error, null_mut(), 0) }, OK);
    bench.launch(executable);
    returns! { cuGraphInstantiateWithParams(&mut executable, graph, &mut parameters) => CUDA_SUCCESS; }
    bench.launch(executable);
    // How the nodes run is not told.
    assert_eq!((flags, bench.read(0)), (1, 1));
    assert_eq!(parameters.result_out, sys::CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS);
    returns! { cuGraphExecGetFlags(executable, &mut flags) => CUDA_SUCCESS; }
    assert_eq!(flags, 0, "an upload is not a property of the executable graph");
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn attributes_of_a_kernel_node_read_back_as_they_were_set() {
    use sys::CUlaunchAttributeID_enum::*;
    let bench = Bench::new();
    let graph = empty_graph();
    let [node, other] = [0, 1].map(|index| bench.add_mixed(graph, &[], index, [1, 1, 1]));
    // SAFETY: a union of plain numbers may be zero.
    let mut value: sys::CUlaunchAttributeValue = unsafe { std::mem::zeroed() };
    value.cooperative = 1;
    returns! {
        cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value) => CUDA_SUCCESS;
        cuGraphKernelNodeCopyAttributes(other, node) => CUDA_SUCCESS;
    }
    value.cooperative = 0;
    returns! { cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &mut value) => CUDA_SUCCESS; }
    // SAFETY: the driver wrote this member of the union.
    assert_eq!(unsafe { value.cooperative }, 1);
    let fill = bench.add_memset(graph, &[], 2, 1);
    fails! { cuGraphKernelNodeGetAttribute(fill, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &mut value); }
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn a_graph_keeps_the_programs_own_object_alive() {
    let bench = Bench::new();
    let destroyed = AtomicU32::new(0);
    let (mut object, graph) = (null_mut(), empty_graph());
    bench.add_memset(graph, &[], 0, 1);
    let data = (&raw const destroyed).cast_mut().cast();
    returns! {
        cuUserObjectCreate(&mut object, data, Some(note), 1, 0) => CUDA_ERROR_INVALID_VALUE;
        cuUserObjectCreate(&mut object, data, Some(note), 2, 1) => CUDA_SUCCESS;
        cuGraphRetainUserObject(graph, object, 1, 1) => CUDA_SUCCESS;
        cuUserObjectRetain(object, 0) => CUDA_ERROR_INVALID_VALUE;
        cuUserObjectRelease(object, 1) => CUDA_SUCCESS;
    }
    let executable = bench.instantiate(graph);
    returns! { cuGraphDestroy(graph) => CUDA_SUCCESS; }
    bench.launch(executable);
    assert_eq!(destroyed.load(SeqCst), 0, "the executable graph has a reference");
    returns! {
        cuGraphExecDestroy(executable) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
    }
    // A driver calls the function from a thread of its own, at a time of its own.
    for _ in 0..200 {
        if destroyed.load(SeqCst) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    assert_eq!(destroyed.load(SeqCst), 1);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn a_graph_can_be_drawn() {
    let bench = Bench::new();
    let graph = empty_graph();
    let fill = bench.add_memset(graph, &[], 0, 1);
    bench.add_mixed(graph, &[fill], 0, [1, 1, 1]);
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("graph.dot");
    let path = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
    returns! { cuGraphDebugDotPrint(graph, path.as_ptr(), 1) => CUDA_SUCCESS; }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("digraph") && text.contains("->") && text.contains("mixed"), "{text}");
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

/// `CUgraphNodeParams`, which the bindings for CUDA 12.0 do not have.
#[repr(C)]
struct NodeParams {
    node_type: u32,
    reserved: [i32; 3],
    union: [u64; 29],
    reserved2: i64,
}

#[test]
fn one_function_adds_nodes_of_every_type() {
    type AddNode =
        unsafe extern "C" fn(*mut sys::CUgraphNode, sys::CUgraph, *const sys::CUgraphNode, usize, *mut NodeParams) -> sys::CUresult;
    let bench = Bench::new();
    let Some(found) = function_of(12020, c"cuGraphAddNode") else { return };
    // SAFETY: the function with this name has this type in CUDA 12.2.
    let add_node: AddNode = unsafe { std::mem::transmute(found) };
    let graph = empty_graph();
    let (mut first, mut second, mut third) = (null_mut(), null_mut(), null_mut());
    let mut parameters = NodeParams { node_type: 2, reserved: [0; 3], union: [0; 29], reserved2: 0 };
    // Address, pitch, value and size of an element, width, height, context.
    let fields = [bench.word(0), 0, 11 | 4 << 32, 1, 1, bench.context as u64];
    parameters.union[..6].copy_from_slice(&fields);
    // SAFETY: the pointers are to live variables.
    assert_eq!(unsafe { add_node(&mut first, graph, null(), 0, &mut parameters) }, OK);
    let mut empty = NodeParams { node_type: 5, reserved: [0; 3], union: [0; 29], reserved2: 0 };
    // SAFETY: the pointers are to live variables.
    assert_eq!(unsafe { add_node(&mut second, graph, &first, 1, &mut empty) }, OK);
    assert_eq!(edges(graph), [(first, second)]);
    // Here, no context means the current one.
    parameters.union[..6].copy_from_slice(&[bench.word(1), 0, 12 | 4 << 32, 1, 1, 0]);
    // SAFETY: the pointers are to live variables.
    assert_eq!(unsafe { add_node(&mut third, graph, null(), 0, &mut parameters) }, OK);
    bench.launch(bench.instantiate(graph));
    assert_eq!([bench.read(0), bench.read(1)], [11, 12]);
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn functions_of_cuda_11_read_its_structures() {
    type AddKernel = unsafe extern "C" fn(
        *mut sys::CUgraphNode,
        sys::CUgraph,
        *const sys::CUgraphNode,
        usize,
        *const sys::CUDA_KERNEL_NODE_PARAMS_v1,
    ) -> sys::CUresult;
    let bench = Bench::new();
    let found = function_of(11040, c"cuGraphAddKernelNode").unwrap();
    // SAFETY: the function with this name has this type in CUDA 11.4.
    let add_kernel: AddKernel = unsafe { std::mem::transmute(found) };
    // The parameters in one buffer: the byte at 0, the short at 2, the pointer at 8, the word at 16.
    let mut packed = [0u8; 20];
    (packed[0], packed[2], packed[16]) = (1, 2, 4);
    packed[8..16].copy_from_slice(&bench.word(0).to_le_bytes());
    let mut bytes = packed.len();
    let [pointer, size] = [1, 2].map(std::ptr::without_provenance_mut);
    let mut extra: [*mut c_void; 5] = [pointer, packed.as_mut_ptr().cast(), size, (&raw mut bytes).cast(), null_mut()];
    let kernel = sys::CUDA_KERNEL_NODE_PARAMS_v1 {
        func: bench.mixed,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: null_mut(),
        extra: extra.as_mut_ptr(),
    };
    let (graph, mut node) = (empty_graph(), null_mut());
    // SAFETY: the pointers are to live variables, or null where CUDA allows it.
    assert_eq!(unsafe { add_kernel(&mut node, graph, null(), 0, &kernel) }, OK);
    bench.launch(bench.instantiate(graph));
    assert_eq!(bench.read(0), mixed([1, 2, 4]));
    returns! { cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS; }
}

#[test]
fn launches_of_a_graph_are_recorded() {
    with_simulator(|simulator| {
        let bench = Bench::new();
        let graph = empty_graph();
        bench.add_mixed(graph, &[], 0, [1, 2, 3]);
        let executable = bench.instantiate(graph);
        simulator.take_records().unwrap();
        bench.launch(executable);
        bench.launch(executable);
        let records = simulator.take_records().unwrap();
        assert_eq!(records.all_launches().unwrap().map(|launch| launch.kernel.as_str()).collect::<Vec<_>>(), ["mixed"; 2]);
    });
}

#[test]
fn a_fault_in_a_graph_sticks_to_the_context() {
    in_own_process(|| {
        let context = raw_context();
        let (_, function) = raw_function(FAULTS, c"gives_up");
        let (graph, mut node, mut executable, mut stream) = (empty_graph(), null_mut(), null_mut(), null_mut());
        let mut kernel = Values::new(0, [0; 3]).launch(function);
        let mut out = 0u64;
        let mut values: [*mut c_void; 1] = [(&raw mut out).cast()];
        kernel.kernelParams = values.as_mut_ptr();
        returns! {
            cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
            cuGraphAddKernelNode_v2(&mut node, graph, null(), 0, &kernel) => CUDA_SUCCESS;
            cuGraphInstantiateWithFlags(&mut executable, graph, 0) => CUDA_SUCCESS;
            cuGraphLaunch(executable, stream) => CUDA_SUCCESS;
            cuStreamSynchronize(stream) => CUDA_ERROR_LAUNCH_FAILED;
            cuGraphLaunch(executable, stream) => CUDA_ERROR_LAUNCH_FAILED;
        }
        assert!(!context.is_null());
    });
}

#[test]
fn handles_that_are_not_graphs_are_refused() {
    // A real driver follows these pointers and may crash.
    if on_gpu() {
        return;
    }
    let bench = Bench::new();
    let graph = empty_graph();
    let node = bench.add_memset(graph, &[], 0, 1);
    let executable = bench.instantiate(graph);
    let mut count = 0;
    returns! {
        cuGraphDestroy(graph) => CUDA_SUCCESS;
        cuGraphDestroy(graph) => CUDA_ERROR_INVALID_VALUE;
        cuGraphDestroyNode(node) => CUDA_ERROR_INVALID_VALUE;
        cuGraphGetNodes(graph, null_mut(), &mut count) => CUDA_ERROR_INVALID_VALUE;
        cuGraphExecMemsetNodeSetParams(executable, node, &bench.memset(0, 1), bench.context) => CUDA_ERROR_INVALID_VALUE;
        cuGraphExecDestroy(graph.cast()) => CUDA_ERROR_INVALID_VALUE;
        cuGraphExecDestroy(executable) => CUDA_SUCCESS;
        cuGraphLaunch(executable, bench.stream) => CUDA_ERROR_INVALID_VALUE;
        cuGraphLaunch(null_mut(), bench.stream) => CUDA_ERROR_INVALID_VALUE;
        cuGraphDestroy(null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuUserObjectRelease(node.cast(), 1) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(bench.context) => CUDA_SUCCESS;
    }
}
