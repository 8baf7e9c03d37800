//! Calls of functions that are listed with the kinds of their arguments.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use cudarc::driver::sys::CUresult;

use super::calls::{ARGUMENTS, FIRST_LISTED, KERNELS, argument_memory, module_text, own_memory};
use super::given::{Given, Kind, size};
use crate::support::cu;

/// Functions and their arguments.
///
/// - Lower-case letters are numbers and memory of the program: `n` a small number, `i` any number, `s` a size, `b` a number of bytes that
///   its memory has, `d` a device, `o` where a result is wanted, `c` the same with a count to begin with, `h` memory of the host, `t` a name,
///   `x` the text of a module, `z` a structure of numbers, `m` and `v` a copy in two and three dimensions, `r` the resource of a view,
///   `q` the properties of a pool, `a` those of physical memory, `f` a right to it, `u` a number of its units, `-` null.
/// - Capital letters are what calls returned. After a `+` they are what this call returns.
#[rustfmt::skip]
pub const FUNCTIONS: &[(&str, &str)] = &[
    ("cuArrayCreate", "+A z"), ("cuArrayCreate", "+A z"), ("cuArray3DCreate", "+A z"), ("cuArrayDestroy", "A"),
    ("cuArrayGetDescriptor", "o A"), ("cuArray3DGetDescriptor", "o A"),
    ("cuTexObjectCreate", "+V r z -"), ("cuTexObjectCreate", "+V r z z"), ("cuTexObjectDestroy", "V"), ("cuTexObjectGetResourceDesc", "o V"),
    ("cuTexObjectGetTextureDesc", "o V"), ("cuTexObjectGetResourceViewDesc", "o V"),
    ("cuSurfObjectCreate", "+V r"), ("cuSurfObjectDestroy", "V"), ("cuSurfObjectGetResourceDesc", "o V"),
    ("cuMemcpy2D", "m"), ("cuMemcpy2DUnaligned", "m"), ("cuMemcpy2DAsync", "m S"), ("cuMemcpy3D", "v"), ("cuMemcpy3DAsync", "v S"),
    ("cuMemcpyAtoD", "D A s s"), ("cuMemcpyDtoA", "A s D s"), ("cuMemcpyAtoA", "A s A s s"),
    ("cuMemcpyHtoA", "A s h b"), ("cuMemcpyAtoH", "h A s b"), ("cuMemcpyHtoDAsync", "D h b S"), ("cuMemcpyDtoHAsync", "h D b S"),
    ("cuMemcpyDtoDAsync", "D D s S"), ("cuMemcpyPeer", "D C D C s"), ("cuMemcpyPeerAsync", "D C D C s S"),
    ("cuMemsetD16", "D i s"), ("cuMemsetD32", "D i s"), ("cuMemsetD8Async", "D i s S"), ("cuMemsetD2D8", "D s i s s"), ("cuMemsetD2D16Async", "D s i s s S"),
    ("cuMemAllocPitch", "+D o s n n"), ("cuMemAllocHost", "+D s"), ("cuMemGetInfo", "o o"), ("cuMemHostGetFlags", "o D"),
    ("cuMemHostGetDevicePointer", "o D n"), ("cuMemAdvise", "D s n d"), ("cuMemPrefetchAsync", "D s d S"), ("cuMemRangeGetAttribute", "o b n D s"),
    ("cuMemPoolCreate", "+P q"), ("cuMemPoolDestroy", "P"), ("cuMemPoolTrimTo", "P s"), ("cuMemPoolGetAttribute", "P n o"), ("cuMemPoolSetAttribute", "P n z"),
    ("cuMemPoolGetAccess", "o P z"), ("cuMemPoolSetAccess", "P z n"), ("cuMemAllocFromPoolAsync", "+D s P S"), ("cuMemAllocFromPoolAsync", "+D s P S"),
    ("cuDeviceGetDefaultMemPool", "o d"), ("cuDeviceGetMemPool", "o d"), ("cuDeviceSetMemPool", "d P"), ("cuDeviceGraphMemTrim", "d"),
    ("cuDeviceGetGraphMemAttribute", "d n o"), ("cuDeviceSetGraphMemAttribute", "d n z"),
    ("cuPointerGetAttribute", "o n D"), ("cuPointerSetAttribute", "z n D"),
    ("cuCtxPushCurrent", "C"), ("cuCtxPopCurrent", "o"), ("cuCtxSynchronize", ""), ("cuCtxGetLimit", "o n"), ("cuCtxSetLimit", "n s"), ("cuCtxSetFlags", "n"),
    ("cuCtxGetApiVersion", "C o"), ("cuCtxGetId", "C o"), ("cuCtxGetDevice", "o"), ("cuCtxEnablePeerAccess", "C n"), ("cuCtxDisablePeerAccess", "C"),
    ("cuDevicePrimaryCtxRetain", "+C d"), ("cuDevicePrimaryCtxRelease", "d"), ("cuDevicePrimaryCtxReset", "d"), ("cuDevicePrimaryCtxSetFlags", "d n"),
    ("cuDevicePrimaryCtxGetState", "d o o"), ("cuDeviceGetAttribute", "o n d"), ("cuDeviceGetName", "o b d"), ("cuDeviceGetPCIBusId", "o b d"),
    ("cuStreamCreateWithPriority", "+S n i"), ("cuStreamGetPriority", "S o"), ("cuStreamGetFlags", "S o"), ("cuStreamGetCtx", "S o"), ("cuStreamGetId", "S o"),
    ("cuStreamQuery", "S"), ("cuStreamIsCapturing", "S o"), ("cuStreamGetCaptureInfo", "S o o o o o"), ("cuStreamCopyAttributes", "S S"), ("cuStreamGetAttribute", "S n o"),
    ("cuStreamSetAttribute", "S n z"), ("cuStreamAttachMemAsync", "S D s n"), ("cuThreadExchangeStreamCaptureMode", "z"), ("cuStreamBeginCapture", "S n"),
    ("cuEventQuery", "E"), ("cuEventSynchronize", "E"), ("cuEventDestroy", "E"), ("cuEventRecordWithFlags", "E S n"),
    ("cuLibraryLoadData", "+L x - - n - - n"), ("cuLibraryLoadData", "+L x - - n - - n"), ("cuLibraryUnload", "L"), ("cuLibraryGetKernel", "+K L t"), ("cuLibraryGetKernel", "+K L t"),
    ("cuLibraryGetModule", "+M L"), ("cuLibraryGetGlobal", "+D o L t"), ("cuLibraryGetManaged", "+D o L t"), ("cuLibraryGetKernelCount", "o L"), ("cuLibraryEnumerateKernels", "o n L"),
    ("cuKernelGetFunction", "+F K"), ("cuKernelGetAttribute", "o n K d"), ("cuKernelSetAttribute", "n i K d"), ("cuKernelGetName", "o K"), ("cuKernelGetLibrary", "o K"),
    ("cuKernelGetParamInfo", "K n o o"), ("cuKernelSetCacheConfig", "K n d"),
    ("cuModuleLoadDataEx", "+M x - - -"), ("cuModuleGetFunctionCount", "o M"), ("cuModuleEnumerateFunctions", "o n M"), ("cuModuleLoadFatBinary", "+M x"),
    ("cuFuncGetAttribute", "o n F"), ("cuFuncGetModule", "o F"), ("cuFuncGetName", "o F"), ("cuFuncGetParamInfo", "F n o o"), ("cuFuncLoad", "F"), ("cuFuncIsLoaded", "o F"),
    ("cuFuncSetBlockShape", "F n n n"), ("cuFuncSetSharedSize", "F i"), ("cuParamSetSize", "F i"), ("cuParamSeti", "F i i"), ("cuParamSetv", "F i h b"), ("cuLaunchGrid", "F n n"),
    ("cuLaunchCooperativeKernel", "F n n n n n n b S p"),
    ("cuLinkCreate", "- - - +W"), ("cuLinkDestroy", "W"), ("cuLinkComplete", "W o o"), ("cuLinkAddData", "W n h b t - - -"),
    ("cuGraphGetNodes", "G o c"), ("cuGraphGetRootNodes", "G o c"), ("cuGraphGetEdges", "G o o c"), ("cuGraphNodeGetDependentNodes", "N o c"), ("cuGraphNodeGetType", "N o"),
    ("cuGraphNodeFindInClone", "+N N G"), ("cuGraphKernelNodeGetParams", "N o"), ("cuGraphMemsetNodeGetParams", "N o"), ("cuGraphMemcpyNodeGetParams", "N o"),
    ("cuGraphMemAllocNodeGetParams", "N o"), ("cuGraphMemFreeNodeGetParams", "N o"), ("cuGraphKernelNodeCopyAttributes", "N N"), ("cuGraphKernelNodeGetAttribute", "N n o"),
    ("cuGraphExecChildGraphNodeSetParams", "X N G"), ("cuGraphExecEventRecordNodeSetEvent", "X N E"), ("cuGraphNodeSetEnabled", "X N n"), ("cuGraphUpload", "X S"), ("cuGraphExecGetFlags", "X o"),
    ("cuGraphAddMemcpyNode", "+N G - n v C"), ("cuGraphAddEventWaitNode", "+N G - n E"), ("cuGraphMemcpyNodeSetParams", "N v"), ("cuGraphEventRecordNodeGetEvent", "N o"),
    ("cuMemAddressReserve", "+D u - - -"), ("cuMemAddressFree", "D u"), ("cuMemCreate", "+H u a -"), ("cuMemCreate", "+H u a -"), ("cuMemRelease", "H"),
    ("cuMemMap", "D u - H -"), ("cuMemUnmap", "D u"), ("cuMemSetAccess", "D u f n"), ("cuMemGetAccess", "o f D"), ("cuMemRetainAllocationHandle", "+H D"),
    ("cuMemExportToShareableHandle", "o H n n"), ("cuMemGetAllocationPropertiesFromHandle", "o H"), ("cuIpcGetMemHandle", "o D"), ("cuIpcGetEventHandle", "o E"),
    ("cuStreamWriteValue32", "S D i n"), ("cuStreamWaitValue32", "S D n n"), ("cuStreamWaitValue64", "S D n n"),
    ("cuMipmappedArrayCreate", "+Y z n"), ("cuMipmappedArrayCreate", "+Y z n"), ("cuMipmappedArrayGetLevel", "+A Y n"), ("cuMipmappedArrayDestroy", "Y"),
    ("cuGraphLaunch", "X S"), ("cuGraphInstantiateWithFlags", "+X G n"),
];

/// Returns the meaning of the letter.
fn kind(letter: u8) -> Option<Kind> {
    Some(match letter {
        b'A' => Kind::Array,
        b'C' => Kind::Context,
        b'D' => Kind::Memory,
        b'E' => Kind::Event,
        b'F' => Kind::Function,
        b'G' => Kind::Graph,
        b'H' => Kind::Physical,
        b'K' => Kind::Kernel,
        b'L' => Kind::Library,
        b'M' => Kind::Module,
        b'N' => Kind::Node,
        b'P' => Kind::Pool,
        b'S' => Kind::Stream,
        b'V' => Kind::View,
        b'W' => Kind::Link,
        b'X' => Kind::Executable,
        b'Y' => Kind::Mipmap,
        _ => return None,
    })
}

/// Numbers that mean something in structures: extents, formats with a number of channels, and nonsense.
const WORDS: [u64; 12] = [0, 1, 2, 3, 4, 16, 64, 0x1_0000_0020, 0x4_0000_0001, 0x2_0000_0010, 1 << 40, u64::MAX];

/// Makes one call.
pub fn call(which: u8, [a, b, c]: [u32; 3], given: &Given) -> (CUresult, Option<(Kind, usize)>) {
    let index = usize::from(which - FIRST_LISTED);
    let (_, signature) = FUNCTIONS[index];
    let mut numbers = Numbers(u64::from(a) << 32 ^ u64::from(b) << 16 ^ u64::from(c));
    let text = module_text(a, b);
    let names = [c"counter", c"managed", KERNELS[0], KERNELS[1], KERNELS[2], KERNELS[4]];
    let mut result = None;
    // Each argument has memory of its own, in case it is a pointer.
    let mut arguments = [0u64; ARGUMENTS];
    let letters = signature.split(' ').filter(|letter| !letter.is_empty());
    for (index, (argument, letter)) in arguments.iter_mut().zip(letters).enumerate() {
        let place = argument_memory(index);
        // SAFETY: the place has a megabyte, is never freed, and only this thread uses it. Nothing reads a reference to it.
        let put = |index: usize, value: u64| unsafe { place.add(index).write_volatile(value) };
        let mut choice = || numbers.next();
        *argument = match letter.as_bytes() {
            [b'+', letter] => {
                put(0, 0);
                result = kind(*letter).map(|kind| (kind, place));
                if choice().is_multiple_of(32) { 0 } else { place.expose_provenance() as u64 }
            }
            b"n" => u64::from(choice() % 20),
            b"i" => u64::from([0, 1, 2, 100, choice(), u32::MAX][choice() as usize % 6]),
            b"s" => size(choice()) as u64,
            b"b" => u64::from(choice() % 256),
            b"u" => u64::from(choice() % 4) * (2 << 20),
            b"d" => u64::from([0, 0, 0, 0, 0, 0, 1, u32::MAX][choice() as usize % 8]),
            b"-" => 0,
            // A graph may keep it.
            b"h" => own_memory().expose_provenance() as u64,
            b"t" => names[choice() as usize % names.len()].as_ptr().expose_provenance() as u64,
            b"x" => text.as_ptr().expose_provenance() as u64,
            // The parameters of a kernel: each is a pointer to the place.
            b"p" => {
                (0..8).for_each(|index| put(index, place.expose_provenance() as u64));
                place.expose_provenance() as u64
            }
            [letter @ (b'o' | b'c' | b'z' | b'q' | b'a' | b'f' | b'r' | b'm' | b'v')] => {
                (0..64).for_each(|index| put(index, 0));
                let handle = |kind, choice| given.pick(kind, choice) as u64;
                match letter {
                    b'c' => put(0, u64::from(choice() % 4)),
                    b'z' => (0..8).for_each(|index| put(index, WORDS[choice() as usize % WORDS.len()])),
                    // Pinned, on the device.
                    b'a' => [1, 1].into_iter().enumerate().for_each(|(index, value)| put(index, value)),
                    b'f' => [1, u64::from(choice() % 4)].into_iter().enumerate().for_each(|(index, value)| put(index, value)),
                    b'q' => [1, 1].into_iter().enumerate().for_each(|(index, value)| put(index, value)),
                    b'r' => {
                        let kind = choice() % 4;
                        put(0, kind.into());
                        put(1, handle(if kind < 2 { Kind::Array } else { Kind::Memory }, choice()));
                        (2..6).for_each(|index| put(index, WORDS[choice() as usize % WORDS.len()]));
                    }
                    // Source and target are in device memory or in arrays, and have offsets, pitches, and sizes.
                    b'm' | b'v' => {
                        let words = if *letter == b'm' { 16 } else { 25 };
                        (0..words).for_each(|index| put(index, WORDS[choice() as usize % WORDS.len()]));
                        let ends: &[[usize; 4]] =
                            if *letter == b'm' { &[[2, 3, 4, 5], [9, 10, 11, 12]] } else { &[[4, 5, 6, 7], [14, 15, 16, 17]] };
                        for [kind, host, device, array] in ends {
                            put(*kind, u64::from(2 + choice() % 2));
                            put(*host, 0);
                            put(*device, handle(Kind::Memory, choice()));
                            put(*array, handle(Kind::Array, choice()));
                        }
                        if *letter == b'v' {
                            [8, 18].into_iter().for_each(|index| put(index, 0));
                        }
                    }
                    _ => {}
                }
                if choice().is_multiple_of(32) { 0 } else { place.expose_provenance() as u64 }
            }
            [letter] => given.pick(kind(*letter).expect("a letter of the list"), choice()) as u64,
            other => unreachable!("{other:?}"),
        };
    }
    let function = std::ptr::with_exposed_provenance::<c_void>(addresses()[index]);
    // SAFETY: this is the address of the listed function. Its arguments are integers and pointers, each of which takes one place of 8 bytes in
    // the C calling convention of 64-bit systems, and places that a function does not look at do no harm. Pointers are null or to live
    // memory that is large enough for what the API says; handles may be anything, because the driver looks them up.
    let function: extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> CUresult =
        unsafe { std::mem::transmute(function) };
    let [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11] = arguments;
    let code = function(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11);
    // SAFETY: the place is never freed.
    let value = result.map(|(kind, place)| (kind, unsafe { place.read_volatile() } as usize));
    (code, value.filter(|(_, value)| code == CUresult::CUDA_SUCCESS && *value != 0))
}

/// Returns the listed functions' addresses, in the versions of CUDA 12.0.
fn addresses() -> &'static [usize] {
    static ADDRESSES: OnceLock<Vec<usize>> = OnceLock::new();
    let address = |name: &str| {
        let mut function = null_mut::<c_void>();
        let name = CString::new(name).expect("names have no NUL");
        let result = cu!(cuGetProcAddress_v2(name.as_ptr(), &mut function, 12000, 0, null_mut()));
        assert!(result == CUresult::CUDA_SUCCESS && !function.is_null(), "{name:?}: {result:?}");
        function.expose_provenance()
    };
    ADDRESSES.get_or_init(|| FUNCTIONS.iter().map(|(name, _)| address(name)).collect())
}

/// Numbers from one number.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u32 {
        // The multiplier of a well-known generator (Knuth's MMIX).
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }
}
