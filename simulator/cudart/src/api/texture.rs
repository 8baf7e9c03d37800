//! Texture and surface objects: how kernels read arrays, or memory as if it were one.

use super::channel::ChannelFormat;
use crate::compat::Version;
use crate::context;
use crate::driver::functions;
use crate::error::{Code, Result};
use crate::export::exports;
use crate::pointer::{Handle, Ptr};

/// `cudaResourceTypeArray`, `_MipmappedArray`, `_Linear`, `_Pitch2D`, which the driver has as well.
const ARRAY: u32 = 0;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

/// `CU_TRSF_READ_AS_INTEGER`, `_NORMALIZED_COORDINATES`, `_SRGB`, `_DISABLE_TRILINEAR_OPTIMIZATION`, `_SEAMLESS_CUBEMAP`
const FLAGS: [u32; 5] = [1, 2, 0x10, 0x20, 0x40];

/// `cudaResourceDesc`, as CUDA 12 has it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Resource {
    kind: u32,
    /// An array, or the address of memory. Only memory has a format and sizes.
    place: u64,
    format: ChannelFormat,
    sizes: [usize; 3],
}

/// `CUDA_RESOURCE_DESC`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct DriverResource {
    kind: u32,
    place: u64,
    format: u32,
    channels: u32,
    sizes: [usize; 3],
    reserved: [u64; 11],
    flags: u32,
}

/// `cudaTextureDesc`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Texture {
    addressing: [u32; 3],
    filter: u32,
    as_float: u32,
    srgb: u32,
    border: [f32; 4],
    normalized: u32,
    anisotropy: u32,
    mipmap: [u32; 4],
    not_trilinear: u32,
    seamless: u32,
}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct DriverTexture {
    addressing: [u32; 3],
    filter: u32,
    flags: u32,
    anisotropy: u32,
    /// A filter, a bias and two limits, as in [`Texture`].
    mipmap: [u32; 4],
    border: [f32; 4],
    reserved: [u32; 12],
}

/// `cudaResourceViewDesc`, as CUDA 12 has it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct View {
    format: u32,
    extent: [usize; 3],
    levels: [u32; 2],
    layers: [u32; 2],
}

/// `CUDA_RESOURCE_VIEW_DESC`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct DriverView {
    view: View,
    reserved: [u32; 16],
}

/// The zeros that CUDA 13 adds to resources and views.
type OfResource = [u64; 10];
type OfView = [u32; 16];

impl Resource {
    /// Returns the same for the driver.
    fn of_driver(self) -> Result<DriverResource> {
        let Self { kind, place, format, sizes } = self;
        if !matches!(kind, LINEAR | PITCHED) {
            return Ok(DriverResource { kind, place, ..DriverResource::default() });
        }
        let (format, channels) = format.of_driver()?;
        Ok(DriverResource { kind, place, format, channels, sizes, ..DriverResource::default() })
    }

    /// Returns the elements, if they are known here.
    fn elements(&self) -> Result<Option<ChannelFormat>> {
        Ok(match self.kind {
            ARRAY => Some(ChannelFormat::of_array(self.place as Handle)?.0),
            PITCHED => Some(self.format),
            _ => None,
        })
    }
}

impl From<DriverResource> for Resource {
    fn from(DriverResource { kind, place, format, channels, sizes, .. }: DriverResource) -> Self {
        Self { kind, place, format: ChannelFormat::of(format, channels), sizes }
    }
}

impl From<DriverView> for View {
    fn from(of_driver: DriverView) -> Self {
        of_driver.view
    }
}

impl From<Texture> for DriverTexture {
    fn from(texture: Texture) -> Self {
        let Texture { addressing, filter, as_float, srgb, border, normalized, anisotropy, mipmap, not_trilinear, seamless } =
            texture;
        let is_set = [as_float == 0, normalized != 0, srgb != 0, not_trilinear != 0, seamless != 0];
        let flags = FLAGS.into_iter().zip(is_set).map(|(flag, is_set)| if is_set { flag } else { 0 }).sum();
        Self { addressing, filter, flags, anisotropy, mipmap, border, reserved: [0; 12] }
    }
}

impl From<DriverTexture> for Texture {
    fn from(DriverTexture { addressing, filter, flags, anisotropy, mipmap, border, .. }: DriverTexture) -> Self {
        let [as_integer, normalized, srgb, not_trilinear, seamless] = FLAGS.map(|flag| u32::from(flags & flag != 0));
        let as_float = 1 - as_integer;
        Self { addressing, filter, as_float, srgb, border, normalized, anisotropy, mipmap, not_trilinear, seamless }
    }
}

fn create(object: Ptr<u64>, resource: Ptr<Resource>, texture: Ptr<Texture>, view: Ptr<View>) -> Result {
    object.check()?;
    let (resource, texture) = (resource.read()?, texture.read()?);
    context::ensure()?;
    // "This indicates that a non-float texture was being accessed with linear filtering."
    let reads_integers = texture.as_float == 0 && resource.elements()?.is_some_and(ChannelFormat::is_integer);
    if texture.filter == 1 && reads_integers {
        return Err(Code::INVALID_FILTER_SETTING);
    }
    let mut of_driver = DriverView { view: view.read().unwrap_or_default(), ..DriverView::default() };
    let view = if view.is_null() { Ptr::NULL } else { Ptr::to(&mut of_driver) };
    cuTexObjectCreate(object, Ptr::to(&mut resource.of_driver()?), Ptr::to(&mut texture.into()), view)
}

/// Gives the program what the driver writes. The end that CUDA 13 adds is zero.
fn give<Written: Default, Given: From<Written>, End: Default>(
    out: Ptr<Given>,
    object: u64,
    get: fn(Ptr<Written>, u64) -> Result,
) -> Result {
    out.check()?;
    context::ensure()?;
    out.put(Ptr::written(|written| get(written, object))?.into())?;
    if Version::current() == Version::Cuda13 { out.offset_bytes(size_of::<Given>()).put(End::default()) } else { Ok(()) }
}

functions! {
    fn cuTexObjectCreate(object: Ptr<u64>, resource: Ptr<DriverResource>, texture: Ptr<DriverTexture>, view: Ptr<DriverView>);
    fn cuTexObjectGetResourceDesc(resource: Ptr<DriverResource>, object: u64);
    fn cuTexObjectGetTextureDesc(texture: Ptr<DriverTexture>, object: u64);
    fn cuTexObjectGetResourceViewDesc(view: Ptr<DriverView>, object: u64);
    fn cuSurfObjectCreate(object: Ptr<u64>, resource: Ptr<DriverResource>);
    fn cuSurfObjectGetResourceDesc(resource: Ptr<DriverResource>, object: u64);
    fn cuDeviceGetTexture1DLinearMaxWidth(width: Ptr<usize>, format: u32, channels: u32, device: i32);
}

exports! {
    forward {
        cudaDestroyTextureObject => ensure() cuTexObjectDestroy(object: u64);
        cudaDestroySurfaceObject => ensure() cuSurfObjectDestroy(object: u64);
    }

    brief {
        cudaCreateTextureObject(object: Ptr<u64>, resource: Ptr<Resource>, texture: Ptr<Texture>, view: Ptr<View>) =>
            create(object, resource, texture, view);
        cudaGetTextureObjectResourceDesc(resource: Ptr<Resource>, object: u64) =>
            give::<_, _, OfResource>(resource, object, cuTexObjectGetResourceDesc);
        cudaGetTextureObjectTextureDesc(texture: Ptr<Texture>, object: u64) =>
            give::<_, _, ()>(texture, object, cuTexObjectGetTextureDesc);
        cudaGetTextureObjectResourceViewDesc(view: Ptr<View>, object: u64) =>
            give::<_, _, OfView>(view, object, cuTexObjectGetResourceViewDesc);
        cudaGetSurfaceObjectResourceDesc(resource: Ptr<Resource>, object: u64) =>
            give::<_, _, OfResource>(resource, object, cuSurfObjectGetResourceDesc);
    }

    after {
        cudaCreateSurfaceObject(object: Ptr<u64>, resource: Ptr<Resource>) => ensure(),
            cuSurfObjectCreate(object, Ptr::to(&mut resource.read()?.of_driver()?));
    }

    fn cudaDeviceGetTexture1DLinearMaxWidth(width: Ptr<usize>, format: Ptr<ChannelFormat>, device: i32) {
        context::check_device(device)?;
        let (format, channels) = format.read()?.of_driver()?;
        cuDeviceGetTexture1DLinearMaxWidth(width, format, channels, device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_nvidias_headers() {
        assert_eq!((size_of::<Resource>(), size_of::<Resource>() + size_of::<OfResource>()), (64, 144));
        assert_eq!((size_of::<View>(), size_of::<View>() + size_of::<OfView>()), (48, 112));
        assert_eq!(size_of::<Texture>(), 72);
        assert_eq!((size_of::<DriverResource>(), size_of::<DriverTexture>(), size_of::<DriverView>()), (144, 104, 112));
    }
}
