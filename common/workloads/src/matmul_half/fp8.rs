//! 8-bit floats: e4m3, with a sign, 4 bits of exponent and 3 bits after the leading one, as "FP8 formats for deep learning" (2022) and
//! the PTX ISA define it. Its largest number is 448, and it has no infinity.

/// The largest number.
const LARGEST: f32 = 448.0;
/// The distance between its smallest numbers.
const SMALLEST: f32 = 1.0 / 512.0;

/// A matrix of e4m3 numbers with a scale for each line. A line is a row of `A` or a column of `B`.
pub struct Quantized {
    /// The numbers, line after line, as bits.
    pub numbers: Vec<u8>,
    /// The scales. They are powers of two, so that a number times its scale is exact.
    pub scales: Vec<f32>,
}

impl Quantized {
    /// Rounds numbers that are stored in lines of this length.
    pub fn of(values: impl IntoIterator<Item = f32>, length: usize) -> Self {
        let values: Vec<f32> = values.into_iter().collect();
        let scales: Vec<f32> = values.chunks(length).map(scale).collect();
        let lines = values.chunks(length).zip(&scales);
        let numbers = lines.flat_map(|(line, scale)| line.iter().map(move |value| e4m3(value / scale))).collect();
        Self { numbers, scales }
    }

    /// Returns the values, line after line.
    pub fn values(&self) -> Vec<f32> {
        let lines = self.numbers.chunks(self.numbers.len() / self.scales.len()).zip(&self.scales);
        lines.flat_map(|(line, scale)| line.iter().map(move |&bits| of_e4m3(bits) * scale)).collect()
    }
}

/// Returns the smallest scale of a line: divided by this power of two, its numbers fit e4m3.
fn scale(line: &[f32]) -> f32 {
    let largest = line.iter().fold(0.0_f32, |largest, value| largest.max(value.abs())) / LARGEST;
    let power = f32::from_bits(largest.to_bits() & 0x7f80_0000);
    match power {
        0.0 => 1.0,
        _ if power < largest => 2.0 * power,
        _ => power,
    }
}

/// Rounds to the nearest e4m3, and ties to the even one. Numbers beyond the largest become the largest. Returns its bits.
fn e4m3(value: f32) -> u8 {
    if value.is_nan() {
        return 0x7f;
    }
    let sign = (value.to_bits() >> 24) as u8 & 0x80;
    let magnitude = value.abs().min(LARGEST);
    let bits = if magnitude < 8.0 * SMALLEST {
        (magnitude / SMALLEST).round_ties_even() as u8
    } else {
        let bits = magnitude.to_bits();
        // From 23 bits after the leading one to 3, and from an exponent biased by 127 to one by 7.
        (((bits + 0x7_ffff + (bits >> 20 & 1)) >> 20) - ((127 - 7) << 3)) as u8
    };
    sign | bits
}

/// Returns the value of an e4m3.
fn of_e4m3(bits: u8) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 3 & 15), f32::from(bits & 7));
    let magnitude = match bits & 0x7f {
        0x7f => f32::NAN,
        0..8 => fraction * SMALLEST,
        _ => (1.0 + fraction / 8.0) * 2.0_f32.powi(exponent - 7),
    };
    if bits & 0x80 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_rounded_to_itself_and_others_to_the_nearest_and_even() {
        let all: Vec<f32> = (0..0x7f).map(of_e4m3).collect();
        assert_eq!((all[1], all[8], all[0x38], all[0x7e]), (1.0 / 512.0, 1.0 / 64.0, 1.0, 448.0));
        for (bits, pair) in all.windows(2).enumerate() {
            let (low, high) = (bits as u8, bits as u8 + 1);
            let middle = (pair[0] + pair[1]) / 2.0;
            assert_eq!([pair[0], -pair[0]].map(e4m3), [low, low | 0x80]);
            assert_eq!(e4m3(middle), if low.is_multiple_of(2) { low } else { high }, "{middle}");
            assert_eq!((e4m3(middle * 0.999), e4m3(middle * 1.001)), (low, high), "{middle}");
        }
        assert_eq!((e4m3(1e9), e4m3(f32::NEG_INFINITY)), (0x7e, 0xfe));
        assert!(of_e4m3(e4m3(f32::NAN)).is_nan());
    }

    #[test]
    fn a_line_is_scaled_by_the_smallest_power_of_two_that_it_fits() {
        let quantized = Quantized::of([448.0, 1.0, 449.0, -1.0, 0.0, 0.0, 3.5, -0.25], 2);
        assert_eq!(quantized.scales, [1.0, 2.0, 1.0, 1.0 / 128.0]);
        assert_eq!(quantized.values(), [448.0, 1.0, 448.0, -1.0, 0.0, 0.0, 3.5, -0.25]);
    }
}
