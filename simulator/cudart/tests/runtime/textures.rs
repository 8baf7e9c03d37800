//! Textures and surfaces, read and written by kernels.

use std::ffi::CStr;
use std::ptr::null;

use crate::support::*;

api! {
    fn cudaCreateTextureObject(object: &mut u64, resource: *const Resource, texture: *const Texture, view: *const View);
    fn cudaDestroyTextureObject(object: u64);
    fn cudaGetTextureObjectResourceDesc(resource: *mut Resource, object: u64);
    fn cudaGetTextureObjectTextureDesc(texture: *mut Texture, object: u64);
    fn cudaGetTextureObjectResourceViewDesc(view: *mut View, object: u64);
    fn cudaCreateSurfaceObject(object: &mut u64, resource: *const Resource);
    fn cudaDestroySurfaceObject(object: u64);
    fn cudaGetSurfaceObjectResourceDesc(resource: *mut Resource, object: u64);
    fn cudaDeviceGetTexture1DLinearMaxWidth(width: &mut usize, channels: *const Channels, device: i32);
    fn cudaMallocMipmappedArray(array: &mut Array, channels: *const Channels, extent: Extent, levels: u32, flags: u32);
    fn cudaGetMipmappedArrayLevel(level: &mut Array, array: Array, number: u32);
    fn cudaBindTexture(offset: usize, reference: usize, address: u64, channels: usize, bytes: usize);
}

/// `cudaResourceTypeArray`, `_MipmappedArray`, `_Linear`, `_Pitch2D`
const ARRAY: u32 = 0;
const MIPMAPPED: u32 = 1;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

/// `cudaArrayLayered`, `_SurfaceLoadStore`, `_Cubemap`
const LAYERED: u32 = 1;
const SURFACE: u32 = 2;
const CUBEMAP: u32 = 4;

/// `cudaResourceDesc` of CUDA 12, and the end that CUDA 13 adds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    kind: u32,
    place: u64,
    channels: Channels,
    sizes: [usize; 3],
    end: [u64; 10],
}

/// `cudaTextureDesc`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Texture {
    addressing: [u32; 3],
    filter: u32,
    read_mode: u32,
    srgb: i32,
    border: [f32; 4],
    normalized: i32,
    anisotropy: u32,
    mipmap_filter: u32,
    bias: f32,
    levels: [f32; 2],
    no_trilinear_optimization: i32,
    seamless: i32,
}

/// `cudaResourceViewDesc` of CUDA 12, and the end that CUDA 13 adds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    format: u32,
    extent: [usize; 3],
    levels: [u32; 2],
    layers: [u32; 2],
    end: [u32; 16],
}

/// The end, which the library must not touch in CUDA 12.
const UNTOUCHED: u64 = 0x5555_5555_5555_5555;

fn resource(kind: u32, place: u64, channels: Channels, sizes: [usize; 3]) -> Resource {
    Resource { kind, place, channels, sizes, end: [UNTOUCHED; 10] }
}

fn of_array(array: Array) -> Resource {
    resource(ARRAY, array as u64, Channels::default(), [0; 3])
}

fn of_memory(address: u64, channels: Channels, bytes: usize) -> Resource {
    resource(LINEAR, address, channels, [bytes, 0, 0])
}

fn view(format: u32, levels: [u32; 2], layers: [u32; 2]) -> View {
    View { format, extent: [4, 4, 0], levels, layers, end: [0x5555_5555; 16] }
}

/// Coordinates from 0 to 1. Cube maps and mipmapped arrays need them.
const NORMALIZED: Texture = Texture {
    addressing: [1; 3],
    filter: 0,
    read_mode: 0,
    srgb: 0,
    border: [0.0; 4],
    normalized: 1,
    anisotropy: 0,
    mipmap_filter: 0,
    bias: 0.0,
    levels: [0.0; 2],
    no_trilinear_optimization: 0,
    seamless: 0,
};
/// Elements of the array, at the numbers of its rows and columns.
const PLAIN: Texture = Texture { normalized: 0, ..NORMALIZED };
const FILTERED: Texture = Texture { filter: 1, ..PLAIN };

fn texture(resource: Resource, texture: Texture) -> u64 {
    let mut object = 0;
    returns! { cudaCreateTextureObject(&mut object, &resource, &texture, null()) => OK; }
    object
}

/// Returns what a kernel reads at places: one result for each.
fn read<P: Copy, R: Copy + Default>(ptx: &str, name: &CStr, object: u64, places: &[P]) -> Vec<R> {
    let out = on_device(&vec![R::default(); places.len()]);
    launch(kernel(ptx, name), Dim3(1, 1, 1), Dim3(places.len() as u32, 1, 1), &mut [object, on_device(places), out]);
    returns! { cudaDestroyTextureObject(object) => OK; }
    back(out, places.len())
}

fn floats(count: usize) -> Vec<f32> {
    (0..count).map(|at| (at * at % 13) as f32).collect()
}

#[test]
fn an_array_is_read_at_its_elements_and_between_them() {
    let values = floats(12);
    let image = array(FLOAT, [4, 3, 0], 0, &values);
    let centers: Vec<[f32; 2]> = (0..12).map(|at| [(at % 4) as f32 + 0.5, (at / 4) as f32 + 0.5]).collect();
    for how in [PLAIN, FILTERED] {
        assert_eq!(read::<_, f32>(TEXTURES, c"fetch_2d", texture(of_array(image), how), &centers), values);
    }
    let scaled: Vec<[f32; 2]> = centers.iter().map(|[x, y]| [x / 4.0, y / 3.0]).collect();
    assert_eq!(read::<_, f32>(TEXTURES, c"fetch_2d", texture(of_array(image), NORMALIZED), &scaled), values);
    // Halfway to the neighbors on the right, and beyond the left edge.
    let between = read::<_, f32>(TEXTURES, c"fetch_2d", texture(of_array(image), FILTERED), &[[1.0_f32, 0.5], [-3.0, 0.5]]);
    assert_eq!(between, [f32::midpoint(values[0], values[1]), values[0]]);
    let border = Texture { addressing: [3; 3], border: [9.0; 4], ..PLAIN };
    let outside = read::<_, f32>(TEXTURES, c"fetch_2d", texture(of_array(image), border), &[[-3.0_f32, 0.5], [3.5, 0.5]]);
    assert_eq!(outside, [9.0, values[3]]);
    let line = array(FLOAT, [4, 0, 0], 0, &values[..4]);
    assert_eq!(read::<_, f32>(TEXTURES, c"fetch_1d", texture(of_array(line), PLAIN), &centers[..4]), values[..4]);
}

#[test]
fn integers_are_read_as_numbers_or_as_shares_of_the_largest() {
    let bytes = array(BYTE, [4, 0, 0], 0, &[0_u8, 51, 102, 255]);
    let centers = [[0.5_f32, 0.5], [1.5, 0.5], [2.5, 0.5], [3.5, 0.5]];
    let normalized = Texture { read_mode: 1, ..PLAIN };
    let shares = read::<_, f32>(TEXTURES, c"fetch_1d", texture(of_array(bytes), normalized), &centers);
    assert_eq!(shares, [0.0, 0.2, 0.4, 1.0]);
    let bits = read::<_, u32>(TEXTURES, c"fetch_1d", texture(of_array(bytes), PLAIN), &centers);
    assert_eq!(bits, [0, 51, 102, 255]);
}

#[test]
fn volumes_layers_faces_and_levels_are_read() {
    let values = floats(4 * 4 * 8);
    // `z` is `x + y`.
    let volume = array(FLOAT, [4, 4, 8], 0, &values);
    let found = read::<_, f32>(TEXTURES, c"fetch_3d", texture(of_array(volume), PLAIN), &[[1.5_f32, 2.5], [3.5, 3.5]]);
    assert_eq!(found, [values[4 * 16 + 2 * 4 + 1], values[7 * 16 + 3 * 4 + 3]]);
    // Thread `i` reads layer `i % 4`.
    let layered = array(FLOAT, [4, 4, 8], LAYERED, &values);
    let found = read::<_, f32>(TEXTURES, c"fetch_layer", texture(of_array(layered), PLAIN), &[[1.5_f32, 2.5]; 4]);
    assert_eq!(found, [9, 25, 41, 57].map(|at| values[at]));
    // The second half of the layers, as a view.
    let mut object = 0;
    returns! { cudaCreateTextureObject(&mut object, &of_array(layered), &PLAIN, &view(0, [0, 0], [4, 7])) => OK; }
    let found = read::<_, f32>(TEXTURES, c"fetch_layer", object, &[[1.5_f32, 2.5]; 4]);
    assert_eq!(found, [73, 89, 105, 121].map(|at| values[at]));

    // The six directions, in the order of the faces.
    let faces: Vec<f32> = (0..24).map(|at| (at / 4) as f32).collect();
    let cube = array(FLOAT, [2, 2, 6], CUBEMAP, &faces);
    let directions = [
        [1.0_f32, 0.5, 0.5, 0.0],
        [-1.0, 0.5, 0.5, 0.0],
        [0.5, 1.0, 0.5, 0.0],
        [0.5, -1.0, 0.5, 0.0],
        [0.5, 0.5, 1.0, 0.0],
        [0.5, 0.5, -1.0, 0.0],
    ];
    let found = read::<_, [f32; 4]>(IMAGES, c"fetch_cube", texture(of_array(cube), NORMALIZED), &directions);
    assert_eq!(found.iter().map(|face| face[0]).collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);

    let (mut mipmapped, mut level) = (0, 0);
    returns! { cudaMallocMipmappedArray(&mut mipmapped, &FLOAT, extent([4, 4, 0]), 3, 0) => OK; }
    for (number, side) in [4, 2, 1].into_iter().enumerate() {
        returns! { cudaGetMipmappedArrayLevel(&mut level, mipmapped, number as u32) => OK; }
        fill(level, [side, side, 0], &vec![number as f32 * 10.0; side * side]);
    }
    let levels = Texture { levels: [0.0, 2.0], mipmap_filter: 1, ..NORMALIZED };
    let all = resource(MIPMAPPED, mipmapped as u64, Channels::default(), [0; 3]);
    let found = read::<_, [f32; 4]>(
        IMAGES,
        c"fetch_level",
        texture(all, levels),
        &[[0.5_f32, 0.5, 0.0, 0.0], [0.5, 0.5, 1.5, 0.0], [0.5, 0.5, 9.0, 0.0]],
    );
    assert_eq!(found.iter().map(|texel| texel[0]).collect::<Vec<_>>(), [0.0, 15.0, 20.0]);
    returns! { cudaCreateTextureObject(&mut object, &all, &PLAIN, null()) => INVALID_VALUE; }
}

#[test]
fn memory_is_read_as_a_line_and_as_an_image() {
    let values: Vec<i32> = (0..1000).map(|at| at * 3).collect();
    let memory = on_device(&values);
    let ints = Channels { bits: [32, 0, 0, 0], kind: 0 };
    // Beyond the end, a texture reads 0.
    let found = read::<_, i32>(TEXTURES, c"fetch_elements", texture(of_memory(memory, ints, 400), PLAIN), &[0, 7, 99, 100]);
    assert_eq!(found, [0, 21, 297, 0]);
    let values = floats(3 * 128);
    let rows = resource(PITCHED, on_device(&values), FLOAT, [100, 3, 512]);
    let found =
        read::<_, f32>(TEXTURES, c"fetch_2d", texture(rows, PLAIN), &[[0.5_f32, 0.5], [99.5, 0.5], [5.5, 2.5], [120.0, 1.5]]);
    assert_eq!(found, [values[0], values[99], values[256 + 5], values[128 + 99]]);
    let mut width = 0;
    returns! {
        cudaDeviceGetTexture1DLinearMaxWidth(&mut width, &FLOAT, 0) => OK;
        cudaDeviceGetTexture1DLinearMaxWidth(&mut width, &FLOAT, 1) => INVALID_DEVICE;
    }
    assert_eq!(width, 1 << 28);
}

#[test]
fn surfaces_are_read_and_written() {
    let values: Vec<u16> = (0..24).map(|at| at * at).collect();
    let [from, to] = [array(SHORT, [6, 4, 0], SURFACE, &values), array(SHORT, [4, 6, 0], SURFACE, &[0_u16; 24])];
    let mut surfaces = [0_u64; 2];
    let mut again = of_array(0);
    returns! {
        cudaCreateSurfaceObject(&mut surfaces[0], &of_array(from)) => OK;
        cudaCreateSurfaceObject(&mut surfaces[1], &of_array(to)) => OK;
        cudaGetSurfaceObjectResourceDesc(&mut again, surfaces[1]) => OK;
    }
    assert_eq!(again, of_array(to));
    launch(kernel(TEXTURES, c"transpose"), Dim3(1, 2, 1), Dim3(8, 4, 1), &mut surfaces);
    let expected: Vec<u16> = (0..24).map(|at| values[at % 4 * 6 + at / 4] + 1).collect();
    assert_eq!(contents::<u16>(to, [4, 6, 0]), expected);
    let plain = array(SHORT, [4, 4, 0], 0, &[0_u16; 16]);
    let mut object = 0;
    returns! {
        cudaDestroySurfaceObject(surfaces[0]) => OK;
        cudaDestroySurfaceObject(surfaces[0]) => INVALID_VALUE;
        cudaGetSurfaceObjectResourceDesc(&mut again, surfaces[0]) => INVALID_VALUE;
        // "cudaArraySurfaceLoadStore must be set […] in order to bind surfaces to the CUDA array".
        cudaCreateSurfaceObject(&mut object, &of_array(plain)) => INVALID_VALUE;
        cudaCreateSurfaceObject(&mut object, &of_memory(on_device(&[0]), FLOAT, 4)) => INVALID_VALUE;
        cudaCreateSurfaceObject(&mut object, &of_array(12345)) => INVALID_RESOURCE_HANDLE;
        cudaCreateSurfaceObject(&mut object, null()) => INVALID_VALUE;
    }
}

/// Makes textures and asks how they were made. `end` and `end_of_view` is what must be behind the fields of CUDA 12.
fn describe(end: [u64; 10], end_of_view: [u32; 16]) {
    let image = array(SHORT, [4, 4, 0], 0, &[0_u16; 16]);
    let everything = Texture {
        addressing: [0, 2, 3],
        filter: 1,
        read_mode: 1,
        srgb: 1,
        border: [1.0, 2.0, 3.0, 4.0],
        normalized: 1,
        anisotropy: 4,
        mipmap_filter: 1,
        bias: 0.5,
        levels: [1.0, 2.0],
        no_trilinear_optimization: 1,
        seamless: 0,
    };
    let memory = resource(PITCHED, on_device(&[0_u8; 2048]), BYTE, [100, 3, 512]);
    for (made, how) in [(of_array(image), everything), (of_array(image), PLAIN), (memory, PLAIN)] {
        let object = texture(made, how);
        let (mut resource, mut found) = (of_array(0), Texture::default());
        returns! {
            cudaGetTextureObjectResourceDesc(&mut resource, object) => OK;
            cudaGetTextureObjectTextureDesc(&mut found, object) => OK;
            cudaGetTextureObjectResourceViewDesc(&mut view(0, [0; 2], [0; 2]), object) => INVALID_VALUE;
            cudaDestroyTextureObject(object) => OK;
            cudaGetTextureObjectTextureDesc(&mut found, object) => INVALID_VALUE;
        }
        assert_eq!((resource, found), (Resource { end, ..made }, how));
    }
    // Two signed 8-bit numbers (5) instead of one of 16 bits.
    let (mut object, mut found) = (0, view(0, [9; 2], [9; 2]));
    returns! {
        cudaCreateTextureObject(&mut object, &of_array(image), &PLAIN, &view(5, [0; 2], [0; 2])) => OK;
        cudaGetTextureObjectResourceViewDesc(&mut found, object) => OK;
        cudaCreateTextureObject(&mut object, &of_array(image), &PLAIN, &view(1, [0; 2], [0; 2])) => INVALID_VALUE;
        cudaCreateTextureObject(&mut object, &of_array(image), &PLAIN, &view(0, [0, 1], [0; 2])) => INVALID_VALUE;
    }
    assert_eq!(found, View { end: end_of_view, ..view(5, [0; 2], [0; 2]) });
}

#[test]
fn objects_say_how_they_were_made() {
    describe([UNTOUCHED; 10], [0x5555_5555; 16]);
}

#[test]
fn objects_say_how_they_were_made_to_programs_of_cuda_13() {
    with_cuda_13("textures::objects_say_how_they_were_made_to_programs_of_cuda_13", || describe([0; 10], [0; 16]));
}

#[test]
fn textures_that_cannot_be_are_refused() {
    let (image, memory, mut object) = (array(SHORT, [4, 4, 0], 0, &[0_u16; 16]), on_device(&[0_u8; 4096]), 0);
    let rows = |address, sizes| resource(PITCHED, address, FLOAT, sizes);
    let threes = Channels { bits: [32, 32, 32, 0], kind: 2 };
    let of = |resource: Resource, texture: Texture| {
        let mut object = 0;
        cudaCreateTextureObject(&mut object, &resource, &texture, null())
    };
    returns! {
        cudaCreateTextureObject(&mut object, null(), &PLAIN, null()) => INVALID_VALUE;
        cudaCreateTextureObject(&mut object, &of_array(image), null(), null()) => INVALID_VALUE;
        of(of_array(12345), PLAIN) => INVALID_RESOURCE_HANDLE;
        of(Resource { kind: 9, ..of_array(image) }, PLAIN) => INVALID_VALUE;
        of(of_array(image), Texture { addressing: [4; 3], ..PLAIN }) => INVALID_VALUE;
        // "a non-float texture was being accessed with linear filtering"
        of(of_array(image), FILTERED) => INVALID_FILTER_SETTING;
        of(of_array(image), Texture { read_mode: 1, ..FILTERED }) => OK;
        // "devPtr must be set to a valid device pointer, that is aligned to cudaDeviceProp::textureAlignment."
        of(of_memory(memory + 256, FLOAT, 512), PLAIN) => INVALID_VALUE;
        of(of_memory(memory, threes, 512), PLAIN) => INVALID_CHANNEL_DESCRIPTOR;
        of(of_memory(memory, FLOAT, 0), PLAIN) => INVALID_VALUE;
        // The pitch "has to be aligned to cudaDeviceProp::texturePitchAlignment". The sides "cannot exceed cudaDeviceProp::maxTexture2DLinear".
        of(rows(memory, [8, 2, 36]), PLAIN) => INVALID_VALUE;
        of(rows(memory, [8, 65_001, 32]), PLAIN) => INVALID_VALUE;
        of(rows(memory, [8, 2, 32]), PLAIN) => OK;
        // CUDA 12 no longer has references.
        cudaBindTexture(0, 0, memory, 0, 4) => NOT_SUPPORTED;
    }
}

#[test]
fn a_launch_keeps_the_objects_and_the_array_that_it_was_given() {
    // In this order, streams run as late as they may.
    with_variable("textures::a_launch_keeps_the_objects_and_the_array_that_it_was_given", "SIMCUDA_SCHEDULE", "1", || {
        let values = floats(4);
        let (image, mut stream) = (array(FLOAT, [4, 0, 0], 0, &values), 0);
        let object = texture(of_array(image), PLAIN);
        let (places, out) = (on_device(&[[0.5_f32, 0.0], [1.5, 0.0], [2.5, 0.0], [3.5, 0.0]]), on_device(&[9.0_f32; 4]));
        let fetch = kernel(TEXTURES, c"fetch_1d");
        let mut arguments = [object, places, out];
        let mut arguments = arguments.each_mut().map(|argument| (&raw mut *argument).cast());
        returns! {
            cudaStreamCreate(&mut stream) => OK;
            cudaLaunchKernel(fetch, Dim3(1, 1, 1), Dim3(4, 1, 1), arguments.as_mut_ptr(), 0, stream) => OK;
            cudaDestroyTextureObject(object) => OK;
            cudaFreeArray(image) => OK;
            cudaStreamSynchronize(stream) => OK;
        }
        assert_eq!(back::<f32>(out, 4), values);
    });
}
