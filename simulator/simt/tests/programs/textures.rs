//! Textures and surfaces, compared with the formulas of the CUDA C++ Programming Guide ("Texture Fetching"), written once more.

use std::sync::Arc;

use simt::texture::{Addressing, Binding, Bindings, Format, ImageView, Texture};
use simt::{FindingKind, LaunchError, LaunchOptions};

use crate::common::{Gpu, Numbers, Params};

const TEXTURES: &str = include_str!("textures.ptx");

/// The handles of the tests.
const IMAGE: u64 = 7;
const OTHER: u64 = 8;

fn gpu(bindings: impl IntoIterator<Item = (u64, Binding)>, memory_of: &Gpu) -> LaunchOptions {
    LaunchOptions { textures: Arc::new(bindings.into_iter().collect::<Bindings>()), ..memory_of.options.clone() }
}

/// Makes an image of floats with padding after each row.
fn floats(gpu: &Gpu, extent: [u32; 3], layers: u32, channels: u32) -> (ImageView, Vec<f32>) {
    let mut numbers = Numbers(11);
    let row = (extent[0] * channels) as usize;
    let pitch = (4 * row + 12) & !3;
    let rows = (extent[1] * extent[2] * layers) as usize;
    let mut stored = vec![f32::NAN; rows * pitch / 4];
    let mut values = Vec::new();
    for at in 0..rows * row {
        let value = numbers.below(1000) as f32 / 8.0;
        stored[at / row * pitch / 4 + at % row] = value;
        values.push(value);
    }
    let address = gpu.buffer(&stored);
    let slice = u64::from(extent[1]) * pitch as u64;
    (ImageView { address, extent, layers, pitch: pitch as u64, slice, format: Format::Float(32), channels }, values)
}

/// Returns the index of a texel under an addressing mode. `None` beyond a border.
fn index(at: i64, extent: u32, addressing: Addressing) -> Option<usize> {
    let extent = i64::from(extent);
    Some(match addressing {
        Addressing::Clamp => at.max(0).min(extent - 1),
        Addressing::Border if at < 0 || at >= extent => return None,
        Addressing::Border => at,
        Addressing::Wrap => ((at % extent) + extent) % extent,
        Addressing::Mirror => {
            // 0 1 2 2 1 0 0 1 2 …
            let period: Vec<i64> = (0..extent).chain((0..extent).rev()).collect();
            period[(((at % (2 * extent)) + 2 * extent) % (2 * extent)) as usize]
        }
    } as usize)
}

#[test]
fn every_addressing_and_filter_reads_what_the_guide_says() {
    for (addressing, normalized) in [
        (Addressing::Clamp, false),
        (Addressing::Border, false),
        (Addressing::Clamp, true),
        (Addressing::Border, true),
        (Addressing::Wrap, true),
        (Addressing::Mirror, true),
    ] {
        for filters in [false, true] {
            let mut gpu = Gpu::load(TEXTURES);
            let extent = [13, 7, 1];
            let (image, values) = floats(&gpu, extent, 1, 1);
            let texture =
                Texture { addressing: [addressing; 3], filters, normalized_coordinates: normalized, ..Texture::of(image) };
            gpu.options = self::gpu([(IMAGE, Binding::Texture(texture))], &gpu);
            let mut numbers = Numbers(5);
            let at: Vec<[f32; 2]> = (0..256)
                .map(|_| {
                    [0, 1].map(|axis| {
                        // From twice the image to its left to twice to its right, in steps that floats have exactly.
                        let texels = numbers.below(5 * 64 * u64::from(extent[axis])) as f32 / 64.0 - 2.0 * extent[axis] as f32;
                        if normalized { texels / extent[axis] as f32 } else { texels }
                    })
                })
                .collect();
            let (coordinates, output) = (gpu.buffer(&at), gpu.poisoned::<f32>(at.len()));
            gpu.launch("fetch_2d", 8, 32, 0, &Params::new().with(IMAGE).with(coordinates).with(output));
            for (at, got) in at.iter().zip(gpu.read::<f32>(output, at.len())) {
                let [x, y] = [0, 1].map(|axis| f64::from(at[axis]) * if normalized { f64::from(extent[axis]) } else { 1.0 });
                let texel = |i: f64, j: f64| {
                    let (i, j) = (index(i as i64, extent[0], addressing), index(j as i64, extent[1], addressing));
                    i.zip(j).map_or(0.0, |(i, j)| f64::from(values[j * 13 + i]))
                };
                let expected = if filters {
                    let (x, y) = (x - 0.5, y - 0.5);
                    let fraction = |at: f64| ((at - at.floor()) * 256.0).round() / 256.0;
                    let (i, j, a, b) = (x.floor(), y.floor(), fraction(x), fraction(y));
                    (1.0 - a) * (1.0 - b) * texel(i, j)
                        + a * (1.0 - b) * texel(i + 1.0, j)
                        + (1.0 - a) * b * texel(i, j + 1.0)
                        + a * b * texel(i + 1.0, j + 1.0)
                } else {
                    texel(x.floor(), y.floor())
                };
                assert_eq!(got, expected as f32, "{addressing:?}, filter {filters}, normalized {normalized}, at {at:?}");
            }
        }
    }
}

/// Positions in the middle of texels.
fn middles(gpu: &Gpu, count: usize) -> (u64, Vec<[f32; 2]>) {
    let mut numbers = Numbers(3);
    let at: Vec<[f32; 2]> = (0..count).map(|_| [0, 1].map(|_| numbers.below(4) as f32 + 0.5)).collect();
    (gpu.buffer(&at), at)
}

fn plain(image: ImageView) -> Binding {
    Binding::Texture(Texture::of(image))
}

#[test]
fn images_of_every_geometry_are_read() {
    let mut gpu = Gpu::load(TEXTURES);
    let (at, positions) = middles(&gpu, 64);
    let [line, volume, layers, channels] = [
        floats(&gpu, [5, 1, 1], 1, 1),
        floats(&gpu, [4, 5, 8], 1, 1),
        floats(&gpu, [4, 5, 1], 4, 1),
        floats(&gpu, [4, 5, 1], 1, 4),
    ];
    for (kernel, (image, values), place) in [
        ("fetch_1d", &line, &(|_, [x, _]: [usize; 2]| x) as &dyn Fn(usize, [usize; 2]) -> usize),
        ("fetch_3d", &volume, &|_, [x, y]| ((x + y + 1) * 5 + y) * 4 + x),
        ("fetch_layer", &layers, &|i, [x, y]| ((i % 4) * 5 + y) * 4 + x),
    ] {
        gpu.options = self::gpu([(IMAGE, plain(*image))], &gpu);
        let output = gpu.poisoned::<f32>(64);
        gpu.launch(kernel, 2, 32, 0, &Params::new().with(IMAGE).with(at).with(output));
        for (i, (position, got)) in positions.iter().zip(gpu.read::<f32>(output, 64)).enumerate() {
            assert_eq!(got, values[place(i, position.map(|at| at as usize))], "{kernel} at {position:?}");
        }
    }
    let (image, values) = channels;
    gpu.options = self::gpu([(IMAGE, plain(image))], &gpu);
    let output = gpu.poisoned::<[f32; 4]>(64);
    gpu.launch("fetch_2d_channels", 2, 32, 0, &Params::new().with(IMAGE).with(at).with(output));
    for (position, got) in positions.iter().zip(gpu.read::<[f32; 4]>(output, 64)) {
        let texel = 4 * (position[1] as usize * 4 + position[0] as usize);
        assert_eq!(got, values[texel..texel + 4]);
    }
    // The four texels around a corner, counterclockwise from the lower left one, and of each the second channel.
    let corner = gpu.buffer(&[[2.0_f32, 3.0]; 32]);
    gpu.launch("gather", 1, 32, 0, &Params::new().with(IMAGE).with(corner).with(output));
    let green = |x: usize, y: usize| values[4 * (y * 4 + x) + 1];
    assert_eq!(gpu.read::<[f32; 4]>(output, 1), [[green(1, 3), green(2, 3), green(2, 2), green(1, 2)]]);
}

#[test]
fn narrow_integers_become_floats_and_indices_outside_give_zero() {
    let mut gpu = Gpu::load(TEXTURES);
    let bytes: Vec<u8> = vec![0, 1, 51, 127, 128, 129, 254, 255];
    let address = gpu.buffer(&bytes);
    let line = |format| ImageView { address, extent: [8, 1, 1], layers: 1, pitch: 8, slice: 8, format, channels: 1 };
    let at: Vec<[f32; 2]> = (0..8).map(|x| [x as f32 + 0.5, 0.0]).collect();
    let at = gpu.buffer(&at);
    let unsigned = |byte: u8| f32::from(byte) / 255.0;
    let signed = |byte: u8| (f32::from(byte as i8) / 127.0).max(-1.0);
    for (format, expected) in [(Format::Unsigned(8), unsigned as fn(u8) -> f32), (Format::Signed(8), signed)] {
        let Binding::Texture(texture) = plain(line(format)) else { unreachable!("a texture") };
        gpu.options = self::gpu([(IMAGE, Binding::Texture(Texture { normalized_values: true, ..texture }))], &gpu);
        let output = gpu.poisoned::<f32>(8);
        gpu.launch("fetch_1d", 1, 8, 0, &Params::new().with(IMAGE).with(at).with(output));
        assert_eq!(gpu.read::<f32>(output, 8), bytes.iter().map(|byte| expected(*byte)).collect::<Vec<_>>(), "{format:?}");
    }
    let Binding::Texture(texture) = plain(line(Format::Signed(8))) else { unreachable!("a texture") };
    let memory = Texture { addressing: [Addressing::Border; 3], ..texture };
    gpu.options = self::gpu([(IMAGE, Binding::Texture(memory))], &gpu);
    let (index, output) = (gpu.buffer(&[0, 7, 8, -1, 4, 3, 100, 2]), gpu.poisoned::<i32>(8));
    gpu.launch("fetch_elements", 1, 8, 0, &Params::new().with(IMAGE).with(index).with(output));
    assert_eq!(gpu.read::<i32>(output, 8), [0, -1, 0, 0, -128, 127, 0, 51]);
}

#[test]
fn surfaces_are_read_and_written_by_their_bytes() {
    let mut gpu = Gpu::load(TEXTURES);
    let (width, height) = (6_u16, 4_u16);
    let values: Vec<u16> = (0..width * height).map(|at| at * at).collect();
    let image = |address, width: u16, height: u16| ImageView {
        address,
        extent: [width.into(), height.into(), 1],
        layers: 1,
        pitch: 2 * u64::from(width),
        slice: 0,
        format: Format::Unsigned(16),
        channels: 1,
    };
    let (from, to) = (gpu.buffer(&values), gpu.poisoned::<u16>(values.len()));
    let surfaces = [(IMAGE, image(from, width, height)), (OTHER, image(to, height, width))];
    gpu.options = self::gpu(surfaces.map(|(handle, image)| (handle, Binding::Surface(image))), &gpu);
    // More threads than texels: those outside read zero and write nothing.
    gpu.launch("transpose", (1, 2), (8, 4), 0, &Params::new().with(IMAGE).with(OTHER));
    let expected: Vec<u16> = (0..width * height).map(|at| values[(at % height * width + at / height) as usize] + 1).collect();
    assert_eq!(gpu.read::<u16>(to, values.len()), expected);
}

#[test]
fn a_store_outside_a_surface_and_a_wrong_handle_end_the_kernel() {
    let mut gpu = Gpu::load(TEXTURES);
    let (image, _) = floats(&gpu, [3, 2, 1], 1, 4);
    gpu.options = self::gpu([(IMAGE, Binding::Surface(image))], &gpu);
    gpu.launch("outside", 1, 3, 0, &Params::new().with(IMAGE));
    let fault = |kernel: &str, threads: u32, params: &Params| match gpu.try_launch(kernel, 1, threads, 0, params) {
        Err(LaunchError::Fault { finding, .. }) => finding.kind,
        other => panic!("{other:?}"),
    };
    let outside = fault("outside", 4, &Params::new().with(IMAGE));
    assert_eq!(outside, FindingKind::OutsideSurface { at: [3, 0, 0], extent: [3, 2, 1] });
    let (at, _) = middles(&gpu, 32);
    for handle in [IMAGE, 9] {
        let kind = fault("fetch_2d", 32, &Params::new().with(handle).with(at).with(at));
        assert_eq!(kind, FindingKind::InvalidTexture { handle }, "a surface is no texture");
    }
}
