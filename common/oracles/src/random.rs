//! Random inputs that are the same on every machine.

use chacha20::rand_core::{Rng, SeedableRng};

pub use chacha20::ChaCha8Rng;

/// Returns the generator for a seed.
pub fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Generates values of either sign with magnitudes in 0.5..1. They are made from bits, so rounding is the same on every machine.
pub fn values(generator: &mut ChaCha8Rng, count: usize) -> Vec<f32> {
    let value = |bits: u32| {
        let magnitude = f32::from_bits(0x3f00_0000 | bits >> 9);
        if bits & 1 == 0 { magnitude } else { -magnitude }
    };
    (0..count).map(|_| value(generator.next_u32())).collect()
}

/// Generates values of a normal distribution with mean 0 and variance 1. They are sums of 12 numbers of 16 bits, made from integers, so rounding is the same on every machine.
pub fn normal(generator: &mut ChaCha8Rng, count: usize) -> Vec<f32> {
    let of_two = |bits: u32| i64::from(bits & 0xffff) + i64::from(bits >> 16) - 0xffff;
    (0..count).map(|_| (0..6).map(|_| of_two(generator.next_u32())).sum::<i64>() as f32 / 65536.0).collect()
}

/// Returns a number below `count`.
pub fn below(generator: &mut ChaCha8Rng, count: u32) -> u32 {
    generator.next_u32() % count
}

/// Pixels between the support points of the coarse pattern.
const CELL: usize = 16;

/// Generates gray levels that look like clouds with grain, row by row: an interpolated coarse random pattern plus a random number for
/// each pixel. They are computed from integers only, so they are the same on every machine.
pub fn clouds(width: u32, height: u32, generator: &mut ChaCha8Rng) -> Vec<u8> {
    let (width, height) = (width as usize, height as usize);
    let across = width / CELL + 2;
    let coarse: Vec<u32> = (0..across * (height / CELL + 2)).map(|_| generator.next_u32() >> 24).collect();
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        let (row, down) = (y / CELL * across, (y % CELL) as u32);
        for x in 0..width {
            let (at, right) = (row + x / CELL, (x % CELL) as u32);
            let cell = CELL as u32;
            let upper = coarse[at] * (cell - right) + coarse[at + 1] * right;
            let lower = coarse[at + across] * (cell - right) + coarse[at + across + 1] * right;
            let cloud = (upper * (cell - down) + lower * down) / (cell * cell);
            let grain = generator.next_u32() >> 24;
            pixels.push(((3 * cloud + grain) / 4) as u8);
        }
    }
    pixels
}
