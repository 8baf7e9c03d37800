//! The device, as its profile describes it.

use simt::Profile;

use super::prelude::*;
use crate::attributes;
use crate::ffi::{DeviceProperties, Uuid};
use crate::occupancy::WARP_SIZE;

/// The device's address on the bus: domain, bus, device, function. There is no real bus, so nothing else can be there.
const PCI_BUS_ID: &str = "0000:00:00.0";

/// `CU_DEVICE_ATTRIBUTE_…` numbers that [`DeviceProperties`] repeats.
const TOTAL_CONSTANT_MEMORY: u32 = 9;
const MAX_PITCH: u32 = 11;
const TEXTURE_ALIGNMENT: u32 = 14;

/// Returns the profile's ID. It is the same in every process, and no real device has it.
fn uuid(profile: &Profile) -> Uuid {
    let mut bytes = *b"simcuda\0\0\0\0\0\0\0\0\0";
    for (target, byte) in bytes[8..].iter_mut().zip(profile.name.bytes()) {
        *target = byte;
    }
    Uuid(bytes)
}

exports! {
    fn cuDeviceGet(device: Out<DeviceId>, ordinal: i32) =>
        driver().and_then(|_| device.put_made(|| if ordinal == DEVICE { Ok(DEVICE) } else { CuResult::INVALID_DEVICE.err() }));

    fn cuDeviceGetCount(count: Out<i32>) => driver().and_then(|_| count.put(1));
    fn cuDeviceGetName(name: Out<c_char>, capacity: i32, device: DeviceId) =>
        name.put_text(driver_of(device)?.profile.product, usize::try_from(capacity).unwrap_or(0));
    fn cuDeviceGetUuid | cuDeviceGetUuid_v2(uuid: Out<Uuid>, device: DeviceId) => uuid.put(self::uuid(driver_of(device)?.profile));
    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: DeviceId) => bytes.put(driver_of(device)?.profile.memory_bytes as usize);

    fn cuDeviceGetAttribute(value: Out<i32>, attribute: u32, device: DeviceId) {
        let driver = driver_of(device)?;
        value.check()?;
        let found = attributes::attribute(driver.profile, attribute);
        value.put(found.ok_or_else(|| CuResult::INVALID_VALUE.because(format!("there is no device attribute {attribute}")))?)
    }

    fn cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: DeviceId) {
        let driver = driver_of(device)?;
        minor.check()?;
        major.put(driver.profile.compute_capability.0 as i32)?;
        minor.put(driver.profile.compute_capability.1 as i32)
    }

    fn cuDeviceGetProperties(properties: Out<DeviceProperties>, device: DeviceId) {
        let profile = driver_of(device)?.profile;
        let attribute = |number| attributes::attribute(profile, number).unwrap_or(0);
        properties.put(DeviceProperties {
            max_threads_per_block: profile.max_threads_per_block as i32,
            max_threads_dim: profile.max_block.map(|extent| extent as i32),
            max_grid_size: profile.max_grid.map(|extent| extent as i32),
            shared_mem_per_block: profile.shared_bytes_per_block as i32,
            total_constant_memory: attribute(TOTAL_CONSTANT_MEMORY),
            simd_width: WARP_SIZE as i32,
            mem_pitch: attribute(MAX_PITCH),
            regs_per_block: profile.registers_per_block as i32,
            clock_rate: profile.clock_khz as i32,
            texture_align: attribute(TEXTURE_ALIGNMENT),
        })
    }

    fn cuDeviceGetPCIBusId(id: Out<c_char>, capacity: i32, device: DeviceId) {
        driver_of(device)?;
        match usize::try_from(capacity) {
            Ok(capacity) if capacity > PCI_BUS_ID.len() => id.put_text(PCI_BUS_ID, capacity),
            _ => CuResult::INVALID_VALUE.err(),
        }
    }

    fn cuDeviceGetByPCIBusId(device: Out<DeviceId>, id: Text) {
        driver()?;
        device.check()?;
        match id.read()? {
            id if id.eq_ignore_ascii_case(PCI_BUS_ID) => device.put(DEVICE),
            id if id.contains(':') => CuResult::INVALID_DEVICE.err(),
            _ => CuResult::INVALID_VALUE.err(),
        }
    }

    /// Answers no: a device is not its own peer, and there is no other.
    fn cuDeviceCanAccessPeer(can: Out<i32>, device: DeviceId, peer: DeviceId) =>
        driver_of(device).and(driver_of(peer)).and_then(|_| can.put(0));

    /// Refuses the devices: with one device, both are the same, and that is not a pair.
    fn cuDeviceGetP2PAttribute(value: Out<i32>, _attribute: u32, source: DeviceId, target: DeviceId) =>
        driver_of(source).and(driver_of(target)).and(value.check()).and(CuResult::INVALID_DEVICE.err());

    /// Execution affinity (type 0: a number of multiprocessors) needs MPS.
    fn cuDeviceGetExecAffinitySupport(supported: Out<i32>, kind: u32, device: DeviceId) =>
        driver_of(device).and_then(|_| if kind == 0 { supported.put(0) } else { CuResult::INVALID_VALUE.err() });
}
