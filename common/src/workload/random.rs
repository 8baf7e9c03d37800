//! Random inputs that are the same on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// Values of either sign with magnitudes in 0.5..1, made from bits, so that rounding cannot differ between machines.
pub fn values(generator: &mut ChaCha8Rng, count: usize) -> Vec<f32> {
    let value = |bits: u32| {
        let magnitude = f32::from_bits(0x3f00_0000 | bits >> 9);
        if bits & 1 == 0 { magnitude } else { -magnitude }
    };
    (0..count).map(|_| value(generator.next_u32())).collect()
}
