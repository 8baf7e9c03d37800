//! Texture and surface objects: how a kernel reads an array, or memory as if it were one.
//!
//! Anisotropic filtering is not done: what it reads is not specified, and differs between GPUs.

use simt::Profile;
use simt::texture::{Addressing, Binding, Format, ImageView, Mipmap, Texture};

use super::array::{self, Array, Mipmapped};
use super::prelude::*;
use crate::attributes;
use crate::ffi::{ResourceDescriptor, ResourceViewDescriptor, TextureDescriptor};

/// `CU_RESOURCE_TYPE_ARRAY`, `_MIPMAPPED_ARRAY`, `_LINEAR`, `_PITCH2D`
pub const ARRAY: u32 = 0;
pub const MIPMAPPED: u32 = 1;
pub const LINEAR: u32 = 2;
pub const PITCHED: u32 = 3;

/// `CU_TRSF_READ_AS_INTEGER`, `_NORMALIZED_COORDINATES`, `_SRGB`, `_SEAMLESS_CUBEMAP`
const AS_INTEGER: u32 = 1;
const NORMALIZED: u32 = 2;
const SRGB: u32 = 0x10;
const SEAMLESS: u32 = 0x40;

/// `CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH`
const MAXIMUM_TEXTURE1D_LINEAR_WIDTH: u32 = 69;

/// A texture object or a surface object.
#[derive(Debug)]
struct Object {
    context: Arc<Context>,
    resource: ResourceDescriptor,
    /// `None` for a surface.
    texture: Option<TextureDescriptor>,
    view: Option<ResourceViewDescriptor>,
}

kind!(Object: INVALID_VALUE, of its context);

/// Returns the image that a resource is, without its smaller copies.
pub fn image(resource: &ResourceDescriptor) -> Result<ImageView> {
    let of_memory = |width: usize, height: usize, pitch: usize| -> Result<ImageView> {
        let (address, format, channels) = resource.memory();
        let side = |side: usize| u32::try_from(side).map_err(|_| CuResult::INVALID_VALUE);
        let format = array::format(format)?;
        refuse!(INVALID_VALUE if !matches!(channels, 1 | 2 | 4) || width == 0 || height == 0);
        let (pitch, extent) = (pitch as u64, [side(width)?, side(height)?, 1]);
        let slice = pitch.checked_mul(extent[1].into()).ok_or(CuResult::INVALID_VALUE)?;
        Ok(ImageView { address, extent, layers: 1, pitch, slice, format, channels })
    };
    match resource.kind {
        ARRAY => Ok(find::<Array>(resource.array())?.view),
        LINEAR => {
            let (_, format, channels) = resource.memory();
            let texel = array::format(format)?.bytes() as usize * channels as usize;
            let bytes = resource.linear_bytes();
            of_memory(bytes.checked_div(texel).ok_or(CuResult::INVALID_VALUE)?, 1, bytes)
        }
        PITCHED => {
            let [width, height, pitch] = resource.sides();
            of_memory(width, height, pitch)
        }
        MIPMAPPED => Ok(find::<Mipmapped>(resource.array())?.views[0]),
        _ => CuResult::INVALID_VALUE.err(),
    }
}

/// Returns the parts of a resource that a view shows: its levels and its layers, and how it reads them.
fn viewed(resource: &ResourceDescriptor, view: Option<&ResourceViewDescriptor>) -> Result<Vec<ImageView>> {
    let mut images =
        if resource.kind == MIPMAPPED { find::<Mipmapped>(resource.array())?.views.clone() } else { vec![image(resource)?] };
    let Some(view) = view else { return Ok(images) };
    let [first_level, last_level] = view.levels.map(|level| level as usize);
    let [first_layer, last_layer] = view.layers;
    if first_level > last_level || last_level >= images.len() || first_layer > last_layer || last_layer >= images[0].layers {
        refuse!(INVALID_VALUE);
    }
    images = images[first_level..=last_level].to_vec();
    for image in &mut images {
        // Of a resource without layers, such as a cube, both are 0.
        if last_layer > 0 {
            image.address += u64::from(first_layer) * image.slice * u64::from(image.extent[2]);
            image.layers = last_layer - first_layer + 1;
        }
        if let Some((format, channels)) = view_format(view.format)? {
            refuse!(INVALID_VALUE if format.bytes() * channels != image.texel_bytes());
            (image.format, image.channels) = (format, channels);
        }
    }
    Ok(images)
}

/// Returns the format that a `CUresourceViewFormat` means; `None` for that of the resource.
fn view_format(number: u32) -> Result<Option<(Format, u32)>> {
    use Format::{Float, Signed, Unsigned};
    let formats = [Unsigned(8), Signed(8), Unsigned(16), Signed(16), Unsigned(32), Signed(32), Float(16), Float(32)];
    match number.checked_sub(1) {
        None => Ok(None),
        Some(index) if (index as usize) < 3 * formats.len() => {
            Ok(Some((formats[index as usize / 3], [1, 2, 4][index as usize % 3])))
        }
        Some(index) if index < 34 => {
            Err(CuResult::NOT_SUPPORTED.because("compressed textures are not supported by the simulator; decompress them before"))
        }
        Some(_) => CuResult::INVALID_VALUE.err(),
    }
}

fn addressing(number: u32) -> Result<Addressing> {
    Ok(match number {
        0 => Addressing::Wrap,
        1 => Addressing::Clamp,
        2 => Addressing::Mirror,
        3 => Addressing::Border,
        _ => refuse!(INVALID_VALUE),
    })
}

/// Makes what a kernel reads a texture by.
pub fn bind(resource: &ResourceDescriptor, texture: &TextureDescriptor, view: Option<&ResourceViewDescriptor>) -> Result<Texture> {
    let mut images = viewed(resource, view)?;
    let image = images.remove(0);
    let (filters, normalized_coordinates) = (texture.filter == 1 && resource.kind != LINEAR, texture.flags & NORMALIZED != 0);
    refuse!(
        INVALID_VALUE if resource.kind == MIPMAPPED && !normalized_coordinates,
        "a mipmapped array needs CU_TRSF_NORMALIZED_COORDINATES"
    );
    refuse!(
        NOT_SUPPORTED if texture.flags & SEAMLESS != 0 && filters,
        "filtering across the edges of a cube is not supported by the simulator; leave out CU_TRSF_SEAMLESS_CUBEMAP"
    );
    let [x, y, z] = texture.addressing;
    let addressing = match resource.kind {
        // Elements outside of linear memory read as zero.
        LINEAR => [Addressing::Border; 3],
        _ if texture.flags & SEAMLESS != 0 => [Addressing::Clamp; 3],
        _ => [addressing(x)?, addressing(y)?, addressing(z)?],
    };
    let is_narrow = matches!(image.format, Format::Unsigned(8 | 16) | Format::Signed(8 | 16));
    let [least, greatest] = texture.mipmap_levels;
    Ok(Texture {
        image,
        smaller: images,
        addressing,
        filters,
        normalized_coordinates,
        normalized_values: is_narrow && texture.flags & AS_INTEGER == 0,
        is_srgb: texture.flags & SRGB != 0,
        border: if resource.kind == LINEAR { [0.0; 4] } else { texture.border_color },
        mipmap: Mipmap { filters: texture.mipmap_filter == 1, bias: texture.mipmap_level_bias, least, greatest },
    })
}

/// Refuses memory that no texture can be bound to. "devPtr must be set to a valid device pointer, that is aligned to
/// CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT", the pitch "has to be aligned to CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT", and each side has
/// its greatest value.
fn check_memory(profile: &Profile, resource: &ResourceDescriptor) -> Result<()> {
    let limit = |number| attributes::attribute(profile, number).unwrap_or(0) as usize;
    let image = image(resource)?;
    let (width, [_, height, pitch]) = (image.extent[0] as usize, resource.sides());
    let is_too_large = if resource.kind == LINEAR {
        width > limit(MAXIMUM_TEXTURE1D_LINEAR_WIDTH)
    } else {
        width > limit(70) || height > limit(71) || pitch > limit(72) || !pitch.is_multiple_of(limit(51))
    };
    refuse!(INVALID_VALUE if is_too_large || !image.address.is_multiple_of(limit(14) as u64));
    Ok(())
}

fn create(resource: ResourceDescriptor, texture: Option<TextureDescriptor>, view: Option<ResourceViewDescriptor>) -> Result<u64> {
    let (driver, context) = context::current()?;
    if matches!(resource.kind, LINEAR | PITCHED) {
        check_memory(driver.profile, &resource)?;
    }
    let binding = match &texture {
        Some(texture) => Binding::Texture(bind(&resource, texture, view.as_ref())?),
        // "CUDA_ARRAY3D_SURFACE_LDST: This flag must be set in order to bind a surface reference to the CUDA array."
        None if resource.kind == ARRAY && find::<Array>(resource.array())?.descriptor.flags & array::SURFACE != 0 => {
            Binding::Surface(image(&resource)?)
        }
        None => refuse!(INVALID_VALUE),
    };
    let number = driver.handles.add(Object { context, resource, texture, view }).number();
    Arc::make_mut(&mut driver.textures.lock()).insert(number, binding);
    Ok(number)
}

exports! {
    fn cuTexObjectCreate(
        object: Out<u64>, resource: In<ResourceDescriptor>, texture: In<TextureDescriptor>, view: In<ResourceViewDescriptor>,
    ) =>
        object.put_made(|| {
            let view = if view.is_null() { None } else { Some(view.read()?) };
            create(resource.read()?, Some(texture.read()?), view)
        });

    fn cuTexObjectDestroy | cuSurfObjectDestroy(object: u64) {
        let (driver, _) = context::current()?;
        driver.handles.remove::<Object>(Handle::from_number(object))?;
        Arc::make_mut(&mut driver.textures.lock()).remove(&object);
        Ok(())
    }

    fn cuTexObjectGetResourceDesc | cuSurfObjectGetResourceDesc(resource: Out<ResourceDescriptor>, object: u64) =>
        resource.put(find::<Object>(Handle::from_number(object))?.resource);
    fn cuTexObjectGetTextureDesc(texture: Out<TextureDescriptor>, object: u64) =>
        texture.put(find::<Object>(Handle::from_number(object))?.texture.ok_or(CuResult::INVALID_VALUE)?);
    fn cuTexObjectGetResourceViewDesc(view: Out<ResourceViewDescriptor>, object: u64) =>
        view.put(find::<Object>(Handle::from_number(object))?.view.ok_or(CuResult::INVALID_VALUE)?);

    fn cuSurfObjectCreate(object: Out<u64>, resource: In<ResourceDescriptor>) =>
        object.put_made(|| create(resource.read()?, None, None));

    fn cuDeviceGetTexture1DLinearMaxWidth(width: Out<usize>, format: u32, channels: u32, device: DeviceId) {
        let driver = driver_of(device)?;
        array::format(format)?;
        refuse!(INVALID_VALUE if !matches!(channels, 1 | 2 | 4));
        width.put(attributes::attribute(driver.profile, MAXIMUM_TEXTURE1D_LINEAR_WIDTH).unwrap_or(0) as usize)
    }
}
