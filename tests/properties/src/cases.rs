//! Sizes and values with which kernels tend to fail: near the size of a block, prime, one; negative, tiny, large, all different.

use proptest::prelude::*;
use run::npy::Matrix;
use run::picture::Gray;
use run::workload::correlation::Correlation;
use run::workload::window_sums::{Image, SUMS_BELOW, WindowSums};
use run::workload::{Border, Convolution, Matmul};

/// Sizes that need a guard or leave a remainder: one, `tile` and its neighbors, twice a tile, primes, anything.
pub fn length(tile: usize, most: usize) -> impl Strategy<Value = usize> {
    let near_tile = prop::sample::select(vec![1, 2, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1]);
    let primes = prop::sample::select(vec![3, 7, 31, 61, 127, 251, 257, 509, 521, 1021, 2053]);
    prop_oneof![3 => near_tile, 2 => primes, 3 => 1..=most].prop_map(move |length| length.min(most))
}

/// Draws the values of a signal or a filter.
pub fn values(length: usize) -> impl Strategy<Value = Vec<f32>> {
    // Far apart in magnitude, but a product of two and a sum of thousands of such products stay within f32.
    let scale = prop::sample::select(vec![1.0_f32, 1e-18, 1e15, 1e-3]);
    let value = prop_oneof![4 => -1.0_f32..1.0, 1 => Just(0.0_f32), 1 => -1e-6_f32..1e-6];
    prop_oneof![
        (prop::collection::vec(value, length), scale).prop_map(|(values, scale)| values.into_iter().map(|v| v * scale).collect()),
        // A different value at every index, so that a swapped index shows.
        (1..100_u32).prop_map(move |start| (0..length).map(|i| (start as f32) + i as f32 * 0.37).collect()),
        // One sign and hardly any change, so that rounding errors do not cancel.
        Just((0..length).map(|i| 1.1 + i as f32 * 1e-7).collect::<Vec<f32>>()),
    ]
}

/// Convolutions with these numbers of outputs and taps and any values.
pub fn convolutions(
    outputs: impl Strategy<Value = usize>,
    taps: impl Strategy<Value = usize>,
) -> impl Strategy<Value = Convolution> {
    (outputs, taps)
        .prop_flat_map(|(outputs, taps)| (values(outputs + taps - 1), values(taps)))
        .prop_map(|(signal, filter)| Convolution::new(signal, filter).expect("a filter no longer than its signal"))
}

/// Draws a picture of this size: noise, a ramp in which neighbors differ, or a single gray level.
fn pictures(name: &'static str, width: usize, height: usize) -> impl Strategy<Value = Gray> {
    let count = width * height;
    let pixels = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), count),
        2 => any::<u8>().prop_map(move |start| (0..count).map(|i| (i * 37 + i / 255 + usize::from(start)) as u8).collect::<Vec<_>>()),
        1 => prop::sample::select(vec![0, 255, 7]).prop_map(move |level| vec![level; count]),
    ];
    pixels.prop_map(move |pixels| Gray { name: name.to_owned(), width: width as u32, height: height as u32, pixels })
}

/// Correlations with templates that fit their images: widths near whole words and near a warp, single rows and columns, templates as large
/// as their image, and narrow templates about as high as one or two tiles of a kernel.
pub fn correlations() -> impl Strategy<Value = Correlation> {
    let sides = |most: usize| prop_oneof![3 => length(32, most), 2 => prop::sample::select(vec![1, 3, 4, 5, 8, 9]), 1 => 1..=most];
    let high = (1..=9_usize, prop::sample::select(vec![63, 64, 65, 127, 128, 129]));
    let templates = prop_oneof![5 => (sides(67), sides(25)), 1 => high];
    (templates, 0..84_usize, 0..36_usize, any::<bool>())
        .prop_flat_map(|((w, h), wider, higher, clamp)| {
            let border = if clamp { Border::Clamp } else { Border::Valid };
            (pictures("image", w + wider, h + higher), pictures("template", w, h), Just(border))
        })
        .prop_map(|(image, template, border)| Correlation::new(image, template, border).expect("a template that fits"))
}

/// Draws the pixels of an image for windows of this width: gray levels, the largest magnitudes whose squares can be added, with either sign, a
/// ramp in which neighbors differ, or a single level.
fn pixels(count: usize, window: u32) -> impl Strategy<Value = Vec<i32>> {
    let largest = ((SUMS_BELOW - 1) / u64::from(window)).isqrt() as i32;
    let extreme = prop::sample::select(vec![-largest, largest, 0, 1, -1]);
    prop_oneof![
        3 => prop::collection::vec(0..=255_i32, count),
        3 => prop::collection::vec(-largest..=largest, count),
        2 => prop::collection::vec(extreme, count),
        1 => (0..100_i32).prop_map(move |start| (0..count as i32).map(|i| (start + 7 * i) % 256).collect()),
        1 => prop::sample::select(vec![-largest, largest, 0]).prop_map(move |level| vec![level; count]),
    ]
}

/// Draws windows of these widths on images of a few rows. A row has up to `most_places` places. There are single rows and columns, windows
/// as wide as the image, and rows that end around a block of threads.
pub fn window_sums(windows: impl Strategy<Value = u32>, most_places: usize) -> impl Strategy<Value = WindowSums> {
    (windows, length(kernels::window_sums::BLOCK as usize, most_places), 1..=4_usize, any::<bool>())
        .prop_flat_map(|(window, places, height, clamp)| {
            let border = if clamp { Border::Clamp } else { Border::Valid };
            let width = window + places as u32 - 1;
            (Just((window, width, border)), pixels(width as usize * height, window))
        })
        .prop_map(|((window, width, border), pixels)| {
            let image = Image { width, height: pixels.len() as u32 / width, pixels };
            WindowSums::new(image, window, border).expect("a window that fits, on pixels that are small enough")
        })
}

/// Draws an odd number up to `most`, which is odd.
pub fn odd(most: u32) -> impl Strategy<Value = u32> {
    (0..=most / 2).prop_map(|half| 2 * half + 1)
}

/// Products of matrices of these sizes with any values.
pub fn products(
    m: impl Strategy<Value = usize>,
    n: impl Strategy<Value = usize>,
    k: impl Strategy<Value = usize>,
) -> impl Strategy<Value = Matmul> {
    (m, n, k).prop_flat_map(|(m, n, k)| (Just((m, n, k)), values(m * k), values(k * n))).prop_map(|((m, n, k), a, b)| {
        let a = Matrix { rows: m, columns: k, values: a };
        Matmul::new(a, Matrix { rows: k, columns: n, values: b }).expect("matrices that can be multiplied")
    })
}
