//! The kernels around cuFFT, with plain sums instead of its transforms, so that they can be tested without a GPU.

use std::f64::consts::TAU;

use cudarc::cufft::sys::float2;
use oracles::check;
use run::workload::convolution::Size;
use run::workload::{Convolution, Problem, Workload};
use unroll::fft::{Blocks, collect, gather, multiply};

use crate::device::with_gpu;

/// Returns spectra of rings, as cuFFT lays them out: the bins up to the middle.
fn transformed(rings: &[f32], length: usize) -> Vec<float2> {
    let bin = |ring: &[f32], bin: usize| {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (i, value) in ring.iter().enumerate() {
            let angle = -TAU * (i * bin % length) as f64 / length as f64;
            real += f64::from(*value) * angle.cos();
            imaginary += f64::from(*value) * angle.sin();
        }
        float2 { x: real as f32, y: imaginary as f32 }
    };
    rings.chunks_exact(length).flat_map(|ring| (0..=length / 2).map(move |at| bin(ring, at))).collect()
}

/// Returns the inverse transform, `length` times too large, like cuFFT's.
fn transformed_back(spectra: &[float2], length: usize) -> Vec<f32> {
    let value = |spectrum: &[float2], i: usize| {
        let bins = spectrum.iter().enumerate().map(|(bin, float2 { x, y })| {
            let angle = TAU * (i * bin % length) as f64 / length as f64;
            let part = f64::from(*x) * angle.cos() - f64::from(*y) * angle.sin();
            // All bins except the first and the middle one represent their mirror images as well.
            if bin == 0 || 2 * bin == length { part } else { 2.0 * part }
        });
        bins.sum::<f64>() as f32
    };
    spectra.chunks_exact(length / 2 + 1).flat_map(|spectrum| (0..length).map(move |i| value(spectrum, i))).collect()
}

#[test]
fn blocks_cut_multiplied_and_put_together_are_the_convolution() {
    for (outputs, taps, blocks) in [
        (100, 9, Blocks { length: 64, hop: 50, count: 2 }),
        (100, 9, Blocks { length: 64, hop: 56, count: 2 }),
        (7, 1, Blocks { length: 2, hop: 2, count: 4 }),
        (200, 30, Blocks { length: 36, hop: 7, count: 29 }),
        (33, 32, Blocks { length: 64, hop: 33, count: 1 }),
    ] {
        let conv = Convolution::random(Size { outputs, taps }, 13);
        let length = blocks.length as usize;
        let downloaded = with_gpu(|gpu| {
            let mut buffers = conv.upload(gpu).unwrap();
            let mut rings = gpu.stream.clone_htod(&vec![f32::NAN; length * (blocks.count as usize + 1)]).unwrap();
            gather(gpu, &conv, &buffers, blocks, &mut rings).unwrap();
            let spectra = transformed(&gpu.stream.clone_dtoh(&rings).unwrap(), length);
            let mut spectra = gpu.stream.clone_htod(&spectra).unwrap();
            multiply(gpu, blocks, &mut spectra).unwrap();
            let spectra = gpu.stream.clone_dtoh(&spectra).unwrap();
            let of_blocks = transformed_back(&spectra[length / 2 + 1..], length);
            let rings = gpu.stream.clone_htod(&of_blocks).unwrap();
            collect(gpu, &conv, &mut buffers, blocks, &rings).unwrap();
            buffers.output.download(gpu).unwrap()
        });
        // The spectra are rounded to f32, which the sums of the workload's tolerance are not.
        if let Err(mismatch) = check(&downloaded, conv.oracle(), 1e-5) {
            panic!("{outputs} outputs, {taps} taps, {blocks:?}: {mismatch}");
        }
    }
}
