//! Memory of the device, and of the host where the device can access it.

use std::ffi::c_void;

use crate::compat::Version;
use crate::context;
use crate::driver::{self, Location};
use crate::error::{Code, Result};
use crate::export::exports;
use crate::pointer::{Address, Handle, Ptr};
use crate::shapes::{Extent, Pitched};

/// The access that pitched memory is made for; the runtime does not say how large the elements are.
const ELEMENT_BYTES: u32 = 4;

/// `CU_POINTER_ATTRIBUTE_…`
const MEMORY_TYPE: u32 = 2;
const DEVICE_POINTER: u32 = 3;
const HOST_POINTER: u32 = 4;
const IS_MANAGED: u32 = 8;
const DEVICE_ORDINAL: u32 = 9;

/// `cudaMemoryTypeManaged`, and the device of memory that CUDA does not know. Its type is 0, `cudaMemoryTypeUnregistered`.
const MANAGED: u32 = 3;
const NO_DEVICE: i32 = -2;

/// `cudaPointerAttributes`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct PointerAttributes {
    memory_type: u32,
    device: i32,
    device_pointer: Address,
    host_pointer: Address,
}

/// The bytes that CUDA 13 reserves at the end of `cudaPointerAttributes`.
type Reserved = [u64; 8];

/// Allocates rows. The runtime allows a size of 0 and returns null for it, unlike the driver.
fn pitched(width: usize, height: usize) -> Result<(Address, usize)> {
    context::ensure()?;
    let (mut address, mut pitch) = (0, 0);
    if width > 0 && height > 0 {
        driver::cuMemAllocPitch_v2(Ptr::to(&mut address), Ptr::to(&mut pitch), width, height, ELEMENT_BYTES)?;
    }
    Ok((address, pitch))
}

/// Allocates with a driver function. A size of 0 returns null, because the driver refuses it.
fn allocate(out: Ptr<Address>, bytes: usize, allocate: impl FnOnce(Ptr<Address>) -> Result) -> Result {
    out.check()?;
    context::ensure()?;
    if bytes == 0 { out.put(0) } else { allocate(out) }
}

fn host(out: Ptr<Ptr<c_void>>, bytes: usize, flags: u32) -> Result {
    out.check()?;
    context::ensure()?;
    driver::cuMemHostAlloc(out, bytes, flags)
}

/// Returns the location of memory. CUDA 12 passes a device, and -1 means the host. CUDA 13 passes a location; its two fields share a
/// register.
fn location(place: u64) -> Location {
    match Version::current() {
        Version::Cuda12 if place as i32 == -1 => Location { kind: 2, id: 0 },
        Version::Cuda12 => Location { kind: 1, id: place as i32 },
        Version::Cuda13 => Location { kind: place as u32, id: (place >> 32) as i32 },
    }
}

fn attribute<T: Default>(attribute: u32, address: Address) -> Result<T> {
    Ptr::written(|value: Ptr<T>| driver::cuPointerGetAttribute(value.cast(), attribute, address))
}

exports! {
    forward {
        // Freeing null is what programs do to make a context.
        cudaFree => ensure() cuMemFree_v2(address: Address);
        cudaFreeHost => ensure() cuMemFreeHost(address: Ptr<c_void>);
        cudaHostRegister => ensure() cuMemHostRegister_v2(address: Ptr<c_void>, bytes: usize, flags: u32);
        cudaHostUnregister => ensure() cuMemHostUnregister(address: Ptr<c_void>);
        cudaHostGetDevicePointer => ensure() cuMemHostGetDevicePointer_v2(device: Ptr<Address>, host: Ptr<c_void>, flags: u32);
        cudaHostGetFlags => ensure() cuMemHostGetFlags(flags: Ptr<u32>, host: Ptr<c_void>);
        cudaMemGetInfo => ensure() cuMemGetInfo_v2(free: Ptr<usize>, total: Ptr<usize>);
        cudaMemPrefetchAsync_v2 cudaMemPrefetchAsync_v2_ptsz => ensure()
            cuMemPrefetchAsync_v2(address: Address, bytes: usize, location: Location, flags: u32, stream: Handle);
        cudaMemPrefetchBatchAsync cudaMemPrefetchBatchAsync_ptsz => ensure() cuMemPrefetchBatchAsync(
            addresses: Ptr<Address>, sizes: Ptr<usize>, count: usize, places: Ptr<Location>, starts: Ptr<usize>, place_count: usize,
            flags: u64, stream: Handle,
        );
        cudaMemRangeGetAttribute => ensure()
            cuMemRangeGetAttribute(data: Ptr<c_void>, data_bytes: usize, attribute: u32, address: Address, bytes: usize);
        cudaMemRangeGetAttributes => ensure() cuMemRangeGetAttributes(
            data: Ptr<Ptr<c_void>>, data_bytes: Ptr<usize>, attributes: Ptr<u32>, count: usize, address: Address, bytes: usize,
        );
        cudaMemAdvise_v2 => ensure() cuMemAdvise_v2(address: Address, bytes: usize, advice: u32, location: Location);
    }

    brief {
        cudaMalloc(address: Ptr<Address>, bytes: usize) => allocate(address, bytes, |address| driver::cuMemAlloc_v2(address, bytes));
        cudaMallocHost(address: Ptr<Ptr<c_void>>, bytes: usize) => host(address, bytes, 0);
        cudaHostAlloc(address: Ptr<Ptr<c_void>>, bytes: usize, flags: u32) => host(address, bytes, flags);
        [cudaMallocAsync cudaMallocAsync_ptsz](address: Ptr<Address>, bytes: usize, stream: Handle) =>
            allocate(address, bytes, |address| driver::cuMemAllocAsync(address, bytes, stream));
        [cudaMallocFromPoolAsync cudaMallocFromPoolAsync_ptsz](address: Ptr<Address>, bytes: usize, pool: Handle, stream: Handle) =>
            allocate(address, bytes, |address| driver::cuMemAllocFromPoolAsync(address, bytes, pool, stream));
    }

    after {
        [cudaFreeAsync cudaFreeAsync_ptsz](address: Address, stream: Handle) => ensure(),
            if address == 0 { Ok(()) } else { driver::cuMemFreeAsync(address, stream) };
        cudaMemAdvise(address: Address, bytes: usize, advice: u32, place: u64) => ensure(),
            cuMemAdvise_v2(address, bytes, advice, location(place));
    }

    fn cudaMallocManaged(address: Ptr<Address>, bytes: usize, flags: u32) {
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        allocate(address, bytes, |address| driver::cuMemAllocManaged(address, bytes, flags))
    }

    fn cudaMallocPitch(address: Ptr<Address>, pitch: Ptr<usize>, width: usize, height: usize) {
        address.check()?;
        pitch.check()?;
        let (allocated, bytes) = pitched(width, height)?;
        address.put(allocated)?;
        pitch.put(bytes)
    }

    fn cudaMalloc3D(out: Ptr<Pitched>, extent: Extent) {
        out.check()?;
        let rows = extent.height.checked_mul(extent.depth).ok_or(Code::INVALID_VALUE)?;
        let (address, pitch) = pitched(extent.width, rows)?;
        out.put(Pitched { address, pitch, width: extent.width, height: extent.height })
    }

    // After the place, CUDA 12 passes a stream; CUDA 13 passes flags and a stream.
    fn [cudaMemPrefetchAsync cudaMemPrefetchAsync_ptsz](address: Address, bytes: usize, place: u64, next: usize, last: usize) {
        context::ensure()?;
        let (flags, stream) = match Version::current() {
            Version::Cuda12 => (0, next),
            Version::Cuda13 => (next as u32, last),
        };
        cuMemPrefetchAsync_v2(address, bytes, location(place), flags, stream)
    }

    fn cudaPointerGetAttributes(attributes: Ptr<PointerAttributes>, address: Address) {
        attributes.check()?;
        context::ensure()?;
        if Version::current() == Version::Cuda13 {
            attributes.offset_bytes(size_of::<PointerAttributes>()).put(Reserved::default())?;
        }
        let Ok(memory_type) = attribute::<u32>(MEMORY_TYPE, address) else {
            return attributes.put(PointerAttributes { device: NO_DEVICE, host_pointer: address, ..PointerAttributes::default() });
        };
        let is_managed = attribute::<u32>(IS_MANAGED, address).is_ok_and(|managed| managed != 0);
        attributes.put(PointerAttributes {
            memory_type: if is_managed { MANAGED } else { memory_type },
            device: attribute(DEVICE_ORDINAL, address).unwrap_or_default(),
            device_pointer: attribute(DEVICE_POINTER, address).unwrap_or_default(),
            host_pointer: attribute(HOST_POINTER, address).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_nvidias_headers() {
        // CUDA 13 reserves more.
        assert_eq!(size_of::<PointerAttributes>(), 24);
        assert_eq!(size_of::<PointerAttributes>() + size_of::<Reserved>(), 88);
        assert_eq!(size_of::<Pitched>(), 32);
        assert_eq!(size_of::<Extent>(), 24);
    }
}
