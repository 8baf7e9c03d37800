//! Anything that a program may do wrong: random calls with bad handles, freed pointers, absurd sizes and shapes, damaged PTX, from one
//! thread and from two. Each call must return in time, with a result that exists, and never with the result for a panic inside.
//!
//! Only on the simulator: a GPU's driver follows a bad handle and crashes. Each test has a process of its own, because it sets the fuel and
//! measures memory for the whole process.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUresult};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use simcuda::client::Simulator;

use crate::support::{self, cu, with_simulator};

/// The longest that one sequence of calls may take. It really takes a few milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Enough fuel for every kernel that ends.
const FUEL: u64 = 2000;

/// A call: a number that selects the function, and numbers to make its arguments from.
type Call = (u8, u32, u32, u32);

/// Kinds of things that calls return.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Memory,
    Module,
    Function,
    Stream,
    Event,
    Context,
    Graph,
    Node,
    Executable,
    Physical,
    Array,
}

/// What calls returned, alive or destroyed: the latest of each kind.
#[derive(Clone, Default)]
struct Given(Vec<(Kind, usize)>);

impl Given {
    const KEPT: usize = 6;

    fn add(&mut self, kind: Kind, value: usize) {
        if self.0.iter().filter(|(other, _)| *other == kind).count() == Self::KEPT {
            let oldest = self.0.iter().position(|(other, _)| *other == kind).expect("there are some");
            self.0.remove(oldest);
        }
        self.0.push((kind, value));
    }

    /// Picks mostly something of this kind, and sometimes something of another kind, null, or a number that no call returned.
    fn pick(&self, kind: Kind, choice: u32) -> usize {
        let nth = choice as usize / 16;
        let fitting: Vec<usize> = match choice % 16 {
            0 => return 0,
            1 => return 0x0dea_dbee_fbad_f00d,
            2 => self.0.iter().map(|(_, value)| *value).collect(),
            _ => self.0.iter().filter(|(other, _)| *other == kind).map(|(_, value)| *value).collect(),
        };
        fitting.get(nth % fitting.len().max(1)).copied().unwrap_or(0)
    }
}

fn size(choice: u32) -> usize {
    [0, 1, 4, 64, 100, 4096, 1 << 20, 1 << 45, usize::MAX - 3, usize::MAX][choice as usize % 10]
}

/// Returns an extent of a grid: zero, small, or more than any grid can have. A grid of a size in between would really run, for a long time.
fn blocks(choice: u32) -> u32 {
    [0, 1, 1, 1, 2, 3, 7, 33, 1 << 31, u32::MAX][choice as usize % 10]
}

fn threads(choice: u32) -> u32 {
    [0, 1, 1, 2, 3, 33, 256, 1024, 1025, u32::MAX][choice as usize % 10]
}

/// Returns memory of the program's own that is never freed, so that it can be used at any time. Zeroed pages cost nothing until they are
/// touched.
fn own_memory(bytes: usize) -> &'static mut [u32] {
    vec![0u32; bytes / 4].leak()
}

/// Returns the text of a module, either undamaged or with a few bytes changed or removed.
fn module_text(a: u32, b: u32) -> CString {
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

const KERNELS: [&std::ffi::CStr; 8] =
    [c"add", c"count", c"mixed", c"bounded", c"reverse", c"misaligned", c"endless", c"no such kernel"];

/// Makes one call. Returns its result and what it returned through pointers. Pointers to results are to live variables, and pointers to
/// host memory are to memory that is never freed, because a C caller promises as much. Everything else may be anything.
fn call((which, a, b, c): Call, given: &Given) -> (CUresult, Option<(Kind, usize)>) {
    let (mut handle, mut address, mut bytes, mut number) = (null_mut::<c_void>(), 0u64, 0usize, 0i32);
    let memory = |choice| given.pick(Kind::Memory, choice) as u64;
    let module = given.pick(Kind::Module, a) as sys::CUmodule;
    let function = given.pick(Kind::Function, a) as sys::CUfunction;
    let stream = |choice| given.pick(Kind::Stream, choice) as sys::CUstream;
    let event = |choice| given.pick(Kind::Event, choice) as sys::CUevent;
    let device = memory(a) + u64::from(c % 3) * 4;
    let own = own_memory(256);
    let host: *mut c_void = own.as_mut_ptr().cast();
    let little = b as usize % 256;
    let result = match which % 88 {
        48..72 => return graph_call(which, [a, b, c], given),
        72.. => return newer_call(which, [a, b, c], given),
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
            let place = own_memory((1 << 20) + 8).as_mut_ptr().wrapping_byte_add(b as usize % 5);
            handle = place.cast();
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
            [1usize, own.as_ptr() as usize, 2, (&raw const little) as usize, 0].as_mut_ptr().cast()
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
    let kind = match which % 88 {
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

/// The same for calls of graphs and captures.
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
    let result = match which % 88 {
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

/// The same for virtual memory, values in memory, sharing, and arrays.
fn newer_call(which: u8, [a, b, c]: [u32; 3], given: &Given) -> (CUresult, Option<(Kind, usize)>) {
    const UNIT: usize = 2 << 20;
    let pick = |kind, choice| given.pick(kind, choice);
    let device = pick(Kind::Memory, a) as u64 + u64::from(c % 3) * 4;
    let (stream, physical) = (pick(Kind::Stream, b) as sys::CUstream, pick(Kind::Physical, b) as u64);
    let array = pick(Kind::Array, a);
    let length = if c.is_multiple_of(5) { size(c) } else { (b as usize % 3) * UNIT };
    // SAFETY: the structures are made of numbers and pointers that may be null.
    let (mut properties, mut location): (sys::CUmemAllocationProp, sys::CUmemLocation) =
        unsafe { (std::mem::MaybeUninit::zeroed().assume_init(), std::mem::zeroed()) };
    location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = (a % 2) as i32;
    properties.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = location;
    let flags = [
        sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE,
        sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ,
        sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    ];
    let access = sys::CUmemAccessDesc { location, flags: flags[b as usize % 3] };
    let mut token = sys::CUipcMemHandle { reserved: [c as std::ffi::c_char; 64] };
    let format = sys::CUarray_format_enum::CU_AD_FORMAT_FLOAT;
    let shape = sys::CUDA_ARRAY3D_DESCRIPTOR {
        Width: size(a) % (1 << 21),
        Height: b as usize % 40,
        Depth: c as usize % 14,
        Format: format,
        NumChannels: c % 5,
        Flags: a % 16,
    };
    let (mut address, mut handle, mut made) = (0u64, 0u64, null_mut::<c_void>());
    let (result, kind) = match which % 88 {
        72 => (cu!(cuMemAddressReserve(&mut address, length, 0, 0, 0)), Kind::Memory),
        73 => (cu!(cuMemAddressFree(device, length)), Kind::Memory),
        74 | 75 => (cu!(cuMemCreate(&mut handle, length, &properties, 0)), Kind::Physical),
        76 => (cu!(cuMemRelease(physical)), Kind::Physical),
        77 => (cu!(cuMemMap(device, length, 0, physical, 0)), Kind::Physical),
        78 => (cu!(cuMemUnmap(device, length)), Kind::Physical),
        79 => (cu!(cuMemSetAccess(device, length, &access, 1)), Kind::Physical),
        80 => (cu!(cuMemRetainAllocationHandle(&mut handle, device as *mut c_void)), Kind::Physical),
        81 => (cu!(cuStreamWriteValue32_v2(stream, device, c, 0)), Kind::Physical),
        82 => (cu!(cuStreamWaitValue32_v2(stream, device, c % 3, c % 5)), Kind::Physical),
        83 => (cu!(cuIpcGetMemHandle(&mut token, device)), Kind::Physical),
        84 => (cu!(cuIpcOpenMemHandle_v2(&mut address, token, 1)), Kind::Memory),
        85 => (cu!(cuMipmappedArrayCreate((&raw mut made).cast(), &shape, c)), Kind::Array),
        86 => (cu!(cuMipmappedArrayGetLevel((&raw mut made).cast(), array as sys::CUmipmappedArray, b % 4)), Kind::Array),
        _ if b.is_multiple_of(2) => (cu!(cuMipmappedArrayDestroy(array as sys::CUmipmappedArray)), Kind::Array),
        _ => (cu!(cuArrayDestroy(array as sys::CUarray)), Kind::Array),
    };
    let value = [address as usize, handle as usize, made as usize].into_iter().find(|&value| value != 0);
    (result, value.map(|value| (kind, value)))
}

/// Makes the calls in a context of their own.
fn make(calls: &[Call], given: &Mutex<Given>) -> Result<(), TestCaseError> {
    let started = Instant::now();
    let context = support::raw_context();
    for (index, &each) in calls.iter().enumerate() {
        // The lock is not held during the call.
        let seen = lock(given).clone();
        let (result, new) = call(each, &seen);
        if let Some((kind, value)) = new {
            lock(given).add(kind, value);
        }
        prop_assert!(
            result != CUresult::CUDA_ERROR_UNKNOWN,
            "call {index} {each:?}: {:?}",
            Simulator::open().unwrap().take_error()
        );
        let mut name = null();
        prop_assert_eq!(cu!(cuGetErrorName(result, &mut name)), support::OK, "call {} {:?}", index, each);
        prop_assert!(started.elapsed() < PATIENCE, "call {index} {each:?} took too long");
        // If the context is gone or has failed, the thread continues in a new one.
        // Unlike a call that waits, this one leaves captures as they are.
        let mut config = sys::CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE;
        if cu!(cuCtxGetCacheConfig(&mut config)) != support::OK {
            support::raw_context();
        }
    }
    cu!(cuCtxDestroy_v2(context));
    Ok(())
}

fn lock(given: &Mutex<Given>) -> MutexGuard<'_, Given> {
    given.lock().unwrap_or_else(PoisonError::into_inner)
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    proptest::collection::vec(any::<Call>(), 1..120)
}

/// Checks a property of 80 random values.
fn check<S: Strategy>(strategy: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config).run(&strategy, property).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn whatever_is_called_returns_a_result() {
    with_simulator(|simulator| {
        simulator.set_fuel(FUEL).unwrap();
        simulator.set_patience(0).unwrap();
        check(calls(), |calls| make(&calls, &Mutex::default()));
    });
}

#[test]
fn whatever_two_threads_call_at_once_returns_a_result() {
    with_simulator(|simulator| {
        simulator.set_fuel(FUEL).unwrap();
        simulator.set_patience(0).unwrap();
        check((calls(), calls()), |(one, two)| {
            // Each thread uses and destroys what the other one made.
            let given = Mutex::default();
            let (first, second) = std::thread::scope(|scope| {
                let first = scope.spawn(|| make(&one, &given));
                let second = scope.spawn(|| make(&two, &given));
                (first.join(), second.join())
            });
            first.expect("the thread does not panic")?;
            second.expect("the thread does not panic")
        });
    });
}

/// Returns the peak of this process's memory in bytes; 0 if the system does not report it.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}

#[test]
fn absurd_declarations_are_refused_or_cost_little() {
    with_simulator(|simulator| {
        simulator.set_fuel(FUEL).unwrap();
        let head = ".version 7.0\n.target sm_70\n.address_size 64\n";
        let kernel = |inside: &str| format!("{head}.visible .entry k() {{ {inside} ret; }}");
        let loads = |inside: &str| kernel(&format!("{inside} mov.u32 %r1, 1;"));
        for text in [
            loads(".reg .b32 %r<4000000000>;"),
            loads(".reg .b32 %r<100000000000000000000>;"),
            loads(".reg .b32 %r<1000000>; .reg .b64 %rd<100000000>;"),
            kernel(".shared .b8 s[4294967295];"),
            kernel(".shared .b8 s[18446744073709551615];"),
            kernel(".local .b8 l[4294967296000];"),
            kernel(".local .align 1024 .b8 l[100000000];"),
            kernel(".shared .align 2147483648 .b8 s[4];"),
            format!("{head}.global .b8 g[18446744073709551615];"),
            format!("{head}.global .align 8 .b8 g[100000000000];"),
            format!("{head}.const .b8 c[100000000];"),
            format!("{head}.visible .entry k(.param .b8 p[4000000000]) {{ ret; }}"),
            format!("{head}.visible .entry k() .maxntid 4294967295, 4294967295, 4294967295 {{ ret; }}"),
            format!("{head}.visible .entry k() {{ {} ret; }}", "{".repeat(100_000)),
            format!(
                "{head}.visible .entry k() {{ .reg .b32 %r<2>; mov.u32 %r1, {}1{}; ret; }}",
                "(".repeat(50_000),
                ")".repeat(50_000)
            ),
        ] {
            let shown = &text[head.len()..text.len().min(head.len() + 100)];
            let context = support::raw_context();
            let image = CString::new(text.as_str()).unwrap();
            let (mut module, mut function) = (null_mut(), null_mut());
            let loaded = cu!(cuModuleLoadData(&mut module, image.as_ptr().cast()));
            assert_ne!(loaded, CUresult::CUDA_ERROR_UNKNOWN, "{shown}");
            if loaded == support::OK && cu!(cuModuleGetFunction(&mut function, module, c"k".as_ptr())) == support::OK {
                let mut each = [null_mut::<c_void>(); 1];
                let launched = cu!(cuLaunchKernel(function, 1, 1, 1, 1024, 1, 1, 0, null_mut(), each.as_mut_ptr(), null_mut()));
                assert_ne!(launched, CUresult::CUDA_ERROR_UNKNOWN, "{shown}");
                assert_ne!(cu!(cuCtxSynchronize()), CUresult::CUDA_ERROR_UNKNOWN, "{shown}");
            }
            cu!(cuCtxDestroy_v2(context));
            let peak = peak_memory();
            assert!(peak < 1 << 30, "{shown}: {} MiB of the host's memory", peak >> 20);
        }
    });
}
