//! Texture and surface objects: how a kernel reads an array, or memory as if it were one.

use std::sync::Arc;

use simt::texture::{Addressing, Binding, Format, ImageView, Texture};

use super::array;
use super::context::{self, Context};
use crate::export::exports;
use crate::ffi::{In, Out, ResourceDescriptor, ResourceViewDescriptor, TextureDescriptor};
use crate::handles::{Handle, Kind};
use crate::lock::lock;
use crate::result::{CuResult, Result};

/// `CU_RESOURCE_TYPE_ARRAY`, `_LINEAR`, `_PITCH2D`
const ARRAY: u32 = 0;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

/// `CU_TRSF_READ_AS_INTEGER`, `_NORMALIZED_COORDINATES`, `_SRGB`
const AS_INTEGER: u32 = 1;
const NORMALIZED: u32 = 2;
const SRGB: u32 = 0x10;

/// A texture object or a surface object.
#[derive(Debug)]
struct Object {
    handle: Handle,
    context: Arc<Context>,
    resource: ResourceDescriptor,
    /// `None` for a surface.
    texture: Option<TextureDescriptor>,
    view: Option<ResourceViewDescriptor>,
}

impl Kind for Object {
    const BAD_HANDLE: CuResult = CuResult::INVALID_VALUE;

    fn context(&self) -> Option<Handle> {
        Some(self.context.handle)
    }
}

/// The image that a resource is.
fn image(resource: &ResourceDescriptor) -> Result<ImageView> {
    let refuse = || Err(CuResult::NOT_SUPPORTED.because("mipmapped arrays are not supported by the simulator; use an array"));
    let of_memory = |width: usize, height: usize, pitch: usize| -> Result<ImageView> {
        let (address, format, channels) = resource.memory();
        let side = |side: usize| u32::try_from(side).map_err(|_| CuResult::INVALID_VALUE);
        let format = array::format(format)?;
        if !matches!(channels, 1 | 2 | 4) || width == 0 || height == 0 {
            return CuResult::INVALID_VALUE.err();
        }
        let pitch = pitch as u64;
        let extent = [side(width)?, side(height)?, 1];
        Ok(ImageView { address, extent, layers: 1, pitch, slice: pitch * height as u64, format, channels })
    };
    match resource.kind {
        ARRAY => Ok(array::get(resource.array())?.view),
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
        1 => refuse(),
        _ => CuResult::INVALID_VALUE.err(),
    }
}

fn addressing(number: u32) -> Result<Addressing> {
    Ok(match number {
        0 => Addressing::Wrap,
        1 => Addressing::Clamp,
        2 => Addressing::Mirror,
        3 => Addressing::Border,
        _ => return CuResult::INVALID_VALUE.err(),
    })
}

fn bind_texture(resource: &ResourceDescriptor, texture: &TextureDescriptor) -> Result<Binding> {
    let image = image(resource)?;
    if texture.flags & SRGB != 0 {
        return Err(
            CuResult::NOT_SUPPORTED.because("textures that convert sRGB are not supported by the simulator; convert in the kernel")
        );
    }
    let [x, y, z] = texture.addressing;
    // Elements outside of linear memory read as zero.
    let addressing =
        if resource.kind == LINEAR { [Addressing::Border; 3] } else { [addressing(x)?, addressing(y)?, addressing(z)?] };
    let is_narrow = matches!(image.format, Format::Unsigned(8 | 16) | Format::Signed(8 | 16));
    Ok(Binding::Texture(Texture {
        image,
        addressing,
        filters: texture.filter == 1 && resource.kind != LINEAR,
        normalized_coordinates: texture.flags & NORMALIZED != 0,
        normalized_values: is_narrow && texture.flags & AS_INTEGER == 0,
    }))
}

fn create(resource: ResourceDescriptor, texture: Option<TextureDescriptor>, view: Option<ResourceViewDescriptor>) -> Result<u64> {
    let (driver, context) = context::current()?;
    let binding = match &texture {
        Some(texture) => bind_texture(&resource, texture)?,
        None if resource.kind == ARRAY => Binding::Surface(image(&resource)?),
        None => return CuResult::INVALID_VALUE.err(),
    };
    let object = driver.handles.insert(|handle| Object { handle, context, resource, texture, view });
    let number = object.handle.number();
    Arc::make_mut(&mut lock(&driver.textures)).insert(number, binding);
    Ok(number)
}

fn get(object: u64) -> Result<Arc<Object>> {
    crate::driver::driver()?.handles.get(Handle::from_number(object))
}

fn destroy(object: u64) -> Result<()> {
    let (driver, _) = context::current()?;
    driver.handles.remove::<Object>(Handle::from_number(object))?;
    Arc::make_mut(&mut lock(&driver.textures)).remove(&object);
    Ok(())
}

exports! {
    fn cuTexObjectCreate(
        object: Out<u64>,
        resource: In<ResourceDescriptor>,
        texture: In<TextureDescriptor>,
        view: In<ResourceViewDescriptor>,
    ) {
        object.check()?;
        let view = if view.is_null() { None } else { Some(view.read()?) };
        object.put(create(resource.read()?, Some(texture.read()?), view)?)
    }

    fn cuTexObjectDestroy(object: u64) {
        destroy(object)
    }

    fn cuTexObjectGetResourceDesc(resource: Out<ResourceDescriptor>, object: u64) {
        resource.put(get(object)?.resource)
    }

    fn cuTexObjectGetTextureDesc(texture: Out<TextureDescriptor>, object: u64) {
        texture.put(get(object)?.texture.ok_or(CuResult::INVALID_VALUE)?)
    }

    fn cuTexObjectGetResourceViewDesc(view: Out<ResourceViewDescriptor>, object: u64) {
        view.put(get(object)?.view.ok_or(CuResult::INVALID_VALUE)?)
    }

    fn cuSurfObjectCreate(object: Out<u64>, resource: In<ResourceDescriptor>) {
        object.check()?;
        object.put(create(resource.read()?, None, None)?)
    }

    fn cuSurfObjectDestroy(object: u64) {
        destroy(object)
    }

    fn cuSurfObjectGetResourceDesc(resource: Out<ResourceDescriptor>, object: u64) {
        resource.put(get(object)?.resource)
    }
}
