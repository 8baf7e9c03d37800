//! Calls with structures and with arguments that must fit each other.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use cudarc::driver::sys::{self, CUresult};

use super::given::{Given, Kind, blocks, size, threads};
use super::listed;
use crate::support::{self, cu};

/// The functions that are called here.
pub const FIRST_LISTED: u8 = 72;

/// A call: a number that selects the function, and numbers to make its arguments from.
pub type Call = (u8, u32, u32, u32);

const PLACE: usize = (1 << 20) + 8;

/// Makes places of 1 MiB that are never freed. Pages cost nothing until they are touched.
fn places(number: usize) -> usize {
    vec![0u64; number * PLACE / 8].leak().as_mut_ptr().expose_provenance()
}

/// Returns memory of the program's own that is never freed, for data: one of a few places of 1 MiB. Copies and kernels of any thread may
/// write it at any time.
pub fn own_memory() -> *mut c_void {
    const PLACES: usize = 64;
    static MEMORY: OnceLock<usize> = OnceLock::new();
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let base = *MEMORY.get_or_init(|| places(PLACES));
    std::ptr::with_exposed_provenance_mut(base + NEXT.fetch_add(1, Ordering::Relaxed) % PLACES * PLACE)
}

/// Memory for the arguments of one call, such as structures and counts: places of 1 MiB that only this thread writes, because a program
/// may not change what a call still reads. It is never freed, in case that something keeps a pointer. The next thread uses it again.
struct Arguments(usize);

/// The memory that no thread uses now.
static UNUSED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The most arguments that a call has.
pub const ARGUMENTS: usize = 12;

impl Default for Arguments {
    fn default() -> Self {
        let unused = UNUSED.lock().expect("nothing panics with it").pop();
        Self(unused.unwrap_or_else(|| places(ARGUMENTS)))
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        UNUSED.lock().expect("nothing panics with it").push(self.0);
    }
}

/// Returns this thread's memory for an argument.
pub fn argument_memory(index: usize) -> *mut u64 {
    thread_local!(static MEMORY: Arguments = Arguments::default());
    assert!(index < ARGUMENTS);
    std::ptr::with_exposed_provenance_mut(MEMORY.with(|memory| memory.0) + index * PLACE)
}

/// Returns a module's text, either undamaged or with a few bytes damaged. They are changed or removed.
pub fn module_text(a: u32, b: u32) -> CString {
    let text = [support::VECTORS, support::SHARED, support::FAULTS, support::VECTORS][a as usize % 4];
    let mut bytes = text.as_bytes().to_vec();
    if !b.is_multiple_of(3) {
        let place = b as usize % bytes.len();
        match b % 5 {
            0 => bytes.truncate(place),
            1 => bytes[place] = b';',
            2 => bytes[place] = b'9',
            3 => drop(bytes.drain(place..(place + 40).min(bytes.len()))),
            _ => bytes[place] = (b >> 8) as u8 | 1,
        }
    }
    CString::new(bytes).unwrap_or_default()
}

pub const KERNELS: [&std::ffi::CStr; 8] =
    [c"add", c"count", c"mixed", c"bounded", c"reverse", c"misaligned", c"endless", c"no such kernel"];

/// Makes one call. Returns its result and what it returned through pointers. Pointers to results are to live variables, and pointers to
/// host memory are to memory that is never freed, because a C caller promises as much. Everything else may be anything.
pub fn call((which, a, b, c): Call, given: &Given) -> (CUresult, Option<(Kind, usize)>) {
    let (mut handle, mut address, mut bytes, mut number) = (null_mut::<c_void>(), 0u64, 0usize, 0i32);
    let memory = |choice| given.pick(Kind::Memory, choice) as u64;
    let module = given.pick(Kind::Module, a) as sys::CUmodule;
    let function = given.pick(Kind::Function, a) as sys::CUfunction;
    let stream = |choice| given.pick(Kind::Stream, choice) as sys::CUstream;
    let event = |choice| given.pick(Kind::Event, choice) as sys::CUevent;
    let device = memory(a) + u64::from(c % 3) * 4;
    let host = own_memory();
    let little = b as usize % 256;
    let result = match which {
        FIRST_LISTED.. => return listed::call(which, [a, b, c], given),
        48.. => return graph_call(which, [a, b, c], given),
        0..4 => cu!(cuMemAlloc_v2(&mut address, size(b))),
        4 => cu!(cuMemFree_v2(device)),
        5 => cu!(cuMemcpyHtoD_v2(device, host, little)),
        6 => cu!(cuMemcpyDtoH_v2(host, device | 1 << 49, little)),
        7 => cu!(cuMemcpyDtoD_v2(device, memory(b), size(c))),
        8 => cu!(cuMemsetD8_v2(device, 1, size(b))),
        9 => cu!(cuMemsetD2D32_v2(device, size(b), 1, size(c), little)),
        10 => cu!(cuMemHostAlloc((&raw mut handle).cast(), size(b % 7), c % 9)),
        11 => cu!(cuMemFreeHost(memory(a) as *mut c_void)),
        12 => {
            // As long as the longest size that is not refused, so that a kernel cannot overwrite anything else.
            handle = own_memory().wrapping_byte_add(b as usize % 5);
            cu!(cuMemHostRegister_v2(handle, size(c), a % 4))
        }
        13 => cu!(cuMemHostUnregister(memory(a) as *mut c_void)),
        14 => cu!(cuMemAllocManaged(&mut address, size(b % 7), c % 4)),
        15 => cu!(cuMemAllocAsync(&mut address, size(b), stream(c))),
        16 => cu!(cuMemFreeAsync(device, stream(c))),
        17 => cu!(cuMemGetAddressRange_v2(&mut address, &mut bytes, device)),
        18..22 => {
            let text = module_text(a, b);
            cu!(cuModuleLoadData((&raw mut handle).cast(), text.as_ptr().cast()))
        }
        22 => cu!(cuModuleUnload(module)),
        23..27 => {
            let name = KERNELS[b as usize % KERNELS.len()].as_ptr();
            cu!(cuModuleGetFunction((&raw mut handle).cast(), module, name))
        }
        27 => cu!(cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"counter".as_ptr())),
        28..33 => {
            let mut values = [memory(b), memory(b >> 4), memory(b >> 8), u64::from(c), 0, 0];
            let mut each = values.each_mut().map(|value| (value as *mut u64).cast::<c_void>());
            if b.is_multiple_of(11) {
                each[1] = null_mut();
            }
            let (grid, block) = (blocks(b), threads(c));
            let on = if c.is_multiple_of(7) { stream(c) } else { null_mut() };
            let shared = size(c >> 4) as u32;
            cu!(cuLaunchKernel(
                function,
                grid,
                if c.is_multiple_of(13) { grid } else { 1 },
                1,
                block,
                threads(c >> 8).min(2),
                1,
                shared,
                on,
                each.as_mut_ptr(),
                null_mut()
            ))
        }
        33 => cu!(cuLaunchKernel(
            function,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            null_mut(),
            null_mut(),
            // A buffer of parameters, and its size.
            [1usize, host as usize, 2, (&raw const little) as usize, 0].as_mut_ptr().cast()
        )),
        34 => {
            // SAFETY: every number below 16 is an enumerator of this type.
            let attribute = unsafe { std::mem::transmute::<u32, sys::CUfunction_attribute>(b % 16) };
            cu!(cuFuncSetAttribute(function, attribute, c as i32))
        }
        35 => cu!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut number, function, b as i32, size(c))),
        36 => {
            cu!(cuOccupancyMaxPotentialBlockSize(&mut number, &mut 0, function, None, size(b), c as i32))
        }
        37 => cu!(cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, function, b as i32, c as i32)),
        38 => cu!(cuStreamCreate((&raw mut handle).cast(), b % 3)),
        39 => cu!(cuStreamDestroy_v2(stream(a))),
        40 => cu!(cuStreamSynchronize(stream(a))),
        41 => cu!(cuEventCreate((&raw mut handle).cast(), b % 8)),
        42 => cu!(cuEventRecord(event(a), stream(b))),
        43 => cu!(cuEventElapsedTime(&mut 0.0, event(a), event(b))),
        44 => cu!(cuCtxCreate_v2((&raw mut handle).cast(), b % 64, (c % 2) as i32)),
        45 => cu!(cuCtxDestroy_v2(given.pick(Kind::Context, a) as sys::CUcontext)),
        46 => cu!(cuCtxSetCurrent(given.pick(Kind::Context, a) as sys::CUcontext)),
        _ => cu!(cuStreamWaitEvent(stream(a), event(b), c % 2)),
    };
    let kind = match which {
        18..=21 => Kind::Module,
        23..=26 => Kind::Function,
        38 => Kind::Stream,
        41 => Kind::Event,
        44 => Kind::Context,
        _ => Kind::Memory,
    };
    let value = [handle as usize, address as usize].into_iter().find(|&value| value != 0);
    (result, value.map(|value| (kind, value)))
}

/// Makes one call of graphs and captures.
fn graph_call(which: u8, [a, b, c]: [u32; 3], given: &Given) -> (CUresult, Option<(Kind, usize)>) {
    use sys::CUstreamCaptureMode::*;
    let (mut graph, mut node, mut executable) = (null_mut(), null_mut(), null_mut());
    let (mut number, mut count) = (0u32, 3usize);
    let pick = |kind, choice| given.pick(kind, choice);
    let given_graph = pick(Kind::Graph, a) as sys::CUgraph;
    let given_node = pick(Kind::Node, b) as sys::CUgraphNode;
    let given_executable = pick(Kind::Executable, a) as sys::CUgraphExec;
    let stream = pick(Kind::Stream, b) as sys::CUstream;
    let context = pick(Kind::Context, b) as sys::CUcontext;
    let device = pick(Kind::Memory, c) as u64;
    let dependencies = [given_node, pick(Kind::Node, c) as sys::CUgraphNode];
    let after = dependencies.as_ptr();
    let few = c as usize % 3;
    let memset = sys::CUDA_MEMSET_NODE_PARAMS {
        dst: device,
        pitch: size(b),
        value: c,
        elementSize: c % 5,
        width: size(c),
        height: b as usize % 3,
    };
    let mut values = [device, pick(Kind::Memory, b) as u64, 0, u64::from(c), 0, 0];
    let mut each = values.each_mut().map(|value| (value as *mut u64).cast::<c_void>());
    let kernel = sys::CUDA_KERNEL_NODE_PARAMS {
        func: pick(Kind::Function, b) as sys::CUfunction,
        gridDimX: blocks(b),
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: threads(c),
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: each.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    };
    // SAFETY: all fields of this structure may be zero.
    let mut allocation: sys::CUDA_MEM_ALLOC_NODE_PARAMS = unsafe { std::mem::zeroed() };
    allocation.poolProps.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    allocation.poolProps.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    allocation.bytesize = size(b);
    let result = match which {
        48..50 => cu!(cuGraphCreate(&mut graph, 0)),
        50 => cu!(cuGraphDestroy(given_graph)),
        51 => cu!(cuGraphAddMemsetNode(&mut node, given_graph, after, few, &memset, context)),
        52 => cu!(cuGraphAddKernelNode_v2(&mut node, given_graph, after, few, &kernel)),
        53 => cu!(cuGraphAddEmptyNode(&mut node, given_graph, after, few)),
        54 => cu!(cuGraphAddChildGraphNode(&mut node, given_graph, after, few, pick(Kind::Graph, c) as sys::CUgraph)),
        55 => cu!(cuGraphAddMemAllocNode(&mut node, given_graph, after, few, &mut allocation)),
        56 => cu!(cuGraphAddMemFreeNode(&mut node, given_graph, after, few, device)),
        57 => cu!(cuGraphAddEventRecordNode(&mut node, given_graph, after, few, pick(Kind::Event, c) as sys::CUevent)),
        58 => cu!(cuGraphAddDependencies(given_graph, after, after.wrapping_add(1), 1)),
        59 => cu!(cuGraphRemoveDependencies(given_graph, after, after.wrapping_add(1), 1)),
        60 => cu!(cuGraphDestroyNode(given_node)),
        61 => cu!(cuGraphClone(&mut graph, given_graph)),
        62 => cu!(cuGraphChildGraphNodeGetGraph(given_node, &mut graph)),
        63 => cu!(cuGraphNodeGetDependencies(given_node, [null_mut(); 3].as_mut_ptr(), &mut count)),
        64 => cu!(cuGraphInstantiateWithFlags(&mut executable, given_graph, (c % 16).into())),
        65 => cu!(cuGraphLaunch(given_executable, stream)),
        66 => cu!(cuGraphExecDestroy(given_executable)),
        67 => {
            let mut info = sys::CUgraphExecUpdateResultInfo {
                result: sys::CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
                errorNode: null_mut(),
                errorFromNode: null_mut(),
            };
            cu!(cuGraphExecUpdate_v2(given_executable, pick(Kind::Graph, c) as sys::CUgraph, &mut info))
        }
        68 => cu!(cuGraphExecKernelNodeSetParams_v2(given_executable, given_node, &kernel)),
        69 => cu!(cuGraphNodeGetEnabled(given_executable, given_node, &mut number)),
        70 => {
            let modes = [CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED];
            cu!(cuStreamBeginCapture_v2(stream, modes[c as usize % 3]))
        }
        _ => cu!(cuStreamEndCapture(stream, &mut graph)),
    };
    let made = [(Kind::Graph, graph as usize), (Kind::Node, node as usize), (Kind::Executable, executable as usize)];
    (result, made.into_iter().find(|&(_, value)| value != 0))
}

/// Returns the number of functions that [`call`] chooses among.
pub fn number_of_functions() -> u8 {
    const { assert!(listed::FUNCTIONS.len() < (u8::MAX - FIRST_LISTED) as usize) };
    FIRST_LISTED + listed::FUNCTIONS.len() as u8
}
