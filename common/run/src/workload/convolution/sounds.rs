//! Convolutions of sounds.

use serde_json::json;
use workloads::convolution::{Convolution, MOST_SAMPLES, Size};
use workloads::error::NoSuchSize;
use workloads::origin::Origin;

use crate::error::{Error, Result};
use crate::files::audio::{Length, Sound};

/// Makes one computation per channel of the result: `sound` convolved with `filter`, as long as both together less one sample.
///
/// The sum needs samples before the first and after the last, which are silence, and a convolution runs through its filter
/// backwards. A filter of one channel serves every channel of the sound, and a sound of one channel gets one result per
/// channel of the filter. Fails when the two do not fit together.
pub fn of_sounds(sound: &Sound, filter: &Sound) -> Result<Vec<Convolution>> {
    let taps = filter.length().frames;
    Length::together(&sound.length(), &filter.length())?;
    let channels = sound.channels.len().max(filter.channels.len());
    let convolve = |channel: usize| {
        let silence = vec![0.0; taps - 1];
        let signal = [&silence[..], &sound.channels[channel % sound.channels.len()], &silence].concat();
        let filter_channel = &filter.channels[channel % filter.channels.len()];
        let of_many = if channels > 1 { format!(", channel {} of {channels}", channel + 1) } else { String::new() };
        let origin = Origin::Files {
            words: format!("{} through {}{of_many}", sound.name, filter.name),
            names: vec![("input", json!(sound.name)), ("filter", json!(filter.name)), ("channel", json!(channel + 1))],
        };
        let filter = filter_channel.iter().rev().copied().collect();
        Ok(Convolution::new(signal, filter)?.with_origin(origin))
    };
    (0..channels).map(convolve).collect()
}

impl Length {
    /// Returns the size of each convolution of two sounds. Fails when the two do not fit together.
    pub fn together(sound: &Self, filter: &Self) -> Result<Size> {
        if sound.rate != filter.rate {
            return Err(Error::Mismatched(format!(
                "{} has {} samples per second, but {} has {}: convert one of them to the other's rate",
                sound.name, sound.rate, filter.name, filter.rate
            )));
        }
        let (frames, taps) = (sound.frames as u64, filter.frames as u64);
        if taps > frames {
            return Err(Error::Mismatched(format!(
                "the filter {} ({taps} samples) is longer than the input {} ({frames} samples): swap them, the result is the same",
                filter.name, sound.name
            )));
        }
        let samples = frames + 2 * (taps - 1);
        match (u32::try_from(frames + taps - 1), u32::try_from(taps)) {
            (Ok(outputs), Ok(taps)) if samples <= MOST_SAMPLES => Ok(Size { outputs, taps }),
            _ => {
                let asked = format!("{} of {frames} samples with a filter of {taps}", sound.name);
                let reason = format!("with its silence before and after it must have {MOST_SAMPLES} samples at most");
                Err(NoSuchSize::new(asked, reason).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workloads::Problem;

    #[test]
    fn a_sound_convolved_with_a_click_is_the_sound() {
        let sound = Sound { name: "voice".into(), rate: 8000, channels: vec![vec![0.5, -0.25, 0.125]] };
        let click = Sound { name: "click".into(), rate: 8000, channels: vec![vec![1.0, 0.0], vec![0.0, 2.0]] };
        let parts = of_sounds(&sound, &click).unwrap();
        let values = |part: &Convolution| part.expected().iter().map(|expected| expected.value).collect::<Vec<_>>();
        assert_eq!(values(&parts[0]), [0.5, -0.25, 0.125, 0.0]);
        assert_eq!(values(&parts[1]), [0.0, 1.0, -0.5, 0.25]);
    }
}
