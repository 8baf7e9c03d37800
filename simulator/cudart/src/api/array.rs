//! Arrays: images that textures and surfaces read.

use super::channel::ChannelFormat;
use crate::context;
use crate::driver::{ArrayDescriptor, functions};
use crate::error::{Code, Result};
use crate::export::exports;
use crate::pointer::{Handle, Ptr};
use crate::shapes::Extent;

fn descriptor(format: Ptr<ChannelFormat>, extent: [usize; 3], flags: u32) -> Result<ArrayDescriptor> {
    context::ensure()?;
    let (format, channels) = format.read()?.of_driver()?;
    Ok(ArrayDescriptor { extent, format, channels, flags })
}

fn create(array: Ptr<Handle>, format: Ptr<ChannelFormat>, extent: [usize; 3], flags: u32) -> Result {
    array.check()?;
    cuArray3DCreate_v2(array, Ptr::to(&mut descriptor(format, extent, flags)?))
}

/// Destroys an array. Null is none, and what is no array is "cudaErrorInvalidValue" to the runtime.
fn free(array: Handle, destroy: fn(Handle) -> Result) -> Result {
    context::ensure()?;
    match if array == 0 { Ok(()) } else { destroy(array) } {
        Err(Code::INVALID_RESOURCE_HANDLE) => Err(Code::INVALID_VALUE),
        freed => freed,
    }
}

functions! {
    fn cuArray3DCreate_v2(array: Ptr<Handle>, descriptor: Ptr<ArrayDescriptor>);
    fn cuArrayDestroy(array: Handle);
    fn cuMipmappedArrayCreate(array: Ptr<Handle>, descriptor: Ptr<ArrayDescriptor>, levels: u32);
    fn cuMipmappedArrayDestroy(array: Handle);
}

exports! {
    forward {
        cudaGetMipmappedArrayLevel => ensure() cuMipmappedArrayGetLevel(level: Ptr<Handle>, array: Handle, number: u32);
    }

    brief {
        cudaMallocArray(array: Ptr<Handle>, format: Ptr<ChannelFormat>, width: usize, height: usize, flags: u32) =>
            create(array, format, [width, height, 0], flags);
        cudaMalloc3DArray(array: Ptr<Handle>, format: Ptr<ChannelFormat>, extent: Extent, flags: u32) =>
            create(array, format, extent.into(), flags);
        cudaMallocMipmappedArray(array: Ptr<Handle>, format: Ptr<ChannelFormat>, extent: Extent, levels: u32, flags: u32) =>
            cuMipmappedArrayCreate(array, Ptr::to(&mut descriptor(format, extent.into(), flags)?), levels);
        cudaFreeArray(array: Handle) => free(array, cuArrayDestroy);
        cudaFreeMipmappedArray(array: Handle) => free(array, cuMipmappedArrayDestroy);
    }

    after {
        cudaGetChannelDesc(format: Ptr<ChannelFormat>, array: Handle) => ensure(),
            format.fill(|| Ok(ChannelFormat::of_array(array)?.0));
    }

    fn cudaArrayGetInfo(format: Ptr<ChannelFormat>, extent: Ptr<[usize; 3]>, flags: Ptr<u32>, array: Handle) {
        context::ensure()?;
        let (found, descriptor) = ChannelFormat::of_array(array)?;
        format.put_if_asked(found);
        extent.put_if_asked(descriptor.extent);
        flags.put_if_asked(descriptor.flags);
        Ok(())
    }
}
