//! Arrays: images that textures and surfaces read. They are stored row by row, layer by layer.

use simt::Profile;
use simt::texture::{Format, ImageView};

use super::prelude::*;
use crate::allocations::MemoryKind;
use crate::attributes;
use crate::ffi::{Array3DDescriptor, ArrayDescriptor};
use crate::position::Awaited;

/// `CUDA_ARRAY3D_LAYERED`, `_SURFACE_LDST`, `_CUBEMAP`, `_TEXTURE_GATHER`: the flags that arrays here can have.
const LAYERED: u32 = 1;
pub const SURFACE: u32 = 2;
const CUBEMAP: u32 = 4;
const GATHER: u32 = 8;
const FLAGS: u32 = LAYERED | SURFACE | CUBEMAP | GATHER;

/// Where each of the images of a mipmapped array begins.
const LEVEL_ALIGNMENT: u64 = 512;

#[derive(Debug)]
pub struct Array {
    context: Arc<Context>,
    pub descriptor: Array3DDescriptor,
    pub view: ImageView,
    /// True for a level of a mipmapped array, with which it is destroyed.
    is_level: bool,
}

/// An array with smaller copies of itself.
#[derive(Debug)]
pub struct Mipmapped {
    context: Arc<Context>,
    address: u64,
    /// Its levels, each an array.
    levels: Vec<Handle>,
    pub views: Vec<ImageView>,
}

kind!(Mipmapped: INVALID_HANDLE, of its context);
kind!(Array: INVALID_HANDLE, of its context);

/// Returns the format that a `CUarray_format` means.
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
        // `CU_AD_FORMAT_UNORM_INT_101010_2`, `_BC1_UNORM` to `_BC7_UNORM_SRGB`, `_NV12`, `_UNORM_INT8X1` to `_SNORM_INT16X4`
        0x50 | 0x91..=0x9e | 0xb0 | 0xc0..=0xcb => refuse!(
            NOT_SUPPORTED,
            "compressed, planar and normalized formats are not supported by the simulator; use integers, and read them as normalized \
             numbers with cudaReadModeNormalizedFloat, or without CU_TRSF_READ_AS_INTEGER"
        ),
        _ => refuse!(INVALID_VALUE),
    })
}

impl Array {
    /// Refuses bytes beyond its end.
    pub fn check(&self, offset: usize, bytes: usize) -> Result<()> {
        let all = self.view.slice as usize * (self.view.extent[2] * self.view.layers) as usize;
        if offset.checked_add(bytes).is_some_and(|end| end <= all) { Ok(()) } else { CuResult::INVALID_VALUE.err() }
    }
}

/// Refuses sides that the device does not have. The tables of `cuArray3DCreate` name an attribute for each side of each type of array, and
/// others for arrays that surfaces use. A 3D array may also have the sides of an alternative.
fn check_sides(profile: &Profile, descriptor: &Array3DDescriptor) -> Result<()> {
    let &Array3DDescriptor { width, height, depth, flags, .. } = descriptor;
    let (textures, surfaces): (&[[u32; 3]], [u32; 3]) = match (flags & CUBEMAP != 0, flags & LAYERED != 0, height, depth) {
        (true, false, ..) => (&[[52, 52, 0]], [66, 66, 0]),
        (true, true, ..) => (&[[53, 53, 54]], [67, 67, 68]),
        (false, true, 0, _) => (&[[42, 0, 43]], [61, 0, 62]),
        (false, true, ..) => (&[[27, 28, 29]], [63, 64, 65]),
        (false, false, 0, _) => (&[[21, 0, 0]], [55, 0, 0]),
        (false, false, _, 0) if flags & GATHER != 0 => (&[[45, 46, 0]], [56, 57, 0]),
        (false, false, _, 0) => (&[[22, 23, 0]], [56, 57, 0]),
        (false, false, ..) => (&[[24, 25, 26], [47, 48, 49]], [58, 59, 60]),
    };
    let limit = |number| attributes::attribute(profile, number).map_or(usize::MAX, |limit| limit as usize);
    let fits =
        |limits: &[u32; 3]| limits.iter().zip([width, height, depth]).all(|(&number, side)| number == 0 || side <= limit(number));
    refuse!(INVALID_VALUE if !textures.iter().any(fits) || (flags & SURFACE != 0 && !fits(&surfaces)));
    Ok(())
}

/// Returns the image that a descriptor describes, at address 0.
fn shape(profile: &Profile, descriptor: &Array3DDescriptor) -> Result<ImageView> {
    let Array3DDescriptor { width, height, depth, format, channels, flags } = *descriptor;
    refuse!(
        NOT_SUPPORTED if flags & !FLAGS != 0,
        "depth textures and sparse arrays are not supported by the simulator; use an array without these flags"
    );
    let format = self::format(format)?;
    let (is_layered, is_cube) = (flags & LAYERED != 0, flags & CUBEMAP != 0);
    let is_bad_cube = if is_layered { depth == 0 || !depth.is_multiple_of(6) } else { depth != 6 };
    refuse!(INVALID_VALUE if is_cube && (width != height || is_bad_cube));
    let (planes, layers) = if is_layered || is_cube { (1, depth.max(height.min(1))) } else { (depth.max(1), 1) };
    // A layered array without a height has rows as its layers.
    if width == 0 || !matches!(channels, 1 | 2 | 4) || (is_layered && depth == 0) || (!is_layered && depth > 0 && height == 0) {
        refuse!(INVALID_VALUE);
    }
    check_sides(profile, descriptor)?;
    let side = |side: usize| u32::try_from(side).map_err(|_| CuResult::INVALID_VALUE);
    let extent = [side(width)?, side(height.max(1))?, side(planes)?];
    let pitch = u64::from(extent[0]).checked_mul(u64::from(format.bytes() * channels)).ok_or(CuResult::OUT_OF_MEMORY)?;
    let slice = pitch.checked_mul(extent[1].into()).ok_or(CuResult::OUT_OF_MEMORY)?;
    Ok(ImageView { address: 0, extent, layers: side(layers)?, pitch, slice, format, channels })
}

fn bytes(view: &ImageView) -> Result<u64> {
    let planes = u64::from(view.extent[2]) * u64::from(view.layers);
    Ok(view.slice.checked_mul(planes).ok_or(CuResult::OUT_OF_MEMORY)?)
}

fn allocate(driver: &Driver, bytes: u64, context: Handle) -> Result<u64> {
    let bytes = usize::try_from(bytes).map_err(|_| CuResult::OUT_OF_MEMORY)?;
    driver.allocations.lock().allocate(bytes, MemoryKind::Device, context)
}

fn create(descriptor: Array3DDescriptor) -> Result<Handle> {
    let (driver, context) = context::current()?;
    let shape = shape(driver.profile, &descriptor)?;
    let view = ImageView { address: allocate(driver, bytes(&shape)?, context.handle)?, ..shape };
    Ok(driver.handles.add(Array { context, descriptor, view, is_level: false }))
}

/// Makes an array with no more levels than it has sizes. Each level is half as large as the one before, rounded down.
fn create_mipmapped(descriptor: Array3DDescriptor, levels: u32) -> Result<Handle> {
    let (driver, context) = context::current()?;
    let base = shape(driver.profile, &descriptor)?;
    let longest = base.extent.into_iter().max().unwrap_or(1);
    let levels = levels.clamp(1, longest.ilog2() + 1);
    let is_volume = base.extent[2] > 1;
    let (mut shapes, mut end) = (Vec::new(), 0);
    for level in 0..levels {
        let half = |side: usize| if side == 0 { 0 } else { (side >> level).max(1) };
        let Array3DDescriptor { width, height, depth, .. } = descriptor;
        let depth = if is_volume { half(depth) } else { depth };
        let descriptor = Array3DDescriptor { width: half(width), height: half(height), depth, ..descriptor };
        let view = ImageView { address: end, ..shape(driver.profile, &descriptor)? };
        end = (end + bytes(&view)?).next_multiple_of(LEVEL_ALIGNMENT);
        shapes.push((descriptor, view));
    }
    let address = allocate(driver, end, context.handle)?;
    let level = |(descriptor, view): (Array3DDescriptor, ImageView)| {
        let view = ImageView { address: address + view.address, ..view };
        (driver.handles.add(Array { context: context.clone(), descriptor, view, is_level: true }), view)
    };
    let (levels, views): (Vec<Handle>, Vec<ImageView>) = shapes.into_iter().map(level).unzip();
    Ok(driver.handles.add(Mipmapped { context, address, levels, views }))
}

exports! {
    fn cuArrayCreate_v2(array: Out<Handle>, descriptor: In<ArrayDescriptor>) =>
        array.put_made(|| {
        let ArrayDescriptor { width, height, format, channels } = descriptor.read()?;
        create(Array3DDescriptor { width, height, depth: 0, format, channels, flags: 0 })
    });

    fn cuArray3DCreate_v2(array: Out<Handle>, descriptor: In<Array3DDescriptor>) => array.put_made(|| create(descriptor.read()?));

    fn cuArrayGetDescriptor_v2(descriptor: Out<ArrayDescriptor>, array: Handle) {
        let Array3DDescriptor { width, height, format, channels, .. } = find::<Array>(array)?.descriptor;
        descriptor.put(ArrayDescriptor { width, height, format, channels })
    }

    fn cuArray3DGetDescriptor_v2(descriptor: Out<Array3DDescriptor>, array: Handle) =>
        descriptor.put(find::<Array>(array)?.descriptor);

    fn cuArrayDestroy(array: Handle) {
        let (driver, context) = context::current()?;
        driver.captures.lock().check_safe()?;
        refuse!(INVALID_HANDLE if find::<Array>(array)?.is_level, "the array is a level of a mipmapped array; destroy that one");
        context::wait(driver, &context, Awaited::Context(context.handle))?;
        let array = driver.handles.remove::<Array>(array)?;
        driver.allocations.lock().free(array.view.address, |kind| kind == MemoryKind::Device).map(drop)
    }

    fn cuMipmappedArrayCreate(array: Out<Handle>, descriptor: In<Array3DDescriptor>, levels: u32) =>
        array.put_made(|| create_mipmapped(descriptor.read()?, levels));

    fn cuMipmappedArrayGetLevel(level: Out<Handle>, array: Handle, number: u32) => context::current()
        .and_then(|_| level.put_made(|| Ok(*find::<Mipmapped>(array)?.levels.get(number as usize).ok_or(CuResult::INVALID_VALUE)?)));

    fn cuMipmappedArrayDestroy(array: Handle) {
        let (driver, context) = context::current()?;
        driver.captures.lock().check_safe()?;
        context::wait(driver, &context, Awaited::Context(context.handle))?;
        let array = driver.handles.remove::<Mipmapped>(array)?;
        for level in &array.levels {
            driver.handles.remove::<Array>(*level)?;
        }
        driver.allocations.lock().free(array.address, |kind| kind == MemoryKind::Device).map(drop)
    }
}
