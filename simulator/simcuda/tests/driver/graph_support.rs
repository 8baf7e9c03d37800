//! Support that the tests of graphs and of capture share: a context with a stream and some memory, and short ways to write parameters.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use cudarc::driver::sys;

use crate::support::{VECTORS, cu, raw_context, raw_function, returns};

/// The number of words in [`Bench::words`].
pub const WORDS: usize = 16;

/// A context with what a graph can work on.
pub struct Bench {
    pub context: sys::CUcontext,
    /// A blocking stream.
    pub stream: sys::CUstream,
    /// The kernel that computes `byte + 256 * short + 65536 * word`.
    pub mixed: sys::CUfunction,
    /// The kernel without parameters.
    pub count: sys::CUfunction,
    /// Memory on the device, all 0.
    pub words: sys::CUdeviceptr,
}

impl Bench {
    pub fn new() -> Self {
        let context = raw_context();
        let (module, mixed) = raw_function(VECTORS, c"mixed");
        let (mut stream, mut count, mut words) = (null_mut(), null_mut(), 0);
        returns! {
            cuModuleGetFunction(&mut count, module, c"count".as_ptr()) => CUDA_SUCCESS;
            cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
            cuMemAlloc_v2(&mut words, 4 * WORDS) => CUDA_SUCCESS;
            cuMemsetD32_v2(words, 0, WORDS) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
        }
        Self { context, stream, mixed, count, words }
    }

    /// Returns the address of a word.
    pub fn word(&self, index: usize) -> sys::CUdeviceptr {
        self.words + 4 * index as u64
    }

    /// Reads a word. Waits for everything before it.
    pub fn read(&self, index: usize) -> u32 {
        let mut value = 0u32;
        returns! {
            cuCtxSynchronize() => CUDA_SUCCESS;
            cuMemcpyDtoH_v2((&raw mut value).cast(), self.word(index), 4) => CUDA_SUCCESS;
        }
        value
    }

    /// Launches an executable graph and waits for it.
    pub fn launch(&self, executable: sys::CUgraphExec) {
        returns! {
            cuGraphLaunch(executable, self.stream) => CUDA_SUCCESS;
            cuStreamSynchronize(self.stream) => CUDA_SUCCESS;
        }
    }

    /// Makes an executable graph.
    pub fn instantiate(&self, graph: sys::CUgraph) -> sys::CUgraphExec {
        let mut executable = null_mut();
        returns! { cuGraphInstantiateWithFlags(&mut executable, graph, 0) => CUDA_SUCCESS; }
        executable
    }

    /// Adds a node that sets a word.
    pub fn add_memset(&self, graph: sys::CUgraph, after: &[sys::CUgraphNode], index: usize, value: u32) -> sys::CUgraphNode {
        let (mut node, memset) = (null_mut(), self.memset(index, value));
        returns! { cuGraphAddMemsetNode(&mut node, graph, after.as_ptr(), after.len(), &memset, self.context) => CUDA_SUCCESS; }
        node
    }

    pub fn memset(&self, index: usize, value: u32) -> sys::CUDA_MEMSET_NODE_PARAMS {
        sys::CUDA_MEMSET_NODE_PARAMS { dst: self.word(index), pitch: 0, value, elementSize: 4, width: 1, height: 1 }
    }

    /// Adds a node that copies one word to another.
    pub fn add_memcpy(&self, graph: sys::CUgraph, after: &[sys::CUgraphNode], to: usize, from: usize) -> sys::CUgraphNode {
        let (mut node, memcpy) = (null_mut(), self.memcpy(to, from));
        returns! { cuGraphAddMemcpyNode(&mut node, graph, after.as_ptr(), after.len(), &memcpy, self.context) => CUDA_SUCCESS; }
        node
    }

    pub fn memcpy(&self, to: usize, from: usize) -> sys::CUDA_MEMCPY3D {
        // The types of memory have no name for zero, so they are set before anyone looks at them.
        let mut copy = std::mem::MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
        let place = copy.as_mut_ptr();
        // SAFETY: the pointer is to a live structure, of which each field is written as a whole. Afterward, every field has a valid value.
        unsafe {
            (&raw mut (*place).srcMemoryType).write(sys::CUmemorytype::CU_MEMORYTYPE_DEVICE);
            (&raw mut (*place).dstMemoryType).write(sys::CUmemorytype::CU_MEMORYTYPE_DEVICE);
            let mut copy = copy.assume_init();
            (copy.srcDevice, copy.dstDevice) = (self.word(from), self.word(to));
            (copy.WidthInBytes, copy.Height, copy.Depth) = (4, 1, 1);
            (copy.srcPitch, copy.srcHeight, copy.dstPitch, copy.dstHeight) = (4, 1, 4, 1);
            copy
        }
    }

    /// Adds a node that computes a word from three numbers.
    pub fn add_mixed(&self, graph: sys::CUgraph, after: &[sys::CUgraphNode], index: usize, numbers: [u8; 3]) -> sys::CUgraphNode {
        let mut node = null_mut();
        let mut values = Values::new(self.word(index), numbers);
        let kernel = values.launch(self.mixed);
        returns! { cuGraphAddKernelNode_v2(&mut node, graph, after.as_ptr(), after.len(), &kernel) => CUDA_SUCCESS; }
        node
    }
}

/// The parameters of [`Bench::mixed`].
pub struct Values {
    byte: u8,
    short: u16,
    out: u64,
    word: u32,
    pointers: [*mut c_void; 4],
}

impl Values {
    pub fn new(out: sys::CUdeviceptr, [byte, short, word]: [u8; 3]) -> Self {
        Self { byte, short: short.into(), out, word: word.into(), pointers: [null_mut(); 4] }
    }

    /// Returns the array of pointers for a launch. It is good for as long as these values stay where they are.
    pub fn pointers(&mut self) -> *mut *mut c_void {
        self.pointers =
            [(&raw mut self.byte).cast(), (&raw mut self.short).cast(), (&raw mut self.out).cast(), (&raw mut self.word).cast()];
        self.pointers.as_mut_ptr()
    }

    /// Returns a launch of one thread.
    pub fn launch(&mut self, function: sys::CUfunction) -> sys::CUDA_KERNEL_NODE_PARAMS {
        sys::CUDA_KERNEL_NODE_PARAMS {
            func: function,
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            kernelParams: self.pointers(),
            extra: null_mut(),
            kern: null_mut(),
            ctx: null_mut(),
        }
    }
}

/// Returns what [`Bench::mixed`] makes of three numbers.
pub fn mixed([byte, short, word]: [u8; 3]) -> u32 {
    u32::from(byte) + 256 * u32::from(short) + 65536 * u32::from(word)
}

pub fn empty_graph() -> sys::CUgraph {
    let mut graph = null_mut();
    returns! { cuGraphCreate(&mut graph, 0) => CUDA_SUCCESS; }
    graph
}

pub fn node_type(node: sys::CUgraphNode) -> sys::CUgraphNodeType {
    let mut found = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
    returns! { cuGraphNodeGetType(node, &mut found) => CUDA_SUCCESS; }
    found
}

/// Returns the nodes of a graph.
pub fn nodes(graph: sys::CUgraph) -> Vec<sys::CUgraphNode> {
    let mut count = 0;
    returns! { cuGraphGetNodes(graph, null_mut(), &mut count) => CUDA_SUCCESS; }
    let mut nodes = vec![null_mut(); count];
    returns! { cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count) => CUDA_SUCCESS; }
    nodes
}

/// Returns the edges of a graph.
pub fn edges(graph: sys::CUgraph) -> Vec<(sys::CUgraphNode, sys::CUgraphNode)> {
    let mut count = 0;
    returns! { cuGraphGetEdges(graph, null_mut(), null_mut(), &mut count) => CUDA_SUCCESS; }
    let (mut from, mut to) = (vec![null_mut(); count], vec![null_mut(); count]);
    returns! { cuGraphGetEdges(graph, from.as_mut_ptr(), to.as_mut_ptr(), &mut count) => CUDA_SUCCESS; }
    from.into_iter().zip(to).collect()
}

/// Returns the nodes of a graph that is a chain, in order.
pub fn chain(graph: sys::CUgraph) -> Vec<sys::CUgraphNode> {
    let edges = edges(graph);
    let mut next = nodes(graph).into_iter().find(|node| edges.iter().all(|edge| edge.1 != *node));
    let mut chain = Vec::new();
    while let Some(node) = next {
        chain.push(node);
        next = edges.iter().find(|edge| edge.0 == node).map(|edge| edge.1);
    }
    assert_eq!((chain.len(), edges.len() + 1), (nodes(graph).len(), chain.len()), "the graph is a chain");
    chain
}

/// Finds a function that the bindings for CUDA 12.0 do not have.
pub fn function_of(version: i32, name: &std::ffi::CStr) -> Option<*mut c_void> {
    let mut found = null_mut();
    let mut status = sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    returns! { cuGetProcAddress_v2(name.as_ptr(), &mut found, version, 0, &mut status) => CUDA_SUCCESS; }
    (status == sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS).then_some(found)
}

/// Adds one to a counter, as a host function.
pub unsafe extern "C" fn note(counter: *mut c_void) {
    // SAFETY: the tests pass a pointer to an atomic counter that lives until they have waited.
    unsafe { &*counter.cast::<std::sync::atomic::AtomicU32>() }.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
}

/// Asserts that a call fails, where NVIDIA's reference does not say how.
macro_rules! fails {
    ($($function:ident($($argument:expr),* $(,)?);)*) => {
        $(assert_ne!($crate::support::cu!($function($($argument),*)), $crate::support::OK, stringify!($function));)*
    };
}
pub(crate) use fails;

/// Returns true if a stream is being captured.
pub fn status(stream: sys::CUstream) -> sys::CUstreamCaptureStatus {
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    returns! { cuStreamIsCapturing(stream, &mut status) => CUDA_SUCCESS; }
    status
}

/// Ends a capture and returns its graph.
pub fn end(stream: sys::CUstream) -> sys::CUgraph {
    let mut graph = null_mut();
    returns! { cuStreamEndCapture(stream, &mut graph) => CUDA_SUCCESS; }
    assert!(!graph.is_null());
    graph
}

/// Ends a capture that has no graph, and returns why not.
pub fn end_in_vain(stream: sys::CUstream) -> sys::CUresult {
    let mut graph = null::<sys::CUgraph_st>().cast_mut();
    let result = cu!(cuStreamEndCapture(stream, &mut graph));
    assert!(graph.is_null());
    assert_eq!(status(stream), sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE);
    result
}
