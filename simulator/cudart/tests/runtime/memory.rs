//! Memory that is managed, from pools, or of other devices and processes.

use std::ptr::null_mut;

use crate::support::*;

api! {
    fn cudaMallocManaged(address: &mut u64, bytes: usize, flags: u32);
    fn cudaMemAdvise(address: u64, bytes: usize, advice: u32, place: u64);
    fn cudaMemAdvise_v2(address: u64, bytes: usize, advice: u32, place: Location);
    fn cudaMemPrefetchAsync(address: u64, bytes: usize, place: u64, next: usize, last: usize);
    fn cudaMemPrefetchAsync_v2(address: u64, bytes: usize, place: Location, flags: u32, stream: Stream);
    fn cudaMemPrefetchBatchAsync(
        addresses: &u64, sizes: &usize, count: usize, places: &Location, starts: &usize, place_count: usize, flags: u64, stream: Stream,
    );
    fn cudaMemRangeGetAttribute(data: *mut i32, bytes: usize, attribute: u32, address: u64, range: usize);
    fn cudaMemRangeGetAttributes(
        data: *mut *mut i32, sizes: *const usize, attributes: *const u32, count: usize, address: u64, range: usize,
    );
    fn cudaStreamAttachMemAsync(stream: Stream, address: u64, bytes: usize, flags: u32);
    fn cudaMemPoolCreate(pool: &mut usize, properties: &PoolProperties);
    fn cudaMemPoolDestroy(pool: usize);
    fn cudaMallocFromPoolAsync(address: &mut u64, bytes: usize, pool: usize, stream: Stream);
    fn cudaFreeAsync(address: u64, stream: Stream);
    fn cudaMemPoolGetAttribute(pool: usize, attribute: u32, value: *mut u64);
    fn cudaMemPoolSetAttribute(pool: usize, attribute: u32, value: &u64);
    fn cudaMemPoolTrimTo(pool: usize, bytes: usize);
    fn cudaDeviceGetDefaultMemPool(pool: &mut usize, device: i32);
    fn cudaDeviceSetMemPool(device: i32, pool: usize);
    fn cudaDeviceGetMemPool(pool: &mut usize, device: i32);
    fn cudaDeviceCanAccessPeer(can: &mut i32, device: i32, peer: i32);
    fn cudaDeviceEnablePeerAccess(peer: i32, flags: u32);
    fn cudaDeviceDisablePeerAccess(peer: i32);
    fn cudaIpcGetMemHandle(handle: &mut Token, address: u64);
    fn cudaIpcOpenMemHandle(address: &mut u64, handle: Token, flags: u32);
    fn cudaIpcCloseMemHandle(address: u64);
    fn cudaIpcGetEventHandle(handle: &mut Token, event: usize);
    fn cudaIpcOpenEventHandle(event: &mut usize, handle: Token);
    fn cudaEventCreateWithFlags(event: &mut usize, flags: u32);
    fn cudaEventRecord(event: usize, stream: Stream);
    fn cudaEventQuery(event: usize);
    fn cudaMemPoolExportToShareableHandle(shareable: &mut i32, pool: usize, kind: u32, flags: u32);
    fn cudaMemPoolImportFromShareableHandle(pool: &mut usize, shareable: usize, kind: u32, flags: u32);
    fn cudaMemPoolExportPointer(data: &mut Token, address: u64);
    fn cudaMemPoolImportPointer(address: &mut u64, pool: usize, data: &Token);
    fn cudaMemcpyPeer(target: u64, target_device: i32, source: u64, source_device: i32, bytes: usize);
}

/// `cudaIpcMemHandle_t`, `cudaIpcEventHandle_t`, `cudaMemPoolPtrExportData`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Token([u8; 64]);

/// `cudaMemLocation`: on the device (1), or the host (2).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    kind: u32,
    id: i32,
}

const DEVICE: Location = Location { kind: 1, id: 0 };
const HOST: Location = Location { kind: 2, id: 0 };

/// The two fields in one word, as CUDA 13 passes them.
const DEVICE_WORD: u64 = 1;
const HOST_WORD: u64 = 2;

/// `cudaMemPoolProps`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolProperties {
    kind: u32,
    handles: u32,
    location: Location,
    rest: [u64; 9],
}

/// `cudaMemRangeAttributePreferredLocation`, `_LastPrefetchLocation`
const PREFERRED: u32 = 2;
const PREFETCHED: u32 = 4;

fn range(attribute: u32, address: u64) -> i32 {
    let mut value = 99;
    returns! { cudaMemRangeGetAttribute(&mut value, 4, attribute, address, 4096) => OK; }
    value
}

fn managed() -> u64 {
    let mut address = 0;
    returns! { cudaMallocManaged(&mut address, 4096, 1) => OK; }
    address
}

/// Gives hints in the words of a version: the host, the device, and a stream after its flags if there are any.
fn hint([host, device]: [u64; 2], prefetch: impl Fn(u64, u64) -> u32) {
    let address = managed();
    // `cudaMemAdviseSetReadMostly` and `_SetPreferredLocation`.
    returns! {
        cudaMemAdvise(address, 4096, 1, device) => OK;
        cudaMemAdvise(address, 4096, 3, host) => OK;
        prefetch(address, device) => OK;
    }
    let (mut mostly, mut preferred) = (9, 9);
    let mut both: [*mut i32; 2] = [&mut mostly, &mut preferred];
    returns! {
        cudaMemRangeGetAttributes(both.as_mut_ptr(), [4, 4].as_ptr(), [1, PREFERRED].as_ptr(), 2, address, 4096) => OK;
    }
    assert_eq!((mostly, preferred, range(PREFETCHED, address)), (1, -1, 0));
    returns! {
        prefetch(address, host) => OK;
        cudaMemAdvise(address, 4096, 3, device) => OK;
    }
    assert_eq!((range(PREFERRED, address), range(PREFETCHED, address)), (0, -1));
    // There is no such advice, and no such memory.
    returns! {
        cudaMemAdvise(address, 4096, 7, device) => INVALID_VALUE;
        cudaMemAdvise(address, 8192, 1, device) => INVALID_VALUE;
        prefetch(1 << 20, device) => INVALID_VALUE;
    }
}

#[test]
fn managed_memory_remembers_its_hints() {
    // -1 is the host.
    hint([u64::from(u32::MAX), 0], |address, place| cudaMemPrefetchAsync(address, 4096, place, 0, 0));
    let (address, mut value, mut stream) = (managed(), 0, 0);
    returns! {
        cudaStreamCreate(&mut stream) => OK;
        cudaMemAdvise_v2(address, 4096, 3, DEVICE) => OK;
        cudaMemPrefetchAsync_v2(address, 4096, HOST, 0, stream) => OK;
        cudaMemPrefetchAsync_v2(address, 4096, HOST, 1, stream) => INVALID_VALUE;
    }
    assert_eq!((range(PREFERRED, address), range(PREFETCHED, address)), (0, -1));
    returns! { cudaMemPrefetchBatchAsync(&address, &4096, 1, &DEVICE, &0, 1, 0, stream) => OK; }
    assert_eq!(range(PREFETCHED, address), 0);
    returns! {
        cudaMemRangeGetAttribute(&mut value, 8, PREFERRED, address, 4096) => INVALID_VALUE;
        cudaMemRangeGetAttribute(&mut value, 4, 99, address, 4096) => INVALID_VALUE;
        cudaMemRangeGetAttributes(null_mut(), &4, &1, 0, address, 4096) => INVALID_VALUE;
        // `cudaMemAttachSingle`, then no flag at all.
        cudaStreamAttachMemAsync(stream, address, 0, 4) => OK;
        cudaStreamAttachMemAsync(stream, address, 0, 3) => INVALID_VALUE;
        cudaMallocManaged(&mut 0, 0, 1) => INVALID_VALUE;
        cudaMallocManaged(&mut 0, 4, 4) => INVALID_VALUE;
    }
}

#[test]
fn managed_memory_remembers_the_hints_of_cuda_13() {
    // After the place there are flags.
    with_cuda_13("memory::managed_memory_remembers_the_hints_of_cuda_13", || {
        hint([HOST_WORD, DEVICE_WORD], |address, place| cudaMemPrefetchAsync(address, 4096, place, 0, 0));
        assert_eq!(cudaMemPrefetchAsync(managed(), 4096, HOST_WORD, 1, 0), INVALID_VALUE);
    });
}

#[test]
fn a_kernel_uses_managed_memory() {
    let address = managed();
    returns! { cudaMemcpy(address, at(&[5_u32, 6]), 8, DEFAULT) => OK; }
    launch(kernel(INCREMENT, c"increment"), Dim3(1, 1, 1), Dim3(32, 1, 1), &mut [address, 2]);
    assert_eq!(back::<u32>(address, 2), [6, 7]);
}

#[test]
fn memory_comes_from_a_pool_and_goes_back_to_it() {
    // `cudaMemAllocationTypePinned`
    let properties = PoolProperties { kind: 1, handles: 0, location: DEVICE, rest: [0; 9] };
    let (mut pool, mut default, mut current, mut address) = (0, 0, 0, 0);
    returns! {
        cudaMemPoolCreate(&mut pool, &properties) => OK;
        cudaMallocFromPoolAsync(&mut address, 4096, pool, 0) => OK;
        cudaMemcpy(address, at(&[41_u32]), 4, TO_DEVICE) => OK;
    }
    launch(kernel(INCREMENT, c"increment"), Dim3(1, 1, 1), Dim3(1, 1, 1), &mut [address, 1]);
    assert_eq!(back::<u32>(address, 1), [42]);
    // `cudaMemPoolAttrReleaseThreshold`, `_UsedMemCurrent`, `_UsedMemHigh`
    let value = |attribute| {
        let mut value = 99;
        returns! { cudaMemPoolGetAttribute(pool, attribute, &mut value) => OK; }
        value
    };
    assert_eq!((value(7), value(8)), (4096, 4096));
    returns! {
        cudaFreeAsync(address, 0) => OK;
        cudaDeviceSynchronize() => OK;
        cudaMemPoolTrimTo(pool, 0) => OK;
        cudaMemPoolSetAttribute(pool, 4, &12345) => OK;
    }
    assert_eq!((value(4), value(7), value(8)), (12345, 0, 4096));
    returns! {
        cudaDeviceGetDefaultMemPool(&mut default, 0) => OK;
        cudaDeviceSetMemPool(0, pool) => OK;
        cudaDeviceGetMemPool(&mut current, 0) => OK;
    }
    assert_eq!(current, pool);
    returns! {
        cudaDeviceSetMemPool(0, default) => OK;
        cudaMemPoolDestroy(pool) => OK;
        cudaMemPoolDestroy(default) => INVALID_VALUE;
        cudaMallocFromPoolAsync(&mut address, 4096, pool, 0) => INVALID_VALUE;
        cudaMemPoolGetAttribute(default, 99, &mut 0) => INVALID_VALUE;
        cudaMemPoolCreate(&mut pool, &PoolProperties { kind: 7, ..properties }) => INVALID_VALUE;
        cudaDeviceGetDefaultMemPool(&mut pool, 1) => INVALID_DEVICE;
    }
}

#[test]
fn the_only_device_has_no_peer() {
    let (mut can, one, other) = (9, on_device(&[7_u32]), on_device(&[0_u32]));
    returns! {
        cudaDeviceCanAccessPeer(&mut can, 0, 0) => OK;
        cudaDeviceCanAccessPeer(&mut can, 0, 1) => INVALID_DEVICE;
        // "Returns cudaErrorInvalidDevice if […] the current device cannot directly access memory from peerDevice", "cudaErrorInvalidValue if
        // flags is not 0", and "cudaErrorPeerAccessNotEnabled if direct access […] has not yet been enabled".
        cudaDeviceEnablePeerAccess(0, 0) => INVALID_DEVICE;
        cudaDeviceEnablePeerAccess(1, 0) => INVALID_DEVICE;
        cudaDeviceEnablePeerAccess(0, 1) => INVALID_VALUE;
        cudaDeviceDisablePeerAccess(0) => 705;
        cudaDeviceDisablePeerAccess(1) => INVALID_DEVICE;
        cudaMemcpyPeer(other, 0, one, 0, 4) => OK;
        cudaMemcpyPeer(other, 0, one, 1, 4) => INVALID_DEVICE;
    }
    assert_eq!((can, back::<u32>(other, 1)), (0, vec![7]));
}

#[cfg(target_os = "linux")]
#[test]
fn another_process_opens_memory_and_events() {
    const TOKENS: &str = "TEST_OF_SHARING";
    const LAZY_PEER_ACCESS: u32 = 1;
    let [memory, mut event] = [on_device(&[7_u32]), 0];
    let mut tokens = [Token([0; 64]); 2];
    // Events without times, for other processes.
    let shown = std::env::var(TOKENS).unwrap_or_else(|_| {
        let mut made = 0;
        returns! {
            cudaEventCreateWithFlags(&mut made, 6) => OK;
            cudaEventRecord(made, 0) => OK;
            cudaIpcGetMemHandle(&mut tokens[0], memory) => OK;
            cudaIpcGetEventHandle(&mut tokens[1], made) => OK;
            cudaIpcGetMemHandle(&mut tokens[0], memory + 4) => INVALID_VALUE;
            // `cudaErrorDeviceUninitialized`: the process that has the memory cannot open it.
            cudaIpcOpenMemHandle(&mut 0, tokens[0], LAZY_PEER_ACCESS) => 201;
        }
        tokens.iter().flat_map(|token| token.0).map(|byte| format!("{byte:02x}")).collect()
    });
    with_variable("memory::another_process_opens_memory_and_events", TOKENS, &shown, || {
        let byte = |at: usize| u8::from_str_radix(&shown[2 * at..2 * at + 2], 16).unwrap();
        let [of_memory, of_event] = [0, 64].map(|first| Token(std::array::from_fn(|at| byte(first + at))));
        let mut opened = 0;
        returns! {
            cudaIpcOpenMemHandle(&mut opened, of_memory, 0) => INVALID_VALUE;
            cudaIpcOpenMemHandle(&mut opened, of_memory, LAZY_PEER_ACCESS) => OK;
        }
        assert_eq!(back::<u32>(opened, 1), [7]);
        let mut shared = 0;
        returns! {
            cudaMemcpy(opened, at(&[8_u32]), 4, TO_DEVICE) => OK;
            cudaIpcCloseMemHandle(opened) => OK;
            cudaIpcCloseMemHandle(opened) => INVALID_VALUE;
            cudaIpcOpenEventHandle(&mut shared, of_event) => OK;
            cudaEventQuery(shared) => OK;
        }
        event = shared as u64;
    });
    // In the first process, the other one has ended.
    if event == 0 {
        assert_eq!(back::<u32>(memory, 1), [8]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_pool_is_exported_and_imported() {
    // Shared by file descriptors.
    let properties = PoolProperties { kind: 1, handles: 1, location: DEVICE, rest: [0; 9] };
    let (mut pool, mut imported, mut descriptor, mut token) = (0, 0, 0, Token([0; 64]));
    let (mut here, mut there) = (0, 0);
    returns! {
        cudaMemPoolCreate(&mut pool, &properties) => OK;
        cudaMallocFromPoolAsync(&mut here, 4096, pool, 0) => OK;
        cudaMemPoolExportToShareableHandle(&mut descriptor, pool, 1, 0) => OK;
        cudaMemPoolExportToShareableHandle(&mut 0, pool, 2, 0) => INVALID_VALUE;
        cudaMemPoolImportFromShareableHandle(&mut imported, descriptor as usize, 1, 0) => OK;
        cudaMemPoolExportPointer(&mut token, here) => OK;
        cudaMemPoolImportPointer(&mut there, imported, &token) => OK;
        cudaMemPoolImportPointer(&mut there, pool, &token) => INVALID_VALUE;
        cudaMemcpy(here, at(&[5_u32]), 4, TO_DEVICE) => OK;
    }
    assert_eq!(back::<u32>(there, 1), [5]);
}
