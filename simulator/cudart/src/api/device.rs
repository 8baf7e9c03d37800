//! Devices: which there are, which one a thread uses, and what can be set for it.

use std::ffi::{c_char, c_void};

use crate::compat::Version;
use crate::error::{self, Code};
use crate::export::exports;
use crate::pointer::{Handle, Ptr};
use crate::{context, driver};

/// The flags of `cudaSetDeviceFlags`: how to wait, whether host memory is mapped, whether local memory is kept, and whether copies wait.
const DEVICE_FLAGS: u32 = 0x9f;
/// `cudaDeviceMapHost`, which every device does.
const MAP_HOST: u32 = 8;

driver::functions! {
    fn cuCtxEnablePeerAccess(context: Handle, flags: u32);
    fn cuCtxDisablePeerAccess(context: Handle);
}

exports! {
    forward {
        cudaDeviceSynchronize cudaThreadSynchronize => ensure() cuCtxSynchronize();
        cudaDeviceSetLimit cudaThreadSetLimit => ensure() cuCtxSetLimit(limit: u32, value: usize);
        cudaDeviceGetLimit cudaThreadGetLimit => ensure() cuCtxGetLimit(value: Ptr<usize>, limit: u32);
        cudaDeviceSetCacheConfig cudaThreadSetCacheConfig => ensure() cuCtxSetCacheConfig(config: u32);
        cudaDeviceGetCacheConfig cudaThreadGetCacheConfig => ensure() cuCtxGetCacheConfig(config: Ptr<u32>);
        cudaDeviceSetSharedMemConfig => ensure() cuCtxSetSharedMemConfig(config: u32);
        cudaDeviceGetSharedMemConfig => ensure() cuCtxGetSharedMemConfig(config: Ptr<u32>);
        cudaDeviceGetStreamPriorityRange => ensure() cuCtxGetStreamPriorityRange(least: Ptr<i32>, greatest: Ptr<i32>);
        cudaCtxResetPersistingL2Cache => ensure() cuCtxResetPersistingL2Cache();
        cudaDeviceGetPCIBusId => check_device(device) cuDeviceGetPCIBusId(id: Ptr<c_char>, capacity: i32, device: i32);
        cudaDeviceGetByPCIBusId => init() cuDeviceGetByPCIBusId(device: Ptr<i32>, id: Ptr<c_char>);
        cudaDeviceCanAccessPeer => check_devices(device, peer) cuDeviceCanAccessPeer(can: Ptr<i32>, device: i32, peer: i32);
        cudaDeviceGetP2PAttribute => check_devices(source, target)
            cuDeviceGetP2PAttribute(value: Ptr<i32>, attribute: u32, source: i32, target: i32);
        cudaProfilerStart => ensure() cuProfilerStart();
        cudaProfilerStop => ensure() cuProfilerStop();
    }

    brief {
        cudaGetDevice(device: Ptr<i32>) => device.fill(context::device);
        cudaSetDevice(device: i32) => context::set_device(device);
        cudaRuntimeGetVersion(version: Ptr<i32>) => version.put(Version::current().number());
    }

    after {
        cudaDeviceDisablePeerAccess(peer: i32) => ensure(), cuCtxDisablePeerAccess(context::primary(peer)?);
    }

    fn cudaGetDeviceCount(count: Ptr<i32>) {
        count.check()?;
        context::init()?;
        driver::cuDeviceGetCount(count)
    }

    fn cudaInitDevice(device: i32, flags: u32, set_flags: u32) {
        context::check_device(device)?;
        // `cudaInitDeviceFlagsAreValid`
        if set_flags & 1 != 0 { driver::cuDevicePrimaryCtxSetFlags_v2(device, flags & DEVICE_FLAGS & !MAP_HOST) } else { Ok(()) }
    }

    fn cudaDeviceEnablePeerAccess(peer: i32, flags: u32) {
        context::ensure()?;
        let peer = context::primary(peer)?;
        // "Returns cudaErrorInvalidDevice if cudaDeviceCanAccessPeer() indicates that the current device cannot directly access memory".
        cuCtxEnablePeerAccess(peer, flags)
            .map_err(|code| if code == Code::PEER_ACCESS_UNSUPPORTED { Code::INVALID_DEVICE } else { code })
    }

    fn cudaSetValidDevices(devices: Ptr<i32>, count: i32) {
        (0..count.max(0) as usize).try_for_each(|index| {
            context::check_device(devices.offset_bytes::<i32>(index * size_of::<i32>()).read()?)
        })
    }

    fn cudaChooseDevice(device: Ptr<i32>, properties: Ptr<c_void>) {
        // The properties may only ask for what no device has; all that is left is to take the first.
        properties.check()?;
        context::check_device(0)?;
        device.put(0)
    }

    fn cudaSetDeviceFlags(flags: u32) {
        if flags & !DEVICE_FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        driver::cuDevicePrimaryCtxSetFlags_v2(context::device()?, flags & !MAP_HOST)
    }

    fn cudaGetDeviceFlags(flags: Ptr<u32>) {
        let device = context::device()?;
        let found = Ptr::written(|found| driver::cuDevicePrimaryCtxGetState(device, found, Ptr::to(&mut 0)))?;
        flags.put(found | MAP_HOST)
    }

    fn [cudaDeviceReset cudaThreadExit]() {
        context::reset()?;
        error::forget();
        Ok(())
    }

    fn cudaDeviceGetAttribute(value: Ptr<i32>, attribute: u32, device: i32) {
        value.check()?;
        context::check_device(device)?;
        driver::cuDeviceGetAttribute(value, attribute, device)
    }

    fn cudaDriverGetVersion(version: Ptr<i32>) {
        version.check()?;
        driver::cuDriverGetVersion(version)
    }
}
