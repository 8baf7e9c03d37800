//! Texture and surface references: variables of a module that the host binds to arrays or memory. CUDA 12 calls them deprecated, and drivers
//! still have them.
//!
//! The variable holds the handle of its reference, which kernels look up as that of an object.

use simt::Opaque;
use simt::texture::Binding;

use super::array::{self, Array, Mipmapped};
use super::module::Module;
use super::prelude::*;
use super::texture;
use crate::ffi::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};
use crate::handles::Kind;

/// `CU_TRSA_OVERRIDE_FORMAT`: the reference takes the format of the array. It must be given.
const OVERRIDE_FORMAT: u32 = 1;
/// `CU_TRSF_…`: what a texture can be told.
const FLAGS: u32 = 1 | 2 | 0x10 | 0x20 | 0x40;
/// `CU_AD_FORMAT_FLOAT`
const FLOAT: u32 = 0x20;
/// `CU_TR_ADDRESS_MODE_CLAMP`
const CLAMP: u32 = 1;
/// `CU_PARAM_TR_DEFAULT`, the only unit that a reference can have.
const DEFAULT_UNIT: c_int = -1;

struct TextureReference {
    context: Arc<Context>,
    state: Mutex<State>,
}

struct State {
    resource: Option<ResourceDescriptor>,
    /// The format and the number of channels of memory.
    format: (u32, u32),
    texture: TextureDescriptor,
}

struct SurfaceReference {
    context: Arc<Context>,
    array: Mutex<Handle>,
}

kind!(TextureReference: INVALID_HANDLE, of its context);
kind!(SurfaceReference: INVALID_HANDLE, of its context);

impl TextureReference {
    fn new(context: Arc<Context>) -> Self {
        let texture = TextureDescriptor { addressing: [CLAMP; 3], ..TextureDescriptor::default() };
        Self { context, state: Mutex::new(State { resource: None, format: (FLOAT, 1), texture }) }
    }
}

/// Tells a reference something. What is bound to it is read that way from the next launch on.
fn change(handle: Handle, change: impl FnOnce(&mut State) -> Result<()>) -> Result<()> {
    let driver = driver()?;
    let reference = driver.handles.get::<TextureReference>(handle)?;
    let mut state = reference.state.lock();
    change(&mut state)?;
    if let Some(resource) = &state.resource {
        let binding = Binding::Texture(texture::bind(resource, &state.texture, None)?);
        Arc::make_mut(&mut driver.textures.lock()).insert(handle.number(), binding);
    }
    Ok(())
}

/// Sets how textures are read, if the value is allowed.
fn set(reference: Handle, is_allowed: bool, set: impl FnOnce(&mut TextureDescriptor)) -> Result<()> {
    change(reference, |state| {
        refuse!(INVALID_VALUE if !is_allowed);
        set(&mut state.texture);
        Ok(())
    })
}

fn look<T>(reference: Handle, look: impl FnOnce(&State) -> Result<T>) -> Result<T> {
    look(&find::<TextureReference>(reference)?.state.lock())
}

fn texture(reference: Handle) -> Result<TextureDescriptor> {
    look(reference, |state| Ok(state.texture))
}

/// Finds or makes the reference that a variable of a module holds.
fn of_variable<T: Kind>(module: Handle, name: &str, opaque: Opaque, make: impl FnOnce(Arc<Context>) -> T) -> Result<Handle> {
    let (driver, context) = context::current()?;
    let module = driver.handles.get::<Module>(module)?;
    let image = module.image.image();
    let is_one = image.module().variables().iter().any(|variable| variable.name == name && variable.opaque == Some(opaque));
    let variable = image.variable(name).filter(|_| is_one);
    let (address, _) = variable.ok_or_else(|| CuResult::NOT_FOUND.because(format!("no reference {name:?} in this module")))?;
    let mut held = [0; 8];
    driver.memory.read(address, &mut held)?;
    let held = Handle::from_number(u64::from_le_bytes(held));
    if driver.handles.get::<T>(held).is_ok() {
        return Ok(held);
    }
    let handle = driver.handles.add(make(context));
    driver.memory.write(address, &handle.number().to_le_bytes())?;
    Ok(handle)
}

/// Binds memory, as texels of the format that the reference was told.
fn bind_memory(driver: &Driver, state: &mut State, kind: u32, address: u64, sizes: &[usize], bytes: usize) -> Result<()> {
    let mut last = [0];
    let end = address.checked_add(bytes as u64).filter(|_| bytes > 0).ok_or(CuResult::INVALID_VALUE)?;
    driver.memory.read(address, &mut last)?;
    driver.memory.read(end - 1, &mut last)?;
    state.resource = Some(ResourceDescriptor::of_memory(kind, address, state.format, sizes));
    Ok(())
}

/// Returns the array that a reference is bound to.
fn bound(reference: Handle, kind: u32) -> Result<Handle> {
    look(reference, |state| {
        let resource = state.resource.filter(|resource| resource.kind == kind);
        Ok(resource.ok_or(CuResult::INVALID_VALUE)?.array())
    })
}

exports! {
    fn cuModuleGetTexRef(reference: Out<Handle>, module: Handle, name: Text) =>
        reference.put_made(|| of_variable(module, &name.read()?, Opaque::Texture, TextureReference::new));

    fn cuModuleGetSurfRef(reference: Out<Handle>, module: Handle, name: Text) {
        let make = |context| SurfaceReference { context, array: Mutex::new(Handle::NULL) };
        reference.put_made(|| of_variable(module, &name.read()?, Opaque::Surface, make))
    }

    /// Makes a reference that no kernel knows.
    fn cuTexRefCreate(reference: Out<Handle>) {
        let (driver, context) = context::current()?;
        reference.put_made(|| Ok(driver.handles.add(TextureReference::new(context))))
    }

    fn cuTexRefDestroy(reference: Handle) {
        let driver = driver()?;
        driver.handles.remove::<TextureReference>(reference)?;
        Arc::make_mut(&mut driver.textures.lock()).remove(&reference.number());
        Ok(())
    }

    /// The reference of a module belongs to its kernels anyway.
    fn cuParamSetTexRef(function: Handle, unit: c_int, reference: Handle) {
        super::function::get(function)?;
        look(reference, |_| if unit == DEFAULT_UNIT { Ok(()) } else { CuResult::INVALID_VALUE.err() })
    }

    fn cuTexRefSetArray(reference: Handle, array: Handle, flags: u32) => change(reference, |state| {
        let found = find::<Array>(array)?;
        refuse!(INVALID_VALUE if flags != OVERRIDE_FORMAT);
        state.format = (found.descriptor.format, found.descriptor.channels);
        state.resource = Some(ResourceDescriptor::of_array(texture::ARRAY, array));
        Ok(())
    });

    fn cuTexRefSetMipmappedArray(reference: Handle, array: Handle, flags: u32) => change(reference, |state| {
        find::<Mipmapped>(array)?;
        refuse!(INVALID_VALUE if flags != OVERRIDE_FORMAT);
        state.resource = Some(ResourceDescriptor::of_array(texture::MIPMAPPED, array));
        Ok(())
    });

    /// Binds memory. Every address of an allocation is aligned well enough here, so the offset is 0.
    fn cuTexRefSetAddress_v2(offset: Out<usize>, reference: Handle, address: DevicePtr, bytes: usize) {
        let driver = driver()?;
        change(reference, |state| bind_memory(driver, state, texture::LINEAR, address, &[bytes], bytes))?;
        offset.put_if_asked(0);
        Ok(())
    }

    fn cuTexRefSetAddress2D_v2 | cuTexRefSetAddress2D_v3(
        reference: Handle, descriptor: In<ArrayDescriptor>, address: DevicePtr, pitch: usize,
    ) {
        let driver = driver()?;
        let ArrayDescriptor { width, height, format, channels } = descriptor.read()?;
        change(reference, |state| {
            let texel = array::format(format)?.bytes() as usize * channels as usize;
            let row = width.checked_mul(texel).filter(|row| *row <= pitch).ok_or(CuResult::INVALID_VALUE)?;
            let bytes = pitch.checked_mul(height.saturating_sub(1)).and_then(|before| before.checked_add(row));
            state.format = (format, channels);
            bind_memory(driver, state, texture::PITCHED, address, &[width, height, pitch], bytes.ok_or(CuResult::INVALID_VALUE)?)
        })
    }

    fn cuTexRefSetFormat(reference: Handle, format: u32, channels: c_int) => change(reference, |state| {
        array::format(format)?;
        refuse!(INVALID_VALUE if !matches!(channels, 1 | 2 | 4));
        state.format = (format, channels as u32);
        Ok(())
    });

    fn cuTexRefSetAddressMode(reference: Handle, dimension: c_int, mode: u32) {
        let is_allowed = (0..3).contains(&dimension) && mode <= 3;
        set(reference, is_allowed, |texture| texture.addressing[dimension as usize] = mode)
    }

    fn cuTexRefSetMipmapFilterMode(reference: Handle, mode: u32) =>
        set(reference, mode <= 1, |texture| texture.mipmap_filter = mode);
    fn cuTexRefSetFilterMode(reference: Handle, mode: u32) => set(reference, mode <= 1, |texture| texture.filter = mode);
    fn cuTexRefSetMipmapLevelBias(reference: Handle, bias: f32) => set(reference, true, |texture| texture.mipmap_level_bias = bias);
    fn cuTexRefSetMipmapLevelClamp(reference: Handle, least: f32, greatest: f32) =>
        set(reference, true, |texture| texture.mipmap_levels = [least, greatest]);

    /// Stored, without effect.
    fn cuTexRefSetMaxAnisotropy(reference: Handle, ratio: u32) => set(reference, true, |texture| texture.max_anisotropy = ratio);
    fn cuTexRefSetFlags(reference: Handle, flags: u32) => set(reference, flags & !FLAGS == 0, |texture| texture.flags = flags);
    fn cuTexRefSetBorderColor(reference: Handle, color: In<[f32; 4]>) =>
        change(reference, |state| color.read().map(|color| state.texture.border_color = color));

    fn cuTexRefGetAddress_v2(address: Out<DevicePtr>, reference: Handle) => look(reference, |state| {
        let of_memory = |resource: &ResourceDescriptor| matches!(resource.kind, texture::LINEAR | texture::PITCHED);
        let resource = state.resource.filter(of_memory).ok_or(CuResult::INVALID_VALUE)?;
        address.put(resource.memory().0)
    });

    fn cuTexRefGetArray(array: Out<Handle>, reference: Handle) => array.put(bound(reference, texture::ARRAY)?);
    fn cuTexRefGetMipmappedArray(array: Out<Handle>, reference: Handle) => array.put(bound(reference, texture::MIPMAPPED)?);

    fn cuTexRefGetAddressMode(mode: Out<u32>, reference: Handle, dimension: c_int) {
        let modes = texture(reference)?.addressing;
        let found = usize::try_from(dimension).ok().and_then(|dimension| modes.get(dimension));
        mode.put(*found.ok_or(CuResult::INVALID_VALUE)?)
    }

    fn cuTexRefGetFormat(format: Out<u32>, channels: Out<c_int>, reference: Handle) {
        let found = look(reference, |state| Ok(state.format))?;
        format.put_if_asked(found.0);
        channels.put_if_asked(found.1 as c_int);
        Ok(())
    }

    fn cuTexRefGetMipmapLevelClamp(least: Out<f32>, greatest: Out<f32>, reference: Handle) {
        let levels = texture(reference)?.mipmap_levels;
        least.put(levels[0])?;
        greatest.put(levels[1])
    }

    fn cuTexRefGetFilterMode(mode: Out<u32>, reference: Handle) => mode.put(texture(reference)?.filter);
    fn cuTexRefGetMipmapFilterMode(mode: Out<u32>, reference: Handle) => mode.put(texture(reference)?.mipmap_filter);
    fn cuTexRefGetMipmapLevelBias(bias: Out<f32>, reference: Handle) => bias.put(texture(reference)?.mipmap_level_bias);
    fn cuTexRefGetMaxAnisotropy(ratio: Out<c_int>, reference: Handle) => ratio.put(texture(reference)?.max_anisotropy as c_int);
    fn cuTexRefGetBorderColor(color: Out<[f32; 4]>, reference: Handle) => color.put(texture(reference)?.border_color);
    fn cuTexRefGetFlags(flags: Out<u32>, reference: Handle) => flags.put(texture(reference)?.flags);

    fn cuSurfRefSetArray(reference: Handle, array: Handle, flags: u32) {
        let driver = driver()?;
        let found = driver.handles.get::<SurfaceReference>(reference)?;
        let image = find::<Array>(array)?.view;
        refuse!(INVALID_VALUE if flags != 0);
        *found.array.lock() = array;
        Arc::make_mut(&mut driver.textures.lock()).insert(reference.number(), Binding::Surface(image));
        Ok(())
    }

    fn cuSurfRefGetArray(array: Out<Handle>, reference: Handle) => array.put(*find::<SurfaceReference>(reference)?.array.lock());
}
