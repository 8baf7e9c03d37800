//! The values of a case of an exercise, where a kernel could take a shortcut or lose a number's range.

use std::str::FromStr;

use oracles::random::ChaCha8Rng;
use oracles::random::below;

/// The kind of numbers in a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// As everywhere: no two neighbors alike, and none near zero.
    #[default]
    Usual,
    /// Zeros of both signs and denormal numbers among numbers near 2^-50: what takes small numbers for zeros loses all of them.
    Zeros,
    /// About 2^100 in one array and 2^-100 in the other, so that products are as usual.
    Wide,
    /// Of gray levels, only the lowest and the highest.
    Extremes,
    /// Of gray levels, only one, the highest.
    One,
    /// Of gray levels, these two in turn.
    InTurn([u8; 2]),
}

impl FromStr for Values {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(match text {
            "zeros" => Self::Zeros,
            "wide" => Self::Wide,
            "extremes" => Self::Extremes,
            "one" => Self::One,
            "neighbors" => Self::InTurn([127, 128]),
            "stripes" => Self::InTurn([0, HIGHEST]),
            _ => return Err(()),
        })
    }
}

/// The highest gray level.
const HIGHEST: u8 = 255;

impl Values {
    /// Changes the numbers of two arrays that are multiplied with each other.
    pub fn apply(self, first: &mut [f32], second: &mut [f32]) {
        match self {
            Self::Zeros => {
                // One of each four, so that the others keep a sum from vanishing. The first factor of all sums is 0.
                for (values, place) in [(first, 1), (second, 0)] {
                    values.iter_mut().for_each(|value| *value *= 2.0_f32.powi(-50));
                    let kinds = [0.0, -0.0, 1e-40, -1e-42].into_iter().cycle();
                    values.iter_mut().skip(place).step_by(4).zip(kinds).for_each(|(value, kind)| *value = kind);
                }
            }
            Self::Wide => {
                for (values, power) in [(first, 100), (second, -100)] {
                    values.iter_mut().for_each(|value| *value *= 2.0_f32.powi(power));
                }
            }
            Self::Usual | Self::Extremes | Self::One | Self::InTurn(_) => {}
        }
    }

    /// Changes gray levels. Of extremes, fifteen in sixteen are the highest.
    pub fn level<T: From<u8>>(self, generator: &mut ChaCha8Rng, levels: &mut [T]) {
        match self {
            Self::Extremes => {
                levels.iter_mut().for_each(|level| *level = if below(generator, 16) == 0 { 0 } else { HIGHEST }.into())
            }
            Self::One => levels.iter_mut().for_each(|level| *level = HIGHEST.into()),
            Self::InTurn(two) => levels.iter_mut().zip(two.into_iter().cycle()).for_each(|(level, value)| *level = value.into()),
            Self::Usual | Self::Zeros | Self::Wide => {}
        }
    }

    /// Says to a reader what is unusual, after the sizes; nothing if nothing is.
    pub fn words(self) -> &'static str {
        match self {
            Self::Usual => "",
            Self::Zeros => ", a quarter of the values 0 or denormal, the others near 2^-50",
            Self::Wide => ", values of 2^100 times values of 2^-100",
            Self::Extremes => ", only the levels 0 and 255",
            Self::One => ", all of level 255",
            Self::InTurn(_) => ", of two levels in turn",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracles::random::generator;

    #[test]
    fn zeros_of_both_signs_and_denormals_lie_among_the_values() {
        let (mut first, mut second) = (vec![0.5; 400], vec![0.75; 400]);
        "zeros".parse::<Values>().unwrap().apply(&mut first, &mut second);
        for values in [first, second] {
            assert_eq!(values.iter().filter(|value| value.abs() < 1e-38).count(), 100);
            let has = |wanted: f32| values.iter().any(|value| value.to_bits() == wanted.to_bits());
            assert!(has(0.0) && has(-0.0) && values.iter().any(|value| value.is_subnormal()));
            assert!(values.iter().all(|value| *value < 1e-15) && values.iter().any(|value| *value > 1e-16));
        }
    }

    #[test]
    fn wide_values_have_usual_products() {
        let (mut first, mut second) = ([0.5], [0.75]);
        Values::Wide.apply(&mut first, &mut second);
        assert!(first[0] > 1e29 && second[0] < 1e-29);
        assert_eq!(first[0] * second[0], 0.375);
    }

    #[test]
    fn levels_are_those_that_are_asked_for() {
        let mut levels = vec![7_i32; 100];
        Values::Extremes.level(&mut generator(13), &mut levels);
        assert!(levels.contains(&0) && levels.contains(&255) && levels.iter().all(|level| [0, 255].contains(level)));
        Values::One.level(&mut generator(13), &mut levels);
        assert_eq!(levels, [255; 100]);
        "neighbors".parse::<Values>().unwrap().level(&mut generator(13), &mut levels);
        assert_eq!(levels[..3], [127, 128, 127]);
        assert!("usual".parse::<Values>().is_err());
    }
}
