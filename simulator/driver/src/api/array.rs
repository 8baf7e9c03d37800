//! Arrays: images that textures and surfaces read. They are stored row by row, layer by layer.

use std::sync::Arc;

use simt::texture::{Format, ImageView};

use super::context::{self, Context};
use crate::allocations::MemoryKind;
use crate::driver::Driver;
use crate::export::exports;
use crate::ffi::{Array3DDescriptor, ArrayDescriptor, In, Out};
use crate::handles::{Handle, Kind};
use crate::result::{CuResult, Result};

/// `CUDA_ARRAY3D_LAYERED`, `_SURFACE_LDST`, `_TEXTURE_GATHER`: the flags that arrays here can have.
const LAYERED: u32 = 1;
const FLAGS: u32 = LAYERED | 2 | 8;

/// An array.
#[derive(Debug)]
pub struct Array {
    context: Arc<Context>,
    descriptor: Array3DDescriptor,
    pub view: ImageView,
}

impl Kind for Array {
    const BAD_HANDLE: CuResult = CuResult::INVALID_HANDLE;

    fn context(&self) -> Option<Handle> {
        Some(self.context.handle)
    }
}

/// The array with this handle.
pub fn get(handle: Handle) -> Result<Arc<Array>> {
    crate::driver::driver()?.handles.get(handle)
}

/// What a `CUarray_format` is.
pub fn format(number: u32) -> Result<Format> {
    Ok(match number {
        1 => Format::Unsigned(8),
        2 => Format::Unsigned(16),
        3 => Format::Unsigned(32),
        8 => Format::Signed(8),
        9 => Format::Signed(16),
        10 => Format::Signed(32),
        0x10 => Format::Float(16),
        0x20 => Format::Float(32),
        _ => return CuResult::INVALID_VALUE.err(),
    })
}

impl Array {
    /// Refuses bytes beyond its end.
    pub fn check(&self, offset: usize, bytes: usize) -> Result<()> {
        let all = self.view.slice as usize * (self.view.extent[2] * self.view.layers) as usize;
        if offset.checked_add(bytes).is_some_and(|end| end <= all) { Ok(()) } else { CuResult::INVALID_VALUE.err() }
    }
}

fn create(descriptor: Array3DDescriptor) -> Result<Handle> {
    let (driver, context) = context::current()?;
    let Array3DDescriptor { width, height, depth, format, channels, flags } = descriptor;
    if flags & !FLAGS != 0 {
        return Err(CuResult::NOT_SUPPORTED
            .because("cube maps, depth textures, and sparse arrays are not supported by the simulator; use a layered array"));
    }
    let format = self::format(format)?;
    let is_layered = flags & LAYERED != 0;
    let (planes, layers) = if is_layered { (1, depth.max(height.min(1))) } else { (depth.max(1), 1) };
    // A layered array without a height has rows as its layers.
    if width == 0 || !matches!(channels, 1 | 2 | 4) || (is_layered && depth == 0) || (!is_layered && depth > 0 && height == 0) {
        return CuResult::INVALID_VALUE.err();
    }
    let side = |side: usize| u32::try_from(side).map_err(|_| CuResult::INVALID_VALUE);
    let extent = [side(width)?, side(height.max(1))?, side(planes)?];
    let texel = format.bytes() as usize * channels as usize;
    let bytes = [width, texel, height.max(1), planes, layers].into_iter().try_fold(1_usize, usize::checked_mul);
    let bytes = bytes.ok_or(CuResult::OUT_OF_MEMORY)?;
    let capacity = driver.profile.memory_bytes;
    let address = driver.allocations.allocate(&driver.memory, capacity, bytes, MemoryKind::Device, context.handle)?;
    let pitch = (width * texel) as u64;
    let slice = pitch * u64::from(extent[1]);
    let view = ImageView { address, extent, layers: side(layers)?, pitch, slice, format, channels };
    let handle = driver.handles.reserve();
    driver.handles.insert_at(handle, Array { context, descriptor, view });
    Ok(handle)
}

fn destroy(driver: &Driver, array: Handle) -> Result<()> {
    let array = driver.handles.remove::<Array>(array)?;
    driver.allocations.free(&driver.memory, array.view.address, |kind| kind == MemoryKind::Device).map(drop)
}

exports! {
    fn cuArrayCreate_v2(array: Out<Handle>, descriptor: In<ArrayDescriptor>) {
        array.check()?;
        let ArrayDescriptor { width, height, format, channels } = descriptor.read()?;
        array.put(create(Array3DDescriptor { width, height, depth: 0, format, channels, flags: 0 })?)
    }

    fn cuArray3DCreate_v2(array: Out<Handle>, descriptor: In<Array3DDescriptor>) {
        array.check()?;
        array.put(create(descriptor.read()?)?)
    }

    fn cuArrayGetDescriptor_v2(descriptor: Out<ArrayDescriptor>, array: Handle) {
        let Array3DDescriptor { width, height, format, channels, .. } = get(array)?.descriptor;
        descriptor.put(ArrayDescriptor { width, height, format, channels })
    }

    fn cuArray3DGetDescriptor_v2(descriptor: Out<Array3DDescriptor>, array: Handle) {
        descriptor.put(get(array)?.descriptor)
    }

    fn cuArrayDestroy(array: Handle) {
        let (driver, _) = context::current()?;
        driver.captures.check_safe()?;
        destroy(driver, array)
    }
}
