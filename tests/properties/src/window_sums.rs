//! More about chapter 05 than its rows: the oracle against another way to add, its tolerances, and the two halves of the original's
//! experiment.

use oracles::output::{Downloaded, POISON};
use oracles::{Expected, check};
use proptest::prelude::*;
use run::gpu::Gpu;
use run::picture::{self, Gray};
use run::stage::Experiment;
use run::workload::window_sums::{Image, WindowSums, binary};
use run::workload::{Border, Problem, Workload};
use window_sums::{SQUARES_ONLY, SUM_ONLY};

use crate::cases::{odd, window_sums};
use crate::device::with_gpu;

/// Computes the outputs as differences of prefix sums, in exact integers; `None` where there is no output.
fn by_prefix_sums(sums: &WindowSums) -> Vec<Option<i128>> {
    let half = sums.window() as usize / 2;
    let width = sums.image().width as usize;
    let of_powers = |power: u32| {
        sums.image().pixels.chunks(width).flat_map(move |row| {
            let (first, last) = (row[0], row[width - 1]);
            let extended = [vec![first; half], row.to_vec(), vec![last; half]].concat();
            let start_to = |count: usize| extended[..count].iter().map(|&pixel| i128::from(pixel).pow(power)).sum::<i128>();
            let sum = |x: usize| start_to(x + sums.window() as usize) - start_to(x);
            (0..width).map(|x| sums.columns().contains(&(x as u32)).then(|| sum(x))).collect::<Vec<_>>()
        })
    };
    of_powers(1).chain(of_powers(2)).collect()
}

/// Returns the output of a stage that squares and adds in f32: in this order, with poison where there is no output.
fn in_f32(sums: &WindowSums, reversed: bool) -> Vec<f32> {
    let half = i64::from(sums.window() / 2);
    let width = sums.image().width as usize;
    let of = |square: bool| {
        sums.image().pixels.chunks(width).flat_map(move |row| {
            let add = move |x: usize| {
                let places = (-half..=half).map(|step| if reversed { -step } else { step });
                let pixels = places.map(|step| row[(x as i64 + step).clamp(0, width as i64 - 1) as usize] as f32);
                pixels.fold(0.0_f32, |sum, pixel| sum + if square { pixel * pixel } else { pixel })
            };
            let untouched = f32::from_bits(POISON);
            (0..width).map(|x| if sums.columns().contains(&(x as u32)) { add(x) } else { untouched }).collect::<Vec<_>>()
        })
    };
    of(false).chain(of(true)).collect()
}

/// Returns the values that an experiment writes into a poisoned output.
fn done_by(experiment: &Experiment<WindowSums>, gpu: &Gpu, workload: &WindowSums) -> Vec<f32> {
    let mut buffers = workload.upload(gpu).unwrap();
    (experiment.run)(gpu, workload, &mut buffers).unwrap();
    buffers.output.download(gpu).unwrap().values
}

proptest! {
    #[test]
    fn the_oracle_agrees_exactly_with_prefix_sums(sums in window_sums(odd(65), 100)) {
        let values: Vec<Option<i128>> =
            sums.expected().iter().map(|expected| (!expected.is_untouched()).then_some(expected.value as i128)).collect();
        prop_assert_eq!(values, by_prefix_sums(&sums));
    }

    #[test]
    fn adding_in_f32_stays_within_its_allowance(sums in window_sums(odd(65), 100), reversed in any::<bool>()) {
        let got = Downloaded { values: in_f32(&sums, reversed), breach: None };
        let outcome = check(&got, sums.oracle(), sums.rounding_of_f32_sums(0));
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }
}

#[test]
fn an_f32_sum_of_large_pixels_fails_without_its_allowance() {
    let image = Image { width: 65, height: 1, pixels: vec![8001; 65] };
    let sums = WindowSums::new(image, 65, Border::Valid).unwrap();
    let got = Downloaded { values: in_f32(&sums, false), breach: None };
    assert!(check(&got, sums.oracle(), 0.0).is_err());
}

#[test]
fn the_halves_of_the_experiment_do_a_half_each() {
    let sums = WindowSums::random(run::workload::window_sums::Size { width: 300, height: 3 }, 15, Border::Valid, 13).unwrap();
    let [sum, squares] = [SUM_ONLY, SQUARES_ONLY].map(|experiment| with_gpu(|gpu| done_by(&experiment, gpu, &sums)));
    let half = sums.image().pixels.len();
    let untouched = |values: &[f32]| values.iter().all(|value| value.to_bits() == POISON);
    assert!(untouched(&sum[half..]) && untouched(&squares[..half]));
    let together = [&sum[..half], &squares[half..]].concat();
    let whole = window_sums::squares_by_powf(&sums);
    assert!(check(&Downloaded { values: together, breach: None }, sums.oracle(), whole).is_ok());
}

#[test]
fn windows_wider_than_their_image_are_refused() {
    for (width, window) in [(1, 3), (15, 17), (64, 65)] {
        let image = Image { width, height: 2, pixels: vec![1; 2 * width as usize] };
        let error = WindowSums::new(image, window, Border::Clamp).unwrap_err().to_string();
        assert!(error.contains("wider than the image"), "{error}");
    }
}

#[test]
fn the_pictures_of_the_page_are_what_the_chapter_makes_of_them() {
    let picture = |name: &str| picture::read(&support::root().join("book/src/pictures").join(name)).unwrap();
    let Gray { width, height, pixels, .. } = picture("page.png");
    let image = Image { width, height, pixels: pixels.into_iter().map(i32::from).collect() };
    let sums = WindowSums::new(image, 31, Border::Clamp).unwrap();
    let output: Vec<f32> = sums.expected().iter().map(Expected::nearest).collect();
    let white: Vec<bool> = picture("page.threshold.png").pixels.iter().map(|&level| level == 255).collect();
    assert_eq!(binary(&sums, &output, 0.2), white);
}
